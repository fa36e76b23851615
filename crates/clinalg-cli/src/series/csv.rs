//! Tables: a row for each frame and point.

use std::io::Result;
use std::path::Path;

use clinalg::io::AtomicFile;
use clinalg_ode::System;

use super::{Content, Sink};
use crate::data::{Values, write_names, write_rows};
use crate::exit::Failure;

pub(super) struct Csv {
    file: AtomicFile,
}

impl Csv {
    pub(super) fn new(path: &Path, axes: &[Vec<f64>], fields: &[&str]) -> Result<Csv> {
        let mut file = AtomicFile::create(path)?;
        write_names(&mut file, Some("t"), axes, fields)?;
        Ok(Csv { file })
    }
}

impl Sink for Csv {
    fn keep(&mut self, content: &Content, t: f64, values: &Values) -> Result<()> {
        write_rows(&mut self.file, Some(t), &content.axes, content.fields.len(), values)
    }

    fn close(self: Box<Self>, _: &Content) -> Result<()> {
        self.file.commit()
    }
}

/// The last rows of a table, one for each point in order, field by field. Columns are found by the names of the fields, the
/// last of a name: a field can hide a coordinate.
///
/// # Errors
/// [`Failure::File`] for a missing column, too few rows or a cell that is not a number.
pub(crate) fn last_frame(path: &Path, system: &System) -> std::result::Result<Vec<f64>, Failure> {
    let fail = |reason: String| Failure::file(path, reason);
    let text = clinalg::io::read_text(path).map_err(|error| fail(error.to_string()))?;
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').map(str::trim).collect();
    let rows: Vec<(usize, &str)> = (2..).zip(lines).collect();
    let points = system.grid().points();
    let Some(first) = rows.len().checked_sub(points) else {
        return Err(fail(format!("{} rows, expected one for each of {points} points", rows.len())));
    };
    let mut all = Vec::with_capacity(system.components());
    for field in system.fields() {
        let column = names.iter().rposition(|name| name == field);
        let column = column.ok_or_else(|| fail(format!("no column {field} among {}", names.join(", "))))?;
        for (number, row) in &rows[first..] {
            let cell = row.split(',').nth(column).unwrap_or_default().trim();
            let value =
                cell.parse().map_err(|_| fail(format!("line {number}: `{cell}` in column {field} is not a number")))?;
            all.push(value);
        }
    }
    Ok(all)
}
