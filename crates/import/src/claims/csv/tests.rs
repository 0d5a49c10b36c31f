use model::{Claim, LoopKind, Nanos};

use super::*;

fn read(text: &str) -> Result<Claims, BadFile> {
    crate::claims(text.as_bytes())
}

fn only(text: &str) -> (Tool, Claim) {
    let mut claims = read(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(claims.rows.len(), 1, "{text}");
    (claims.tool, claims.rows.remove(0))
}

#[test]
fn a_table_is_read_by_the_names_of_its_columns() {
    let (tool, claim) = only("connections,qps,mean_ms\n200,1000.5,2.5\n");
    assert_eq!(tool, Tool::Csv);
    assert_eq!(
        (claim.connections, claim.qps, claim.mean_ns),
        (Some(200.0), 1000.5, Some(2_500_000))
    );
    assert_eq!(claim.error_ns, 50_000);
    let (_, claim) = only("Rate;RPS;Avg latency (us);p99_ms\n500;499;810;3\n");
    assert_eq!((claim.rate_per_s, claim.loop_kind), (Some(500.0), LoopKind::Open));
    assert_eq!((claim.mean_ns, claim.quantiles), (Some(810_000), vec![(0.99, 3_000_000)]));
    let (_, claim) = only("rate_per_s,requests_per_s,Mean (µs),P50 [μs]\n500,499,810,700\n");
    assert_eq!((claim.rate_per_s, claim.qps, claim.mean_ns), (Some(500.0), 499.0, Some(810_000)));
    assert_eq!(claim.quantiles, [(0.5, 700_000)]);
    let (_, claim) = only("c,qps,mean_us,p99_ms\n50,62937,1200,9\n");
    assert_eq!((claim.error_ns, claim.quantile_error_ns), (500, 500_000));
    let (_, claim) = only("c,qps,mean (s),p99_s\n1,2,0.5,0.75\n");
    assert_eq!((claim.mean_ns, claim.quantiles), (Some(500_000_000), vec![(0.99, 750_000_000)]));
    let several = read("c,req/s,mean_ms\n1,100,9\n2,200,9\n").unwrap();
    assert_eq!(several.rows.len(), 2);
}

#[test]
fn the_plainest_name_is_read_where_several_would_do() {
    let (_, claim) = only("threads,connections,throughput,qps,mean_ms\n12,1000,4.5,9000,100\n");
    assert_eq!((claim.connections, claim.qps), (Some(1000.0), 9000.0));
    let (_, claim) = only("threads,throughput,mean_ms\n12,9000,1\n");
    assert_eq!((claim.connections, claim.qps), (Some(12.0), 9000.0));
}

#[test]
fn what_has_no_unit_or_no_figure_is_refused() {
    for (text, needle) in [
        ("connections,qps,mean\n1,2,3\n", "unknown format"),
        ("connections,qps,means\n1,2,3\n", "unknown format"),
        ("connections,qps,mean_ms\n1,x,3\n", "line 2"),
        ("connections,qps,mean_ms\n1,,3\n", "line 2: no requests per second"),
        ("connections,qps,mean_ms\n1,5,-3\n", "negative"),
        ("connections,qps,mean_ms\n", "without any row"),
        ("response-time,status-code,offset\n", "without any response"),
        (&format!("qps,mean_ms{}\n1,2\n", ",x".repeat(MOST_COLUMNS)), "more than 200 columns"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(needle), "{text}: {error}");
    }
}

#[test]
fn locusts_row_of_all_requests_counts() {
    let text = "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min Response Time,\
        Max Response Time,Average Content Size,Requests/s,Failures/s,50%,99%,100%\n\
        GET,/a,600,0,5,6.1,1.2,40.5,10,20.0,0.0,5,30,41\n\
        ,Aggregated,1000,10,5,6.25,1.2,50.5,10,33.3,0.3,5,32,51\n";
    let (tool, claim) = only(text);
    assert_eq!((tool, claim.loop_kind, claim.pauses), (Tool::Locust, LoopKind::Users, true));
    assert_eq!((claim.qps, claim.mean_ns), (33.3, Some(6_250_000)));
    assert_eq!((claim.requests, claim.success), (Some(1000), Some(0.99)));
    assert_eq!(claim.quantiles, [(0.5, 5_000_000), (0.99, 32_000_000)]);
}

#[test]
fn locusts_rounding_contradicts_no_end_of_the_range() {
    let of = |min: &str, max: &str, p50: &str, p999: &str| {
        let head = "Type,Name,Request Count,Failure Count,Average Response Time,Min Response Time,Max Response Time,\
            Requests/s,50%,99.9%,100%\n";
        only(&format!("{head},Aggregated,1000,0,150,{min},{max},33.3,{p50},{p999},{p999}\n")).1
    };
    let rounded = of("144.9", "1460", "140", "1500");
    let ms = |ms: f64| (ms * 1e6) as Nanos;
    let latencies = |of: &Claim| of.quantiles.iter().map(|(_, ns)| *ns).collect::<Vec<_>>();
    assert_eq!(latencies(&rounded), [ms(144.9), ms(1460.0)]);
    let edited = of("144.9", "1460", "130", "1600");
    assert_eq!(latencies(&edited), [ms(130.0), ms(1600.0)]);
}

#[test]
fn heys_samples_are_summed_up() {
    let text = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n\
        0.0100,0.0001,0.0000,0.0000,0.0099,0.0000,200,0.0000\n\
        0.0300,0.0001,0.0000,0.0000,0.0299,0.0000,503,0.4700\n";
    let (tool, claim) = only(text);
    assert_eq!((tool, claim.requests, claim.duration_ns), (Tool::Hey, Some(2), Some(500_000_000)));
    assert_eq!((claim.qps, claim.success), (4.0, Some(0.5)));
    assert_eq!(claim.mean_ns, Some(20_000_000));
}
