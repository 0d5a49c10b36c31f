//! The numbers that a column's counter yields next.

use crate::error::{Result, unsatisfiable};
use crate::facts::ColumnFacts;
use crate::value::Value;

/// Numbers that rows may take.
#[derive(Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The first.
    pub start: i128,
    /// From one to the next.
    pub step: i128,
    /// How many there are.
    pub count: i128,
    /// What ends them, if that is not the column's type.
    pub end: Option<String>,
}

/// The highest whole number.
pub fn highest(values: &[Value]) -> Option<i128> {
    let number = |value: &Value| match value {
        Value::Int(number) => Some(*number),
        _ => None,
    };
    values.iter().filter_map(number).max()
}

/// The numbers from `least` to `most` that the counter of the column at `place` gives: all of them, where it is not
/// known to leave any out. `asked` is the highest that requests ask for.
///
/// # Errors
/// For a counter that counts down, and one that never gives what is asked for.
pub fn numbers(
    place: &str,
    of: &ColumnFacts,
    asked: Option<i128>,
    (least, most): (i128, i128),
) -> Result<Numbers> {
    let Some((series, (value, is_given))) = of.series.zip(of.counter) else {
        return Ok(Numbers { start: least, step: 1, count: (most - least + 1).max(0), end: None });
    };
    let (step, highest) = (i128::from(series.step), i128::from(series.highest));
    if step < 1 {
        return unsatisfiable(format!(
            "{place}: its sequence counts down (INCREMENT {step}), and the numbers of a fill count up; let it count up, or \
             leave the table out"
        ));
    }
    if let Some(asked) = asked.filter(|asked| *asked > highest) {
        return unsatisfiable(format!(
            "{place}: requests ask for {asked}, which its sequence never gives (MAXVALUE {highest})"
        ));
    }
    let next = i128::from(value) + if is_given { step } else { 0 };
    let missing = (least - next).max(0);
    let start = next + (missing + step - 1) / step * step;
    let last = most.min(highest);
    let count = if start > last { 0 } else { (last - start) / step + 1 };
    let end = (highest < most).then(|| format!("its sequence (MAXVALUE {highest})"));
    Ok(Numbers { start, step, count, end })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Series;

    fn of(step: i64, highest: i64, counter: (i64, bool)) -> ColumnFacts {
        let series = Some(Series { step, highest });
        ColumnFacts { series, counter: Some(counter), ..ColumnFacts::default() }
    }

    #[test]
    fn numbers_are_those_that_the_counter_gives() {
        for (facts, least, (start, step, count)) in [
            (ColumnFacts::default(), 8, (8, 1, 993)),
            (of(1, i64::MAX, (1, false)), 1, (1, 1, 1000)),
            (of(10, i64::MAX, (21, true)), 1, (31, 10, 97)),
            (of(10, i64::MAX, (21, true)), 32, (41, 10, 96)),
            (of(10, 50, (21, true)), 41, (41, 10, 1)),
            (of(1, 50, (50, true)), 51, (51, 1, 0)),
        ] {
            let found = numbers("a.id", &facts, None, (least, 1000)).expect("numbers");
            assert_eq!((found.start, found.step, found.count), (start, step, count), "{facts:?}");
        }
    }

    #[test]
    fn what_a_counter_never_gives_is_refused_by_name() {
        let down = numbers("a.id", &of(-1, -1, (-5, true)), None, (1, 1000)).expect_err("down");
        assert!(down.to_string().starts_with("a.id: its sequence counts down"), "{down}");
        let asked = numbers("a.id", &of(1, 50, (5, true)), Some(51), (52, 1000));
        let asked = asked.expect_err("beyond its end");
        assert!(asked.to_string().contains("ask for 51"), "{asked}");
        let end = numbers("a.id", &of(1, 50, (5, true)), None, (6, 1000)).expect("numbers").end;
        assert_eq!(end.as_deref(), Some("its sequence (MAXVALUE 50)"));
    }
}
