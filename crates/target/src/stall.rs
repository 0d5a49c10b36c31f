//! When the server is paused: arithmetic on instants alone, so that it holds in virtual time too.

use model::Nanos;

use crate::options::Stall;

impl Stall {
    /// When the pause ends that `now` lies in; `None` outside of one. Pause k, from 1 on, is
    /// `[start + k x every, start + k x every + for)`.
    pub(crate) fn until(self, start: Nanos, now: Nanos) -> Option<Nanos> {
        let since = now.saturating_sub(start);
        let (k, into) = (since / self.every_ns, since % self.every_ns);
        (k >= 1 && into < self.for_ns).then(|| start + k * self.every_ns + self.for_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_lie_where_they_should() {
        let stall = Stall { every_ns: 10, for_ns: 3 };
        for (now, until) in [
            (100, None),
            (102, None),
            (109, None),
            (110, Some(113)),
            (112, Some(113)),
            (113, None),
            (120, Some(123)),
            (99, None),
        ] {
            assert_eq!(stall.until(100, now), until, "{now}");
        }
    }
}
