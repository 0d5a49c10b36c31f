//! `plimsoll diff`.

use crate::harness::{Folder, Target, unwrapped};

#[test]
fn published_tables_give_the_published_ratios() {
    let folder = Folder::new();
    folder.put_published(&["apiserver_before.dat", "apiserver_after.dat", "native.dat"]);
    folder
        .plimsoll("diff native.dat apiserver_before.dat")
        .ok()
        .prints("22.80 %")
        .prints("147,834 at 3,000")
        .prints("648,381 at 25,000");
    folder.has(&[
        "native_apiserver_before.qps.ttlb.diff.png",
        "native_apiserver_before.qps.ttlb.diff.svg",
        "native_apiserver_before.successrate.diff.png",
        "native_apiserver_before.successrate.diff.svg",
        "report.html",
    ]);
    // Legend, lines and their points: the old one first, as the tables have it.
    let chart = folder.text("native_apiserver_before.qps.ttlb.diff.svg");
    assert!(chart.rfind("native") < chart.rfind("apiserver_before"), "{chart}");
    folder
        .plimsoll("diff native.dat apiserver_before.dat apiserver_after.dat --out three")
        .ok()
        .prints("22.80 %")
        .prints("85.34 %");
    folder.has(&[
        "three/native_apiserver_before_apiserver_after.qps.ttlb.diff.svg",
        "three/report.html",
    ]);
}

#[test]
fn levels_of_one_side_are_listed() {
    let folder = Folder::new();
    folder.put("a.dat", "200 100 1 100\n500 200 2 100\n");
    folder.put("b.dat", "200 100 1 100\r\n# a comment\r\n900 50 9 99.5\r\n");
    folder
        .plimsoll("diff a.dat b.dat")
        .ok()
        .prints("a has levels that others lack: 500")
        .prints("b has levels that others lack: 900");
    let many: String = (1..=40).map(|n| format!("{} 50 9 99.5\n", 1000 * n)).collect();
    folder.put("c.dat", format!("200 100 1 100\n{many}"));
    let text = folder.plimsoll("diff a.dat c.dat --out c").ok().stdout;
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn other_formats_hold_the_same_figures() {
    let folder = Folder::new();
    folder.put_published(&["apiserver_after.dat", "native.dat"]);
    let csv = folder.plimsoll("diff native.dat apiserver_after.dat --format csv").ok();
    assert_eq!(csv.stdout.lines().count(), 15, "{}", csv.stdout);
    let json = folder.plimsoll("diff native.dat apiserver_after.dat --format json").ok();
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    folder.follows_schema("diff", &json);
    // As the command line names them: the old one first.
    let names = [0, 1].map(|of| json["curves"][of]["name"].as_str().unwrap());
    assert_eq!(names, ["native", "apiserver_after"]);
    let ratio = json["curves"][1]["best_qps_ratio"].as_f64().unwrap();
    assert_eq!(format!("{ratio:.4}"), "0.8534");
    let at = |format: &str| format.find("native").zip(format.find("apiserver_after"));
    assert!(at(&csv.stdout).is_some_and(|(old, new)| old < new), "{}", csv.stdout);
    let text = folder.plimsoll("diff native.dat apiserver_after.dat").ok();
    assert!(at(&text.stdout).is_some_and(|(old, new)| old < new), "{}", text.stdout);
}

#[test]
fn sweeps_runs_and_tables_mix_and_the_last_two_sweeps_are_found() {
    let (folder, target) = (Folder::new(), Target::start());
    let sweep = |path: &str| {
        let url = target.url(path);
        folder.plimsoll(&format!("sweep {url} --levels 2,4 -d 200ms --rest 0 -q")).measured()
    };
    sweep("/healthz");
    folder.plimsoll("diff").refuses(2, "two sweeps of the same target");
    let second = sweep("/healthz");
    let third = sweep("/bytes/100");
    let report = |ended: &crate::harness::Ended| {
        let line = ended.stdout.lines().find_map(|line| line.strip_prefix("report: "));
        line.expect("a report").trim_end_matches("/report.html").to_owned()
    };
    // The same server twice, for a moment: whether that is decided depends on the machine.
    let same = folder.plimsoll("diff --out last").prints("best against best");
    assert!([0, 98, 99].contains(&same.code), "{same:?}");
    folder.has(&["last/report.html"]);
    let own = folder.text(&format!("{}/report.html", report(&second)));
    let line = format!("diff {} {}", report(&third), report(&second));
    // Withheld at every level: nothing a gate may pass by.
    let ended = folder.plimsoll(&line);
    assert_eq!(ended.code, 98, "{ended:?}");
    assert!(unwrapped(&ended.stdout).contains("responded differently"), "{}", ended.stdout);
    assert_eq!(folder.text(&format!("{}/report.html", report(&second))), own);
    let url = target.url("/healthz");
    folder.plimsoll(&format!("run {url} -c 2 -d 200ms -q --out single"));
    folder.put("old.dat", "2 100 1 100\n");
    folder
        .plimsoll(&format!("diff old.dat single {}/sweep.json --out mixed", report(&second)))
        .ok()
        .prints("best against best");
}

#[test]
fn the_last_two_runs_go_by_their_names() {
    let (folder, target) = (Folder::new(), Target::start());
    for _ in 0..2 {
        folder.plimsoll(&format!("run {} -c 2 -n 20 -q", target.url("/healthz"))).measured();
    }
    // The old one first; where both have one name, the new one has a number.
    for (line, wanted) in
        [("previous last", ["previous", "last"]), ("last last", ["last", "last-2"])]
    {
        let json = folder.plimsoll(&format!("diff {line} --out d --format json")).stdout;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!([0, 1].map(|of| json["curves"][of]["name"].as_str().unwrap()), wanted);
    }
    folder.plimsoll("explain last").ok();
    // What was taken with a run is found by either of its names.
    std::fs::create_dir(folder.path().join("plimsoll-out/last/profile")).expect("a folder");
    folder.put("plimsoll-out/last/profile/window.json", "{}");
    for name in ["last", "plimsoll-out/last", "plimsoll-out/last/run.json"] {
        folder.plimsoll(&format!("explain {name}")).ok().says("without the profile");
    }
    folder.plimsoll("profile last").refuses(1, "plimsoll-out/last/profile/window.json");
    folder.plimsoll("audit last").prints("1 row judged");
    folder.plimsoll("explain nowhere").refuses(1, "nowhere: there is no such file or folder");
}

#[test]
fn rates_and_concurrencies_are_not_joined() {
    let folder = Folder::new();
    folder.put("c.dat", "200 100 1 100\n");
    folder.put("r.dat", "# rate_per_s qps mean_ms success_percent\n200 100 1 100\n");
    folder.plimsoll("diff c.dat r.dat").refuses(2, "r is over rates and c over concurrencies");
    folder.plimsoll("diff c.dat r.dat").refuses(2, "measure both at rates (-R, --rates), or both");
}
