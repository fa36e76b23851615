//! Arrays in the format of NumPy, version 1.0: a header that is a Python dictionary, then the numbers.

use std::io::{Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use clinalg::Precision;
use clinalg::io::AtomicFile;
use clinalg_ode::problems::Problem;

use super::{Sink, Values};
use crate::exit::Failure;

/// Frames, fields, then the axes of the grid from the slowest: an array in C order.
pub(super) struct Npy {
    path: PathBuf,
    file: AtomicFile,
    precision: Precision,
    /// What follows the number of frames.
    shape: Vec<usize>,
    frames: usize,
}

/// Bytes before the numbers, a multiple of 64; room for the shape and a number of frames of any length.
const HEADER: usize = 192;
const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";

impl Npy {
    pub(super) fn new(path: &Path, problem: &Problem, precision: Precision) -> Result<Npy> {
        let system = &problem.system;
        let axes = if system.grid().points() == 1 { &[] } else { system.grid().shape() };
        let shape = [system.fields().len()].iter().chain(axes.iter().rev()).copied().collect();
        let file = AtomicFile::create(path)?;
        let mut npy = Npy { path: path.to_owned(), file, precision, shape, frames: 0 };
        npy.header()?;
        Ok(npy)
    }

    fn header(&mut self) -> Result<()> {
        let kind = if self.precision == Precision::F32 { "<f4" } else { "<f8" };
        let shape: Vec<String> = [self.frames].iter().chain(&self.shape).map(usize::to_string).collect();
        let text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}), }}", shape.join(", "));
        let length = HEADER - MAGIC.len() - 2;
        self.file.write_all(MAGIC)?;
        self.file.write_all(&(length as u16).to_le_bytes())?;
        writeln!(self.file, "{text:width$}", width = length - 1)
    }
}

impl Sink for Npy {
    fn keep(&mut self, _: &Problem, _: f64, values: &Values<'_>) -> Result<()> {
        self.frames += 1;
        match values {
            Values::Single(values) => values.iter().try_for_each(|v| self.file.write_all(&v.to_le_bytes())),
            Values::Double(values) => values.iter().try_for_each(|v| self.file.write_all(&v.to_le_bytes())),
        }
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        self.header()?;
        self.file.commit()
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

/// The numbers of an array of real floating-point numbers in C order.
///
/// # Errors
/// [`Failure::File`].
pub(crate) fn read(path: &Path) -> std::result::Result<Vec<f64>, Failure> {
    let fail = |reason: &str| Failure::File { path: path.to_owned(), reason: reason.to_owned() };
    let bytes = clinalg::io::read_bytes(path).map_err(|error| fail(&error.to_string()))?;
    let short = || fail("the file ends before its header does");
    if !bytes.starts_with(&MAGIC[..6]) {
        return Err(fail("not an array of NumPy (.npy)"));
    }
    // Version 1 has two bytes for the length of the header, later ones four.
    let (begin, length) = match bytes.get(6).ok_or_else(short)? {
        1 => (10, bytes.get(8..10).map(|b| usize::from(u16::from_le_bytes([b[0], b[1]])))),
        _ => (12, bytes.get(8..12).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize)),
    };
    let end = begin + length.ok_or_else(short)?;
    let header = String::from_utf8_lossy(bytes.get(begin..end).ok_or_else(short)?).into_owned();
    if header.replace(' ', "").contains("'fortran_order':True") {
        return Err(fail("the array is in Fortran order; save numpy.ascontiguousarray of it"));
    }
    let body = &bytes[end..];
    if header.contains("'<f8'") {
        let numbers = body.as_chunks::<8>();
        if numbers.1.is_empty() {
            return Ok(numbers.0.iter().map(|b| f64::from_le_bytes(*b)).collect());
        }
    } else if header.contains("'<f4'") {
        let numbers = body.as_chunks::<4>();
        if numbers.1.is_empty() {
            return Ok(numbers.0.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect());
        }
    } else {
        return Err(fail("expected little-endian floating-point numbers, `<f8` or `<f4`"));
    }
    Err(fail("the file ends inside a number"))
}
