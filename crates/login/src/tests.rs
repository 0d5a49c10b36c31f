//! URLs, and the files beside them.

use std::os::unix::fs::PermissionsExt;

use super::*;

fn parse(url: &str, set: &[(&str, &str)], home: Option<&Path>) -> Result<Address> {
    let variable =
        |name: &str| set.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned());
    Address::parse(url, Environment { variable: &variable, home })
}

fn password(address: &Address) -> Option<String> {
    match address {
        Address::Postgres(login) => {
            login.config.get_password().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        }
        Address::Mysql(opts) => opts.get_pass().map(str::to_owned),
        Address::Sqlite(_) => None,
    }
}

#[test]
fn passwords_are_masked() {
    for (url, wanted) in [
        ("postgres://ann:hunter2@h:5432/shop", "postgres://ann:***@h:5432/shop"),
        ("postgres://ann:hun@ter2@h/shop", "postgres://ann:***@h/shop"),
        ("postgres://ann:hun/ter2@h/shop", "postgres://ann:***@h/shop"),
        ("postgres://h/shop?user=ann&password=hunter2", "postgres://h/shop?user=ann&password=***"),
        ("mysql://ann@h/shop", "mysql://ann@h/shop"),
        ("sqlite:shop.db", "sqlite:shop.db"),
    ] {
        assert_eq!(masked(url), wanted);
    }
    let address = parse("postgres://ann:hunter2@h/shop", &[], None).unwrap();
    assert!(!format!("{address:?}").contains("hunter2"));
    for url in [
        "postgres://ann:hunter2@h:port/shop",
        "mysql://ann:hunter2@h:port/shop",
        "oracle://ann:hunter2@h/x",
    ] {
        let why = parse(url, &[], None).unwrap_err().to_string();
        assert!(!why.contains("hunter2"), "{why}");
    }
}

#[test]
fn passwords_come_from_url_environment_and_files() {
    let home = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str, mode: u32| {
        let path = home.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    };
    file(".pgpass", "# a\nother:*:*:*:no\nh:5432:shop:ann:from\\:file\n", 0o600);
    file(
        ".my.cnf",
        "[mysql]\npassword=no\n[client]\nuser = bob\npassword=first\npassword = \"my file\"\n",
        0o600,
    );
    let url = "postgres://ann@h/shop";
    let found =
        |url: &str, set: &[(&str, &str)]| password(&parse(url, set, Some(home.path())).unwrap());
    assert_eq!(
        found("postgres://ann:url@h/shop", &[("PGPASSWORD", "env")]).as_deref(),
        Some("url")
    );
    assert_eq!(found(url, &[("PGPASSWORD", "env")]).as_deref(), Some("env"));
    assert_eq!(found(url, &[]).as_deref(), Some("from:file"));
    assert_eq!(found("postgres://eve@h/shop", &[]), None);
    assert_eq!(found("mysql://ann@h/shop", &[("MYSQL_PWD", "env")]).as_deref(), Some("env"));
    assert_eq!(found("mysql://h/shop", &[]).as_deref(), Some("my file"));
    file(".pgpass", "*:*:*:*:open\n", 0o644);
    assert_eq!(found(url, &[]), None, "a file that others may read is passed over");
    file(".my.cnf", "[client]\npassword=open\n", 0o644);
    assert_eq!(found("mysql://h/shop", &[]).as_deref(), Some("open"), "MySQL reads it too");
    file(".my.cnf", "[client]\npassword=open\n", 0o666);
    assert_eq!(found("mysql://h/shop", &[]), None, "what everyone may write is passed over");
}

#[test]
fn a_password_file_that_is_passed_over_is_named() {
    let home = tempfile::tempdir().unwrap();
    let file = |name: &str, mode: u32| {
        let path = home.path().join(name);
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let said = |url: &str, password: Option<&str>| {
        let variable = |name: &str| password.filter(|_| name == "PGPASSWORD").map(str::to_owned);
        let environment = Environment { variable: &variable, home: Some(home.path()) };
        Address::parse(url, environment).unwrap().passed_over(environment)
    };
    let (postgres, mysql) = ("postgres://ann@h/shop", "mysql://ann@h/shop");
    assert_eq!(said(postgres, None), None, "there is none");
    for (mode, of_postgres, of_mysql) in
        [(0o600, false, false), (0o640, true, false), (0o644, true, false), (0o666, true, true)]
    {
        file(".pgpass", mode);
        file(".my.cnf", mode);
        assert_eq!(said(postgres, None).is_some(), of_postgres, "{mode:o}");
        assert_eq!(said(mysql, None).is_some(), of_mysql, "{mode:o}");
        assert_eq!(said(postgres, Some("pw")), None, "it is not needed");
    }
    let why = said(postgres, None).unwrap();
    let path = home.path().join(".pgpass");
    assert!(why.contains("is not used"), "{why}");
    assert!(why.ends_with(&format!("chmod 600 {}", path.display())), "{why}");
}

#[test]
fn options_are_read_as_mysql_reads_them() {
    for (line, wanted) in [
        ("password=x", Some("x")),
        ("  password = x  ", Some("x")),
        ("password=\"x\" # c", Some("x")),
        ("password='x'#c", Some("x")),
        ("password=x # c", Some("x")),
        ("password=x#y", Some("x")),
        ("password=\"x # y\"", Some("x # y")),
        (r##"password="x\"#y" # c"##, Some("x\"#y")),
        (r"password=a\sb\tc\\d\qe\", Some("a b\tc\\d\\qe\\")),
        ("password=\"x", Some("\"x")),
        ("password=\"", Some("\"")),
        ("password=", Some("")),
        ("#password=x", None),
        ("; password=x", None),
        ("password # = x", None),
        ("loose-password=x", None),
    ] {
        let text =
            format!("[mysql]\npassword=no\n[Client] # ours\n{line}\n[mysqld]\npassword=no\n");
        assert_eq!(option(&text, "password").as_deref(), wanted, "{line}");
    }
}

#[test]
fn what_is_not_supported_is_said() {
    for (url, word) in [
        ("postgres://h/shop?sslmode=verify", "verify-full"),
        ("postgres://h/shop?sslmode=verify-ca", "sslrootcert=FILE"),
        ("postgres://h/shop?sslmode=verify-ca&sslrootcert=system", "verify-full"),
        ("postgres://h/shop?sslmode=require&sslrootcert=/no/such/ca.pem", "/no/such/ca.pem"),
        ("postgres://h/shop?sslmode=verify-full&sslcert=own.pem", "sslcert"),
        ("mysql://h/shop?ssl-mode=ON", "VERIFY_IDENTITY"),
        ("mysql://h/shop?ssl-ca=/no/such/ca.pem", "/no/such/ca.pem"),
        ("postgres://ann:pw@h:99999/shop", "its port is not between 1 and 65535"),
        ("postgres://h/shop?port=99999", "its port is not between 1 and 65535"),
        ("mysql://h:65536/shop", "its port is not between 1 and 65535"),
        ("sqlite:/no/such/file.db", "no such file"),
        ("shop.db", "sqlite:FILE"),
    ] {
        let why = parse(url, &[], None).unwrap_err().to_string();
        assert!(why.contains(word), "{url}: {why}");
    }
    let why = parse("postgres:///shop", &[("PGPORT", "99999")], None).unwrap_err().to_string();
    assert!(why.contains("PGPORT: its port"), "{why}");
}

/// The mode of PostgreSQL's client, or what the options of MySQL's are: with and without a check.
fn tls(url: &str, set: &[(&str, &str)], home: Option<&Path>) -> String {
    match parse(url, set, home).unwrap() {
        Address::Postgres(login) => {
            assert_eq!(login.tls.is_some(), login.config.get_ssl_mode() != SslMode::Disable);
            format!("{:?}", login.config.get_ssl_mode())
        }
        Address::Mysql(opts) => match opts.get_ssl_opts() {
            None => "none".to_owned(),
            Some(tls) if tls.accept_invalid_certs() => "unchecked".to_owned(),
            Some(tls) => format!("checked by {:?}", tls.root_cert_path()),
        },
        Address::Sqlite(_) => String::new(),
    }
}

#[test]
fn tls_is_spoken_where_url_environment_or_files_ask_for_it() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".my.cnf");
    fs::write(&file, "[client]\nssl-mode=REQUIRED\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    for (url, set, home, wanted) in [
        ("postgres://h/shop", &[][..], None, "Disable"),
        ("postgres://h/shop?sslmode=allow", &[], None, "Disable"),
        ("postgres://h/shop?sslmode=prefer&application_name=a", &[], None, "Prefer"),
        ("postgres://h/shop?sslmode=require", &[], None, "Require"),
        ("postgres://h/shop?sslmode=verify-full", &[], None, "Require"),
        ("postgres://h/shop", &[("PGSSLMODE", "require")], None, "Require"),
        ("postgres://h/shop?sslmode=disable", &[("PGSSLMODE", "require")], None, "Disable"),
        ("postgres://%2Frun%2Fpostgresql/shop?sslmode=require", &[], None, "Disable"),
        ("mysql://h/shop", &[], None, "none"),
        ("mysql://h/shop?ssl-mode=DISABLED", &[], None, "none"),
        ("mariadb://h/shop?ssl-mode=preferred", &[], None, "none"),
        ("mysql://h/shop?ssl-mode=REQUIRED", &[], None, "unchecked"),
        ("mysql://h/shop?ssl-mode=VERIFY_IDENTITY", &[], None, "checked by None"),
        ("mysql://h/shop", &[], Some(home.path()), "unchecked"),
        ("mysql://h/shop?ssl-mode=DISABLED", &[], Some(home.path()), "none"),
    ] {
        assert_eq!(tls(url, set, home), wanted, "{url}");
    }
}
