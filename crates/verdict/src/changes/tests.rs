use model::Interval;
use model::interval::{Phase, Tally};
use model::interval::{begins, length_class, place, wording};
use model::units::{MILLISECOND, SECOND};

use super::*;

/// A deterministic stream of numbers (SplitMix64).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// One response: what it looks like, its length and service time.
#[derive(Clone, Copy)]
struct Response(Look, u64, u64);

/// A response of status, media type, class of its beginning, length and service time, whose words are
/// those of its class.
const fn of(status: u16, media_type: u32, begins: u8, bytes: u64, ns: u64) -> Response {
    let (begins, wording) = (begins as u32, 2 + begins as u32);
    Response(Look { status, media_type, begins, wording }, bytes, ns)
}

/// The response 200 with a body of JSON.
fn body(text: &str, ns: u64) -> Response {
    let bytes = text.as_bytes();
    let (begins, wording) = (begins(bytes), wording(bytes));
    Response(Look { status: 200, media_type: 1, begins, wording }, text.len() as u64, ns)
}

/// A run of `seconds` with `per_s` responses each, made by `response` of the instant.
fn run(seconds: u32, per_s: u64, response: impl FnMut(u64) -> Response) -> Kinds {
    warmed_up(0, seconds, per_s, response)
}

/// The same, of which so many seconds are the warm-up.
fn warmed_up(
    warmup: u32,
    seconds: u32,
    per_s: u64,
    mut response: impl FnMut(u64) -> Response,
) -> Kinds {
    let mut kinds = Kinds::default();
    let mut last = Look::default();
    for index in 0..seconds {
        let phase = if index < warmup { Phase::Warmup } else { Phase::Window };
        let start_ns = u64::from(index) * SECOND;
        let mut tally = Tally::default();
        for n in 0..per_s {
            let at = start_ns + n * SECOND / per_s;
            let response = response(at);
            let turns = u64::from(std::mem::replace(&mut last, response.0) != response.0);
            count(&mut tally.kinds, response, turns, at);
        }
        kinds.add(&Interval { tally, ..Interval::new(index, phase, start_ns, start_ns + SECOND) });
    }
    kinds
}

fn count(kinds: &mut Vec<KindTally>, Response(look, bytes, ns): Response, turns: u64, at: u64) {
    let length = length_class(bytes);
    let Some((at_kind, look)) = place(kinds, 0, look, length) else { return };
    if at_kind == kinds.len() {
        let (first_ns, least_bytes) = (at, bytes);
        kinds.push(KindTally { look, length, first_ns, least_bytes, ..KindTally::default() });
    }
    let kind = &mut kinds[at_kind];
    kind.responses += 1;
    kind.last_ns = at;
    kind.least_bytes = kind.least_bytes.min(bytes);
    kind.most_bytes = kind.most_bytes.max(bytes);
    kind.service_sum_ns += ns;
    kind.turns += turns;
}

fn found(kinds: &Kinds) -> Option<ResponseChange> {
    find(kinds, &fixture::plan(), true).pop()
}

const JSON: Response = of(200, 1, b'{', 15, MILLISECOND);

#[test]
fn a_page_of_errors_with_a_good_status_is_dated() {
    let down = SECOND * 5 / 2;
    for after in [
        of(200, 1, b'a', 35, MILLISECOND),
        of(200, 2, b'<', 900, MILLISECOND),
        of(200, 1, b'{', 35, MILLISECOND),
        of(302, 1, b'{', 15, MILLISECOND),
        of(200, 2, b'{', 15, MILLISECOND),
    ] {
        for seconds in [4, 6, 300] {
            let kinds = run(seconds, 100, |at| if at < down { JSON } else { after });
            let change = found(&kinds).expect("a change");
            assert_eq!((change.how, change.since_ns), (Changed::ForGood, down), "{seconds}");
            assert_eq!((change.before.status, change.after.status), (200, after.0.status));
            assert_eq!(change.after.most_bytes, after.1);
        }
    }
}

#[test]
fn a_page_of_errors_since_the_warm_up_is_dated() {
    let page = of(200, 2, b'<', 900, MILLISECOND);
    for (one_request, down) in [(true, 2 * SECOND), (false, 2 * SECOND), (true, 2_100_000_000)] {
        let kinds = warmed_up(2, 6, 100, |at| if at < down { JSON } else { page });
        let change = find(&kinds, &fixture::plan(), one_request).pop().expect("a change");
        assert_eq!((change.how, change.since_ns), (Changed::ForGood, down));
        assert_eq!((change.before.most_bytes, change.after.most_bytes), (15, 900));
    }
    // Half of them, of the same media type.
    let (text, mut nth) = (of(200, 1, b'a', 35, MILLISECOND), 0);
    let kinds = warmed_up(2, 6, 100, |at| {
        nth += 1;
        if at >= 2 * SECOND && nth % 2 == 0 { text } else { JSON }
    });
    let change = find(&kinds, &fixture::plan(), false).pop().expect("a change");
    assert!(is_substantial(&change) && (change.share - 0.5).abs() < 0.01, "{}", change.share);
}

#[test]
fn what_the_warm_up_had_as_well_is_no_change() {
    let created = of(201, 1, b'{', 15, MILLISECOND);
    let mut draws = Draws(11);
    let mut mixed = |_: u64| if draws.below(4) == 0 { created } else { JSON };
    assert_eq!(find(&warmed_up(2, 6, 100, &mut mixed), &fixture::plan(), false), []);
    // Of a warm-up with few responses little is known.
    let at_first = |at: u64| if at < SECOND { created } else { JSON };
    assert_eq!(found(&warmed_up(1, 6, 10, at_first)), None);
    // Lists that grow.
    let grown = |at: u64| of(200, 1, b'[', if at < SECOND { 10 } else { 900 }, MILLISECOND);
    assert_eq!(find(&warmed_up(1, 6, 100, grown), &fixture::plan(), false), []);
}

/// It settled, or broke, before the window began.
#[test]
fn what_the_warm_up_alone_had_is_a_note() {
    let created = of(201, 1, b'{', 15, MILLISECOND);
    let at_first = |at: u64| if at < SECOND { created } else { JSON };
    for one_request in [true, false] {
        let kinds = warmed_up(2, 6, 100, at_first);
        let change = find(&kinds, &fixture::plan(), one_request).pop().expect("a note");
        assert!(change.how == Changed::Warmup && !is_substantial(&change), "{change:?}");
        assert_eq!((change.before.status, change.after.status, change.share), (201, 200, 0.5));
    }
    // A moment at its beginning.
    let a_moment = |at: u64| if at < SECOND / 5 { created } else { JSON };
    assert_eq!(found(&warmed_up(2, 6, 100, a_moment)), None);
}

#[test]
fn an_envelope_of_errors_as_long_as_the_response_is_seen() {
    let [ok, error] = [&b"{\"id\":17,\"name\":\"ada\"}"[..], b"{\"error\":\"no database\"}"];
    let response = |text: &[u8]| {
        let look = Look { status: 200, media_type: 1, begins: begins(text), wording: 0 };
        Response(look, 23, MILLISECOND)
    };
    let kinds = run(6, 100, |at| response(if at < 3 * SECOND { ok } else { error }));
    let change = found(&kinds).expect("a change");
    assert_eq!((change.how, change.since_ns), (Changed::ForGood, 3 * SECOND));
}

#[test]
fn a_page_of_errors_is_seen_after_bodies_of_every_length() {
    let mut draws = Draws(7);
    let kinds = run(6, 200, |at| match at {
        0..3_000_000_000 => of(200, 1, b'{', 1 << draws.below(20), MILLISECOND),
        _ => of(200, 2, b'<', 900, MILLISECOND),
    });
    let change = found(&kinds).expect("a change");
    assert_eq!((change.how, change.since_ns), (Changed::ForGood, 3 * SECOND));
}

#[test]
fn half_of_the_instances_going_bad_is_a_change() {
    let mut draws = Draws(3);
    let bad = of(200, 1, b'a', 35, MILLISECOND);
    let kinds = run(10, 200, |at| if at >= 4 * SECOND && draws.below(2) == 0 { bad } else { JSON });
    let change = found(&kinds).expect("a change");
    assert!(change.since_ns.abs_diff(4 * SECOND) < SECOND / 10, "{}", change.since_ns);
    assert!((change.share - 0.5).abs() < 0.1, "{}", change.share);
}

#[test]
fn half_of_the_instances_going_bad_in_the_last_second_is_a_change() {
    let bad = of(200, 1, b'a', 35, MILLISECOND);
    let until = |begins: u64, ends: u64| {
        let mut nth = 0;
        let kinds = run(3, 200, |at| {
            nth += 1;
            if (begins..ends).contains(&at) && nth % 2 == 0 { bad } else { JSON }
        });
        found(&kinds)
    };
    let change = until(SECOND * 5 / 2, 3 * SECOND).expect("a change");
    assert!(is_substantial(&change), "{change:?}");
    assert!(change.since_ns.abs_diff(SECOND * 5 / 2) < SECOND / 50, "{}", change.since_ns);
    assert!((change.share - 0.5).abs() < 0.05, "{}", change.share);
    assert_eq!(until(SECOND * 21 / 10, SECOND * 28 / 10), None, "not to the end");
    // A run by count may end within its first second.
    let mut nth = 0;
    let kinds = run(1, 400, |at| {
        nth += 1;
        if at >= SECOND / 2 && nth % 2 == 0 { bad } else { JSON }
    });
    assert!(found(&kinds).is_some_and(|change| is_substantial(&change)));
}

/// Its first requests have as long to wait as all others.
#[test]
fn a_kind_that_takes_long_does_not_begin_late() {
    let slow = of(200, 1, b'a', 35, 2 * SECOND);
    for (seconds, one_request) in [(3, true), (10, true), (10, false)] {
        let mut nth = 0;
        let kinds = run(seconds, 100, |at| {
            nth += 1;
            if at >= 2 * SECOND && nth % 4 == 1 { slow } else { of(200, 1, b'{', 15, SECOND) }
        });
        let change = find(&kinds, &fixture::plan(), one_request).pop();
        assert_eq!(change, None, "{seconds} s");
    }
}

#[test]
fn errors_that_begin_in_few_of_the_responses_are_dated() {
    let bad = body(r#"{"error":"database unavailable"}"#, MILLISECOND);
    let no = body(NO, MILLISECOND);
    for (bad, one_request) in [(bad, true), (bad, false), (no, true)] {
        for (share, per_s) in [(0.19, 1000), (0.05, 1000), (0.012, 2000)] {
            let mut draws = Draws(3);
            let begun = 3 * SECOND;
            let kinds = run(10, per_s, |at| {
                if at >= begun && draws.unit() < share { bad } else { body(OK, MILLISECOND) }
            });
            let change = find(&kinds, &fixture::plan(), one_request).pop().expect("a change");
            assert_eq!(change.how, Changed::ForGood);
            assert!(change.since_ns - begun < SECOND / 4, "{}", change.since_ns);
            assert!((change.share / share - 1.0).abs() < 0.3, "{}", change.share);
            assert!(!is_substantial(&change) && change.after.most_bytes == bad.1, "{change:?}");
        }
    }
}

/// A kind of JSON that came all along, drawn as often as it came.
fn drawn(text: &str, responses: u64) -> Kind {
    let Response(look, bytes, ns) = body(text, MILLISECOND);
    let cell = Cell { responses: responses / 10, least_bytes: bytes, most_bytes: bytes };
    let all = KindTally {
        look,
        length: length_class(bytes),
        responses,
        last_ns: 10 * SECOND,
        least_bytes: bytes,
        most_bytes: bytes,
        service_sum_ns: responses * ns,
        turns: responses,
        beginning: Some(text.into()),
        ..KindTally::default()
    };
    Kind { all, cells: vec![cell; 10] }
}

#[test]
fn errors_among_the_responses_are_told_by_their_words() {
    const GOOD: &str = r#"{"ok":true,"name":"Ada Lovelace"}"#;
    const BAD: &str = r#"{"ok":false,"error":"overloaded"}"#;
    let of =
        |kinds: &[Kind], one_request| change_of(&kinds.iter().collect::<Vec<_>>(), one_request);
    let change = of(&[drawn(GOOD, 9_000), drawn(BAD, 1_000)], true).expect("errors");
    assert_eq!((change.how, change.share), (Changed::Errors, 0.1));
    assert_eq!(change.after.beginning.as_deref(), Some(BAD));
    assert!(!is_substantial(&change), "words may be data");
    let page = drawn("<html>Sorry, error</html>", 19);
    let change = of(&[drawn(GOOD, 481), page], true).expect("errors");
    assert_eq!((change.how, change.share), (Changed::Errors, 0.038));
    for (kinds, one_request) in [
        // Too few, other words, different requests.
        (vec![drawn(GOOD, 9_000), drawn(BAD, 80)], true),
        (vec![drawn(GOOD, 300), drawn(BAD, 4)], true),
        (vec![drawn(GOOD, 9_000), drawn(r#"{"ok":true,"name":"Grace Hopper"}"#, 1_000)], true),
        (vec![drawn(GOOD, 9_000), drawn(BAD, 1_000)], false),
    ] {
        assert_eq!(of(&kinds, one_request), None, "{kinds:?}");
    }
    for all in [BAD, "<head><title>502 Bad Gateway</title>", "<head><title>Sign in</title>"] {
        let change = of(&[drawn(all, 9_000)], true).expect("nothing but errors");
        assert_eq!((change.how, change.share), (Changed::Errors, 1.0));
        assert_eq!(change.before, change.after);
    }
    // Bodies that vary.
    let mut many = [drawn(GOOD, 9_000), drawn(BAD, 1_000)];
    many.iter_mut().for_each(|kind| kind.all.look.wording = 0);
    assert_eq!(of(&many, true), None);
}

/// Kinds that are rare, come late by chance, stop again, become more, or are new words among many.
#[test]
fn rare_kinds_are_no_change() {
    type Kind = fn(at: u64, drawn: f64, draws: &mut Draws) -> Response;
    let mixes: [Kind; 5] = [
        |_, drawn, _| if drawn < 0.01 { of(200, 1, b'a', 35, MILLISECOND) } else { JSON },
        |_, drawn, _| if drawn < 0.0005 { of(200, 1, b'a', 35, MILLISECOND) } else { JSON },
        |at, drawn, _| {
            let now = (4 * SECOND..7 * SECOND).contains(&at);
            if now && drawn < 0.05 { of(200, 1, b'a', 35, MILLISECOND) } else { JSON }
        },
        |at, drawn, _| {
            let share = 0.01 + 0.05 * at as f64 / (10.0 * SECOND as f64);
            if drawn < share { of(200, 1, b'a', 35, MILLISECOND) } else { JSON }
        },
        |at, drawn, draws| {
            let known = 2 + (at > 5 * SECOND && drawn < 0.05) as u64;
            body(&format!("{{\"by\":\"{}\"}}", letters(26 * draws.below(known))), MILLISECOND)
        },
    ];
    for (nth, mix) in mixes.iter().enumerate() {
        for seed in 0..100 {
            let mut draws = Draws(seed);
            let kinds = run(10, 1000, |at| {
                let drawn = draws.unit();
                mix(at, drawn, &mut draws)
            });
            assert_eq!(found(&kinds), None, "mix {nth}, seed {seed}");
            assert_eq!(find(&kinds, &fixture::plan(), false), [], "mix {nth}, seed {seed}");
        }
    }
}

#[test]
fn lengths_of_one_class_that_jump_are_a_change() {
    let kinds = run(6, 100, |at| of(200, 1, b'{', if at < 3 * SECOND { 70 } else { 110 }, 1));
    let change = found(&kinds).expect("a change");
    assert_eq!((change.before.most_bytes, change.after.least_bytes), (70, 110));
    // Several requests may have responses of several lengths.
    assert_eq!(find(&kinds, &fixture::plan(), false), []);
}

#[test]
fn a_fast_kind_of_the_same_status_is_reported() {
    let mut draws = Draws(5);
    let fast = of(200, 1, b'a', 35, MILLISECOND / 50);
    let kinds = run(6, 100, |_| if draws.below(4) == 0 { fast } else { JSON });
    let change = found(&kinds).expect("two things at once");
    assert_eq!((change.how, change.after.most_bytes), (Changed::Faster, 35));
    let mut draws = Draws(5);
    let alike = of(200, 1, b'a', 35, MILLISECOND / 2);
    let mixed = run(6, 100, |_| if draws.below(4) == 0 { alike } else { JSON });
    assert_eq!(found(&mixed), None, "a mix that stays as it is");
}

#[test]
fn two_media_types_of_one_request_are_never_usual() {
    for (share, seen) in [(0.66, true), (0.05, true), (0.015, true), (0.002, false)] {
        let mut draws = Draws(9);
        let page = of(200, 2, b'<', 900, MILLISECOND);
        let kinds = run(10, 500, |_| if draws.unit() < share { page } else { JSON });
        let change = found(&kinds);
        assert_eq!(change.as_ref().map(|change| change.how), seen.then_some(Changed::Mixed));
        assert!(change.is_none_or(|change| is_substantial(&change)), "{share}");
        // Different requests of one endpoint may be for different things.
        let several = find(&kinds, &fixture::plan(), false);
        assert_eq!(several.len(), usize::from(seen), "{several:?}");
    }
    let mut draws = Draws(9);
    let kinds = run(10, 500, |_| match draws.below(2) {
        0 => of(200, 1, 0, 0, MILLISECOND),
        _ => of(200, 1, b'{', 15, MILLISECOND),
    });
    let change = found(&kinds).expect("half of them empty");
    assert_eq!((change.how, change.after.most_bytes), (Changed::Mixed, 0));
    let mut draws = Draws(9);
    let moved = of(302, 2, b'<', 900, MILLISECOND);
    let kinds = run(10, 500, |_| if draws.below(3) == 0 { moved } else { JSON });
    for change in [found(&kinds), find(&kinds, &fixture::plan(), false).pop()] {
        let change = change.expect("a third redirected");
        assert_eq!((change.how, change.after.status), (Changed::Redirects, 302));
        assert!((change.share - 1.0 / 3.0).abs() < 0.05 && !is_substantial(&change), "{change:?}");
    }
    let moved = run(10, 500, |_| moved);
    assert_eq!(found(&moved), None, "all of them, of which another rule says so");
}

#[test]
fn an_endpoint_that_turns_to_errors_is_named_whether_its_requests_differ_or_not() {
    let good = |id: u64| format!(r#"{{"ok":true,"items":[{{"id":{id},"name":"ada"}}]}}"#);
    let bad = r#"{"ok":false,"error":"no database"}"#;
    let kind = |text: &str, (from, to): (usize, usize)| {
        let mut kind = drawn(text, 1_000);
        kind.cells.iter_mut().enumerate().for_each(|(at, cell)| {
            cell.responses = if (from..to).contains(&at) { 200 } else { 0 };
        });
        (kind.all.first_ns, kind.all.last_ns) = (from as u64 * SECOND, to as u64 * SECOND - 1);
        kind
    };
    for one_request in [true, false] {
        let kinds = [kind(&good(7).repeat(9), (0, 5)), kind(bad, (5, 10))];
        let kinds: Vec<&Kind> = kinds.iter().collect();
        let change = change_of(&kinds, one_request).expect("a change");
        assert_eq!((change.how, change.since_ns), (Changed::ForGood, 5 * SECOND));
        assert_eq!(change.after.beginning.as_deref(), Some(bad));
        assert!(is_substantial(&change));
    }
    // Longer bodies that read as those before.
    let kinds = [kind(&good(7), (0, 5)), kind(&good(7).repeat(9), (5, 10))];
    assert_eq!(change_of(&kinds.iter().collect::<Vec<_>>(), false), None);
}

#[test]
fn words_of_an_endpoint_whose_request_never_changes_are_judged_as_those_of_one_request() {
    let kinds = run(6, 100, |at| body(if at < 3 * SECOND { OK } else { NO }, MILLISECOND));
    for unchanging in [true, false] {
        let mut plan = fixture::plan();
        let name = "list".to_owned();
        plan.mix.endpoints =
            vec![model::EndpointPlan { name, unchanging, ..model::EndpointPlan::default() }];
        let changes = find(&kinds, &plan, false);
        assert_eq!(changes.len(), usize::from(unchanging), "{changes:?}");
        let of_list = |change: &ResponseChange| change.endpoint.as_deref() == Some("list");
        assert!(changes.iter().all(of_list), "{changes:?}");
    }
}

const OK: &str = r#"{"status":"ok"}"#;
const NO: &str = r#"{"status":"no"}"#;

#[test]
fn a_word_that_changes_in_bodies_that_never_did_is_seen() {
    for fast in [MILLISECOND, MILLISECOND / 20] {
        let (ok, no) = (body(OK, MILLISECOND), body(NO, fast));
        let kinds = run(6, 100, |at| if at < 3 * SECOND { ok } else { no });
        let change = found(&kinds).expect("a change");
        assert_eq!((change.how, change.since_ns), (Changed::ForGood, 3 * SECOND));
        // Of several requests each may have a body of its own.
        assert_eq!(find(&kinds, &fixture::plan(), false), []);
    }
    let mut draws = Draws(5);
    let (ok, no) = (body(OK, MILLISECOND), body(NO, MILLISECOND / 20));
    let kinds = run(6, 100, |_| if draws.below(4) == 0 { no } else { ok });
    assert_eq!(found(&kinds).map(|change| change.how), Some(Changed::Faster));
}

#[test]
fn kinds_that_take_turns_are_seen_however_long_a_turn_is() {
    let words = [body(OK, MILLISECOND), body(NO, MILLISECOND)];
    let pages = [JSON, of(200, 2, b'<', 900, MILLISECOND)];
    for [one, other] in [words, pages] {
        for (seconds, turn, begins) in
            [(6, SECOND, 0), (6, SECOND, SECOND / 2), (300, SECOND, 0), (9, 3 * SECOND, 0)]
        {
            let is_one = |at: u64| ((at + begins) / turn).is_multiple_of(2);
            let kinds = run(seconds, 100, |at| if is_one(at) { one } else { other });
            let change = found(&kinds).expect("two kinds in turns");
            assert_eq!(change.how, Changed::Turns, "{seconds} s, turns of {turn} ns");
        }
    }
}

/// A run of `seconds` with 200 responses a second of which those are bad that come in the first `bad` of each `every`.
fn failing_now_and_then(seconds: u32, every: u64, bad: u64, service_ns: u64) -> Kinds {
    let [ok, no] = [body(OK, service_ns), body(NO, service_ns)];
    run(seconds, 200, |at| if (at + every / 2) % every < bad { no } else { ok })
}

#[test]
fn a_rare_kind_that_comes_again_and_again_is_seen() {
    const MS: u64 = MILLISECOND;
    for (seconds, every, bad) in [
        (6, SECOND, 100 * MS),
        (6, SECOND / 2, 50 * MS),
        (10, 2 * SECOND, 50 * MS),
        (10, SECOND, 150 * MS),
        (60, 10 * SECOND, SECOND),
        (300, 20 * SECOND, 2 * SECOND),
    ] {
        let change = found(&failing_now_and_then(seconds, every, bad, MILLISECOND));
        let change = change.unwrap_or_else(|| panic!("{bad} of {every} ns, {seconds} s"));
        assert_eq!(change.how, Changed::Turns);
        assert!((0.01..0.2).contains(&change.share), "{}", change.share);
    }
}

#[test]
fn a_rare_kind_of_one_moment_or_one_round_is_no_turn() {
    // Every second a cached body is out of date: as many requests as there are connections wait for it.
    for service_ns in [50 * MILLISECOND, 100 * MILLISECOND] {
        let kinds = failing_now_and_then(10, SECOND, 50 * MILLISECOND, service_ns);
        assert_eq!(found(&kinds), None, "{service_ns}");
    }
    let [ok, no] = [body(OK, MILLISECOND), body(NO, MILLISECOND)];
    for seed in 0..40 {
        let mut draws = Draws(seed);
        let (begins, odd) = ((1 + draws.below(5)) * SECOND / 2, draws.unit() / 200.0);
        // A restart, and a few stragglers at any time.
        let kinds = run(8, 200, |at| {
            let restart = (begins..begins + SECOND).contains(&at);
            if restart || draws.unit() < odd { no } else { ok }
        });
        assert_eq!(found(&kinds), None, "seed {seed}");
        // A rare kind at random.
        let share = draws.unit() / 5.0;
        let kinds = run(8, 200, |_| if draws.unit() < share { no } else { ok });
        assert_eq!(found(&kinds), None, "seed {seed}");
    }
}

#[test]
fn bunches_no_longer_than_a_service_time_are_no_turns() {
    // Twenty connections to two instances, each of which answers ten at once.
    let mut sent = 0;
    let kinds = run(10, 200, |_| {
        sent += 1;
        body(if sent / 10 % 2 == 0 { OK } else { NO }, 100 * MILLISECOND)
    });
    assert_eq!(found(&kinds), None);
}

#[test]
fn a_few_odd_responses_are_no_change() {
    let odd = of(200, 2, b'<', 900, MILLISECOND);
    let last = run(10, 100, |at| if at >= 10 * SECOND - SECOND / 20 { odd } else { JSON });
    assert_eq!(found(&last), None, "five responses at the end");
    let gone = run(10, 100, |at| {
        let odd = of(200, 1, b'<', 900, MILLISECOND);
        if (3 * SECOND..4 * SECOND).contains(&at) { odd } else { JSON }
    });
    assert_eq!(found(&gone), None, "not for good");
    let first = run(10, 100, |at| if at < SECOND / 20 { odd } else { JSON });
    assert_eq!(found(&first), None, "five responses at the start");
}

/// Healthy servers of many kinds; none may be named.
fn healthy(seed: u64) -> Kinds {
    let mut draws = Draws(seed);
    let seconds = 3 + draws.below(30) as u32;
    let per_s = 5 + draws.below(200);
    let base = 2 + draws.below(5000);
    let share = draws.unit();
    let kind = draws.below(31);
    let mut sent = 0u64;
    run(seconds, per_s, move |at| {
        sent += 1;
        let jitter = MILLISECOND + draws.below(MILLISECOND);
        match kind {
            // Bodies that never change; that vary a little; that vary much.
            0 => of(200, 1, b'{', base, jitter),
            1 => of(200, 1, b'{', base + draws.below(base / 8 + 2), jitter),
            2 => of(200, 1, b'[', 2 + draws.below(base * 4), jitter),
            // A counter in the body, growing by digits.
            3 => of(200, 1, b'{', 20 + (sent as f64).log10() as u64, jitter),
            // A list that grows with every request.
            4 => of(200, 1, b'[', 2 + sent * 30, jitter),
            // A cache that warms: slower at first.
            5 => of(200, 1, b'{', base, if at < SECOND { 20 * jitter } else { jitter }),
            // A stable mix of two kinds, some of them rare.
            6 if draws.unit() < share => of(200, 1, b'<', 900, jitter),
            6 => of(200, 1, b'{', base, jitter),
            // Numbers and words as plain text, compressed bodies of any first byte.
            7 => of(200, 3, [b'7', b'a', b'"'][draws.below(3) as usize], base, jitter),
            // Members in any order, names that are data.
            8 => of(200, 1, 0x80 | draws.below(30) as u8, base, jitter),
            9 => body(&format!("{{\"k{sent}\":1}}"), jitter),
            10..30 => body(&varied(kind, at, sent, share, &mut draws), jitter),
            _ => of(200, 1, if sent == 1 { b'a' } else { b'{' }, base, jitter),
        }
    })
}

/// Bodies of healthy servers that differ by their words or data, many or few, at random or in time.
fn varied(kind: u64, at: u64, sent: u64, share: f64, draws: &mut Draws) -> String {
    let word = |n: u64| ["ada", "bob", "cid", "dora", "eve", "fay", "gus", "hal"][(n % 8) as usize];
    let second = at / SECOND;
    match kind {
        // One text; one of two to eight at random; two of which one is rare.
        10 => r#"{"status":"ok"}"#.to_owned(),
        11..14 => format!(r#"{{"status":"{}"}}"#, word(draws.below(kind - 9))),
        14 => format!(r#"{{"who":"{}"}}"#, word(draws.below(8))),
        15 => format!(r#"{{"cached":{}}}"#, draws.unit() < share),
        // A clock, a counter, an identifier an instance or a response, a token.
        16 => format!(r#"{{"time":"2026-11-24T22:59:{second:02}Z"}}"#),
        17 => format!(r#"{{"uptime":"{second}.5s","served":{sent}}}"#),
        18 => format!(r#"{{"node":"{:08x}-{:04x}"}}"#, draws.next() >> 32, draws.below(1 << 16)),
        19 => format!(r#"{{"token":"{}"}}"#, letters(draws.next())),
        20 => format!(r#"{{"node":"i-0{:05x}"}}"#, second / 3),
        // A text that changes by itself every second, or every response.
        21 => format!(r#"{{"headline":"{}"}}"#, word(second)),
        22 => format!(r#"{{"headline":"{}"}}"#, word(sent)),
        // A list that grows, of numbers or of names; members in any order.
        23 => format!(r#"{{"seen":{:?}}}"#, (0..sent % 5).collect::<Vec<_>>()),
        24 => format!(r#"{{"seen":{:?}}}"#, (0..draws.below(9)).map(word).collect::<Vec<_>>()),
        25 if draws.below(2) == 0 => r#"{"id":7,"name":"ada"}"#.to_owned(),
        25 => r#"{"name":"ada","id":7}"#.to_owned(),
        // A long text with data at its end, a long number, a page, compressed bytes.
        26 => format!("{} {sent}", "lorem ipsum ".repeat(9)),
        27 => format!("{}", 10u128.pow(30) + u128::from(draws.next())),
        28 => format!("<p>Hello {}, it is {second} o'clock</p>", word(draws.below(3))),
        _ => format!("\u{1}{}", letters(draws.next())),
    }
}

/// Twelve letters.
fn letters(mut drawn: u64) -> String {
    let mut letter = || {
        drawn /= 26;
        char::from(b'a' + (drawn % 26) as u8)
    };
    (0..12).map(|_| letter()).collect()
}

#[test]
fn a_thousand_healthy_runs_are_not_named() {
    for seed in 0..3000 {
        let kinds = healthy(seed);
        assert_eq!(found(&kinds), None, "seed {seed}");
        assert_eq!(find(&kinds, &fixture::plan(), false), [], "seed {seed}");
    }
}

#[test]
fn nothing_panics_on_hostile_sums() {
    let mut kinds = Kinds::default();
    let hostile = KindTally {
        responses: u64::MAX,
        first_ns: u64::MAX,
        service_sum_ns: u64::MAX,
        most_bytes: u64::MAX,
        least_bytes: u64::MAX,
        ..KindTally::default()
    };
    for index in 0..4 {
        let look = Look { status: index as u16, media_type: 1, begins: 2, wording: 3 };
        kinds.add(&Interval {
            index,
            phase: Phase::Window,
            start_ns: u64::MAX,
            end_ns: 0,
            due: 0,
            tally: Tally {
                kinds: vec![hostile.clone(), KindTally { look, ..hostile.clone() }],
                ..Tally::default()
            },
            workers: Vec::new(),
            slices: Vec::new(),
            machine: None,
        });
    }
    let _ = found(&kinds);
}
