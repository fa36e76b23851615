//! The file `matlab/functionSignatures.json`, from which MATLAB completes calls: of the functions `Mex*` from the table, of `clinalg.*`
//! from their first lines and the names that they check, with the methods of classes.

use std::fmt::Write as _;
use std::path::Path;

use crate::args::Kind;
use crate::function::Function;
use crate::table::all;

/// An input: its name, MATLAB's word for how it is given, and its type.
fn input(name: &str, how: &str, kind: &str) -> String {
    let kind = if kind.is_empty() { String::new() } else { format!(", \"type\":{kind}") };
    format!("{{\"name\":\"{name}\", \"kind\":\"{how}\"{kind}}}")
}

fn entry(name: &str, inputs: &[String], outputs: &[&str]) -> String {
    let outputs: Vec<_> = outputs.iter().map(|name| format!("{{\"name\":\"{name}\"}}")).collect();
    let list = |items: &[String]| match items {
        [] => "[]".to_owned(),
        items => format!("[\n      {}\n    ]", items.join(",\n      ")),
    };
    format!("  \"{name}\":{{\n    \"inputs\":{},\n    \"outputs\":{}\n  }}", list(inputs), list(&outputs))
}

fn of_gateway(f: &Function) -> String {
    let kind = |kind: Kind| match kind {
        Kind::Runtime | Kind::Real | Kind::Number | Kind::Count => "[\"numeric\", \"scalar\"]",
        Kind::Handle | Kind::Object => "[\"uint64\", \"scalar\"]",
        Kind::Flag => "[[\"numeric\", \"scalar\"], [\"logical\", \"scalar\"]]",
        Kind::Full | Kind::Array | Kind::Sparse | Kind::Matrix => "[[\"numeric\"], [\"logical\"]]",
        Kind::Text => "[[\"char\"], [\"string\", \"scalar\"]]",
        Kind::Device | Kind::TextOrHandle | Kind::Operand | Kind::Subscript | Kind::Assigned => "",
    };
    let how = |position: usize| if position < f.required { "required" } else { "ordered" };
    let inputs: Vec<_> =
        f.inputs.iter().enumerate().map(|(k, given)| input(given.name, how(k), kind(given.kind))).collect();
    entry(f.name, &inputs, f.outputs)
}

/// The texts between quotation marks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('\'').skip(1).step_by(2).collect()
}

/// The names that may be given in place of positions.
fn names(source: &str) -> Vec<String> {
    let after =
        |start: &str| source.split_once(start).and_then(|(_, rest)| rest.split_once(");")).map(|(call, _)| call);
    let list = |name: &str| source.split_once(&format!("\n{name} = {{")).and_then(|(_, rest)| rest.split_once('}'));
    let found = if let Some(call) = after("operands.solve(") {
        let mut found = quoted(call)[2..].to_vec();
        found.extend(["Preconditioner", "InitialGuess"]);
        found
    } else {
        let mut found = after("operands.arguments(").map_or_else(Vec::new, |call| quoted(call)[1..].to_vec());
        for name in ["own", "shared"] {
            found.extend(list(name).map_or_else(Vec::new, |(list, _)| quoted(list)));
        }
        found
    };
    found.into_iter().map(|name| name.trim_end_matches('*').to_owned()).collect()
}

/// The classes whose methods are called by name, on objects that other methods or constructors make.
const CLASSES: [&str; 4] = ["factor", "poisson", "team", "wave"];

fn words(text: &str) -> Vec<String> {
    text.split([',', ' ', '[', ']', ')']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The public methods of a class but for its constructor, operators and what displays or deletes an object. The object is the first input.
fn methods(class: &str, source: &str) -> Vec<String> {
    let mut entries = Vec::new();
    let mut public = false;
    for line in source.lines() {
        if line.starts_with("  methods") {
            public = line.trim() == "methods";
        }
        let Some((head, inputs)) = line.strip_prefix("    function ").and_then(|rest| rest.split_once('(')) else {
            continue;
        };
        let (outputs, name) = head.split_once('=').unwrap_or(("", head));
        let name = name.trim();
        if !public || name == class || ["delete", "disp", "mldivide", "size"].contains(&name) {
            continue;
        }
        let inputs: Vec<_> = words(inputs)
            .iter()
            .filter(|word| *word != "varargin")
            .enumerate()
            .map(|(k, word)| {
                let kind = if k == 0 { format!("[\"clinalg.{class}\"]") } else { String::new() };
                input(word.trim_end_matches('_'), if k == 0 { "required" } else { "ordered" }, &kind)
            })
            .collect();
        let outputs = words(outputs);
        let outputs: Vec<_> = outputs.iter().map(String::as_str).collect();
        entries.push(entry(&format!("clinalg.{class}.{name}"), &inputs, &outputs));
    }
    entries
}

/// The parts of `function [outputs] = name(inputs)`, in a class those of its constructor.
fn of_package(name: &str, source: &str) -> Option<String> {
    let first = match source.strip_prefix("classdef") {
        None => source.lines().next()?,
        Some(_) => source
            .lines()
            .map(str::trim)
            .find(|line| line.starts_with("function") && line.split(['=', '(']).any(|part| part.trim() == name))?,
    };
    let (head, inputs) = first.trim().strip_prefix("function ")?.split_once('(')?;
    let outputs = head.split_once('=').map_or("", |(outputs, _)| outputs);
    let required = source
        .split_once("if nargin < ")
        .and_then(|(_, rest)| rest.split_once('\n'))
        .map_or(0, |(count, _)| count.trim().parse().unwrap_or(0));
    let given = words(inputs);
    let mut inputs: Vec<_> = given
        .iter()
        .filter(|word| *word != "varargin")
        .enumerate()
        .map(|(k, word)| input(word.trim_end_matches('_'), if k < required { "required" } else { "ordered" }, ""))
        .collect();
    inputs.extend(names(source).iter().map(|name| input(name, "namevalue", "")));
    let outputs = words(outputs);
    let outputs: Vec<_> = outputs.iter().map(String::as_str).filter(|word| *word != "varargout").collect();
    Some(entry(&format!("clinalg.{name}"), &inputs, &outputs))
}

/// Compares the file with what is made; with `UPDATE_WRAPPERS=1` writes it.
#[test]
fn the_signatures_are_those_of_the_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../matlab");
    let mut entries: Vec<_> = all().iter().map(|f| of_gateway(f)).collect();
    let mut files: Vec<_> =
        std::fs::read_dir(folder.join("+clinalg")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        let source = std::fs::read_to_string(&file).unwrap();
        let name = file.file_stem().unwrap().to_str().unwrap();
        entries.extend(of_package(name, &source));
        if CLASSES.contains(&name) {
            entries.extend(methods(name, &source));
        }
    }
    entries.push(entry("gather", &[input("a", "required", "")], &["x"]));
    let mut text = "{\n  \"_schemaVersion\":\"1.0.0\",\n".to_owned();
    let _ = writeln!(text, "{}\n}}", entries.join(",\n"));
    let path = folder.join("functionSignatures.json");
    if std::env::var_os("UPDATE_WRAPPERS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "functionSignatures.json differs; UPDATE_WRAPPERS=1 cargo test -p clinalg-mex writes it");
    for expected in [
        "\"name\":\"Tolerance\", \"kind\":\"namevalue\"",
        "\"clinalg.wave\":",
        "\"name\":\"RelTol\"",
        "\"name\":\"Adaptive\"",
        "\"clinalg.poisson.solve\":",
        "\"clinalg.team.gmres\":",
        "\"gather\":",
    ] {
        assert!(found.contains(expected), "{expected}");
    }
}
