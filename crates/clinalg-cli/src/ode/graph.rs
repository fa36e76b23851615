//! `clinalg ode --graph`.

use std::path::Path;

use clinalg_ode::{Method, Plan, Variant};
use schemars::JsonSchema;
use serde::Serialize;

use super::Args;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::paths::{check_folder, create_folder, write_file};

/// A method's data flow after a transformation.
#[derive(Serialize, JsonSchema)]
struct Transformed {
    name: &'static str,
    kernels: usize,
    words: usize,
    vectors: usize,
    weight: f64,
    files: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Document {
    method: String,
    transformations: Vec<Transformed>,
}

/// Draws the method's data flow before and after each transformation.
pub(super) fn draw(args: &Args, folder: &Path, out: &mut Output) -> Result<Exit, Failure> {
    let method = Method::named(&args.method)?;
    let graph = args.method()?.graph().clone();
    check_folder(folder)?;
    create_folder(folder)?;
    let mut all = vec![("basic", Plan::new(method.graph(), Variant::Basic))];
    if args.recover_stages {
        all.push(("recovered", Plan::new(&graph, Variant::Basic)));
    }
    all.extend(Plan::transformations(&graph));
    let mut transformations = Vec::new();
    for (k, (name, plan)) in all.into_iter().enumerate() {
        let mut files = Vec::new();
        let drawn = plan.graph();
        for (ending, text) in [("txt", plan.explain()), ("dot", drawn.to_dot()), ("svg", drawn.to_svg())] {
            let path = folder.join(format!("{}-{k}-{name}.{ending}", method.name()));
            write_file(&path, text.as_bytes())?;
            files.push(path.display().to_string());
        }
        let (kernels, words, vectors) = (plan.groups().len(), plan.words(), plan.buffers());
        transformations.push(Transformed { name, kernels, words, vectors, weight: drawn.weight(), files });
    }
    let columns = ["", ">kernels", ">words", ">vectors", ">weight", "files"];
    let row = |t: &Transformed| {
        let numbers = [t.kernels, t.words, t.vectors].map(|n| n.to_string());
        let first = t.files.first().map(|f| f.replace(".txt", ".*")).unwrap_or_default();
        [vec![t.name.to_owned()], numbers.to_vec(), vec![format!("{:.1}", t.weight), first]].concat()
    };
    out.table(&columns, transformations.iter().map(row))?;
    out.line("")?;
    out.line("words: read and written per component and step. vectors: in memory. weight: by how much sums")?;
    out.line("amplify the rounding errors of their operands.")?;
    out.json(&Document { method: method.name().to_owned(), transformations })?;
    Ok(Exit::Done)
}
