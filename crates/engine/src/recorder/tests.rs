//! Gauges and processor time of a recorder's intervals.

use super::*;

/// A worker that wakes late closes the window's last part after responses of the drain came in.
#[test]
fn requests_in_flight_are_not_integrated_past_the_window() {
    let mut recorder = Recorder::new(false, 0, SECOND);
    recorder.start(Spent::default());
    recorder.in_flight.step(0, 20);
    recorder.advance(SECOND - 1, Spent::default, IntervalBuffers::default);
    recorder.in_flight.step(SECOND + 36 * MILLISECOND, -5);
    let part =
        recorder.advance(SECOND + 40 * MILLISECOND, Spent::default, IntervalBuffers::default);
    let in_flight = part.expect("the window is over").buffers.tally.in_flight;
    assert_eq!((in_flight.mean(SECOND), in_flight.max), (20.0, 20));
}

/// Before the start instants count from when connections began to open.
#[test]
fn handshakes_before_the_start_take_no_time_off_what_is_in_flight() {
    let mut recorder = Recorder::new(false, 0, 60 * SECOND);
    recorder.handed_over(0, 700 * MILLISECOND);
    recorder.start(Spent::default());
    recorder.handed_over(20, 0);
    let part = recorder.advance(SECOND, Spent::default, IntervalBuffers::default);
    let in_flight = part.expect("a second is over").buffers.tally.in_flight;
    assert_eq!((in_flight.mean(SECOND), in_flight.max), (20.0, 20));
}

#[test]
fn what_the_thread_spent_belongs_to_its_interval() {
    let spent =
        |wall_ns, cpu_ns, queued_ns| Spent { wall_ns, cpu_ns, queued_ns, page_ins: queued_ns / 2 };
    let mut recorder = Recorder::new(false, 0, 2 * SECOND);
    recorder.start(spent(1000, 100, 10));
    // Read late, after much work: the time that it took counts, not that of the interval.
    let first = recorder.advance(
        SECOND,
        || spent(1000 + SECOND + 350, SECOND + 400, 30),
        IntervalBuffers::default,
    );
    let used = first.expect("a second is over").used;
    assert_eq!((used.wall_ns, used.cpu_ns, used.queued_ns), (SECOND + 350, SECOND + 300, 20));
    assert_eq!(used.page_ins, 10);
}
