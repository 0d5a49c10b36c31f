//! Rules about the way to the server.

use super::*;

#[test]
fn rules_about_the_way() {
    check(vec![
        (
            "limited by address",
            closed(),
            |run| run.totals.statuses = [(200, 9_000), (429, 1_000)].into(),
            Verdict::Valid,
            ReasonCode::SingleSource,
            "every connection came from one address, and 10.00 % of the responses were 429",
        ),
        (
            "most of the ports",
            closed(),
            |run| {
                run.plan.addresses = vec!["192.0.2.1:80".into()];
                run.concurrency.open_max = 15_000;
            },
            Verdict::Valid,
            ReasonCode::SingleSource,
            "15,000 connections took more than half of the 28,232 local ports",
        ),
        (
            "one key",
            closed(),
            |run| run.plan.headers = vec![("Authorization".into(), "***".into())],
            Verdict::Valid,
            ReasonCode::SingleKey,
            "every request carried the same Authorization",
        ),
    ]);
    let (_, codes, _) = judged(closed(), |run| {
        run.plan.sources = vec!["127.0.0.2".into(), "127.0.0.3".into()];
        run.totals.statuses = [(200, 9_000), (429, 1_000)].into();
    });
    assert_eq!(codes, []);
}
