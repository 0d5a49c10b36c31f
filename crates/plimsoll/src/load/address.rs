//! From a URL, or a Unix socket's path, to addresses and routes: resolving, trying each address once, and picking
//! source addresses where ports of one would not do.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::time::Duration;

use net::{Peer, Route, UnixPath};
use url::{Host, Position, Url};

use crate::args::LoadArgs;
use crate::failure::{Failure, cannot_run, usage};
use crate::secrets::mask_url;

/// What to do with credentials that a URL has.
const USER_IN_URL: &str = "a user name or password in the URL is not sent; give it as -u USER:PASSWORD, or in a workload file as the \
                           header Authorization";
/// Longest that one address is tried for before the run.
const TRY_FOR: Duration = Duration::from_secs(5);
/// Connections from one source address to one destination at most: above half of the ports, finding
/// a free one slows connecting down more than tenfold.
const CONNECTIONS_A_SOURCE: u64 = 9_950;

/// A URL taken apart for HTTP/1.1.
#[derive(Debug, Clone)]
pub struct Destination {
    /// The URL as given.
    pub url: Url,
    /// Whether TLS is used.
    pub tls: bool,
    /// What `Host` says.
    pub authority: String,
    /// Path and query.
    pub target: String,
    /// Host name or address without brackets, for TLS and resolving.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Whether a name alone was typed, which a file may be meant by.
    is_name: bool,
}

impl Destination {
    /// Takes a URL apart; one without a scheme, such as `localhost:8080/x`, is one of http; without a host, `:8080/x`, of
    /// this machine.
    ///
    /// # Errors
    /// On anything but an http or https URL with a host.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let text = text.trim();
        if std::fs::metadata(text).is_ok_and(|about| about.file_type().is_socket()) {
            return usage(format!(
                "`{text}` is a Unix socket: use --unix {text} http://localhost/"
            ));
        }
        if !text.contains(':') && Path::new(text).is_dir() {
            // A path is no name of a host.
            let host = match text.contains('/') {
                true => String::new(),
                false => format!("; a host of that name is http://{text}/"),
            };
            return usage(format!(
                "`{text}` is a folder, and a URL or a workload file is wanted: `plimsoll report {text}` prints \
                 results that are in it{host}"
            ));
        }
        if text == "-" {
            return usage(
                "`-` is not a URL, and workload files are not read from standard input: write it into a file",
            );
        }
        // As HTTPie has it.
        let of_port = text
            .strip_prefix(':')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let of_this_machine = if of_port { format!("localhost{text}") } else { String::new() };
        let text = if of_port { &of_this_machine } else { text };
        refuse_what_is_no_host(text)?;
        refuse_a_bare_ipv6(text)?;
        refuse_a_port_alone(text)?;
        let is_scheme =
            |before: &str| before.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
        let url = match text.split_once("://").is_some_and(|(before, _)| is_scheme(before)) {
            true => Url::parse(text),
            false => Url::parse(&format!("http://{text}")),
        };
        let url = match url {
            Ok(url) => url,
            Err(error) => return usage(format!("`{text}` is not a URL: {error}")),
        };
        let tls = match url.scheme() {
            "http" => false,
            "https" => true,
            other => {
                return usage(format!(
                    "`{other}` in `{text}` is not a supported scheme: use http or https"
                ));
            }
        };
        let Some(host) = url.host() else { return usage(format!("`{text}` has no host")) };
        if !url.username().is_empty() || url.password().is_some() {
            return usage(USER_IN_URL);
        }
        let bare = match &host {
            Host::Ipv6(address) => address.to_string(),
            other => other.to_string(),
        };
        let port = url.port_or_known_default().unwrap_or(80);
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_string(),
        };
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let target = format!("{}{query}", url.path());
        let is_name = !text.contains([':', '/', '?']);
        Ok(Self { tls, authority, target, host: bare, port, is_name, url })
    }

    /// What differs between the URL as typed and the request: blanks, for one, are sent as `%20`. Secrets are masked.
    pub fn difference(&self, typed: &str) -> Option<String> {
        let typed = typed.trim();
        let typed = typed.split_once("://").map_or(typed, |(_, rest)| rest);
        let typed = typed.split('#').next().unwrap_or_default();
        let path = typed.find(['/', '?', '\\']).map_or("", |at| &typed[at..]);
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let sent = mask_url(&self.target);
        (path != self.target).then(|| format!("the URL is not sent as typed, but as {sent}"))
    }

    /// The addresses to connect to, those that refuse left out unless all do.
    ///
    /// # Errors
    /// When the name does not resolve, no address takes a connection from these sources, or one of
    /// them is not this machine's.
    pub fn addresses(&self, args: &LoadArgs) -> Result<Reached, Failure> {
        if let Some(path) = args.unix.first() {
            return unix(path);
        }
        let connect_to = args.connect_to.as_deref();
        let found = match connect_to {
            Some(text) => resolve(host_and_port(text)?).map_err(|error| {
                Failure::CannotRun(format!("--connect-to {text} cannot be resolved: {error}"))
            })?,
            None => resolve((self.host.as_str(), self.port)).map_err(|error| {
                let file = if self.is_name {
                    "; nor is there a file of that name"
                } else {
                    "; is it spelled right, and known to this machine?"
                };
                let host = &self.host;
                Failure::CannotRun(format!("the host `{host}` cannot be resolved: {error}{file}"))
            })?,
        };
        let mut reached = reach(&found, &args.source)?;
        // That a server listens on one of the two loopback addresses only is usual.
        if connect_to.is_none() && self.host == "localhost" {
            reached.notices.clear();
        }
        Ok(reached)
    }
}

/// The server that `--target` names, for a workload file: understood as `run` understands a URL, and without a slash at its
/// end. One that the environment names is not known yet, and stays as it is.
///
/// # Errors
/// As [`Destination::parse`], and where it has a query, which belongs to the paths of requests.
pub fn target(typed: &str) -> Result<String, Failure> {
    if typed.contains("${") {
        return Ok(typed.to_owned());
    }
    let url = match Destination::parse(typed) {
        Ok(destination) => destination.url,
        Err(why) => return usage(format!("--target: {why}")),
    };
    if url.query().is_some() {
        return usage(format!("--target: `{typed}`: a query belongs to the paths of requests"));
    }
    Ok(url[..Position::AfterPath].trim_end_matches('/').to_owned())
}

/// Refuses what is empty, and a scheme whose `://` lacks a character, which would be taken for a host and looked up.
fn refuse_what_is_no_host(text: &str) -> Result<(), Failure> {
    if text.is_empty() {
        return usage("the URL is empty: is the variable set that it is taken from?");
    }
    if let Some(rest) = text.strip_prefix("unix:").or(text.strip_prefix("http+unix:")) {
        let (path, target) = socket_and_target(rest);
        return usage(format!(
            "`{text}`: a Unix socket is named by a flag: --unix {path} http://localhost/{target}"
        ));
    }
    if text.starts_with(['"', '\'', '`', '\u{201c}', '\u{2018}']) {
        return usage(format!(
            "`{text}` begins with a quotation mark, which no URL has: leave it out"
        ));
    }
    if text.starts_with('/') && !text.starts_with("//") {
        return usage(format!(
            "`{text}` is a path, and not that of a file: a URL names the server before it, as in \
             http://127.0.0.1:8080{text}"
        ));
    }
    for (start, scheme) in
        [("http:/", "http"), ("https:/", "https"), ("http//", "http"), ("https//", "https")]
    {
        match text.strip_prefix(start) {
            Some(rest) if !rest.starts_with('/') => {
                return usage(format!("`{text}` is not a URL: did you mean {scheme}://{rest}?"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The path of a Unix socket, and what is requested of it without its first slash, of what stands behind `unix:` (nginx
/// has a colon between the two) and `http+unix:` (where `%2F` are the slashes of the path, as in Python's requests).
fn socket_and_target(rest: &str) -> (String, &str) {
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let escaped = !rest.starts_with('/') && rest.to_ascii_lowercase().contains("%2f");
    let end = if escaped { "/" } else { ":/" };
    let (path, target) = rest.split_once(end).unwrap_or((rest, ""));
    (path.replace("%2F", "/").replace("%2f", "/"), target)
}

/// Refuses an IPv6 address that is not in brackets: where its port begins cannot be known.
fn refuse_a_bare_ipv6(text: &str) -> Result<(), Failure> {
    let parts = text.split_once("://");
    let parts = parts.filter(|(before, _)| before.bytes().all(|b| b.is_ascii_alphanumeric()));
    let (scheme, typed) = parts.unwrap_or(("http", text));
    let (host, rest) = typed.split_at(typed.find(['/', '?', '#']).unwrap_or(typed.len()));
    let is_address = |host: &str| host.parse::<Ipv6Addr>().is_ok();
    let with_port = host.rsplit_once(':').filter(|(host, _)| is_address(host));
    let meant = match with_port.filter(|(_, port)| port.parse::<u16>().is_ok()) {
        Some((host, port)) => format!("[{host}]:{port}"),
        None if is_address(host) => format!("[{host}]"),
        None => return Ok(()),
    };
    usage(format!("`{text}`: an IPv6 address stands in brackets, as in {scheme}://{meant}{rest}"))
}

/// Refuses a number where a host is expected: it would be read as the 32 bits of an address, and 8080 is 0.0.31.144.
fn refuse_a_port_alone(text: &str) -> Result<(), Failure> {
    let typed = text.split_once("://").map_or(text, |(_, rest)| rest);
    let (host, rest) = typed.split_at(typed.find(['/', '?', '#', ':']).unwrap_or(typed.len()));
    if host.is_empty() || !host.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(());
    }
    let port = host.parse::<u16>().is_ok_and(|port| port > 0) && !rest.starts_with(':');
    let meant = if port {
        format!("; port {host} of this machine is :{host}{rest}")
    } else {
        String::new()
    };
    usage(format!("`{text}`: {host} is a number, not a host{meant}"))
}

/// Where a load can go.
#[derive(Debug)]
pub struct Reached {
    /// Addresses that took a connection, in the resolver's order.
    pub addresses: Vec<Peer>,
    /// Which others were left out, and why.
    pub notices: Vec<String>,
}

/// Tries a Unix socket once.
fn unix(path: &Path) -> Result<Reached, Failure> {
    let to = match UnixPath::new(path) {
        Ok(path) => Peer::Unix(path),
        Err(why) => return usage(format!("--unix {}: {why}", path.display())),
    };
    match net::socket::try_connect(&Route { to, from: None }, TRY_FOR) {
        Ok(()) => Ok(Reached { addresses: vec![to], notices: Vec::new() }),
        Err(error) => cannot_run(format!(
            "cannot connect to the Unix socket {}: {error}; is the server running, and is this its socket?",
            path.display()
        )),
    }
}

/// Tries each address once, from where the load will come: another source may not be let in, or
/// have no way there.
fn reach(found: &[SocketAddr], sources: &[IpAddr]) -> Result<Reached, Failure> {
    check_sources(sources)?;
    let ways: Vec<Route> = found.iter().filter_map(|&to| first_way(to, sources)).collect();
    if ways.is_empty() {
        return no_common_family();
    }
    let mut addresses = Vec::new();
    let mut refused: Vec<(Peer, io::Error)> = Vec::new();
    for way in &ways {
        match net::socket::try_connect(way, TRY_FOR) {
            Ok(()) => addresses.push(way.to),
            Err(error) => refused.push((way.to, error)),
        }
    }
    match refused.last() {
        Some((address, error)) if addresses.is_empty() => cannot_run(format!(
            "cannot connect to {address}: {error}; is the server running, and is this its port?"
        )),
        _ => {
            let left_out = |(address, error): &(Peer, io::Error)| {
                format!(
                    "{address}, one of the host's {} addresses, is not used: \
                    {error}",
                    ways.len()
                )
            };
            Ok(Reached { addresses, notices: refused.iter().map(left_out).collect() })
        }
    }
}

/// One way to an address; `None` when no source given is of its family.
fn first_way(to: SocketAddr, sources: &[IpAddr]) -> Option<Route> {
    if sources.is_empty() {
        return Some(Route { to: to.into(), from: None });
    }
    let from = sources.iter().find(|from| from.is_ipv4() == to.is_ipv4())?;
    Some(Route { to: to.into(), from: Some(*from) })
}

fn check_sources(sources: &[IpAddr]) -> Result<(), Failure> {
    for &source in sources {
        if let Err(error) = std::net::UdpSocket::bind(SocketAddr::new(source, 0)) {
            return cannot_run(format!(
                "--source {source} is not an address of this machine: {error}"
            ));
        }
    }
    Ok(())
}

fn no_common_family<T>() -> Result<T, Failure> {
    usage("no --source address is of the same family (IPv4 or IPv6) as the destination")
}

/// What `--connect-to` names: a host, in brackets if it is an IPv6 address, and a port.
fn host_and_port(text: &str) -> Result<(&str, u16), Failure> {
    let parts = text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
    match parts {
        Some((host, port)) if host.starts_with('[') && host.ends_with(']') => {
            Ok((&host[1..host.len() - 1], port))
        }
        Some((host, port)) if !host.is_empty() && !host.contains(':') => Ok((host, port)),
        _ => usage(format!(
            "--connect-to {text}: write it as HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080"
        )),
    }
}

fn resolve(name: impl ToSocketAddrs) -> io::Result<Vec<SocketAddr>> {
    let mut found: Vec<SocketAddr> = Vec::new();
    for address in name.to_socket_addrs()? {
        if !found.contains(&address) {
            found.push(address);
        }
    }
    if found.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
    }
    Ok(found)
}

/// Every way from here to there: each source with each destination of its family.
///
/// # Errors
/// When the sources given fit no destination.
pub fn routes(
    addresses: &[Peer],
    sources: &[IpAddr],
    connections: u64,
) -> Result<Vec<Route>, Failure> {
    let picked = if sources.is_empty() {
        loopback_sources(addresses, connections)
    } else {
        sources.to_vec()
    };
    if picked.is_empty() {
        return Ok(addresses.iter().map(|&to| Route { to, from: None }).collect());
    }
    let pairs = picked.iter().flat_map(|&from| addresses.iter().map(move |&to| (to, from)));
    let routes: Vec<Route> = pairs
        .filter(|(to, from)| to.tcp().is_some_and(|to| to.is_ipv4() == from.is_ipv4()))
        .map(|(to, from)| Route { to, from: Some(from) })
        .collect();
    if routes.is_empty() {
        return no_common_family();
    }
    Ok(routes)
}

/// Towards loopback, several source addresses where one would run short of ports.
fn loopback_sources(addresses: &[Peer], connections: u64) -> Vec<IpAddr> {
    let a_destination = connections.div_ceil(addresses.len().max(1) as u64);
    let is_loopback_v4 = |to: SocketAddr| to.is_ipv4() && to.ip().is_loopback();
    let all_loopback_v4 = addresses.iter().all(|to| to.tcp().is_some_and(is_loopback_v4));
    if !all_loopback_v4 || a_destination <= CONNECTIONS_A_SOURCE {
        return Vec::new();
    }
    let sources = a_destination.div_ceil(CONNECTIONS_A_SOURCE).min(65_000) as u32;
    let first = u32::from(Ipv4Addr::new(127, 0, 0, 2));
    (first..first + sources).map(|bits| Ipv4Addr::from(bits).into()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        let at = Destination::parse("http://127.0.0.1:8080/a/b?c=d#e").unwrap();
        assert_eq!(
            (at.authority.as_str(), at.target.as_str(), at.port),
            ("127.0.0.1:8080", "/a/b?c=d", 8080)
        );
        let at = Destination::parse("https://[::1]/").unwrap();
        assert_eq!(
            (at.authority.as_str(), at.host.as_str(), at.port, at.tls),
            ("[::1]", "::1", 443, true)
        );
        let at = Destination::parse("localhost:8080/a?b=http://c").unwrap();
        assert_eq!((at.url.as_str(), at.port), ("http://localhost:8080/a?b=http://c", 8080));
        let at = Destination::parse(":8080/a").unwrap();
        assert_eq!((at.url.as_str(), at.port), ("http://localhost:8080/a", 8080));
        let at = Destination::parse(" localhost:8080/a\n").unwrap();
        assert_eq!(at.url.as_str(), "http://localhost:8080/a");
        assert_eq!(at.difference(" localhost:8080/a\n"), None);
        let at = Destination::parse("h/a?b=http://::1/").unwrap();
        assert_eq!(at.target, "/a?b=http://::1/");
        let at = Destination::parse("http://example.test").unwrap();
        assert_eq!((at.authority.as_str(), at.target.as_str(), at.port), ("example.test", "/", 80));
    }

    #[test]
    fn sockets_written_as_urls_are_answered_by_the_flag() {
        for (typed, flag) in [
            ("unix:/tmp/a.sock", "--unix /tmp/a.sock http://localhost/"),
            ("unix:///tmp/a.sock", "--unix /tmp/a.sock http://localhost/"),
            ("unix:/tmp/a.sock:/v1/x", "--unix /tmp/a.sock http://localhost/v1/x"),
            ("http+unix:///tmp/a.sock", "--unix /tmp/a.sock http://localhost/"),
            ("http+unix://%2Ftmp%2Fa.sock", "--unix /tmp/a.sock http://localhost/"),
            ("http+unix://%2ftmp%2fa.sock/v1/x", "--unix /tmp/a.sock http://localhost/v1/x"),
        ] {
            let told = Destination::parse(typed).unwrap_err().to_string();
            assert!(told.ends_with(&format!(": {flag}")), "{typed}: {told}");
        }
    }

    #[test]
    fn quotation_marks_are_no_part_of_a_url() {
        for typed in ["\"http://h/\"", "'http://h/'", "\u{201c}http://h/\u{201d}"] {
            let told = Destination::parse(typed).unwrap_err().to_string();
            assert!(told.contains("begins with a quotation mark"), "{told}");
        }
    }

    #[test]
    fn a_path_alone_is_no_host() {
        let told = Destination::parse("/healthz").unwrap_err().to_string();
        assert!(told.ends_with("as in http://127.0.0.1:8080/healthz"), "{told}");
        assert_eq!(Destination::parse("//h/a").unwrap().host, "h");
    }

    #[test]
    fn a_target_is_the_server_that_run_would_load() {
        for (typed, server) in [
            ("localhost:8080", "http://localhost:8080"),
            (":8080/v1/", "http://localhost:8080/v1"),
            ("https://h/#top", "https://h"),
            ("http://${env.HOST}/", "http://${env.HOST}/"),
        ] {
            assert_eq!(target(typed).unwrap(), server, "{typed}");
        }
        for typed in ["8080", "http:/h", "http://h/?a=b", "http://me:secret@h"] {
            let told = target(typed).unwrap_err().to_string();
            assert!(told.starts_with("--target: ") && !told.contains("secret"), "{told}");
        }
    }

    #[test]
    fn what_is_sent_otherwise_than_it_was_typed_is_reported() {
        for (typed, sent) in [
            ("http://h/a b?c=d e", Some("/a%20b?c=d%20e")),
            ("h:80/a/../b", Some("/b")),
            ("http://h/\u{e9}", Some("/%C3%A9")),
            ("http://h/a b?token=secret", Some("/a%20b?token=***")),
            ("http://h", None),
            ("h:80?a=b", None),
            ("http://h/a%20b?c=http://d/#e", None),
        ] {
            let told = Destination::parse(typed).unwrap().difference(typed);
            let expected = sent.map(|sent| format!("the URL is not sent as typed, but as {sent}"));
            assert_eq!(told, expected, "{typed}");
        }
    }

    #[test]
    fn wrong_urls_say_what_to_do() {
        for (text, needle) in [
            ("ftp://host/", "`ftp`"),
            ("http://", "not a URL"),
            ("http://user:secret@host/", "-u USER:PASSWORD"),
            ("", "the URL is empty: is the variable set"),
            ("http:/127.0.0.1:8080/x", "did you mean http://127.0.0.1:8080/x?"),
            ("https//127.0.0.1/", "did you mean https://127.0.0.1/?"),
            ("src", "is a folder"),
            ("8080", "port 8080 of this machine is :8080"),
            ("8080/x?y=1", "port 8080 of this machine is :8080/x?y=1"),
            ("http://::1:8080/x", "in brackets, as in http://[::1]:8080/x"),
            ("::1", "in brackets, as in http://[::1]"),
            ("2001:db8::1/x", "in brackets, as in http://[2001:db8::1]/x"),
            ("https://fe80::1:8443", "in brackets, as in https://[fe80::1]:8443"),
            ("http://8080/", "port 8080 of this machine is :8080/"),
            ("8080:80", "8080 is a number, not a host"),
            ("99999999", "99999999 is a number, not a host"),
        ] {
            let message = Destination::parse(text).unwrap_err().to_string();
            assert!(message.contains(needle), "{text}: {message}");
            assert!(!message.contains("secret"));
        }
    }

    #[test]
    fn an_address_that_refuses_is_left_out_and_named() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let live = listener.local_addr().unwrap();
        let dead = SocketAddr::new("127.0.0.9".parse().unwrap(), live.port());
        let reached = reach(&[dead, live], &[]).unwrap();
        assert_eq!(reached.addresses, [live.into()]);
        let [notice] = &reached.notices[..] else { panic!("{reached:?}") };
        assert!(
            notice.starts_with(&format!(
                "{dead}, one of the host's 2 addresses, is not used: \
            "
            )),
            "{notice}"
        );
        assert!(reach(&[dead], &[]).unwrap_err().to_string().contains("is the server running"));
    }

    #[test]
    fn what_to_connect_to_is_a_host_and_a_port() {
        for (text, host, port) in [
            ("127.0.0.1:80", "127.0.0.1", 80),
            ("[::1]:8080", "::1", 8080),
            ("api.test:443", "api.test", 443),
        ] {
            assert_eq!(host_and_port(text).unwrap(), (host, port));
        }
        for text in ["foo", "", ":80", "::1:80", "host:", "host:http", "host:65536"] {
            let failure = host_and_port(text).unwrap_err();
            assert!(failure.code() == 2 && failure.to_string().contains("HOST:PORT"), "{text}");
        }
    }

    #[test]
    fn many_connections_to_loopback_come_from_several_sources() {
        let to = Peer::parse("127.0.0.1:80").unwrap();
        assert_eq!(routes(&[to], &[], 9_950).unwrap(), [Route { to, from: None }]);
        let spread = routes(&[to], &[], 50_000).unwrap();
        assert_eq!(spread.len(), 6);
        assert_eq!(spread[0].from, Some("127.0.0.2".parse().unwrap()));
        let far: SocketAddr = "192.0.2.1:80".parse().unwrap();
        let alone = routes(&[far.into()], &[], 50_000).unwrap();
        assert_eq!(alone.len(), 1);
    }
}
