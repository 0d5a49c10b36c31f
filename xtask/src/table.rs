//! Tables for a terminal.

/// Rows below their headings, columns aligned on the left.
pub fn aligned<const N: usize>(
    headings: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> String {
    let mut lines = vec![headings.map(String::from)];
    lines.extend(rows);
    let width = |column: usize| lines.iter().map(|cells| cells[column].chars().count()).max();
    let widths: [usize; N] = std::array::from_fn(|column| width(column).unwrap_or(0));
    let mut text = String::new();
    for cells in &lines {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        text.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}
