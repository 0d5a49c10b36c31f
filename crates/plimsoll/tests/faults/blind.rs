//! Rigs of a blind author: someone who had read neither the rules of `explain`, nor their pages and thresholds, nor the
//! rigs kept back. They are set-ups as an engineer meets them, proved by what is not Plimsoll's: the kernel's counters, the
//! servers' logs and counts, and the same load with the fault taken out.
//!
//! When they were first judged, 22 of 30 single faults had the right code first. Rules were mended by what they showed
//! since, so that they judge no more than the others whether rules hold for what nobody looked at: that takes new rigs.

mod programs;
pub mod second;
mod services;

use crate::programs::LINK;
use crate::rig::Rig;
use programs::{ASK, LOOP, PAYMENT, PREFORK, SERVICE, SHIPPER, STANDARD};

macro_rules! load {
    () => {
        "load() { \"$P\" run -q -t 1 --out out \"$@\" > /dev/null || :; }\n"
    };
}

const LOAD: &str = load!();

/// Builds the service in Go.
const BUILD: &str = concat!(load!(), "go build -o service service.go\n");

/// `apart`: a network namespace whose process is `$N`, at the other end of a cable, 10.8.0.2; `there COMMAND` runs in it.
const APART: &str = concat!(
    load!(),
    r#"go build -o service service.go
there() { nsenter -t $N -n "$@"; }
apart() { unshare -n sleep 1000 & N=$!; sleep 0.5; ip link add near type veth peer name far netns $N
ip address add 10.8.0.1/24 dev near; ip link set near up
there ip address add 10.8.0.2/24 dev far; there ip link set far up; there ip link set lo up; }
"#
);

/// `postgres_on SETTING...`: a PostgreSQL of its own; `sql SQL`; `ask STATEMENTS` starts the server before it.
const POSTGRES: &str = concat!(
    load!(),
    r#"chmod 755 .; PATH=$PGBIN:$PATH; D=$PWD/pg; mkdir $D; chown postgres $D
U='postgres://postgres@127.0.0.1:5434/postgres?sslmode=disable'
sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$U" -c "$1" > /dev/null; }
postgres_on() { AS='setpriv --reuid postgres --regid postgres --clear-groups'; C=; for S in "$@"; do C="$C -c $S"; done
$AS initdb -A trust -U postgres -E UTF8 --locale=C -N -D $D/data > /dev/null
$AS postgres -D $D/data -k $D -h 127.0.0.1 -p 5434 -c fsync=off -c shared_preload_libraries=pg_stat_statements $C > pg.log 2>&1 &
i=0; until sql 'CREATE EXTENSION pg_stat_statements' 2> /dev/null; do i=$((i+1)); [ $i -lt 100 ]; sleep 0.1; done; }
ask() { printf '%s\n' "$@" > statements; python3 ask.py pg < statements 2> ask.log & up http://127.0.0.1:9000/; }
"#
);

/// The same with MariaDB: `maria ARGUMENT...`, `tell SQL`, `ask STATEMENTS`.
const MARIADB: &str = concat!(
    load!(),
    r#"tell() { mariadb --no-defaults -S $PWD/my.sock -u root -e "$1"; }
maria() { mariadb-install-db --no-defaults --user=root --datadir=$PWD/my --auth-root-authentication-method=normal > install.log
$PIN mariadbd --no-defaults --user=root --datadir=$PWD/my --socket=$PWD/my.sock --bind-address=127.0.0.1 --port=3391 \
--skip-name-resolve "$@" > maria.log 2>&1 &
i=0; until tell 'CREATE DATABASE shop' 2> /dev/null; do i=$((i+1)); [ $i -lt 100 ]; sleep 0.1; done
tell "CREATE USER app@'127.0.0.1'; GRANT ALL ON shop.* TO app@'127.0.0.1'"; }
ask() { printf '%s\n' "$@" > statements; python3 ask.py my < statements 2> ask.log & up http://127.0.0.1:9000/; }
U=mysql://root@127.0.0.1:3391
"#
);

/// HAProxy; the script fills in `FRONT`, `RULES` and `BACK`.
const HAPROXY: &str = "\
global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend front
  FRONT
  RULES
BACK
";

/// nginx; the script fills in `WORKERS`, `EVENTS`, `HTTP`, `LISTEN` and `LOCATION`.
const NGINX: &str = "\
daemon off; user root; worker_processes WORKERS; pid nginx.pid; error_log error.log;
events { EVENTS }
http {
  keepalive_requests 1000000;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  HTTP
  server { listen 127.0.0.1:9002 LISTEN; location / { LOCATION } }
  server { listen 127.0.0.1:9001; access_log off; location / { stub_status; } }
}
";

type Files = &'static [(&'static str, &'static str)];

const fn rig(
    name: &'static str,
    codes: &'static [&'static str],
    needs: &'static [&'static str],
    files: Files,
    before: &'static str,
    script: &'static str,
) -> Rig {
    Rig { name, codes, needs, files, before, script }
}

const fn python(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    let files: Files = &[("standard.py", STANDARD), ("prefork.py", PREFORK), ("loop.py", LOOP)];
    rig(name, codes, &["python3"], files, LOAD, script)
}

const fn go(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    let files: Files = &[("service.go", SERVICE), ("payment.py", PAYMENT)];
    rig(name, codes, &["go", "python3"], files, BUILD, script)
}

/// A server at the end of a cable, or of a link of bad quality.
const fn apart(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    let files: Files = &[
        ("service.go", SERVICE),
        ("link.py", LINK),
        ("standard.py", STANDARD),
        ("haproxy.in", HAPROXY),
    ];
    rig(name, codes, &["go", "python3", "tc", "nsenter", "haproxy"], files, APART, script)
}

const fn haproxy(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    rig(
        name,
        codes,
        &["haproxy", "nginx", "openssl"],
        &[("haproxy.in", HAPROXY), ("nginx.in", NGINX)],
        LOAD,
        script,
    )
}

const fn nginx(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    let files: Files = &[("nginx.in", NGINX), ("shipper.py", SHIPPER)];
    rig(name, codes, &["nginx", "openssl", "python3"], files, LOAD, script)
}

const fn postgres(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    rig(name, codes, &["initdb", "psql", "python3"], &[("ask.py", ASK)], POSTGRES, script)
}

const fn mariadb(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    let needs = &["mariadbd", "mariadb", "mariadb-install-db", "python3"];
    rig(name, codes, needs, &[("ask.py", ASK)], MARIADB, script)
}

/// One fault each.
pub const SINGLE: &[Rig] = &[
    go(
        "blind: a container's quota on the generator",
        &["generator.cpu"],
        r#"G=/sys/fs/cgroup/cpu/plimsoll-blind-generator; mkdir -p $G; echo 10000 > $G/cpu.cfs_quota_us
        ./service & up http://127.0.0.1:9000/
        (echo 0 > $G/cgroup.procs; load -c 50 -R 60k -d 5s http://127.0.0.1:9000/)
        rmdir $G"#,
    ),
    apart(
        "blind: a neighbour that leaks connections, and few ports",
        &["generator.ports"],
        r#"apart; echo '20000 20149' > /proc/sys/net/ipv4/ip_local_port_range
        there ./service & up http://10.8.0.2:9000/
        python3 -c 'import socket, time
leaked = [socket.create_connection(("10.8.0.2", 9000)) for n in range(120)]
time.sleep(100)' & sleep 1
        load -c 60 --think 100ms -d 5s http://10.8.0.2:9000/"#,
    ),
    apart(
        "blind: a line of 40 Mbit/s",
        &["network.bandwidth"],
        r#"apart; there tc qdisc add dev far root tbf rate 40mbit burst 32k latency 100ms
        head -c 200000 /dev/urandom > page.html; there ./service & up http://10.8.0.2:9000/
        load -c 10 -d 5s --warmup 1s http://10.8.0.2:9000/page"#,
    ),
    apart(
        "blind: 50 ms away",
        &["network.latency"],
        r#"sed 's/FRONT/bind :9000/; s/RULES/http-request return status 200 content-type text\/plain string ok/; s/BACK//' \
        haproxy.in > haproxy.cfg
        unshare -n haproxy -f haproxy.cfg -db & N=$!; sleep 0.5; python3 link.py $N delay=25 & up http://10.9.0.2:9000/
        load -c 20 -d 5s --warmup 1s http://10.9.0.2:9000/"#,
    ),
    apart(
        "blind: three packets of a hundred are lost",
        &["network.loss"],
        r#"head -c 10000 /dev/urandom > page.html; unshare -n ./service & N=$!; sleep 0.5
        python3 link.py $N delay=3 drop=0.03 & up http://10.9.0.2:9000/
        load -c 8 -d 6s --warmup 1s http://10.9.0.2:9000/page"#,
    ),
    python(
        "blind: Python's own server",
        &["conn.keepalive_off"],
        "python3 standard.py & up http://127.0.0.1:9000/\n\
         load -c 8 -R 250 -d 5s http://127.0.0.1:9000/",
    ),
    nginx(
        "blind: four requests for each handshake of RSA",
        &["conn.tls_handshake"],
        r#"openssl req -x509 -newkey rsa:4096 -nodes -subj /CN=localhost -keyout key -out cert 2> /dev/null
        sed 's/WORKERS/1/; s/EVENTS//; s/LISTEN/ssl/; s/LOCATION/return 200 ok;/' nginx.in > nginx.conf
        sed -i "s|HTTP|access_log off; ssl_certificate $PWD/cert; ssl_certificate_key $PWD/key; ssl_session_cache off; \
        ssl_session_tickets off;|; s/keepalive_requests 1000000/keepalive_requests 4/" nginx.conf
        nginx -p . -c "$PWD/nginx.conf" -e error.log & up http://127.0.0.1:9001/
        load -k -c 12 -d 5s https://127.0.0.1:9002/"#,
    ),
    haproxy(
        "blind: one of two servers knows TLS 1.2 only",
        &["conn.tls_version"],
        r#"openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -keyout key -out cert 2> /dev/null
        sed 's/WORKERS/1/; s/EVENTS//; s/LISTEN/ssl/; s/LOCATION/return 200 ok;/' nginx.in > nginx.conf
        sed -i "s|HTTP|access_log off; ssl_certificate $PWD/cert; ssl_certificate_key $PWD/key; ssl_protocols TLSv1.3; \
        server { listen 127.0.0.1:9003 ssl; ssl_protocols TLSv1.2; return 200 ok; }|; \
        s/keepalive_requests 1000000/keepalive_requests 10/" nginx.conf
        sed 's/FRONT/bind 127.0.0.1:9000/; s/RULES/default_backend two/; s/mode http/mode tcp/
        s/BACK/backend two\n server new 127.0.0.1:9002\n server old 127.0.0.1:9003/' haproxy.in > haproxy.cfg
        nginx -p . -c "$PWD/nginx.conf" -e error.log & haproxy -f haproxy.cfg -db & sleep 1; up http://127.0.0.1:9001/
        load -k --tls-min 1.3 -c 20 --pace 50ms -d 5s -T 2s https://127.0.0.1:9000/"#,
    ),
    python(
        "blind: three workers that hash, on one processor",
        &["server.cpu"],
        "taskset -c 1 python3 prefork.py 3 hash & taskset -pc 0 $$ > /dev/null; up http://127.0.0.1:9000/\n\
         load -c 3 -d 5s http://127.0.0.1:9000/",
    ),
    python(
        "blind: an event loop that makes JSON",
        &["server.single_thread"],
        "python3 loop.py cpu & up http://127.0.0.1:9000/\n\
         load -c 8 -d 5s http://127.0.0.1:9000/",
    ),
    go(
        "blind: a quarter of a processor, and logins",
        &["server.throttled"],
        r#"./service & S=$!; G=/sys/fs/cgroup/cpu/plimsoll-blind; mkdir -p $G
        echo 25000 > $G/cpu.cfs_quota_us; echo $S > $G/cgroup.procs; up http://127.0.0.1:9000/
        load -c 4 -d 5s http://127.0.0.1:9000/login
        kill $S; wait $S || :; rmdir $G"#,
    ),
    python(
        "blind: four processes for twelve users",
        &["server.too_few_workers"],
        "python3 prefork.py 4 wait & up http://127.0.0.1:9000/\n\
         load -c 12 -d 6s -T 5s http://127.0.0.1:9000/",
    ),
    go(
        "blind: prices under one mutex",
        &["server.lock"],
        "./service & up http://127.0.0.1:9000/\n\
         load -c 10 -d 5s --profile http://127.0.0.1:9000 http://127.0.0.1:9000/price",
    ),
    python(
        "blind: one session file, locked",
        &["server.lock"],
        "python3 prefork.py 8 session & up http://127.0.0.1:9000/\n\
         load -c 8 -d 5s http://127.0.0.1:9000/",
    ),
    go(
        "blind: 48 files for pages and users",
        &["server.files"],
        "head -c 3000 /dev/zero > page.html; (ulimit -n 48; exec ./service 2> service.log) & up http://127.0.0.1:9000/page\n\
         load -c 80 --pace 250ms -T 1s -d 5s http://127.0.0.1:9000/page",
    ),
    python(
        "blind: Python's own backlog",
        &["server.accept_queue"],
        "python3 standard.py 1.1 & up http://127.0.0.1:9000/\n\
         load -c 60 --no-keepalive -T 5s -d 6s http://127.0.0.1:9000/",
    ),
    go(
        "blind: uploads are kept until the memory is full",
        &["server.memory"],
        r#"G=/sys/fs/cgroup/memory/plimsoll-blind; mkdir -p $G; echo 96M > $G/memory.limit_in_bytes
        (while :; do sh -c "echo 0 > $G/cgroup.procs; exec ./service" || sleep 0.2; done) 2> /dev/null & S=$!
        up http://127.0.0.1:9000/
        load -c 10 -R 200 -T 2s -d 8s http://127.0.0.1:9000/upload
        kill $S; for T in $(cat $G/cgroup.procs); do kill -9 $T; done; sleep 0.3; rmdir $G"#,
    ),
    go(
        "blind: a limit of memory below what lives",
        &["server.gc"],
        "GOMEMLIMIT=60MiB ./service lives & up http://127.0.0.1:9000/\n\
         load -c 4 -d 6s --profile http://127.0.0.1:9000 http://127.0.0.1:9000/list",
    ),
    python(
        "blind: a job in the event loop",
        &["server.stall"],
        "python3 loop.py wait 1024 2.5 0.4 & up http://127.0.0.1:9000/\n\
         load -c 40 -R 150 -d 10s http://127.0.0.1:9000/",
    ),
    go(
        "blind: somebody's dump of each request",
        &["server.debug_options"],
        r#"python3 -c 'import json; print(json.dumps([{"sku": "a%d" % n, "count": n, "price": n / 7} for n in range(200)]))' > order
        taskset -c 1 ./service 2> /dev/null & taskset -pc 0 $$ > /dev/null; up http://127.0.0.1:9000/
        load -c 6 -d 6s -m POST --json @order --profile http://127.0.0.1:9000 http://127.0.0.1:9000/orders"#,
    ),
    nginx(
        "blind: twenty connections for each of two workers",
        &["proxy.worker_connections"],
        r#"sed "s|WORKERS|2|; s|EVENTS|worker_connections 20;|; s|HTTP|access_log off; upstream api { server 127.0.0.1:9000; \
        keepalive 8; }|; s|LISTEN||; s|LOCATION|proxy_pass http://api; proxy_http_version 1.1; proxy_set_header Connection '';|" \
        nginx.in > nginx.conf
        api --threads 1; nginx -p . -c "$PWD/nginx.conf" -e error.log & up http://127.0.0.1:9002/healthz
        load -c 40 -T 2s -d 5s --think 50ms --observe proxy=nginx:http://127.0.0.1:9001/,log=$PWD/error.log \
        http://127.0.0.1:9002/delay/60ms"#,
    ),
    nginx(
        "blind: a handshake with the server behind nginx for each request",
        &["proxy.upstream_keepalive"],
        r#"sed "s|WORKERS|1|; s|EVENTS||; s|HTTP|access_log off;|; s|LISTEN||; \
        s|LOCATION|proxy_pass https://127.0.0.1:9000; proxy_ssl_session_reuse off;|" nginx.in > nginx.conf
        "$P" target --listen 127.0.0.1:9000 --threads 1 --tls > /dev/null &
        nginx -p . -c "$PWD/nginx.conf" -e error.log & up http://127.0.0.1:9002/healthz
        load -c 12 -d 5s --observe proxy=nginx:http://127.0.0.1:9001/,log=$PWD/error.log http://127.0.0.1:9002/healthz"#,
    ),
    nginx(
        "blind: an access log that a slow shipper reads",
        &["proxy.access_log"],
        r#"sed 's/WORKERS/1/; s/EVENTS//; s/HTTP/access_log \/dev\/stdout;/; s/LISTEN//; s/LOCATION/return 200 ok;/' nginx.in > nginx.conf
        nginx -p . -c "$PWD/nginx.conf" -e error.log | python3 shipper.py & up http://127.0.0.1:9001/
        load -c 8 -d 5s --warmup 2s --observe proxy=nginx:http://127.0.0.1:9001/,log=$PWD/error.log http://127.0.0.1:9002/"#,
    ),
    haproxy(
        "blind: HAProxy lets 100 a second through",
        &["rate_limited"],
        r#"sed 's/FRONT/bind 127.0.0.1:9000\n  stick-table type ip size 1k expire 10s store http_req_rate(1s)/
        s/RULES/http-request deny deny_status 429 if { src_http_req_rate gt 100 }\n  http-request track-sc0 src\n  RULES/
        s/RULES/http-request return status 200 content-type text\/plain string ok/; s/BACK//' haproxy.in > haproxy.cfg
        haproxy -f haproxy.cfg -db & up http://127.0.0.1:9000/
        load -c 10 -R 300 -d 5s http://127.0.0.1:9000/"#,
    ),
    postgres(
        "blind: messages of a thread, without an index",
        &["db.missing_index"],
        r#"postgres_on; sql 'CREATE TABLE messages (id serial PRIMARY KEY, thread int NOT NULL, body text)'
        sql "INSERT INTO messages (thread, body) SELECT 1 + n % 20000, 'hello ' || n FROM generate_series(1, 300000) n"
        sql ANALYZE; ask 'SELECT count(*), max(id) FROM messages WHERE thread = %d'
        load -c 6 -d 6s --warmup 1s --observe db=$U http://127.0.0.1:9000/"#,
    ),
    mariadb(
        "blind: a plan of payments, computed in SQL",
        &["db.cpu"],
        r#"PIN='taskset -c 1'; maria; taskset -pc 0 $$ > /dev/null
        ask 'WITH RECURSIVE plan AS (SELECT 1 AS n, 200000e0 AS rest UNION ALL SELECT n + 1, rest * 1.0025 - %d / 20 FROM plan WHERE n < 900) SELECT SUM(rest) FROM plan'
        load -c 6 -d 6s --warmup 1s --observe db=$U --observe db/host=local:name=mariadbd http://127.0.0.1:9000/"#,
    ),
    mariadb(
        "blind: ten connections for forty users",
        &["db.connections"],
        r#"maria --max-connections=10; tell "USE shop; CREATE TABLE shop.users (id INT PRIMARY KEY, name TEXT); INSERT INTO shop.users \
        SELECT seq, CONCAT('user ', seq) FROM seq_1_to_20000"
        ask 'SELECT name FROM users WHERE id = %d'
        load -c 40 --pace 200ms -d 6s --warmup 1s --observe db=$U http://127.0.0.1:9000/"#,
    ),
    mariadb(
        "blind: one counter that all orders update",
        &["db.locks"],
        r#"maria; tell 'CREATE TABLE shop.counters (id INT PRIMARY KEY, n INT); INSERT INTO shop.counters VALUES (1, 0)'
        ask BEGIN 'UPDATE counters SET n = n + 1 WHERE id = 1' think COMMIT
        load -c 8 -d 6s --warmup 1s --observe db=$U http://127.0.0.1:9000/"#,
    ),
    mariadb(
        "blind: a procedure that waits",
        &["db.slow_statement"],
        r#"maria; tell 'CREATE PROCEDURE shop.settle() DO SLEEP(0.08)'; ask 'CALL settle()'
        load -c 5 -d 6s --warmup 1s --observe db=$U http://127.0.0.1:9000/"#,
    ),
    go(
        "blind: a payment service that takes one at a time",
        &["dependency.slow"],
        "python3 payment.py & ./service & up http://127.0.0.1:9000/pay\n\
         load -c 8 -d 5s http://127.0.0.1:9000/pay",
    ),
];

/// Two faults at once.
pub const DOUBLE: &[Rig] = &[
    apart(
        "blind: Python's own server, far away",
        &["conn.keepalive_off", "network.latency"],
        "unshare -n python3 standard.py & N=$!; sleep 0.5; python3 link.py $N delay=20 & up http://10.9.0.2:9000/\n\
         load -c 10 -d 6s --warmup 1s http://10.9.0.2:9000/",
    ),
    mariadb(
        "blind: scans, and ten connections for thirty users",
        &["db.missing_index", "db.connections"],
        r#"maria --max-connections=10; tell "USE shop; CREATE TABLE shop.visits (id INT PRIMARY KEY, user INT, page TEXT); INSERT INTO \
        shop.visits SELECT seq, 1 + seq % 20000, CONCAT('/page/', seq) FROM seq_1_to_200000"
        ask 'SELECT COUNT(id) FROM visits WHERE user = %d'
        load -c 30 --pace 300ms -d 6s --warmup 1s --observe db=$U http://127.0.0.1:9000/"#,
    ),
    python(
        "blind: a job in the event loop, and a short backlog",
        &["server.stall", "server.accept_queue"],
        "python3 loop.py wait 4 2.5 0.6 & up http://127.0.0.1:9000/\n\
         load -c 80 --no-keepalive -R 150 -T 5s -d 10s http://127.0.0.1:9000/",
    ),
    nginx(
        "blind: connections short on both sides of nginx",
        &["proxy.worker_connections", "proxy.upstream_keepalive"],
        r#"sed "s|WORKERS|1|; s|EVENTS|worker_connections 40;|; s|HTTP|access_log off;|; s|LISTEN||; \
        s|LOCATION|proxy_pass http://127.0.0.1:9000;|" nginx.in > nginx.conf
        api --threads 1; nginx -p . -c "$PWD/nginx.conf" -e error.log & up http://127.0.0.1:9002/healthz
        load -c 40 -T 2s -d 5s --think 30ms --observe proxy=nginx:http://127.0.0.1:9001/,log=$PWD/error.log \
        http://127.0.0.1:9002/delay/40ms"#,
    ),
];

/// All is well.
pub const HEALTHY: &[Rig] = &[
    python(
        "blind: polls of 400 ms",
        &[],
        "python3 loop.py poll & up http://127.0.0.1:9000/\n\
         load -c 50 --warmup 1s -d 5s http://127.0.0.1:9000/",
    ),
    haproxy(
        "blind: HAProxy before a server at 70 %",
        &[],
        r#"sed 's/FRONT/bind 127.0.0.1:9002/; s/RULES/default_backend one/; s/BACK/backend one\n server one 127.0.0.1:9000/' \
        haproxy.in > haproxy.cfg
        taskset -pc 1 $$ > /dev/null; api --threads 1; taskset -pc 0 $$ > /dev/null
        haproxy -f haproxy.cfg -db & up http://127.0.0.1:9002/healthz
        load -c 30 -R 87 --arrivals poisson -d 6s http://127.0.0.1:9002/cpu/8ms"#,
    ),
    python(
        "blind: 150 users who read for 700 ms",
        &[],
        "python3 loop.py wait & up http://127.0.0.1:9000/\n\
         load -c 150 --think 700ms --warmup 1s -d 5s http://127.0.0.1:9000/",
    ),
    go(
        "blind: a neighbour with the least of shares",
        &[],
        r#"G=/sys/fs/cgroup/cpu/plimsoll-blind-neighbour; mkdir -p $G; echo 2 > $G/cpu.shares
        for i in 1 2; do sh -c "echo 0 > $G/cgroup.procs; while :; do :; done" & B="$B $!"; done
        ./service & up http://127.0.0.1:9000/
        load -c 10 -R 100 -d 5s http://127.0.0.1:9000/login
        kill $B; wait $B || :; rmdir $G"#,
    ),
    go(
        "blind: downloads of 2 MB",
        &[],
        "head -c 2000000 /dev/urandom > page.html; ./service & up http://127.0.0.1:9000/\n\
         load -c 10 -R 20 -d 5s http://127.0.0.1:9000/page",
    ),
    postgres(
        "blind: messages of a thread, with an index",
        &[],
        r#"postgres_on; sql 'CREATE TABLE messages (id serial PRIMARY KEY, thread int NOT NULL, body text)'
        sql "INSERT INTO messages (thread, body) SELECT 1 + n % 20000, 'hello ' || n FROM generate_series(1, 300000) n"
        sql 'CREATE INDEX ON messages (thread)'; sql ANALYZE; ask 'SELECT count(*), max(id) FROM messages WHERE thread = %d'
        load -c 10 -R 100 -d 6s --warmup 1s --observe db=$U http://127.0.0.1:9000/"#,
    ),
    mariadb(
        "blind: users by their key, who write now and then",
        &[],
        r#"maria; tell "USE shop; CREATE TABLE shop.users (id INT PRIMARY KEY, name TEXT, seen INT DEFAULT 0); INSERT INTO shop.users \
        (id, name) SELECT seq, CONCAT('user ', seq) FROM seq_1_to_20000"
        ask 'SELECT name FROM users WHERE id = %d' 'UPDATE users SET seen = seen + 1 WHERE id = %d'
        load -c 10 --pace 200ms -d 6s --warmup 1s --observe db=$U http://127.0.0.1:9000/"#,
    ),
    haproxy(
        "blind: TLS that is kept open, below the limit",
        &[],
        r#"openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -keyout key -out cert 2> /dev/null; cat key cert > both
        sed 's/FRONT/bind 127.0.0.1:9000 ssl crt both\n  bind 127.0.0.1:9002\n  FRONT/
        s/FRONT/stick-table type ip size 1k expire 10s store http_req_rate(1s)/
        s/RULES/http-request deny deny_status 429 if { src_http_req_rate gt 300 }\n  http-request track-sc0 src\n  RULES/
        s/RULES/http-request return status 200 content-type text\/plain string ok/; s/BACK//' haproxy.in > haproxy.cfg
        haproxy -f haproxy.cfg -db & up http://127.0.0.1:9002/
        load -k -c 10 -R 150 -d 5s https://127.0.0.1:9000/"#,
    ),
    nginx(
        "blind: an access log that is buffered",
        &[],
        r#"sed 's/WORKERS/1/; s/EVENTS//; s/HTTP/access_log access.log combined buffer=64k flush=1s;/; s/LISTEN//
        s/LOCATION/return 200 ok;/' nginx.in > nginx.conf
        nginx -p . -c "$PWD/nginx.conf" -e error.log & up http://127.0.0.1:9001/
        load -c 8 -R 300 -d 5s --observe proxy=nginx:http://127.0.0.1:9001/,log=$PWD/error.log http://127.0.0.1:9002/"#,
    ),
];
