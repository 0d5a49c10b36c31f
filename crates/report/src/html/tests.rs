//! The page as a browser without scripts, and an attacker, would see it.

use model::curve::Curve;
use model::units::SECOND;

use super::*;
use crate::html;
use crate::sample;
use crate::watched::Beside;

fn curves() -> Vec<Curve> {
    let sweep = |name, capacity| sample::sweep(name, capacity, &[1, 100, 1_000, 30_000]);
    ["na<tive>", "before", "after"]
        .into_iter()
        .zip([48e3, 14e3, 41e3])
        .map(|(name, capacity)| Curve::from_sweep(&sweep(name, capacity)).unwrap())
        .collect()
}

fn sweep_page() -> String {
    let swept = sample::sweep("api", 50_000.0, &[1, 100, 1_000, 30_000]);
    let curve = Curve::from_sweep(&swept).unwrap();
    let reading = verdict::curve::read(&curve, swept.objective_mean_ns);
    sweep(&swept, &curve, &reading)
}

fn beside(name: &str) -> Beside {
    let window = (2 * SECOND, 4 * SECOND);
    Beside { name: name.into(), level: 30_000.0, observed: sample::watched(), window }
}

fn diff_page() -> String {
    let curves = curves();
    let joined = verdict::Diff::of(&curves).unwrap();
    let watched: Vec<_> = joined.names.iter().map(|name| beside(name)).collect();
    let judgements = &[];
    diff(&Comparison {
        curves: &curves,
        diff: &joined,
        judgements,
        watched: &watched,
        command: &[],
    })
}

fn pages() -> Vec<String> {
    let runs = [sample::closed_loop(), sample::open_loop(), sample::hostile()];
    runs.iter().map(run).chain([sweep_page(), diff_page()]).collect()
}

#[test]
fn a_page_begins_with_what_came_out() {
    for (page, words) in [
        (run(&sample::closed_loop()), "VALID: The server answered 48,204 requests/s"),
        (run(&sample::open_loop()), "INVALID: The server answered "),
        (sweep_page(), ""),
    ] {
        let (_, main) = page.split_once("<main>").expect("a page");
        let begins = main.starts_with(&format!("<p class=\"reading\">{words}"));
        assert!(begins, "{}", main.chars().take(300).collect::<String>());
        assert_eq!(page.matches("class=\"reading\"").count(), 1, "{words}: it is said once");
    }
}

/// Where the page is narrow, what is in a picture is small.
#[test]
fn the_sentences_of_a_chart_are_text_of_the_page() {
    let chart = crate::charts::timeline(&sample::closed_loop()).chart();
    let chart = chart.under("Over time").signed(["The note.".to_owned()]);
    let page = parts::chart(&chart).into_string();
    let (before, rest) = page.split_once("<svg").expect("a chart");
    let (svg, after) = rest.split_once("</svg>").expect("its end");
    assert!(before.contains("<p class=\"title\">Over time</p>"), "{before}");
    assert!(after.contains("<p class=\"soft\">The note.</p>"), "{after}");
    assert!(svg.contains("<text") && svg.contains(">Over time</title>"), "for screen readers");
    assert!(!svg.contains(">Over time</text>") && !svg.contains("The note."), "{svg}");
    let file = chart.to_svg(chart::Theme::Standalone);
    assert!(file.contains(">Over time</text>") && file.contains(">The note.</text>"), "{file}");
}

#[test]
fn the_title_says_what_was_measured_when_and_for_how_long() {
    let measured = sample::open_loop();
    let page = run(&measured);
    let (_, title) = page.split_once("<title>").expect("a title");
    let (title, _) = title.split_once("</title>").expect("a title");
    let when = crate::figure::date(&measured.started_at);
    let length = model::units::show_duration(measured.totals.duration_ns);
    for part in [measured.plan.url.as_str(), when.as_str(), length.as_str()] {
        assert!(title.contains(part), "{part}: {title}");
    }
}

/// The page's tags in order, without the content of style and script.
fn tags(page: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some((_, after)) = rest.split_once('<') {
        let (tag, after) = after.split_once('>').expect("every tag ends");
        rest = after;
        let name = tag.split([' ', '/']).find(|n| !n.is_empty()).unwrap_or("");
        if !tag.starts_with('/') && ["style", "script"].contains(&name) {
            rest = &rest[rest.find(&format!("</{name}")).expect("raw text ends")..];
        }
        tags.push(tag.to_owned());
    }
    tags
}

const VOID: [&str; 5] = ["meta", "br", "hr", "img", "!DOCTYPE"];

#[test]
fn every_element_is_closed() {
    for page in pages() {
        let mut open: Vec<String> = Vec::new();
        for tag in tags(&page) {
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop().as_deref(), Some(name));
            } else if !tag.ends_with('/') {
                let name = tag.split(' ').next().unwrap_or("").to_owned();
                if !VOID.contains(&name.as_str()) {
                    open.push(name);
                }
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    for page in pages() {
        for tag in tags(&page) {
            for attribute in ["src=", "srcset=", "action=", "data=", "xlink:href="] {
                assert!(!tag.contains(attribute), "{tag}");
            }
            let handlers = tag.match_indices(" on").filter(|(at, _)| {
                tag[at + 3..].trim_start_matches(|c: char| c.is_ascii_alphabetic()).starts_with('=')
            });
            assert_eq!(handlers.count(), 0, "{tag}");
            if let Some((_, target)) = tag.split_once("href=\"") {
                assert!(target.starts_with('#'), "{tag}");
            }
        }
        let css = page.matches("url(").count() + page.matches("@import").count();
        assert_eq!(css, 0);
        assert!(page.contains("default-src 'none'"));
    }
}

#[test]
fn hostile_text_stays_text() {
    let page = run(&sample::hostile());
    assert_eq!(page.matches("<script").count(), 2, "the data and the page's own");
    assert_eq!(page.matches("</script>").count(), 2);
    for needle in ["<svg/onload", "<img", "<b>", "\u{1b}"] {
        assert!(!page.contains(needle), "{needle}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
}

#[test]
fn what_was_watched_beside_results_is_side_by_side_as_in_the_text() {
    let page = diff_page();
    let (_, section) = page.split_once("id=\"watched\"").expect("a section");
    let (section, _) = section.split_once("</section>").expect("its end");
    assert!(section.contains("at 30,000 connections"), "{section}");
    for cell in ["60 % (max 80 %)", "1.50 (max 2.00)", "9,000/s (max 12,000/s)"] {
        assert_eq!(section.matches(&format!("<td>{cell}</td>")).count() % 3, 0, "{cell}");
        assert!(section.contains(cell), "{cell}: {section}");
        assert!(
            crate::watched::side_by_side(
                &["a", "b"].map(beside),
                crate::text::Style { columns: 120, ..Default::default() }
            )
            .contains(cell)
        );
    }
    assert!(section.contains("na&lt;tive&gt;") && !section.contains("<img"), "{section}");
    assert!(!section.contains("retransmits"), "what was never above zero");
    let curves = curves();
    let joined = verdict::Diff::of(&curves).unwrap();
    let (judgements, watched) = (&[][..], &[][..]);
    let bare =
        diff(&Comparison { curves: &curves, diff: &joined, judgements, watched, command: &[] });
    assert!(!bare.contains("id=\"watched\""));
}

#[test]
fn the_data_inside_the_page_is_the_run() {
    for original in [sample::open_loop(), sample::hostile()] {
        let page = run(&original);
        let (_, after) = page.split_once("id=\"plimsoll-run\">").unwrap();
        let (json, _) = after.split_once("</script>").unwrap();
        let read: model::Run = serde_json::from_str(json).unwrap();
        assert_eq!((&read.plan.url, &read.command), (&original.plan.url, &original.command));
        assert!(read.totals == original.totals && read.validity == original.validity);
        assert!(read.histograms == original.histograms);
    }
}

#[test]
fn a_window_too_short_for_dips_is_not_reported_as_without() {
    let mut calm = sample::closed_loop();
    calm.dips.clear();
    for (duration_ns, kept) in [(4 * SECOND, false), (10 * SECOND, true)] {
        calm.totals.duration_ns = duration_ns;
        let page = run(&calm);
        assert_eq!(page.contains("No dips: throughput"), kept, "{duration_ns}");
        assert_eq!(
            page.contains("too short to find dips: that takes 10 s"),
            !kept,
            "{duration_ns}"
        );
    }
}

#[test]
fn endpoints_without_responses_have_no_cost_of_zero() {
    let mut silent = sample::closed_loop();
    silent.totals.requests = 0;
    (silent.generator.cpu_ns, silent.generator.cpu_ns_per_request) = (1_500_000, 0.0);
    assert!(run(&silent).contains("1.50ms of processor time, without a response;"));
}

#[test]
fn without_scripts_all_figures_are_there() {
    let page = run(&sample::open_loop());
    let without = &page[..page.find("<script").unwrap()];
    for needle in [
        "INVALID",
        "achieved_below_offered",
        "<td>19,843",
        "connection refused",
        ", up to 200 connections ·",
        "AMD EPYC",
        "plimsoll run",
    ] {
        let found =
            without.contains(needle) || needle == "<td>19,843" && without.contains(">19,843<");
        assert!(found, "{needle}");
    }
    assert_eq!(without.matches("<svg").count(), without.matches("<details>").count());
    assert!(without.matches("<tbody>").count() >= 5);
    assert!(without.contains("data-copies=\"command\" hidden"));
}

#[test]
fn cautions_are_not_in_the_colour_of_what_is_well() {
    let mut cautioned = sample::closed_loop();
    cautioned.validity = model::Validity {
        verdict: model::Verdict::Valid,
        reasons: vec![model::validity::Reason {
            code: model::validity::ReasonCode::KeepaliveRefused,
            consequence: model::Verdict::Valid,
            text: "the server closed connections".into(),
        }],
    };
    let page = run(&cautioned);
    assert!(page.contains("<span class=\"badge bound\">! note</span>"), "a note is a caution");
    assert!(page.contains("<div class=\"verdict valid\""));
    assert!(!page.contains("class=\"badge valid\""));
}

#[test]
fn sections_stand_in_their_order() {
    let at = |page: &str, id: &str| page.find(&format!("<section id=\"{id}\"")).unwrap();
    let page = run(&sample::closed_loop());
    let order = ["summary", "timeline", "latency", "errors", "environment", "reproduce"];
    assert!(order.map(|id| at(&page, id)).is_sorted());
    assert!(page.find("class=\"verdict").unwrap() < at(&page, "summary"));
}

#[test]
fn the_same_results_make_the_same_page() {
    assert_eq!(run(&sample::open_loop()), run(&sample::open_loop()));
    assert_eq!(diff_page(), diff_page());
}

#[test]
fn a_run_of_an_instant_has_words_and_no_empty_chart() {
    let mut run = sample::closed_loop();
    assert!(html::run(&run).contains("chart\" data-timeline"));
    run.slices.clear();
    run.timeline.truncate(1);
    run.timeline[0].duration_ns = 84_000_000;
    let page = html::run(&run);
    assert!(page.contains("too short to be drawn over time: 84.0ms"), "{page}");
    assert!(!page.contains("chart\" data-timeline"), "{page}");
}

#[test]
fn bounds_are_named_as_such() {
    let mut run = sample::closed_loop();
    assert!(!html::run(&run).contains("QPS, at least"));
    run.validity.verdict = model::Verdict::LowerBound;
    let page = html::run(&run);
    assert!(page.contains("QPS, at least") && page.contains("p99, at most"));
    // What was not sent at a fixed rate is in no latency.
    let mut run = sample::open_loop();
    run.validity.verdict = model::Verdict::LowerBound;
    let page = html::run(&run);
    assert!(page.contains("QPS, at least") && !page.contains(", at most"), "{page}");
    let text = crate::text::summary(&run, crate::text::Style::default());
    assert!(text.contains("QPS at least ") && !text.contains("mean at most"), "{text}");
}

#[test]
fn the_level_that_a_sweep_s_verdict_is_of_has_its_unit() {
    let page = sweep_page();
    let (_, after) = page.split_once("level with the highest QPS, ").expect("the level");
    let (level, _) = after.split_once('.').expect("it ends");
    assert!(level.ends_with(" connections"), "{level}");
}

#[test]
fn a_sweep_that_nobody_named_is_headed_by_its_url_alone() {
    let heading = |name: &str| {
        let mut swept = sample::sweep(name, 50_000.0, &[1, 100]);
        swept.url = "http://127.0.0.1:8080/healthz".to_owned();
        let curve = Curve::from_sweep(&swept).unwrap();
        let reading = verdict::curve::read(&curve, swept.objective_mean_ns);
        let page = sweep(&swept, &curve, &reading);
        let (_, after) = page.split_once("<h1>").expect("a heading");
        after.split_once("</h1>").expect("it ends").0.to_owned()
    };
    assert_eq!(heading("127.0.0.1-8080-healthz"), "http://127.0.0.1:8080/healthz");
    assert_eq!(heading("before"), "before: http://127.0.0.1:8080/healthz");
}

/// What kinds of responses came is in the page and in the text of all figures alike.
#[test]
fn kinds_of_responses_are_shown() {
    let mut of = sample::closed_loop();
    let kind = |beginning: &str, responses| model::kinds::ResponseKind {
        status: 200,
        media_type: Some("application/json".into()),
        beginning: Some(beginning.into()),
        least_bytes: 33,
        most_bytes: 34,
        responses,
        ..Default::default()
    };
    assert!(!run(&of).contains("Kinds of successful responses"));
    of.response_kinds = vec![kind("{\"ok\":true}", of.totals.requests)];
    let style = crate::text::Style { columns: 100, ..Default::default() };
    let text = crate::text::details(&of, false, style);
    assert!(
        text.contains("(100.00 %): 200, application/json of 33 to 34 bytes `{\"ok\":true}`"),
        "{text}"
    );
    of.response_kinds.push(kind("<b>{\"ok\":false}", of.totals.requests / 10));
    let page = run(&of);
    let (_, section) = page.split_once("Kinds of successful responses").expect("a table");
    let (table, _) = section.split_once("</table>").expect("its end");
    for cell in ["33 to 34", "10.00 %", "&lt;b&gt;{&quot;ok&quot;:false}"] {
        assert!(table.contains(cell), "{cell}: {table}");
    }
    assert!(!table.contains("endpoint"), "of one request: {table}");
}

/// Of a workload file as of a single URL: each endpoint's.
#[test]
fn kinds_of_responses_are_shown_of_each_endpoint() {
    let mut of = sample::mixed();
    let endpoint = |name: &str| model::EndpointPlan { name: name.into(), ..Default::default() };
    of.plan.mix.endpoints = vec![endpoint("GET /items/{id}"), endpoint("POST /orders")];
    let kind = |endpoint, status, responses| model::kinds::ResponseKind {
        endpoint,
        status,
        responses,
        ..Default::default()
    };
    // Those of one endpoint stand in the order of their number, and four of them.
    of.response_kinds =
        [200, 206, 203, 202, 201].map(|status| kind(0, status, status.into())).into();
    of.response_kinds.push(kind(1, 201, 77));
    let style = crate::text::Style { columns: 100, ..Default::default() };
    let text = crate::text::details(&of, false, style);
    let from = text.find("\nResponses ").expect("a section");
    let words: Vec<&str> = text[from..].split_whitespace().collect();
    let words = words.join(" ");
    let begins =
        ["Responses GET /items/{id} 206 (", "206 of 0 bytes 203 (", "203 of 0 bytes 202 ("];
    assert!(
        words.starts_with(begins[0]) && begins.iter().all(|part| words.contains(part)),
        "{words}"
    );
    assert!(words.contains("1 more kind in run.json (answer_kinds) POST /orders 77 ("), "{words}");
    let page = run(&of);
    assert!(page.contains("Kinds of successful responses") && page.contains("POST /orders"));
}

#[test]
fn levels_in_doubt_are_listed_by_what_they_are() {
    let mut curves = curves();
    for (row, verdict) in curves[1].rows.iter_mut().zip([
        model::Verdict::LowerBound,
        model::Verdict::Invalid,
        model::Verdict::LowerBound,
        model::Verdict::Valid,
    ]) {
        row.verdict = Some(verdict);
    }
    let joined = verdict::Diff::of(&curves).unwrap();
    let (judgements, watched) = (&[][..], &[][..]);
    let page =
        diff(&Comparison { curves: &curves, diff: &joined, judgements, watched, command: &[] });
    let words = "in doubt: 1 and 1,000 connections (LOWER_BOUND), 100 connections (INVALID).";
    assert!(page.contains(words), "{page}");
}

/// What only the judgement knows of, such as other bodies of one length, is no less a difference.
#[test]
fn a_comparison_whose_judgement_is_withheld_says_so_at_its_head() {
    use verdict::comparison::{Word, levels::AtLevel};

    let all = curves();
    let curves = &all[1..];
    let joined = verdict::Diff::of(curves).unwrap();
    let page = |withheld: &[&str]| {
        let comparison = verdict::Comparison {
            names: ["before".into(), "after".into()],
            margin: 0.02,
            by: String::new(),
            effects: Vec::new(),
            word: Word::Same,
            withheld: withheld.iter().map(|&why| why.to_owned()).collect(),
            invalid: false,
            notes: Vec::new(),
        };
        let judgements = [vec![AtLevel { level: 100.0, comparison }]];
        diff(&Comparison {
            curves,
            diff: &joined,
            judgements: &judgements,
            watched: &[],
            command: &[],
        })
    };
    let told = "after is not judged at 100 connections.";
    assert!(page(&["their responses differ"]).contains(told));
    assert!(!page(&[]).contains(told));
}

#[test]
fn a_comparison_of_too_few_rounds_has_no_empty_chart() {
    let judged = verdict::Comparison {
        names: ["before".into(), "after".into()],
        margin: 0.02,
        by: "2 interleaved rounds".into(),
        effects: Vec::new(),
        word: verdict::comparison::Word::CannotTell,
        withheld: Vec::new(),
        invalid: false,
        notes: vec!["2 rounds were made; judging needs at least 3".into()],
    };
    let page =
        comparison(&Compared { comparison: &judged, command: &[], source: &[], rounds: &[] });
    assert!(page.contains("No figure is compared"), "{page}");
    assert!(!page.contains("class=\"chart\""), "{page}");
    assert!(!page.contains("in the folder of this one"), "{page}");
    let rounds = [("round-01-old".to_owned(), "round-01-old/report.html".to_owned())];
    let page =
        comparison(&Compared { comparison: &judged, command: &[], source: &[], rounds: &rounds });
    assert!(page.contains("in the folder of this one"), "{page}");
}

#[test]
fn a_flag_and_a_share_stay_in_one_line() {
    let mut run = sample::closed_loop();
    run.command = ["plimsoll", "run", "http://h/a-b", "--out", "d"].map(String::from).to_vec();
    let page = html::run(&run);
    assert!(
        page.contains("plimsoll run http://h/a-b <span class=\"flag\">--out</span> d</code>"),
        "{page}"
    );
    let reason = |text: &str| model::validity::Reason {
        code: model::ReasonCode::ConnectionsExhausted,
        consequence: model::Verdict::LowerBound,
        text: text.to_owned(),
    };
    run.validity = model::Validity::of(vec![reason("Raise -c (and --max-inflight), by 5 % say.")]);
    let page = html::run(&run);
    let words = "Raise <span class=\"flag\">-c</span> (and <span class=\"flag\">--max-inflight),</span> \
                 by 5\u{a0}% say.";
    assert!(page.contains(words), "{page}");
}

#[test]
fn a_handful_of_requests_is_read_as_no_rate() {
    let mut few = fixture::sound::closed();
    (few.response_ns.count, few.totals.requests) = (3, 3);
    let page = run(&few);
    assert!(page.contains("The server answered 3 requests, too few for a rate"), "{page}");
    assert!(!page.contains("requests/s for "), "{page}");
    few.totals.limits = [("EMFILE".to_owned(), 1)].into();
    assert!(run(&few).contains("EMFILE, 1 time."));
}
