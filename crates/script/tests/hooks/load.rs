//! `request`, `delay` and `response` while the load runs.

use traffic::{Completed, Next, Requests, Source, Turn, Wants};

use crate::harness::{begin, parts, request, respond, turn};

const MS: u64 = 1_000_000;

fn requests_of(source: &mut script::Scripted) -> Requests {
    let mut out = Requests::new();
    assert_eq!(source.next(Turn { user: 0, draw: None, now: 0 }, &mut out), Next::Send);
    out
}

#[test]
fn a_script_without_request_is_called_once() {
    let text = "wrk.method, wrk.body = 'POST', 'x=1' wrk.headers['Content-Type'] = 'text/plain'
        function init() wrk.path = '/set' end";
    let mut begun = begin(text, 2);
    let source = &mut begun.sources[1];
    assert_eq!(source.fixed().len(), 1);
    let (line, headers, body) = parts(&request(source));
    assert_eq!((line.as_str(), body.as_str()), ("POST /set HTTP/1.1", "x=1"));
    let expected =
        ["Content-Length: 3", "Content-Type: text/plain", "Host: 127.0.0.1:8080", "X-Flag: 1"];
    assert_eq!(headers, expected);
    assert_eq!(requests_of(source).parts()[0].wants, Wants::Nothing);
}

#[test]
fn request_is_called_each_time_and_once_before_in_the_first_thread() {
    let text = "n = 0 function request() n = n + 1 return wrk.format('GET', '/' .. n) end";
    let mut begun = begin(text, 2);
    let paths = |source: &mut script::Scripted| [0, 1].map(|_| parts(&request(source)).0);
    assert_eq!(paths(&mut begun.sources[0]), ["GET /2 HTTP/1.1", "GET /3 HTTP/1.1"]);
    assert_eq!(paths(&mut begun.sources[1]), ["GET /1 HTTP/1.1", "GET /2 HTTP/1.1"]);
    assert!(begun.sources[0].fixed().is_empty());
}

#[test]
fn several_requests_returned_at_once_are_separated() {
    let text = "function request()
        return wrk.format('GET', '/1') .. wrk.format('POST', '/2', {}, 'b') .. wrk.format('HEAD')
        end";
    let mut begun = begin(text, 1);
    let source = &mut begun.sources[0];
    assert_eq!(source.burst(), 3);
    let all = turn(source, 0, 0).unwrap();
    let lines: Vec<_> = all.iter().map(|one| parts(one).0).collect();
    assert_eq!(lines, ["GET /1 HTTP/1.1", "POST /2 HTTP/1.1", "HEAD /start?a=b HTTP/1.1"]);
    let heads: Vec<bool> = requests_of(source).parts().iter().map(|part| part.head).collect();
    assert_eq!(heads, [false, false, true]);
}

#[test]
fn a_pipeline_without_request_is_fixed() {
    let text = "local one = 'GET /1 HTTP/1.1\\r\\n\\r\\n'
        function wrk.init() function wrk.request() return one .. one end end";
    let mut begun = begin(text, 1);
    assert_eq!((begun.sources[0].fixed().len(), begun.sources[0].burst()), (2, 2));
    assert_eq!(turn(&mut begun.sources[0], 0, 0).unwrap(), ["GET /1 HTTP/1.1\r\n\r\n"; 2]);
}

#[test]
fn response_gets_status_headers_and_body() {
    let text = "kept = 'nothing'
        function request() return wrk.format('GET', '/' .. kept) end
        function response(status, headers, body)
            local names = {}
            for name, value in pairs(headers) do names[#names + 1] = name .. '=' .. value end
            table.sort(names)
            kept = status .. table.concat(names, ',') .. '|' .. body .. #body
        end";
    let mut begun = begin(text, 1);
    let source = &mut begun.sources[0];
    assert_eq!(requests_of(source).parts()[0].wants, Wants::Whole);
    let head = "HTTP/1.1 503 Busy\r\nX-Token: t\r\nEmpty:\r\nx-a: 1\r\nx-a: 2\r\n";
    respond(source, 0, &format!("{head}Content-Length: 2\r\n\r\nhi"));
    let (line, _, _) = parts(&request(source));
    assert_eq!(line, "GET /503Content-Length=2,Empty=,X-Token=t,x-a=2|hi2 HTTP/1.1");
    respond(source, 0, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n");
    let (line, _, _) = parts(&request(source));
    assert_eq!(line, "GET /200Transfer-Encoding=chunked|a1 HTTP/1.1");
}

#[test]
fn a_token_of_a_response_goes_into_later_requests() {
    let text = "local token
        function request()
            if not token then return wrk.format('POST', '/login', nil, 'who') end
            return wrk.format('GET', '/mine', {Authorization = token})
        end
        function response(status, headers)
            if status == 200 then token = headers['X-Token'] end
        end";
    let mut begun = begin(text, 1);
    let source = &mut begun.sources[0];
    assert_eq!(parts(&request(source)).0, "POST /login HTTP/1.1");
    respond(source, 0, "HTTP/1.1 200 OK\r\nX-Token: secret\r\nContent-Length: 1\r\n\r\n.");
    let (line, headers, body) = parts(&request(source));
    assert_eq!((line.as_str(), body.as_str()), ("GET /mine HTTP/1.1", ""));
    assert_eq!(headers, ["Authorization: secret", "Host: 127.0.0.1:8080"]);
}

#[test]
fn a_response_that_is_taken_away_is_no_longer_called() {
    let text = "n = 0 function response() n = n + 1 response = nil end
        function request() return wrk.format('GET', '/' .. n) end";
    let mut begun = begin(text, 1);
    for _ in 0..3 {
        let result =
            respond(&mut begun.sources[0], 0, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n.");
        assert_eq!(result, Completed::default());
    }
    assert_eq!(parts(&request(&mut begun.sources[0])).0, "GET /1 HTTP/1.1");
}

#[test]
fn delay_comes_before_every_request_of_every_user() {
    let text = "calls = 0
        function delay() calls = calls + 1 return 10 * calls + 0.9 end
        function request() return wrk.format('GET', '/' .. calls) end";
    let mut begun = begin(text, 1);
    let source = &mut begun.sources[0];
    assert_eq!(turn(source, 0, 5), Err(Next::At(5 + 10 * MS)));
    assert_eq!(turn(source, 1, 6), Err(Next::At(6 + 20 * MS)));
    assert_eq!(turn(source, 0, 9), Err(Next::At(5 + 10 * MS)), "not yet, and not anew");
    let line = |source: &mut _, now| parts(&turn(source, 0, now).unwrap()[0]).0;
    assert_eq!(line(source, 5 + 10 * MS), "GET /2 HTTP/1.1");
    assert_eq!(turn(source, 0, 20 * MS), Err(Next::At(50 * MS)));
    source.skip(Turn { user: 1, draw: None, now: 21 * MS });
    assert_eq!(turn(source, 1, 30 * MS), Err(Next::At(70 * MS)), "what was skipped is over");
}

#[test]
fn what_is_no_delay_delays_nothing() {
    for value in ["0", "nil", "-5", "0.99", "'x'", "{}", "0/0", "false"] {
        let text = format!("function delay() return {value} end");
        assert!(turn(&mut begin(&text, 1).sources[0], 0, 0).is_ok(), "{value}");
    }
    for (value, at) in [("'7'", 7 * MS), ("1e300", 40_000_000_000 * MS)] {
        let text = format!("function delay() return {value} end");
        assert_eq!(turn(&mut begin(&text, 1).sources[0], 0, 0), Err(Next::At(at)), "{value}");
    }
}

#[test]
fn a_thread_that_stops_sends_nothing_more_and_the_others_go_on() {
    let text = "local responses = 0
        function setup(thread) thread:stop() end
        function response()
            responses = responses + 1
            if responses == 2 then wrk.thread:stop() end
        end";
    let mut begun = begin(text, 2);
    let stops = [0, 1].map(|_| {
        request(&mut begun.sources[0]);
        respond(&mut begun.sources[0], 0, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n.").stop
    });
    assert_eq!(stops, [false, true]);
    assert_eq!(turn(&mut begun.sources[0], 0, 0), Err(Next::Stop));
    assert!(turn(&mut begun.sources[1], 0, 0).is_ok());
}

#[test]
fn responses_that_never_end_are_forgotten() {
    let text = "function response(status, headers, body) assert(body == '.', body) end";
    let mut begun = begin(text, 1);
    let source = &mut begun.sources[0];
    source.body(4, b"of no head");
    assert_eq!(source.lost(4, model::ErrorClass::Timeout), None);
    let result = respond(source, 4, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n.");
    assert_eq!(result, Completed::default());
}
