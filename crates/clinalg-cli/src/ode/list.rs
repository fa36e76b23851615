//! `clinalg ode --list`.

use clinalg_ode::problems::{self, PROBLEMS};
use clinalg_ode::{METHODS, Method, Plan, Variant};
use schemars::JsonSchema;
use serde::Serialize;

use super::{default_n, variants};
use crate::exit::{Exit, Failure};
use crate::output::Output;

#[derive(Serialize, JsonSchema)]
struct ListedProblem {
    name: &'static str,
    title: String,
    n: usize,
    components: usize,
    access_distance: usize,
    t_end: f64,
}

#[derive(Serialize, JsonSchema)]
struct ListedMethod {
    name: &'static str,
    order: usize,
    error_order: Option<usize>,
    rhs_evaluations_per_step: usize,
    words_basic: usize,
    words_fused: usize,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Document {
    problems: Vec<ListedProblem>,
    methods: Vec<ListedMethod>,
    variants: Vec<&'static str>,
}

pub(super) fn list(out: &mut Output) -> Result<Exit, Failure> {
    let problem = |name: &&'static str| {
        let n = default_n(name);
        let p = problems::problem(name, n)?;
        let (components, access_distance) = (p.system.components(), p.system.access_distance());
        Ok(ListedProblem { name, title: p.title, n, components, access_distance, t_end: p.t_end })
    };
    let problems = PROBLEMS.iter().map(problem).collect::<Result<Vec<_>, Failure>>()?;
    let method = |name: &&'static str| {
        let method = Method::named(name)?;
        let words = |variant| Plan::new(method.graph(), variant).words();
        Ok(ListedMethod {
            name,
            order: method.order(),
            error_order: method.error_order(),
            rhs_evaluations_per_step: method.graph().rhs_count(),
            words_basic: words(Variant::Basic),
            words_fused: words(Variant::Fused),
        })
    };
    let methods = METHODS.iter().map(method).collect::<Result<Vec<_>, Failure>>()?;
    let columns = ["problem", ">n", ">components", ">t end", ""];
    let rows: Vec<Vec<String>> = (problems.iter())
        .map(|p| vec![p.name.into(), p.n.to_string(), p.components.to_string(), p.t_end.to_string(), p.title.clone()])
        .collect();
    out.table(&columns, rows)?;
    out.line("")?;
    let columns = ["method", ">order", ">estimate", ">evaluations", ">words basic", ">words fused"];
    let rows: Vec<Vec<String>> = (methods.iter())
        .map(|m| {
            let estimate = m.error_order.map_or("-".into(), |order| order.to_string());
            let numbers = [m.rhs_evaluations_per_step, m.words_basic, m.words_fused].map(|v| v.to_string());
            [vec![m.name.into(), m.order.to_string(), estimate], numbers.to_vec()].concat()
        })
        .collect();
    out.table(&columns, rows)?;
    out.line("")?;
    out.line("rkc: the stabilised method of order 2, with as many evaluations as stability requires.")?;
    out.line("n: the default of --n. estimate: the order of the error estimate; methods without one need")?;
    out.line("--h. evaluations: of the right-hand side per step. words: read and written per component and step.")?;
    out.json(&Document { problems, methods, variants: variants() })?;
    Ok(Exit::Done)
}
