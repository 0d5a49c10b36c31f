//! A case, and how it is written down.

/// What is sent on one connection, and what has to come of it.
#[derive(Debug, Clone)]
pub struct Case {
    /// The rule: a section of RFC 9110 or 9112, or of another source.
    pub rule: &'static str,
    /// What the case does.
    pub name: String,
    pub bytes: Vec<u8>,
    pub want: Want,
}

#[derive(Debug, Clone)]
pub enum Want {
    /// So many requests are forwarded; the next is answered with this status, and the connection ends.
    Refused { forwarded: usize, status: u16 },
    /// So many requests are forwarded and answered. What reaches the upstream has these bytes, and not those.
    Passed { requests: usize, has: Vec<String>, lacks: Vec<String> },
    /// The request is not complete: nothing is forwarded to its end, and nothing answered with success.
    Unanswered,
}

/// The last request is refused.
pub fn refused(
    rule: &'static str,
    name: impl Into<String>,
    bytes: impl AsRef<[u8]>,
    status: u16,
) -> Case {
    refused_after(rule, name, bytes, 0, status)
}

/// So many are forwarded, then one is refused.
pub fn refused_after(
    rule: &'static str,
    name: impl Into<String>,
    bytes: impl AsRef<[u8]>,
    forwarded: usize,
    status: u16,
) -> Case {
    let want = Want::Refused { forwarded, status };
    Case { rule, name: name.into(), bytes: bytes.as_ref().to_vec(), want }
}

/// One request is forwarded.
pub fn passed(
    rule: &'static str,
    name: impl Into<String>,
    bytes: impl AsRef<[u8]>,
    has: &[&str],
    lacks: &[&str],
) -> Case {
    passed_all(rule, name, bytes, 1, has, lacks)
}

/// So many requests are forwarded.
pub fn passed_all(
    rule: &'static str,
    name: impl Into<String>,
    bytes: impl AsRef<[u8]>,
    requests: usize,
    has: &[&str],
    lacks: &[&str],
) -> Case {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let want = Want::Passed { requests, has: owned(has), lacks: owned(lacks) };
    Case { rule, name: name.into(), bytes: bytes.as_ref().to_vec(), want }
}

/// The request never ends.
pub fn unanswered(rule: &'static str, name: impl Into<String>, bytes: impl AsRef<[u8]>) -> Case {
    Case { rule, name: name.into(), bytes: bytes.as_ref().to_vec(), want: Want::Unanswered }
}

/// A `GET` with these lines behind `Host`.
pub fn get(lines: &str) -> Vec<u8> {
    format!("GET /x HTTP/1.1\r\nHost: a.example\r\n{lines}\r\n").into_bytes()
}

/// A `POST` with these lines behind `Host`, and this behind its head.
pub fn post(lines: &str, rest: &str) -> Vec<u8> {
    format!("POST /x HTTP/1.1\r\nHost: a.example\r\n{lines}\r\n{rest}").into_bytes()
}

/// A `GET` with this request line.
pub fn line(line: &str) -> Vec<u8> {
    format!("{line}\r\nHost: a.example\r\n\r\n").into_bytes()
}
