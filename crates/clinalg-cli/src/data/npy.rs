//! NumPy's arrays, read and written: *NEP 1, A Simple File Format for NumPy Arrays*.

use std::io::{ErrorKind, Read, Write};

use clinalg::Complex;
use clinalg::io::check_expansion;

use super::source::Source;

/// The first bytes of a file.
const MAGIC: &[u8] = b"\x93NUMPY";
/// A header that is longer is damaged.
const LONGEST_HEADER: u64 = 1 << 16;
/// Bytes that are read at once, a multiple of those of each element.
const CHUNK: usize = 1 << 16;
/// What a file that ends early needs.
const AGAIN: &str = "copy it again, or write it again with numpy.save";

/// The values of an array, the last index fastest.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Numbers {
    Real(Vec<f64>),
    Complex(Vec<Complex<f64>>),
}

/// An array with its shape.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Npy {
    pub(super) shape: Vec<usize>,
    pub(super) numbers: Numbers,
}

/// What a header says.
#[derive(Debug)]
struct Header {
    element: Element,
    is_big_endian: bool,
    is_by_columns: bool,
    shape: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Bool,
    Signed(usize),
    Unsigned(usize),
    Float(usize),
    /// With so many bytes in each part.
    Complex(usize),
}

impl Element {
    fn bytes(self) -> usize {
        match self {
            Element::Bool => 1,
            Element::Signed(bytes) | Element::Unsigned(bytes) | Element::Float(bytes) => bytes,
            Element::Complex(bytes) => 2 * bytes,
        }
    }

    /// By the letters of NumPy without the order of the bytes.
    fn of(letters: &str) -> Option<Element> {
        let bytes = letters.get(1..)?.parse().ok()?;
        match (letters.as_bytes()[0], bytes) {
            (b'b', 1) => Some(Element::Bool),
            (b'i', 1 | 2 | 4 | 8) => Some(Element::Signed(bytes)),
            (b'u', 1 | 2 | 4 | 8) => Some(Element::Unsigned(bytes)),
            (b'f', 2 | 4 | 8) => Some(Element::Float(bytes)),
            (b'c', 8 | 16) => Some(Element::Complex(bytes / 2)),
            _ => None,
        }
    }
}

/// How much of an array is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Number of values.
    pub(crate) values: usize,
    /// Bytes of the file that the array is compressed to, which limit the memory that its values take.
    pub(crate) compressed: Option<u64>,
}

impl Limits {
    pub(crate) const NONE: Limits = Limits { values: usize::MAX, compressed: None };
}

/// Reads an array, which must be all that the source has. Memory is allocated for the bytes that are there, whatever the shape says.
pub(super) fn read(mut source: Source<'_>, limits: Limits) -> Result<Npy, String> {
    let header = header(&mut source)?;
    let numbers = match header.element {
        Element::Complex(_) => Numbers::Complex(values(&header, source, limits)?),
        _ => Numbers::Real(values(&header, source, limits)?),
    };
    Ok(Npy { shape: header.shape, numbers })
}

/// Reads an array of whole numbers from 0 on.
pub(super) fn read_indices(mut source: Source<'_>, limits: Limits) -> Result<Vec<usize>, String> {
    let header = header(&mut source)?;
    if matches!(header.element, Element::Complex(_)) {
        return Err("has complex numbers, expected real ones".into());
    }
    values(&header, source, limits)
}

/// The values that follow a header, the last index fastest.
fn values<N: Item>(header: &Header, source: Source<'_>, limits: Limits) -> Result<Vec<N>, String> {
    let Header { element, is_big_endian, is_by_columns, ref shape } = *header;
    let count = shape.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent));
    let size = count.and_then(|count| count.checked_mul(element.bytes()));
    let (Some(count), Some(size)) = (count, size) else {
        return Err(format!("is damaged: the shape {} has more values than can be counted", shown(shape)));
    };
    if count > limits.values {
        return Err(format!("has {count} values, expected at most {}", limits.values));
    }
    if let Some(compressed) = limits.compressed {
        let needed = (count as u64).saturating_mul(size_of::<N>() as u64);
        check_expansion(needed, compressed).map_err(|reason| format!("is out of proportion: {reason}"))?;
    }
    let ends = |read: u64| format!("ends after {read} of the {size} bytes of its values; {AGAIN}");
    let goes_on = || format!("has more bytes than the {size} of the {} values of its header", shown(shape));
    let decode = |bytes: &[u8], out: &mut [N]| N::decode(bytes, element, is_big_endian, out);
    let (values, is_sound) = match source {
        Source::Part(part) => {
            match part.left() {
                left if left < size as u64 => return Err(ends(left)),
                left if left > size as u64 => return Err(goes_on()),
                _ => {}
            }
            let mut values = zeros(count)?;
            let is_sound = part.fill(&mut values, element.bytes(), decode).map_err(damaged)?;
            (values, is_sound)
        }
        Source::Stream(stream) => {
            let (mut values, mut bytes, mut is_sound) = (Vec::new(), Vec::new(), true);
            let mut left = size;
            while left > 0 {
                let wanted = left.min(CHUNK);
                bytes.clear();
                stream.take(wanted as u64).read_to_end(&mut bytes).map_err(damaged)?;
                if bytes.len() < wanted {
                    return Err(ends((size - left + bytes.len()) as u64));
                }
                let (known, more) = (values.len(), wanted / element.bytes());
                values.try_reserve(more).map_err(|_| NO_MEMORY)?;
                values.resize(known + more, N::default());
                is_sound &= decode(&bytes, &mut values[known..]);
                left -= wanted;
            }
            if stream.take(1).read_to_end(&mut Vec::new()).map_err(damaged)? > 0 {
                return Err(goes_on());
            }
            (values, is_sound)
        }
    };
    match is_sound {
        true if is_by_columns => Ok(by_rows(shape, &values)),
        true => Ok(values),
        false => Err("has a value that is not an index, expected 0, 1, ...".into()),
    }
}

/// So many zeros, whose memory the system provides as they are written.
fn zeros<N: Item>(count: usize) -> Result<Vec<N>, &'static str> {
    Vec::<N>::new().try_reserve_exact(count).map_err(|_| NO_MEMORY)?;
    Ok(vec![N::default(); count])
}

const NO_MEMORY: &str = "does not fit memory";

fn damaged(error: std::io::Error) -> String {
    if error.kind() == ErrorKind::OutOfMemory {
        return NO_MEMORY.into();
    }
    format!("is damaged ({error}); {AGAIN}")
}

fn shown(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ")
}

fn header(source: &mut dyn Read) -> Result<Header, String> {
    let mut some = |bytes: u64| -> Result<Vec<u8>, String> {
        let mut read = Vec::new();
        source.take(bytes).read_to_end(&mut read).map_err(damaged)?;
        Ok(read)
    };
    let first = some(8)?;
    match first.strip_prefix(MAGIC) {
        _ if first.is_empty() => return Err("is empty, expected an array written by numpy.save".into()),
        None if MAGIC.starts_with(&first) => return Err(format!("ends within its header; {AGAIN}")),
        None => return Err("is not an array of NumPy, expected a file written by numpy.save".into()),
        Some(_) => {}
    }
    let width = if first.get(6) == Some(&1) { 2 } else { 4 };
    let length = some(width)?;
    let length = length.iter().rev().fold(0, |length, &byte| length << 8 | u64::from(byte));
    if length > LONGEST_HEADER {
        return Err(format!("is damaged: a header of {length} bytes"));
    }
    let text = some(length)?;
    if text.is_empty() || (text.len() as u64) < length {
        return Err(format!("ends within its header; {AGAIN}"));
    }
    let text = String::from_utf8_lossy(&text);
    let value = |key: &str| {
        let at = text.find(key).map(|at| at + key.len());
        let rest = at.and_then(|at| text[at..].trim_start().strip_prefix(':'));
        rest.map(str::trim_start).ok_or_else(|| format!("is damaged: its header lacks {key}"))
    };
    let (kind, order, shape) = (value("'descr'")?, value("'fortran_order'")?, value("'shape'")?);
    let extents = shape.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(extents, _)| {
        let extents = extents.split(',').map(str::trim).filter(|extent| !extent.is_empty());
        extents.map(|extent| extent.trim_end_matches('L').parse().ok()).collect::<Option<Vec<usize>>>()
    });
    let shape = extents.flatten().ok_or("is damaged: its header has no shape")?;
    let letters = kind.strip_prefix('\'').and_then(|rest| rest.split_once('\'')).map(|(letters, _)| letters);
    let known = letters.and_then(|letters| Element::of(letters.trim_start_matches(['<', '>', '|', '='])));
    let element = known.ok_or_else(|| {
        let kind = match letters {
            Some(letters) => format!("values of NumPy's type `{}`", letters.escape_debug()),
            None => "records of several values".to_owned(),
        };
        let expected = "expected booleans, integers, or real or complex numbers of at most double precision";
        format!("has {kind}, {expected}; convert it with A.astype(float)")
    })?;
    let is_big_endian = letters.is_some_and(|letters| letters.starts_with('>'));
    Ok(Header { element, is_big_endian, is_by_columns: order.starts_with("True"), shape })
}

/// What the elements of an array become.
trait Item: Copy + Default + Send {
    /// Makes the numbers of these elements. Returns whether all of them can be represented.
    fn decode(bytes: &[u8], element: Element, is_big_endian: bool, out: &mut [Self]) -> bool;
}

impl Item for f64 {
    fn decode(bytes: &[u8], element: Element, is_big_endian: bool, out: &mut [f64]) -> bool {
        macro_rules! numbers {
            ($kind:ty, $number:expr) => {{
                let elements = bytes.chunks_exact(size_of::<$kind>()).map(|bytes| bytes.try_into().expect("whole"));
                match is_big_endian {
                    true => out.iter_mut().zip(elements).for_each(|(v, e)| *v = $number(<$kind>::from_be_bytes(e))),
                    false => out.iter_mut().zip(elements).for_each(|(v, e)| *v = $number(<$kind>::from_le_bytes(e))),
                }
            }};
            ($kind:ty) => {
                numbers!($kind, |number| number as f64)
            };
        }
        match element {
            Element::Bool => numbers!(u8, |byte| f64::from(u8::from(byte != 0))),
            Element::Float(2) | Element::Complex(2) => numbers!(u16, half),
            Element::Float(4) | Element::Complex(4) => numbers!(f32),
            Element::Float(_) | Element::Complex(_) => numbers!(f64),
            Element::Signed(1) => numbers!(i8),
            Element::Signed(2) => numbers!(i16),
            Element::Signed(4) => numbers!(i32),
            Element::Signed(_) => numbers!(i64),
            Element::Unsigned(1) => numbers!(u8),
            Element::Unsigned(2) => numbers!(u16),
            Element::Unsigned(4) => numbers!(u32),
            Element::Unsigned(_) => numbers!(u64),
        }
        true
    }
}

impl Item for Complex<f64> {
    fn decode(bytes: &[u8], element: Element, is_big_endian: bool, out: &mut [Complex<f64>]) -> bool {
        let mut parts = vec![0.0; 2 * out.len()];
        f64::decode(bytes, element, is_big_endian, &mut parts);
        out.iter_mut().zip(parts.chunks_exact(2)).for_each(|(value, part)| *value = Complex::new(part[0], part[1]));
        true
    }
}

/// Whole numbers from 0 on.
impl Item for usize {
    fn decode(bytes: &[u8], element: Element, is_big_endian: bool, out: &mut [usize]) -> bool {
        let mut is_sound = true;
        macro_rules! numbers {
            ($kind:ty) => {{
                let elements = bytes.chunks_exact(size_of::<$kind>()).map(|bytes| bytes.try_into().expect("whole"));
                out.iter_mut().zip(elements).for_each(|(value, element)| {
                    let (big, little) = (<$kind>::from_be_bytes(element), <$kind>::from_le_bytes(element));
                    let index = usize::try_from(if is_big_endian { big } else { little });
                    is_sound &= index.is_ok();
                    *value = index.unwrap_or(0);
                });
            }};
        }
        match element {
            Element::Signed(4) => numbers!(i32),
            Element::Signed(8) => numbers!(i64),
            Element::Unsigned(4) => numbers!(u32),
            Element::Unsigned(8) => numbers!(u64),
            _ => {
                let mut numbers = vec![0.0; out.len()];
                f64::decode(bytes, element, is_big_endian, &mut numbers);
                out.iter_mut().zip(numbers).for_each(|(value, number)| {
                    is_sound &= number >= 0.0 && number.fract() == 0.0;
                    *value = number as usize;
                });
            }
        }
        is_sound
    }
}

/// A number of half precision: 5 bits of exponent and 10 of fraction.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// What an array that is written consists of.
pub(super) trait Number: Copy {
    /// NumPy's letters of the type.
    const LETTERS: &'static str;
    /// Writes the bytes, the lowest first.
    fn write(self, target: &mut dyn Write) -> std::io::Result<()>;
}

impl Number for u8 {
    const LETTERS: &'static str = "|u1";

    fn write(self, target: &mut dyn Write) -> std::io::Result<()> {
        target.write_all(&[self])
    }
}

impl Number for f32 {
    const LETTERS: &'static str = "<f4";

    fn write(self, target: &mut dyn Write) -> std::io::Result<()> {
        target.write_all(&self.to_le_bytes())
    }
}

impl Number for f64 {
    const LETTERS: &'static str = "<f8";

    fn write(self, target: &mut dyn Write) -> std::io::Result<()> {
        target.write_all(&self.to_le_bytes())
    }
}

impl Number for Complex<f64> {
    const LETTERS: &'static str = "<c16";

    fn write(self, target: &mut dyn Write) -> std::io::Result<()> {
        self.re.write(target)?;
        self.im.write(target)
    }
}

/// Writes an array, the last index fastest, in version 1.0 of the format.
pub(super) fn write<T: Number>(target: &mut dyn Write, shape: &[usize], values: &[T]) -> std::io::Result<()> {
    assert_eq!(shape.iter().product::<usize>(), values.len(), "the values fill the shape");
    write_header(target, T::LETTERS, shape, 0)?;
    values.iter().try_for_each(|value| value.write(target))?;
    target.flush()
}

/// Writes what stands before the numbers, in at least so many bytes.
pub(crate) fn write_header(target: &mut dyn Write, dtype: &str, shape: &[usize], least: usize) -> std::io::Result<()> {
    let extents = match shape {
        [extent] => format!("{extent},"),
        _ => shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    };
    let text = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({extents})}}");
    // The numbers begin at a multiple of 64 bytes, behind the first 6 bytes, 2 of the version, 2 of the length, and a line's end.
    let before = MAGIC.len() + 4;
    let begin = ((before + text.len() + 1) / 64 * 64 + 64).max(least);
    let length = begin - before;
    target.write_all(MAGIC)?;
    target.write_all(&[1, 0])?;
    target.write_all(&u16::try_from(length).expect("a shape has few extents").to_le_bytes())?;
    writeln!(target, "{text:width$}", width = length - 1)
}

/// Values with the first index fastest, in the order with the last index fastest.
fn by_rows<T: Copy>(shape: &[usize], values: &[T]) -> Vec<T> {
    let mut strides = Vec::with_capacity(shape.len());
    shape.iter().fold(1, |stride, extent| {
        strides.push(stride);
        stride * extent
    });
    let mut index = vec![0; shape.len()];
    let mut at = 0;
    let mut next = || {
        let value = values[at];
        for axis in (0..shape.len()).rev() {
            (index[axis], at) = (index[axis] + 1, at + strides[axis]);
            if index[axis] < shape[axis] {
                break;
            }
            (index[axis], at) = (0, at - shape[axis] * strides[axis]);
        }
        value
    };
    values.iter().map(|_| next()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::source::Part;
    use super::*;

    fn file(descr: &str, by_columns: &str, shape: &str, values: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': {descr}, 'fortran_order': {by_columns}, 'shape': {shape}, }}");
        let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        bytes.extend(format!("{header:<117}\n").bytes());
        bytes.extend(values);
        bytes
    }

    /// Reads the same bytes one after the other, and as a part of a file.
    fn read_all(bytes: &[u8], limits: Limits) -> Result<Npy, String> {
        let streamed = read(Source::Stream(&mut &bytes[..]), limits);
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[b"some bytes", bytes, b"more"].concat()).unwrap();
        let part = read(Source::Part(Part::new(&file, 10, bytes.len() as u64, Some(crc32fast::hash(bytes)))), limits);
        // NaN differs from itself.
        assert_eq!(format!("{streamed:?}"), format!("{part:?}"));
        streamed
    }

    fn real(descr: &str, values: &[u8]) -> Vec<f64> {
        let count = values.len() / descr[2..].parse::<usize>().unwrap();
        let bytes = file(&format!("'{descr}'"), "False", &format!("({count},)"), values);
        match read_all(&bytes, Limits::NONE).unwrap() {
            Npy { shape, numbers: Numbers::Real(values) } if shape == [count] => values,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_type_of_number_is_read() {
        assert_eq!(real("|b1", &[0, 1, 1]), [0.0, 1.0, 1.0]);
        assert_eq!(real("|u1", &[0, 255]), [0.0, 255.0]);
        assert_eq!(real("|i1", &[1, 255]), [1.0, -1.0]);
        assert_eq!(real("<i2", &[1, 0, 255, 255]), [1.0, -1.0]);
        assert_eq!(real("<u8", &7u64.to_le_bytes()), [7.0]);
        assert_eq!(real(">f8", &2.5f64.to_be_bytes()), [2.5]);
        assert_eq!(real("<f4", &2.5f32.to_le_bytes()), [2.5]);
        // 1, -2, the largest number, the smallest one, infinity.
        let halves: Vec<u8> =
            [0x3c00u16, 0xc000, 0x7bff, 0x0001, 0x7c00].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(real("<f2", &halves), [1.0, -2.0, 65504.0, 2f64.powi(-24), f64::INFINITY]);
        assert!(real("<f2", &0x7e00u16.to_le_bytes())[0].is_nan());
        let bytes = file("'<c8'", "False", "(1, 1)", &[1f32, -2.0].map(f32::to_le_bytes).concat());
        let numbers = read_all(&bytes, Limits::NONE).unwrap().numbers;
        assert_eq!(numbers, Numbers::Complex(vec![Complex::new(1.0, -2.0)]));
    }

    /// Against what `numpy.save` of numpy.array([1, -2], "<f4") and of its kin writes, but for the comma before the closing
    /// brace, for which its headers are padded.
    #[test]
    fn arrays_are_written_as_numpy_reads_them() {
        let written = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = Vec::new();
            write(&mut bytes);
            bytes
        };
        let header = |text: &str| [b"\x93NUMPY\x01\0\x76\0", format!("{text:<117}\n").as_bytes()].concat();
        let row = written(&|out| write(out, &[2], &[1f32, -2.0]).unwrap());
        let want = header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}");
        assert_eq!(row, [&want[..], &[0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]].concat());
        let complex = written(&|out| write(out, &[1, 1], &[Complex::new(1.0, -2.0)]).unwrap());
        let want = header("{'descr': '<c16', 'fortran_order': False, 'shape': (1, 1)}");
        assert_eq!(complex, [&want[..], &[0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0]].concat());
        let none = written(&|out| write::<u8>(out, &[0], &[]).unwrap());
        assert_eq!(none, header("{'descr': '|u1', 'fortran_order': False, 'shape': (0,)}"));
        // A long shape, whose header takes 64 bytes more.
        let shape = [1; 30];
        let long = written(&|out| write(out, &shape, &[2.5f64]).unwrap());
        assert_eq!(long.len() % 64, 8);
        let found = read_all(&long, Limits::NONE).unwrap();
        let Npy { shape: read_shape, numbers: Numbers::Real(values) } = found else { panic!() };
        assert_eq!((&read_shape[..], &values[..]), (&shape[..], &[2.5][..]));
    }

    #[test]
    fn the_first_index_may_be_the_fastest() {
        let values: Vec<u8> = (0..24).collect();
        let bytes = file("'|u1'", "True", "(2, 3, 4)", &values);
        let Npy { shape, numbers: Numbers::Real(values) } = read_all(&bytes, Limits::NONE).unwrap() else { panic!() };
        let want = (0..2).flat_map(|i| (0..3).flat_map(move |j| (0..4).map(move |k| f64::from(i + 2 * j + 6 * k))));
        assert_eq!((shape, values), (vec![2, 3, 4], want.collect()));
    }

    #[test]
    fn faults_are_named() {
        let whole = file("'<f8'", "False", "(3,)", &[0; 24]);
        let with_more = [&whole[..], b"x"].concat();
        for (bytes, needle) in [
            (&b""[..], "is empty, expected"),
            (b"%%MatrixMarket matrix", "is not an array of NumPy"),
            (&whole[..4], "ends within its header"),
            (&whole[..50], "ends within its header"),
            (&whole[..whole.len() - 1], "ends after 23 of the 24 bytes"),
            (&with_more, "more bytes than the 24"),
            (&file("'<f8'", "False", "(1000000000000,)", &[0; 8]), "ends after 8 of"),
            (&file("'<f8'", "False", "(4294967296, 4294967296)", &[]), "more values than can be counted"),
            (&file("'|O'", "False", "(1,)", &[0; 8]), "NumPy's type `|O`"),
            (&file("'<f16'", "False", "(1,)", &[0; 16]), "NumPy's type `<f16`"),
            (&file("[('a', '<f8')]", "False", "(1,)", &[0; 8]), "records"),
            (&file("'<f8'", "False", "3", &[0; 24]), "no shape"),
        ] {
            let reason = read_all(bytes, Limits::NONE).unwrap_err();
            assert!(reason.contains(needle), "{reason}: {needle}");
        }
        let reason = |values, compressed| read_all(&whole, Limits { values, compressed }).unwrap_err();
        assert_eq!(reason(2, None), "has 3 values, expected at most 2");
        let zeros = file("'<f8'", "False", "(268435456,)", &[]);
        let few = Limits { values: usize::MAX, compressed: Some(2 << 20) };
        assert!(read_all(&zeros, few).unwrap_err().contains("2147483648 bytes of memory"));
    }
}
