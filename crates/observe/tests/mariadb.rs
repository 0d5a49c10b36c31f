//! A real MariaDB: what the watching itself does to the figures.

use std::time::Duration;

use observe::Source;
use observe::sources::Reader;
use testkit::databases::Mariadb;

const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn statements_of_the_watching_are_not_reported() {
    if !Mariadb::is_there() {
        return;
    }
    let server = Mariadb::start_with(&["--performance-schema=ON"]).expect("MariaDB starts");
    let kind = Source::parse(&server.url("mysql")).expect("a source").kind;
    let mut reader = Reader::of(&kind, true).expect("it is read here");
    let mut told = || {
        let sample = reader.sample(PATIENCE);
        assert_eq!(sample.error, None);
        sample.counters["db.statements"]
    };
    told();
    let before = told();
    // The sizes of tables are asked for every tenth time.
    for _ in 0..12 {
        told();
    }
    let idle = told();
    assert_eq!(idle, before, "nobody but the watching asked for anything");
    for _ in 0..7 {
        server.run("mysql", "SELECT 1").expect("good SQL");
    }
    assert!(told() >= idle + 7);
}
