//! Databases, caches and logs that are watched: real ones, whose own figures are asked at the same time.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use testkit::databases::{Mariadb, Memcached, Postgres, Redis};
use testkit::needs;
use testkit::servers::{Nginx, NginxOptions};

use super::alike::claim;
use super::{codes, json, observed, source};
use crate::harness::{Folder, Target};

const WATCH: &str = "watch --stdio --every 200ms --for 2s";

/// The samples of one source, each after the schema.
fn samples(folder: &Folder, source: &str) -> Vec<Value> {
    let ended = folder.plimsoll(&format!("{WATCH} {source}"));
    let samples: Vec<Value> = ended.stdout.lines().map(json).collect();
    let read = samples.iter().any(|sample| sample["error"].is_null());
    assert_eq!(ended.code, i32::from(!read), "{ended:?}");
    for sample in &samples {
        folder.follows_schema("sample", sample);
    }
    samples
}

/// The last sample that was taken.
fn last(folder: &Folder, source: &str) -> Value {
    let samples = samples(folder, source);
    let taken = samples.into_iter().rev().find(|sample| sample["error"].is_null());
    taken.expect("a sample that was taken")
}

fn counter(sample: &Value, name: &str) -> u64 {
    sample["counters"][name].as_u64().unwrap_or_else(|| panic!("{name}: {sample}"))
}

const ORDERS: &str = "CREATE TABLE orders (id int PRIMARY KEY, user_id int, secret text)";

#[test]
fn postgres_tells_what_its_own_views_tell() {
    if !Postgres::is_there() {
        return;
    }
    let server = Postgres::start_with(&["shared_preload_libraries=pg_stat_statements"]);
    let server = server.expect("PostgreSQL starts");
    server.run("postgres", "CREATE DATABASE shop").expect("good SQL");
    let fill = "INSERT INTO orders SELECT n, n % 1000, 'x' FROM generate_series(1, 20000) n";
    for sql in ["CREATE EXTENSION pg_stat_statements", ORDERS, fill, "ANALYZE"] {
        server.run("shop", sql).expect("good SQL");
    }
    let find = "SELECT count(*) FROM orders WHERE user_id = 7 AND secret <> 'hunter2'";
    for _ in 0..5 {
        server.run("shop", find).expect("good SQL");
    }
    let folder = Folder::new();
    let sample = last(&folder, &server.url("shop"));
    // Sessions report what they did when they end, or a second later.
    let own = server.run("shop", "SELECT seq_tup_read FROM pg_stat_user_tables").expect("good SQL");
    assert_eq!(counter(&sample, "db.seq_rows{public.orders}").to_string(), own.trim());
    assert_eq!(sample["gauges"]["db.table_rows{public.orders}"], 20_000.0);
    assert_eq!(sample["gauges"]["db.connections_max"], 100.0);
    let shape = "SELECT count(*) FROM orders WHERE user_id = $1 AND secret <> $2";
    assert_eq!(counter(&sample, &format!("db.calls{{{shape}}}")), 5);
    assert!(!sample.to_string().contains("hunter2"), "{sample}");
    assert_eq!(sample["role"], "db");
    assert!(sample["cost_ns"].as_u64().is_some_and(|cost| cost < 100_000_000), "{sample}");
    claim("figures of PostgreSQL against its views", "rows read, rows, connections, calls");
}

/// Waits until a session waits for this.
#[track_caller]
fn waits(server: &Postgres, what: &str) {
    let sql = format!("SELECT count(*) FROM pg_stat_activity WHERE {what}");
    let waits = (0..1_200).any(|_| {
        thread::sleep(Duration::from_millis(50));
        server.run("shop", &sql).expect("good SQL").trim() == "1"
    });
    assert!(waits, "no session waits: {what}");
}

#[test]
fn locks_in_postgres_are_reported_with_who_holds_them() {
    if !Postgres::is_there() {
        return;
    }
    let server = Postgres::start().expect("PostgreSQL starts");
    server.run("postgres", "CREATE DATABASE shop").expect("good SQL");
    server
        .run("shop", &format!("{ORDERS}; INSERT INTO orders VALUES (1, 1, 'x')"))
        .expect("good SQL");
    let folder = Folder::new();
    let told = thread::scope(|scope| {
        let held = "BEGIN; UPDATE orders SET secret = 'hunter2'; SELECT pg_sleep(200); COMMIT";
        scope.spawn(|| server.run("shop", held));
        waits(&server, "wait_event = 'PgSleep'");
        scope.spawn(|| server.run("shop", "UPDATE orders SET secret = 'other' WHERE id = 1"));
        waits(&server, "wait_event_type = 'Lock'");
        let told = samples(&folder, &server.url("shop"));
        let end =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
        server.run("shop", end).expect("good SQL");
        told
    });
    let waiting = told.iter().find(|sample| sample["gauges"]["db.lock_waiters"] == 1.0);
    let waiting = waiting.unwrap_or_else(|| panic!("{told:?}"));
    let text = waiting["gauges"].to_string();
    assert!(text.contains("db.blocks_others{session ") && text.contains("pg_sleep"), "{text}");
    assert!(text.contains("db.waits{Lock: transactionid}"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
    assert!(waiting["missing"]["db.statements"].as_str().is_some_and(|why| why.contains("CREATE")));
}

#[test]
fn mariadb_tells_what_show_status_tells() {
    if !Mariadb::is_there() {
        return;
    }
    let server = Mariadb::start_with(&["--performance-schema=ON"]).expect("MariaDB starts");
    let rows = "INSERT INTO orders SELECT seq, seq % 1000, 'x' FROM seq_1_to_20000";
    let find = "SELECT count(*) FROM orders WHERE user_id = 7 AND secret <> 'hunter2'";
    server.run("", "CREATE DATABASE shop").expect("good SQL");
    for sql in [ORDERS, rows, find, find, find] {
        server.run("shop", sql).expect("good SQL");
    }
    let folder = Folder::new();
    let sample = last(&folder, &server.url("shop"));
    let own = server.run("", "SHOW GLOBAL STATUS LIKE 'Com_insert'").expect("good SQL");
    let own = own.split_whitespace().last().expect("a number").to_owned();
    assert_eq!(counter(&sample, "db.commands{insert}").to_string(), own);
    assert_eq!(counter(&sample, "db.seq_rows{shop.orders}"), 60_000);
    let calls = sample["counters"].as_object().expect("counters").iter();
    let calls: Vec<_> = calls
        .filter(|(name, n)| name.starts_with("db.calls{SELECT COUNT(*)") && **n == 3)
        .collect();
    assert_eq!(calls.len(), 1, "{sample}");
    assert!(sample["gauges"]["db.connections_max"].as_f64().is_some_and(|most| most > 1.0));
    assert!(!sample.to_string().contains("hunter2"), "{sample}");
    claim("figures of MariaDB against SHOW STATUS", "statements, rows read, calls");
}

#[test]
fn caches_tell_what_they_were_asked() {
    let folder = Folder::new();
    if Redis::is_there() {
        let server = Redis::start("hunter2").expect("Redis starts");
        for _ in 0..3 {
            server.run("hunter2", &["GET", "nothing"]).expect("an answer");
        }
        let sample = last(&folder, &server.url("hunter2"));
        assert_eq!(counter(&sample, "cache.calls{get}"), 3);
        assert_eq!(counter(&sample, "cache.misses"), 3);
        assert_eq!(sample["role"], "cache");
        let refused = samples(&folder, &server.url("wrongpass"));
        let text = refused[0].to_string();
        assert!(text.contains("WRONGPASS") && !text.contains("wrongpass"), "{text}");
    }
    if Memcached::is_there() {
        let server = Memcached::start().expect("memcached starts");
        let mut client = TcpStream::connect(("127.0.0.1", server.port())).expect("it listens");
        client.write_all(b"get a\r\nget b\r\n").expect("sent");
        let mut answer = [0; 10];
        client.read_exact(&mut answer).expect("answered");
        let sample = last(&folder, &server.url());
        assert_eq!(
            (counter(&sample, "cache.calls{get}"), counter(&sample, "cache.misses")),
            (2, 2)
        );
    }
}

#[test]
fn databases_that_refuse_are_gaps_and_their_passwords_are_nowhere() {
    if !Postgres::is_there() {
        return;
    }
    let server = Postgres::start().expect("PostgreSQL starts");
    let (folder, target) = (Folder::new(), Target::start());
    let line = format!("run {} -d 2s -c 2 --out out -q", target.url("/healthz"));
    let wrong = server.url("nix").replace("postgres@", "postgres:hunter2@");
    let nobody = "db/two=mysql://root:hunter2@127.0.0.1:1/x";
    let ended = observed(&folder, &line, &[&wrong, nobody, "cache=redis://:hunter2@127.0.0.1:1"]);
    let ended = ended.measured();
    let run = json(&folder.text("out/run.json"));
    let gaps = |name: &str| source(&run, name)["gaps"].to_string();
    assert!(gaps("db").contains("database \\\"nix\\\" does not exist"), "{}", gaps("db"));
    assert!(gaps("two").contains("MySQL: "), "{}", gaps("two"));
    assert!(gaps("cache").contains("cannot connect to 127.0.0.1:1"), "{}", gaps("cache"));
    for name in ["run.json", "samples.jsonl", "report.html"] {
        assert!(!folder.text(&format!("out/{name}")).contains("hunter2"), "{name}");
    }
    assert!(!(ended.stdout + &ended.stderr).contains("hunter2"));
}

#[test]
fn nginx_is_read_by_its_page_and_its_error_log() {
    if !needs::has("nginx") {
        return;
    }
    let options = NginxOptions {
        extra: "location /late { proxy_read_timeout 1s; proxy_pass http://127.0.0.1:1; }".into(),
        ..NginxOptions::default()
    };
    let nginx = Nginx::start(&options).expect("nginx starts");
    let folder = Folder::new();
    let line = format!("run http://{}/late -R 20 -c 2 --out out -q -d 3s", nginx.addr());
    let of =
        format!("proxy=nginx:http://{}/,log={}", nginx.status_addr(), nginx.error_log().display());
    observed(&folder, &line, &[&of]);
    let run = json(&folder.text("out/run.json"));
    let figures = &source(&run, "proxy")["figures"];
    assert!(figures["nginx.requests"]["growth"].is_f64(), "{figures}");
    let refused = &figures["nginx.log{upstream refused}"]["growth"];
    assert!(refused.as_f64().is_some_and(|lines| lines > 0.0), "{figures}");
    assert!(!codes(&folder, "out").is_empty());
}
