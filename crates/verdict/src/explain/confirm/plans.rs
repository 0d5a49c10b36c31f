//! What the plans of a run's statements say of a finding in their database.
//!
//! A plan says how a statement reads its tables, and not what else it does: where the time of a slow statement goes
//! into functions or waiting, no plan shows it, and nothing is said.

use model::finding::{Confirmation, Confirmed};
use model::scans::{Planned, Scan, Way};
use model::units::show_duration;
use model::{Finding, Run};

use super::{Judged, said};
use crate::explain::database::{BIG, ROW_NS, asked};
use crate::figures::{grouped, percent};

/// The share of a table's rows up to which a condition picks some: for more an index would not be used.
const PICKED: f64 = 0.1;
/// The part of a table that must be read for a scan to read it whole: below a LIMIT it may end soon.
const READ: f64 = 0.5;
/// The share of a statement's time that reading rows must take for them to be why it is slow.
const MOSTLY: f64 = 0.5;
/// Statements that read no table of users.
const PASSED_OVER: [&str; 10] = [
    "begin",
    "start transaction",
    "commit",
    "rollback",
    "set ",
    "show ",
    "insert into",
    "discard",
    "deallocate",
    "close ",
];

/// The statements to ask the database about for a finding, the dearest first: those that read tables.
pub fn statements(run: &Run, place: &str) -> Vec<String> {
    let all = asked(run, place).into_iter().map(|asked| asked.statement);
    let reads = |statement: &String| {
        let lower = statement.to_ascii_lowercase();
        !PASSED_OVER.iter().any(|begin| lower.starts_with(begin))
    };
    all.filter(reads).collect()
}

/// What the plans of [`statements`] say. `still` says whether the run, made again, shows the finding again; none where
/// it was not made again.
pub fn judge(
    finding: &Finding,
    run: &Run,
    planned: &[Planned],
    still: Option<bool>,
) -> Confirmation {
    let (Some(subject), false) = (finding.subject.as_deref(), planned.is_empty()) else {
        return said(open("the run saw no statement at work that could be looked up".to_owned()));
    };
    said(match finding.code.as_str() {
        "db.missing_index" => missing_index(subject, planned, still),
        _ => slow_statement(subject, run, &finding.place, planned),
    })
}

fn open(figures: String) -> Judged {
    (Confirmed::Undecided, figures)
}

/// A condition on a column, looked at row by row in a large table of which it picks few.
fn picks(scan: &Scan) -> bool {
    let few = scan.rows_kept.is_none_or(|kept| kept <= PICKED * scan.table_rows);
    !matches!(scan.way, Way::ByIndex(_))
        && scan.table_rows >= BIG
        && scan.rows_read >= READ * scan.table_rows
        && !scan.compared.is_empty()
        && few
}

fn missing_index(table: &str, planned: &[Planned], still: Option<bool>) -> Judged {
    let scans: Vec<(&str, &Scan)> = planned
        .iter()
        .flat_map(|planned| planned.scans.iter().flatten().map(|scan| (&*planned.statement, scan)))
        .filter(|(_, scan)| scan.table == table)
        .collect();
    let picking = || scans.iter().filter(|(_, scan)| picks(scan));
    if let Some((statement, scan)) = picking().find(|(_, scan)| scan.indexed.is_empty()) {
        return (Confirmed::Confirmed, without_index(statement, scan));
    }
    if let Some((statement, scan)) = picking().next() {
        return open(format!(
            "the plan reads {table} from end to end although an index finds rows by {}: a value of another type, or \
             estimates that are old (ANALYZE), may keep it from being used by `{statement}`",
            scan.indexed.join(", ")
        ));
    }
    let unknown = planned.iter().find_map(|p| Some((&p.statement, &p.scans.as_ref().err()?.why)));
    let by_index = scans.iter().filter_map(|(_, scan)| match &scan.way {
        Way::ByIndex(index) if !scan.filtered => Some(index.as_str()),
        _ => None,
    });
    let by_index: Vec<&str> = by_index.collect();
    if let Some((statement, why)) = unknown {
        return open(format!("there is no plan of `{statement}`: {why}"));
    }
    if scans.is_empty() {
        return open(format!("no plan of the run's statements reads {table}"));
    }
    if by_index.len() < scans.len() {
        return open(format!(
            "the plans read {table} in a way that does not show whether an index would help"
        ));
    }
    let figures = format!("every plan of the run's statements reads {table} by {}", by_index[0]);
    match still {
        Some(true) => (Confirmed::Refuted, figures + ": whoever reads it whole is somebody else"),
        Some(false) => {
            open(figures + ", and the run, made again, does not show the finding any more")
        }
        None => open(
            figures + " now; whether it did so in the run cannot be told without making it again",
        ),
    }
}

fn without_index(statement: &str, scan: &Scan) -> String {
    let how = match &scan.way {
        Way::Along(index) => format!("all {} rows along {index}", grouped(scan.table_rows, 0)),
        _ => format!("all {} rows", grouped(scan.table_rows, 0)),
    };
    let kept = scan.rows_kept.map_or_else(String::new, |kept| {
        format!(" ({} of them are left)", percent(kept / scan.table_rows))
    });
    format!(
        "the plan reads {how} of {} and compares each by {}{kept}, by which no index finds them: `{statement}`",
        scan.table,
        scan.compared.join(" and ")
    )
}

/// A plan that reads so many rows that they take most of the statement's time says why it is slow.
fn slow_statement(statement: &str, run: &Run, place: &str, planned: &[Planned]) -> Judged {
    // Of several texts with other constants each has its plan: what all of them read is sure.
    let mut least: Option<(f64, &[Scan])> = None;
    for planned in planned.iter().filter(|planned| planned.statement == statement) {
        let scans = match &planned.scans {
            Ok(scans) => scans.as_slice(),
            Err(none) => return open(format!("there is no plan: {}", none.why)),
        };
        let rows: f64 = scans.iter().map(|scan| scan.rows_read).sum();
        least = least.filter(|(known, _)| *known <= rows).or(Some((rows, scans)));
    }
    let Some((rows, scans)) = least else {
        return open("it is not a statement that reads tables".to_owned());
    };
    let asked = asked(run, place);
    let each_ns = asked.iter().find(|asked| asked.statement == statement).and_then(|a| a.each_ns);
    let Some(each_ns) = each_ns else {
        return open(
            "the run did not count how long a call takes (pg_stat_statements, performance_schema)"
                .to_owned(),
        );
    };
    let tables: Vec<&str> = scans.iter().map(|scan| &*scan.table).collect();
    let read = format!("by its plan a call reads {} rows", grouped(rows, 0));
    let each = show_duration(each_ns as u64);
    if rows >= BIG && rows * ROW_NS >= MOSTLY * each_ns {
        let figures = format!("{read} of {}, which is what its {each} go into", tables.join(", "));
        return (Confirmed::Confirmed, figures);
    }
    open(format!(
        "{read} or more, and so many do not take {each}: the time goes into rows that are passed over, functions, sorting or \
         waiting, which no plan shows"
    ))
}

#[cfg(test)]
mod tests {
    use model::Role;
    use model::observed::{Figure, Observed, ObservedSource};
    use model::scans::NoPlan;
    use model::units::{MILLISECOND, SECOND};

    use super::*;

    const ORDERS: &str = "SELECT * FROM orders WHERE user_id = $1";

    fn scan(way: Way, kept: f64, compared: &[&str], indexed: &[&str]) -> Scan {
        let all = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Scan {
            table: "public.orders".into(),
            way,
            table_rows: 200_000.0,
            rows_read: 200_000.0,
            rows_kept: Some(kept),
            filtered: !compared.is_empty(),
            compared: all(compared),
            indexed: all(indexed),
        }
    }

    fn planned(scans: Result<Vec<Scan>, String>) -> Planned {
        Planned { statement: ORDERS.into(), scans: scans.map_err(NoPlan::from) }
    }

    fn finding(code: &str, subject: &str) -> Finding {
        Finding {
            code: code.into(),
            place: "db".into(),
            subject: Some(subject.into()),
            ..Finding::default()
        }
    }

    /// A run in which calls of the statement took this long.
    fn run(each_ms: f64) -> Run {
        let (second, ms) = (SECOND as f64, MILLISECOND as f64);
        let figure = |mean: f64| Figure { mean, min: mean, max: mean, growth: Some(mean * 10.0) };
        let figures = [
            (format!("db.exec_ns{{{ORDERS}}}"), figure(0.5 * second)),
            (format!("db.calls{{{ORDERS}}}"), figure(0.5 * second / (each_ms * ms))),
            ("db.exec_ns{COMMIT}".to_owned(), figure(0.1 * second)),
            ("db.exec_ns{SELECT old}".to_owned(), figure(0.0)),
        ];
        let db = ObservedSource {
            name: "db".into(),
            role: Role::Db,
            read_from: "postgres://h/d".into(),
            samples: 10,
            figures: figures.into(),
            ..ObservedSource::default()
        };
        let mut run = fixture::sound::closed();
        run.observed = Some(Observed { sources: vec![db] });
        run
    }

    #[test]
    fn statements_at_work_that_read_are_asked_about() {
        assert_eq!(statements(&run(10.0), "db"), [ORDERS]);
        assert!(statements(&run(10.0), "elsewhere").is_empty());
    }

    #[test]
    fn plans_decide_about_an_index() {
        use Confirmed::{Confirmed as Yes, Refuted as No, Undecided as Open};
        let by = |index: &str| Way::ByIndex(index.into());
        let (few, half) = (125.0, 100_000.0);
        let user: &[&str] = &["user_id"];
        for (what, scans, still, wanted) in [
            ("a column without index", Ok(vec![scan(Way::Whole, few, user, &[])]), None, Yes),
            (
                "along another index",
                Ok(vec![scan(Way::Along("orders_pkey".into()), few, user, &[])]),
                Some(true),
                Yes,
            ),
            (
                "it ends at its limit",
                Ok(vec![Scan {
                    rows_read: 10.0,
                    ..scan(Way::Along("orders_pkey".into()), few, user, &[])
                }]),
                Some(true),
                Open,
            ),
            ("most rows are wanted", Ok(vec![scan(Way::Whole, half, user, &[])]), Some(true), Open),
            ("no condition", Ok(vec![scan(Way::Whole, 2e5, &[], &[])]), Some(true), Open),
            ("an index not used", Ok(vec![scan(Way::Whole, few, user, user)]), Some(true), Open),
            ("by an index", Ok(vec![scan(by("orders_user"), few, &[], &[])]), Some(true), No),
            ("it is gone", Ok(vec![scan(by("orders_user"), few, &[], &[])]), Some(false), Open),
            ("not made again", Ok(vec![scan(by("orders_user"), few, &[], &[])]), None, Open),
            ("and a filter", Ok(vec![scan(by("o"), few, user, &[])]), Some(true), Open),
            ("another table", Ok(Vec::new()), Some(true), Open),
            ("no plan", Err("permission denied".to_owned()), Some(true), Open),
        ] {
            let finding = finding("db.missing_index", "public.orders");
            let judged = judge(&finding, &run(10.0), &[planned(scans)], still);
            assert_eq!(judged.outcome, wanted, "{what}: {}", judged.sentence);
        }
    }

    #[test]
    fn a_statement_without_a_plan_keeps_others_from_refuting() {
        let finding = finding("db.missing_index", "public.orders");
        let used = planned(Ok(vec![scan(Way::ByIndex("orders_user".into()), 9.0, &[], &[])]));
        let update = Planned {
            statement: "UPDATE orders SET x = $1 WHERE status = $2".into(),
            scans: Err("it is not a SELECT".to_owned().into()),
        };
        let judged = judge(&finding, &run(10.0), &[used.clone(), update], Some(true));
        assert_eq!(judged.outcome, Confirmed::Undecided, "{}", judged.sentence);
        assert!(judged.sentence.contains("UPDATE orders"), "{}", judged.sentence);
        let judged = judge(&finding, &run(10.0), &[used], Some(true));
        assert_eq!(judged.outcome, Confirmed::Refuted, "{}", judged.sentence);
    }

    #[test]
    fn rows_that_are_read_confirm_a_slow_statement_and_nothing_refutes_it() {
        let finding = finding("db.slow_statement", ORDERS);
        let whole = || planned(Ok(vec![scan(Way::Whole, 1e5, &[], &[])]));
        let one = || {
            let by_index = scan(Way::ByIndex("users_pkey".into()), 1.0, &[], &[]);
            planned(Ok(vec![Scan { rows_read: 1.0, ..by_index }]))
        };
        for (each_ms, plans, wanted) in [
            (15.0, vec![whole()], Confirmed::Confirmed),
            (15.0, vec![whole(), whole()], Confirmed::Confirmed),
            (90.0, vec![whole()], Confirmed::Undecided),
            (30.0, vec![whole(), whole()], Confirmed::Undecided),
            (50.0, vec![one()], Confirmed::Undecided),
            (15.0, vec![whole(), one()], Confirmed::Undecided),
            (15.0, vec![planned(Err("cut off".into()))], Confirmed::Undecided),
        ] {
            let judged = judge(&finding, &run(each_ms), &plans, Some(true));
            assert_eq!(judged.outcome, wanted, "{each_ms}: {}", judged.sentence);
        }
    }
}
