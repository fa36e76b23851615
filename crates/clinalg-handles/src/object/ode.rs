//! Systems of differential equations.

use clinalg_ode::System;
use clinalg_ode::problems::Problem;

/// A system of differential equations with what a binding keeps beside it.
#[derive(Debug, Clone)]
pub struct Ode {
    /// The equations.
    pub system: System,
    /// Absolute tolerances of the components, by fields; none where they are that of the options.
    pub absolute_each: Vec<f64>,
    /// Initial values and times, of the test problems.
    pub problem: Option<Problem>,
}
