//! The pages in headless Chromium: they load nothing, log nothing, and their script does its work.
//! `cargo xtask test` installs Chromium.
#![expect(clippy::disallowed_methods, reason = "a test reads and writes files; the crate does not")]

#[path = "../src/sample.rs"]
#[expect(dead_code, reason = "the runs of the unit tests; not all are needed here")]
mod sample;

use std::path::Path;
use std::process::Command;

use report::html;

/// What a page became once its scripts had run, and what the browser logged.
struct Loaded {
    page: String,
    log: String,
}

fn load(html: &str) -> Loaded {
    let folder = tempfile::tempdir().expect("a folder for the page");
    let file = folder.path().join("page.html");
    std::fs::write(&file, html).expect("the page is written");
    let output = chromium(&folder.path().join("profile"))
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("Chromium runs; `cargo xtask test` installs it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let log = String::from_utf8_lossy(&output.stderr);
    let console: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    Loaded { page: String::from_utf8_lossy(&output.stdout).into_owned(), log: console.join("\n") }
}

fn chromium(profile: &Path) -> Command {
    let mut command = Command::new("chromium");
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()));
    command
}

/// The text of the element that follows `mark`, without its tags.
fn text_after(page: &str, mark: &str) -> String {
    let (_, after) = page.split_once(mark).unwrap_or_else(|| panic!("no {mark}"));
    let (inner, _) = after.split_once("</div>").expect("the element ends");
    let tagless = inner.split('<').map(|part| part.split_once('>').map_or("", |(_, text)| text));
    tagless.collect::<Vec<_>>().join("")
}

#[test]
fn the_script_reads_the_timeline_out() {
    let press = "<script>const svg = document.querySelector('[data-timeline] svg');\
        for (let i = 0; i < 3; i++)\
          svg.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));</script></body>";
    let run = sample::open_loop();
    let loaded = load(&html::run(&run).replace("</body>", press));
    assert_eq!(loaded.log, "");
    let third = &run.timeline[2];
    let readout = text_after(&loaded.page, "class=\"readout\"");
    assert!(readout.contains("second 2"), "{readout}");
    let milliseconds = format!("p50 (ms) {:.2}", third.p50_ns as f64 / 1e6);
    assert!(readout.contains(&milliseconds), "{readout}");
    assert!(loaded.page.contains("class=\"crosshair\""));
    assert!(loaded.page.contains("data-copies=\"command\">Copy"), "the button is shown");
}

#[test]
fn hostile_text_runs_nothing_and_loads_nothing() {
    let loaded = load(&html::run(&sample::hostile()));
    assert_eq!(loaded.log, "");
    assert!(!loaded.page.contains("<img") && !loaded.page.contains("<b>"));
    assert_eq!(loaded.page.matches("<script").count(), 2);
}
