//! Workload files: read, compiled, written.
//!
//! Owns the file's folder, what comes out of the environment, and where in the file something is
//! wrong. The form is `import::workload`'s, the meaning `traffic`'s.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use import::requests::Format;
use import::workload::{Document, MOST_BYTES};
use model::plan::DEFAULT_LANES;
use model::quote::quote;
use model::workload::Workload;
use observe::{Kind, Source};
use report::preview::Unset;
use traffic::{Compiled, Finding, Inputs, Pools};

use crate::args::LoadArgs;
use crate::failure::{Failure, cannot_run, usage};
use crate::load::allowed_files::AllowedFiles;
use crate::load::settings::Settings;
use crate::load::stand_in::StandIn;
use crate::load::{header_field, pool_file, pool_index};
use crate::results::input;
use crate::results::output::{Readers, json, write_file_for};

/// The schema's file, beside the workload file.
pub const SCHEMA_FILE: &str = "plimsoll.workload-1.json";

/// A workload file with what flags add to it.
#[derive(Debug)]
pub struct WorkloadFile {
    path: PathBuf,
    bytes: Vec<u8>,
    document: Document,
    allowed: AllowedFiles,
    workload: Workload,
    settings: Settings,
    keepalive: bool,
    scale: f64,
    reads_only: bool,
    /// Its pools, once they are read: compiled anew for another level, it goes on where they are.
    pools: OnceCell<Pools>,
    /// The files that it names, as far as they were asked for.
    named: RefCell<BTreeSet<PathBuf>>,
}

/// A workload ready to be sent, with what it took out of the environment.
#[derive(Debug)]
pub struct Ready {
    /// What is sent.
    pub compiled: Compiled,
    /// Names of the environment variables that it holds.
    pub environment: BTreeSet<String>,
    /// Where it needs variables that are not set, and what is said of each place. A workload that is sent has none.
    pub unset: Vec<Unset>,
    /// Whether one of them is part of the target.
    pub target_unset: bool,
}

/// Whether an argument in place of a URL is the name of a workload file.
pub fn is_meant(text: &str) -> bool {
    let path = Path::new(text);
    // Behind a colon it is a host's port that was meant.
    let named = is_named_as_one(path) && !text.contains(':');
    !text.contains("://") && (named || path.is_file())
}

/// What to type where a file's name may be a URL without its scheme: not even its folder is there.
fn perhaps_a_url(path: &Path) -> String {
    let begins_as_one = !["/", ".", ".."].iter().any(|begin| path.starts_with(begin));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder.is_some_and(|folder| begins_as_one && !folder.exists()) {
        true => format!("; if it is a URL, write http://{}", path.display()),
        false => String::new(),
    }
}

/// What a file is that requests are imported from, and that is named as workload files are.
fn description(bytes: &[u8]) -> Option<&'static str> {
    let named_alike =
        |format: &Format| matches!(format, Format::OpenApi | Format::Har | Format::Postman);
    Format::of(bytes).filter(named_alike).map(Format::contents)
}

/// What to do with a file that is no workload file, nor named as one.
fn not_one(path: &Path) -> String {
    let name = path.display();
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("lua") => format!("{name} is a script: `plimsoll run -s {name} URL` runs it"),
        Some("js" | "ts") => format!(
            "{name} is JavaScript, which is not run: scripts are wrk's Lua (-s FILE), and sessions are flows of a \
             workload file (`plimsoll init` writes one, `plimsoll import` makes one of a recording)"
        ),
        _ => format!(
            "{name} is not a workload file: `plimsoll import {name}` makes one of curl commands, HAR, OpenAPI, \
             Postman and vegeta files; `plimsoll audit {name}` checks results of other tools"
        ),
    }
}

fn is_named_as_one(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("yaml" | "yml" | "json"))
}

impl WorkloadFile {
    /// Reads a file; flags win over what it says.
    ///
    /// # Errors
    /// When it cannot be read, with all places where its form is wrong.
    pub fn read(path: &Path, args: &LoadArgs) -> Result<Self, Failure> {
        let name = path.display();
        let bytes = match input::read_at_most(path, MOST_BYTES as u64) {
            Ok(bytes) => bytes,
            Err(why) => return cannot_run(format!("{name}: {why}{}", perhaps_a_url(path))),
        };
        let document = match Document::read(&bytes) {
            Ok(document) => document,
            Err(faults) => {
                return match description(&bytes) {
                    Some(format) => usage(format!(
                        "{name} is {format}, not a workload file yet: `plimsoll import {name} -o workload.yaml` makes one of it"
                    )),
                    None if !is_named_as_one(path) => usage(not_one(path)),
                    None => wrong(path, faults.iter().map(ToString::to_string)),
                };
            }
        };
        let mut faults = faulty_objectives(&document);
        faults.extend(faulty_sources(&document));
        if !faults.is_empty() {
            return wrong(path, faults.into_iter());
        }
        let mut workload = document.workload().clone();
        for given in &args.headers {
            put_header(&mut workload, given)?;
        }
        Ok(Self {
            path: path.to_owned(),
            bytes,
            settings: Settings::of(args, Some(&workload)),
            allowed: AllowedFiles::of(path, &args.allow_files)?,
            document,
            workload,
            keepalive: !args.no_keepalive,
            scale: args.scale.unwrap_or(1.0),
            reads_only: args.reads_only,
            pools: OnceCell::new(),
            named: RefCell::default(),
        })
    }

    /// The file's name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What it says, with the flags' header fields.
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// What flags and file come to.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// A file that it names, which counts from its folder. It is one of [`WorkloadFile::named`] from then on.
    pub fn beside(&self, name: &str) -> PathBuf {
        let path = self.path.parent().unwrap_or(Path::new("")).join(name);
        self.named.borrow_mut().insert(path.clone());
        path
    }

    /// The files that it has named so far.
    pub fn named(&self) -> BTreeSet<PathBuf> {
        self.named.borrow().clone()
    }

    /// The files that it may read.
    pub fn allowed(&self) -> &AllowedFiles {
        &self.allowed
    }

    /// Works out what it means, `factor` times as much of it as `--scale` says.
    ///
    /// # Errors
    /// All that is wrong with what it says, each with its place.
    pub fn compile(&self, factor: f64) -> Result<Ready, Failure> {
        self.compile_with(factor, &variable, &Files::default())
            .or_else(|findings| self.refused(&findings))
    }

    /// The same to be looked at and not sent: something stands in for environment variables that are not set, and
    /// an empty file for those that are not there.
    ///
    /// # Errors
    /// All that is wrong besides.
    pub fn compile_to_show(&self) -> Result<Ready, Failure> {
        let files = Files::default();
        let findings = match self.compile_with(1.0, &variable, &files) {
            Ok(ready) => return Ok(ready),
            Err(findings) => findings,
        };
        let files = Files { missing: RefCell::default(), may_be_missing: true };
        let stand_in = StandIn::of(&self.workload);
        let unset = RefCell::new(BTreeSet::new());
        let env = |name: &str| {
            let set = variable(name);
            if set.is_none() {
                unset.borrow_mut().insert(name.to_owned());
            }
            Some(set.unwrap_or_else(|| stand_in.value(name)))
        };
        let ready = self.compile_with(1.0, &env, &files);
        let ready = ready.or_else(|findings| self.refused(&findings))?;
        let mut unset = unset.into_inner();
        // What else is wrong without the variables follows from that.
        let target_unset = !stand_in.target.is_disjoint(&unset);
        unset.append(&mut files.missing.into_inner());
        let named = |finding: &&Finding| unset.iter().any(|n| finding.what.contains(&quote(n)));
        let places = findings.iter().filter(named).map(|finding| {
            let place = self.document.locate(&finding.path, finding.part.clone());
            Unset { place: format!("{}:{place}", self.path.display()), what: finding.what.clone() }
        });
        Ok(Ready { unset: places.collect(), target_unset, ..ready })
    }

    fn refused<T>(&self, findings: &[Finding]) -> Result<T, Failure> {
        let place = |of: &Finding| self.document.locate(&of.path, of.part.clone());
        wrong(&self.path, findings.iter().map(|of| format!("{}: {}", place(of), of.what)))
    }

    fn compile_with(
        &self,
        factor: f64,
        variable: &dyn Fn(&str) -> Option<String>,
        files: &Files,
    ) -> Result<Ready, Vec<Finding>> {
        let asked = RefCell::new(BTreeSet::new());
        let env = |name: &str| {
            asked.borrow_mut().insert(name.to_owned());
            variable(name)
        };
        let read = Cell::new(0);
        let file = |name: &str| {
            self.beside(name);
            if files.may_be_missing && self.allowed.is_missing(name) {
                files.missing.borrow_mut().insert(name.to_owned());
                return Ok(Vec::new());
            }
            self.allowed.read(name, &read)
        };
        let compiled = traffic::compile(
            &self.workload,
            &Inputs {
                env: &env,
                file: &file,
                rows: &|name| {
                    self.beside(name);
                    pool_file::open(&self.allowed.place(name)?)
                },
                index: &|name, wanted| pool_index::index(&self.allowed.place(name)?, wanted),
                pools: self.pools.get(),
                seed: self.settings.seed.value,
                lanes: DEFAULT_LANES,
                keepalive: self.keepalive,
                scale: self.scale * factor,
                reads_only: self.reads_only,
            },
        );
        let compiled = compiled.map_err(|error| error.findings)?;
        self.pools.get_or_init(|| compiled.pools().clone());
        let environment = asked.into_inner();
        Ok(Ready { compiled, environment, unset: Vec::new(), target_unset: false })
    }
}

/// What is to be done about files that are not there.
#[derive(Debug, Default)]
struct Files {
    /// Whether an empty one stands in.
    may_be_missing: bool,
    /// Those for which one did.
    missing: RefCell<BTreeSet<String>>,
}

/// An environment variable.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The invalid objectives, each with its place.
fn faulty_objectives(document: &Document) -> Vec<String> {
    let Workload { objectives, endpoints, flows, .. } = document.workload();
    let endpoints = endpoints.iter().map(|endpoint| &endpoint.objectives).enumerate();
    let of_endpoints = endpoints.map(|(at, list)| (format!("endpoints/{at}/objectives"), list));
    let of_steps = flows.iter().enumerate().flat_map(|(flow, held)| {
        let steps = held.steps.iter().map(|step| &step.objectives).enumerate();
        steps.map(move |(at, list)| (format!("flows/{flow}/steps/{at}/objectives"), list))
    });
    let all =
        std::iter::once(("objectives".to_owned(), objectives)).chain(of_endpoints).chain(of_steps);
    let mut faults = Vec::new();
    for (path, list) in all {
        for (at, text) in list.iter().enumerate() {
            let Err(error) = verdict::objective::parse(text) else { continue };
            let start = text.char_indices().nth(error.column).map_or(text.len(), |(at, _)| at);
            let place = document.locate(&format!("{path}/{at}"), Some(start..text.len()));
            faults.push(format!("{place}: {}: {}", quote(text), error.message));
        }
    }
    faults
}

/// The sources that cannot be watched for this file, each with its place.
fn faulty_sources(document: &Document) -> Vec<String> {
    let sources = document.workload().observe.iter().enumerate();
    let faults = sources.filter_map(|(at, text)| {
        let why = match Source::parse(text) {
            Ok(Source { kind: Kind::Exec(_), .. }) => {
                "a file may not run commands: name it on the command line, --observe ROLE=exec:COMMAND".to_owned()
            }
            Ok(_) => return None,
            Err(error) => error.to_string(),
        };
        Some(format!("{}: {why}", document.locate(&format!("observe/{at}"), None)))
    });
    faults.collect()
}

/// A flag's header field takes the place of the file's of that name.
fn put_header(workload: &mut Workload, given: &str) -> Result<(), Failure> {
    let (name, value) = header_field("-H", given)?;
    workload.headers.0.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
    // The command line has its own placeholders; what arrives here is meant as it is.
    workload.headers.push(name, value.replace("${", "$${"));
    Ok(())
}

/// Everything that is wrong with a file, a line each, in the form that editors jump to.
fn wrong<T>(path: &Path, faults: impl Iterator<Item = String>) -> Result<T, Failure> {
    let lines: Vec<String> = faults.map(|fault| format!("{}:{fault}", path.display())).collect();
    usage(lines.join("\n"))
}

/// The JSON Schema of workload files.
pub fn schema() -> String {
    json(&schemars::schema_for!(Workload)) + "\n"
}

/// Writes `yaml`, for these readers, below the line that names the schema, and the schema into the same
/// folder.
///
/// # Errors
/// When the file is there and may not be written over, or one of the two cannot be written.
pub fn write(path: &Path, yaml: &str, over: bool, readers: Readers) -> Result<(), Failure> {
    if path.exists() && !over {
        let path = path.display();
        return usage(format!(
            "{path} exists already: use --force to overwrite it, or --out to write elsewhere"
        ));
    }
    let text = format!("# yaml-language-server: $schema={SCHEMA_FILE}\n{yaml}");
    let beside = path.with_file_name(SCHEMA_FILE);
    let schema = schema();
    for (path, bytes, readers) in
        [(path, text.as_bytes(), readers), (&beside, schema.as_bytes(), Readers::Usual)]
    {
        if let Err(error) = write_file_for(readers, path, bytes) {
            return cannot_run(format!("cannot write {}: {error}", path.display()));
        }
    }
    Ok(())
}
