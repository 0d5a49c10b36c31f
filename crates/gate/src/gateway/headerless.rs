//! Connections without the header of the PROXY protocol where one is asked for.

use super::seldom::Seldom;

/// What was said of them.
#[derive(Debug, Default)]
pub(super) struct Headerless {
    told: u64,
    said: Seldom,
}

impl Headerless {
    /// What is to be said where there were so many in all by now, which is in seconds.
    pub(super) fn look(&mut self, in_all: u64, now_s: u64) -> Option<String> {
        let new = in_all.saturating_sub(self.told);
        if new == 0 || !self.said.may_say(now_s) {
            return None;
        }
        self.told = in_all;
        let some = if new == 1 { "" } else { "s" };
        Some(format!(
            "{new} connection{some} to a listener with `proxy_protocol = true` began without a PROXY header and got no answer: the load \
             balancer must send one (HAProxy: `send-proxy-v2`; nginx: `proxy_protocol on`)"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_header_is_said_once_a_minute() {
        let mut headerless = Headerless::default();
        let mut said = |in_all, now_s| {
            let said = headerless.look(in_all, now_s)?;
            Some(said.split(' ').next().unwrap().to_owned())
        };
        let looks = [(0, 1), (1, 2), (9, 3), (9, 61), (9, 62), (9, 200), (10, 201)];
        let said = looks.map(|(in_all, now_s)| said(in_all, now_s));
        let expected = [None, Some("1"), None, None, Some("8"), None, Some("1")];
        assert_eq!(said, expected.map(|number| number.map(str::to_owned)));
    }
}
