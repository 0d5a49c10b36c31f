use model::units::{MILLISECOND, Nanos};
use proptest::prelude::*;

use super::*;

mod wrk;

const WRK_S1: &str = include_str!("../../tests/data/wrk_s1.txt");
const WRK_S2: &str = include_str!("../../tests/data/wrk_s2.txt");
const WRK_S5: &str = include_str!("../../tests/data/wrk_s5.txt");
const WRK: &str = include_str!("../../tests/data/wrk.txt");
const WRK_503: &str = include_str!("../../tests/data/wrk_503.txt");
const WRK2: &str = include_str!("../../tests/data/wrk2.txt");
const AB_KEEPALIVE: &str = include_str!("../../tests/data/ab_keepalive.txt");
const AB_CLOSE: &str = include_str!("../../tests/data/ab_close.txt");
const AB_503: &str = include_str!("../../tests/data/ab_503.txt");
const HEY: &str = include_str!("../../tests/data/hey.txt");
const HEY_503: &str = include_str!("../../tests/data/hey_503.txt");
const HEY_MILLION: &str = include_str!("../../tests/data/hey_million.txt");
const HEY_REFUSED: &str = include_str!("../../tests/data/hey_refused.txt");
const OHA: &str = include_str!("../../tests/data/oha.txt");
const OHA_CUT: &str = include_str!("../../tests/data/oha_cut.txt");
const OHA_REFUSED: &str = include_str!("../../tests/data/oha_refused.txt");
const OHA_JSON: &str = include_str!("../../tests/data/oha.json");
const OHA_REFUSED_JSON: &str = include_str!("../../tests/data/oha_refused.json");
const K6_EXPORT: &str = include_str!("../../tests/data/k6_export.json");
const K6_HANDLE: &str = include_str!("../../tests/data/k6_handle.json");
const K6_RATE: &str = include_str!("../../tests/data/k6_rate.json");
const VEGETA: &str = include_str!("../../tests/data/vegeta.json");
const JTL: &str = include_str!("../../tests/data/jmeter.jtl");
const JTL_XML: &str = include_str!("../../tests/data/jmeter_xml.jtl");

/// Every kind of file that is read, with its tool.
const ALL: [(&str, Tool); 24] = [
    (WRK_S1, Tool::Wrk),
    (WRK_S2, Tool::Wrk),
    (WRK_S5, Tool::Wrk),
    (WRK, Tool::Wrk),
    (WRK_503, Tool::Wrk),
    (WRK2, Tool::Wrk2),
    (AB_KEEPALIVE, Tool::Ab),
    (AB_CLOSE, Tool::Ab),
    (AB_503, Tool::Ab),
    (HEY, Tool::Hey),
    (HEY_503, Tool::Hey),
    (HEY_MILLION, Tool::Hey),
    (HEY_REFUSED, Tool::Hey),
    (OHA, Tool::Oha),
    (OHA_CUT, Tool::Oha),
    (OHA_REFUSED, Tool::Oha),
    (OHA_JSON, Tool::Oha),
    (OHA_REFUSED_JSON, Tool::Oha),
    (K6_EXPORT, Tool::K6),
    (K6_HANDLE, Tool::K6),
    (VEGETA, Tool::Vegeta),
    (JTL, Tool::Jmeter),
    (JTL_XML, Tool::Jmeter),
    ("# of a lab\n200 1000.5 2.5 99.5\n500 2000 3 100\n", Tool::Wrktest),
];

fn row(text: &str) -> Claim {
    let mut claims = claims(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text:.200}"));
    assert_eq!(claims.rows.len(), 1, "{text:.200}");
    claims.rows.remove(0)
}

fn refusal(bytes: impl AsRef<[u8]>) -> String {
    claims(bytes.as_ref()).unwrap_err().to_string()
}

fn at(claim: &Claim, percent: f64) -> Option<Nanos> {
    let close = |share: f64| (share * 100.0 - percent).abs() < 1e-6;
    claim.quantiles.iter().find(|(share, _)| close(*share)).map(|(_, ns)| *ns)
}

#[track_caller]
fn close(value: Option<f64>, wanted: f64) {
    let value = value.expect("a figure");
    assert!((value / wanted - 1.0).abs() < 1e-6, "{value}, wanted {wanted}");
}

#[test]
fn every_format_is_recognized_by_its_content() {
    for (text, tool) in ALL {
        assert_eq!(claims(text.as_bytes()).unwrap().tool, tool, "{text:.80}");
        let with_bom = format!("\u{feff}{text}");
        assert_eq!(claims(with_bom.as_bytes()).unwrap().tool, tool, "{text:.80}");
        let crlf = text.replace('\n', "\r\n");
        assert_eq!(claims(crlf.as_bytes()).unwrap().tool, tool, "{text:.80}");
    }
}

#[test]
fn what_tools_print_for_people_names_the_option_for_programs() {
    let vegeta = "Requests      [total, rate, throughput]         500, 100.20, 100.17\n\
                  Latencies     [min, mean, 50, 90, 95, 99, max]  1ms, 2ms, 2ms, 3ms, 3ms, 4ms, 9ms\n";
    assert!(refusal(vegeta).contains("vegeta report -type=json"), "{}", refusal(vegeta));
    let k6 = "     http_req_duration..............: avg=2.1ms min=1.0ms med=2.0ms max=9ms p(90)=3ms p(95)=4ms\n";
    assert!(refusal(k6).contains("k6 run --summary-export FILE"), "{}", refusal(k6));
    assert!(refusal("hello\n").contains("unknown format; supported are:"));
}

#[test]
fn abs_means_are_those_it_measured() {
    let kept = row(AB_KEEPALIVE);
    assert_eq!(kept.target.as_deref(), Some("http://127.0.0.1:18080/healthz"));
    assert_eq!((kept.connections, kept.qps), (Some(50.0), 62_937.61));
    assert_eq!((kept.mean_ns, kept.error_ns), (Some(MILLISECOND), MILLISECOND / 2));
    assert_eq!((kept.keepalive, kept.success), (Some(true), Some(1.0)));
    assert_eq!((at(&kept, 99.0), kept.max_ns), (Some(9 * MILLISECOND), Some(17 * MILLISECOND)));
    let closed = row(AB_CLOSE);
    assert_eq!(
        (closed.duration_ns, closed.duration_error_ns),
        (Some(2_322 * MILLISECOND), MILLISECOND / 2)
    );
    assert_eq!((closed.mean_ns, closed.keepalive), (Some(23 * MILLISECOND), Some(false)));
    assert_eq!(row(AB_503).success, Some(0.0));
    let in_vain = "Keep-Alive requests:    0\nTotal transferred:";
    assert_eq!(row(&AB_CLOSE.replace("Total transferred:", in_vain)).keepalive, Some(false));
    let v6 = row(&AB_CLOSE.replace("127.0.0.1\nServer", "::1\nServer"));
    assert_eq!(v6.target.as_deref(), Some("http://[::1]:18080/delay/20ms"));
    let brief = AB_CLOSE
        .replace("Total:         20   23   2.6     22      34", "Total:         20   23   34");
    assert_eq!(row(&brief), closed);
    let lengths =
        "Failed requests:        100\n   (Connect: 0, Receive: 2, Length: 97, Exceptions: 1)";
    let varying = AB_KEEPALIVE.replace("Failed requests:        0", lengths);
    close(row(&varying).success, 99_997.0 / 100_000.0);
}

#[test]
fn hey_says_no_connections() {
    let hey = row(HEY);
    assert_eq!((hey.connections, hey.mean_ns), (None, Some(2_200_000)));
    assert_eq!((hey.error_ns, at(&hey, 99.0)), (50_000, Some(12 * MILLISECOND)));
    close(Some(hey.qps), 22_887.458_3);
    close(hey.success, 1.0);
    assert_eq!(row(HEY_503).success, Some(0.0));
    let million = row(HEY_MILLION);
    assert_eq!((million.requests.unwrap() + 5) / 10 * 10, 1_010_000);
    close(million.success, 1.0);
    assert_eq!(hey.requests, Some(68_706));
    // 200 responses in 0.94 ms, which hey prints as 0.0009.
    let brief = HEY.replace("3.0019", "0.0009").replace("22887.4583", "212765.9574");
    let brief = row(&brief.replace("68706 responses", "200 responses"));
    assert_eq!((brief.requests, brief.success), (Some(200), Some(1.0)));
    assert_eq!(brief.qps, 212_765.957_4);
    let refused = row(HEY_REFUSED);
    assert_eq!((refused.mean_ns, refused.success), (None, Some(0.0)));
    assert!(refused.qps < 500.0, "{refused:?}");
}

#[test]
fn what_the_end_of_an_oha_run_cut_off_is_no_response() {
    let oha = row(OHA);
    close(Some(oha.qps), 11_482.0 / 2.045_838_8);
    assert_eq!((oha.mean_ns, oha.latency), (Some(8_723_800), Latency::Either));
    assert_eq!((oha.success, oha.requests), (Some(1.0), Some(11_482)));
    assert_eq!((oha.quantiles.len(), at(&oha, 50.0)), (9, Some(1_875_200)));
    let older = OHA.replace("Response time distribution:", "Latency distribution:");
    assert_eq!(row(&older), oha);
    let slow = row(&OHA.replace(" ms", " 10 sec"));
    assert_eq!((slow.mean_ns, at(&slow, 50.0)), (Some(87_238_000_000), Some(18_752_000_000)));
    let cut = row(OHA_CUT);
    assert_eq!((cut.requests, cut.success), (Some(8), Some(1.0)));
    assert!(cut.in_flight().unwrap() < 8.0, "{cut:?}");
    let json = row(OHA_JSON);
    assert_eq!((json.requests, json.mean_ns), (Some(2000), Some(10_043_241)));
    close(Some(json.qps), 4_591.784_903_750_403);
    assert_eq!(at(&json, 99.9), Some(72_085_206));
    for refused in [row(OHA_REFUSED), row(OHA_REFUSED_JSON)] {
        assert_eq!((refused.qps, refused.mean_ns), (0.0, None));
        assert_eq!(refused.success, Some(0.0));
    }
}

/// As its rate and its counts may contradict each other, which is the audit's to say.
#[test]
fn the_rate_of_an_oha_file_is_the_one_that_it_says() {
    let text = row(&OHA.replace("5636.8077", "4509.44616"));
    // Read without what was cut off, which is nearer to the counts.
    close(Some(text.qps), 4_509.446_16);
    assert!(text.duration_error_ns > 0, "{text:?}");
    let summary = r#""requestsPerSec": 4591.784903750403"#;
    let json = row(&OHA_JSON.replace(summary, r#""requestsPerSec": 4132.6"#));
    assert_eq!(json.requests, Some(2000));
    close(Some(json.qps), 4_132.6);
    close(json.succeeded_per_s, 4_132.6);
    let older = row(&OHA_JSON.replace(summary, r#""requestsPerSec": null"#));
    close(Some(older.qps), 4_591.784_903_750_403);
    let without_cut = row(&OHA_CUT.replace("15.6154", "7.8077"));
    close(Some(without_cut.qps), 7.8077);
}

#[test]
fn what_succeeded_per_second_is_apart_from_attempts_without_response() {
    let hey = row(&HEY.replace("22887.4583", "45774.9166").replace(
        "[200]\t68706 responses\n",
        "[200]\t68706 responses\n\nError distribution:\n  [68706]\tconnection refused\n",
    ));
    assert!((hey.success.unwrap() - 0.5).abs() < 1e-4, "{hey:?}");
    assert!((hey.carried_per_s().unwrap() / 22_887.458_3 - 1.0).abs() < 1e-4, "{hey:?}");
    let oha = row(&OHA.replace("[50] aborted due to deadline", "[11482] connection closed"));
    assert_eq!(oha.success, Some(0.5));
    close(oha.carried_per_s(), oha.qps);
    let wrk = row(WRK_S1);
    close(wrk.carried_per_s(), wrk.qps);
    assert_eq!(row(WRK_503).carried_per_s(), Some(0.0));
}

#[test]
fn what_a_shell_prints_in_brackets_is_no_error_of_a_tool() {
    for text in [HEY_REFUSED.trim_end(), OHA_REFUSED.trim_end()] {
        for printed in ["\n\n[1]+  Done  sleep 5\n", "\n[INFO] next\n", "\n[3] 4711\n"] {
            assert_eq!(row(&format!("{text}{printed}")), row(text), "{printed}");
        }
    }
}

#[test]
fn both_shapes_of_k6() {
    let export = row(K6_EXPORT);
    assert_eq!((export.connections, export.loop_kind), (Some(20.0), LoopKind::Users));
    assert_eq!((export.mean_ns, export.max_ns), (Some(10_271_537), Some(51_023_324)));
    assert_eq!((export.requests, export.success), (Some(5761), Some(1.0)));
    assert_eq!((at(&export, 50.0), at(&export, 99.0)), (Some(7_882_269), Some(27_940_804)));
    let handle = row(K6_HANDLE);
    assert_eq!((handle.connections, handle.requests), (Some(10.0), Some(510)));
    assert_eq!((handle.success, handle.duration_ns), (Some(1.0), Some(3_057_852_228)));
    assert_eq!(row(K6_RATE).success, Some(0.0));
    let long = format!("[{}0]", "0,".repeat(50_000));
    let (figures, _) = K6_EXPORT.trim_start_matches('{').split_once("\"root_group\"").unwrap();
    let between = format!("{{\"root_group\": {long}, {figures} \"setup_data\": {long}}}");
    assert_eq!(row(&between), export);
    let inside = K6_EXPORT
        .replace("\"count\": 5761", &format!("\"odd\": {{\"x\": {long}}}, \"count\": 5761"));
    assert_eq!(row(&inside), export);
    let many: String = (0..1_001).map(|n| format!("\"{n}\": 0,")).collect();
    let many = K6_EXPORT.replace("\"count\": 5761", &format!("{many}\"count\": 5761"));
    assert!(refusal(&many).contains("more than 1000 figures"), "{}", refusal(&many));
    let dropped =
        K6_RATE.replace("\"iterations\":", "\"dropped_iterations\":{\"count\":55},\"iterations\":");
    assert_eq!((row(&dropped).dropped, row(&dropped).arrivals), (55, row(K6_RATE).arrivals));
    assert_eq!(export.arrivals, Some(5761));
}

#[test]
fn vegetas_responses_are_over_the_time_to_the_last_one() {
    let vegeta = row(VEGETA);
    // 1,000 responses in the 4,994,807,390 ns of the attack and the 218,435 ns of the last wait.
    close(Some(vegeta.qps), 1000.0 / 4.995_025_825);
    assert_eq!((vegeta.loop_kind, vegeta.duration_ns), (LoopKind::Open, Some(4_995_025_825)));
    assert_eq!((vegeta.mean_ns, vegeta.success), (Some(2_332_671), Some(0.95)));
    assert_eq!(at(&vegeta, 99.0), Some(5_140_813));
    close(vegeta.rate_per_s, 200.207_920_329_836_78);
    close(vegeta.carried_per_s(), 950.0 / 4.995_025_825);
}

#[test]
fn what_vegeta_had_no_response_to_is_none() {
    let half =
        VEGETA.replace("\"503\":50", "\"0\":400,\"503\":50").replace("\"200\":950", "\"200\":550");
    let half = row(&half.replace("\"success\":0.95", "\"success\":0.55"));
    assert_eq!((half.requests, half.success), (Some(600), Some(0.55)));
    close(Some(half.qps), 600.0 / 4.995_025_825);
    close(half.carried_per_s(), 550.0 / 4.995_025_825);
    let dead = VEGETA.replace("{\"200\":950,\"503\":50}", "{\"0\":1000}").replace("0.95", "0");
    let dead = row(&dead);
    assert_eq!((dead.qps, dead.mean_ns, dead.requests), (0.0, None, Some(0)));
    assert_eq!((dead.success, dead.quantiles.len()), (Some(0.0), 0));
}

#[test]
fn a_jtl_is_summed_up_without_its_transactions() {
    let csv = row(JTL);
    assert_eq!((csv.requests, csv.connections), (Some(80), Some(5.0)));
    assert_eq!(csv.success, Some(0.5));
    assert_eq!(csv.mean_ns, Some(20_937_500));
    assert_eq!(csv.duration_ns, Some(427 * MILLISECOND));
    assert_eq!(csv.target, None);
    let xml = row(JTL_XML);
    assert_eq!((xml.requests, xml.connections), (Some(80), Some(5.0)));
    assert_eq!((xml.success, xml.mean_ns), (Some(0.5), Some(21_037_500)));
    assert_eq!(xml.duration_ns, Some(552 * MILLISECOND));
}

const HEADER: &str = "timeStamp;elapsed;threadName;allThreads;URL;success\n";

#[test]
fn a_jtls_rows_come_in_any_order_and_from_several_engines() {
    let samples = "3000;500;10.0.0.1:1099-users 1-1;7;http://a/;true\n\
                   1000;1000;10.0.0.2:1099-users 1-1;5;http://a/;false\n\
                   2000;300;10.0.0.1:1099-users 1-2;6;http://a/;true\n";
    let claim = row(&format!("{HEADER}{samples}"));
    assert_eq!((claim.connections, claim.duration_ns), (Some(12.0), Some(2500 * MILLISECOND)));
    assert_eq!((claim.qps, claim.mean_ns), (1.2, Some(600 * MILLISECOND)));
    assert_eq!(claim.target.as_deref(), Some("http://a/"));
    let without_ports = samples.replace(":1099", "");
    assert_eq!(row(&format!("{HEADER}{without_ports}")).connections, Some(12.0));
    let local = samples.replace("10.0.0.1:1099", "buy").replace("10.0.0.2:1099", "look");
    assert_eq!(row(&format!("{HEADER}{local}")).connections, Some(7.0));
    let unnamed = samples.replace("http://a/", "null");
    assert_eq!(row(&format!("{HEADER}{unnamed}")).target, None);
    let outer = "<testResults><httpSample t=\"9\" ts=\"5\" s=\"true\" na=\"1\" tn=\"t\">\
                 <httpSample t=\"4\" ts=\"5\" s=\"true\" na=\"1\"/></httpSample>\
                 <sample t=\"1\" ts=\"6\" s=\"true\"/></testResults>";
    assert_eq!(row(outer).requests, Some(2));
}

#[test]
fn a_jtl_without_success_claims_none() {
    assert_eq!(row("timeStamp,elapsed\n1000,5\n1100,7\n").success, None);
    let xml =
        "<testResults><sample t=\"5\" ts=\"1000\"/><sample t=\"7\" ts=\"1100\"/></testResults>";
    assert_eq!(row(xml).success, None);
}

#[test]
fn a_jtls_samples_without_a_response_are_no_responses() {
    let refused = "Non HTTP response code: org.apache.http.conn.HttpHostConnectException";
    let csv = format!(
        "timeStamp,elapsed,responseCode,success\n1000,5,200,true\n1000,1,{refused},false\n1990,10,503,false\n2000,0,{refused},false\n"
    );
    let claim = row(&csv);
    assert_eq!((claim.requests, claim.qps, claim.success), (Some(2), 2.0, Some(0.25)));
    assert_eq!((claim.succeeded_per_s, claim.min_ns), (Some(1.0), Some(5 * MILLISECOND)));
    let gone = |code: &str| {
        format!(
            "<testResults><httpSample t=\"1\" ts=\"1000\" s=\"false\" rc=\"{code}\"/></testResults>"
        )
    };
    let claim = row(&gone(refused));
    assert_eq!((claim.requests, claim.qps, claim.mean_ns), (Some(0), 0.0, None));
    assert_eq!((claim.success, claim.max_ns, claim.quantiles), (Some(0.0), None, Vec::new()));
    assert_eq!(row(&gone("503")).requests, Some(1));
}

#[test]
fn tables_keep_their_levels_and_rates_are_open() {
    let table = claims(b"200 1 2 100\n500 2 3 99\n").unwrap();
    let levels: Vec<_> = table.rows.iter().map(|row| row.connections).collect();
    assert_eq!(levels, [Some(200.0), Some(500.0)]);
    let rates = format!("{}\n200 100 4 100\n", dat::RATE_HEADING);
    let rates = row(&rates);
    assert_eq!((rates.loop_kind, rates.connections), (LoopKind::Open, None));
    assert_eq!(rates.rate_per_s, Some(200.0));
}

#[test]
fn an_unknown_format_lists_the_known_ones() {
    for text in ["hello", "{\"a\": 1}", "<html></html>", "[]", "\u{1b}[2Jx", "-- 5"] {
        let error = refusal(text);
        assert!(error.starts_with("in an unknown format; supported are: "), "{error}");
        for tool in Tool::ALL {
            assert!(error.contains(tool.form()), "{error}");
        }
    }
    let junk: Vec<u8> = (0..=255).cycle().take(5000).collect();
    assert!(refusal(&junk).starts_with("in an unknown format"));
    assert!(refusal(b"").starts_with("empty"));
    assert!(refusal(b" \n\n").starts_with("empty"));
    assert!(refusal(b"\xff\xfeR\0u\0").contains("UTF-16"));
}

#[test]
fn refusals_name_line_and_figure() {
    let table = format!("{HEADER}1;x;t;1;u;true\n");
    let cut = format!("{HEADER}1;2;t;1;u;true\n17");
    for (text, needle) in [
        (WRK_S1.replace("75613.16", "fast"), "line 13: Requests/sec: `fast` is not a number"),
        (WRK_S1.replace("508.77ms", "508.77days"), "`days` is not a unit of time"),
        (WRK_S1.replace("30000", "-3"), "line 2: connections: `-3` is negative"),
        (WRK_S1.replace("2276265", "99999999999999999999"), "too large"),
        (AB_CLOSE.replace("861.45", "nan"), "Requests per second: `nan` is not a number"),
        (HEY.replace("22887.4583", "1e400"), "too large"),
        (VEGETA.replace("\"mean\":2332671", "\"mean\":-7"), "`mean` is negative: -7"),
        (VEGETA.replace("\"success\":0.95", "\"success\":1.5"), "share above 1: 1.5"),
        (K6_EXPORT.replace("http_reqs", "ws_msgs"), "without `http_reqs`"),
        (K6_EXPORT.replace("10.271536739454975", "1e300"), "`avg` is too large"),
        (JTL.replacen("timeStamp,elapsed", "elapsed,when_timeStamp", 1), "column `timeStamp`"),
        (table, "line 2: elapsed: `x` is not a whole number of ms"),
        (cut, "line 3: elapsed: `` is not a whole number of ms (is the line cut short?)"),
        ("timeStamp,elapsed\n".into(), "a JTL without any sample"),
        ("<testResults/>".into(), "a JTL without any sample"),
        (
            "timeStamp,elapsed,responseMessage\n5,5,\"Number of samples in transaction : 2, ...\"\n".into(),
            "a JTL of transactions alone",
        ),
        ("<testResults><sample t=\"5\"/></testResults>".into(), "without the attribute `ts`"),
        ("<testResults><sample ts=\"5\"/></testResults>".into(), "without the attribute `t`"),
        (
            "timeStamp,elapsed\n18446744073709551615,5\n".into(),
            "line 2: timeStamp 18446744073709551615 is not a time",
        ),
        ("timeStamp,elapsed\n5,18446744073709551615\n".into(), "longer than ten years"),
    ] {
        let error = refusal(&text);
        assert!(error.contains(needle), "{text:.60}: {error}");
    }
}

#[test]
fn truncated_files_are_reported() {
    let half = |text: &str| refusal(&text[..text.len() / 2]);
    for text in [WRK_S1, WRK2, AB_CLOSE, HEY, OHA] {
        let error = half(text);
        assert!(error.contains("that begins here has no "), "{error}");
    }
    for text in [OHA_JSON, K6_EXPORT, K6_HANDLE, VEGETA, JTL_XML] {
        let error = half(text);
        assert!(error.contains("cut short") || error.contains("not XML"), "{error}");
    }
}

#[test]
fn the_highest_counts_are_no_overflow() {
    let most = u64::MAX.to_string();
    let errors = format!("Socket errors: connect {most}, read {most}, write {most}, timeout 0");
    let long = WRK_S1.replace("Socket errors: connect 1754, read 40, write 0, timeout 0", &errors);
    assert!(refusal(&long).contains("too large"));
    let responses = "[200]\t900000000000000 responses\n  ".repeat(30_000);
    let hey = HEY.replace("[200]\t68706 responses", &responses);
    assert!(row(&hey).success.is_some());
    let threads = format!("{HEADER}1;2;1:1-t;{most};u;true\n1;2;2:1-t;{most};u;true\n");
    assert_eq!(row(&threads).connections, Some(u64::MAX as f64));
    let k6 = K6_EXPORT.replace("\"count\": 5761", &format!("\"count\": {most}"));
    assert!(refusal(&k6).contains("`count` is too large"));
}

#[test]
fn a_printout_beyond_bounds_is_refused() {
    let long = format!("{WRK}{}", " \n".repeat(LARGEST_TEXT / 2));
    assert!(refusal(&long).contains("too many for a tool's output"));
    let nested = format!("<testResults>{}", "<sample t=\"1\" ts=\"1\">".repeat(100_000));
    assert!(refusal(&nested).contains("nested too deep"));
    let deep = format!("{{\"metrics\":{{\"http_reqs\":{}", "[".repeat(100_000));
    assert!(!refusal(&deep).is_empty());
}

/// A whole file with a few bytes replaced, inserted or left out.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let bits = prop::sample::select(b"0159.-+eE%:;,[]{}\"<>/ \t\r\nmsu\0\xff".to_vec());
    let damage = (any::<prop::sample::Index>(), 0..40usize, prop::collection::vec(bits, 0..12));
    (prop::sample::select(ALL.to_vec()), prop::collection::vec(damage, 1..4)).prop_map(
        |((text, _), damages)| {
            let mut bytes = text.as_bytes().to_vec();
            for (at, cut, instead) in damages {
                let at = at.index(bytes.len().max(1)).min(bytes.len());
                let end = (at + cut).min(bytes.len());
                bytes.splice(at..end, instead);
            }
            bytes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged_files_never_panic_and_keep_their_bounds(bytes in damaged()) {
        if let Ok(claims) = claims(&bytes) {
            prop_assert!(!claims.rows.is_empty());
            for row in &claims.rows {
                prop_assert!(row.qps.is_finite() && row.qps >= 0.0, "{row:?}");
                prop_assert!(row.success.is_none_or(|s| (0.0..=1.0).contains(&s)), "{row:?}");
                prop_assert!(row.connections.is_none_or(|n| n > 0.0), "{row:?}");
                prop_assert!(row.ratio().is_none_or(f64::is_finite), "{row:?}");
            }
        }
    }

    #[test]
    fn any_bytes_are_a_response_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = claims(&bytes);
    }

    #[test]
    fn every_cut_is_a_response_or_an_error(
        (text, _) in prop::sample::select(ALL.to_vec()),
        at in any::<prop::sample::Index>(),
    ) {
        let _ = claims(&text.as_bytes()[..at.index(text.len())]);
    }
}
