//! Logs drawn from labelled routes.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::LazyLock;

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use crate::routes::{Part, Route, Value};

/// An application: its routes, and the values that its parameters take.
pub struct App {
    pub routes: Vec<Route>,
    pools: HashMap<Value, Vec<String>>,
    seed: u64,
}

/// A log, and the route of every different request in it.
pub struct Log {
    pub text: String,
    pub requests: HashMap<(String, String), usize>,
}

impl App {
    pub fn new(routes: Vec<Route>, seed: u64) -> Self {
        let mut random = Pcg64::seed_from_u64(seed);
        // No value is a word that is fixed somewhere.
        let fixed: HashSet<String> = routes
            .iter()
            .flat_map(|route| &route.segments)
            .filter(|segment| segment.is_fixed())
            .map(|segment| segment.before.clone())
            .collect();
        let mut pools = HashMap::new();
        for route in &routes {
            let parts = route.segments.iter().chain(route.query.iter().map(|(_, part)| part));
            for value in parts.filter_map(|part| part.value.as_ref()) {
                pools.entry(value.clone()).or_insert_with(|| pool(value, &fixed, &mut random));
            }
        }
        Self { routes, pools, seed }
    }

    /// A log of about so many requests, by weight; every route is in it.
    pub fn log(&self, requests: usize) -> Log {
        let mut random = Pcg64::seed_from_u64(self.seed ^ 0x5eed);
        let total: u64 = self.routes.iter().map(|route| route.weight).sum();
        let mut order: Vec<usize> = Vec::new();
        for (at, route) in self.routes.iter().enumerate() {
            let count = route.weight as f64 / total as f64 * requests as f64;
            order.extend(std::iter::repeat_n(at, (count.round() as usize).max(1)));
        }
        shuffle(&mut order, &mut random);
        let mut log = Log { text: String::new(), requests: HashMap::new() };
        for (n, at) in order.into_iter().enumerate() {
            let route = &self.routes[at];
            let segments: Vec<String> =
                route.segments.iter().map(|part| self.fill(part, &mut random)).collect();
            let path = format!("/{}", segments.join("/"));
            let query: Vec<String> = route
                .query
                .iter()
                .map(|(name, part)| format!("{name}={}", self.fill(part, &mut random)))
                .collect();
            let target = match query.is_empty() {
                true => path.clone(),
                false => format!("{path}?{}", query.join("&")),
            };
            let _ = writeln!(
                log.text,
                "10.0.0.{} - - [23/Nov/2026:20:{:02}:{:02} +0000] \"{} {target} HTTP/1.1\" 200 17 \"-\" \"test\"",
                n % 250,
                n / 60 % 60,
                n % 60,
                route.method
            );
            log.requests.entry((route.method.clone(), path)).or_insert(at);
        }
        log
    }

    fn fill(&self, part: &Part, random: &mut Pcg64) -> String {
        let Some(value) = &part.value else { return part.before.clone() };
        let pool = &self.pools[value];
        // Some values come more often than others.
        let u = unit(random);
        let at = (u * u * pool.len() as f64) as usize;
        format!("{}{}{}", part.before, pool[at.min(pool.len() - 1)], part.after)
    }
}

fn unit(random: &mut Pcg64) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

fn below(random: &mut Pcg64, n: usize) -> usize {
    (unit(random) * n as f64) as usize
}

fn shuffle<T>(items: &mut [T], random: &mut Pcg64) {
    for at in (1..items.len()).rev() {
        items.swap(at, below(random, at + 1));
    }
}

fn pool(value: &Value, fixed: &HashSet<String>, random: &mut Pcg64) -> Vec<String> {
    if value.kind == "word" {
        return value.more.split('|').map(str::to_owned).collect();
    }
    let wanted: usize = value.more.parse().unwrap_or(1_000);
    if value.kind == "int" && wanted <= 400 {
        return (1..=wanted).map(|n| n.to_string()).collect();
    }
    let mut seen = HashSet::new();
    let mut pool = Vec::new();
    for _ in 0..wanted * 20 {
        let made = one(&value.kind, random);
        if !fixed.contains(&made) && seen.insert(made.clone()) {
            pool.push(made);
        }
        if pool.len() >= wanted {
            break;
        }
    }
    assert!(!pool.is_empty(), "{value:?}");
    pool
}

static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| WORD_LIST.split_whitespace().collect());
static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| NAME_LIST.split_whitespace().collect());

const WORD_LIST: &str = "amber anchor apple arrow autumn bamboo barrel basket beach blanket blossom boots \
bottle branch bread breeze bridge brush bucket butter button cabin camera candle canvas carpet castle cedar \
chair cherry circle clock cloud coast coffee copper corner cotton cradle cream crystal curtain desert dinner \
dragon dream eagle early ember engine evening falcon feather fence flame flower forest fossil fountain fresh \
garden ginger glass golden granite green guitar hammer harbor hazel hidden hollow honey horizon hunter island \
ivory jacket jasmine jungle kettle kitchen ladder lagoon lantern leather lemon linen little lotus magnet maple \
marble meadow mellow midnight mirror modern mountain narrow needle noble ocean olive orange orchid paper \
pebble pepper pillow planet pocket polar pond prairie purple quartz quiet rabbit rain ribbon river rocket \
rustic saddle salmon sandal scarlet shadow shelter silent silver simple smooth soft spiral spring summer sunset \
sweater table tender thunder tiger timber travel tulip valley velvet violet walnut warm water willow window \
winter wooden yellow zephyr the of in how why best guide with for";

const NAME_LIST: &str = "alice bob carol dave erin frank grace heidi ivan judy karl laura mallory nina oscar \
peggy quentin rupert sybil trent ursula victor wendy xavier yvonne zoe anna ben clara david emma finn greta hans \
ines jonas katja leon maria nico olga paul rosa sven tina uwe vera walter yusuf amir bela chen dmitri elif fatima \
goran hiro ingrid jorge kenji lucia mateo noor omar priya ravi sofia tomas umar valeria wei ximena yara zane \
octocat torvalds gaearon";

/// One of the words of a list, each split once.
fn word(list: &'static LazyLock<Vec<&'static str>>, random: &mut Pcg64) -> &'static str {
    list[below(random, list.len())]
}

fn letters(alphabet: &str, length: usize, random: &mut Pcg64) -> String {
    let letters = alphabet.as_bytes();
    (0..length).map(|_| char::from(letters[below(random, letters.len())])).collect()
}

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";
const HEX: &str = "0123456789abcdef";

fn slug(random: &mut Pcg64) -> String {
    let count = 2 + below(random, 5);
    let mut words: Vec<String> = (0..count).map(|_| word(&WORDS, random).to_owned()).collect();
    if below(random, 5) == 0 {
        words.push((1 + below(random, 2_000)).to_string());
    }
    words.join("-")
}

fn name(random: &mut Pcg64) -> String {
    let (first, second) = (word(&NAMES, random), word(&NAMES, random));
    match below(random, 6) {
        0 => first.to_owned(),
        1 => format!("{first}{}", below(random, 100)),
        2 => format!("{first}_{}", &second[..1]),
        3 => format!("{}{second}", &first[..1]),
        4 => format!("{first}{second}"),
        _ => word(&WORDS, random).to_owned(),
    }
}

fn one(kind: &str, random: &mut Pcg64) -> String {
    let mut number = |most: usize| below(random, most);
    match kind {
        "int" => (1 + number(9_000_000)).to_string(),
        "year" => (1995 + number(32)).to_string(),
        "month" => format!("{}-{:02}", 2015 + number(12), 1 + number(12)),
        "date" => format!("{}-{:02}-{:02}", 2015 + number(12), 1 + number(12), 1 + number(28)),
        "version" => format!("{}.{}.{}", number(20), number(30), number(40)),
        "float" => {
            let sign = if number(2) == 0 { "-" } else { "" };
            format!("{sign}{}.{}", number(90), 1 + number(9_999))
        }
        "uuid" => {
            let mut part = |length| letters(HEX, length, random);
            let (a, b, c, d, e) = (part(8), part(4), part(3), part(3), part(12));
            format!("{a}-{b}-4{c}-a{d}-{e}")
        }
        "hex" => {
            let length = [24, 32, 40][number(3)];
            letters(HEX, length, random)
        }
        "token" => {
            let length = 11 + number(12);
            letters(&format!("{LOWER}{UPPER}{DIGITS}"), length, random)
        }
        "base64" => {
            let length = 14 + 4 * number(5);
            letters(&format!("{LOWER}{UPPER}{DIGITS}"), length, random) + "%3D%3D"
        }
        "code" => match number(4) {
            0 => letters(UPPER, 2, random) + &letters(DIGITS, 4, random),
            1 => letters(UPPER, 3, random),
            2 => format!("SKU-{}", letters(DIGITS, 4, random)),
            _ => letters(UPPER, 1, random) + &letters(&format!("{UPPER}{DIGITS}"), 6, random) + "7",
        },
        "locale" => {
            const LOCALES: [&str; 14] = [
                "en", "de", "fr", "es", "it", "pt-BR", "nl", "pl", "ja", "zh-CN", "en-US", "sv",
                "ko", "tr",
            ];
            LOCALES[number(LOCALES.len())].to_owned()
        }
        "country" => {
            const COUNTRIES: [&str; 16] = [
                "DE", "FR", "US", "GB", "IT", "ES", "NL", "PL", "SE", "NO", "JP", "CN", "BR", "IN",
                "CA", "AU",
            ];
            COUNTRIES[number(COUNTRIES.len())].to_owned()
        }
        "file" => {
            let ending = ["pdf", "jpg", "png", "tar.gz", "csv", "zip"][number(6)];
            let stem = match number(3) {
                0 => slug(random).replace('-', "_"),
                1 => format!("IMG_{}", letters(DIGITS, 4, random)),
                _ => slug(random),
            };
            format!("{stem}.{ending}")
        }
        "email" => format!("{}.{}%40example.{}", name(random), word(&WORDS, random), "org"),
        "title" => {
            let count = 1 + below(random, 3);
            let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
            let words: Vec<String> = (0..count).map(|_| capital(word(&WORDS, random))).collect();
            words.join("_")
        }
        "name" => name(random),
        "slug" => slug(random),
        other => panic!("{other} is no kind"),
    }
}
