//! The protocol of Redis (RESP2), as much of it as is needed: commands out, replies in.

use std::fmt;

/// Bytes of a reply's line, and of a text in it, at most.
const LONGEST: usize = 1 << 20;
/// Replies inside a reply at most, and how deep.
const MOST: i64 = 1 << 16;
const DEEPEST: u32 = 4;

/// A reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// `+OK`
    Text(String),
    /// `-ERR why`
    Error(String),
    /// `:7`
    Number(i64),
    /// `$3 abc`
    Bytes(Vec<u8>),
    /// `$-1` or `*-1`
    Nothing,
    /// `*2 ...`
    List(Vec<Reply>),
}

/// What is no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RespError;

impl fmt::Display for RespError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what answered does not speak Redis's protocol")
    }
}

impl std::error::Error for RespError {}

/// Appends a command.
pub(super) fn write_command(out: &mut Vec<u8>, words: &[&[u8]]) {
    out.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
    for word in words {
        out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
}

/// Takes a reply off `input`; `None` where it is not there whole, with `input` as it was.
///
/// # Errors
/// Where the bytes are not a reply, or it is larger than any that is expected.
pub fn read_reply(input: &mut &[u8]) -> Result<Option<Reply>, RespError> {
    let mut rest = *input;
    let reply = read(&mut rest, 0)?;
    if reply.is_some() {
        *input = rest;
    }
    Ok(reply)
}

fn read(input: &mut &[u8], depth: u32) -> Result<Option<Reply>, RespError> {
    let Some((kind, line)) = line(input)? else { return Ok(None) };
    let text = || String::from_utf8_lossy(line).into_owned();
    let number = || -> Result<i64, RespError> {
        std::str::from_utf8(line).ok().and_then(|text| text.parse().ok()).ok_or(RespError)
    };
    match kind {
        b'+' => Ok(Some(Reply::Text(text()))),
        b'-' => Ok(Some(Reply::Error(text()))),
        b':' => Ok(Some(Reply::Number(number()?))),
        b'$' => match number()? {
            -1 => Ok(Some(Reply::Nothing)),
            length if (0..=LONGEST as i64).contains(&length) => bytes(input, length as usize),
            _ => Err(RespError),
        },
        b'*' => match number()? {
            -1 => Ok(Some(Reply::Nothing)),
            count if (0..=MOST).contains(&count) && depth < DEEPEST => {
                let mut list = Vec::new();
                for _ in 0..count {
                    let Some(reply) = read(input, depth + 1)? else { return Ok(None) };
                    list.push(reply);
                }
                Ok(Some(Reply::List(list)))
            }
            _ => Err(RespError),
        },
        _ => Err(RespError),
    }
}

/// The first byte of a line, and the rest of it.
fn line<'a>(input: &mut &'a [u8]) -> Result<Option<(u8, &'a [u8])>, RespError> {
    let Some(end) = input.windows(2).take(LONGEST).position(|pair| pair == b"\r\n") else {
        return if input.len() > LONGEST { Err(RespError) } else { Ok(None) };
    };
    let (line, rest) = input.split_at(end);
    let Some((kind, line)) = line.split_first() else { return Err(RespError) };
    *input = &rest[2..];
    Ok(Some((*kind, line)))
}

fn bytes(input: &mut &[u8], length: usize) -> Result<Option<Reply>, RespError> {
    let Some((bytes, rest)) = input.split_at_checked(length) else { return Ok(None) };
    match rest {
        [b'\r', b'\n', rest @ ..] => {
            *input = rest;
            Ok(Some(Reply::Bytes(bytes.to_vec())))
        }
        [] | [b'\r'] => Ok(None),
        _ => Err(RespError),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_whole_or_not_at_all() {
        let list =
            Reply::List(vec![Reply::Number(-5), Reply::Bytes(b"a\r\nb".to_vec()), Reply::Nothing]);
        let cases = [
            (&b"+OK\r\n"[..], Reply::Text("OK".into())),
            (b"-ERR no\r\n", Reply::Error("ERR no".into())),
            (b":12\r\n", Reply::Number(12)),
            (b"$0\r\n\r\n", Reply::Bytes(Vec::new())),
            (b"*3\r\n:-5\r\n$4\r\na\r\nb\r\n$-1\r\n", list),
            (b"*-1\r\n", Reply::Nothing),
        ];
        for (bytes, reply) in cases {
            for cut in 0..bytes.len() {
                let mut part = &bytes[..cut];
                assert_eq!(read_reply(&mut part), Ok(None), "{}", part.escape_ascii());
                assert_eq!(part.len(), cut);
            }
            let more = [bytes, b"+next"].concat();
            let mut input = more.as_slice();
            assert_eq!(read_reply(&mut input), Ok(Some(reply)));
            assert_eq!(input, b"+next");
        }
    }

    #[test]
    fn what_is_no_reply_is_an_error() {
        for bytes in [
            &b"HTTP/1.1 400 Bad Request\r\n"[..],
            b"\r\n",
            b":x\r\n",
            b"$-2\r\n",
            b"$1\r\nabc",
            b"*99999999\r\n",
            b"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
        ] {
            assert_eq!(read_reply(&mut &*bytes), Err(RespError), "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn commands_are_lists_of_texts() {
        let mut out = Vec::new();
        write_command(&mut out, &[b"GET", b"a b"]);
        assert_eq!(out, b"*2\r\n$3\r\nGET\r\n$3\r\na b\r\n");
    }
}
