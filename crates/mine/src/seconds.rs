//! Requests of every second of a log, and the busiest window of them.

use std::collections::BTreeMap;

use crate::time::Stamp;

const HOUR: i64 = 3_600;
/// Hours that are counted by the second: two years.
const MOST_HOURS: usize = 2 * 366 * 24;

/// Requests by the second they were logged in. Lines may come in any order.
#[derive(Debug, Default)]
pub(crate) struct Seconds {
    hours: BTreeMap<i64, Hour>,
    /// The hour of the last request, taken out of the map.
    open: Option<(i64, Hour)>,
    /// Requests beyond [`MOST_HOURS`].
    beyond: u64,
}

#[derive(Debug)]
struct Hour {
    counts: Box<[u16]>,
    /// What does not fit into a count that is full, by the second of the hour.
    above: BTreeMap<u16, u32>,
    /// The zone that the log had in it; the one further ahead where there were two.
    offset_s: i32,
}

impl Hour {
    fn new(offset_s: i32) -> Self {
        Self { counts: vec![0; HOUR as usize].into(), above: BTreeMap::new(), offset_s }
    }

    fn add(&mut self, second: usize, more: u32) {
        let count = &mut self.counts[second];
        let fits = u32::from(u16::MAX - *count).min(more);
        *count += fits as u16;
        if more > fits {
            let above = self.above.entry(second as u16).or_default();
            *above = above.saturating_add(more - fits);
        }
    }

    /// Seconds with requests in them, in order.
    fn each(&self) -> impl Iterator<Item = (usize, u32)> {
        let counted = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(|(second, count)| {
            let above = match *count {
                u16::MAX => self.above.get(&(second as u16)).copied().unwrap_or(0),
                _ => 0,
            };
            (second, above.saturating_add(u32::from(*count)))
        })
    }
}

/// The busiest window.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Busiest {
    /// Seconds since the epoch.
    pub(crate) from: i64,
    /// The first second behind it.
    pub(crate) to: i64,
    pub(crate) requests: u64,
    /// Requests of its busiest second.
    pub(crate) most_in_a_second: u32,
    /// The log's zone in it.
    pub(crate) offset_s: i32,
}

impl Seconds {
    pub(crate) fn add(&mut self, at: Stamp) {
        let second = at.seconds();
        let hour = second.div_euclid(HOUR);
        if self.open.as_ref().is_none_or(|(open, _)| *open != hour) {
            self.close();
            let known = self.hours.remove(&hour);
            if known.is_none() && self.hours.len() >= MOST_HOURS {
                self.beyond += 1;
                return;
            }
            self.open = Some((hour, known.unwrap_or_else(|| Hour::new(at.offset_s))));
        }
        if let Some((_, open)) = &mut self.open {
            open.offset_s = open.offset_s.max(at.offset_s);
            open.add(second.rem_euclid(HOUR) as usize, 1);
        }
    }

    fn close(&mut self) {
        if let Some((hour, counts)) = self.open.take() {
            self.hours.insert(hour, counts);
        }
    }

    pub(crate) fn absorb(&mut self, mut other: Self) {
        self.close();
        other.close();
        self.beyond += other.beyond;
        for (at, hour) in other.hours {
            let full = self.hours.len() >= MOST_HOURS;
            match self.hours.get_mut(&at) {
                Some(own) => {
                    own.offset_s = own.offset_s.max(hour.offset_s);
                    for (second, count) in hour.each() {
                        own.add(second, count);
                    }
                }
                None if full => {
                    self.beyond += hour.each().map(|(_, count)| u64::from(count)).sum::<u64>()
                }
                None => drop(self.hours.insert(at, hour)),
            }
        }
    }

    /// Requests that could not be counted by the second.
    pub(crate) fn beyond(&self) -> u64 {
        self.beyond
    }

    /// Seconds with requests in them, in order, with the zone.
    fn each(&self) -> impl Iterator<Item = (i64, u32, i32)> {
        self.hours.iter().flat_map(|(hour, of)| {
            of.each().map(move |(at, count)| (hour * HOUR + at as i64, count, of.offset_s))
        })
    }

    /// The window of this many seconds with the most requests; the first of equal ones. A log that is shorter is one
    /// window.
    pub(crate) fn busiest(&mut self, window_s: i64) -> Option<Busiest> {
        self.close();
        let (first, last) = (self.each().next()?.0, self.each().last()?.0);
        let window_s = window_s.clamp(1, last - first + 1);
        // Two ways through the seconds, a window apart: a log may have millions.
        let mut ahead = self.each().peekable();
        let mut sum = 0;
        let mut best = Busiest::default();
        for (from, count, offset_s) in self.each() {
            while let Some((_, more, _)) = ahead.next_if(|(at, ..)| *at < from + window_s) {
                sum += u64::from(more);
            }
            if sum > best.requests {
                let to = from + window_s;
                best = Busiest { from, to, requests: sum, most_in_a_second: 0, offset_s };
            }
            sum -= u64::from(count);
        }
        let inside = self.each().filter(|(at, ..)| (best.from..best.to).contains(at));
        best.most_in_a_second = inside.map(|(_, count, _)| count).max().unwrap_or(0);
        // The window begins where the log does at the earliest, and ends with it at the latest.
        let late = (best.to - (last + 1)).max(0).min(best.from - first);
        (best.from, best.to) = (best.from - late, best.to - late);
        Some(best)
    }

    /// The first and the last second of the log without the few requests that lie far from all others, and how many
    /// those are: a machine whose clock is not set yet writes 1970, and one such line would make the whole log a point.
    fn bulk(&self) -> Option<(i64, i64, u64)> {
        const FAR_S: i64 = 30 * 86_400;
        const FEW_ONE_IN: u64 = 1_000;
        const FEWEST: u64 = 20;
        let all: u64 = self.each().map(|(_, count, _)| u64::from(count)).sum();
        let few = if all < FEWEST { 0 } else { (all / FEW_ONE_IN).max(1) };
        let (first, last) = (self.each().next()?.0, self.each().last()?.0);
        let (mut from, mut to, mut far) = (first, last, 0);
        let (mut before, mut previous) = (0, first);
        for (at, count, _) in self.each() {
            let apart = at - previous >= FAR_S;
            if apart && before <= few {
                (from, far) = (at, before);
            } else if apart && all - before <= few {
                (to, far) = (previous, far + all - before);
                break;
            }
            before += u64::from(count);
            previous = at;
        }
        Some((from, to, far))
    }

    /// Requests of equal parts of the log, at most `most` of them: the beginning of each and its length in seconds; and
    /// how many requests lie so far from all others that no part holds them.
    pub(crate) fn curve(&mut self, most: usize) -> (i64, Vec<(i64, u64)>, u64) {
        const STEPS: [i64; 12] =
            [1, 10, 60, 300, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 86_400, 7 * 86_400];
        self.close();
        let Some((first, last, far)) = self.bulk() else { return (1, Vec::new(), 0) };
        let span = last - first + 1;
        let step = STEPS.into_iter().find(|step| span / step < most as i64).unwrap_or(span);
        // Parts begin at whole hours and days of the log's zone.
        let inside = || self.each().filter(|(at, ..)| (first..=last).contains(at));
        let zone = inside().next().map_or(0, |(_, _, offset_s)| i64::from(offset_s));
        let part = |second: i64| (second + zone).div_euclid(step) * step - zone;
        let mut points: Vec<(i64, u64)> = Vec::new();
        for (second, count, _) in inside() {
            let at = part(second);
            while points.last().is_some_and(|(last, _)| *last < at - step) {
                let next = points.last().map_or(at, |(last, _)| last + step);
                points.push((next, 0));
            }
            match points.last_mut() {
                Some((last, sum)) if *last == at => *sum += u64::from(count),
                _ => points.push((at, count.into())),
            }
        }
        (step, points, far)
    }

    /// Requests by the hour of the day, in the log's zone.
    pub(crate) fn by_hour_of_day(&mut self) -> [u64; 24] {
        self.close();
        let mut hours = [0; 24];
        for (second, count, offset_s) in self.each() {
            let hour = (second + i64::from(offset_s)).rem_euclid(86_400) / HOUR;
            hours[hour as usize] += u64::from(count);
        }
        hours
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SECOND;
    use proptest::prelude::*;

    fn seconds(of: &[i64]) -> Seconds {
        let mut seconds = Seconds::default();
        for at in of {
            seconds.add(Stamp { ns: at * SECOND, offset_s: 3_600 });
        }
        seconds
    }

    proptest! {
        #[test]
        fn the_busiest_window_is_the_busiest_of_all(
            mut at in prop::collection::vec(0_i64..20_000, 1..300),
            window in 1_i64..9_000,
            cut in 0_usize..300,
        ) {
            let half = cut.min(at.len());
            let mut found = seconds(&at[..half]);
            found.absorb(seconds(&at[half..]));
            let found = found.busiest(window).unwrap();
            at.sort_unstable();
            let inside = |from: i64, to: i64| at.iter().filter(|s| (from..to).contains(*s)).count();
            let most = at.iter().map(|from| inside(*from, from + window)).max().unwrap();
            prop_assert_eq!(found.requests, most as u64);
            prop_assert_eq!(inside(found.from, found.to), most);
        }
    }

    #[test]
    fn a_second_may_have_any_number_of_requests() {
        let burst = |count: usize| seconds(&[vec![10, 4_000], vec![12; count]].concat());
        let mut all = burst(70_000);
        all.absorb(burst(60_000));
        all.absorb(burst(65_535));
        let busiest = all.busiest(2).unwrap();
        assert_eq!((busiest.requests, busiest.most_in_a_second), (195_535, 195_535));
        assert_eq!(all.busiest(5_000).unwrap().requests, 195_541);
        assert_eq!(all.by_hour_of_day().iter().sum::<u64>(), 195_541);
    }

    #[test]
    fn a_curve_holds_every_request() {
        let at: Vec<i64> = (0..5_000).map(|n| n * 77).collect();
        let (step, points, far) = seconds(&at).curve(400);
        assert_eq!(far, 0);
        assert_eq!(points.iter().map(|(_, count)| count).sum::<u64>(), 5_000);
        assert!(points.windows(2).all(|pair| pair[1].0 - pair[0].0 == step), "{step}");
        assert_eq!(seconds(&at).by_hour_of_day().iter().sum::<u64>(), 5_000);
    }
    #[test]
    fn a_stray_line_of_long_ago_does_not_make_the_curve_a_point() {
        const NOW: i64 = 1_795_000_000;
        let log: Vec<i64> = (0..5_000).map(|n| NOW + n * 7).collect();
        let (step, wanted, _) = seconds(&log).curve(400);
        let strays = [vec![0, 0, NOW + 4_000_000_000], log].concat();
        let (found_step, found, far) = seconds(&strays).curve(400);
        assert_eq!((found_step, &found, far), (step, &wanted, 3));
        assert!(found.len() > 100);
        // Many are none, nor are those of last week.
        let often = [vec![0; 6], strays].concat();
        assert!(seconds(&often).curve(400).1[0].0 <= 0);
        let week = [NOW - 7 * 86_400, NOW, NOW + 1];
        assert_eq!(seconds(&week.repeat(10)).curve(400).2, 0);
    }
}
