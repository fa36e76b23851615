//! Right-hand sides: fields on a grid with a formula each, OpenCL C, and plain Rust functions.
//!
//! ```
//! use clinalg_ode::{Boundary, Grid, Rhs, System};
//!
//! // The heat equation on 5 points of [0, 1], zero outside.
//! let heat = System::builder(Grid::unit(&[5]))
//!     .parameter("a", 1.0)
//!     .field("u", "a * (u[-1] - 2*u + u[1]) / 0.25^2")
//!     .boundary(Boundary::Value(vec!["0".into()]))
//!     .build()?;
//! assert_eq!(heat.access_distance(), 1);
//! let mut f = [0.0_f64; 5];
//! heat.eval(0.0, &[0.0, 0.0, 1.0, 0.0, 0.0], &mut f);
//! assert_eq!(f, [0.0, 16.0, -32.0, 16.0, 0.0]);
//!
//! // An N-body force: a prime marks the value at the other point.
//! let flock = System::builder(Grid::new(&[3], &[0.0], &[1.0]))
//!     .data("mass", vec![1.0, 2.0, 3.0])
//!     .field("p", "v")
//!     .field("v", "sum(mass' * (p' - p))")
//!     .build()?;
//! let mut f = [0.0_f64; 6];
//! flock.eval(0.0, &[0.0, 0.5, 1.0, 0.5, 2.0, 0.5], &mut f);
//! assert_eq!(f, [0.5, 8.0, 0.5, 2.0, 0.5, -4.0]);
//! # Ok::<(), clinalg_ode::Error>(())
//! ```

use std::sync::Arc;

use clinalg::{Precision, Real};

use crate::model::access::{Access, slow_axis};
use crate::model::events::Watch;
use crate::model::formula::{Expr, Values};
use crate::model::grid::{Bound, Grid, Layout};
use crate::model::parse::Powers;
use crate::model::rhs::Rhs;
use crate::model::slab::Slab;
use crate::{Error, Result};

/// OpenCL C for the time derivative of a component.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Snippet {
    /// Body of a function that returns the derivative.
    pub(crate) body: String,
    /// What stands before it.
    pub(crate) functions: String,
    pub(crate) distance: usize,
}

/// Fields on a grid with a formula for the time derivative of each, or components with a snippet of OpenCL C.
#[derive(Debug, Clone, PartialEq)]
pub struct System {
    pub(crate) grid: Grid,
    /// In the order in which they were added.
    pub(crate) fields: Vec<String>,
    /// The place in memory of each; formulas and accesses count fields by these.
    pub(super) places: Vec<usize>,
    pub(crate) formulas: Vec<Expr>,
    pub(crate) parameters: Vec<String>,
    pub(crate) values: Vec<f64>,
    pub(crate) data: Vec<Arc<[f64]>>,
    pub(crate) snippet: Option<Snippet>,
    pub(crate) bounds: [[Bound; 2]; 3],
    pub(crate) layout: Layout,
    pub(super) accesses: Vec<Access>,
    /// How chains of powers group in formulas read later.
    pub(crate) powers: Powers,
    pub(crate) watched: Vec<Watch>,
    /// Times at which the right-hand side jumps.
    pub(crate) stops: Vec<f64>,
    /// Where the grid is a part of a larger one.
    pub(crate) slab: Option<Slab>,
}

impl System {
    /// The grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Names of the fields, in the order in which they were added.
    pub fn fields(&self) -> &[String] {
        &self.fields
    }

    /// Where the components stand in memory.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Number of components.
    pub fn components(&self) -> usize {
        self.grid.points() * self.fields.len()
    }

    /// Component of `field`, counted in the order in which they were added, at point `p`.
    pub fn component(&self, field: usize, p: usize) -> usize {
        self.at(self.places[field], p)
    }

    /// The place in memory of `field`, counted in the order in which they were added.
    pub(crate) fn place(&self, field: usize) -> usize {
        self.places[field]
    }

    /// Component of the field in this place at point `p`.
    fn at(&self, place: usize, p: usize) -> usize {
        match self.layout {
            Layout::Interleaved => p * self.fields.len() + place,
            Layout::FieldWise => place * self.grid.points() + p,
        }
    }

    /// What messages call a component: its field, and its point where there are several.
    pub(crate) fn component_name(&self, component: usize) -> String {
        let (place, p) = match self.layout {
            Layout::Interleaved => (component % self.fields.len(), component / self.fields.len()),
            Layout::FieldWise => (component / self.grid.points(), component % self.grid.points()),
        };
        let field = self.places.iter().position(|other| *other == place).map_or("?", |field| &self.fields[field]);
        if self.grid.points() == 1 {
            return format!("`{field}`");
        }
        let index: Vec<String> = self.grid.index(p)[..self.grid.dims].iter().map(|k| (k + 1).to_string()).collect();
        format!("`{field}` at grid point {} (counted from 1)", index.join(" "))
    }

    /// Components in their order in memory, from those by fields: all points of the field added first, then those of the next.
    ///
    /// # Panics
    /// For another number of components.
    pub fn from_fields<V: Copy>(&self, by_fields: &[V]) -> Vec<V> {
        assert_eq!(by_fields.len(), self.components(), "a value for each component");
        let mut all = by_fields.to_vec();
        for (k, value) in by_fields.iter().enumerate() {
            all[self.component(k / self.grid.points(), k % self.grid.points())] = *value;
        }
        all
    }

    /// Components by fields, from those in their order in memory.
    ///
    /// # Panics
    /// For another number of components.
    pub fn by_fields<V: Copy>(&self, memory: &[V]) -> Vec<V> {
        assert_eq!(memory.len(), self.components(), "a value for each component");
        let points = self.grid.points();
        (0..memory.len()).map(|k| memory[self.component(k / points, k % points)]).collect()
    }

    /// All components from a function of the field and the position.
    pub fn sample(&self, mut value: impl FnMut(usize, [f64; 3]) -> f64) -> Vec<f64> {
        let mut all = vec![0.0; self.components()];
        for p in 0..self.grid.points() {
            for field in 0..self.fields.len() {
                all[self.component(field, p)] = value(field, self.grid.position(p));
            }
        }
        all
    }

    /// Names and values of the parameters.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, f64)> {
        self.parameters.iter().map(String::as_str).zip(self.values.iter().copied())
    }

    /// Parameters and then data, as kernels are given them.
    pub(crate) fn constants<T: Real>(&self) -> Vec<T> {
        self.values.iter().chain(self.data.iter().flat_map(|d| d.iter())).map(|v| T::from_f64(*v)).collect()
    }

    /// The system whose solution at time -t is this one's at t: y' = -f(-t, y). `None` where the right-hand side is OpenCL C.
    pub(crate) fn time_reversed(&self) -> Option<System> {
        if self.snippet.is_some() {
            return None;
        }
        let negative = |formula: &Expr| Expr::Negate(Box::new(formula.with_time_reversed()));
        let bound = |bound: &Bound| match bound {
            Bound::Value(formulas) => Bound::Value(formulas.iter().map(Expr::with_time_reversed).collect()),
            other => other.clone(),
        };
        Some(System {
            formulas: self.formulas.iter().map(negative).collect(),
            bounds: self.bounds.each_ref().map(|sides| sides.each_ref().map(bound)),
            watched: self.watched.iter().map(Watch::time_reversed).collect(),
            stops: self.stops.iter().map(|t| -t).collect(),
            ..self.clone()
        })
    }

    /// Whether formulas have sums over all points, so that every component is read for each.
    pub fn is_dense(&self) -> bool {
        !self.sums().is_empty()
    }

    /// The sums of all formulas, each once.
    pub(crate) fn sums(&self) -> Vec<&Expr> {
        let mut all = Vec::new();
        for formula in &self.formulas {
            formula.walk(&mut |e| {
                if let Expr::Sum(inner) = e
                    && !all.contains(&&**inner)
                {
                    all.push(&**inner);
                }
            });
        }
        all
    }

    /// How chains of powers group in events and initial values that are read after this.
    pub fn set_powers(&mut self, powers: Powers) {
        self.powers = powers;
    }

    /// Changes a parameter.
    ///
    /// # Errors
    /// [`Error::Value`] for an unknown name or a value that is not finite.
    pub fn set_parameter(&mut self, name: &str, value: f64) -> Result<()> {
        let Some(k) = self.parameters.iter().position(|p| p == name) else {
            return Err(Error::value("parameter", format!("one of {}", self.parameters.join(", ")), name));
        };
        if !value.is_finite() {
            return Err(Error::value(name, "a finite number", value));
        }
        self.values[k] = value;
        Ok(())
    }
}

impl System {
    /// Calls `see` with each component of point `p` and its derivative, where `read` gives the values of components and
    /// `constants` are those of [`System::constants`]. Which values are read can depend on the component: methods that
    /// split the right-hand side read those of its own block from another vector than those of its neighbours.
    pub(crate) fn eval_point<T: Real>(
        &self,
        t: T,
        p: usize,
        constants: &[T],
        read: &impl Fn(usize) -> T,
        see: &mut impl FnMut(usize, T),
    ) {
        let at = At { system: self, index: [0; 3], t, read, source: 0, constants }.point(p);
        for (place, formula) in self.formulas.iter().enumerate() {
            see(self.at(place, p), formula.eval(&at));
        }
    }

    /// The value of a formula at point `p`, where `read` gives the values of components.
    pub(super) fn at_point<T: Real>(
        &self,
        formula: &Expr,
        t: T,
        p: usize,
        constants: &[T],
        read: &impl Fn(usize) -> T,
    ) -> T {
        formula.eval(&At { system: self, index: [0; 3], t, read, source: 0, constants }.point(p))
    }

    /// As [`System::eval_point`], of one component, the one in `place` at point `p`.
    pub(crate) fn eval_component<T: Real>(
        &self,
        t: T,
        (place, p): (usize, usize),
        constants: &[T],
        read: &impl Fn(usize) -> T,
    ) -> T {
        self.at_point(&self.formulas[place], t, p, constants, read)
    }
}

/// A point of a system at a time.
struct At<'a, T, R> {
    system: &'a System,
    index: [i64; 3],
    t: T,
    /// The value of a component.
    read: &'a R,
    /// The point that a sum adds.
    source: usize,
    /// As [`System::constants`].
    constants: &'a [T],
}

impl<T: Real, R: Fn(usize) -> T> At<'_, T, R> {
    /// Point `p` at the same time.
    fn point(&self, p: usize) -> Self {
        At { index: self.system.grid.index(p).map(|i| i as i64), ..*self }
    }

    /// The index along an axis in the whole grid.
    fn whole(&self, axis: usize) -> i64 {
        if axis == slow_axis(self.system) { self.system.whole_row(self.index[axis]) } else { self.index[axis] }
    }
}

impl<T: Real, R: Fn(usize) -> T> Values<T> for At<'_, T, R> {
    fn time(&self) -> T {
        self.t
    }

    fn parameter(&self, number: usize) -> T {
        self.constants[number]
    }

    fn coordinate(&self, axis: usize) -> T {
        let grid = &self.system.grid;
        T::from_f64(grid.origin[axis]) + T::from_f64(self.whole(axis) as f64) * T::from_f64(grid.spacing[axis])
    }

    fn index(&self, axis: usize) -> T {
        T::from_f64(self.whole(axis) as f64)
    }

    fn field(&self, field: usize, offset: [i32; 3]) -> T {
        let grid = &self.system.grid;
        let at: [i64; 3] = std::array::from_fn(|a| self.index[a] + i64::from(offset[a]));
        let mut inside = at;
        for axis in 0..3 {
            let n = grid.n[axis] as i64;
            if (0..n).contains(&at[axis]) {
                continue;
            }
            let low = at[axis] < 0;
            inside[axis] = match &self.system.bounds[axis][usize::from(!low)] {
                Bound::Mirror if low => -at[axis],
                Bound::Mirror => 2 * (n - 1) - at[axis],
                Bound::Copy => at[axis].clamp(0, n - 1),
                Bound::Periodic => at[axis].rem_euclid(n),
                Bound::Value(formulas) => return formulas[field].eval(&At { index: at, ..*self }),
            };
        }
        (self.read)(self.system.at(field, grid.point(inside)))
    }

    fn data(&self, number: usize) -> T {
        let grid = &self.system.grid;
        self.constants[self.system.values.len() + number * grid.points() + grid.point(self.index)]
    }

    fn source(&self, leaf: &Expr) -> T {
        leaf.eval(&self.point(self.source))
    }

    fn sum(&self, formula: &Expr) -> T {
        let points = 0..self.system.grid.points();
        points.fold(T::zero(), |sum, source| sum + formula.eval(&At { source, ..*self }))
    }
}

impl<T: Real> Rhs<T> for System {
    fn len(&self) -> usize {
        self.components()
    }

    fn component_name(&self, component: usize) -> String {
        System::component_name(self, component)
    }

    fn eval(&self, t: T, y: &[T], f: &mut [T]) {
        match T::PRECISION {
            Precision::F32 => {
                let y: Vec<f32> = y.iter().map(|v| v.into_f64() as f32).collect();
                f.iter_mut().zip(self.eval_f32(t.into_f64() as f32, &y)).for_each(|(f, v)| *f = T::from_f64(v.into()));
            }
            Precision::F64 => {
                let y: Vec<f64> = y.iter().map(|v| v.into_f64()).collect();
                f.iter_mut().zip(self.eval_f64(t.into_f64(), &y)).for_each(|(f, v)| *f = T::from_f64(v));
            }
        }
    }
}

/// Evaluation of all formulas in each precision. Not generic, so that it is compiled in this crate, with this crate's
/// optimisation.
impl System {
    #[inline(never)]
    fn eval_f32(&self, t: f32, y: &[f32]) -> Vec<f32> {
        self.eval_points(t, y)
    }

    #[inline(never)]
    fn eval_f64(&self, t: f64, y: &[f64]) -> Vec<f64> {
        self.eval_points(t, y)
    }

    fn eval_points<T: Real>(&self, t: T, y: &[T]) -> Vec<T> {
        let (constants, mut f) = (self.constants(), vec![T::zero(); y.len()]);
        for p in 0..self.grid.points() {
            self.eval_point(t, p, &constants, &|component| y[component], &mut |component, value| f[component] = value);
        }
        f
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Boundary, Side};

    #[test]
    fn boundaries_are_what_they_say() {
        let f = |boundary: Boundary, formula: &str| {
            let system = System::builder(Grid::unit(&[4])).field("u", formula).boundary(boundary).build().unwrap();
            let mut f = [0.0_f64; 4];
            system.eval(2.0, &[1.0, 2.0, 3.0, 4.0], &mut f);
            f
        };
        assert_eq!(f(Boundary::Mirror, "u[-1]"), [2.0, 1.0, 2.0, 3.0]);
        assert_eq!(f(Boundary::Mirror, "u[2]"), [3.0, 4.0, 3.0, 2.0]);
        assert_eq!(f(Boundary::Copy, "u[2]"), [3.0, 4.0, 4.0, 4.0]);
        assert_eq!(f(Boundary::Periodic, "u[-3]"), [2.0, 3.0, 4.0, 1.0]);
        assert_eq!(f(Boundary::Periodic, "u[4]"), [1.0, 2.0, 3.0, 4.0]);
        let values = f(Boundary::Value(vec!["10*t + 3*x".into()]), "u[1]");
        assert_eq!(values[..3], [2.0, 3.0, 4.0]);
        assert!((values[3] - 24.0).abs() < 1e-14);
    }

    #[test]
    fn corners_take_both_axes() {
        let system = System::builder(Grid::unit(&[3, 2]))
            .field("u", "u[-1,-1]")
            .side(1, Side::Low, Boundary::Periodic)
            .side(1, Side::High, Boundary::Periodic)
            .build()
            .unwrap();
        let mut f = [0.0_f64; 6];
        system.eval(0.0, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut f);
        assert_eq!(f, [5.0, 4.0, 5.0, 2.0, 1.0, 2.0]);
    }
}
