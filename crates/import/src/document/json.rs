//! JSON (RFC 8259) with places. The structure is read here; words and numbers by `serde_json`, which
//! does not report where a value stood.

use super::{DEEPEST, Entry, Fault, KEY, MOST_VALUES, Mark, Memory, Node, Tree, Value};

/// Reads a text that is one value.
pub(super) fn parse(text: &str) -> Result<Tree, Fault> {
    let memory = Memory::default();
    let mut reader = Reader { text, at: 0, depth: 0, marks: 0, values: 0, memory };
    reader.blank();
    let root = reader.value()?;
    reader.blank();
    if reader.at < text.len() {
        return Err(Fault::new(reader.at, "there is text after the end of the JSON"));
    }
    Ok(Tree { root, further: None })
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    marks: u32,
    /// Keys aside.
    values: usize,
    memory: Memory,
}

impl Reader<'_> {
    fn blank(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| b" \t\r\n".contains(byte)).count();
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn mark(&mut self, start: usize) -> Result<Mark, Fault> {
        self.marks += 1;
        if self.marks as usize > 2 * MOST_VALUES {
            return Err(Fault::new(start, format!("more than {MOST_VALUES} values")));
        }
        Ok(Mark { number: self.marks, start: start as u32, end: self.at as u32 })
    }

    fn value(&mut self) -> Result<Node, Fault> {
        let start = self.at;
        self.values += 1;
        if self.values > MOST_VALUES {
            return Err(Fault::new(start, format!("more than {MOST_VALUES} values")));
        }
        let value = match self.peek() {
            Some(b'{') => self.nested(Self::map)?,
            Some(b'[') => self.nested(Self::list)?,
            Some(b'"') => Value::Scalar { text: self.string()?, plain: false },
            Some(_) => self.word()?,
            None => return Err(self.cut_short()),
        };
        self.memory.add(size_of::<Node>(), value.text(), start)?;
        Ok(Node { mark: self.mark(start)?, value })
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, Fault>) -> Result<Value, Fault> {
        if self.depth >= DEEPEST {
            return Err(Fault::new(self.at, format!("values are nested more than {DEEPEST} deep")));
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value.fitted())
    }

    fn map(&mut self) -> Result<Value, Fault> {
        let mut entries = Vec::new();
        self.blank();
        if self.take(b'}') {
            return Ok(Value::Map(entries));
        }
        loop {
            self.blank();
            let start = self.at;
            match self.peek() {
                Some(b'"') => {}
                None => return Err(self.cut_short()),
                Some(_) => {
                    return Err(Fault::new(start, "a name in double quotes is expected here"));
                }
            }
            let key = self.string()?;
            self.memory.add(KEY, Some(&key), start)?;
            let mark = self.mark(start)?;
            self.blank();
            if !self.take(b':') {
                return Err(self.wanted("`:`"));
            }
            self.blank();
            entries.push(Entry { mark, key, value: self.value()? });
            self.blank();
            if self.take(b'}') {
                return Ok(Value::Map(entries));
            }
            if !self.take(b',') {
                return Err(self.wanted("`,` or `}`"));
            }
        }
    }

    fn list(&mut self) -> Result<Value, Fault> {
        let mut items = Vec::new();
        self.blank();
        if self.take(b']') {
            return Ok(Value::List(items));
        }
        loop {
            self.blank();
            items.push(self.value()?);
            self.blank();
            if self.take(b']') {
                return Ok(Value::List(items));
            }
            if !self.take(b',') {
                return Err(self.wanted("`,` or `]`"));
            }
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn string(&mut self) -> Result<String, Fault> {
        let start = self.at;
        let mut escaped = false;
        for (offset, byte) in self.text.as_bytes()[start..].iter().enumerate().skip(1) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    self.at = start + offset + 1;
                    let token = &self.text[start..self.at];
                    return serde_json::from_str(token).map_err(|error| {
                        let what = error.to_string();
                        let what = what.rsplit_once(" at line ").map_or(&*what, |(what, _)| what);
                        Fault::new(start, format!("is not JSON: {what}"))
                    });
                }
                _ => {}
            }
        }
        Err(Fault::new(start, "this string is not closed"))
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<Value, Fault> {
        let start = self.at;
        let of_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-._".contains(byte);
        let length = self.text.as_bytes()[start..].iter().take_while(|byte| of_word(byte)).count();
        let word = &self.text[start..start + length];
        if word.is_empty() {
            return Err(self.wanted("a value"));
        }
        if serde_json::from_str::<serde_json::Value>(word).is_err() {
            return Err(Fault::new(
                start,
                format!("{} is not a JSON value", model::quote::quote(word)),
            ));
        }
        self.at += length;
        Ok(Value::Scalar { text: word.to_owned(), plain: true })
    }

    fn wanted(&self, what: &str) -> Fault {
        match self.peek() {
            None => self.cut_short(),
            Some(_) => Fault::new(self.at, format!("{what} is expected here")),
        }
    }

    fn cut_short(&self) -> Fault {
        Fault::new(self.text.len(), "the file ends in the middle of its JSON")
    }
}
