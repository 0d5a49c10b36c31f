//! Rigs that no threshold was chosen on: what was known of them when the rules were written is their code. They judge the
//! rules; who changes a threshold looks at the others ([`crate::rigs`], [`crate::databases`]) and only counts these.

use crate::programs::{GO_GARBAGE, LEAKS, LINK, LOCKED, ON_MARIADB, THREADED_WORK};
use crate::rig::Rig;

/// nginx with one worker; what is in capitals is filled in by the script.
const NGINX: &str = "\
events { worker_connections 1024; }
http {
  HTTP
  include http.inc;
  server { listen LISTEN; SERVER }
}
";

/// nginx with a log of 12 KiB for a request.
const LOGGING_NGINX: &str = "\
events { worker_connections 1024; }
http {
  keepalive_requests 1000000; large_client_header_buffers 4 16k;
  log_format all '$request $http_x_large $http_x_large $http_x_large $http_x_large'; access_log access.log all;
  include http.inc;
  server { listen 127.0.0.1:9000; location / { return 200 ok; } }
}
";

/// haproxy before the built-in API.
const HAPROXY: &str = "\
global
  maxconn MOST
defaults
  mode http
  timeout client 10s
  timeout server 10s
  timeout connect 1s
listen api
  bind 127.0.0.1:9002 backlog 128
  server one 127.0.0.1:9000
";

/// A server at the other end of a link: `behind LINK-OPTION...`, where it is watched too.
const FAR: &str = "mount -t sysfs sysfs /sys\n\
    behind() { unshare -n \"$P\" target --listen 0.0.0.0:9000 --threads 1 > /dev/null & sleep 0.5\n\
    python3 link.py $! \"$@\" & sleep 1; up http://10.9.0.2:9000/healthz; }\n";

/// `certified TEXT-OF-THE-SERVER`: nginx by TLS, with a key of RSA.
const TLS: &str = "certified() { openssl req -x509 -newkey rsa:3072 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost 2> e\n\
    sed \"s/HTTP/access_log off;/; s/LISTEN/127.0.0.1:9000 ssl/; s/SERVER/ssl_certificate cert.pem; ssl_certificate_key key.pem; \
    $1 location \\/ { return 200 ok; }/\" nginx.in > nginx.conf\n\
    web http://127.0.0.1:9001/; }\n";

/// A MariaDB with a table of 100,000 orders, and a server on it: `mariadb_with SQL`.
const MARIADB: &str = "mariadb_with() { mkdir db; chown mysql db; chmod 755 .; AS='setpriv --reuid mysql --regid mysql --clear-groups'; D=$PWD/db\n\
    $AS mariadb-install-db --no-defaults --auth-root-authentication-method=normal --skip-test-db --datadir=$D/data > db.log\n\
    $AS mariadbd --no-defaults --bind-address=127.0.0.1 --port=3390 --datadir=$D/data --socket=$D/s --pid-file=$D/pid \
    --performance-schema=ON 2> db.log & M='mariadb --no-defaults -h 127.0.0.1 -P 3390 -u root'\n\
    i=0; until $M -e 'CREATE DATABASE shop' 2> e; do i=$((i+1)); [ $i -lt 100 ]; sleep 0.1; done\n\
    $M -e 'CREATE TABLE orders (id INT PRIMARY KEY, user_id INT, status VARCHAR(20)); INSERT INTO orders SELECT seq, 1 + seq % 1600, \"paid\" \
    FROM seq_1_to_100000;' shop; $M -e \"$1\" shop; serve; }\n";

const NGINX_FILES: &[(&str, &str)] = &[("nginx.in", NGINX)];

const fn far(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    Rig { name, codes, needs: &["python3"], files: &[("link.py", LINK)], before: FAR, script }
}

const fn tls(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    Rig { name, codes, needs: &["nginx", "openssl"], files: NGINX_FILES, before: TLS, script }
}

const fn nginx(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    Rig { name, codes, needs: &["nginx"], files: NGINX_FILES, before: "", script }
}

const fn haproxy(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    let files = &[("haproxy.in", HAPROXY)];
    Rig { name, codes, needs: &["haproxy"], files, before: "", script }
}

const fn python(
    name: &'static str,
    codes: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
    script: &'static str,
) -> Rig {
    Rig { name, codes, needs: &["python3"], files, before: "", script }
}

const fn go(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    Rig { name, codes, needs: &["go"], files: &[("server.go", GO_GARBAGE)], before: "", script }
}

const fn mariadb(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    let needs = &["mariadbd", "mariadb-install-db", "python3"];
    Rig { name, codes, needs, files: &[("server.py", ON_MARIADB)], before: MARIADB, script }
}

/// A story of the guide, as the guide tells it.
const fn story(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    Rig { name, codes, needs: &["nginx"], files: &[], before: "set +e\n", script }
}

/// The guide's stories.
pub const STORIES: &[Rig] = &[
    story(
        "story: a dip",
        &["server.stall"],
        include_str!("../../../../docs/examples/limits/dip.sh"),
    ),
    story(
        "story: an overflow",
        &["server.time_wait"],
        include_str!("../../../../docs/examples/limits/overflow.sh"),
    ),
    story(
        "story: ports",
        &["generator.ports"],
        include_str!("../../../../docs/examples/limits/ports.sh"),
    ),
    story(
        "story: errors from the proxy",
        &["proxy.worker_connections"],
        include_str!("../../../../docs/examples/limits/proxy.sh"),
    ),
];

/// One fault each.
pub const SINGLE: &[Rig] = &[
    far(
        "10 ms away",
        &["network.latency"],
        "behind delay=10\n\
         \"$P\" run -q -c 4 -t 1 -d 5s --out out http://10.9.0.2:9000/healthz > /dev/null || :; confirm",
    ),
    far(
        "a link that drops packets",
        &["network.loss"],
        "behind drop=0.04\n\
         \"$P\" run -q -c 10 -t 1 -d 6s --out out http://10.9.0.2:9000/bytes/4000 > /dev/null || :",
    ),
    far(
        "a full link",
        &["network.bandwidth"],
        "behind rate=1230000\n\
         \"$P\" run -q -c 6 -t 1 -d 6s --out out http://10.9.0.2:9000/bytes/20000 > /dev/null || :",
    ),
    tls(
        "no version of TLS in common",
        &["conn.tls_version"],
        "certified 'ssl_protocols TLSv1.2;'\n\
         \"$P\" run -q -k --tls-min 1.3 -c 4 -t 1 -d 3s --out out https://127.0.0.1:9000/ > /dev/null || :; confirm",
    ),
    tls(
        "a full handshake for three requests",
        &["conn.tls_handshake"],
        "certified 'keepalive_requests 3; ssl_session_cache off; ssl_session_tickets off;'\n\
         \"$P\" run -q -k -c 4 -t 1 -d 4s --out out https://127.0.0.1:9000/ > /dev/null || :",
    ),
    nginx(
        "a full TIME_WAIT",
        &["server.time_wait"],
        "echo 100 > /proc/sys/net/ipv4/tcp_max_tw_buckets\n\
         sed 's/HTTP/access_log off; keepalive_requests 3;/; s/LISTEN/127.0.0.1:9000/; s/SERVER/location \\/ { return 200 ok; }/' \
         nginx.in > nginx.conf; web http://127.0.0.1:9000/\n\
         \"$P\" run -q -c 8 -t 1 -R 600 -d 5s --out out http://127.0.0.1:9000/ > /dev/null || :",
    ),
    nginx(
        "a name server that does not answer",
        &["conn.dns"],
        "sed 's/HTTP/access_log off;/; s/LISTEN/127.0.0.1:9002/; s/SERVER/resolver 127.0.0.1:9053; resolver_timeout 200ms; \
         location \\/ { set $api api.test; proxy_pass http:\\/\\/$api:9000; }/' nginx.in > nginx.conf\n\
         web http://127.0.0.1:9001/\n\
         \"$P\" run -q -c 8 -t 1 -d 4s --out out --observe proxy=nginx:http://127.0.0.1:9001/,log=$PWD/error.log \
         http://127.0.0.1:9002/ > /dev/null || :",
    ),
    haproxy(
        "haproxy that takes four connections",
        &["server.too_few_workers"],
        "sed 's/MOST/4/' haproxy.in > haproxy.cfg; api --threads 1; haproxy -db -f haproxy.cfg 2> e & sleep 1\n\
         \"$P\" run -q -c 20 -t 1 -d 5s -T 3s --out out http://127.0.0.1:9002/delay/20ms > /dev/null || :",
    ),
    python(
        "one lock for all requests",
        &["server.lock"],
        &[("server.py", LOCKED)],
        "serve\n\
         \"$P\" run -q -c 8 -t 1 -d 5s --out out http://127.0.0.1:9000/ > /dev/null || :; confirm",
    ),
    python(
        "a server that keeps all it was sent",
        &["server.memory"],
        &[("server.py", LEAKS)],
        "G=/sys/fs/cgroup/memory/plimsoll-fault-$$; mkdir $G; echo 64M > $G/memory.limit_in_bytes\n\
         sh -c 'echo $$ > '$G'/cgroup.procs; exec python3 server.py' & up http://127.0.0.1:9000/\n\
         \"$P\" run -q -c 4 -t 1 -R 200 -d 6s --out out http://127.0.0.1:9000/ > /dev/null || :\n\
         sleep 0.3; rmdir $G || :",
    ),
    go(
        "mostly collecting garbage",
        &["server.gc"],
        "go build -o server server.go; GOGC=20 ./server & up http://127.0.0.1:9000/\n\
         \"$P\" run -q -c 8 -t 1 -d 10s --out out --profile http://127.0.0.1:9000/debug/pprof http://127.0.0.1:9000/ > /dev/null || :; confirm",
    ),
    Rig {
        name: "requests dumped into the log",
        codes: &["server.debug_options"],
        needs: &["go"],
        files: &[("config.in", include_str!("../../../../casestudy/config.debug.yaml"))],
        before: "",
        script: "sed 's/127.0.0.1:8080/127.0.0.1:9000/' config.in > config.yaml\n\
                 \"$APISERVER\" --config config.yaml > /dev/null 2> e & up http://127.0.0.1:9000/healthz\n\
                 \"$P\" run -q -c 8 -t 1 -d 10s --out out --profile http://127.0.0.1:9000/debug/pprof \
                 http://127.0.0.1:9000/healthz > /dev/null || :; confirm",
    },
    mariadb(
        "an index is missing in MariaDB",
        &["db.missing_index"],
        "mariadb_with 'SELECT 1' > /dev/null\n\
         \"$P\" run -q -c 4 -t 1 -d 6s --out out --observe db=mysql://root@127.0.0.1:3390/shop http://127.0.0.1:9000/ > /dev/null || :; confirm",
    ),
];

/// Two faults at once.
pub const DOUBLE: &[Rig] = &[
    python(
        "all processors, and forty threads for one",
        &["server.cpu", "server.too_many_workers"],
        &[("server.py", THREADED_WORK)],
        "taskset -pc 1 $$ > /dev/null; serve; taskset -pc 0 $$ > /dev/null\n\
         \"$P\" run -q -c 40 -t 1 -d 5s -T 10s --out out http://127.0.0.1:9000/ > /dev/null || :",
    ),
    Rig {
        name: "one worker, and a log of everything",
        codes: &["server.single_thread", "proxy.access_log"],
        needs: &["nginx"],
        files: &[("nginx.conf", LOGGING_NGINX)],
        before: "",
        script: "web http://127.0.0.1:9000/\n\
                 \"$P\" run -q -c 30 -t 1 -d 5s --out out -H \"X-Large: $(head -c 3000 /dev/zero | tr '\\0' x)\" \
                 --observe proxy=local:name=nginx http://127.0.0.1:9000/ > /dev/null || :",
    },
];

/// All is well.
pub const HEALTHY: &[Rig] = &[
    haproxy(
        "haproxy with room",
        &[],
        "sed 's/MOST/400/' haproxy.in > haproxy.cfg; api --threads 1; haproxy -db -f haproxy.cfg 2> e & sleep 1\n\
         \"$P\" run -q -c 20 -t 1 -R 200 -d 5s -T 3s --out out http://127.0.0.1:9002/delay/20ms > /dev/null || :; confirm",
    ),
    tls(
        "TLS with connections kept",
        &[],
        "certified 'ssl_protocols TLSv1.2 TLSv1.3;'\n\
         \"$P\" run -q -k -c 8 -t 1 -R 200 -d 5s --out out https://127.0.0.1:9000/ > /dev/null || :",
    ),
    far(
        "10 ms away, at a rate that is carried",
        &[],
        "behind delay=10\n\
         \"$P\" run -q -c 20 -t 1 -R 100 -d 5s --out out http://10.9.0.2:9000/healthz > /dev/null || :",
    ),
    mariadb(
        "an index is used in MariaDB",
        &[],
        "mariadb_with 'CREATE INDEX by_user ON orders (user_id)' > /dev/null\n\
         \"$P\" run -q -c 4 -t 1 -R 50 -d 5s --out out --observe db=mysql://root@127.0.0.1:3390/shop http://127.0.0.1:9000/ > /dev/null || :",
    ),
];
