//! The problem to be solved: right-hand side, boundary values, coefficient, and the exact solution of the sine problem.

use std::f64::consts::PI;

use clinalg::multigrid::{Coefficient, Separable};
use clinalg::{Context, Real, Vector};

use super::{Args, RightSide};
use crate::data::{self, Given, Lattice, random_numbers};
use crate::exit::Failure;
use crate::place::Place;

/// What is solved.
pub(super) struct Problem {
    pub(super) lattice: Lattice,
    shift: f64,
    rhs: RightSide,
    seed: u64,
    pub(super) f: Option<Given>,
    pub(super) boundary: Option<Given>,
    pub(super) coefficient: Option<Given>,
}

/// The values of a coefficient.
pub(super) enum Faces<T> {
    Points(Vec<T>),
    Cells(Vec<T>),
}

impl<T: Real> Faces<T> {
    /// # Errors
    /// As [`Given::coefficient`].
    pub(super) fn new(given: &Given, lattice: &Lattice) -> Result<Faces<T>, Failure> {
        let taken = |values: Vec<f64>| values.into_iter().map(T::from_f64).collect();
        Ok(match given.coefficient(lattice)? {
            data::Place::Points(values) => Faces::Points(taken(values)),
            data::Place::Cells(values) => Faces::Cells(taken(values)),
        })
    }

    pub(super) fn values(&self) -> &[T] {
        let (Faces::Points(values) | Faces::Cells(values)) = self;
        values
    }

    pub(super) fn borrowed(&self) -> Coefficient<'_, T> {
        match self {
            Faces::Points(values) => Coefficient::Points(values),
            Faces::Cells(values) => Coefficient::Cells(values),
        }
    }
}

impl Problem {
    /// # Errors
    /// [`Failure::Usage`] and [`Failure::File`] for what cannot be read.
    pub(super) fn new(args: &Args) -> Result<Problem, Failure> {
        let given =
            |option, text: &Option<String>| text.as_deref().map(|text| Given::new(option, text, args.dim)).transpose();
        if args.coefficient.is_some() && args.dim == 3 {
            return Err(Failure::usage("--coefficient is for the square: leave --dim 3 out"));
        }
        Ok(Problem {
            lattice: Lattice::unit(args.side(), args.dim),
            shift: args.shift,
            rhs: args.rhs,
            seed: args.seed,
            f: given("--f", &args.f)?,
            boundary: given("--boundary", &args.boundary)?,
            coefficient: given("--coefficient", &args.coefficient)?,
        })
    }

    /// The right-hand side that is not given by a formula or a file.
    pub(super) fn rhs(&self) -> Option<RightSide> {
        self.f.is_none().then_some(self.rhs)
    }

    /// Whether the product of the sines is the exact solution.
    pub(super) fn is_sine(&self) -> bool {
        self.rhs() == Some(RightSide::Sine) && self.boundary.is_none() && self.coefficient.is_none()
    }

    fn side(&self) -> usize {
        self.lattice.points(0)
    }

    /// The boundary values, 0 inside, where they are given.
    pub(super) fn boundary_values<T: Real>(&self) -> Result<Option<Vec<T>>, Failure> {
        let values = |given: &Given| given.at_points(&self.lattice, |k| self.lattice.on_boundary(k));
        self.boundary.as_ref().map(values).transpose()
    }

    /// `boundary`, or zeros.
    pub(super) fn start<T: Real>(&self, boundary: Option<&[T]>) -> Result<Vec<T>, Failure> {
        let mut values = grid(self.side(), self.lattice.dim())?;
        if let Some(boundary) = boundary {
            values.copy_from_slice(boundary);
        }
        Ok(values)
    }

    pub(super) fn faces<T: Real>(&self) -> Result<Option<Faces<T>>, Failure> {
        self.coefficient.as_ref().map(|given| Faces::new(given, &self.lattice)).transpose()
    }

    /// The right-hand side of the sine problem, for devices that compute it; `None` for other problems and where the host
    /// does.
    pub(super) fn separable_right_side(&self, place: &Place) -> Option<Separable> {
        let on_devices = self.rhs() == Some(RightSide::Sine) && place.computes_separable(self.lattice.len());
        on_devices.then(|| self.sine_product(self.sine_scale()))
    }

    /// Its exact solution, likewise.
    pub(super) fn separable_solution(&self, place: &Place) -> Option<Separable> {
        (self.is_sine() && place.computes_separable(self.lattice.len())).then(|| self.sine_product(1.0))
    }

    /// `scale` times the product of a sine along each direction.
    fn sine_product(&self, scale: f64) -> Separable {
        let sines = sines(self.side());
        Separable::new(scale, &vec![&sines[..]; self.lattice.dim()]).expect("the grid has 2 or 3 dimensions")
    }

    /// f over the product of the sines.
    fn sine_scale(&self) -> f64 {
        self.lattice.dim() as f64 * PI * PI + self.shift
    }

    /// The right-hand side on the device, computed there where possible.
    pub(super) fn right_side_on<T: Real>(&self, place: &Place, context: &Context) -> Result<Vector<T>, Failure> {
        let points = self.lattice.len();
        match self.rhs() {
            Some(RightSide::Sine) => values_on(place, context, points, &self.sine_product(self.sine_scale())),
            Some(RightSide::Random) => random_on(place, context, points, self.seed),
            None => Ok(Vector::from_slice(context, &self.right_side()?)?),
        }
    }

    pub(super) fn right_side<T: Real>(&self) -> Result<Vec<T>, Failure> {
        if let Some(given) = &self.f {
            // Values on the boundary are never read.
            return given.at_points(&self.lattice, |k| !self.lattice.on_boundary(k));
        }
        let (side, dim) = (self.side(), self.lattice.dim());
        let mut f = grid(side, dim)?;
        match self.rhs {
            RightSide::Sine => self.sine_product(self.sine_scale()).fill_host(&mut f)?,
            RightSide::Random => random_numbers(self.seed).fill_host(&mut f),
        }
        Ok(f)
    }

    /// The largest difference from the product of the sines at a point; NaN if a value is NaN.
    pub(super) fn error_max<T: Real>(&self, u: &[T]) -> Result<f64, Failure> {
        Ok(self.sine_product(1.0).error_max_host(u)?)
    }
}

/// A separable function on a device, computed there where possible.
pub(super) fn values_on<T: Real>(
    place: &Place,
    context: &Context,
    points: usize,
    formula: &Separable,
) -> Result<Vector<T>, Failure> {
    if place.computes_separable(points) {
        return Ok(formula.vector(context)?);
    }
    let mut values = zeros(Some(points), || points.to_string())?;
    formula.fill_host(&mut values)?;
    Ok(Vector::from_slice(context, &values)?)
}

/// The random numbers of a seed on a device, computed there where it is worthwhile.
pub(super) fn random_on<T: Real>(
    place: &Place,
    context: &Context,
    points: usize,
    seed: u64,
) -> Result<Vector<T>, Failure> {
    if place.computes_values(points) {
        return Ok(random_numbers(seed).vector(context, points)?);
    }
    let mut values = zeros(Some(points), || points.to_string())?;
    random_numbers(seed).fill_host(&mut values);
    Ok(Vector::from_slice(context, &values)?)
}

/// The largest difference of values on a device from a separable function; NaN if a value is NaN.
pub(super) fn error_on<T: Real>(place: &Place, exact: &Separable, u: &Vector<T>) -> Result<f64, Failure> {
    if place.computes_separable(u.len()) {
        return Ok(exact.error_max(u)?);
    }
    Ok(exact.error_max_host(&u.to_vec()?)?)
}

/// A grid of zeros in `dim` dimensions, or an error if it does not fit this machine's memory.
fn grid<T: Real>(n: usize, dim: usize) -> Result<Vec<T>, Failure> {
    zeros(n.checked_pow(dim as u32), || size(n, dim))
}

/// So many zeros, or an error that calls them by `words`.
pub(crate) fn zeros<T: Real>(points: Option<usize>, words: impl FnOnce() -> String) -> Result<Vec<T>, Failure> {
    let mut values = Vec::new();
    let points = points.filter(|&points| values.try_reserve_exact(points).is_ok());
    let failure = || Failure::usage(format!("{} points do not fit this machine's memory", words()));
    values.resize(points.ok_or_else(failure)?, T::zero());
    Ok(values)
}

/// n x n or n x n x n.
pub(super) fn size(n: usize, dim: usize) -> String {
    vec![n.to_string(); dim].join(" x ")
}

/// The exact solution of the sine problem.
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
