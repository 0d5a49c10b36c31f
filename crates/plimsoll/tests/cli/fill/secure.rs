//! Fills over TLS: encrypted where that is asked for, and of no server whose certificate is not the one asked for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fill::{Address, Environment};
use testkit::databases::{Mariadb, Postgres, Signer};
use testkit::needs;

use crate::harness::Folder;

const USERS: &str = "CREATE TABLE users (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL)";

/// What a query says over a connection by this URL, or why there is none.
fn asked(url: &str, sql: &str) -> Result<String, String> {
    let address = Address::parse(url, Environment::EMPTY).map_err(|wrong| wrong.to_string())?;
    let mut database = fill::connect(&address).map_err(|error| error.to_string())?;
    let rows = fill::all(&mut *database, sql).map_err(|error| error.to_string())?;
    Ok(rows[0].last().cloned().flatten().unwrap_or_default())
}

/// A statement that takes a minute is ended over a connection of its own, as Ctrl-C does it.
fn is_ended(url: &str, sql: &str) {
    let address = Address::parse(url, Environment::EMPTY).expect("a good URL");
    let mut database = fill::connect(&address).expect("a connection");
    let (cancel, over, began) = (database.canceller(), AtomicBool::new(false), Instant::now());
    let over = &over;
    thread::scope(|scope| {
        scope.spawn(move || {
            while !over.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(300));
                cancel();
            }
        });
        // Some databases say that it was ended, and some only end it.
        let _ = database.execute(sql);
        over.store(true, Ordering::SeqCst);
    });
    assert!(began.elapsed() < Duration::from_secs(30), "{url}: {:?}", began.elapsed());
}

fn postgres(server: &Postgres) {
    const TLS: &str = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    server.run("postgres", "CREATE DATABASE shop").expect("a database");
    server.run("shop", USERS).expect("good SQL");
    let address = server.url("shop");
    let named = address.replace("127.0.0.1", "localhost");
    let root = format!("sslrootcert={}", server.authority().display());
    for (url, secure) in [
        (address.clone(), "f"),
        (format!("{address}?sslmode=prefer"), "t"),
        (format!("{address}?sslmode=require"), "t"),
        (format!("{address}?sslmode=require&{root}"), "t"),
        (format!("{address}?sslmode=verify-ca&{root}"), "t"),
        (format!("{named}?sslmode=verify-full&{root}"), "t"),
    ] {
        assert_eq!(asked(&url, TLS).as_deref(), Ok(secure), "{url}");
    }
    // Signed by nobody who is known, and by somebody for another name.
    for url in [
        format!("{named}?sslmode=verify-full&sslrootcert=system"),
        format!("{address}?sslmode=verify-full&{root}"),
    ] {
        let why = asked(&url, TLS).expect_err(&url);
        assert!(why.contains("certificate"), "{url}: {why}");
    }
    let url = format!("{named}?sslmode=verify-full&{root}");
    is_ended(&url, "SELECT pg_sleep(60)");
    is_ended(&format!("{address}?sslmode=prefer"), "SELECT pg_sleep(60)");
    let folder = Folder::new();
    folder.plimsoll(&format!("fill {url} --rows users=500 --yes-to shop")).ok();
    assert_eq!(asked(&url, "SELECT count(*) FROM users").as_deref(), Ok("500"));
    folder.plimsoll(&format!("watch --stdio --every 100ms --for 300ms {url}")).ok();
}

#[test]
fn postgres_over_tls_with_a_certificate_of_an_authority() {
    if Postgres::is_there() && needs::has("openssl") {
        postgres(&Postgres::start_secure(Signer::Authority).expect("PostgreSQL starts"));
    }
}

#[test]
fn postgres_over_tls_with_a_certificate_of_its_own() {
    if Postgres::is_there() && needs::has("openssl") {
        postgres(&Postgres::start_secure(Signer::Itself).expect("PostgreSQL starts"));
    }
}

/// As with libpq, a certificate that was named is refused after its end too.
#[test]
fn an_expired_certificate_is_refused() {
    if !(Postgres::is_there() && needs::has("openssl")) {
        return;
    }
    let server = Postgres::start_secure(Signer::ItselfExpired).expect("PostgreSQL starts");
    let url = server.url("postgres").replace("127.0.0.1", "localhost");
    let ready = (0..200).any(|_| {
        thread::sleep(Duration::from_millis(50));
        server.run("postgres", "SELECT 1").is_ok()
    });
    assert!(ready);
    assert_eq!(asked(&format!("{url}?sslmode=require"), "SELECT 1").as_deref(), Ok("1"));
    let root = server.authority().display().to_string();
    for mode in ["verify-ca", "verify-full"] {
        let why = asked(&format!("{url}?sslmode={mode}&sslrootcert={root}"), "SELECT 1");
        let why = why.expect_err(mode);
        assert!(why.contains("certificate") && why.contains("xpired"), "{mode}: {why}");
    }
}

#[test]
fn mariadb_over_tls() {
    const TLS: &str = "SHOW SESSION STATUS LIKE 'Ssl_version'";
    if !(Mariadb::is_there() && needs::has("openssl")) {
        return;
    }
    let server = Mariadb::start_secure(Signer::Authority).expect("MariaDB starts");
    server.run("", "CREATE DATABASE shop").expect("a database");
    server.run("shop", USERS).expect("good SQL");
    let address = server.url("shop");
    let named = address.replace("127.0.0.1", "localhost");
    let root = format!("ssl-ca={}", server.authority().display());
    assert_eq!(asked(&address, TLS).as_deref(), Ok(""));
    for url in [
        format!("{address}?ssl-mode=REQUIRED"),
        format!("{named}?ssl-mode=VERIFY_IDENTITY&{root}"),
        format!("{named}?{root}"),
    ] {
        let version = asked(&url, TLS).expect(&url);
        assert!(version.starts_with("TLSv1."), "{url}: {version}");
    }
    // The client library trusts public authorities too, so that the name always counts.
    for url in [
        format!("{named}?ssl-mode=VERIFY_IDENTITY"),
        format!("{address}?ssl-mode=VERIFY_IDENTITY&{root}"),
        format!("{address}?ssl-mode=VERIFY_CA&{root}"),
    ] {
        let why = asked(&url, TLS).expect_err(&url);
        assert!(why.contains("certificate"), "{url}: {why}");
    }
    let url = format!("{named}?ssl-mode=VERIFY_IDENTITY&{root}");
    is_ended(&url, "SELECT SLEEP(60)");
    let folder = Folder::new();
    folder.plimsoll(&format!("fill {url} --rows users=500 --yes-to shop")).ok();
    assert_eq!(asked(&url, "SELECT count(*) FROM users").as_deref(), Ok("500"));
    folder.plimsoll(&format!("watch --stdio --every 100ms --for 300ms {url}")).ok();
}

#[test]
fn a_server_without_tls_is_refused_where_tls_is_asked_for() {
    if Postgres::is_there() {
        let server = Postgres::start().expect("PostgreSQL starts");
        let url = server.url("postgres");
        let ready = (0..200).any(|_| {
            thread::sleep(Duration::from_millis(50));
            server.run("postgres", "SELECT 1").is_ok()
        });
        assert!(ready);
        assert_eq!(asked(&format!("{url}?sslmode=prefer"), "SELECT 1").as_deref(), Ok("1"));
        let why = asked(&format!("{url}?sslmode=require"), "SELECT 1").expect_err("no TLS");
        assert!(why.contains("TLS"), "{why}");
    }
}
