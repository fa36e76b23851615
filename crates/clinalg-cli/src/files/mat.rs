//! MATLAB's files of level 5 (versions 5 to 7.2): *MAT-File Format*, The MathWorks; and of version 7.3. Numeric arrays, sparse
//! matrices, and those in structures, as collections of matrices have them.

mod hdf5;

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use clinalg::io::{AtomicFile, check_expansion, read_bytes};
use clinalg::{Complex, CsrParts, Scalar};
use flate2::read::ZlibDecoder;

use super::{Columns, Role, Stored, check_size};
use crate::exit::Failure;

/// Types of data elements.
const INT8: u32 = 1;
const UINT8: u32 = 2;
const INT32: u32 = 5;
const UINT32: u32 = 6;
const DOUBLE: u32 = 9;
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;

/// Classes of arrays.
const STRUCTURE: u8 = 2;
const SPARSE: u8 = 5;
const DOUBLES: u8 = 6;
const LAST_NUMERIC: u8 = 15;
/// The names of those without numbers.
const OTHERS: [(u8, &str); 3] = [(1, "cell"), (4, "char"), (16, "function_handle")];
/// The bit of the flags of a complex array.
const COMPLEX: u32 = 0x800;
/// That of a logical one.
const LOGICAL: u32 = 0x200;

/// Bytes of the header.
const HEADER: usize = 128;
/// Structures in structures; deeper ones are left out.
const DEEPEST: usize = 8;
/// Letters of a name, in MATLAB's files.
const LONGEST_NAME: usize = 63;

type Parsed<V> = Result<V, String>;

/// What a variable can be meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sparse,
    Full,
    /// Chosen by its name, or as the only variable, and then it is an error.
    Damaged,
    /// By its name alone, and then it is an error.
    NotNumeric,
}

/// The tag of a data element.
struct Tag {
    kind: u32,
    size: u64,
    /// Up to four bytes of content stand in the tag itself.
    inside: Option<[u8; 4]>,
}

impl Tag {
    /// Bytes of one number, and whether the type is one of numbers.
    fn width(&self) -> Parsed<u64> {
        match self.kind {
            1 | 2 => Ok(1),
            3 | 4 => Ok(2),
            5..=7 => Ok(4),
            9 | 12 | 13 => Ok(8),
            other => Err(format!("an element of the unknown type {other}")),
        }
    }
}

/// Longest element of flags, extents, or a name.
const SHORT: u64 = 1 << 10;
/// Longest element of the names of a structure's fields.
const FIELDS: u64 = 1 << 20;
/// Bytes of numbers that are read at once, a multiple of all widths.
const CHUNK: u64 = 1 << 16;
const CUT: &str = "the file ends within an element";

/// A reader of data elements. It keeps nothing but the numbers of the variable that is wanted: a small compressed file can hold gigabytes.
struct Elements<'a> {
    source: &'a mut dyn Read,
    /// Bytes of the enclosing element that follow.
    left: u64,
    is_big_endian: bool,
    /// Bytes of the file that the elements take.
    compressed: u64,
    role: Role,
}

/// The variables that are found, and the content of the wanted one.
struct Search {
    found: Vec<(String, Kind)>,
    wanted: Option<usize>,
    stored: Option<Parsed<Stored>>,
}

impl Elements<'_> {
    fn bytes(&mut self, count: u64) -> Parsed<Vec<u8>> {
        let mut bytes = Vec::new();
        self.source.take(count).read_to_end(&mut bytes).map_err(|error| reason_of(&error))?;
        self.left = self.left.saturating_sub(bytes.len() as u64);
        Ok(bytes)
    }

    fn skip(&mut self, count: u64) -> Parsed<()> {
        let skipped = std::io::copy(&mut self.source.take(count), &mut std::io::sink());
        let skipped = skipped.map_err(|error| reason_of(&error))?;
        self.left = self.left.saturating_sub(skipped);
        if skipped == count { Ok(()) } else { Err(CUT.into()) }
    }

    fn word(&self, bytes: &[u8]) -> Parsed<u32> {
        let bytes: [u8; 4] = bytes.get(..4).and_then(|bytes| bytes.try_into().ok()).ok_or(CUT)?;
        Ok(if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// The tag of the next element, or `None` at the end.
    fn next(&mut self) -> Parsed<Option<Tag>> {
        if self.left < 8 {
            return Ok(None);
        }
        let bytes = self.bytes(8)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let first = self.word(&bytes)?;
        let tag = match first >> 16 {
            0 => Tag { kind: first, size: self.word(bytes.get(4..).unwrap_or_default())?.into(), inside: None },
            size => {
                let inside = bytes.get(4..8).and_then(|bytes| bytes.try_into().ok()).ok_or(CUT)?;
                Tag { kind: first & 0xffff, size: u64::from(size).min(4), inside: Some(inside) }
            }
        };
        if tag.inside.is_none() && tag.size > self.left { Err(CUT.into()) } else { Ok(Some(tag)) }
    }

    fn expect(&mut self) -> Parsed<Tag> {
        self.next()?.ok_or_else(|| "an array lacks an element".into())
    }

    /// Skips what fills an element up to a multiple of eight bytes; the last of an enclosing element may lack it.
    fn pad(&mut self, size: u64) -> Parsed<()> {
        self.skip((size.next_multiple_of(8) - size).min(self.left))
    }

    /// The content of the next element, of at most so many bytes.
    fn content(&mut self, most: u64) -> Parsed<Vec<u8>> {
        let tag = self.expect()?;
        if let Some(inside) = tag.inside {
            return Ok(inside[..tag.size as usize].to_vec());
        }
        if tag.size > most {
            return Err(format!("an element of {} bytes, expected at most {most}", tag.size));
        }
        let content = self.bytes(tag.size)?;
        if (content.len() as u64) < tag.size {
            return Err(CUT.into());
        }
        self.pad(tag.size)?;
        Ok(content)
    }

    /// The numbers of an element, as doubles.
    fn numbers(&mut self, tag: &Tag) -> Parsed<Vec<f64>> {
        let width = tag.width()?;
        let mut out = Vec::new();
        if let Some(inside) = tag.inside {
            decode(&inside[..tag.size as usize], tag.kind, self.is_big_endian, &mut out);
            return Ok(out);
        }
        let mut left = tag.size / width * width;
        while left > 0 {
            let bytes = self.bytes(left.min(CHUNK))?;
            if (bytes.len() as u64) < left.min(CHUNK) {
                return Err(CUT.into());
            }
            decode(&bytes, tag.kind, self.is_big_endian, &mut out);
            left -= bytes.len() as u64;
        }
        self.skip(tag.size % width)?;
        self.pad(tag.size)?;
        Ok(out)
    }

    /// A few whole numbers.
    fn extents(&mut self) -> Parsed<Vec<usize>> {
        let tag = self.expect()?;
        if tag.size > SHORT {
            return Err(format!("an element of {} bytes for extents", tag.size));
        }
        indices(self.numbers(&tag)?)
    }

    /// An error where numbers would take more memory than the file makes plausible; vectors of equal numbers are compressed to next to
    /// nothing.
    fn check_memory(&self, count: u64, is_vector: bool) -> Parsed<()> {
        match is_vector && self.role != Role::Matrix {
            true => Ok(()),
            false => check_expansion(count.saturating_mul(8), self.compressed),
        }
    }

    /// Enters the array of a matrix element, and those of the fields of a structure, among those found, and reads the wanted one.
    fn array(&mut self, prefix: &str, depth: usize, search: &mut Search) -> Parsed<()> {
        let flags = self.content(SHORT)?;
        let word = self.word(&flags)?;
        let (class, is_complex, is_logical) = (word as u8, word & COMPLEX != 0, word & LOGICAL != 0);
        let shape = self.extents()?;
        let name = text_of(&self.content(SHORT)?);
        let name = if prefix.is_empty() { name } else { prefix.to_owned() };
        if class == STRUCTURE {
            return if depth < DEEPEST { self.fields(&name, depth, search) } else { Ok(()) };
        }
        let is_numeric = (SPARSE..=LAST_NUMERIC).contains(&class);
        let kind = match class {
            _ if !is_numeric => Kind::NotNumeric,
            SPARSE => Kind::Sparse,
            _ => Kind::Full,
        };
        search.found.push((name, kind));
        if search.wanted == Some(search.found.len() - 1) {
            search.stored = Some(match shape[..] {
                _ if !is_numeric => {
                    let class = OTHERS.iter().find(|other| other.0 == class).map_or("object", |other| other.1);
                    Err(not_numeric(class))
                }
                [rows, cols] if class == SPARSE => self.sparse(rows, cols, is_complex, is_logical),
                [rows, cols] => self.dense(rows, cols, is_complex),
                _ => Err(format!("has {} dimensions, expected two", shape.len())),
            });
        }
        Ok(())
    }

    fn dense(&mut self, rows: usize, cols: usize, is_complex: bool) -> Parsed<Stored> {
        let mut part = || {
            let tag = self.expect()?;
            let count = tag.size / tag.width()?;
            if Some(count) != rows.checked_mul(cols).map(|count| count as u64) {
                return Err(format!("has {count} values, expected {rows} x {cols}"));
            }
            self.check_memory(count, cols <= 1)?;
            self.numbers(&tag)
        };
        let values = part()?;
        Ok(match is_complex {
            true => Stored::ComplexDense(Columns { rows, cols, values: with_imaginary(values, part()?)? }),
            false => Stored::Dense(Columns { rows, cols, values }),
        })
    }

    fn sparse(&mut self, rows: usize, cols: usize, is_complex: bool, is_logical: bool) -> Parsed<Stored> {
        // Room for entries that are not there is allowed for, but not for much more than there are positions.
        let most = (rows as u64).saturating_mul(cols as u64).max(1 << 20);
        let places = self.at_most(most, "row indices")?;
        let offsets = self.at_most((cols as u64).saturating_add(1), "offsets of columns")?;
        let entries = offsets.last().copied().unwrap_or(0) as u64;
        let mut values = || {
            let mut tag = self.expect()?;
            // MATLAB declares the values of logical matrices as doubles, and stores them as single bytes.
            if is_logical && tag.kind == DOUBLE && tag.size / 8 < entries && entries <= tag.size {
                tag.kind = UINT8;
            }
            self.check_memory(tag.size / tag.width()?, false)?;
            self.numbers(&tag)
        };
        let re = values()?;
        let shape = (rows, cols);
        Ok(match is_complex {
            true => Stored::ComplexSparse(sparse(shape, &offsets, places, with_imaginary(re, values()?)?)?),
            false => Stored::Sparse(sparse(shape, &offsets, places, re)?),
        })
    }

    /// The indices of the next element.
    fn at_most(&mut self, most: u64, what: &str) -> Parsed<Vec<usize>> {
        let tag = self.expect()?;
        let count = tag.size / tag.width()?;
        if count > most {
            return Err(format!("has {count} {what}, expected at most {most}"));
        }
        self.check_memory(count, false)?;
        indices(self.numbers(&tag)?)
    }

    /// The fields of a structure of one element.
    fn fields(&mut self, name: &str, depth: usize, search: &mut Search) -> Parsed<()> {
        let length = self.extents()?.first().copied().unwrap_or(0).max(1);
        let names = self.content(FIELDS)?;
        for field in names.chunks_exact(length) {
            let Some(tag) = self.next()? else { return Ok(()) };
            let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
            let field = text_of(&field[..end]);
            if tag.inside.is_some() {
                continue;
            }
            let behind = self.left - tag.size;
            if tag.kind == MATRIX && tag.size > 0 {
                self.left = tag.size;
                self.array(&format!("{name}.{field}"), depth + 1, search)?;
                self.skip(self.left)?;
            } else {
                self.skip(tag.size)?;
            }
            self.left = behind;
            self.pad(tag.size)?;
        }
        Ok(())
    }
}

/// Appends the numbers of this type; the bytes are whole numbers of it.
fn decode(bytes: &[u8], kind: u32, is_big_endian: bool, out: &mut Vec<f64>) {
    macro_rules! numbers {
        ($kind:ty) => {
            out.extend(bytes.as_chunks().0.iter().map(|&bytes| {
                (if is_big_endian { <$kind>::from_be_bytes(bytes) } else { <$kind>::from_le_bytes(bytes) }) as f64
            }))
        };
    }
    match kind {
        1 => numbers!(i8),
        2 => numbers!(u8),
        3 => numbers!(i16),
        4 => numbers!(u16),
        5 => numbers!(i32),
        6 => numbers!(u32),
        7 => numbers!(f32),
        9 => numbers!(f64),
        12 => numbers!(i64),
        _ => numbers!(u64),
    }
}

/// Complex numbers from their parts.
fn with_imaginary(re: Vec<f64>, im: Vec<f64>) -> Parsed<Vec<Complex<f64>>> {
    match im.len() == re.len() {
        true => Ok(re.into_iter().zip(im).map(|(re, im)| Complex::new(re, im)).collect()),
        false => Err(format!("has {} real and {} imaginary parts", re.len(), im.len())),
    }
}

fn reason_of(error: &std::io::Error) -> String {
    if error.kind() == ErrorKind::OutOfMemory { NO_MEMORY.into() } else { error.to_string() }
}

/// No fault of a file.
const NO_MEMORY: &str = "the array does not fit memory";

/// A name, or a word for one that is none.
fn text_of(name: &[u8]) -> String {
    match std::str::from_utf8(name) {
        Ok(name) if name.len() <= LONGEST_NAME && !name.contains(char::is_control) => name.to_owned(),
        _ => "(an array with a damaged name)".to_owned(),
    }
}

/// What is wrong with the file as a whole.
fn of_file(reason: &str) -> String {
    if reason == NO_MEMORY {
        return reason.to_owned();
    }
    format!("the file is damaged or cut off ({reason}); copy it again, or save it again with `save -v7 FILE A`")
}

/// Numbers that count or point.
fn indices(numbers: Vec<f64>) -> Parsed<Vec<usize>> {
    let index = |v: f64| {
        if v >= 0.0 {
            Ok(v as usize)
        } else {
            Err("is damaged: it has a negative index, expected 0, 1, ...".to_owned())
        }
    };
    numbers.into_iter().map(index).collect()
}

/// A sparse matrix from its columns.
fn sparse<T: Scalar>(
    (rows, cols): (usize, usize),
    offsets: &[usize],
    mut indices: Vec<usize>,
    mut values: Vec<T>,
) -> Parsed<CsrParts<T>> {
    // There may be room for more entries than there are.
    let entries = offsets.last().copied().unwrap_or(0);
    if entries > indices.len() || entries > values.len() {
        return Err(format!("has {} entries, expected {entries}", indices.len().min(values.len())));
    }
    check_size(rows, cols, entries).map_err(|reason| format!("is {reason}"))?;
    indices.truncate(entries);
    values.truncate(entries);
    CsrParts::from_csc(rows, cols, offsets, &indices, &values).map_err(|error| error.to_string())
}

/// The array of a file that is meant.
pub(super) fn read(path: &Path, role: Role) -> Result<Stored, Failure> {
    let mut head = Vec::new();
    let opened = File::open(path).and_then(|file| file.take(HEADER as u64).read_to_end(&mut head));
    opened.map_err(|error| Failure::file(path, error))?;
    let of_array = |name: &str, reason: String| Failure::file(path, format!("{name} {reason}"));
    if head.starts_with(b"MATLAB 7.3") || head.starts_with(b"\x89HDF\r\n\x1a\n") {
        let mut found = hdf5::variables(path, role.names()).map_err(|reason| Failure::file(path, reason))?;
        let k = chosen(role, &found.iter().map(|v| (v.name.as_str(), v.kind())).collect::<Vec<_>>());
        let variable = found.swap_remove(k.map_err(|reason| Failure::file(path, reason))?);
        let name = variable.name.clone();
        return variable.read().map_err(|reason| of_array(&name, reason));
    }
    let is_big_endian = byte_order(&head).map_err(|reason| Failure::file(path, reason))?;
    let bytes = read_bytes(path).map_err(|error| Failure::file(path, error))?;
    let mut search = Search { found: Vec::new(), wanted: None, stored: None };
    parse(&bytes, is_big_endian, role, &mut search).map_err(|reason| Failure::file(path, reason))?;
    let found: Vec<(&str, Kind)> = search.found.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
    let wanted = chosen(role, &found).map_err(|reason| Failure::file(path, reason))?;
    let name = search.found.swap_remove(wanted).0;
    let mut search = Search { found: Vec::new(), wanted: Some(wanted), stored: None };
    parse(&bytes, is_big_endian, role, &mut search).map_err(|reason| Failure::file(path, reason))?;
    let stored = search.stored.unwrap_or_else(|| Err("is not found again".into()));
    stored.map_err(|reason| match reason.as_str() {
        CUT => Failure::file(path, of_file(&reason)),
        NO_MEMORY => Failure::file(path, reason),
        _ => of_array(&name, reason),
    })
}

/// The variable that is meant, of those with these names: one of the usual names, or the only one (the only sparse one for a matrix).
fn chosen(role: Role, found: &[(&str, Kind)]) -> Parsed<usize> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let by_name = role.names().iter().find_map(|name| found.iter().position(|v| last(v.0) == *name));
    let of = |is_meant: fn(Kind) -> bool| (0..found.len()).filter(|&k| is_meant(found[k].1)).collect::<Vec<_>>();
    let (sparse, sound) = (of(|kind| kind == Kind::Sparse), of(|kind| matches!(kind, Kind::Sparse | Kind::Full)));
    let numeric = if sound.is_empty() { of(|kind| kind == Kind::Damaged) } else { sound };
    let only = match (role, &sparse[..], &numeric[..]) {
        (Role::Matrix, &[k], _) | (_, _, &[k]) => Some(k),
        _ => None,
    };
    by_name.or(only).ok_or_else(|| {
        let names: Vec<&str> = numeric.iter().map(|&k| found[k].0).collect();
        let there = if names.is_empty() { "no numeric array".to_owned() } else { names.join(", ") };
        format!("the file contains {there}; name the variable to use {}", role.names().join(" or "))
    })
}

/// What is wrong with a variable of this class.
fn not_numeric(class: &str) -> String {
    format!("has the class {class}, expected a full or sparse array of numbers")
}

/// Whether the numbers of a file with this header have their most significant byte first.
fn byte_order(header: &[u8]) -> Parsed<bool> {
    match header.get(126..HEADER) {
        Some(b"IM") => Ok(false),
        Some(b"MI") => Ok(true),
        _ if is_version_4(header) => Err(
            "the file is of MATLAB's version 4, expected a later one: load it in MATLAB or Octave and save it again with `save -v7 FILE A`".into(),
        ),
        _ => Err("the file is no MATLAB file, expected one that MATLAB's or Octave's `save -v7 FILE A` writes".into()),
    }
}

/// Whether this is the beginning of a file of MATLAB's version 4: type (machine, 0, precision, kind as decimal digits), rows, columns, whether
/// complex, length of the name.
fn is_version_4(header: &[u8]) -> bool {
    let words =
        |from: fn([u8; 4]) -> u32| header.as_chunks().0.iter().take(5).map(|&word| from(word)).collect::<Vec<_>>();
    [u32::from_le_bytes as fn([u8; 4]) -> u32, u32::from_be_bytes].into_iter().any(|from| match words(from)[..] {
        [kind, _, _, complex, name] => {
            let digits = [kind / 1000, kind / 100 % 10, kind / 10 % 10, kind % 10];
            let known = digits[0] <= 4 && digits[1] == 0 && digits[2] <= 5 && digits[3] <= 2;
            known && complex <= 1 && (1..=LONGEST_NAME as u32 + 1).contains(&name)
        }
        _ => false,
    })
}

/// Looks through the elements of a file.
fn parse(bytes: &[u8], is_big_endian: bool, role: Role, search: &mut Search) -> Parsed<()> {
    let mut rest = &bytes[HEADER.min(bytes.len())..];
    while rest.len() >= 8 {
        let mut source = rest;
        let mut outer = Elements { source: &mut source, left: rest.len() as u64, is_big_endian, compressed: 0, role };
        let Some(tag) = outer.next().map_err(|reason| of_file(&reason))? else { break };
        if tag.inside.is_some() {
            rest = &rest[8..];
            continue;
        }
        let size = tag.size as usize;
        let mut content = &rest[8..8 + size];
        let whole = if tag.kind == COMPRESSED { size } else { size.next_multiple_of(8) };
        rest = &rest[(8 + whole).min(rest.len())..];
        let inner = match tag.kind {
            MATRIX => Elements { source: &mut content, left: tag.size, is_big_endian, compressed: tag.size, role }
                .array("", 0, search),
            COMPRESSED => inflated(&mut ZlibDecoder::new(content), is_big_endian, (tag.size, role), search),
            _ => Ok(()),
        };
        inner.map_err(|reason| of_file(&reason))?;
        if search.stored.is_some() {
            break;
        }
    }
    Ok(())
}

/// Looks at a compressed element, and where it is the wanted one, at its checksum.
fn inflated(
    source: &mut dyn Read,
    is_big_endian: bool,
    (compressed, role): (u64, Role),
    search: &mut Search,
) -> Parsed<()> {
    let mut outer = Elements { source, left: u64::MAX, is_big_endian, compressed, role };
    let Some(tag) = outer.next()? else { return Ok(()) };
    if tag.kind == MATRIX && tag.inside.is_none() {
        outer.left = tag.size;
        outer.array("", 0, search)?;
    }
    if matches!(search.stored, Some(Ok(_))) {
        std::io::copy(outer.source, &mut std::io::sink()).map_err(|error| reason_of(&error))?;
    }
    Ok(())
}

/// Writes a dense matrix as the variable `x`.
pub(super) fn write<T: Scalar>(path: &Path, rows: usize, cols: usize, values: &[T]) -> Result<(), Failure> {
    let parts = T::COMPONENTS;
    let (Ok(bytes), Ok(high), Ok(wide)) =
        (u32::try_from(40 + (8 + 8 * values.len()) * parts), i32::try_from(rows), i32::try_from(cols))
    else {
        return Err(Failure::file(path, "an array of 4 GiB or more does not fit the format; write .npy or .mtx"));
    };
    let mut out = Vec::with_capacity(HEADER + 8 + bytes as usize);
    let mut text = b"MATLAB 5.0 MAT-file, written by clinalg".to_vec();
    text.resize(124, b' ');
    out.extend(text);
    out.extend([0x00, 0x01]);
    out.extend(b"IM");
    let flags = u32::from(DOUBLES) | if T::IS_COMPLEX { COMPLEX } else { 0 };
    let words = [MATRIX, bytes, UINT32, 8, flags, 0, INT32, 8, high as u32, wide as u32];
    words.iter().for_each(|word| out.extend(word.to_le_bytes()));
    // The name stands in the tag of its element.
    out.extend((INT8 | 1 << 16).to_le_bytes());
    out.extend(b"x\0\0\0");
    for part in 0..parts {
        [DOUBLE, 8 * values.len() as u32].iter().for_each(|word| out.extend(word.to_le_bytes()));
        let of = |value: &T| if part == 0 { value.widen().re() } else { value.widen().im() };
        values.iter().for_each(|value| out.extend(of(value).to_le_bytes()));
    }
    AtomicFile::write(path, |file| file.write_all(&out)).map_err(|error| Failure::file(path, error))
}
