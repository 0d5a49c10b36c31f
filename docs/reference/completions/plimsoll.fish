# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_plimsoll_global_optspecs
    string join \n v/version h/help
end

function __fish_plimsoll_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_plimsoll_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_plimsoll_using_subcommand
    set -l cmd (__fish_plimsoll_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c plimsoll -n "__fish_plimsoll_needs_command" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -s h -l help -d 'Print help'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "run" -d 'Drive one load at a URL and report the result'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "sweep" -d 'Run one load after another and draw the curve: QPS and latency over concurrency or rate'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "plan" -d 'Print what a run would do, where each value comes from, and the first requests; send nothing'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "capacity" -d 'Find the highest rate that meets the objectives, and what limits it'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "init" -d 'Write a commented workload file to start from: many endpoints, parameters, sessions'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "import" -d 'Make a workload file of curl commands, vegeta targets, a HAR, OpenAPI or Postman file'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "mine" -d 'Make a workload file of access logs: the busiest hour, its endpoints, for as many users as you want'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "gate" -d 'Stand in front of an API: ask for keys, hold limits and the measured load line, count usage'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "fill" -d 'Fill a database with rows that look right, as many as asked for, and remove them again'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "profile" -d 'Show what a server spends its time on, whose code that is, and predict what a change would bring'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "tune" -d 'Keep the story of a tuning: what each change was predicted to bring, and brought'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "diff" -d 'Compare results: ratios level by level, best against best, charts'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "audit" -d 'Check results of any load tool: which figures are impossible or doubtful, and why'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "compare" -d 'Judge one server against another, or against an earlier run: SAME, FASTER, SLOWER, CANNOT_TELL'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "wrktest" -d 'The command line of wrktest.sh: `wrktest URL`, `wrktest diff A B`'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "watch" -d 'Watch this machine, processes, commands and pages of figures: a live table, or samples as JSON lines'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "explain" -d 'Say what limits a run: ranked findings with their evidence, the fix, and an experiment'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "report" -d 'Print the results of a run, sweep, search or comparison again, also after it was killed'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "calibrate" -d 'Measure the highest load that this machine can generate, so that runs can report the share they used'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "target" -d 'Start the built-in API server: baseline, queues of known capacity, faults on demand'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "generate" -d 'Write the reference, man pages, completions and JSON Schemas into a folder'
complete -c plimsoll -n "__fish_plimsoll_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -s c -l connections -d 'Connections: users in a closed loop, the most at once in an open loop [default: 10, or fewer if -n is less, or what a workload file says; 1000 with a rate]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -s d -l duration -d 'Length of the measured window, such as 10s or 2m [default: 10s, or until -n is reached]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -s n -l requests -d 'Maximum number of requests to send in the measured window [default: no limit]. Without -d the window lasts until they are sent; a closed loop gives up when no response has come for 10 s longer than the time-out (-T)' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -s R -l rate -d 'Open loop: this many arrivals per second whatever the server does, such as 1000 or 20k' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -s t -l threads -d 'Worker threads [default: one per allowed processor, at most one per connection]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -s T -l timeout -d 'Time-out: an attempt fails without a complete response after this time [default: 30s]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -s H -l header -d 'Header field to send, such as \'Accept: text/html\'; may be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -s m -s X -l method -d 'Method [default: GET, or POST with a body]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -s b -l body -d 'Body to send; @FILE sends what the file holds' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l data -d 'Body to send as application/x-www-form-urlencoded, as curl does; @FILE sends what the file holds' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l json -d 'Body to send as application/json, with an Accept field for the same; @FILE sends what the file holds' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -s u -l user -d 'User name and password to send in an Authorization field (Basic)' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l body-file -d 'File whose content is the body to send, 1 GiB at most' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l success -d 'Statuses that count as success [default: 200-399]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l expect-body-like -d 'What every body must look like; other responses fail. FIRST: like the response to a request sent alone before the load, in status, type, beginning and (within a factor of two) length; a TEXT that it contains; or a regular expression between slashes: \'/"status": *"ok"/\'. gzip and deflate are decoded' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l follow -d 'If the URL redirects, find its destination before the load, over at most N redirects and on the same server only. The load itself never follows redirects' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -s s -l script -d 'wrk script that makes the requests; its arguments follow `--`' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l arrivals -d 'How open-loop arrivals are spaced: uniform or poisson [default: uniform; `capacity`: poisson]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l pace -d 'Closed loop: fixed interval between the sends of one connection, such as 110ms' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l think -d 'Closed loop: how long a connection waits after each response' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l warmup -d 'Send for this long before the measured window [default: 0s]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l ramp -d 'Let the load grow to its level over this time [default: 0s]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l pipeline -d 'Requests to send on a connection before waiting for a response' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l max-inflight -d 'Maximum number of requests in flight [default: connections x pipeline]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l seed -d 'Seed of the random numbers; rounds and steps derive theirs from it [default: 1]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l scale -d 'Workload files: multiply all rates or users' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l allow-files -d 'Workload files: allow reading files below this folder, besides the workload\'s own; may be repeated' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l io -d 'Kernel interface: io_uring where allowed, else epoll' -r -f -a "auto\t'io_uring where it works, else epoll'
uring\t'io_uring'
epoll\t'epoll'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l source -d 'Local addresses to connect from in turn, separated by commas [default: the kernel\'s choice]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l connect-to -d 'Connect to this host:port instead of the URL\'s; Host and TLS name stay the URL\'s' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l unix -d 'Connect to this Unix socket; Host, path and TLS name stay the URL\'s. `compare` takes one for each URL' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l cacert -d 'Certificates to trust instead of the system\'s, in PEM form' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l cert -d 'Client certificate chain in PEM form' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l key -d 'Its key in PEM form' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l sni -d 'Server name to send (SNI) and check instead of the URL\'s host' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l tls-min -d 'Lowest TLS version' -r -f -a "1.2\t'TLS 1.2'
1.3\t'TLS 1.3'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l tls-max -d 'Highest TLS version' -r -f -a "1.2\t'TLS 1.2'
1.3\t'TLS 1.3'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l format -d 'What to print on standard output' -r -f -a "text\t'The verdict and the main figures; with --details everything'
wrk\t'wrk\'s block alone, for programs that parse it'
json\t'The result as JSON, in its own schema: a run is plimsoll.run/1'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l out -d 'Folder for run.json, latency.hgrm, timeline.csv and report.html [default: plimsoll-out/last; the run that was there moves to plimsoll-out/previous. With --format json, none]' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l resume -d 'Start another run that continues the `unique` pools of the run in this folder, so that no row is used twice. Its results go to a folder inside this one' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l observe -d 'Watch this beside the load, besides this machine and a server on it: [ROLE[/NAME]=]SOURCE with ROLE app, proxy, db, cache or any, and SOURCE local, local:pid=PID, local:name=NAME, exec:COMMAND (prints samples, such as \'ssh app1 plimsoll watch --stdio\'), nginx:URL[,log=FILE] (stub_status, error log), prometheus:URL, postgres://USER@HOST/DATABASE, mysql://USER@HOST, mongodb://HOST, redis://HOST or memcached://HOST. May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l slo -d 'Objective to judge the result by, such as \'p99<500ms\', \'mean<=100ms\', \'service.p99.9<1s\', \'max<2s\', \'success>=99%\', \'errors.timeout<0.1%\', \'qps>=1000\', \'GET /users/{id}: p95<80ms\', stable, valid, or a preset: baseline, top10. May be repeated. Exit 99 if one is missed, 98 if one is undecided' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l junit -d 'Write the rulings to this file, as a test report in JUnit XML' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l annotations -d 'Print the rulings as annotations of this CI system, on standard error' -r -f -a "github\t'Workflow commands of GitHub Actions'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l profile -d 'Take a profile of the server inside the measured window, from its /debug/pprof at this URL, and keep it with the result: `plimsoll profile DIR` shows what each request costs' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l profile-header -d 'Header field to send with the request for the profile. May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l abort-on -d 'End the run early when a limit is exceeded for some time, such as \'p99>2s for 10s\', \'errors>5% for 5s\', or, if the requested rate is not reached, \'achieved<95% for 5s\'. May be repeated. The result so far is kept; exit 99, or 98 for `achieved`' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l no-keepalive -d 'Open a new connection for each request'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l spin -d 'Send exactly on time: the workers never sleep and use their cores fully'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l reads-only -d 'Workload files: leave out requests that change anything on the server'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l cookies -d 'Send the cookies that responses set; each connection has its own. Flows of workload files always do'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -s k -l insecure -d 'Do not check the server\'s certificate'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l tls-resume -d 'Let connections resume earlier TLS sessions where the server offers it, as returning users do. Without it every handshake is that of a new client'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -l details -d 'Print everything that was measured: wrk\'s block, all distributions, the spectrum, the generator'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -s L -l latency -d 'Print wrk\'s latency distribution in wrk\'s block; with text, implies --details'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -s q -l quiet -d 'Print nothing while running'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l levels -d 'Levels of concurrency: `auto` (doubling, finer around the best, stops by itself), `classic` (wrktest.sh\'s list), or a list such as 200,500,1000' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l rates -d 'Open-loop sweep over these arrival rates, such as 1k,2k,5k' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -s c -l connections -d 'Maximum number of connections in an open-loop sweep [default: 1000]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -s d -l duration -d 'Measured window of each level [default: 10s; 2s without a URL]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l rest -d 'Rest between levels [default: 1s; none without a URL]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l max-level -d 'Highest level that `auto` and `classic` go to [default: 50000]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l stop-below -d '`auto`: stop once fewer than this share of attempts succeed [default: 90%]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l objective -d 'Limit on the mean response time; the report names the best level within it' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -s t -l threads -d 'Worker threads [default: one per allowed processor, at most one per connection]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -s T -l timeout -d 'Time-out: an attempt fails without a complete response after this time [default: 30s]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -s H -l header -d 'Header field to send, such as \'Accept: text/html\'; may be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -s m -s X -l method -d 'Method [default: GET, or POST with a body]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -s b -l body -d 'Body to send; @FILE sends what the file holds' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l data -d 'Body to send as application/x-www-form-urlencoded, as curl does; @FILE sends what the file holds' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l json -d 'Body to send as application/json, with an Accept field for the same; @FILE sends what the file holds' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -s u -l user -d 'User name and password to send in an Authorization field (Basic)' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l body-file -d 'File whose content is the body to send, 1 GiB at most' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l success -d 'Statuses that count as success [default: 200-399]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l expect-body-like -d 'What every body must look like; other responses fail. FIRST: like the response to a request sent alone before the load, in status, type, beginning and (within a factor of two) length; a TEXT that it contains; or a regular expression between slashes: \'/"status": *"ok"/\'. gzip and deflate are decoded' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l follow -d 'If the URL redirects, find its destination before the load, over at most N redirects and on the same server only. The load itself never follows redirects' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -s s -l script -d 'wrk script that makes the requests; its arguments follow `--`' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l arrivals -d 'How open-loop arrivals are spaced: uniform or poisson [default: uniform; `capacity`: poisson]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l pace -d 'Closed loop: fixed interval between the sends of one connection, such as 110ms' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l think -d 'Closed loop: how long a connection waits after each response' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l warmup -d 'Send for this long before the measured window [default: 0s]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l ramp -d 'Let the load grow to its level over this time [default: 0s]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l pipeline -d 'Requests to send on a connection before waiting for a response' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l max-inflight -d 'Maximum number of requests in flight [default: connections x pipeline]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l seed -d 'Seed of the random numbers; rounds and steps derive theirs from it [default: 1]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l scale -d 'Workload files: multiply all rates or users' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l allow-files -d 'Workload files: allow reading files below this folder, besides the workload\'s own; may be repeated' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l io -d 'Kernel interface: io_uring where allowed, else epoll' -r -f -a "auto\t'io_uring where it works, else epoll'
uring\t'io_uring'
epoll\t'epoll'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l source -d 'Local addresses to connect from in turn, separated by commas [default: the kernel\'s choice]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l connect-to -d 'Connect to this host:port instead of the URL\'s; Host and TLS name stay the URL\'s' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l unix -d 'Connect to this Unix socket; Host, path and TLS name stay the URL\'s. `compare` takes one for each URL' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l cacert -d 'Certificates to trust instead of the system\'s, in PEM form' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l cert -d 'Client certificate chain in PEM form' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l key -d 'Its key in PEM form' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l sni -d 'Server name to send (SNI) and check instead of the URL\'s host' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l tls-min -d 'Lowest TLS version' -r -f -a "1.2\t'TLS 1.2'
1.3\t'TLS 1.3'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l tls-max -d 'Highest TLS version' -r -f -a "1.2\t'TLS 1.2'
1.3\t'TLS 1.3'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l name -d 'Name of the result files [default: host, port and path of the URL, or the workload file\'s name]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l out -d 'Folder for the results [default: plimsoll-out/NAME/DATE-TIME]' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l resume -d 'Continue the sweep in this folder, keeping its levels' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l observe -d 'Watch this beside the load, besides this machine and a server on it: [ROLE[/NAME]=]SOURCE with ROLE app, proxy, db, cache or any, and SOURCE local, local:pid=PID, local:name=NAME, exec:COMMAND (prints samples, such as \'ssh app1 plimsoll watch --stdio\'), nginx:URL[,log=FILE] (stub_status, error log), prometheus:URL, postgres://USER@HOST/DATABASE, mysql://USER@HOST, mongodb://HOST, redis://HOST or memcached://HOST. May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l slo -d 'Objective to judge the result by, such as \'p99<500ms\', \'mean<=100ms\', \'service.p99.9<1s\', \'max<2s\', \'success>=99%\', \'errors.timeout<0.1%\', \'qps>=1000\', \'GET /users/{id}: p95<80ms\', stable, valid, or a preset: baseline, top10. May be repeated. Exit 99 if one is missed, 98 if one is undecided' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l junit -d 'Write the rulings to this file, as a test report in JUnit XML' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l annotations -d 'Print the rulings as annotations of this CI system, on standard error' -r -f -a "github\t'Workflow commands of GitHub Actions'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l profile -d 'Take a profile of the server inside the measured window, from its /debug/pprof at this URL, and keep it with the result: `plimsoll profile DIR` shows what each request costs' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l profile-header -d 'Header field to send with the request for the profile. May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l abort-on -d 'End the run early when a limit is exceeded for some time, such as \'p99>2s for 10s\', \'errors>5% for 5s\', or, if the requested rate is not reached, \'achieved<95% for 5s\'. May be repeated. The result so far is kept; exit 99, or 98 for `achieved`' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l no-keepalive -d 'Open a new connection for each request'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l spin -d 'Send exactly on time: the workers never sleep and use their cores fully'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l reads-only -d 'Workload files: leave out requests that change anything on the server'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l cookies -d 'Send the cookies that responses set; each connection has its own. Flows of workload files always do'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -s k -l insecure -d 'Do not check the server\'s certificate'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -l tls-resume -d 'Let connections resume earlier TLS sessions where the server offers it, as returning users do. Without it every handshake is that of a new client'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -s q -l quiet -d 'Print nothing while running'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand sweep" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l samples -d 'Number of requests to show, as they would be sent' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -s c -l connections -d 'Connections: users in a closed loop, the most at once in an open loop [default: 10, or fewer if -n is less, or what a workload file says; 1000 with a rate]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -s d -l duration -d 'Length of the measured window, such as 10s or 2m [default: 10s, or until -n is reached]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -s n -l requests -d 'Maximum number of requests to send in the measured window [default: no limit]. Without -d the window lasts until they are sent; a closed loop gives up when no response has come for 10 s longer than the time-out (-T)' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -s R -l rate -d 'Open loop: this many arrivals per second whatever the server does, such as 1000 or 20k' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -s t -l threads -d 'Worker threads [default: one per allowed processor, at most one per connection]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -s T -l timeout -d 'Time-out: an attempt fails without a complete response after this time [default: 30s]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -s H -l header -d 'Header field to send, such as \'Accept: text/html\'; may be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -s m -s X -l method -d 'Method [default: GET, or POST with a body]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -s b -l body -d 'Body to send; @FILE sends what the file holds' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l data -d 'Body to send as application/x-www-form-urlencoded, as curl does; @FILE sends what the file holds' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l json -d 'Body to send as application/json, with an Accept field for the same; @FILE sends what the file holds' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -s u -l user -d 'User name and password to send in an Authorization field (Basic)' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l body-file -d 'File whose content is the body to send, 1 GiB at most' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l success -d 'Statuses that count as success [default: 200-399]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l expect-body-like -d 'What every body must look like; other responses fail. FIRST: like the response to a request sent alone before the load, in status, type, beginning and (within a factor of two) length; a TEXT that it contains; or a regular expression between slashes: \'/"status": *"ok"/\'. gzip and deflate are decoded' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l follow -d 'If the URL redirects, find its destination before the load, over at most N redirects and on the same server only. The load itself never follows redirects' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -s s -l script -d 'wrk script that makes the requests; its arguments follow `--`' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l arrivals -d 'How open-loop arrivals are spaced: uniform or poisson [default: uniform; `capacity`: poisson]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l pace -d 'Closed loop: fixed interval between the sends of one connection, such as 110ms' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l think -d 'Closed loop: how long a connection waits after each response' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l warmup -d 'Send for this long before the measured window [default: 0s]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l ramp -d 'Let the load grow to its level over this time [default: 0s]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l pipeline -d 'Requests to send on a connection before waiting for a response' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l max-inflight -d 'Maximum number of requests in flight [default: connections x pipeline]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l seed -d 'Seed of the random numbers; rounds and steps derive theirs from it [default: 1]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l scale -d 'Workload files: multiply all rates or users' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l allow-files -d 'Workload files: allow reading files below this folder, besides the workload\'s own; may be repeated' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l io -d 'Kernel interface: io_uring where allowed, else epoll' -r -f -a "auto\t'io_uring where it works, else epoll'
uring\t'io_uring'
epoll\t'epoll'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l source -d 'Local addresses to connect from in turn, separated by commas [default: the kernel\'s choice]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l connect-to -d 'Connect to this host:port instead of the URL\'s; Host and TLS name stay the URL\'s' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l unix -d 'Connect to this Unix socket; Host, path and TLS name stay the URL\'s. `compare` takes one for each URL' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l cacert -d 'Certificates to trust instead of the system\'s, in PEM form' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l cert -d 'Client certificate chain in PEM form' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l key -d 'Its key in PEM form' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l sni -d 'Server name to send (SNI) and check instead of the URL\'s host' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l tls-min -d 'Lowest TLS version' -r -f -a "1.2\t'TLS 1.2'
1.3\t'TLS 1.3'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l tls-max -d 'Highest TLS version' -r -f -a "1.2\t'TLS 1.2'
1.3\t'TLS 1.3'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l format -d 'What to print on standard output' -r -f -a "text\t'Aligned columns'
json\t'JSON'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l no-keepalive -d 'Open a new connection for each request'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l spin -d 'Send exactly on time: the workers never sleep and use their cores fully'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l reads-only -d 'Workload files: leave out requests that change anything on the server'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l cookies -d 'Send the cookies that responses set; each connection has its own. Flows of workload files always do'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -s k -l insecure -d 'Do not check the server\'s certificate'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -l tls-resume -d 'Let connections resume earlier TLS sessions where the server offers it, as returning users do. Without it every handshake is that of a new client'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l budget -d 'Time limit of the whole search: no step is begun that would not fit, but waiting for a step\'s last responses may take up to --timeout longer [default: 5m; 1m without a URL]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l step -d 'Measured window of a step; lengthened where fewer than two arrivals would be due [default: a thirtieth of the budget, at least 1s]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l hold -d 'Measured window of the confirming hold [default: a fifth of the budget, or longer if a percentile needs more responses]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l rest -d 'Rest between steps [default: a tenth of a step]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l precision -d 'Width of the interval at which the search stops, in per cent of the capacity' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l max -d 'Highest level to try: a rate, or a concurrency with --closed' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l slo -d 'Objective that a level must meet, as for `run`: \'p99<500ms\', \'success>=99%\', \'max<2s\', \'errors.timeout<0.1%\', stable, or a preset. May be repeated. A \'qps>=1000\' applies to the capacity found: exit 99 if missed, 98 if undecided [default: \'mean<=500ms\' and \'success>=99%\']' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l dau-now -d 'Daily users the workload stands for, so that the capacity is printed in daily users too, if the file does not say so itself (daily_users, which `mine` writes)' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -s c -l connections -d 'Maximum number of connections' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -s t -l threads -d 'Worker threads [default: one per allowed processor, at most one per connection]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -s T -l timeout -d 'Time-out: an attempt fails without a complete response after this time [default: 30s]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -s H -l header -d 'Header field to send, such as \'Accept: text/html\'; may be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -s m -s X -l method -d 'Method [default: GET, or POST with a body]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -s b -l body -d 'Body to send; @FILE sends what the file holds' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l data -d 'Body to send as application/x-www-form-urlencoded, as curl does; @FILE sends what the file holds' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l json -d 'Body to send as application/json, with an Accept field for the same; @FILE sends what the file holds' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -s u -l user -d 'User name and password to send in an Authorization field (Basic)' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l body-file -d 'File whose content is the body to send, 1 GiB at most' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l success -d 'Statuses that count as success [default: 200-399]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l expect-body-like -d 'What every body must look like; other responses fail. FIRST: like the response to a request sent alone before the load, in status, type, beginning and (within a factor of two) length; a TEXT that it contains; or a regular expression between slashes: \'/"status": *"ok"/\'. gzip and deflate are decoded' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l follow -d 'If the URL redirects, find its destination before the load, over at most N redirects and on the same server only. The load itself never follows redirects' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -s s -l script -d 'wrk script that makes the requests; its arguments follow `--`' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l arrivals -d 'How open-loop arrivals are spaced: uniform or poisson [default: uniform; `capacity`: poisson]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l pace -d 'Closed loop: fixed interval between the sends of one connection, such as 110ms' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l think -d 'Closed loop: how long a connection waits after each response' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l warmup -d 'Send for this long before the measured window [default: 0s]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l ramp -d 'Let the load grow to its level over this time [default: 0s]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l pipeline -d 'Requests to send on a connection before waiting for a response' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l max-inflight -d 'Maximum number of requests in flight [default: connections x pipeline]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l seed -d 'Seed of the random numbers; rounds and steps derive theirs from it [default: 1]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l scale -d 'Workload files: multiply all rates or users' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l allow-files -d 'Workload files: allow reading files below this folder, besides the workload\'s own; may be repeated' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l io -d 'Kernel interface: io_uring where allowed, else epoll' -r -f -a "auto\t'io_uring where it works, else epoll'
uring\t'io_uring'
epoll\t'epoll'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l source -d 'Local addresses to connect from in turn, separated by commas [default: the kernel\'s choice]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l connect-to -d 'Connect to this host:port instead of the URL\'s; Host and TLS name stay the URL\'s' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l unix -d 'Connect to this Unix socket; Host, path and TLS name stay the URL\'s. `compare` takes one for each URL' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l cacert -d 'Certificates to trust instead of the system\'s, in PEM form' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l cert -d 'Client certificate chain in PEM form' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l key -d 'Its key in PEM form' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l sni -d 'Server name to send (SNI) and check instead of the URL\'s host' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l tls-min -d 'Lowest TLS version' -r -f -a "1.2\t'TLS 1.2'
1.3\t'TLS 1.3'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l tls-max -d 'Highest TLS version' -r -f -a "1.2\t'TLS 1.2'
1.3\t'TLS 1.3'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l profile -d 'Take a profile of the server inside the measured window, from its /debug/pprof at this URL, and keep it with the result: `plimsoll profile DIR` shows what each request costs' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l profile-header -d 'Header field to send with the request for the profile. May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l format -d 'What to print on standard output' -r -f -a "text\t'The capacity, why it is not more, and the steps'
json\t'The search as JSON (plimsoll.capacity/1)'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l out -d 'Folder for the results [default: plimsoll-out/capacity/DATE-TIME]' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l resume -d 'Continue the search in this folder, keeping its steps; --budget may be raised' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l observe -d 'Watch this beside the load, besides this machine and a server on it: [ROLE[/NAME]=]SOURCE with ROLE app, proxy, db, cache or any, and SOURCE local, local:pid=PID, local:name=NAME, exec:COMMAND (prints samples, such as \'ssh app1 plimsoll watch --stdio\'), nginx:URL[,log=FILE] (stub_status, error log), prometheus:URL, postgres://USER@HOST/DATABASE, mysql://USER@HOST, mongodb://HOST, redis://HOST or memcached://HOST. May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l closed -d 'Search for the highest concurrency in a closed loop, instead of the highest rate'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l no-keepalive -d 'Open a new connection for each request'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l spin -d 'Send exactly on time: the workers never sleep and use their cores fully'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l reads-only -d 'Workload files: leave out requests that change anything on the server'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l cookies -d 'Send the cookies that responses set; each connection has its own. Flows of workload files always do'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -s k -l insecure -d 'Do not check the server\'s certificate'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -l tls-resume -d 'Let connections resume earlier TLS sessions where the server offers it, as returning users do. Without it every handshake is that of a new client'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -s q -l quiet -d 'Print nothing while searching'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand capacity" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand init" -s o -l out -d 'Workload file to write' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand init" -l force -d 'Overwrite an existing workload file'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand init" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand init" -s h -l help -d 'Print help'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand import" -s o -l out -d 'Workload file to write, with its JSON Schema beside it [default: standard output]' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand import" -l target -d 'The server to load; if the file names several, only requests to this one are kept' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand import" -l force -d 'Overwrite an existing workload file'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand import" -l keep-secrets -d 'Write credentials as they are, instead of `${env.NAME}`'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand import" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l out -d 'Folder for workload.yaml, its pools, mine.json and report.html [default: plimsoll-out/mine/DATE-TIME]' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l format -d 'What to print on standard output' -r -f -a "text\t'The main figures'
json\t'All figures as JSON (plimsoll.mine/1)'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l log-format -d 'How the lines are written: nginx\'s log_format string (or Apache\'s), a format\'s name (combined, common, vhost, alb, elb, w3c, cloudfront, json), or an nginx.conf that contains it' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l field -d 'Member of a JSON line that holds this: at, client, user, agent, host, request, method, path, query, status, bytes, taken (taken=MEMBER:ms names the unit). With --log-format only what tells users apart, instead of the user\'s name: user=$cookie_sid, user=%{sid}C, user=cs(Cookie). May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l max-bad -d 'Share of lines that may be unreadable' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l window -d 'Length of the peak that is looked for' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l include -d 'Keep only these paths: a prefix such as /api, or a pattern such as */users/*. May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l exclude -d 'Leave these paths out. May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l template -d 'Take all paths of this form for one endpoint, whatever is learnt: /categories/{slug}. Of several the first that matches. May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l top -d 'Endpoints in the workload at most; their rates are raised so that the whole load is sent' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l target -d 'The server that the workload is for; nothing is sent to it now' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l map -d 'Replace the beginning of paths, for endpoints that are about to retire: /v1/users=/v2/users, or, with the method, POST /cart=PUT /basket. May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l session-gap -d 'The pause that ends a session' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l trace -d 'Repeat the arrivals of the peak as they were logged, SPEED times as fast [default SPEED: 1]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l pace -d 'With --closed: time between the requests of one user [default: 110ms]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l keep-secrets -d 'Parameter whose values are written although they look like credentials, or its name says so. May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l dau-now -d 'Daily users today [default: those of the log\'s busiest day]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l dau-target -d 'Daily users that the load is to stand for: it is multiplied by this over --dau-now [default: the same]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l factor -d 'Multiply the load by this, instead of by --dau-target over --dau-now' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l with-bots -d 'Count the requests of bots too'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l with-static -d 'Count the requests of static files too'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l sessions -d 'Write sessions (flows of several requests, with think times) instead of single requests: the commonest of the log, and as many others as are needed for each endpoint\'s share of the requests'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -l closed -d 'Write users of a closed loop that send at a pace, instead of arrivals per second'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -s q -l quiet -d 'Print nothing while reading'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand mine" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -l listen -d 'Address and port for clients, such as 127.0.0.1:9090; may be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -l upstream -d 'URL of a server to forward to; may be repeated for servers that give the same responses' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -l loadline -d 'Load line to hold all requests to: capacity.json of `plimsoll capacity`' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -l admin -d 'Address and port of the admin API and the usage page, such as 127.0.0.1:9091 [default: neither is served]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -l admin-token -d 'File with the token of the admin API [default: a new token at each start, which is printed]' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -l store -d 'File of keys and usage [default: plimsoll-gate.db]' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -l usage-lines -d 'Append usage to this file as JSON lines, instead of counting it in the store' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -l access-log -d 'Append a line for each request to this file, in the combined format with the time taken' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -l workers -d 'Threads, each with a listener of its own [default: one per processor]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -l io -d 'Kernel interface' -r -f -a "auto\t'io_uring where it works, else epoll'
uring\t'io_uring'
epoll\t'epoll'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -l open -d 'Ask for no key, whatever the store has'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -l watch -d 'Read the configuration again when it changes, or a load line, certificate, key or authority that it names'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -l take-over -d 'Take the listeners of the gateway that runs on the same first port and store, so that no client is refused; that one ends once this one serves and its own requests are answered. Other listeners may be added or left out'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -l check -d 'Check the configuration and every file that a start needs, and start nothing: no port is bound'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -a "keys" -d 'Keys of clients'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -a "usage" -d 'What was served, by key and route'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -a "export" -d 'Write the measured limits as configuration of another proxy'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and not __fish_seen_subcommand_from keys usage export help" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from keys" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from keys" -s h -l help -d 'Print help'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from keys" -f -a "add" -d 'Make a key: it alone is printed on standard output, once and never again'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from keys" -f -a "list" -d 'List the keys, without the keys themselves'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from keys" -f -a "revoke" -d 'End a key; a running gateway follows within a second'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from keys" -f -a "rotate" -d 'Put a new key in the place of one, with the same limits and quota; it alone is printed on standard output'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from keys" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from usage" -l store -d 'File of keys and usage' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from usage" -l since -d 'How far to look back' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from usage" -l format -d 'What to print' -r -f -a "text\t'A table'
json\t'JSON'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from usage" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from usage" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from export" -l loadline -d 'The load line' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from export" -l upstream -d 'URL of a server to forward to; may be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from export" -l listen -d 'Address for clients' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from export" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from help" -f -a "keys" -d 'Keys of clients'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from help" -f -a "usage" -d 'What was served, by key and route'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from help" -f -a "export" -d 'Write the measured limits as configuration of another proxy'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand gate; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -l rows -d 'How many rows a table shall have in all; may be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -l for -d 'Workload file whose requests need rows: add those with the ids of its pools' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -l dau-now -d 'Daily users that today\'s rows belong to' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -l dau-target -d 'Daily users that there shall be rows for' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -l users -d 'The table of the users [default: the first there is of users, user, accounts, account, customers, customer, members, member]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -l pool -d 'The column of the database that a pool\'s column has the ids of; may be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -l pools -d 'Fill nothing, and write the values of this key to a file for a pool, each with 1 + the number of rows that refer to it as its weight, so that those without any are asked for too. May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -l out -d 'Folder for the files of --pools' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -l locale -d 'Language of texts: en, zh_CN, zh_TW, ja_JP, de_DE, fr_FR, it_IT, pt_BR, ar_SA' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -l seed -d 'Seed: the same seed, --until and database make the same rows' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -l until -d 'The day before which made-up times lie, unless a column has later ones already [default: today]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -l batch -d 'Rows in a transaction at most; fewer where they would take longer than about a second' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -l replaced -d 'What becomes of rows under keys of a fill that hold other values than it wrote [default: they are left and named, and the fill is not forgotten]' -r -f -a "keep\t'They are left, and the fill is forgotten'
remove\t'They are removed too'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -l yes-to -d 'Write to the database of this name though it looks like production' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -l production-marks -d 'Words in the name of a database or host that mark production' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -l only -d 'Do not fill tables that only refer to those of --rows'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -l dry-run -d 'Print the plan and ten rows of each table; write nothing'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -l resume -d 'Continue the fill that was interrupted'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -l clean -d 'Remove all rows that fills added'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -s q -l quiet -d 'Print nothing while working'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand fill" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -l peek -d 'Print the functions that match with their callers and callees, as `go tool pprof -peek` does' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -s n -l nodecount -d 'Rows at most [default: all with --top, 80 with --tree]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -l granularity -d 'What is one row' -r -f -a "function\t'A function'
line\t'A line of a function'
file\t'A source file'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -l sample-index -d 'The kind of values, by name or number [default: the profile\'s own default]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -l focus -d 'Only samples with a frame that matches' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -l ignore -d 'No samples with a frame that matches' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -l hide -d 'Leave out frames that match' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -l show -d 'Leave out frames that do not match' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -l own -d 'Beginning of names, or of files, that are the service\'s own. May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -l seconds -d 'Seconds to profile for, where it is fetched' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -s H -l profile-header -d 'Header field to send with the request for the profile, such as \'Authorization: Bearer ...\'. May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -l page -d 'Write a page with a flame graph into this file' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -l format -d 'What to print on standard output' -r -f -a "text\t'Aligned columns'
json\t'JSON'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -l top -d 'Print what `go tool pprof -top` prints'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -l cum -d 'Order by cumulative value'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -l tree -d 'Print every function with its callers and callees, as `go tool pprof -tree` does'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -a "whatif" -d 'Predict the rate without some functions, from a run that took a profile'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -a "diff" -d 'Compare two profiles per completed request'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and not __fish_seen_subcommand_from whatif diff help" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and __fish_seen_subcommand_from whatif" -l keep -d 'Function that stays, with what it calls, although one that goes calls it. May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and __fish_seen_subcommand_from whatif" -l processors -d 'Processors that the server may use [default: found out, for a server on this machine]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and __fish_seen_subcommand_from whatif" -l own -d 'Beginning of names, or of files, that are the service\'s own. May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and __fish_seen_subcommand_from whatif" -l verify -d 'Measure the changed server at this URL, as the run was measured, and print the measured rate beside the predicted' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and __fish_seen_subcommand_from whatif" -l format -d 'What to print on standard output' -r -f -a "text\t'Aligned columns'
json\t'JSON'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and __fish_seen_subcommand_from whatif" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and __fish_seen_subcommand_from whatif" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and __fish_seen_subcommand_from diff" -l own -d 'Beginning of names, or of files, that are the service\'s own. May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and __fish_seen_subcommand_from diff" -l page -d 'Write a page with a flame graph of both into this file: red costs more now, blue costs less' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and __fish_seen_subcommand_from diff" -l format -d 'What to print on standard output' -r -f -a "text\t'Aligned columns'
json\t'JSON'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and __fish_seen_subcommand_from diff" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and __fish_seen_subcommand_from help" -f -a "whatif" -d 'Predict the rate without some functions, from a run that took a profile'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and __fish_seen_subcommand_from help" -f -a "diff" -d 'Compare two profiles per completed request'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand profile; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and not __fish_seen_subcommand_from begin predict try show help" -l notebook -d 'The notebook\'s folder' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and not __fish_seen_subcommand_from begin predict try show help" -l format -d 'What to print on standard output' -r -f -a "text\t'Aligned columns'
json\t'JSON'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and not __fish_seen_subcommand_from begin predict try show help" -s q -l quiet -d 'Print nothing while running'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and not __fish_seen_subcommand_from begin predict try show help" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and not __fish_seen_subcommand_from begin predict try show help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and not __fish_seen_subcommand_from begin predict try show help" -f -a "begin" -d 'Measure the API before any change, and its baseline'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and not __fish_seen_subcommand_from begin predict try show help" -f -a "predict" -d 'Write down what doing without some functions would bring, before the change'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and not __fish_seen_subcommand_from begin predict try show help" -f -a "try" -d 'Measure a changed server against the one before, and keep the change if it is faster'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and not __fish_seen_subcommand_from begin predict try show help" -f -a "show" -d 'Print the story, and write its page'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and not __fish_seen_subcommand_from begin predict try show help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from begin" -l baseline -d 'A server that does the same with nothing around it' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from begin" -l profile -d 'Where the API gives profiles, which predictions need: one more run, which no comparison counts' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from begin" -l slo -d 'Objective that every run is judged by, as for `run`. May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from begin" -s c -l connections -d 'Connections' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from begin" -s t -l threads -d 'The generator\'s threads [default: one per allowed processor]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from begin" -s d -l duration -d 'Measured window of each run, 4s or more' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from begin" -l warmup -d 'Warm-up before it' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from begin" -l notebook -d 'The notebook\'s folder' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from begin" -l format -d 'What to print on standard output' -r -f -a "text\t'Aligned columns'
json\t'JSON'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from begin" -l spin -d 'Never let the generator sleep: for a server on this machine, which otherwise pays for waking it'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from begin" -s q -l quiet -d 'Print nothing while running'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from begin" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from begin" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from predict" -l processors -d 'Processors that the server may use [default: found out, for a server on this machine]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from predict" -l notebook -d 'The notebook\'s folder' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from predict" -l format -d 'What to print on standard output' -r -f -a "text\t'Aligned columns'
json\t'JSON'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from predict" -s q -l quiet -d 'Print nothing while running'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from predict" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from predict" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from try" -l profile -d 'Where it gives profiles, for the next prediction: one more run, which no comparison counts' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from try" -l before -d 'The server before again, for a URL with credentials: the notebook does not keep these' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from try" -l baseline -d 'The baseline again, for a URL with credentials' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from try" -l rounds -d 'Rounds, 3 or more: runs of this server, in turns with the one before where that still runs at another address' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from try" -l notebook -d 'The notebook\'s folder' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from try" -l format -d 'What to print on standard output' -r -f -a "text\t'Aligned columns'
json\t'JSON'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from try" -l keep -d 'Keep the change whatever it brings'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from try" -l discard -d 'Discard the change whatever it brings'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from try" -s q -l quiet -d 'Print nothing while running'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from try" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from try" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from show" -l notebook -d 'The notebook\'s folder' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from show" -l format -d 'What to print on standard output' -r -f -a "text\t'Aligned columns'
json\t'JSON'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Print nothing while running'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from show" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "begin" -d 'Measure the API before any change, and its baseline'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "predict" -d 'Write down what doing without some functions would bring, before the change'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "try" -d 'Measure a changed server against the one before, and keep the change if it is faster'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "show" -d 'Print the story, and write its page'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand tune; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand diff" -l margin -d 'Changes up to this share count as no change when runs are judged' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand diff" -l out -d 'Folder for charts and report [default: the second file\'s folder]' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand diff" -l format -d 'What to print on standard output' -r -f -a "text\t'Aligned columns'
csv\t'Comma-separated values'
json\t'JSON'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand diff" -l anyway -d 'Judge even where environments, responses or loads differ, or a run is not VALID; if one is INVALID, the exit code is 98 unless it is slower'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand diff" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand audit" -s c -l connections -d 'Connections, where the file of a closed loop does not state them (hey, oha). Such a file does not name its target either: it is set beside the other files if they name one target' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand audit" -l format -d 'What to print on standard output' -r -f -a "text\t'Aligned columns'
csv\t'Comma-separated values'
json\t'JSON'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand audit" -l same-target -d 'Treat all files as measured on the same target, also those that do not name it'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand audit" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand audit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l baseline -d 'Judge against this earlier run (run.json or its folder), with its connections, rate and window unless flags say otherwise' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l rounds -d 'Rounds: each is one run of every URL' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l margin -d 'Changes up to this share count as no change' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -s c -l connections -d 'Connections: users in a closed loop, the most at once in an open loop [default: 10; 1000 with a rate]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -s d -l duration -d 'Measured window of each run [default: 10s]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -s R -l rate -d 'Open loop: this many arrivals per second, such as 1000 or 20k' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l rest -d 'Rest between runs' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -s t -l threads -d 'Worker threads [default: one per allowed processor, at most one per connection]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -s T -l timeout -d 'Time-out: an attempt fails without a complete response after this time [default: 30s]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -s H -l header -d 'Header field to send, such as \'Accept: text/html\'; may be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -s m -s X -l method -d 'Method [default: GET, or POST with a body]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -s b -l body -d 'Body to send; @FILE sends what the file holds' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l data -d 'Body to send as application/x-www-form-urlencoded, as curl does; @FILE sends what the file holds' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l json -d 'Body to send as application/json, with an Accept field for the same; @FILE sends what the file holds' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -s u -l user -d 'User name and password to send in an Authorization field (Basic)' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l body-file -d 'File whose content is the body to send, 1 GiB at most' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l success -d 'Statuses that count as success [default: 200-399]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l expect-body-like -d 'What every body must look like; other responses fail. FIRST: like the response to a request sent alone before the load, in status, type, beginning and (within a factor of two) length; a TEXT that it contains; or a regular expression between slashes: \'/"status": *"ok"/\'. gzip and deflate are decoded' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l follow -d 'If the URL redirects, find its destination before the load, over at most N redirects and on the same server only. The load itself never follows redirects' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -s s -l script -d 'wrk script that makes the requests; its arguments follow `--`' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l arrivals -d 'How open-loop arrivals are spaced: uniform or poisson [default: uniform; `capacity`: poisson]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l pace -d 'Closed loop: fixed interval between the sends of one connection, such as 110ms' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l think -d 'Closed loop: how long a connection waits after each response' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l warmup -d 'Send for this long before the measured window [default: 0s]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l ramp -d 'Let the load grow to its level over this time [default: 0s]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l pipeline -d 'Requests to send on a connection before waiting for a response' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l max-inflight -d 'Maximum number of requests in flight [default: connections x pipeline]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l seed -d 'Seed of the random numbers; rounds and steps derive theirs from it [default: 1]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l scale -d 'Workload files: multiply all rates or users' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l allow-files -d 'Workload files: allow reading files below this folder, besides the workload\'s own; may be repeated' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l io -d 'Kernel interface: io_uring where allowed, else epoll' -r -f -a "auto\t'io_uring where it works, else epoll'
uring\t'io_uring'
epoll\t'epoll'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l source -d 'Local addresses to connect from in turn, separated by commas [default: the kernel\'s choice]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l connect-to -d 'Connect to this host:port instead of the URL\'s; Host and TLS name stay the URL\'s' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l unix -d 'Connect to this Unix socket; Host, path and TLS name stay the URL\'s. `compare` takes one for each URL' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l cacert -d 'Certificates to trust instead of the system\'s, in PEM form' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l cert -d 'Client certificate chain in PEM form' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l key -d 'Its key in PEM form' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l sni -d 'Server name to send (SNI) and check instead of the URL\'s host' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l tls-min -d 'Lowest TLS version' -r -f -a "1.2\t'TLS 1.2'
1.3\t'TLS 1.3'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l tls-max -d 'Highest TLS version' -r -f -a "1.2\t'TLS 1.2'
1.3\t'TLS 1.3'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l format -d 'What to print on standard output' -r -f -a "text\t'Table and judgement'
json\t'JSON (plimsoll.compare/1)'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l out -d 'Folder for every run, compare.json, effects.csv, the picture and report.html [default: plimsoll-out/compare/DATE-TIME]' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l anyway -d 'Judge even where environments, responses or loads differ, or a run is not VALID; if one is INVALID, the exit code is 98 unless it is slower'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l no-keepalive -d 'Open a new connection for each request'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l spin -d 'Send exactly on time: the workers never sleep and use their cores fully'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l reads-only -d 'Workload files: leave out requests that change anything on the server'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l cookies -d 'Send the cookies that responses set; each connection has its own. Flows of workload files always do'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -s k -l insecure -d 'Do not check the server\'s certificate'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -l tls-resume -d 'Let connections resume earlier TLS sessions where the server offers it, as returning users do. Without it every handshake is that of a new client'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -s q -l quiet -d 'Print nothing while running'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand wrktest; and not __fish_seen_subcommand_from diff help" -s n -d 'Name of the job and of its files' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand wrktest; and not __fish_seen_subcommand_from diff help" -s d -d 'Folder for the results' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand wrktest; and not __fish_seen_subcommand_from diff help" -l levels -d 'Levels of concurrency instead of the script\'s' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand wrktest; and not __fish_seen_subcommand_from diff help" -l duration -d 'Length of each level instead of the script\'s' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand wrktest; and not __fish_seen_subcommand_from diff help" -l timeout -d 'Time-out instead of the script\'s' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand wrktest; and not __fish_seen_subcommand_from diff help" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand wrktest; and not __fish_seen_subcommand_from diff help" -s h -l help -d 'Print help'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand wrktest; and not __fish_seen_subcommand_from diff help" -a "diff" -d 'Join two data files on concurrency and draw them together'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand wrktest; and not __fish_seen_subcommand_from diff help" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand wrktest; and __fish_seen_subcommand_from diff" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand wrktest; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand wrktest; and __fish_seen_subcommand_from help" -f -a "diff" -d 'Join two data files on concurrency and draw them together'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand wrktest; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand watch" -l every -d 'Time between two samples, 50ms or more' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand watch" -l for -d 'How long to watch [default: until Ctrl-C, or until standard output is closed]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand watch" -l stdio -d 'Print samples as JSON lines (plimsoll.sample/1), for another Plimsoll to read'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand watch" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand watch" -s h -l help -d 'Print help'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand explain" -l observe -d 'With --confirm: the database that a finding is about, as `run --observe` takes it. Needed where the run\'s own --observe does not tell it whole (passwords are not stored), or its folder was made elsewhere' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand explain" -l profile -d 'With --confirm: where the server gives its profiles (/debug/pprof), for findings that a profile confirms [default: the run\'s own --profile]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand explain" -l profile-header -d 'Header field to send with the request for the profile. May be repeated' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand explain" -l format -d 'What to print on standard output' -r -f -a "text\t'Aligned columns'
json\t'JSON'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand explain" -l confirm -d 'Carry out what confirms or refutes each of the first three findings: the run again, as it was and with a change (keep-alive, half or twice the load, a second source address ...), which loads the server for 10s at most each time; EXPLAIN of its statements in the database watched; a profile of the server'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand explain" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand report" -l format -d 'What to print on standard output' -r -f -a "text\t'The verdict and the main figures; with --details everything'
wrk\t'wrk\'s block alone, for programs that parse it'
json\t'The result as JSON, in its own schema: a run is plimsoll.run/1'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand report" -l slo -d 'Objective to judge the result by, such as \'p99<500ms\', \'mean<=100ms\', \'service.p99.9<1s\', \'max<2s\', \'success>=99%\', \'errors.timeout<0.1%\', \'qps>=1000\', \'GET /users/{id}: p95<80ms\', stable, valid, or a preset: baseline, top10. May be repeated. Exit 99 if one is missed, 98 if one is undecided' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand report" -l junit -d 'Write the rulings to this file, as a test report in JUnit XML' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand report" -l annotations -d 'Print the rulings as annotations of this CI system, on standard error' -r -f -a "github\t'Workflow commands of GitHub Actions'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand report" -l details -d 'Print everything that was measured: wrk\'s block, all distributions, the spectrum, the generator'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand report" -s L -l latency -d 'Print wrk\'s latency distribution in wrk\'s block; with text, implies --details'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand report" -l anyway -d 'Judge a comparison even where environments, responses or loads differ, or a run is not VALID; if one is INVALID, the exit code is 98 unless it is slower'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand report" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand calibrate" -s d -l duration -d 'Length of each measurement; there are up to a dozen' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand calibrate" -l io -d 'Kernel interface: io_uring where allowed, else epoll' -r -f -a "auto\t'io_uring where it works, else epoll'
uring\t'io_uring'
epoll\t'epoll'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand calibrate" -l format -d 'What to print on standard output' -r -f -a "text\t'Aligned columns'
json\t'JSON'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand calibrate" -s q -l quiet -d 'Print nothing while measuring'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand calibrate" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand calibrate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand target" -l listen -d 'Address to listen on; port 0 takes a free one and prints it' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand target" -l threads -d 'Threads, each with a listener of its own [default: one per processor, or more where their file tables would not hold 60,000 connections]' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand target" -l cert -d 'Certificate chain in PEM form' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand target" -l key -d 'Its key in PEM form' -r -F
complete -c plimsoll -n "__fish_plimsoll_using_subcommand target" -l stall-every -d 'Pause the whole server this often' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand target" -l stall-for -d 'Length of each pause' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand target" -l requests-per-connection -d 'Close a connection after this many responses' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand target" -l seed -d 'Seed of the random numbers' -r
complete -c plimsoll -n "__fish_plimsoll_using_subcommand target" -l io -d 'Kernel interface' -r -f -a "auto\t'io_uring where it works, else epoll'
uring\t'io_uring'
epoll\t'epoll'"
complete -c plimsoll -n "__fish_plimsoll_using_subcommand target" -l tls -d 'Speak TLS, with a self-signed certificate unless --cert and --key are given'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand target" -l close -d 'Close every connection after its response'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand target" -l until-input-ends -d 'End when standard input does: with the process that holds its other end'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand target" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand target" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand generate" -s v -s V -l version -d 'Print the version'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand generate" -s h -l help -d 'Print help'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "run" -d 'Drive one load at a URL and report the result'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "sweep" -d 'Run one load after another and draw the curve: QPS and latency over concurrency or rate'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "plan" -d 'Print what a run would do, where each value comes from, and the first requests; send nothing'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "capacity" -d 'Find the highest rate that meets the objectives, and what limits it'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "init" -d 'Write a commented workload file to start from: many endpoints, parameters, sessions'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "import" -d 'Make a workload file of curl commands, vegeta targets, a HAR, OpenAPI or Postman file'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "mine" -d 'Make a workload file of access logs: the busiest hour, its endpoints, for as many users as you want'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "gate" -d 'Stand in front of an API: ask for keys, hold limits and the measured load line, count usage'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "fill" -d 'Fill a database with rows that look right, as many as asked for, and remove them again'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "profile" -d 'Show what a server spends its time on, whose code that is, and predict what a change would bring'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "tune" -d 'Keep the story of a tuning: what each change was predicted to bring, and brought'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "diff" -d 'Compare results: ratios level by level, best against best, charts'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "audit" -d 'Check results of any load tool: which figures are impossible or doubtful, and why'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "compare" -d 'Judge one server against another, or against an earlier run: SAME, FASTER, SLOWER, CANNOT_TELL'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "wrktest" -d 'The command line of wrktest.sh: `wrktest URL`, `wrktest diff A B`'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "watch" -d 'Watch this machine, processes, commands and pages of figures: a live table, or samples as JSON lines'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "explain" -d 'Say what limits a run: ranked findings with their evidence, the fix, and an experiment'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "report" -d 'Print the results of a run, sweep, search or comparison again, also after it was killed'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "calibrate" -d 'Measure the highest load that this machine can generate, so that runs can report the share they used'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "target" -d 'Start the built-in API server: baseline, queues of known capacity, faults on demand'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "generate" -d 'Write the reference, man pages, completions and JSON Schemas into a folder'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and not __fish_seen_subcommand_from run sweep plan capacity init import mine gate fill profile tune diff audit compare wrktest watch explain report calibrate target generate help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and __fish_seen_subcommand_from gate" -f -a "keys" -d 'Keys of clients'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and __fish_seen_subcommand_from gate" -f -a "usage" -d 'What was served, by key and route'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and __fish_seen_subcommand_from gate" -f -a "export" -d 'Write the measured limits as configuration of another proxy'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and __fish_seen_subcommand_from profile" -f -a "whatif" -d 'Predict the rate without some functions, from a run that took a profile'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and __fish_seen_subcommand_from profile" -f -a "diff" -d 'Compare two profiles per completed request'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "begin" -d 'Measure the API before any change, and its baseline'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "predict" -d 'Write down what doing without some functions would bring, before the change'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "try" -d 'Measure a changed server against the one before, and keep the change if it is faster'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and __fish_seen_subcommand_from tune" -f -a "show" -d 'Print the story, and write its page'
complete -c plimsoll -n "__fish_plimsoll_using_subcommand help; and __fish_seen_subcommand_from wrktest" -f -a "diff" -d 'Join two data files on concurrency and draw them together'
