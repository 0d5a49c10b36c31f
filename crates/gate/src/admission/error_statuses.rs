//! Whether the API still does the work that was measured, by the statuses of its responses.
//!
//! An API that answers most requests with errors is not the one that was measured, or does other work: its rate and latency
//! cannot be compared with the load line.

use super::Seen;

/// How many responses are judged together.
const TOGETHER: u64 = 200;

/// The statuses of responses over time.
#[derive(Debug, Default)]
pub struct ErrorStatuses {
    answered: u64,
    errors: u64,
    mostly: Option<u16>,
}

impl ErrorStatuses {
    /// Adds what was seen. Returns the status of an error if more than half of the latest responses were errors.
    pub fn learn(&mut self, seen: &Seen) -> Option<u16> {
        self.answered += seen.latency.count();
        self.errors += seen.errors;
        if self.answered >= TOGETHER {
            self.mostly = (self.errors * 2 > self.answered).then_some(seen.an_error);
            (self.answered, self.errors) = (0, 0);
        }
        self.mostly
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_of_many_answers_decide() {
        let mut statuses = ErrorStatuses::default();
        let mut learn = |answered, errors| {
            let mut seen = Seen { errors, an_error: 404, ..Seen::default() };
            seen.latency.0[0] = answered;
            statuses.learn(&seen)
        };
        assert_eq!(learn(100, 100), None, "too few");
        assert_eq!(learn(100, 1), Some(404));
        assert_eq!(learn(100, 0), Some(404), "until as many were seen again");
        assert_eq!(learn(100, 100), None, "half is not most");
    }
}
