use model::claim::{Claims, Tool};
use model::units::MILLISECOND;

use super::*;

fn row(connections: f64, qps: f64, mean_ms: f64, success: f64) -> Claim {
    let mean_ns = (mean_ms * MILLISECOND as f64) as u64;
    let success = Some(success);
    let connections = Some(connections);
    Claim { connections, success, ..Claim::new(qps, Some(mean_ns)) }
}

fn table() -> (String, Claims) {
    let rows = vec![
        row(3000.0, 599_781.96, 27.75, 1.0),
        row(15_000.0, 644_269.17, 222.44, 1.0),
        row(100_000.0, 572_197.78, 118.41, 0.9984),
        row(1_000_000.0, 20_954.71, 198.87, 0.8315),
    ];
    ("native.dat".to_owned(), Claims::new(Tool::Wrktest, rows))
}

fn printout(name: &str, tool: Tool, qps: f64, mean_ms: f64) -> (String, Claims) {
    let target = Some("http://127.0.0.1:8080/healthz".to_owned());
    let claim = Claim { target, ..row(50.0, qps, mean_ms, 1.0) };
    (name.to_owned(), Claims::new(tool, vec![claim]))
}

fn all() -> Audit {
    let wrk = printout("wrk.txt", Tool::Wrk, 82_981.09, 1.12);
    let hey = printout("hey.txt", Tool::Hey, 22_887.46, 2.2);
    verdict::audit(vec![table(), wrk, hey], false)
}

#[test]
fn tables_findings_and_files_side_by_side() {
    let printed = text(&all(), Style::default());
    for needle in [
        "native.dat: wrktest.sh, closed loop\n",
        "   15,000  644,269   222ms    143,311   9.55  100.00 %  IMPOSSIBLE\n",
        "  IMPOSSIBLE, little_law: 2 of 4 rows\n",
        "    1,000,000: most connections idle: 4,167 of 1,000,000 in flight\n",
        "    Likely cause: wrk's correction for coordinated omission: before it prints,",
        "wrk.txt: wrk, closed loop, http://127.0.0.1:8080/healthz\n",
        "Side by side: http://127.0.0.1:8080/healthz, 50 connections\n",
        "  hey.txt has 27.58 % of wrk.txt: probably ",
        "\n6 rows judged: 3 impossible, 1 doubtful.\n",
    ] {
        assert!(printed.contains(needle), "no `{needle}` in {printed}");
    }
}

#[test]
fn the_loops_of_all_rows_are_named() {
    let mut mixed = table();
    mixed.1.rows[2].loop_kind = LoopKind::Open;
    let printed = text(&verdict::audit(vec![mixed], false), Style::default());
    assert!(
        printed.starts_with("native.dat: wrktest.sh, closed loop and open loop\n"),
        "{printed}"
    );
}

#[test]
fn without_findings_only_the_counts_are_printed() {
    let sound = verdict::audit(vec![printout("a", Tool::Wrk, 1000.0, 49.0)], false);
    let printed = text(&sound, Style::default());
    let end = "1 row judged: 0 impossible, 0 doubtful. A figure can be possible and still be \
               wrong.\n";
    assert!(printed.ends_with(end), "{printed}");
    assert!(!printed.contains("IMPOSSIBLE") && !printed.contains("DOUBTFUL"), "{printed}");
    let narrow = text(&sound, Style { columns: 80, ..Style::default() });
    assert!(narrow.ends_with("and still be\nwrong.\n"), "{narrow}");
}

#[test]
fn long_and_hostile_text_breaks_no_line() {
    let hostile = "\u{1b}[2J\u{202e}".repeat(40);
    let mut files =
        vec![printout(&hostile, Tool::Wrk, 9e9, 9e3), printout("b", Tool::Hey, 1.0, 1.0)];
    for (_, claims) in &mut files {
        claims.rows[0].target = Some(hostile.clone());
        claims.success_means.clone_from(&hostile);
    }
    let audit = verdict::audit(files, false);
    let printed = text(&audit, Style::default()) + &csv(&audit);
    assert!(!printed.contains(['\u{1b}', '\u{202e}']), "{printed}");
    for columns in [100, 80, 60] {
        let plain = text(&audit, Style { columns, ..Style::default() });
        assert!(plain.lines().all(|line| line.chars().count() <= columns), "{plain}");
    }
    assert!(text(&audit, Style { colour: true, ..Style::default() }).contains('\u{1b}'));
}

#[test]
fn files_of_one_folder_are_told_apart() {
    let folder = "results/2026-11-26/first-run/";
    let files = ["wrk.txt", "ab.txt"]
        .map(|name| printout(&format!("{folder}{name}"), Tool::Wrk, 1000.0, 49.0));
    let printed = text(&verdict::audit(files.to_vec(), false), Style::default());
    let (_, table) = printed.split_once("Side by side").unwrap();
    for name in ["/wrk.txt  wrk", "/ab.txt  wrk"] {
        assert!(table.contains(name) && table.contains("\n…"), "{table}");
    }
}

#[test]
fn evidence_of_many_rows_is_cut_with_a_note() {
    let rows = (1..=200u32).map(|n| row(f64::from(n), 1000.0 * f64::from(n), 90.0, 1.0)).collect();
    let many = ("x".to_owned(), Claims::new(Tool::Wrktest, rows));
    let printed = text(&verdict::audit(vec![many], false), Style::default());
    assert!(printed.contains("and 170 more rows; --format json has all"), "{printed}");
}

#[test]
fn csv_has_as_many_fields_in_every_row() {
    let csv = csv(&all());
    let lines: Vec<&str> = csv.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 7);
    assert!(lines.iter().all(|line| line.split(',').count() == 13), "{csv}");
    assert!(lines[2].contains(",impossible,little_law"), "{csv}");
    let formula = printout("=1+1", Tool::Wrk, 1.0, 1.0);
    let guarded = super::csv(&verdict::audit(vec![formula], false));
    assert!(guarded.contains("\r\n'=1+1,wrk"), "{guarded}");
}

#[test]
fn json_has_every_figure_and_finding() {
    let json = serde_json::to_value(document(&all())).unwrap();
    assert_eq!(json["schema"], "plimsoll.audit/1");
    assert_eq!(json["verdict"], "impossible");
    let row = &json["files"][0]["rows"][1];
    assert_eq!(
        (&row["requests_per_s"], &row["verdict"]),
        (&644_269.17.into(), &"impossible".into())
    );
    assert_eq!(row["findings"][0]["code"], "little_law");
    assert_eq!(format!("{:.2}", row["in_flight_ratio"].as_f64().unwrap()), "9.55");
    let side = &json["side_by_side"][0]["rows"];
    assert_eq!((&side[0]["file"], &side[1]["disagrees"]), (&"wrk.txt".into(), &true.into()));
    let empty = verdict::audit(vec![printout("a", Tool::Wrk, 1000.0, 49.0)], false);
    let document = serde_json::to_value(document(&empty)).unwrap();
    assert_eq!(document["verdict"], "possible");
}

#[test]
fn a_mean_printed_as_0_is_what_its_digits_leave() {
    let (name, mut claims) = printout("ab.txt", Tool::Ab, 62_937.61, 0.0);
    claims.rows[0].error_ns = MILLISECOND / 2;
    let wrk = printout("wrk.txt", Tool::Wrk, 82_981.09, 0.5);
    let printed = text(&verdict::audit(vec![(name, claims), wrk], false), Style::default());
    let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    for needle in
        ["50 62,938 <0.5ms <31 <0.63 100.00 %", "ab.txt ab 62,938 75.85 % <0.5ms <31 100.00 %"]
    {
        assert!(printed.contains(needle), "no `{needle}` in {printed}");
    }
    let (name, mut claims) = printout("ab.txt", Tool::Ab, 100.0, 0.0);
    claims.rows[0].error_ns = MILLISECOND / 2;
    let printed = text(&verdict::audit(vec![(name, claims)], false), Style::default());
    assert!(printed.contains("most connections idle: <0.05 of 50 in flight"), "{printed}");
}

#[test]
fn a_file_that_names_no_load_says_which_it_was_taken_for() {
    let (name, mut claims) = printout("hey.txt", Tool::Hey, 22_887.46, 2.2);
    (claims.rows[0].target, claims.rows[0].connections_given) = (None, true);
    let wrk = printout("wrk.txt", Tool::Wrk, 82_981.09, 0.5);
    let printed = text(&verdict::audit(vec![wrk, (name, claims)], false), Style::default());
    let words = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("hey.txt names no target and no connections: with -c"), "{printed}");
}
