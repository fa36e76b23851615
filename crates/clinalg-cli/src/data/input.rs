//! Fields that options give: a formula or a file.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

use clinalg::Real;
use clinalg::multigrid::Coefficient;
use clinalg_ode::{Function, Places};

use super::array::{Array, READABLE};
use super::field::Lattice;
use super::grid_values::GridValues;
use super::in_threads;
use crate::exit::{Failure, usage};
use crate::paths::ending;

/// The value of an option such as `--f`.
#[derive(Debug, Clone)]
pub(crate) struct InputField {
    option: &'static str,
    text: String,
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    Formula(Box<Function>),
    File(PathBuf),
}

/// Names of coordinates.
const AXES: [&str; 3] = ["x", "y", "z"];

/// So many values of an array are read, if only to say that their shape is another one than that of the grid.
const MISSHAPEN: usize = 1 << 20;

/// Points that a thread computes at once.
const SHARE: usize = 1 << 13;

/// The values of a coefficient.
pub(crate) enum CoefficientValues<T> {
    Points(Vec<T>),
    Cells(Vec<T>),
}

impl<T> CoefficientValues<T> {
    pub(crate) fn values(&self) -> &[T] {
        let (CoefficientValues::Points(values) | CoefficientValues::Cells(values)) = self;
        values
    }

    pub(crate) fn borrowed(&self) -> Coefficient<'_, T> {
        match self {
            CoefficientValues::Points(values) => Coefficient::Points(values),
            CoefficientValues::Cells(values) => Coefficient::Cells(values),
        }
    }
}

impl InputField {
    /// Reads `text`, the value of `option`, as a formula in the coordinates of `dim` dimensions, or as the name of a file.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a formula that cannot be read, [`Failure::File`] where the file is not there.
    pub(crate) fn new(option: &'static str, text: &str, dim: usize) -> Result<InputField, Failure> {
        let path = Path::new(text);
        let named = READABLE.contains(&ending(path).as_str());
        let source = match Function::parse(text, &AXES[..dim]) {
            _ if named || path.is_file() => {
                if !path.is_file() {
                    return Err(Failure::file(path, "no such file"));
                }
                Source::File(path.to_owned())
            }
            Ok(formula) => Source::Formula(Box::new(formula)),
            Err(error) => {
                return usage!(
                    "{option}: {error}; a formula in {} or the name of a file .{} is expected",
                    AXES[..dim].join(", "),
                    READABLE.join(", .")
                );
            }
        };
        Ok(InputField { option, text: text.into(), source })
    }

    /// As it was given.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The values of a formula at some of the points, for devices to compute; `None` for a file. That they are finite
    /// is for [`InputField::at_points`] to find out.
    pub(crate) fn on_devices<T>(&self, lattice: &Lattice, places: Places) -> Option<GridValues<T>> {
        let Source::Formula(formula) = &self.source else { return None };
        Some(GridValues::Formula { function: (**formula).clone(), axes: lattice.axes(), places })
    }

    /// Whether it is a formula, not a file.
    pub(crate) fn is_formula(&self) -> bool {
        matches!(self.source, Source::Formula(_))
    }

    /// The value of a formula at a point; `None` for a file.
    pub(crate) fn at(&self, point: &[f64]) -> Option<Result<f64, Failure>> {
        let Source::Formula(formula) = &self.source else { return None };
        let value = formula.at(point, 0.0);
        let axes: Vec<_> = point.iter().map(|&x| vec![x]).collect();
        Some(if value.is_finite() { Ok(value) } else { Err(self.wrong(&axes, 0, value, "a finite number")) })
    }

    /// The values at the points, and only those where `wanted`; the others are 0.
    pub(crate) fn at_points<T: Real>(
        &self,
        lattice: &Lattice,
        wanted: impl Fn(usize) -> bool + Sync,
    ) -> Result<Vec<T>, Failure> {
        let axes: Vec<Vec<f64>> = (0..lattice.dim()).map(|axis| lattice.coordinates(axis)).collect();
        match &self.source {
            Source::Formula(formula) => {
                let values = self.sample(formula, &axes, wanted)?;
                Ok(values.into_iter().map(T::from_f64).collect())
            }
            Source::File(path) => {
                let Array { shape, values } = self.array(path, lattice)?;
                if shape != lattice.shape() {
                    return Err(self.misshapen(path, &shape, &sizes(&lattice.shape())));
                }
                self.check(&axes, &values, &wanted)?;
                let value = |(k, v): (usize, &f64)| if wanted(k) { T::from_f64(*v) } else { T::zero() };
                Ok(values.iter().enumerate().map(value).collect())
            }
        }
    }

    /// A coefficient: of a formula at the centres of the cells, of a file at the points or in the cells, by its shape.
    pub(crate) fn coefficient<T: Real>(&self, lattice: &Lattice) -> Result<CoefficientValues<T>, Failure> {
        let cells = |axis: usize| lattice.centres(axis);
        let points = |axis: usize| lattice.coordinates(axis);
        let axes = |of: &dyn Fn(usize) -> Vec<f64>| (0..lattice.dim()).map(of).collect::<Vec<_>>();
        let (axes, values, in_cells) = match &self.source {
            Source::Formula(formula) => {
                let axes = axes(&cells);
                let values = self.sample(formula, &axes, |_| true)?;
                (axes, values, true)
            }
            Source::File(path) => {
                let Array { shape, values } = self.array(path, lattice)?;
                if shape == lattice.shape() {
                    (axes(&points), values, false)
                } else if shape == lattice.cell_shape() {
                    (axes(&cells), values, true)
                } else {
                    let wanted =
                        format!("{} (points) or {} (cells)", sizes(&lattice.shape()), sizes(&lattice.cell_shape()));
                    return Err(self.misshapen(path, &shape, &wanted));
                }
            }
        };
        if let Some(k) = values.iter().position(|a| !(*a > 0.0 && a.is_finite())) {
            return Err(self.wrong(&axes, k, values[k], "a positive, finite number"));
        }
        let values = values.into_iter().map(T::from_f64).collect();
        Ok(if in_cells { CoefficientValues::Cells(values) } else { CoefficientValues::Points(values) })
    }

    /// Finite values in the cells: of a formula at their centres, of a file with a value for each.
    pub(crate) fn in_cells<T: Real>(&self, lattice: &Lattice) -> Result<Vec<T>, Failure> {
        let axes: Vec<Vec<f64>> = (0..lattice.dim()).map(|axis| lattice.centres(axis)).collect();
        let values = match &self.source {
            Source::Formula(formula) => self.sample(formula, &axes, |_| true)?,
            Source::File(path) => {
                let Array { shape, values } = self.array(path, lattice)?;
                if shape != lattice.cell_shape() {
                    return Err(self.misshapen(path, &shape, &format!("{} (cells)", sizes(&lattice.cell_shape()))));
                }
                self.check(&axes, &values, &|_| true)?;
                values
            }
        };
        Ok(values.into_iter().map(T::from_f64).collect())
    }

    fn array(&self, path: &Path, lattice: &Lattice) -> Result<Array, Failure> {
        Array::read(path, self.option.trim_start_matches('-'), lattice.len().max(MISSHAPEN))
    }

    /// The formula at the products of the coordinates, the first fastest, by all threads of the machine.
    fn sample(
        &self,
        formula: &Function,
        axes: &[Vec<f64>],
        wanted: impl Fn(usize) -> bool + Sync,
    ) -> Result<Vec<f64>, Failure> {
        let points = axes.iter().map(Vec::len).product();
        let mut values = vec![0.0; points];
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(points.div_ceil(SHARE));
        in_threads(threads, values.chunks_mut(SHARE).enumerate(), |(part, values)| {
            let mut at = [0.0; 3];
            for (k, value) in (part * SHARE..).zip(values).filter(|(k, _)| wanted(*k)) {
                coordinates(axes, k, &mut at);
                *value = formula.at(&at, 0.0);
            }
        });
        self.check(axes, &values, &wanted)?;
        Ok(values)
    }

    fn check(&self, axes: &[Vec<f64>], values: &[f64], wanted: &impl Fn(usize) -> bool) -> Result<(), Failure> {
        match (0..values.len()).find(|&k| wanted(k) && !values[k].is_finite()) {
            Some(k) => Err(self.wrong(axes, k, values[k], "a finite number")),
            None => Ok(()),
        }
    }

    fn wrong(&self, axes: &[Vec<f64>], k: usize, value: f64, expected: &str) -> Failure {
        let mut at = [0.0; 3];
        coordinates(axes, k, &mut at);
        let place: Vec<String> = AXES.iter().zip(&at[..axes.len()]).map(|(name, x)| format!("{name} = {x}")).collect();
        let message = format!("{} {} is {value} at {}; expected {expected}", self.option, self.text, place.join(", "));
        Failure::usage(message)
    }

    fn misshapen(&self, path: &Path, shape: &[usize], wanted: &str) -> Failure {
        let message = format!("{}: the array has {} values, the grid needs {wanted}", self.option, sizes(shape));
        Failure::file(path, message)
    }
}

/// The coordinates of point `k`.
fn coordinates(axes: &[Vec<f64>], k: usize, at: &mut [f64; 3]) {
    let mut rest = k;
    for (axis, x) in axes.iter().zip(at) {
        *x = axis[rest % axis.len()];
        rest /= axis.len();
    }
}

/// 3 x 4.
fn sizes(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_taken_where_they_are_needed() {
        let lattice = Lattice::unit(3, 2);
        let given = InputField::new("--f", "x + 10*y", 2).unwrap();
        let values: Vec<f64> = given.at_points(&lattice, |_| true).unwrap();
        assert_eq!(values, [0.0, 0.5, 1.0, 5.0, 5.5, 6.0, 10.0, 10.5, 11.0]);
        let edges: Vec<f64> = given.at_points(&lattice, |k| k != 4).unwrap();
        assert_eq!(edges[4], 0.0);
        // Not finite in the middle only.
        let given = InputField::new("--boundary", "1/(x - 0.5)", 2).unwrap();
        let words = given.at_points::<f64>(&lattice, |_| true).unwrap_err().message();
        assert!(words.contains("x = 0.5, y = 0"), "{words}");
        let jump = InputField::new("--coefficient", "1 + 1000*(x>0.5)", 2).unwrap();
        let CoefficientValues::Cells(cells) = jump.coefficient::<f64>(&lattice).unwrap() else { panic!("cells") };
        assert_eq!(cells, [1.0, 1001.0, 1.0, 1001.0]);
        let words = InputField::new("--coefficient", "x - 0.5", 2)
            .unwrap()
            .coefficient::<f64>(&lattice)
            .err()
            .unwrap()
            .message();
        assert!(words.contains("-0.25") && words.contains("positive"), "{words}");
    }

    #[test]
    fn what_is_neither_formula_nor_file_is_refused() {
        let words = InputField::new("--f", "x + q", 2).unwrap_err().message();
        assert!(words.contains("--f") && words.contains("`q`") && words.contains(".npy"), "{words}");
        assert!(InputField::new("--f", "z", 2).is_err() && InputField::new("--f", "z", 3).is_ok());
        assert!(InputField::new("--f", "none.npy", 2).unwrap_err().message().contains("no such file"));
        let file = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
        std::fs::write(&file, "1,2\n3,4\n").unwrap();
        let given = InputField::new("--coefficient", file.path().to_str().unwrap(), 2).unwrap();
        assert!(
            matches!(given.coefficient::<f64>(&Lattice::unit(3, 2)).unwrap(), CoefficientValues::Cells(v) if v == [1.0, 2.0, 3.0, 4.0])
        );
        assert!(
            matches!(given.coefficient::<f64>(&Lattice::unit(5, 2)), Err(error) if error.message().contains("2 x 2"))
        );
    }
}
