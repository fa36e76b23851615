//! Uploads and downloads.

use clinalg::{Complex, Precision, Real as _, Scalar};
use clinalg_handles::{Download, Host, Info, Kind as Object, ScalarType};

use super::{GPU, Outcome, count, handle_as, registry};
use crate::args::{Args, Full, Input, Kind, Numbers, Sparse, Value};
use crate::emit::{Out, SparseTarget, SparseValues, Target};
use crate::function::Function;

const SINGLE: Input = Input::new("single", Kind::Flag);
const COMPLEX: Input = Input::new("complex", Kind::Flag);

/// Evaluates the body with `$values` a slice of numbers, real or complex as they are, in single precision for `Some(true)`, double for
/// `Some(false)`, and for `None` in that of the values (double for logical ones).
macro_rules! with_values {
    ($numbers:expr, $single:expr, $values:ident => $body:expr) => {
        match ($numbers, $single) {
            (Numbers::Single($values), None | Some(true)) => $body,
            (Numbers::Double($values), None | Some(false)) => $body,
            (Numbers::Single(values), Some(false)) => {
                let $values = &*values.iter().map(|&v| f64::from(v)).collect::<Vec<_>>();
                $body
            }
            (Numbers::Double(values), Some(true)) => {
                let $values = &*values.iter().map(|&v| v as f32).collect::<Vec<_>>();
                $body
            }
            (Numbers::Logical(values), Some(true)) => {
                let $values = &*values.iter().map(|&v| f32::from(v != 0)).collect::<Vec<_>>();
                $body
            }
            (Numbers::Logical(values), _) => {
                let $values = &*values.iter().map(|&v| f64::from(v != 0)).collect::<Vec<_>>();
                $body
            }
            (Numbers::ComplexSingle(parts), None | Some(true)) => {
                let $values = &*parts.joined();
                $body
            }
            (Numbers::ComplexDouble(parts), None | Some(false)) => {
                let $values = &*parts.joined();
                $body
            }
            (Numbers::ComplexSingle(parts), Some(false)) => {
                let $values = &*parts
                    .joined()
                    .iter()
                    .map(|z| Complex::new(z.re.into(), z.im.into()))
                    .collect::<Vec<Complex<f64>>>();
                $body
            }
            (Numbers::ComplexDouble(parts), Some(true)) => {
                let $values =
                    &*parts.joined().iter().map(|z| Complex::new(z.re as f32, z.im as f32)).collect::<Vec<_>>();
                $body
            }
        }
    };
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexMatrix",
        title: "Copy a full matrix or vector to the device.",
        inputs: &[GPU, Input::named("A", "values", Kind::Array)],
        required: 2,
        outputs: &["h"],
        text: "\
A is a full array of two dimensions, real or complex, of class double, single or logical (stored as
double). h is the handle of the copy, which has the shape and precision of A.

A matrix of one row or column is a vector for the functions that take one.",
        example: "\
gpu = MexInitOpenCL();
h = MexMatrix(gpu, single([1 2; 3 4]));
MexHandleMatrix(gpu, h)
MexReleaseMatrix(gpu, h);",
        see: &["MexHandleMatrix", "MexReleaseMatrix", "MexWriteMatrix", "MexZeros", "MexSparseMatrix"],
        run: |args| {
            let context = args.context()?;
            let a = args.full(1);
            let h = with_values!(a.values, None, values => {
                registry().upload_dense(&context, a.rows, a.cols, values)?
            });
            Ok(Out::Handle(h).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexSparseMatrix",
        title: "Copy a sparse matrix to the device.",
        inputs: &[GPU, Input::new("S", Kind::Sparse), SINGLE],
        required: 2,
        outputs: &["h"],
        text: "\
S is a sparse matrix, real or complex. The device keeps it in compressed rows, in double precision or, with
single = 1, in single precision. h is the handle of the copy.",
        example: "\
gpu = MexInitOpenCL();
h = MexSparseMatrix(gpu, sparse([1 2 3], [1 2 3], [1 2 3]));
x = MexMatrix(gpu, ones(3, 1));
y = MexSparseMatrixVector(gpu, h, x);
MexHandleMatrix(gpu, y)
MexReleaseSparseMatrix(gpu, h);",
        see: &["MexSparseMatrixVector", "MexHandleMatrix", "MexReleaseSparseMatrix", "MexBandMatrix"],
        run: |args| {
            let context = args.context()?;
            let s = args.sparse(1);
            let h = with_values!(s.values, args.maybe_flag(2), values => {
                registry().upload_csc(&context, (s.rows, s.cols), s.offsets, s.indices, values)?
            });
            Ok(Out::Handle(h).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexBandMatrix",
        title: "Copy a band matrix to the device.",
        inputs: &[GPU, Input::named("A", "matrix", Kind::Matrix), count("kl"), count("ku"), SINGLE],
        required: 4,
        outputs: &["h"],
        text: "\
A is a full or sparse matrix, real or complex, whose nonzeros lie on the diagonals -kl to ku, the main diagonal being
0; a nonzero elsewhere is an error. kl = 0 makes an upper band matrix. The device keeps kl + 1 + ku
diagonals, in the precision of A or, with single = 1, in single precision.",
        example: "\
gpu = MexInitOpenCL();
e = ones(5, 1);
h = MexBandMatrix(gpu, spdiags([-e 2*e -e], -1:1, 5, 5), 1, 1);
x = MexMatrix(gpu, e);
y = MexBandMatrixVector(gpu, h, x);
MexHandleMatrix(gpu, y)
MexReleaseBandMatrix(gpu, h);",
        see: &["MexBandMatrixVector", "MexHandleMatrix", "MexReleaseBandMatrix", "MexSparseMatrix"],
        run: |args| {
            let context = args.context()?;
            let band = (args.count(2), args.count(3));
            let single = args.maybe_flag(4);
            let h = match args.value(1) {
                Value::Sparse(s) => with_values!(s.values, single, values => {
                    registry().upload_band_csc(&context, (s.rows, s.cols), band, s.offsets, s.indices, values)?
                }),
                _ => {
                    let a = args.full(1);
                    with_values!(a.values, single, values => {
                        registry().upload_band(&context, (a.rows, a.cols), band, values)?
                    })
                }
            };
            Ok(Out::Handle(h).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexZeros",
        title: "Make a full matrix of zeros on the device.",
        inputs: &[GPU, count("rows"), count("cols"), SINGLE, COMPLEX],
        required: 3,
        outputs: &["h"],
        text: "\
h is the handle of a rows x cols matrix in double precision or, with single = 1, in single precision; with
complex = 1 of complex numbers.",
        example: "\
gpu = MexInitOpenCL();
h = MexZeros(gpu, 3, 1);
MexHandleMatrix(gpu, h)",
        see: &["MexMatrix", "MexFill"],
        run: |args| {
            let context = args.context()?;
            let (rows, cols) = (args.count(1), args.count(2));
            let precision = if args.maybe_flag(3) == Some(true) { Precision::F32 } else { Precision::F64 };
            let scalar = ScalarType::new(precision, args.maybe_flag(4) == Some(true));
            Ok(Out::Handle(registry().zeros(&context, scalar, rows, cols)?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexHandleMatrix",
        title: "Copy an object from the device.",
        inputs: &[GPU, handle_as("h", "handle")],
        required: 2,
        outputs: &["A"],
        text: "\
A is a full array in the precision of the object, or for a sparse or band matrix a sparse matrix, which is
always of class double; of a complex object a complex one. The call waits for the device.",
        example: "\
gpu = MexInitOpenCL();
h = MexMatrix(gpu, [1 2 3]);
A = MexHandleMatrix(gpu, h)",
        see: &["MexMatrix", "MexSlice"],
        run: download,
        ..Function::DEFAULT
    },
    Function {
        name: "MexWriteMatrix",
        title: "Replace the values of a full matrix or vector on the device.",
        inputs: &[GPU, handle_as("h", "handle"), Input::named("A", "values", Kind::Array)],
        required: 3,
        outputs: &["h"],
        text: "\
A is a full array of the shape of the object with the handle h, converted to its precision; a complex one
takes a complex object, into which a real A goes as well. Nothing is allocated on the device.",
        example: "\
gpu = MexInitOpenCL();
h = MexZeros(gpu, 1, 3);
MexWriteMatrix(gpu, h, [1 2 3]);
MexHandleMatrix(gpu, h)",
        see: &["MexMatrix", "MexHandleMatrix", "MexWriteSlice"],
        run: |args| {
            let objects = args.objects()?;
            let (h, a) = (args.handle(1), args.full(2));
            let info = objects.info(h)?;
            if (info.rows, info.cols) != (a.rows, a.cols) {
                let words = |rows, cols| format!("{rows} x {cols}");
                return Err(clinalg::Error::Shape {
                    argument: "values",
                    expected: words(info.rows, info.cols),
                    got: words(a.rows, a.cols),
                }
                .into());
            }
            let single = info.precision == Precision::F32;
            match (info.scalar(), a.values.is_complex()) {
                (ScalarType::C32, false) => {
                    let values: Vec<_> = a.values.reals().into_iter().map(|re| Complex::from(re as f32)).collect();
                    objects.write(h, 0, &values)?;
                }
                (ScalarType::C64, false) => {
                    let values: Vec<_> = a.values.reals().into_iter().map(Complex::from).collect();
                    objects.write(h, 0, &values)?;
                }
                _ => with_values!(a.values, Some(single), values => objects.write(h, 0, values)?),
            }
            Ok(Out::Handle(h).into())
        },
        ..Function::DEFAULT
    },
];

impl<'a> Args<'a> {
    pub(super) fn full(&self, position: usize) -> Full<'a> {
        match self.value(position) {
            Value::Full(full) => *full,
            _ => unreachable!("the table asks for a full array here"),
        }
    }

    fn sparse(&self, position: usize) -> Sparse<'a> {
        match self.value(position) {
            Value::Sparse(sparse) => *sparse,
            _ => unreachable!("the table asks for a sparse matrix here"),
        }
    }
}

fn download(args: &Args<'_>) -> Outcome {
    let objects = args.objects()?;
    let h = args.handle(1);
    let info = objects.info(h)?;
    let Info { kind, rows, cols, .. } = info;
    if Object::FULL.contains(&kind) {
        let fill = move |room: Target<'_>| match room {
            Target::Single(target) => Ok(objects.read(h, 0, target)?),
            Target::Double(target) => Ok(objects.read(h, 0, target)?),
            Target::ComplexSingle(target) => Ok(objects.read(h, 0, target)?),
            Target::ComplexDouble(target) => Ok(objects.read(h, 0, target)?),
        };
        return Ok(Out::Full { rows, cols, scalar: info.scalar(), fill: Box::new(fill) }.into());
    }
    Ok(match objects.download(h)? {
        Download::F32(host) => sparse_out(host).into(),
        Download::F64(host) => sparse_out(host).into(),
        Download::C32(host) => sparse_out(host).into(),
        Download::C64(host) => sparse_out(host).into(),
    })
}

/// A sparse result; the host keeps no zeros.
fn sparse_out<T: Scalar>(host: Host<T>) -> Out {
    let Host::Sparse { rows, cols, offsets, indices, values } = host else {
        unreachable!("full arrays are read in place")
    };
    let entries = values.iter().filter(|v| **v != T::zero()).count();
    let fill = move |mut room: SparseTarget<'_>| {
        let mut kept = 0;
        for (column, start) in room.offsets.iter_mut().enumerate() {
            *start = kept;
            let Some(&end) = offsets.get(column + 1) else { break };
            for k in offsets[column]..end {
                if values[k] != T::zero() {
                    let (re, im) = (values[k].re().into_f64(), values[k].im().into_f64());
                    room.indices[kept] = indices[k];
                    match &mut room.values {
                        SparseValues::Real(values) => values[kept] = re,
                        SparseValues::Complex(values) => values[kept] = Complex::new(re, im),
                    }
                    kept += 1;
                }
            }
        }
        Ok(())
    };
    Out::Sparse { rows, cols, entries, complex: T::IS_COMPLEX, fill: Box::new(fill) }
}
