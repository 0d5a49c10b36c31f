//! nginx's `stub_status` (`ngx_http_stub_status_module`).

use model::Sample;

/// Puts a page into `sample`.
///
/// # Errors
/// When it is no such page.
pub fn parse(page: &str, sample: &mut Sample) -> Result<(), String> {
    let mut lines = page.lines();
    let active = lines.next().and_then(|line| line.strip_prefix("Active connections:"));
    let active = active.and_then(|number| number.trim().parse::<u64>().ok());
    let Some(active) = active else {
        return Err("is not a page of stub_status: does `location` have `stub_status;`?".to_owned());
    };
    sample.gauge("nginx.active", active as f64);
    let numbers = |line: &str| -> Vec<u64> {
        line.split_whitespace().map_while(|field| field.parse().ok()).collect()
    };
    let counts = lines.clone().map(numbers).find(|numbers| numbers.len() >= 3);
    if let Some([accepted, handled, requests, ..]) = counts.as_deref() {
        sample.count("nginx.accepted", *accepted);
        sample.count("nginx.handled", *handled);
        sample.count("nginx.requests", *requests);
        // nginx closes at once what it has no room for, by worker_connections or open files.
        sample.count("nginx.dropped", accepted.saturating_sub(*handled));
    }
    let states = lines.find_map(|line| line.trim().strip_prefix("Reading:")).unwrap_or_default();
    let fields: Vec<&str> = states.split_whitespace().collect();
    if let [reading, "Writing:", writing, "Waiting:", waiting] = fields[..] {
        for (name, value) in
            [("nginx.reading", reading), ("nginx.writing", writing), ("nginx.waiting", waiting)]
        {
            if let Ok(value) = value.parse() {
                sample.gauge(name, value);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page() {
        let page = "Active connections: 291 \nserver accepts handled requests\n \
                    16630948 16630940 31070465 \nReading: 6 Writing: 179 Waiting: 106 \n";
        let mut sample = Sample::new(0);
        parse(page, &mut sample).unwrap();
        assert_eq!(sample.counters["nginx.dropped"], 8);
        assert_eq!(sample.counters["nginx.requests"], 31_070_465);
        assert_eq!((sample.gauges["nginx.active"], sample.gauges["nginx.waiting"]), (291.0, 106.0));
        assert!(parse("<html>", &mut sample).unwrap_err().contains("stub_status"));
    }
}
