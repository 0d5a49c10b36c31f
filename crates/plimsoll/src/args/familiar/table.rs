//! What users of other tools type, and what to type here: a table of flags, one of commands, and one of examples.

/// Flags of curl, wrk, wrk2, hey, ab, oha, vegeta, bombardier and k6, and those of one command of ours behind another, with
/// what to do here. A line holds for the commands that have the flags that it names.
pub(super) const FLAGS: &[(&[&str], &str)] = &[
    (&["--http2", "--http3", "--h2", "-2", "-3"], "only HTTP/1.1 is spoken"),
    (
        &["--http-version", "--http2-parallel", "--h2c", "--http2-prior-knowledge", "--http3-only"],
        "only HTTP/1.1 is spoken",
    ),
    (
        &["--http1.1", "--http1.0", "--http1", "--fasthttp", "-0"],
        "leave it out: HTTP/1.1 is spoken",
    ),
    (
        &["-o", "-O", "--output", "--remote-name"],
        "results go to a folder with --out DIR, JSON to standard output with --format json",
    ),
    (&["--output-format", "--out-format"], "use --format text|wrk|json, and --out DIR for files"),
    (&["-j"], "use --format json"),
    (
        &["--csv", "--html", "--report", "--summary-export", "-g"],
        "--out DIR takes all results: JSON, CSV, charts and a page",
    ),
    (
        &["-i"],
        "use -n N for a number of requests, -m HEAD for HEAD requests; a response's fields are not printed",
    ),
    (
        &["-i", "--include", "-I", "--head"],
        "send HEAD requests with -m HEAD; a response's fields are not printed",
    ),
    (&["-A"], "use -H 'User-Agent: TEXT'; a user and a password are -u USER:PASSWORD"),
    (&["-A", "--user-agent"], "use -H 'User-Agent: TEXT'"),
    (&["--cookie", "-C"], "use -H 'Cookie: NAME=VALUE'; --cookies keeps those that responses set"),
    (&["--cookie-jar"], "--cookies keeps the cookies that responses set"),
    (
        &["-e"],
        "use -H 'Referer: URL'; results go to a folder with --out DIR; a workload file takes a value from the environment \
         by ${env.NAME}",
    ),
    (&["-e", "--referer"], "use -H 'Referer: URL'"),
    (&["--content-type"], "use -H 'Content-Type: TYPE'"),
    (
        &["-a", "-P", "--auth", "--basic-auth", "--bearer", "--oauth2-bearer", "--basic"],
        "use -u USER:PASSWORD, or -H 'Authorization: ...'",
    ),
    (
        &["--digest", "--negotiate", "--ntlm", "--anyauth", "--aws-sigv4", "--aws-session"],
        "only Basic is spoken, by -u; any other field is -H 'Authorization: ...'",
    ),
    (
        &["-F", "--form", "--form-string"],
        "put the encoded form into a file: --body-file FILE and -H 'Content-Type: ...'",
    ),
    (&["-D", "-p", "--body-path"], "use --body-file FILE"),
    (&["-G", "--get", "--data-urlencode", "--url-query"], "write the query, encoded, into the URL"),
    (&["--url"], "write the URL without a flag before it"),
    (&["--data-ascii"], "use --data TEXT"),
    (&["--host"], "the URL stands without a flag before it; a Host field is -H 'Host: NAME'"),
    (&["--range"], "use -H 'Range: bytes=0-99'"),
    (&["--upload-file"], "use --body-file FILE and -m PUT"),
    (
        &[
            "--next",
            "--targets",
            "--urls-from-file",
            "--rand-regex-url",
            "--max-repeat",
            "--dump-urls",
        ],
        "several URLs are written into a workload file: see `plimsoll init` and `plimsoll import`",
    ),
    (
        &[
            "--location",
            "--redirects",
            "--redirect",
            "--max-redirects",
            "--maxredirs",
            "--max-redirs",
        ],
        "use --follow N",
    ),
    (&["--location-trusted"], "use --follow N"),
    (&["--disable-redirects"], "leave it out: redirects are not followed under load"),
    (
        &[
            "-x",
            "--proxy",
            "--proxy-header",
            "--proxy-user",
            "--proxy-http-version",
            "--proxy-http2",
            "--socks5",
        ],
        "proxies are not supported",
    ),
    (&["--limit-rate"], "use -R RATE for requests a second, or --pace TIME for each connection"),
    (&["--ciphers", "--tls13-ciphers"], "leave it out: the cipher is agreed on by TLS"),
    (&["--session-tickets"], "use --tls-resume"),
    (&["--noproxy"], "leave it out: no proxy is used"),
    (&["--dns-ttl"], "leave it out: a name is resolved once, before the load"),
    (
        &["--resolve", "--hosts", "--dns", "--dns-servers", "--resolvers"],
        "use --connect-to HOST:PORT",
    ),
    (&["-B", "--interface", "--local-addr", "--laddr", "--local-ips"], "use --source ADDRESS"),
    (&["-E"], "use --cert FILE and --key FILE"),
    (
        &["--pass", "--cert-type", "--key-type"],
        "use --cert FILE and --key FILE, both in PEM form and without a password",
    ),
    (&["--capath", "--root-certs"], "use --cacert FILE"),
    (&["--tlsv1.2", "--tlsv1.3", "--tlsv1", "--tlsv1.0", "--tlsv1.1"], "use --tls-min 1.2 or 1.3"),
    (&["--abstract-unix-socket"], "use --unix PATH; abstract sockets are not supported"),
    (
        &["-4", "-6", "--ipv4", "--ipv6"],
        "write the address into the URL, such as http://[::1]:8080/, or use --connect-to",
    ),
    (
        &["--connect-timeout", "--max-time", "--speed-limit", "--speed-time", "-y", "-Y"],
        "use -T TIME, which limits each attempt from connecting to its last byte",
    ),
    (&["--retry", "--retries"], "nothing is sent twice: a failed attempt is counted as that"),
    (
        &["-f"],
        "leave it out: failures are counted, and the run goes on; a body's file is --body-file FILE",
    ),
    (&["-r"], "leave it out: failures are counted, and the run goes on; a rate is -R RATE"),
    (&["--fail", "-r"], "leave it out: failures are counted, and the run goes on"),
    (
        &["--no-connection-reuse", "--no-vu-connection-reuse", "--disableKeepAlives"],
        "use --no-keepalive",
    ),
    (
        &["--keepalive-time", "--keepalive-cnt"],
        "leave it out: connections are kept for the whole run",
    ),
    (
        &["--keepalive", "--keep-alive", "-K"],
        "leave it out: connections are kept; --no-keepalive closes them",
    ),
    (
        &["--users", "--clients", "--concurrent", "--conns", "--max-connections", "--max-workers"],
        "use -c N",
    ),
    (&["--parallel", "--parallel-max", "-Z", "--batch", "--batch-per-host"], "use -c N"),
    (&["--concurrency", "--users", "--clients"], "use --levels 1,8,64"),
    (&["--workers", "--cpus"], "use -t N"),
    (&["-l"], "leave it out: latencies are printed, and bodies may have any length"),
    (&["--time", "--timelimit", "--run-time", "--duration-seconds"], "use -d TIME"),
    (&["--reps", "--repeat"], "use -n N"),
    (&["--min-iteration-duration"], "use --pace TIME"),
    (
        &["-w"],
        "use --warmup TIME for a warm-up, --think TIME for pauses; nothing of a response is printed",
    ),
    (&["-w", "-W", "--wait"], "use --warmup TIME for a warm-up, --think TIME for pauses"),
    (&["--rps", "--rate-limit", "--qps"], "use -R RATE"),
    (&["--rps", "--rate-limit", "--qps", "--rate", "-R"], "use --rates 100,200,500"),
    (
        &["--rps", "--rate-limit", "--qps", "--rate", "-R"],
        "the rate is searched; --max RATE bounds it",
    ),
    (
        &["-d", "--duration", "-z", "-n", "--requests", "--iterations"],
        "--budget TIME bounds the whole search, and --step TIME each of its steps",
    ),
    (&["-n", "--requests", "--iterations"], "each level of --levels lasts -d TIME"),
    (
        &["--levels", "--rates"],
        "a run is one load, by -c N or -R RATE: `plimsoll sweep` takes several",
    ),
    (
        &["--stage", "--stages", "--burst-delay", "--burst-rate"],
        "write stages into a workload file: see `plimsoll init`",
    ),
    (
        &["--env", "--tag"],
        "write ${env.NAME} into a workload file to take a value from the environment",
    ),
    (
        &["--wait-ongoing-requests-after-deadline"],
        "leave it out: the last responses are waited for, each up to -T",
    ),
    (
        &["--latency-correction"],
        "leave it out: with -R, response times begin when a request is due",
    ),
    (&["--u_latency"], "service time is printed beside response time"),
    (
        &["-U"],
        "service time is printed beside response time; a user agent is -H 'User-Agent: TEXT'; proxies are not supported",
    ),
    (&["--batch_latency", "--latencies"], "leave it out: latencies are printed"),
    (
        &["--no-tui", "--silent", "-S", "--show-error", "--no-progress-meter"],
        "leave it out; -q prints nothing while running",
    ),
    (&["--fps", "--progress", "--progress-bar", "-#"], "leave it out"),
    (
        &["--no-buffer", "-N", "--tcp-nodelay", "--path-as-is", "--globoff", "--raw", "--throw"],
        "leave it out",
    ),
    (
        &[
            "--discard-response-bodies",
            "--no-pre-lookup",
            "--no-summary",
            "--no-thresholds",
            "--paused",
            "--linger",
            "--no-setup",
            "--no-teardown",
            "--no-usage-report",
            "--include-system-env-vars",
            "--lazy",
            "--stream",
            "--create-dirs",
            "--chunked",
            "--max-body",
            "--max-filesize",
        ],
        "leave it out",
    ),
    (
        &["--summary-trend-stats", "--summary-mode", "--stats-success-breakdown", "--percentiles"],
        "--details prints everything that was measured",
    ),
    (
        &["--http-debug", "--trace", "--trace-ascii", "--dump-header", "--write-out", "--stderr"],
        "no response is printed; send one request with curl, and see `plimsoll plan` for what is sent",
    ),
    (&["--print"], "use -q, which prints nothing while running, or --format json"),
    (
        &["--prometheus-addr", "--address"],
        "no figures are served while running: --out DIR takes all results",
    ),
    (&["--body-path-lines"], "several bodies are a pool of a workload file: see `plimsoll init`"),
    (&["--haproxy-protocol"], "the PROXY protocol is not supported"),
    (
        &["--console-output", "--log-output", "--log-format", "--traces-output", "--db-url"],
        "--out DIR takes all results",
    ),
    (
        &["--fail-with-body", "--fail-early"],
        "leave it out: failures are counted, and the run goes on",
    ),
    (
        &["--no-color", "--no-colour", "--disable-color", "--color", "--colour"],
        "colours are left out where NO_COLOR=1 is set",
    ),
    (
        &["--time-unit", "--summary-time-unit"],
        "leave it out: each time is printed in the unit that fits it",
    ),
    (&["--verbose", "--debug", "--stats"], "--details prints everything that was measured"),
    (&["--dry-run"], "`plimsoll plan` prints what would be sent, and sends nothing"),
    (&["--threshold", "--thresholds", "--sla", "--assert"], "use --slo 'p99<100ms'"),
    (&["--port", "-p"], "use --listen 127.0.0.1:PORT"),
    (&["--compressed", "--gzip"], "use -H 'Accept-Encoding: gzip'"),
    (&["--disable-compression"], "leave it out: no Accept-Encoding is sent"),
];

/// Commands of other tools, and words that one tries, with what to type here.
pub(super) const COMMANDS: &[(&[&str], &str)] = &[
    (
        &["bench", "benchmark", "load", "test", "attack", "hit", "get", "start", "stress", "perf"],
        "a load is `plimsoll run URL`",
    ),
    (&["version"], "it is `plimsoll --version`"),
    (&["serve", "server"], "the built-in API is `plimsoll target`"),
    (
        &["completion", "completions", "man"],
        "man pages and completions are written by `plimsoll generate DIR`",
    ),
    (&["record", "proxy"], "make a workload of traffic with `plimsoll import` or `plimsoll mine`"),
];

/// Arguments that a command needs, with one.
pub(super) const EXAMPLES: &[(&str, &str)] = &[
    ("<URL", "http://127.0.0.1:8080/"),
    ("<FILE|URL|DIR>", "cpu.pprof, or a Go server's http://127.0.0.1:6060"),
    ("<LOG>", "/var/log/nginx/access.log"),
    ("<DATABASE_URL>", "postgres://USER@127.0.0.1/DATABASE, or sqlite:FILE"),
    ("<FUNCTION>", "main.handle, as `plimsoll profile` names it"),
    ("<NAME>", "pooled-buffers http://127.0.0.1:8080/"),
    ("<BEFORE>", "out/before out/after, folders of runs with profiles"),
    ("<DIR>", "plimsoll-out/last main.handle, a run with a profile and a function"),
    ("<A>", "a.dat b.dat"),
    ("import <FILE>", "requests.curl"),
    ("audit <FILE>", "wrk.txt"),
];

/// Flags that need a value, with one.
pub(super) const WITH_VALUES: &[(&str, &str)] = &[
    ("--connections", "10"),
    ("--duration", "10s"),
    ("--rate", "100"),
    ("--requests", "1000"),
    ("--timeout", "5s"),
    ("--slo", "'p99<100ms'"),
];
