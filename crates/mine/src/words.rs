//! Words that stand in the paths of APIs and sites as they are, and endings of file names.

use std::collections::HashSet;
use std::sync::OnceLock;

use foldhash::fast::FixedState;

/// Words that are never a value, even where values stand beside them.
const RESERVED: &str = "me self mine new edit create search login logout signin signup signout register current latest \
    all count batch bulk export import stats health healthz status metrics popular trending recent \
    autocomplete suggest validate verify preview upload download settings config admin api graphql \
    feed rss sitemap archive tags categories random nearby active default public private upcoming \
    featured Main_Page a-z a-to-z";

/// Words of which fixed segments are commonly made.
const COMMON: &str = include_str!("words/common.txt");

/// Words of sites in German, French, Spanish, Italian, Portuguese, Dutch, Polish and Scandinavian languages.
const LANGUAGES_OF_SITES: &str = include_str!("words/languages.txt");

/// English words in general, without names of persons. Values are made of them too: one alone says little.
const GENERAL: &str = include_str!("words/general.txt");

/// Closed sets, one a line: words of one of them that stand side by side are values where the same follows each.
const SETS: &str = include_str!("words/sets.txt");

/// Two-letter languages (ISO 639-1) that begin paths, without those that are common English words.
const LANGUAGES: &str = "ar bg bn ca cs da de el en es et eu fa fi fr gl he hi hr hu id it ja ko lt lv ms nb nl nn no pl \
    pt ro ru sk sl sr sv ta th tr uk ur vi zh";

/// Endings of file names.
const EXTENSIONS: &str = "json xml html htm php csv tsv txt pdf jpg jpeg png gif svg webp avif ico css js mjs map woff \
    woff2 ttf otf eot mp3 mp4 webm m3u8 ts zip gz tgz bz2 xz 7z rar exe dmg apk deb rpm iso jar war \
    doc docx xls xlsx ppt pptx odt md rst rss atom ics yaml yml toml asp aspx jsp do cgi action \
    geojson kml kmz pbf mvt wasm webmanifest epub mobi wav ogg flac avi mov mkv swf bin dat log sql \
    parquet proto whl gem crate patch diff bib tif tiff bmp vcf eml sig asc sha256 md5 torrent rdf \
    ttl nt wsdl xsd plist";

/// Endings of files that a site's pages bring with them and that a proxy or a content network usually answers.
const STATIC: &str = "css js mjs map png jpg jpeg gif svg webp avif ico woff woff2 ttf otf eot mp3 mp4 webm m3u8 ts \
    webmanifest wasm swf";

/// Length of the longest of them.
const LONGEST_STATIC: usize = 11;

/// Marks of programs that are no users, in lower case.
const BOTS: &[&str] = &[
    "bot",
    "crawl",
    "spider",
    "slurp",
    "monitor",
    "pingdom",
    "uptime",
    "facebookexternalhit",
    "headlesschrome",
    "lighthouse",
    "scrapy",
    "wget/",
    "masscan",
    "zgrab",
    "nmap",
    "nikto",
    "sqlmap",
    "prerender",
    "archiver",
    "feedfetcher",
    "kube-probe",
    "healthchecker",
];

/// Whether this stands in paths as it is, whatever stands beside it: a reserved word, a hidden folder such as
/// `.well-known`, a word set apart by a sign before it (`+albums`), or no word at all.
pub(crate) fn is_reserved(segment: &[u8]) -> bool {
    let is_apart = matches!(segment, [b'.' | b'+', first, ..] if first.is_ascii_lowercase());
    is_apart || is_in_reserved(segment) || !segment.iter().any(u8::is_ascii_alphanumeric)
}

/// Whether letters of both cases are mostly words, a capital at the beginning of each: `ISteamUserStats`.
pub(crate) fn is_mostly_words(text: &[u8]) -> bool {
    const SHORTEST: usize = 3;
    let is_start = |at: usize| {
        text[at].is_ascii_uppercase()
            && (at == 0
                || !text[at - 1].is_ascii_uppercase()
                || text.get(at + 1).is_some_and(u8::is_ascii_lowercase))
    };
    let mut starts: Vec<usize> = (1..text.len()).filter(|at| is_start(*at)).collect();
    starts.insert(0, 0);
    starts.push(text.len());
    let words = starts.windows(2).map(|ends| text[ends[0]..ends[1]].to_ascii_lowercase());
    let known = words.filter(|word| word.len() >= SHORTEST && with_stem(word, is_in_general));
    known.map(|word| word.len()).sum::<usize>() * 2 > text.len()
}

/// Whether a segment is made of up to three words, all of which fixed segments are commonly made of.
pub(crate) fn is_wholly_common(segment: &[u8]) -> bool {
    is_made_of(segment, is_in_common)
}

/// As [`is_wholly_common`], of words in general.
pub(crate) fn is_wholly_general(segment: &[u8]) -> bool {
    is_made_of(segment, |word| {
        is_in_common(word) || with_stem(word, is_in_general) || is_compound(word)
    })
}

/// Whether a segment is made of up to three words that `known` says so of, letters of other alphabets aside.
fn is_made_of(segment: &[u8], known: impl Fn(&[u8]) -> bool) -> bool {
    let part = |word: &[u8]| known(&word.to_ascii_lowercase());
    // Words with figures in them, as they are written.
    let with_figures = |text: &[u8]| {
        text.split(|byte| matches!(byte, b'-' | b'_' | b'.')).all(|word| {
            match word.iter().any(u8::is_ascii_digit) {
                true => is_in_common(&word.to_ascii_lowercase()),
                false => !word.is_empty() && parts(word).all(part),
            }
        })
    };
    let made = |text: &[u8]| {
        (1..=3).contains(&parts(text).count()) && (parts_are(text, part) || with_figures(text))
    };
    match fold(segment) {
        Some(spellings) => spellings.iter().any(|text| made(text.as_bytes())),
        None => made(segment),
    }
}

/// Percent-encoded letters with marks as those without, in both spellings that are usual: `über` as `uber` and
/// `ueber`. Nothing where there are none.
fn fold(segment: &[u8]) -> Option<[String; 2]> {
    if !segment.contains(&b'%') {
        return None;
    }
    let text = crate::pools::decode(segment, false)?;
    let plain = |letter: char| match letter {
        'à'..='å' | 'ą' => "a",
        'æ' => "ae",
        'ç' | 'ć' => "c",
        'è'..='ë' | 'ę' => "e",
        'ì'..='ï' => "i",
        'ł' => "l",
        'ñ' | 'ń' => "n",
        'ò'..='ö' | 'ø' => "o",
        'ś' => "s",
        'ß' => "ss",
        'ù'..='ü' => "u",
        'ź' | 'ż' => "z",
        _ => "",
    };
    let longer = |letter: char| match letter {
        'ä' => "ae",
        'ö' => "oe",
        'ü' => "ue",
        'å' => "aa",
        other => plain(other),
    };
    let spelled = |by: &dyn Fn(char) -> &'static str| {
        let mut made = String::new();
        for letter in text.chars() {
            match by(letter) {
                "" => made.push(letter),
                others => made += others,
            }
        }
        made
    };
    Some([spelled(&plain), spelled(&longer)])
}

/// Whether a word or what it is a form of is known: `reassigned`, `assigns`, `categories`.
fn with_stem(word: &[u8], known: impl Fn(&[u8]) -> bool) -> bool {
    const SHORTEST: usize = 4;
    if known(word) {
        return true;
    }
    for (ending, own) in
        [("ies", "y"), ("es", ""), ("s", ""), ("ed", ""), ("d", ""), ("ing", ""), ("ing", "e")]
    {
        if let Some(stem) = word.strip_suffix(ending.as_bytes())
            && stem.len() + own.len() >= SHORTEST
            && known(&[stem, own.as_bytes()].concat())
        {
            return true;
        }
    }
    false
}

/// Whether a word is two that are known, without a sign between them: `paymentplans`, `kundenkonto`.
fn is_compound(word: &[u8]) -> bool {
    const SHORTEST: usize = 4;
    (SHORTEST..=word.len().saturating_sub(SHORTEST))
        .any(|at| [&word[..at], &word[at..]].iter().all(|part| is_in_general(part)))
}

/// Whether a segment is one word that fixed segments are commonly made of.
pub(crate) fn is_one_common(segment: &[u8]) -> bool {
    segment.iter().all(u8::is_ascii_lowercase) && is_in_common(segment)
}

/// Whether a segment is one English word in small letters.
pub(crate) fn is_one_general(segment: &[u8]) -> bool {
    segment.iter().all(u8::is_ascii_lowercase) && is_in_general(segment)
}

/// Whether a word looks like a plural: `orders`, and not `status`, `census`, `analysis`, `address`.
pub(crate) fn is_plural(word: &[u8]) -> bool {
    let singular = [b"ss".as_slice(), b"us", b"is"];
    word.ends_with(b"s") && !singular.iter().any(|ending| word.ends_with(ending))
}

/// Whether words are all of one closed set, such as sizes or days of the week.
pub(crate) fn are_of_one_set(words: &[&[u8]]) -> bool {
    let is_in = |set: &str, word: &[u8]| {
        set.split(' ').any(|member| member.as_bytes().eq_ignore_ascii_case(word))
    };
    SETS.lines().any(|set| words.iter().all(|word| is_in(set, word)))
}

fn parts_are(segment: &[u8], of: impl Fn(&[u8]) -> bool) -> bool {
    parts(segment).all(of) && !segment.iter().any(u8::is_ascii_digit)
}

/// Whether a segment is made of words that fixed segments are commonly made of: more than half of its letters.
pub(crate) fn is_common(segment: &[u8]) -> bool {
    let mut known = 0;
    let mut all = 0;
    for word in parts(segment) {
        all += word.len();
        let lower = word.to_ascii_lowercase();
        if is_in_common(&lower) {
            known += word.len();
        }
    }
    all > 0 && known * 2 > all
}

/// A list as a set, made the first time it is asked for.
type Set = OnceLock<HashSet<&'static [u8], FixedState>>;

fn contains(set: &Set, list: &'static str, word: &[u8]) -> bool {
    set.get_or_init(|| list.split_whitespace().map(str::as_bytes).collect()).contains(word)
}

fn is_in_common(word: &[u8]) -> bool {
    static SET: Set = OnceLock::new();
    static OTHERS: Set = OnceLock::new();
    contains(&SET, COMMON, word)
        || contains(&OTHERS, LANGUAGES_OF_SITES, word)
        || is_in_reserved(word)
}

fn is_in_general(word: &[u8]) -> bool {
    static SET: Set = OnceLock::new();
    contains(&SET, GENERAL, word) || is_in_common(word)
}

fn is_in_reserved(word: &[u8]) -> bool {
    static SET: Set = OnceLock::new();
    contains(&SET, RESERVED, word)
}

/// The words of a segment: parted by signs, and by capitals in camel case.
pub(crate) fn parts(segment: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = segment;
    std::iter::from_fn(move || {
        let from = rest.iter().position(u8::is_ascii_alphabetic)?;
        rest = &rest[from..];
        let inside = |pair: &[u8]| {
            pair[1].is_ascii_alphabetic()
                && !(pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        };
        let length = 1 + rest.windows(2).take_while(|pair| inside(pair)).count();
        let (word, after) = rest.split_at(length);
        rest = after;
        Some(word)
    })
}

/// Whether it is a language, perhaps with a country: `de`, `pt-BR`, `zh_Hant`.
pub(crate) fn is_locale(value: &[u8]) -> bool {
    let Some((language, rest)) = value.split_at_checked(2) else { return false };
    static SET: Set = OnceLock::new();
    contains(&SET, LANGUAGES, language)
        && match rest {
            [] => true,
            [b'-' | b'_', rest @ ..] => {
                matches!(rest.len(), 2 | 4) && rest.iter().all(u8::is_ascii_alphabetic)
            }
            _ => false,
        }
}

/// Whether a locale is of a language that most sites in several languages have.
pub(crate) fn is_widely_spoken(locale: &[u8]) -> bool {
    [b"en", b"de", b"fr", b"es", b"pt", b"zh", b"ja"].iter().any(|wide| locale.starts_with(*wide))
}

/// Where the ending of a file name begins, its point included; two endings where the last is of a compressed file.
pub(crate) fn extension(segment: &[u8]) -> Option<usize> {
    let at = memchr::memrchr(b'.', segment)?;
    let ending = segment[at + 1..].to_ascii_lowercase();
    static SET: Set = OnceLock::new();
    if !contains(&SET, EXTENSIONS, &ending) {
        return None;
    }
    let before = matches!(ending.as_slice(), b"gz" | b"bz2" | b"xz")
        .then(|| segment[..at].strip_suffix(b".tar").map(<[u8]>::len))
        .flatten();
    Some(before.unwrap_or(at))
}

/// Whether a path is that of a file which pages bring with them.
pub(crate) fn is_static(path: &[u8]) -> bool {
    let end = &path[path.len().saturating_sub(LONGEST_STATIC + 1)..];
    let Some(at) = end.iter().rposition(|byte| matches!(byte, b'.' | b'/')) else { return false };
    if end[at] == b'/' {
        return false;
    }
    let ending = &end[at + 1..];
    let mut lower = [0; LONGEST_STATIC];
    let Some(lower) = lower.get_mut(..ending.len()) else { return false };
    lower.copy_from_slice(ending);
    lower.make_ascii_lowercase();
    static SET: Set = OnceLock::new();
    contains(&SET, STATIC, lower)
}

/// Whether a `User-Agent` says that it is no browser or client of a person.
pub(crate) fn is_bot(agent: &[u8]) -> bool {
    let lower = agent.to_ascii_lowercase();
    BOTS.iter().any(|mark| memchr::memmem::find(&lower, mark.as_bytes()).is_some())
}
