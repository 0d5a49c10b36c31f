//! The files that the configuration names, and where it does so when one cannot be used.

use std::fs;
use std::path::Path;

use toml::Spanned;

use super::GatewayError;
use crate::admission::Line;
use crate::config::{Config, place_of};

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

/// Reads a load line.
pub(super) fn load_line(path: &Path) -> Result<Line, GatewayError> {
    let json = fs::read_to_string(path).map_err(|error| {
        let path = path.display();
        GatewayError::File(format!("{path}: {error}; `plimsoll capacity` writes load lines"))
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
    let text = fs::read_to_string(path)
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
    fn a_setting_is_told_with_its_place_and_a_flag_is_not() {
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
