//! What header names mean to a gateway: which are passed on, which end here, which are written anew.
//!
//! Owns the table of names. `request` and `response` copy what is to be passed on.

use wire::Headers;

use super::refusal::Fault;

/// Options of `Connection` at most, over all its fields; more are refused, since each is compared with each header.
pub(super) const CONNECTION_OPTIONS: usize = 16;

/// Whether a request has passed an intermediary of this name (RFC 9110 section 7.6.3).
pub(super) fn passed(headers: &Headers<'_>, name: &str) -> bool {
    let by = |part: &&[u8]| part.split(u8::is_ascii_whitespace).any(|word| word == name.as_bytes());
    headers.all("via").flat_map(options).any(|part| by(&part))
}

/// Prefixes of the names by which proxies pass the client's identity on, which are removed whatever follows. All begin with `x`.
const FAMILIES_X: [&str; 13] = [
    "x-forwarded-",
    "x-plimsoll-",
    "x-remote-",
    "x-auth-request-",
    "x-authenticated-",
    "x-consumer-",
    "x-credential-",
    "x-webauth-",
    "x-ssl-client-",
    "x-client-cert-",
    "x-amzn-oidc-",
    "x-ms-client-principal-",
    "x-appengine-",
];
/// The same of those that begin with another letter.
const FAMILIES: [&str; 3] = ["remote-", "ssl-client-", "wl-proxy-"];

/// How many times a request may be forwarded yet (RFC 9110 section 7.6.2); `None` where it does not say.
///
/// # Errors
/// [`Fault::MaxForwards`] where it says no number, or says it twice.
pub(super) fn max_forwards(headers: &Headers<'_>) -> Result<Option<u64>, Fault> {
    let mut values = headers.all("max-forwards");
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() || value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(Fault::MaxForwards);
    }
    let add = |sum: u64, digit: &u8| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    Ok(Some(value.iter().fold(0, add)))
}

/// What becomes of a request's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// It is passed on, unless `Connection` names it.
    Pass,
    /// It is not passed on: hop-by-hop, or written anew from what is known (framing, `Host`, the client).
    Drop,
    /// The list of hop-by-hop headers.
    Connection,
    /// The protocol that the client would change to.
    Upgrade,
    /// Other intermediaries on the way; ours is appended.
    Via,
    /// The page that led here: its URL may hold a key.
    Referer,
}

/// What becomes of a request's header of this name.
///
/// A `_` counts as `-`: servers that hand headers on as variables (CGI, WSGI) make no difference, and a client
/// could say `X_Forwarded_For`.
pub(super) fn of_request(name: &str) -> Field {
    let name = name.as_bytes();
    let is = |known: &str| same(name, known.as_bytes());
    let begins =
        |known: &str| name.len() > known.len() && same(&name[..known.len()], known.as_bytes());
    let drop = match name.len() {
        2 => is("te"),
        3 if is("via") => return Field::Via,
        4 => is("host"),
        5 => is("proxy"),
        6 => is("expect") || is("x-host") || is("x-user"),
        7 if is("upgrade") => return Field::Upgrade,
        7 if is("referer") => return Field::Referer,
        9 => is("forwarded") || is("x-real-ip") || is("client-ip") || is("x-user-id"),
        10 if is("connection") => return Field::Connection,
        10 => is("keep-alive"),
        11 => is("x-client-ip") || is("x-forwarded") || is("client-cert"),
        13 => is("x-rewrite-url") || is("x-client-cert") || is("fly-client-ip"),
        14 => {
            is("content-length")
                || is("true-client-ip")
                || is("http2-settings")
                || is("x-original-url")
                || is("x-proxyuser-ip")
        }
        15 => is("x-original-host") || is("front-end-https"),
        16 => {
            is("proxy-connection")
                || is("cf-connecting-ip")
                || is("x-originating-ip")
                || is("fastly-client-ip")
                || is("x-azure-clientip")
        }
        17 => is("transfer-encoding") || is("client-cert-chain"),
        19 => is("proxy-authorization") || is("x-cluster-client-ip"),
        21 => is("x-ms-client-principal"),
        24 => is("x-original-forwarded-for") || is("x-envoy-external-address"),
        _ => false,
    };
    let families: &[&str] = match name.first() {
        Some(b'x' | b'X') => &FAMILIES_X[..],
        Some(b'r' | b'R' | b's' | b'S' | b'w' | b'W') => &FAMILIES[..],
        _ => &[],
    };
    if drop || families.iter().any(|&family| begins(family)) { Field::Drop } else { Field::Pass }
}

/// Whether a header of a response is not passed on: hop-by-hop, or framing that is written anew.
pub(super) fn ends_in_response(name: &str) -> bool {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    match name.len() {
        7 => is("upgrade"),
        10 => is("connection") || is("keep-alive"),
        14 => is("content-length"),
        16 => is("proxy-connection"),
        17 => is("transfer-encoding"),
        18 => is("proxy-authenticate"),
        _ => false,
    }
}

/// Letters of either case, and `_` as `-`. `known` is in lower case.
fn same(name: &[u8], known: &[u8]) -> bool {
    let plain = |byte: &u8| if *byte == b'_' { b'-' } else { byte.to_ascii_lowercase() };
    name.len() == known.len() && name.iter().map(plain).eq(known.iter().copied())
}

/// Whether two names are alike, letters of either case and `_` as `-`.
pub(crate) fn alike(one: &[u8], other: &[u8]) -> bool {
    let plain = |byte: &u8| if *byte == b'_' { b'-' } else { byte.to_ascii_lowercase() };
    one.len() == other.len() && one.iter().map(plain).eq(other.iter().map(plain))
}

/// The options of all `Connection` headers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Connection {
    /// `Upgrade` is one.
    pub(super) upgrade: bool,
    /// One names a header other than the usual ones: headers have to be compared with them.
    nominates: bool,
    options: usize,
}

impl Connection {
    /// Reads them.
    pub(super) fn of(headers: &Headers<'_>) -> Self {
        let mut found = Self::default();
        for value in headers.all("connection") {
            found.add(value);
        }
        found
    }

    fn add(&mut self, value: &[u8]) {
        if value.eq_ignore_ascii_case(b"keep-alive") || value.eq_ignore_ascii_case(b"close") {
            self.options += 1;
            return;
        }
        for option in options(value) {
            self.options += 1;
            if option.eq_ignore_ascii_case(b"upgrade") {
                self.upgrade = true;
            } else if !option.eq_ignore_ascii_case(b"close")
                && !option.eq_ignore_ascii_case(b"keep-alive")
            {
                self.nominates = true;
            }
        }
    }

    /// Whether there are more than we compare headers with.
    pub(super) fn too_many(&self) -> bool {
        self.options > CONNECTION_OPTIONS
    }

    /// Whether it names any header, which may be a trailer too.
    pub(super) fn nominates(&self) -> bool {
        self.nominates
    }

    /// Whether a header of this name is hop-by-hop by being named.
    pub(super) fn names(&self, headers: &Headers<'_>, name: &str) -> bool {
        self.nominates
            && headers
                .all("connection")
                .flat_map(options)
                .any(|option| option.eq_ignore_ascii_case(name.as_bytes()))
    }
}

fn options(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|option| !option.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DROPPED: &str = "\
        Host TE Expect Content-Length Transfer-Encoding Keep-Alive Forwarded X-Forwarded-For \
        x-forwarded-proto X-FORWARDED-HOST X-Forwarded-Port X-Forwarded-Prefix \
        X-Forwarded-Client-Cert X-Forwarded-By X_Forwarded_For X-Real-IP x_real_ip \
        Proxy-Connection Proxy-Authorization Content_Length Transfer_Encoding True-Client-IP \
        X-Client-IP X-Cluster-Client-IP CF-Connecting-IP Client-IP Client_Ip X-Remote-IP \
        X-Remote-Addr X-Originating-IP X-Original-Forwarded-For X-Original-Host X-Host \
        Fastly-Client-IP Fly-Client-IP X-Azure-ClientIP X-Original-URL X-Rewrite-URL \
        HTTP2-Settings X-Plimsoll-Owner X_Plimsoll_Key Remote-User Remote_Groups X-Remote-User \
        X-User X-User-Id X-Authenticated-User X-Authenticated-Userid X-Auth-Request-User \
        X-WEBAUTH-USER X-Consumer-ID X_Consumer_Username X-Credential-Identifier \
        X-SSL-Client-Verify SSL-Client-Cert Client-Cert Client-Cert-Chain X-Client-Cert \
        X-Client-Cert-Chain X-MS-Client-Principal X-MS-Client-Principal-Name \
        X-Amzn-Oidc-Identity X-Forwarded Front-End-Https X-Envoy-External-Address \
        Wl-Proxy-Client-Ip X-ProxyUser-Ip X-Appengine-User-IP Proxy";

    #[test]
    fn what_says_who_asks_or_how_long_a_message_is_ends_here() {
        for name in DROPPED.split(' ') {
            assert_eq!(of_request(name), Field::Drop, "{name}");
        }
        let passed = [
            "Accept",
            "User-Agent",
            "Cookie",
            "Authorization",
            "X-HTTP-Method-Override",
            "X-Client-Version",
            "X-User-Agent",
            "X-Auth-Token",
            "Trailer",
            "Content-Type",
            "X-Plimsoll",
            "Hosts",
            "Range",
            "If-None-Match",
            "Accept-Encoding",
            "X-Request-Id",
        ];
        for name in passed {
            assert_eq!(of_request(name), Field::Pass, "{name}");
        }
        assert_eq!(of_request("upgrade"), Field::Upgrade);
        assert_eq!(of_request("VIA"), Field::Via);
        assert_eq!(of_request("Connection"), Field::Connection);
    }

    #[test]
    fn answers_lose_what_is_hop_by_hop() {
        for name in ["Connection", "keep-alive", "Transfer-Encoding", "Content-Length", "Upgrade"] {
            assert!(ends_in_response(name), "{name}");
        }
        for name in ["Content-Encoding", "Set-Cookie", "Trailer", "WWW-Authenticate", "Via"] {
            assert!(!ends_in_response(name), "{name}");
        }
    }

    #[test]
    fn options_are_a_list() {
        let of = |values: &[&str]| {
            let mut found = Connection::default();
            for value in values {
                found.add(value.as_bytes());
            }
            found
        };
        assert_eq!(of(&["Keep-Alive"]), Connection { options: 1, ..Connection::default() });
        assert!(of(&["foo, Upgrade"]).upgrade && of(&["foo, Upgrade"]).nominates);
        assert!(!of(&["upgrade ,close"]).nominates);
        assert!(of(&["a,b,c,d,e,f,g,h", "a,b,c,d,e,f,g,h,i"]).too_many());
        assert!(!of(&[",,,,,,,,,,,,,,,,,,,,,"]).too_many());
    }
}
