use super::*;

/// Method, path, query, status, bytes, time taken.
type Read = (String, String, String, u16, u64, Option<u64>);

fn read(format: &Format, text: &str) -> Vec<Read> {
    let mut reader = format.reader();
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut hits = Vec::new();
    for line in text.lines() {
        if let Ok(Some(hit)) = reader.read(line.as_bytes()) {
            assert_eq!(hit.at.seconds(), 971_211_336, "{line}");
            let (method, path, query) = (words(hit.method), words(hit.path), words(hit.query));
            hits.push((method, path, query, hit.status, hit.bytes, hit.took.map(|took| took.ns)));
        }
    }
    hits
}

const COMBINED: &str = r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a/b?c=d HTTP/1.0" 200 2326 "http://x/" "Mozilla/4.08 \"[en]\" (Win98)""#;

#[test]
fn formats_are_detected_and_read() {
    let vhost = format!("example.org:443 {COMBINED}");
    let timed = format!("{COMBINED} 0.012");
    let common = &COMBINED[..COMBINED.find(" \"http://x").unwrap()];
    let alb = r#"https 2000-10-10T20:55:36.186641Z app/my/50dc 192.168.131.39:2817 10.0.0.1:80 0.001 0.010 0.001 200 200 34 2326 "GET https://www.example.com:443/a/b?c=d HTTP/1.1" "curl/7.46.0" ECDHE TLSv1.2 arn "Root=1" "www" "arn" 0 2018 "forward" "-" "-" "x" "200" "-" "-""#;
    let w3c = "#Version: 1.0\n#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status sc-bytes time-taken\n2000-10-10 20:55:36 1.2.3.4 GET /a/b c=d 200 2326 12";
    let cloudfront = "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query time-taken\n2000-10-10\t20:55:36\tFRA\t2326\t1.2.3.4\tGET\th\t/a/b\t200\t-\tMozilla/5.0%20(X)\tc=d\t0.012";
    let caddy = r#"{"level":"info","ts":971211336.5,"logger":"http.log.access","request":{"remote_ip":"1.2.3.4","proto":"HTTP/2.0","method":"GET","host":"h","uri":"/a/b?c=d","headers":{"User-Agent":["curl"]}},"duration":0.012,"size":2326,"status":200}"#;
    let traefik = r#"{"ClientHost":"1.2.3.4","DownstreamContentSize":2326,"DownstreamStatus":200,"Duration":12000000,"RequestHost":"h","RequestMethod":"GET","RequestPath":"/a/b?c=d","StartUTC":"2000-10-10T20:55:36.1Z","time":"2001-01-01T00:00:00Z"}"#;
    for (text, name, taken) in [
        (COMBINED, "combined", None),
        (vhost.as_str(), "combined with virtual host", None),
        (timed.as_str(), "combined with the time taken", Some(12)),
        (common, "common", None),
        (alb, "ALB", Some(12)),
        (w3c, "W3C", Some(12)),
        (cloudfront, "CloudFront", Some(12)),
        (caddy, "JSON lines", Some(12)),
        (traefik, "JSON lines", Some(12)),
    ] {
        let format = Format::detect(text.as_bytes()).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(format.name(), name);
        let taken = taken.map(|ms: u64| ms * 1_000_000);
        let wanted = ("GET".into(), "/a/b".into(), "c=d".into(), 200, 2_326, taken);
        assert_eq!(read(&format, text), [wanted], "{name}");
    }
}

#[test]
fn formats_of_which_none_has_half_of_the_lines_are_named() {
    let json = r#"{"time":"2000-10-10T20:55:36Z","uri":"/a/b","method":"GET","status":200}"#;
    let alb = r#"https 2000-10-10T20:55:36.186641Z app/my/50dc 192.168.131.39:2817 10.0.0.1:80 0.001 0.010 0.001 200 200 34 2326 "GET https://www.example.com:443/a/b?c=d HTTP/1.1" "curl/7.46.0" ECDHE"#;
    let log = [COMBINED, json, alb].join("\n") + "\n";
    let why = Format::detect(log.repeat(20).as_bytes()).expect_err("no format has half of them");
    assert!(why.contains("several formats, combined, ALB, JSON lines: split it"), "{why}");
    let junk = "what is this\n".repeat(9) + COMBINED;
    let why = Format::detect(junk.as_bytes()).expect_err("most lines have none");
    assert!(why.starts_with("has no known format"), "{why}");
}

#[test]
fn a_log_format_is_read_from_a_configuration() {
    let conf = r#"
        # log_format old '$remote_addr';
        http {
            log_format main '$remote_addr "$time_iso8601" $request_method '
                            '"$request_uri" $status $body_bytes_sent rt=$request_time';
            log_format json escape=json '{"t":"$time_iso8601","m":"$request_method","u":"$request_uri","s":$status,"b":$body_bytes_sent}';
            access_log /var/log/nginx/access.log main;
        }"#;
    let formats = Format::from_nginx_conf(conf, None).unwrap();
    let plain = r#"1.2.3.4 "2000-10-10T20:55:36+00:00" GET "/a/b?c=d" 200 2326 rt=0.012"#;
    let json = r#"{"t":"2000-10-10T20:55:36+00:00","m":"GET","u":"/a/b?c=d","s":200,"b":2326}"#;
    for (text, name, taken) in
        [(plain, "log_format main", Some(12_000_000)), (json, "log_format json", None)]
    {
        let format = Format::best(&formats, text.as_bytes()).unwrap();
        assert_eq!(format.name(), name);
        let wanted = ("GET".into(), "/a/b".into(), "c=d".into(), 200, 2_326, taken);
        assert_eq!(read(&format, text), [wanted]);
    }
    let apache = Format::from_pattern(r#"%h %l %u %t \"%r\" %>s %b %D"#, None).unwrap();
    let line = r#"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a/b?c=d HTTP/1.1" 200 2326 12000"#;
    let wanted = ("GET".into(), "/a/b".into(), "c=d".into(), 200, 2_326, Some(12_000_000));
    assert_eq!(read(&apache, line), [wanted]);
    for (pattern, missing) in
        [("$remote_addr", "time"), ("[$time_local] $status", "request"), ("$msec$request", "side")]
    {
        let why = Format::from_pattern(pattern, None).unwrap_err();
        assert!(why.contains(missing), "{pattern}: {why}");
    }
}

#[test]
fn what_is_no_request_is_bad_and_nothing_panics() {
    let format = Format::named("combined").unwrap();
    let mut reader = format.reader();
    for (line, bad) in [
        ("junk", Bad::Form),
        (r#"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "\x16\x03" 400 0 "-" "-""#, Bad::Request),
        (r#"1.2.3.4 - - [yesterday] "GET / HTTP/1.1" 200 0 "-" "-""#, Bad::Time),
        (r#"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" ok 0 "-" "-""#, Bad::Status),
    ] {
        assert_eq!(reader.read(line.as_bytes()), Err(bad), "{line}");
    }
    assert_eq!(reader.read(b"  "), Ok(None));
    let why = Format::detect(b"what is this\nand this\n").unwrap_err();
    assert!(why.contains("--log-format") && why.contains("what is this"), "{why}");
}

#[test]
fn bytes_that_servers_escape_are_those_of_the_request() {
    let (path, query) = ("/caf%C3%A9/7", "q=%22a%5C");
    for (request, path, query) in [
        // nginx, Apache, and nginx with `escape=json`.
        (r"GET /caf\xC3\xA9/7?q=\x22a\x5C HTTP/1.1", path, query),
        (r#"GET /caf\xc3\xa9/7?q=\"a\\ HTTP/1.1"#, path, query),
        (r#"GET /a?q=\"\\\u001f HTTP/1.1"#, "/a", "q=%22%5C%1F"),
        // Escapes of no server.
        (r"GET /a\z\x4+\u0 HTTP/1.1", r"/a\z\x4+\u0", ""),
    ] {
        let line = COMBINED.replace("GET /a/b?c=d HTTP/1.0", request);
        let found = read(&Format::named("combined").unwrap(), &line);
        assert_eq!((found[0].1.as_str(), found[0].2.as_str()), (path, query), "{request}");
    }
}

#[test]
fn a_format_is_found_behind_lines_that_are_none_of_it() {
    let handshake = COMBINED.replace("GET /a/b?c=d HTTP/1.0", "\\x16\\x03\\x01");
    for (junk, count) in [(handshake.as_str(), 1_000), ("Starting the server ...", 400)] {
        let text = format!("{junk}\n").repeat(count) + &format!("{COMBINED}\n").repeat(500);
        assert_eq!(Format::detect(text.as_bytes()).unwrap().name(), "combined", "{junk}");
    }
    let text = "Starting the server ...\n".repeat(600) + &format!("{COMBINED}\n").repeat(500);
    assert!(Format::detect(text.as_bytes()).is_err());
    assert!(Format::detect(b"# a comment\n\n").unwrap_err().contains("is empty"));
}

#[test]
fn a_few_agents_with_quotes_leave_the_agents_of_all_others() {
    let bare = COMBINED.replace('\\', "");
    for (odd, name) in [(1, "combined"), (30, "common")] {
        let text = format!("{bare}\n").repeat(odd) + &format!("{COMBINED}\n").repeat(300 - odd);
        assert_eq!(Format::detect(text.as_bytes()).unwrap().name(), name, "{odd}");
    }
}

#[test]
fn whole_numbers_behind_the_agent_are_no_seconds() {
    for (more, note) in [("120345", true), ("512 2600", true), ("", false), ("-", false)] {
        let line = format!("{COMBINED} {more}");
        let format = Format::detect(line.as_bytes()).unwrap();
        // nginx writes `-` for what it answered itself.
        assert!(more == "-" || format.name() == "combined", "{line}");
        assert_eq!(read(&format, &line)[0].5, None, "{line}");
        let said = format.note(line.as_bytes());
        assert_eq!(said.is_some_and(|note| note.contains("%D")), note, "{line}");
    }
    let timed = format!("{COMBINED} 0.012 0.010");
    let format = Format::detect(timed.as_bytes()).unwrap();
    assert_eq!(read(&format, &timed)[0].5, Some(12_000_000));
    assert_eq!(format.note(timed.as_bytes()), None);
}

/// A JSON line with members of its own.
fn json_line(more: &str) -> String {
    format!(r#"{{"time":"2000-10-10T20:55:36Z","method":"GET","path":"/a",{more}}}"#)
}

#[test]
fn units_of_json_are_told_by_the_server() {
    let envoy = r#""start_time":"2000-10-10T20:55:36Z","response_code":200,"duration":12"#;
    let echo = r#""status":200,"latency":12000000,"latency_human":"12ms""#;
    for (more, taken) in [
        (envoy, Some(12_000_000)),
        (echo, Some(12_000_000)),
        (r#""status":200,"duration":12"#, None),
        (r#""status":200,"latency":12000000"#, None),
        (r#""status":200,"duration":"12""#, None),
        (r#""status":200,"duration":0.012"#, Some(12_000_000)),
        (r#""status":200,"request_time":"0.012""#, Some(12_000_000)),
        (r#""status":200,"duration":"12ms""#, Some(12_000_000)),
        (r#""status":200,"duration_ms":12"#, Some(12_000_000)),
    ] {
        let line = json_line(more);
        let format = Format::detect(line.as_bytes()).unwrap();
        assert_eq!(read(&format, &line)[0].5, taken, "{line}");
        let note = format.note(line.as_bytes());
        assert_eq!(note.is_some_and(|note| note.contains("--field taken=")), taken.is_none());
    }
    let line = json_line(r#""status":200,"duration":12"#);
    let given = Format::json(&["taken=duration:us".to_owned()]).unwrap();
    assert_eq!(read(&given, &line)[0].5, Some(12_000));
    assert_eq!(given.note(line.as_bytes()), None);
}

#[test]
fn users_of_json_are_told_apart_by_what_stays_the_same() {
    for (more, client, user) in [
        (r#""remote_addr":"1.2.3.4:5678","user_id":42"#, "1.2.3.4", "42"),
        (r#""client_ip":"1.2.3.4, 10.0.0.1","user_id":"ann""#, "1.2.3.4", "ann"),
        (r#""remote_ip":"[2001:db8::1]:5678""#, "2001:db8::1", ""),
        (r#""remote_ip":"2001:db8::1","user":null"#, "2001:db8::1", ""),
    ] {
        let line = json_line(&format!(r#""status":200,{more}"#));
        let mut reader = Format::json(&[]).unwrap().reader();
        let hit = reader.read(line.as_bytes()).unwrap().unwrap();
        assert_eq!((hit.client, hit.user), (client.as_bytes(), user.as_bytes()), "{line}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    let w3c = "#Fields: c-ip date time cs-method cs-uri-stem sc-status\n127.0.0.1 2000-10-10 20:55:36 GET /a 200";
    for (name, text) in [("combined", COMBINED), ("w3c", w3c)] {
        let mut reader = Format::named(name).unwrap().reader();
        let mut clients = Vec::new();
        for line in format!("\u{feff}{text}").lines() {
            if let Some(hit) = reader.read(line.as_bytes()).unwrap() {
                clients.push(hit.client.to_vec());
            }
        }
        assert_eq!(clients, [b"127.0.0.1"], "{name}");
    }
}

#[test]
fn another_field_may_tell_users_apart() {
    let time = "[10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.1\" 200";
    let nginx = "$remote_addr $remote_user [$time_local] \"$request\" $status \"$cookie_sid\"";
    let apache = "%h %u %t \"%r\" %>s \"%{sid}C\"";
    let line = format!("1.2.3.4 ann lee {time} \"5f3a\"");
    for (pattern, user) in [
        (nginx, "$cookie_sid"),
        (nginx, "cookie_sid"),
        (nginx, "${cookie_sid}"),
        (apache, "%{sid}C"),
    ] {
        let mut reader = Format::from_pattern(pattern, Some(user)).unwrap().reader();
        assert_eq!(reader.read(line.as_bytes()).unwrap().unwrap().user, b"5f3a", "{user}");
    }
    let why = Format::from_pattern(apache, Some("%{uid}C")).unwrap_err();
    assert!(why.contains("%{uid}C"), "{why}");
    let conf = format!(
        "log_format a '{nginx}'; log_format b '$remote_addr [$time_local] \"$request\" $status';"
    );
    assert_eq!(Format::from_nginx_conf(&conf, Some("$cookie_sid")).unwrap().len(), 1);
    assert!(
        Format::from_nginx_conf(&conf, Some("$cookie_uid")).unwrap_err().contains("$cookie_uid")
    );
    let w3c = "#Fields: date time cs-username cs-method cs-uri-stem sc-status cs(Cookie)\n\
               2000-10-10 20:55:36 ann GET /a 200 sid=5f3a\n";
    let format = Format::named("w3c").unwrap().with_user_column("cs(cookie)").unwrap();
    assert_eq!(format.note(w3c.as_bytes()), None);
    let mut reader = format.reader();
    let users =
        w3c.lines().filter_map(|line| Some(reader.read(line.as_bytes()).unwrap()?.user.to_vec()));
    assert_eq!(users.collect::<Vec<_>>(), [b"sid=5f3a"]);
    let other = Format::named("w3c").unwrap().with_user_column("x-user").unwrap();
    assert!(other.note(w3c.as_bytes()).unwrap().contains("x-user"));
    assert!(Format::named("combined").unwrap().with_user_column("x").is_none());
}

#[test]
fn behind_a_proxy_the_client_is_whom_it_names() {
    let combined = COMBINED.replace("127.0.0.1", "10.0.0.1");
    let caddy = r#"{"ts":971211336.5,"request":{"remote_ip":"10.0.0.1","method":"GET","uri":"/a","headers":{"X-Forwarded-For":["203.0.113.7, 10.0.0.9"]}},"status":200}"#;
    let nginx =
        json_line(r#""status":200,"remote_addr":"10.0.0.1","http_x_forwarded_for":"203.0.113.7""#);
    let w3c = "#Fields: date time c-ip cs-method cs-uri-stem sc-status X-Forwarded-For\n2000-10-10 20:55:36 10.0.0.1 GET /a 200 203.0.113.7";
    for (text, client, note) in [
        (format!("{combined} \"203.0.113.7, 10.0.0.9\""), "203.0.113.7", true),
        (format!("{combined} \"203.0.113.7\" \"shop.example\" 0.012"), "203.0.113.7", true),
        (format!("h {combined} \"203.0.113.7\""), "203.0.113.7", true),
        (format!("{combined} 0.012 \"203.0.113.7\""), "203.0.113.7", true),
        (format!("{combined} \"-\""), "10.0.0.1", false),
        (format!("{combined} \"shop.example\""), "10.0.0.1", false),
        (caddy.to_owned(), "203.0.113.7", false),
        (nginx, "203.0.113.7", false),
        (w3c.to_owned(), "203.0.113.7", false),
    ] {
        let format = Format::detect(text.as_bytes()).unwrap();
        let mut reader = format.reader();
        for line in text.lines() {
            if let Some(hit) = reader.read(line.as_bytes()).unwrap() {
                assert_eq!(hit.client, client.as_bytes(), "{text}");
            }
        }
        let said =
            format.note(text.as_bytes()).is_some_and(|note| note.contains("$http_x_forwarded_for"));
        assert_eq!(said, note, "{text}");
    }
    for pattern in [
        r#"$remote_addr [$time_local] "$request" $status "$http_x_forwarded_for""#,
        r#"%h %t \"%r\" %>s \"%{X-Forwarded-For}i\""#,
    ] {
        let mut reader = Format::from_pattern(pattern, None).unwrap().reader();
        let line = r#"10.0.0.1 [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 "203.0.113.7""#;
        assert_eq!(reader.read(line.as_bytes()).unwrap().unwrap().client, b"203.0.113.7");
    }
    let given = Format::json(&["client=remote_addr".to_owned()]).unwrap();
    let line =
        json_line(r#""status":200,"remote_addr":"10.0.0.1","x_forwarded_for":"203.0.113.7""#);
    assert_eq!(given.reader().read(line.as_bytes()).unwrap().unwrap().client, b"10.0.0.1");
}
