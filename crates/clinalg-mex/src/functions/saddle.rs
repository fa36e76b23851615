//! Block preconditioners for saddle points.

use clinalg::precond::{Inner, SaddleParams, SaddleShape, Schur, SchurKind, Split};
use clinalg::{Error, Result};

use super::grid::choice;
use super::poisson::maybe_full;
use super::{GPU, Outcome, count, handle_as, text};
use crate::args::{Args, Input, Kind};
use crate::emit::Out;
use crate::function::Function;

/// The preconditioners of a block; the first one is chosen from the matrix.
const INNER: &[(&str, Option<Inner>)] = &[
    ("auto", None),
    ("amg", Some(Inner::Amg)),
    ("ic", Some(Inner::Ic)),
    ("ilu", Some(Inner::Ilu)),
    ("jacobi", Some(Inner::Jacobi)),
];

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexSaddle",
        title: "Make a block preconditioner for a saddle point.",
        inputs: &[
            GPU,
            handle_as("K", "a"),
            text("shape"),
            text("schur"),
            text("first"),
            text("second"),
            count("rows"),
            Input::new("block", Kind::Full),
            Input::new("mass", Kind::Full),
        ],
        required: 2,
        outputs: &["M"],
        text: "\
K = [A B'; B -C] is a real sparse matrix (Stokes, mixed elements, constraints). M is the argument precond of MexMINRES and
MexGMRES; z = MexMultiply(gpu, M, r) applies its inverse. S stands for the Schur complement B * inv(A) * B' + C.
  shape   'diagonal' (default) for [A 0; 0 S], which MexMINRES takes where K is symmetric, or 'triangular' for
          [A B'; 0 -S], for MexGMRES and MexBiCGStab in about half the iterations
  schur   S: 'product' for B * inv(diag(diag(A))) * B' + C, where A is close to its diagonal; 'diagonal' for the diagonal
          of that, as for Stokes; 'auto' (default) tries which
  first   of A: 'amg', 'ic', 'ilu', 'jacobi' or 'auto' (default), what suits it
  second  of the product, as first
  rows    number of rows of A, if they come first; else the second block is that of the rows whose diagonal entry is zero or
          negative
  block   or the numbers of the rows of the second block, from 1 on, ascending
  mass    positive diagonal of the mass matrix of the second block (for Stokes divided by the viscosity), in place of S
MexRelease frees M; it does not refer to K afterwards.",
        example: "\
gpu = MexInitOpenCL();
K = [4 * speye(60), sparse(1:30, 1:30, 1, 30, 60)'; sparse(1:30, 1:30, 1, 30, 60), sparse(30, 30)];
A = MexSparseMatrix(gpu, K);
[x, flag, relres, iter] = MexMINRES(gpu, A, MexMatrix(gpu, ones(90, 1)), 1e-8, 50, MexSaddle(gpu, A));
iter",
        see: &["MexSaddleInfo", "MexMINRES", "MexGMRES", "MexPreconditioner", "MexRelease"],
        run: saddle,
        ..Function::DEFAULT
    },
    Function {
        name: "MexSaddleInfo",
        title: "Blocks and parts of a preconditioner for a saddle point.",
        inputs: &[GPU, handle_as("M", "preconditioner")],
        required: 2,
        outputs: &["info"],
        text: "\
M is one of MexSaddle. info is a structure with the fields
  shape          as MexSaddle takes it
  schur          'product', 'diagonal' or 'mass'
  first, second  the preconditioners of A and of the product; second is empty without one
  rows           rows of A and of C
  null_constant  whether K takes the constants of the second block to zero, as the pressure of an enclosed flow: there are
                 solutions where the values of b in that block add up to 0, up to such a constant",
        example: "\
gpu = MexInitOpenCL();
K = [4 * speye(60), sparse(1:30, 1:30, 1, 30, 60)'; sparse(1:30, 1:30, 1, 30, 60), sparse(30, 30)];
info = MexSaddleInfo(gpu, MexSaddle(gpu, MexSparseMatrix(gpu, K)));
info.rows",
        see: &["MexSaddle", "MexPreconditionerInfo"],
        run: info,
        ..Function::DEFAULT
    },
];

/// Which rows belong to which block, if the arguments say it.
fn split(args: &Args<'_>) -> Result<Option<Split>> {
    match (args.maybe_count(6), maybe_full(args, 7)) {
        (None, None) => Ok(None),
        (Some(rows), None) => Ok(Some(Split::First(rows))),
        (None, Some(block)) => {
            let number = |row: f64| match row {
                row if row >= 1.0 && row.fract() == 0.0 && row <= f64::from(u32::MAX) => Ok(row as usize - 1),
                row => Err(Error::value("block", "whole numbers from 1 on, ascending", row)),
            };
            Ok(Some(Split::Second(block.values.reals().into_iter().map(number).collect::<Result<_>>()?)))
        }
        (Some(rows), Some(_)) => Err(Error::value("rows", "[] where block names the rows of the second block", rows)),
    }
}

fn saddle(args: &Args<'_>) -> Outcome {
    let objects = args.objects()?;
    let shapes = [("diagonal", SaddleShape::Diagonal), ("triangular", SaddleShape::Triangular)];
    let schurs = [("auto", Schur::Auto), ("product", Schur::Product), ("diagonal", Schur::Diagonal)];
    let mut params =
        SaddleParams::default().shape(choice(args, 2, "shape", &shapes)?).schur(choice(args, 3, "schur", &schurs)?);
    params.first = choice(args, 4, "first", INNER)?;
    params.second = choice(args, 5, "second", INNER)?;
    let mass = maybe_full(args, 8).map(|mass| mass.values.reals());
    Ok(Out::Handle(objects.saddle(args.handle(1), split(args)?.as_ref(), mass.as_deref(), &params)?).into())
}

fn info(args: &Args<'_>) -> Outcome {
    let found = args.objects()?.saddle_report(args.handle(1))?;
    let name = |inner: Option<Inner>| {
        let known = INNER.iter().find(|(_, known)| inner.is_some() && *known == inner);
        Out::Text(known.map_or("", |(name, _)| name).to_owned())
    };
    let shape = if found.shape == SaddleShape::Triangular { "triangular" } else { "diagonal" };
    let (schur, second) = match found.schur {
        SchurKind::Product(inner) => ("product", Some(inner)),
        SchurKind::Mass => ("mass", None),
        _ => ("diagonal", None),
    };
    let fields = vec![c"shape", c"schur", c"first", c"second", c"rows", c"null_constant"];
    let record = vec![
        Out::Text(shape.to_owned()),
        Out::Text(schur.to_owned()),
        name(found.first),
        name(second),
        Out::Reals { rows: 1, values: vec![found.first_rows as f64, found.second_rows as f64] },
        Out::Flag(found.null_constant),
    ];
    Ok(Out::Records { fields, records: vec![record] }.into())
}
