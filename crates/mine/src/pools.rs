//! The values of an endpoint's parameters as a pool: a row for each set of values that came together, with its
//! weight, so that requests ask for what is there as often as they did.

use std::collections::{BTreeMap, HashMap, HashSet};

use foldhash::fast::FixedState;
use model::mined::Parameter;
use model::secret::{Neighbour, holds_secret};

use crate::given::GIVEN_KIND;
use crate::rows::Rows;
use crate::segment;
use crate::tally::{Endpoint, SECRET, SEPARATOR, Variant};
use crate::template::{Piece, Template};

/// Rows of a pool at most.
const MOST_ROWS: usize = 8_192;
/// Examples of a parameter.
const EXAMPLES: usize = 5;
/// Length of an example.
const LONGEST_EXAMPLE: usize = 60;

/// Values with their weights.
type Counts<'a> = HashMap<&'a str, f64, FixedState>;

/// A parameter of a variant with its values.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// The name with the word before it, where it is one of the path's.
    pub(crate) full_name: String,
    pub(crate) in_path: bool,
    pub(crate) content: Content,
}

/// What a parameter holds.
#[derive(Debug, PartialEq)]
pub(crate) enum Content {
    /// Always this.
    Fixed(String),
    /// The column of this name.
    Column(String),
    /// Credentials, which are not written: a variable of the environment stands for them.
    Secret,
}

/// Columns, and the rows of those that are no constants.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    /// Values, each row with its weight.
    pub(crate) rows: Vec<(Vec<String>, f64)>,
    /// Rows left out since they hold something that cannot be written, or credentials.
    pub(crate) left_out: usize,
    /// Rows, also once they are written and cleared away.
    pub(crate) held: usize,
    /// Different rows that the log has: an estimate where they were too many to keep.
    pub(crate) logged: u64,
    /// Different rows that the log has for each that is here.
    pub(crate) stands_for: f64,
    /// The standard error of that, as a share of it.
    pub(crate) error: f64,
}

impl Table {
    /// The table of a variant with its rows.
    pub(crate) fn of(
        variant: &Variant,
        from: &Rows,
        template: &Template,
        keep_secrets: &[String],
    ) -> Self {
        let names = names(variant, template);
        let exact = from.is_exact();
        let kept = |name: &str| keep_secrets.iter().any(|kept| kept == name);
        let mut table = Self::default();
        let mut decoded: Vec<(Vec<String>, f64)> = Vec::new();
        for (weight, row) in from.sampled(MOST_ROWS) {
            let cells: Vec<&[u8]> = row.split(|byte| *byte == SEPARATOR).collect();
            let in_path = template.parameters.len();
            let texts: Option<Vec<String>> = cells[..cells.len() - 1]
                .iter()
                .enumerate()
                .map(|(at, cell)| decode(cell, at >= in_path))
                .collect();
            match texts {
                Some(texts) if texts.len() == names.len() => decoded.push((texts, weight)),
                _ => table.left_out += 1,
            }
        }
        let neighbours: Vec<Neighbour> = names
            .iter()
            .map(|(name, in_path)| match in_path {
                // The template has those apart.
                true => Neighbour::Plain,
                false => about(name, template),
            })
            .collect();
        // Asked once for each value, since it is what takes long here.
        let marks: Vec<u64> = decoded.iter().map(|(texts, _)| marks(texts, &neighbours)).collect();
        let secrets: Vec<bool> = names
            .iter()
            .enumerate()
            .map(|(at, (name, _))| !kept(name) && is_secret(&marks, at))
            .collect();
        let open = |(at, (name, _)): (usize, &(String, bool))| !secrets[at] && !kept(name);
        let open = names.iter().enumerate().filter(|column| open(*column));
        let open = open.fold(0, |bits, (at, _)| bits | 1 << at);
        let before = decoded.len();
        let mut marks = marks.into_iter();
        decoded.retain(|_| marks.next().is_some_and(|marks| marks & open == 0));
        table.left_out += before - decoded.len();
        let rows = decoded.len().max(1) as f64;
        table.stands_for = if exact { 1.0 } else { (from.distinct() as f64 / rows).max(1.0) };
        table.error = from.distinct_error();
        table.fill(template, names, &secrets, decoded, exact);
        table.held = table.rows.len();
        table.logged = if exact { table.held as u64 } else { from.distinct() };
        table
    }

    fn fill(
        &mut self,
        template: &Template,
        names: Vec<(String, bool)>,
        secrets: &[bool],
        decoded: Vec<(Vec<String>, f64)>,
        exact: bool,
    ) {
        let mut varying = Vec::new();
        let mut taken = HashSet::from(["weight".to_owned()]);
        for (at, (name, in_path)) in names.into_iter().enumerate() {
            let full_name = if in_path { whose(template, at) } else { name.clone() };
            let first = decoded.first().map(|(texts, _)| texts[at].clone());
            let same = decoded.iter().all(|(texts, _)| Some(&texts[at]) == first.as_ref());
            let content = match first {
                _ if secrets[at] => Content::Secret,
                // Nothing is left that can be written.
                None => Content::Secret,
                Some(first) if same && (exact || !in_path) => Content::Fixed(first),
                _ => {
                    varying.push(at);
                    Content::Column(free(&mut taken, &plain(&full_name)))
                }
            };
            self.columns.push(Column { name, full_name, in_path, content });
        }
        if varying.is_empty() {
            return;
        }
        // Rows that are alike but for credentials are one.
        let mut rows: HashMap<Vec<String>, f64, FixedState> = HashMap::default();
        for (texts, weight) in decoded {
            let row = varying.iter().map(|at| texts[*at].clone()).collect();
            *rows.entry(row).or_insert(0.0) += weight;
        }
        self.rows = rows.into_iter().collect();
        self.rows.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    }

    /// The pool's file: CSV with a header, the weight last.
    pub(crate) fn csv(&self) -> String {
        let mut file = csv::Writer::from_writer(Vec::new());
        let names = self.columns.iter().filter_map(|column| match &column.content {
            Content::Column(name) => Some(name.as_str()),
            _ => None,
        });
        // Writing to memory does not fail.
        let _ = file.write_record(names.chain(["weight"]));
        for (row, weight) in &self.rows {
            let weight = crate::scale::figure(weight.max(0.001));
            let _ = file.write_record(row.iter().chain([&weight]));
        }
        String::from_utf8(file.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}

/// Whether a parameter of an endpoint's path or query has this name.
pub(crate) fn is_parameter(name: &str, template: &Template, endpoint: &Endpoint) -> bool {
    let mut all = endpoint.variants.iter().flat_map(|variant| names(variant, template));
    template.parameters.iter().any(|other| other == name) || all.any(|(other, _)| other == name)
}

/// Names of all parameters, those of the path first, and whether each is one of the path's.
fn names(variant: &Variant, template: &Template) -> Vec<(String, bool)> {
    let path = template.parameters.iter().map(|name| (name.clone(), true));
    let query = variant.names.iter().map(|(name, _)| {
        let text = decode(name, true).unwrap_or_else(|| String::from_utf8_lossy(name).into());
        (text, false)
    });
    path.chain(query).collect()
}

/// A parameter of the path with the word before it: `users_id` in `/users/{id}`, the way that `fill` looks for the
/// column `id` of the table `users`.
fn whose(template: &Template, at: usize) -> String {
    let place = template.pieces.iter().position(|piece| *piece == Piece::Parameter(at));
    let before = place.and_then(|place| template.pieces[..place].iter().rev().find_map(word));
    let name = template.parameters[at].as_str();
    let kind = match template.kinds.get(at).copied().unwrap_or_default() {
        GIVEN_KIND if name.contains('_') => return name.to_owned(),
        GIVEN_KIND => name,
        kind => kind,
    };
    match before {
        Some(word) => format!("{word}_{kind}"),
        None => template.parameters[at].clone(),
    }
}

/// The last whole segment of fixed text.
fn word(piece: &Piece) -> Option<&str> {
    let Piece::Fixed(text) = piece else { return None };
    let (whole, _) = text.rsplit_once('/')?;
    whole.rsplit('/').find(|segment| !segment.is_empty())
}

/// What a parameter's name says about its values, or else the end of the path: `/unsubscribe?u=5f3a...`.
fn about(name: &str, template: &Template) -> Neighbour {
    let path = template.text();
    let behind = path.split('/').fold(Neighbour::Plain, |before, segment| before.then(segment));
    match Neighbour::of(name) {
        // The number of a ticket is one that somebody wrote about; what a login hands out is drawn.
        _ if name.eq_ignore_ascii_case("ticket") => Neighbour::Loose,
        named if named.announces() => named,
        _ => behind,
    }
}

/// Which cells of a row are credentials, as bits: marked so by their name, by their shape, or by what stands before
/// them.
fn marks(texts: &[String], neighbours: &[Neighbour]) -> u64 {
    let secret = |(text, neighbour): (&String, &Neighbour)| {
        text.as_bytes() == SECRET || holds_secret(text) || neighbour.makes_secret(text)
    };
    let cells = texts.iter().zip(neighbours).map(secret).enumerate();
    cells.fold(0, |bits, (at, secret)| bits | u64::from(secret) << at)
}

/// Whether half of a column's values or more are credentials.
fn is_secret(marks: &[u64], at: usize) -> bool {
    let many = marks.iter().filter(|marks| *marks >> at & 1 == 1).count();
    many > 0 && many * 2 >= marks.len()
}

/// A value without its escapes; nothing where it is no text then.
pub(crate) fn decode(value: &[u8], form: bool) -> Option<String> {
    if value == SECRET {
        return Some(String::from_utf8_lossy(SECRET).into_owned());
    }
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((first, after)) = rest.split_first() {
        let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
        rest = after;
        match (first, digit(after.first()), digit(after.get(1))) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &after[2..];
            }
            (b'+', ..) if form => bytes.push(b' '),
            (byte, ..) => bytes.push(*byte),
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    (!text.chars().any(char::is_control)).then_some(text)
}

/// A name of lower-case letters, digits and underscores.
pub(crate) fn plain(name: &str) -> String {
    let mut plain = String::new();
    for c in name.chars() {
        match c {
            c if c.is_ascii_alphanumeric() => plain.push(c.to_ascii_lowercase()),
            _ if plain.ends_with('_') || plain.is_empty() => {}
            _ => plain.push('_'),
        }
    }
    let plain = plain.trim_end_matches('_');
    match plain.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => plain.to_owned(),
        Some(_) => format!("p_{plain}"),
        None => "value".to_owned(),
    }
}

/// A text as a query of a path holds it: all but letters, digits and `-._~` percent-encoded.
pub(crate) fn escaped(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'-' | b'.' | b'_' | b'~' => made.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => made.push(char::from(byte)),
            byte => made += &format!("%{byte:02X}"),
        }
    }
    made
}

/// The name, with a number behind it if it is taken.
pub(crate) fn free(taken: &mut HashSet<String>, name: &str) -> String {
    let numbered = (2..).map(|n| format!("{name}_{n}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    let free = names.find(|name| !taken.contains(name)).unwrap_or_default();
    taken.insert(free.clone());
    free
}

/// What is to be said of an endpoint's parameters, over all its variants.
pub(crate) fn parameters(tables: &[Table], kinds: &[&'static str]) -> Vec<Parameter> {
    let mut order: Vec<(String, bool)> = Vec::new();
    let mut values: BTreeMap<(String, bool), Counts> = BTreeMap::new();
    let mut secret: HashSet<(String, bool)> = HashSet::new();
    for table in tables {
        let mut at = 0;
        for column in &table.columns {
            let key = (column.name.clone(), column.in_path);
            if !order.contains(&key) {
                order.push(key.clone());
            }
            let counts = values.entry(key.clone()).or_default();
            match &column.content {
                Content::Secret => drop(secret.insert(key)),
                Content::Fixed(text) => *counts.entry(text).or_insert(0.0) += 1.0,
                Content::Column(_) => {
                    for (row, weight) in &table.rows {
                        *counts.entry(&row[at]).or_insert(0.0) += weight;
                    }
                    at += 1;
                }
            }
        }
    }
    let rows: usize = tables.iter().map(|table| table.rows.len()).sum();
    let stands_for = tables.iter().map(|table| table.stands_for).fold(1.0, f64::max);
    let parameter = |(at, key): (usize, (String, bool))| {
        let counts = values.remove(&key).unwrap_or_default();
        let hidden = secret.contains(&key);
        let kind = match (key.1, hidden) {
            (_, true) => "secret".to_owned(),
            (true, _) if kinds.get(at) == Some(&GIVEN_KIND) => kind(&counts),
            (true, _) => kinds.get(at).copied().unwrap_or("name").to_owned(),
            (false, _) => kind(&counts),
        };
        // Where most rows have a value of their own, so have those that are not here.
        let own = counts.len() * 2 > rows;
        parameter(key, kind, counts, hidden, if own { stands_for } else { 1.0 })
    };
    order.into_iter().enumerate().map(parameter).collect()
}

fn parameter(
    (name, in_path): (String, bool),
    kind: String,
    counts: Counts,
    hidden: bool,
    stands_for: f64,
) -> Parameter {
    let mut sorted: Vec<(&str, f64)> = counts.iter().map(|(text, n)| (*text, *n)).collect();
    sorted.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let total: f64 = sorted.iter().map(|(_, weight)| weight).sum();
    let tenth = sorted.len().div_ceil(10);
    let most: f64 = sorted.iter().take(tenth).map(|(_, weight)| weight).sum();
    let shown = |(text, _): &(&str, f64)| text.chars().take(LONGEST_EXAMPLE).collect();
    let examples = match hidden {
        true => Vec::new(),
        false => sorted.iter().take(EXAMPLES).map(shown).collect(),
    };
    Parameter {
        name,
        place: if in_path { "path" } else { "query" }.to_owned(),
        kind,
        distinct: (counts.len() as f64 * stands_for).round() as u64,
        skew: if total > 0.0 { most / total } else { 0.0 },
        examples,
    }
}

/// What the values of a query's parameter are: the look that nine of ten have.
fn kind(counts: &Counts) -> String {
    let mut looks: BTreeMap<&'static str, f64> = BTreeMap::new();
    for (text, weight) in counts {
        *looks.entry(segment::class(text.as_bytes()).name()).or_insert(0.0) += weight;
    }
    let total: f64 = counts.values().sum();
    let most = looks.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    match most {
        Some(("id", weight)) if weight >= 0.9 * total => "number".to_owned(),
        Some((look, weight)) if weight >= 0.9 * total && look != "name" => look.to_owned(),
        _ => "text".to_owned(),
    }
}
