//! CSV as RFC 4180 has it: lines end in CR LF, cells are quoted where they need it.

/// Rows of cells as CSV, the header first. Text that a spreadsheet would run as a formula gets an
/// apostrophe in front, since names come from outside.
pub(crate) fn csv<R, C>(rows: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item = C>,
    C: AsRef<str>,
{
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .flexible(true)
        .from_writer(Vec::new());
    for row in rows {
        let cells = row.into_iter().map(|cell| {
            let cell = cell.as_ref();
            let formula = cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
            if formula { format!("'{cell}") } else { cell.to_owned() }
        });
        writer.write_record(cells).expect("writing to memory does not fail");
    }
    let bytes = writer.into_inner().expect("writing to memory does not fail");
    String::from_utf8(bytes).expect("text was written")
}

/// A figure that may be missing as a cell.
pub(crate) fn cell<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
