//! Conditions as the three databases print them.

use model::random::Draws;

use super::*;
use crate::schema::Dialect;
use crate::value::Value;

fn column(name: &str) -> Option<usize> {
    ["a", "b", "s", "t", "order"].iter().position(|column| *column == name)
}

fn read_one(text: &str) -> Expr {
    // Where brackets leave no doubt, the database does not matter.
    let all = [Dialect::Postgres, Dialect::Mysql, Dialect::Sqlite];
    let [first, others @ ..] = all.map(|dialect| read(text, dialect, &column));
    others.iter().for_each(|other| assert_eq!(*other, first, "{text}"));
    first
}

#[test]
fn bounds_follow_from_conditions() {
    let (text, from) = (|t: &str| t.to_owned(), Bound::Min);
    let list = || vec![(2, Bound::OneOf(vec![text("x"), text("y z")]))];
    for (condition, wanted) in [
        ("((a > (0)::numeric))", vec![(0, from(0.0, true))]),
        (
            "((s)::text = ANY ((ARRAY['x'::character varying, 'y z'::character varying])::text[]))",
            list(),
        ),
        ("(s = ANY (ARRAY['x'::text, 'y z'::text]))", list()),
        ("(`s` in ('x','y z'))", list()),
        (r"(`s` in (_utf8mb4\'x\',_utf8mb4\'y z\'))", list()),
        ("\"s\" IN ('x', 'y z')", list()),
        ("((a >= 18) AND (a <= 120))", vec![(0, from(18.0, false)), (0, Bound::Max(120.0, false))]),
        ("a BETWEEN -5 AND 2.5", vec![(0, from(-5.0, false)), (0, Bound::Max(2.5, false))]),
        ("(char_length((s)::text) > 2)", vec![(2, Bound::Shortest(3))]),
        ("length(trim(s)) > 0", vec![(2, Bound::Shortest(1))]),
        ("((a IS NULL) OR (a > 5))", vec![(0, from(5.0, true))]),
        ("a < b", vec![(0, Bound::Before(1, true))]),
        ("s IN (\"x\", \"y z\")", list()),
        ("a >= b", vec![(1, Bound::Before(0, false))]),
        ("5 < a", vec![(0, from(5.0, true))]),
        ("\"order\" IS NOT NULL", vec![(4, Bound::Filled)]),
        ("(s <> ''::text)", vec![(2, Bound::Shortest(1))]),
        ("(s = lower(s))", vec![(2, Bound::Small)]),
        ("(t >= '2020-01-01'::date)", vec![(3, Bound::From(text("2020-01-01"), false))]),
        ("t < '2020-01-01'", vec![(3, Bound::To(text("2020-01-01"), true))]),
        ("((a % 2) = 0)", vec![(0, Bound::Remainder(2.0, 0.0))]),
        ("(`a` MOD 2 = 0)", vec![(0, Bound::Remainder(2.0, 0.0))]),
        ("s GLOB 'SKU-?*'", vec![(2, Bound::Like(text("SKU-_%")))]),
    ] {
        assert_eq!(bounds(&read_one(condition)), (wanted, true), "{condition}");
    }
}

#[test]
fn no_bound_follows_for_others_than_the_column_that_may_be_null() {
    for condition in
        ["a IS NULL OR b > 5", "(s = 'x') OR (a IS NULL)", "a % 2 > 0", "s REGEXP '(?i)x'"]
    {
        assert_eq!(bounds(&read_one(condition)), (Vec::new(), false), "{condition}");
    }
}

#[test]
fn what_follows_from_each_of_several_conditions_follows_from_all_of_them() {
    let text = |t: &str| t.to_owned();
    let list = |values: &[&str]| Bound::OneOf(values.iter().map(|value| text(value)).collect());
    for (condition, wanted, whole) in [
        ("a = 1 OR a = 2 OR a = 1", vec![(0, list(&["1", "2"]))], true),
        ("s = 'x' OR s IN ('y', 'z') OR s IS NULL", vec![(2, list(&["x", "y", "z"]))], true),
        ("s = 'x' OR s = 'y' OR a IS NULL", vec![], false),
        // Conditions of partitions, as PostgreSQL prints them.
        (
            "((t IS NOT NULL) AND (t >= '2020-02-01'::date) AND (t < '2020-03-01'::date)) OR \
             ((t IS NOT NULL) AND (t >= '2020-01-01'::date) AND (t < '2020-02-01'::date))",
            vec![
                (3, Bound::Filled),
                (3, Bound::From(text("2020-01-01"), false)),
                (3, Bound::To(text("2020-03-01"), true)),
            ],
            false,
        ),
        (
            "(((a > 9) OR ((a = 9) AND (b >= 5))) AND ((a < 10) OR ((a = 10) AND (b < 3))))",
            vec![(0, Bound::From(text("9"), false)), (0, Bound::To(text("10"), false))],
            false,
        ),
        (
            "(a < '100'::bigint) OR ((a >= '100'::bigint) AND (a < '99999'::bigint))",
            vec![(0, Bound::To(text("99999"), true))],
            false,
        ),
        ("(a >= 3 AND b = 2) OR (NOT ((a IS NOT NULL) AND (a >= 3)))", vec![], false),
        ("a > 3 OR satisfies_hash_partition('16456'::oid, 2, 0, a)", vec![], false),
    ] {
        assert_eq!(bounds(&read_one(condition)), (wanted, whole), "{condition}");
    }
}

#[test]
fn a_time_is_compared_with_a_literal_that_has_a_zone() {
    let noon = [Value::Moment(43_200_000_000)];
    for (condition, wanted) in [
        ("a >= '1970-01-01 12:00:00+00'::timestamp with time zone", true),
        ("a < '1970-01-01 12:00:00+00'::timestamp with time zone", false),
        ("'1970-01-01 12:00:00+00' = a", true),
        ("a < '1970-01-01 12:00:00.5+00'", true),
    ] {
        assert_eq!(holds(&read_one(condition), &noon), Some(wanted), "{condition}");
    }
}

#[test]
fn conditions_are_judged_in_three_valued_logic() {
    let row =
        [Value::Int(5), Value::Null, Value::Text("ab@c".into()), Value::Date(0), Value::Bool(true)];
    for (condition, wanted) in [
        ("a + 1 = 6", Some(true)),
        ("a > b", Some(true)),
        ("b IS NOT NULL", Some(false)),
        ("(a > 9 AND b IS NULL) OR (a <= 9 AND s LIKE '%@_')", Some(true)),
        ("NOT (s ~~ '%@%'::text)", Some(false)),
        ("(s)::text ~ '^[a-z]+$'::text", Some(false)),
        ("(s)::text ~ '^[a-z]+@c$'::text", Some(true)),
        ("s !~ '^A' AND s ~* '^A'", Some(true)),
        // These mean something else in another database, or nothing here.
        ("s ~ '[[:alpha:]]'", None),
        ("s ~ '[a[b]c]'", None),
        ("s ~ '(?i)AB'", None),
        ("s ~ '(a'", None),
        ("a = 5 OR s ~ 'x'", Some(true)),
        ("a = 5 OR json_valid(s)", Some(true)),
        ("json_valid(s)", None),
        ("t < '2020-01-01'::date", Some(true)),
        ("a NOT IN (1, 2)", Some(true)),
        // What is not in a list with NULL is neither in it nor not, and a row that says so is allowed.
        ("a IN (1, NULL)", Some(true)),
        ("(a IN (1, NULL)) IS NULL", Some(true)),
        ("a IN (5, NULL)", Some(true)),
        ("a NOT IN (5, NULL)", Some(false)),
        ("a NOT IN (1, NULL)", Some(true)),
        ("a IN ()", Some(false)),
        ("a % 2 = 1 AND -a % 3 = -2", Some(true)),
        ("a % 0 = 1", None),
        ("\"order\" = true", Some(true)),
        ("a / 2 = 2", None),
        ("nonsense ) (", None),
        ("'unended", None),
    ] {
        assert_eq!(holds(&read_one(condition), &row), wanted, "{condition}");
    }
}

#[test]
fn what_is_computed_of_other_values_is_another_value() {
    for (expression, wanted) in [
        ("lower((s)::text)", Some(2)),
        ("((s)::text || '@x'::text)", Some(2)),
        ("(a + 1)", Some(0)),
        ("(10 - a)", Some(0)),
        ("sha2(lower(`s`),256)", Some(2)),
        ("concat(_utf8mb4'x',`s`)", Some(2)),
        ("upper(trim(s)) || '-' || 'x'", Some(2)),
        ("\"order\"", Some(4)),
        // These may be the same of different values, or are not known.
        ("\"left\"(s, 3)", None),
        ("left(`s`,3)", None),
        ("(t)::date", None),
        ("(s)::character varying(3)", None),
        ("(a * 0)", None),
        ("(a % 10) + 1", None),
        ("(a + b)", None),
        ("(s || t)", None),
        ("(doc ->> 'id')", None),
        ("'x'", None),
        ("()", None),
        ("", None),
        ("(a) + (", None),
    ] {
        assert_eq!(kept_apart(expression, &column), wanted, "{expression}");
    }
}

#[test]
fn operators_bind_as_in_each_database() {
    for (dialect, condition, wanted) in [
        (Dialect::Sqlite, "a = b < 3", "a = (b < 3)"),
        (Dialect::Sqlite, "a < b = 1", "(a < b) = 1"),
        (Dialect::Sqlite, "a < 5 IS NULL", "(a < 5) IS NULL"),
        (Dialect::Sqlite, "a = b LIKE 'x'", "(a = b) LIKE 'x'"),
        (Dialect::Sqlite, "a < b BETWEEN 0 AND a < 9", "(a < b) BETWEEN 0 AND (a < 9)"),
        (Dialect::Sqlite, "a == 5", "a = 5"),
        (Dialect::Sqlite, "NOT a = b", "NOT (a = b)"),
        (Dialect::Mysql, "a = b < 3", "(a = b) < 3"),
        (Dialect::Mysql, "a = b LIKE 'x'", "a = (b LIKE 'x')"),
        (Dialect::Mysql, "a < b IN (0, 1)", "a < (b IN (0, 1))"),
        (Dialect::Mysql, "a BETWEEN b AND 5 = 1", "(a BETWEEN b AND 5) = 1"),
        (Dialect::Mysql, "a IS NULL <> (b IS NULL)", "(a IS NULL) <> (b IS NULL)"),
        (Dialect::Mysql, "a = 1 || b = 2", "(a = 1) OR (b = 2)"),
        (Dialect::Postgres, "a = b IS NULL", "(a = b) IS NULL"),
        (Dialect::Postgres, "a = b IN (true)", "a = (b IN (true))"),
    ] {
        let read = |text| read(text, dialect, &column);
        assert_ne!(read(wanted), Expr::Unknown, "{wanted}");
        assert_eq!(read(condition), read(wanted), "{condition}");
    }
    let escaped = |dialect| read(r"s LIKE 'a\_%'", dialect, &column);
    assert_eq!(escaped(Dialect::Postgres), Expr::Unknown);
    assert_ne!(escaped(Dialect::Sqlite), Expr::Unknown);
    // A word's edge here, a backspace there.
    assert_eq!(read(r"s ~ '\bab'", Dialect::Postgres, &column), Expr::Unknown);
    // Texts that are joined are no alternatives.
    for dialect in [Dialect::Postgres, Dialect::Sqlite] {
        let row = [Value::Int(1), Value::Int(2)];
        assert_eq!(holds(&read("a = 1 || b", dialect, &column), &row), None);
    }
}

#[test]
fn escapes_of_texts_are_read_where_there_are_some() {
    let condition = r"s = '\\d\'x''y\%'";
    let wanted = Expr::Text(r"\d'x'y\%".to_owned());
    let equal = |right| Expr::Compare(Relation::Equal, Box::new(Expr::Column(2)), Box::new(right));
    assert_eq!(read(condition, Dialect::Mysql, &column), equal(wanted));
    let plain = read(r"s = '\d''x'", Dialect::Postgres, &column);
    assert_eq!(plain, equal(Expr::Text(r"\d'x".to_owned())));
}

#[test]
fn no_condition_is_too_deep_or_too_odd() {
    let deep = "(".repeat(100_000) + "a" + &")".repeat(100_000);
    assert_eq!(read_one(&deep), Expr::Unknown);
    let negated = "not ".repeat(50) + "a = 5";
    assert_eq!(holds(&read_one(&negated), &[Value::Int(5)]), Some(true));
    for odd in ["", "\\", "_'", "a = ", "a::", "a IN (", "ARRAY[", "1e999", "日本 > 1"] {
        read_one(odd);
    }
}

#[test]
fn texts_are_made_of_regular_expressions() {
    let mut draws = Draws::of(7);
    for pattern in [
        "^[A-Z]{2}[0-9]{4}$",
        r"^\+?[0-9]{3,12}$",
        "^#[0-9a-f]{6}$",
        "^(red|green|light(?:er)? blue)$",
        r"^[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,}$",
        r"^\d{5}(-\d{4})?$",
        "[^a-z ]",
        "^.{40}$",
        "",
    ] {
        let pattern = Pattern::read(pattern, true).expect("a simple pattern");
        for _ in 0..50 {
            let text = pattern.text((0, 60), &mut draws);
            assert!(pattern.holds(&text), "{pattern:?} {text}");
            assert!(text.chars().count() <= 60);
        }
    }
    let pattern = Pattern::of_glob("[A-Z][^0-9]-?.*").expect("a pattern");
    assert!(pattern.holds("Xa-b.") && !pattern.holds("Xa-b") && !pattern.holds("X1-b."));
    assert!(pattern.holds(&pattern.text((0, 60), &mut draws)));
}

#[test]
fn texts_of_regular_expressions_are_numbered() {
    let places = |pattern: &str, most| Pattern::read(pattern, true)?.places((0, most));
    let skus = places("^[A-Z]{2}-[0-9]{2}$", 9).expect("places");
    assert_eq!(skus.count(), 67_600);
    for number in [0, 1, 99, 100, 67_599] {
        assert_eq!(skus.number(&skus.text(number)), Some(number as i64));
    }
    assert_eq!((skus.text(0), skus.text(67_599)), ("AA-00".to_owned(), "ZZ-99".to_owned()));
    assert_eq!((skus.number("AA-0x"), skus.number("AA-000")), (None, None));
    // Where the case of letters may not matter.
    assert_eq!(places("^[a-zA-Z]$", 9).map(|places| places.count()), Some(26));
    assert_eq!(skus.number("ab-01"), skus.number("AB-01"));
    // As long as there is room for, and none where there is too little.
    assert_eq!(places("^x[0-9]+$", 6).map(|places| places.count()), Some(100_000));
    assert!(places("^[0-9]{9}$", 6).is_none());
}

#[test]
fn texts_of_regular_expressions_are_as_long_as_they_have_to_be() {
    let mut draws = Draws::of(7);
    let pattern = Pattern::read("^[A-F0-9]+$", true).expect("a simple pattern");
    assert!((0..200).all(|_| pattern.text((24, 24), &mut draws).len() == 24));
    for (least, most, length) in [(24, 24, 24), (24, 30, 25), (0, 30, 9), (0, 4, 4)] {
        let places = pattern.places((least, most)).map(|places| places.text(0).len());
        assert_eq!(places, Some(length), "{least} {most}");
    }
    assert!(pattern.places((300, 400)).is_none());
}

#[test]
fn repetitions_within_repetitions_do_not_multiply() {
    let read = |pattern: &str| Pattern::read(pattern, true).expect("a simple pattern");
    let length = |pattern: &Pattern, lengths| {
        pattern.places(lengths).map(|places| places.text(0).chars().count())
    };
    let nested = read("^([A-F]+-)+$");
    assert_eq!(length(&nested, (100, usize::MAX)), Some(101 * (9 + 1)));
    let mut draws = Draws::of(7);
    for _ in 0..50 {
        assert!(nested.text((100, usize::MAX), &mut draws).len() <= 101 * (9 + 1));
    }
    assert_eq!(length(&read("^([A-F]+){1,2}$"), (24, 24)), Some(24));
}
