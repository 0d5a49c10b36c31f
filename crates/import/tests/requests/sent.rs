//! What is sent is what the file's own tool would send, and nothing of its credentials is told.

use import::requests::{Format, Options, import};
use model::workload::{Body, Endpoint, Literal};

use crate::notes;

fn one_of(command: &str) -> Endpoint {
    let options = Options { keep_secrets: true, ..Options::default() };
    let imported = import(Format::Curl, command.as_bytes(), &options).unwrap();
    imported.workload.endpoints.into_iter().next().unwrap()
}

/// As curl 7.88 sends them, but for its own User-Agent and Accept.
#[test]
fn curl_sends_each_field_once_and_h_counts_most() {
    for (command, fields) in [
        (
            "curl -u ann:b -H 'Authorization: Bearer x' http://h/",
            vec![("Authorization", "Bearer x")],
        ),
        ("curl -H 'Authorization: Bearer x' http://c:d@h/", vec![("Authorization", "Bearer x")]),
        ("curl http://ann%40x@h/", vec![("Authorization", "Basic YW5uQHg6")]),
        ("curl -u ann http://h/", vec![("Authorization", "Basic YW5uOg==")]),
        ("curl -b a=1 -b b=2 http://h/", vec![("Cookie", "a=1; b=2")]),
        (
            "curl -b a=1 -H 'Cookie: z=9' -A x -H 'User-Agent: y' -e w -H 'Referer:' http://h/",
            vec![("Cookie", "z=9"), ("User-Agent", "y")],
        ),
        ("curl -A x -A y http://h/", vec![("User-Agent", "y")]),
        ("curl -H 'Host: shop.example' http://127.0.0.1/", vec![("Host", "shop.example")]),
    ] {
        let endpoint = one_of(command);
        assert!(endpoint.headers.iter().eq(fields), "{command}: {:?}", endpoint.headers);
    }
}

#[test]
fn curl_sends_these_paths_and_bodies() {
    for (command, path) in [
        ("curl 'h:1/in?next=http://x/'", "/in?next=http://x/"),
        ("curl -G --data-urlencode 'q=a;b[]' -d 'r=1;2' http://h/a/../b", "/b?q=a%3Bb%5B%5D&r=1;2"),
        ("curl --path-as-is http://h/a/../b", "/a/../b"),
        ("curl --url-query 'a=b c' --url-query '+x=%20' http://h/", "/?a=b+c&x=%20"),
        ("curl -T f.txt http://h/up/?x=1", "/up/f.txt?x=1"),
        ("curl -G --data-urlencode q@f.txt http://h/", "/?q=${file('f.txt')}"),
    ] {
        assert_eq!(one_of(command).path, path, "{command}");
    }
    let fields = |fields: &[(&str, &str)]| Body::Form(fields.iter().copied().collect());
    for (command, body) in [
        ("curl --data-binary 'cpu,host=a' http://h/", Body::Text("cpu,host=a".into())),
        ("curl -d 'a=1&b=x%20y' http://h/", fields(&[("a", "1"), ("b", "x y")])),
        (
            "curl --data-urlencode n@f.txt --data-urlencode 'm=ü' http://h/",
            fields(&[("n", "${file('f.txt')}"), ("m", "ü")]),
        ),
        (
            "curl --data-urlencode @f.txt http://h/",
            Body::Text("${urlencode(file('f.txt'))}".into()),
        ),
        ("curl -d 'i[]=1&j=2&i[]=3' http://h/", Body::Text("i%5B%5D=1&j=2&i%5B%5D=3".into())),
    ] {
        let endpoint = one_of(command);
        assert_eq!(endpoint.body.as_ref(), Some(&body), "{command}");
        let media = endpoint.headers.iter().find(|(name, _)| *name == "Content-Type");
        assert_eq!(media.is_some(), matches!(body, Body::Text(_)), "{command}");
    }
}

#[test]
fn notes_hold_no_credential_and_name_only_variables_that_are_read() {
    let text = "T=$(curl -u id:CLEAR http://auth/token)\n\
                curl http://h/a -H \"A: $T\" --user=ann:CLEAR -H 'Bearer CLEAR' | curl -H 'X-Api-Key: CLEAR' g\n\
                curl 'http://h/[1-3]?token=CLEAR' -F CLEAR\n\
                curl http://h/b -E ../c.pem:CLEAR\n\
                curl http://other/reset/CLEAR5d41402abc4b2a76b9719d91 -H \"A: $UNREAD\"\n";
    let imported = import(Format::Curl, text.as_bytes(), &Options::default()).unwrap();
    let said = notes(&imported);
    assert!(!said.contains("CLEAR"), "{said}");
    let names: Vec<&str> = imported.environment.keys().map(String::as_str).collect();
    assert_eq!(names, ["OUTPUT_1", "TOKEN"], "{said}");
}

#[test]
fn postman_sends_what_is_written() {
    let item = |url: &str, rest: &str| {
        format!(r#"{{"name":"","request":{{"method":"POST","url":{url}{rest}}}}}"#)
    };
    let body = |body: &str| {
        format!(
            r#","body":{{"mode":"raw","raw":{body},"options":{{"raw":{{"language":"json"}}}}}}"#
        )
    };
    let items = [
        item(
            r#"{"raw":"http://h/a?q=a%20b&r=c+d&flag&s=x&t=&u=1","query":[{"key":"q","value":"a%20b"},
                {"key":"r","value":"c+d"},{"key":"flag","value":null},{"key":"s","value":"x&y z"},
                {"key":"t","value":""},{"key":"u","value":"1","disabled":true}]}"#,
            "",
        ),
        item(
            r#""http://h/b""#,
            &body(r#""{\"n\": \"{{$randomInt}}\", \"m\": {{n}}, \"password\": \"CLEAR\"}""#),
        ),
        item(
            r#""http://h/c""#,
            r#","header":[{"key":"authorization","value":"x"}],"auth":{"type":"bearer","bearer":[{"key":"token","value":"y"}]}"#,
        ),
        item(
            r#""http://h/d""#,
            r#","body":{"mode":"graphql","graphql":{"query":"query a{b}","operationName":"a","variables":{"n":1.0}}}"#,
        ),
    ];
    let text = format!(
        r#"{{"info":{{"schema":"v2.1.0"}},"variable":[{{"key":"n","value":"7"}}],"item":[{}]}}"#,
        items.join(",")
    );
    let imported = import(Format::Postman, text.as_bytes(), &Options::default()).unwrap();
    let endpoints = &imported.workload.endpoints;
    assert_eq!(endpoints[0].path, "/a?q=a%20b&r=c+d&flag&s=x%26y%20z&t=");
    let text = |at: usize| match &endpoints[at].body {
        Some(Body::Json(Literal::Text(text))) => text.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(text(1), r#"{"n": "${int(0, 1000)}", "m": ${n}, "password": "${env.PASSWORD}"}"#);
    assert!(endpoints[2].headers.iter().eq([("Authorization", "Bearer ${env.API_TOKEN}")]));
    assert_eq!(text(3), r#"{"query":"query a{b}","operationName":"a","variables":{"n":1.0}}"#);
}

/// As Postman sends them: a variable's name ends with its segment, and what stands behind the path is no part of it.
#[test]
fn a_path_variable_ends_where_the_query_begins() {
    for (url, path) in [
        (r#""http://h/items/:id?a=1&b=2""#, "/items/${env.ID}?a=1&b=2"),
        (r#""http://h/:id/x?to=/:id""#, "/${env.ID}/x?to=/:id"),
        (
            r#"{"raw":"http://h/items/:id?a=1","variable":[{"key":"id","value":"7"}]}"#,
            "/items/7?a=1",
        ),
        (
            r#"{"raw":"http://h/items/:id?a=1","variable":[{"key":"id","value":"7"}],
                "query":[{"key":"a","value":"%31"}]}"#,
            "/items/7?a=%31",
        ),
    ] {
        let text = format!(
            r#"{{"info":{{"schema":"v2.1.0"}},"item":[{{"name":"","request":{{"url":{url}}}}}]}}"#
        );
        let imported = import(Format::Postman, text.as_bytes(), &Options::default()).unwrap();
        assert_eq!(imported.workload.endpoints[0].path, path, "{url}");
    }
}

#[test]
fn names_of_a_collection_hold_no_credential() {
    let text = r#"{"info":{"schema":"v2.1.0"},"item":[{"name":"f","item":[
        {"name":"http://h/a?token=CLEAR&n=1","request":"http://h/a?token=CLEAR&n=1"},
        {"name":"","request":"http://h/reset/5d41402abc4b2a76b9719d911017c592"}]}]}"#;
    let imported = import(Format::Postman, text.as_bytes(), &Options::default()).unwrap();
    let names: Vec<_> = imported.workload.endpoints.iter().map(|one| one.name.as_deref()).collect();
    assert_eq!(names, [Some("f / http://h/a?token=***&n=1"), Some("f / GET /reset/***")]);
    let all = format!("{imported:?}");
    assert!(!all.contains("CLEAR") && !all.contains("5d41402a"), "{all}");
}

#[test]
fn recordings_in_other_forms() {
    let entry = |rest: &str, request: &str, status: u16| {
        format!(
            r#"{{"startedDateTime":"2026-01-01T00:00:0{rest},"request":{{"method":"POST","url":"http://h/a{status}",
                "headers":[{{"name":"cookie","value":"a=1"}},{{"name":"cookie","value":"b=2"}}]{request}}},
                "response":{{"status":{status}}}}}"#
        )
    };
    let post = r#","postData":{"mimeType":"text/plain","text":"aGVsbG8=","encoding":"base64"}"#;
    let entries = [
        entry(r#"2Z""#, post, 404),
        entry(r#"1Z""#, "", 200),
        entry(r#"3Z","_fromCache":"disk""#, "", 201),
    ];
    let text = format!(r#"{{"log":{{"entries":[{}]}}}}"#, entries.join(","));
    let imported = import(Format::Har, text.as_bytes(), &Options::default()).unwrap();
    let steps = &imported.workload.flows[0].steps;
    let paths: Vec<&str> = steps.iter().map(|step| step.path.as_str()).collect();
    assert_eq!(paths, ["/a200", "/a404"]);
    assert_eq!(steps[1].body, Some(Body::Text("hello".into())));
    let success = steps[1].success.as_ref().unwrap();
    assert!(success.contains(404) && success.contains(200) && !success.contains(500));
    let cookies = "a=${env.COOKIE_A}; b=${env.COOKIE_B}";
    assert!(imported.workload.headers.iter().eq([("cookie", cookies)]), "{imported:?}");
    let said = notes(&imported);
    for needle in ["entry 1: status 404", "1 request that the browser's cache answered"] {
        assert!(said.contains(needle), "{said}");
    }
}

/// A number that only text can have a placeholder for makes text of the whole body.
#[test]
fn what_a_recording_sent_as_a_number_stays_one_beside_a_code() {
    let entry = |second: u8, path: &str, sent: &str, received: &str| {
        format!(
            r#"{{"startedDateTime":"2026-01-01T00:00:0{second}Z","request":{{"method":"POST","url":"http://h/{path}",
                "postData":{{"mimeType":"application/json","text":{sent:?}}}}},
                "response":{{"status":200,"content":{{"mimeType":"application/json","text":{received:?}}}}}}}"#
        )
    };
    let entries = [
        entry(1, "orders", "{}", r#"{"order_id":7101,"item_id":"8202"}"#),
        entry(2, "pay", r#"{"order_id":7101,"item_id":"8202","otp":123456}"#, "{}"),
    ];
    let text = format!(r#"{{"log":{{"entries":[{}]}}}}"#, entries.join(","));
    let imported = import(Format::Har, text.as_bytes(), &Options::default()).unwrap();
    let Some(Body::Json(sent)) = &imported.workload.flows[0].steps[1].body else {
        panic!("{imported:?}")
    };
    let wanted = r#"{"order_id":${order_id},"item_id":"${item_id}","otp":${env.OTP}}"#;
    assert_eq!(sent, &Literal::Text(wanted.to_owned()));
}

#[test]
fn openapi_styles_and_files() {
    let description = br##"{"openapi":"3.0.0","servers":[{"url":"http://h"}],"paths":{"/a":{"post":{
        "parameters":[{"in":"query","name":"p","style":"pipeDelimited","example":[1,2]},
            {"in":"query","name":"f","example":[1,2]}],
        "requestBody":{"content":{"multipart/form-data":{"schema":{"type":"object","properties":{
            "file":{"type":"string","format":"binary"},"tags":{"type":"array","minItems":2,"items":{"type":"string"}},
            "meta":{"type":"object","properties":{"n":{"type":"integer"}}}}}}}}}}}}"##;
    let imported = import(Format::OpenApi, description, &Options::default()).unwrap();
    let endpoint = &imported.workload.endpoints[0];
    assert!(endpoint.query.iter().eq([("p", "1|2"), ("f", "1"), ("f", "2")]));
    let Some(Body::Multipart(parts)) = &endpoint.body else { panic!("{endpoint:?}") };
    let parts: Vec<_> = parts
        .iter()
        .map(|part| (part.name.as_str(), part.filename.as_deref(), part.content_type.as_deref()))
        .collect();
    let octets = Some("application/octet-stream");
    let wanted = [
        ("file", Some("file"), octets),
        ("tags", None, None),
        ("tags", None, None),
        ("meta", None, Some("application/json")),
    ];
    assert_eq!(parts, wanted);
}

#[test]
fn openapi_parameters_with_a_media_type_are_sent_in_it() {
    let description = br##"{"openapi":"3.0.0","servers":[{"url":"http://h"}],"paths":{"/a":{"get":{"parameters":[
        {"in":"query","name":"filter","content":{"application/json":{"example":{"tags":["a","b"]}}}},
        {"in":"query","name":"text","required":true,"content":{"application/json":{"schema":{"type":"string","default":"x"}}}},
        {"in":"query","name":"plain","content":{"text/plain":{"example":"x"}}},
        {"in":"header","name":"X-Page","content":{"application/vnd.api+json":{"schema":{"example":{"size":2}}}}}]}}}}"##;
    let imported = import(Format::OpenApi, description, &Options::default()).unwrap();
    let endpoint = &imported.workload.endpoints[0];
    let wanted = [("filter", r#"{"tags":["a","b"]}"#), ("text", r#""x""#), ("plain", "x")];
    assert!(endpoint.query.iter().eq(wanted), "{endpoint:?}");
    assert!(endpoint.headers.iter().eq([("X-Page", r#"{"size":2}"#)]), "{endpoint:?}");
}

#[test]
fn openapi_credentials_are_sent_where_none_would_not_do() {
    for (ways, header) in [
        (r#"[{"key":[]}]"#, Some("X-Key")),
        (r#"[{},{"key":[]}]"#, None),
        (r#"[{"key":[]},{}]"#, None),
        ("[]", None),
    ] {
        let description = format!(
            r#"{{"openapi":"3.0.0","servers":[{{"url":"http://h"}}],"security":{ways},
            "components":{{"securitySchemes":{{"key":{{"type":"apiKey","in":"header","name":"X-Key"}}}}}},
            "paths":{{"/a":{{"get":{{}}}}}}}}"#
        );
        let imported =
            import(Format::OpenApi, description.as_bytes(), &Options::default()).unwrap();
        let headers = &imported.workload.endpoints[0].headers;
        assert_eq!(headers.iter().map(|(name, _)| name).next(), header, "{ways}");
        let is_said = notes(&imported).contains("it needs no credentials, and has none: `key`");
        assert_eq!(is_said, ways.contains("{}"), "{ways}: {}", notes(&imported));
    }
}

#[test]
fn a_target_with_the_path_that_requests_have_adds_none() {
    let description = br#"{"openapi":"3.0.0","servers":[{"url":"https://h/v1"}],"paths":{"/a":{"get":{}},"/b":{"get":{}}}}"#;
    for (target, written) in [
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080"),
        ("https://h/v1/", "https://h"),
        ("http://127.0.0.1:8080/v", "http://127.0.0.1:8080/v"),
    ] {
        let options = Options { target: Some(target.to_owned()), ..Options::default() };
        let imported = import(Format::OpenApi, description, &options).unwrap();
        assert_eq!(imported.workload.target, written);
        assert_eq!(imported.workload.endpoints[0].path, "/v1/a");
    }
}
