//! wrk scripts: what scripts of every hook do is what they do under Debian's wrk, by what the server
//! received and what was printed; and what wrk leaves open: errors, endless loops, machine output.

use std::path::Path;
use std::time::Duration;

use crate::harness::{Ended, Folder, PLIMSOLL, real_wrk};
use crate::recorder::{Came, Recorder};

/// What a script did under one of the programs.
struct Did {
    came: Vec<Came>,
    ended: Ended,
}

/// Runs `script` under Debian's wrk, if it is there, and under Plimsoll as `wrk`; each must do what `check` says,
/// and what it returns must be the same.
fn same<T: PartialEq + std::fmt::Debug>(
    script: &str,
    line: &str,
    path: &str,
    check: impl Fn(&Did) -> T,
) -> T {
    let (folder, server) = (Folder::new(), Recorder::start());
    folder.put("x.lua", script.replace("PORT", &server.port.to_string()));
    let line = format!("-s x.lua {line} {}", server.url(path));
    let did = |program: &Path| {
        let ended = folder.run(program, &line).measured();
        // Requests under way when the client left may still come.
        std::thread::sleep(Duration::from_millis(50));
        Did { came: server.take(), ended }
    };
    let ours = check(&did(&folder.link("wrk")));
    match real_wrk() {
        Some(wrk) => assert_eq!(ours, check(&did(&wrk)), "ours, and wrk's"),
        None => eprintln!("wrk is not installed: ours was not compared"),
    }
    ours
}

/// What was printed, with every number made `N`.
fn shape(ended: &Ended) -> Vec<String> {
    let figure = |word: &str| {
        let bare = word.trim_matches(|c: char| c.is_ascii_punctuation());
        let digits = bare.starts_with(|c: char| c.is_ascii_digit());
        if digits { "N".to_owned() } else { word.to_owned() }
    };
    let lines = ended.stdout.lines().filter(|line| !line.contains("test @"));
    lines.map(|line| line.split_whitespace().map(figure).collect::<Vec<_>>().join(" ")).collect()
}

fn paths(did: &Did, count: usize) -> Vec<String> {
    did.came.iter().take(count).map(Came::path).collect()
}

#[test]
fn auth() {
    let script = "
        local token
        request = function()
            if token then
                wrk.headers['X-Auth-Token'] = token
                return wrk.format('GET', '/mine')
            end
            return wrk.format('GET', '/login')
        end
        response = function(status, headers, body)
            if not token and status == 200 then token = headers['X-Token'] end
        end";
    let seen = same(script, "-t1 -c1 -d1s", "/start", |did| {
        let rest = did.came[1].parts();
        assert!(did.came[1..].iter().all(|one| one.parts() == rest));
        let host = |line: &String| !line.starts_with("Host");
        let of = |came: &Came| {
            let (line, headers, body) = came.parts();
            (line, headers.into_iter().filter(host).collect::<Vec<_>>(), body)
        };
        (of(&did.came[0]), of(&did.came[1]))
    });
    assert_eq!(seen.0.0, "GET /login HTTP/1.1");
    assert_eq!(seen.1.0, "GET /mine HTTP/1.1");
    assert_eq!(seen.1.1, ["X-Auth-Token: t0ken"]);
}

#[test]
fn counter() {
    let script = "
        local n = 0
        function request()
            n = n + 1
            wrk.headers['X-Count'] = n
            return wrk.format(nil, '/' .. n)
        end";
    let seen = same(script, "-t1 -c1 -d1s", "/", |did| {
        (paths(did, 5), did.came[3].parts().1.into_iter().find(|line| line.starts_with("X-Count")))
    });
    assert_eq!(seen.0, ["/2", "/3", "/4", "/5", "/6"]);
    assert_eq!(seen.1.as_deref(), Some("X-Count: 5"));
}

#[test]
fn delay() {
    let script = "function delay() return 150 end";
    let seen = same(script, "-t1 -c2 -d1s", "/", |did| {
        // A loaded machine may come late, never early: seven a second of each connection, and the first.
        (1..=16).contains(&did.came.len())
    });
    assert!(seen);
}

#[test]
fn pipeline() {
    let script = "
        init = function(args)
            local r = {}
            r[1] = wrk.format(nil, '/?one')
            r[2] = wrk.format(nil, '/?two')
            r[3] = wrk.format(nil, '/?three')
            all = table.concat(r)
        end
        request = function() return all end";
    let seen = same(script, "-t1 -c2 -d1s", "/", |did| {
        let first = did.came[0].conn;
        let of: Vec<_> = did.came.iter().filter(|one| one.conn == first).collect();
        let together = of.chunks_exact(3).all(|burst| burst[0].at == burst[2].at);
        let paths: Vec<String> = of.iter().take(7).map(|one| one.path()).collect();
        (together, paths)
    });
    let expected = ["/?one", "/?two", "/?three", "/?one", "/?two", "/?three", "/?one"];
    assert_eq!((seen.0, seen.1), (true, expected.map(String::from).into()));
}

#[test]
fn post() {
    let script = "
        wrk.method = 'POST'
        wrk.body = 'foo=bar&baz=quux'
        wrk.headers['Content-Type'] = 'application/x-www-form-urlencoded'";
    let seen = same(script, "-t1 -c1 -d1s", "/form", |did| {
        let (line, headers, body) = did.came[0].parts();
        assert!(did.came.iter().all(|one| one.text.len() == did.came[0].text.len()));
        let host = |line: &String| !line.starts_with("Host");
        (line, headers.into_iter().filter(host).collect::<Vec<_>>(), body)
    });
    assert_eq!((seen.0.as_str(), seen.2.as_str()), ("POST /form HTTP/1.1", "foo=bar&baz=quux"));
    assert!(seen.1.contains(&"Content-Length: 16".to_owned()), "{seen:?}");
}

#[test]
fn report() {
    let script = "
        done = function(summary, latency, requests)
            io.write('------------------------------\\n')
            for _, p in pairs({ 50, 90, 99, 99.999 }) do
                io.write(string.format('%g%%,%d\\n', p, latency:percentile(p)))
            end
            io.write(string.format('%d requests %d bytes %d us\\n', summary.requests,
                summary.bytes, summary.duration))
            local e = summary.errors
            print(e.connect, e.read, e.write, e.status, e.timeout)
            print(latency.min <= latency.mean, latency.mean <= latency.max, latency.stdev >= 0)
            print(#latency > 0, latency(1) > 0, requests.mean > 0)
        end";
    let seen = same(script, "-t2 -c4 -d1s", "/", |did| {
        let number = |needle: &str| {
            let line = did.ended.stdout.lines().find(|line| line.contains(needle)).expect(needle);
            line.split_whitespace().next().expect("a word").parse::<u64>().expect("a number")
        };
        // Of the block, and of `done`.
        assert_eq!(number("requests in"), number("bytes"));
        shape(&did.ended)
    });
    assert_eq!(seen[seen.len() - 3..], ["N N N N N", "true true true", "true true true"]);
}

#[test]
fn setup() {
    let script = "
        local counter, threads = 1, {}
        function setup(thread)
            thread:set('id', counter)
            table.insert(threads, thread)
            counter = counter + 1
        end
        function init(args)
            requests, responses = 0, 0
            print(('thread %d created with %s'):format(id, table.concat(args, ',')))
        end
        function request() requests = requests + 1 return wrk.request() end
        function response() responses = responses + 1 end
        function done()
            for index, thread in ipairs(threads) do
                local made, got = thread:get('requests'), thread:get('responses')
                print(('thread %d: %s'):format(thread:get('id'), tostring(made >= got and got > 0)))
            end
        end";
    let seen = same(script, "-t2 -c2 -d1s", "/ -- a b", |did| {
        let printed = did.ended.stdout.lines().filter(|line| line.starts_with("thread"));
        printed.map(str::to_owned).collect::<Vec<_>>()
    });
    let created = [1, 2].map(|id| format!("thread {id} created with a,b"));
    assert_eq!(seen[..2], created);
    assert_eq!(seen[2..], ["thread 1: true", "thread 2: true"]);
}

#[test]
fn stop() {
    let script = "
        local count = 1
        function response()
            if count == 10 then wrk.thread:stop() end
            count = count + 1
        end";
    let seen = same(script, "-t2 -c2 -d1s", "/", |did| {
        let line = did.ended.stdout.lines().find(|line| line.contains("requests in"));
        let line = line.expect("a count").split_whitespace().next().expect("a word");
        (did.came.len(), line.to_owned())
    });
    assert_eq!(seen, (20, "20".to_owned()));
}

#[test]
fn several_addresses() {
    let script = "
        local count = 0
        function setup(thread)
            count = count + 1
            local addrs = wrk.lookup('127.0.0.' .. count, 'PORT')
            print(#addrs, wrk.connect(addrs[1]), #wrk.addrs)
            thread.addr = addrs[1]
        end
        function init() print(tostring(wrk.thread.addr):match('^[^:]+')) end";
    let seen = same(script, "-t2 -c4 -d1s", "/", |did| {
        let mut hosts: Vec<String> = did.came.iter().map(|one| one.to.ip().to_string()).collect();
        hosts.sort();
        hosts.dedup();
        let printed =
            did.ended.stdout.lines().filter(|line| line.contains('\t') || line.starts_with("127"));
        (hosts, printed.map(str::to_owned).collect::<Vec<_>>())
    });
    assert_eq!(seen.0, ["127.0.0.1", "127.0.0.2"]);
    assert_eq!(seen.1, ["1\ttrue\t1", "127.0.0.1", "1\ttrue\t1", "127.0.0.2"]);
}

/// `plimsoll run` with a script; its words besides.
fn ours(script: &str, line: &str) -> (Folder, Ended) {
    let (folder, server) = (Folder::new(), Recorder::start());
    folder.put("x.lua", script);
    let line = format!("run -q -s x.lua {} {line}", server.url("/"));
    let ended = folder.run(Path::new(PLIMSOLL), &line);
    (folder, ended)
}

#[test]
fn an_error_names_its_place_and_the_partial_result_stands() {
    let script = "local n = 0\nfunction response()\n  n = n + 1\n  \
                  if n == 50 then error('enough') end\nend";
    let (folder, ended) = ours(script, "-t1 -c2 -d30s --out out");
    let ended = ended.ends(1).prints("of status 200");
    assert!(ended.stderr.contains("x.lua:4: enough (in response())"), "{ended:#?}");
    let run: serde_json::Value = serde_json::from_str(&folder.text("out/run.json")).unwrap();
    let halted = run["halted"].as_str().unwrap_or_default();
    assert!(halted.contains("x.lua:4: enough"), "{halted}");
    let requests = run["totals"]["requests"].as_u64().unwrap();
    assert!((50..=52).contains(&requests), "{requests}");
}

#[test]
fn requests_that_close_their_connection_are_not_pipelined() {
    let (_, ended) = ours("wrk.headers.Connection = 'close'", "-c2 -d1s --pipeline 4");
    ended.refuses(2, "--pipeline 4: the script's requests that ask for `Connection: close`");
}

#[test]
fn a_hook_that_never_returns_ends_the_run_with_what_there_is() {
    // LuaJIT compiles the loop: nothing inside it can be stopped.
    let script = "local n = 0\nfunction response()\n  n = n + 1\n  \
                  if n == 50 then while true do n = n + 1 end end\nend";
    let (folder, ended) = ours(script, "-t2 -c2 -d30s --out out");
    let ended = ended.ends(1).prints("of status 200");
    let wanted = "x.lua: response() had not returned after 1 s";
    assert!(ended.stderr.contains(wanted), "{ended:#?}");
    folder.has(&["out/run.json", "out/report.html"]);
    let run: serde_json::Value = serde_json::from_str(&folder.text("out/run.json")).unwrap();
    assert_eq!(run["halted"].as_str(), Some(wanted));
    for hook in ["setup", "done"] {
        let (_, ended) = ours(&format!("function {hook}() while true do end end"), "-d1s");
        let wanted = format!("x.lua: {hook}() had not returned after 10 s");
        let ended = ended.ends(1);
        assert!(ended.stderr.contains(&wanted), "{ended:#?}");
    }
}

/// What the worker that is stuck had counted is kept to the last response, whatever the others did.
#[test]
fn the_last_interval_of_a_worker_that_is_stuck_is_kept() {
    let script = "local n = 0\nfunction response()\n  n = n + 1\n  \
                  if n == 50 then while true do n = n + 1 end end\nend";
    for line in ["-t1 -c1 -d30s", "-t1 -c1 -R200 -d30s"] {
        let (folder, server) = (Folder::new(), Recorder::start());
        folder.put("x.lua", script);
        let line = format!("run -q -s x.lua {} {line} --out out", server.url("/"));
        folder.run(Path::new(PLIMSOLL), &line).ends(1);
        assert_eq!(server.take().len(), 50);
        let run: serde_json::Value = serde_json::from_str(&folder.text("out/run.json")).unwrap();
        let totals = &run["totals"];
        let of = |name: &str| totals[name].as_u64().unwrap();
        // The fiftieth request got its response, but `response()` never returned for it. In an open loop
        // requests that were due until the watchdog noticed stay unsent.
        assert_eq!((of("requests"), of("succeeded"), of("unfinished")), (49, 49, 1), "{totals}");
        assert_eq!(of("attempts"), 50 + of("unsent"), "{totals}");
    }
}

/// Where there is more than one run, the first that a script or a pool ends is the last: what happened
/// is reported, what was measured is kept, and the exit code is not 0.
#[test]
fn what_ends_a_run_before_its_time_ends_a_series() {
    let failing = "local n = 0\nfunction response()\n  n = n + 1\n  \
                   if n == 50 then error('enough') end\nend";
    let endless = failing.replace("error('enough')", "while true do n = n + 1 end");
    let cases = [
        (failing.to_owned(), "x.lua:4: enough (in response())"),
        (endless, "x.lua: response() had not returned after 1 s"),
        ("function done()\n  error('no')\nend".to_owned(), "x.lua:2: no (in done())"),
    ];
    for (script, wanted) in cases {
        let (folder, server) = (Folder::new(), Recorder::start());
        folder.put("x.lua", script);
        let url = server.url("/");
        let line = |line: &str| folder.plimsoll(&format!("{line} -q -s x.lua -t1")).ends(1);
        let sweep = line(&format!("sweep {url} --levels 1,2 -d 5s --rest 0s --out sweep"));
        assert!(sweep.stderr.contains(wanted), "{sweep:#?}");
        assert!(sweep.stdout.contains("1 connection ended early"), "{sweep:#?}");
        let kept: serde_json::Value =
            serde_json::from_str(&folder.text("sweep/sweep.json")).unwrap();
        assert_eq!(kept["levels"].as_array().map(Vec::len), Some(1), "{kept}");
        assert!(kept["ended"].as_str().is_some_and(|why| why.contains(wanted)), "{kept}");
        let capacity = line(&format!("capacity {url} --budget 20s --slo p99<1s --out capacity"));
        assert!(capacity.stderr.contains(wanted), "{capacity:#?}");
        folder.has(&["capacity/search.json", "capacity/steps/01-idle-1.json"]);
        let compare = line(&format!("compare {url} {url} -c 1 -d 5s --rounds 1 --out compare"));
        assert!(compare.stderr.contains(wanted), "{compare:#?}");
        folder.has(&["compare/compare.json", "compare/round-01-old/run.json"]);
    }
}

#[test]
fn a_pool_that_runs_out_ends_a_series() {
    let (folder, server) = (Folder::new(), Recorder::start());
    let workload = serde_json::json!({
        "target": server.url(""),
        "pools": {"id": {"values": [1, 2, 3, 4, 5], "order": "unique"}},
        "endpoints": [{"path": "/${id}"}],
    });
    folder.put("w.json", workload.to_string());
    let ended = folder.plimsoll("sweep w.json -q --levels 1,2 -d 5s --out out").ends(1);
    assert!(ended.stderr.contains("pool `id` has run out: all 5 rows"), "{ended:#?}");
    let kept: serde_json::Value = serde_json::from_str(&folder.text("out/sweep.json")).unwrap();
    assert_eq!(kept["levels"][0]["run"]["totals"]["requests"], 5, "{kept}");
    assert_eq!(server.take().len(), 5);
}

/// Hooks are called for each run of a series, `done` among them.
#[test]
fn scripts_see_each_run_of_a_series_to_its_end() {
    let script = "function init() n = 0 end
        function request() n = n + 1 return wrk.format('GET', '/' .. n) end
        function done(summary) print('done', summary.requests) end";
    let (folder, server) = (Folder::new(), Recorder::start());
    folder.put("x.lua", script);
    let line = format!("sweep {} -q -s x.lua --levels 1,2 -d 200ms --out out", server.url("/"));
    let ended = folder.plimsoll(&line);
    assert_eq!(ended.stdout.matches("done\t").count(), 2, "{ended:#?}");
    let line = format!(
        "compare {0} {0} -q -s x.lua -c 1 -d 200ms --rounds 1 --format json --out compare",
        server.url("/")
    );
    let ended = folder.plimsoll(&line);
    assert!(serde_json::from_str::<serde_json::Value>(&ended.stdout).is_ok(), "{ended:#?}");
    assert_eq!(ended.stderr.matches("done\t").count(), 2, "{ended:#?}");
}

#[test]
fn a_script_leaves_machine_output_alone_and_gets_its_arguments() {
    let script = "function init(args) print('init', args[0] ~= nil, unpack(args)) end
                  function done() print('done') end";
    let (_, ended) = ours(script, "-n 5 --format json -- one 2");
    let ended = ended.measured();
    let run: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON alone");
    assert_eq!(run["totals"]["requests"], 5);
    assert!(ended.stderr.contains("init\ttrue\tone\t2\n"), "{ended:#?}");
    assert!(ended.stderr.contains("done\n"), "{ended:#?}");
}

#[test]
fn scripts_that_cannot_be_run() {
    for (script, code, needle) in [
        ("function request(", 1, "x.lua:1:"),
        ("error('no')", 1, "x.lua:1: no (in the main chunk)"),
        ("function request() return 5 + {} end", 1, "x.lua:1: attempt to perform arithmetic"),
        ("function request() return 'x' end", 1, "(in request())"),
    ] {
        ours(script, "-d1s").1.refuses(code, needle);
    }
    let (folder, server) = (Folder::new(), Recorder::start());
    folder.plimsoll(&format!("run -s none.lua {}", server.url("/"))).refuses(1, "none.lua");
    folder.plimsoll(&format!("run {} -- x", server.url("/"))).refuses(2, "name it with -s");
}
