//! Right-hand sides: fields on a grid with a formula each, and plain Rust functions.
//!
//! ```
//! use clinalg_ode::rhs::{Boundary, Grid, Rhs, System};
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
//! # Ok::<(), clinalg_ode::Error>(())
//! ```

use clinalg::Real;

use crate::formula::{self, Expr, Names, Values};
use crate::{Error, Result};

/// f of y' = f(t, y), in plain Rust.
pub trait Rhs<T: Real> {
    /// Number of components.
    fn len(&self) -> usize;

    /// Whether there is no component.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Stores f(t, y) in `f`; both slices have [`Rhs::len`] entries.
    fn eval(&self, t: T, y: &[T], f: &mut [T]);
}

/// A grid of 1, 2 or 3 dimensions; x runs fastest in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    pub(crate) dims: usize,
    pub(crate) n: [usize; 3],
    pub(crate) origin: [f64; 3],
    pub(crate) spacing: [f64; 3],
}

impl Grid {
    /// A grid with `n[axis]` points along each axis, from 0 to 1, both ends being points.
    pub fn unit(n: &[usize]) -> Grid {
        let spacing: Vec<f64> = n.iter().map(|n| 1.0 / (n.max(&2) - 1) as f64).collect();
        Grid::new(n, &vec![0.0; n.len()], &spacing)
    }

    /// A grid with `n[axis]` points along each axis, the first at `origin[axis]`, `spacing[axis]` apart. Whether it can be
    /// used is checked by [`Builder::build`].
    pub fn new(n: &[usize], origin: &[f64], spacing: &[f64]) -> Grid {
        let axis = |values: &[f64], rest: f64| std::array::from_fn(|a| values.get(a).copied().unwrap_or(rest));
        Grid {
            dims: n.len(),
            n: std::array::from_fn(|a| n.get(a).copied().unwrap_or(1)),
            origin: axis(origin, f64::NAN),
            spacing: axis(spacing, f64::NAN),
        }
    }

    /// Number of points.
    pub fn points(&self) -> usize {
        self.n.iter().product()
    }

    /// Number of points along each axis.
    pub fn shape(&self) -> &[usize] {
        &self.n[..self.dims.min(3)]
    }

    /// Coordinates of point `p`, x running fastest.
    pub fn position(&self, p: usize) -> [f64; 3] {
        let index = self.index(p);
        std::array::from_fn(|a| if a < self.dims { self.origin[a] + index[a] as f64 * self.spacing[a] } else { 0.0 })
    }

    pub(crate) fn index(&self, p: usize) -> [usize; 3] {
        [p % self.n[0], p / self.n[0] % self.n[1], p / self.n[0] / self.n[1]]
    }
}

/// What stands for a neighbour outside the grid.
#[derive(Debug, Clone, PartialEq)]
pub enum Boundary {
    /// The neighbour the same way inside: index -k is k (homogeneous Neumann, the boundary point being on the boundary).
    Mirror,
    /// The last point inside: index -k is 0.
    Copy,
    /// The grid goes on at its other end; both sides of an axis or none.
    Periodic,
    /// Formulas, one a field, of t, the parameters and the coordinates of the neighbour.
    Value(Vec<String>),
}

/// The lower or the upper end of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Index 0.
    Low,
    /// The last index.
    High,
}

/// Where the components stand in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// All fields of a point together.
    Interleaved,
    /// All points of a field together.
    FieldWise,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Bound {
    Mirror,
    Copy,
    Periodic,
    Value(Vec<Expr>),
}

/// Fields on a grid with a formula for the time derivative of each.
#[derive(Debug, Clone, PartialEq)]
pub struct System {
    pub(crate) grid: Grid,
    pub(crate) fields: Vec<String>,
    pub(crate) formulas: Vec<Expr>,
    pub(crate) parameters: Vec<String>,
    pub(crate) values: Vec<f64>,
    pub(crate) bounds: [[Bound; 2]; 3],
    pub(crate) layout: Layout,
    accesses: Vec<(usize, usize, [i32; 3])>,
}

/// Collects what [`System`] is made of; see [`System::builder`].
#[derive(Debug, Clone)]
pub struct Builder {
    grid: Grid,
    fields: Vec<(String, String)>,
    parameters: Vec<(String, f64)>,
    definitions: Vec<(String, String)>,
    boundaries: [[Boundary; 2]; 3],
    layout: Option<Layout>,
}

impl Builder {
    /// Adds a field with the formula of its time derivative.
    pub fn field(mut self, name: impl Into<String>, formula: impl Into<String>) -> Builder {
        self.fields.push((name.into(), formula.into()));
        self
    }

    /// Adds a parameter, which can be changed without anything being compiled anew.
    pub fn parameter(mut self, name: impl Into<String>, value: f64) -> Builder {
        self.parameters.push((name.into(), value));
        self
    }

    /// Adds a name for a formula that later definitions and the fields use.
    pub fn define(mut self, name: impl Into<String>, formula: impl Into<String>) -> Builder {
        self.definitions.push((name.into(), formula.into()));
        self
    }

    /// The boundary on all sides; [`Boundary::Mirror`] where nothing is said.
    pub fn boundary(mut self, boundary: Boundary) -> Builder {
        self.boundaries = std::array::from_fn(|_| [boundary.clone(), boundary.clone()]);
        self
    }

    /// The boundary on one side of axis 0, 1 or 2.
    ///
    /// # Panics
    /// For an axis above 2.
    pub fn side(mut self, axis: usize, side: Side, boundary: Boundary) -> Builder {
        self.boundaries[axis][side as usize] = boundary;
        self
    }

    /// The layout; where nothing is said the one with the smaller access distance.
    pub fn layout(mut self, layout: Layout) -> Builder {
        self.layout = Some(layout);
        self
    }

    /// Reads the formulas.
    ///
    /// # Errors
    /// [`Error::Formula`] with the column; [`Error::Value`] for a grid without points or with a spacing that is not above
    /// zero, a name used twice or with a meaning of its own, a periodic side without the other, a number of boundary formulas
    /// that is not that of the fields, a boundary formula that reads fields, or an offset that leaves the grid's other side.
    pub fn build(self) -> Result<System> {
        let Builder { grid, fields, parameters, definitions, boundaries, layout } = self;
        if !(1..=3).contains(&grid.dims) || grid.points() == 0 {
            return Err(Error::value("grid", "1, 2 or 3 axes with at least one point each", format!("{:?}", grid.n)));
        }
        // Not `<=`: NaN fails as well.
        let usable = |a: usize| grid.spacing[a] > 0.0 && grid.spacing[a].is_finite() && grid.origin[a].is_finite();
        if !(0..grid.dims).all(usable) {
            return Err(Error::value(
                "spacing",
                "a finite number above 0 for each axis",
                format!("{:?}", grid.spacing),
            ));
        }
        if fields.is_empty() {
            return Err(Error::value("fields", "at least one", 0));
        }
        let names: Vec<&String> = (fields.iter().map(|(n, _)| n))
            .chain(parameters.iter().map(|(n, _)| n))
            .chain(definitions.iter().map(|(n, _)| n))
            .collect();
        for (k, name) in names.iter().enumerate() {
            if !formula::is_name(name) || names[..k].contains(name) {
                let expected = "a new name of letters, digits and underscores without a meaning of its own";
                return Err(Error::value("name", expected, name));
            }
        }
        if let Some((name, value)) = parameters.iter().find(|(_, v)| !v.is_finite()) {
            return Err(Error::value(name, "a finite number", value));
        }
        let field_names: Vec<String> = fields.iter().map(|(n, _)| n.clone()).collect();
        let parameter_names: Vec<String> = parameters.iter().map(|(n, _)| n.clone()).collect();
        let mut known: Vec<(String, Expr)> = Vec::new();
        for (name, text) in &definitions {
            let all =
                Names { fields: &field_names, parameters: &parameter_names, definitions: &known, dims: grid.dims };
            known.push((name.clone(), formula::parse(text, &all)?));
        }
        let all = Names { fields: &field_names, parameters: &parameter_names, definitions: &known, dims: grid.dims };
        let formulas = fields.iter().map(|(_, text)| formula::parse(text, &all)).collect::<Result<Vec<_>>>()?;
        let mut accesses = Vec::new();
        for (to, formula) in formulas.iter().enumerate() {
            formula.accesses(&mut |from, offset| {
                if !accesses.contains(&(to, from, offset)) {
                    accesses.push((to, from, offset));
                }
            });
        }
        let without_fields = Names { fields: &[], definitions: &[], ..all.clone() };
        let bound = |boundary: &Boundary| -> Result<Bound> {
            Ok(match boundary {
                Boundary::Mirror => Bound::Mirror,
                Boundary::Copy => Bound::Copy,
                Boundary::Periodic => Bound::Periodic,
                Boundary::Value(texts) if texts.len() != fields.len() => {
                    let expected = format!("one formula for each of the {} fields", fields.len());
                    return Err(Error::value("boundary", expected, texts.len()));
                }
                Boundary::Value(texts) => {
                    Bound::Value(texts.iter().map(|t| formula::parse(t, &without_fields)).collect::<Result<Vec<_>>>()?)
                }
            })
        };
        let mut bounds = Vec::new();
        for (axis, [low, high]) in boundaries.iter().enumerate() {
            if axis >= grid.dims {
                bounds.push([Bound::Copy, Bound::Copy]);
                continue;
            }
            let pair = [bound(low)?, bound(high)?];
            if (pair[0] == Bound::Periodic) != (pair[1] == Bound::Periodic) {
                return Err(Error::value("boundary", "periodic on both sides of an axis or on none", "one side"));
            }
            for (_, _, offset) in &accesses {
                let side = usize::from(offset[axis] > 0);
                let reach = offset[axis].unsigned_abs() as usize;
                let fits = match pair[side] {
                    Bound::Mirror => reach < grid.n[axis],
                    _ => reach <= grid.n[axis],
                };
                if !fits {
                    let expected = format!("inside the grid's {} points along axis {axis}", grid.n[axis]);
                    return Err(Error::value("offset", expected, offset[axis]));
                }
            }
            bounds.push(pair);
        }
        let bounds: [[Bound; 2]; 3] = bounds.try_into().expect("one pair for each of three axes");
        let values = parameters.iter().map(|(_, v)| *v).collect();
        let mut system = System {
            grid,
            fields: field_names,
            formulas,
            parameters: parameter_names,
            values,
            bounds,
            layout: Layout::Interleaved,
            accesses,
        };
        let distance = |layout| System { layout, ..system.clone() }.access_distance();
        let best = if distance(Layout::FieldWise) < distance(Layout::Interleaved) {
            Layout::FieldWise
        } else {
            Layout::Interleaved
        };
        system.layout = layout.unwrap_or(best);
        Ok(system)
    }
}

impl System {
    /// Begins a system on `grid`.
    pub fn builder(grid: Grid) -> Builder {
        let mirror = || [Boundary::Mirror, Boundary::Mirror];
        Builder {
            grid,
            fields: Vec::new(),
            parameters: Vec::new(),
            definitions: Vec::new(),
            boundaries: [mirror(), mirror(), mirror()],
            layout: None,
        }
    }

    /// The grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Names of the fields.
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

    /// Component of `field` at point `p`.
    pub fn component(&self, field: usize, p: usize) -> usize {
        match self.layout {
            Layout::Interleaved => p * self.fields.len() + field,
            Layout::FieldWise => field * self.grid.points() + p,
        }
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

    /// The largest offset along each axis.
    pub fn radius(&self) -> [usize; 3] {
        let reach = |axis: usize| self.accesses.iter().map(|(_, _, o)| o[axis].unsigned_abs() as usize).max();
        std::array::from_fn(|axis| reach(axis).unwrap_or(0))
    }

    /// The largest distance in memory between a component and one that its formula reads, across periodic sides as well.
    pub fn access_distance(&self) -> usize {
        let n = self.grid.n.map(|n| n as i64);
        let (fields, points) = (self.fields.len() as i64, self.grid.points() as i64);
        let mut largest = 0;
        for (to, from, offset) in &self.accesses {
            // Along a periodic axis the neighbour may be at the other end.
            let ways = |axis: usize| {
                let d = i64::from(offset[axis]);
                let wrapped = d - d.signum() * n[axis];
                match self.bounds[axis][0] {
                    // Inside the grid the offset can be met only if some point has the neighbour inside.
                    Bound::Periodic if d != 0 && d.abs() < n[axis] => vec![d, wrapped],
                    Bound::Periodic if d != 0 => vec![wrapped],
                    _ => vec![d],
                }
            };
            for dx in ways(0) {
                for dy in ways(1) {
                    for dz in ways(2) {
                        let points_apart = dx + n[0] * (dy + n[1] * dz);
                        let fields_apart = *from as i64 - *to as i64;
                        let distance = match self.layout {
                            Layout::Interleaved => points_apart * fields + fields_apart,
                            Layout::FieldWise => points_apart + points * fields_apart,
                        };
                        largest = largest.max(distance.unsigned_abs() as usize);
                    }
                }
            }
        }
        largest
    }

    /// Offsets read, by any field of any field.
    pub(crate) fn offsets(&self) -> Vec<[i32; 3]> {
        let mut all: Vec<_> = self.accesses.iter().map(|(_, _, o)| *o).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// A point of a system at a time.
struct At<'a, T> {
    system: &'a System,
    index: [i64; 3],
    t: T,
    y: &'a [T],
    parameters: &'a [T],
}

impl<T: Real> Values<T> for At<'_, T> {
    fn time(&self) -> T {
        self.t
    }

    fn parameter(&self, number: usize) -> T {
        self.parameters[number]
    }

    fn coordinate(&self, axis: usize) -> T {
        let grid = &self.system.grid;
        T::of(grid.origin[axis]) + T::of(self.index[axis] as f64) * T::of(grid.spacing[axis])
    }

    fn index(&self, axis: usize) -> T {
        T::of(self.index[axis] as f64)
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
        let p = inside[0] + grid.n[0] as i64 * (inside[1] + grid.n[1] as i64 * inside[2]);
        self.y[self.system.component(field, p as usize)]
    }
}

impl<T: Real> Rhs<T> for System {
    fn len(&self) -> usize {
        self.components()
    }

    fn eval(&self, t: T, y: &[T], f: &mut [T]) {
        let parameters: Vec<T> = self.values.iter().map(|v| T::of(*v)).collect();
        for p in 0..self.grid.points() {
            let index = self.grid.index(p).map(|i| i as i64);
            let at = At { system: self, index, t, y, parameters: &parameters };
            for (field, formula) in self.formulas.iter().enumerate() {
                f[self.component(field, p)] = formula.eval(&at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn access_distances_of_known_systems() {
        let brusselator = |layout| {
            let b = System::builder(Grid::unit(&[16, 8]))
                .field("u", "v + u[-1,0] + u[1,0] + u[0,-1] + u[0,1]")
                .field("v", "u + v[-1,0] + v[1,0] + v[0,-1] + v[0,1]");
            match layout {
                Some(layout) => b.layout(layout),
                None => b,
            }
            .build()
            .unwrap()
        };
        assert_eq!(brusselator(Some(Layout::Interleaved)).access_distance(), 32);
        assert_eq!(brusselator(Some(Layout::FieldWise)).access_distance(), 128);
        assert_eq!(brusselator(None).layout(), Layout::Interleaved);
        let ring = |n: usize| {
            let b = System::builder(Grid::unit(&[n])).field("u", "u[-1] + u[1]").boundary(Boundary::Periodic);
            b.build().unwrap()
        };
        assert_eq!(ring(10).access_distance(), 9);
        assert_eq!(ring(10).radius(), [1, 0, 0]);
        // Pairs without neighbours: 1 interleaved, the number of points field-wise.
        let pairs = System::builder(Grid::unit(&[50])).field("a", "a*b").field("b", "-a*b").build().unwrap();
        assert_eq!((pairs.access_distance(), pairs.layout()), (1, Layout::Interleaved));
    }

    #[test]
    fn bad_systems_are_errors() {
        let base = || System::builder(Grid::unit(&[4])).field("u", "u[-1]");
        let id = |b: Builder| b.build().unwrap_err().id();
        assert_eq!(id(System::builder(Grid::unit(&[4]))), "clinalg:argument:value");
        assert_eq!(id(System::builder(Grid::unit(&[0])).field("u", "u")), "clinalg:argument:value");
        assert_eq!(id(System::builder(Grid::unit(&[1, 1, 1, 1])).field("u", "u")), "clinalg:argument:value");
        assert_eq!(id(System::builder(Grid::new(&[4], &[0.0], &[f64::NAN])).field("u", "u")), "clinalg:argument:value");
        assert_eq!(id(base().field("u", "1")), "clinalg:argument:value");
        assert_eq!(id(base().field("t", "1")), "clinalg:argument:value");
        assert_eq!(id(base().parameter("a b", 1.0)), "clinalg:argument:value");
        assert_eq!(id(base().parameter("a", f64::INFINITY)), "clinalg:argument:value");
        assert_eq!(id(base().field("v", "u[4]")), "clinalg:argument:value");
        assert_eq!(id(base().field("v", "w")), "clinalg:ode:formula");
        assert_eq!(id(base().side(0, Side::Low, Boundary::Periodic)), "clinalg:argument:value");
        assert_eq!(id(base().boundary(Boundary::Value(vec![]))), "clinalg:argument:value");
        assert_eq!(id(base().boundary(Boundary::Value(vec!["u".into()]))), "clinalg:ode:formula");
        let mut good = base().parameter("a", 1.0).build().unwrap();
        assert_eq!(good.set_parameter("b", 1.0).unwrap_err().id(), "clinalg:argument:value");
        good.set_parameter("a", 2.0).unwrap();
        assert_eq!(good.parameters().collect::<Vec<_>>(), [("a", 2.0)]);
    }
}
