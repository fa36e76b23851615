//! A step as waveforms see it: which of its vectors other blocks read, and what has to be known at the same time.
//!
//! The waveforms that blocks exchange are those of the arguments of right-hand sides: the solution at the beginning of each step, and the
//! stages of a Runge-Kutta method. They are the *rows* of a step. With them the iterates end at the method's own solution;
//! stages interpolated between the ends of steps would depend on the end of the step at hand, and no iterate would be final.

use crate::method::graph::{Graph, Op, Value};
use crate::method::{BEGIN, Method};
use crate::{Error, Result};

/// The data flow of a step, and its rows.
#[derive(Debug, Clone)]
pub(super) struct Stages {
    graph: Graph,
    /// Arguments of right-hand sides, the solution at the beginning first, and where in the step they stand.
    rows: Vec<(Value, f64)>,
    /// By node: the part of the step that computes it, where parts are separated by the neighbours' values that they need.
    phases: Vec<usize>,
}

impl Stages {
    /// # Errors
    /// [`Error::Value`] for a method that needs more than the solution at the beginning of a step.
    pub(super) fn new(method: &Method) -> Result<Stages> {
        let graph = method.without_error().graph().clone();
        if method.without_error().inputs() != [BEGIN] || graph.step_arguments() > 0 {
            return Err(Error::value("method", "an explicit Runge-Kutta method", method.name()));
        }
        let mut rows = vec![(graph.inputs()[0], 0.0)];
        for node in graph.nodes() {
            if let Op::Rhs { c, x, .. } = node.op
                && rows.iter().all(|(v, _)| *v != x)
            {
                rows.push((x, c));
            }
        }
        let phases = graph.stage_groups().iter().map(|group| group.saturating_sub(1)).collect();
        Ok(Stages { graph, rows, phases })
    }

    pub(super) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Rows of a step.
    pub(super) fn count(&self) -> usize {
        self.rows.len()
    }

    /// The vectors of the rows, that of the solution first.
    pub(super) fn rows(&self) -> impl Iterator<Item = Value> + '_ {
        self.rows.iter().map(|(v, _)| *v)
    }

    /// Where in the step the rows stand, in units of h.
    pub(super) fn places(&self) -> impl Iterator<Item = f64> + '_ {
        self.rows.iter().map(|(_, c)| *c)
    }

    /// The row of a vector.
    pub(super) fn row(&self, v: Value) -> Option<usize> {
        self.rows.iter().position(|(row, _)| *row == v)
    }

    /// The solution at the beginning of a step.
    pub(super) fn begin(&self) -> Value {
        self.rows[0].0
    }

    /// Parts of a step between which blocks wait for the values of all their points.
    pub(super) fn phases(&self) -> usize {
        self.phases.iter().max().map_or(1, |last| last + 1)
    }

    /// The nodes of a phase but inputs, each after those it reads.
    pub(super) fn nodes(&self, phase: usize) -> impl Iterator<Item = Value> + '_ {
        let node = move |k: &usize| self.phases[*k] == phase && self.graph.nodes()[*k].op != Op::Input;
        (0..self.phases.len()).filter(node).map(Value)
    }

    /// The vectors made before a phase that it reads at the point at hand.
    pub(super) fn read(&self, phase: usize) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        for v in self.nodes(phase) {
            // The argument of a right-hand side is read where its values stand.
            if let Op::Lc { terms } = &self.graph.node(v).op {
                all.extend(terms.iter().map(|(_, v)| *v).filter(|v| self.made_before(*v, phase)));
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    fn made_before(&self, v: Value, phase: usize) -> bool {
        self.phases[v.0] < phase || self.graph.node(v).op == Op::Input
    }

    /// Where a block keeps its values from one phase to the next.
    pub(super) fn slots(&self) -> Slots {
        let (begin, end, last) = (self.begin(), self.graph.solution(), self.phases() - 1);
        // In one phase neighbours read the solution while the next one is written; otherwise they have read it before.
        let alternates = last == 0 || self.phases[end.0] < last;
        let mut until = vec![None; self.phases.len()];
        for (k, node) in self.graph.nodes().iter().enumerate() {
            for v in node.op.reads() {
                if self.made_before(v, self.phases[k]) || matches!(node.op, Op::Rhs { .. }) {
                    until[v.0] = until[v.0].max(Some(self.phases[k]));
                }
            }
        }
        let mut of = vec![None; self.phases.len()];
        // The vector in each slot; the first one, or two, are those of the solution.
        let mut held: Vec<Option<Value>> = vec![None; if alternates { 2 } else { 1 }];
        let fixed = held.len();
        for phase in 0..=last {
            for v in self.nodes(phase).filter(|v| ![begin, end].contains(v)) {
                if until[v.0].is_none() {
                    continue;
                }
                let free = |held: &Option<Value>| held.is_none_or(|v| until[v.0] < Some(phase));
                let slot = (fixed..held.len()).find(|slot| free(&held[*slot])).unwrap_or_else(|| {
                    held.push(None);
                    held.len() - 1
                });
                (held[slot], of[v.0]) = (Some(v), Some(slot));
            }
        }
        Slots { of, count: held.len(), alternates, begin, end }
    }
}

/// Where a block keeps values from one phase of a step to the next.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    of: Vec<Option<usize>>,
    /// How many vectors a block has room for.
    pub(super) count: usize,
    /// Whether the solution changes between the first two from step to step; else it stays in the first.
    pub(super) alternates: bool,
    begin: Value,
    end: Value,
}

impl Slots {
    /// The slot of a vector in a kernel, where `half_of` is the number of the step modulo 2; `None` for one that no later phase reads.
    pub(super) fn name(&self, v: Value) -> Option<String> {
        match (self.alternates, v) {
            (true, v) if v == self.begin => Some("half_of".into()),
            (true, v) if v == self.end => Some("half_of ^ 1".into()),
            (false, v) if v == self.begin || v == self.end => Some("0".into()),
            _ => self.of[v.0].map(|slot| slot.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(name: &str) -> Stages {
        Stages::new(&Method::named(name).unwrap()).unwrap()
    }

    #[test]
    fn rows_and_room_of_methods() {
        // Rows, phases and slots; the last stage of DOPRI5(4) is the solution.
        for (name, expected) in [
            ("euler", (1, 1, 2)),
            // y and F1 for the second phase, where neighbours read X2.
            ("heun2", (2, 2, 3)),
            // In the third phase y, F1, F2, X3, F3, X4; in the last one y' takes the place of y.
            ("rk4", (4, 4, 6)),
            ("bs32", (3, 3, 5)),
            ("dopri54", (6, 6, 8)),
        ] {
            let stages = stages(name);
            assert_eq!((stages.count(), stages.phases(), stages.slots().count), expected, "{name}");
        }
        assert_eq!(stages("rk4").places().collect::<Vec<_>>(), [0.0, 0.5, 0.5, 1.0]);
        // All stages of an iteration in one phase.
        let pirk = stages("pirk-radau-iia-5");
        assert_eq!((pirk.count(), pirk.phases()), (13, 5));
        for name in ["ab3", "peer4"] {
            let error = Stages::new(&Method::named(name).unwrap()).unwrap_err();
            assert!(error.id() == "clinalg:argument:value" && error.to_string().contains("Runge-Kutta"), "{error}");
        }
    }

    /// No vector that is still read loses its slot.
    #[test]
    fn slots_are_kept_as_long_as_they_are_read() {
        for name in ["heun2", "ssprk3", "rk4", "rk38", "dopri54", "verner65", "pirk-lobatto-iiic-6"] {
            let stages = stages(name);
            let (slots, last) = (stages.slots(), stages.phases() - 1);
            let reads =
                |v: Value, phase: usize| stages.nodes(phase).any(|k| stages.graph.node(k).op.reads().contains(&v));
            let until = |v: Value| (0..=last).rev().find(|phase| reads(v, *phase));
            for phase in 0..=last {
                for v in stages.nodes(phase) {
                    let Some(slot) = slots.name(v) else {
                        assert!(until(v).is_none_or(|until| until == phase), "{name}: {v:?} is read later");
                        continue;
                    };
                    let others = (0..stages.phases.len()).map(Value).filter(|w| *w != v);
                    for w in others.filter(|w| slots.name(*w).as_ref() == Some(&slot)) {
                        let before = stages.made_before(w, phase) || stages.phases[w.0] == phase;
                        let over = until(w).is_none_or(|until| until < phase);
                        // The solution takes the place of the one before when neighbours have read that.
                        let replaces = w == stages.begin() && v == stages.graph.solution() && phase == last;
                        assert!(!before || over || replaces, "{name}: {v:?} overwrites {w:?}");
                    }
                }
            }
        }
    }
}
