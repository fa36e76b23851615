//! Systems of formulas: what they are made of, and the checks on it.

use std::sync::Arc;

use crate::model::access::Access;
use crate::model::formula::{self, Expr};
use crate::model::grid::{Bound, Boundary, Grid, Layout, MOST_COMPONENTS, Side};
use crate::model::parse::{self, Names, Powers};
use crate::model::system::System;
use crate::{Error, Result};

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
    bad_axis: Option<usize>,
    powers: Powers,
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

    /// The boundary on all sides; [`Boundary::Mirror`] where none is given.
    pub fn boundary(mut self, boundary: Boundary) -> Builder {
        self.boundaries = std::array::from_fn(|_| [boundary.clone(), boundary.clone()]);
        self
    }

    /// The boundary on one side of axis 0, 1 or 2; another axis is an error of [`Builder::build`].
    pub fn side(mut self, axis: usize, side: Side, boundary: Boundary) -> Builder {
        match self.boundaries.get_mut(axis) {
            Some(sides) => sides[side as usize] = boundary,
            None => self.bad_axis = Some(axis),
        }
        self
    }

    /// The layout, with the fields in the order in which they were added. Where none is given, and there is more than a
    /// point, layout and order are those with the smallest access distance.
    pub fn layout(mut self, layout: Layout) -> Builder {
        self.layout = Some(layout);
        self
    }

    /// How chains of powers group in all formulas; from right to left where this is not called.
    pub fn powers(mut self, powers: Powers) -> Builder {
        self.powers = powers;
        self
    }

    /// Reads the formulas.
    ///
    /// # Errors
    /// [`Error::Formula`] with the column; [`Error::Value`] for a grid without points, more than 2^48 components, a spacing that is not above
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
        if grid.points().saturating_mul(fields.len()) > MOST_COMPONENTS {
            let expected = format!("points times fields at most {MOST_COMPONENTS}");
            return Err(Error::value("grid", expected, format!("{:?} with {} fields", grid.shape(), fields.len())));
        }
        if let Some(axis) = self.bad_axis {
            return Err(Error::value("axis", "0, 1 or 2", axis));
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
            spacing: grid.spacing,
            primes: false,
            powers: self.powers,
        };
        for (name, text) in definitions {
            let definition = parse::parse(text, &Names { definitions: &known, primes: true, ..all.clone() })?;
            known.push((name.clone(), definition));
        }
        let parse = |(_, text): &&(String, String)| parse::parse(text, &Names { definitions: &known, ..all.clone() });
        let formulas = fields.iter().map(parse).collect::<Result<Vec<_>>>()?;
        let mut sources = Vec::new();
        for formula in &formulas {
            formula.walk(&mut |e| {
                if let Expr::Sum(inner) = e {
                    formula::leaves(inner, &mut Vec::new(), &mut sources);
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
                        let formula = parse::parse(&texts[*k], &outside)?;
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
            powers: self.powers,
            watched: Vec::new(),
            stops: Vec::new(),
            slab: None,
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
pub(super) fn check_names(names: &[&String]) -> Result<()> {
    for (k, name) in names.iter().enumerate() {
        if !parse::is_name(name) || names[..k].contains(name) {
            let expected = "a new name of letters, digits and underscores that has no predefined meaning";
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
            bad_axis: None,
            powers: Powers::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_systems_are_errors() {
        let base = || System::builder(Grid::unit(&[4])).field("u", "u[-1]");
        let id = |b: Builder| b.build().unwrap_err().id();
        assert_eq!(id(System::builder(Grid::unit(&[4]))), "clinalg:argument:value");
        assert_eq!(id(System::builder(Grid::unit(&[0])).field("u", "u")), "clinalg:argument:value");
        assert_eq!(id(System::builder(Grid::unit(&[1, 1, 1, 1])).field("u", "u")), "clinalg:argument:value");
        assert_eq!(id(System::builder(Grid::new(&[4], &[0.0], &[f64::NAN])).field("u", "u")), "clinalg:argument:value");
        let side = 1 << 32;
        for huge in [vec![usize::MAX], vec![(1 << 63) + 1, 2], vec![side; 2], vec![side; 3], vec![usize::MAX; 3]] {
            let built = |formula: &str| id(System::builder(Grid::unit(&huge)).field("u", formula));
            assert_eq!((built("u"), built("u[-1]")), ("clinalg:argument:value", "clinalg:argument:value"), "{huge:?}");
        }
        assert!(System::builder(Grid::unit(&[1 << 24; 2])).field("u", "u").build().is_ok());
        assert_eq!(
            id(System::builder(Grid::unit(&[1 << 24; 2])).field("u", "u").field("v", "u")),
            "clinalg:argument:value"
        );
        assert_eq!(id(base().side(3, Side::Low, Boundary::Copy)), "clinalg:argument:value");
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
