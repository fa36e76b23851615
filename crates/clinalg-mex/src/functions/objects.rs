//! Objects on the device: upload, download, release, copies.

use clinalg::io::matrix_market::{self, Storage};
use clinalg::matrix::Format;
use clinalg::reference::BandParts;
use clinalg::registry::{Download, Host, Info, Kind as Object, Operand, Scalar, Stored};
use clinalg::{Context, Csr, Dense, Precision, Real};

use super::grid::choice;
use super::{GPU, Outcome, class_name, count, count_as, handle, handle_as, real, registry, text, typed};
use crate::args::{Args, Full, Input, Kind, Reals, Sparse, Value};
use crate::emit::{Answer, Out, Room, SparseRoom};
use crate::fault::{Fault, id};
use crate::table::Function;

const SINGLE: Input = Input::new("single", Kind::Flag);

/// Evaluates the body with `$values` a slice in single precision for `Some(true)`, double for
/// `Some(false)`, and for `None` that of the values (double for logical ones).
macro_rules! with_values {
    ($reals:expr, $single:expr, $values:ident => $body:expr) => {
        match ($reals, $single) {
            (Reals::Single($values), None | Some(true)) => $body,
            (Reals::Double($values), None | Some(false)) => $body,
            (Reals::Single(values), Some(false)) => {
                let $values = &*values.iter().map(|&v| f64::from(v)).collect::<Vec<_>>();
                $body
            }
            (Reals::Double(values), Some(true)) => {
                let $values = &*values.iter().map(|&v| v as f32).collect::<Vec<_>>();
                $body
            }
            (Reals::Logical(values), Some(true)) => {
                let $values = &*values.iter().map(|&v| f32::from(v != 0)).collect::<Vec<_>>();
                $body
            }
            (Reals::Logical(values), _) => {
                let $values = &*values.iter().map(|&v| f64::from(v != 0)).collect::<Vec<_>>();
                $body
            }
        }
    };
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexMatrix",
        title: "Copy a full matrix or vector to the device.",
        inputs: &[GPU, Input::named("A", "values", Kind::Full)],
        required: 2,
        outputs: &["h"],
        text: "\
A is a full real array of two dimensions, of class double, single or logical (stored as double). h is the
handle of the copy, which has the shape and precision of A.

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
S is a sparse real matrix. The device keeps it in compressed rows, in double precision or, with
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
A is a full or sparse real matrix whose nonzeros lie on the diagonals -kl to ku, the main diagonal being
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
        inputs: &[GPU, count("rows"), count("cols"), SINGLE],
        required: 3,
        outputs: &["h"],
        text: "h is the handle of a rows x cols matrix in double precision or, with single = 1, in single precision.",
        example: "\
gpu = MexInitOpenCL();
h = MexZeros(gpu, 3, 1);
MexHandleMatrix(gpu, h)",
        see: &["MexMatrix", "MexFill"],
        run: |args| {
            let context = args.context()?;
            let (rows, cols) = (args.count(1), args.count(2));
            let h = if args.maybe_flag(3) == Some(true) {
                registry().insert(Dense::<f32>::zeros(&context, rows, cols)?)
            } else {
                registry().insert(Dense::<f64>::zeros(&context, rows, cols)?)
            };
            Ok(Out::Handle(h).into())
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
always of class double. The call waits for the device.",
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
        inputs: &[GPU, handle_as("h", "handle"), Input::named("A", "values", Kind::Full)],
        required: 3,
        outputs: &["h"],
        text: "\
A is a full real array of the shape of the object with the handle h, converted to its precision. Nothing
is allocated on the device.",
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
            with_values!(a.values, Some(info.precision == Precision::F32), values => objects.write(h, 0, values)?);
            Ok(Out::Handle(h).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexCopy",
        title: "Copy an object on the device.",
        inputs: &[GPU, handle("a"), handle_as("c", "out")],
        required: 2,
        outputs: &["c"],
        text: "\
a is an object of any kind. The copy goes to c, an object of the same kind, shape and precision, or to a
new one.",
        example: "\
gpu = MexInitOpenCL();
a = MexMatrix(gpu, [1; 2]);
c = MexCopy(gpu, a);
MexHandleMatrix(gpu, c)",
        see: &["MexVectorTimesConstant", "MexConvert"],
        run: |args| Ok(Out::Handle(args.objects()?.copy(args.handle(1), args.maybe_handle(2))?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexConvert",
        title: "Copy an object in single or double precision.",
        inputs: &[GPU, handle_as("a", "handle"), SINGLE],
        required: 3,
        outputs: &["c"],
        text: "c is a new object of the kind and shape of a, in single precision for single = 1, in double for 0.",
        example: "\
gpu = MexInitOpenCL();
a = MexMatrix(gpu, [0.1; 0.2]);
c = MexConvert(gpu, a, 1);
class(MexHandleMatrix(gpu, c))",
        see: &["MexCopy"],
        run: |args| {
            let objects = args.objects()?;
            let (a, single) = (args.handle(1), args.flag(2));
            let info = objects.info(a)?;
            let c = match objects.download(a)? {
                Download::F32(_) if single => objects.copy(a, None)?,
                Download::F64(_) if !single => objects.copy(a, None)?,
                Download::F32(host) => upload::<f32, f64>(&args.context()?, &info, host)?,
                Download::F64(host) => upload::<f64, f32>(&args.context()?, &info, host)?,
            };
            Ok(Out::Handle(c).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexFill",
        title: "Set every stored value of an object.",
        inputs: &[GPU, handle_as("h", "handle"), real("value")],
        required: 3,
        outputs: &["h"],
        text: "Of a sparse matrix the stored entries are set, of a band matrix the entries of its diagonals.",
        example: "\
gpu = MexInitOpenCL();
h = MexZeros(gpu, 2, 2);
MexFill(gpu, h, pi);
MexHandleMatrix(gpu, h)",
        see: &["MexZeros", "MexWriteMatrix"],
        run: |args| {
            let h = args.handle(1);
            args.objects()?.fill(h, args.real(2))?;
            Ok(Out::Handle(h).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexSlice",
        title: "Copy a part of a full matrix or vector to a new vector.",
        inputs: &[GPU, handle_as("h", "handle"), count("first"), count("count")],
        required: 4,
        outputs: &["v"],
        text: "v is a column with the values h(first : first + count - 1), counted column by column from 1 on.",
        example: "\
gpu = MexInitOpenCL();
h = MexMatrix(gpu, 10:10:50);
v = MexSlice(gpu, h, 2, 3);
MexHandleMatrix(gpu, v)",
        see: &["MexWriteSlice", "MexCopy"],
        run: |args| {
            let objects = args.objects()?;
            let (h, first, count) = (args.handle(1), offset(args, 2)?, args.count(3));
            let part = objects.call(&[Operand::new("handle", h, Object::FULL)], None, |inputs, _| {
                let rest = inputs[0].info().entries.checked_sub(first);
                let error = |argument, expected: String, got: usize| {
                    Err(clinalg::Error::Value { argument, expected, got: got.to_string() })
                };
                match rest {
                    None => error("first", "a position in the object".into(), first + 1),
                    Some(rest) if count > rest => error("count", format!("at most {rest} from there on"), count),
                    Some(_) => Ok(first..first + count),
                }
            })?;
            Ok(Out::Handle(objects.slice(h, part)?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexWriteSlice",
        title: "Replace a part of a full matrix or vector on the device.",
        inputs: &[GPU, handle_as("h", "target"), count_as("first", "offset"), handle_as("v", "source")],
        required: 4,
        outputs: &["h"],
        text: "\
Sets h(first : first + numel(v) - 1), counted column by column from 1 on, to all values of the full matrix
or vector v, another object of the same precision.",
        example: "\
gpu = MexInitOpenCL();
h = MexZeros(gpu, 1, 5);
MexWriteSlice(gpu, h, 2, MexMatrix(gpu, [7; 8]));
MexHandleMatrix(gpu, h)",
        see: &["MexSlice", "MexWriteMatrix"],
        run: |args| {
            let h = args.handle(1);
            args.objects()?.write_slice(h, offset(args, 2)?, args.handle(3))?;
            Ok(Out::Handle(h).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexSize",
        title: "Number of rows and columns of an object.",
        inputs: &[GPU, handle_as("h", "handle")],
        required: 2,
        outputs: &["rows", "cols"],
        text: "h is an object of any kind.",
        example: "\
gpu = MexInitOpenCL();
[rows, cols] = MexSize(gpu, MexZeros(gpu, 2, 3))",
        see: &["MexInfo"],
        run: |args| {
            let info = args.objects()?.info(args.handle(1))?;
            Ok(Answer::Several(vec![Out::Real(info.rows as f64), Out::Real(info.cols as f64)]))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexExplain",
        title: "How the products of a sparse matrix run, and why.",
        inputs: &[GPU, handle_as("A", "a")],
        required: 2,
        outputs: &["words"],
        text: "\
A is a sparse matrix. At upload the library looks for structure: a stencil with constant coefficients,
entries on few diagonals, rows of very different lengths. words is a sentence on what it found.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, spdiags(ones(1000, 3), -1 : 1, 1000, 1000));
MexExplain(gpu, A)",
        see: &["MexSetFormat", "MexSparseMatrixVector"],
        run: |args| Ok(Out::Text(args.objects()?.explain(args.handle(1))?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexSetFormat",
        title: "Choose how the products of a sparse matrix run.",
        inputs: &[GPU, handle_as("A", "a"), text("format")],
        required: 2,
        outputs: &[],
        text: "\
format is 'best' for what suits the matrix as its values are now (default), 'rows', 'blocks', 'diagonals' or
'stencil'. One that the matrix or the device does not allow is an error and changes nothing.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, speye(1000));
MexSetFormat(gpu, A, 'rows');
MexExplain(gpu, A)",
        see: &["MexExplain"],
        run: |args| {
            let formats = [
                ("best", None),
                ("rows", Some(Format::Rows)),
                ("blocks", Some(Format::Blocks)),
                ("diagonals", Some(Format::Diagonals)),
                ("stencil", Some(Format::Stencil)),
            ];
            args.objects()?.set_format(args.handle(1), choice(args, 2, "format", &formats)?)?;
            Ok(Answer::Nothing)
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexInfo",
        title: "What a handle names.",
        inputs: &[GPU, handle_as("h", "handle")],
        required: 2,
        outputs: &["info"],
        text: "\
info is a structure with the fields
  kind        'full', 'sparse', 'band', 'wave' or 'operator'
  class       'double' or 'single'
  rows, cols  the shape
  entries     number of values of a full matrix, of stored entries of a sparse one, 0 for a band
  kl, ku      number of sub- and superdiagonals of a band matrix, else 0",
        example: "\
gpu = MexInitOpenCL();
info = MexInfo(gpu, MexSparseMatrix(gpu, speye(3)));
info.entries",
        see: &["MexSize", "MexMemory"],
        run: |args| {
            let info = args.objects()?.info(args.handle(1))?;
            let number = |n: usize| Out::Real(n as f64);
            let kind = match info.kind {
                Object::Csr => "sparse",
                Object::Band => "band",
                Object::Wave => "wave",
                Object::Operator => "operator",
                _ => "full",
            };
            let record = vec![
                Out::Text(kind.to_owned()),
                Out::Text(class_name(info.precision).to_owned()),
                number(info.rows),
                number(info.cols),
                number(info.entries),
                number(info.kl),
                number(info.ku),
            ];
            let fields = vec![c"kind", c"class", c"rows", c"cols", c"entries", c"kl", c"ku"];
            Ok(Out::Records { fields, records: vec![record] }.into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexTranspose",
        title: "Transpose a full or sparse matrix.",
        inputs: &[GPU, handle_as("A", "handle")],
        required: 2,
        outputs: &["T"],
        text: "\
A is a full matrix or vector, or a sparse matrix; T is a new object of the same kind and precision. A
product with the transpose needs no T: see MexMatrixTransposeVector.",
        example: "\
gpu = MexInitOpenCL();
T = MexTranspose(gpu, MexSparseMatrix(gpu, sparse([0 1; 0 0])));
MexHandleMatrix(gpu, T)",
        see: &["MexMatrixTransposeVector", "MexSparseMatrixTransposeVector"],
        run: transpose,
        ..Function::DEFAULT
    },
    Function {
        name: "MexDiagonal",
        title: "Copy the main diagonal of a matrix to a new vector.",
        inputs: &[GPU, handle_as("A", "handle")],
        required: 2,
        outputs: &["d"],
        text: "A is a full, sparse or band matrix; d is a column of min(rows, cols) values.",
        example: "\
gpu = MexInitOpenCL();
d = MexDiagonal(gpu, MexSparseMatrix(gpu, sparse([4 1; 1 3])));
MexHandleMatrix(gpu, d)",
        see: &["MexTranspose"],
        run: diagonal,
        ..Function::DEFAULT
    },
    Function {
        name: "MexReadMarket",
        title: "Read a MatrixMarket file to the device.",
        inputs: &[GPU, text("file"), SINGLE],
        required: 2,
        outputs: &["h"],
        text: "\
A coordinate file makes a sparse matrix, an array file a full one; symmetric files are expanded. The
values are kept in double precision or, with single = 1, in single precision.",
        example: "\
gpu = MexInitOpenCL();
h = MexSparseMatrix(gpu, speye(3));
file = [tempname() '.mtx'];
MexWriteMarket(gpu, h, file);
MexHandleMatrix(gpu, MexReadMarket(gpu, file))
delete(file)",
        see: &["MexWriteMarket", "MexSparseMatrix"],
        run: |args| {
            let context = args.context()?;
            let single = args.maybe_flag(2) == Some(true);
            let precision = if single { Precision::F32 } else { Precision::F64 };
            let file = matrix_market::read(args.text(1))?;
            let h = typed!(precision, T => match &file.storage {
                Storage::Coordinate(_) => registry().insert(Csr::from_parts(&context, &file.to_csr_parts::<T>()?)?),
                Storage::Array(_) => {
                    registry().upload_dense(&context, file.rows, file.cols, &file.to_column_major::<T>()?)?
                }
            });
            Ok(Out::Handle(h).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexWriteMarket",
        title: "Write an object to a MatrixMarket file.",
        inputs: &[GPU, handle_as("h", "handle"), text("file")],
        required: 3,
        text: "\
A sparse or band matrix makes a coordinate file, a full matrix or vector an array file. An existing file
is replaced.",
        example: "\
gpu = MexInitOpenCL();
h = MexMatrix(gpu, [1 2; 3 4]);
file = [tempname() '.mtx'];
MexWriteMarket(gpu, h, file);
type(file)
delete(file)",
        see: &["MexReadMarket"],
        run: |args| {
            let objects = args.objects()?;
            let (h, file) = (args.handle(1), args.text(2));
            let precision = objects.info(h)?.precision;
            objects.with(h, |object| {
                typed!(precision, T => match object.stored::<T>("handle")? {
                    Stored::Vector(v) => matrix_market::write_array(&file, v.len(), 1, &v.to_vec()?),
                    Stored::Dense(a) => matrix_market::write_array(&file, a.rows(), a.cols(), &a.to_column_major()?),
                    Stored::Csr(a) => matrix_market::write_coordinate(&file, &a.to_parts()?),
                    Stored::Band(a) => matrix_market::write_coordinate(&file, &BandParts::to_csr(&a.to_parts()?)?),
                    _ => unreachable!("these are all kinds"),
                })
            })??;
            Ok(Answer::Nothing)
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexReleaseMatrix",
        title: "Free a full matrix or vector.",
        inputs: &[GPU, handle_as("h", "handle")],
        required: 2,
        text: "h is stale afterwards; to use or release it again is an error that harms nothing.",
        example: "\
gpu = MexInitOpenCL();
h = MexMatrix(gpu, [1 2 3]);
MexReleaseMatrix(gpu, h);",
        see: &["MexMatrix", "MexRelease", "MexReleaseOpenCL"],
        run: |args| release(args, Object::FULL),
        ..Function::DEFAULT
    },
    Function {
        name: "MexReleaseSparseMatrix",
        title: "Free a sparse matrix.",
        inputs: &[GPU, handle_as("h", "handle")],
        required: 2,
        text: "h is stale afterwards; to use or release it again is an error that harms nothing.",
        example: "\
gpu = MexInitOpenCL();
h = MexSparseMatrix(gpu, speye(3));
MexReleaseSparseMatrix(gpu, h);",
        see: &["MexSparseMatrix", "MexRelease", "MexReleaseOpenCL"],
        run: |args| release(args, &[Object::Csr]),
        ..Function::DEFAULT
    },
    Function {
        name: "MexReleaseBandMatrix",
        title: "Free a band matrix.",
        inputs: &[GPU, handle_as("h", "handle")],
        required: 2,
        text: "h is stale afterwards; to use or release it again is an error that harms nothing.",
        example: "\
gpu = MexInitOpenCL();
h = MexBandMatrix(gpu, eye(3), 0, 0);
MexReleaseBandMatrix(gpu, h);",
        see: &["MexBandMatrix", "MexRelease", "MexReleaseOpenCL"],
        run: |args| release(args, &[Object::Band]),
        ..Function::DEFAULT
    },
    Function {
        name: "MexRelease",
        title: "Free an object of any kind, if it is still there.",
        inputs: &[GPU, handle("h")],
        required: 2,
        outputs: &["freed"],
        text: "freed is false where h names no object any more, which is no error: for clean-up code.",
        example: "\
gpu = MexInitOpenCL();
h = MexMatrix(gpu, [1 2 3]);
freed = MexRelease(gpu, h)
freed = MexRelease(gpu, h)",
        see: &["MexReleaseMatrix", "MexReleaseOpenCL"],
        run: |args| Ok(Out::Flag(registry().release(args.handle(1), Object::ALL).is_ok()).into()),
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

fn release(args: &Args<'_>, kinds: &'static [Object]) -> Outcome {
    args.objects()?.release(args.handle(1), kinds)?;
    Ok(Answer::Nothing)
}

/// The argument `first`, a 1-based position, as an offset.
fn offset(args: &Args<'_>, position: usize) -> Result<usize, Fault> {
    let missing = || Fault::argument(id::VALUE, position + 1, "first", "is 0, expected a position from 1 on");
    args.count(position).checked_sub(1).ok_or_else(missing)
}

fn download(args: &Args<'_>) -> Outcome {
    let objects = args.objects()?;
    let h = args.handle(1);
    let Info { kind, precision, rows, cols, .. } = objects.info(h)?;
    if Object::FULL.contains(&kind) {
        let fill = move |room: Room<'_>| match room {
            Room::Single(target) => Ok(objects.read(h, 0, target)?),
            Room::Double(target) => Ok(objects.read(h, 0, target)?),
        };
        return Ok(Out::Full { rows, cols, precision, fill: Box::new(fill) }.into());
    }
    Ok(match objects.download(h)? {
        Download::F32(host) => sparse_out(host).into(),
        Download::F64(host) => sparse_out(host).into(),
    })
}

/// A sparse result; the host keeps no zeros.
fn sparse_out<T: Real>(host: Host<T>) -> Out {
    let Host::Sparse { rows, cols, offsets, indices, values } = host else {
        unreachable!("full arrays are read in place")
    };
    let entries = values.iter().filter(|v| **v != T::zero()).count();
    let fill = move |room: SparseRoom<'_>| {
        let mut kept = 0;
        for (column, start) in room.offsets.iter_mut().enumerate() {
            *start = kept;
            let Some(&end) = offsets.get(column + 1) else { break };
            for k in offsets[column]..end {
                if values[k] != T::zero() {
                    room.indices[kept] = indices[k];
                    room.values[kept] = values[k].wide();
                    kept += 1;
                }
            }
        }
        Ok(())
    };
    Out::Sparse { rows, cols, entries, fill: Box::new(fill) }
}

/// A new object like the one downloaded, in the precision `U`.
fn upload<T: Real, U: Scalar>(context: &Context, info: &Info, host: Host<T>) -> clinalg::Result<u64> {
    let converted = |values: Vec<T>| values.into_iter().map(|v| U::of(v.wide())).collect::<Vec<_>>();
    match host {
        Host::Full { rows, cols, values } => registry().upload_dense(context, rows, cols, &converted(values)),
        Host::Sparse { rows, cols, offsets, indices, values } => {
            let (shape, values) = ((rows, cols), converted(values));
            match info.kind {
                Object::Band => {
                    registry().upload_band_csc(context, shape, (info.kl, info.ku), &offsets, &indices, &values)
                }
                _ => registry().upload_csc(context, shape, &offsets, &indices, &values),
            }
        }
    }
}

fn transpose(args: &Args<'_>) -> Outcome {
    let objects = args.objects()?;
    let a = args.handle(1);
    let precision = objects.info(a)?.precision;
    let t = objects.with(a, |object| -> clinalg::Result<clinalg::registry::Object> {
        Ok(typed!(precision, T => match object.stored::<T>("handle")? {
            Stored::Vector(v) => Dense::from_column_major(v.context(), 1, v.len(), &v.to_vec()?)?.into(),
            Stored::Dense(a) => {
                let values = a.to_column_major()?;
                let (rows, cols) = (a.rows(), a.cols());
                let flipped: Vec<T> = (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j)))
                    .map(|(i, j)| values[j * rows + i]).collect();
                Dense::from_column_major(a.context(), cols, rows, &flipped)?.into()
            }
            Stored::Csr(a) => a.transpose()?.into(),
            _ => return Err(clinalg::Error::Shape {
                argument: "handle",
                expected: "a full or sparse matrix".into(),
                got: "a band matrix".into(),
            }),
        }))
    })??;
    Ok(Out::Handle(objects.insert(t)).into())
}

fn diagonal(args: &Args<'_>) -> Outcome {
    let objects = args.objects()?;
    let a = args.handle(1);
    let precision = objects.info(a)?.precision;
    let d = objects.with(a, |object| -> clinalg::Result<clinalg::registry::Object> {
        Ok(typed!(precision, T => match object.stored::<T>("handle")? {
            Stored::Dense(a) => a.diagonal()?.into(),
            Stored::Csr(a) => a.diagonal()?.into(),
            Stored::Band(a) => a.diagonal()?.into(),
            _ => return Err(clinalg::Error::Shape {
                argument: "handle",
                expected: "a matrix".into(),
                got: "a vector".into(),
            }),
        }))
    })??;
    Ok(Out::Handle(objects.insert(d)).into())
}
