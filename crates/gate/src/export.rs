//! The measured limits as configuration of other proxies, for those who keep theirs.
//!
//! Pure. What a proxy cannot say (costs of endpoints, the latency envelope) is in a comment of what is written.

use std::fmt::Write;

use model::units::show_rate;

use crate::admission::Line;

/// What nginx takes for `limit_conn` at most.
const NGINX_MOST: f64 = 65_535.0;

/// By what part of it a number that was worked out may differ from the whole number that it is.
const WHOLE: f64 = 1e-9;
/// The longest period that requests are counted in: HAProxy forgets what it counted after as long without a request.
const HOUR_S: u32 = 3600;
/// What holds a rate that a proxy does not.
const GATE_HOLDS: &str = "hold them with `plimsoll gate`";

/// nginx's configuration of one server in front of these, each `host:port`.
///
/// # Errors
/// In words, for a rate that nginx does not take.
pub fn nginx(line: &Line, listen: &str, servers: &[String]) -> Result<String, String> {
    // nginx takes whole requests per second, or per minute.
    let (rate, unit) = match line.rate_per_s {
        rate if rate >= 100.0 => (whole(rate), "s"),
        rate => (whole(rate * 60.0), "m"),
    };
    if rate < 1.0 {
        let other = "or with what `export haproxy` writes";
        return Err(format!(
            "{} a minute, the least that nginx takes; {GATE_HOLDS}, {other}",
            below(line)
        ));
    }
    let mut out = about(line, "limit_req and limit_conn");
    out.push_str(
        "# Put it in a file of its own and include that in the block `http` of nginx.conf (most packages include\n\
         # /etc/nginx/conf.d/*.conf there); `nginx -t` checks it, `nginx -s reload` puts it in force.\n\n",
    );
    let at_once = line.at_once.min(NGINX_MOST);
    // How many may come at once beside the first; nginx does not take 0.
    let burst = match at_once - 1.0 {
        more if more >= 1.0 => format!(" burst={more} nodelay"),
        _ => String::new(),
    };
    let _ = write!(
        out,
        "# One key for all requests; a variable that is empty would count none.\n\
         limit_req_zone all zone=load_line:64k rate={rate}r/{unit};\n\
         limit_conn_zone all zone=at_once:64k;\n\
         limit_req_status 429;\n\
         limit_conn_status 429;\n\n\
         upstream measured_api {{\n"
    );
    for server in servers {
        let _ = writeln!(out, "    server {server};");
    }
    let _ = write!(
        out,
        "    keepalive {at_once};\n\
         }}\n\n\
         server {{\n\
         \x20   listen {listen};\n\
         \x20   location / {{\n\
         \x20       limit_req zone=load_line{burst};\n\
         \x20       limit_conn at_once {at_once};\n\
         \x20       proxy_pass http://measured_api;\n\
         \x20       proxy_http_version 1.1;\n\
         \x20       proxy_set_header Connection \"\";\n\
         \x20       proxy_set_header Host $host;\n\
         \x20   }}\n\
         }}\n"
    );
    Ok(out)
}

/// HAProxy's configuration of one frontend in front of these, each `host:port`.
///
/// # Errors
/// In words, for a rate that is too low to be counted.
pub fn haproxy(line: &Line, listen: &str, servers: &[String]) -> Result<String, String> {
    let Some((rate, period_s)) = per_period(line.rate_per_s) else {
        let least = "an hour, the least that is written for HAProxy";
        return Err(format!("{} {least}; {GATE_HOLDS}", below(line)));
    };
    let mut out = about(line, "a stick table and maxconn");
    out.push_str(
        "# Append it to haproxy.cfg, or give it as one more file: haproxy -f haproxy.cfg -f THIS; -c checks both.\n\n",
    );
    let _ = write!(
        out,
        "frontend load_line\n\
         \x20   mode http\n\
         \x20   bind {listen}\n\
         \x20   timeout client 75s\n\
         \x20   # Only requests that are let through are counted: an overload does not shut everybody out.\n\
         \x20   stick-table type integer size 1 expire 1h store gpc0,gpc0_rate({period_s}s)\n\
         \x20   http-request track-sc0 int(1)\n\
         \x20   http-request deny deny_status 429 hdr Retry-After 1 if {{ sc0_gpc0_rate ge {rate} }}\n\
         \x20   http-request sc-inc-gpc0(0)\n\
         \x20   default_backend measured_api\n\n\
         backend measured_api\n\
         \x20   mode http\n\
         \x20   timeout connect 2s\n\
         \x20   timeout server 30s\n\
         \x20   timeout queue 100ms\n\
         \x20   http-reuse safe\n"
    );
    // Rounded down, so that all together have no more than was measured; 0 would stand for no limit.
    let each = (line.at_once / servers.len().max(1) as f64).floor().max(1.0);
    for (number, server) in servers.iter().enumerate() {
        let _ = writeln!(out, "    server api{} {server} maxconn {each}", number + 1);
    }
    Ok(out)
}

/// The beginning of why a rate is too low for a proxy.
fn below(line: &Line) -> String {
    format!("its {} requests/s are less than one", show_rate(line.rate_per_s))
}

/// A number that was worked out, rounded down.
fn whole(number: f64) -> f64 {
    (number + WHOLE).floor()
}

/// A rate as whole requests in whole seconds, as few seconds as hold a whole number: all of them may come at once. Else rounded
/// down, by less than a tenth where an hour has ten. `None` where it has none.
fn per_period(per_s: f64) -> Option<(f64, u32)> {
    let requests = |seconds: u32| per_s * f64::from(seconds);
    let is_whole = |seconds: &u32| {
        let requests = requests(*seconds);
        requests > 0.5 && (requests - requests.round()).abs() < WHOLE * requests
    };
    let rounded = if per_s >= 10.0 { 1 } else { ((10.0 / per_s).ceil() as u32).min(HOUR_S) };
    let seconds = (1..=rounded).find(is_whole).unwrap_or(rounded);
    let requests = whole(requests(seconds));
    (requests >= 1.0).then_some((requests, seconds))
}

fn about(line: &Line, by: &str) -> String {
    let mut out = String::new();
    let plain = |text: &str| model::quote::plain(text, 200);
    let _ = writeln!(
        out,
        "# The load line of {}, measured {}:\n\
         # {} requests/s within {}, {} at once at most, held by {by}.",
        plain(&line.url),
        plain(&line.measured_at),
        show_rate(line.rate_per_s),
        plain(&line.envelope.from),
        line.at_once,
    );
    let costs: Vec<_> = line.endpoints().filter(|(_, _, milli)| *milli != 1000).collect();
    if !costs.is_empty() {
        out.push_str("# Requests differ in what they cost, which `plimsoll gate` counts and this does not:\n");
        for (method, path, milli) in costs {
            let _ = writeln!(
                out,
                "#   {} {path}: {} of the mean",
                plain(method),
                f64::from(milli) / 1000.0
            );
        }
    }
    out.push_str(
        "# Not covered, and held by `plimsoll gate` alone: keys, quotas and limits of each key; a limit that falls while\n\
         # live latency is above the objective. TLS, host names, time-outs and logs are yours to add.\n",
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::Envelope;

    fn line(rate_per_s: f64) -> Line {
        Line {
            rate_per_s,
            at_once: 48.0,
            envelope: Envelope { share: 0.99, limit_ns: 1, from: "p99<100ms".into() },
            url: "http://x/".into(),
            measured_at: "2026-11-23T00:00:00Z".into(),
            ..Line::default()
        }
    }

    #[test]
    fn rates_are_written_as_the_proxies_take_them() {
        let servers = ["127.0.0.1:1".to_owned(), "127.0.0.1:2".to_owned()];
        let text = nginx(&line(8022.9), "127.0.0.1:9", &servers).unwrap();
        assert!(text.contains("# Not covered") && text.contains("in the block `http`"), "{text}");
        assert!(text.contains("rate=8022r/s;") && text.contains("burst=47 nodelay;"), "{text}");
        assert!(nginx(&line(2.5), "x", &servers).unwrap().contains("rate=150r/m;"));
        let text = haproxy(&line(8022.9), "127.0.0.1:9", &servers).unwrap();
        assert!(text.contains("gpc0_rate(1s)") && text.contains("ge 8022 }"), "{text}");
        assert!(text.contains("server api2 127.0.0.1:2 maxconn 24"));
        let three = [servers.as_slice(), &["127.0.0.1:3".to_owned()]].concat();
        let few = Line { at_once: 8.0, ..line(2.5) };
        assert!(
            haproxy(&few, "x", &three).unwrap().contains("server api3 127.0.0.1:3 maxconn 2\n")
        );
        let two = Line { at_once: 2.0, ..line(2.5) };
        assert!(
            haproxy(&two, "x", &three).unwrap().contains("server api3 127.0.0.1:3 maxconn 1\n")
        );
        let one = Line { at_once: 1.0, ..line(2.5) };
        assert!(nginx(&one, "x", &servers).unwrap().contains("limit_req zone=load_line;\n"));
        let many = Line { at_once: 100_000.0, ..line(2.5) };
        assert!(nginx(&many, "x", &servers).unwrap().contains("limit_conn at_once 65535;"));
    }

    /// nginx was given one a minute, and HAProxy let ten through after each hour of silence.
    #[test]
    fn a_rate_that_a_proxy_does_not_hold_is_refused() {
        let servers = ["127.0.0.1:1".to_owned()];
        assert!(nginx(&line(1.0 / 60.0), "x", &servers).unwrap().contains("rate=1r/m;"));
        let why = nginx(&line(1.0 / 120.0), "x", &servers).unwrap_err();
        assert!(why.starts_with("its 0.00833 requests/s are less than one a minute"), "{why}");
        let text = haproxy(&line(1.0 / 120.0), "x", &servers).unwrap();
        assert!(text.contains("# 0.00833 requests/s within"), "{text}");
        let text = haproxy(&line(1.0 / 3600.0), "x", &servers).unwrap();
        assert!(text.contains("gpc0_rate(3600s)") && text.contains("ge 1 }"), "{text}");
        let why = haproxy(&line(1.0 / 3601.0), "x", &servers).unwrap_err();
        assert!(why.contains("less than one an hour"), "{why}");
    }

    /// Of 0.5 a second, ten were let through at once, and none for 20 s.
    #[test]
    fn haproxy_counts_in_the_shortest_time_of_a_whole_number() {
        for (per_s, requests, seconds) in [
            (8022.9, 8022, 1),
            (20.0, 20, 1),
            (3.0, 3, 1),
            (2.5, 5, 2),
            (0.5, 1, 2),
            (0.1, 1, 10),
            (1.0 / 3.0, 1, 3),
            (1.0 / 60.0, 1, 60),
            (0.123_456_7, 10, 82),
            // An hour has 4.44 of them.
            (0.001_234_5, 4, 3600),
        ] {
            let text = haproxy(&line(per_s), "x", &["127.0.0.1:1".to_owned()]).unwrap();
            let has = |part: String| text.contains(&part);
            let counts = has(format!("gpc0_rate({seconds}s)")) && has(format!("ge {requests} }}"));
            assert!(counts, "{per_s}: {text}");
        }
    }
}
