//! A database of each kind, and what tests ask of it.

use fill::{Address, Database, Environment};
use testkit::databases::{Mariadb, Postgres};

use crate::harness::{Ended, Folder};

/// A database with a schema in it.
pub struct Engine {
    pub folder: Folder,
    pub url: String,
    kind: Kind,
}

enum Kind {
    Postgres(Postgres),
    Mariadb(Mariadb),
    Sqlite,
}

impl Engine {
    /// SQLite.
    pub fn sqlite(sql: &str) -> Self {
        let folder = Folder::new();
        folder.put("shop.db", "");
        let url = format!("sqlite:{}", folder.path().join("shop.db").display());
        let engine = Self { folder, url, kind: Kind::Sqlite };
        engine.run(sql);
        engine
    }

    /// PostgreSQL; none where it is not installed.
    pub fn postgres(sql: &str) -> Option<Self> {
        if !Postgres::is_there() {
            return None;
        }
        let server = Postgres::start().expect("PostgreSQL starts");
        server.run("postgres", "CREATE DATABASE shop").expect("a database");
        let engine =
            Self { folder: Folder::new(), url: server.url("shop"), kind: Kind::Postgres(server) };
        engine.run(sql);
        Some(engine)
    }

    /// MariaDB; none where it is not installed.
    pub fn mariadb(sql: &str, local_files: bool) -> Option<Self> {
        if !Mariadb::is_there() {
            return None;
        }
        let server = Mariadb::start(local_files).expect("MariaDB starts");
        server.run("", "CREATE DATABASE shop CHARACTER SET utf8mb4").expect("a database");
        let engine =
            Self { folder: Folder::new(), url: server.url("shop"), kind: Kind::Mariadb(server) };
        engine.run(sql);
        Some(engine)
    }

    /// A connection of our own.
    pub fn connect(&self) -> Box<dyn Database> {
        let environment = Environment { variable: &|_| None, home: None };
        let address = Address::parse(&self.url, environment).expect("a good URL");
        fill::connect(&address).expect("a connection")
    }

    /// Runs SQL.
    pub fn run(&self, sql: &str) {
        match &self.kind {
            Kind::Postgres(server) => drop(server.run("shop", sql).expect("good SQL")),
            Kind::Mariadb(server) => drop(server.run("shop", sql).expect("good SQL")),
            Kind::Sqlite => {
                let mut database = self.connect();
                for statement in sql.split(";\n").filter(|part| !part.trim().is_empty()) {
                    database.execute(statement).expect("good SQL");
                }
            }
        }
    }

    /// The rows of a query, as text.
    pub fn rows(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        fill::all(&mut *self.connect(), sql).expect("good SQL")
    }

    /// The number of a query.
    #[track_caller]
    pub fn number(&self, sql: &str) -> f64 {
        let rows = self.rows(sql);
        rows[0][0].as_deref().expect("not NULL").parse().expect("a number")
    }

    /// Everything in it, as its own program prints it.
    pub fn dump(&self) -> String {
        match &self.kind {
            Kind::Postgres(server) => server.dump("shop").expect("a dump"),
            Kind::Mariadb(server) => server.dump("shop").expect("a dump"),
            Kind::Sqlite => {
                let mut text = String::new();
                let tables = self.rows("SELECT name, sql FROM sqlite_master ORDER BY name");
                for table in tables {
                    text += &format!("{table:?}\n");
                    let name = table[0].as_deref().unwrap();
                    if table[1].as_deref().is_some_and(|sql| sql.starts_with("CREATE TABLE")) {
                        let mut rows =
                            self.rows(&format!("SELECT * FROM \"{}\"", name.replace('"', "\"\"")));
                        rows.sort();
                        text += &format!("{rows:?}\n");
                    }
                }
                text
            }
        }
    }

    /// The rows of these tables, in an order of their own.
    pub fn contents(&self, tables: &[&str]) -> Vec<Vec<Vec<Option<String>>>> {
        let quote = if matches!(self.kind, Kind::Mariadb(_)) { '`' } else { '"' };
        let rows = |table: &&str| {
            let mut rows = self.rows(&format!("SELECT * FROM {quote}{table}{quote}"));
            rows.sort();
            rows
        };
        tables.iter().map(rows).collect()
    }

    /// The command line of `plimsoll fill` on it. Its name is given: the test's own connections are those of others.
    pub fn line(&self, more: &str) -> String {
        let name = if matches!(self.kind, Kind::Sqlite) { "shop.db" } else { "shop" };
        format!("fill {} --until 2026-01-01 --yes-to {name} {more}", self.url)
    }

    /// Runs `plimsoll fill` on it.
    pub fn fill(&self, more: &str) -> Ended {
        self.folder.plimsoll(&self.line(more))
    }
}
