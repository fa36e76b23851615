//! The results of a call, made into arrays by the host's constructors.

use std::ffi::{CStr, CString, c_int};
use std::slice;

use clinalg::Complex;
use clinalg_handles::ScalarType;

use crate::fault::{Fault, guarded};
use crate::host::{Complex as Complexes, Host, MxArray, class};

/// `mxREAL`.
const REAL: c_int = 0;
/// `mxCOMPLEX`.
const COMPLEX: c_int = 1;

/// Memory in a full array of the host.
pub(crate) enum Target<'a> {
    Single(&'a mut [f32]),
    Double(&'a mut [f64]),
    ComplexSingle(&'a mut [Complex<f32>]),
    ComplexDouble(&'a mut [Complex<f64>]),
}

/// Memory for the values of a sparse matrix of the host.
pub(crate) enum SparseValues<'a> {
    Real(&'a mut [f64]),
    Complex(&'a mut [Complex<f64>]),
}

/// Memory in a sparse matrix of the host, in compressed columns.
pub(crate) struct SparseTarget<'a> {
    pub(crate) offsets: &'a mut [usize],
    pub(crate) indices: &'a mut [usize],
    pub(crate) values: SparseValues<'a>,
}

type Fill = Box<dyn FnOnce(Target<'_>) -> Result<(), Fault>>;
type FillSparse = Box<dyn FnOnce(SparseTarget<'_>) -> Result<(), Fault>>;

/// A result.
pub(crate) enum Out {
    Handle(u64),
    Real(f64),
    Single(f32),
    Complex(Complex<f64>),
    ComplexSingle(Complex<f32>),
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
        scalar: ScalarType,
        fill: Fill,
    },
    /// A sparse matrix with room for `entries`, filled once the host has made it.
    Sparse {
        rows: usize,
        cols: usize,
        entries: usize,
        complex: bool,
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
    // SAFETY: the host's constructors take these arguments; the arrays they give are of the
    // class and size given, real or complex, and are written before anyone else sees them.
    unsafe {
        Ok(match out {
            Out::Handle(handle) => scalar(host, class::UINT64, handle),
            Out::Real(value) => scalar(host, class::DOUBLE, value),
            Out::Single(value) => scalar(host, class::SINGLE, value),
            Out::Complex(value) => {
                let array = (host.new_numeric)(1, 1, class::DOUBLE, COMPLEX);
                with_complex(host, array, class::DOUBLE, 1, |room| {
                    room[0] = value;
                    Ok(())
                })?;
                array
            }
            Out::ComplexSingle(value) => {
                let array = (host.new_numeric)(1, 1, class::SINGLE, COMPLEX);
                with_complex(host, array, class::SINGLE, 1, |room| {
                    room[0] = value;
                    Ok(())
                })?;
                array
            }
            Out::Flag(value) => (host.new_logical)(value),
            Out::Text(words) => (host.new_string)(text(words).as_ptr()),
            Out::Reals { rows, values } => {
                let array = (host.new_numeric)(rows, values.len() / rows.max(1), class::DOUBLE, REAL);
                room((host.data)(array).cast(), values.len()).copy_from_slice(&values);
                array
            }
            Out::Full { rows, cols, scalar, fill } => {
                let single = matches!(scalar, ScalarType::F32 | ScalarType::C32);
                let kind = if single { class::SINGLE } else { class::DOUBLE };
                let form = if scalar.is_complex() { COMPLEX } else { REAL };
                let array = (host.new_numeric)(rows, cols, kind, form);
                let count = rows * cols;
                let data = (host.data)(array);
                match scalar {
                    ScalarType::F32 => guarded(|| fill(Target::Single(room(data.cast(), count))))?,
                    ScalarType::F64 => guarded(|| fill(Target::Double(room(data.cast(), count))))?,
                    ScalarType::C32 => {
                        with_complex(host, array, kind, count, |room| fill(Target::ComplexSingle(room)))?
                    }
                    ScalarType::C64 => {
                        with_complex(host, array, kind, count, |room| fill(Target::ComplexDouble(room)))?
                    }
                }
                array
            }
            Out::Sparse { rows, cols, entries, complex, fill } => {
                let array = (host.new_sparse)(rows, cols, entries, if complex { COMPLEX } else { REAL });
                let offsets = room((host.column_offsets)(array), cols + 1);
                let indices = room((host.row_indices)(array), entries);
                if complex {
                    with_complex(host, array, class::DOUBLE, entries, |room| {
                        fill(SparseTarget { offsets, indices, values: SparseValues::Complex(room) })
                    })?;
                } else {
                    let values = SparseValues::Real(room((host.data)(array).cast(), entries));
                    guarded(|| fill(SparseTarget { offsets, indices, values }))?;
                }
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

/// Fills the values of a complex array, which the host keeps interleaved or as two arrays.
///
/// # Safety
/// `array` is a new complex array of the class `kind`, whose type is `R`, with room for `count` values.
unsafe fn with_complex<R: Copy + Default>(
    host: &Host,
    array: *mut MxArray,
    kind: i32,
    count: usize,
    fill: impl FnOnce(&mut [Complex<R>]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    // SAFETY: by the contract above; the host's getters give the array's own memory.
    unsafe {
        match &host.complex {
            Complexes::Interleaved(doubles, singles) => {
                let data = if kind == class::SINGLE { singles(array) } else { doubles(array) };
                guarded(|| fill(room(data.cast(), count)))
            }
            Complexes::Separate(imaginary) => {
                let re = room::<R>((host.data)(array).cast(), count);
                let im = room::<R>(imaginary(array).cast(), count);
                guarded(|| {
                    let mut values = vec![Complex::<R>::default(); count];
                    fill(&mut values)?;
                    for ((value, re), im) in values.into_iter().zip(re).zip(im) {
                        (*re, *im) = (value.re, value.im);
                    }
                    Ok(())
                })
            }
        }
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
