//! Files with points in space.

use std::path::Path;

use crate::exit::Failure;

/// Reads points, three numbers per line with commas or blanks between them; empty lines are passed over.
///
/// # Errors
/// [`Failure::File`] with the line that is not three finite numbers, and where there is no point.
pub(crate) fn read_points(path: &Path) -> Result<Vec<[f64; 3]>, Failure> {
    let text = clinalg::io::read_text(path).map_err(|error| Failure::file(path, error))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let point = |(k, line): (usize, &str)| {
        let words = line.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
        let numbers: Option<Vec<f64>> = words.map(|word| word.parse().ok().filter(|v: &f64| v.is_finite())).collect();
        let point = numbers.and_then(|numbers| <[f64; 3]>::try_from(numbers).ok());
        point.ok_or_else(|| Failure::file(path, format!("line {}: `{}` is not three numbers", k + 1, line.trim())))
    };
    let points: Vec<_> = lines.map(point).collect::<Result<_, Failure>>()?;
    if points.is_empty() {
        Err(Failure::file(path, "it has no points; expected three numbers per line"))
    } else {
        Ok(points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_three_numbers_a_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = |text: &str| {
            std::fs::write(&file, text).unwrap();
            read_points(file.path()).map_err(|failure| failure.message())
        };
        assert_eq!(read("1, 2,3\n\n 4\t5 -6e1 \n").unwrap(), [[1.0, 2.0, 3.0], [4.0, 5.0, -60.0]]);
        for (text, needle) in [("1 2 3\n1 2\n", "line 2: `1 2`"), ("nan 1 2", "line 1"), ("\n\n", "no points")] {
            let words = read(text).unwrap_err();
            assert!(words.contains(needle), "{words}");
        }
    }
}
