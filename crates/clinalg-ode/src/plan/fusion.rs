//! Schedules of a graph: which operations make a kernel, what each kernel reads and writes, and where vectors stand.
//!
//! Kernels are counted in words: one element of one vector read or written, per component and step; neighbours count
//! once. That is the traffic to memory where vectors do not fit the caches.

use crate::method::graph::{Graph, Op, Value};
use crate::plan::group::Group;
use crate::plan::variant::Variant;

/// A schedule of one step.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    variant: Variant,
    pub(super) graph: Graph,
    pub(super) groups: Vec<Group>,
    place: Vec<Option<usize>>,
    pub(super) buffers: usize,
}

impl Plan {
    /// The schedule of a graph.
    ///
    /// # Panics
    /// For [`Variant::Auto`], which is no schedule.
    pub fn new(graph: &Graph, variant: Variant) -> Plan {
        match variant {
            Variant::Auto => panic!("which variant runs is not decided"),
            Variant::Basic => {
                let nodes = (0..graph.nodes().len()).map(Value).filter(|v| graph.node(*v).op != Op::Input);
                Plan::of(graph.clone(), variant, nodes.map(|v| vec![v]).collect())
            }
            Variant::Fused => Plan::best(graph),
            Variant::Wavefront => Plan::wavefront(graph, 1),
            _ => Plan::tiled(graph, variant, 1, usize::MAX),
        }
    }

    /// The schedule of `steps` steps with at most `most` stage groups in a kernel, cut where the fewest words are moved.
    ///
    /// # Panics
    /// When `steps` or `most` is 0, or for a variant whose kernels compute one stage group at most.
    pub fn tiled(graph: &Graph, variant: Variant, steps: usize, most: usize) -> Plan {
        assert!(steps > 0 && most > 0 && variant.joins_stage_groups(), "steps and stage groups of a tiled variant");
        // Values that wait for a later stage group occupy registers, as many as stage groups lie between.
        let waiting = |plan: &Plan| (plan.waits(), plan.buffers);
        let one = Plan::search(graph, &waiting).graph;
        let graph = if steps > 1 { one.repeat(steps) } else { one };
        let stage_groups = graph.stage_groups();
        let last = stage_groups.iter().copied().max().unwrap_or(0);
        let mut until = vec![0; graph.nodes().len()];
        for (k, node) in graph.nodes().iter().enumerate() {
            for r in node.op.reads() {
                until[r.0] = until[r.0].max(stage_groups[k]);
            }
        }
        for (input, value) in graph.carries() {
            until[value.0] = usize::MAX;
            until[input.0] = usize::MAX;
        }
        let reads_in = |v: usize, a: usize, b: usize| {
            let node = |k: &usize| {
                stage_groups[*k] > a && stage_groups[*k] <= b && graph.nodes()[*k].op.reads().contains(&Value(v))
            };
            (0..stage_groups.len()).any(|k| node(&k))
        };
        // Words of a kernel with the stage groups after a up to b; what needs no right-hand side goes with the first.
        let words = |a: usize, b: usize| {
            let made =
                |v: usize| stage_groups[v] > a && stage_groups[v] <= b && (a > 0 || graph.nodes()[v].op != Op::Input);
            let read = (0..stage_groups.len()).filter(|v| stage_groups[*v] <= a && reads_in(*v, a, b)).count();
            read + (0..stage_groups.len()).filter(|v| made(*v) && until[*v] > b).count()
        };
        // Fewest words up to each stage group, with the cut before.
        let mut least = vec![(0, 0)];
        for b in 1..=last {
            let from = b.saturating_sub(most);
            let best = (from..b).map(|a| (least[a].0 + words(a, b), a)).min().expect("there is a stage group before");
            least.push(best);
        }
        let mut cuts = vec![last];
        while let Some(&b) = cuts.last().filter(|b| **b > 0) {
            cuts.push(least[b].1);
        }
        cuts.reverse();
        let nodes = (0..graph.nodes().len()).map(Value).filter(|v| graph.node(*v).op != Op::Input);
        let nodes: Vec<Value> = nodes.collect();
        let groups = cuts.windows(2).map(|ab| {
            let inside = |v: &&Value| stage_groups[v.0] <= ab[1] && (stage_groups[v.0] > ab[0] || ab[0] == 0);
            let mut group: Vec<Value> = nodes.iter().filter(inside).copied().collect();
            group.sort_by_key(|v| stage_groups[v.0]);
            group
        });
        let groups = groups.collect();
        Plan::of(graph, variant, groups)
    }

    /// Most values that a point of a tile keeps from one stage group of the group to the next.
    pub(crate) fn waiting(&self, group: &Group) -> usize {
        let stage_groups = self.graph.stage_groups();
        let mut until = stage_groups.clone();
        for v in &group.nodes {
            for r in self.graph.node(*v).op.reads() {
                until[r.0] = until[r.0].max(stage_groups[v.0]);
            }
        }
        let all: Vec<Value> = group.nodes.iter().chain(&group.reads).copied().collect();
        let first = group.nodes.iter().map(|v| stage_groups[v.0]).min().unwrap_or(0);
        let last = group.nodes.iter().map(|v| stage_groups[v.0]).max().unwrap_or(0);
        let kept = |stage_group: usize| {
            all.iter().filter(|v| stage_groups[v.0] <= stage_group && until[v.0] > stage_group).count()
        };
        (first..last).map(kept).max().unwrap_or(1)
    }

    /// Stage groups that values wait for their later uses, over all values.
    fn waits(&self) -> usize {
        let stage_groups = self.graph.stage_groups();
        let mut until = stage_groups.clone();
        for (k, node) in self.graph.nodes().iter().enumerate() {
            for r in node.op.reads() {
                until[r.0] = until[r.0].max(stage_groups[k]);
            }
        }
        until.iter().zip(&stage_groups).map(|(u, l)| u - l).sum()
    }

    /// The fused schedule whose linear combinations are split from the stage groups `starts` on, one for each of
    /// [`Graph::splittable`]; a combination with a start at or after its own stage group is gathered there.
    pub fn fused(graph: &Graph, starts: &[usize]) -> Plan {
        Plan::per_stage_group(graph.split(starts))
    }

    /// The fused schedule of a graph as it is: a kernel for each stage group.
    pub fn per_stage_group(graph: Graph) -> Plan {
        Plan::by_stage_groups(graph, Variant::Fused)
    }

    /// The fused schedule of `steps` steps in a row.
    ///
    /// # Panics
    /// When `steps` is 0.
    pub fn wavefront(graph: &Graph, steps: usize) -> Plan {
        assert!(steps > 0, "steps of a wavefront");
        let one = Plan::mixed(graph).graph;
        Plan::by_stage_groups(if steps > 1 { one.repeat(steps) } else { one }, Variant::Wavefront)
    }

    /// One kernel for each stage group.
    fn by_stage_groups(graph: Graph, variant: Variant) -> Plan {
        let stage_groups = graph.stage_groups();
        let last = stage_groups.iter().copied().max().unwrap_or(0);
        let of = |stage_group: usize| {
            let nodes = (0..graph.nodes().len()).map(Value).filter(|v| graph.node(*v).op != Op::Input);
            nodes.filter(|v| stage_groups[v.0] == stage_group).collect::<Vec<_>>()
        };
        let groups = (0..=last).map(of).filter(|nodes| !nodes.is_empty()).collect();
        Plan::of(graph, variant, groups)
    }

    fn of(graph: Graph, variant: Variant, groups: Vec<Vec<Value>>) -> Plan {
        let n = graph.nodes().len();
        let stage_groups = graph.stage_groups();
        let mut made = vec![usize::MAX; n];
        let mut last_read = vec![0; n];
        for (g, nodes) in groups.iter().enumerate() {
            for v in nodes {
                made[v.0] = g;
            }
        }
        for (g, nodes) in groups.iter().enumerate() {
            for r in nodes.iter().flat_map(|v| graph.node(*v).op.reads()) {
                if made[r.0] != g {
                    last_read[r.0] = g;
                }
            }
        }
        for (input, value) in graph.carries() {
            last_read[input.0] = usize::MAX;
            last_read[value.0] = usize::MAX;
        }
        let groups: Vec<Group> = groups
            .into_iter()
            .enumerate()
            .map(|(g, nodes)| {
                let mut reads: Vec<Value> =
                    nodes.iter().flat_map(|v| graph.node(*v).op.reads()).filter(|r| made[r.0] != g).collect();
                reads.sort_unstable();
                reads.dedup();
                let writes: Vec<Value> = nodes.iter().copied().filter(|v| last_read[v.0] > g).collect();
                let handed = |v: &Value| {
                    let mut later = nodes.iter().filter(|k| stage_groups[k.0] > stage_groups[v.0]);
                    let read = |k: &Value| match (&graph.node(*k).op, variant) {
                        (Op::Rhs { x, .. }, _) => x == v,
                        (_, Variant::Cooperative) => false,
                        (op, _) => op.reads().contains(v),
                    };
                    !writes.contains(v) && later.any(read)
                };
                let hands = matches!(variant, Variant::Trapezoidal | Variant::Hexagonal | Variant::Cooperative);
                let saved = nodes.iter().copied().filter(|v| hands && handed(v)).collect();
                Group { nodes, reads, writes, saved }
            })
            .collect();
        // The buffers of vectors that are no longer needed are reused; that of a vector read at neighbours only
        // after its kernel. Inputs keep theirs, so that a rejected step can be tried again.
        let mut place = vec![None; n];
        let mut buffers = 0;
        for input in graph.inputs() {
            place[input.0] = Some(buffers);
            buffers += 1;
        }
        let mut free: Vec<usize> = Vec::new();
        for (g, group) in groups.iter().enumerate() {
            // Tiles read with a margin that other tiles write.
            let stencil = |v: &Value| {
                let neighbours = |k: &Value| graph.neighbours(&graph.node(*k).op).contains(v);
                variant.joins_stage_groups() || group.nodes.iter().any(neighbours)
            };
            let (after, now): (Vec<_>, Vec<_>) =
                group.reads.iter().filter(|v| last_read[v.0] == g).partition(|v| stencil(v));
            // A sum takes the place of one of its terms. A right-hand side does not take the place of what its kernel reads:
            // it may be known before that has arrived, and the store would wait.
            let mut now: Vec<usize> = now.iter().filter_map(|v: &&Value| place[v.0]).collect();
            for v in group.writes.iter().chain(&group.saved) {
                let terms = match graph.node(*v).op {
                    Op::Lc { .. } => graph.node(*v).op.reads(),
                    _ => Vec::new(),
                };
                let own = now.iter().position(|b| terms.iter().any(|r| place[r.0] == Some(*b)));
                let kept = own.map(|k| now.swap_remove(k)).or_else(|| free.pop());
                place[v.0] = Some(kept.unwrap_or_else(|| {
                    buffers += 1;
                    buffers - 1
                }));
            }
            free.extend(now);
            free.extend(after.iter().filter_map(|v: &&Value| place[v.0]));
            free.extend(group.saved.iter().filter_map(|v| place[v.0]));
        }
        Plan { variant, graph, groups, place, buffers }
    }

    /// The variant.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The graph scheduled, after its linear combinations were split.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The kernels, in their order.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Vectors that a step needs memory for, the inputs counted.
    pub fn buffers(&self) -> usize {
        self.buffers
    }

    /// The buffer of a vector; `None` for what is never stored.
    pub(crate) fn place(&self, value: Value) -> Option<usize> {
        self.place[value.0]
    }

    /// Words moved per component and step.
    pub fn words(&self) -> usize {
        self.groups.iter().map(|g| g.reads.len() + g.writes.len()).sum()
    }

    /// A description of kernels, words moved and memory.
    pub fn explain(&self) -> String {
        let names = |all: &[Value]| match all {
            [] => "nothing".to_owned(),
            all => all.iter().map(|v| self.graph.node(*v).label.as_str()).collect::<Vec<_>>().join(", "),
        };
        let mut text = format!(
            "{} {:?}: {} kernels, {} words moved per component and step, {} vectors in memory\n",
            self.graph.name(),
            self.variant,
            self.groups.len(),
            self.words(),
            self.buffers
        );
        for (k, group) in self.groups.iter().enumerate() {
            text.push_str(&format!(
                "kernel {}: reads {}; writes {}\n",
                k + 1,
                names(&group.reads),
                names(&group.writes)
            ));
            for v in &group.nodes {
                let node = self.graph.node(*v);
                text.push_str(&format!("    {} = {}\n", node.label, self.graph.formula(node)));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{METHODS, Method};

    fn words(name: &str) -> [usize; 4] {
        let method = Method::named(name).unwrap();
        let g = method.graph();
        let basic = Plan::new(g, Variant::Basic).words();
        [basic, Plan::gather(g).words(), Plan::scatter(g).words(), Plan::new(g, Variant::Fused).words()]
    }

    #[test]
    fn words_of_the_model() {
        // Counted by hand for the classical method: 4 right-hand sides of 2, stages of 3, the sum of 6; fused 3 + 5 + 5 + 3.
        assert_eq!(words("rk4"), [23, 17, 16, 16]);
        assert_eq!(words("rk38"), [26, 20, 20, 17]);
        // The solution of order 4 is complete a stage group before the estimate and is read again there.
        assert_eq!(words("rkf45"), [52, 37, 48, 33]);
        // Six stage groups that read four stages and y and write four, the first from one vector, the sum at the end.
        let pirk = words("pirk-radau-iia-7");
        assert_eq!((pirk[0], pirk[3]), (188, 56));
        assert_eq!(words("peer4")[3], 8);
        for name in METHODS {
            let w = words(name);
            println!("{name}: {w:?}");
            assert!(w[3] <= w[1] && w[3] <= w[2] && w[3] < w[0] || name == "euler", "{name}: {w:?}");
        }
    }

    #[test]
    fn the_worked_example() {
        // Stage groups of the classical method: 3 + 5 + 5 + 3 words, where sums are scattered.
        let method = Method::named("rk4").unwrap();
        let plan = Plan::new(method.graph(), Variant::Fused);
        let words: Vec<_> = plan.groups().iter().map(|g| (g.reads.len(), g.writes.len())).collect();
        assert_eq!(words, [(1, 2), (3, 2), (3, 2), (2, 1)]);
        // Recovered: only stages are stored, 2 + 3 + 3 + 5 words.
        let recovered = method.with_stage_recovery();
        let plan = Plan::gather(recovered.graph());
        let words: Vec<_> = plan.groups().iter().map(|g| (g.reads.len(), g.writes.len())).collect();
        assert_eq!(words, [(1, 1), (2, 1), (2, 1), (4, 1)]);
        let text = recovered.graph().to_text();
        // y' = (-y + X2 + 2 X3 + X4) / 3 + h F4 / 6.
        let last = text.lines().find(|l| l.contains("y' =")).unwrap();
        let numbers: Vec<f64> = last.split_whitespace().filter_map(|w| w.parse().ok()).skip(1).collect();
        let expected = [-1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0];
        assert_eq!(numbers.len(), 5, "{last}");
        assert!(numbers.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{last}");
    }

    #[test]
    fn words_of_transformed_graphs() {
        for name in METHODS {
            let method = Method::named(name).unwrap();
            let all = Plan::transformations(method.graph());
            let words: Vec<_> = all.iter().map(|(_, plan)| plan.words()).collect();
            let recovered = method.with_stage_recovery();
            let after: Vec<_> = Plan::transformations(recovered.graph()).iter().map(|(_, plan)| plan.words()).collect();
            println!("{name}: {words:?}, recovered {after:?}, weight {:.1}", recovered.graph().weight());
            assert!(words[2] <= words[0].min(words[1]) && words[3] <= words[2], "{name}");
            // What the kernels compute, clones counted, is one kernel a stage group and the same operations.
            assert_eq!(all[3].1.groups().len(), all[0].1.groups().len(), "{name}");
        }
        let recovered = |name: &str| {
            let method = Method::named(name).unwrap().with_stage_recovery();
            Plan::new(method.graph(), Variant::Fused).words()
        };
        // By hand for dopri54: stage groups read y and the stages so far and write one, 2 + 3 + 4 + 5 + 6 + 7 + 7; published counts
        // without the shared last stage are 35, and 39 without recovery.
        assert!(recovered("dopri54") <= 34);
        assert_eq!(recovered("rk4"), 13);
    }

    #[test]
    fn words_of_inlined_graphs() {
        let inlined = |name: &str| {
            let method = Method::named(name).unwrap();
            (Plan::new(method.graph(), Variant::Fused), Plan::inlined(method.graph(), &|plan| plan.words() as f64))
        };
        for name in METHODS {
            let (fused, plan) = inlined(name);
            println!("{name}: {} {} {}", fused.words(), plan.words(), plan.explain());
            assert!(plan.words() <= fused.words() && plan.groups().len() <= fused.groups().len(), "{name}");
        }
        // By hand: the classical method stores its four right-hand sides but the last, and reads them with y at the end,
        // 2 + 3 + 3 + 5; so does the 3/8 rule with sums of those so far.
        assert_eq!((inlined("rk4").1.words(), inlined("rk38").1.words()), (13, 13));
        // By hand, with what a kernel reads and writes: 1 + 1, 2 + 3, 1 + 1, 2 + 1, 5 + 2, 1 + 1, and 6 + 1.
        assert!(inlined("dopri54").1.words() <= 28);
        // The inputs y and F1 of a method with a shared stage need no kernel before the first stage group.
        let method = Method::named("bs32").unwrap();
        let plan = Plan::inlined(method.graph(), &|plan| plan.words() as f64);
        assert!(plan.explain().contains(", at neighbours"), "{}", plan.explain());
    }

    #[test]
    fn no_kernel_writes_what_its_neighbours_read() {
        for name in METHODS {
            let method = Method::named(name).unwrap();
            let plans = [Variant::Basic, Variant::Fused].map(|variant| Plan::new(method.graph(), variant));
            for plan in plans.into_iter().chain([Plan::inlined(method.graph(), &|plan| plan.words() as f64)]) {
                for group in plan.groups() {
                    let written: Vec<_> = group.writes.iter().map(|v| plan.place(*v).unwrap()).collect();
                    for v in &group.nodes {
                        for x in plan.graph().neighbours(&plan.graph().node(*v).op) {
                            assert!(!written.contains(&plan.place(x).unwrap()), "{name}");
                        }
                    }
                    let mut distinct = written.clone();
                    distinct.sort_unstable();
                    distinct.dedup();
                    assert_eq!(distinct.len(), written.len(), "{name}");
                    // Inputs are whole until the step is taken.
                    assert!(written.iter().all(|b| *b >= plan.graph().inputs().len()), "{name}");
                }
            }
        }
    }

    #[test]
    fn drawings_show_every_node_and_edge() {
        for name in METHODS {
            let method = Method::named(name).unwrap();
            let transformed = Plan::transformations(method.graph()).into_iter().map(|(_, plan)| plan.graph().clone());
            for graph in transformed.chain([method.graph().clone(), method.with_stage_recovery().graph().clone()]) {
                let edges: usize = graph.nodes().iter().map(|n| n.op.reads().len()).sum();
                let dot = graph.to_dot();
                assert_eq!(dot.matches(" -> ").count(), edges + graph.carries().len(), "{name}");
                assert_eq!(dot.matches("fillcolor").count(), graph.nodes().len(), "{name}");
                assert_eq!(dot.matches('{').count(), dot.matches('}').count());
                let svg = graph.to_svg();
                assert_eq!(svg.matches("<path").count(), edges, "{name}");
                assert_eq!(svg.matches("<text").count(), graph.nodes().len(), "{name}");
                assert!(!svg.contains("NaN"));
            }
        }
    }
}
