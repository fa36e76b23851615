//! MATLAB's files of level 5 (versions 5 to 7.2): *MAT-File Format*, The MathWorks; and of version 7.3. Numeric arrays, sparse
//! matrices, and those in structures, as collections of matrices have them.

mod hdf5;

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use clinalg::{Complex, CsrParts, Scalar};
use flate2::read::ZlibDecoder;

use super::{Columns, Role, Stored, check_size, fault};
use crate::exit::Failure;

/// Types of data elements.
const INT8: u32 = 1;
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

/// Bytes of the header.
const HEADER: usize = 128;
/// Structures in structures; deeper ones are left out.
const DEEPEST: usize = 8;
/// Letters of a name, in MATLAB's files.
const LONGEST_NAME: usize = 63;

type Parsed<V> = Result<V, String>;

/// A variable, or a field of one.
struct Variable {
    name: String,
    is_numeric: bool,
    stored: Parsed<Stored>,
}

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

/// A reader of data elements.
struct Elements<'a> {
    bytes: &'a [u8],
    is_big_endian: bool,
}

impl<'a> Elements<'a> {
    fn word(&self, at: usize) -> Parsed<u32> {
        let bytes = self.bytes.get(at..at + 4).ok_or("the file ends within an element")?;
        let bytes: [u8; 4] = bytes.try_into().expect("four bytes");
        Ok(if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// The type and content of the next element, or `None` at the end.
    fn next(&mut self) -> Parsed<Option<(u32, &'a [u8])>> {
        if self.bytes.len() < 8 {
            return Ok(None);
        }
        let first = self.word(0)?;
        let (kind, start, size, whole) = match first >> 16 {
            0 => {
                let size = self.word(4)? as usize;
                let padded = if first == COMPRESSED { size } else { size.next_multiple_of(8) };
                (first, 8, size, 8 + padded)
            }
            // Up to four bytes stand in the tag.
            size => (first & 0xffff, 4, (size as usize).min(4), 8),
        };
        let content = self.bytes.get(start..start + size).ok_or("the file ends within an element")?;
        self.bytes = &self.bytes[whole.min(self.bytes.len())..];
        Ok(Some((kind, content)))
    }

    fn expect(&mut self) -> Parsed<(u32, &'a [u8])> {
        self.next()?.ok_or_else(|| "an array lacks an element".into())
    }

    /// The numbers of an element, as doubles.
    fn numbers(&mut self) -> Parsed<Vec<f64>> {
        let (kind, content) = self.expect()?;
        let big = self.is_big_endian;
        macro_rules! numbers {
            ($kind:ty) => {{
                const SIZE: usize = size_of::<$kind>();
                let of = |bytes: &[u8]| {
                    let bytes: [u8; SIZE] = bytes.try_into().expect("a whole number");
                    (if big { <$kind>::from_be_bytes(bytes) } else { <$kind>::from_le_bytes(bytes) }) as f64
                };
                content.chunks_exact(SIZE).map(of).collect()
            }};
        }
        Ok(match kind {
            1 => numbers!(i8),
            2 => numbers!(u8),
            3 => numbers!(i16),
            4 => numbers!(u16),
            5 => numbers!(i32),
            6 => numbers!(u32),
            7 => numbers!(f32),
            9 => numbers!(f64),
            12 => numbers!(i64),
            13 => numbers!(u64),
            other => return Err(format!("an element of the unknown type {other}")),
        })
    }

    fn whole_numbers(&mut self) -> Parsed<Vec<usize>> {
        indices(self.numbers()?)
    }

    /// Enters the array of a matrix element, and those of the fields of a structure, among `found`.
    fn array(&mut self, prefix: &str, depth: usize, found: &mut Vec<Variable>) -> Parsed<()> {
        let (_, flags) = self.expect()?;
        let inner = Elements { bytes: flags, is_big_endian: self.is_big_endian };
        let word = inner.word(0)?;
        let (class, is_complex) = (word as u8, word & COMPLEX != 0);
        let shape = self.whole_numbers()?;
        let (_, name) = self.expect()?;
        let name = text_of(name);
        let name = if prefix.is_empty() { name } else { prefix.to_owned() };
        if class == STRUCTURE {
            return if depth < DEEPEST { self.fields(&name, depth, found) } else { Ok(()) };
        }
        if !(SPARSE..=LAST_NUMERIC).contains(&class) {
            let class = OTHERS.iter().find(|other| other.0 == class).map_or("object", |other| other.1);
            found.push(Variable { name, is_numeric: false, stored: Err(not_numeric(class)) });
            return Ok(());
        }
        let stored = match shape[..] {
            [rows, cols] if class == SPARSE => self.sparse(rows, cols, is_complex),
            [rows, cols] => self.dense(rows, cols, is_complex),
            _ => Err(format!("has {} dimensions, expected two", shape.len())),
        };
        found.push(Variable { name, is_numeric: true, stored });
        Ok(())
    }

    /// The imaginary parts of these real parts.
    fn with_imaginary(&mut self, re: Vec<f64>) -> Parsed<Vec<Complex<f64>>> {
        let im = self.numbers()?;
        match im.len() == re.len() {
            true => Ok(re.into_iter().zip(im).map(|(re, im)| Complex::new(re, im)).collect()),
            false => Err(format!("has {} real and {} imaginary parts", re.len(), im.len())),
        }
    }

    fn dense(&mut self, rows: usize, cols: usize, is_complex: bool) -> Parsed<Stored> {
        let values = self.numbers()?;
        if Some(values.len()) != rows.checked_mul(cols) {
            return Err(format!("has {} values, expected {rows} x {cols}", values.len()));
        }
        Ok(match is_complex {
            true => Stored::ComplexDense(Columns { rows, cols, values: self.with_imaginary(values)? }),
            false => Stored::Dense(Columns { rows, cols, values }),
        })
    }

    fn sparse(&mut self, rows: usize, cols: usize, is_complex: bool) -> Parsed<Stored> {
        let (places, offsets, values) = (self.whole_numbers()?, self.whole_numbers()?, self.numbers()?);
        let shape = (rows, cols);
        Ok(match is_complex {
            true => Stored::ComplexSparse(sparse(shape, &offsets, places, self.with_imaginary(values)?)?),
            false => Stored::Sparse(sparse(shape, &offsets, places, values)?),
        })
    }

    /// The fields of a structure of one element.
    fn fields(&mut self, name: &str, depth: usize, found: &mut Vec<Variable>) -> Parsed<()> {
        let length = self.whole_numbers()?.first().copied().unwrap_or(0).max(1);
        let (_, names) = self.expect()?;
        for field in names.chunks_exact(length) {
            let Some((kind, content)) = self.next()? else { return Ok(()) };
            let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
            let field = text_of(&field[..end]);
            if kind == MATRIX && !content.is_empty() {
                let mut inner = Elements { bytes: content, is_big_endian: self.is_big_endian };
                inner.array(&format!("{name}.{field}"), depth + 1, found)?;
            }
        }
        Ok(())
    }
}

/// A name, or a word for one that is none.
fn text_of(name: &[u8]) -> String {
    match std::str::from_utf8(name) {
        Ok(name) if name.len() <= LONGEST_NAME && !name.contains(char::is_control) => name.to_owned(),
        _ => "(an array with a damaged name)".to_owned(),
    }
}

/// What is wrong with the file as a whole.
fn of_file(reason: &str) -> String {
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
    opened.map_err(|error| fault(path, error))?;
    let of_array = |name: &str, reason: String| fault(path, format!("{name} {reason}"));
    if head.starts_with(b"MATLAB 7.3") || head.starts_with(b"\x89HDF\r\n\x1a\n") {
        let mut found = hdf5::variables(path, role.names()).map_err(|reason| fault(path, reason))?;
        let k = chosen(role, &found.iter().map(|v| (v.name.as_str(), v.kind())).collect::<Vec<_>>());
        let variable = found.swap_remove(k.map_err(|reason| fault(path, reason))?);
        let name = variable.name.clone();
        return variable.read().map_err(|reason| of_array(&name, reason));
    }
    let bytes = std::fs::read(path).map_err(|error| fault(path, error))?;
    let mut found = parse(&bytes).map_err(|reason| fault(path, reason))?;
    let kind = |v: &Variable| match v.stored {
        _ if !v.is_numeric => Kind::NotNumeric,
        Ok(Stored::Sparse(_) | Stored::ComplexSparse(_)) => Kind::Sparse,
        _ => Kind::Full,
    };
    let k = chosen(role, &found.iter().map(|v| (v.name.as_str(), kind(v))).collect::<Vec<_>>());
    let Variable { name, stored, .. } = found.swap_remove(k.map_err(|reason| fault(path, reason))?);
    stored.map_err(|reason| of_array(&name, reason))
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

fn parse(bytes: &[u8]) -> Parsed<Vec<Variable>> {
    let no_mat_file = "the file is no MATLAB file, expected one that MATLAB's or Octave's `save -v7 FILE A` writes";
    let header = bytes.get(..HEADER).ok_or(no_mat_file)?;
    let is_big_endian = match &header[126..] {
        b"IM" => false,
        b"MI" => true,
        _ => return Err(no_mat_file.into()),
    };
    let mut elements = Elements { bytes: &bytes[HEADER..], is_big_endian };
    let mut found = Vec::new();
    while let Some((kind, content)) = elements.next().map_err(|reason| of_file(&reason))? {
        let mut inflated = Vec::new();
        let (kind, content) = if kind == COMPRESSED {
            ZlibDecoder::new(content).read_to_end(&mut inflated).map_err(|error| of_file(&error.to_string()))?;
            match (Elements { bytes: &inflated, is_big_endian }).next().map_err(|reason| of_file(&reason))? {
                Some(element) => element,
                None => continue,
            }
        } else {
            (kind, content)
        };
        if kind == MATRIX {
            let mut inner = Elements { bytes: content, is_big_endian };
            inner.array("", 0, &mut found).map_err(|reason| of_file(&reason))?;
        }
    }
    Ok(found)
}

/// Writes a dense matrix as the variable `x`.
pub(super) fn write<T: Scalar>(path: &Path, rows: usize, cols: usize, values: &[T]) -> Result<(), Failure> {
    let parts = T::COMPONENTS;
    let (Ok(bytes), Ok(high), Ok(wide)) =
        (u32::try_from(40 + (8 + 8 * values.len()) * parts), i32::try_from(rows), i32::try_from(cols))
    else {
        return Err(fault(path, "an array of 4 GiB or more does not fit the format; write .npy or .mtx"));
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
    std::fs::File::create(path).and_then(|mut file| file.write_all(&out)).map_err(|error| fault(path, error))
}
