//! Addresses of databases and caches, whose passwords people write with the characters that separate the parts of a URL.
//!
//! Owns where such a password may be: [`mask_address`] leaves out everything that may be part of one, and
//! [`escaped_address`] escapes it so that parsers of URLs find it.

use super::{MASK, is_secret_query_name};

/// The error for an address whose port is a number out of range.
pub const NO_PORT: &str = "its port is not between 1 and 65535";

/// The address with `***` for its password. What may be a part of the password, because a mark in it was not
/// escaped, is left out too.
pub fn mask_address(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return without_slashes(url) };
    let (rest, parameter) = match secret_parameter(rest) {
        Some(at) if !rest[at..].contains('@') => (&rest[..at], MASK),
        Some(_) => return format!("{scheme}://{MASK}"),
        None => (rest, ""),
    };
    let shown = match rest.rsplit_once('@') {
        Some((user, place)) if is_place(place) => format!("{}@{place}", mask_user(scheme, user)),
        Some((user, _)) => format!("{}@{MASK}", mask_user(scheme, user)),
        None if is_place(rest) => rest.to_owned(),
        None => return format!("{scheme}://{MASK}"),
    };
    format!("{scheme}://{shown}{parameter}")
}

/// `postgres:` without `//` is no address, and may hold a password all the same.
fn without_slashes(url: &str) -> String {
    match url.split_once(':') {
        Some(("sqlite", _)) => url.to_owned(),
        Some((scheme, _)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            format!("{scheme}:{MASK}")
        }
        None if !url.contains('@') => url.to_owned(),
        _ => MASK.to_owned(),
    }
}

/// Where the value of the first parameter begins whose name says that it is a credential.
fn secret_parameter(rest: &str) -> Option<usize> {
    let marks = rest.match_indices(['?', '&']).map(|(at, _)| at + 1);
    marks.into_iter().find_map(|from| {
        let (name, _) = rest[from..].split_once('=')?;
        is_secret_query_name(name).then_some(from + name.len() + 1)
    })
}

/// `USER:***`. A cache's password is often written where its user belongs.
fn mask_user(scheme: &str, user: &str) -> String {
    let (name, password) = user.split_once(':').map_or((user, None), |(n, p)| (n, Some(p)));
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.%".contains(&byte));
    let is_name = plain && (password.is_some() || !matches!(scheme, "redis" | "memcached"));
    match (is_name, password) {
        (true, Some(_)) => format!("{name}:{MASK}"),
        (true, None) => name.to_owned(),
        (false, _) => MASK.to_owned(),
    }
}

/// Whether this is `HOST[:PORT][,HOST[:PORT]...][/PATH][?QUERY]`, and not the beginning of a user and a password.
fn is_place(text: &str) -> bool {
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    let hosts = &text[..end];
    hosts.is_empty() || hosts.split(',').all(is_host)
}

/// A host and the port behind it.
fn host_and_port(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once(':') {
        Some((host, port)) if !text.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    }
}

/// Whether a host of `HOST[:PORT],...` has a port number that is out of range.
fn has_no_such_port(place: &str) -> bool {
    let end = place.find(['/', '?', '#']).unwrap_or(place.len());
    place[..end].split(',').filter_map(|host| host_and_port(host).1).any(|port| {
        let digits = port.bytes().all(|byte| byte.is_ascii_digit()) && !port.is_empty();
        digits && port.parse::<u16>().map_or(true, |port| port == 0)
    })
}

fn is_host(text: &str) -> bool {
    let (host, port) = host_and_port(text);
    let of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.%".contains(&byte);
    let of_ipv6 = |byte: u8| byte.is_ascii_hexdigit() || b":.%".contains(&byte);
    let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let known = bracketed.map_or_else(|| host.bytes().all(of_name), |ip| ip.bytes().all(of_ipv6));
    known && !host.is_empty() && port.is_none_or(|port| port.parse::<u16>().is_ok())
}

/// The address with the marks in its user and password escaped (RFC 3986 section 2.1), so that they end at the last
/// `@` before the host. Escapes that are there already stay.
///
/// # Errors
/// When it is not clear where the password ends: says what to write instead. When the port is out of range.
pub fn escaped_address(url: &str) -> Result<String, &'static str> {
    const IN_DOUBT: &str = "it cannot be told where its password ends: write its marks as %-escapes (%2F for /, \
                            %3F for ?, %23 for #, %40 for @, also for an @ behind the host)";
    let Some((scheme, rest)) = url.split_once("://") else { return Ok(url.to_owned()) };
    let login = rest.rsplit_once('@');
    if has_no_such_port(login.map_or(rest, |(_, place)| place)) {
        return Err(NO_PORT);
    }
    let Some((user, place)) = login else {
        return if is_place(rest) && !rest.contains('#') {
            Ok(url.to_owned())
        } else {
            Err(IN_DOUBT)
        };
    };
    if user.contains(['/', '?', '#']) || place.contains('#') {
        return Err(IN_DOUBT);
    }
    let user = match user.split_once(':') {
        Some((name, password)) => format!("{}:{}", escaped(name), escaped(password)),
        None => escaped(user),
    };
    Ok(format!("{scheme}://{user}@{place}"))
}

/// Every byte but those that stand for themselves everywhere, and escapes.
fn escaped(text: &str) -> String {
    let is_escape = |at: usize| {
        let digits = text.as_bytes().get(at + 1..at + 3);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    let byte = |(at, byte): (usize, u8)| match byte {
        b'%' if is_escape(at) => "%".to_owned(),
        b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().enumerate().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_password_is_shown() {
        for (url, wanted) in [
            ("postgres://ann:pw@h:5432/shop", "postgres://ann:***@h:5432/shop"),
            ("postgres://ann:p@w@h/shop", "postgres://ann:***@h/shop"),
            ("postgres://ann:p/w@h/shop?a=b", "postgres://ann:***@h/shop?a=b"),
            ("postgres://ann:p/w@x@h/shop", "postgres://ann:***@h/shop"),
            ("postgres://ann:p?w#x:y%z@[::1]:1/shop", "postgres://ann:***@[::1]:1/shop"),
            ("postgres://:pw@h", "postgres://:***@h"),
            ("postgres://h/shop?user=ann&password=p@w", "postgres://***"),
            ("postgres://h/shop?user=ann&password=p&w", "postgres://h/shop?user=ann&password=***"),
            ("postgres://ann:pw", "postgres://***"),
            ("postgres://ann:pw@h:pw/shop", "postgres://ann:***@***"),
            ("postgres://h1:1,h2:2/shop", "postgres://h1:1,h2:2/shop"),
            ("postgres:ann:pw@h", "postgres:***"),
            ("ann:pw@h", "ann:***"),
            ("redis://:pw@h", "redis://:***@h"),
            ("redis://:pw", "redis://***"),
            ("redis://pw@h", "redis://***@h"),
            ("sqlite:shop.db", "sqlite:shop.db"),
            ("shop.db", "shop.db"),
        ] {
            assert_eq!(mask_address(url), wanted, "{url}");
        }
    }

    #[test]
    fn a_password_ends_at_the_last_at() {
        for (url, wanted) in [
            ("redis://:p@w:x%40y%z@h:1/0", "redis://:p%40w%3Ax%40y%25z@h:1/0"),
            ("mysql://ann@h/shop?a=b", "mysql://ann@h/shop?a=b"),
            ("postgres:///shop", "postgres:///shop"),
        ] {
            assert_eq!(escaped_address(url).as_deref(), Ok(wanted), "{url}");
        }
        for url in
            ["redis://:p/w@h", "mysql://a:p?w@h", "mysql://a:p#w@h", "mysql://a:b", "mysql://h/#"]
        {
            assert!(escaped_address(url).unwrap_err().contains("%-escapes"), "{url}");
        }
    }

    #[test]
    fn a_port_that_is_none_is_no_matter_of_passwords() {
        for url in [
            "postgres://h:99999/shop",
            "postgres://ann:pw@h:65536",
            "postgres://ann@h1:1,h2:0/shop",
            "mysql://ann:p@w@[::1]:99999999999999999999/shop",
            "redis://h:70000",
        ] {
            assert!(escaped_address(url).unwrap_err().contains("65535"), "{url}");
        }
        for url in ["postgres://ann@h:65535/shop", "mysql://[::1]/shop", "redis://h:1?a=b:99999"] {
            assert_eq!(escaped_address(url).as_deref(), Ok(url));
        }
    }
}
