//! The subset of BSON that commands and their answers need. Documents are read within bounds of size and depth; values
//! of other types are passed over.

/// How deep documents may lie in each other.
const DEEPEST: usize = 16;
/// Values of one document at most.
const MOST_VALUES: usize = 10_000;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Numbers of every type but whole ones of commands.
    Number(f64),
    /// A whole number of 32 bits.
    Int(i32),
    /// Text.
    Text(String),
    /// Bytes.
    Binary(Vec<u8>),
    /// Yes or no.
    Bool(bool),
    /// A document, or an array by its indices.
    Document(Document),
}

/// Values by name, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document(Vec<(String, Value)>);

impl Document {
    /// With a value.
    pub fn value(mut self, name: &str, value: Value) -> Self {
        self.0.push((name.to_owned(), value));
        self
    }

    /// With a number.
    pub fn int(self, name: &str, value: i32) -> Self {
        self.value(name, Value::Int(value))
    }

    /// With a text.
    pub fn text(self, name: &str, value: &str) -> Self {
        self.value(name, Value::Text(value.to_owned()))
    }

    /// With bytes.
    pub fn binary(self, name: &str, value: &[u8]) -> Self {
        self.value(name, Value::Binary(value.to_vec()))
    }

    /// The value of this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The number of this name.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            Value::Number(number) => Some(*number),
            Value::Int(number) => Some(f64::from(*number)),
            Value::Bool(yes) => Some(f64::from(u8::from(*yes))),
            _ => None,
        }
    }

    /// The number at the end of a path through documents.
    pub fn at(&self, path: &[&str]) -> Option<f64> {
        match path {
            [] => None,
            [last] => self.number(last),
            [first, rest @ ..] => match self.get(first)? {
                Value::Document(document) => document.at(rest),
                _ => None,
            },
        }
    }

    /// As bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        for (name, value) in &self.0 {
            let (kind, body) = encoded(value);
            bytes.push(kind);
            bytes.extend_from_slice(name.as_bytes());
            bytes.push(0);
            bytes.extend_from_slice(&body);
        }
        bytes.push(0);
        let length = length(bytes.len());
        bytes[..4].copy_from_slice(&length);
        bytes
    }

    /// The document that bytes begin with; none where they do not hold one.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        read(bytes, 0, &mut 0)
    }
}

fn length(bytes: usize) -> [u8; 4] {
    i32::try_from(bytes).unwrap_or(i32::MAX).to_le_bytes()
}

fn encoded(value: &Value) -> (u8, Vec<u8>) {
    match value {
        Value::Number(number) => (0x01, number.to_le_bytes().to_vec()),
        Value::Int(number) => (0x10, number.to_le_bytes().to_vec()),
        Value::Text(text) => {
            let mut bytes = length(text.len() + 1).to_vec();
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(0);
            (0x02, bytes)
        }
        Value::Binary(binary) => {
            let mut bytes = length(binary.len()).to_vec();
            bytes.push(0);
            bytes.extend_from_slice(binary);
            (0x05, bytes)
        }
        Value::Bool(yes) => (0x08, vec![u8::from(*yes)]),
        Value::Document(document) => (0x03, document.bytes()),
    }
}

/// Takes bytes from the front.
fn take<'a>(bytes: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(n)?;
    *bytes = rest;
    Some(taken)
}

fn take_length(bytes: &mut &[u8]) -> Option<usize> {
    let four = take(bytes, 4)?.first_chunk()?;
    usize::try_from(i32::from_le_bytes(*four)).ok()
}

fn take_name(bytes: &mut &[u8]) -> Option<String> {
    let end = bytes.iter().position(|&byte| byte == 0)?;
    let name = take(bytes, end)?;
    take(bytes, 1)?;
    Some(String::from_utf8_lossy(name).into_owned())
}

fn read(bytes: &[u8], depth: usize, values: &mut usize) -> Option<Document> {
    let mut rest = bytes;
    let length = take_length(&mut rest)?;
    if depth > DEEPEST || length < 5 {
        return None;
    }
    let mut rest = bytes.get(4..length)?;
    let mut document = Document::default();
    loop {
        let kind = take(&mut rest, 1)?[0];
        if kind == 0 {
            return rest.is_empty().then_some(document);
        }
        *values += 1;
        if *values > MOST_VALUES {
            return None;
        }
        let name = take_name(&mut rest)?;
        if let Some(value) = read_value(kind, &mut rest, depth, values)? {
            document.0.push((name, value));
        }
    }
}

/// The value of a kind; `Some(None)` of one that nothing here needs.
fn read_value(
    kind: u8,
    rest: &mut &[u8],
    depth: usize,
    values: &mut usize,
) -> Option<Option<Value>> {
    let skip = |rest: &mut &[u8], n: usize| take(rest, n).map(|_| None);
    match kind {
        0x01 => take(rest, 8)?.first_chunk().map(|b| Some(Value::Number(f64::from_le_bytes(*b)))),
        0x10 => take(rest, 4)?.first_chunk().map(|b| Some(Value::Int(i32::from_le_bytes(*b)))),
        0x12 => {
            let number = i64::from_le_bytes(*take(rest, 8)?.first_chunk()?);
            Some(Some(Value::Number(number as f64)))
        }
        0x02 | 0x0d | 0x0e => {
            let length = take_length(rest)?.checked_sub(1)?;
            let text = String::from_utf8_lossy(take(rest, length)?).into_owned();
            take(rest, 1)?;
            Some(Some(Value::Text(text)))
        }
        0x05 => {
            let length = take_length(rest)?;
            take(rest, 1)?;
            Some(Some(Value::Binary(take(rest, length)?.to_vec())))
        }
        0x08 => Some(Some(Value::Bool(take(rest, 1)?[0] != 0))),
        0x03 | 0x04 => {
            let length = take_length(&mut &**rest)?;
            let inner = take(rest, length)?;
            Some(Some(Value::Document(read(inner, depth + 1, values)?)))
        }
        0x06 | 0x0a | 0x7f | 0xff => Some(None),
        0x07 => skip(rest, 12),
        0x09 | 0x11 => skip(rest, 8),
        0x13 => skip(rest, 16),
        0x0b => {
            take_name(rest)?;
            take_name(rest)?;
            Some(None)
        }
        _ => None,
    }
}
