//! The method where none is asked for, and how long a run will take.

use std::time::Duration;

use clinalg::{Context, KernelFamily, Real};
use clinalg_bem::Mesh;
use clinalg_bem::heat::{Form, HeatParams, HeatSpace, Kind, OperatorOptions, Problem};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Method, MethodArg};
use crate::exit::Failure;
use crate::messages;
use crate::text::seconds;

/// Time steps from which on forward elimination is taken: the iterations that GMRES needs grow with their number.
const MANY_STEPS: usize = 128;
/// Products that GMRES takes for certain with so many time steps.
const ITERATIONS: f64 = 30.0;
/// Floating-point operations from which on a prediction is worth its time, on CPUs and on GPUs.
const MUCH_WORK: [f64; 2] = [1e11, 1e13];
/// Operations of a pair of triangles for each block, about: 36 pairs of points.
const PER_PAIR: f64 = 36.0 * 30.0;
/// Predictions that are worth a line.
const LONG: Duration = Duration::from_secs(10);

impl MethodArg {
    /// The method that is taken for a matrix with `rows` rows in each block.
    ///
    /// Forward elimination multiplies as often as two products, evaluates all blocks log2(steps) + 1 times where they are not stored, and
    /// inverts the diagonal block, which takes 2 rows^3 operations where a product takes rows^2 steps^2. Its inverse has to fit.
    /// Options of GMRES, `of_gmres`, ask for GMRES.
    pub(super) fn choose<T: Real>(self, of_gmres: bool, context: &Context, rows: usize, steps: usize) -> Method {
        let (n, k) = (rows as f64, steps as f64);
        let products = 3.0 + k.log2() + 2.0 * n / (k * k);
        let fits = 2.0 * n * n * size_of::<T>() as f64 <= 0.25 * context.device().global_mem as f64;
        match self {
            MethodArg::Gmres => Method::Gmres,
            MethodArg::Forward => Method::Forward,
            MethodArg::Auto if of_gmres || steps < MANY_STEPS => Method::Gmres,
            MethodArg::Auto if products < ITERATIONS && fits => Method::Forward,
            MethodArg::Auto => Method::Gmres,
        }
    }
}

/// Seconds that were predicted before the work began.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(super) struct Predicted {
    /// Of the operators and the right-hand side.
    pub(super) assemble: f64,
    /// Of forward elimination, of GMRES for each iteration.
    solve: f64,
}

/// A prediction where there is much to do, told on stderr where it is long.
pub(super) fn predict<T: Real>(
    space: &HeatSpace<T>,
    problem: Problem,
    options: &OperatorOptions,
    method: Method,
) -> Result<Option<Predicted>, Failure> {
    let (mesh, params) = (space.mesh(), space.params());
    if !is_much(space.context(), mesh, params, problem) {
        return Ok(None);
    }
    let (matrix, other) = problem.kinds();
    let bytes = matrix.rows(mesh) as f64 * matrix.cols(mesh) as f64 * params.steps as f64 * size_of::<T>() as f64;
    if options.form == Form::Assembled && bytes > space.context().device().global_mem as f64 {
        // An error follows at once.
        return Ok(None);
    }
    let Some(system) = space.forecast(matrix, options)? else { return Ok(None) };
    let Some(right) = space.forecast(other, options)? else { return Ok(None) };
    let stored = space.stores(matrix, options);
    let evaluated = |times: f64| if stored { Duration::ZERO } else { system.blocks.mul_f64(times) };
    let once = if stored { system.blocks } else { Duration::ZERO };
    let assemble = system.setup + once + right.setup + right.blocks + right.product;
    let solve = match method {
        // The pass and its residual.
        Method::Forward => 2 * system.product + evaluated((params.steps as f64).log2() + 1.0),
        Method::Gmres => system.product + evaluated(1.0),
    };
    let predicted = Predicted { assemble: assemble.as_secs_f64(), solve: solve.as_secs_f64() };
    if assemble + solve >= LONG {
        let each = if method == Method::Gmres { "each iteration of GMRES" } else { "forward elimination" };
        messages::tell(&format!(
            "predicted: {} for the operators and the right-hand side, {} for {each}",
            seconds(predicted.assemble),
            seconds(predicted.solve)
        ));
    }
    Ok(Some(predicted))
}

fn is_much(context: &Context, mesh: &Mesh, params: &HeatParams, problem: Problem) -> bool {
    let (matrix, other) = problem.kinds();
    let entries = |kind: Kind| kind.rows(mesh) as f64 * kind.cols(mesh) as f64;
    let steps = params.steps as f64;
    let pairs = (mesh.triangles().len() as f64).powi(2);
    let work = (entries(matrix) + entries(other)) * steps * steps + 2.0 * pairs * PER_PAIR * steps;
    work >= MUCH_WORK[usize::from(context.family() == KernelFamily::Gpu)]
}
