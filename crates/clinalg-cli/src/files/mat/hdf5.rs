//! MATLAB's files of version 7.3: HDF5 files behind a header of 512 bytes, with a dataset for each full array and a group for each
//! sparse one.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use clinalg::Complex;
use hdf5_reader::error::Error;
use hdf5_reader::group::Group;
use hdf5_reader::{Attribute, ByteOrder, Dataset, Datatype, FileStorage, Hdf5File, OpenOptions};

use super::{Columns, DEEPEST, Kind, Parsed, Stored, indices, not_numeric, sparse};

/// The most that deflate compresses, so that a small file cannot ask for much memory.
const DEFLATE: usize = 1032;
/// Arrays of any file may have so many bytes.
const SMALL: usize = 1 << 20;
/// Groups of MATLAB's own: the elements of cell arrays, and objects.
const INTERNAL: [&str; 2] = ["#refs#", "#subsystem#"];
const FLOATING: [&str; 2] = ["double", "single"];
const WHOLE: [&str; 9] = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "logical"];

/// Where a variable is, or what is wrong with it.
enum Place {
    Full(Box<Dataset>, Numbers),
    Sparse(Group, Numbers),
    Damaged(String),
    /// Of another class.
    NotNumeric(String),
}

/// How values are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Floating,
    Whole,
}

impl Numbers {
    /// Those of a class; `None` where it has none.
    fn of_class(class: &str) -> Option<Numbers> {
        match class {
            class if FLOATING.contains(&class) => Some(Numbers::Floating),
            class if WHOLE.contains(&class) => Some(Numbers::Whole),
            _ => None,
        }
    }
}

/// A variable, or a field of one.
pub(super) struct Variable {
    pub(super) name: String,
    place: Place,
    /// Bytes that an array may have.
    limit: usize,
}

impl Variable {
    pub(super) fn kind(&self) -> Kind {
        match self.place {
            Place::Sparse(..) => Kind::Sparse,
            Place::Full(..) => Kind::Full,
            Place::Damaged(_) => Kind::Damaged,
            Place::NotNumeric(_) => Kind::NotNumeric,
        }
    }

    pub(super) fn read(self) -> Parsed<Stored> {
        match self.place {
            Place::Full(dataset, numbers) => dense(&dataset, numbers, self.limit),
            Place::Sparse(group, numbers) => sparse_of(&group, numbers, self.limit),
            Place::Damaged(reason) => Err(reason),
            Place::NotNumeric(class) => Err(not_numeric(&class)),
        }
    }
}

fn damaged(error: Error) -> String {
    format!("is damaged: {error}")
}

/// The variables of a file, with the fields of structures; where damage hides the names in a group, the variables with `usual` names.
pub(super) fn variables(path: &Path, usual: &[&'static str]) -> Parsed<Vec<Variable>> {
    let of_file = |error: Error| {
        format!("a damaged file of MATLAB 7.3 (HDF5): {error}; copy it again, or save it with `save -v7 FILE A`")
    };
    let length = std::fs::metadata(path).map_err(|error| error.to_string())?.len();
    let limit = usize::try_from(length).unwrap_or(usize::MAX).saturating_mul(DEFLATE).saturating_add(SMALL);
    let options = OpenOptions::default().with_chunk_cache_bytes(0).with_max_read_bytes(limit);
    let options = options.with_max_chunk_bytes(limit.min(hdf5_reader::DEFAULT_MAX_CHUNK_BYTES));
    let storage = Arc::new(FileStorage::open(path).map_err(of_file)?);
    let file = Hdf5File::from_storage_with_options(storage, options).map_err(of_file)?;
    let end = file.superblock().eof_address;
    if end > length {
        return Err(format!("the file ends after {length} of {end} bytes; copy it again"));
    }
    let mut walk = Walk { limit, usual, seen: HashSet::new(), found: Vec::new() };
    walk.group(&file.root_group().map_err(of_file)?, "", 0).map_err(of_file)?;
    Ok(walk.found)
}

struct Walk<'a> {
    limit: usize,
    usual: &'a [&'static str],
    /// Addresses of groups, which links may lead to again.
    seen: HashSet<u64>,
    found: Vec<Variable>,
}

impl Walk<'_> {
    fn group(&mut self, group: &Group, prefix: &str, depth: usize) -> Result<(), Error> {
        if depth > DEEPEST || !self.seen.insert(group.address()) {
            return Ok(());
        }
        let (groups, datasets) = match group.member_names() {
            Ok(names) => names,
            // A damaged member hides the names of the others.
            Err(error) => match self.usual_names(group, prefix) {
                Some(names) => names,
                None => return Err(error),
            },
        };
        for name in groups.iter().filter(|name| !INTERNAL.contains(&name.as_str())) {
            let (opened, name) = (group.group(name), format!("{prefix}{name}"));
            let inner = match opened {
                Ok(inner) => inner,
                Err(error) => {
                    self.enter(name, Place::Damaged(damaged(error)));
                    continue;
                }
            };
            match class(inner.attribute("MATLAB_class")) {
                Ok(Some(class)) if class == "struct" => {
                    if let Err(error) = self.group(&inner, &format!("{name}."), depth + 1) {
                        self.enter(name, Place::Damaged(damaged(error)));
                    }
                }
                Ok(Some(class)) => self.enter(
                    name,
                    match Numbers::of_class(&class) {
                        Some(numbers) => Place::Sparse(inner, numbers),
                        None => Place::NotNumeric(class),
                    },
                ),
                Ok(None) => self.enter(name, Place::Damaged(foreign())),
                Err(reason) => self.enter(name, Place::Damaged(reason)),
            }
        }
        for name in &datasets {
            let (opened, name) = (group.dataset(name), format!("{prefix}{name}"));
            let dataset = match opened {
                Ok(dataset) => dataset,
                Err(error) => {
                    self.enter(name, Place::Damaged(damaged(error)));
                    continue;
                }
            };
            match class(dataset.attribute("MATLAB_class")) {
                Ok(Some(class)) => self.enter(
                    name,
                    match Numbers::of_class(&class) {
                        Some(numbers) => Place::Full(Box::new(dataset), numbers),
                        None => Place::NotNumeric(class),
                    },
                ),
                // The fields of arrays of structures.
                Ok(None) if matches!(dataset.dtype(), Datatype::Reference { .. }) => {}
                Ok(None) => self.enter(name, Place::Damaged(foreign())),
                Err(reason) => self.enter(name, Place::Damaged(reason)),
            }
        }
        Ok(())
    }

    /// The groups and datasets with the usual names; damaged ones are entered in `found`. `None` if there are neither.
    fn usual_names(&mut self, group: &Group, prefix: &str) -> Option<(Vec<String>, Vec<String>)> {
        let (mut groups, mut datasets, count) = (Vec::new(), Vec::new(), self.found.len());
        for &name in self.usual {
            match (group.group(name), group.dataset(name)) {
                (Ok(_), _) => groups.push(name.to_owned()),
                (_, Ok(_)) => datasets.push(name.to_owned()),
                (Err(Error::GroupNotFound(_)), Err(Error::DatasetNotFound(_))) => {}
                (_, Err(error)) => self.enter(format!("{prefix}{name}"), Place::Damaged(damaged(error))),
            }
        }
        let is_any = !groups.is_empty() || !datasets.is_empty() || self.found.len() > count;
        is_any.then_some((groups, datasets))
    }

    fn enter(&mut self, name: String, place: Place) {
        self.found.push(Variable { name, place, limit: self.limit });
    }
}

fn foreign() -> String {
    "has no attribute MATLAB_class, so MATLAB did not write it and its orientation is unknown; save it as .npz, .npy or .mtx, or with MATLAB's `save -v7 FILE A`".into()
}

/// The class of an array.
fn class(attribute: Result<Attribute, Error>) -> Parsed<Option<String>> {
    match attribute {
        Ok(attribute) => Ok(Some(attribute.read_string().map_err(damaged)?)),
        Err(Error::AttributeNotFound(_)) => Ok(None),
        Err(error) => Err(damaged(error)),
    }
}

enum Values {
    Real(Vec<f64>),
    Complex(Vec<Complex<f64>>),
}

fn dense(dataset: &Dataset, stored: Numbers, limit: usize) -> Parsed<Stored> {
    let shape = |extents: Vec<usize>| match extents[..] {
        [rows, cols] => Ok((rows, cols)),
        _ => Err(format!("has {} dimensions, expected two", extents.len())),
    };
    let is_empty = match dataset.attribute("MATLAB_empty") {
        Ok(attribute) => attribute.read_as_f64().map_err(damaged)? != 0.0,
        Err(Error::AttributeNotFound(_)) => false,
        Err(error) => return Err(damaged(error)),
    };
    if is_empty {
        let (rows, cols) = shape(positions(dataset, limit)?)?;
        return match rows.checked_mul(cols) {
            Some(0) => Ok(Stored::Dense(Columns { rows, cols, values: Vec::new() })),
            _ => Err(format!("has no values, expected {rows} x {cols}")),
        };
    }
    // MATLAB counts the first index fastest, HDF5 the last one.
    let extents = dataset.shape().iter().rev().map(|&extent| usize::try_from(extent).unwrap_or(usize::MAX));
    let (rows, cols) = shape(extents.collect())?;
    Ok(match values(dataset, stored, limit)? {
        Values::Real(values) => Stored::Dense(columns(rows, cols, values)?),
        Values::Complex(values) => Stored::ComplexDense(columns(rows, cols, values)?),
    })
}

fn columns<T>(rows: usize, cols: usize, values: Vec<T>) -> Parsed<Columns<T>> {
    match rows.checked_mul(cols) == Some(values.len()) {
        true => Ok(Columns { rows, cols, values }),
        false => Err(format!("is damaged: it has {} values, expected {rows} x {cols}", values.len())),
    }
}

fn sparse_of(group: &Group, stored: Numbers, limit: usize) -> Parsed<Stored> {
    let rows = match group.attribute("MATLAB_sparse") {
        Ok(attribute) => indices(vec![attribute.read_as_f64().map_err(damaged)?])?[0],
        Err(Error::AttributeNotFound(_)) => return Err("is a group without the attribute MATLAB_sparse".into()),
        Err(error) => return Err(damaged(error)),
    };
    let part = |name: &str| {
        group.dataset(name).map_err(|error| match error {
            Error::DatasetNotFound(_) => format!("lacks the dataset {name}"),
            error => damaged(error),
        })
    };
    let offsets = positions(&part("jc")?, limit)?;
    let Some((&entries, columns)) = offsets.split_last() else { return Err("has no offsets of its columns".into()) };
    let shape = (rows, columns.len());
    // Without entries there are no other datasets.
    if entries == 0 {
        return Ok(Stored::Sparse(sparse(shape, &offsets, Vec::new(), Vec::<f64>::new())?));
    }
    let places = positions(&part("ir")?, limit)?;
    Ok(match values(&part("data")?, stored, limit)? {
        Values::Real(values) => Stored::Sparse(sparse(shape, &offsets, places, values)?),
        Values::Complex(values) => Stored::ComplexSparse(sparse(shape, &offsets, places, values)?),
    })
}

fn positions(dataset: &Dataset, limit: usize) -> Parsed<Vec<usize>> {
    match values(dataset, Numbers::Whole, limit)? {
        Values::Real(values) => indices(values),
        Values::Complex(_) => Err("has complex indices".into()),
    }
}

fn values(dataset: &Dataset, stored: Numbers, limit: usize) -> Parsed<Values> {
    let size = dataset.raw_element_size().map_err(damaged)?;
    let bytes = raw(dataset, size, limit)?;
    let Datatype::Compound { fields, .. } = dataset.dtype() else {
        return Ok(Values::Real(numbers(&bytes, size, 0, dataset.dtype(), stored)?));
    };
    let part = |name: &str| {
        let field = fields.iter().find(|field| field.name == name);
        let field = field.ok_or_else(|| format!("has values without the part `{name}` of complex numbers"))?;
        numbers(&bytes, size, field.byte_offset as usize, &field.datatype, stored)
    };
    let parts = part("real")?.into_iter().zip(part("imag")?);
    Ok(Values::Complex(parts.map(|(re, im)| Complex::new(re, im)).collect()))
}

/// The numbers of a datatype at `offset` in each element of `size` bytes, as doubles.
fn numbers(bytes: &[u8], size: usize, offset: usize, kind: &Datatype, stored: Numbers) -> Parsed<Vec<f64>> {
    macro_rules! numbers {
        ($kind:ty, $order:expr) => {{
            const SIZE: usize = size_of::<$kind>();
            let of = |element: &[u8]| {
                let number: [u8; SIZE] = element.get(offset..offset + SIZE)?.try_into().ok()?;
                Some(match $order {
                    ByteOrder::LittleEndian => <$kind>::from_le_bytes(number),
                    ByteOrder::BigEndian => <$kind>::from_be_bytes(number),
                } as f64)
            };
            let all: Option<Vec<f64>> = bytes.chunks_exact(size.max(1)).map(of).collect();
            all.ok_or_else(|| "has values outside their elements".to_owned())
        }};
    }
    let is_stored_so = match kind {
        Datatype::FloatingPoint { .. } => stored == Numbers::Floating,
        _ => stored == Numbers::Whole,
    };
    if !is_stored_so {
        return Err("is damaged: its values are not stored as those of its class".into());
    }
    match kind {
        Datatype::FloatingPoint { size: 4, byte_order } => numbers!(f32, byte_order),
        Datatype::FloatingPoint { size: 8, byte_order } => numbers!(f64, byte_order),
        Datatype::FixedPoint { size: 1, signed: true, byte_order } => numbers!(i8, byte_order),
        Datatype::FixedPoint { size: 1, signed: false, byte_order } => numbers!(u8, byte_order),
        Datatype::FixedPoint { size: 2, signed: true, byte_order } => numbers!(i16, byte_order),
        Datatype::FixedPoint { size: 2, signed: false, byte_order } => numbers!(u16, byte_order),
        Datatype::FixedPoint { size: 4, signed: true, byte_order } => numbers!(i32, byte_order),
        Datatype::FixedPoint { size: 4, signed: false, byte_order } => numbers!(u32, byte_order),
        Datatype::FixedPoint { size: 8, signed: true, byte_order } => numbers!(i64, byte_order),
        Datatype::FixedPoint { size: 8, signed: false, byte_order } => numbers!(u64, byte_order),
        _ => Err("has values that are no numbers".into()),
    }
}

/// The bytes of a dataset.
fn raw(dataset: &Dataset, size: usize, limit: usize) -> Parsed<Vec<u8>> {
    let total = dataset.raw_byte_len().map_err(damaged)?;
    if dataset.max_dims().is_some_and(|most| dataset.shape().iter().zip(most).any(|(extent, most)| extent > most)) {
        return Err("is damaged: it is larger than it may be".into());
    }
    if total > limit {
        return Err(format!("is damaged: it would have {total} bytes, more than the file can hold"));
    }
    if dataset.chunks().is_none() {
        return dataset.read_raw_bytes().map_err(damaged);
    }
    // The reader takes missing chunks for zeros, so they are assembled here.
    let rectangle = |numbers: &[u64]| -> Option<[usize; 2]> {
        let whole = |number: u64| usize::try_from(number).ok();
        match *numbers {
            [length] => Some([0, whole(length)?]),
            [first, second] => Some([whole(first)?, whole(second)?]),
            _ => None,
        }
    };
    let dimensions = || format!("has {} dimensions, expected two", dataset.ndim());
    let one = |extents: [usize; 2]| if dataset.ndim() == 1 { [1, extents[1]] } else { extents };
    let [height, width] = one(rectangle(dataset.shape()).ok_or_else(dimensions)?);
    let mut bytes = vec![0; total];
    let mut seen = HashSet::new();
    let mut expected = usize::from(total > 0);
    for chunk in dataset.iter_chunks().map_err(damaged)? {
        let chunk = chunk.map_err(damaged)?;
        let [rows, cols] = one(rectangle(chunk.shape()).ok_or_else(dimensions)?);
        let [top, left] = rectangle(chunk.offsets()).ok_or_else(dimensions)?;
        expected = height.div_ceil(rows.max(1)).saturating_mul(width.div_ceil(cols.max(1)));
        if rows == 0 || cols == 0 || top >= height || left >= width || top % rows != 0 || left % cols != 0 {
            return Err(format!("is damaged: a chunk at ({top}, {left}) of {height} x {width}"));
        }
        let across = cols.min(width - left) * size;
        for row in 0..rows.min(height - top) {
            let from = chunk.bytes().get(row * cols * size..).and_then(|rest| rest.get(..across));
            let from = from.ok_or("is damaged: a chunk is too short")?;
            bytes[((top + row) * width + left) * size..][..across].copy_from_slice(from);
        }
        seen.insert((top, left));
    }
    match seen.len() == expected {
        true => Ok(bytes),
        false => Err(format!("is damaged: {} of its {expected} chunks are present", seen.len())),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::{Role, read};
    use super::*;
    use crate::exit::Failure;

    fn path(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/formats").join(name)
    }

    fn array(name: &str, role: Role) -> Result<Columns<Complex<f64>>, Failure> {
        super::super::super::Loaded::read(&path(name), role)?.columns()
    }

    /// The same arrays as SciPy wrote them in the older format.
    #[test]
    fn arrays_are_those_of_the_older_format() {
        for (name, role, other) in [
            ("v73.mat", Role::Matrix, "plain.mat"),
            ("v73.mat", Role::RightSide, "plain.mat"),
            ("v73_full.mat", Role::Matrix, "plain.mat"),
            ("v73_full.mat", Role::RightSide, "plain.mat"),
            ("v73_struct.mat", Role::Matrix, "packed.mat"),
            ("v73_struct.mat", Role::RightSide, "packed.mat"),
            ("v73_complex.mat", Role::Matrix, "complex.mat"),
            ("v73_complex.mat", Role::RightSide, "complex.mat"),
            ("v73.mat", Role::Start, "x.npy"),
            ("v73_complex.mat", Role::Start, "complex_x.npy"),
        ] {
            assert!(array(name, role).unwrap() == array(other, role).unwrap(), "{name} {role:?}");
        }
        let whole = |role| array("v73_whole.mat", role).unwrap();
        let diagonal = |k: usize| Complex::from(f64::from(u8::from(k.is_multiple_of(13))));
        assert_eq!(whole(Role::Matrix).values, (0..144).map(diagonal).collect::<Vec<_>>());
        assert_eq!(whole(Role::RightSide).values, (-3..9).map(|k| Complex::from(f64::from(k))).collect::<Vec<_>>());
        assert_eq!(whole(Role::Start).values[..3], [1.0, 0.0, 1.0].map(Complex::from));
        let empty = array("v73_empty.mat", Role::Matrix).unwrap();
        assert_eq!((empty.rows, empty.cols, empty.values), (12, 5, vec![Complex::from(0.0); 60]));
    }

    #[test]
    fn other_content_is_an_error() {
        for (name, needle) in [
            ("v73_several.mat", "box, mask, u, v; name the variable to use A"),
            ("v73_text.mat", "A has the class char, expected a full or sparse array of numbers"),
            ("text.mat", "A has the class char, expected a full or sparse array of numbers"),
            ("v73_plain.mat", "A has no attribute MATLAB_class"),
        ] {
            let message = read(&path(name), Role::Matrix).unwrap_err().message();
            assert!(message.contains(needle), "{name}: {message}");
        }
        for (name, needle) in [("box", "3 dimensions"), ("v", "")] {
            let found = variables(&path("v73_several.mat"), &[]).unwrap();
            let read = found.into_iter().find(|v| v.name == name).unwrap().read();
            match read {
                Err(reason) => assert!(reason.contains(needle) && !needle.is_empty(), "{name}: {reason}"),
                Ok(Stored::Dense(columns)) => assert_eq!((columns.rows, columns.cols, needle), (0, 3, "")),
                Ok(other) => panic!("{name}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_damaged_variable_hides_no_other() {
        let group = Hdf5File::open(path("v73.mat")).unwrap().group("A").unwrap();
        let whole = std::fs::read(path("v73.mat")).unwrap();
        let file = tempfile::NamedTempFile::with_suffix(".mat").unwrap();
        let mut hidden = 0;
        // Addresses count from the beginning of the file or from the end of the header.
        for base in [0, 512] {
            let mut bytes = whole.clone();
            let at = usize::try_from(group.address()).unwrap() + base;
            bytes[at..at + 4].fill(0xff);
            std::fs::write(&file, &bytes).unwrap();
            if let Err(error) = read(file.path(), Role::Matrix) {
                let message = error.message();
                assert!(message.contains("A is damaged"), "{message}");
                let found = super::super::super::Loaded::read(file.path(), Role::RightSide).unwrap();
                assert!(found.columns::<f64>().unwrap() == read_back("v73.mat", Role::RightSide));
                hidden += 1;
            }
        }
        assert!(hidden > 0);
    }

    fn read_back(name: &str, role: Role) -> Columns<f64> {
        super::super::super::Loaded::read(&path(name), role).unwrap().columns().unwrap()
    }

    #[test]
    fn arrays_have_as_many_values_as_their_extents_say() {
        assert_eq!(columns(2, 3, vec![0.0; 6]).unwrap().cols, 3);
        assert!(columns(2, 3, vec![0.0; 5]).unwrap_err().contains("5 values, expected 2 x 3"));
        assert!(columns(usize::MAX, 2, vec![0.0; 5]).is_err());
    }

    /// Ends in an error or in an array, with little memory, whatever is damaged; a part of a file always in an error.
    #[test]
    fn damaged_files_are_errors() {
        let file = tempfile::NamedTempFile::with_suffix(".mat").unwrap();
        let (mut silent, mut flips) = (0, 0);
        for name in ["v73.mat", "v73_complex.mat", "v73_full.mat"] {
            let whole = std::fs::read(path(name)).unwrap();
            for length in (0..whole.len()).step_by(97).chain([whole.len() - 1]) {
                std::fs::write(&file, &whole[..length]).unwrap();
                assert!(read(file.path(), Role::Matrix).is_err(), "{name}: {length} of {} bytes", whole.len());
            }
            let original = array(name, Role::Matrix).unwrap();
            for at in (512..whole.len()).step_by(7) {
                for mask in [0x01, 0xff] {
                    let mut bytes = whole.clone();
                    bytes[at] ^= mask;
                    std::fs::write(&file, &bytes).unwrap();
                    flips += 1;
                    if let Ok(stored) = read(file.path(), Role::Matrix) {
                        let values = match &stored {
                            Stored::Sparse(a) => a.rows.saturating_mul(a.cols),
                            Stored::ComplexSparse(a) => a.rows.saturating_mul(a.cols),
                            _ => 0,
                        };
                        let loaded = super::super::super::Loaded { path: file.path().to_owned(), stored };
                        if values > 1 << 20 || loaded.columns().unwrap() != original {
                            silent += 1;
                        }
                    }
                }
            }
        }
        // Compressed values have a checksum. The number of rows, the order of bytes and the like have none.
        assert!(silent < flips / 500, "{silent} of {flips} changed the matrix");
    }
}
