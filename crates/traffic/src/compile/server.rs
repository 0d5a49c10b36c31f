//! The server that a workload is sent to.

use model::quote::quote;
use model::secret::mask_text;
use url::Url;

use super::resolver::{Resolver, TemplatePiece};

/// Where requests go.
#[derive(Debug, Clone, Default)]
pub(super) struct Server {
    /// Scheme, host and port.
    pub(super) url: String,
    /// The `Host` header's value.
    pub(super) host: String,
    /// The prefix of every path: empty, or it begins with `/` and does not end with one.
    pub(super) base: String,
}

impl Resolver<'_> {
    /// Reads the target. Its placeholders may only be constants: environment variables.
    pub(super) fn server(&self) -> Option<Server> {
        const PATH: &str = "target";
        let mut text = String::new();
        let target = &self.workload.target;
        for piece in self.template(target, PATH, &[])? {
            match piece {
                TemplatePiece::Text(plain, _) => text += &plain,
                TemplatePiece::Value(value, at) => match value.constant() {
                    Some(bytes) => text += &String::from_utf8_lossy(bytes),
                    None => {
                        let what = "the server must be the same for every request";
                        self.findings.add_at(PATH, Some(at), what);
                        return None;
                    }
                },
            }
        }
        match read(&text) {
            Ok(server) => Some(server),
            Err(what) => {
                self.findings.add(PATH, what);
                None
            }
        }
    }
}

fn read(text: &str) -> Result<Server, String> {
    // Masked first: a quotation that is cut shows the password, and not the `@` that it is known by.
    let quoted = quote(&mask_text(text));
    if !text.contains("://") {
        return Err(format!("no scheme is named: write http://{text}"));
    }
    let url = Url::parse(text).map_err(|why| format!("{quoted} is not a URL: {why}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("the scheme `{}`: only HTTP is supported", url.scheme()));
    }
    let Some(host) = url.host_str().filter(|host| !host.is_empty()) else {
        return Err(format!("{quoted} has no host"));
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a user and a password belong in the header `Authorization`".into());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("the server's URL has no query: write it into the endpoints' paths".into());
    }
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let host = format!("{host}{port}");
    let base = url.path().trim_end_matches('/').to_owned();
    Ok(Server { url: format!("{}://{host}", url.scheme()), host, base })
}
