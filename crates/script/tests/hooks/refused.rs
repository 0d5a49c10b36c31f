//! What a script can do wrong, each with file, line and hook.

use traffic::Next;

use crate::harness::{begin, respond, try_begin, turn};

fn refused(text: &str) -> String {
    try_begin(text, 1).err().expect(text).to_string()
}

fn halted(text: &str) -> String {
    let mut begun = begin(text, 1);
    (0..3)
        .find_map(|_| match turn(&mut begun.sources[0], 0, 0) {
            Err(Next::Halt(halt)) => Some(halt.to_string()),
            _ => None,
        })
        .expect(text)
}

#[test]
fn before_the_run_the_command_fails() {
    for (text, expected) in [
        ("x = = 1", "x.lua:1: unexpected symbol near '=' (in the main chunk)"),
        (
            "\n\nnil_thing()",
            "x.lua:3: attempt to call global 'nil_thing' (a nil value) (in the main chunk)",
        ),
        ("function setup(t)\nt:fly() end", "x.lua:2: "),
        ("function init()\n\nerror('no data') end", "x.lua:3: no data (in init())"),
        ("function init()\nerror('bare', 0) end", "x.lua:2: bare (in init())"),
        (
            "function request() end",
            "x.lua: it returned nil, not a string of requests (in request())",
        ),
        (
            "function request() return 'GET /' end",
            "x.lua: its return value is not a request: an incomplete request at 1:6 (in request())",
        ),
        (
            "wrk.headers.Connection = 'close'\nfunction request() return wrk.format():rep(2) end",
            "x.lua: it returned a request behind one that asks for `Connection: close`",
        ),
        (
            "function request()\n local r = wrk.format(nil, nil, 5) return r end",
            "x.lua:2: attempt to index local 'headers'",
        ),
    ] {
        let error = refused(text);
        assert!(error.starts_with(expected), "{text}: {error}");
        assert!(error.ends_with(')') && !error.contains('\n'), "{text}: {error}");
    }
}

#[test]
fn an_error_while_the_load_runs_halts_it() {
    let later = |what: &str| {
        format!(
            "n = 0 function request() n = n + 1\nif n == 3 then {what} end return wrk.format() end"
        )
    };
    assert_eq!(halted(&later("error('third')")), "x.lua:2: third (in request())");
    assert_eq!(
        halted(&later("return wrk.format() .. wrk.format()")),
        "x.lua: it returned 2 requests, and 1 when it was first called (in request())"
    );
    assert_eq!(
        halted("function delay()\nreturn nothing.more end"),
        "x.lua:2: attempt to index global 'nothing' (a nil value) (in delay())"
    );
}

#[test]
fn an_error_in_response_halts_it() {
    let mut begun = begin("function response(_, headers)\nreturn headers.A.b.c end", 1);
    let result = respond(&mut begun.sources[0], 0, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n.");
    let halt = result.halt.unwrap().to_string();
    assert_eq!(halt, "x.lua:2: attempt to index field 'A' (a nil value) (in response())");
}

#[test]
fn memory_is_bounded() {
    let hoard = "local all = {} for i = 1, 1e9 do all[i] = ('x'):rep(1e6) .. i end";
    let error = refused(hoard);
    let expected = "the script uses more than 512 MiB in one thread, the maximum";
    assert!(error.contains(expected), "{error}");
    let error = halted(&format!(
        "n = 0 function request() n = n + 1 if n > 1 then {hoard} end return wrk.format() end"
    ));
    assert!(error.contains(expected) && error.ends_with("(in request())"), "{error}");
}

#[test]
fn the_stack_is_bounded() {
    let error = refused("local function f() return 1 + f() end\nf()");
    assert!(error.starts_with("x.lua:1: stack overflow"), "{error}");
}
