//! Transformations of graphs beside [`Graph::split`]: cloning, inlining and stage recovery.

use std::collections::BTreeMap;

use crate::method::graph::{Coefficient, Graph, Node, Op, Value, renamed};

/// A multiple of h F as a linear combination of vectors, by vector and power of h.
type Form = BTreeMap<(Value, u32), f64>;

impl Graph {
    /// Clones the node `value` into the stage group `link`: its linear combinations and reductions from that stage group on, and the next
    /// step, read a copy that is computed there again, so that the value needs no place in memory in between. Where nothing
    /// else reads the node it only moves. The copy has the same bits, because it adds the same terms in the same order.
    ///
    /// # Panics
    /// When `value` is an input or a reduction, or is not made before `link`.
    pub fn clone_into(&self, value: Value, stage_group: usize) -> Graph {
        let stage_groups = self.stage_groups();
        let node = self.node(value);
        assert!(matches!(node.op, Op::Rhs { .. } | Op::Lc { .. }), "inputs and reductions are not computed again");
        assert!(stage_groups[value.0] < stage_group, "a copy stands in a later stage group");
        // Right-hand sides read neighbours, which no kernel computes for them.
        let copies = |k: usize| stage_groups[k] >= stage_group && !matches!(self.nodes()[k].op, Op::Rhs { .. });
        let reads = |k: &usize| self.nodes()[*k].op.reads().contains(&value);
        let stays = (0..stage_groups.len()).filter(reads).any(|k| !copies(k));
        let mut graph = Graph::new(self.name());
        let mut place = vec![Value(usize::MAX); stage_groups.len()];
        let (mut original, mut copy) = (None, value);
        for (k, node) in self.nodes().iter().enumerate() {
            if k == value.0 {
                original = stays.then(|| graph.copy(node, &place));
                let label = if stays { format!("{}*", node.label) } else { node.label.clone() };
                let op = renamed(&node.op, &place);
                copy = graph.place(Node { label, op, since: stage_group, inlined: false });
                continue;
            }
            place[value.0] = original.filter(|_| !copies(k)).unwrap_or(copy);
            place[k] = graph.copy(node, &place);
        }
        place[value.0] = copy;
        graph.end_like(self, &place);
        graph
    }

    /// The stage groups that a copy of `value` may stand in with some use: those of what reads it, and all later ones where the next
    /// step does.
    pub(crate) fn clone_targets(&self, value: Value) -> Vec<usize> {
        if !matches!(self.node(value).op, Op::Lc { .. }) {
            return Vec::new();
        }
        let stage_groups = self.stage_groups();
        let last = stage_groups.iter().copied().max().unwrap_or(0);
        let pointwise = |k: &usize| {
            let node = &self.nodes()[*k];
            !matches!(node.op, Op::Rhs { .. }) && node.op.reads().contains(&value)
        };
        let readers = (0..stage_groups.len()).filter(pointwise).map(|k| stage_groups[k]);
        let carried = self.carries().iter().any(|(_, v)| *v == value);
        let next = if carried { stage_groups[value.0] + 1..last + 1 } else { 0..0 };
        let mut all: Vec<usize> =
            readers.chain(next).filter(|stage_group| *stage_group > stage_groups[value.0]).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Inlines linear combinations: each right-hand side that reads one of `values` computes it at every neighbour anew, from
    /// what it is made of, and the combination moves into that right-hand side's stage group. It need not be stored for the
    /// neighbours then, and what depends on nothing else needs no kernel. Each copy has the same bits, because it adds the
    /// same terms in the same order. It pays where what it is made of is read there anyway, or is little.
    ///
    /// # Panics
    /// When one of `values` is no linear combination.
    pub fn inline(&self, values: &[Value]) -> Graph {
        let mut graph = Graph::new(self.name());
        let place: Vec<Value> = (0..self.nodes().len()).map(Value).collect();
        for (k, node) in self.nodes().iter().enumerate() {
            let inlined = values.contains(&Value(k));
            assert!(!inlined || matches!(node.op, Op::Lc { .. }), "only linear combinations are inlined");
            graph.place(Node { inlined: node.inlined || inlined, ..node.clone() });
        }
        graph.end_like(self, &place);
        graph
    }

    /// Stage recovery: linear combinations read the stages, which are in memory for their neighbours anyway, in place of
    /// right-hand sides of earlier stage groups, which then need no place: h F_j = (X_(j+1) - y - ...) / a. Sums are rounded
    /// differently from those of the graph itself; the weights of the stages say by how much rounding errors grow, and a
    /// right-hand side for which their magnitudes add up to more than `limit` is kept. So are those that share their stage group
    /// with others or enter no stage there.
    pub fn recover_stages(&self, limit: f64) -> Graph {
        // Coefficients that are not known cannot be divided by.
        if self.step_arguments() > 0 {
            return self.clone();
        }
        let stage_groups = self.stage_groups();
        let is_rhs = |v: Value| matches!(self.node(v).op, Op::Rhs { .. });
        let arguments: Vec<Value> =
            self.nodes().iter().filter_map(|n| if let Op::Rhs { x, .. } = n.op { Some(x) } else { None }).collect();
        let mut forms: BTreeMap<Value, Form> = BTreeMap::new();
        for f in (0..stage_groups.len()).map(Value).filter(|v| is_rhs(*v)) {
            let alone = (0..stage_groups.len())
                .map(Value)
                .filter(|v| is_rhs(*v) && stage_groups[v.0] == stage_groups[f.0])
                .count()
                == 1;
            let stage = arguments.iter().filter(|x| stage_groups[x.0] == stage_groups[f.0] && alone).find_map(|x| {
                let Op::Lc { terms } = &self.node(*x).op else { return None };
                let own: Vec<_> = terms.iter().filter(|(_, v)| *v == f).collect();
                match own[..] {
                    [(Coefficient { value: a, power: 1, argument: None }, _)] => Some((*x, terms, *a)),
                    _ => None,
                }
            });
            let Some((x, terms, a)) = stage else { continue };
            let rest: Vec<_> = terms.iter().filter(|(_, v)| *v != f).copied().collect();
            let mut form = substituted(&rest, &forms, &|_| true);
            form.values_mut().for_each(|c| *c /= -a);
            form.insert((x, 0), 1.0 / a);
            if weight(&form) <= limit {
                forms.insert(f, form);
            }
        }
        let mut graph = Graph::new(self.name());
        let mut place = vec![Value(usize::MAX); stage_groups.len()];
        for (k, node) in self.nodes().iter().enumerate() {
            let op = match &node.op {
                Op::Lc { terms }
                    if terms.iter().any(|(_, v)| stage_groups[v.0] < stage_groups[k] && forms.contains_key(v)) =>
                {
                    let form = substituted(terms, &forms, &|v| stage_groups[v.0] < stage_groups[k]);
                    // In the order of stage groups, so that they can be split.
                    let mut terms: Vec<_> = form.into_iter().collect();
                    terms.sort_by_key(|((v, power), _)| (stage_groups[v.0], *v, *power));
                    let term = |((v, power), value): ((Value, u32), f64)| {
                        (Coefficient { value, power, argument: None }, place[v.0])
                    };
                    Op::Lc { terms: terms.into_iter().map(term).collect() }
                }
                op => renamed(op, &place),
            };
            place[k] = graph.place(Node { op, ..node.clone() });
        }
        graph.end_like(self, &place);
        graph
    }

    /// By how much a linear combination enlarges rounding errors of the vectors that it reads, those multiplied by h left out:
    /// the largest sum of the magnitudes of its weights. 1 for Runge-Kutta methods as they are written.
    pub fn weight(&self) -> f64 {
        let of = |op: &Op| match op {
            Op::Lc { terms } => terms.iter().filter(|(c, _)| c.power == 0).map(|(c, _)| c.value.abs()).sum(),
            _ => 0.0,
        };
        self.nodes().iter().map(|n| of(&n.op)).fold(0.0, f64::max)
    }
}

fn weight(form: &Form) -> f64 {
    form.iter().filter(|((_, power), _)| *power == 0).map(|(_, c)| c.abs()).sum()
}

/// Terms with the right-hand sides that have a form, and for which `when` holds, replaced by it; what cancels is left out.
fn substituted(terms: &[(Coefficient, Value)], forms: &BTreeMap<Value, Form>, when: &dyn Fn(Value) -> bool) -> Form {
    let (mut sums, mut sizes) = (Form::new(), Form::new());
    let mut add = |key: (Value, u32), c: f64| {
        *sums.entry(key).or_default() += c;
        *sizes.entry(key).or_default() += c.abs();
    };
    for (c, v) in terms {
        match forms.get(v).filter(|_| c.power > 0 && when(*v)) {
            Some(form) => form.iter().for_each(|((x, power), a)| add((*x, power + c.power - 1), c.value * a)),
            None => add((*v, c.power), c.value),
        }
    }
    sums.retain(|key, c| c.abs() > 8.0 * f64::EPSILON * sizes[key]);
    sums
}
