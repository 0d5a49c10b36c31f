//! The files of a comparison, written whole after every round.

use std::path::{Path, PathBuf};

use model::environment::Program;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use verdict::Comparison;
use verdict::comparison::Word;

use super::rounds::Rounds;
use crate::failure::Failure;
use crate::results::charts::drawn;
use crate::results::input;
use crate::results::lock::Lock;
use crate::results::output::{json, make_folder, write_files};
use crate::secrets;
use measure::clock::now_rfc3339;

/// The comparison in its folder.
pub const COMPARE_JSON: &str = "compare.json";
pub const REPORT: &str = "report.html";
/// The schema of [`COMPARE_JSON`].
const SCHEMA: &str = "plimsoll.compare/1";

/// A comparison as JSON, `plimsoll.compare/1`. Latencies in nanoseconds, effects as ratios.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Document<'a> {
    /// `plimsoll.compare/1`.
    schema: &'static str,
    /// The program that compared.
    plimsoll: Program,
    /// When the first run started, RFC 3339 in UTC.
    started_at: &'a str,
    /// The command line, secrets masked.
    command: Vec<String>,
    /// The conclusion in one word; null while it is withheld.
    judgement: Option<Word>,
    /// The judgement in words.
    sentence: String,
    /// The figures, with what they come to.
    comparison: &'a Comparison,
    /// Rounds made and asked for.
    rounds: Progress,
}

/// What of a stored comparison is printed again.
#[derive(Debug, Deserialize)]
pub struct Stored {
    /// The figures, with what they come to.
    pub comparison: Comparison,
    /// Rounds asked for and made; absent of older ones.
    #[serde(default)]
    pub rounds: Option<Progress>,
}

/// How far a comparison got.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// Rounds that were made.
    pub made: u64,
    /// Rounds that were asked for.
    pub asked: u64,
    /// Whether it ended before all of them because a round could not be made, or what was to be sent came to its end; the
    /// notes say why.
    #[serde(default)]
    pub failed: bool,
    /// Whether it ended before all of them because a server went away or changed; the notes say which.
    #[serde(default)]
    pub lost: bool,
}

impl Stored {
    /// The comparison in a folder.
    ///
    /// # Errors
    /// When there is none that can be read.
    pub fn of(dir: &Path) -> Result<Self, Failure> {
        let path = dir.join(COMPARE_JSON);
        let wrong = |what: String| Failure::CannotRun(format!("{}: {what}", path.display()));
        let bytes = input::read_result(&path).map_err(wrong)?;
        import::declares(&bytes, SCHEMA).map_err(|error| wrong(error.to_string()))?;
        serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))
    }
}

/// Where a comparison's results go.
#[derive(Debug)]
pub struct Files {
    dir: PathBuf,
    started_at: String,
    _lock: Lock,
}

impl Files {
    /// In this folder.
    ///
    /// # Errors
    /// When it cannot be written to, or is written to already.
    pub fn new(dir: PathBuf) -> Result<Self, Failure> {
        make_folder(&dir)?;
        let lock = Lock::of_folder(&dir)?;
        Ok(Self { dir, started_at: now_rfc3339(), _lock: lock })
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The page.
    pub fn report(&self) -> PathBuf {
        self.dir.join(REPORT)
    }

    /// The comparison as JSON.
    pub fn document(&self, comparison: &Comparison, rounds: Progress) -> String {
        json(&Document {
            schema: SCHEMA,
            plimsoll: Program { version: env!("CARGO_PKG_VERSION").to_owned() },
            started_at: &self.started_at,
            command: secrets::command(),
            judgement: comparison.judgement(),
            sentence: comparison.sentence(),
            comparison,
            rounds,
        }) + "\n"
    }

    /// Writes everything but the runs; whether every file could be.
    pub fn write(&self, comparison: &Comparison, rounds: &Rounds) -> bool {
        let command = secrets::command();
        let each_ns = rounds.each_ns();
        let source = report::charts::of_comparison(comparison, &self.started_at, each_ns);
        let page = report::html::comparison(&report::html::Compared {
            comparison,
            command: &command,
            source: &source,
            rounds: rounds.kept(),
        });
        let mut files = vec![
            (COMPARE_JSON.to_owned(), self.document(comparison, rounds.progress()).into_bytes()),
            ("effects.csv".to_owned(), report::comparison::csv(comparison).into_bytes()),
            (REPORT.to_owned(), page.into_bytes()),
        ];
        if !comparison.effects.is_empty() {
            files.extend(drawn(
                "effects",
                &report::comparison::chart(comparison).chart().signed(source),
            ));
        }
        write_files(&self.dir, files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_of_another_schema_is_refused_by_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let refusal = |text: &str| {
            std::fs::write(dir.path().join(COMPARE_JSON), text).unwrap();
            Stored::of(dir.path()).unwrap_err().to_string()
        };
        let comparison = r#""comparison":{"names":["a","b"],"margin":0.02,"by":"","effects":[
            {"measure":"qps","a":1,"b":2,"ratio":2,"low":1.5,"high":2.5,"word":"FASTER","smallest_seen":0.1,"rounds_needed":null}],"word":"SAME","withheld":[],"notes":[]}"#;
        let newer = refusal(&format!("{{\"schema\":\"plimsoll.compare/2\",{comparison}}}"));
        assert!(newer.contains("made by a newer plimsoll (plimsoll.compare/2)"), "{newer}");
        assert!(refusal(&format!("{{{comparison}}}")).contains("without a `schema`"));
        let ours = format!("{{\"schema\":\"{SCHEMA}\",{comparison}}}");
        std::fs::write(dir.path().join(COMPARE_JSON), ours).unwrap();
        // The figures were called `a` and `b` once.
        assert_eq!(Stored::of(dir.path()).unwrap().comparison.effects[0].b, 2.0);
    }
}
