//! Rigs with databases, caches and what else a server waits for: the case study's shop on PostgreSQL, Redis, nginx
//! before a slow server.

use crate::rig::Rig;

/// The shop on a PostgreSQL of its own: `database SETTING...`, `shop ARGUMENT...`, `sql SQL`. Programs are started as
/// the user of PostgreSQL's package, whose folder must be open to it.
const SHOP: &str = "chmod 755 .; PATH=$PGBIN:$PATH; D=$PWD/pg; mkdir $D; chown postgres $D\n\
    U='postgres://postgres@127.0.0.1:5433/postgres?sslmode=disable'\n\
    sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 \"$U\" -c \"$1\" > /dev/null; }\n\
    database() { AS='setpriv --reuid postgres --regid postgres --clear-groups'; C=; for S in \"$@\"; do C=\"$C -c $S\"; done\n\
    $AS initdb -A trust -U postgres -E UTF8 --locale=C -N -D $D/data > /dev/null\n\
    $AS $PIN postgres -D $D/data -k $D -h 127.0.0.1 -p 5433 -c fsync=off \
    -c shared_preload_libraries=pg_stat_statements $C > pg.log 2>&1 &\n\
    i=0; until sql 'CREATE EXTENSION pg_stat_statements' 2> /dev/null; do i=$((i+1)); [ $i -lt 100 ]; sleep 0.1; done\n\
    \"$SHOP\" init -database $U; }\n\
    shop() { \"$SHOP\" -database $U -listen 127.0.0.1:9000 \"$@\" > /dev/null & up http://127.0.0.1:9000/healthz; }\n\
    load() { \"$P\" run -q -t 1 -d 6s --warmup 1s --out out --observe db=$U \"$@\" > /dev/null || :; }\n";

/// A server that asks Redis for what the file `command` holds, with a connection to it for each of its own.
const ON_REDIS: &str = "\
import socket
from server_of import OK, each
command = open('command', 'rb').read()
def serve(c):
    r = socket.create_connection(('127.0.0.1', 6390))
    while c.recv(65536):
        r.sendall(command)
        r.recv(65536)
        c.sendall(OK)
each(serve)
";

/// A server that serves one connection after the other, or with `threads` as many at once as there are.
const BLOCKING: &str = "\
import http.server, sys, time
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        time.sleep(0.005)
        self.send_response(200)
        self.send_header('Content-Length', '2')
        self.end_headers()
        self.wfile.write(b'ok')
    def log_message(self, *words):
        pass
one = http.server.ThreadingHTTPServer if 'threads' in sys.argv else http.server.HTTPServer
one.request_queue_size = 128
one(('127.0.0.1', 9000), Answer).serve_forever()
";

/// nginx before a server.
const PROXY: &str = "\
worker_rlimit_nofile FILES;
events { worker_connections CONNECTIONS; }
http {
  access_log off; keepalive_requests 1000000;
  include http.inc;
  upstream api { server 127.0.0.1:9000; keepalive 64; }
  server { listen 127.0.0.1:9002 backlog=4096; location / { proxy_pass http://api; proxy_http_version 1.1;
    proxy_set_header Connection ''; proxy_read_timeout 300ms; } }
}
";

const fn shop(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    Rig { name, codes, needs: &["initdb", "psql", "go"], files: &[], before: SHOP, script }
}

const fn redis(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    let files = &[("server.py", ON_REDIS)];
    Rig { name, codes, needs: &["redis-server", "python3"], files, before: "", script }
}

const fn blocking(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    Rig { name, codes, needs: &["python3"], files: &[("server.py", BLOCKING)], before: "", script }
}

const fn proxy(name: &'static str, codes: &'static [&'static str], script: &'static str) -> Rig {
    Rig { name, codes, needs: &["nginx"], files: &[("nginx.in", PROXY)], before: "", script }
}

/// One fault each.
pub const SINGLE: &[Rig] = &[
    shop(
        "an index was dropped",
        &["db.missing_index"],
        "database; sql 'INSERT INTO orders (user_id, status) SELECT 1 + n % 1600, $$paid$$ FROM generate_series(1, 200000) n'\n\
         sql 'DROP INDEX orders_user'; sql ANALYZE; shop\n\
         load -c 4 http://127.0.0.1:9000/api/v1/users/7/orders; confirm",
    ),
    shop(
        "a row locked by another session",
        &["db.locks"],
        "database; shop\n\
         while :; do echo 'BEGIN; SELECT id FROM products WHERE id = 1 FOR UPDATE;'; sleep 0.5; echo 'COMMIT;'; sleep 0.02; \
         done | psql -X -q \"$U\" > /dev/null & sleep 0.5\n\
         load -c 6 -T 5s -X POST -H 'Content-Type: application/json' -b '{\"user\": 1, \"product\": 1, \"quantity\": 1}' \
         http://127.0.0.1:9000/api/v1/orders",
    ),
    shop(
        "a row locked all the time",
        &["db.locks"],
        "database; shop\n\
         (echo 'BEGIN; SELECT id FROM products WHERE id = 1 FOR UPDATE;'; sleep 60) | psql -X -q \"$U\" > /dev/null & sleep 0.5\n\
         load -c 6 -T 1s -X POST -H 'Content-Type: application/json' -b '{\"user\": 1, \"product\": 1, \"quantity\": 1}' \
         http://127.0.0.1:9000/api/v1/orders",
    ),
    shop(
        "few connections allowed",
        &["db.connections"],
        "database max_connections=8; \n\
         sql 'ALTER TABLE users RENAME TO users_t'; sql 'CREATE VIEW users AS SELECT id, name, email, \
         city || left(pg_sleep(0.005)::text, 0) AS city, created_at FROM users_t'; shop -connections 40\n\
         load -c 20 http://127.0.0.1:9000/api/v1/users/7",
    ),
    shop(
        "a statement that takes 50 ms",
        &["db.slow_statement"],
        "database; sql 'ALTER TABLE users RENAME TO users_t'; sql 'CREATE VIEW users AS SELECT id, name, email, \
         city || left(pg_sleep(0.05)::text, 0) AS city, created_at FROM users_t'; shop\n\
         load -c 6 http://127.0.0.1:9000/api/v1/users/7; confirm",
    ),
    shop(
        "all processors of the database",
        &["db.cpu"],
        "PIN='taskset -c 1'; database; taskset -pc 0 $$ > /dev/null\n\
         sql 'CREATE FUNCTION burn() RETURNS text LANGUAGE sql VOLATILE AS $$SELECT left(max(md5(n::text)), 0) FROM \
         generate_series(1, 3000) n$$'\n\
         sql 'ALTER TABLE users RENAME TO users_t'; sql 'CREATE VIEW users AS SELECT id, name, email, city || burn() AS city, \
         created_at FROM users_t'; shop\n\
         load -c 8 --observe db/host=local:name=postgres http://127.0.0.1:9000/api/v1/users/7",
    ),
    redis(
        "a cache that works all the time",
        &["dependency.slow"],
        "taskset -c 1 redis-server --port 6390 --bind 127.0.0.1 --save '' > /dev/null & taskset -pc 0 $$ > /dev/null\n\
         python3 -c 't = \"local x = 0; for i = 1, 300000 do x = x + i end return x\"; \
         open(\"command\", \"w\", newline=\"\").write(\"*3\\r\\n$4\\r\\nEVAL\\r\\n$%d\\r\\n%s\\r\\n$1\\r\\n0\\r\\n\" % (len(t), t))'\n\
         sleep 1; serve\n\
         \"$P\" run -q -c 8 -t 1 -d 5s --warmup 1s --out out --observe redis://127.0.0.1:6390 http://127.0.0.1:9000/ > /dev/null || :",
    ),
    blocking(
        "one worker for eight users",
        &["server.too_few_workers"],
        "python3 server.py & sleep 1; up http://127.0.0.1:9000/\n\
         \"$P\" run -q -c 8 -t 1 -d 5s -T 2s --out out http://127.0.0.1:9000/ > /dev/null || :",
    ),
    proxy(
        "no keep-alive to the server behind nginx",
        &["proxy.upstream_keepalive"],
        "sed 's/FILES/1024/; s/CONNECTIONS/1024/; s/keepalive 64;//; s/proxy_http_version 1.1;//' nginx.in > nginx.conf\n\
         sed -i \"s/proxy_set_header Connection '';//\" nginx.conf; api --threads 1\n\
         web http://127.0.0.1:9001/\n\
         \"$P\" run -q -c 10 -t 1 -R 300 -d 5s --out out --observe proxy=nginx:http://127.0.0.1:9001/,log=$PWD/error.log \
         http://127.0.0.1:9002/delay/5ms > /dev/null || :",
    ),
    proxy(
        "a slow server behind nginx",
        &["dependency.slow"],
        "sed 's/FILES/1024/; s/CONNECTIONS/1024/' nginx.in > nginx.conf; api --threads 1\n\
         web http://127.0.0.1:9001/\n\
         \"$P\" run -q -c 10 -t 1 -d 5s --out out --observe proxy=nginx:http://127.0.0.1:9001/,log=$PWD/error.log \
         http://127.0.0.1:9002/delay/2s > /dev/null || :",
    ),
    proxy(
        "too few worker_connections",
        &["proxy.worker_connections"],
        "sed 's/FILES/1024/; s/CONNECTIONS/30/' nginx.in > nginx.conf; api --threads 1\n\
         web http://127.0.0.1:9001/\n\
         \"$P\" run -q -c 60 -t 1 -d 5s -T 1s --pace 100ms --out out \
         --observe proxy=nginx:http://127.0.0.1:9001/,log=$PWD/error.log http://127.0.0.1:9002/delay/20ms > /dev/null || :",
    ),
    proxy(
        "too few files for nginx",
        &["server.files"],
        "sed 's/FILES/40/; s/CONNECTIONS/1024/' nginx.in > nginx.conf; api --threads 1\n\
         web http://127.0.0.1:9001/\n\
         \"$P\" run -q -c 60 -t 1 -d 5s -T 1s --pace 100ms --out out \
         --observe proxy=nginx:http://127.0.0.1:9001/,log=$PWD/error.log http://127.0.0.1:9002/delay/20ms > /dev/null || :",
    ),
];

/// All is well.
pub const HEALTHY: &[Rig] = &[
    shop(
        "an index that is used",
        &[],
        "database; sql 'INSERT INTO orders (user_id, status) SELECT 1 + n % 1600, $$paid$$ FROM generate_series(1, 200000) n'\n\
         sql ANALYZE; shop\n\
         load -c 4 -R 100 http://127.0.0.1:9000/api/v1/users/7/orders",
    ),
    shop(
        "orders without a lock between them",
        &[],
        "database max_connections=50; shop\n\
         load -c 6 -R 40 -X POST -H 'Content-Type: application/json' -b '{\"user\": 1, \"product\": 1, \"quantity\": 1}' \
         http://127.0.0.1:9000/api/v1/orders",
    ),
    blocking(
        "a thread for each user",
        &[],
        "python3 server.py threads & sleep 1; up http://127.0.0.1:9000/\n\
         \"$P\" run -q -c 8 -t 1 --pace 100ms --warmup 1s -d 5s -T 2s --out out http://127.0.0.1:9000/ > /dev/null || :",
    ),
    redis(
        "a cache with room",
        &[],
        "redis-server --port 6390 --bind 127.0.0.1 --save '' > /dev/null &\n\
         printf '*2\\r\\n$3\\r\\nGET\\r\\n$1\\r\\na\\r\\n' > command; sleep 1; serve\n\
         \"$P\" run -q -c 8 -t 1 -R 100 -d 5s --warmup 1s --out out --observe redis://127.0.0.1:6390 http://127.0.0.1:9000/ \
         > /dev/null || :",
    ),
    proxy(
        "a server behind nginx that is quick enough",
        &[],
        "sed 's/FILES/1024/; s/CONNECTIONS/1024/' nginx.in > nginx.conf; api --threads 1\n\
         web http://127.0.0.1:9001/\n\
         \"$P\" run -q -c 10 -t 1 -R 60 -d 5s --out out --observe proxy=nginx:http://127.0.0.1:9001/,log=$PWD/error.log \
         http://127.0.0.1:9002/delay/50ms > /dev/null || :",
    ),
];
