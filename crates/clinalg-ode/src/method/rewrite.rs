//! Graphs made from graphs: without the error estimate, with tolerances for each component, of several steps, with split
//! linear combinations.

use crate::method::graph::{Coefficient, Graph, Node, Op, Value, renamed};

impl Graph {
    /// The same step without its error estimate and without what only that needs.
    pub fn without_error(&self) -> Graph {
        let mut wanted = vec![false; self.nodes.len()];
        let tolerances = self.tolerances();
        for (input, value) in self.next.iter().filter(|(input, _)| Some(*input) != tolerances) {
            wanted[input.0] = true;
            wanted[value.0] = true;
        }
        for k in (0..self.nodes.len()).rev() {
            if wanted[k] {
                for v in self.nodes[k].op.reads() {
                    wanted[v.0] = true;
                }
            }
        }
        let mut place = vec![Value(usize::MAX); self.nodes.len()];
        let mut graph = Graph::new(self.name.clone());
        for (k, node) in self.nodes.iter().enumerate().filter(|(k, _)| wanted[*k]) {
            place[k] = graph.copy(node, &place);
        }
        let kept = self.next.iter().filter(|(input, _)| wanted[input.0]);
        graph.next = kept.map(|(i, v)| (place[i.0], place[v.0])).collect();
        graph.solution = self.solution.map(|v| place[v.0]);
        graph
    }

    /// The same step with an absolute tolerance for each component, in a further input, the last one.
    pub(crate) fn with_tolerances(&self) -> Graph {
        let mut place = vec![Value(usize::MAX); self.nodes.len()];
        let mut graph = Graph::new(self.name.clone());
        // It stands after the other inputs and before what reads it.
        let last = self.inputs().last().map_or(0, |v| v.0);
        let mut tolerances = None;
        for (k, node) in self.nodes.iter().enumerate() {
            let mut op = renamed(&node.op, &place);
            if let Op::Red { absolute, .. } = &mut op {
                *absolute = tolerances;
            }
            place[k] = graph.place(Node { op, ..node.clone() });
            if k == last {
                tolerances = Some(graph.input("atol"));
            }
        }
        graph.next = self.next.iter().map(|(i, v)| (place[i.0], place[v.0])).collect();
        graph.next.extend(tolerances.map(|v| (v, v)));
        graph.solution = self.solution.map(|v| place[v.0]);
        graph
    }

    /// `steps` steps one after the other as one, each with its error estimate where there is one; every node is computed as soon as it can
    /// be.
    pub fn repeat(&self, steps: usize) -> Graph {
        let one = self;
        let arguments = one.step_arguments();
        let mut graph = Graph::new(one.name.clone());
        // What the inputs of the step at hand are.
        let mut now: Vec<(Value, Value)> = Vec::new();
        for input in one.inputs() {
            now.push((input, graph.push(one.node(input).label.clone(), Op::Input)));
        }
        let inputs = now.clone();
        for step in 0..steps {
            let mut place = vec![Value(usize::MAX); one.nodes.len()];
            for (input, value) in &now {
                place[input.0] = *value;
            }
            for (k, node) in one.nodes.iter().enumerate().filter(|(_, n)| n.op != Op::Input) {
                let op = match renamed(&node.op, &place) {
                    Op::Rhs { c, x, .. } => Op::Rhs { step, c, x },
                    Op::Lc { mut terms } => {
                        // Each step has arguments of its own.
                        terms.iter_mut().for_each(|(c, _)| c.argument = c.argument.map(|k| k + step * arguments));
                        Op::Lc { terms }
                    }
                    other => other,
                };
                let label = format!("{}({})", node.label, step + 1);
                place[k] = graph.place(Node { label, op, since: 0, inlined: node.inlined });
            }
            now = one.next.iter().map(|(i, v)| (*i, place[v.0])).collect();
            graph.solution = one.solution.map(|v| place[v.0]);
        }
        let start = |input: &Value| inputs.iter().find(|(i, _)| i == input).expect("every input was placed").1;
        graph.next = now.iter().map(|(i, v)| (start(i), *v)).collect();
        graph
    }

    /// Splits linear combinations into partial sums: combination `k` of [`Graph::splittable`] is gathered up to stage group
    /// `starts[k]`, where its terms so far are added up, and from there on each stage group adds its own terms; what is inlined takes
    /// the rest in its own stage group. The value stays the same to the last bit, because terms keep their order.
    ///
    /// # Panics
    /// When `starts` does not have one entry for each of [`Graph::splittable`].
    pub fn split(&self, starts: &[usize]) -> Graph {
        let which = self.splittable();
        assert_eq!(starts.len(), which.len(), "one start for each combination that can be split");
        let stage_groups = self.stage_groups();
        // Partial sums in the order of stage groups, so that every node stands after what it reads.
        let mut place = vec![Value(usize::MAX); self.nodes.len()];
        let mut graph = Graph::new(self.name.clone());
        let mut partial: Vec<Option<Value>> = vec![None; which.len()];
        let mut taken = vec![0; which.len()];
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_key(|&k| stage_groups[k]);
        let last = stage_groups.iter().copied().max().unwrap_or(0);
        for stage_group in 0..=last {
            for &k in order.iter().filter(|&&k| stage_groups[k] == stage_group) {
                let node = &self.nodes[k];
                let op = match which.iter().position(|v| v.0 == k) {
                    Some(m) if partial[m].is_some() => {
                        let Op::Lc { terms } = &node.op else { unreachable!("only combinations are split") };
                        let head = partial[m].map(|p| (Coefficient::constant(1.0), p));
                        let rest = terms[taken[m]..].iter().map(|(c, v)| (*c, place[v.0]));
                        Op::Lc { terms: head.into_iter().chain(rest).collect() }
                    }
                    _ => renamed(&node.op, &place),
                };
                place[k] = graph.place(Node { op, ..node.clone() });
            }
            for (m, target) in which.iter().enumerate() {
                let waits = self.node(*target).inlined && partial[m].is_some();
                if stage_group < starts[m] || stage_group >= stage_groups[target.0] || waits {
                    continue;
                }
                let Op::Lc { terms } = &self.nodes[target.0].op else { unreachable!("only combinations are split") };
                let until =
                    taken[m] + terms[taken[m]..].iter().take_while(|(_, v)| stage_groups[v.0] <= stage_group).count();
                let whole = until == taken[m] || (partial[m].is_none() && until == 1 && terms[0].0.is_one());
                if whole {
                    continue;
                }
                let head = partial[m].map(|p| (Coefficient::constant(1.0), p));
                let more = terms[taken[m]..until].iter().map(|(c, v)| (*c, place[v.0]));
                let terms = head.into_iter().chain(more).collect();
                partial[m] =
                    Some(graph.push(format!("{}.{stage_group}", self.nodes[target.0].label), Op::Lc { terms }));
                taken[m] = until;
            }
        }
        graph.end_like(self, &place);
        graph
    }
}
