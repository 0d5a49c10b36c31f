//! What each sample becomes.

use import::requests::{Format, Options, import, yaml};
use model::units::{MILLISECOND, SECOND};
use model::workload::{Body, Count, Endpoint, Extractor, Literal, Time, Workload};

use crate::{SAMPLES, notes, read_again, sample};

fn endpoint<'w>(workload: &'w Workload, name: &str) -> &'w Endpoint {
    let named = |endpoint: &&Endpoint| endpoint.name.as_deref() == Some(name);
    let names = workload.endpoints.iter().map(|endpoint| endpoint.name.clone());
    let names: Vec<_> = names.collect();
    workload.endpoints.iter().find(named).unwrap_or_else(|| panic!("{name} is not in {names:?}"))
}

fn json(endpoint: &Endpoint) -> String {
    match &endpoint.body {
        Some(Body::Json(literal)) => literal.to_string(),
        other => panic!("no JSON body: {other:?}"),
    }
}

#[test]
fn every_sample_is_read_again_as_it_was() {
    for (_, name, ..) in SAMPLES {
        let imported = sample(name);
        assert_eq!(read_again(&imported), imported.workload, "{name}");
        let json = serde_json::to_string(&imported.workload).unwrap();
        assert_eq!(serde_json::from_str::<Workload>(&json).unwrap(), imported.workload, "{name}");
        assert_eq!(imported.workload.load.concurrency, Some(Count(10)), "{name}");
    }
}

#[test]
fn no_credential_is_written_unless_asked_for() {
    for (format, name, bytes, target) in SAMPLES {
        let imported = sample(name);
        let text = yaml(&imported) + &notes(&imported);
        assert!(!text.contains("CLEAR"), "{name}:\n{text}");
        if bytes.windows(5).any(|window| window == b"CLEAR") {
            assert!(!imported.environment.is_empty(), "{name}");
            let options = Options { target: target.map(str::to_owned), keep_secrets: true };
            let kept = import(format, bytes, &options).unwrap();
            assert!(yaml(&kept).contains("CLEAR"), "{name}");
        }
        for variable in imported.environment.keys() {
            assert!(text.contains(&format!("${{env.{variable}}}")), "{name}: {variable}");
        }
    }
}

#[test]
fn comments_stand_above_what_they_are_about() {
    let text = yaml(&sample("shop.curl"));
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.contains("name: POST /photos")).unwrap();
    assert!(
        lines[at - 1].contains("# not converted: line") && text.contains("--frobnicate"),
        "{text}"
    );
    assert!(lines[0].starts_with("# "), "{text}");
}

#[test]
fn a_header_field_that_curl_leaves_out_is_left_out() {
    let line = b"curl --data-binary x -H 'Content-Type:' http://h/";
    let imported = import(Format::Curl, line, &Options::default()).unwrap();
    let headers = &imported.workload.endpoints[0].headers;
    assert!(headers.0.iter().all(|(name, _)| name != "Content-Type"), "{headers:?}");
}

#[test]
fn responses_that_a_browser_wrote_in_base64_are_read() {
    // {"items":[{"id":"7f3a9c12-aaaa-bbbb-cccc-123456789abc"}]}
    let response = "eyJpdGVtcyI6W3siaWQiOiI3ZjNhOWMxMi1hYWFhLWJiYmItY2NjYy0xMjM0NTY3ODlhYmMifV19";
    let entry = |at: &str, path: &str| {
        serde_json::json!({
            "startedDateTime": format!("2026-01-01T00:00:0{at}Z"), "time": 5,
            "request": {"method": "GET", "url": format!("http://h{path}"), "headers": []},
            "response": {"status": 200, "headers": [], "content": {
                "mimeType": "application/json", "text": response, "encoding": "base64"
            }}
        })
    };
    let second = entry("1", "/items/7f3a9c12-aaaa-bbbb-cccc-123456789abc");
    let recording = serde_json::json!({"log": {"entries": [entry("0", "/items"), second]}});
    let text = recording.to_string();
    let imported = import(Format::Har, text.as_bytes(), &Options::default()).unwrap();
    let steps = &imported.workload.flows[0].steps;
    let extracted: Vec<_> = steps[0].extract.iter().collect();
    let [(name, Extractor::Json(pointer))] = &extracted[..] else { panic!("{extracted:?}") };
    assert_eq!(pointer, "/items/0/id");
    assert_eq!(steps[1].path, format!("/items/${{{name}}}"));
}

#[test]
fn curl_commands() {
    let imported = sample("shop.curl");
    let workload = &imported.workload;
    assert_eq!(workload.target, "https://shop.example");
    assert_eq!(workload.timeout, Some(Time(5 * SECOND)));
    assert!(workload.tls.as_ref().unwrap().insecure);
    let login = endpoint(workload, "POST /login");
    assert_eq!(json(login), r#"{"user":"ann","password":"${env.PASSWORD}","remember":true}"#);
    let items = endpoint(workload, "GET /items");
    assert_eq!((items.path.as_str(), items.weight), ("/items?page=2&size=20", Some(2.0)));
    let authorization = items.headers.iter().find(|(name, _)| *name == "Authorization");
    assert_eq!(authorization, Some(("Authorization", "Bearer ${env.TOKEN}")));
    assert_eq!(endpoint(workload, "GET /search").path, "/search?q=a%20b%26c&limit=5");
    assert_eq!(json(endpoint(workload, "POST /notes")), r#"{"note":"it's é"}"#);
    let Some(Body::Multipart(parts)) = &endpoint(workload, "POST /photos").body else { panic!() };
    assert_eq!(
        (parts[0].file.as_deref(), parts[1].text.as_deref()),
        (Some("cat.png"), Some("My cat"))
    );
    assert_eq!(endpoint(workload, "HEAD /health").method.as_deref(), Some("HEAD"));
    let notes_text = notes(&imported);
    for needle in [
        "line 6: -L: redirects are not followed",
        "the pipe | jq ***",
        "`--frobnicate`: curl has no such flag",
        "https://files.example: line",
        "the scheme `ftp`",
        "the command `echo`",
        "-s -S: concerns curl itself",
    ] {
        assert!(notes_text.contains(needle), "{needle} is not in\n{notes_text}");
    }
}

#[test]
fn vegeta_targets() {
    let imported = sample("http.vegeta");
    let workload = &imported.workload;
    assert_eq!(workload.endpoints.len(), 3);
    assert_eq!(endpoint(workload, "POST /login").body, Some(Body::File("login.json".into())));
    assert_eq!(endpoint(workload, "GET /items/7").weight, Some(2.0));
    let host = endpoint(workload, "GET /items").headers.iter().find(|(name, _)| *name == "Host");
    assert_eq!(host, Some(("Host", "other")));

    let imported = sample("json.vegeta");
    let workload = &imported.workload;
    assert_eq!(workload.target, "http://127.0.0.1:9090");
    let list = endpoint(workload, "GET /items");
    assert_eq!(list.path, "/items?q=$%7Bx%7D");
    assert!(list.headers.iter().eq([("Accept", "a/b"), ("Accept", "c/d")]));
    assert_eq!(json(endpoint(workload, "POST /items")), r#"{"name":"lamp","price":12}"#);
    assert!(notes(&imported).contains("3 bytes that are not text"), "{}", notes(&imported));
}

#[test]
fn a_recording() {
    let imported = sample("shop.har");
    let workload = &imported.workload;
    let names: Vec<&str> = workload.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["session", "About us"]);
    let steps = &workload.flows[0].steps;
    let paths: Vec<&str> = steps.iter().map(|step| step.path.as_str()).collect();
    let expected = [
        "/",
        "/api/login",
        "/api/users/${user_id}/orders?page=1",
        "/api/news",
        "/api/orders/${items_id}",
    ];
    assert_eq!(paths, expected);
    let login = &steps[1];
    assert_eq!(login.extract["user_id"], Extractor::Json("/user/id".into()));
    assert_eq!(login.extract["access_token"], Extractor::Json("/access_token".into()));
    assert_eq!(steps[2].extract["items_id"], Extractor::Json("/items/1/id".into()));
    let cookie = login.headers.iter().find(|(name, _)| *name == "cookie");
    assert_eq!(cookie, Some(("cookie", "consent=${env.COOKIE_CONSENT}")));
    let authorization = steps[2].headers.iter().find(|(name, _)| *name == "authorization");
    assert_eq!(authorization, Some(("authorization", "Bearer ${access_token}")));
    let Some(Body::Json(body)) = &steps[4].body else { panic!("{steps:?}") };
    let expected = r#"{"id":"${items_id}","user_id":"${user_id}","cursor":"${next_cursor}"}"#;
    assert_eq!(body.to_string(), expected);
    assert_eq!(steps[0].think, Some(Time(2_500 * MILLISECOND)));
    assert_eq!(steps[1].think, Some(Time(4_300 * MILLISECOND)));
    assert!(steps[4].success.as_ref().unwrap().contains(409));
    assert!(workload.headers.iter().eq([("accept", "application/json")]));
    let notes_text = notes(&imported);
    for needle in [
        "2 static files",
        "1 preflight",
        "1 WebSocket",
        "https://stats.example: GET /collect",
        "sec-fetch-mode (",
        "the overlap of 1 request with those before",
        "2 cookies were set by earlier responses",
    ] {
        assert!(notes_text.contains(needle), "{needle} is not in\n{notes_text}");
    }
}

#[test]
fn an_openapi_description() {
    let imported = sample("pets.yaml");
    let workload = &imported.workload;
    assert_eq!(workload.name.as_deref(), Some("Pets: the API"));
    assert_eq!(workload.target, "https://eu.pets.example");
    assert_eq!(workload.pools["petId"].values, Some(vec![Literal::Int(42)]));
    let list = endpoint(workload, "GET /pets");
    assert_eq!(list.path, "/v1/pets");
    assert!(list.query.iter().eq([("limit", "20"), ("tags", "cat"), ("tags", "cat")]));
    assert!(list.headers.iter().eq([("X-Tenant", "acme"), ("X-Api-Key", "${env.KEY}")]));
    let post = endpoint(workload, "POST /pets");
    assert_eq!(
        json(post),
        r#"{"name":"Rex","born":"2024-01-15","weight":2.0}"#.replace("2.0", "2")
    );
    assert!(post.headers.iter().any(|field| field == ("Authorization", "Bearer ${env.LOGIN}")));
    assert_eq!(endpoint(workload, "GET /pets/{petId}").path, "/v1/pets/${petId}");
    assert!(endpoint(workload, "DELETE /pets/{petId}").headers.is_empty());
    let notes_text = notes(&imported);
    for needle in [
        "GET /pets: optional parameters without an example: filter",
        "the callback `onSold`",
        "POST /pets: the operation is deprecated",
        "none can be made from `image/png`",
        "`/search`: the reference `other.yaml#/search` is not found",
        "the security scheme `login`: no token is requested",
    ] {
        assert!(notes_text.contains(needle), "{needle} is not in\n{notes_text}");
    }

    let imported = sample("orders31.json");
    let workload = &imported.workload;
    assert_eq!(workload.target, "http://127.0.0.1:8080");
    let Some(Body::Form(fields)) = &endpoint(workload, "POST /orders").body else { panic!() };
    assert!(fields.iter().eq([("sku", "A-1"), ("count", "3")]));
    assert_eq!(endpoint(workload, "GET /orders/{id}").path, "/api/orders/${id}");
    assert!(notes(&imported).contains("webhook `sold`"));
}

#[test]
fn bounds_of_a_path_s_number_are_a_range_and_logins_ask_for_flows() {
    let description = br#"{"openapi":"3.0.0","servers":[{"url":"http://h"}],"paths":{
        "/login":{"post":{}},"/me":{"get":{}},
        "/items/{id}":{"get":{"parameters":[{"in":"path","name":"id","required":true,
            "schema":{"type":"integer","minimum":1,"maximum":500}}]}},
        "/lots/{n}":{"get":{"parameters":[{"in":"path","name":"n","required":true,
            "schema":{"type":"integer","exclusiveMinimum":0,"maximum":9,"exclusiveMaximum":true}}]}},
        "/pages/{p}":{"get":{"parameters":[{"in":"path","name":"p","required":true,"example":7,
            "schema":{"type":"integer","minimum":1,"maximum":9}}]}}}}"#;
    let imported = import(Format::OpenApi, description, &Options::default()).unwrap();
    let path = |name: &str| endpoint(&imported.workload, name).path.clone();
    assert_eq!(path("GET /items/{id}"), "/items/${int(1, 500)}");
    assert_eq!(path("GET /lots/{n}"), "/lots/${int(1, 8)}");
    assert_eq!(path("GET /pages/{p}"), "/pages/${p}");
    let said = notes(&imported);
    for needle in [
        "{id} is drawn from 1 to 500",
        "users who begin with POST /login, put the requests of a visit",
    ] {
        assert!(said.contains(needle), "{needle} is not in\n{said}");
    }
}

#[test]
fn a_time_out_of_one_request_for_all_of_them_is_said() {
    let said = |commands: &str| {
        let imported = import(Format::Curl, commands.as_bytes(), &Options::default()).unwrap();
        assert!(imported.workload.timeout.is_some());
        notes(&imported)
            .contains("the time-out of 1 request becomes that of the whole workload, 2s")
    };
    assert!(said("curl http://h/a --max-time 2\ncurl http://h/b\n"));
    assert!(!said("curl http://h/a --max-time 2\n"));
}

#[test]
fn a_postman_collection() {
    let imported = sample("shop.postman.json");
    let workload = &imported.workload;
    assert_eq!(workload.target, "https://shop.example");
    let login = endpoint(workload, "Session / Log in");
    let body = r#"{"user":"ann","password":"${env.PASSWORD}","nonce":"${uuid()}"}"#;
    assert_eq!((login.path.as_str(), json(login).as_str()), ("/api/login", body));
    assert!(login.query.iter().eq([("dry", "1")]) && login.headers.is_empty());
    let item = endpoint(workload, "Item");
    assert_eq!(item.path, "/api/items/${sku}/x");
    assert!(item.headers.iter().eq([("Authorization", "Bearer ${env.TOKEN}")]));
    assert_eq!(workload.variables.keys().map(String::as_str).collect::<Vec<_>>(), ["sku"]);
    let graphql = r#"{"query":"{ items { id } }","variables":{"n":3}}"#;
    assert_eq!(json(endpoint(workload, "Query")), graphql);
    let notes_text = notes(&imported);
    for needle in [
        "the collection: the script before a request, 2 lines",
        "Session / Log in: the script after a response, 1 lines",
        "Session / Log in: the header field `X-Debug`: it is disabled",
        "the query parameter `verbose`: it is disabled",
        "the variable `old`: it is disabled",
        "the credentials of type `awsv4`",
        "https://other.example: Elsewhere",
        "the field `b`: it is disabled",
    ] {
        assert!(notes_text.contains(needle), "{needle} is not in\n{notes_text}");
    }
}

#[test]
fn a_target_asked_for_stands_in() {
    let (format, _, bytes, _) = SAMPLES[0];
    let options = Options { target: Some("http://127.0.0.1:8080/x".into()), ..Options::default() };
    let imported = import(format, bytes, &options).unwrap();
    assert_eq!(imported.workload.target, "http://127.0.0.1:8080/x");
    assert!(notes(&imported).contains("requests to https://shop.example are written for"));
    let options = Options { target: Some("https://files.example".into()), ..Options::default() };
    let imported = import(format, bytes, &options).unwrap();
    assert_eq!(imported.workload.endpoints.len(), 1);
}

#[test]
fn formats_to_come_say_so() {
    for format in [Format::Jmeter, Format::K6] {
        let error = import(format, b"x", &Options::default()).unwrap_err().to_string();
        assert!(error.contains("not supported yet") && error.contains(format.name()), "{error}");
    }
}
