//! The table `wrk`, `thread`, `setup` and `init`.

use crate::harness::{begin, parts, request, try_begin};

/// Runs `text` as the body of `request()` of a one-worker script: what it returns becomes the path.
fn path_of(preamble: &str, expression: &str) -> String {
    let text = format!(
        "{preamble}\nfunction request() return wrk.format('GET', '/' .. tostring({expression})) end"
    );
    let first = request(&mut begin(&text, 1).sources[0]);
    let (line, _, _) = parts(&first);
    line.trim_start_matches("GET /").trim_end_matches(" HTTP/1.1").to_owned()
}

#[test]
fn the_table_is_filled_from_url_and_flags() {
    for (expression, expected) in [
        ("wrk.scheme", "http"),
        ("wrk.host", "127.0.0.1"),
        ("wrk.port", "8080"),
        ("type(wrk.port)", "string"),
        ("wrk.method", "GET"),
        ("wrk.path", "/start?a=b"),
        ("wrk.headers['X-Flag']", "1"),
        ("wrk.headers['Host']", "127.0.0.1:8080"),
        ("wrk.body", "nil"),
        ("type(wrk.thread)", "userdata"),
        ("wrk.thread.addr", "127.0.0.1:8080"),
        ("wrk.time_us() > 1.6e15", "true"),
        ("jit.status()", "true"),
        ("type(require('ffi').cdef) .. type(debug.getinfo)", "functionfunction"),
    ] {
        assert_eq!(path_of("", expression), expected, "{expression}");
    }
}

#[test]
fn format_takes_from_wrk_what_it_is_not_given() {
    let text = "function init() wrk.body = 'b' end
        function request() return wrk.format(nil, '/p', {['X-N'] = 7, ['X-B'] = true}) end";
    let (line, headers, body) = parts(&request(&mut begin(text, 1).sources[0]));
    assert_eq!((line.as_str(), body.as_str()), ("GET /p HTTP/1.1", "b"));
    assert_eq!(headers, ["Content-Length: 1", "Host: 127.0.0.1:8080", "X-B: true", "X-N: 7"]);
}

#[test]
fn format_leaves_host_and_length_in_the_table_it_was_given() {
    let result = path_of(
        "h = {} wrk.format('POST', '/', h, 'four')",
        "h['Content-Length'] .. tostring(h.Host)",
    );
    assert_eq!(result, "4nil", "before init there is no Host to take");
    let result = path_of("h = {} function init() wrk.format('POST', '/', h, 'four') end", "h.Host");
    assert_eq!(result, "127.0.0.1:8080");
    assert_eq!(path_of("wrk.headers.Host = 'other'", "wrk.headers.Host"), "other");
}

#[test]
fn init_gets_the_url_and_the_arguments() {
    let result =
        path_of("function init(a) args = a end", "args[0] .. '|' .. #args .. args[1] .. args[2]");
    assert_eq!(result, "http://127.0.0.1:8080/start?a=b|2onetwo");
}

#[test]
fn setup_runs_in_a_state_of_its_own_and_hands_values_over() {
    let text = "local n = 0
        function setup(thread)
            n = n + 1
            thread:set('id', n)
            thread:set('t', {1, 2, nested = {deep = {ok = true}}, [false] = 'f'})
            thread:set('gone', nil)
            seen = thread:get('own')
        end
        own, gone = 'mine', 1
        function request()
            return wrk.format('GET', '/' .. id .. #t .. tostring(t.nested.deep.ok) .. t[false]
                .. tostring(gone) .. tostring(n) .. tostring(seen))
        end";
    let mut begun = begin(text, 3);
    let lines: Vec<String> =
        begun.sources.iter_mut().map(|source| parts(&request(source)).0).collect();
    let expected = ["1", "2", "3"].map(|id| format!("GET /{id}2truefnil0nil HTTP/1.1"));
    assert_eq!(lines, expected);
}

#[test]
fn values_that_cannot_be_transferred_are_reported() {
    for (value, what) in [
        ("print", "cannot transfer 'function' to thread"),
        ("{1, {io.stdout}}", "cannot transfer 'userdata' to thread"),
        ("coroutine.create(print)", "cannot transfer 'thread' to thread"),
        ("loop", "more than 64 tables deep"),
    ] {
        let text =
            format!("loop = {{}} loop[1] = loop\nfunction setup(t)\n t:set('x', {value}) end");
        let error = try_begin(&text, 1).err().unwrap().to_string();
        assert!(error.starts_with("x.lua:3: ") && error.contains(what), "{error}");
        assert!(error.ends_with("(in setup())"), "{error}");
    }
}

#[test]
fn each_thread_connects_where_setup_says() {
    let text = "local all = wrk.lookup('127.0.0.1', 9)
        local n = 0
        function setup(thread)
            n = n + 1
            assert(tostring(thread.addr) == '127.0.0.1:8080')
            if n == 2 then thread.addr = all[1] end
            assert(n ~= 2 or tostring(thread.addr) == '127.0.0.1:9')
        end";
    let chosen = begin(text, 3).session.addresses();
    assert_eq!(chosen, [None, Some("127.0.0.1:9".parse().unwrap()), None]);
}

#[test]
fn lookup_and_connect_find_what_is_there() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let open = listener.local_addr().unwrap().port();
    let text = format!(
        "local a = wrk.lookup('127.0.0.1', '{open}')
         assert(#a == 1 and wrk.connect(a[1]) == true and tostring(a[1]) == '127.0.0.1:{open}')
         assert(tostring(wrk.lookup('127.0.0.1', 'https')[1]) == '127.0.0.1:443')
         assert(not pcall(wrk.lookup, '127.0.0.1', 'gopher'))
         assert(not pcall(wrk.lookup, 'no-such-host.invalid', 80))
         assert(not pcall(wrk.connect, {{}}))"
    );
    begin(&text, 1);
}

#[test]
fn scripts_may_put_their_own_setup_and_init_into_wrk() {
    let text = "local inner = wrk.init
        function wrk.init(args) inner(args) wrk.request = function()
            return 'GET /mine HTTP/1.1\\r\\n\\r\\n' end end";
    assert_eq!(request(&mut begin(text, 1).sources[0]), "GET /mine HTTP/1.1\r\n\r\n");
}

#[test]
fn a_first_line_for_the_shell_is_passed_over() {
    let text = "#!/usr/bin/env wrk\nerror('here')";
    assert!(try_begin(text, 1).err().unwrap().to_string().starts_with("x.lua:2: here"));
}
