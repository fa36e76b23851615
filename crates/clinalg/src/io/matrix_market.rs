//! MatrixMarket files: Boisvert, Pozo, Remington, *The Matrix Market Exchange Formats*, NISTIR 5935 (1996).
//!
//! Read: `coordinate` and `array`; `real`, `integer` and `pattern` (every entry 1); `general`, `symmetric` and
//! `skew-symmetric` (expanded). `complex` and `hermitian` are refused. The header counts upper and lower case as the
//! same, lines may end in CR LF, and comments and blank lines may stand anywhere below the header. `nan` and `inf` are
//! values; a finite number too large for double precision is an error. Written: `real general`.
//!
//! ```
//! use clinalg::io::matrix_market;
//!
//! let file = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4\n2 1 -1\n";
//! let a = matrix_market::read_from(file.as_bytes(), "a.mtx")?;
//! assert_eq!(a.to_column_major::<f64>()?, [4.0, -1.0, -1.0, 0.0]);
//! # Ok::<(), clinalg::Error>(())
//! ```
use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::check_length;
use crate::reference::{CsrParts, zeros};
use crate::{Error, Real, Result};

/// What a MatrixMarket file says, with its symmetry expanded.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixMarket {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// What the header declared; the entries here are expanded already.
    pub symmetry: Symmetry,
    /// The entries.
    pub storage: Storage,
}

/// The symmetry that a file's header declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symmetry {
    /// Every entry is in the file.
    General,
    /// `A' = A`; the file holds the lower triangle.
    Symmetric,
    /// `A' = -A`; the file holds the lower triangle without the diagonal.
    SkewSymmetric,
}

/// The entries of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Storage {
    /// `(row, column, value)`, 0-based, in the file's order; after an off-diagonal entry of a symmetric or
    /// skew-symmetric file stands its mirror image. An entry may occur twice and then counts as a sum.
    Coordinate(Vec<(usize, usize, f64)>),
    /// `rows * cols` values, column by column.
    Array(Vec<f64>),
}

impl MatrixMarket {
    /// As a canonical sparse matrix, duplicates summed. Zeros that the file lists are kept; of an array, the nonzeros.
    ///
    /// # Errors
    /// [`Error::Value`] when the row offsets do not fit memory, or when `T` is single precision and cannot hold a value.
    pub fn to_csr_parts<T: Real>(&self) -> Result<CsrParts<T>> {
        match &self.storage {
            Storage::Coordinate(entries) => {
                let entries = entries.iter().map(|&(i, j, a)| Ok((i, j, narrow(a)?))).collect::<Result<Vec<_>>>()?;
                CsrParts::from_triplets(self.rows, self.cols, &entries)
            }
            Storage::Array(_) => CsrParts::from_dense(self.rows, self.cols, &self.to_column_major()?),
        }
    }

    /// As a dense matrix of `rows * cols` values, column by column; duplicates summed.
    ///
    /// # Errors
    /// [`Error::Value`] when it does not fit memory, or when `T` is single precision and cannot hold a value.
    pub fn to_column_major<T: Real>(&self) -> Result<Vec<T>> {
        match &self.storage {
            Storage::Array(values) => values.iter().map(|&a| narrow(a)).collect(),
            Storage::Coordinate(entries) => {
                let mut out = zeros("matrix", self.rows.checked_mul(self.cols))?;
                for &(i, j, a) in entries {
                    out[j * self.rows + i] += narrow::<T>(a)?;
                }
                Ok(out)
            }
        }
    }
}

fn narrow<T: Real>(value: f64) -> Result<T> {
    let narrowed = T::of(value);
    if narrowed.is_infinite() && value.is_finite() {
        return Err(Error::value("matrix", format!("values within {}", T::PRECISION), format!("{value:e}")));
    }
    Ok(narrowed)
}

/// Reads a file.
///
/// # Errors
/// [`Error::Io`] when it cannot be read, [`Error::Format`] with the 1-based line when its content is at fault.
pub fn read(path: impl AsRef<Path>) -> Result<MatrixMarket> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|source| io_error(path, source))?;
    let bytes = file.metadata().map_err(|source| io_error(path, source))?.len();
    Reader::new(BufReader::with_capacity(1 << 18, file), path, bytes).read()
}

/// Reads from any source; `path` is what messages call it.
///
/// # Errors
/// As [`read`].
pub fn read_from(reader: impl BufRead, path: impl AsRef<Path>) -> Result<MatrixMarket> {
    Reader::new(reader, path.as_ref(), 0).read()
}

fn io_error(path: &Path, source: std::io::Error) -> Error {
    Error::Io { path: path.to_owned(), source }
}

/// Longest line that is read. The format allows 1024 characters; a file without line ends must not fill the memory.
const LONGEST_LINE: u64 = 1 << 16;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Real,
    Integer,
    Pattern,
}

struct Reader<'a, R> {
    source: R,
    path: &'a Path,
    /// Bytes that the source is known to have; bounds what is set aside before entries have been seen.
    bytes: u64,
    line: Vec<u8>,
    number: usize,
}

impl<'a, R: BufRead> Reader<'a, R> {
    fn new(source: R, path: &'a Path, bytes: u64) -> Self {
        Reader { source, path, bytes, line: Vec::new(), number: 0 }
    }

    fn read(mut self) -> Result<MatrixMarket> {
        let (array, field, symmetry) = self.header()?;
        let (wanted, form) = if array { (2, "`rows columns`") } else { (3, "`rows columns entries`") };
        if !self.next()? {
            return Err(self.fault(format!("the file ends before the size line ({form})")));
        }
        let mut sizes = [0; 3];
        let fields: Vec<&[u8]> = tokens(&self.line).collect();
        if fields.len() != wanted {
            return Err(self.fault(format!("the size line has {}, expected {form}", count(fields.len(), "field"))));
        }
        for (size, token) in sizes.iter_mut().zip(fields) {
            *size = whole(token).map_err(|why| self.fault(format!("size {} {why}", shown(token))))?;
        }
        let [rows, cols, entries] = sizes;
        if symmetry != Symmetry::General && rows != cols {
            return Err(self.fault(format!("a {} matrix must be square, not {rows} x {cols}", words(symmetry))));
        }
        let storage = if array {
            let stored = array_entries(rows, cols, symmetry)
                .ok_or_else(|| self.fault(format!("{rows} x {cols} values are more than can be counted")))?;
            Storage::Array(self.array(rows, stored, field, symmetry)?)
        } else {
            Storage::Coordinate(self.coordinate(rows, cols, entries, field, symmetry)?)
        };
        Ok(MatrixMarket { rows, cols, symmetry, storage })
    }

    fn header(&mut self) -> Result<(bool, Field, Symmetry)> {
        if !self.next_line()? {
            return Err(self.fault("the file is empty".into()));
        }
        let text = String::from_utf8_lossy(&self.line).to_ascii_lowercase();
        parse_header(&text).map_err(|reason| self.fault(reason))
    }

    fn coordinate(
        &mut self,
        rows: usize,
        cols: usize,
        entries: usize,
        field: Field,
        symmetry: Symmetry,
    ) -> Result<Vec<(usize, usize, f64)>> {
        let (columns, shortest) = if field == Field::Pattern { (2, 4) } else { (3, 6) };
        let copies = if symmetry == Symmetry::General { 1 } else { 2 };
        let mut out = self.room(entries, shortest, copies);
        for read in 0..entries {
            self.expect_entry(read, entries)?;
            let (i, j, value) = self
                .entry(rows, cols, columns, field, symmetry)
                .map_err(|reason| self.damaged(reason, read, entries))?;
            out.push((i, j, value));
            match symmetry {
                Symmetry::Symmetric if i != j => out.push((j, i, value)),
                Symmetry::SkewSymmetric => out.push((j, i, -value)),
                _ => {}
            }
        }
        self.expect_end(entries)?;
        Ok(out)
    }

    fn entry(
        &self,
        rows: usize,
        cols: usize,
        columns: usize,
        field: Field,
        symmetry: Symmetry,
    ) -> std::result::Result<(usize, usize, f64), String> {
        let mut fields = tokens(&self.line);
        let (Some(i), Some(j), value) = (fields.next(), fields.next(), fields.next()) else {
            return Err(format!("the entry has 1 field, expected {columns}"));
        };
        let got = 2 + usize::from(value.is_some()) + fields.count();
        if got != columns {
            return Err(format!("the entry has {}, expected {columns}", count(got, "field")));
        }
        let i = index(i, "row", rows)?;
        let j = index(j, "column", cols)?;
        if symmetry != Symmetry::General && i < j {
            let at = format!("({}, {})", i + 1, j + 1);
            return Err(format!("entry {at} lies above the diagonal of a {} matrix", words(symmetry)));
        }
        if symmetry == Symmetry::SkewSymmetric && i == j {
            let at = format!("({}, {})", i + 1, j + 1);
            return Err(format!("entry {at} lies on the diagonal of a skew-symmetric matrix, which is not stored"));
        }
        Ok((i, j, value.map_or(Ok(1.0), |token| number(token, field))?))
    }

    fn array(&mut self, rows: usize, stored: usize, field: Field, symmetry: Symmetry) -> Result<Vec<f64>> {
        let mut values = self.room(stored, 2, 1);
        for read in 0..stored {
            self.expect_entry(read, stored)?;
            let mut fields = tokens(&self.line);
            let token = fields.next().unwrap_or_default();
            let value = match fields.count() {
                0 => number(token, field),
                more => Err(format!("the line has {}, expected one value", count(more + 1, "field"))),
            };
            values.push(value.map_err(|reason| self.damaged(reason, read, stored))?);
        }
        self.expect_end(stored)?;
        if symmetry == Symmetry::General {
            return Ok(values);
        }
        let mut full = zeros("matrix", rows.checked_mul(rows))?;
        let (below, sign) = if symmetry == Symmetry::SkewSymmetric { (1, -1.0) } else { (0, 1.0) };
        let lower = (0..rows).flat_map(|j| (j + below..rows).map(move |i| (i, j)));
        for ((i, j), value) in lower.zip(values) {
            full[i * rows + j] = sign * value;
            full[j * rows + i] = value;
        }
        Ok(full)
    }

    /// An empty list with room for `copies` of each of `entries`, or of as many as the source can hold when one takes
    /// at least `shortest` bytes: a size line alone never claims memory.
    fn room<V>(&self, entries: usize, shortest: u64, copies: usize) -> Vec<V> {
        let possible = entries.min(usize::try_from(self.bytes / shortest).unwrap_or(usize::MAX));
        let mut out = Vec::new();
        match out.try_reserve(possible.saturating_mul(copies)) {
            Ok(()) => out,
            Err(_) => Vec::new(),
        }
    }

    fn expect_entry(&mut self, read: usize, entries: usize) -> Result<()> {
        if self.next()? {
            return Ok(());
        }
        Err(self.fault(format!("the file ends here: {} of {entries} missing", count(entries - read, "entry"))))
    }

    fn expect_end(&mut self, entries: usize) -> Result<()> {
        if self.next()? {
            return Err(self.fault(format!("more entries than the {entries} that the size line announces")));
        }
        Ok(())
    }

    /// A fault in an entry's line; where the file ends inside that line, it was most likely cut there.
    fn damaged(&self, reason: String, read: usize, entries: usize) -> Error {
        if self.line.ends_with(b"\n") {
            return self.fault(reason);
        }
        let missing = count(entries - read, "entry");
        self.fault(format!("{reason}; the file ends in this line: {missing} of {entries} missing"))
    }

    /// Moves to the next line that is neither blank nor a comment; false at the end of the source.
    fn next(&mut self) -> Result<bool> {
        while self.next_line()? {
            let first = self.line.iter().find(|byte| !byte.is_ascii_whitespace());
            if first.is_some_and(|&byte| byte != b'%') {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn next_line(&mut self) -> Result<bool> {
        self.line.clear();
        let got = (&mut self.source).take(LONGEST_LINE).read_until(b'\n', &mut self.line);
        let got = got.map_err(|source| io_error(self.path, source))?;
        if got == 0 {
            return Ok(false);
        }
        self.number += 1;
        if got as u64 == LONGEST_LINE && !self.line.ends_with(b"\n") {
            return Err(self.fault(format!("the line is longer than {LONGEST_LINE} bytes")));
        }
        Ok(true)
    }

    fn fault(&self, reason: String) -> Error {
        Error::Format { path: self.path.to_owned(), line: self.number.max(1), reason }
    }
}

/// Whether it is an array, its field and its symmetry, from the first line in lower case.
fn parse_header(text: &str) -> std::result::Result<(bool, Field, Symmetry), String> {
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    if fields.first() != Some(&"%%matrixmarket") {
        return Err("no MatrixMarket file: the first line must begin with `%%MatrixMarket`".into());
    }
    let field = |at: usize, what, choices| match fields.get(at) {
        Some(&field) => Ok(field),
        None => Err(format!("the header ends before its {what} ({choices})")),
    };
    let unknown = |what, got: &str, choices| {
        Err(format!("unknown {what} {} in the header, expected {choices}", shown(got.as_bytes())))
    };
    match field(1, "object", "`matrix`")? {
        "matrix" => {}
        "vector" => return Err("`vector` objects are not supported; write a matrix of one column".into()),
        other => return unknown("object", other, "`matrix`"),
    }
    let formats = "`coordinate` or `array`";
    let array = match field(2, "format", formats)? {
        "coordinate" => false,
        "array" => true,
        other => return unknown("format", other, formats),
    };
    let kinds = "`real`, `integer` or `pattern`";
    let kind = match field(3, "field", kinds)? {
        "real" => Field::Real,
        "integer" => Field::Integer,
        "pattern" if array => return Err("an array file cannot be `pattern`: it must list values".into()),
        "pattern" => Field::Pattern,
        "complex" => return Err(format!("complex values are not supported, only {kinds}")),
        other => return unknown("field", other, kinds),
    };
    let symmetries = "`general`, `symmetric` or `skew-symmetric`";
    let symmetry = match field(4, "symmetry", symmetries)? {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        "skew-symmetric" if kind == Field::Pattern => {
            return Err("a pattern file cannot be `skew-symmetric`: its entries have no sign".into());
        }
        "skew-symmetric" => Symmetry::SkewSymmetric,
        "hermitian" => return Err(format!("hermitian matrices are not supported, only {symmetries}")),
        other => return unknown("symmetry", other, symmetries),
    };
    match fields.get(5) {
        None => Ok((array, kind, symmetry)),
        Some(extra) => Err(format!("the header has {} after its symmetry", shown(extra.as_bytes()))),
    }
}

fn array_entries(rows: usize, cols: usize, symmetry: Symmetry) -> Option<usize> {
    let full = rows.checked_mul(cols)?;
    Some(match symmetry {
        Symmetry::General => full,
        Symmetry::Symmetric => (full - rows) / 2 + rows,
        Symmetry::SkewSymmetric => (full - rows) / 2,
    })
}

fn words(symmetry: Symmetry) -> &'static str {
    match symmetry {
        Symmetry::General => "general",
        Symmetry::Symmetric => "symmetric",
        Symmetry::SkewSymmetric => "skew-symmetric",
    }
}

fn count(n: usize, what: &str) -> String {
    match (n, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{n} {stem}ies"),
        (_, None) => format!("{n} {what}s"),
    }
}

fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty())
}

/// A token for a message: in quotes, cut to a readable length.
fn shown(token: &[u8]) -> String {
    const LONGEST: usize = 40;
    let cut = if token.len() > LONGEST { "..." } else { "" };
    format!("`{}{cut}`", token[..token.len().min(LONGEST)].escape_ascii())
}

/// An unsigned whole number; on failure what is wrong with it, as the end of a sentence.
fn whole(token: &[u8]) -> std::result::Result<usize, &'static str> {
    token.iter().try_fold(0usize, |value, &byte| match byte {
        b'0'..=b'9' => {
            value.checked_mul(10).and_then(|value| value.checked_add(usize::from(byte - b'0'))).ok_or("is too large")
        }
        _ => Err("is not a whole number"),
    })
}

/// A 1-based index up to `bound`, made 0-based.
fn index(token: &[u8], what: &str, bound: usize) -> std::result::Result<usize, String> {
    match whole(token) {
        Ok(value) if (1..=bound).contains(&value) => Ok(value - 1),
        _ if token.iter().all(u8::is_ascii_digit) => {
            Err(format!("{what} index {} is outside 1..{bound}", shown(token)))
        }
        _ => Err(format!("{what} index {} is not a whole number", shown(token))),
    }
}

fn number(token: &[u8], field: Field) -> std::result::Result<f64, String> {
    let digits = token.strip_prefix(b"-").or(token.strip_prefix(b"+")).unwrap_or(token);
    if field == Field::Integer && (digits.is_empty() || !digits.iter().all(u8::is_ascii_digit)) {
        return Err(format!("value {} is not an integer", shown(token)));
    }
    let value: f64 = std::str::from_utf8(token)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| format!("value {} is not a number", shown(token)))?;
    if value.is_infinite() && digits[0] != b'i' && digits[0] != b'I' {
        return Err(format!("value {} is too large for double precision", shown(token)));
    }
    Ok(value)
}

/// Writes a sparse matrix as `coordinate real general`, row by row, each value in the fewest digits that give it back.
///
/// The file appears whole or not at all: it is written beside `path` under another name and then renamed. A device or
/// pipe at `path` is written to directly.
///
/// # Errors
/// As [`CsrParts::check`]; [`Error::Io`] when the file cannot be written.
pub fn write_coordinate<T: Real>(path: impl AsRef<Path>, a: &CsrParts<T>) -> Result<()> {
    a.check()?;
    write(path.as_ref(), |out| {
        writeln!(out, "%%MatrixMarket matrix coordinate real general")?;
        writeln!(out, "{} {} {}", a.rows, a.cols, a.nnz())?;
        a.triplets().try_for_each(|(i, j, value)| writeln!(out, "{} {} {}", i + 1, j + 1, shortest(value)))
    })
}

/// Writes a dense matrix of `rows` by `cols`, given column by column, as `array real general`; otherwise as
/// [`write_coordinate`]. A vector is a matrix of one column.
///
/// # Errors
/// [`Error::Length`] unless `values` is `rows * cols` long; [`Error::Io`] when the file cannot be written.
pub fn write_array<T: Real>(path: impl AsRef<Path>, rows: usize, cols: usize, values: &[T]) -> Result<()> {
    check_length("values", rows.saturating_mul(cols), values.len())?;
    write(path.as_ref(), |out| {
        writeln!(out, "%%MatrixMarket matrix array real general")?;
        writeln!(out, "{rows} {cols}")?;
        values.iter().try_for_each(|&value| writeln!(out, "{}", shortest(value)))
    })
}

/// The fewest digits that give the value back. In single precision those of the value widened to double, so that no
/// reader rounds twice.
fn shortest<T: Real>(value: T) -> impl Display {
    struct Shortest(f64);
    impl Display for Shortest {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            // `Debug` turns to an exponent where `Display` would write hundreds of zeros.
            write!(f, "{:?}", self.0)
        }
    }
    Shortest(value.wide())
}

fn write(path: &Path, content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let special = path.metadata().is_ok_and(|found| !found.is_file());
    let done = if special { write_directly(path, content) } else { write_atomically(path, content) };
    done.map_err(|source| io_error(path, source))
}

fn write_directly(path: &Path, content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    content(&mut out)?;
    out.flush()
}

fn write_atomically(path: &Path, content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> std::io::Result<()> {
    // Through a symbolic link, the file it names is replaced and not the link.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder =
        target.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(PathBuf::from("."), PathBuf::from);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".matrix-").suffix(".mtx.tmp");
    #[cfg(unix)]
    {
        // What an ordinary new file gets, less the umask; a temporary file would be private.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder)?;
    let mut out = BufWriter::new(file);
    content(&mut out)?;
    out.into_inner().map_err(|stopped| stopped.into_error())?.persist(target)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<MatrixMarket> {
        read_from(text.as_bytes(), "t.mtx")
    }

    /// The message without the file's name: `line: reason`.
    fn fault(text: impl AsRef<[u8]>) -> String {
        let error = read_from(text.as_ref(), "t.mtx").unwrap_err();
        assert_eq!(error.id(), "clinalg:file:format", "{error}");
        error.to_string().strip_prefix("t.mtx:").unwrap().to_owned()
    }

    fn coordinate(rest: &str) -> String {
        format!("%%MatrixMarket matrix coordinate {rest}")
    }

    #[test]
    fn coordinate_real_general() {
        let a =
            parse(&coordinate("real general\n% a comment\n\n 3  4 3\n1 1 1.5\n\n%c\n 3 4\t-2e-3 \n2 1 .5\n")).unwrap();
        assert_eq!((a.rows, a.cols, a.symmetry), (3, 4, Symmetry::General));
        assert_eq!(a.storage, Storage::Coordinate(vec![(0, 0, 1.5), (2, 3, -2e-3), (1, 0, 0.5)]));
        let csr = a.to_csr_parts::<f32>().unwrap();
        assert_eq!((csr.offsets, csr.indices, csr.values), (vec![0, 1, 2, 3], vec![0, 0, 3], vec![1.5, 0.5, -2e-3]));
    }

    #[test]
    fn header_in_any_case_line_ends_and_no_last_line_end() {
        let a =
            parse("%%matrixmarket MATRIX Coordinate Integer General\r\n%\r\n\r\n2 2 2\r\n1 2 -7\r\n2 2 +8").unwrap();
        assert_eq!(a.to_column_major::<f64>().unwrap(), [0.0, 0.0, -7.0, 8.0]);
    }

    #[test]
    fn pattern_entries_are_one() {
        let a = parse(&coordinate("pattern symmetric\n3 3 2\n2 2\n3 1\n")).unwrap();
        assert_eq!(a.symmetry, Symmetry::Symmetric);
        assert_eq!(a.storage, Storage::Coordinate(vec![(1, 1, 1.0), (2, 0, 1.0), (0, 2, 1.0)]));
    }

    #[test]
    fn symmetric_and_skew_symmetric_are_expanded() {
        let a = parse(&coordinate("real symmetric\n2 2 2\n1 1 4\n2 1 -1\n")).unwrap();
        assert_eq!(a.to_column_major::<f64>().unwrap(), [4.0, -1.0, -1.0, 0.0]);
        let a = parse(&coordinate("integer skew-symmetric\n2 2 1\n2 1 5\n")).unwrap();
        assert_eq!(a.to_column_major::<f64>().unwrap(), [0.0, 5.0, -5.0, 0.0]);
        let a = parse("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n").unwrap();
        assert_eq!(a.storage, Storage::Array(vec![1.0, 2.0, 3.0, 2.0, 4.0, 5.0, 3.0, 5.0, 6.0]));
        let a = parse("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n").unwrap();
        assert_eq!(a.storage, Storage::Array(vec![0.0, 1.0, 2.0, -1.0, 0.0, 3.0, -2.0, -3.0, 0.0]));
    }

    #[test]
    fn array_is_read_by_columns() {
        let a = parse("%%MatrixMarket matrix array real general\n% b\n2 3\n1\n0\n3\n4\n-0\n6\n").unwrap();
        assert_eq!(a.to_column_major::<f32>().unwrap(), [1.0, 0.0, 3.0, 4.0, 0.0, 6.0]);
        let csr = a.to_csr_parts::<f64>().unwrap();
        assert_eq!((csr.offsets, csr.indices, csr.values), (vec![0, 2, 4], vec![0, 1, 1, 2], vec![1.0, 3.0, 4.0, 6.0]));
    }

    #[test]
    fn duplicates_are_summed_and_listed_zeros_kept() {
        let a = parse(&coordinate("real general\n2 2 3\n2 2 1\n2 2 2\n1 2 0\n")).unwrap();
        let csr = a.to_csr_parts::<f64>().unwrap();
        assert_eq!((csr.offsets, csr.indices, csr.values), (vec![0, 1, 2], vec![1, 1], vec![0.0, 3.0]));
        assert_eq!(a.to_column_major::<f64>().unwrap(), [0.0, 0.0, 0.0, 3.0]);
    }

    #[test]
    fn empty_matrices() {
        for (rows, cols) in [(0, 0), (0, 3), (3, 0), (2, 2)] {
            let a = parse(&coordinate(&format!("real general\n{rows} {cols} 0\n"))).unwrap();
            assert_eq!(a.to_csr_parts::<f64>().unwrap().nnz(), 0);
        }
        for kind in ["general", "symmetric", "skew-symmetric"] {
            let a = parse(&format!("%%MatrixMarket matrix array real {kind}\n0 0\n")).unwrap();
            assert_eq!(a.storage, Storage::Array(vec![]));
        }
        let a = parse("%%MatrixMarket matrix array real skew-symmetric\n1 1\n").unwrap();
        assert_eq!(a.storage, Storage::Array(vec![0.0]));
    }

    #[test]
    fn non_finite_values_are_values() {
        let a = parse("%%MatrixMarket matrix array real general\n5 1\nNaN\ninf\n-Inf\n+infinity\nnan\n").unwrap();
        let v = a.to_column_major::<f64>().unwrap();
        assert!(v[0].is_nan() && v[4].is_nan());
        assert_eq!(v[1..4], [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY]);
        assert!(a.to_column_major::<f32>().unwrap()[1].is_infinite());
    }

    #[test]
    fn faults_of_the_header() {
        assert_eq!(fault(""), "1: the file is empty");
        let no = "1: no MatrixMarket file: the first line must begin with `%%MatrixMarket`";
        for text in ["\n", "1 2 3\n", "%MatrixMarket matrix coordinate real general\n", "%%MatrixMarketmatrix\n"] {
            assert_eq!(fault(text), no);
        }
        assert_eq!(fault(b"\xff\xfe\x00\n"), no);
        assert_eq!(fault("%%MatrixMarket matrix\n"), "1: the header ends before its format (`coordinate` or `array`)");
        assert_eq!(
            fault("%%MatrixMarket vector coordinate real general\n"),
            "1: `vector` objects are not supported; write a matrix of one column"
        );
        assert_eq!(
            fault("%%MatrixMarket tensor coordinate real general\n"),
            "1: unknown object `tensor` in the header, expected `matrix`"
        );
        assert_eq!(
            fault("%%MatrixMarket matrix csr real general\n"),
            "1: unknown format `csr` in the header, expected `coordinate` or `array`"
        );
        assert_eq!(
            fault(coordinate("complex general\n")),
            "1: complex values are not supported, only `real`, `integer` or `pattern`"
        );
        assert_eq!(
            fault(coordinate("double general\n")),
            "1: unknown field `double` in the header, expected `real`, `integer` or `pattern`"
        );
        assert_eq!(
            fault(coordinate("real hermitian\n")),
            "1: hermitian matrices are not supported, only `general`, `symmetric` or `skew-symmetric`"
        );
        assert_eq!(
            fault(coordinate("real upper\n")),
            "1: unknown symmetry `upper` in the header, expected `general`, `symmetric` or `skew-symmetric`"
        );
        assert_eq!(
            fault(coordinate("pattern skew-symmetric\n")),
            "1: a pattern file cannot be `skew-symmetric`: its entries have no sign"
        );
        assert_eq!(
            fault("%%MatrixMarket matrix array pattern general\n"),
            "1: an array file cannot be `pattern`: it must list values"
        );
        assert_eq!(fault(coordinate("real general 7\n")), "1: the header has `7` after its symmetry");
        assert_eq!(fault(vec![b'%'; 70_000]), "1: the line is longer than 65536 bytes");
    }

    #[test]
    fn faults_of_the_size_line() {
        let of = |size: &str| fault(coordinate(&format!("real symmetric\n% comment\n\n{size}")));
        assert_eq!(of(""), "3: the file ends before the size line (`rows columns entries`)");
        assert_eq!(of("3 3\n"), "4: the size line has 2 fields, expected `rows columns entries`");
        assert_eq!(of("3 3 1 1\n"), "4: the size line has 4 fields, expected `rows columns entries`");
        assert_eq!(of("3 -3 1\n"), "4: size `-3` is not a whole number");
        assert_eq!(of("3 3 1.0\n"), "4: size `1.0` is not a whole number");
        assert_eq!(of("3 3 99999999999999999999\n"), "4: size `99999999999999999999` is too large");
        assert_eq!(of("3 4 1\n"), "4: a symmetric matrix must be square, not 3 x 4");
        let array = |size: &str| fault(format!("%%MatrixMarket matrix array real general\n{size}\n"));
        assert_eq!(array("4 1 4"), "2: the size line has 3 fields, expected `rows columns`");
        assert_eq!(array("9999999999 9999999999"), "2: 9999999999 x 9999999999 values are more than can be counted");
    }

    #[test]
    fn faults_of_entries() {
        let of = |entry: &str| fault(coordinate(&format!("real general\n3 4 2\n1 1 1\n%\n{entry}\n")));
        assert_eq!(of("1"), "5: the entry has 1 field, expected 3");
        assert_eq!(of("1 2"), "5: the entry has 2 fields, expected 3");
        assert_eq!(of("1 2 3 4"), "5: the entry has 4 fields, expected 3");
        assert_eq!(of("0 2 3"), "5: row index `0` is outside 1..3");
        assert_eq!(of("4 2 3"), "5: row index `4` is outside 1..3");
        assert_eq!(of("1 5 3"), "5: column index `5` is outside 1..4");
        assert_eq!(of("1 99999999999999999999999 3"), "5: column index `99999999999999999999999` is outside 1..4");
        assert_eq!(of("1 -1 3"), "5: column index `-1` is not a whole number");
        assert_eq!(of("1.0 1 3"), "5: row index `1.0` is not a whole number");
        for damaged in ["abc", "1.2.3", "1e", "0x10", "1,5", "--1", "1e5x"] {
            assert_eq!(of(&format!("1 1 {damaged}")), format!("5: value `{damaged}` is not a number"));
        }
        assert_eq!(of("1 1 -1e400"), "5: value `-1e400` is too large for double precision");
        let long = "9x".repeat(60);
        assert_eq!(of(&format!("1 1 {long}")), format!("5: value `{}...` is not a number", &long[..40]));
        let bytes = [coordinate("real general\n1 1 1\n1 1 ").as_bytes(), b"\xff\n"].concat();
        assert_eq!(fault(bytes), "3: value `\\xff` is not a number");
        for damaged in ["1.5", "nan", "1e3", "-", ""] {
            let expected = match damaged {
                "" => "3: the entry has 2 fields, expected 3".to_owned(),
                _ => format!("3: value `{damaged}` is not an integer"),
            };
            assert_eq!(fault(coordinate(&format!("integer general\n1 1 1\n1 1 {damaged}\n"))), expected);
        }
        assert_eq!(fault(coordinate("pattern general\n2 2 1\n1 1 1\n")), "3: the entry has 3 fields, expected 2");
        assert_eq!(
            fault("%%MatrixMarket matrix array real general\n2 1\n1\n2 3\n"),
            "4: the line has 2 fields, expected one value"
        );
    }

    #[test]
    fn faults_of_symmetry() {
        assert_eq!(
            fault(coordinate("real symmetric\n3 3 2\n1 1 1\n1 3 2\n")),
            "4: entry (1, 3) lies above the diagonal of a symmetric matrix"
        );
        assert_eq!(
            fault(coordinate("real skew-symmetric\n3 3 1\n1 2 2\n")),
            "3: entry (1, 2) lies above the diagonal of a skew-symmetric matrix"
        );
        for value in ["0", "2"] {
            assert_eq!(
                fault(coordinate(&format!("real skew-symmetric\n3 3 1\n2 2 {value}\n"))),
                "3: entry (2, 2) lies on the diagonal of a skew-symmetric matrix, which is not stored"
            );
        }
    }

    #[test]
    fn too_few_and_too_many_entries() {
        assert_eq!(
            fault(coordinate("real general\n3 3 4\n1 1 1\n2 2 2\n")),
            "4: the file ends here: 2 entries of 4 missing"
        );
        assert_eq!(
            fault(coordinate("real general\n3 3 3\n1 1 1\n2 2 2")),
            "4: the file ends here: 1 entry of 3 missing"
        );
        assert_eq!(
            fault(coordinate("real general\n3 3 3\n1 1 1\n2 2")),
            "4: the entry has 2 fields, expected 3; the file ends in this line: 2 entries of 3 missing"
        );
        assert_eq!(
            fault(coordinate("real general\n3 3 1\n1 1 1\n\n2 2 2\n")),
            "5: more entries than the 1 that the size line announces"
        );
        assert_eq!(
            fault("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n"),
            "7: the file ends here: 1 entry of 6 missing"
        );
        assert_eq!(
            fault("%%MatrixMarket matrix array real general\n1 1\n1\n2\n"),
            "4: more entries than the 1 that the size line announces"
        );
    }

    #[test]
    fn a_size_line_alone_claims_no_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("huge.mtx");
        for text in [
            coordinate("real symmetric\n9000000000000000000 9000000000000000000 18446744073709551615\n1 1 1\n"),
            "%%MatrixMarket matrix array real symmetric\n4000000000 4000000000\n1\n".to_owned(),
        ] {
            std::fs::write(&path, &text).unwrap();
            assert!(read(&path).unwrap_err().to_string().contains(":3: the file ends here"));
            assert!(fault(text).contains("the file ends here"));
        }
        let a = parse(&coordinate("real general\n9000000000000000000 9000000000000000000 0\n")).unwrap();
        assert_eq!(a.to_csr_parts::<f64>().unwrap_err().id(), "clinalg:argument:value");
        assert_eq!(a.to_column_major::<f64>().unwrap_err().id(), "clinalg:argument:value");
    }

    #[test]
    fn a_hole_of_a_terabyte_is_refused_at_its_first_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hole.mtx");
        std::fs::write(&path, coordinate("real symmetric\n9 9 9000000000000000000\n")).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(read(&path).unwrap_err().to_string().ends_with(":3: the line is longer than 65536 bytes"));
    }

    #[test]
    fn single_precision_refuses_what_it_cannot_hold() {
        let a = parse(&coordinate("real general\n1 1 1\n1 1 1e39\n")).unwrap();
        assert_eq!(a.to_csr_parts::<f64>().unwrap().values, [1e39]);
        let text = a.to_csr_parts::<f32>().unwrap_err().to_string();
        assert_eq!(text, "argument `matrix` is 1e39, expected values within single precision (f32)");
        assert_eq!(a.to_column_major::<f32>().unwrap_err().id(), "clinalg:argument:value");
    }

    #[test]
    fn files_that_cannot_be_opened() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("none").join("a.mtx");
        assert_eq!(read(&missing).unwrap_err().id(), "clinalg:file:io");
        assert_eq!(read(folder.path()).unwrap_err().id(), "clinalg:file:io");
        assert_eq!(write_array(&missing, 1, 1, &[1.0]).unwrap_err().id(), "clinalg:file:io");
        assert_eq!(write_array(folder.path(), 1, 1, &[1.0]).unwrap_err().id(), "clinalg:file:io");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn written_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx");
        let a = CsrParts::from_triplets(2, 3, &[(0, 1, 0.1), (1, 2, -1e300), (1, 0, 2.0)]).unwrap();
        write_coordinate(&path, &a).unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            coordinate("real general\n2 3 3\n1 2 0.1\n2 1 2.0\n2 3 -1e300\n")
        );
        write_array(&path, 3, 1, &[1.5f32, f32::NAN, -f32::INFINITY]).unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "%%MatrixMarket matrix array real general\n3 1\n1.5\nNaN\n-inf\n"
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_refused_matrix_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx");
        write_array(&path, 1, 1, &[1.0]).unwrap();
        let broken = CsrParts { rows: 1, cols: 1, offsets: vec![0, 1], indices: vec![3], values: vec![1.0] };
        assert_eq!(write_coordinate(&path, &broken).unwrap_err().id(), "clinalg:argument:index");
        assert_eq!(write_array(&path, 2, 2, &[1.0]).unwrap_err().id(), "clinalg:argument:length");
        let fails = |_: &mut dyn Write| Err(std::io::Error::other("full"));
        assert_eq!(write(&path, fails).unwrap_err().id(), "clinalg:file:io");
        assert_eq!(read(&path).unwrap().storage, Storage::Array(vec![1.0]));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_files_are_not_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (real, link, plain) = (folder.path().join("a.mtx"), folder.path().join("b.mtx"), folder.path().join("c"));
        std::fs::write(&real, "old").unwrap();
        std::fs::write(&plain, "").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_array(&link, 1, 1, &[2.0]).unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(read(&real).unwrap().storage, Storage::Array(vec![2.0]));
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
        assert_eq!(mode(&real), mode(&plain));
        write_array("/dev/null", 1, 1, &[2.0]).unwrap();
        assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
    }

    /// Any bit pattern, with NaN made the one that files know.
    fn any_value() -> impl Strategy<Value = f64> {
        any::<u64>().prop_map(f64::from_bits).prop_map(|v| if v.is_nan() { f64::NAN } else { v })
    }

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|v| v.to_bits()).collect()
    }

    const VALID: &str = "%%MatrixMarket matrix coordinate real symmetric\n% comment\n4 4 5\n1 1 4.25\n2 1 -1e-3\n\n2 2 nan\n4 3 7\n4 4 .5\n";

    proptest! {
        #[test]
        fn coordinate_round_trip(
            (rows, cols, entries) in (1usize..20, 1usize..20).prop_flat_map(|(rows, cols)| {
                (Just(rows), Just(cols), prop::collection::btree_map((0..rows, 0..cols), any_value(), 0..40))
            })
        ) {
            let entries: Vec<_> = entries.into_iter().map(|((i, j), v)| (i, j, v)).collect();
            let a = CsrParts::from_triplets(rows, cols, &entries).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.mtx");
            write_coordinate(&path, &a).unwrap();
            let back = read(&path).unwrap().to_csr_parts::<f64>().unwrap();
            prop_assert_eq!(bits(&a.values), bits(&back.values));
            prop_assert_eq!((a.rows, a.cols, a.offsets, a.indices), (back.rows, back.cols, back.offsets, back.indices));
        }

        #[test]
        fn array_round_trip(values in prop::collection::vec(any_value(), 0..40)) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("b.mtx");
            write_array(&path, values.len(), 1, &values).unwrap();
            let back = read(&path).unwrap().to_column_major::<f64>().unwrap();
            prop_assert_eq!(bits(&values), bits(&back));
        }

        #[test]
        fn single_precision_round_trip(raw in prop::collection::vec(any::<u32>(), 0..40)) {
            let values: Vec<f32> = raw.into_iter().map(f32::from_bits).filter(|v| !v.is_nan()).collect();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("b.mtx");
            write_array(&path, 1, values.len(), &values).unwrap();
            let back = read(&path).unwrap().to_column_major::<f32>().unwrap();
            prop_assert_eq!(values.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), back.iter().map(|v| v.to_bits()).collect::<Vec<_>>());
        }

        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            prop_assert!(read_from(&bytes[..], "t.mtx").is_err());
            let header: &[&[u8]] = &[b"%%MatrixMarket matrix coordinate real general\n3 3 4\n", b"%%MatrixMarket matrix array real symmetric\n3 3\n"];
            for header in header {
                let _ = read_from(&[header, &bytes[..]].concat()[..], "t.mtx");
            }
        }

        #[test]
        fn mutated_files_never_panic(
            edits in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(&b"0123456789 \n\r%-+.enainf\x00\xff"[..]), 0..3u8), 1..6),
            cut in any::<prop::sample::Index>(),
            whole in any::<bool>(),
        ) {
            let mut bytes = VALID.as_bytes().to_vec();
            for (at, byte, kind) in edits {
                let at = at.index(bytes.len());
                match kind {
                    0 => bytes[at] = byte,
                    1 => bytes.insert(at, byte),
                    _ => drop(bytes.remove(at)),
                }
            }
            if !whole {
                bytes.truncate(cut.index(bytes.len()));
            }
            let lines = bytes.split(|&b| b == b'\n').count();
            match read_from(&bytes[..], "t.mtx") {
                Ok(a) if a.rows < 1000 => a.to_csr_parts::<f64>().unwrap().check().unwrap(),
                Ok(_) => {}
                Err(Error::Format { line, .. }) => prop_assert!((1..=lines).contains(&line)),
                Err(other) => prop_assert!(false, "{}", other),
            }
        }

        #[test]
        fn a_cut_file_is_an_error_on_its_last_line(cut in 0..VALID.len() - ".5\n".len()) {
            // Only a cut inside the last entry's value can go unseen.
            match read_from(&VALID.as_bytes()[..cut], "t.mtx") {
                Err(Error::Format { line, .. }) => prop_assert_eq!(line, VALID[..cut].lines().count().max(1)),
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }
}
