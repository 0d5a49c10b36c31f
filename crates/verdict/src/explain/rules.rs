//! The table of rules, in the order of the documentation: the generator first, since it silences the rest.

use super::{
    Rule, connections, contention, database, dependency, generator, network, profile, proxy,
    server, workers,
};

/// Every rule.
pub const RULES: &[Rule] = &[
    Rule {
        code: "generator.cpu",
        symptom: "QPS stays the same whatever the server is given; `LOWER_BOUND`",
        mechanism: "the generator's workers have no processor time left, so that they send late and look late",
        evidence: "a rule of validity says that workers were saturated or sent less than was due; or that they were \
                   throttled, displaced by neighbours or late while one worked or waited for a processor 80 % of the \
                   time (with less there was time left, and latencies are in doubt, not QPS); or generator and server share a machine of which 95 % is used, seven tenths of that by the two (all of it where no \
                   server's processes are watched), and the generator takes more of it",
        fix: "Give the generator more workers (-t) and cores, or run it on a machine of its own.",
        experiment: "Run it again from another machine, or with twice the workers: QPS rises.",
        check: generator::cpu,
    },
    Rule {
        code: "generator.ports",
        symptom: "after about 28,000 requests connecting fails, `connect` errors, EADDRNOTAVAIL",
        mechanism: "a connection that the client closes keeps its local port for 60 s in TIME_WAIT; a source and a \
                    destination address have some 28,000 ports between them",
        evidence: "the kernel refused a local port to the generator (EADDRNOTAVAIL or EADDRINUSE), even once",
        fix: "Keep connections alive (leave out --no-keepalive, and see conn.keepalive_off); else add source addresses: \
              --source 127.0.0.2,127.0.0.3, or widen the range: sysctl -w net.ipv4.ip_local_port_range='1024 65535' \
              (which may take ports that local services want).",
        experiment: "Run it again with a second --source address: twice as many requests pass before it fails.",
        check: generator::ports,
    },
    Rule {
        code: "generator.files",
        symptom: "connections beyond a number fail at once, EMFILE",
        mechanism: "each connection is an open file, and a process may have so many",
        evidence: "the kernel refused the generator a socket (EMFILE or ENFILE), even once",
        fix: "Raise the limit before the run: ulimit -n 200000 (as root, or LimitNOFILE= of a service), or lower -c.",
        experiment: "Run it again with half the connections: no attempt fails.",
        check: generator::files,
    },
    Rule {
        code: "generator.memory",
        symptom: "sockets fail with ENOBUFS or ENOMEM, or everything slows down together",
        mechanism: "buffers of connections and the generator's own data do not fit into memory",
        evidence: "the kernel refused memory for a socket, even once, or the rule of validity `memory_short` applies",
        fix: "Lower -c, or use a machine with more memory.",
        experiment: "Run it again with half the connections: the errors go.",
        check: generator::memory,
    },
    Rule {
        code: "conn.tls_version",
        symptom: "all requests fail from the first one on, or from the moment on that a server was changed",
        mechanism: "client and server have no version of TLS in common, and the handshake ends with an alert",
        evidence: "1 % of the attempts or more fail in the TLS handshake, and the error names the version; below 20 % it is some of \
                   the servers behind the address",
        fix: "Offer the server's version: --tls-min 1.2 --tls-max 1.2, or enable TLS 1.2 and 1.3 on the server.",
        experiment: "Run it again with the other version: the handshakes succeed.",
        check: connections::tls_version,
    },
    Rule {
        code: "conn.keepalive_off",
        symptom: "QPS is a fraction of what it was, and ports run out after a while",
        mechanism: "every request pays for opening a connection: a round trip more, and several times the work in both \
                    kernels",
        evidence: "there is one connection for two responses or fewer, over 100 responses or more (a connection that \
                   serves two requests is not kept alive in any useful sense), and the server closes them or attempts \
                   fail on them; after what was counted where the run asked \
                   for it (--no-keepalive, or the field Connection: close)",
        fix: "Leave out --no-keepalive; on the server raise keepalive_requests (nginx), keep the Connection field open, \
              and let a proxy keep connections to its upstream (keepalive N; proxy_http_version 1.1).",
        experiment: "Run it again with keep-alive: QPS rises by the share of time that connecting took, or more.",
        check: connections::keepalive_off,
    },
    Rule {
        code: "conn.tls_handshake",
        symptom: "HTTPS carries much less than HTTP, most of all without keep-alive",
        mechanism: "a full handshake costs the server a signature, about a millisecond of a core with RSA",
        evidence: "there is a full handshake for five responses or fewer, and users spend 20 % of their time or more on \
                   them",
        fix: "Keep connections alive, let clients resume sessions (--tls-resume here; ssl_session_cache in nginx), or use \
              an ECDSA certificate, which is about ten times cheaper to sign with than RSA.",
        experiment: "Run it again with --tls-resume: handshakes become cheaper and QPS rises.",
        check: connections::tls_handshake,
    },
    Rule {
        code: "conn.dns",
        symptom: "502 from the proxy after a while, or from the start, while the server behind it is well",
        mechanism: "a proxy that looks its upstream's name up (nginx with a variable in proxy_pass and a resolver) fails \
                    where the name server does not answer or does not know the name",
        evidence: "nginx's error log says `could not be resolved` for 0.1 % of the requests or more, and requests failed; the \
                   generator looks its target's name up once, before the run, so that its figures contain no lookup",
        fix: "Let resolver name a server that answers (resolver ADDRESS valid=30s; resolver_timeout 2s;), or give the \
              upstream by address or in an upstream block, which is resolved once when nginx starts. Risk: what is \
              resolved once does not follow a change of address before nginx -s reload.",
        experiment: "Look the name up at that server (dig @ADDRESS NAME); give the address instead and run it again: no 502.",
        check: connections::dns,
    },
    Rule {
        code: "rate_limited",
        symptom: "many quick 429 or 503 responses, and successes that stay at one rate whatever is sent",
        mechanism: "a limit per client, key or zone turns away what exceeds it (nginx's limit_req answers 503), or lets it \
                    wait for its turn (limit_req with burst and without nodelay)",
        evidence: "1 % of the responses or more are 429; or 5 % or more are 503 and the successes of each second differ \
                   by 15 % or less. Or, where slow responses keep the load from more: nginx's error log says `delaying request` for \
                   20 % of the requests or more (it does at the level warn); or stub_status shows six tenths of the requests on \
                   their way or more, three at the least and of 20 ms or longer, while nginx has hardly a connection to anybody else \
                   and a thread half idle or more, bodies come at once, and the successes of each second differ by 5 % or less",
        fix: "Raise the limit or exempt the generator's address for the test: limit_req zone=… burst=…; risk: the limit \
              protects the server, so keep it in production.",
        experiment: "Offer half the rate: the share of refusals falls to none while successes stay.",
        check: connections::rate_limited,
    },
    Rule {
        code: "proxy.worker_connections",
        symptom: "errors from the proxy, not from the API: resets, empty replies, 502; `worker_connections are not enough` \
                  in its log",
        mechanism: "each request through a proxy takes two connections of a worker, one to the client and one to the \
                    upstream; what exceeds worker_connections is closed at once",
        evidence: "nginx's error log says `worker_connections are not enough`, or stub_status shows connections that were \
                   accepted and not handled, even once in the window (newer versions of nginx first close idle \
                   connections to make room, which stub_status does not show: watch the log too)",
        fix: "worker_connections 100000; worker_rlimit_nofile 200000; and nginx -s reload. Risk: each connection takes \
              memory, about 250 bytes idle and up to some 10 KiB busy.",
        experiment: "Run it again with half the connections: none is closed.",
        check: proxy::worker_connections,
    },
    Rule {
        code: "proxy.upstream_keepalive",
        symptom: "a proxy costs more than the server behind it, and its machine has thousands of connections in TIME_WAIT",
        mechanism: "without kept connections each request opens one to the upstream: a round trip, and a port for 60 s",
        evidence: "the machine of a source with the role proxy opens 0.8 connections or more for each request, beside those of \
                   the generator; requests that a proxy answers itself (429, 500, 503) are not counted. It comes before the \
                   proxy's own processor, which such connections keep busy; and before the upstream that it waits for, where a quarter \
                   of that waiting or more is for the first answer on a connection, and 2 % or more (and twice the share of \
                   requests that opened none) for later ones (TLS: the upstream is slow to greet, not to answer)",
        fix: "In nginx: upstream api { server HOST:PORT; keepalive 64; }, and in the location proxy_http_version 1.1; \
              proxy_set_header Connection ''; then nginx -s reload. Risk: each kept connection is an open file on both sides.",
        experiment: "Reload nginx with it and run it again: the connections opened fall to next to none.",
        check: proxy::upstream_keepalive,
    },
    Rule {
        code: "proxy.access_log",
        symptom: "a proxy carries less than expected, and its disk or one of its workers is busy all the time",
        mechanism: "each request writes a line, by itself where it is not buffered; long lines (headers, bodies) cost more \
                    than passing the request on",
        evidence: "the processes of a source with the role proxy write 80 bytes or more to disk for each request while a disk \
                   is busy 90 % of the time; or 1 KiB or more for each while one of its threads uses 85 % of a core; or its threads wait in the kernel \
                   to write to a pipe that whoever ships the log does not empty, half of one or more on average",
        fix: "access_log off; or access_log /var/log/nginx/access.log combined buffer=64k flush=5s; with a shorter format; \
              then nginx -s reload. Risk: what is not logged cannot be looked up later, and a buffer is lost in a crash.",
        experiment: "Turn the access log off, reload and run it again: QPS rises.",
        check: proxy::access_log,
    },
    Rule {
        code: "server.throttled",
        symptom: "latency has steps of some 100 ms, and the processors look idle",
        mechanism: "a container's quota gives so much processor time per period (100 ms); what has used it up stands \
                    still until the next",
        evidence: "the quota held the server's cgroup back in 10 % of its periods or more: below, quotas bound peaks, not \
                   throughput",
        fix: "Raise the quota (docker update --cpus N, resources.limits.cpu, or cpu.max), or give the server fewer threads \
              than the quota has cores. Risk: other containers of the machine get less.",
        experiment: "Double the quota: QPS follows it.",
        check: server::throttled,
    },
    Rule {
        code: "server.single_thread",
        symptom: "QPS stops rising while the machine is mostly idle",
        mechanism: "one thread does all the work, or holds what the others need (an event loop, a global lock, one worker)",
        evidence: "the busiest thread uses 85 % of a core or more, all threads together at most 1.4 times that, and the \
                   server may use two cores or more",
        fix: "Start as many workers as there are cores (worker_processes auto, gunicorn --workers, node's cluster, \
              GOMAXPROCS), or move the work out of that thread.",
        experiment: "Start a second worker: QPS rises towards twice as much.",
        check: server::single_thread,
    },
    Rule {
        code: "server.debug_options",
        symptom: "a server that does little is slow, and its log grows by gigabytes",
        mechanism: "options that help while a program is written (dumps of requests, debug levels, a line for everything) \
                    cost more than the work itself",
        evidence: "a profile of the server's processor taken in the window, of 200 samples or more, shows 2 % or more of the \
                   time in writing whole requests, responses or stacks down (nobody does that under load on purpose), or \
                   15 % or more in a logger (a line for each request takes some hundredths to a tenth); or its threads wait in \
                   the kernel to write their output to a pipe, half of one or more on average; or, with little \
                   confidence, a server that is no database writes 2 kB to disk or more for each request, 1 MB a second or \
                   more, and 1.5 times what requests and responses hold",
        fix: "Turn the dump off, set the log's level to info or warn and the framework's mode to release, or log a sample \
              of the requests. Risk: what is not logged cannot be looked up later.",
        experiment: "A second profile shows it again, 10 samples or more (--confirm takes it), and half of the threshold \
                     or less refutes it. plimsoll profile whatif DIR FUNCTION says what turning it off would bring.",
        check: profile::debug_options,
    },
    Rule {
        code: "server.gc",
        symptom: "processors are busy although requests do little; latency has short steps",
        mechanism: "memory that each request allocates must be collected again, by the same processors",
        evidence: "a profile of the server's processor taken in the window, of 200 samples or more, shows 20 % or more of the \
                   time in collecting garbage in the background (a server that allocates little stays below 10 %)",
        fix: "Allocate less where the evidence points (buffers used again, fewer copies), or let the heap grow larger \
              before it is collected: GOGC=200 or GOMEMLIMIT for Go, -Xmx for the JVM. Risk: it takes that much more memory.",
        experiment: "A second profile shows a fifth again (--confirm takes it), and a tenth or less refutes it. With \
                     GOGC=400 QPS rises.",
        check: profile::collecting,
    },
    Rule {
        code: "server.cpu",
        symptom: "QPS stops rising with concurrency, and latency rises with it instead",
        mechanism: "every request needs processor time, and all there is is used (U = X S: utilisation is throughput times \
                    demand)",
        evidence: "the server's processes use 90 % or more of the cores that they may use, or of a machine that is watched as a \
                   whole 90 % are in use of what the generator leaves; or 95 % of a machine that it shares with the generator is used, seven tenths of \
                   that by the two",
        fix: "Profile the server under this load and make the dearest function cheaper, or give it more cores or \
              machines.",
        experiment: "Run it again with twice the connections: QPS stays and latency grows; or a profile shows nine tenths \
                     of its processors at work. With half the cores (taskset) QPS halves.",
        check: server::cpu,
    },
    Rule {
        code: "server.files",
        symptom: "new connections are reset or hang, `Too many open files` in the server's log",
        mechanism: "each connection is an open file of the server, and its limit is reached",
        evidence: "the server's open files reach 95 % of its limit: they are counted between two connections; or nginx's \
                   error log says `Too many open files`",
        fix: "Raise the limit of the service: LimitNOFILE=200000 (systemd), ulimit -n, worker_rlimit_nofile (nginx), and \
              restart it.",
        experiment: "Run it again with half the connections: none fails.",
        check: server::files,
    },
    Rule {
        code: "server.accept_queue",
        symptom: "some connections take 1 s, 3 s or 7 s to open, or time out, while others are fast",
        mechanism: "connections that the server has not accepted yet wait in its listener's queue; when that is full the \
                    kernel drops what comes, and clients try again after 1 s, 2 s, 4 s",
        evidence: "ListenOverflows or ListenDrops of the server's machine grow by 10 or more and by 0.1 % of the \
                   connections or more, and an attempt failed without a response or by a server error, or took 200 ms or longer, \
                   connecting included: without that, what was dropped was not of this load",
        fix: "Raise the server's own backlog (listen 80 backlog=4096), and the kernel's limit where that is lower (sysctl \
              net.core.somaxconn), and let the server accept faster (more workers, reuseport).",
        experiment: "Run it again with a longer backlog: the times of 1 s go.",
        check: server::accept_queue,
    },
    Rule {
        code: "server.too_few_workers",
        symptom: "some users are served and others wait from the start, while the processors are idle",
        mechanism: "each worker serves one connection or request at a time, and all of them are taken",
        evidence: "a connection or more waits in the queue of the server's listener on average, or a connection or more, and a \
                   fifth of the requests on their way, holds something that no worker has read, all the time, where slow responses keep the load from more; and the server \
                   uses less than half of its processors, which others do not use up and for which its threads hardly wait: on average fewer than half a thread does, and the busiest, if it did not have to wait, would be busy for less than 85 % of the time (and of unread requests not about one in all, which an interpreter's lock does; nor where requests are pipelined), and was never without a response to anybody for \
                   half a second and five times the median service time, nor was the generator held up; where the queue overflows, or the workers wait for files or a database, those are \
                   named instead",
        fix: "Start more workers or threads (gunicorn --workers 4 --threads 8, pm.max_children, worker_processes), or serve \
              connections without one each. Risk: each takes memory, and a connection to the database where it needs one.",
        experiment: "Start twice as many and run it again: QPS follows.",
        check: workers::too_few_workers,
    },
    Rule {
        code: "server.too_many_workers",
        symptom: "the processors are busy and many workers wait for them; memory and p99 grow with the number of workers",
        mechanism: "a processor runs one worker at a time: more workers than processors switch more and carry no more",
        evidence: "four threads or more wait for each processor that the server may use, on average, while it uses 85 % of \
                   them or more (some must wait for all processors to be kept busy); a low confidence, since what is won \
                   is seldom much. A medium one, and before the processors that they use up, if twice as many threads as there are \
                   requests on their way wake up 50 times a second or more, and 20 times or more for each request",
        fix: "Start one to two workers for each core where requests need the processor (worker_processes auto, gunicorn \
              --workers, a bounded pool of threads). Risk: where requests wait for something else, few workers carry less.",
        experiment: "Start a quarter of the workers and run it again: QPS stays or rises, and p99 falls.",
        check: contention::too_many_workers,
    },
    Rule {
        code: "server.lock",
        symptom: "QPS stays the same with more users while processors are idle, and latency grows with their number",
        mechanism: "whatever holds the lock (a mutex, an interpreter's global lock, a queue with one consumer) lets one \
                    request pass at a time",
        evidence: "a profile of the server's processor, of 200 samples or more, shows 15 % or more of the time in taking \
                   locks; or throughput times the time of the quickest request is 0.7 to 1.15 (one at a time, by the \
                   utilisation law) while three requests or more are on their way, the p90 is at most 1.5 times the p50, and \
                   the server has threads and processors to spare; without a warm-up, after which nobody is served alone; \
                   or half of the requests on their way or more wait in the kernel for a lock on a file; or a JVM counts 0.7 times \
                   or more for each request that a thread found a monitor taken, and one is served at a time by the same law, with \
                   three requests on their way and processors to spare, also after a warm-up: monitors are not fair",
        fix: "Hold the lock for less (no input and output inside), split it (one for each key or shard), or start more \
              processes. A profile of mutexes or of waiting names it (Go: /debug/pprof/mutex; Java: jstack; Python: py-spy).",
        experiment: "Its profile shows that requests wait for mutexes half of their time, or 15 % of the processor time in \
                     taking locks (--confirm with --profile); else run it again with twice the connections: QPS stays and \
                     latency doubles.",
        check: contention::lock,
    },
    Rule {
        code: "server.conntrack",
        symptom: "time-outs that come and go; `nf_conntrack: table full, dropping packet` in the kernel log",
        mechanism: "the firewall remembers each connection, also for minutes after its end; when its table is full new \
                    connections are dropped",
        evidence: "the table reaches 95 % of its maximum, or drops 10 packets or more (less sure while it has room), or the \
                   kernel log says that it is full",
        fix: "sysctl -w net.netfilter.nf_conntrack_max=318720 (about 320 bytes each), and \
              net.netfilter.nf_conntrack_tcp_timeout_time_wait=30; or do not track this port (NOTRACK).",
        experiment: "Raise nf_conntrack_max and run it again: the time-outs go.",
        check: server::conntrack,
    },
    Rule {
        code: "server.time_wait",
        symptom: "`TCP: time wait bucket table overflow` in the kernel log, resets now and then",
        mechanism: "the side that closes a connection remembers it for 60 s; the table has room for tcp_max_tw_buckets",
        evidence: "the table reaches 95 % of its maximum, or TCPTimeWaitOverflow grows by 10 or more; or, on a machine that \
                   opens more than twice the connections that others open to it and whose server fails requests (status 500 \
                   or above), 95 to 110 % as many are in TIME_WAIT as it has local ports (ip_local_port_range)",
        fix: "Keep connections alive; else sysctl -w net.ipv4.tcp_max_tw_buckets=500000 (about 250 bytes each).",
        experiment: "Run it again with keep-alive: the number in TIME_WAIT falls to next to none.",
        check: server::time_wait,
    },
    Rule {
        code: "server.memory",
        symptom: "latency grows during the run; a process disappears",
        mechanism: "what does not fit into memory is read back from disk, a thousand times slower, or a process is killed",
        evidence: "the server's machine swaps 100 pages a second or more, or its kernel kills a process for lack of memory",
        fix: "Give the machine more memory, or the server less to keep: smaller pools, caches and worker counts.",
        experiment: "Run it again with half the connections: swapping stops.",
        check: server::memory,
    },
    Rule {
        code: "server.disk",
        symptom: "QPS is low, the processors are idle, and latency is uneven",
        mechanism: "requests wait for reads or for writes to be safe",
        evidence: "a disk is busy 90 % of the time or more, and tasks wait for disks 20 % of the time or more",
        fix: "Write less (access logs off or buffered), commit in groups, or use a faster disk.",
        experiment: "Turn the access log off and run it again: the disk's share falls.",
        check: server::disk,
    },
    Rule {
        code: "server.stall",
        symptom: "p99 is many times p50; again and again everything stops and goes on",
        mechanism: "something stops the whole server at times: a garbage collector, a lock, a job, a flush",
        evidence: "for 50 ms and ten times the p50 or longer nobody is served although some wait, without a failure; \
                   twice or for half a second in all, and for 1 % of the window or more; not while others use the \
                   generator's machine, which may stand still for them",
        fix: "Look at what runs in these seconds (the server's log, its garbage collector's trace, cron).",
        experiment: "Run it longer: the standstills come at the same distance whatever the load.",
        check: server::stall,
    },
    Rule {
        code: "db.missing_index",
        symptom: "QPS falls as the tables grow; the database's processors are busy and the server's are not",
        mechanism: "without an index the database reads a whole table to find a few rows",
        evidence: "of a table of 10,000 rows or more a request reads 5 % or more on average, from end to end or along an index, \
                   ten times its size in all and twice what its statement gives, and requests spend 20 % of their time or more in the database (sessions at work over \
                   requests on their way); a statement without WHERE makes it a low confidence. Where rows \
                   are counted and tables are not (MySQL without performance_schema): scans of 10,000 rows or more each, which \
                   take 20 % of the requests' time at 50 ns a row",
        fix: "EXPLAIN the statement, and CREATE INDEX CONCURRENTLY on the columns of its WHERE. Risk: each index makes \
              writing dearer.",
        experiment: "EXPLAIN the run's statements (--confirm does): a plan that reads the whole table and compares each row \
                     by a column without an index, of which a value picks a tenth or less, confirms it; plans that all \
                     find its rows by an index refute it, if the run, made again, still shows it.",
        check: database::missing_index,
    },
    Rule {
        code: "db.locks",
        symptom: "requests hang for seconds while all processors are idle, most of all writes to the same rows",
        mechanism: "a transaction holds rows or tables until it ends, and others wait for them",
        evidence: "every second sample or more shows a session that waits for a lock (of rows, or of a whole table in MySQL \
                   and MariaDB), and they make up 20 % of the requests on their way or more",
        fix: "End the transaction that holds them, then make transactions shorter.",
        experiment: "End the session that holds the locks and run it again: nobody waits.",
        check: database::locks,
    },
    Rule {
        code: "db.slow_statement",
        symptom: "latency is that of one statement, whatever else the server does",
        mechanism: "each request waits for the statement, and each call of it takes long",
        evidence: "one statement takes half of the requests' time or more, and 10 ms or more for each request, by \
                   pg_stat_statements or performance_schema (else by how often it was seen running, with less confidence)",
        fix: "EXPLAIN (ANALYZE, BUFFERS) it on a copy: fewer rows, a better index, an answer kept for some seconds.",
        experiment: "EXPLAIN it (--confirm does): a plan that reads so many rows (50 ns each at the least) that half of \
                     its time goes into that confirms it. Else answer from a constant instead: latency falls by its share.",
        check: database::slow_statement,
    },
    Rule {
        code: "db.cpu",
        symptom: "QPS stops rising, and the database's processors are busy while the server's are not",
        mechanism: "statements need processor time, and all that the database has is used",
        evidence: "the database's processes use 90 % or more of the cores that they may use, or of a machine that is watched as a \
                   whole 90 % are in use of what the generator leaves; or 95 % of a machine that it shares with the generator is used, half of that by \
                   it",
        fix: "Make the dearest statements cheaper (see their list), keep answers in a cache, read from replicas, or give it \
              more cores.",
        experiment: "Give the database half the cores (taskset): QPS halves.",
        check: database::cpu,
    },
    Rule {
        code: "db.connections",
        symptom: "errors such as `too many clients already` or `Too many connections`, or requests that wait while the \
                  database is idle",
        mechanism: "each request needs a connection to the database for itself, and there are so many",
        evidence: "the database refused a connection; or 95 % of those it allows are open; or all that a server has are at \
                   work nine tenths of the time while twice as many requests are on their way",
        fix: "Put a pooler between (pgbouncer in transaction mode) or bound the server's own pools; else raise \
              max_connections and restart. Risk: each connection takes memory, some 10 MB in PostgreSQL.",
        experiment: "Run it again with half the connections (-c): no request fails or waits.",
        check: database::connections,
    },
    Rule {
        code: "dependency.slow",
        symptom: "the server is idle and slow: it waits for somebody else",
        mechanism: "a request cannot be answered before what it depends on has answered",
        evidence: "nginx's error log says `upstream timed out` for 0.1 % of the requests or more; or a cache's one thread \
                   is at work 85 % of the time, or requests spend 60 % of their time in its commands; or requests spend 60 % of \
                   their time and 5 ms or more each in a database, where no `db.` rule names the cause; or as much of their time and each on \
                   connections of the server's processes to one other end that it sent to last, and which has not answered",
        fix: "Measure what it waits for by itself, ask it less often (batches, a cache), and bound the wait.",
        experiment: "Replace it with one that answers at once, and run it again: latency falls by its share.",
        check: dependency::slow,
    },
    Rule {
        code: "network.bandwidth",
        symptom: "QPS times the size of a response is a round number of Mbit/s",
        mechanism: "the interface sends as fast as it can",
        evidence: "90 % or more of an interface's speed is used over the window; headers take the rest. Or, on the way to another \
                   machine in a closed loop: the bytes that come in differ by 3 % or less from second to second, 60 % of a \
                   response's time or more pass between its first byte and its last, three or more are on their way, and \
                   nothing of the server that was watched is busy; or the bytes that go out are as even, and connections of \
                   the generator's machine hold half of the requests on their way or more",
        fix: "Compress responses (gzip on), send smaller ones, or use a faster network.",
        experiment: "Run it again with Accept-Encoding: gzip: QPS rises by the factor of compression.",
        check: network::bandwidth,
    },
    Rule {
        code: "network.loss",
        symptom: "a few requests take 200 ms or more longer than the others",
        mechanism: "lost segments are sent again after a time-out of 200 ms or more, and TCP sends slower after a loss",
        evidence: "1 % or more of the segments with data that the generator sends are sent again, or as many of those that it \
                   receives come out of order, at least 20, those that open connections not counted, and the server is on \
                   another machine",
        fix: "Look for drops on the way (ip -s link, ethtool -S, the switch), and for a queue that is too short.",
        experiment: "Run it from a machine nearer to the server: the retransmits go.",
        check: network::loss,
    },
    Rule {
        code: "network.latency",
        symptom: "QPS is low, and neither side is busy",
        mechanism: "a user sends the next request after the response: the way there and back bounds each connection",
        evidence: "to another machine, in a closed loop without pace or think time and with more than two requests for each \
                   connection, even the quickest connection (one way there and back) takes \
                   1 ms to open or more, and half of a response's time or more",
        fix: "Raise the concurrency (-c): QPS follows it; or measure from nearer.",
        experiment: "Double the connections: QPS doubles.",
        check: network::latency,
    },
    Rule {
        code: "test.single_source",
        symptom: "limits per client strike, or one worker of the server has all connections",
        mechanism: "servers, balancers and limits tell clients apart by address",
        evidence: "the rule of validity `single_source` applies",
        fix: "Send from several addresses (--source A,B,C) or machines.",
        experiment: "Run it again with a second source address: what is limited per client doubles.",
        check: generator::single_source,
    },
];
