//! Histograms of numbers that were seen: edges between which equally many lie.

/// The share of a histogram that lies before a number.
pub fn share_of(edges: &[f64], number: f64) -> f64 {
    let parts = (edges.len() - 1).max(1) as f64;
    let at = edges.partition_point(|edge| *edge <= number);
    let Some(low) = at.checked_sub(1).map(|low| edges[low]) else { return 0.0 };
    let Some(high) = edges.get(at) else { return 1.0 };
    ((at - 1) as f64 + (number - low) / (high - low)) / parts
}

/// The number at this share of a histogram.
pub fn within(edges: &[f64], share: f64) -> f64 {
    let place = share * (edges.len() - 1) as f64;
    let at = (place as usize).min(edges.len().saturating_sub(2));
    let (low, high) = (edges[at], edges[(at + 1).min(edges.len() - 1)]);
    low + (high - low) * (place - at as f64).clamp(0.0, 1.0)
}
