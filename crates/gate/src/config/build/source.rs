//! Where requests carry their keys.

use super::routes::{KEPT_HEADERS, is_token};
use super::{Builder, ConfigError, KeysConfig};
use crate::policy::KeySource;

impl Builder<'_> {
    pub(super) fn key_source(&self, written: &KeysConfig) -> Result<KeySource, ConfigError> {
        if let Some(required) = &written.required
            && (*required.get_ref() && written.open)
        {
            return Err(self.wrong(required, "`required` and `open` contradict each other"));
        }
        let mut source = KeySource::usual();
        source.bearer = written.bearer.unwrap_or(source.bearer);
        if let Some(query) = &written.query {
            source.query = Some(query.clone()).filter(|query| !query.is_empty());
        }
        if let Some(header) = &written.header {
            let text = header.get_ref().to_ascii_lowercase();
            if !text.bytes().all(is_token) || KEPT_HEADERS.contains(&&*text) {
                return Err(
                    self.wrong(header, format!("`{text}` is not a header that can carry a key"))
                );
            }
            if text.is_empty() && source.query.is_none() && !source.bearer && !written.open {
                return Err(self.wrong(
                    header,
                    "no request could carry a key: leave one of header, query and bearer on, or write open = true to \
                     ask for none",
                ));
            }
            source.header = Some(text).filter(|text| !text.is_empty());
        }
        Ok(source)
    }
}
