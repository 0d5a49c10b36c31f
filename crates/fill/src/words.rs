//! Texts that look right: names, mails, phones, addresses, sentences, in the language of a locale.
//!
//! Owns how they are put together; the words are those of the `fake` crate. What a locale lacks is taken from
//! English.

use std::fmt::Write as _;
use std::net::Ipv6Addr;

use fake::locales::{AR_SA, DE_DE, Data, EN, FR_FR, IT_IT, JA_JP, PT_BR, ZH_CN, ZH_TW};

use model::random::Draws;

use crate::kind::Kind;

/// Names of the locales.
pub const LOCALES: [&str; 10] =
    ["en", "zh_CN", "zh_TW", "ja_JP", "de_DE", "fr_FR", "it_IT", "pt_BR", "ar_SA", "en_US"];

/// Statuses where nothing is known of a column's values, the commonest first.
const STATUSES: [&str; 4] = ["active", "pending", "inactive", "archived"];
const ROLES: [&str; 3] = ["user", "editor", "admin"];
const CURRENCIES: [&str; 6] = ["USD", "EUR", "CNY", "GBP", "JPY", "INR"];
const LANGUAGES: [&str; 6] = ["en-US", "zh-CN", "de-DE", "fr-FR", "es-ES", "ja-JP"];
const AGENTS: [&str; 3] = [
    "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Safari/605.1.15",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0 Safari/537.36",
];

type List = Vec<&'static str>;

/// The words of a locale.
#[derive(Debug, Clone)]
pub struct Words {
    first: List,
    last: List,
    latin_first: List,
    latin_last: List,
    city_ends: List,
    states: List,
    countries: List,
    country_codes: List,
    companies: List,
    jobs: List,
    streets: List,
    words: List,
    script: Script,
}

/// How words are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    /// Given name first, blanks between words.
    Latin,
    /// Family name first, no blanks.
    Han,
}

impl Words {
    /// Those of a locale; none where it is not one of [`LOCALES`].
    pub fn of(locale: &str) -> Option<Self> {
        let plain = locale.replace('-', "_").to_ascii_lowercase();
        Some(match plain.as_str() {
            "en" | "en_us" => Self::in_language::<EN>(Script::Latin),
            "zh_cn" | "zh" => Self::in_language::<ZH_CN>(Script::Han),
            "zh_tw" => Self::in_language::<ZH_TW>(Script::Han),
            "ja_jp" | "ja" => Self::in_language::<JA_JP>(Script::Han),
            "de_de" | "de" => Self::in_language::<DE_DE>(Script::Latin),
            "fr_fr" | "fr" => Self::in_language::<FR_FR>(Script::Latin),
            "it_it" | "it" => Self::in_language::<IT_IT>(Script::Latin),
            "pt_br" | "pt" => Self::in_language::<PT_BR>(Script::Latin),
            "ar_sa" | "ar" => Self::in_language::<AR_SA>(Script::Latin),
            _ => return None,
        })
    }

    fn in_language<D: Data>(script: Script) -> Self {
        Self {
            first: filled(D::NAME_FIRST_NAME, EN::NAME_FIRST_NAME),
            last: filled(D::NAME_LAST_NAME, EN::NAME_LAST_NAME),
            latin_first: EN::NAME_FIRST_NAME.to_vec(),
            latin_last: EN::NAME_LAST_NAME.to_vec(),
            city_ends: filled(D::ADDRESS_CITY_SUFFIX, EN::ADDRESS_CITY_SUFFIX),
            states: filled(D::ADDRESS_STATE, EN::ADDRESS_STATE),
            countries: filled(D::ADDRESS_COUNTRY, EN::ADDRESS_COUNTRY),
            country_codes: filled(D::ADDRESS_COUNTRY_CODE, EN::ADDRESS_COUNTRY_CODE),
            companies: filled(D::COMPANY_SUFFIX, EN::COMPANY_SUFFIX),
            jobs: filled(D::JOB_FIELD, EN::JOB_FIELD),
            streets: filled(D::ADDRESS_STREET_SUFFIX, EN::ADDRESS_STREET_SUFFIX),
            words: filled(D::LOREM_WORD, EN::LOREM_WORD),
            script,
        }
    }

    /// Appends a text of this kind, of any length.
    pub fn write(&self, kind: Kind, draws: &mut Draws, out: &mut String) {
        match kind {
            Kind::FirstName => out.push_str(draws.one_of(&self.first)),
            Kind::LastName => out.push_str(draws.one_of(&self.last)),
            Kind::FullName => self.full_name(draws, out),
            Kind::Email => self.email(draws, None, usize::MAX, out),
            Kind::Username => self.username(draws, out),
            Kind::Phone => self.phone(draws, out),
            Kind::City => {
                out.push_str(draws.one_of(&self.last));
                out.push_str(draws.one_of(&self.city_ends));
            }
            Kind::State => out.push_str(draws.one_of(&self.states)),
            Kind::Country => out.push_str(draws.one_of(&self.countries)),
            Kind::CountryCode => out.push_str(draws.one_of(&self.country_codes)),
            Kind::Street => self.street(draws, out),
            Kind::Postcode => digits(draws, if self.script == Script::Han { 6 } else { 5 }, out),
            Kind::Company => {
                out.push_str(draws.one_of(&self.last));
                self.blank(out);
                out.push_str(draws.one_of(&self.companies));
            }
            Kind::Job => out.push_str(draws.one_of(&self.jobs)),
            Kind::Paragraph => self.sentences(draws, out),
            Kind::Slug => {
                for at in 0..3 {
                    out.push_str(if at > 0 { "-" } else { "" });
                    ascii(draws.one_of(EN::LOREM_WORD), out);
                }
            }
            Kind::Url => {
                out.push_str("https://example.com/");
                ascii(draws.one_of(EN::LOREM_WORD), out);
                out.push('/');
                digits(draws, 6, out);
            }
            Kind::Hash => hexadecimal(draws, 64, out),
            Kind::Token => hexadecimal(draws, 32, out),
            Kind::Uuid => uuid(draws.bits(), draws.bits(), out),
            Kind::Code => {
                for _ in 0..3 {
                    out.push(char::from(b'A' + draws.below(26) as u8));
                }
                out.push('-');
                digits(draws, 5, out);
            }
            Kind::Ip => {
                // Addresses for documentation and tests (RFC 2544, 198.18.0.0/15).
                let (block, host) = (18 + draws.below(2), draws.below(65_536));
                let _ = write!(out, "198.{block}.{}.{}", host / 256, host % 256);
            }
            Kind::Ip6 => {
                // Addresses for documentation (RFC 3849, 2001:db8::/32).
                let host = u128::from(draws.bits()) << 32 | u128::from(draws.bits() >> 32);
                let _ = write!(out, "{}", Ipv6Addr::from_bits(0x2001_0db8 << 96 | host));
            }
            Kind::Colour => {
                out.push('#');
                hexadecimal(draws, 6, out);
            }
            Kind::Status => out.push_str(skewed(draws, &STATUSES)),
            Kind::Role => out.push_str(skewed(draws, &ROLES)),
            Kind::Currency => out.push_str(skewed(draws, &CURRENCIES)),
            Kind::Language => out.push_str(skewed(draws, &LANGUAGES)),
            Kind::UserAgent => out.push_str(draws.one_of(&AGENTS)),
            Kind::Json => out.push_str("{}"),
            _ => self.title(draws, out),
        }
    }

    fn blank(&self, out: &mut String) {
        if self.script == Script::Latin {
            out.push(' ');
        }
    }

    fn full_name(&self, draws: &mut Draws, out: &mut String) {
        let (first, last) = (draws.one_of(&self.first), draws.one_of(&self.last));
        match self.script {
            Script::Latin => out.extend([first, " ", last]),
            Script::Han => out.extend([last, first]),
        }
    }

    /// With a number behind the name, where one is given, and of `most` characters.
    pub fn email(&self, draws: &mut Draws, number: Option<u64>, most: usize, out: &mut String) {
        const HOSTS: [&str; 3] = ["@example.com", "@example.org", "@example.net"];
        let start = out.len();
        ascii(draws.one_of(&self.latin_first), out);
        out.push('.');
        ascii(draws.one_of(&self.latin_last), out);
        let digits = number.map(|number| number.to_string()).unwrap_or_default();
        let host = draws.one_of(&HOSTS);
        let room = most.saturating_sub(digits.len() + host.len());
        // All of it is ASCII.
        out.truncate(start + room.min(out.len() - start));
        out.extend([digits.as_str(), host]);
    }

    fn username(&self, draws: &mut Draws, out: &mut String) {
        ascii(draws.one_of(&self.latin_first), out);
        out.push('_');
        ascii(draws.one_of(&self.latin_last), out);
    }

    /// The lowest number that looks like a phone's, and what stands before it.
    pub fn phones(&self) -> (&'static str, u64) {
        match self.script {
            Script::Han => ("", 13_000_000_000),
            Script::Latin => ("+", 15_550_000_000),
        }
    }

    fn phone(&self, draws: &mut Draws, out: &mut String) {
        let (before, lowest) = self.phones();
        let _ = write!(out, "{before}{}", lowest + draws.below(4_000_000_000));
    }

    fn street(&self, draws: &mut Draws, out: &mut String) {
        let (name, suffix) = (draws.one_of(&self.last), draws.one_of(&self.streets));
        let number = 1 + draws.below(400);
        let _ = match self.script {
            Script::Latin => write!(out, "{number} {name} {suffix}"),
            Script::Han => write!(out, "{name}{suffix}{number}号"),
        };
    }

    fn title(&self, draws: &mut Draws, out: &mut String) {
        let first = draws.one_of(&self.words);
        let mut letters = first.chars();
        out.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        out.push_str(letters.as_str());
        for _ in 0..1 + draws.below(2) {
            self.blank(out);
            out.push_str(draws.one_of(&self.words));
        }
    }

    fn sentences(&self, draws: &mut Draws, out: &mut String) {
        for sentence in 0..1 + draws.below(3) {
            if sentence > 0 {
                self.blank(out);
            }
            self.title(draws, out);
            for _ in 0..3 + draws.below(8) {
                self.blank(out);
                out.push_str(draws.one_of(&self.words));
            }
            out.push(if self.script == Script::Han { '。' } else { '.' });
        }
    }
}

/// What is not empty; the other list where nothing is left.
fn filled(list: &'static [&'static str], other: &'static [&'static str]) -> List {
    let kept: List = list.iter().copied().filter(|word| !word.is_empty()).collect();
    if kept.is_empty() { other.to_vec() } else { kept }
}

/// The first of a list three times as often as the second, and so on.
fn skewed<'a>(draws: &mut Draws, list: &[&'a str]) -> &'a str {
    let mut at = 0;
    while at + 1 < list.len() && draws.below(4) == 0 {
        at += 1;
    }
    list[at]
}

fn ascii(word: &str, out: &mut String) {
    let letters = word.chars().filter(char::is_ascii_alphanumeric);
    out.extend(letters.map(|c| c.to_ascii_lowercase()));
}

fn digits(draws: &mut Draws, count: u32, out: &mut String) {
    for at in 0..count {
        let digit = if at == 0 { 1 + draws.below(9) } else { draws.below(10) };
        out.push(char::from(b'0' + digit as u8));
    }
}

/// Appends hexadecimal digits.
pub fn hexadecimal(draws: &mut Draws, count: usize, out: &mut String) {
    let mut left = count;
    while left > 0 {
        let some = left.min(16);
        let digits = format!("{:016x}", draws.bits());
        out.push_str(&digits[..some]);
        left -= some;
    }
}

/// Whether a text is a UUID in small letters.
pub fn is_uuid(text: &str) -> bool {
    let fits = |(at, c): (usize, u8)| match at {
        8 | 13 | 18 | 23 => c == b'-',
        _ => c.is_ascii_digit() || (b'a'..=b'f').contains(&c),
    };
    text.len() == 36 && text.bytes().enumerate().all(fits)
}

/// Appends a random UUID (RFC 9562, version 4) with 122 of these bits, the first 60 of `high` among them.
pub fn uuid(high: u64, low: u64, out: &mut String) {
    let _ = write!(
        out,
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high >> 4 & 0xfff,
        0x8000 | low >> 48 & 0x3fff,
        low & 0xffff_ffff_ffff,
    );
}
