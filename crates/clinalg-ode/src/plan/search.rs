//! The search for the fused plan that moves the fewest words: where linear combinations are split, cloned and inlined.

use crate::method::graph::{Graph, Value};
use crate::plan::fusion::Plan;

/// Where linear combinations are split, by their numbers, and which are inlined.
#[derive(Debug, Clone)]
struct Mix {
    starts: Vec<usize>,
    inlined: Vec<Value>,
}

impl Mix {
    fn plan(&self, graph: &Graph) -> Plan {
        let graph = graph.inline(&self.inlined);
        let starts: Vec<usize> = graph.splittable().iter().map(|v| self.starts[v.0]).collect();
        Plan::fused(&graph, &starts)
    }

    /// Other mixes: one combination split elsewhere, one argument inlined or no longer; then both, because what is made of
    /// right-hand sides that are stored for a neighbour may as well be gathered.
    fn moves(&self, graph: &Graph, arguments: &[Value]) -> impl Iterator<Item = Mix> {
        let stage_groups = graph.stage_groups();
        let mut split = Vec::new();
        for v in graph.splittable() {
            let mut all: Vec<usize> =
                graph.node(v).op.reads().iter().map(|r| stage_groups[r.0]).filter(|l| *l > 0).collect();
            all.push(usize::MAX);
            all.dedup();
            for start in all.into_iter().filter(|start| *start != self.starts[v.0]) {
                let mut other = self.clone();
                other.starts[v.0] = start;
                split.push(other);
            }
        }
        let toggled = |mix: &Mix| -> Vec<Mix> {
            let toggle = |v: &Value| {
                let mut other = mix.clone();
                match mix.inlined.iter().position(|w| w == v) {
                    Some(k) => drop(other.inlined.remove(k)),
                    None => other.inlined.push(*v),
                }
                other
            };
            arguments.iter().map(toggle).collect()
        };
        let both: Vec<Mix> = split.iter().flat_map(toggled).collect();
        split.into_iter().chain(toggled(self)).chain(both)
    }
}

/// Choices of starts that are all tried; with more, the search goes downhill from both ends.
const EXHAUSTIVE: usize = 2000;

impl Plan {
    /// The transformations that lead to the fused schedule, each with its name and the fused schedule of the graph that it
    /// gives: every linear combination gathered in its own stage group, which is the method as it is written; every right-hand side
    /// scattered to its sums as soon as it is known; the mix that moves the fewest words; linear combinations cloned; and
    /// those inlined for which that saves words.
    pub fn transformations(graph: &Graph) -> Vec<(&'static str, Plan)> {
        let mixed = Plan::mixed(graph);
        let cloned = mixed.clone().cloned();
        vec![
            ("gathered", Plan::gather(graph)),
            ("scattered", Plan::scatter(graph)),
            ("mixed", mixed),
            ("cloned", cloned),
            ("inlined", Plan::inlined(graph, &|plan| plan.words() as f64)),
        ]
    }

    /// The fused schedule that gathers every linear combination in its own stage group.
    pub fn gather(graph: &Graph) -> Plan {
        Plan::fused(graph, &vec![usize::MAX; graph.splittable().len()])
    }

    /// The fused schedule that adds every right-hand side to all its sums as soon as it is known.
    pub fn scatter(graph: &Graph) -> Plan {
        Plan::fused(graph, &vec![0; graph.splittable().len()])
    }

    /// The fused schedule that moves the fewest words.
    pub(super) fn best(graph: &Graph) -> Plan {
        Plan::mixed(graph).cloned()
    }

    /// The mix of gathering and scattering that moves the fewest words.
    pub(super) fn mixed(graph: &Graph) -> Plan {
        Plan::search(graph, &|plan: &Plan| (plan.words(), plan.buffers))
    }

    /// The fused schedule with linear combinations cloned into later stage groups for as long as that saves words.
    fn cloned(self) -> Plan {
        let mut best = self;
        loop {
            let graph = &best.graph;
            let all = (0..graph.nodes().len()).map(Value).flat_map(|v| {
                graph
                    .clone_targets(v)
                    .into_iter()
                    .map(move |stage_group| Plan::per_stage_group(graph.clone_into(v, stage_group)))
            });
            match all.min_by_key(|plan| (plan.words(), plan.buffers)) {
                Some(plan) if plan.words() < best.words() => best = plan,
                _ => return best,
            }
        }
    }

    /// The fused schedule that costs least as `price` says, with linear combinations inlined where that pays: the search goes
    /// downhill from the schedule without and from the one that gathers everything and inlines every argument.
    pub(crate) fn inlined(graph: &Graph, price: &dyn Fn(&Plan) -> f64) -> Plan {
        let cost = |plan: &Plan| (price(plan), plan.inlined_reads(), plan.buffers);
        let arguments = graph.arguments();
        let mut best = Plan::best(graph);
        let mut least = cost(&best);
        for all in [false, true] {
            let mut mix =
                Mix { starts: vec![if all { usize::MAX } else { 0 }; graph.nodes().len()], inlined: Vec::new() };
            if all {
                mix.inlined.clone_from(&arguments);
            }
            let mut here = cost(&mix.plan(graph));
            // Two changes at once only where none alone helps.
            loop {
                let better = mix.moves(graph, &arguments).into_iter().find_map(|other| {
                    let now = cost(&other.plan(graph));
                    (now < here).then_some((other, now))
                });
                match better {
                    Some(found) => (mix, here) = found,
                    None => break,
                }
            }
            let plan = mix.plan(graph).cloned();
            let now = cost(&plan);
            if now < least {
                (best, least) = (plan, now);
            }
        }
        best
    }

    /// The fused schedule for which `price` is least.
    pub(super) fn search(graph: &Graph, price: &dyn Fn(&Plan) -> (usize, usize)) -> Plan {
        let stage_groups = graph.stage_groups();
        // Stage groups in which a term of the combination is made, and its own, which means to gather it there.
        let choices: Vec<Vec<usize>> = graph
            .splittable()
            .iter()
            .map(|v| {
                let mut all: Vec<usize> = graph
                    .node(*v)
                    .op
                    .reads()
                    .iter()
                    .map(|r| stage_groups[r.0])
                    .filter(|l| *l > 0 && *l < stage_groups[v.0])
                    .collect();
                all.push(stage_groups[v.0]);
                all.sort_unstable();
                all.dedup();
                all
            })
            .collect();
        let plan = |at: &[usize]| Plan::fused(graph, &at.iter().zip(&choices).map(|(k, c)| c[*k]).collect::<Vec<_>>());
        let cost = |at: &[usize]| price(&plan(at));
        let count = choices.iter().fold(1_usize, |n, c| n.saturating_mul(c.len()));
        let mut best = vec![0; choices.len()];
        let mut least = cost(&best);
        if count <= EXHAUSTIVE {
            for number in 1..count {
                let mut rest = number;
                let at: Vec<usize> = choices
                    .iter()
                    .map(|c| {
                        let k = rest % c.len();
                        rest /= c.len();
                        k
                    })
                    .collect();
                let now = cost(&at);
                if now < least {
                    (best, least) = (at, now);
                }
            }
            return plan(&best);
        }
        for mut at in [best.clone(), choices.iter().map(|c| c.len() - 1).collect()] {
            let mut here = cost(&at);
            loop {
                let before = here;
                for m in 0..choices.len() {
                    for k in 0..choices[m].len() {
                        let mut other = at.clone();
                        other[m] = k;
                        let now = cost(&other);
                        if now < here {
                            (at, here) = (other, now);
                        }
                    }
                }
                if here == before {
                    break;
                }
            }
            if here < least {
                (best, least) = (at, here);
            }
        }
        plan(&best)
    }

    /// Vectors that right-hand sides read at neighbours beyond one each.
    fn inlined_reads(&self) -> usize {
        let nodes = self.groups.iter().flat_map(|g| &g.nodes);
        let inlined = nodes.filter(|v| self.graph.node(**v).inlined);
        inlined.map(|v| self.graph.node(*v).op.reads().len()).sum()
    }
}
