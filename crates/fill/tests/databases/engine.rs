//! A database of each kind, filled and cleaned in this process.

use fill::{Address, Database, Environment, Error, Replaced, Request, Rows, Wish};
use testkit::databases::{Mariadb, Postgres};

/// A database with a schema in it.
pub struct Engine {
    url: String,
    kind: Kind,
}

enum Kind {
    Postgres(Postgres),
    Mariadb(Mariadb),
    Sqlite { _folder: tempfile::TempDir },
}

impl Engine {
    /// SQLite.
    pub fn sqlite(sql: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("shop.db");
        std::fs::write(&file, "").expect("a file");
        let url = format!("sqlite:{}", file.display());
        let engine = Self { url, kind: Kind::Sqlite { _folder: folder } };
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
        let engine = Self { url: server.url("shop"), kind: Kind::Postgres(server) };
        engine.run(sql);
        Some(engine)
    }

    /// MariaDB; none where it is not installed.
    pub fn mariadb(sql: &str) -> Option<Self> {
        if !Mariadb::is_there() {
            return None;
        }
        let server = Mariadb::start(true).expect("MariaDB starts");
        server.run("", "CREATE DATABASE shop CHARACTER SET utf8mb4").expect("a database");
        let engine = Self { url: server.url("shop"), kind: Kind::Mariadb(server) };
        engine.run(sql);
        Some(engine)
    }

    pub fn connect(&self) -> Box<dyn Database> {
        let environment = Environment { variable: &|_| None, home: None };
        let address = Address::parse(&self.url, environment).expect("a good URL");
        fill::connect(&address).expect("a connection")
    }

    /// Runs statements that end in `;` and a line's end.
    pub fn run(&self, sql: &str) {
        match &self.kind {
            Kind::Postgres(server) => drop(server.run("shop", sql).expect("good SQL")),
            Kind::Mariadb(server) => drop(server.run("shop", sql).expect("good SQL")),
            Kind::Sqlite { .. } => {
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
    pub fn number(&self, sql: &str) -> i64 {
        self.rows(sql)[0][0].as_deref().expect("not NULL").parse().expect("a number")
    }

    /// Fills tables until they have so many rows.
    pub fn fill(&self, sizes: &[(&str, u64)]) -> Result<(), Error> {
        self.fill_with(sizes, |_| ())
    }

    /// The same, of a request that is changed first.
    pub fn fill_with(
        &self,
        sizes: &[(&str, u64)],
        change: impl FnOnce(&mut Request),
    ) -> Result<(), Error> {
        let database = &mut *self.connect();
        let schema = database.schema()?;
        let rows = sizes.iter().map(|(name, rows)| ((*name).to_owned(), *rows)).collect();
        let mut request = Request {
            wish: Wish { rows, growth: None, only: true },
            seed: 1,
            locale: "en".to_owned(),
            until: 1_700_006_400_000_000,
            batch: 100,
            pools: Vec::new(),
        };
        change(&mut request);
        let survey = fill::survey(database, &schema, &request)?;
        let rows = Rows::compile(&schema, &survey.facts)?;
        fill::try_out(database, &schema, &survey.facts, &rows)?;
        let mut begun = fill::ledger::begin(database, &survey.facts)?;
        fill::fill(database, &schema, &mut begun, &mut |_| true)
    }

    /// Takes all fills back; the rows that were removed.
    pub fn clean(&self) -> Result<u64, Error> {
        self.clean_with(Replaced::Tell)
    }

    /// The same, with what becomes of rows of others under their keys.
    pub fn clean_with(&self, replaced: Replaced) -> Result<u64, Error> {
        let database = &mut *self.connect();
        let schema = database.schema()?;
        let mut removed = 0;
        for mut fill in fill::ledger::load(database)?.into_iter().rev() {
            removed += fill::clean(database, &schema, &mut fill, replaced, &mut |_| true)?.removed;
        }
        Ok(removed)
    }
}
