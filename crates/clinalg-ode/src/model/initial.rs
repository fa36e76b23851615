//! Initial values, and sums over all points.

use crate::model::formula::Expr;
use crate::model::parse::{self, Names};
use crate::model::system::System;
use crate::{Error, Result};

/// Where the solution at the beginning comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Initial {
    /// The caller has to set it.
    Missing,
    /// A formula of coordinates, indices, time, parameters and data for each field, in the order of their places.
    Formulas(Vec<Expr>),
    /// All components in their order in memory.
    Values(Vec<f64>),
}

impl System {
    /// Reads a formula of what a point has: its fields, coordinates and indices, the time, parameters and data, which have the names
    /// `data`.
    ///
    /// # Errors
    /// [`Error::Formula`].
    pub(crate) fn parse(&self, formula: &str, data: &[String]) -> Result<Expr> {
        // Formulas count fields by their places.
        let mut fields = self.fields.clone();
        (0..fields.len()).for_each(|field| fields[self.place(field)].clone_from(&self.fields[field]));
        let names = Names {
            fields: &fields,
            parameters: &self.parameters,
            data,
            definitions: &[],
            dims: self.grid.dims,
            spacing: self.grid.spacing,
            primes: false,
            powers: self.powers,
        };
        parse::parse(formula, &names)
    }

    /// As [`System::parse`], for an initial value.
    ///
    /// # Errors
    /// [`Error::Formula`] where it cannot be read, or reads a field.
    pub(super) fn parse_initial(&self, formula: &str, data: &[String]) -> Result<Expr> {
        let parsed = self.parse(formula, data)?;
        let mut reads = false;
        parsed.walk(&mut |e| reads |= matches!(e, Expr::Field { .. }));
        if reads {
            let reason = "an initial value reads no field".into();
            return Err(Error::Formula { formula: formula.into(), column: 1, reason });
        }
        Ok(parsed)
    }

    /// The values at time t of a formula of no field, at the first `points` points.
    pub(super) fn sample_formula(&self, formula: &Expr, t: f64, points: usize) -> Vec<f64> {
        let constants = self.constants();
        (0..points).map(|p| self.at_point(formula, t, p, &constants, &|_| f64::NAN)).collect()
    }

    /// All components at time t from a formula for each place.
    pub(crate) fn initial_values(&self, formulas: &[Expr], t: f64) -> Vec<f64> {
        let mut y0 = vec![0.0; self.components()];
        for field in 0..self.fields.len() {
            let values = self.sample_formula(&formulas[self.place(field)], t, self.grid.points());
            values.into_iter().enumerate().for_each(|(p, value)| y0[self.component(field, p)] = value);
        }
        y0
    }

    /// # Errors
    /// [`Error::Value`] that names the first field with an initial value that is not finite, and the point.
    pub(super) fn check_initial(&self, y0: &[f64]) -> Result<()> {
        for (field, name) in self.fields.iter().enumerate() {
            let value = |p: usize| y0[self.component(field, p)];
            if let Some(p) = (0..self.grid.points()).find(|p| !value(*p).is_finite()) {
                let place = self.grid.position(p);
                let expected = format!("finite at {:?}", &place[..self.grid.dims]);
                return Err(Error::value(format!("initial {name}"), expected, value(p)));
            }
        }
        Ok(())
    }

    /// The sum over all points, of a part of a grid over its own, of a formula of the fields there.
    ///
    /// # Panics
    /// For another number of components.
    pub(crate) fn total(&self, formula: &Expr, y: &[f64]) -> f64 {
        assert_eq!(y.len(), self.components(), "a value for each component");
        let constants = self.constants();
        self.own_points().map(|p| self.at_point(formula, 0.0, p, &constants, &|component| y[component])).sum()
    }
}
