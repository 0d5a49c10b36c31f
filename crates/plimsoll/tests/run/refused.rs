//! Bad input: one clear line on standard error, the right exit code, never a panic.

use crate::harness::{command_of, end, plimsoll, server, url};

#[test]
fn urls() {
    for (url, code, needle) in [
        ("127.0.0.1:1/x", 1, "Connection refused"),
        ("127.0.0.1:1/a.json", 1, "Connection refused"),
        ("no-such-host.invalid/x", 1, "no-such-host.invalid` cannot be resolved"),
        ("ftp://127.0.0.1/", 2, "use http or https"),
        ("http://", 2, "not a URL"),
        ("http://u:p@127.0.0.1/", 2, "-u USER:PASSWORD"),
        ("http://127.0.0.1:99999/", 2, "not a URL"),
        ("http://no-such-host.invalid/", 1, "no-such-host.invalid` cannot be resolved"),
        ("http://no-such-host.invalid/", 1, "; is it spelled right"),
        ("http://127.0.0.1:1/", 1, "Connection refused"),
    ] {
        plimsoll(&format!("run {url} -d 100ms")).refuses(code, needle);
    }
    end(command_of(["run", "", "-d", "1s"])).refuses(2, "the URL is empty");
    end(command_of(["run"])).refuses(2, "<URL|FILE>");
}

#[test]
fn numbers_and_lengths_of_time() {
    // Nobody listens there: impossible numbers are refused before anything is sent.
    let url = "http://127.0.0.1:1/";
    for (flags, needle) in [
        ("-c 0", "-c 0"),
        ("-c -1", "-1"),
        ("-c many", "many"),
        ("-c 2000000", "at most 1,000,000"),
        ("-c 99999999999999999999", "99999999999999999999"),
        ("-t 5 -c 4", "or leave -t out; the time-out is -T TIME"),
        ("-t 0", "-t 0"),
        ("-d 0", "-d 0"),
        ("-d -3s", "-3s"),
        ("-d soon", "soon"),
        ("-d 99999999999y", "99999999999y"),
        ("-d 1e300s", "1e300s"),
        ("-n 0", "-n 0"),
        ("-R 0", "0"),
        ("-R -5", "-5"),
        ("-R fast", "fast"),
        ("-R inf", "inf"),
        ("-R NaN", "NaN"),
        ("-R 1e9 -t 1", "1,000,000,000/s is more than 1 worker can follow: at most 20,000,000"),
        ("-T 0", "-T 0"),
        ("--pipeline 0", "--pipeline 0"),
        ("--pipeline 4 --no-keepalive", "--no-keepalive"),
        ("--max-inflight 0", "--max-inflight 0"),
        ("-R 5 --pace 1s", "closed loop"),
        ("--arrivals poisson", "-R"),
        ("--arrivals sometimes -R 5", "sometimes"),
        ("--success 2xx", "`2xx`"),
        ("--tls-min 1.3 --tls-max 1.2", "--tls-min"),
        ("--source nowhere", "nowhere"),
        ("--seed -1", "`-1` is not a whole number"),
        ("--seed first", "`first` is not a whole number"),
        ("--ramp 2s -d 1s --warmup 500ms", "--ramp 2s is longer than"),
        ("--no-such-flag", "--no-such-flag"),
    ] {
        plimsoll(&format!("run {url} {flags}")).refuses(2, needle);
    }
}

#[test]
fn headers_methods_and_files() {
    let server = server();
    let url = url(&server, "/healthz");
    for (args, needle) in [
        (["-H", "no colon here"], "without a colon"),
        (["-H", "X-A: b\r\nX-C: d"], "cannot be sent"),
        (["-H", "X-A: b\nc"], "cannot be sent"),
        (["-H", "bad name: x"], "cannot be sent"),
        (["-H", ": x"], "cannot be sent"),
        (["-H", "Content-Length: 5"], "Content-Length"),
        (["-m", "GE T"], "cannot be sent"),
        (["-m", "CONNECT"], "CONNECT"),
    ] {
        end(command_of(["run", &url, "-d", "100ms", args[0], args[1]])).refuses(2, needle);
    }
    let closing = ["run", &url, "--pipeline", "4", "-H", "connection: close"];
    end(command_of(closing)).refuses(2, "none is sent behind them: leave out one of the two");
    // What is named and cannot be read is 1 with every command.
    for (args, needle) in [
        (["--body-file", "/no/such/file"], "/no/such/file: No such file"),
        (["--body-file", "/"], "Is a directory"),
        (["-s", "/no/such/file"], "; a script of wrk's is read there, and -q prints nothing"),
        (["--cacert", "/no/such/file"], "/no/such/file"),
    ] {
        let secure = url.replace("http:", "https:");
        let to = if args[0] == "--cacert" { &secure } else { &url };
        end(command_of(["run", to, "-d", "100ms", args[0], args[1]])).refuses(1, needle);
    }
    assert_eq!(server.served().path("/healthz"), 0);
}

#[test]
fn the_way_to_the_server() {
    let server = server();
    let url = url(&server, "/healthz");
    for (flags, needle) in [
        ("--source 192.0.2.7", "not an address of this machine"),
        ("--connect-to no-such-host.invalid:80", "no-such-host.invalid:80 cannot be resolved"),
        ("--connect-to 127.0.0.1:1", "Connection refused"),
        ("-c 60000 --source 127.0.0.1", "source addresses (--source) would be enough"),
    ] {
        plimsoll(&format!("run {url} -d 100ms {flags}")).refuses(1, needle);
    }
    for (flags, needle) in [
        ("--source ::1", "same family"),
        ("--connect-to nonsense", "--connect-to nonsense: write it as HOST:PORT"),
    ] {
        plimsoll(&format!("run {url} -d 100ms {flags}")).refuses(2, needle);
    }
}

#[test]
fn folders_without_results() {
    let dir = tempfile::TempDir::new().expect("a temporary folder");
    let path = dir.path().display();
    plimsoll(&format!("report {path}")).refuses(1, "nor sweep.json: is it a folder that `run`");
    let inner = dir.path().join("capacity/20260102-030405");
    std::fs::create_dir_all(&inner).expect("a folder");
    std::fs::write(inner.join("run.json"), "{\"started_at\":\"2026-01-02T03:04:05Z\"}")
        .expect("a file");
    plimsoll(&format!("report {path}"))
        .refuses(1, &format!("the newest result below it is in {}", inner.display()));
    for (name, text, needle) in [
        ("run.journal", "", "is empty"),
        ("run.journal", "{\"version\":", "is not a journal"),
        ("run.json", "{\"schema\":\"plimsoll.run/1\",", "run.journal is not a journal"),
        ("run.json", "{\"schema\":\"plimsoll.run/9\"}", "newer"),
        ("run.json", "[]", "not a"),
    ] {
        std::fs::write(dir.path().join(name), text).expect("a file");
        plimsoll(&format!("report {path}")).refuses(1, needle);
    }
}
