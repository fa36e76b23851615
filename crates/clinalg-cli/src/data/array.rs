//! Arrays of numbers in files: `.npy`, `.npz`, and text in rows.

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufReader, BufWriter, Error, ErrorKind, Seek, SeekFrom, Write};
use std::path::Path;

use clinalg::Complex;
use clinalg::io::{AtomicFile, read_text};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::Values;
pub(crate) use super::npy::Limits;
use super::npy::{self, Npy, Number, Numbers};
use super::source::{Part, Source};
use crate::exit::Failure;
use crate::paths::ending;

/// An array, the last index fastest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Array {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f64>,
}

/// Extensions of the files that [`Array::read`] reads.
pub(crate) const READABLE: [&str; 4] = ["npy", "npz", "csv", "txt"];

impl Array {
    /// Reads the array of a file; of several in a `.npz` the one called `name`, of at most `most` values.
    ///
    /// # Errors
    /// [`Failure::File`].
    pub(crate) fn read(path: &Path, name: &str, most: usize) -> Result<Array, Failure> {
        match ending(path).as_str() {
            "npy" => real(read_numbers(path, None, Limits::NONE)?).map_err(|reason| Failure::file(path, reason)),
            "npz" => Array::read_npz(path, name, most),
            "csv" | "txt" => {
                let text = read_text(path).map_err(|error| Failure::file(path, error))?;
                rows(&text).map_err(|reason| Failure::file(path, reason))
            }
            _ => Err(Failure::file(path, format!("expected a file whose name ends in .{}", READABLE.join(", .")))),
        }
    }

    fn read_npz(path: &Path, name: &str, most: usize) -> Result<Array, Failure> {
        let names = names(&npz(path)?);
        let name = match &names[..] {
            [only] => only.as_str(),
            _ if names.iter().any(|n| n == name) => name,
            _ => {
                let message = format!("the file has the arrays {}; expected one called {name}", names.join(", "));
                return Err(Failure::file(path, message));
            }
        };
        Array::read_named(path, name, Limits { values: most, compressed: None })
    }

    /// Reads the array `name` of a `.npz`.
    pub(crate) fn read_named(path: &Path, name: &str, limits: Limits) -> Result<Array, Failure> {
        real(read_numbers(path, Some(name), limits)?)
            .map_err(|reason| Failure::file(path, format!("array {name} {reason}")))
    }
}

fn real(Npy { shape, numbers }: Npy) -> Result<Array, String> {
    match numbers {
        Numbers::Real(values) => Ok(Array { shape, values }),
        Numbers::Complex(_) => Err("has complex numbers, expected real ones".into()),
    }
}

/// The shape and the values of an array of complex numbers, the last index fastest.
pub(crate) type ComplexArray = (Vec<usize>, Vec<Complex<f64>>);

/// An array of real or of complex numbers.
pub(crate) enum Either {
    Real(Array),
    Complex(ComplexArray),
}

/// The array of a `.npy`, or the array `name` of a `.npz`.
pub(crate) fn read_either(path: &Path, name: Option<&str>, limits: Limits) -> Result<Either, Failure> {
    let Npy { shape, numbers } = read_numbers(path, name, limits)?;
    Ok(match numbers {
        Numbers::Real(values) => Either::Real(Array { shape, values }),
        Numbers::Complex(values) => Either::Complex((shape, values)),
    })
}

fn read_numbers(path: &Path, name: Option<&str>, limits: Limits) -> Result<Npy, Failure> {
    read_from(path, name, |source| npy::read(source, limits))
}

/// The whole numbers, from 0 on, of the array `name` of a `.npz`.
pub(crate) fn read_indices(path: &Path, name: &str, limits: Limits) -> Result<Vec<usize>, Failure> {
    read_from(path, Some(name), |source| npy::read_indices(source, limits))
}

/// Arrays of more bytes are read by threads where they are not compressed.
const LARGE: u64 = 1 << 20;

/// Reads a `.npy`, or the array `name` of a `.npz`.
fn read_from<A>(
    path: &Path,
    name: Option<&str>,
    read: impl FnOnce(Source<'_>) -> Result<A, String>,
) -> Result<A, Failure> {
    let Some(name) = name else {
        let file = File::open(path).map_err(|error| Failure::file(path, error))?;
        let read = match file.metadata() {
            Ok(about) if about.is_file() && about.len() > LARGE => {
                read(Source::Part(Part::new(&file, 0, about.len(), None)))
            }
            _ => read(Source::Stream(&mut BufReader::new(file))),
        };
        return read.map_err(|reason| Failure::file(path, format!("the file {reason}")));
    };
    let mut archive = npz(path)?;
    let there = names(&archive).join(", ");
    let mut member = archive.by_name(&format!("{name}.npy")).map_err(|error| match error {
        ZipError::FileNotFound => {
            let there = if there.is_empty() { "no arrays".to_owned() } else { format!("the arrays {there}") };
            Failure::file(path, format!("the file has {there}; expected an array called {name}"))
        }
        error => Failure::file(path, format!("array {name} is damaged ({error}); {AGAIN}")),
    })?;
    let is_large = member.compression() == CompressionMethod::Stored && member.size() > LARGE;
    let read = if is_large {
        let (start, length, checksum) = (member.data_start(), member.size(), member.crc32());
        drop(member);
        read(Source::Part(Part::new(archive.into_inner().get_ref(), start, length, Some(checksum))))
    } else {
        read(Source::Stream(&mut member))
    };
    read.map_err(|reason| Failure::file(path, format!("array {name} {reason}")))
}

/// Writes a `.npy` of complex numbers.
pub(crate) fn write_npy_complex(path: &Path, shape: &[usize], values: &[Complex<f64>]) -> Result<(), Failure> {
    write_elements(path, shape, values)
}

fn write_elements<T: Number>(path: &Path, shape: &[usize], values: &[T]) -> Result<(), Failure> {
    let written = AtomicFile::create(path).and_then(|mut file| {
        npy::write(&mut BufWriter::new(&mut file), shape, values)?;
        file.commit()
    });
    written.map_err(|error| Failure::file(path, error))
}

/// Reads the array `name` of bytes of a `.npz`.
pub(crate) fn read_bytes(path: &Path, name: &str, limits: Limits) -> Result<Vec<u8>, Failure> {
    Ok(Array::read_named(path, name, limits)?.values.into_iter().map(|byte| byte as u8).collect())
}

/// What an archive that cannot be read needs.
const AGAIN: &str = "copy it again, or write it again with scipy.sparse.save_npz or numpy.savez";

/// Opens a `.npz`.
pub(crate) fn npz(path: &Path) -> Result<ZipArchive<BufReader<File>>, Failure> {
    let file = File::open(path).map_err(|error| Failure::file(path, error))?;
    let is_empty = file.metadata().is_ok_and(|about| about.is_file() && about.len() == 0);
    ZipArchive::new(BufReader::new(file)).map_err(|error| match error {
        ZipError::Io(error) if error.kind() != ErrorKind::UnexpectedEof => Failure::file(path, error),
        _ if is_empty => Failure::file(path, format!("the file is empty, expected an archive of arrays; {AGAIN}")),
        _ => {
            Failure::file(path, format!("the file is not an archive of arrays (.npz), or its end is missing; {AGAIN}"))
        }
    })
}

/// The arrays of an archive.
fn names(archive: &ZipArchive<BufReader<File>>) -> Vec<String> {
    archive.file_names().map(|name| name.strip_suffix(".npy").unwrap_or(name).to_owned()).collect()
}

/// Rows of numbers with commas, semicolons or blanks between them; a first row of words and lines that begin with # are passed over.
fn rows(text: &str) -> Result<Array, String> {
    let mut values: Vec<f64> = Vec::new();
    let (mut columns, mut count) = (0, 0);
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let words = line.split(|c: char| c == ',' || c == ';' || c.is_whitespace()).filter(|word| !word.is_empty());
        let before = values.len();
        let mut wrong = None;
        for word in words {
            match word.parse() {
                Ok(value) => values.push(value),
                Err(_) => wrong = Some(word),
            }
        }
        match wrong {
            Some(_) if count == 0 && values.is_empty() => continue,
            Some(word) => return Err(format!("line {}: `{word}` is not a number", number + 1)),
            None => {}
        }
        let width = values.len() - before;
        if count > 0 && width != columns {
            return Err(format!("line {}: {width} numbers, {columns} in the rows before", number + 1));
        }
        (columns, count) = (width, count + 1);
    }
    Ok(Array { shape: vec![count, columns], values })
}

/// What an array of a file to be written holds.
pub(crate) enum Content<'a> {
    Numbers { shape: Vec<usize>, values: &'a Values },
    Bytes(&'a [u8]),
}

/// Writes a `.npy`.
pub(crate) fn write_npy(path: &Path, shape: &[usize], values: &Values) -> Result<(), Failure> {
    match values {
        Values::F32(values) => write_elements(path, shape, values),
        Values::F64(values) => write_elements(path, shape, values),
    }
}

/// Whether a `.npz` is compressed: rounded numbers hardly shrink, and that takes most of the time of writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Plain,
    Compressed,
}

/// The file of an archive. Its first error is kept for the caller and ends the writing: the archive's own writer would report it on stderr.
struct Archive<'a> {
    file: &'a mut AtomicFile,
    refused: &'a RefCell<Option<Error>>,
    position: u64,
    end: u64,
}

impl Archive<'_> {
    fn keep(&self, written: Result<(), Error>) {
        if let Err(error) = written {
            self.refused.borrow_mut().get_or_insert(error);
        }
    }

    fn is_refused(&self) -> bool {
        self.refused.borrow().is_some()
    }
}

impl Write for Archive<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        if !self.is_refused() {
            let written = self.file.write_all(bytes);
            self.keep(written);
        }
        self.position += bytes.len() as u64;
        self.end = self.end.max(self.position);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Error> {
        if !self.is_refused() {
            let flushed = self.file.flush();
            self.keep(flushed);
        }
        Ok(())
    }
}

impl Seek for Archive<'_> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64, Error> {
        let (from, offset) = match to {
            SeekFrom::Start(position) => (position, 0),
            SeekFrom::Current(offset) => (self.position, offset),
            SeekFrom::End(offset) => (self.end, offset),
        };
        self.position = from.checked_add_signed(offset).ok_or(ErrorKind::InvalidInput)?;
        if !self.is_refused() {
            let found = self.file.seek(SeekFrom::Start(self.position)).map(drop);
            self.keep(found);
        }
        Ok(self.position)
    }
}

/// Writes a `.npz`.
pub(crate) fn write_npz(path: &Path, packing: Packing, arrays: &[(&str, Content<'_>)]) -> Result<(), Failure> {
    let method = match packing {
        Packing::Plain => CompressionMethod::Stored,
        Packing::Compressed => CompressionMethod::Deflated,
    };
    let options = SimpleFileOptions::default().compression_method(method);
    let mut target = AtomicFile::create(path).map_err(|error| Failure::file(path, error))?;
    let refused = RefCell::new(None);
    let archive = Archive { file: &mut target, refused: &refused, position: 0, end: 0 };
    let write = || {
        let mut file = ZipWriter::new(archive);
        for (name, content) in arrays {
            file.start_file(format!("{name}.npy"), options)?;
            let part = &mut BufWriter::new(&mut file);
            match content {
                Content::Numbers { shape, values: Values::F32(values) } => npy::write(part, shape, values)?,
                Content::Numbers { shape, values: Values::F64(values) } => npy::write(part, shape, values)?,
                Content::Bytes(bytes) => npy::write(part, &[bytes.len()], bytes)?,
            }
            if refused.borrow().is_some() {
                break;
            }
        }
        file.finish().map(drop)
    };
    write().map_err(|error: ZipError| Failure::file(path, error))?;
    if let Some(error) = refused.into_inner() {
        return Err(Failure::file(path, error));
    }
    target.commit().map_err(|error| Failure::file(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_numbers_are_read_with_or_without_a_header() {
        let want = Array { shape: vec![2, 3], values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] };
        for text in ["1,2,3\n4,5,6\n", "a;b;c\n1;2;3\n\n4; 5 ;6e0", "# x\n 1 2 3\n4\t5 6\n"] {
            assert_eq!(rows(text).as_ref(), Ok(&want), "{text}");
        }
        assert!(rows("1 2\n3\n").unwrap_err().contains("line 2"));
        assert!(rows("1 2\n3 x\n").unwrap_err().contains("`x`"));
    }

    #[test]
    fn numpys_files_come_back_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let values = Values::F32(vec![0.1, -2.5, 3.0, 4.0, 5.0, 6.0]);
        let want = Array { shape: vec![3, 2], values: vec![f64::from(0.1_f32), -2.5, 3.0, 4.0, 5.0, 6.0] };
        let npy = folder.path().join("a.npy");
        write_npy(&npy, &[3, 2], &values).unwrap();
        assert_eq!(Array::read(&npy, "u", 6).unwrap(), want);
        let npz = folder.path().join("a.npz");
        let other = Values::F64(vec![7.0]);
        let arrays = [
            ("v", Content::Numbers { shape: vec![1], values: &other }),
            ("u", Content::Numbers { shape: vec![3, 2], values: &values }),
        ];
        write_npz(&npz, Packing::Compressed, &arrays).unwrap();
        assert_eq!(Array::read(&npz, "u", 6).unwrap(), want);
        assert!(Array::read(&npz, "w", 6).unwrap_err().message().contains("v, u"));
        // The header of NumPy's format 1.0 for a matrix of int32 in Fortran's order.
        let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        let header = "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 2), }";
        bytes.extend(format!("{header:<117}\n").bytes());
        bytes.extend([1_i32, 2, 3, 4].iter().flat_map(|v| v.to_le_bytes()));
        std::fs::write(&npy, bytes).unwrap();
        assert_eq!(Array::read(&npy, "u", 6).unwrap(), Array { shape: vec![2, 2], values: vec![1.0, 3.0, 2.0, 4.0] });
    }
}
