//! `done`: its arguments, and the values that it can still read from threads.

use script::{Stats, Summary, SummaryErrors};

use crate::harness::{begin, request};

fn finish(text: &str) -> Result<(), String> {
    let mut begun = begin(text, 2);
    begun.sources.iter_mut().for_each(|source| {
        request(source);
    });
    drop(begun.sources);
    let errors = SummaryErrors { connect: 1, read: 2, write: 3, status: 4, timeout: 5 };
    let summary = Summary { duration_us: 2_000_000, requests: 10, bytes: 1 << 40, errors };
    let latency = Stats::of([(100, 3), (300, 1)]).with_extremes(99, 301);
    let requests = Stats::of([(5, 2)]);
    begun.session.done(&summary, latency, requests).map_err(|error| error.to_string())
}

#[test]
fn the_figures_are_those_of_the_run() {
    let text = "function done(summary, latency, requests)
        local e = summary.errors
        local function same(a, b) if a ~= b then error(a .. ' is not ' .. b, 2) end end
        same(summary.duration, 2000000)
        same(summary.requests, 10)
        same(summary.bytes, 2 ^ 40)
        same(e.connect .. e.read .. e.write .. e.status .. e.timeout, '12345')
        same(latency.min, 99) same(latency.max, 301) same(latency.mean, 150) same(latency.stdev, 100)
        same(latency:percentile(50), 100) same(latency:percentile(99), 300)
        same(#latency, 2) same(#requests, 1)
        local value, count = latency(1)
        same(value, 100) same(count, 3)
        same(select('#', latency(3)), 2) same(latency(3), 0)
        same(requests.mean, 5) same(requests.stdev, 0)
        for _, p in pairs({ 50, 90 }) do string.format('%g%%,%d', p, latency:percentile(p)) end
    end";
    assert_eq!(finish(text), Ok(()));
}

#[test]
fn threads_can_be_read_after_the_run() {
    let text = "local threads = {}
        function setup(thread) thread:set('id', #threads + 1) threads[#threads + 1] = thread end
        n = 0
        function request() n = n + 1 return wrk.format() end
        function done()
            local first, second = threads[1], threads[2]
            assert(first:get('n') == 2 and second:get('n') == 1, first:get('n'))
            assert(second:get('id') == 2 and tostring(first.addr) == '127.0.0.1:8080')
            first:get('wrk')
        end";
    let error = finish(text).unwrap_err();
    assert!(error.starts_with("x.lua:9: cannot transfer '"), "{error}");
    let without = text.replace("first:get('wrk')", "");
    assert_eq!(finish(&without), Ok(()));
}

#[test]
fn a_script_without_done_is_not_called() {
    assert!(!begin("", 1).session.has_done());
    assert_eq!(finish(""), Ok(()));
}

#[test]
fn errors_in_done_are_reported() {
    let error = finish("function done(s)\n  return s.nothing.at_all\nend").unwrap_err();
    assert_eq!(error, "x.lua:2: attempt to index field 'nothing' (a nil value) (in done())");
}
