#compdef plimsoll

autoload -U is-at-least

_plimsoll() {
    typeset -A opt_args
    typeset -a _arguments_options
    local ret=1

    if is-at-least 5.2; then
        _arguments_options=(-s -S -C)
    else
        _arguments_options=(-s -C)
    fi

    local context curcontext="$curcontext" state line
    _arguments "${_arguments_options[@]}" : \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help]' \
'--help[Print help]' \
":: :_plimsoll_commands" \
"*::: :->plimsoll" \
&& ret=0
    case $state in
    (plimsoll)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:plimsoll-command-$line[1]:"
        case $line[1] in
            (run)
_arguments "${_arguments_options[@]}" : \
'-c+[Connections\: users in a closed loop, the most at once in an open loop \[default\: 10, or fewer if -n is less, or what a workload file says; 1000 with a rate\]]:N:_default' \
'--connections=[Connections\: users in a closed loop, the most at once in an open loop \[default\: 10, or fewer if -n is less, or what a workload file says; 1000 with a rate\]]:N:_default' \
'-d+[Length of the measured window, such as 10s or 2m \[default\: 10s, or until -n is reached\]]:TIME:_default' \
'--duration=[Length of the measured window, such as 10s or 2m \[default\: 10s, or until -n is reached\]]:TIME:_default' \
'-n+[Maximum number of requests to send in the measured window \[default\: no limit\]. Without -d the window lasts until they are sent; a closed loop gives up when no response has come for 10 s longer than the time-out (-T)]:N:_default' \
'--requests=[Maximum number of requests to send in the measured window \[default\: no limit\]. Without -d the window lasts until they are sent; a closed loop gives up when no response has come for 10 s longer than the time-out (-T)]:N:_default' \
'-R+[Open loop\: this many arrivals per second whatever the server does, such as 1000 or 20k]:RATE:_default' \
'--rate=[Open loop\: this many arrivals per second whatever the server does, such as 1000 or 20k]:RATE:_default' \
'-t+[Worker threads \[default\: one per allowed processor, at most one per connection\]]:N:_default' \
'--threads=[Worker threads \[default\: one per allowed processor, at most one per connection\]]:N:_default' \
'-T+[Time-out\: an attempt fails without a complete response after this time \[default\: 30s\]]:TIME:_default' \
'--timeout=[Time-out\: an attempt fails without a complete response after this time \[default\: 30s\]]:TIME:_default' \
'*-H+[Header field to send, such as '\''Accept\: text/html'\''; may be repeated]:FIELD:_default' \
'*--header=[Header field to send, such as '\''Accept\: text/html'\''; may be repeated]:FIELD:_default' \
'-m+[Method \[default\: GET, or POST with a body\]]:METHOD:_default' \
'-X+[Method \[default\: GET, or POST with a body\]]:METHOD:_default' \
'--method=[Method \[default\: GET, or POST with a body\]]:METHOD:_default' \
'(--body-file)-b+[Body to send; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'(--body-file)--body=[Body to send; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'(-b --body --body-file)--data=[Body to send as application/x-www-form-urlencoded, as curl does; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'(-b --body --data --body-file)--json=[Body to send as application/json, with an Accept field for the same; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'-u+[User name and password to send in an Authorization field (Basic)]:USER:PASSWORD:_default' \
'--user=[User name and password to send in an Authorization field (Basic)]:USER:PASSWORD:_default' \
'--body-file=[File whose content is the body to send, 1 GiB at most]:FILE:_files' \
'--success=[Statuses that count as success \[default\: 200-399\]]:RANGES:_default' \
'--expect-body-like=[What every body must look like; other responses fail. FIRST\: like the response to a request sent alone before the load, in status, type, beginning and (within a factor of two) length; a TEXT that it contains; or a regular expression between slashes\: '\''/"status"\: *"ok"/'\''. gzip and deflate are decoded]:FIRST|TEXT|/REGEX/:_default' \
'--follow=[If the URL redirects, find its destination before the load, over at most N redirects and on the same server only. The load itself never follows redirects]:N:_default' \
'-s+[wrk script that makes the requests; its arguments follow \`--\`]:FILE:_files' \
'--script=[wrk script that makes the requests; its arguments follow \`--\`]:FILE:_files' \
'--arrivals=[How open-loop arrivals are spaced\: uniform or poisson \[default\: uniform; \`capacity\`\: poisson\]]:KIND:_default' \
'--pace=[Closed loop\: fixed interval between the sends of one connection, such as 110ms]:TIME:_default' \
'--think=[Closed loop\: how long a connection waits after each response]:TIME:_default' \
'--warmup=[Send for this long before the measured window \[default\: 0s\]]:TIME:_default' \
'--ramp=[Let the load grow to its level over this time \[default\: 0s\]]:TIME:_default' \
'--pipeline=[Requests to send on a connection before waiting for a response]:N:_default' \
'--max-inflight=[Maximum number of requests in flight \[default\: connections x pipeline\]]:N:_default' \
'--seed=[Seed of the random numbers; rounds and steps derive theirs from it \[default\: 1\]]:N:_default' \
'--scale=[Workload files\: multiply all rates or users]:FACTOR:_default' \
'*--allow-files=[Workload files\: allow reading files below this folder, besides the workload'\''s own; may be repeated]:DIR:_files' \
'--io=[Kernel interface\: io_uring where allowed, else epoll]:IO:((auto\:"io_uring where it works, else epoll"
uring\:"io_uring"
epoll\:"epoll"))' \
'*--source=[Local addresses to connect from in turn, separated by commas \[default\: the kernel'\''s choice\]]:LIST:_default' \
'--connect-to=[Connect to this host\:port instead of the URL'\''s; Host and TLS name stay the URL'\''s]:HOST:PORT:_default' \
'(--connect-to --source -s --script)*--unix=[Connect to this Unix socket; Host, path and TLS name stay the URL'\''s. \`compare\` takes one for each URL]:PATH:_files' \
'--cacert=[Certificates to trust instead of the system'\''s, in PEM form]:FILE:_files' \
'--cert=[Client certificate chain in PEM form]:FILE:_files' \
'--key=[Its key in PEM form]:FILE:_files' \
'--sni=[Server name to send (SNI) and check instead of the URL'\''s host]:NAME:_default' \
'--tls-min=[Lowest TLS version]:VERSION:((1.2\:"TLS 1.2"
1.3\:"TLS 1.3"))' \
'--tls-max=[Highest TLS version]:VERSION:((1.2\:"TLS 1.2"
1.3\:"TLS 1.3"))' \
'--format=[What to print on standard output]:FORMAT:((text\:"The verdict and the main figures; with --details everything"
wrk\:"wrk'\''s block alone, for programs that parse it"
json\:"The result as JSON, in its own schema\: a run is plimsoll.run/1"))' \
'--out=[Folder for run.json, latency.hgrm, timeline.csv and report.html \[default\: plimsoll-out/last; the run that was there moves to plimsoll-out/previous. With --format json, none\]]:DIR:_files' \
'(--out)--resume=[Start another run that continues the \`unique\` pools of the run in this folder, so that no row is used twice. Its results go to a folder inside this one]:DIR:_files' \
'*--observe=[Watch this beside the load, besides this machine and a server on it\: \[ROLE\[/NAME\]=\]SOURCE with ROLE app, proxy, db, cache or any, and SOURCE local, local\:pid=PID, local\:name=NAME, exec\:COMMAND (prints samples, such as '\''ssh app1 plimsoll watch --stdio'\''), nginx\:URL\[,log=FILE\] (stub_status, error log), prometheus\:URL, postgres\://USER@HOST/DATABASE, mysql\://USER@HOST, mongodb\://HOST, redis\://HOST or memcached\://HOST. May be repeated]:SOURCE:_default' \
'*--slo=[Objective to judge the result by, such as '\''p99<500ms'\'', '\''mean<=100ms'\'', '\''service.p99.9<1s'\'', '\''max<2s'\'', '\''success>=99%'\'', '\''errors.timeout<0.1%'\'', '\''qps>=1000'\'', '\''GET /users/{id}\: p95<80ms'\'', stable, valid, or a preset\: baseline, top10. May be repeated. Exit 99 if one is missed, 98 if one is undecided]:OBJECTIVE:_default' \
'--junit=[Write the rulings to this file, as a test report in JUnit XML]:FILE:_files' \
'--annotations=[Print the rulings as annotations of this CI system, on standard error]:SYSTEM:((github\:"Workflow commands of GitHub Actions"))' \
'--profile=[Take a profile of the server inside the measured window, from its /debug/pprof at this URL, and keep it with the result\: \`plimsoll profile DIR\` shows what each request costs]:URL:_default' \
'*--profile-header=[Header field to send with the request for the profile. May be repeated]:FIELD:_default' \
'*--abort-on=[End the run early when a limit is exceeded for some time, such as '\''p99>2s for 10s'\'', '\''errors>5% for 5s'\'', or, if the requested rate is not reached, '\''achieved<95% for 5s'\''. May be repeated. The result so far is kept; exit 99, or 98 for \`achieved\`]:RULE:_default' \
'--no-keepalive[Open a new connection for each request]' \
'--spin[Send exactly on time\: the workers never sleep and use their cores fully]' \
'--reads-only[Workload files\: leave out requests that change anything on the server]' \
'(-s --script)--cookies[Send the cookies that responses set; each connection has its own. Flows of workload files always do]' \
'-k[Do not check the server'\''s certificate]' \
'--insecure[Do not check the server'\''s certificate]' \
'--tls-resume[Let connections resume earlier TLS sessions where the server offers it, as returning users do. Without it every handshake is that of a new client]' \
'--details[Print everything that was measured\: wrk'\''s block, all distributions, the spectrum, the generator]' \
'-L[Print wrk'\''s latency distribution in wrk'\''s block; with text, implies --details]' \
'--latency[Print wrk'\''s latency distribution in wrk'\''s block; with text, implies --details]' \
'-q[Print nothing while running]' \
'--quiet[Print nothing while running]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::url -- URL to load, such as http\://127.0.0.1\:8080/healthz, or a workload file:_default' \
'*::script_args -- Arguments for the script:_default' \
&& ret=0
;;
(sweep)
_arguments "${_arguments_options[@]}" : \
'(--rates)--levels=[Levels of concurrency\: \`auto\` (doubling, finer around the best, stops by itself), \`classic\` (wrktest.sh'\''s list), or a list such as 200,500,1000]:LEVELS:_default' \
'*--rates=[Open-loop sweep over these arrival rates, such as 1k,2k,5k]:LIST:_default' \
'-c+[Maximum number of connections in an open-loop sweep \[default\: 1000\]]:N:_default' \
'--connections=[Maximum number of connections in an open-loop sweep \[default\: 1000\]]:N:_default' \
'-d+[Measured window of each level \[default\: 10s; 2s without a URL\]]:TIME:_default' \
'--duration=[Measured window of each level \[default\: 10s; 2s without a URL\]]:TIME:_default' \
'--rest=[Rest between levels \[default\: 1s; none without a URL\]]:TIME:_default' \
'--max-level=[Highest level that \`auto\` and \`classic\` go to \[default\: 50000\]]:N:_default' \
'--stop-below=[\`auto\`\: stop once fewer than this share of attempts succeed \[default\: 90%\]]:PERCENT:_default' \
'--objective=[Limit on the mean response time; the report names the best level within it]:TIME:_default' \
'-t+[Worker threads \[default\: one per allowed processor, at most one per connection\]]:N:_default' \
'--threads=[Worker threads \[default\: one per allowed processor, at most one per connection\]]:N:_default' \
'-T+[Time-out\: an attempt fails without a complete response after this time \[default\: 30s\]]:TIME:_default' \
'--timeout=[Time-out\: an attempt fails without a complete response after this time \[default\: 30s\]]:TIME:_default' \
'*-H+[Header field to send, such as '\''Accept\: text/html'\''; may be repeated]:FIELD:_default' \
'*--header=[Header field to send, such as '\''Accept\: text/html'\''; may be repeated]:FIELD:_default' \
'-m+[Method \[default\: GET, or POST with a body\]]:METHOD:_default' \
'-X+[Method \[default\: GET, or POST with a body\]]:METHOD:_default' \
'--method=[Method \[default\: GET, or POST with a body\]]:METHOD:_default' \
'(--body-file)-b+[Body to send; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'(--body-file)--body=[Body to send; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'(-b --body --body-file)--data=[Body to send as application/x-www-form-urlencoded, as curl does; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'(-b --body --data --body-file)--json=[Body to send as application/json, with an Accept field for the same; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'-u+[User name and password to send in an Authorization field (Basic)]:USER:PASSWORD:_default' \
'--user=[User name and password to send in an Authorization field (Basic)]:USER:PASSWORD:_default' \
'--body-file=[File whose content is the body to send, 1 GiB at most]:FILE:_files' \
'--success=[Statuses that count as success \[default\: 200-399\]]:RANGES:_default' \
'--expect-body-like=[What every body must look like; other responses fail. FIRST\: like the response to a request sent alone before the load, in status, type, beginning and (within a factor of two) length; a TEXT that it contains; or a regular expression between slashes\: '\''/"status"\: *"ok"/'\''. gzip and deflate are decoded]:FIRST|TEXT|/REGEX/:_default' \
'--follow=[If the URL redirects, find its destination before the load, over at most N redirects and on the same server only. The load itself never follows redirects]:N:_default' \
'-s+[wrk script that makes the requests; its arguments follow \`--\`]:FILE:_files' \
'--script=[wrk script that makes the requests; its arguments follow \`--\`]:FILE:_files' \
'--arrivals=[How open-loop arrivals are spaced\: uniform or poisson \[default\: uniform; \`capacity\`\: poisson\]]:KIND:_default' \
'--pace=[Closed loop\: fixed interval between the sends of one connection, such as 110ms]:TIME:_default' \
'--think=[Closed loop\: how long a connection waits after each response]:TIME:_default' \
'--warmup=[Send for this long before the measured window \[default\: 0s\]]:TIME:_default' \
'--ramp=[Let the load grow to its level over this time \[default\: 0s\]]:TIME:_default' \
'--pipeline=[Requests to send on a connection before waiting for a response]:N:_default' \
'--max-inflight=[Maximum number of requests in flight \[default\: connections x pipeline\]]:N:_default' \
'--seed=[Seed of the random numbers; rounds and steps derive theirs from it \[default\: 1\]]:N:_default' \
'--scale=[Workload files\: multiply all rates or users]:FACTOR:_default' \
'*--allow-files=[Workload files\: allow reading files below this folder, besides the workload'\''s own; may be repeated]:DIR:_files' \
'--io=[Kernel interface\: io_uring where allowed, else epoll]:IO:((auto\:"io_uring where it works, else epoll"
uring\:"io_uring"
epoll\:"epoll"))' \
'*--source=[Local addresses to connect from in turn, separated by commas \[default\: the kernel'\''s choice\]]:LIST:_default' \
'--connect-to=[Connect to this host\:port instead of the URL'\''s; Host and TLS name stay the URL'\''s]:HOST:PORT:_default' \
'(--connect-to --source -s --script)*--unix=[Connect to this Unix socket; Host, path and TLS name stay the URL'\''s. \`compare\` takes one for each URL]:PATH:_files' \
'--cacert=[Certificates to trust instead of the system'\''s, in PEM form]:FILE:_files' \
'--cert=[Client certificate chain in PEM form]:FILE:_files' \
'--key=[Its key in PEM form]:FILE:_files' \
'--sni=[Server name to send (SNI) and check instead of the URL'\''s host]:NAME:_default' \
'--tls-min=[Lowest TLS version]:VERSION:((1.2\:"TLS 1.2"
1.3\:"TLS 1.3"))' \
'--tls-max=[Highest TLS version]:VERSION:((1.2\:"TLS 1.2"
1.3\:"TLS 1.3"))' \
'--name=[Name of the result files \[default\: host, port and path of the URL, or the workload file'\''s name\]]:NAME:_default' \
'--out=[Folder for the results \[default\: plimsoll-out/NAME/DATE-TIME\]]:DIR:_files' \
'(--out)--resume=[Continue the sweep in this folder, keeping its levels]:DIR:_files' \
'*--observe=[Watch this beside the load, besides this machine and a server on it\: \[ROLE\[/NAME\]=\]SOURCE with ROLE app, proxy, db, cache or any, and SOURCE local, local\:pid=PID, local\:name=NAME, exec\:COMMAND (prints samples, such as '\''ssh app1 plimsoll watch --stdio'\''), nginx\:URL\[,log=FILE\] (stub_status, error log), prometheus\:URL, postgres\://USER@HOST/DATABASE, mysql\://USER@HOST, mongodb\://HOST, redis\://HOST or memcached\://HOST. May be repeated]:SOURCE:_default' \
'*--slo=[Objective to judge the result by, such as '\''p99<500ms'\'', '\''mean<=100ms'\'', '\''service.p99.9<1s'\'', '\''max<2s'\'', '\''success>=99%'\'', '\''errors.timeout<0.1%'\'', '\''qps>=1000'\'', '\''GET /users/{id}\: p95<80ms'\'', stable, valid, or a preset\: baseline, top10. May be repeated. Exit 99 if one is missed, 98 if one is undecided]:OBJECTIVE:_default' \
'--junit=[Write the rulings to this file, as a test report in JUnit XML]:FILE:_files' \
'--annotations=[Print the rulings as annotations of this CI system, on standard error]:SYSTEM:((github\:"Workflow commands of GitHub Actions"))' \
'--profile=[Take a profile of the server inside the measured window, from its /debug/pprof at this URL, and keep it with the result\: \`plimsoll profile DIR\` shows what each request costs]:URL:_default' \
'*--profile-header=[Header field to send with the request for the profile. May be repeated]:FIELD:_default' \
'*--abort-on=[End the run early when a limit is exceeded for some time, such as '\''p99>2s for 10s'\'', '\''errors>5% for 5s'\'', or, if the requested rate is not reached, '\''achieved<95% for 5s'\''. May be repeated. The result so far is kept; exit 99, or 98 for \`achieved\`]:RULE:_default' \
'--no-keepalive[Open a new connection for each request]' \
'--spin[Send exactly on time\: the workers never sleep and use their cores fully]' \
'--reads-only[Workload files\: leave out requests that change anything on the server]' \
'(-s --script)--cookies[Send the cookies that responses set; each connection has its own. Flows of workload files always do]' \
'-k[Do not check the server'\''s certificate]' \
'--insecure[Do not check the server'\''s certificate]' \
'--tls-resume[Let connections resume earlier TLS sessions where the server offers it, as returning users do. Without it every handshake is that of a new client]' \
'-q[Print nothing while running]' \
'--quiet[Print nothing while running]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::url -- URL or workload file to load; without one the built-in API is started and swept:_default' \
'*::script_args -- Arguments for the script:_default' \
&& ret=0
;;
(plan)
_arguments "${_arguments_options[@]}" : \
'--samples=[Number of requests to show, as they would be sent]:N:_default' \
'-c+[Connections\: users in a closed loop, the most at once in an open loop \[default\: 10, or fewer if -n is less, or what a workload file says; 1000 with a rate\]]:N:_default' \
'--connections=[Connections\: users in a closed loop, the most at once in an open loop \[default\: 10, or fewer if -n is less, or what a workload file says; 1000 with a rate\]]:N:_default' \
'-d+[Length of the measured window, such as 10s or 2m \[default\: 10s, or until -n is reached\]]:TIME:_default' \
'--duration=[Length of the measured window, such as 10s or 2m \[default\: 10s, or until -n is reached\]]:TIME:_default' \
'-n+[Maximum number of requests to send in the measured window \[default\: no limit\]. Without -d the window lasts until they are sent; a closed loop gives up when no response has come for 10 s longer than the time-out (-T)]:N:_default' \
'--requests=[Maximum number of requests to send in the measured window \[default\: no limit\]. Without -d the window lasts until they are sent; a closed loop gives up when no response has come for 10 s longer than the time-out (-T)]:N:_default' \
'-R+[Open loop\: this many arrivals per second whatever the server does, such as 1000 or 20k]:RATE:_default' \
'--rate=[Open loop\: this many arrivals per second whatever the server does, such as 1000 or 20k]:RATE:_default' \
'-t+[Worker threads \[default\: one per allowed processor, at most one per connection\]]:N:_default' \
'--threads=[Worker threads \[default\: one per allowed processor, at most one per connection\]]:N:_default' \
'-T+[Time-out\: an attempt fails without a complete response after this time \[default\: 30s\]]:TIME:_default' \
'--timeout=[Time-out\: an attempt fails without a complete response after this time \[default\: 30s\]]:TIME:_default' \
'*-H+[Header field to send, such as '\''Accept\: text/html'\''; may be repeated]:FIELD:_default' \
'*--header=[Header field to send, such as '\''Accept\: text/html'\''; may be repeated]:FIELD:_default' \
'-m+[Method \[default\: GET, or POST with a body\]]:METHOD:_default' \
'-X+[Method \[default\: GET, or POST with a body\]]:METHOD:_default' \
'--method=[Method \[default\: GET, or POST with a body\]]:METHOD:_default' \
'(--body-file)-b+[Body to send; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'(--body-file)--body=[Body to send; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'(-b --body --body-file)--data=[Body to send as application/x-www-form-urlencoded, as curl does; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'(-b --body --data --body-file)--json=[Body to send as application/json, with an Accept field for the same; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'-u+[User name and password to send in an Authorization field (Basic)]:USER:PASSWORD:_default' \
'--user=[User name and password to send in an Authorization field (Basic)]:USER:PASSWORD:_default' \
'--body-file=[File whose content is the body to send, 1 GiB at most]:FILE:_files' \
'--success=[Statuses that count as success \[default\: 200-399\]]:RANGES:_default' \
'--expect-body-like=[What every body must look like; other responses fail. FIRST\: like the response to a request sent alone before the load, in status, type, beginning and (within a factor of two) length; a TEXT that it contains; or a regular expression between slashes\: '\''/"status"\: *"ok"/'\''. gzip and deflate are decoded]:FIRST|TEXT|/REGEX/:_default' \
'--follow=[If the URL redirects, find its destination before the load, over at most N redirects and on the same server only. The load itself never follows redirects]:N:_default' \
'-s+[wrk script that makes the requests; its arguments follow \`--\`]:FILE:_files' \
'--script=[wrk script that makes the requests; its arguments follow \`--\`]:FILE:_files' \
'--arrivals=[How open-loop arrivals are spaced\: uniform or poisson \[default\: uniform; \`capacity\`\: poisson\]]:KIND:_default' \
'--pace=[Closed loop\: fixed interval between the sends of one connection, such as 110ms]:TIME:_default' \
'--think=[Closed loop\: how long a connection waits after each response]:TIME:_default' \
'--warmup=[Send for this long before the measured window \[default\: 0s\]]:TIME:_default' \
'--ramp=[Let the load grow to its level over this time \[default\: 0s\]]:TIME:_default' \
'--pipeline=[Requests to send on a connection before waiting for a response]:N:_default' \
'--max-inflight=[Maximum number of requests in flight \[default\: connections x pipeline\]]:N:_default' \
'--seed=[Seed of the random numbers; rounds and steps derive theirs from it \[default\: 1\]]:N:_default' \
'--scale=[Workload files\: multiply all rates or users]:FACTOR:_default' \
'*--allow-files=[Workload files\: allow reading files below this folder, besides the workload'\''s own; may be repeated]:DIR:_files' \
'--io=[Kernel interface\: io_uring where allowed, else epoll]:IO:((auto\:"io_uring where it works, else epoll"
uring\:"io_uring"
epoll\:"epoll"))' \
'*--source=[Local addresses to connect from in turn, separated by commas \[default\: the kernel'\''s choice\]]:LIST:_default' \
'--connect-to=[Connect to this host\:port instead of the URL'\''s; Host and TLS name stay the URL'\''s]:HOST:PORT:_default' \
'(--connect-to --source -s --script)*--unix=[Connect to this Unix socket; Host, path and TLS name stay the URL'\''s. \`compare\` takes one for each URL]:PATH:_files' \
'--cacert=[Certificates to trust instead of the system'\''s, in PEM form]:FILE:_files' \
'--cert=[Client certificate chain in PEM form]:FILE:_files' \
'--key=[Its key in PEM form]:FILE:_files' \
'--sni=[Server name to send (SNI) and check instead of the URL'\''s host]:NAME:_default' \
'--tls-min=[Lowest TLS version]:VERSION:((1.2\:"TLS 1.2"
1.3\:"TLS 1.3"))' \
'--tls-max=[Highest TLS version]:VERSION:((1.2\:"TLS 1.2"
1.3\:"TLS 1.3"))' \
'--format=[What to print on standard output]:FORMAT:((text\:"Aligned columns"
json\:"JSON"))' \
'--no-keepalive[Open a new connection for each request]' \
'--spin[Send exactly on time\: the workers never sleep and use their cores fully]' \
'--reads-only[Workload files\: leave out requests that change anything on the server]' \
'(-s --script)--cookies[Send the cookies that responses set; each connection has its own. Flows of workload files always do]' \
'-k[Do not check the server'\''s certificate]' \
'--insecure[Do not check the server'\''s certificate]' \
'--tls-resume[Let connections resume earlier TLS sessions where the server offers it, as returning users do. Without it every handshake is that of a new client]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':url -- URL or workload file:_default' \
'*::script_args -- Arguments for the script:_default' \
&& ret=0
;;
(capacity)
_arguments "${_arguments_options[@]}" : \
'--budget=[Time limit of the whole search\: no step is begun that would not fit, but waiting for a step'\''s last responses may take up to --timeout longer \[default\: 5m; 1m without a URL\]]:TIME:_default' \
'--step=[Measured window of a step; lengthened where fewer than two arrivals would be due \[default\: a thirtieth of the budget, at least 1s\]]:TIME:_default' \
'--hold=[Measured window of the confirming hold \[default\: a fifth of the budget, or longer if a percentile needs more responses\]]:TIME:_default' \
'--rest=[Rest between steps \[default\: a tenth of a step\]]:TIME:_default' \
'--precision=[Width of the interval at which the search stops, in per cent of the capacity]:PERCENT:_default' \
'--max=[Highest level to try\: a rate, or a concurrency with --closed]:LEVEL:_default' \
'*--slo=[Objective that a level must meet, as for \`run\`\: '\''p99<500ms'\'', '\''success>=99%'\'', '\''max<2s'\'', '\''errors.timeout<0.1%'\'', stable, or a preset. May be repeated. A '\''qps>=1000'\'' applies to the capacity found\: exit 99 if missed, 98 if undecided \[default\: '\''mean<=500ms'\'' and '\''success>=99%'\''\]]:OBJECTIVE:_default' \
'--dau-now=[Daily users the workload stands for, so that the capacity is printed in daily users too, if the file does not say so itself (daily_users, which \`mine\` writes)]:N:_default' \
'-c+[Maximum number of connections]:N:_default' \
'--connections=[Maximum number of connections]:N:_default' \
'-t+[Worker threads \[default\: one per allowed processor, at most one per connection\]]:N:_default' \
'--threads=[Worker threads \[default\: one per allowed processor, at most one per connection\]]:N:_default' \
'-T+[Time-out\: an attempt fails without a complete response after this time \[default\: 30s\]]:TIME:_default' \
'--timeout=[Time-out\: an attempt fails without a complete response after this time \[default\: 30s\]]:TIME:_default' \
'*-H+[Header field to send, such as '\''Accept\: text/html'\''; may be repeated]:FIELD:_default' \
'*--header=[Header field to send, such as '\''Accept\: text/html'\''; may be repeated]:FIELD:_default' \
'-m+[Method \[default\: GET, or POST with a body\]]:METHOD:_default' \
'-X+[Method \[default\: GET, or POST with a body\]]:METHOD:_default' \
'--method=[Method \[default\: GET, or POST with a body\]]:METHOD:_default' \
'(--body-file)-b+[Body to send; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'(--body-file)--body=[Body to send; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'(-b --body --body-file)--data=[Body to send as application/x-www-form-urlencoded, as curl does; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'(-b --body --data --body-file)--json=[Body to send as application/json, with an Accept field for the same; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'-u+[User name and password to send in an Authorization field (Basic)]:USER:PASSWORD:_default' \
'--user=[User name and password to send in an Authorization field (Basic)]:USER:PASSWORD:_default' \
'--body-file=[File whose content is the body to send, 1 GiB at most]:FILE:_files' \
'--success=[Statuses that count as success \[default\: 200-399\]]:RANGES:_default' \
'--expect-body-like=[What every body must look like; other responses fail. FIRST\: like the response to a request sent alone before the load, in status, type, beginning and (within a factor of two) length; a TEXT that it contains; or a regular expression between slashes\: '\''/"status"\: *"ok"/'\''. gzip and deflate are decoded]:FIRST|TEXT|/REGEX/:_default' \
'--follow=[If the URL redirects, find its destination before the load, over at most N redirects and on the same server only. The load itself never follows redirects]:N:_default' \
'-s+[wrk script that makes the requests; its arguments follow \`--\`]:FILE:_files' \
'--script=[wrk script that makes the requests; its arguments follow \`--\`]:FILE:_files' \
'--arrivals=[How open-loop arrivals are spaced\: uniform or poisson \[default\: uniform; \`capacity\`\: poisson\]]:KIND:_default' \
'--pace=[Closed loop\: fixed interval between the sends of one connection, such as 110ms]:TIME:_default' \
'--think=[Closed loop\: how long a connection waits after each response]:TIME:_default' \
'--warmup=[Send for this long before the measured window \[default\: 0s\]]:TIME:_default' \
'--ramp=[Let the load grow to its level over this time \[default\: 0s\]]:TIME:_default' \
'--pipeline=[Requests to send on a connection before waiting for a response]:N:_default' \
'--max-inflight=[Maximum number of requests in flight \[default\: connections x pipeline\]]:N:_default' \
'--seed=[Seed of the random numbers; rounds and steps derive theirs from it \[default\: 1\]]:N:_default' \
'--scale=[Workload files\: multiply all rates or users]:FACTOR:_default' \
'*--allow-files=[Workload files\: allow reading files below this folder, besides the workload'\''s own; may be repeated]:DIR:_files' \
'--io=[Kernel interface\: io_uring where allowed, else epoll]:IO:((auto\:"io_uring where it works, else epoll"
uring\:"io_uring"
epoll\:"epoll"))' \
'*--source=[Local addresses to connect from in turn, separated by commas \[default\: the kernel'\''s choice\]]:LIST:_default' \
'--connect-to=[Connect to this host\:port instead of the URL'\''s; Host and TLS name stay the URL'\''s]:HOST:PORT:_default' \
'(--connect-to --source -s --script)*--unix=[Connect to this Unix socket; Host, path and TLS name stay the URL'\''s. \`compare\` takes one for each URL]:PATH:_files' \
'--cacert=[Certificates to trust instead of the system'\''s, in PEM form]:FILE:_files' \
'--cert=[Client certificate chain in PEM form]:FILE:_files' \
'--key=[Its key in PEM form]:FILE:_files' \
'--sni=[Server name to send (SNI) and check instead of the URL'\''s host]:NAME:_default' \
'--tls-min=[Lowest TLS version]:VERSION:((1.2\:"TLS 1.2"
1.3\:"TLS 1.3"))' \
'--tls-max=[Highest TLS version]:VERSION:((1.2\:"TLS 1.2"
1.3\:"TLS 1.3"))' \
'--profile=[Take a profile of the server inside the measured window, from its /debug/pprof at this URL, and keep it with the result\: \`plimsoll profile DIR\` shows what each request costs]:URL:_default' \
'*--profile-header=[Header field to send with the request for the profile. May be repeated]:FIELD:_default' \
'--format=[What to print on standard output]:FORMAT:((text\:"The capacity, why it is not more, and the steps"
json\:"The search as JSON (plimsoll.capacity/1)"))' \
'--out=[Folder for the results \[default\: plimsoll-out/capacity/DATE-TIME\]]:DIR:_files' \
'(--out)--resume=[Continue the search in this folder, keeping its steps; --budget may be raised]:DIR:_files' \
'*--observe=[Watch this beside the load, besides this machine and a server on it\: \[ROLE\[/NAME\]=\]SOURCE with ROLE app, proxy, db, cache or any, and SOURCE local, local\:pid=PID, local\:name=NAME, exec\:COMMAND (prints samples, such as '\''ssh app1 plimsoll watch --stdio'\''), nginx\:URL\[,log=FILE\] (stub_status, error log), prometheus\:URL, postgres\://USER@HOST/DATABASE, mysql\://USER@HOST, mongodb\://HOST, redis\://HOST or memcached\://HOST. May be repeated]:SOURCE:_default' \
'--closed[Search for the highest concurrency in a closed loop, instead of the highest rate]' \
'--no-keepalive[Open a new connection for each request]' \
'--spin[Send exactly on time\: the workers never sleep and use their cores fully]' \
'--reads-only[Workload files\: leave out requests that change anything on the server]' \
'(-s --script)--cookies[Send the cookies that responses set; each connection has its own. Flows of workload files always do]' \
'-k[Do not check the server'\''s certificate]' \
'--insecure[Do not check the server'\''s certificate]' \
'--tls-resume[Let connections resume earlier TLS sessions where the server offers it, as returning users do. Without it every handshake is that of a new client]' \
'-q[Print nothing while searching]' \
'--quiet[Print nothing while searching]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::url -- URL or workload file to load; without one the built-in API is started and searched:_default' \
'*::script_args -- Arguments for the script:_default' \
&& ret=0
;;
(init)
_arguments "${_arguments_options[@]}" : \
'-o+[Workload file to write]:FILE:_files' \
'--out=[Workload file to write]:FILE:_files' \
'--force[Overwrite an existing workload file]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help]' \
'--help[Print help]' \
'::url -- The server to load, with the path of a first request if there is one:_default' \
&& ret=0
;;
(import)
_arguments "${_arguments_options[@]}" : \
'-o+[Workload file to write, with its JSON Schema beside it \[default\: standard output\]]:FILE:_files' \
'--out=[Workload file to write, with its JSON Schema beside it \[default\: standard output\]]:FILE:_files' \
'--target=[The server to load; if the file names several, only requests to this one are kept]:URL:_default' \
'--force[Overwrite an existing workload file]' \
'--keep-secrets[Write credentials as they are, instead of \`\${env.NAME}\`]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::format -- What the file is \[default\: found out from how it begins\]:((curl\:"Pasted curl commands"
vegeta\:"Targets of vegeta, as HTTP text or JSON lines"
har\:"A recording\: HTTP Archive 1.2"
openapi\:"A description\: OpenAPI 3"
postman\:"A Postman collection 2.1"))' \
':file -- The file; `-` reads standard input:_files' \
&& ret=0
;;
(mine)
_arguments "${_arguments_options[@]}" : \
'--out=[Folder for workload.yaml, its pools, mine.json and report.html \[default\: plimsoll-out/mine/DATE-TIME\]]:DIR:_files' \
'--format=[What to print on standard output]:FORMAT:((text\:"The main figures"
json\:"All figures as JSON (plimsoll.mine/1)"))' \
'--log-format=[How the lines are written\: nginx'\''s log_format string (or Apache'\''s), a format'\''s name (combined, common, vhost, alb, elb, w3c, cloudfront, json), or an nginx.conf that contains it]:FORMAT:_default' \
'*--field=[Member of a JSON line that holds this\: at, client, user, agent, host, request, method, path, query, status, bytes, taken (taken=MEMBER\:ms names the unit). With --log-format only what tells users apart, instead of the user'\''s name\: user=\$cookie_sid, user=%{sid}C, user=cs(Cookie). May be repeated]:ROLE=MEMBER:_default' \
'--max-bad=[Share of lines that may be unreadable]:PERCENT:_default' \
'--window=[Length of the peak that is looked for]:TIME:_default' \
'*--include=[Keep only these paths\: a prefix such as /api, or a pattern such as */users/*. May be repeated]:PATH:_default' \
'*--exclude=[Leave these paths out. May be repeated]:PATH:_default' \
'*--template=[Take all paths of this form for one endpoint, whatever is learnt\: /categories/{slug}. Of several the first that matches. May be repeated]:PATH:_default' \
'--top=[Endpoints in the workload at most; their rates are raised so that the whole load is sent]:N:_default' \
'--target=[The server that the workload is for; nothing is sent to it now]:URL:_default' \
'*--map=[Replace the beginning of paths, for endpoints that are about to retire\: /v1/users=/v2/users, or, with the method, POST /cart=PUT /basket. May be repeated]:OLD=NEW:_default' \
'--session-gap=[The pause that ends a session]:TIME:_default' \
'(--sessions --closed --factor)--trace=[Repeat the arrivals of the peak as they were logged, SPEED times as fast \[default SPEED\: 1\]]::SPEED:_default' \
'--pace=[With --closed\: time between the requests of one user \[default\: 110ms\]]:TIME:_default' \
'*--keep-secrets=[Parameter whose values are written although they look like credentials, or its name says so. May be repeated]:NAME:_default' \
'--dau-now=[Daily users today \[default\: those of the log'\''s busiest day\]]:N:_default' \
'--dau-target=[Daily users that the load is to stand for\: it is multiplied by this over --dau-now \[default\: the same\]]:N:_default' \
'--factor=[Multiply the load by this, instead of by --dau-target over --dau-now]:FACTOR:_default' \
'--with-bots[Count the requests of bots too]' \
'--with-static[Count the requests of static files too]' \
'--sessions[Write sessions (flows of several requests, with think times) instead of single requests\: the commonest of the log, and as many others as are needed for each endpoint'\''s share of the requests]' \
'(--sessions)--closed[Write users of a closed loop that send at a pace, instead of arrivals per second]' \
'-q[Print nothing while reading]' \
'--quiet[Print nothing while reading]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::logs -- Access logs; `-` reads standard input:_files' \
&& ret=0
;;
(gate)
_arguments "${_arguments_options[@]}" : \
'*--listen=[Address and port for clients, such as 127.0.0.1\:9090; may be repeated]:ADDRESS:_default' \
'*--upstream=[URL of a server to forward to; may be repeated for servers that give the same responses]:URL:_default' \
'--loadline=[Load line to hold all requests to\: capacity.json of \`plimsoll capacity\`]:FILE:_files' \
'--admin=[Address and port of the admin API and the usage page, such as 127.0.0.1\:9091 \[default\: neither is served\]]:ADDRESS:_default' \
'--admin-token=[File with the token of the admin API \[default\: a new token at each start, which is printed\]]:FILE:_files' \
'--store=[File of keys and usage \[default\: plimsoll-gate.db\]]:FILE:_files' \
'--usage-lines=[Append usage to this file as JSON lines, instead of counting it in the store]:FILE:_files' \
'--access-log=[Append a line for each request to this file, in the combined format with the time taken]:FILE:_files' \
'--workers=[Threads, each with a listener of its own \[default\: one per processor\]]:N:_default' \
'--io=[Kernel interface]:IO:((auto\:"io_uring where it works, else epoll"
uring\:"io_uring"
epoll\:"epoll"))' \
'--open[Ask for no key, whatever the store has]' \
'--watch[Read the configuration again when it changes, or a load line, certificate, key or authority that it names]' \
'--take-over[Take the listeners of the gateway that runs on the same first port and store, so that no client is refused; that one ends once this one serves and its own requests are answered. Other listeners may be added or left out]' \
'--check[Check the configuration and every file that a start needs, and start nothing\: no port is bound]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::config -- Configuration (TOML); flags override it:_files' \
":: :_plimsoll__subcmd__gate_commands" \
"*::: :->gate" \
&& ret=0

    case $state in
    (gate)
        words=($line[2] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:plimsoll-gate-command-$line[2]:"
        case $line[2] in
            (keys)
_arguments "${_arguments_options[@]}" : \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help]' \
'--help[Print help]' \
":: :_plimsoll__subcmd__gate__subcmd__keys_commands" \
"*::: :->keys" \
&& ret=0

    case $state in
    (keys)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:plimsoll-gate-keys-command-$line[1]:"
        case $line[1] in
            (add)
_arguments "${_arguments_options[@]}" : \
'--store=[File of keys and usage]:FILE:_files' \
'--owner=[Whom the key is for, as \`list\`, \`usage\`, the usage page and the header X-Plimsoll-Owner of requests name them \[default\: nobody\]]:NAME:_default' \
'--tier=[Tier of the configuration that the key belongs to \[default\: the first tier\]]:NAME:_default' \
'*--route=[Route it is for; may be repeated \[default\: all\]]:NAME:_default' \
'--rate=[Requests per time, such as 100/s, 30/m or 1000/h \[default\: the tier'\''s\]]:RATE:_default' \
'--burst=[Requests that may come at once after a pause \[default\: as many as the rate lets through in a second\]]:N:_default' \
'--concurrency=[Requests that may be in flight at once \[default\: the tier'\''s\]]:N:_default' \
'--per-day=[Requests in a day of UTC \[default\: the tier'\''s\]]:N:_default' \
'--per-month=[Requests in a month of UTC \[default\: the tier'\''s\]]:N:_default' \
'--body=[Longest body of its requests, such as 512, 64KiB or 1MB; 0 for none \[default\: the tier'\''s\]]:SIZE:_default' \
'--expires-in=[Time until it expires, such as 720h \[default\: never\]]:TIME:_default' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(list)
_arguments "${_arguments_options[@]}" : \
'--store=[File of keys and usage]:FILE:_files' \
'--format=[What to print]:FORMAT:((text\:"A table"
json\:"JSON"))' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(revoke)
_arguments "${_arguments_options[@]}" : \
'--store=[File of keys and usage]:FILE:_files' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help]' \
'--help[Print help]' \
':id -- Its number, as `list` shows it:_default' \
&& ret=0
;;
(rotate)
_arguments "${_arguments_options[@]}" : \
'--store=[File of keys and usage]:FILE:_files' \
'--grace=[Time for which the old key is valid beside the new one, also if that is rotated meanwhile; all of them have the limits and the quota of one]:TIME:_default' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help]' \
'--help[Print help]' \
':id -- Its number, as `list` shows it:_default' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_plimsoll__subcmd__gate__subcmd__keys__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:plimsoll-gate-keys-help-command-$line[1]:"
        case $line[1] in
            (add)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(list)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(revoke)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(rotate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(usage)
_arguments "${_arguments_options[@]}" : \
'--store=[File of keys and usage]:FILE:_files' \
'--since=[How far to look back]:TIME:_default' \
'--format=[What to print]:FORMAT:((text\:"A table"
json\:"JSON"))' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(export)
_arguments "${_arguments_options[@]}" : \
'--loadline=[The load line]:FILE:_files' \
'*--upstream=[URL of a server to forward to; may be repeated]:URL:_default' \
'--listen=[Address for clients]:ADDRESS:_default' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':proxy -- The proxy:((nginx\:"nginx, with its modules limit_req and limit_conn"
haproxy\:"HAProxy 2.4 or later"))' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_plimsoll__subcmd__gate__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:plimsoll-gate-help-command-$line[1]:"
        case $line[1] in
            (keys)
_arguments "${_arguments_options[@]}" : \
":: :_plimsoll__subcmd__gate__subcmd__help__subcmd__keys_commands" \
"*::: :->keys" \
&& ret=0

    case $state in
    (keys)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:plimsoll-gate-help-keys-command-$line[1]:"
        case $line[1] in
            (add)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(list)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(revoke)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(rotate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(usage)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(export)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(fill)
_arguments "${_arguments_options[@]}" : \
'*--rows=[How many rows a table shall have in all; may be repeated]:TABLE=N:_default' \
'--for=[Workload file whose requests need rows\: add those with the ids of its pools]:FILE:_files' \
'--dau-now=[Daily users that today'\''s rows belong to]:N:_default' \
'--dau-target=[Daily users that there shall be rows for]:N:_default' \
'--users=[The table of the users \[default\: the first there is of users, user, accounts, account, customers, customer, members, member\]]:TABLE:_default' \
'*--pool=[The column of the database that a pool'\''s column has the ids of; may be repeated]:POOL.COLUMN=TABLE.COLUMN:_default' \
'(--rows --for --clean --resume --dry-run)*--pools=[Fill nothing, and write the values of this key to a file for a pool, each with 1 + the number of rows that refer to it as its weight, so that those without any are asked for too. May be repeated]:TABLE.COLUMN:_default' \
'--out=[Folder for the files of --pools]:DIR:_files' \
'--locale=[Language of texts\: en, zh_CN, zh_TW, ja_JP, de_DE, fr_FR, it_IT, pt_BR, ar_SA]:LOCALE:_default' \
'--seed=[Seed\: the same seed, --until and database make the same rows]:N:_default' \
'--until=[The day before which made-up times lie, unless a column has later ones already \[default\: today\]]:DATE:_default' \
'--batch=[Rows in a transaction at most; fewer where they would take longer than about a second]:N:_default' \
'--replaced=[What becomes of rows under keys of a fill that hold other values than it wrote \[default\: they are left and named, and the fill is not forgotten\]]:WHAT:((keep\:"They are left, and the fill is forgotten"
remove\:"They are removed too"))' \
'--yes-to=[Write to the database of this name though it looks like production]:NAME:_default' \
'*--production-marks=[Words in the name of a database or host that mark production]:LIST:_default' \
'--only[Do not fill tables that only refer to those of --rows]' \
'(--clean --resume)--dry-run[Print the plan and ten rows of each table; write nothing]' \
'(--rows --for --clean)--resume[Continue the fill that was interrupted]' \
'(--rows --for)--clean[Remove all rows that fills added]' \
'-q[Print nothing while working]' \
'--quiet[Print nothing while working]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':url -- postgres\://USER@HOST/DATABASE, mysql\://USER@HOST/DATABASE or sqlite\:FILE:_default' \
&& ret=0
;;
(profile)
_arguments "${_arguments_options[@]}" : \
'(--top --tree)--peek=[Print the functions that match with their callers and callees, as \`go tool pprof -peek\` does]:PATTERN:_default' \
'-n+[Rows at most \[default\: all with --top, 80 with --tree\]]:N:_default' \
'--nodecount=[Rows at most \[default\: all with --top, 80 with --tree\]]:N:_default' \
'--granularity=[What is one row]:GRANULARITY:((function\:"A function"
line\:"A line of a function"
file\:"A source file"))' \
'--sample-index=[The kind of values, by name or number \[default\: the profile'\''s own default\]]:NAME:_default' \
'--focus=[Only samples with a frame that matches]:PATTERN:_default' \
'--ignore=[No samples with a frame that matches]:PATTERN:_default' \
'--hide=[Leave out frames that match]:PATTERN:_default' \
'--show=[Leave out frames that do not match]:PATTERN:_default' \
'*--own=[Beginning of names, or of files, that are the service'\''s own. May be repeated]:PREFIX:_default' \
'--seconds=[Seconds to profile for, where it is fetched]:N:_default' \
'*-H+[Header field to send with the request for the profile, such as '\''Authorization\: Bearer ...'\''. May be repeated]:FIELD:_default' \
'*--profile-header=[Header field to send with the request for the profile, such as '\''Authorization\: Bearer ...'\''. May be repeated]:FIELD:_default' \
'(--top --tree --peek)--page=[Write a page with a flame graph into this file]:FILE:_files' \
'(--top --tree --peek)--format=[What to print on standard output]:FORMAT:((text\:"Aligned columns"
json\:"JSON"))' \
'--top[Print what \`go tool pprof -top\` prints]' \
'--cum[Order by cumulative value]' \
'(--top)--tree[Print every function with its callers and callees, as \`go tool pprof -tree\` does]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':source -- A profile, a server that gives one, or the folder of a run that took one:_default' \
":: :_plimsoll__subcmd__profile_commands" \
"*::: :->profile" \
&& ret=0

    case $state in
    (profile)
        words=($line[2] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:plimsoll-profile-command-$line[2]:"
        case $line[2] in
            (whatif)
_arguments "${_arguments_options[@]}" : \
'*--keep=[Function that stays, with what it calls, although one that goes calls it. May be repeated]:FUNCTION:_default' \
'--processors=[Processors that the server may use \[default\: found out, for a server on this machine\]]:N:_default' \
'*--own=[Beginning of names, or of files, that are the service'\''s own. May be repeated]:PREFIX:_default' \
'--verify=[Measure the changed server at this URL, as the run was measured, and print the measured rate beside the predicted]:URL:_default' \
'--format=[What to print on standard output]:FORMAT:((text\:"Aligned columns"
json\:"JSON"))' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':dir -- Folder of a run that was given --profile:_files' \
'*::functions -- Functions to do without\: a whole name, or its end, such as middleware.Logger:_default' \
&& ret=0
;;
(diff)
_arguments "${_arguments_options[@]}" : \
'*--own=[Beginning of names, or of files, that are the service'\''s own. May be repeated]:PREFIX:_default' \
'--page=[Write a page with a flame graph of both into this file\: red costs more now, blue costs less]:FILE:_files' \
'--format=[What to print on standard output]:FORMAT:((text\:"Aligned columns"
json\:"JSON"))' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':before -- Folder of the first run:_files' \
':after -- Folder of the second run:_files' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_plimsoll__subcmd__profile__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:plimsoll-profile-help-command-$line[1]:"
        case $line[1] in
            (whatif)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(diff)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(tune)
_arguments "${_arguments_options[@]}" : \
'--notebook=[The notebook'\''s folder]:DIR:_files' \
'--format=[What to print on standard output]:FORMAT:((text\:"Aligned columns"
json\:"JSON"))' \
'-q[Print nothing while running]' \
'--quiet[Print nothing while running]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
":: :_plimsoll__subcmd__tune_commands" \
"*::: :->tune" \
&& ret=0

    case $state in
    (tune)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:plimsoll-tune-command-$line[1]:"
        case $line[1] in
            (begin)
_arguments "${_arguments_options[@]}" : \
'--baseline=[A server that does the same with nothing around it]:URL:_default' \
'--profile=[Where the API gives profiles, which predictions need\: one more run, which no comparison counts]:URL:_default' \
'*--slo=[Objective that every run is judged by, as for \`run\`. May be repeated]:OBJECTIVE:_default' \
'-c+[Connections]:N:_default' \
'--connections=[Connections]:N:_default' \
'-t+[The generator'\''s threads \[default\: one per allowed processor\]]:N:_default' \
'--threads=[The generator'\''s threads \[default\: one per allowed processor\]]:N:_default' \
'-d+[Measured window of each run, 4s or more]:TIME:_default' \
'--duration=[Measured window of each run, 4s or more]:TIME:_default' \
'--warmup=[Warm-up before it]:TIME:_default' \
'--notebook=[The notebook'\''s folder]:DIR:_files' \
'--format=[What to print on standard output]:FORMAT:((text\:"Aligned columns"
json\:"JSON"))' \
'--spin[Never let the generator sleep\: for a server on this machine, which otherwise pays for waking it]' \
'-q[Print nothing while running]' \
'--quiet[Print nothing while running]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':url -- The API:_default' \
&& ret=0
;;
(predict)
_arguments "${_arguments_options[@]}" : \
'--processors=[Processors that the server may use \[default\: found out, for a server on this machine\]]:N:_default' \
'--notebook=[The notebook'\''s folder]:DIR:_files' \
'--format=[What to print on standard output]:FORMAT:((text\:"Aligned columns"
json\:"JSON"))' \
'-q[Print nothing while running]' \
'--quiet[Print nothing while running]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::functions -- Functions to do without, as for `plimsoll profile whatif`:_default' \
&& ret=0
;;
(try)
_arguments "${_arguments_options[@]}" : \
'--profile=[Where it gives profiles, for the next prediction\: one more run, which no comparison counts]:URL:_default' \
'--before=[The server before again, for a URL with credentials\: the notebook does not keep these]:URL:_default' \
'--baseline=[The baseline again, for a URL with credentials]:URL:_default' \
'--rounds=[Rounds, 3 or more\: runs of this server, in turns with the one before where that still runs at another address]:N:_default' \
'--notebook=[The notebook'\''s folder]:DIR:_files' \
'--format=[What to print on standard output]:FORMAT:((text\:"Aligned columns"
json\:"JSON"))' \
'(--discard)--keep[Keep the change whatever it brings]' \
'--discard[Discard the change whatever it brings]' \
'-q[Print nothing while running]' \
'--quiet[Print nothing while running]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
':name -- What was changed, such as '\''logger off'\'':_default' \
':url -- The changed server:_default' \
&& ret=0
;;
(show)
_arguments "${_arguments_options[@]}" : \
'--notebook=[The notebook'\''s folder]:DIR:_files' \
'--format=[What to print on standard output]:FORMAT:((text\:"Aligned columns"
json\:"JSON"))' \
'-q[Print nothing while running]' \
'--quiet[Print nothing while running]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_plimsoll__subcmd__tune__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:plimsoll-tune-help-command-$line[1]:"
        case $line[1] in
            (begin)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(predict)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(try)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(show)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(diff)
_arguments "${_arguments_options[@]}" : \
'--margin=[Changes up to this share count as no change when runs are judged]:PERCENT:_default' \
'--out=[Folder for charts and report \[default\: the second file'\''s folder\]]:DIR:_files' \
'--format=[What to print on standard output]:FORMAT:((text\:"Aligned columns"
csv\:"Comma-separated values"
json\:"JSON"))' \
'--anyway[Judge even where environments, responses or loads differ, or a run is not VALID; if one is INVALID, the exit code is 98 unless it is slower]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::files -- .dat files, sweep.json, run.json or result folders, the old one first\: the others are measured against it. Without any\: the latest two sweeps of the same target, or the last two runs without --out:_files' \
&& ret=0
;;
(audit)
_arguments "${_arguments_options[@]}" : \
'-c+[Connections, where the file of a closed loop does not state them (hey, oha). Such a file does not name its target either\: it is set beside the other files if they name one target]:N:_default' \
'--connections=[Connections, where the file of a closed loop does not state them (hey, oha). Such a file does not name its target either\: it is set beside the other files if they name one target]:N:_default' \
'--format=[What to print on standard output]:FORMAT:((text\:"Aligned columns"
csv\:"Comma-separated values"
json\:"JSON"))' \
'--same-target[Treat all files as measured on the same target, also those that do not name it]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::files -- Results of any tool, - for standard input; several of the same target and concurrency are set side by side:_files' \
&& ret=0
;;
(compare)
_arguments "${_arguments_options[@]}" : \
'--baseline=[Judge against this earlier run (run.json or its folder), with its connections, rate and window unless flags say otherwise]:FILE:_files' \
'--rounds=[Rounds\: each is one run of every URL]:N:_default' \
'--margin=[Changes up to this share count as no change]:PERCENT:_default' \
'-c+[Connections\: users in a closed loop, the most at once in an open loop \[default\: 10; 1000 with a rate\]]:N:_default' \
'--connections=[Connections\: users in a closed loop, the most at once in an open loop \[default\: 10; 1000 with a rate\]]:N:_default' \
'-d+[Measured window of each run \[default\: 10s\]]:TIME:_default' \
'--duration=[Measured window of each run \[default\: 10s\]]:TIME:_default' \
'-R+[Open loop\: this many arrivals per second, such as 1000 or 20k]:RATE:_default' \
'--rate=[Open loop\: this many arrivals per second, such as 1000 or 20k]:RATE:_default' \
'--rest=[Rest between runs]:TIME:_default' \
'-t+[Worker threads \[default\: one per allowed processor, at most one per connection\]]:N:_default' \
'--threads=[Worker threads \[default\: one per allowed processor, at most one per connection\]]:N:_default' \
'-T+[Time-out\: an attempt fails without a complete response after this time \[default\: 30s\]]:TIME:_default' \
'--timeout=[Time-out\: an attempt fails without a complete response after this time \[default\: 30s\]]:TIME:_default' \
'*-H+[Header field to send, such as '\''Accept\: text/html'\''; may be repeated]:FIELD:_default' \
'*--header=[Header field to send, such as '\''Accept\: text/html'\''; may be repeated]:FIELD:_default' \
'-m+[Method \[default\: GET, or POST with a body\]]:METHOD:_default' \
'-X+[Method \[default\: GET, or POST with a body\]]:METHOD:_default' \
'--method=[Method \[default\: GET, or POST with a body\]]:METHOD:_default' \
'(--body-file)-b+[Body to send; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'(--body-file)--body=[Body to send; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'(-b --body --body-file)--data=[Body to send as application/x-www-form-urlencoded, as curl does; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'(-b --body --data --body-file)--json=[Body to send as application/json, with an Accept field for the same; @FILE sends what the file holds]:TEXT|@FILE:_default' \
'-u+[User name and password to send in an Authorization field (Basic)]:USER:PASSWORD:_default' \
'--user=[User name and password to send in an Authorization field (Basic)]:USER:PASSWORD:_default' \
'--body-file=[File whose content is the body to send, 1 GiB at most]:FILE:_files' \
'--success=[Statuses that count as success \[default\: 200-399\]]:RANGES:_default' \
'--expect-body-like=[What every body must look like; other responses fail. FIRST\: like the response to a request sent alone before the load, in status, type, beginning and (within a factor of two) length; a TEXT that it contains; or a regular expression between slashes\: '\''/"status"\: *"ok"/'\''. gzip and deflate are decoded]:FIRST|TEXT|/REGEX/:_default' \
'--follow=[If the URL redirects, find its destination before the load, over at most N redirects and on the same server only. The load itself never follows redirects]:N:_default' \
'-s+[wrk script that makes the requests; its arguments follow \`--\`]:FILE:_files' \
'--script=[wrk script that makes the requests; its arguments follow \`--\`]:FILE:_files' \
'--arrivals=[How open-loop arrivals are spaced\: uniform or poisson \[default\: uniform; \`capacity\`\: poisson\]]:KIND:_default' \
'--pace=[Closed loop\: fixed interval between the sends of one connection, such as 110ms]:TIME:_default' \
'--think=[Closed loop\: how long a connection waits after each response]:TIME:_default' \
'--warmup=[Send for this long before the measured window \[default\: 0s\]]:TIME:_default' \
'--ramp=[Let the load grow to its level over this time \[default\: 0s\]]:TIME:_default' \
'--pipeline=[Requests to send on a connection before waiting for a response]:N:_default' \
'--max-inflight=[Maximum number of requests in flight \[default\: connections x pipeline\]]:N:_default' \
'--seed=[Seed of the random numbers; rounds and steps derive theirs from it \[default\: 1\]]:N:_default' \
'--scale=[Workload files\: multiply all rates or users]:FACTOR:_default' \
'*--allow-files=[Workload files\: allow reading files below this folder, besides the workload'\''s own; may be repeated]:DIR:_files' \
'--io=[Kernel interface\: io_uring where allowed, else epoll]:IO:((auto\:"io_uring where it works, else epoll"
uring\:"io_uring"
epoll\:"epoll"))' \
'*--source=[Local addresses to connect from in turn, separated by commas \[default\: the kernel'\''s choice\]]:LIST:_default' \
'--connect-to=[Connect to this host\:port instead of the URL'\''s; Host and TLS name stay the URL'\''s]:HOST:PORT:_default' \
'(--connect-to --source -s --script)*--unix=[Connect to this Unix socket; Host, path and TLS name stay the URL'\''s. \`compare\` takes one for each URL]:PATH:_files' \
'--cacert=[Certificates to trust instead of the system'\''s, in PEM form]:FILE:_files' \
'--cert=[Client certificate chain in PEM form]:FILE:_files' \
'--key=[Its key in PEM form]:FILE:_files' \
'--sni=[Server name to send (SNI) and check instead of the URL'\''s host]:NAME:_default' \
'--tls-min=[Lowest TLS version]:VERSION:((1.2\:"TLS 1.2"
1.3\:"TLS 1.3"))' \
'--tls-max=[Highest TLS version]:VERSION:((1.2\:"TLS 1.2"
1.3\:"TLS 1.3"))' \
'--format=[What to print on standard output]:FORMAT:((text\:"Table and judgement"
json\:"JSON (plimsoll.compare/1)"))' \
'--out=[Folder for every run, compare.json, effects.csv, the picture and report.html \[default\: plimsoll-out/compare/DATE-TIME\]]:DIR:_files' \
'--anyway[Judge even where environments, responses or loads differ, or a run is not VALID; if one is INVALID, the exit code is 98 unless it is slower]' \
'--no-keepalive[Open a new connection for each request]' \
'--spin[Send exactly on time\: the workers never sleep and use their cores fully]' \
'--reads-only[Workload files\: leave out requests that change anything on the server]' \
'(-s --script)--cookies[Send the cookies that responses set; each connection has its own. Flows of workload files always do]' \
'-k[Do not check the server'\''s certificate]' \
'--insecure[Do not check the server'\''s certificate]' \
'--tls-resume[Let connections resume earlier TLS sessions where the server offers it, as returning users do. Without it every handshake is that of a new client]' \
'-q[Print nothing while running]' \
'--quiet[Print nothing while running]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'*::urls -- URL of the old server, which is the reference, then URL of the new one, which is judged, or workload files; with --baseline only the new one:_default' \
&& ret=0
;;
(wrktest)
_arguments "${_arguments_options[@]}" : \
'-n+[Name of the job and of its files]:NAME:_default' \
'-d+[Folder for the results]:DIR:_files' \
'*--levels=[Levels of concurrency instead of the script'\''s]:LIST:_default' \
'--duration=[Length of each level instead of the script'\''s]:TIME:_default' \
'--timeout=[Time-out instead of the script'\''s]:TIME:_default' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help]' \
'--help[Print help]' \
':url -- URL to load:_default' \
":: :_plimsoll__subcmd__wrktest_commands" \
"*::: :->wrktest" \
&& ret=0

    case $state in
    (wrktest)
        words=($line[2] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:plimsoll-wrktest-command-$line[2]:"
        case $line[2] in
            (diff)
_arguments "${_arguments_options[@]}" : \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help]' \
'--help[Print help]' \
':a -- Data file that is measured against the other:_files' \
':b -- Data file that it is measured against:_files' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_plimsoll__subcmd__wrktest__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:plimsoll-wrktest-help-command-$line[1]:"
        case $line[1] in
            (diff)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(watch)
_arguments "${_arguments_options[@]}" : \
'--every=[Time between two samples, 50ms or more]:TIME:_default' \
'--for=[How long to watch \[default\: until Ctrl-C, or until standard output is closed\]]:TIME:_default' \
'--stdio[Print samples as JSON lines (plimsoll.sample/1), for another Plimsoll to read]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help]' \
'--help[Print help]' \
'*::sources -- What to watch, as --observe takes it:_default' \
&& ret=0
;;
(explain)
_arguments "${_arguments_options[@]}" : \
'*--observe=[With --confirm\: the database that a finding is about, as \`run --observe\` takes it. Needed where the run'\''s own --observe does not tell it whole (passwords are not stored), or its folder was made elsewhere]:SOURCE:_default' \
'--profile=[With --confirm\: where the server gives its profiles (/debug/pprof), for findings that a profile confirms \[default\: the run'\''s own --profile\]]:URL:_default' \
'*--profile-header=[Header field to send with the request for the profile. May be repeated]:FIELD:_default' \
'--format=[What to print on standard output]:FORMAT:((text\:"Aligned columns"
json\:"JSON"))' \
'--confirm[Carry out what confirms or refutes each of the first three findings\: the run again, as it was and with a change (keep-alive, half or twice the load, a second source address ...), which loads the server for 10s at most each time; EXPLAIN of its statements in the database watched; a profile of the server]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::dir -- A folder that `run` wrote to, or its run.json; `last` and `previous` are the last two runs without --out:_files' \
&& ret=0
;;
(report)
_arguments "${_arguments_options[@]}" : \
'--format=[What to print on standard output]:FORMAT:((text\:"The verdict and the main figures; with --details everything"
wrk\:"wrk'\''s block alone, for programs that parse it"
json\:"The result as JSON, in its own schema\: a run is plimsoll.run/1"))' \
'*--slo=[Objective to judge the result by, such as '\''p99<500ms'\'', '\''mean<=100ms'\'', '\''service.p99.9<1s'\'', '\''max<2s'\'', '\''success>=99%'\'', '\''errors.timeout<0.1%'\'', '\''qps>=1000'\'', '\''GET /users/{id}\: p95<80ms'\'', stable, valid, or a preset\: baseline, top10. May be repeated. Exit 99 if one is missed, 98 if one is undecided]:OBJECTIVE:_default' \
'--junit=[Write the rulings to this file, as a test report in JUnit XML]:FILE:_files' \
'--annotations=[Print the rulings as annotations of this CI system, on standard error]:SYSTEM:((github\:"Workflow commands of GitHub Actions"))' \
'--details[Print everything that was measured\: wrk'\''s block, all distributions, the spectrum, the generator]' \
'-L[Print wrk'\''s latency distribution in wrk'\''s block; with text, implies --details]' \
'--latency[Print wrk'\''s latency distribution in wrk'\''s block; with text, implies --details]' \
'--anyway[Judge a comparison even where environments, responses or loads differ, or a run is not VALID; if one is INVALID, the exit code is 98 unless it is slower]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'::dir -- A folder that `run`, `sweep`, `capacity` or `compare` wrote to, or the result in it \[default\: the last one in plimsoll-out\]:_files' \
&& ret=0
;;
(calibrate)
_arguments "${_arguments_options[@]}" : \
'-d+[Length of each measurement; there are up to a dozen]:TIME:_default' \
'--duration=[Length of each measurement; there are up to a dozen]:TIME:_default' \
'--io=[Kernel interface\: io_uring where allowed, else epoll]:IO:((auto\:"io_uring where it works, else epoll"
uring\:"io_uring"
epoll\:"epoll"))' \
'--format=[What to print on standard output]:FORMAT:((text\:"Aligned columns"
json\:"JSON"))' \
'-q[Print nothing while measuring]' \
'--quiet[Print nothing while measuring]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(target)
_arguments "${_arguments_options[@]}" : \
'--listen=[Address to listen on; port 0 takes a free one and prints it]:ADDRESS:_default' \
'--threads=[Threads, each with a listener of its own \[default\: one per processor, or more where their file tables would not hold 60,000 connections\]]:N:_default' \
'--cert=[Certificate chain in PEM form]:FILE:_files' \
'--key=[Its key in PEM form]:FILE:_files' \
'--stall-every=[Pause the whole server this often]:TIME:_default' \
'--stall-for=[Length of each pause]:TIME:_default' \
'--requests-per-connection=[Close a connection after this many responses]:N:_default' \
'--seed=[Seed of the random numbers]:N:_default' \
'--io=[Kernel interface]:IO:((auto\:"io_uring where it works, else epoll"
uring\:"io_uring"
epoll\:"epoll"))' \
'--tls[Speak TLS, with a self-signed certificate unless --cert and --key are given]' \
'--close[Close every connection after its response]' \
'--until-input-ends[End when standard input does\: with the process that holds its other end]' \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
&& ret=0
;;
(generate)
_arguments "${_arguments_options[@]}" : \
'-v[Print the version]' \
'-V[Print the version]' \
'--version[Print the version]' \
'-h[Print help]' \
'--help[Print help]' \
':dir -- Folder to write into:_files' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_plimsoll__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:plimsoll-help-command-$line[1]:"
        case $line[1] in
            (run)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(sweep)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(plan)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(capacity)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(init)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(import)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(mine)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(gate)
_arguments "${_arguments_options[@]}" : \
":: :_plimsoll__subcmd__help__subcmd__gate_commands" \
"*::: :->gate" \
&& ret=0

    case $state in
    (gate)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:plimsoll-help-gate-command-$line[1]:"
        case $line[1] in
            (keys)
_arguments "${_arguments_options[@]}" : \
":: :_plimsoll__subcmd__help__subcmd__gate__subcmd__keys_commands" \
"*::: :->keys" \
&& ret=0

    case $state in
    (keys)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:plimsoll-help-gate-keys-command-$line[1]:"
        case $line[1] in
            (add)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(list)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(revoke)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(rotate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(usage)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(export)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(fill)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(profile)
_arguments "${_arguments_options[@]}" : \
":: :_plimsoll__subcmd__help__subcmd__profile_commands" \
"*::: :->profile" \
&& ret=0

    case $state in
    (profile)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:plimsoll-help-profile-command-$line[1]:"
        case $line[1] in
            (whatif)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(diff)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(tune)
_arguments "${_arguments_options[@]}" : \
":: :_plimsoll__subcmd__help__subcmd__tune_commands" \
"*::: :->tune" \
&& ret=0

    case $state in
    (tune)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:plimsoll-help-tune-command-$line[1]:"
        case $line[1] in
            (begin)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(predict)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(try)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(show)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(diff)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(audit)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(compare)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wrktest)
_arguments "${_arguments_options[@]}" : \
":: :_plimsoll__subcmd__help__subcmd__wrktest_commands" \
"*::: :->wrktest" \
&& ret=0

    case $state in
    (wrktest)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:plimsoll-help-wrktest-command-$line[1]:"
        case $line[1] in
            (diff)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(watch)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(explain)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(report)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(calibrate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(target)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(generate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
}

(( $+functions[_plimsoll_commands] )) ||
_plimsoll_commands() {
    local commands; commands=(
'run:Drive one load at a URL and report the result' \
'sweep:Run one load after another and draw the curve\: QPS and latency over concurrency or rate' \
'plan:Print what a run would do, where each value comes from, and the first requests; send nothing' \
'capacity:Find the highest rate that meets the objectives, and what limits it' \
'init:Write a commented workload file to start from\: many endpoints, parameters, sessions' \
'import:Make a workload file of curl commands, vegeta targets, a HAR, OpenAPI or Postman file' \
'mine:Make a workload file of access logs\: the busiest hour, its endpoints, for as many users as you want' \
'gate:Stand in front of an API\: ask for keys, hold limits and the measured load line, count usage' \
'fill:Fill a database with rows that look right, as many as asked for, and remove them again' \
'profile:Show what a server spends its time on, whose code that is, and predict what a change would bring' \
'tune:Keep the story of a tuning\: what each change was predicted to bring, and brought' \
'diff:Compare results\: ratios level by level, best against best, charts' \
'audit:Check results of any load tool\: which figures are impossible or doubtful, and why' \
'compare:Judge one server against another, or against an earlier run\: SAME, FASTER, SLOWER, CANNOT_TELL' \
'wrktest:The command line of wrktest.sh\: \`wrktest URL\`, \`wrktest diff A B\`' \
'watch:Watch this machine, processes, commands and pages of figures\: a live table, or samples as JSON lines' \
'explain:Say what limits a run\: ranked findings with their evidence, the fix, and an experiment' \
'report:Print the results of a run, sweep, search or comparison again, also after it was killed' \
'calibrate:Measure the highest load that this machine can generate, so that runs can report the share they used' \
'target:Start the built-in API server\: baseline, queues of known capacity, faults on demand' \
'generate:Write the reference, man pages, completions and JSON Schemas into a folder' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'plimsoll commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__audit_commands] )) ||
_plimsoll__subcmd__audit_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll audit commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__calibrate_commands] )) ||
_plimsoll__subcmd__calibrate_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll calibrate commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__capacity_commands] )) ||
_plimsoll__subcmd__capacity_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll capacity commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__compare_commands] )) ||
_plimsoll__subcmd__compare_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll compare commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__diff_commands] )) ||
_plimsoll__subcmd__diff_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll diff commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__explain_commands] )) ||
_plimsoll__subcmd__explain_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll explain commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__fill_commands] )) ||
_plimsoll__subcmd__fill_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll fill commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate_commands] )) ||
_plimsoll__subcmd__gate_commands() {
    local commands; commands=(
'keys:Keys of clients' \
'usage:What was served, by key and route' \
'export:Write the measured limits as configuration of another proxy' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'plimsoll gate commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__export_commands] )) ||
_plimsoll__subcmd__gate__subcmd__export_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll gate export commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__help_commands] )) ||
_plimsoll__subcmd__gate__subcmd__help_commands() {
    local commands; commands=(
'keys:Keys of clients' \
'usage:What was served, by key and route' \
'export:Write the measured limits as configuration of another proxy' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'plimsoll gate help commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__help__subcmd__export_commands] )) ||
_plimsoll__subcmd__gate__subcmd__help__subcmd__export_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll gate help export commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__help__subcmd__help_commands] )) ||
_plimsoll__subcmd__gate__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll gate help help commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__help__subcmd__keys_commands] )) ||
_plimsoll__subcmd__gate__subcmd__help__subcmd__keys_commands() {
    local commands; commands=(
'add:Make a key\: it alone is printed on standard output, once and never again' \
'list:List the keys, without the keys themselves' \
'revoke:End a key; a running gateway follows within a second' \
'rotate:Put a new key in the place of one, with the same limits and quota; it alone is printed on standard output' \
    )
    _describe -t commands 'plimsoll gate help keys commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__help__subcmd__keys__subcmd__add_commands] )) ||
_plimsoll__subcmd__gate__subcmd__help__subcmd__keys__subcmd__add_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll gate help keys add commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__help__subcmd__keys__subcmd__list_commands] )) ||
_plimsoll__subcmd__gate__subcmd__help__subcmd__keys__subcmd__list_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll gate help keys list commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__help__subcmd__keys__subcmd__revoke_commands] )) ||
_plimsoll__subcmd__gate__subcmd__help__subcmd__keys__subcmd__revoke_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll gate help keys revoke commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__help__subcmd__keys__subcmd__rotate_commands] )) ||
_plimsoll__subcmd__gate__subcmd__help__subcmd__keys__subcmd__rotate_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll gate help keys rotate commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__help__subcmd__usage_commands] )) ||
_plimsoll__subcmd__gate__subcmd__help__subcmd__usage_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll gate help usage commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__keys_commands] )) ||
_plimsoll__subcmd__gate__subcmd__keys_commands() {
    local commands; commands=(
'add:Make a key\: it alone is printed on standard output, once and never again' \
'list:List the keys, without the keys themselves' \
'revoke:End a key; a running gateway follows within a second' \
'rotate:Put a new key in the place of one, with the same limits and quota; it alone is printed on standard output' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'plimsoll gate keys commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__keys__subcmd__add_commands] )) ||
_plimsoll__subcmd__gate__subcmd__keys__subcmd__add_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll gate keys add commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__keys__subcmd__help_commands] )) ||
_plimsoll__subcmd__gate__subcmd__keys__subcmd__help_commands() {
    local commands; commands=(
'add:Make a key\: it alone is printed on standard output, once and never again' \
'list:List the keys, without the keys themselves' \
'revoke:End a key; a running gateway follows within a second' \
'rotate:Put a new key in the place of one, with the same limits and quota; it alone is printed on standard output' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'plimsoll gate keys help commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__keys__subcmd__help__subcmd__add_commands] )) ||
_plimsoll__subcmd__gate__subcmd__keys__subcmd__help__subcmd__add_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll gate keys help add commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__keys__subcmd__help__subcmd__help_commands] )) ||
_plimsoll__subcmd__gate__subcmd__keys__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll gate keys help help commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__keys__subcmd__help__subcmd__list_commands] )) ||
_plimsoll__subcmd__gate__subcmd__keys__subcmd__help__subcmd__list_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll gate keys help list commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__keys__subcmd__help__subcmd__revoke_commands] )) ||
_plimsoll__subcmd__gate__subcmd__keys__subcmd__help__subcmd__revoke_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll gate keys help revoke commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__keys__subcmd__help__subcmd__rotate_commands] )) ||
_plimsoll__subcmd__gate__subcmd__keys__subcmd__help__subcmd__rotate_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll gate keys help rotate commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__keys__subcmd__list_commands] )) ||
_plimsoll__subcmd__gate__subcmd__keys__subcmd__list_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll gate keys list commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__keys__subcmd__revoke_commands] )) ||
_plimsoll__subcmd__gate__subcmd__keys__subcmd__revoke_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll gate keys revoke commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__keys__subcmd__rotate_commands] )) ||
_plimsoll__subcmd__gate__subcmd__keys__subcmd__rotate_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll gate keys rotate commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__gate__subcmd__usage_commands] )) ||
_plimsoll__subcmd__gate__subcmd__usage_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll gate usage commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__generate_commands] )) ||
_plimsoll__subcmd__generate_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll generate commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help_commands] )) ||
_plimsoll__subcmd__help_commands() {
    local commands; commands=(
'run:Drive one load at a URL and report the result' \
'sweep:Run one load after another and draw the curve\: QPS and latency over concurrency or rate' \
'plan:Print what a run would do, where each value comes from, and the first requests; send nothing' \
'capacity:Find the highest rate that meets the objectives, and what limits it' \
'init:Write a commented workload file to start from\: many endpoints, parameters, sessions' \
'import:Make a workload file of curl commands, vegeta targets, a HAR, OpenAPI or Postman file' \
'mine:Make a workload file of access logs\: the busiest hour, its endpoints, for as many users as you want' \
'gate:Stand in front of an API\: ask for keys, hold limits and the measured load line, count usage' \
'fill:Fill a database with rows that look right, as many as asked for, and remove them again' \
'profile:Show what a server spends its time on, whose code that is, and predict what a change would bring' \
'tune:Keep the story of a tuning\: what each change was predicted to bring, and brought' \
'diff:Compare results\: ratios level by level, best against best, charts' \
'audit:Check results of any load tool\: which figures are impossible or doubtful, and why' \
'compare:Judge one server against another, or against an earlier run\: SAME, FASTER, SLOWER, CANNOT_TELL' \
'wrktest:The command line of wrktest.sh\: \`wrktest URL\`, \`wrktest diff A B\`' \
'watch:Watch this machine, processes, commands and pages of figures\: a live table, or samples as JSON lines' \
'explain:Say what limits a run\: ranked findings with their evidence, the fix, and an experiment' \
'report:Print the results of a run, sweep, search or comparison again, also after it was killed' \
'calibrate:Measure the highest load that this machine can generate, so that runs can report the share they used' \
'target:Start the built-in API server\: baseline, queues of known capacity, faults on demand' \
'generate:Write the reference, man pages, completions and JSON Schemas into a folder' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'plimsoll help commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__audit_commands] )) ||
_plimsoll__subcmd__help__subcmd__audit_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help audit commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__calibrate_commands] )) ||
_plimsoll__subcmd__help__subcmd__calibrate_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help calibrate commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__capacity_commands] )) ||
_plimsoll__subcmd__help__subcmd__capacity_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help capacity commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__compare_commands] )) ||
_plimsoll__subcmd__help__subcmd__compare_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help compare commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__diff_commands] )) ||
_plimsoll__subcmd__help__subcmd__diff_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help diff commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__explain_commands] )) ||
_plimsoll__subcmd__help__subcmd__explain_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help explain commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__fill_commands] )) ||
_plimsoll__subcmd__help__subcmd__fill_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help fill commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__gate_commands] )) ||
_plimsoll__subcmd__help__subcmd__gate_commands() {
    local commands; commands=(
'keys:Keys of clients' \
'usage:What was served, by key and route' \
'export:Write the measured limits as configuration of another proxy' \
    )
    _describe -t commands 'plimsoll help gate commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__gate__subcmd__export_commands] )) ||
_plimsoll__subcmd__help__subcmd__gate__subcmd__export_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help gate export commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__gate__subcmd__keys_commands] )) ||
_plimsoll__subcmd__help__subcmd__gate__subcmd__keys_commands() {
    local commands; commands=(
'add:Make a key\: it alone is printed on standard output, once and never again' \
'list:List the keys, without the keys themselves' \
'revoke:End a key; a running gateway follows within a second' \
'rotate:Put a new key in the place of one, with the same limits and quota; it alone is printed on standard output' \
    )
    _describe -t commands 'plimsoll help gate keys commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__gate__subcmd__keys__subcmd__add_commands] )) ||
_plimsoll__subcmd__help__subcmd__gate__subcmd__keys__subcmd__add_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help gate keys add commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__gate__subcmd__keys__subcmd__list_commands] )) ||
_plimsoll__subcmd__help__subcmd__gate__subcmd__keys__subcmd__list_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help gate keys list commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__gate__subcmd__keys__subcmd__revoke_commands] )) ||
_plimsoll__subcmd__help__subcmd__gate__subcmd__keys__subcmd__revoke_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help gate keys revoke commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__gate__subcmd__keys__subcmd__rotate_commands] )) ||
_plimsoll__subcmd__help__subcmd__gate__subcmd__keys__subcmd__rotate_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help gate keys rotate commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__gate__subcmd__usage_commands] )) ||
_plimsoll__subcmd__help__subcmd__gate__subcmd__usage_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help gate usage commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__generate_commands] )) ||
_plimsoll__subcmd__help__subcmd__generate_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help generate commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__help_commands] )) ||
_plimsoll__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help help commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__import_commands] )) ||
_plimsoll__subcmd__help__subcmd__import_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help import commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__init_commands] )) ||
_plimsoll__subcmd__help__subcmd__init_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help init commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__mine_commands] )) ||
_plimsoll__subcmd__help__subcmd__mine_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help mine commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__plan_commands] )) ||
_plimsoll__subcmd__help__subcmd__plan_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help plan commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__profile_commands] )) ||
_plimsoll__subcmd__help__subcmd__profile_commands() {
    local commands; commands=(
'whatif:Predict the rate without some functions, from a run that took a profile' \
'diff:Compare two profiles per completed request' \
    )
    _describe -t commands 'plimsoll help profile commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__profile__subcmd__diff_commands] )) ||
_plimsoll__subcmd__help__subcmd__profile__subcmd__diff_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help profile diff commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__profile__subcmd__whatif_commands] )) ||
_plimsoll__subcmd__help__subcmd__profile__subcmd__whatif_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help profile whatif commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__report_commands] )) ||
_plimsoll__subcmd__help__subcmd__report_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help report commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__run_commands] )) ||
_plimsoll__subcmd__help__subcmd__run_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help run commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__sweep_commands] )) ||
_plimsoll__subcmd__help__subcmd__sweep_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help sweep commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__target_commands] )) ||
_plimsoll__subcmd__help__subcmd__target_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help target commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__tune_commands] )) ||
_plimsoll__subcmd__help__subcmd__tune_commands() {
    local commands; commands=(
'begin:Measure the API before any change, and its baseline' \
'predict:Write down what doing without some functions would bring, before the change' \
'try:Measure a changed server against the one before, and keep the change if it is faster' \
'show:Print the story, and write its page' \
    )
    _describe -t commands 'plimsoll help tune commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__tune__subcmd__begin_commands] )) ||
_plimsoll__subcmd__help__subcmd__tune__subcmd__begin_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help tune begin commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__tune__subcmd__predict_commands] )) ||
_plimsoll__subcmd__help__subcmd__tune__subcmd__predict_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help tune predict commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__tune__subcmd__show_commands] )) ||
_plimsoll__subcmd__help__subcmd__tune__subcmd__show_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help tune show commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__tune__subcmd__try_commands] )) ||
_plimsoll__subcmd__help__subcmd__tune__subcmd__try_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help tune try commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__watch_commands] )) ||
_plimsoll__subcmd__help__subcmd__watch_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help watch commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__wrktest_commands] )) ||
_plimsoll__subcmd__help__subcmd__wrktest_commands() {
    local commands; commands=(
'diff:Join two data files on concurrency and draw them together' \
    )
    _describe -t commands 'plimsoll help wrktest commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__help__subcmd__wrktest__subcmd__diff_commands] )) ||
_plimsoll__subcmd__help__subcmd__wrktest__subcmd__diff_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll help wrktest diff commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__import_commands] )) ||
_plimsoll__subcmd__import_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll import commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__init_commands] )) ||
_plimsoll__subcmd__init_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll init commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__mine_commands] )) ||
_plimsoll__subcmd__mine_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll mine commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__plan_commands] )) ||
_plimsoll__subcmd__plan_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll plan commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__profile_commands] )) ||
_plimsoll__subcmd__profile_commands() {
    local commands; commands=(
'whatif:Predict the rate without some functions, from a run that took a profile' \
'diff:Compare two profiles per completed request' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'plimsoll profile commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__profile__subcmd__diff_commands] )) ||
_plimsoll__subcmd__profile__subcmd__diff_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll profile diff commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__profile__subcmd__help_commands] )) ||
_plimsoll__subcmd__profile__subcmd__help_commands() {
    local commands; commands=(
'whatif:Predict the rate without some functions, from a run that took a profile' \
'diff:Compare two profiles per completed request' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'plimsoll profile help commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__profile__subcmd__help__subcmd__diff_commands] )) ||
_plimsoll__subcmd__profile__subcmd__help__subcmd__diff_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll profile help diff commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__profile__subcmd__help__subcmd__help_commands] )) ||
_plimsoll__subcmd__profile__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll profile help help commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__profile__subcmd__help__subcmd__whatif_commands] )) ||
_plimsoll__subcmd__profile__subcmd__help__subcmd__whatif_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll profile help whatif commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__profile__subcmd__whatif_commands] )) ||
_plimsoll__subcmd__profile__subcmd__whatif_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll profile whatif commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__report_commands] )) ||
_plimsoll__subcmd__report_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll report commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__run_commands] )) ||
_plimsoll__subcmd__run_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll run commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__sweep_commands] )) ||
_plimsoll__subcmd__sweep_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll sweep commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__target_commands] )) ||
_plimsoll__subcmd__target_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll target commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__tune_commands] )) ||
_plimsoll__subcmd__tune_commands() {
    local commands; commands=(
'begin:Measure the API before any change, and its baseline' \
'predict:Write down what doing without some functions would bring, before the change' \
'try:Measure a changed server against the one before, and keep the change if it is faster' \
'show:Print the story, and write its page' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'plimsoll tune commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__tune__subcmd__begin_commands] )) ||
_plimsoll__subcmd__tune__subcmd__begin_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll tune begin commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__tune__subcmd__help_commands] )) ||
_plimsoll__subcmd__tune__subcmd__help_commands() {
    local commands; commands=(
'begin:Measure the API before any change, and its baseline' \
'predict:Write down what doing without some functions would bring, before the change' \
'try:Measure a changed server against the one before, and keep the change if it is faster' \
'show:Print the story, and write its page' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'plimsoll tune help commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__tune__subcmd__help__subcmd__begin_commands] )) ||
_plimsoll__subcmd__tune__subcmd__help__subcmd__begin_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll tune help begin commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__tune__subcmd__help__subcmd__help_commands] )) ||
_plimsoll__subcmd__tune__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll tune help help commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__tune__subcmd__help__subcmd__predict_commands] )) ||
_plimsoll__subcmd__tune__subcmd__help__subcmd__predict_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll tune help predict commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__tune__subcmd__help__subcmd__show_commands] )) ||
_plimsoll__subcmd__tune__subcmd__help__subcmd__show_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll tune help show commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__tune__subcmd__help__subcmd__try_commands] )) ||
_plimsoll__subcmd__tune__subcmd__help__subcmd__try_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll tune help try commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__tune__subcmd__predict_commands] )) ||
_plimsoll__subcmd__tune__subcmd__predict_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll tune predict commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__tune__subcmd__show_commands] )) ||
_plimsoll__subcmd__tune__subcmd__show_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll tune show commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__tune__subcmd__try_commands] )) ||
_plimsoll__subcmd__tune__subcmd__try_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll tune try commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__watch_commands] )) ||
_plimsoll__subcmd__watch_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll watch commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__wrktest_commands] )) ||
_plimsoll__subcmd__wrktest_commands() {
    local commands; commands=(
'diff:Join two data files on concurrency and draw them together' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'plimsoll wrktest commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__wrktest__subcmd__diff_commands] )) ||
_plimsoll__subcmd__wrktest__subcmd__diff_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll wrktest diff commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__wrktest__subcmd__help_commands] )) ||
_plimsoll__subcmd__wrktest__subcmd__help_commands() {
    local commands; commands=(
'diff:Join two data files on concurrency and draw them together' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'plimsoll wrktest help commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__wrktest__subcmd__help__subcmd__diff_commands] )) ||
_plimsoll__subcmd__wrktest__subcmd__help__subcmd__diff_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll wrktest help diff commands' commands "$@"
}
(( $+functions[_plimsoll__subcmd__wrktest__subcmd__help__subcmd__help_commands] )) ||
_plimsoll__subcmd__wrktest__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'plimsoll wrktest help help commands' commands "$@"
}

if [ "$funcstack[1]" = "_plimsoll" ]; then
    _plimsoll "$@"
else
    compdef _plimsoll plimsoll
fi
