//! Right-hand sides: fields on a grid with a formula each, OpenCL C, and plain Rust functions.
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
//!
//! // Points that all attract each other: a prime is the value at the other point.
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

use clinalg::Real;

use crate::dense;
use crate::events::Watch;
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
        let axis = |values: &[f64], unused: f64| {
            std::array::from_fn(|a| match a < n.len() {
                true => values.get(a).copied().unwrap_or(f64::NAN),
                false => unused,
            })
        };
        Grid {
            dims: n.len(),
            n: std::array::from_fn(|a| n.get(a).copied().unwrap_or(1)),
            origin: axis(origin, 0.0),
            spacing: axis(spacing, 1.0),
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

    /// The point of these indices.
    fn point(&self, index: [i64; 3]) -> usize {
        (index[0] + self.n[0] as i64 * (index[1] + self.n[1] as i64 * index[2])) as usize
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
    /// Formulas, one a field, of t, the parameters and the coordinates of the neighbour. They may read fields further inside,
    /// at offsets from the neighbour: on a lower side `2 - u[1]` makes 1 the mean of the neighbour and the point next to it.
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
    places: Vec<usize>,
    pub(crate) formulas: Vec<Expr>,
    pub(crate) parameters: Vec<String>,
    pub(crate) values: Vec<f64>,
    pub(crate) data: Vec<Arc<[f64]>>,
    pub(crate) snippet: Option<Snippet>,
    pub(crate) bounds: [[Bound; 2]; 3],
    pub(crate) layout: Layout,
    accesses: Vec<Access>,
    pub(crate) watched: Vec<Watch>,
}

/// Collects what [`System`] is made of; see [`System::builder`].
#[derive(Debug, Clone)]
pub struct Builder {
    grid: Grid,
    fields: Vec<(String, String)>,
    parameters: Vec<(String, f64)>,
    data: Vec<(String, Arc<[f64]>)>,
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

    /// Adds numbers, one for each point, that the formulas read by name.
    pub fn data(mut self, name: impl Into<String>, values: impl Into<Arc<[f64]>>) -> Builder {
        self.data.push((name.into(), values.into()));
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

    /// The layout, with the fields in the order in which they were added. Where nothing is said, and there is more than a
    /// point, layout and order are those with the smallest access distance.
    pub fn layout(mut self, layout: Layout) -> Builder {
        self.layout = Some(layout);
        self
    }

    /// Reads the formulas.
    ///
    /// # Errors
    /// [`Error::Formula`] with the column; [`Error::Value`] for a grid without points or with a spacing that is not above
    /// zero, a name used twice or with a meaning of its own, data that are not finite or not one for each point, a periodic
    /// side without the other, a number of boundary formulas that is not that of the fields, or an offset that leaves the
    /// grid's other side.
    pub fn build(self) -> Result<System> {
        let given: Vec<usize> = (0..self.fields.len()).collect();
        let system = self.in_order(&given, self.layout.unwrap_or(Layout::Interleaved))?;
        if self.layout.is_some() || system.grid.points() == 1 {
            return Ok(system);
        }
        let (mut best, mut least) = ((given.clone(), system.layout), system.access_distance());
        for layout in [Layout::Interleaved, Layout::FieldWise] {
            let mut places = given.clone();
            loop {
                let distance = system.distance(&places, layout);
                if distance < least {
                    (best, least) = ((places.clone(), layout), distance);
                }
                if places.len() > MOST_REORDERED || !next_order(&mut places) {
                    break;
                }
            }
        }
        let (places, layout) = best;
        let order: Vec<usize> =
            given.iter().map(|k| places.iter().position(|p| p == k).expect("places are all different")).collect();
        self.in_order(&order, layout)
    }

    /// The system with field `order[k]` in place k.
    fn in_order(&self, order: &[usize], layout: Layout) -> Result<System> {
        let Builder { grid, parameters, data, definitions, boundaries, .. } = self;
        let fields: Vec<&(String, String)> = order.iter().map(|k| &self.fields[*k]).collect();
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
        let names: Vec<&String> = (self.fields.iter().map(|(n, _)| n))
            .chain(parameters.iter().map(|(n, _)| n))
            .chain(data.iter().map(|(n, _)| n))
            .chain(definitions.iter().map(|(n, _)| n))
            .collect();
        check_names(&names)?;
        if let Some((name, value)) = parameters.iter().find(|(_, v)| !v.is_finite()) {
            return Err(Error::value(name, "a finite number", value));
        }
        for (name, values) in data {
            if values.len() != grid.points() {
                return Err(Error::value(
                    name,
                    format!("one number for each of {} points", grid.points()),
                    values.len(),
                ));
            }
            if let Some(k) = values.iter().position(|v| !v.is_finite()) {
                return Err(Error::value(format!("{name}[{k}]"), "a finite number", values[k]));
            }
        }
        let field_names: Vec<String> = fields.iter().map(|(n, _)| n.clone()).collect();
        let parameter_names: Vec<String> = parameters.iter().map(|(n, _)| n.clone()).collect();
        let data_names: Vec<String> = data.iter().map(|(n, _)| n.clone()).collect();
        let mut known: Vec<(String, Expr)> = Vec::new();
        let all = Names {
            fields: &field_names,
            parameters: &parameter_names,
            data: &data_names,
            definitions: &[],
            dims: grid.dims,
            primes: false,
        };
        for (name, text) in definitions {
            let definition = formula::parse(text, &Names { definitions: &known, primes: true, ..all.clone() })?;
            known.push((name.clone(), definition));
        }
        let parse = |(_, text): &&(String, String)| formula::parse(text, &Names { definitions: &known, ..all.clone() });
        let formulas = fields.iter().map(parse).collect::<Result<Vec<_>>>()?;
        let mut sources = Vec::new();
        for formula in &formulas {
            formula.walk(&mut |e| {
                if let Expr::Sum(inner) = e {
                    dense::leaves(inner, &mut Vec::new(), &mut sources);
                }
            });
        }
        if sources.len() > MOST_SOURCES {
            let expected = format!("at most {MOST_SOURCES} different names with primes");
            return Err(Error::value("sum", expected, sources.len()));
        }
        let mut accesses = Vec::new();
        for (to, formula) in formulas.iter().enumerate() {
            formula.accesses(&mut |from, offset| {
                if !accesses.contains(&(to, from, offset)) {
                    accesses.push((to, from, offset));
                }
            });
        }
        let outside = Names { data: &[], ..all.clone() };
        let bound = |axis: usize, side: Side, boundary: &Boundary| -> Result<Bound> {
            Ok(match boundary {
                Boundary::Mirror => Bound::Mirror,
                Boundary::Copy => Bound::Copy,
                Boundary::Periodic => Bound::Periodic,
                Boundary::Value(texts) if texts.len() != fields.len() => {
                    let expected = format!("one formula for each of the {} fields", fields.len());
                    return Err(Error::value("boundary", expected, texts.len()));
                }
                Boundary::Value(texts) => {
                    let read = |k: &usize| {
                        let formula = formula::parse(&texts[*k], &outside)?;
                        check_outside(&texts[*k], &formula, grid, axis, side)?;
                        Ok(formula)
                    };
                    Bound::Value(order.iter().map(read).collect::<Result<Vec<_>>>()?)
                }
            })
        };
        let mut bounds = Vec::new();
        for (axis, [low, high]) in boundaries.iter().enumerate() {
            if axis >= grid.dims {
                bounds.push([Bound::Copy, Bound::Copy]);
                continue;
            }
            let pair = [bound(axis, Side::Low, low)?, bound(axis, Side::High, high)?];
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
        let mut places = vec![0; order.len()];
        for (place, given) in order.iter().enumerate() {
            places[*given] = place;
        }
        Ok(System {
            grid: grid.clone(),
            fields: self.fields.iter().map(|(name, _)| name.clone()).collect(),
            places,
            formulas,
            parameters: parameter_names,
            values: parameters.iter().map(|(_, v)| *v).collect(),
            data: data.iter().map(|(_, values)| values.clone()).collect(),
            snippet: None,
            accesses: with_outside(accesses, &bounds),
            watched: Vec::new(),
            bounds,
            layout,
        })
    }
}

/// Most numbers of a point that sums read: they have to fit local memory with those of the others of a work-group.
const MOST_SOURCES: usize = 12;

/// Most fields whose orders are all tried.
const MOST_REORDERED: usize = 6;

/// The next order of numbers that are all different; `false` after the last.
fn next_order(order: &mut [usize]) -> bool {
    let Some(k) = order.windows(2).rposition(|pair| pair[0] < pair[1]) else { return false };
    let larger = order.iter().rposition(|v| *v > order[k]).expect("the one after k is larger");
    order.swap(k, larger);
    order[k + 1..].reverse();
    true
}

/// Refuses names that are used twice or have a meaning of their own.
fn check_names(names: &[&String]) -> Result<()> {
    for (k, name) in names.iter().enumerate() {
        if !formula::is_name(name) || names[..k].contains(name) {
            let expected = "a new name of letters, digits and underscores without a meaning of its own";
            return Err(Error::value("name", expected, name));
        }
    }
    Ok(())
}

/// Refuses a formula for what is outside the grid on one side that reads anything but fields further inside.
fn check_outside(text: &str, formula: &Expr, grid: &Grid, axis: usize, side: Side) -> Result<()> {
    let fail = |reason: &str| Err(Error::Formula { formula: text.into(), column: 1, reason: reason.into() });
    let mut sums = false;
    formula.walk(&mut |e| sums |= matches!(e, Expr::Sum(_)));
    if sums {
        return fail("a boundary formula has no sums");
    }
    let mut wrong = false;
    formula.accesses(&mut |_, offset| {
        let inward = if side == Side::Low { offset[axis] } else { -offset[axis] };
        let along = (0..3).all(|a| a == axis || offset[a] == 0);
        wrong |= !along || !(1..=grid.n[axis] as i64).contains(&i64::from(inward));
    });
    if wrong {
        return fail("a boundary formula reads fields further inside the grid along its axis only");
    }
    Ok(())
}

/// What formulas read, with what the formulas for neighbours outside read for them.
fn with_outside(mut accesses: Vec<Access>, bounds: &[[Bound; 2]; 3]) -> Vec<Access> {
    let mut next = 0;
    while next < accesses.len() {
        let (to, from, offset) = accesses[next];
        next += 1;
        for axis in 0..3 {
            let Bound::Value(formulas) = &bounds[axis][usize::from(offset[axis] > 0)] else { continue };
            if offset[axis] == 0 {
                continue;
            }
            formulas[from].accesses(&mut |field, inward| {
                let further = (to, field, std::array::from_fn(|a| offset[a] + inward[a]));
                if !accesses.contains(&further) {
                    accesses.push(further);
                }
            });
        }
    }
    accesses
}

/// A field whose formula reads, the field read, and where.
type Access = (usize, usize, [i32; 3]);

/// Collects what a [`System`] with a snippet is made of; see [`System::snippet`].
#[derive(Debug, Clone)]
pub struct SnippetBuilder {
    components: usize,
    snippet: Snippet,
    parameters: Vec<(String, f64)>,
}

impl SnippetBuilder {
    /// Adds a parameter, which the snippet knows by its name.
    pub fn parameter(mut self, name: impl Into<String>, value: f64) -> SnippetBuilder {
        self.parameters.push((name.into(), value));
        self
    }

    /// OpenCL C that stands before the snippet: functions and constants.
    pub fn functions(mut self, source: impl Into<String>) -> SnippetBuilder {
        self.snippet.functions = source.into();
        self
    }

    /// Checks what can be checked without a device.
    ///
    /// # Errors
    /// [`Error::Value`] for no components, a snippet that is empty, and names and values of parameters as [`Builder::build`].
    pub fn build(self) -> Result<System> {
        if self.components == 0 {
            return Err(Error::value("components", "at least 1", 0));
        }
        if self.snippet.body.trim().is_empty() {
            return Err(Error::value("snippet", "OpenCL C that returns a value", "empty"));
        }
        check_names(&self.parameters.iter().map(|(n, _)| n).collect::<Vec<_>>())?;
        if let Some((name, value)) = self.parameters.iter().find(|(n, _)| SNIPPET_NAMES.contains(&n.as_str())) {
            return Err(Error::value(
                "name",
                format!("none of {}", SNIPPET_NAMES.join(", ")),
                format!("{name} = {value}"),
            ));
        }
        if let Some((name, value)) = self.parameters.iter().find(|(_, v)| !v.is_finite()) {
            return Err(Error::value(name, "a finite number", value));
        }
        let none = || [Bound::Copy, Bound::Copy];
        Ok(System {
            grid: Grid::new(&[self.components], &[0.0], &[1.0]),
            fields: vec!["y".into()],
            places: vec![0],
            formulas: vec![Expr::Snippet],
            values: self.parameters.iter().map(|(_, v)| *v).collect(),
            parameters: self.parameters.into_iter().map(|(n, _)| n).collect(),
            data: Vec::new(),
            snippet: Some(self.snippet),
            bounds: [none(), none(), none()],
            layout: Layout::FieldWise,
            accesses: Vec::new(),
            watched: Vec::new(),
        })
    }
}

/// Names that a snippet is given.
const SNIPPET_NAMES: [&str; 6] = ["I", "N", "T", "Y", "STATE", "PARAMETERS"];

impl System {
    /// Begins a system on `grid`.
    pub fn builder(grid: Grid) -> Builder {
        let mirror = || [Boundary::Mirror, Boundary::Mirror];
        Builder {
            grid,
            fields: Vec::new(),
            parameters: Vec::new(),
            data: Vec::new(),
            definitions: Vec::new(),
            boundaries: [mirror(), mirror(), mirror()],
            layout: None,
        }
    }

    /// Begins a system of `components` components whose derivatives are given in OpenCL C: the body of a function that returns
    /// the derivative of component `I` at time `T` of `N` components, with `Y(j)` for component j and parameters by
    /// name. `I` and `N` are signed integers, the type of the values is `REAL`. It must read no component further than
    /// `distance` from `I`; [`check_access`](crate::snippet::check_access) tells whether it does.
    ///
    /// It runs on devices only: [`Rhs::eval`] gives NaN.
    ///
    /// ```
    /// use clinalg_ode::System;
    ///
    /// let chain = System::snippet(100, "return (I > 0 ? Y(I - 1) : ONE) - rate * Y(I);", 1).parameter("rate", 2.0).build()?;
    /// assert_eq!(chain.access_distance(), 1);
    /// # Ok::<(), clinalg_ode::Error>(())
    /// ```
    pub fn snippet(components: usize, body: impl Into<String>, distance: usize) -> SnippetBuilder {
        let snippet = Snippet { body: body.into(), functions: String::new(), distance };
        SnippetBuilder { components, snippet, parameters: Vec::new() }
    }

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

    /// Component of the field in this place at point `p`.
    fn at(&self, place: usize, p: usize) -> usize {
        match self.layout {
            Layout::Interleaved => p * self.fields.len() + place,
            Layout::FieldWise => place * self.grid.points() + p,
        }
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
        self.values.iter().chain(self.data.iter().flat_map(|d| d.iter())).map(|v| T::of(*v)).collect()
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

    /// The largest distance in memory between a component and one that its formula reads, across periodic sides as well; what
    /// was declared for a snippet.
    pub fn access_distance(&self) -> usize {
        match &self.snippet {
            Some(snippet) => snippet.distance,
            None => self.distance(&(0..self.fields.len()).collect::<Vec<_>>(), self.layout),
        }
    }

    /// The access distance with the fields in other places.
    fn distance(&self, places: &[usize], layout: Layout) -> usize {
        if self.is_dense() {
            return self.components() - 1;
        }
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
                        let fields_apart = places[*from] as i64 - places[*to] as i64;
                        let distance = match layout {
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
    /// The point that a sum adds.
    source: usize,
    /// As [`System::constants`].
    constants: &'a [T],
}

impl<T: Real> At<'_, T> {
    /// Point `p` at the same time.
    fn point(&self, p: usize) -> Self {
        At { index: self.system.grid.index(p).map(|i| i as i64), ..*self }
    }
}

impl<T: Real> Values<T> for At<'_, T> {
    fn time(&self) -> T {
        self.t
    }

    fn parameter(&self, number: usize) -> T {
        self.constants[number]
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
        self.y[self.system.at(field, grid.point(inside))]
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

    fn eval(&self, t: T, y: &[T], f: &mut [T]) {
        let constants = self.constants();
        let start = At { system: self, index: [0; 3], t, y, source: 0, constants: &constants };
        for p in 0..self.grid.points() {
            let at = start.point(p);
            for (place, formula) in self.formulas.iter().enumerate() {
                f[self.at(place, p)] = formula.eval(&at);
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
