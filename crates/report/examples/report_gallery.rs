//! Writes the pages of made-up results into a folder, to be looked at in a browser:
//! `cargo run -p report --example report_gallery -- FOLDER`.

#[path = "../src/sample.rs"]
mod sample;

use std::io::Write as _;
use std::path::Path;

use model::curve::Curve;
use model::units::SECOND;
use report::html::{self, Comparison};
use report::text::{self, Style};
use report::watched::Beside;
use report::{capacity, table};
use verdict::Diff;

const COLOUR: Style = Style { colour: true, columns: 100 };
const LEVELS: [u32; 10] = [1, 10, 50, 200, 500, 1_000, 3_000, 10_000, 20_000, 50_000];

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).unwrap_or_else(|| "report-gallery".into());
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    for (name, run) in [
        ("closed", sample::closed_loop()),
        ("open", sample::open_loop()),
        ("mixed", sample::mixed()),
        ("judged", sample::judged_run()),
        ("aborted", sample::aborted()),
        ("hostile", sample::hostile()),
    ] {
        save(folder, &format!("{name}.html"), &html::run(&run))?;
        save(folder, &format!("{name}.txt"), &text::details(&run, false, COLOUR))?;
    }
    let swept = sample::sweep("apiserver", 550_000.0, &LEVELS);
    let curve = Curve::from_sweep(&swept).expect("levels differ");
    let reading = verdict::curve::read(&curve, swept.objective_mean_ns);
    save(folder, "sweep.html", &html::sweep(&swept, &curve, &reading))?;
    save(folder, "sweep.txt", &table::sweep(&curve, &reading, swept.objective_mean_ns, COLOUR))?;
    let (search, reading) = sample::search();
    save(folder, "capacity.html", &html::capacity(&search, &reading, Some(&sample::open_loop())))?;
    save(folder, "capacity.txt", &capacity::text(&search, &reading, COLOUR))?;
    let named = |name: &str, capacity: f64, levels: &[u32]| {
        Curve::from_sweep(&sample::sweep(name, capacity, levels)).expect("levels differ")
    };
    let curves = [
        named("native", 648_000.0, &LEVELS),
        named("after", 553_000.0, &LEVELS[..8]),
        named("before", 147_000.0, &LEVELS),
    ];
    let command = ["plimsoll", "diff", "native.dat", "after.dat", "before.dat"].map(String::from);
    for (name, curves) in [("diff", &curves[..]), ("diff-two", &curves[..2])] {
        let diff = Diff::of(curves).expect("they are comparable");
        let beside = |curve: &Curve| Beside {
            name: curve.name.clone(),
            level: 10_000.0,
            observed: sample::watched(),
            window: (0, 4 * SECOND),
        };
        let watched: Vec<Beside> = curves.iter().map(beside).collect();
        let page = html::diff(&Comparison {
            curves,
            diff: &diff,
            judgements: &[],
            watched: &watched,
            command: &command,
        });
        save(folder, &format!("{name}.html"), &page)?;
        save(folder, &format!("{name}.txt"), &table::diff(&diff, COLOUR))?;
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the gallery is a program, not part of the pure crate"
)]
fn save(folder: &Path, name: &str, text: &str) -> std::io::Result<()> {
    std::fs::File::create(folder.join(name))?.write_all(text.as_bytes())
}
