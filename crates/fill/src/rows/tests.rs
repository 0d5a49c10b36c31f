//! Rules of uniqueness and references, checked row by row over made-up schemas.

use std::collections::BTreeSet;

use super::*;
use crate::facts::{ColumnFacts, Facts, LinkFacts, ParentKeys, TableFacts, VERSION};
use crate::schema::{Check, Column, Dialect, Name, OnDelete, Reference, Table, Type, Unique};

fn column(name: &str, kind: Type) -> Column {
    Column {
        name: name.to_owned(),
        kind,
        type_name: "type".to_owned(),
        nullable: false,
        default: None,
        generated: None,
        counted: false,
        folds: false,
    }
}

fn int() -> Type {
    Type::Int { min: 0, max: i64::MAX.into() }
}

fn text(most: u32) -> Type {
    Type::Text { most: Some(most) }
}

fn table(name: &str, columns: Vec<Column>, uniques: &[&[usize]]) -> Table {
    let unique = |(at, columns): (usize, &&[usize])| Unique {
        rule: format!("{name}_{at}"),
        columns: columns.to_vec(),
    };
    let uniques = uniques.iter().enumerate().map(unique).collect();
    let table = Table::new(Name { schema: None, table: name.to_owned() }, columns);
    Table { uniques, has_primary: true, ..table }
}

fn reference(columns: &[usize], table: usize, targets: &[usize]) -> Reference {
    let rule = format!("to_{table}");
    Reference {
        rule,
        columns: columns.to_vec(),
        table,
        targets: targets.to_vec(),
        on_delete: OnDelete::Refuse,
    }
}

fn facts(schema: &Schema, adds: &[(u64, u64)]) -> Facts {
    let tables = schema.tables.iter().zip(adds).map(|(table, &(rows, add))| TableFacts {
        name: Some(table.name.clone()),
        rows,
        add,
        columns: vec![ColumnFacts::default(); table.columns.len()],
        links: vec![LinkFacts::default(); table.references.len()],
        ..TableFacts::default()
    });
    Facts {
        version: VERSION,
        seed: 7,
        locale: "en".to_owned(),
        until: 1_700_000_000_000_000,
        schema: 0,
        batch: 1000,
        tables: tables.collect(),
        order: (0..adds.len()).collect(),
        deferred: Vec::new(),
    }
}

fn made(rows: &Rows, table: usize, count: u64) -> Vec<Vec<Value>> {
    let mut all = Vec::new();
    let mut row = Vec::new();
    for at in 0..count {
        rows.row(table, at, &mut row).expect("a row");
        all.push(row.clone());
    }
    all
}

fn distinct(rows: &[Vec<Value>], columns: &[usize]) -> usize {
    let key = |row: &Vec<Value>| columns.iter().map(|&at| row[at].text()).collect::<Vec<_>>();
    rows.iter().map(key).collect::<BTreeSet<_>>().len()
}

#[test]
fn unique_values_of_every_type_are_unique() {
    let kinds = [
        int(),
        text(60),
        text(14),
        text(3),
        Type::Uuid,
        Type::Date,
        Type::Time,
        Type::Moment { micros: false },
        Type::Decimal { precision: 10, scale: 2 },
        Type::Float,
        Type::Bytes { most: Some(4) },
        Type::Inet,
        Type::Inet6,
    ];
    let names = ["id", "email", "email2", "code", "a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let columns = names.iter().zip(kinds).map(|(name, kind)| column(name, kind)).collect();
    let uniques: Vec<Vec<usize>> = (0..names.len()).map(|at| vec![at]).collect();
    let uniques: Vec<&[usize]> = uniques.iter().map(Vec::as_slice).collect();
    let schema =
        Schema { dialect: Dialect::Sqlite, tables: vec![table("users", columns, &uniques)] };
    let rows = Rows::compile(&schema, &facts(&schema, &[(0, 5000)])).unwrap();
    let all = made(&rows, 0, 5000);
    for (at, name) in names.iter().enumerate() {
        assert_eq!(distinct(&all, &[at]), 5000, "{name}: {:?}", &all[0][at]);
    }
    let longest = |at: usize| all.iter().map(|row| row[at].text().chars().count()).max();
    assert!(longest(1) <= Some(60) && longest(3) == Some(3));
}

#[test]
fn references_hit_rows_and_pairs_are_unique() {
    let users = table("users", vec![column("id", int())], &[&[0]]);
    let mut lines = table(
        "lines",
        vec![column("user_id", int()), column("line", int()), column("text", text(9))],
        &[&[0, 1]],
    );
    lines.references.push(reference(&[0], 0, &[0]));
    let mut friends =
        table("friends", vec![column("one", int()), column("other", int())], &[&[0, 1]]);
    friends.references = vec![reference(&[0], 0, &[0]), reference(&[1], 0, &[0])];
    let mut profiles = table("profiles", vec![column("user_id", int())], &[&[0]]);
    profiles.references.push(reference(&[0], 0, &[0]));
    let mut kinds = table(
        "kinds",
        vec![column("user_id", int()), column("kind", Type::Enum(vec!["a".into(), "b".into()]))],
        &[&[0, 1]],
    );
    kinds.references.push(reference(&[0], 0, &[0]));
    let schema =
        Schema { dialect: Dialect::Sqlite, tables: vec![users, lines, friends, profiles, kinds] };
    let mut facts = facts(&schema, &[(3, 100), (0, 5000), (0, 4000), (0, 100), (0, 150)]);
    let keys = ["5", "6", "9"].map(|key| vec![key.to_owned()]).to_vec();
    facts.tables[0].parents.push(ParentKeys { columns: vec![0], keys, times: Vec::new() });
    facts.tables[0].columns[0].highest = Some(9);
    let rows = Rows::compile(&schema, &facts).unwrap();
    let mut ids: BTreeSet<String> = ["5", "6", "9"].map(str::to_owned).into();
    ids.extend(made(&rows, 0, 100).iter().map(|row| row[0].text()));
    assert_eq!(ids.len(), 103);
    for (at, count, parents, unique) in
        [(1, 5000, 1, 2), (2, 4000, 2, 2), (3, 100, 1, 1), (4, 150, 1, 2)]
    {
        let all = made(&rows, at, count);
        let columns: Vec<usize> = (0..unique).collect();
        assert_eq!(distinct(&all, &columns) as u64, count, "table {at}");
        for row in &all {
            for value in &row[..parents] {
                assert!(ids.contains(&value.text()), "table {at}: {row:?}");
            }
        }
    }
}

#[test]
fn rows_of_pools_come_first() {
    let users = table("users", vec![column("id", int()), column("name", text(30))], &[&[0]]);
    let mut orders = table("orders", vec![column("user_id", int())], &[]);
    orders.references.push(reference(&[0], 0, &[0]));
    let schema = Schema { dialect: Dialect::Sqlite, tables: vec![users, orders] };
    let mut facts = facts(&schema, &[(0, 100), (0, 1000)]);
    facts.tables[0].columns[0].wanted = vec!["4711".into(), "42".into()];
    facts.tables[0].columns[0].weights = (Vec::new(), vec![3.0, 1.0]);
    let rows = Rows::compile(&schema, &facts).unwrap();
    let ids: Vec<String> = made(&rows, 0, 100).iter().map(|row| row[0].text()).collect();
    assert_eq!(ids[..3], ["4711", "42", "4712"]);
    let orders = made(&rows, 1, 1000);
    let of = |id: &str| orders.iter().filter(|row| row[0].text() == id).count();
    assert_eq!((of("4711"), of("42")), (375, 125));
}

#[test]
fn conditions_hold_and_impossible_ones_are_named() {
    let columns = vec![
        column("id", int()),
        column("price", Type::Decimal { precision: 8, scale: 2 }),
        column("kind", text(10)),
        column("from_day", Type::Date),
        column("to_day", Type::Date),
        column("code", text(4)),
        column("extra", int()),
    ];
    let mut of = table("things", columns, &[&[0]]);
    let check =
        |rule: &str, text: &str| Check { rule: rule.into(), text: text.into(), value: None };
    of.checks = vec![
        check("price_low", "(price > (0)::numeric) AND price < 50"),
        check("kinds", "kind IN ('x', 'y')"),
        check("days", "(from_day < to_day)"),
        check("code_length", "length(code) = 4 AND code = upper(code)"),
        check("either", "(kind = 'x' AND extra < 500) OR (kind <> 'x' AND extra >= 500)"),
    ];
    let schema = Schema { dialect: Dialect::Postgres, tables: vec![of] };
    let rows = Rows::compile(&schema, &facts(&schema, &[(0, 2000)])).unwrap();
    for row in made(&rows, 0, 2000) {
        let price = row[1].number().unwrap();
        assert!(price > 0.0 && price < 50.0, "{row:?}");
        assert!(row[3].text() < row[4].text(), "{row:?}");
        let code = row[5].text();
        assert!(code.chars().count() == 4 && code == code.to_uppercase(), "{row:?}");
    }
    let mut schema = schema;
    schema.tables[0].checks.push(check("never", "id < 0 AND id > 5"));
    let why = Rows::compile(&schema, &facts(&schema, &[(0, 10)])).unwrap_err().to_string();
    assert!(why.contains("things.id"), "{why}");
    schema.tables[0].checks.pop();
    schema.tables[0].checks.push(check("odd", "extra < id AND id < extra"));
    let rows = Rows::compile(&schema, &facts(&schema, &[(0, 10)])).unwrap();
    let why = rows.row(0, 0, &mut Vec::new()).unwrap_err().to_string();
    assert!(why.contains("things") && why.contains("odd"), "{why}");
    schema.tables[0].checks.push(check("nothing", "0"));
    let why = Rows::compile(&schema, &facts(&schema, &[(0, 10)])).unwrap_err().to_string();
    assert_eq!(why, "things: its condition nothing allows no row");
}

#[test]
fn what_does_not_fit_is_refused_with_rule_and_column() {
    let kinds = Type::Enum(vec!["a".into(), "b".into()]);
    for (kind, add, word) in [
        (text(3), 20_000, "codes.code"),
        (Type::Int { min: -128, max: 127 }, 257, "codes.code"),
        (kinds, 3, "codes_0"),
        (Type::Bool, 3, "codes_0"),
        (
            Type::Other,
            1,
            "the rule codes_0 cannot be met: values of the type type cannot be made up",
        ),
        (
            Type::Date,
            4_000_000,
            "needs 4,000,000 values that are not there yet, and type has room for",
        ),
    ] {
        let of = table("codes", vec![column("code", kind.clone())], &[&[0]]);
        let schema = Schema { dialect: Dialect::Postgres, tables: vec![of] };
        let why = Rows::compile(&schema, &facts(&schema, &[(0, add)])).unwrap_err().to_string();
        assert!(why.contains(word), "{kind:?}: {why}");
    }
}

#[test]
fn a_reference_of_which_a_column_may_not_be_null_has_a_parent() {
    let parents = table("orders", vec![column("a", int()), column("b", int())], &[&[0, 1]]);
    let mut children = table("notes", vec![column("a", int()), column("b", int())], &[]);
    children.columns[1].nullable = true;
    children.references.push(reference(&[0, 1], 0, &[0, 1]));
    let schema = Schema { dialect: Dialect::Postgres, tables: vec![parents, children] };
    let mut facts = facts(&schema, &[(0, 50), (100, 200)]);
    facts.tables[1].links[0].nulls = 0.5;
    let rows = Rows::compile(&schema, &facts).unwrap();
    assert!(made(&rows, 1, 200).iter().all(|row| !row.contains(&Value::Null)));
}

#[test]
fn rows_that_refer_to_one_row_each_have_one_each() {
    for nullable in [false, true] {
        let mut up = column("up", int());
        up.nullable = nullable;
        let mut tree = table("tree", vec![column("id", int()), up], &[&[0], &[1]]);
        tree.references.push(reference(&[1], 0, &[0]));
        let schema = Schema { dialect: Dialect::Postgres, tables: vec![tree] };
        let rows = Rows::compile(&schema, &facts(&schema, &[(0, 200)])).unwrap();
        let all = made(&rows, 0, 200);
        let filled: Vec<_> = all.iter().filter(|row| row[1] != Value::Null).cloned().collect();
        assert_eq!(distinct(&filled, &[1]), filled.len());
        assert!(if nullable { filled.len() < 200 } else { filled.len() == 200 });
    }
}

#[test]
fn what_is_unsigned_is_not_below_zero() {
    let mut share = column("share", Type::Decimal { precision: 5, scale: 5 });
    share.type_name = "decimal(5,5) unsigned".to_owned();
    let schema =
        Schema { dialect: Dialect::Mysql, tables: vec![table("shares", vec![share], &[])] };
    let rows = Rows::compile(&schema, &facts(&schema, &[(0, 500)])).unwrap();
    assert!(made(&rows, 0, 500).iter().all(|row| row[0].number().unwrap() >= 0.0));
}

#[test]
fn a_unique_column_of_which_no_values_can_be_made_up_stays_null() {
    let mut span = column("span", Type::Other);
    span.nullable = true;
    let of = table("bookings", vec![column("id", int()), span], &[&[0], &[1]]);
    let schema = Schema { dialect: Dialect::Postgres, tables: vec![of] };
    let rows = Rows::compile(&schema, &facts(&schema, &[(0, 50)])).unwrap();
    assert!(made(&rows, 0, 50).iter().all(|row| row[1] == Value::Null));
    assert_eq!(rows.left_null(0), [(1, 50, "none that is allowed can be made up")]);
}

/// A row's parent has the same tenant: none is looked for, the row itself has it.
#[test]
fn a_reference_within_a_table_shares_a_column_with_its_target() {
    for nullable in [true, false] {
        let tenants = table("tenants", vec![column("id", int())], &[&[0]]);
        let mut up = column("up", int());
        up.nullable = nullable;
        let columns = vec![column("tenant_id", int()), column("id", int()), up];
        let mut tree = table("tree", columns, &[&[0, 1]]);
        tree.references = vec![reference(&[0, 2], 1, &[0, 1]), reference(&[0], 0, &[0])];
        let schema = Schema { dialect: Dialect::Postgres, tables: vec![tenants, tree] };
        let rows = Rows::compile(&schema, &facts(&schema, &[(0, 5), (0, 200)])).unwrap();
        let all = made(&rows, 1, 200);
        assert_eq!(distinct(&all, &[0, 1]), 200);
        for row in all {
            assert!((1.0..=5.0).contains(&row[0].number().unwrap()), "{row:?}");
            assert_eq!(row[2], if nullable { Value::Null } else { row[1].clone() });
        }
    }
    let mut odd = table("odd", vec![column("a", int()), column("b", int())], &[&[0, 1]]);
    odd.references = vec![reference(&[0, 1], 0, &[1, 0])];
    let schema = Schema { dialect: Dialect::Postgres, tables: vec![odd] };
    let why = Rows::compile(&schema, &facts(&schema, &[(0, 5)])).unwrap_err().to_string();
    assert!(why.starts_with("odd (a, b): the foreign key to_0 refers to columns"), "{why}");
}

/// Each would be made of the other, row before row.
#[test]
fn references_within_a_table_that_cross_are_null_or_refused() {
    for nullable in [true, false] {
        let columns = vec![column("id", int()), column("a", int()), column("b", int())];
        let mut odd = table("odd", columns, &[&[0], &[1], &[2]]);
        odd.references = vec![reference(&[1], 0, &[2]), reference(&[2], 0, &[1])];
        odd.columns[1].nullable = nullable;
        odd.columns[2].nullable = nullable;
        let schema = Schema { dialect: Dialect::Postgres, tables: vec![odd] };
        let rows = Rows::compile(&schema, &facts(&schema, &[(0, 200_000)]));
        if nullable {
            let mut row = Vec::new();
            rows.unwrap().row(0, 199_999, &mut row).unwrap();
            assert_eq!(row[1..], [Value::Null, Value::Null]);
        } else {
            let why = rows.unwrap_err().to_string();
            assert!(why.starts_with("odd (b): the foreign key to_0 refers to columns"), "{why}");
        }
    }
}

#[test]
fn keys_that_share_a_tenant_agree_in_it() {
    let tenants = table("tenants", vec![column("id", int())], &[&[0]]);
    let of_tenant = |name: &str| {
        let mut of =
            table(name, vec![column("tenant_id", int()), column("id", int())], &[&[1], &[0, 1]]);
        of.references.push(reference(&[0], 0, &[0]));
        of
    };
    let mut lines = table(
        "lines",
        vec![column("tenant_id", int()), column("order_id", int()), column("product_id", int())],
        &[],
    );
    lines.references = vec![
        reference(&[0], 0, &[0]),
        reference(&[0, 1], 1, &[0, 1]),
        reference(&[0, 2], 2, &[0, 1]),
    ];
    let tables = vec![tenants, of_tenant("orders"), of_tenant("products"), lines];
    let schema = Schema { dialect: Dialect::Postgres, tables };
    let facts = facts(&schema, &[(0, 5), (0, 300), (0, 200), (0, 2000)]);
    let rows = Rows::compile(&schema, &facts).unwrap();
    let keys = |table, count| -> BTreeSet<(String, String)> {
        made(&rows, table, count).iter().map(|row| (row[0].text(), row[1].text())).collect()
    };
    let (orders, products) = (keys(1, 300), keys(2, 200));
    for row in made(&rows, 3, 2000) {
        assert!(orders.contains(&(row[0].text(), row[1].text())), "{row:?}");
        assert!(products.contains(&(row[0].text(), row[2].text())), "{row:?}");
    }
}

#[test]
fn children_are_made_after_their_parents() {
    let moment = || Type::Moment { micros: true };
    let mut users =
        table("users", vec![column("id", int()), column("created_at", moment())], &[&[0]]);
    // Rows are thrown away, so that a parent's time is not that of its first try.
    users.columns.push(column("age", int()));
    users.checks.push(Check {
        rule: "age".into(),
        text: "age < 40 OR age > 60".into(),
        value: None,
    });
    let made_on = column("created_at", Type::Date);
    let mut orders = table("orders", vec![column("user_id", int()), made_on], &[]);
    orders.references.push(reference(&[0], 0, &[0]));
    let schema = Schema { dialect: Dialect::Sqlite, tables: vec![users, orders] };
    let mut facts = facts(&schema, &[(2, 100), (0, 3000)]);
    let keys = vec![vec!["1".to_owned()], vec!["2".to_owned()]];
    // One from the last day, one of whom nothing is known.
    let times = vec![(1, vec![Some(facts.until - 1), None])];
    facts.tables[0].parents.push(ParentKeys { columns: vec![0], keys, times });
    facts.tables[0].columns[0].highest = Some(2);
    facts.tables[1].links[0].times = vec![(1, 1)];
    let rows = Rows::compile(&schema, &facts).unwrap();
    let day = |value: &Value| match value {
        Value::Moment(micros) => micros.div_euclid(DAY),
        Value::Date(days) => *days,
        other => panic!("{other:?}"),
    };
    let users = made(&rows, 0, 100);
    let mut born: std::collections::BTreeMap<String, i64> =
        users.iter().map(|row| (row[0].text(), day(&row[1]))).collect();
    let last = (facts.until - 1).div_euclid(DAY);
    born.extend([("1".to_owned(), last), ("2".to_owned(), 0)]);
    let mut days = BTreeSet::new();
    for row in made(&rows, 1, 3000) {
        let made = day(&row[1]);
        assert!(made >= born[&row[0].text()] && made <= last, "{row:?}");
        days.insert(made);
    }
    assert!(days.len() > 500, "{}", days.len());
}

/// Two references of a row to the same table that must not be the same, with a rule of uniqueness over both or without.
#[test]
fn references_that_must_differ_do() {
    let users = table("users", vec![column("id", int())], &[&[0]]);
    let pair = || vec![column("one", int()), column("other", int()), column("n", int())];
    let mut friends = table("friends", pair(), &[&[0, 1]]);
    let mut transfers = table("transfers", pair(), &[]);
    for of in [&mut friends, &mut transfers] {
        of.references = vec![reference(&[0], 0, &[0]), reference(&[1], 0, &[0])];
        let text = "(one <> other)".to_owned();
        of.checks = vec![Check { rule: "apart".into(), text, value: None }];
    }
    // Whoever refers to such rows refers to what they are in the end.
    transfers.uniques.push(Unique { rule: "whole".into(), columns: vec![0, 2] });
    let mut receipts = table("receipts", vec![column("one", int()), column("n", int())], &[]);
    receipts.references = vec![reference(&[0, 1], 2, &[0, 2])];
    let schema =
        Schema { dialect: Dialect::Sqlite, tables: vec![users, friends, transfers, receipts] };
    let facts = facts(&schema, &[(0, 20), (0, 380), (0, 3000), (0, 2000)]);
    let rows = Rows::compile(&schema, &facts).unwrap();
    let friends = made(&rows, 1, 380);
    assert_eq!(distinct(&friends, &[0, 1]), 380);
    let transfers = made(&rows, 2, 3000);
    assert_eq!(distinct(&transfers, &[0, 2]), 3000);
    for row in friends.iter().chain(&transfers) {
        assert_ne!(row[0], row[1], "{row:?}");
    }
    for (at, row) in transfers.iter().enumerate() {
        assert_eq!(rows.values(2, &[0, 1, 2], at as u64), *row);
    }
    let there: BTreeSet<(String, String)> =
        transfers.iter().map(|row| (row[0].text(), row[2].text())).collect();
    for row in made(&rows, 3, 2000) {
        assert!(there.contains(&(row[0].text(), row[1].text())), "{row:?}");
    }
}

#[test]
fn values_are_those_of_the_row_that_met_the_conditions() {
    let mut of = table("things", vec![column("age", int()), column("n", int())], &[]);
    let text = "age < 40 OR age > 60".to_owned();
    of.checks = vec![Check { rule: "age".into(), text, value: None }];
    let schema = Schema { dialect: Dialect::Sqlite, tables: vec![of] };
    let rows = Rows::compile(&schema, &facts(&schema, &[(0, 500)])).unwrap();
    for (at, row) in made(&rows, 0, 500).into_iter().enumerate() {
        assert_eq!(rows.values(0, &[0, 1], at as u64), row);
    }
}

fn check(rule: &str, text: &str) -> Check {
    Check { rule: rule.into(), text: text.into(), value: None }
}

fn few(values: &[&str]) -> Type {
    Type::Enum(values.iter().map(|value| (*value).to_owned()).collect())
}

/// Pairs of columns, the conditions on them, and how many rows they tell apart at most.
#[test]
fn rules_over_several_columns_have_room_for_all_combinations() {
    let decimal = || Type::Decimal { precision: 3, scale: 1 };
    let small = || Type::Int { min: i16::MIN.into(), max: i16::MAX.into() };
    for (one, other, text, most) in [
        (few(&["a", "b", "c"]), small(), "b BETWEEN 1 AND 10", 30),
        (decimal(), Type::Bool, "a >= 0", 2000),
        (decimal(), Type::Bool, "a >= 0 AND a <= 1", 22),
        (Type::Date, few(&["x", "y"]), "a >= '2024-01-01' AND a <= '2024-01-10'", 20),
        (few(&["a", "b", "c"]), Type::Bool, "a <> 'z'", 6),
        (small(), small(), "a BETWEEN 1 AND 7 AND b BETWEEN -4 AND 5", 70),
        (text(9), small(), "a IN ('p', 'q') AND b < -32758", 20),
    ] {
        let of = table("pairs", vec![column("a", one), column("b", other)], &[&[0, 1], &[1, 0]]);
        let mut schema = Schema { dialect: Dialect::Postgres, tables: vec![of] };
        schema.tables[0].checks.push(check("range", text));
        let rows = Rows::compile(&schema, &facts(&schema, &[(0, most)])).unwrap();
        assert_eq!(distinct(&made(&rows, 0, most), &[0, 1]) as u64, most, "{text}");
        let why = Rows::compile(&schema, &facts(&schema, &[(0, most + 1)])).unwrap_err();
        assert!(why.to_string().contains("pairs"), "{text}: {why}");
    }
}

#[test]
fn a_default_that_a_condition_bars_is_not_used() {
    for (default, made_up) in
        [("0", true), ("'0'::smallint", true), ("(-1)", true), ("7", false), ("now()", false)]
    {
        let mut n = column("n", Type::Int { min: -9, max: 999 });
        n.default = Some(default.to_owned());
        let mut of = table("things", vec![column("id", int()), n], &[&[0]]);
        of.checks = vec![check("n", "n >= 5")];
        let schema = Schema { dialect: Dialect::Postgres, tables: vec![of] };
        let rows = Rows::compile(&schema, &facts(&schema, &[(0, 50)])).unwrap();
        assert_eq!(rows.written(0).contains(&1), made_up, "{default}");
    }
}

#[test]
fn times_of_whole_seconds_lie_behind_the_last_that_is_not_allowed() {
    let mut of = table("things", vec![column("t", Type::Moment { micros: false })], &[]);
    of.checks = vec![check("late", "t > '2031-01-01 00:00:00'")];
    let schema = Schema { dialect: Dialect::Postgres, tables: vec![of] };
    let rows = Rows::compile(&schema, &facts(&schema, &[(0, 50)])).unwrap();
    assert!(made(&rows, 0, 50).iter().all(|row| row[0].text().as_str() > "2031-01-01 00:00:00"));
}

#[test]
fn whole_numbers_lie_between_fractions() {
    let mut of = table("things", vec![column("n", int())], &[]);
    of.checks = vec![check("one", "n > 0.5 AND n < 1.5")];
    let schema = Schema { dialect: Dialect::Postgres, tables: vec![of] };
    let rows = Rows::compile(&schema, &facts(&schema, &[(0, 50)])).unwrap();
    assert!(made(&rows, 0, 50).iter().all(|row| row[0] == Value::Int(1)));
}

#[test]
fn children_are_told_apart_by_all_columns_of_few_values() {
    let columns = vec![
        column("user_id", int()),
        column("n", Type::Int { min: 1, max: 3 }),
        column("kind", few(&["a", "b"])),
        column("score", Type::Decimal { precision: 2, scale: 1 }),
    ];
    for (unique, most) in [(&[0, 1, 2][..], 60), (&[0, 3], 1000), (&[0, 1, 3], 3000)] {
        let users = table("users", vec![column("id", int())], &[&[0]]);
        let mut grades = table("grades", columns.clone(), &[unique]);
        grades.references.push(reference(&[0], 0, &[0]));
        grades.checks.push(check("score", "score >= 0"));
        let schema = Schema { dialect: Dialect::Postgres, tables: vec![users, grades] };
        let rows = Rows::compile(&schema, &facts(&schema, &[(0, 10), (0, most)])).unwrap();
        assert_eq!(distinct(&made(&rows, 1, most), unique) as u64, most);
        assert!(Rows::compile(&schema, &facts(&schema, &[(0, 10), (0, most + 1)])).is_err());
    }
}

/// The weights that are usual give the first parents far more children than others.
#[test]
fn children_are_told_apart_as_long_as_an_even_spread_has_room() {
    let users = table("users", vec![column("id", int())], &[&[0]]);
    let mut lines =
        table("lines", vec![column("user_id", int()), column("line", int())], &[&[0, 1]]);
    lines.references.push(reference(&[0], 0, &[0]));
    lines.checks.push(check("line", "line BETWEEN 1 AND 5"));
    let columns =
        vec![column("user_id", int()), column("size", few(&["s", "m"])), column("new", Type::Bool)];
    let mut variants = table("variants", columns, &[&[0, 1, 2], &[2, 1, 0]]);
    variants.references.push(reference(&[0], 0, &[0]));
    let schema = Schema { dialect: Dialect::Postgres, tables: vec![users, lines, variants] };
    let rows = Rows::compile(&schema, &facts(&schema, &[(0, 10), (0, 50), (0, 40)])).unwrap();
    let lines = made(&rows, 1, 50);
    assert_eq!(distinct(&lines, &[0, 1]), 50);
    assert!(lines.iter().all(|row| (1.0..=5.0).contains(&row[1].number().unwrap())));
    assert_eq!(distinct(&made(&rows, 2, 40), &[0, 1, 2]), 40);
    for adds in [[(0, 10), (0, 51), (0, 40)], [(0, 10), (0, 50), (0, 41)]] {
        let why = Rows::compile(&schema, &facts(&schema, &adds)).unwrap_err().to_string();
        assert!(why.contains("there is room for"), "{why}");
    }
}

#[test]
fn numbers_below_those_that_are_there_are_used_where_there_is_no_room_above() {
    let tiny = || Type::Int { min: -128, max: 127 };
    let of = table("codes", vec![column("code", tiny())], &[&[0]]);
    let schema = Schema { dialect: Dialect::Postgres, tables: vec![of] };
    let rows = Rows::compile(&schema, &facts(&schema, &[(0, 256)])).unwrap();
    assert_eq!(distinct(&made(&rows, 0, 256), &[0]), 256);
    let mut facts = facts(&schema, &[(2, 100)]);
    facts.tables[0].columns[0].highest = Some(127);
    facts.tables[0].columns[0].gap = Some((2, 101));
    let rows = Rows::compile(&schema, &facts).unwrap();
    let all = made(&rows, 0, 100);
    assert_eq!(distinct(&all, &[0]), 100);
    assert!(all.iter().all(|row| (2.0..=101.0).contains(&row[0].number().unwrap())));
    // Rows of others may come between them: they are not found again as a range.
    assert_eq!(rows.counts_from(0, 0), None);
    facts.tables[0].add = 101;
    let why = Rows::compile(&schema, &facts).unwrap_err().to_string();
    assert!(why.ends_with("type has room for 100 more in a row"), "{why}");
}

#[test]
fn unique_values_meet_the_bounds_of_their_conditions() {
    let columns = vec![
        column("day", Type::Date),
        column("price", Type::Decimal { precision: 8, scale: 2 }),
        column("share", Type::Float),
        column("moment", Type::Moment { micros: false }),
    ];
    let mut of = table("things", columns, &[&[0], &[1], &[2], &[3]]);
    of.checks = vec![
        check("day", "day >= '2030-01-01'"),
        check("price", "price > 1000 AND price < 1001"),
        check("share", "share > 0 AND share < 1"),
        check("moment", "moment < '2001-01-01 00:00:00'"),
    ];
    let schema = Schema { dialect: Dialect::Postgres, tables: vec![of] };
    let rows = Rows::compile(&schema, &facts(&schema, &[(0, 99)])).unwrap();
    let all = made(&rows, 0, 99);
    for column in 0..4 {
        assert_eq!(distinct(&all, &[column]), 99, "{column}");
    }
}

#[test]
fn conditions_that_contradict_each_other_are_named() {
    let small = || Type::Int { min: i16::MIN.into(), max: i16::MAX.into() };
    for (kind, texts, unique) in [
        (small(), &["n > 5", "n < 3"][..], true),
        (small(), &["n > 40000"], false),
        (Type::Date, &["n > '2030-01-01'", "n < '2030-01-02'"], false),
        (text(4), &["length(n) = 5"], true),
        (text(4), &["n IN ()"], false),
    ] {
        let uniques: &[&[usize]] = if unique { &[&[0], &[1]] } else { &[&[0]] };
        let mut of = table("things", vec![column("id", int()), column("n", kind)], uniques);
        of.checks = texts.iter().map(|text| check(text, text)).collect();
        let schema = Schema { dialect: Dialect::Postgres, tables: vec![of] };
        let why = Rows::compile(&schema, &facts(&schema, &[(0, 50)])).unwrap_err().to_string();
        let rules = texts.join(", ");
        let said = format!("things.n: its conditions allow no value of the type type: {rules}");
        assert_eq!(why, said);
    }
}

#[test]
fn a_unique_column_that_may_be_null_has_each_value_once() {
    for (kind, text, filled) in [
        (Type::Bool, "id > 0", 2),
        (few(&["a", "b", "c"]), "id > 0", 3),
        (text(5), "n IN ('a', 'b')", 2),
        (Type::Int { min: i16::MIN.into(), max: i16::MAX.into() }, "n BETWEEN 1 AND 10", 10),
        (Type::Date, "n >= '2030-01-01' AND n <= '2030-01-03'", 0),
    ] {
        let mut n = column("n", kind);
        n.nullable = true;
        let mut of = table("things", vec![column("id", int()), n], &[&[0], &[1]]);
        of.checks = vec![check("n", text)];
        let mut schema = Schema { dialect: Dialect::Postgres, tables: vec![of] };
        let facts = facts(&schema, &[(0, 50)]);
        let rows = Rows::compile(&schema, &facts).unwrap();
        let all = made(&rows, 0, 50);
        let values: Vec<_> = all.into_iter().filter(|row| row[1] != Value::Null).collect();
        assert_eq!((values.len(), distinct(&values, &[1])), (filled, filled), "{text}");
        let left = [(1, 50 - filled as u64, "no other row may have the same")];
        assert_eq!(rows.left_null(0), left, "{text}");
        schema.tables[0].columns[1].nullable = false;
        assert!(Rows::compile(&schema, &facts).is_err(), "{text}");
    }
}

#[test]
fn texts_of_36_characters_are_uuids_where_no_name_says_what_they_are() {
    let columns = vec![column("id", text(36)), column("other", text(36)), column("city", text(36))];
    let schema =
        Schema { dialect: Dialect::Mysql, tables: vec![table("orders", columns, &[&[0]])] };
    let rows = Rows::compile(&schema, &facts(&schema, &[(0, 200)])).unwrap();
    let all = made(&rows, 0, 200);
    assert_eq!(distinct(&all, &[0]), 200);
    for row in all {
        let parts = |at: usize| row[at].text().split('-').map(str::len).collect::<Vec<_>>();
        assert_eq!((parts(0), parts(1)), (vec![8, 4, 4, 4, 12], vec![8, 4, 4, 4, 12]), "{row:?}");
        assert_ne!(row[2].text().len(), 36, "{row:?}");
    }
}

#[test]
fn numbers_leave_the_remainder_that_conditions_ask_for() {
    for (text, room) in [
        ("n % 2 = 0", 500),
        ("n % 100 = 7", 500),
        ("n % 3 = 0 AND n >= 10 AND n <= 20", 3),
        ("(n % 2) = 1 AND n <= 9", 5),
    ] {
        for unique in [true, false] {
            let kind = Type::Int { min: -1000, max: 100_000 };
            let columns = vec![column("id", int()), column("n", kind)];
            let uniques: &[&[usize]] = if unique { &[&[0], &[1]] } else { &[&[0]] };
            let mut of = table("things", columns, uniques);
            of.checks = vec![check("n", text)];
            let mut schema = Schema { dialect: Dialect::Postgres, tables: vec![of] };
            let facts_of = |schema: &Schema, add: u64| facts(schema, &[(0, add)]);
            let rows = Rows::compile(&schema, &facts_of(&schema, room)).unwrap();
            let all = made(&rows, 0, room);
            if !unique {
                continue;
            }
            assert_eq!(distinct(&all, &[1]) as u64, room, "{text}");
            if room < 100 {
                let why = Rows::compile(&schema, &facts_of(&schema, room + 1)).unwrap_err();
                assert!(why.to_string().contains("things.n"), "{why}");
                schema.tables[0].columns[1].nullable = true;
                let rows = Rows::compile(&schema, &facts_of(&schema, room + 1)).unwrap();
                assert_eq!(rows.left_null(0)[0].1, 1, "{text}");
                made(&rows, 0, room + 1);
            }
        }
    }
}

#[test]
fn numbers_that_leave_a_remainder_tell_children_apart() {
    let users = table("users", vec![column("id", int())], &[&[0]]);
    let columns = vec![column("user_id", int()), column("n", int())];
    let mut seats = table("seats", columns, &[&[0, 1]]);
    seats.references.push(reference(&[0], 0, &[0]));
    seats.checks = vec![check("even", "n % 2 = 0")];
    let schema = Schema { dialect: Dialect::Postgres, tables: vec![users, seats] };
    let rows = Rows::compile(&schema, &facts(&schema, &[(0, 10), (0, 100)])).unwrap();
    assert_eq!(distinct(&made(&rows, 1, 100), &[0, 1]), 100);
}

#[test]
fn columns_are_what_conditions_make_of_others() {
    let money = || Type::Decimal { precision: 10, scale: 2 };
    for (kind, texts) in [
        (int(), &["x + y = 100"][..]),
        (int(), &["100 - x = y", "x >= 20 AND y > 70"]),
        (int(), &["z = x * y"]),
        (money(), &["x + y = z", "x <= 50"]),
        (money(), &["z = x AND y - z = 5"]),
        (Type::Float, &["y + 0.1 = x"]),
    ] {
        let numbers = ["x", "y", "z"].map(|name| column(name, kind.clone()));
        let columns = std::iter::once(column("id", int())).chain(numbers).collect();
        let mut of = table("things", columns, &[&[0]]);
        of.checks = texts.iter().map(|text| check(text, text)).collect();
        let mut schema = Schema { dialect: Dialect::Postgres, tables: vec![of] };
        let rows = Rows::compile(&schema, &facts(&schema, &[(0, 2000)])).unwrap();
        let all = made(&rows, 0, 2000);
        assert!(distinct(&all, &[1]) > 5, "{texts:?}");
        for (at, row) in all.into_iter().enumerate() {
            assert_eq!(rows.values(0, &[0, 1, 2, 3], at as u64), row);
        }
        // What contradicts it is named, and ends.
        schema.tables[0].checks.push(check("never", "y + x = 3.25 AND y - x = 7.5"));
        schema.tables[0].checks.push(check("circle", "x = z + 1 AND z = y + 1 AND y = x + 1"));
        let facts = facts(&schema, &[(0, 9)]);
        let made = Rows::compile(&schema, &facts).and_then(|rows| rows.row(0, 0, &mut Vec::new()));
        let why = made.unwrap_err().to_string();
        assert!(why.starts_with("things"), "{why}");
    }
}

/// Each is made of two that are: of forty, the last one would take a hundred million values.
#[test]
fn equations_that_build_on_each_other_are_followed_so_far_as_that_is_quick() {
    let numbers = (0..40).map(|at| column(&format!("c{at}"), int()));
    let columns = std::iter::once(column("id", int())).chain(numbers).collect();
    let mut of = table("things", columns, &[&[0]]);
    let sum = |at: usize| format!("c{at} = c{} + c{}", at - 1, at - 2);
    of.checks = (2..40).map(|at| check(&sum(at), &sum(at))).collect();
    let schema = Schema { dialect: Dialect::Postgres, tables: vec![of] };
    let rows = Rows::compile(&schema, &facts(&schema, &[(0, 1)])).unwrap();
    let is_equal = |at: usize| matches!(rows.tables[0].columns[1 + at], Maker::Equal { .. });
    assert!((2..12).all(is_equal));
    assert!(!(12..40).all(is_equal));
}

#[test]
fn lists_of_two_conditions_are_met_together() {
    let mut of = table("things", vec![column("n", text(5))], &[]);
    of.checks = vec![check("one", "n IN ('a', 'b')"), check("other", "n IN ('b', 'c')")];
    let mut schema = Schema { dialect: Dialect::Postgres, tables: vec![of] };
    let rows = Rows::compile(&schema, &facts(&schema, &[(0, 50)])).unwrap();
    assert!(made(&rows, 0, 50).iter().all(|row| row[0].text() == "b"));
    schema.tables[0].checks[1].text = "n = 'c'".to_owned();
    let why = Rows::compile(&schema, &facts(&schema, &[(0, 50)])).unwrap_err().to_string();
    assert!(why.contains("things.n: its conditions allow no value"), "{why}");
}

/// Patterns, and how many rows a column has at most that is unique.
#[test]
fn texts_are_of_the_pattern_of_their_condition() {
    for (pattern, room) in
        [("SKU-%", 500), ("%@%", 500), ("%-__", 500), ("_-_", 100), ("C____D", 10_000), ("%", 500)]
    {
        for unique in [false, true] {
            let columns = vec![column("id", int()), column("label", text(20))];
            let uniques: &[&[usize]] = if unique { &[&[0], &[1]] } else { &[&[0]] };
            let mut of = table("things", columns, uniques);
            of.checks = vec![check("label", &format!("label LIKE '{pattern}'"))];
            let schema = Schema { dialect: Dialect::Postgres, tables: vec![of] };
            let rows = Rows::compile(&schema, &facts(&schema, &[(0, room)])).unwrap();
            let all = made(&rows, 0, room);
            assert!(all.iter().all(|row| row[1].text().chars().count() <= 20), "{pattern}");
            assert!(!unique || distinct(&all, &[1]) as u64 == room, "{pattern}");
            if unique && !pattern.contains('%') {
                let why = Rows::compile(&schema, &facts(&schema, &[(0, room + 1)])).unwrap_err();
                assert!(why.to_string().contains("things.label"), "{why}");
            }
        }
    }
}

#[test]
fn unique_texts_have_the_length_that_is_prescribed() {
    for (condition, length, room) in [
        ("length(label) = 12", 12, 500),
        ("length(label) = 4", 4, 9_000),
        ("length(label) = 8 AND label LIKE 'SKU-%'", 8, 9_000),
    ] {
        let columns = vec![column("id", int()), column("label", text(20))];
        let mut of = table("things", columns, &[&[0], &[1]]);
        of.checks = vec![check("label", condition)];
        let schema = Schema { dialect: Dialect::Postgres, tables: vec![of] };
        let rows = Rows::compile(&schema, &facts(&schema, &[(0, room)])).unwrap();
        let all = made(&rows, 0, room);
        assert!(all.iter().all(|row| row[1].text().len() == length), "{condition}");
        assert_eq!(distinct(&all, &[1]) as u64, room, "{condition}");
    }
}

#[test]
fn a_unique_reference_that_may_be_null_has_each_parent_once() {
    let users = table("users", vec![column("id", int())], &[&[0]]);
    let mut user_id = column("user_id", int());
    user_id.nullable = true;
    let mut seats = table("seats", vec![user_id], &[&[0]]);
    seats.references.push(reference(&[0], 0, &[0]));
    let mut schema = Schema { dialect: Dialect::Postgres, tables: vec![users, seats] };
    let facts = facts(&schema, &[(0, 40), (0, 100)]);
    let rows = Rows::compile(&schema, &facts).unwrap();
    let all = made(&rows, 1, 100).into_iter().filter(|row| row[0] != Value::Null);
    let all: Vec<_> = all.collect();
    assert_eq!((all.len(), distinct(&all, &[0])), (40, 40));
    assert_eq!(rows.left_null(1), [(0, 60, "no other row may refer to the same one")]);
    schema.tables[1].columns[0].nullable = false;
    let why = Rows::compile(&schema, &facts).unwrap_err().to_string();
    assert!(why.contains("there is room for 40"), "{why}");
}

/// As a collation says that ignores accents.
#[test]
fn texts_that_are_the_same_to_the_database_are_not_both_written() {
    let alike = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(text, first)| ((*text).to_owned(), (*first).to_owned())).collect()
    };
    let mut drinks = table("drinks", vec![column("name", text(9))], &[&[0]]);
    drinks.checks.push(Check {
        rule: "known".to_owned(),
        text: "name IN ('cafe', 'caf\u{e9}', 'tea', 'milk')".to_owned(),
        value: None,
    });
    let schema = Schema { dialect: Dialect::Mysql, tables: vec![drinks] };
    let mut of = facts(&schema, &[(1, 2)]);
    of.tables[0].columns[0].alike = alike(&[("caf\u{e9}", "cafe"), ("m\u{ed}lk", "milk")]);
    of.tables[0].columns[0].taken = vec!["m\u{ed}lk".to_owned()];
    let rows = Rows::compile(&schema, &of).unwrap();
    let texts: BTreeSet<String> = made(&rows, 0, 2).iter().map(|row| row[0].text()).collect();
    assert_eq!(texts, BTreeSet::from(["cafe".to_owned(), "tea".to_owned()]));
    of.tables[0].add = 3;
    let why = Rows::compile(&schema, &of).expect_err("there are two").to_string();
    assert!(why.contains("there is room for 2"), "{why}");

    let codes = table("codes", vec![column("code", text(1))], &[&[0]]);
    let schema = Schema { dialect: Dialect::Mysql, tables: vec![codes] };
    let mut of = facts(&schema, &[(1, 24)]);
    of.tables[0].columns[0].alike = alike(&[("\u{e9}", "E"), ("W", "V")]);
    of.tables[0].columns[0].taken = vec!["\u{e9}".to_owned()];
    let rows = Rows::compile(&schema, &of).unwrap();
    assert!(made(&rows, 0, 24).iter().all(|row| !["E", "W"].contains(&row[0].text().as_str())));
}

#[test]
fn texts_that_requests_ask_for_are_not_made_up_once_more() {
    let number = Some(crate::learn::Form::Number(0));
    for (most, form, trailing, wanted, add) in [
        (2, None, 0, &["QQ", "ab"][..], 676),
        (9, number, 140, &["900", "150", "x", "1000000"], 959),
    ] {
        let of = table("codes", vec![column("code", text(most))], &[&[0]]);
        let schema = Schema { dialect: Dialect::Postgres, tables: vec![of] };
        let mut of = facts(&schema, &[(1, add)]);
        let facts = &mut of.tables[0].columns[0];
        (facts.learned.form, facts.trailing) = (form, trailing);
        facts.wanted = wanted.iter().map(|text| (*text).to_owned()).collect();
        let rows = Rows::compile(&schema, &of).unwrap();
        assert_eq!(distinct(&made(&rows, 0, add), &[0]) as u64, add, "{wanted:?}");
    }
}

/// The fraction that is nearest to the highest number of 64 bits is one above it.
#[test]
fn numbers_at_the_end_of_their_type_are_within_it() {
    let kind = Type::Int { min: i64::MIN.into(), max: i64::MAX.into() };
    let of = table("counts", vec![column("id", int()), column("bytes", kind)], &[&[0]]);
    let schema = Schema { dialect: Dialect::Mysql, tables: vec![of] };
    let mut of = facts(&schema, &[(50, 200)]);
    let edges = vec![(i64::MAX - 5000) as f64, i64::MAX as f64];
    of.tables[0].columns[1].learned.rest = crate::learn::Rest::Between { edges, step: 1.0 };
    let rows = Rows::compile(&schema, &of).unwrap();
    let fits = |value: &Value| matches!(value, Value::Int(n) if *n <= i128::from(i64::MAX));
    assert!(made(&rows, 0, 200).iter().all(|row| fits(&row[1])));
}

#[test]
fn codes_tell_rows_apart_together() {
    let of = table("codes", vec![column("land", text(2)), column("kind", text(1))], &[&[0, 1]]);
    let schema = Schema { dialect: Dialect::Postgres, tables: vec![of] };
    let rows = Rows::compile(&schema, &facts(&schema, &[(0, 1500)])).unwrap();
    assert_eq!(distinct(&made(&rows, 0, 1500), &[0, 1]), 1500);
    let why = Rows::compile(&schema, &facts(&schema, &[(0, 18_000)])).unwrap_err().to_string();
    assert!(why.contains("has room for"), "{why}");
    let goods = table("goods", vec![column("id", int())], &[&[0]]);
    let columns = vec![column("good", int()), column("lang", text(2))];
    let mut names = table("names", columns, &[&[0, 1]]);
    names.references.push(reference(&[0], 0, &[0]));
    let schema = Schema { dialect: Dialect::Postgres, tables: vec![goods, names] };
    let rows = Rows::compile(&schema, &facts(&schema, &[(0, 500), (0, 3000)])).unwrap();
    assert_eq!(distinct(&made(&rows, 1, 3000), &[0, 1]), 3000);
}
