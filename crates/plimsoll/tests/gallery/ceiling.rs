//! `plimsoll calibrate`, and what runs make of it; and a server that runs out of files.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use model::Calibration;

use crate::alone;
use crate::harness::{PLIMSOLL, command, end, loaded, server, url};

fn in_state(line: &str, state: &Path) -> crate::harness::Ended {
    let mut command = command(line);
    command.env("XDG_STATE_HOME", state);
    end(command)
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn a_ceiling_is_measured_kept_and_reported() {
    let (_alone, server) = (alone(), server());
    let state = tempfile::tempdir().expect("a folder");
    let ended = in_state("calibrate -q -d 300ms --format json", state.path());
    assert_eq!(ended.code, 0, "{ended:#?}");
    let calibration: Calibration = serde_json::from_str(&ended.stdout).expect("a calibration");
    assert!(calibration.closed.iter().all(|c| c.requests_per_s >= c.measured_per_s));
    assert!(!calibration.closed.is_empty(), "{calibration:?}");
    let line = format!("run -q -c 2 -R 200 -d 500ms {}", url(&server, "/healthz"));
    let run = loaded(in_state(&format!("{line} --format json"), state.path())).run;
    let ceiling = run.generator.ceiling.expect("it was calibrated");
    assert!((0.0..0.5).contains(&ceiling.used_ratio), "{ceiling:?}");
    let text = in_state(&format!("{line} --details"), state.path()).stdout;
    assert!(text.contains("of this generator's ceiling"), "{text}");
    // Another state folder knows nothing.
    let elsewhere = tempfile::tempdir().expect("a folder");
    let run = loaded(in_state(&format!("{line} --format json"), elsewhere.path())).run;
    assert_eq!(run.generator.ceiling, None);
}

#[test]
fn calibrating_too_short_or_as_csv_is_refused() {
    let state = tempfile::tempdir().expect("a folder");
    in_state("calibrate -d 1ms", state.path()).refuses(2, "100ms");
    in_state("calibrate --format csv", state.path()).refuses(2, "csv");
}

#[test]
fn a_ceiling_that_cannot_be_kept_is_shown() {
    let _alone = alone();
    let state = tempfile::tempdir().expect("a folder");
    let file = state.path().join("file");
    std::fs::write(&file, "").expect("a file");
    let ended = in_state("calibrate -q -d 100ms", &file);
    assert_eq!(ended.code, 1, "{ended:#?}");
    assert!(ended.stderr.contains("cannot make the folder"), "{ended:#?}");
    assert!(ended.stdout.contains("1 worker"), "{ended:#?}");
    assert!(!ended.stdout.contains("kept in"), "{ended:#?}");
}

#[test]
fn a_server_without_files_says_that_peers_were_kept_waiting() {
    let _alone = alone();
    for io in crate::harness::interfaces() {
        let script =
            format!("ulimit -n 64; exec \"$0\" target --threads 1 --io {io} --listen 127.0.0.1:0");
        let mut target = Command::new("sh")
            .args(["-c", &script, PLIMSOLL])
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let mut output = BufReader::new(target.stdout.take().expect("its output"));
        let mut line = String::new();
        output.read_line(&mut line).expect("its first line");
        let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
        let address = address.expect("its address");
        let peers: Vec<_> = (0..100).filter_map(|_| TcpStream::connect(address).ok()).collect();
        std::thread::sleep(Duration::from_millis(500));
        drop(peers);
        let pid = target.id().to_string();
        Command::new("kill").args(["-INT", &pid]).status().expect("kill");
        let mut summary = String::new();
        output.read_to_string(&mut summary).expect("its summary");
        target.wait().expect("it ends");
        assert!(summary.contains("connections could not be accepted"), "{io}: {summary}");
    }
}
