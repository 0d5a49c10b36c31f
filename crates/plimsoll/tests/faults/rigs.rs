//! The rigs. Loads are small: generator and server share two processors.

use crate::rig::Rig;

/// A server that accepts a connection each 50 ms, and lets four wait.
const SLOW_TO_ACCEPT: &str = "\
from server_of import OK, each
def serve(c):
    while c.recv(65536):
        c.sendall(OK)
each(serve, backlog=4, pause=0.05)
";

/// A server with a thread for each connection, which stays up when it has no files left.
const THREADED: &str = "\
import time
from server_of import OK, each
def serve(c):
    try:
        while c.recv(65536):
            c.sendall(OK)
            time.sleep(0.001)
    except OSError:
        pass
    c.close()
each(serve)
";

/// nginx with one worker; `EVENTS`, `HTTP` and `SERVER` are filled in by the script.
const NGINX: &str = "\
events { EVENTS }
http {
  access_log off; keepalive_requests 1000000;
  include http.inc;
  HTTP
  server { listen 127.0.0.1:9000 backlog=4096; SERVER root .; location / { try_files /nginx.in =404; } }
}
";
const NGINX_FILES: &[(&str, &str)] = &[("nginx.in", NGINX)];

const fn rig(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    Rig { name, codes, needs: &[], files: &[], before: "", script }
}

const fn python(
    name: &'static str,
    codes: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
    script: &'static str,
) -> Rig {
    Rig { name, codes, needs: &["python3"], files, before: "", script }
}

const fn nginx(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    Rig { name, codes, needs: &["nginx"], files: NGINX_FILES, before: "", script }
}

/// One fault each.
pub const SINGLE: &[Rig] = &[
    rig(
        "ports run out",
        &["generator.ports"],
        "echo '40000 40099' > /proc/sys/net/ipv4/ip_local_port_range; api --threads 1\n\
         \"$P\" run -q -c 90 -t 1 --think 9s -d 8s --out held http://127.0.0.1:9000/healthz > /dev/null & sleep 2\n\
         \"$P\" run -q -c 30 -t 1 -d 3s --out out http://127.0.0.1:9000/delay/20ms > /dev/null || :",
    ),
    rig(
        "a generator that is too slow",
        &["generator.cpu"],
        "api --threads 1\n\
         \"$P\" run -q -R 20M -c 200 --pipeline 100 -t 1 -d 2s -T 1s --out out http://127.0.0.1:9000/healthz > /dev/null || :",
    ),
    rig(
        "keep-alive off at the server",
        &["conn.keepalive_off"],
        "api --threads 1 --close\n\
         \"$P\" run -q -c 4 -t 1 -R 300 -d 4s --out out http://127.0.0.1:9000/delay/1ms > /dev/null || :",
    ),
    rig(
        "all processors of the server",
        &["server.cpu"],
        "taskset -pc 1 $$ > /dev/null; api --threads 1; taskset -pc 0 $$ > /dev/null\n\
         \"$P\" run -q -c 8 -t 1 -d 5s --out out http://127.0.0.1:9000/cpu/4ms > /dev/null || :",
    ),
    rig(
        "one thread",
        &["server.single_thread"],
        "api --threads 1\n\
         \"$P\" run -q -c 8 -t 1 -d 5s --out out http://127.0.0.1:9000/cpu/4ms > /dev/null || :",
    ),
    rig(
        "a quota",
        &["server.throttled"],
        "api --threads 2; G=/sys/fs/cgroup/cpu/plimsoll-fault-$$; mkdir $G\n\
         echo 30000 > $G/cpu.cfs_quota_us; echo $API > $G/cgroup.procs\n\
         \"$P\" run -q -c 8 -t 1 -d 5s --out out http://127.0.0.1:9000/cpu/4ms > /dev/null || :\n\
         kill $API; wait $API || :; rmdir $G",
    ),
    rig(
        "standstills",
        &["server.stall"],
        "api --threads 1 --stall-every 2s --stall-for 300ms\n\
         \"$P\" run -q -c 20 -t 1 -R 200 -d 12s --out out http://127.0.0.1:9000/delay/1ms > /dev/null || :",
    ),
    python(
        "files of the server",
        &["server.files"],
        &[("server.py", THREADED)],
        "(ulimit -n 40; exec python3 server.py) & up http://127.0.0.1:9000/\n\
         \"$P\" run -q -c 100 -t 1 -d 4s -T 1s --pace 200ms --out out http://127.0.0.1:9000/ > /dev/null || :",
    ),
    python(
        "a full accept queue",
        &["server.accept_queue"],
        &[("server.py", SLOW_TO_ACCEPT)],
        "serve\n\
         \"$P\" run -q -c 100 -t 1 -d 6s -T 2s --pace 200ms --out out http://127.0.0.1:9000/ > /dev/null || :",
    ),
    nginx(
        "a rate limit that answers 503",
        &["rate_limited"],
        "sed 's/EVENTS/worker_connections 1024;/; s/HTTP/limit_req_zone $binary_remote_addr zone=z:1m rate=200r\\/s;/; \
         s/SERVER/limit_req zone=z burst=20 nodelay;/' nginx.in > nginx.conf\n\
         web http://127.0.0.1:9000/\n\
         \"$P\" run -q -c 8 -t 1 -R 600 -d 7s --out out http://127.0.0.1:9000/ > /dev/null || :",
    ),
    nginx(
        "a rate limit that answers 429",
        &["rate_limited"],
        "sed 's/EVENTS/worker_connections 1024;/; s/HTTP/limit_req_zone $binary_remote_addr zone=z:1m rate=200r\\/s;/; \
         s/SERVER/limit_req zone=z burst=20 nodelay; limit_req_status 429;/' nginx.in > nginx.conf\n\
         web http://127.0.0.1:9000/\n\
         \"$P\" run -q -c 8 -t 1 -R 600 -d 4s --out out http://127.0.0.1:9000/ > /dev/null || :",
    ),
];

/// Two faults at once.
pub const DOUBLE: &[Rig] = &[
    rig(
        "no keep-alive, and a full TIME_WAIT",
        &["conn.keepalive_off", "server.time_wait"],
        "echo 100 > /proc/sys/net/ipv4/tcp_max_tw_buckets; api --threads 1 --close\n\
         \"$P\" run -q -c 4 -t 1 -R 300 -d 4s --out out http://127.0.0.1:9000/delay/1ms > /dev/null || :",
    ),
    rig(
        "no keep-alive, and a quota",
        &["conn.keepalive_off", "server.throttled"],
        "api --threads 2 --close; G=/sys/fs/cgroup/cpu/plimsoll-fault-$$; mkdir $G\n\
         echo 30000 > $G/cpu.cfs_quota_us; echo $API > $G/cgroup.procs\n\
         \"$P\" run -q -c 8 -t 1 -d 5s --out out http://127.0.0.1:9000/cpu/4ms > /dev/null || :\n\
         kill $API; wait $API || :; rmdir $G",
    ),
    nginx(
        "no keep-alive, and a rate limit",
        &["conn.keepalive_off", "rate_limited"],
        "sed 's/EVENTS/worker_connections 1024;/; s/HTTP/limit_req_zone $binary_remote_addr zone=z:1m rate=200r\\/s;/; \
         s/SERVER/keepalive_timeout 0; limit_req zone=z burst=20 nodelay; limit_req_status 429;/' nginx.in > nginx.conf\n\
         web http://127.0.0.1:9000/\n\
         \"$P\" run -q -c 8 -t 1 -R 400 -d 4s --out out http://127.0.0.1:9000/ > /dev/null || :",
    ),
    rig(
        "no keep-alive, and full handshakes",
        &["conn.keepalive_off", "conn.tls_handshake"],
        "\"$P\" target --listen 127.0.0.1:9000 --threads 1 --tls --close > /dev/null & sleep 1\n\
         \"$P\" run -q -k -c 4 -t 1 -R 200 -d 4s --out out https://127.0.0.1:9000/healthz > /dev/null || :",
    ),
];

/// All is well.
pub const HEALTHY: &[Rig] = &[
    rig(
        "slow by design",
        &[],
        "api --threads 1\n\
         \"$P\" run -q -c 10 -t 1 -d 5s --out out http://127.0.0.1:9000/delay/50ms > /dev/null || :",
    ),
    rig(
        "at 70 % of its capacity",
        &[],
        "taskset -pc 1 $$ > /dev/null; api --threads 1; taskset -pc 0 $$ > /dev/null\n\
         \"$P\" run -q -c 50 -t 1 -R 175 -d 6s --out out http://127.0.0.1:9000/cpu/4ms > /dev/null || :",
    ),
    rig(
        "hardly used",
        &[],
        "api --threads 2\n\
         \"$P\" run -q -c 10 -t 1 -R 100 -d 5s --out out http://127.0.0.1:9000/healthz > /dev/null || :",
    ),
    rig(
        "users that think",
        &[],
        "api --threads 2\n\
         \"$P\" run -q -c 100 -t 1 --think 500ms -d 5s --out out http://127.0.0.1:9000/healthz > /dev/null || :",
    ),
    rig(
        "a quota with room",
        &[],
        "api --threads 2; G=/sys/fs/cgroup/cpu/plimsoll-fault-$$; mkdir $G\n\
         echo 80000 > $G/cpu.cfs_quota_us; echo $API > $G/cgroup.procs\n\
         \"$P\" run -q -c 8 -t 1 -R 50 -d 5s --out out http://127.0.0.1:9000/cpu/4ms > /dev/null || :\n\
         kill $API; wait $API || :; rmdir $G",
    ),
    rig(
        "a neighbour of low priority",
        &[],
        "api --threads 1; nice -n 19 sh -c 'while :; do :; done' &\n\
         \"$P\" run -q -c 10 -t 1 -R 100 -d 5s --out out http://127.0.0.1:9000/delay/5ms > /dev/null || :",
    ),
    rig(
        "random arrivals",
        &[],
        "api --threads 1\n\
         \"$P\" run -q -c 10 -t 1 -R 200 --arrivals poisson -d 5s --out out http://127.0.0.1:9000/delay/2ms > /dev/null || :",
    ),
    python(
        "enough files and a long queue",
        &[],
        &[("server.py", THREADED)],
        "serve\n\
         \"$P\" run -q -c 60 -t 1 --pace 200ms --warmup 1s -d 5s --out out http://127.0.0.1:9000/ > /dev/null || :",
    ),
    nginx(
        "a limit that is not met",
        &[],
        "sed 's/EVENTS/worker_connections 1024;/; s/HTTP/limit_req_zone $binary_remote_addr zone=z:1m rate=2000r\\/s;/; \
         s/SERVER/limit_req zone=z burst=100 nodelay;/' nginx.in > nginx.conf\n\
         web http://127.0.0.1:9000/\n\
         \"$P\" run -q -c 8 -t 1 -R 300 -d 5s --out out http://127.0.0.1:9000/ > /dev/null || :",
    ),
    nginx(
        "a proxy with room",
        &[],
        "sed 's/EVENTS/worker_connections 1024;/; s/HTTP//; s/SERVER//' nginx.in > nginx.conf\n\
         web http://127.0.0.1:9000/\n\
         \"$P\" run -q -c 70 -t 1 -d 5s --pace 200ms --out out --observe proxy=nginx:http://127.0.0.1:9001/ \
         http://127.0.0.1:9000/ > /dev/null || :",
    ),
];
