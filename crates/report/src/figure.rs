//! Figures as words: grouped counts, rates, shares, sizes, and text from outside made harmless.
//!
//! Owns rounding for text, tables and pages as far as `verdict::figures`, which sentences share, does
//! not. Durations are `model::units`'; the charts round for their axes
//! themselves; numbers that programs read keep every digit and do not pass through here.

use std::collections::BTreeSet;

use model::quote::is_obeyed;
pub(crate) use model::quote::{counted, grouped as count};
use model::units::{Nanos, SECOND, show_duration};
use unicode_width::UnicodeWidthChar;
use verdict::figures;
pub(crate) use verdict::figures::{level, rate};

/// A share in per cent with two decimals: `100.00 %` only of all, and what would round to nothing is
/// `<0.01 %`.
pub(crate) fn share(ratio: f64) -> String {
    if ratio > 0.0 && ratio < 5e-5 { "<0.01 %".to_owned() } else { figures::share(ratio) }
}

/// The share of `part` in `whole`, as [`share`]; `-` of nothing.
pub(crate) fn share_of(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { share(part as f64 / whole as f64) }
}

/// A time that was measured, `-` where none was: no request takes 0 ns.
pub(crate) fn measured(nanos: Nanos) -> String {
    if nanos == 0 { "-".to_owned() } else { show_duration(nanos) }
}

/// A size in bytes with binary suffixes: `412.5 MiB`.
pub(crate) fn bytes(n: f64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if n < 1024.0 {
        return format!("{n:.0} B");
    }
    let mut value = n / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// An instant as results have it (RFC 3339), to the minute: `2026-11-23 12:01 UTC`. What is none is shown as it is.
pub(crate) fn date(instant: &str) -> String {
    match moment(instant) {
        Some([day, time, zone]) => format!("{day} {} {zone}", &time[..MINUTE]),
        None => clean(instant, 40),
    }
}

/// From one instant to another: to the second where one of them is inside of a minute, with day and zone named once
/// where they are the same: `2026-11-23 20:00 to 21:00 +01:00`.
pub(crate) fn span(from: &str, to: &str) -> String {
    let (Some(first), Some(last)) = (moment(from), moment(to)) else {
        return format!("{} to {}", clean(from, 40), clean(to, 40));
    };
    let ([day, begins, zone], [last_day, ends, last_zone]) = (first, last);
    let whole_minutes = [begins, ends].iter().all(|time| time.ends_with(":00"));
    let shown = if whole_minutes { MINUTE } else { SECONDS };
    let zone = if zone == last_zone { String::new() } else { format!(" {zone}") };
    let last_day = if day == last_day { String::new() } else { format!("{last_day} ") };
    format!("{day} {}{zone} to {last_day}{} {last_zone}", &begins[..shown], &ends[..shown])
}

/// Characters of a time to the minute, and to the second.
const MINUTE: usize = 5;
const SECONDS: usize = 8;

/// Day, time to the second and zone of an instant; nothing of what is none.
fn moment(instant: &str) -> Option<[&str; 3]> {
    let harmless = |byte: u8| byte.is_ascii_digit() || b"-+:.TZ".contains(&byte);
    if !instant.bytes().all(harmless) || instant.get(10..11) != Some("T") {
        return None;
    }
    let (day, time) = (instant.get(..10)?, instant.get(11..11 + SECONDS)?);
    let zone = instant.get(11 + SECONDS..)?;
    let zone = zone.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    match zone {
        "" => None,
        "Z" | "+00:00" => Some([day, time, "UTC"]),
        zone => Some([day, time, zone]),
    }
}

/// Nanoseconds as seconds, for the charts.
pub(crate) fn seconds(nanos: Nanos) -> f64 {
    nanos as f64 / SECOND as f64
}

/// Text from outside on one line: control and direction-changing characters become `·`, and what is
/// wider than `most` columns ends in `…`.
pub(crate) fn clean(text: &str, most: usize) -> String {
    let shown = |c: char| if hidden(c) { '·' } else { c };
    let mut out = String::new();
    let (mut used, mut kept) = (0, 0);
    for c in text.chars().map(shown) {
        used += columns_of(c);
        if used > most {
            out.truncate(kept);
            out.push('…');
            break;
        }
        out.push(c);
        if used < most {
            kept = out.len();
        }
    }
    out
}

/// As [`clean`], but what is too wide loses its beginning, as `…`.
pub(crate) fn clean_end(text: &str, most: usize) -> String {
    let backwards: String = text.chars().rev().collect();
    clean(&backwards, most).chars().rev().collect()
}

/// How many columns a character takes; one that joins the character before it counts as one too, so that they are
/// bounded.
fn columns_of(c: char) -> usize {
    c.width().unwrap_or(1).max(1)
}

/// Two names as [`clean`] has them; where that leaves them alike, or one of them the beginning of the other, though they
/// are not, both lose what they begin with in common instead.
pub(crate) fn distinct_names(names: [&str; 2], most: usize) -> [String; 2] {
    let short = names.map(|name| clean(name, most));
    let begins = |at: usize| {
        let kept = short[at].strip_suffix('…');
        kept.is_some_and(|kept| short[1 - at].starts_with(kept))
    };
    if names[0] == names[1] || (short[0] != short[1] && !begins(0) && !begins(1)) {
        return short;
    }
    let alike = names[0].chars().zip(names[1].chars()).take_while(|(a, b)| a == b).count();
    // What stands right before the difference helps to read it.
    let from = alike.saturating_sub(most / 3);
    names.map(|name| {
        let rest: String = name.chars().skip(from).collect();
        format!("…{}", clean(&rest, most - 1))
    })
}

/// Names as [`clean`] has them; where that leaves some alike that are not, those that are too wide lose their middle
/// instead: paths that begin alike end differently.
pub(crate) fn short_names(names: &[&str], most: usize) -> Vec<String> {
    let short: Vec<String> = names.iter().map(|name| clean(name, most)).collect();
    let kinds = short.iter().collect::<BTreeSet<_>>().len();
    if kinds == names.iter().collect::<BTreeSet<_>>().len() {
        return short;
    }
    names.iter().map(|name| without_middle(name, most)).collect()
}

/// As [`clean`], but what is too wide loses its middle, as `…`.
fn without_middle(name: &str, most: usize) -> String {
    let short = clean(name, most);
    if short == clean(name, usize::MAX) {
        return short;
    }
    let first = most / 3;
    let head = clean(name, first);
    head.trim_end_matches('…').to_owned() + &clean_end(name, most - first + 1)
}

fn hidden(c: char) -> bool {
    c.is_control() || is_obeyed(c) || invisible(c)
}

/// Characters that show nothing, but change how what stands beside them is shown or compared.
pub(crate) fn invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Words broken into lines of at most `width` columns; a longer word is broken anywhere. A number stays beside its
/// per cent sign.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let columns = |word: &str| word.chars().map(columns_of).sum::<usize>();
    let mut lines = Vec::new();
    let (mut line, mut used) = (String::new(), 0);
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let needed = columns(word);
        let is_number = word.ends_with(|c: char| c.is_ascii_digit());
        let sign = words.peek().copied().filter(|next| is_number && next.starts_with('%'));
        let beside = sign.map_or(0, |sign| 1 + columns(sign));
        let beside = if needed + beside <= width { beside } else { 0 };
        if used > 0 && used + 1 + needed + beside > width {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        for c in word.chars() {
            if used > 0 && used + columns_of(c) > width {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push(c);
            used += columns_of(c);
        }
    }
    lines.push(line);
    lines
}

/// A command as a POSIX shell takes it: words that need it stand in single quotes; those with characters that cannot be
/// seen in `$'...'`, where these are spelled (POSIX.1-2024, bash, zsh).
pub fn shell(command: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    let quote = |word: &String| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else if word.chars().any(hidden) {
            format!("$'{}'", word.chars().map(spelled).collect::<String>())
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    command.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// A character between `$'` and `'`.
fn spelled(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        '\r' => "\\r".to_owned(),
        '\\' | '\'' => format!("\\{c}"),
        c if !hidden(c) => c.to_string(),
        // Octal: three digits at most, whatever follows.
        c => c.to_string().bytes().map(|byte| format!("\\{byte:03o}")).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_as_words() {
        assert_eq!(
            [count(0), count(999), count(1_000), count(1_234_567)],
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            [bytes(12.0), bytes(1536.0), bytes(412.45 * 1048576.0)],
            ["12 B", "1.5 KiB", "412.4 MiB"]
        );
    }

    #[test]
    fn a_number_is_not_broken_from_its_per_cent_sign() {
        assert_eq!(wrap("success 99.00 %, mean", 15), ["success", "99.00 %, mean"]);
        assert_eq!(wrap("success 99.00 %, mean", 16), ["success 99.00 %,", "mean"]);
        // Where both have no room in one line, they stand in two.
        assert_eq!(wrap("a 99.00 %", 5), ["a", "99.00", "%"]);
    }

    #[test]
    fn dates_are_read_to_the_minute() {
        assert_eq!(date("2026-11-23T12:01:46Z"), "2026-11-23 12:01 UTC");
        assert_eq!(date("2026-11-23T12:01:46.25Z"), "2026-11-23 12:01 UTC");
        assert_eq!(date("\u{1b}[31m12345T12:01:46Z"), "·[31m12345T12:01:46Z");
        assert_eq!(date("2026-11-23T12:01:46+02:00"), "2026-11-23 12:01 +02:00");
        for other in ["", "yesterday", "2026-11-23T12:01:46", "TZ", "ä2026-11-23T12:01Z"] {
            assert_eq!(date(other), other);
        }
    }

    #[test]
    fn a_span_names_day_and_zone_once() {
        for (from, to, told) in [
            ("T20:00:00+01:00", "2026-11-23T21:00:00+01:00", " 20:00 to 21:00 +01:00"),
            ("T23:30:00Z", "2026-11-24T00:30:00Z", " 23:30 to 2026-11-24 00:30 UTC"),
            ("T00:00:00+00:00", "2026-11-23T23:59:58+00:00", " 00:00:00 to 23:59:58 UTC"),
            ("T01:30:00+02:00", "2026-11-23T02:30:00+01:00", " 01:30 +02:00 to 02:30 +01:00"),
            ("T20:00:00+01:00", "\u{1b}[31m", "T20:00:00+01:00 to ·[31m"),
        ] {
            assert_eq!(span(&format!("2026-11-23{from}"), to), format!("2026-11-23{told}"));
        }
    }

    #[test]
    fn one_failure_in_a_million_is_not_a_hundred_per_cent() {
        assert_eq!(share_of(999_999, 1_000_000), "99.99 %");
        assert_eq!(share_of(1, 1_000_000), "<0.01 %");
        assert_eq!([share(1.0), share(0.0), share(0.8615)], ["100.00 %", "0.00 %", "86.15 %"]);
        assert_eq!(share_of(0, 0), "-");
    }

    #[test]
    fn names_that_begin_alike_keep_their_ends() {
        let paths = ["GET /api/v1/orders/{id}/items", "GET /api/v1/orders/{id}/notes", "GET /"];
        let short = ["GET /a…ers/{id}/items", "GET /a…ers/{id}/notes", "GET /"];
        assert_eq!(short_names(&paths, 21), short);
        assert!(short.iter().all(|name| name.chars().count() <= 21));
        assert_eq!(short_names(&paths, 29), paths);
        // Those that differ where they begin are cut where they end, as everything is.
        assert_eq!(short_names(&["abcdef", "xbcdef"], 4), ["abc…", "xbc…"]);
        assert_eq!(short_names(&["abcdef", "abcdef"], 4), ["abc…", "abc…"]);
    }

    #[test]
    fn terminals_are_not_at_the_mercy_of_servers() {
        assert_eq!(clean("a\u{1b}[31mb\r\n\u{202e}c", 80), "a·[31mb···c");
        assert_eq!(clean("a\u{61c}b\u{2062}c\u{e0041}d\u{ad}", 80), "a·b·c·d·");
        assert_eq!(clean("abcdef", 4), "abc…");
        assert_eq!(distinct_names(["abcdef", "xbcdef"], 4), ["abc…", "xbc…"]);
        assert_eq!(distinct_names(["abcdef", "abcdef"], 4), ["abc…", "abc…"]);
        let urls = ["http://api/queue?mean=2ms&seed=1", "http://api/queue?mean=3ms&seed=1"];
        assert_eq!(distinct_names(urls, 16), ["…mean=2ms&seed=1", "…mean=3ms&seed=1"]);
        let urls = ["http://h:8080/slow", "http://h:8080/"];
        assert_eq!(distinct_names(urls, 15), ["…8080/slow", "…8080/"]);
        assert_eq!(distinct_names(["v1", "v1-new"], 15), ["v1", "v1-new"]);
        assert_eq!(distinct_names(["long-name", "long-name-2"], 6), ["…me", "…me-2"]);
        assert_eq!(distinct_names(["\u{1}\u{1}\u{1}a", "\u{1}\u{1}\u{1}b"], 3), ["…·a", "…·b"]);
        assert_eq!(clean("abcd", 4), "abcd");
        assert_eq!(clean("日本語", 6), "日本語");
        assert_eq!([clean("日本語", 5), clean("日本語", 4)], ["日本…", "日…"]);
        assert_eq!(clean(&"e\u{301}".repeat(9), 4).chars().count(), 4);
    }

    #[test]
    fn lines_hold_what_fits() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("日本語 ab 日本", 7), ["日本語", "ab 日本"]);
        assert_eq!(wrap("日本語日本", 5), ["日本", "語日", "本"]);
    }

    #[test]
    fn commands_can_be_pasted() {
        let words = ["plimsoll", "run", "-H", "X: it's", "http://h/?a=1&b", ""].map(String::from);
        assert_eq!(shell(&words), r"plimsoll run -H 'X: it'\''s' 'http://h/?a=1&b' ''");
        let odd = ["-d".to_owned(), "a\n\tit's \\ \u{1b}7\u{202e}é".to_owned()];
        assert_eq!(shell(&odd), r"-d $'a\n\tit\'s \\ \0337\342\200\256é'");
    }
}
