//! The database of a finding, asked for the plans of the run's statements.
//!
//! Its address is the one that the user gives now, or the one in the user's own record of the run: an address in a folder
//! from elsewhere is never connected to. A password that the folder does not contain comes from the environment or the usual
//! files.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use model::quote::counted;
use model::scans::Planned;
use model::secret::MASK;
use model::{Finding, Run};
use observe::source::{Kind, Source};
use verdict::explain::confirm::plans::statements;

use crate::args::{ExplainArgs, RunArgs};
use crate::load::input::LoadInput;
use crate::results::resume;

/// How often a database is asked while the run is made again, and the time between: statements come and go.
const TIMES: u32 = 4;
const EVERY: Duration = Duration::from_millis(1500);

/// A database, and the statements that the run saw at work there.
pub struct Asked {
    source: Source,
    place: String,
    statements: Vec<String>,
}

impl Asked {
    /// The database of a finding.
    ///
    /// # Errors
    /// In words, with what to type.
    pub fn of(
        args: &ExplainArgs,
        run: &Run,
        finding: &Finding,
        given: &[Source],
    ) -> Result<Self, String> {
        let place = finding.place.clone();
        let source = match of_given(given, &place) {
            Some(source) => source.clone(),
            None => of_run(args, run, &place)?,
        };
        if !is_database(&source) {
            return Err(format!("{} explains no statements; {}", source.read_from(), how(&place)));
        }
        Ok(Self { statements: statements(run, &place), source, place })
    }

    /// The plans of the statements.
    ///
    /// # Errors
    /// In words, with what to type.
    pub fn ask(&self) -> Result<Vec<Planned>, String> {
        let read_from = self.source.read_from();
        let statements = counted(self.statements.len() as u64, "statement");
        eprintln!("plimsoll: EXPLAIN of {statements} at {read_from}");
        observe::plans::plans(&self.source.kind, &self.statements)
            .map_err(|why| format!("{read_from}: {why}; {}", how(&self.place)))
    }

    /// What `run` gives, and the plans as the database has them meanwhile: the answer with the most of them.
    pub fn ask_while<T>(&self, run: impl FnOnce() -> T) -> (T, Option<Vec<Planned>>) {
        let (over, ends) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let asking = scope.spawn(move || {
                let mut best: Option<Vec<Planned>> = None;
                let missing =
                    |planned: &Vec<Planned>| planned.iter().filter(|p| p.scans.is_err()).count();
                for _ in 0..TIMES {
                    let is_over = ends.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout);
                    if is_over || best.as_ref().is_some_and(|best| missing(best) == 0) {
                        break;
                    }
                    let Ok(planned) = self.ask() else { continue };
                    if best.as_ref().is_none_or(|best| missing(&planned) < missing(best)) {
                        best = Some(planned);
                    }
                }
                best
            });
            let made = run();
            drop(over);
            (made, asking.join().ok().flatten())
        })
    }
}

fn is_database(source: &Source) -> bool {
    matches!(source.kind, Kind::Postgres(_) | Kind::Mysql(_))
}

/// What to type where the address is not known, or a password is missing.
fn how(place: &str) -> String {
    let label = if place == "db" { place.to_owned() } else { format!("db/{place}") };
    format!(
        "give the database with --observe {label}=postgres://USER:PASSWORD@HOST/DATABASE (or mysql://…), or its password in \
         PGPASSWORD, ~/.pgpass, MYSQL_PWD or ~/.my.cnf"
    )
}

/// The source of this name; else the only database that was given.
fn of_given<'a>(given: &'a [Source], place: &str) -> Option<&'a Source> {
    let mut databases = given.iter().filter(|source| is_database(source));
    let named = given.iter().find(|source| source.name == place);
    named.or_else(|| databases.next().filter(|_| databases.next().is_none()))
}

/// The source of this name that the run was given, by the user's own records.
fn of_run(args: &ExplainArgs, run: &Run, place: &str) -> Result<Source, String> {
    let begun = resume::agreed::<RunArgs>(&args.dir, &run.command, "explain --confirm")
        .map_err(|failure| format!("{failure}; or {}", how(place)))?;
    let input = LoadInput::of(begun.url.as_deref().unwrap_or_default(), &begun.load);
    let of_file = input.map(|input| input.sources().to_vec()).unwrap_or_default();
    let texts: Vec<String> =
        of_file.iter().chain(&begun.observe.observe).map(|text| without_mask(text)).collect();
    let sources = Source::parse_all(&texts).map_err(|why| format!("{why}; {}", how(place)))?;
    let named = sources.into_iter().find(|source| source.name == place);
    named.ok_or_else(|| format!("the run's command names no {place}: {}", how(place)))
}

/// A source without the mark that stands for its password.
fn without_mask(text: &str) -> String {
    text.replacen(&format!(":{MASK}@"), "@", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_now_comes_first_by_its_name() {
        let all = |texts: &[&str]| {
            Source::parse_all(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
                .expect("sources")
        };
        let name = |texts: &[&str], place| of_given(&all(texts), place).map(Source::read_from);
        let (one, two) = ("db=postgres://a@h/one", "db/shop=postgres://a@h/two");
        assert_eq!(name(&[one, two], "shop").as_deref(), Some("postgres://a@h/two"));
        assert_eq!(name(&[two], "db").as_deref(), Some("postgres://a@h/two"));
        assert_eq!(name(&[one, two], "other"), None);
        assert_eq!(name(&["local"], "db"), None);
    }

    #[test]
    fn masks_are_no_passwords() {
        for (text, wanted) in [
            ("db=postgres://app:***@h/d", "db=postgres://app@h/d"),
            ("db=postgres://app@h/d", "db=postgres://app@h/d"),
        ] {
            assert_eq!(without_mask(text), wanted);
        }
    }
}
