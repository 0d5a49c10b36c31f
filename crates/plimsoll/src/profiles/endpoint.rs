//! Where a server offers its profiles, and what to do if it does not.

use std::time::Duration;

use url::Url;

use crate::failure::{Failure, cannot_run};
use crate::fetch::{self, Fetched};
use crate::load::address::Destination;
use crate::load::header_field;
use crate::secrets::mask_url;

/// Where Go's servers give profiles.
const GO: &str = "/debug/pprof";
/// What is waited for a response beyond the time that a profile takes.
const MARGIN: Duration = Duration::from_secs(15);
/// The longest profile that is waited for.
pub const LONGEST_S: u64 = 3600;
/// The parameter of Go's servers that says how long a profile takes.
const SECONDS: &str = "seconds";

/// How to turn profiles on, for a server that has none.
const HOW: &str = "a Go server gives profiles once it has `import _ \"net/http/pprof\"` on a mux that is served (gin: \
gin-contrib/pprof); Rust: the crate `pprof` behind a route of your own; Python: `py-spy record -f raw --full-filenames`; Node: \
`node --cpu-prof` or the package `pprof`; JVM: async-profiler with `-o collapsed`. Files of theirs: `plimsoll profile FILE`";

/// A place that profiles are fetched from.
#[derive(Debug, Clone)]
pub struct Endpoint {
    base: Url,
    headers: Vec<(String, String)>,
}

impl Endpoint {
    /// The place that a URL names: a server's, its `/debug/pprof`, or one profile's.
    ///
    /// # Errors
    /// When it is not a URL of http or https, or a header has no colon.
    pub fn parse(text: &str, headers: &[String]) -> Result<Self, Failure> {
        let mut base = Destination::parse(text)?.url;
        if matches!(base.path(), "" | "/") {
            base.set_path(GO);
        }
        let mut pairs = Vec::new();
        for header in headers {
            let (name, value) = header_field("--profile-header", header)?;
            pairs.push((name.to_owned(), value.to_owned()));
        }
        Ok(Self { base, headers: pairs })
    }

    /// Its URL without secrets.
    pub fn shown(&self) -> String {
        mask_url(self.base.as_str())
    }

    /// The URL of one kind of profile over this many seconds: the one that was given, if it names a kind.
    fn url(&self, kind: &str, seconds: Option<u64>) -> Url {
        let mut url = self.base.clone();
        let path = url.path().trim_end_matches('/').to_owned();
        if self.gives_every_kind() {
            url.set_path(&format!("{path}/{kind}"));
        }
        let has_seconds = url.query_pairs().any(|(name, _)| name == SECONDS);
        if let Some(seconds) = seconds.filter(|_| !has_seconds) {
            url.query_pairs_mut().append_pair(SECONDS, &seconds.to_string());
        }
        url
    }

    /// Whether it gives every kind of profile, each by its name. A URL that names a profile gives that one, whatever is
    /// asked for.
    pub fn gives_every_kind(&self) -> bool {
        self.base.path().trim_end_matches('/').ends_with(GO)
    }

    /// The seconds that the URL itself asks for.
    pub fn seconds(&self) -> Option<u64> {
        let mut asked = self.base.query_pairs().filter(|(name, _)| name == SECONDS);
        asked.find_map(|(_, seconds)| seconds.parse().ok())
    }

    /// The kind of profile that the URL names, if it names one of Go's.
    pub fn kind(&self) -> Option<String> {
        let path = self.base.path().trim_end_matches('/');
        let after = path.rsplit_once("/debug/pprof/")?.1;
        Some(if after == "profile" { "cpu" } else { after }.to_owned())
    }

    /// Fetches a profile of this kind over this many seconds, or over those that the URL asks for.
    ///
    /// # Errors
    /// When the server cannot be reached or gives none, with what to do.
    pub fn fetch(&self, kind: &str, seconds: Option<u64>) -> Result<Fetched, Failure> {
        let path = if kind == "cpu" { "profile" } else { kind };
        let url = self.url(path, seconds);
        let shown = mask_url(url.as_str());
        let destination = Destination::parse(url.as_str())?;
        let takes = self.seconds().or(seconds).unwrap_or(0).min(LONGEST_S);
        let patience = Duration::from_secs(takes) + MARGIN;
        let fetched = match fetch::get(&destination, &self.headers, patience) {
            Ok(fetched) => fetched,
            Err(why) => return cannot_run(format!("{shown}: {why}")),
        };
        match fetched.status {
            200 => Ok(fetched),
            401 | 403 => cannot_run(format!(
                "{shown}: responded {}: it needs a login; give its header with --profile-header 'Authorization: ...'",
                fetched.status
            )),
            300..=399 => cannot_run(format!(
                "{shown}: sends the client elsewhere ({}, {}), which is not followed: give the address of the profile itself, \
                 or if that is a login, its header with --profile-header 'Authorization: ...'",
                fetched.status,
                match fetched.location.as_str() {
                    "" => "it does not say where".to_owned(),
                    location => model::quote::quote(&mask_url(location)),
                }
            )),
            404 | 405 => cannot_run(format!(
                "{shown}: responded {}: no profile is given there; {HOW}",
                fetched.status
            )),
            status => {
                let words = String::from_utf8_lossy(&fetched.body);
                let words = model::quote::quote(words.lines().next().unwrap_or_default());
                cannot_run(format!("{shown}: responded {status}: {words}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_servers_and_profiles() {
        for (given, kind, seconds, url) in [
            ("localhost:80", "profile", Some(5), "http://localhost/debug/pprof/profile?seconds=5"),
            (
                "http://a:1/debug/pprof/",
                "allocs",
                Some(5),
                "http://a:1/debug/pprof/allocs?seconds=5",
            ),
            ("http://a:1/x/debug/pprof", "heap", None, "http://a:1/x/debug/pprof/heap"),
            (
                "http://a:1/debug/pprof/mutex",
                "profile",
                Some(2),
                "http://a:1/debug/pprof/mutex?seconds=2",
            ),
            ("http://a:1/prof?seconds=9", "profile", Some(2), "http://a:1/prof?seconds=9"),
        ] {
            let endpoint = Endpoint::parse(given, &[]).unwrap();
            assert_eq!(endpoint.url(kind, seconds).as_str(), url, "{given}");
        }
        assert_eq!(
            Endpoint::parse("a:1/debug/pprof/profile", &[]).unwrap().kind().as_deref(),
            Some("cpu")
        );
        assert_eq!(Endpoint::parse("a:1", &[]).unwrap().kind(), None);
    }

    #[test]
    fn a_header_that_is_none_is_not_repeated() {
        let Err(Failure::Usage(why)) = Endpoint::parse("a:1", &["Bearer hunter2".to_owned()])
        else {
            panic!("it is none");
        };
        assert!(why.starts_with("--profile-header") && !why.contains("hunter2"), "{why}");
    }
}
