//! The reader of MatrixMarket files.

use std::io::{BufRead, ErrorKind, Read};
use std::path::Path;

use num_complex::Complex;
use num_traits::Zero as _;

use super::{MatrixMarket, Storage, Symmetry, io_error};
use crate::io::check_expansion;
use crate::matrix::host::zeros;
use crate::{Error, Result, Scalar, counted};

/// More rows or columns than this are read only where there is an entry for each [`ROWS_PER_ENTRY`] of them: the arrays
/// with a value for each row would else let a file of three lines fill the memory.
const MANY_ROWS: usize = 1 << 24;
const ROWS_PER_ENTRY: usize = 16;

/// A matrix with more entries than positions, so that entries are repeated, may have so many.
const MANY_REPEATED: usize = 1 << 21;

/// Longest line that is read. The format allows 1024 characters; a file without line ends must not fill the memory.
const LONGEST_LINE: u64 = 1 << 16;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Real,
    Integer,
    Complex,
    Pattern,
}

/// The values of a file: `f64`, or `Complex<f64>`.
trait Stored: Scalar {
    /// Numbers of a value.
    const NUMBERS: usize;
    /// What a line that does not hold one value should hold.
    const LINE: &'static str;
    /// The value of so many tokens.
    fn parse(tokens: [&[u8]; 2], field: Field) -> std::result::Result<Self, String>;
    /// Entries with their positions.
    fn coordinate(entries: Vec<(usize, usize, Self)>) -> Storage;
    /// All entries.
    fn array(values: Vec<Self>) -> Storage;
}

impl Stored for f64 {
    const NUMBERS: usize = 1;
    const LINE: &'static str = "one value";

    fn parse([value, _]: [&[u8]; 2], field: Field) -> std::result::Result<f64, String> {
        number(value, field)
    }

    fn coordinate(entries: Vec<(usize, usize, f64)>) -> Storage {
        Storage::Coordinate(entries)
    }

    fn array(values: Vec<f64>) -> Storage {
        Storage::Array(values)
    }
}

impl Stored for Complex<f64> {
    const NUMBERS: usize = 2;
    const LINE: &'static str = "the real and the imaginary part of one value";

    fn parse([re, im]: [&[u8]; 2], field: Field) -> std::result::Result<Complex<f64>, String> {
        Ok(Complex::new(number(re, field)?, number(im, field)?))
    }

    fn coordinate(entries: Vec<(usize, usize, Complex<f64>)>) -> Storage {
        Storage::ComplexCoordinate(entries)
    }

    fn array(values: Vec<Complex<f64>>) -> Storage {
        Storage::ComplexArray(values)
    }
}

pub(super) struct Reader<'a, R> {
    source: R,
    path: &'a Path,
    /// Bytes that the source is known to have; bounds what is set aside before entries have been seen.
    bytes: u64,
    /// Bytes that the source was compressed to.
    compressed: Option<u64>,
    line: Vec<u8>,
    number: usize,
}

impl<'a, R: BufRead> Reader<'a, R> {
    pub(super) fn new(source: R, path: &'a Path, bytes: u64) -> Self {
        Reader { source, path, bytes, compressed: None, line: Vec::new(), number: 0 }
    }

    /// Reads what was compressed to so many bytes.
    pub(super) fn decompressed(source: R, path: &'a Path, compressed: u64) -> Self {
        Reader { compressed: Some(compressed), ..Reader::new(source, path, 0) }
    }

    pub(super) fn read(mut self) -> Result<MatrixMarket> {
        let (array, field, symmetry) = self.header()?;
        let (wanted, form) = if array { (2, "`rows columns`") } else { (3, "`rows columns entries`") };
        if !self.next()? {
            return Err(self.fault(format!("the file ends before the size line ({form})")));
        }
        let mut sizes = [0; 3];
        let fields: Vec<&[u8]> = tokens(&self.line).collect();
        if fields.len() != wanted {
            return Err(self.fault(format!("the size line has {}, expected {form}", counted(fields.len(), "field"))));
        }
        for (size, token) in sizes.iter_mut().zip(fields) {
            *size = whole(token).map_err(|why| self.fault(format!("size {} {why}", shown(token))))?;
        }
        let [rows, cols, entries] = sizes;
        if symmetry != Symmetry::General && rows != cols {
            return Err(self.fault(format!("a {} matrix must be square, not {rows} x {cols}", symmetry.word())));
        }
        let entries = match array {
            false => entries,
            true => array_entries(rows, cols, symmetry)
                .ok_or_else(|| self.fault(format!("{rows} x {cols} values are more than can be counted")))?,
        };
        if !is_plausible(rows, cols, entries) {
            let shape = format!("{rows} x {cols} with {}", counted(entries, "entry"));
            return Err(self.fault(format!(
                "the size line says {shape}, so that nearly all rows or columns are zero; leave out those of zeros"
            )));
        }
        if !array && is_repeated(rows, cols, entries) {
            return Err(self.fault(format!(
                "the size line says {} for the {rows} x {cols} positions of the matrix; give each position once",
                counted(entries, "entry")
            )));
        }
        // A vector of equal values is compressed to next to nothing; a matrix is not.
        if let Some(compressed) = self.compressed
            && (!array || cols > 1)
        {
            let size = if array { size_of::<f64>() } else { size_of::<(usize, usize, f64)>() };
            check_expansion(entries.saturating_mul(size) as u64, compressed).map_err(|reason| self.fault(reason))?;
        }
        let storage = match field {
            Field::Complex => self.storage::<Complex<f64>>(array, (rows, cols), entries, field, symmetry)?,
            _ => self.storage::<f64>(array, (rows, cols), entries, field, symmetry)?,
        };
        Ok(MatrixMarket { rows, cols, symmetry, storage })
    }

    fn storage<W: Stored>(
        &mut self,
        array: bool,
        (rows, cols): (usize, usize),
        entries: usize,
        field: Field,
        symmetry: Symmetry,
    ) -> Result<Storage> {
        Ok(match array {
            true => W::array(self.array(rows, entries, field, symmetry)?),
            false => W::coordinate(self.coordinate((rows, cols), entries, field, symmetry)?),
        })
    }

    fn header(&mut self) -> Result<(bool, Field, Symmetry)> {
        if !self.next_line()? {
            return Err(self.fault("the file is empty".into()));
        }
        // Editors of Windows begin a text with a byte order mark.
        let line = self.line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.line);
        let text = String::from_utf8_lossy(line).to_ascii_lowercase();
        parse_header(&text).map_err(|reason| self.fault(reason))
    }

    fn coordinate<W: Stored>(
        &mut self,
        shape: (usize, usize),
        entries: usize,
        field: Field,
        symmetry: Symmetry,
    ) -> Result<Vec<(usize, usize, W)>> {
        let shortest = if field == Field::Pattern { 4 } else { 4 + 2 * W::NUMBERS as u64 };
        let copies = if symmetry == Symmetry::General { 1 } else { 2 };
        let mut out = self.room(entries, shortest, copies);
        // Whether the entries off the diagonal are below it, once there is one.
        let mut below = None;
        for read in 0..entries {
            self.expect_entry(read, entries)?;
            let (i, j, value) = self
                .entry::<W>(shape, field, symmetry)
                .and_then(|(i, j, value)| match symmetry {
                    Symmetry::General => Ok((i, j, value)),
                    _ if i == j || *below.get_or_insert(i > j) == (i > j) => Ok((i, j, value)),
                    _ => Err(both_triangles(i, j, symmetry)),
                })
                .map_err(|reason| self.damaged(reason, read, entries))?;
            out.push((i, j, value));
            if symmetry != Symmetry::General && i != j {
                out.push((j, i, symmetry.mirrored(value)));
            }
        }
        self.expect_end(entries)?;
        Ok(out)
    }

    fn entry<W: Stored>(
        &self,
        (rows, cols): (usize, usize),
        field: Field,
        symmetry: Symmetry,
    ) -> std::result::Result<(usize, usize, W), String> {
        let columns = if field == Field::Pattern { 2 } else { 2 + W::NUMBERS };
        let mut fields = [&[][..]; 4];
        let mut got = 0;
        for token in tokens(&self.line) {
            if let Some(field) = fields.get_mut(got) {
                *field = token;
            }
            got += 1;
        }
        if got != columns {
            return Err(format!("the entry has {}, expected {columns}", counted(got, "field")));
        }
        let [i, j, value @ ..] = fields;
        let i = index(i, "row", rows)?;
        let j = index(j, "column", cols)?;
        let value = if field == Field::Pattern { W::one() } else { W::parse(value, field)? };
        if symmetry == Symmetry::SkewSymmetric && i == j && value != W::zero() {
            let at = format!("({}, {})", i + 1, j + 1);
            return Err(format!(
                "entry {at} on the diagonal of a skew-symmetric matrix is {value}; it must be 0, or left out"
            ));
        }
        if symmetry == Symmetry::Hermitian && i == j && value.im() != W::Real::zero() {
            return Err(not_real(i));
        }
        Ok((i, j, value))
    }

    fn array<W: Stored>(&mut self, rows: usize, stored: usize, field: Field, symmetry: Symmetry) -> Result<Vec<W>> {
        let mut values: Vec<W> = self.room(stored, 2 * W::NUMBERS as u64, 1);
        // The lower triangle by columns: where the next diagonal entry stands, and its row.
        let mut diagonal = (0, 0);
        for read in 0..stored {
            self.expect_entry(read, stored)?;
            let mut fields = tokens(&self.line);
            let mut value = [&[][..]; 2];
            value[..W::NUMBERS].fill_with(|| fields.next().unwrap_or_default());
            let got = value.iter().filter(|token| !token.is_empty()).count() + fields.count();
            let value = match got == W::NUMBERS {
                true => W::parse(value, field),
                false => Err(format!("the line has {}, expected {}", counted(got, "field"), W::LINE)),
            };
            let value = value.and_then(|value| {
                let on_diagonal = symmetry == Symmetry::Hermitian && read == diagonal.0;
                if on_diagonal && value.im() != W::Real::zero() {
                    return Err(not_real(diagonal.1));
                }
                if on_diagonal {
                    diagonal = (read + rows - diagonal.1, diagonal.1 + 1);
                }
                Ok(value)
            });
            values.push(value.map_err(|reason| self.damaged(reason, read, stored))?);
        }
        self.expect_end(stored)?;
        if symmetry == Symmetry::General {
            return Ok(values);
        }
        let mut full = zeros("matrix", rows.checked_mul(rows))?;
        let below = usize::from(symmetry == Symmetry::SkewSymmetric);
        let lower = (0..rows).flat_map(|j| (j + below..rows).map(move |i| (i, j)));
        for ((i, j), value) in lower.zip(values) {
            full[i * rows + j] = symmetry.mirrored(value);
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
        Err(self.fault(format!("the file ends here: {} of {entries} missing", counted(entries - read, "entry"))))
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
        let missing = counted(entries - read, "entry");
        self.fault(format!("{reason}; the file ends in this line: {missing} of {entries} missing"))
    }

    /// Moves to the next line that is neither blank nor a comment; false at the end of the source.
    fn next(&mut self) -> Result<bool> {
        let more = self.skip().map_err(|source| io_error(self.path, source))?;
        Ok(more && self.next_line()?)
    }

    /// Skips blanks and comments as they lie in the buffer, since gzip compresses a gigabyte of them to a megabyte; false at the end.
    fn skip(&mut self) -> std::io::Result<bool> {
        // Whether a line has begun, and whether it is a comment.
        let (mut begun, mut comment) = (false, false);
        loop {
            let text = match self.source.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                text => text?,
            };
            let length = text.len();
            let end = text.iter().position(|&byte| {
                begun = byte != b'\n';
                if byte == b'\n' {
                    self.number += 1;
                    comment = false;
                } else if byte == b'%' {
                    comment = true;
                }
                !comment && !byte.is_ascii_whitespace()
            });
            self.source.consume(end.unwrap_or(length));
            if end.is_some() || length == 0 {
                // The last line may have no end.
                self.number += usize::from(end.is_none() && begun);
                return Ok(end.is_some());
            }
        }
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
pub(super) fn parse_header(text: &str) -> std::result::Result<(bool, Field, Symmetry), String> {
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
    let kinds = "`real`, `integer`, `unsigned-integer`, `complex` or `pattern`";
    let kind = match field(3, "field", kinds)? {
        "real" => Field::Real,
        // The second is that of SciPy for matrices of uint32 and uint64.
        "integer" | "unsigned-integer" => Field::Integer,
        "pattern" if array => return Err("an array file cannot be `pattern`: it must list values".into()),
        "pattern" => Field::Pattern,
        "complex" => Field::Complex,
        other => return unknown("field", other, kinds),
    };
    let symmetries = "`general`, `symmetric`, `skew-symmetric` or `hermitian`";
    let symmetry = match field(4, "symmetry", symmetries)? {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        "skew-symmetric" if kind == Field::Pattern => {
            return Err("a pattern file cannot be `skew-symmetric`: its entries have no sign".into());
        }
        "skew-symmetric" => Symmetry::SkewSymmetric,
        "hermitian" if kind != Field::Complex => {
            return Err(
                "a `hermitian` file must be `complex`; a real matrix that equals its transpose is `symmetric`".into()
            );
        }
        "hermitian" => Symmetry::Hermitian,
        other => return unknown("symmetry", other, symmetries),
    };
    match fields.get(5) {
        None => Ok((array, kind, symmetry)),
        Some(extra) => Err(format!("the header has {} after its symmetry", shown(extra.as_bytes()))),
    }
}

/// Whether a file of so many entries may have so many rows and columns.
pub(super) fn is_plausible(rows: usize, cols: usize, entries: usize) -> bool {
    let longest = rows.max(cols);
    longest <= MANY_ROWS || longest / ROWS_PER_ENTRY <= entries
}

/// Whether a file of so many entries repeats more of them than any assembly does.
pub(super) fn is_repeated(rows: usize, cols: usize, entries: usize) -> bool {
    entries > MANY_REPEATED && entries > rows.saturating_mul(cols)
}

fn both_triangles(i: usize, j: usize, symmetry: Symmetry) -> String {
    let (here, before) = if i > j { ("below", "above") } else { ("above", "below") };
    format!(
        "entry ({}, {}) lies {here} the diagonal of a {} matrix, entries before it {before}; list one triangle only, or declare the matrix `general`",
        i + 1,
        j + 1,
        symmetry.word()
    )
}

fn array_entries(rows: usize, cols: usize, symmetry: Symmetry) -> Option<usize> {
    let full = rows.checked_mul(cols)?;
    Some(match symmetry {
        Symmetry::General => full,
        Symmetry::Symmetric | Symmetry::Hermitian => (full - rows) / 2 + rows,
        Symmetry::SkewSymmetric => (full - rows) / 2,
    })
}

fn not_real(i: usize) -> String {
    format!("entry ({0}, {0}) of a hermitian matrix has an imaginary part; its diagonal is real", i + 1)
}

pub(super) fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty())
}

/// A token for a message: in quotes, cut to a readable length.
fn shown(token: &[u8]) -> String {
    const LONGEST: usize = 40;
    let cut = if token.len() > LONGEST { "..." } else { "" };
    format!("`{}{cut}`", token[..token.len().min(LONGEST)].escape_ascii())
}

/// An unsigned whole number; on failure what is wrong with it, as the end of a sentence.
pub(super) fn whole(token: &[u8]) -> std::result::Result<usize, &'static str> {
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

pub(super) fn number(token: &[u8], field: Field) -> std::result::Result<f64, String> {
    let digits = token.strip_prefix(b"-").or(token.strip_prefix(b"+")).unwrap_or(token);
    if field == Field::Integer && (digits.is_empty() || !digits.iter().all(u8::is_ascii_digit)) {
        return Err(format!("value {} is not an integer", shown(token)));
    }
    let parsed = |token: &[u8]| std::str::from_utf8(token).ok().and_then(|text| text.parse::<f64>().ok());
    let value = parsed(token)
        .or_else(|| fortran(token).and_then(|token| parsed(&token)))
        .ok_or_else(|| format!("value {} is not a number", shown(token)))?;
    if value.is_infinite() && digits[0] != b'i' && digits[0] != b'I' {
        return Err(format!("value {} is too large for double precision", shown(token)));
    }
    Ok(value)
}

/// A number whose exponent begins with D, as Fortran writes it, with an E instead.
fn fortran(token: &[u8]) -> Option<Vec<u8>> {
    let at = token.iter().position(|byte| byte.eq_ignore_ascii_case(&b'd'))?;
    let mut token = token.to_vec();
    token[at] = b'e';
    Some(token)
}
