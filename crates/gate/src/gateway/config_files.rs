//! The files that the configuration names, and the place in the configuration that names one which cannot be used.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use toml::Spanned;

use super::GatewayError;
use crate::admission::Line;
use crate::config::{Config, place_of};

/// What the file is called of a configuration that came over the admin API.
pub(super) const BODY: &str = "the body";

/// A configuration as it was written; empty for flags.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written<'a> {
    pub(super) text: &'a str,
    pub(super) file: Option<&'a Path>,
}

impl Written<'_> {
    /// Adds to an error the setting that names the file, and its place. Flags have none.
    pub(super) fn named<V>(
        &self,
        setting: &'static str,
        by: Option<&Spanned<V>>,
    ) -> impl FnOnce(GatewayError) -> GatewayError {
        let place = by.and_then(|by| place_of(self.text, by)).filter(|_| !self.text.is_empty());
        let file = self.file.map(Path::to_owned);
        move |error| match (file, place) {
            (Some(file), Some(place)) => {
                GatewayError::Named { file, place, setting, error: Box::new(error) }
            }
            _ => error,
        }
    }
}

/// Bytes of a load line, and of a token's file, at most.
const LINE_MOST: usize = 16 << 20;
pub(super) const TOKEN_MOST: usize = 4 << 10;

/// Reads a text of this many bytes at most: what is named by mistake may have no end.
pub(super) fn read_text(path: &Path, most: usize) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        return Err(io::Error::other(format!("it is longer than {most} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        io::Error::other(format!("line {line} is not UTF-8 text: save the file in that encoding"))
    })
}

/// Reads a load line.
pub(super) fn load_line(path: &Path) -> Result<Line, GatewayError> {
    let json = read_text(path, LINE_MOST).map_err(|error| {
        let within = path.join("capacity.json");
        let why = match within.is_file() {
            true => format!("it is a folder; its load line is {}", within.display()),
            false => format!("{error}; `plimsoll capacity` writes load lines"),
        };
        GatewayError::File(format!("{}: {why}", path.display()))
    })?;
    Line::parse(&json).map_err(|error| GatewayError::Line(path.to_owned(), error))
}

/// The admin API's token, of the file that is named; `None` where none is.
pub(super) fn admin_token(
    config: &Config,
    written: Written<'_>,
) -> Result<Option<String>, GatewayError> {
    let Some(path) = &config.admin.token_file else { return Ok(None) };
    token_of(path.get_ref()).map(Some).map_err(written.named("admin.token_file", Some(path)))
}

fn token_of(path: &Path) -> Result<String, GatewayError> {
    let text = read_text(path, TOKEN_MOST)
        .map_err(|error| GatewayError::File(format!("{}: {error}", path.display())))?;
    match text.trim() {
        short if short.len() < 16 => Err(GatewayError::File(format!(
            "{}: a token has 16 characters or more",
            path.display()
        ))),
        token => Ok(token.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_end_is_not_read_to_it() {
        let said = |path: &Path, most| read_text(path, most).map_err(|error| error.to_string());
        assert_eq!(said(Path::new("/dev/zero"), 100), Err("it is longer than 100 bytes".into()));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        std::fs::write(&path, "four").unwrap();
        assert_eq!((said(&path, 4), said(&path, 3).is_err()), (Ok("four".into()), true));
        std::fs::write(&path, b"a\nb\xff\n").unwrap();
        let encoding = "line 2 is not UTF-8 text: save the file in that encoding";
        assert_eq!(said(&path, 100), Err(encoding.into()));
    }

    #[test]
    fn a_folder_of_results_is_reported_with_its_load_line() {
        let folder = tempfile::tempdir().unwrap();
        let said = || load_line(folder.path()).unwrap_err().to_string();
        assert!(said().ends_with("; `plimsoll capacity` writes load lines"), "{}", said());
        std::fs::write(folder.path().join("capacity.json"), "{}").unwrap();
        assert!(said().ends_with("/capacity.json"), "{}", said());
    }

    #[test]
    fn a_setting_is_reported_with_its_place_and_a_flag_is_not() {
        let text = "a = 1\nauthorities = \"bad.pem\"\n";
        let written = Written { text, file: Some(Path::new("gate.toml")) };
        let error = || GatewayError::File("bad.pem: no certificate".into());
        let by = Spanned::new(20..29, ());
        let said = written.named("authorities", Some(&by))(error());
        assert_eq!(
            said.to_string(),
            "gate.toml: line 2, column 15: authorities: bad.pem: no certificate"
        );
        assert!(!said.is_usage());
        let flag = Spanned::new(0..0, ());
        assert_eq!(
            written.named("authorities", Some(&flag))(error()).to_string(),
            error().to_string()
        );
        assert_eq!(
            written.named::<()>("authorities", None)(error()).to_string(),
            error().to_string()
        );
    }
}
