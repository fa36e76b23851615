//! The problem to be solved: grid, right-hand side, values on the sides, coefficient, and the exact solution of the sine
//! problem.

use std::f64::consts::PI;

use clinalg::multigrid::{Backend, Centring, Condition, Grid, PoissonParams, Separable, Smoother};
use clinalg::{Real, Vector};
use clinalg_ode::Places;

use super::boundary::{Boundary, BoundaryData, held, side_of};
use super::{Args, RightSide};
use crate::args;
use crate::args::boxes::{self, ENDS};
use crate::data::{CoefficientValues, GridValues, InputField, Lattice, random_numbers, zeros};
use crate::executor::Executor;
use crate::exit::{Failure, usage};

/// What is solved.
pub(super) struct Problem {
    pub(super) grid: Grid,
    /// Lengths of the directions.
    pub(super) size: Vec<f64>,
    pub(super) lattice: Lattice,
    pub(super) params: PoissonParams,
    /// The points per side of a square or a cube with the fastest kernels.
    pub(super) regular: Option<usize>,
    /// What is solved for without `--f`.
    pub(super) rhs: Option<RightSide>,
    seed: u64,
    /// The solution of the problem without `--f` and with `--rhs sine`.
    sine: Option<Sine>,
    pub(super) f: Option<InputField>,
    pub(super) boundary: Option<BoundaryData>,
    pub(super) coefficient: Option<InputField>,
}

/// u is a product of a sine or a cosine per direction, which meets the conditions on the sides with g = 0, and f the multiple of
/// it that the operator makes.
struct Sine {
    /// By direction: whether it is a sine, and pi / L times 1/2, 1 or 2.
    factors: Vec<(bool, f64)>,
    eigenvalue: f64,
}

impl Sine {
    fn new(grid: &Grid, size: &[f64], params: &PoissonParams) -> Result<Sine, Failure> {
        let factor = |axis: usize| {
            use Condition::{Dirichlet, Neumann, Periodic};
            let (sine, halves) = match ENDS.map(|end| grid.condition(axis, end)) {
                [Dirichlet, Dirichlet] => (true, 2.0),
                [Dirichlet, Neumann] => (true, 1.0),
                [Neumann, Dirichlet] => (false, 1.0),
                [Neumann, Neumann] => (false, 2.0),
                [Periodic, Periodic] => (true, 4.0),
                _ => {
                    return usage!(
                        "a robin side needs --f or --rhs random: the default, --rhs sine, has no closed form there"
                    );
                }
            };
            Ok((sine, 0.5 * halves * PI / size[axis]))
        };
        let factors = (0..grid.dim()).map(factor).collect::<Result<Vec<_>, _>>()?;
        let terms = factors.iter().zip(&params.diffusion).map(|((_, k), d)| d * k * k);
        let eigenvalue = terms.sum::<f64>() + params.shift;
        Ok(Sine { factors, eigenvalue })
    }

    /// `scale` times u at all points.
    fn values(&self, grid: &Grid, scale: f64) -> Result<Separable, Failure> {
        let mut factors = Vec::new();
        for (axis, &(sine, k)) in self.factors.iter().enumerate() {
            factors.push(if sine && ENDS.iter().all(|&end| grid.is_held(axis, end)) {
                sines(grid.points()[axis])
            } else {
                let along = grid.coordinates(axis)?;
                along.into_iter().map(|x| if sine { (k * x).sin() } else { (k * x).cos() }).collect()
            });
        }
        Ok(Separable::new(scale, &factors.iter().map(|along| &along[..]).collect::<Vec<_>>())?)
    }
}

impl Problem {
    /// # Errors
    /// [`Failure::Usage`] and [`Failure::File`] for what cannot be read.
    pub(super) fn new(args: &Args) -> Result<Problem, Failure> {
        let points = args.points();
        let dim = points.len();
        let given =
            |option, text: &Option<String>| text.as_deref().map(|text| InputField::new(option, text, dim)).transpose();
        let size = args.size.as_ref().map_or(vec![1.0; dim], |size| size.0.clone());
        boxes::check_count("--size", args.size.as_ref(), dim)?;
        boxes::check_count("--diffusion", args.diffusion.as_ref(), dim)?;
        let centring = if args.cells { Centring::Cell } else { Centring::Vertex };
        let mut grid = Grid::new(&points).size(&size).centring(centring);
        if let Some(sides) = &args.sides {
            let mut conditions = Vec::new();
            sides.apply(dim, |axis, end, condition| conditions.push((axis, end, condition)))?;
            grid = conditions.into_iter().fold(grid, |grid, (axis, end, condition)| grid.side(axis, end, condition));
        }
        grid.check()?;
        let mut params = args.params();
        args.diffusion.iter().flat_map(|d| &d.0).zip(&mut params.diffusion).for_each(|(given, d)| *d = *given);
        params.mixed_derivatives = args.mixed_entries(dim)?;
        let f = given("--f", &args.f)?;
        let rhs = f.is_none().then_some(args.rhs);
        let (boundary, coefficient) =
            (BoundaryData::new(&args.boundary, &grid)?, given("--coefficient", &args.coefficient)?);
        let full = args.tensor.is_given() || params.mixed_derivatives != [0.0; 3];
        let sine = match rhs {
            Some(RightSide::Sine) => Some(Sine::new(&grid, &size, &params)?),
            _ => None,
        };
        let known = !full && (coefficient.is_none() || (dim == 2 && grid.regular().is_some()));
        if sine.is_some() && !known {
            return usage!(
                "this problem needs --f or --rhs random: the default, --rhs sine, is available only for constant, diagonal D, and \
                         with --coefficient only on the unit square with 2^k + 1 points per side"
            );
        }
        let plain = params.diffusion == [1.0; 3] && params.order == 2 && !full;
        let regular = grid.regular().filter(|_| plain && (coefficient.is_none() || dim == 2));
        Ok(Problem {
            regular,
            lattice: Lattice::of_box(&grid, &size, centring),
            grid,
            size,
            params,
            rhs,
            seed: args.seed,
            sine,
            f,
            boundary,
            coefficient,
        })
    }

    /// Whether u is known.
    pub(super) fn is_solved(&self) -> bool {
        self.sine.is_some() && self.boundary.is_none() && self.coefficient.is_none()
    }

    /// An error for options that only squares and cubes with the fastest kernels have.
    pub(super) fn check_options(&self, executor: &Executor) -> Result<(), Failure> {
        if self.regular.is_some() {
            return Ok(());
        }
        let PoissonParams { backend, smoother, mixed_precision, .. } = self.params;
        let given = [
            (backend == Backend::Matrix, "--backend matrix", "use --backend kernels"),
            (backend == Backend::Reference, "--backend reference", "use --backend kernels"),
            (smoother != Smoother::RedBlack, "--smoother jacobi", "use --smoother rbgs"),
            (mixed_precision, "--precision mixed", "use --precision f64"),
            (matches!(executor, Executor::Team(_)), "--devices", "leave it out, or name one device with --device"),
        ];
        let Some((_, option, instead)) = given.iter().find(|(given, ..)| *given) else { return Ok(()) };
        let nearest = match self.grid.points() {
            [n, rest @ ..] if rest.iter().all(|m| m == n) && !(n - 1).is_power_of_two() => args::nearest(*n),
            _ => String::new(),
        };
        usage!(
            "{option} is only for -Laplace u + S u = f on the unit square or cube with 2^k + 1 points per side and \
             u = g on the boundary{nearest}; for this problem {instead}"
        )
    }

    /// The values on the sides.
    pub(super) fn boundary_values<T: Real>(&self, executor: &Executor) -> Result<Boundary<T>, Failure> {
        let (data, computed) = (self.boundary.as_ref(), executor.computes_separable(self.lattice.len()));
        data.map_or(Ok(Boundary::Zero), |data| data.values(&self.grid, &self.lattice, computed))
    }

    /// The values of u at the points of sides, 0 elsewhere.
    pub(super) fn start<T: Real>(&self, boundary: &Boundary<T>) -> Result<Vec<T>, Failure> {
        match (boundary, &self.boundary) {
            (Boundary::Points(values), Some(data)) => match &values[..] {
                [GridValues::Host(values)] => Ok(values.clone()),
                _ => data.at_points(&self.grid, &self.lattice),
            },
            _ => self.zeros(),
        }
    }

    pub(super) fn zeros<T: Real>(&self) -> Result<Vec<T>, Failure> {
        zeros(Some(self.grid.len()), || self.name())
    }

    /// The numbers of points.
    pub(super) fn name(&self) -> String {
        self.grid.points().iter().map(usize::to_string).collect::<Vec<_>>().join(" x ")
    }

    pub(super) fn faces<T: Real>(&self) -> Result<Option<CoefficientValues<T>>, Failure> {
        self.coefficient.as_ref().map(|given| given.coefficient(&self.lattice)).transpose()
    }

    fn sine_right_side(&self) -> Result<Option<Separable>, Failure> {
        self.sine.as_ref().map(|sine| sine.values(&self.grid, sine.eigenvalue)).transpose()
    }

    /// The solution, where it is known.
    pub(super) fn solution(&self) -> Result<Option<Separable>, Failure> {
        self.sine.as_ref().filter(|_| self.is_solved()).map(|sine| sine.values(&self.grid, 1.0)).transpose()
    }

    /// The right-hand side, which devices compute where possible.
    pub(super) fn right_side_values<T: Real>(&self, executor: &Executor) -> Result<GridValues<T>, Failure> {
        let points = self.lattice.len();
        let [computes_values, computes_doubles] =
            [executor.computes_values(points), executor.computes_separable(points)];
        let values = match (&self.f, self.sine_right_side()?) {
            (Some(given), _) if computes_doubles => {
                let sides = held(&self.grid);
                // Only discretisations of order 4 read f where u is given.
                let on = if self.params.order == 4 { sides } else { [[false; 2]; 3] };
                given.on_devices(&self.lattice, Places { sides, on, inside: true })
            }
            (None, Some(sine)) => computes_doubles.then_some(GridValues::Separable(sine)),
            (None, None) => computes_values.then(|| GridValues::Random(random_numbers(self.seed))),
            _ => None,
        };
        values.map_or_else(|| self.right_side().map(GridValues::Host), Ok)
    }

    /// Whether formulas give f or u on the sides, whose values devices may have computed.
    pub(super) fn has_formulas(&self) -> bool {
        self.f.as_ref().is_some_and(InputField::is_formula) || self.boundary.is_some()
    }

    /// An error that names the point where a formula has no finite value.
    pub(super) fn check_finite<T: Real>(&self, boundary: &Boundary<T>) -> Result<(), Failure> {
        drop((self.right_side::<T>()?, self.start(boundary)?));
        Ok(())
    }

    pub(super) fn right_side<T: Real>(&self) -> Result<Vec<T>, Failure> {
        if let Some(given) = &self.f {
            // Only discretisations of order 4 read f where u is given.
            return given.at_points(&self.lattice, |k| self.params.order == 4 || side_of(&self.grid, k).is_none());
        }
        let mut f = self.zeros()?;
        match self.sine_right_side()? {
            Some(sine) => sine.fill_host(&mut f)?,
            None => random_numbers(self.seed).fill_host(&mut f),
        }
        Ok(f)
    }
}

/// The largest difference of values on a device from a separable function; NaN if a value is NaN.
pub(super) fn error_on<T: Real>(executor: &Executor, exact: &Separable, u: &Vector<T>) -> Result<f64, Failure> {
    if executor.computes_separable(u.len()) {
        return Ok(exact.error_max(u)?);
    }
    Ok(exact.error_max_host(&u.to_vec()?)?)
}

/// The exact solution of the sine problem on the square and the cube.
pub(super) fn product(dim: usize) -> &'static str {
    if dim == 3 { "sin(pi x) sin(pi y) sin(pi z)" } else { "sin(pi x) sin(pi y)" }
}

/// sin(pi i h) for each point of a side, 0 at both ends.
fn sines(n: usize) -> Vec<f64> {
    let last = n - 1;
    // From the nearer end, so that the field is symmetric.
    (0..n).map(|i| (PI * i.min(last - i) as f64 / last as f64).sin()).collect()
}

/// What the stencil's solution differs from the exact one by, at most.
///
/// u = sin(pi x) sin(pi y) is an eigenvector of the 5-point stencil: sin(pi (x + h)) + sin(pi (x - h)) = 2 cos(pi h) sin(pi x),
/// so -Laplace_h u = l_h u with l_h = (4 - 4 cos(pi h)) / h^2 = 8 / h^2 sin^2(pi h / 2), while f = l u with l = 2 pi^2. The
/// stencil's solution is l / l_h u, and its error is largest where u = 1, in the middle, which is a point as N is odd:
/// l / l_h - 1 = ((pi h / 2) / sin(pi h / 2))^2 - 1 = pi^2 h^2 / 12 + O(h^4). A third dimension gives half as much to both
/// eigenvalues; a shift s adds to both, which leaves (l - l_h) / (l_h + s).
pub(super) fn discretisation_error(n: usize, dim: usize, shift: f64) -> f64 {
    let t = PI / (2.0 * (n - 1) as f64);
    let s = t.sin();
    // (t - s)(t + s) / s^2; t - s by its series where the difference would cancel.
    let difference = if t > 0.1 { t - s } else { t.powi(3) / 6.0 * (1.0 - t * t / 20.0 * (1.0 - t * t / 42.0)) };
    let eigenvalue = dim as f64 * PI * PI * (s / t).powi(2);
    difference * (t + s) / (s * s) * (eigenvalue / (eigenvalue + shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stencils_error_is_exact_and_tends_to_its_leading_term() {
        // N = 3: the one inner equation is 4 / h^2 u = f with h = 1/2 and f = 2 pi^2.
        assert!((discretisation_error(3, 2, 0.0) - (2.0 * PI * PI / 16.0 - 1.0)).abs() < 1e-15);
        // N = 3 in three dimensions with shift 6: (6 / h^2 + 6) u = f with f = 3 pi^2 + 6.
        assert!((discretisation_error(3, 3, 6.0) - ((3.0 * PI * PI + 6.0) / 30.0 - 1.0)).abs() < 1e-15);
        for n in [17, 33, 1025, 8193] {
            let h = 1.0 / (n - 1) as f64;
            let leading = PI * PI * h * h / 12.0;
            for dim in [2, 3] {
                assert!((discretisation_error(n, dim, 0.0) / leading - 1.0).abs() < h * h, "n {n}");
            }
        }
    }

    #[test]
    fn sines_are_symmetric_and_vanish_at_the_ends() {
        let s = sines(65);
        assert_eq!((s[0], s[32], s[64]), (0.0, 1.0, 0.0));
        assert!((0..65).all(|i| s[i] == s[64 - i]));
    }
}
