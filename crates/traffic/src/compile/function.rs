//! Compiles function calls in placeholders.

use std::ops::Range;

use crate::draw::Zipf;
use crate::expression::Expression;
use crate::value::{Clock, Function, HmacKey, Signer, Unit, Value};
use model::quote::quote;

use super::resolver::{Resolver, Wrong, folded, suggestion};

/// The functions, with the fewest and the most arguments, and what these are.
const FUNCTIONS: &[(&str, usize, usize, &str)] = &[
    ("base64", 1, 1, "text"),
    ("base64url", 1, 1, "text"),
    ("file", 1, 1, "name"),
    ("hex", 1, 1, "text"),
    ("hmac_sha256", 2, 2, "key, text"),
    ("int", 2, 2, "lowest, highest"),
    ("json", 1, 1, "text"),
    ("jwt_hs256", 2, 2, "claims, key"),
    ("jwt_rs256", 2, 2, "claims, key in PEM form"),
    ("lower", 1, 1, "text"),
    ("rfc3339", 0, 1, "seconds from now"),
    ("sha256", 1, 1, "text"),
    ("string", 1, 1, "length"),
    ("time", 1, 2, "strftime pattern, seconds from now"),
    ("unix", 0, 1, "seconds from now"),
    ("unix_ms", 0, 1, "seconds from now"),
    ("upper", 1, 1, "text"),
    ("urlencode", 1, 1, "text"),
    ("uuid", 0, 0, ""),
    ("zipf", 2, 2, "ranks, exponent"),
];

/// The longest random string.
const LONGEST_STRING: i64 = 1 << 20;

impl Resolver<'_> {
    pub(super) fn call(
        &self,
        name: &str,
        at: &Range<usize>,
        arguments: &[Expression],
        extracted: &[String],
    ) -> Result<Value, Wrong> {
        let Some((_, fewest, most, names)) = FUNCTIONS.iter().find(|known| known.0 == name) else {
            let near = suggestion(name, FUNCTIONS.iter().map(|known| known.0));
            return Err(Wrong::new(at, format!("there is no function {}{near}", quote(name))));
        };
        if !(*fewest..=*most).contains(&arguments.len()) {
            let got = arguments.len();
            return Err(Wrong::new(at, format!("`{name}({names})` was given {got} arguments")));
        }
        let mut of = Vec::new();
        for argument in arguments {
            of.push(self.value(argument, extracted)?);
        }
        let call = Call { name, at, of };
        match name {
            "file" => self.file(&call),
            "int" => call.int(),
            "zipf" => call.zipf(),
            "uuid" => Ok(Value::Uuid),
            "string" => call.string(),
            "unix" => call.clock(Unit::Seconds, 0),
            "unix_ms" => call.clock(Unit::Milliseconds, 0),
            "rfc3339" => call.clock(Unit::Rfc3339, 0),
            "time" => {
                let pattern = call.constant(0, "pattern")?;
                let unit = Unit::pattern(&pattern).map_err(|what| Wrong::new(at, what))?;
                call.clock(unit, 1)
            }
            _ => call.function(),
        }
    }

    fn file(&self, call: &Call<'_>) -> Result<Value, Wrong> {
        let name = call.constant(0, "name")?;
        match (self.inputs.file)(&name) {
            // A file that a placeholder names is usually a key.
            Ok(bytes) => Ok(Value::Const { bytes: bytes.into(), secret: true }),
            Err(what) => Err(Wrong::new(call.at, format!("{}: {what}", quote(&name)))),
        }
    }
}

struct Call<'a> {
    name: &'a str,
    at: &'a Range<usize>,
    of: Vec<Value>,
}

impl Call<'_> {
    fn wrong(&self, what: impl std::fmt::Display) -> Wrong {
        Wrong::new(self.at, format!("`{}`: {what}", self.name))
    }

    /// An argument that must be the same for every request.
    fn constant(&self, index: usize, what: &str) -> Result<String, Wrong> {
        let constant = self.of[index].constant();
        let text = constant.and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
        text.ok_or_else(|| self.wrong(format!("its {what} must be the same for every request")))
    }

    fn whole(&self, index: usize, what: &str) -> Result<i64, Wrong> {
        let text = self.constant(index, what)?;
        let wrong = |_| self.wrong(format!("its {what} {} is not a whole number", quote(&text)));
        text.trim().parse().map_err(wrong)
    }

    fn int(&self) -> Result<Value, Wrong> {
        let (low, high) = (self.whole(0, "lowest")?, self.whole(1, "highest")?);
        if low > high {
            return Err(self.wrong(format!("{low} is above {high}")));
        }
        // All of 64 bits are 2^64 numbers, which 0 stands for.
        Ok(Value::Int { low, count: low.abs_diff(high).wrapping_add(1) })
    }

    fn zipf(&self) -> Result<Value, Wrong> {
        let ranks = self.whole(0, "number of ranks")?;
        let exponent = self.constant(1, "exponent")?;
        let exponent = exponent.trim().parse::<f64>().ok();
        match (ranks, exponent.filter(|s| s.is_finite() && *s > 0.0 && *s <= 100.0)) {
            (1.., Some(s)) => Ok(Value::Zipf(Box::new(Zipf::new(ranks.unsigned_abs(), s)))),
            (1.., None) => Err(self.wrong("its exponent must be above 0 and at most 100")),
            _ => Err(self.wrong("it needs one rank at least")),
        }
    }

    fn string(&self) -> Result<Value, Wrong> {
        match self.whole(0, "length")? {
            length @ 0..=LONGEST_STRING => Ok(Value::Letters(length as u32)),
            _ => Err(self.wrong(format!("its length must be from 0 to {LONGEST_STRING}"))),
        }
    }

    fn clock(&self, unit: Unit, index: usize) -> Result<Value, Wrong> {
        let given = index < self.of.len();
        let offset_s = if given { self.whole(index, "seconds")? } else { 0 };
        Ok(Value::Time(Box::new(Clock { unit, offset_s })))
    }

    fn function(mut self) -> Result<Value, Wrong> {
        // A key that never changes is prepared once. A signed value is secret, whatever its key.
        let fixed_key = |of: &mut Vec<Value>, index: usize| {
            let key = of[index].constant().map(HmacKey::new);
            if key.is_some() {
                of.remove(index);
            }
            key
        };
        let function = match self.name {
            "base64" => Function::Base64,
            "base64url" => Function::Base64Url,
            "hex" => Function::Hex,
            "sha256" => Function::Sha256,
            "urlencode" => Function::UrlEncode,
            "json" => Function::Json,
            "lower" => Function::Lower,
            "upper" => Function::Upper,
            "hmac_sha256" => Function::HmacSha256(fixed_key(&mut self.of, 0)),
            "jwt_hs256" => Function::Jwt(Signer::Hs256(fixed_key(&mut self.of, 1))),
            "jwt_rs256" => {
                let Some(pem) =
                    self.of.pop().as_ref().and_then(Value::constant).map(<[u8]>::to_vec)
                else {
                    return Err(self.wrong("its key must be the same for every request"));
                };
                Function::Jwt(Signer::rs256(&pem).map_err(|bad| self.wrong(bad.0))?)
            }
            _ => unreachable!("every function of the table has its meaning"),
        };
        let raw = matches!(
            function,
            Function::Base64
                | Function::Base64Url
                | Function::Hex
                | Function::Sha256
                | Function::HmacSha256(_)
                | Function::Jwt(_)
        );
        for value in &mut self.of {
            // Functions of text take a digest as hexadecimal digits.
            if !raw && value.is_digest() {
                *value = folded(Function::Hex, vec![value.clone()]);
            }
        }
        Ok(folded(function, self.of))
    }
}
