//! Listings compared with those of `go tool pprof`, character by character, on profiles of the Go distribution and on
//! profiles that are taken here.

mod hostile;
mod predict;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use profile::{Filter, Form, Granularity, Listing, Wanted};
use tempfile::TempDir;
use testkit::needs;

/// What is asked for: pprof's arguments, and ours.
struct Case {
    arguments: &'static [&'static str],
    form: Form,
    peek: Option<&'static str>,
    wanted: fn(&mut Wanted),
}

const fn top(arguments: &'static [&'static str], wanted: fn(&mut Wanted)) -> Case {
    Case { arguments, form: Form::Top, peek: None, wanted }
}

fn filter(
    focus: Option<&str>,
    ignore: Option<&str>,
    hide: Option<&str>,
    show: Option<&str>,
) -> Filter {
    Filter::new(focus, ignore, hide, show).unwrap()
}

const CASES: &[Case] = &[
    top(&["-top"], |_| {}),
    top(&["-top", "-cum"], |wanted| wanted.cum = true),
    top(&["-top", "-nodecount=7"], |wanted| wanted.nodes = Some(7)),
    top(&["-top", "-cum", "-nodecount=12"], |wanted| {
        (wanted.cum, wanted.nodes) = (true, Some(12));
    }),
    top(&["-top", "-sample_index=0"], |wanted| wanted.kind = Some("0".into())),
    top(&["-top", "-lines"], |wanted| wanted.granularity = Granularity::Line),
    top(&["-top", "-files"], |wanted| wanted.granularity = Granularity::File),
    top(&["-top", "-focus=runtime|main", "-cum"], |wanted| {
        (wanted.filter, wanted.cum) = (filter(Some("runtime|main"), None, None, None), true);
    }),
    top(&["-top", "-ignore=runtime\\..*alloc"], |wanted| {
        wanted.filter = filter(None, Some("runtime\\..*alloc"), None, None);
    }),
    top(&["-top", "-hide=^runtime\\."], |wanted| {
        wanted.filter = filter(None, None, Some("^runtime\\."), None);
    }),
    top(&["-top", "-show=main|runtime", "-cum"], |wanted| {
        (wanted.filter, wanted.cum) = (filter(None, None, None, Some("main|runtime")), true);
    }),
    top(&["-top", "-focus=main", "-ignore=gc", "-hide=sort", "-lines"], |wanted| {
        wanted.filter = filter(Some("main"), Some("gc"), Some("sort"), None);
        wanted.granularity = Granularity::Line;
    }),
    Case { arguments: &["-tree"], form: Form::Tree, peek: None, wanted: |_| {} },
    Case {
        arguments: &["-tree", "-cum", "-nodecount=20"],
        form: Form::Tree,
        peek: None,
        wanted: |wanted| (wanted.cum, wanted.nodes) = (true, Some(20)),
    },
    Case {
        arguments: &["-peek=alloc|main|sync"],
        form: Form::Peek,
        peek: Some("alloc|main|sync"),
        wanted: |_| {},
    },
];

/// pprof's program. Called by `go tool`, each listing would take three times as long, as it looks at its sources first.
fn pprof() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let go = |arguments: &[&str]| {
            let go = needs::path("go").expect("looked for");
            Command::new(go).arg("tool").args(arguments).output().expect("go starts").stdout
        };
        // Builds it where the distribution brings its sources only.
        go(&["pprof", "-h"]);
        PathBuf::from(String::from_utf8_lossy(&go(&["-n", "pprof"])).trim())
    })
}

/// What pprof prints, if it can; else what it says.
fn oracle(file: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(pprof());
    command.args(arguments).arg(file).env("TZ", "UTC");
    let ended = command.output().expect("pprof starts");
    match ended.status.success() {
        true => Ok(String::from_utf8_lossy(&ended.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&ended.stderr).into_owned()),
    }
}

/// The time as pprof writes it, of the lines that it printed: a pure crate knows no zones.
fn time_in(text: &str) -> Option<String> {
    text.lines().find_map(|line| Some(line.strip_prefix("Time: ")?.to_owned()))
}

#[expect(clippy::disallowed_methods, reason = "the test opens the files; the crate gets bytes")]
fn ours(file: &Path, case: &Case, time: Option<String>) -> Result<String, profile::Error> {
    let profile = profile::read(&fs::read(file).expect("a profile"))?;
    let mut wanted = Wanted { time, ..Wanted::default() };
    (case.wanted)(&mut wanted);
    let listing = Listing::new(profile, &wanted, case.form)?;
    match case.form {
        Form::Top => Ok(listing.top()),
        Form::Tree | Form::Peek => listing.tree(case.peek),
    }
}

/// The lines, as far as pprof's are not left to chance. It keeps the parts of a file apart that begin at different
/// lines, does not print which is which, and has no order for them: the running sum, and the order of rows, differ
/// from call to call.
fn comparable(text: &str, case: &Case) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if case.arguments.contains(&"-files") {
        let title = lines.iter().position(|line| line.contains("flat%")).expect("a title");
        for line in &mut lines[title + 1..] {
            line.replace_range(18..24, "");
        }
        lines.sort();
    }
    lines
}

/// Compares all cases on these files; how many were.
fn compare(files: &[PathBuf]) -> usize {
    let mut compared = 0;
    for file in files {
        for case in CASES {
            let name = format!("{} {:?}", file.display(), case.arguments);
            let (theirs, ours) = match oracle(file, case.arguments) {
                Ok(theirs) => {
                    let ours = ours(file, case, time_in(&theirs));
                    (theirs, ours.unwrap_or_else(|error| panic!("{name}: {error}")))
                }
                Err(why) => {
                    assert!(why.contains("no matches found"), "{name}: {why}");
                    assert!(ours(file, case, None).is_err(), "{name}: {why}");
                    continue;
                }
            };
            let (theirs, ours) = (comparable(&theirs, case), comparable(&ours, case));
            for (line, (theirs, ours)) in theirs.iter().zip(&ours).enumerate() {
                assert_eq!(ours, theirs, "{name}, line {}", line + 1);
            }
            assert_eq!(ours.len(), theirs.len(), "{name}");
            compared += 1;
        }
    }
    compared
}

/// Prints what was compared, for `cargo xtask truth`; a listing that differs has failed the test before.
fn claim(of: &str, listings: usize, profiles: usize) {
    println!(
        "truth | listings (top, cum, tree, peek, filters) of {of} | go tool pprof's text | {listings} listings of \
         {profiles} profiles identical | yes"
    );
}

fn go_root() -> PathBuf {
    let go = needs::path("go").expect("looked for");
    let root = Command::new(go).args(["env", "GOROOT"]).output().expect("go starts").stdout;
    PathBuf::from(String::from_utf8_lossy(&root).trim())
}

#[test]
fn listings_of_the_distributions_profiles_are_pprofs() {
    if !needs::has("go") {
        return;
    }
    let pgo = "src/cmd/compile/internal/test/testdata/pgo";
    let files = [
        "src/cmd/compile/default.pgo".to_owned(),
        format!("{pgo}/devirtualize/devirt.pprof"),
        format!("{pgo}/inline/inline_hot.pprof"),
    ];
    let root = go_root();
    let files: Vec<PathBuf> =
        files.iter().map(|file| root.join(file)).filter(|file| file.exists()).collect();
    assert!(!files.is_empty(), "the distribution has no profiles");
    let compared = compare(&files);
    claim("the Go distribution's profiles", compared, files.len());
}

#[test]
fn listings_of_profiles_taken_here_are_pprofs() {
    if !needs::has("go") {
        return;
    }
    let folder = TempDir::new().expect("a temporary folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pprof/taken.go");
    let go = needs::path("go").expect("looked for");
    let mut taken = Command::new(go);
    let ended = taken.arg("run").arg(source).arg(folder.path()).output().expect("go starts");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let files = fs::read_dir(folder.path()).expect("a folder");
    let mut files: Vec<PathBuf> = files.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    assert_eq!(files.len(), 20);
    let compared = compare(&files);
    assert!(compared >= 200, "only {compared} listings could be compared");
    claim("profiles taken here", compared, files.len());
}
