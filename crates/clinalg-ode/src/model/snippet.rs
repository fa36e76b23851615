//! Systems whose right-hand side is a snippet of OpenCL C.

use crate::model::builder::check_names;
use crate::model::formula::Expr;
use crate::model::grid::{Bound, Grid, Layout, MOST_COMPONENTS};
use crate::model::parse::Powers;
use crate::model::system::{Snippet, System};
use crate::{Error, Result};

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

    /// OpenCL C that stands before the snippet: functions and constants, for which the caller of [`System::snippet`] vouches
    /// as for the body.
    pub fn functions(mut self, source: impl Into<String>) -> SnippetBuilder {
        self.snippet.functions = source.into();
        self
    }

    /// Checks what can be checked without a device.
    ///
    /// # Errors
    /// [`Error::Value`] for no components or more than 2^48, a snippet that is empty, and names and values of parameters as [`Builder::build`](crate::model::Builder::build).
    pub fn build(self) -> Result<System> {
        if !(1..=MOST_COMPONENTS).contains(&self.components) {
            return Err(Error::value("components", format!("from 1 to {MOST_COMPONENTS}"), self.components));
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
            powers: Powers::default(),
            watched: Vec::new(),
            stops: Vec::new(),
            slab: None,
        })
    }
}

/// Names that a snippet is given.
const SNIPPET_NAMES: [&str; 6] = ["I", "N", "T", "Y", "STATE", "PARAMETERS"];

impl System {
    /// Begins a system of `components` components whose derivatives are given in OpenCL C: the body of a function that returns
    /// the derivative of component `I` at time `T` of `N` components, with `Y(j)` for component j and parameters by
    /// name. `I` and `N` are signed integers, the type of the values is `REAL`. It must read no component further than
    /// `distance` from `I`, at most all of them; [`check_access`](crate::check_access) reports whether it does.
    ///
    /// It runs on devices only: [`Rhs::eval`](crate::Rhs::eval) gives NaN.
    ///
    /// # Safety
    /// The text becomes part of kernels as it is. The caller vouches that `body` and what [`SnippetBuilder::functions`] adds
    /// - read components by `Y(j)` alone, for 0 <= j < N with |j - I| <= `distance`, whatever the values of the components,
    /// - write to no memory but their own variables, divide no integer by 0, and return,
    /// - neither close the function that they stand in nor define macros that change the code around them.
    ///
    /// Text from somebody who is not trusted to run code on this machine does not meet this; formulas
    /// ([`System::builder`], [`System::from_text`]) are safe for such text.
    ///
    /// ```
    /// use clinalg_ode::System;
    ///
    /// let body = "return (I > 0 ? Y(I - 1) : ONE) - rate * Y(I);";
    /// // SAFETY: it reads component I and, where there is one, the component before it.
    /// let chain = unsafe { System::snippet(100, body, 1) }.parameter("rate", 2.0).build()?;
    /// assert_eq!(chain.access_distance(), 1);
    /// # Ok::<(), clinalg_ode::Error>(())
    /// ```
    pub unsafe fn snippet(components: usize, body: impl Into<String>, distance: usize) -> SnippetBuilder {
        // No two components are further apart.
        let distance = distance.min(components.saturating_sub(1));
        let snippet = Snippet { body: body.into(), functions: String::new(), distance };
        SnippetBuilder { components, snippet, parameters: Vec::new() }
    }
}
