//! The results of a call, made into arrays by the host's constructors.

use std::ffi::{CStr, CString, c_int};
use std::slice;

use clinalg::Precision;

use crate::fault::Fault;
use crate::gateway::guarded;
use crate::host::{Host, MxArray, class};

/// `mxREAL`.
const REAL: c_int = 0;

/// Room in a full array of the host.
pub(crate) enum Room<'a> {
    Single(&'a mut [f32]),
    Double(&'a mut [f64]),
}

/// Room in a sparse matrix of the host, in compressed columns.
pub(crate) struct SparseRoom<'a> {
    pub(crate) offsets: &'a mut [usize],
    pub(crate) indices: &'a mut [usize],
    pub(crate) values: &'a mut [f64],
}

type Fill = Box<dyn FnOnce(Room<'_>) -> Result<(), Fault>>;
type FillSparse = Box<dyn FnOnce(SparseRoom<'_>) -> Result<(), Fault>>;

/// A result.
pub(crate) enum Out {
    Handle(u64),
    Real(f64),
    Single(f32),
    Flag(bool),
    Text(String),
    /// Numbers in this many rows, column by column.
    Reals {
        rows: usize,
        values: Vec<f64>,
    },
    /// A full array that is filled once the host has made it.
    Full {
        rows: usize,
        cols: usize,
        precision: Precision,
        fill: Fill,
    },
    /// A sparse matrix with room for `entries`, filled once the host has made it.
    Sparse {
        rows: usize,
        cols: usize,
        entries: usize,
        fill: FillSparse,
    },
    /// A column of structures with the same fields.
    Records {
        fields: Vec<&'static CStr>,
        records: Vec<Vec<Out>>,
    },
}

impl Out {
    /// A column of numbers.
    pub(crate) fn column(values: Vec<f64>) -> Out {
        Out::Reals { rows: values.len(), values }
    }
}

/// What a function gives back.
pub(crate) enum Answer {
    Nothing,
    One(Out),
    /// One result per output, in order.
    Several(Vec<Out>),
    /// Text for the command window.
    Print(String),
}

impl From<Out> for Answer {
    fn from(out: Out) -> Answer {
        Answer::One(out)
    }
}

fn text(text: String) -> CString {
    let mut bytes = text.into_bytes();
    bytes.retain(|&b| b != 0);
    CString::new(bytes).unwrap_or_default()
}

/// Prints in the host's command window.
pub(crate) fn print(host: &Host, words: String) {
    let words = text(words);
    // SAFETY: a format and its one text, both ended by zero.
    unsafe { (host.print)(c"%s".as_ptr(), words.as_ptr()) };
}

/// A new array of the host with the result.
pub(crate) fn emit(host: &Host, out: Out) -> Result<*mut MxArray, Fault> {
    // SAFETY: the host's constructors take these arguments; the arrays they give are real, of the
    // class and size asked for, and are written before anyone else sees them.
    unsafe {
        Ok(match out {
            Out::Handle(handle) => scalar(host, class::UINT64, handle),
            Out::Real(value) => scalar(host, class::DOUBLE, value),
            Out::Single(value) => scalar(host, class::SINGLE, value),
            Out::Flag(value) => (host.new_logical)(value),
            Out::Text(words) => (host.new_string)(text(words).as_ptr()),
            Out::Reals { rows, values } => {
                let array = (host.new_numeric)(rows, values.len() / rows.max(1), class::DOUBLE, REAL);
                room((host.data)(array).cast(), values.len()).copy_from_slice(&values);
                array
            }
            Out::Full { rows, cols, precision, fill } => {
                let kind = if precision == Precision::F32 { class::SINGLE } else { class::DOUBLE };
                let array = (host.new_numeric)(rows, cols, kind, REAL);
                let data = (host.data)(array);
                let room = match precision {
                    Precision::F32 => Room::Single(room(data.cast(), rows * cols)),
                    Precision::F64 => Room::Double(room(data.cast(), rows * cols)),
                };
                guarded(|| fill(room))?;
                array
            }
            Out::Sparse { rows, cols, entries, fill } => {
                let array = (host.new_sparse)(rows, cols, entries, REAL);
                let room = SparseRoom {
                    offsets: room((host.column_offsets)(array), cols + 1),
                    indices: room((host.row_indices)(array), entries),
                    values: room((host.data)(array).cast(), entries),
                };
                guarded(|| fill(room))?;
                array
            }
            Out::Records { fields, records } => {
                let names: Vec<_> = fields.iter().map(|f| f.as_ptr()).collect();
                let array = (host.new_struct)(records.len(), 1, names.len() as c_int, names.as_ptr());
                for (index, record) in records.into_iter().enumerate() {
                    for (name, value) in names.iter().zip(record) {
                        let value = emit(host, value)?;
                        (host.set_field)(array, index, *name, value);
                    }
                }
                array
            }
        })
    }
}

/// # Safety
/// `T` is the type of the class `kind`.
unsafe fn scalar<T>(host: &Host, kind: i32, value: T) -> *mut MxArray {
    // SAFETY: the new array has room for one value of its class.
    unsafe {
        let array = (host.new_numeric)(1, 1, kind, REAL);
        (host.data)(array).cast::<T>().write(value);
        array
    }
}

/// # Safety
/// `data` has room for `count` values, used by nobody else during `'a`, unless `count` is 0.
unsafe fn room<'a, T>(data: *mut T, count: usize) -> &'a mut [T] {
    if count == 0 {
        return &mut [];
    }
    // SAFETY: by the contract above; every bit pattern is a value of the types used here.
    unsafe { slice::from_raw_parts_mut(data, count) }
}
