//! How numbers, tables and long texts look.

use clinalg::Precision;
pub(crate) use clinalg::number;

/// Lines of a table with a header, columns two blanks apart; those whose titles begin with `>` are aligned right.
pub(crate) fn table(columns: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let title = |column: usize| columns[column].trim_start_matches('>');
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([title(column).chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.zip(&widths).zip(columns).map(|((cell, &width), column)| match column.starts_with('>') {
            false => format!("{cell:<width$}"),
            true => format!("{cell:>width$}"),
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let header = line(&mut (0..columns.len()).map(title));
    let body = rows.iter().map(|row| line(&mut row.iter().map(String::as_str)));
    [header].into_iter().chain(body).collect()
}

/// A precision by the name of its type.
pub(crate) fn precision(precision: Precision) -> &'static str {
    match precision {
        Precision::F32 => "f32",
        Precision::F64 => "f64",
    }
}

/// A number of bytes in binary units, three digits.
pub(crate) fn bytes(count: u64) -> String {
    let mut value = count as f64;
    for unit in ["B", "KiB", "MiB", "GiB", "TiB"] {
        if value < 1000.0 || unit == "TiB" {
            let digits = if unit == "B" || value >= 99.95 { 0 } else { 1 };
            return format!("{value:.digits$} {unit}");
        }
        value /= 1024.0;
    }
    unreachable!("the last unit takes every value")
}

/// A time with a fitting unit, three digits.
pub(crate) fn seconds(value: f64) -> String {
    let (scaled, unit) = match value {
        v if v >= 1.0 || v == 0.0 => (v, "s"),
        v if v >= 1e-3 => (v * 1e3, "ms"),
        v if v >= 1e-6 => (v * 1e6, "us"),
        v => (v * 1e9, "ns"),
    };
    let digits = if scaled >= 99.95 {
        0
    } else if scaled >= 9.995 {
        1
    } else {
        2
    };
    format!("{scaled:.digits$} {unit}")
}

/// The text in lines of at most `width` characters, broken at blanks.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1.0 KiB");
        assert_eq!(bytes(15 << 30), "15.0 GiB");
        assert_eq!(bytes(u64::MAX), "16777216 TiB");
        assert_eq!(seconds(0.0123), "12.3 ms");
        assert_eq!(seconds(123.4), "123 s");
        assert_eq!(seconds(2.5e-6), "2.50 us");
    }

    #[test]
    fn long_text_is_broken_at_blanks() {
        assert_eq!(wrapped("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable it is", 5), ["unbreakable", "it is"]);
        assert_eq!(wrapped("", 5), [""]);
    }

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".into(), "1".into()], vec!["long".into(), "23".into()]];
        let lines = table(&["name", ">n"], &rows);
        assert_eq!(lines, ["name   n", "a      1", "long  23"]);
    }
}
