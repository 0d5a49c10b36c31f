//! What configurations mean, and what is said of wrong ones.

use super::*;
use crate::config::Flags;
use crate::policy::{Host, PathRewrite};

const WHOLE: &str = r#"
loadline = "capacity.json"

[[listen]]
address = "127.0.0.1:9090"
proxy_protocol = true

[admin]
address = "127.0.0.1:9091"

[[upstream]]
name = "shop"
servers = ["http://127.0.0.1:8080", "https://localhost"]
balance = "round-robin"
keep_alive = "2s"
retries = 0
check = { path = "/healthz", every = "500ms" }

[[upstream]]
name = "blog"
servers = ["http://[::1]:81/"]

[[route]]
name = "users"
host = "*.Example.com"
path = "/users/{id}"
methods = ["GET", "POST"]
upstream = "shop"
rewrite = { from = "/users/", to = "/v2/people" }
request_headers = { remove = ["X-Debug"], set = { X-Layer = "gate" } }
timeouts = { first_byte = "250ms" }
body = "1MiB"
limits = { rate = "100/s", burst = 5, concurrency = 7 }

[[route]]
name = "rest"
upstream = "blog"
public = true

[[tier]]
name = "free"
rate = "30/m"
per_day = 1000

[[tier]]
name = "gold"
priority = 5
concurrency = 50

[keys]
header = "X-Token"
query = ""

[limits]
all = { rate = "1k/s" }
address = { concurrency = 20 }

[client]
head = "1s"
head_size = "16KiB"

[usage]
every = "1s"
"#;

fn resolve(text: &str) -> Result<Vec<SocketAddr>, String> {
    let of = |text: &str| text.parse().map_err(|_| "is no address".to_owned());
    match text.strip_prefix("both") {
        Some(port) => {
            ["127.0.0.8", "[::8]"].map(|host| of(&format!("{host}{port}"))).into_iter().collect()
        }
        None => of(&text.replace("localhost", "127.0.0.9")).map(|address| vec![address]),
    }
}

fn built(text: &str) -> Result<Built, ConfigError> {
    Config::parse(text).and_then(|config| Built::of(&config, text, None, &resolve))
}

#[test]
fn every_part_is_read() {
    let Built { policy, listeners, admin, .. } = built(WHOLE).unwrap();
    assert_eq!(listeners.len(), 1);
    assert!(listeners[0].proxy);
    assert_eq!(admin.map(|admin| admin.port()), Some(9091));
    let shop = &policy.upstreams[0];
    assert_eq!(
        (shop.balance, shop.keep_alive_ns, shop.retry.attempts),
        (Balance::RoundRobin, 2 * SECOND, 0)
    );
    assert_eq!(shop.addresses[1].socket.to_string(), "127.0.0.9:443");
    assert_eq!(shop.addresses[1].tls.as_deref(), Some("localhost"));
    assert_eq!(shop.active.as_ref().map(|check| check.every_ns), Some(SECOND / 2));
    assert_eq!(policy.upstreams[1].addresses[0].text, "[::1]:81");
    let users = &policy.routes[0];
    assert_eq!(users.host, Host::Below(".example.com".into()));
    assert_eq!(users.rewrite, Some(PathRewrite { from: "/users".into(), to: "/v2/people".into() }));
    assert_eq!(users.request_headers.set, [("x-layer".to_owned(), "gate".to_owned())]);
    assert_eq!((users.timeouts.first_byte_ns, users.body_max_bytes), (SECOND / 4, 1 << 20));
    assert_eq!(users.limits.at_once, Some(7));
    assert_eq!((policy.routes[1].upstream, policy.routes[1].public), (1, true));
    assert_eq!(policy.tiers[0].each.rate.map(|rate| rate.per_s), Some(0.5));
    assert_eq!((policy.tiers[1].priority, policy.tiers[1].each.at_once), (5, Some(50)));
    assert_eq!(policy.key_source.header.as_deref(), Some("x-token"));
    assert_eq!(policy.key_source.query, None);
    assert_eq!(policy.address.at_once, Some(20));
    assert_eq!((policy.client.head_ns, policy.client.head_bytes), (SECOND, 16 << 10));
}

#[test]
fn a_route_names_the_protocols_that_it_tunnels() {
    let of = |written: &str| {
        let public = format!("public = true\n{written}");
        built(&WHOLE.replace("public = true", &public))
            .map(|built| built.policy.routes[1].upgrade.clone())
    };
    assert_eq!(of("").unwrap(), ["websocket"]);
    assert_eq!(of("upgrade = true").unwrap(), ["websocket"]);
    assert!(of("upgrade = false").unwrap().is_empty());
    assert_eq!(of("upgrade = [\"WebSocket\", \"SPDY/3.1\"]").unwrap(), ["websocket", "spdy/3.1"]);
    for wrong in ["h2c", "HTTP/2.0", "", "a b", "a/", "/1", "a/b/c"] {
        let error = of(&format!("upgrade = [\"{wrong}\"]")).unwrap_err();
        assert!(error.place == Some((39, 11)) && error.what.contains("upgrade: "), "{error}");
    }
}

#[test]
fn responses_are_rewritten_unless_that_is_switched_off() {
    let of = |written: &str| {
        let public = format!("public = true\n{written}");
        let policy = built(&WHOLE.replace("public = true", &public)).unwrap().policy;
        [0, 1].map(|number: usize| policy.routes[number].rewrite_responses)
    };
    assert_eq!(of(""), [true, true]);
    assert_eq!(of("rewrite_responses = true"), [true, true]);
    assert_eq!(of("rewrite_responses = false"), [true, false]);
}

#[test]
fn tiers_routes_addresses_and_all_have_quotas() {
    let with = |from: &str, to: &str| built(&WHOLE.replace(from, to));
    let policy = with("burst = 5", "per_day = 7").unwrap().policy;
    assert_eq!(policy.routes[0].quotas, Quotas { day: Some(7), month: None });
    let policy = with("rate = \"1k/s\"", "per_month = 9").unwrap().policy;
    assert_eq!((policy.all, policy.all_quotas.month), (Limits::default(), Some(9)));
    let policy = with("concurrency = 20", "per_day = 7").unwrap().policy;
    assert_eq!((policy.address, policy.address_quotas.day), (Limits::default(), Some(7)));
    let policy = with("per_day = 1000", "together = { per_month = 7 }").unwrap().policy;
    assert_eq!(policy.body_max_bytes, u64::MAX);
    let free = &policy.tiers[0];
    assert_eq!((free.day_quota, free.together_quotas.month), (None, Some(7)));
    for (from, to) in [
        ("concurrency = 20", "per_day = 0"),
        ("per_day = 1000", "together = { per_month = 0 }"),
        ("burst = 5", "per_day = 0"),
        ("per_day = 1000", "per_day = 0"),
        ("priority = 5", "per_month = 0"),
    ] {
        let error = with(from, to).unwrap_err();
        assert!(error.place.is_some() && error.what.starts_with("a quota is "), "{error}");
    }
}

#[test]
fn a_longest_body_is_that_of_all_requests() {
    let text = WHOLE.replace("[limits]", "[limits]\nbody = \"2MiB\"");
    assert_eq!(built(&text).unwrap().policy.body_max_bytes, 2 << 20);
}

#[test]
fn a_name_stands_for_a_server_at_each_of_its_addresses() {
    let text = WHOLE.replace("\"https://localhost\"", "\"https://both\"");
    let Built { policy, .. } = built(&text).unwrap();
    let shop = policy.upstreams[0].addresses.iter();
    let servers: Vec<_> =
        shop.map(|server| (server.socket.to_string(), server.tls.as_deref())).collect();
    let expected =
        [("127.0.0.1:8080", None), ("127.0.0.8:443", Some("both")), ("[::8]:443", Some("both"))];
    assert_eq!(servers, expected.map(|(socket, tls)| (socket.to_owned(), tls)));
}

/// With the first text of the whole configuration replaced by the second, the third is said.
fn is_said((right, wrong, words): (&str, &str, &str)) {
    assert!(WHOLE.contains(right), "{right}");
    let text = WHOLE.replacen(right, wrong, 1);
    let said = built(&text).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(said.contains(words), "{wrong}: {said:?}");
}

/// As the guide writes it.
#[test]
fn a_size_is_a_number_too() {
    let with = |client: &str| {
        let head = format!("head = \"1s\"\n{client}");
        built(&WHOLE.replace("head = \"1s\"", &head)).unwrap().policy.client.body_bytes_per_s
    };
    assert_eq!((with("body_rate = 0"), with("body_rate = 1024")), (0, 1024));
    assert_eq!((with("body_rate = \"0\""), with("body_rate = \"1KiB\"")), (0, 1024));
}

#[test]
fn what_a_flag_says_has_no_place_in_the_file() {
    let flags = Flags { listen: vec!["nowhere".into()], ..Flags::default() };
    let mut config = Config::parse(WHOLE).unwrap();
    config.overrule(&flags.into());
    let error = Built::of(&config, WHOLE, None, &resolve).unwrap_err();
    assert!(error.place.is_none() && error.what.starts_with("`nowhere`: "), "{error}");
}

#[test]
fn addresses_that_are_listened_on_twice_are_said() {
    let cases = [
        (
            "127.0.0.1:9091",
            "127.0.0.1:9090",
            "line 9, column 11: the admin API never shares the address of clients",
        ),
        (
            "127.0.0.1:9091",
            "0.0.0.0:9090",
            "line 9, column 11: the admin API never shares the address of clients",
        ),
        (
            "proxy_protocol = true",
            "[[listen]]\naddress = \"127.0.0.1:9090\"",
            "line 7, column 11: 127.0.0.1:9090 is listened on twice",
        ),
        (
            "proxy_protocol = true",
            "[[listen]]\naddress = \"0.0.0.0:9090\"",
            "line 7, column 11: 0.0.0.0:9090 is listened on already: 127.0.0.1:9090 is",
        ),
    ];
    cases.into_iter().for_each(is_said);
}

#[test]
fn what_is_wrong_is_said_with_its_place_and_what_was_meant() {
    let cases = [
        (
            "/users/{id}",
            "/{rest...}",
            "line 26, column 8: `{rest...}`: a parameter stands for any one segment",
        ),
        ("/users/{id}", "/users/{*id}", "`{*id}`: a parameter stands for any one segment"),
        ("/users/{id}", "/users/{id:[0-9]+}", "`{id:[0-9]+}`: a parameter stands"),
        (
            "name = \"shop\"",
            "nmae = \"shop\"",
            "line 12, column 1: unknown field `nmae`: did you mean `name`?",
        ),
        (
            "upstream = \"blog\"",
            "upstream = \"blg\"",
            "line 37, column 12: there is no upstream `blg`: did you mean `blog`?",
        ),
        (
            "\"30/m\"",
            "\"30/day\"",
            "line 42, column 8: `30/day`: a rate is per s, m or h, not per `day`",
        ),
        (
            "\"2s\"",
            "\"2 parsecs\"",
            "line 15, column 14: unknown unit `parsecs` in `2 parsecs`: use ns, us",
        ),
        (
            "\"30/m\"",
            "\"10 per second\"",
            "line 42, column 8: `10 per second` is not a rate: did you mean `10/s`?",
        ),
        (
            "from = \"/users/\"",
            "from = \"/b\"",
            "line 29, column 20: no path that the route takes (/users/{}) begins with `/b`",
        ),
        ("\"16KiB\"", "\"10\"", "a head has 1KiB to 1MiB"),
        ("retries = 0", "retries = \"x\"", "expected a whole number from 0 to 4294967295"),
        ("retries = 0", "retry_budget = 1.5", "line 16, column 16: retry_budget is from 0 to 1"),
        (
            "proxy_protocol = true",
            "key = \"key.pem\"",
            "line 6, column 7: a key needs its certificate",
        ),
        (
            "every = \"1s\"",
            "every = \"1500ms\"",
            "line 63, column 9: usage is reported every whole seconds",
        ),
        (
            "[usage]",
            "[access_log]\nsample = 0.5\n[usage]",
            "line 63, column 10: a sample is of a log",
        ),
        (
            "127.0.0.1:9091",
            "127.0.0.1:8080",
            "127.0.0.1:8080 is the address of the upstream's server",
        ),
        (
            "public = true",
            "[[route]]\nname = \"more\"\nupstream = \"shop\"",
            "the route `rest` takes all requests of this one",
        ),
    ];
    cases.into_iter().for_each(is_said);
}

#[test]
fn what_there_is_one_of_or_several_is_said_as_it_is_written() {
    for (text, said) in [
        (
            "workers = 1\n[listen]\n",
            "line 2, column 1: there may be several of it: write [[listen]]",
        ),
        ("[tier.free]\nrate = \"1/s\"\n", "write [[tier]], and name = \"free\" below"),
        ("[[admin]]\naddress = \":1\"\n", "line 1, column 1: there is one of it: write [admin]"),
        ("[[limits.all]]\nrate = \"1/s\"\n", "there is one of it: write [limits.all]"),
        (
            "admin = \"127.0.0.1:1\"",
            "line 1, column 9: invalid type: string \"127.0.0.1:1\", expected a table",
        ),
        ("listen = \":1\"", "line 1, column 10: invalid type: string \":1\", expected a list"),
        ("loadline = 5", "expected the path of a file, in quotes"),
        ("[[tier]]\nname = \"x\"\npriority = \"high\"", "expected a whole number from -2147483648"),
    ] {
        let error = Config::parse(text).unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
}

/// A restart, which was advised, does not help.
#[test]
fn too_many_of_a_kind_are_refused_at_the_first_of_them() {
    let with = |tiers: usize| {
        let tiers: String = (0..tiers).map(|n| format!("[[tier]]\nname = \"t{n}\"\n")).collect();
        built(&format!(
            "[[listen]]\naddress = \"127.0.0.1:9\"\n[[upstream]]\nname = \"a\"\nservers = \
             [\"http://[::1]:81\"]\n{tiers}"
        ))
    };
    assert!(with(1023).is_ok());
    let said = with(1024).unwrap_err().to_string();
    assert_eq!(said, "line 2053, column 8: a configuration has at most 1023 tiers");
}

/// What is said of a configuration goes to logs.
#[test]
fn passwords_in_urls_are_not_repeated() {
    for (url, shown) in [
        (
            "http://ada:hunter2@[::1]:81/",
            "`http://ada:***@[::1]:81/`: a server is scheme, host and",
        ),
        ("ada:hunter2@[::1]:81", "`ada:***`: a server is a URL such as"),
    ] {
        let said = built(&WHOLE.replace("http://[::1]:81/", url)).unwrap_err().to_string();
        assert!(said.contains(shown) && !said.contains("hunter2"), "{said}");
    }
    let said = Config::parse("shared = \"redis://:hunter2@h\"").unwrap_err().to_string();
    let shown = "line 1, column 10: invalid type: string \"redis://:***@h\", expected a table";
    assert_eq!(said, shown);
    let http = "every = \"1s\"\nhttp = \"http://ada:hunter2@[::1]:81/\"";
    let said = built(&WHOLE.replace("every = \"1s\"", http)).unwrap_err().to_string();
    assert!(
        said.contains("line 64, column 8: usage is sent to") && !said.contains("hunter2"),
        "{said}"
    );
}

/// It was taken for all methods.
#[test]
fn an_empty_list_of_methods_is_refused_with_its_place() {
    let said = built(&WHOLE.replace("[\"GET\", \"POST\"]", "[]")).unwrap_err().to_string();
    assert!(
        said.contains("column 11: a route takes at least one method: leave `methods`"),
        "{said}"
    );
    let all = built(&WHOLE.replace("methods = [\"GET\", \"POST\"]", "")).unwrap();
    assert!(all.policy.routes[0].methods.0.is_empty());
}

#[test]
fn a_method_is_any_token_in_capitals() {
    let text = WHOLE.replace("\"GET\", ", "\"VERSION-CONTROL\", \"M-SEARCH\", ");
    let methods = built(&text).unwrap().policy.routes[0].methods.0.clone();
    assert_eq!(methods, ["VERSION-CONTROL", "M-SEARCH", "POST"]);
    for wrong in ["M-Search", "A B", "A:B", ""] {
        let text = WHOLE.replace("\"GET\", ", &format!("\"{wrong}\", "));
        let error = built(&text).unwrap_err();
        assert!(error.what.contains("a method is written in capitals"), "{wrong}: {error}");
    }
}

#[test]
fn values_that_cannot_be_are_said_with_what_they_may_be() {
    let cases = [
        (
            "\"GET\", ",
            "\"get\", ",
            "line 27, column 12: a method is written in capitals, such as GET",
        ),
        (
            "X-Layer",
            "Transfer-Encoding",
            "the header transfer-encoding is the gateway's own to set",
        ),
        ("X-Layer", "X-Plimsoll-Owner", "the header x-plimsoll-owner is the gateway's own to set"),
        ("\"gate\"", "\"a\\nb\"", "a value has no control characters and no spaces around it"),
        ("concurrency = 7", "concurrency = 0", "a concurrency is 1 or more"),
        ("burst = 5", "burst = 0", "line 33, column 36: a burst is 1 or more"),
        ("rate = \"100/s\", ", "", "line 33, column 20: a burst belongs to a rate"),
        ("\"1MiB\"", "\"1mb\"", "line 32, column 8: `1mb` is not a size, such as 512, 32KiB"),
        ("\"1MiB\"", "-1", "line 32, column 8: `-1` is not a size, such as 512, 32KiB"),
        ("\"1MiB\"", "true", "line 32, column 8: invalid type: boolean `true`, expected a size"),
        ("\"2s\"", "2", "line 15, column 14: invalid type: integer `2`, expected a time in quotes"),
        (
            "\"30/m\"",
            "30",
            "line 42, column 8: invalid type: integer `30`, expected a rate in quotes",
        ),
        ("\"250ms\"", "\"0s\"", "line 31, column 27: a time of 0 would end everything at once"),
        ("\"500ms\"", "\"0ms\"", "a time of 0 would end everything at once"),
        ("head = \"1s\"", "head = \"0\"", "line 59, column 8: a time of 0 would end"),
        ("retries = 0", "connections = 0", "line 16, column 15: `connections` is 1 or more"),
        ("every = \"500ms\"", "up_after = 0", "line 17, column 41: `up_after` is 1 or more"),
        ("head = \"1s\"", "connections_per_address = 0", "line 59, column 27: `connections_per_"),
        (
            "header = \"X-Token\"\nquery = \"\"",
            "header = \"\"\nquery = \"\"\nbearer = false",
            "line 51, column 10: no request could carry a key",
        ),
        ("public = true", "upgrade = 3", "this is true, false, or a list such as [\"websocket\"]"),
        (
            "\"http://[::1]:81/\"",
            "\"[::1]:81\"",
            "`[::1]:81`: a server is a URL such as http://10.0.0.7:8080",
        ),
        ("\"http://[::1]:81/\"", "\"http://[::1]:81/x\"", "paths are rewritten by routes"),
        ("\"http://[::1]:81/\"", "", "an upstream has at least one server"),
        ("\"gold\"", "\"free\"", "the name `free` is used twice"),
        ("\"round-robin\"", "\"round-robbin\"", "did you mean `round-robin`?"),
        ("public = true", "public = true\nhost = \"a b\"", "a host is a name such as"),
        (
            "http://[::1]:81/",
            "http://127.0.0.1:9090",
            "`http://127.0.0.1:9090` is the gateway itself",
        ),
        ("[usage]", "[usage", "line 62, column "),
        (
            "every = \"1s\"",
            "every = \"20ms\"",
            "line 63, column 9: usage is reported once a second",
        ),
    ];
    cases.into_iter().for_each(is_said);
    assert!(built("").unwrap_err().to_string().starts_with("there is no upstream"));
}

#[test]
fn threads_that_cannot_be_are_said() {
    let cases = [
        ("loadline = \"capacity.json\"", "workers = 0", "line 2, column 11: `workers` is 1 or"),
        (
            "loadline = \"capacity.json\"",
            "workers = 1025",
            "line 2, column 11: `workers` is at most",
        ),
        (
            "loadline = \"capacity.json\"",
            "busy_poll = \"2ms\"",
            "line 2, column 13: `busy_poll` is at most 1ms",
        ),
        ("public = true", "workers = 2", "`workers` belongs above the first [table]"),
    ];
    cases.into_iter().for_each(is_said);
}
