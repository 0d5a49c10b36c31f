//! Writes the pages of made-up results into a folder, to be looked at in a browser:
//! `cargo run -p report --example report_gallery -- FOLDER`.

#[path = "../src/sample.rs"]
mod sample;

use std::io::Write as _;
use std::path::Path;

use model::curve::Curve;
use report::charts::Reading;
use report::html::{self, Comparison};
use report::table;
use report::text::{self, Style};

const LEVELS: [u32; 10] = [1, 10, 50, 200, 500, 1_000, 3_000, 10_000, 20_000, 50_000];

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).unwrap_or_else(|| "report-gallery".into());
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    for (name, run) in [
        ("closed", sample::closed_loop()),
        ("open", sample::open_loop()),
        ("hostile", sample::hostile()),
    ] {
        save(folder, &format!("{name}.html"), &html::run(&run))?;
        save(folder, &format!("{name}.txt"), &text::run(&run, Style { colour: true }))?;
    }
    let swept = sample::sweep("apiserver", 550_000.0, &LEVELS);
    let curve = Curve::from_sweep(&swept).expect("levels differ");
    let reading = Reading {
        best: Some(6),
        best_within: Some(6),
        objective_ns: Some(swept.objective_mean_ns),
        sentence: "Beyond 3,000 connections QPS falls while the mean only grows: more connections \
                   buy waiting."
            .into(),
    };
    save(folder, "sweep.html", &html::sweep(&swept, &curve, &reading))?;
    save(folder, "sweep.txt", &table::sweep(&curve, &reading, Style { colour: true }))?;
    let named = |name: &str, capacity: f64, levels: &[u32]| {
        Curve::from_sweep(&sample::sweep(name, capacity, levels)).expect("levels differ")
    };
    let curves = [
        named("before", 147_000.0, &LEVELS),
        named("after", 553_000.0, &LEVELS[..8]),
        named("native", 648_000.0, &LEVELS),
    ];
    let sentences =
        ["Best against best, before reaches 22.68 % of native, after 85.34 %.".to_owned()];
    let cautions = ["The answers differ: 15 bytes against 27 bytes.".to_owned()];
    let command = ["plimsoll", "diff", "before.dat", "after.dat", "native.dat"].map(String::from);
    for (file, curves, cautions) in
        [("diff.html", &curves[..], &cautions[..]), ("diff-two.html", &curves[1..], &[])]
    {
        let comparison =
            Comparison { curves, sentences: &sentences, cautions, command: &command };
        save(folder, file, &html::diff(&comparison))?;
    }
    save(folder, "diff.txt", &table::diff(&curves, Style { colour: true }))
}

#[expect(clippy::disallowed_methods, reason = "the gallery is a program, not part of the pure crate")]
fn save(folder: &Path, name: &str, text: &str) -> std::io::Result<()> {
    std::fs::File::create(folder.join(name))?.write_all(text.as_bytes())
}
