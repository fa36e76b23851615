//! Preconditioners made of sparse matrices, and algebraic multigrid.

use clinalg::Error;
use clinalg::amg::{AmgParams, Coarsening, Cycle, Smoother};
use clinalg::precond::{CholeskyParams, IluKind, IluParams, Matching, Ordering, SsorParams};
use clinalg_handles::{PreconditionerKind, PreconditionerParams};

use super::grid::choice;
use super::{GPU, Outcome, count_as, handle, handle_as, real, text};
use crate::args::{Args, Input, Kind, Value};
use crate::emit::Out;
use crate::fault::Fault;
use crate::function::Function;

/// A preconditioner, which the core's errors call so.
const MADE: Input = handle_as("M", "preconditioner");

/// The names of the preconditioners.
pub(super) const KINDS: &[(&str, PreconditionerKind)] = &[
    ("ilu", PreconditionerKind::Ilu),
    ("ilut", PreconditionerKind::Ilut),
    ("ic", PreconditionerKind::Cholesky),
    ("ssor", PreconditionerKind::Ssor),
    ("spai0", PreconditionerKind::Spai0),
    ("fsai", PreconditionerKind::Fsai),
    ("jacobi", PreconditionerKind::Jacobi),
    ("amg", PreconditionerKind::Amg),
    ("lu", PreconditionerKind::Lu),
];

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexPreconditioner",
        title: "Make a preconditioner of a sparse matrix.",
        inputs: &[
            GPU,
            handle_as("A", "a"),
            text("kind"),
            text("order"),
            real("drop"),
            real("fill"),
            real("shift"),
            real("omega"),
            text("matching"),
        ],
        required: 2,
        outputs: &["M"],
        text: "\
A is a square sparse matrix, real or complex. M is the argument precond of MexCG, MexBiCGStab and MexGMRES;
z = MexMultiply(gpu, M, r) applies its inverse to a vector. It does not refer to A afterwards. MexRelease frees it.
  kind      'ilu' for ILU(0) (default), 'ilut', 'ic' for IC(0), 'ssor', 'spai0', 'fsai', 'jacobi' for the diagonal or
            'lu' for a complete factorisation, whose products solve with A itself; 'ic' and 'fsai' need a Hermitian
            positive definite matrix: one that is not Hermitian is an error
  order     of elimination: 'default', by colours for 'ssor' and that of A for the others, 'natural', 'multicolour'
            or 'cuthill-mckee'
  drop      of 'ilut': entries below this fraction of the mean magnitude of their row are dropped (default 1e-4)
  fill      of 'ilut': the factors may have about this many times the entries of A (default 10); each row of
            L and of U keeps its ceil(fill*nnz(A)/(2*n)) largest off-diagonal entries
  shift     of 'ic': the factors are those of A + shift * diag(diag(A)) (default 0, or the least of 1e-3,
            2e-3, 4e-3, ... that gives factors)
  omega     of 'ssor': relaxation factor between 0 and 2 (default 1)
  matching  of 'ilu' and 'ilut': 'needed' (default) permutes rows where a diagonal entry is missing or small,
            'never', or 'always'
A pivot that is zero is an error that names its row.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, gallery('poisson', 20));
M = MexPreconditioner(gpu, A, 'ic');
[x, flag, relres, iter] = MexCG(gpu, A, MexMatrix(gpu, ones(400, 1)), 1e-8, 100, M);
iter",
        see: &["MexAmg", "MexPreconditionerInfo", "MexCG", "MexRelease"],
        run: preconditioner,
        ..Function::DEFAULT
    },
    Function {
        name: "MexPreconditionerInfo",
        title: "Kind, entries and levels of a preconditioner.",
        inputs: &[GPU, MADE],
        required: 2,
        outputs: &["info"],
        text: "\
M is one of MexPreconditioner or MexAmg. info is a structure with the fields
  kind     as MexPreconditioner takes it, or 'amg'
  rows     rows and columns
  entries  stored entries: of the factors, of the factor of 'fsai', of the diagonal of 'spai0' and 'jacobi', of the matrices
           of all levels for 'amg'; 0 for 'ssor'
  levels   steps of the lower and the upper triangular system; 0 without one
  matched  whether rows were permuted
  shift    of 'ic', the one that was used",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, gallery('poisson', 20));
info = MexPreconditionerInfo(gpu, MexPreconditioner(gpu, A, 'ilu', 'multicolour'));
info.levels",
        see: &["MexPreconditioner", "MexAmgInfo"],
        run: info,
        ..Function::DEFAULT
    },
    Function {
        name: "MexAmg",
        title: "Make an algebraic multigrid preconditioner.",
        inputs: &[
            GPU,
            handle_as("A", "a"),
            real("theta"),
            text("smoother"),
            count_as("steps", "smoother_steps"),
            text("cycle"),
            count_as("coarse", "coarse_size"),
            Input::new("block", Kind::Count),
            Input::new("single", Kind::Flag),
            Input::new("reusable", Kind::Flag),
            handle("near_null"),
            text("coarsening"),
            Input::new("coordinates", Kind::Full),
            Input::new("aggressive", Kind::Flag),
        ],
        required: 2,
        outputs: &["M"],
        text: "\
A is a real, square sparse matrix. M is a hierarchy of coarser problems, for the argument precond of MexCG;
z = MexMultiply(gpu, M, r) is a cycle. MexRelease frees it.
  theta     threshold of strong connections (default 0.08, with classical coarsening 0.25)
  smoother  'chebyshev' (default), 'l1-jacobi' (scaled by absolute row sums), 'spai0', or 'gauss-seidel' by colours
  steps     degree or sweeps of the smoother (default 2)
  cycle     'v' (default), 'w', or 'k': two steps of conjugate gradients on each coarser level, for symmetric positive
            definite A. MexCG then uses flexible conjugate gradients
  coarse    rows of the level that a dense inverse solves (default 400)
  block     unknowns per node: 2 or 3 for elasticity (default 1)
  single    1 keeps the hierarchy in single precision (default 0)
  reusable  1 allows MexAmgRefill (default 0)
  near_null  columns that A nearly maps to zero; without it, constants are used
  coarsening  'aggregation' or 'sa' (smoothed aggregation), 'classical' (PMIS and extended+i interpolation), or 'auto'
            (default): classical where the entries of rows and columns differ much in size
  coordinates  of the nodes, for elasticity: a row per node, with 2 or 3 columns. near_null is then the rigid body modes,
            block the number of columns; the displacements of a node are numbered one after the other
  aggressive  1 coarsens the finest level aggressively, with 'classical' only: less memory and time for a cycle, more
            iterations (default 0)",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, gallery('poisson', 60));
M = MexAmg(gpu, A);
[x, flag, relres, iter] = MexCG(gpu, A, MexMatrix(gpu, ones(3600, 1)), 1e-8, 100, M);
iter",
        see: &["MexAmgInfo", "MexAmgRefill", "MexPreconditioner", "MexCG"],
        run: amg,
        ..Function::DEFAULT
    },
    Function {
        name: "MexAmgInfo",
        title: "Levels, sizes and complexities of algebraic multigrid.",
        inputs: &[GPU, MADE],
        required: 2,
        outputs: &["info"],
        text: "\
M is one of MexAmg. info is a structure with the fields
  levels               a structure array, the finest level first: rows, entries, prolongator, the entries of the
                       prolongator to it, and format, how its products are computed
  operator_complexity  entries of all levels over those of the finest
  grid_complexity      rows of all levels over those of the finest
  bytes                of matrices and vectors on the device
  direct               whether the coarsest level is solved by a dense inverse
  null_vectors         near-null vectors that the matrix maps to zero: 0 unless it is singular
  seconds              of the set-up or the last MexAmgRefill
  coarsening           'aggregation' or 'classical'
  convergence_factor   what MexAmgFactor found; NaN before",
        example: "\
gpu = MexInitOpenCL();
info = MexAmgInfo(gpu, MexAmg(gpu, MexSparseMatrix(gpu, gallery('poisson', 60))));
[info.levels.rows]",
        see: &["MexAmg", "MexAmgFactor", "MexPreconditionerInfo"],
        run: amg_info,
        ..Function::DEFAULT
    },
    Function {
        name: "MexAmgRefill",
        title: "Fill an algebraic multigrid hierarchy with new values.",
        inputs: &[GPU, MADE, handle_as("A", "a")],
        required: 3,
        text: "\
M is one of MexAmg with reusable = 1, A a matrix with its entries at the same positions as the one that M was made
from. Aggregates and positions are kept, which takes less time than another MexAmg.",
        example: "\
gpu = MexInitOpenCL();
A = gallery('poisson', 30);
M = MexAmg(gpu, MexSparseMatrix(gpu, A), [], [], [], [], [], [], [], 1);
MexAmgRefill(gpu, M, MexSparseMatrix(gpu, 2 * A));",
        see: &["MexAmg"],
        run: |args| {
            args.objects()?.amg_refill(args.handle(1), args.handle(2))?;
            Ok(crate::emit::Answer::Nothing)
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexAmgFactor",
        title: "How much a cycle of algebraic multigrid reduces the error.",
        inputs: &[GPU, MADE, handle_as("A", "a")],
        required: 3,
        outputs: &["factor"],
        text: "\
M is one of MexAmg, A its matrix. factor is approximately the fraction of the error that a single cycle leaves: below
0.2 is good; near 1 the hierarchy does not suit the matrix.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, gallery('poisson', 30));
MexAmgFactor(gpu, MexAmg(gpu, A), A)",
        see: &["MexAmg", "MexAmgInfo"],
        run: |args| {
            let factor = args.objects()?.amg_convergence_factor(args.handle(1), args.handle(2))?;
            Ok(Out::Real(factor).into())
        },
        ..Function::DEFAULT
    },
];

fn preconditioner(args: &Args<'_>) -> Outcome {
    let objects = args.objects()?;
    let made_here = &KINDS[..KINDS.len() - 1];
    let kind = choice(args, 2, "kind", made_here)?;
    let orders = [
        ("default", None),
        ("natural", Some(Ordering::Natural)),
        ("multicolour", Some(Ordering::Multicolour)),
        ("cuthill-mckee", Some(Ordering::CuthillMcKee)),
    ];
    let order = choice(args, 3, "order", &orders)?;
    let matchings = [("needed", Matching::WhereNeeded), ("never", Matching::Never), ("always", Matching::Always)];
    let matching = choice(args, 8, "matching", &matchings)?;
    let is_ilu = matches!(kind, PreconditionerKind::Ilu | PreconditionerKind::Ilut);
    let is_ordered = !matches!(kind, PreconditionerKind::Spai0 | PreconditionerKind::Fsai | PreconditionerKind::Jacobi);
    for (position, argument, is_taken) in [
        (3, "order", is_ordered),
        (4, "drop", kind == PreconditionerKind::Ilut),
        (5, "fill", kind == PreconditionerKind::Ilut),
        (6, "shift", kind == PreconditionerKind::Cholesky),
        (7, "omega", kind == PreconditionerKind::Ssor),
        (8, "matching", is_ilu),
    ] {
        if !is_taken && !matches!(args.value(position), Value::Absent) {
            let expected = "left out or []: this kind of preconditioner does not take it";
            return Err(Error::value(argument, expected, "given").into());
        }
    }
    let ilu = |kind| {
        PreconditionerParams::Ilu(
            IluParams::default().kind(kind).matching(matching).ordering(order.unwrap_or_default()),
        )
    };
    let params = match kind {
        PreconditionerKind::Ilut => {
            let IluKind::Threshold { drop, fill } = IluKind::threshold() else { unreachable!("ILUT has both") };
            let (drop, fill) = (args.maybe_real(4).unwrap_or(drop), args.maybe_real(5).unwrap_or(fill));
            ilu(IluKind::Threshold { drop, fill })
        }
        PreconditionerKind::Cholesky => {
            let params = CholeskyParams::default().ordering(order.unwrap_or_default());
            PreconditionerParams::Cholesky(args.maybe_real(6).map_or(params, |shift| params.shift(shift)))
        }
        PreconditionerKind::Ssor => {
            let params = args.maybe_real(7).map_or(SsorParams::default(), |omega| SsorParams::default().omega(omega));
            PreconditionerParams::Ssor(order.map_or(params, |order| params.ordering(order)))
        }
        PreconditionerKind::Spai0 => PreconditionerParams::Spai0,
        PreconditionerKind::Fsai => PreconditionerParams::Fsai,
        PreconditionerKind::Jacobi => PreconditionerParams::Jacobi,
        _ => ilu(IluKind::Zero),
    };
    Ok(Out::Handle(objects.preconditioner(args.handle(1), &params)?).into())
}

fn info(args: &Args<'_>) -> Outcome {
    let info = args.objects()?.preconditioner_info(args.handle(1))?;
    let name = KINDS.iter().find(|(_, kind)| *kind == info.kind).map_or("", |(name, _)| name);
    let fields = vec![c"kind", c"rows", c"entries", c"levels", c"matched", c"shift"];
    let record = vec![
        Out::Text(name.to_owned()),
        Out::Real(info.rows as f64),
        Out::Real(info.entries as f64),
        Out::Reals { rows: 1, values: info.levels.map(|levels| levels as f64).to_vec() },
        Out::Flag(info.is_matched),
        Out::Real(info.shift),
    ];
    Ok(Out::Records { fields, records: vec![record] }.into())
}

/// The parameters from theta at position `first` to block, then coarsening and aggressive at `last`.
pub(super) fn amg_params(args: &Args<'_>, first: usize, last: [usize; 2]) -> Result<AmgParams, Fault> {
    let mut params = AmgParams::default();
    if let Some(theta) = args.maybe_real(first) {
        params = params.theta(theta);
    }
    let steps = args.maybe_count(first + 2).unwrap_or(2);
    let smoothers = [
        ("chebyshev", Smoother::Chebyshev(steps)),
        ("l1-jacobi", Smoother::L1Jacobi(steps)),
        ("spai0", Smoother::Spai0(steps)),
        ("gauss-seidel", Smoother::GaussSeidel(steps)),
    ];
    params = params.smoother(choice(args, first + 1, "smoother", &smoothers)?);
    params = params.cycle(choice(args, first + 3, "cycle", &[("v", Cycle::V), ("w", Cycle::W), ("k", Cycle::K)])?);
    if let Some(rows) = args.maybe_count(first + 4) {
        params = params.coarse_size(rows);
    }
    if let Some(block) = args.maybe_count(first + 5) {
        params = params.block(block);
    }
    let coarsenings = [
        ("auto", Coarsening::Auto),
        ("aggregation", Coarsening::Aggregation),
        ("classical", Coarsening::Classical),
        ("sa", Coarsening::Aggregation),
    ];
    params = params.coarsening(choice(args, last[0], "coarsening", &coarsenings)?);
    Ok(params.aggressive(args.maybe_flag(last[1]).unwrap_or(false)))
}

fn amg(args: &Args<'_>) -> Outcome {
    let objects = args.objects()?;
    let params = amg_params(args, 2, [11, 13])?
        .single(args.maybe_flag(8).unwrap_or(false))
        .reusable(args.maybe_flag(9).unwrap_or(false));
    let made = match args.value(12) {
        Value::Full(nodes) => {
            for (position, argument) in [(7, "block"), (10, "near_null")] {
                if !matches!(args.value(position), Value::Absent) {
                    let expected = "left out or []: it follows from the coordinates";
                    return Err(Error::value(argument, expected, "given").into());
                }
            }
            // Node by node.
            let values = nodes.values.reals();
            let coordinates: Vec<f64> = (0..nodes.rows)
                .flat_map(|node| (0..nodes.cols).map(move |k| (node, k)))
                .map(|(node, k)| values[node + k * nodes.rows])
                .collect();
            objects.amg_with_coordinates(args.handle(1), &coordinates, nodes.cols, &params)?
        }
        _ => objects.amg(args.handle(1), args.maybe_handle(10), &params)?,
    };
    Ok(Out::Handle(made).into())
}

fn amg_info(args: &Args<'_>) -> Outcome {
    let report = args.objects()?.amg_report(args.handle(1))?;
    let levels = report.levels.iter().map(|level| {
        vec![
            Out::Real(level.rows as f64),
            Out::Real(level.nnz as f64),
            Out::Real(level.prolongator_nnz as f64),
            Out::Text(level.format.to_string()),
        ]
    });
    let levels =
        Out::Records { fields: vec![c"rows", c"entries", c"prolongator", c"format"], records: levels.collect() };
    let fields = vec![
        c"levels",
        c"operator_complexity",
        c"grid_complexity",
        c"bytes",
        c"direct",
        c"null_vectors",
        c"seconds",
        c"coarsening",
        c"convergence_factor",
    ];
    let record = vec![
        levels,
        Out::Real(report.operator_complexity),
        Out::Real(report.grid_complexity),
        Out::Real(report.bytes as f64),
        Out::Flag(report.direct),
        Out::Real(report.null_vectors as f64),
        Out::Real(report.seconds),
        Out::Text(if report.classical { "classical" } else { "aggregation" }.to_owned()),
        Out::Real(report.convergence_factor.unwrap_or(f64::NAN)),
    ];
    Ok(Out::Records { fields, records: vec![record] }.into())
}
