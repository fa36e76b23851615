//! Levels in the host's memory, for a team that distributes them.

use super::cycle::{Plan, visit};
use super::{Amg, Hierarchy};
use crate::{CsrParts, Error, Real, Result, Vector};

/// A level of a hierarchy and its prolongator.
pub(crate) struct HostLevel<T: Real> {
    pub(crate) a: CsrParts<T>,
    /// What the smoother multiplies residuals by.
    pub(crate) inverse: Vec<T>,
    /// For each step of the smoother, the factor by which it keeps the previous one, and its weight.
    pub(crate) steps: Vec<(f64, f64)>,
    pub(crate) prolong: CsrParts<T>,
}

impl<T: Real> Amg<T> {
    /// Removes the finest levels as long as `is_shared` holds for the rows of a level and of the next coarser one. What remains is a
    /// hierarchy for the finest level that was not removed.
    pub(crate) fn take_finest(&mut self, is_shared: impl Fn(usize, usize) -> bool) -> Result<Vec<HostLevel<T>>> {
        let plan = Plan::new(&self.params);
        let Hierarchy::Own(hierarchy) = &mut self.hierarchy else {
            return Err(Error::value("single", "false on several devices", true));
        };
        let levels = &mut hierarchy.levels;
        let count = levels.windows(2).take_while(|pair| is_shared(pair[0].a.rows(), pair[1].a.rows())).count();
        let mut taken = Vec::with_capacity(count);
        for level in levels.drain(..count) {
            let step = level.coarser.as_ref().expect("all levels but the last have a coarser one");
            taken.push(HostLevel {
                a: level.a.to_parts()?,
                inverse: level.inverse.to_vec()?,
                steps: plan.steps(level.largest),
                prolong: step.prolong.to_parts()?,
            });
        }
        Ok(taken)
    }

    /// A cycle for A x = b on the finest level, from x = 0 where `fresh`.
    pub(crate) fn visit(&mut self, b: &Vector<T>, x: &mut Vector<T>, fresh: bool) -> Result<()> {
        let plan = Plan::new(&self.params);
        match &mut self.hierarchy {
            Hierarchy::Own(levels) => visit(&mut levels.levels, &levels.end, plan, b, x, fresh),
            Hierarchy::Single { .. } => Err(Error::value("single", "false on several devices", true)),
        }
    }
}
