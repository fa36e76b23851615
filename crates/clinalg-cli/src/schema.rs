//! `clinalg schema`: JSON Schemas of what `--json` prints.

use clap::ValueEnum;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::Value;
use toml::Table;

use crate::args::value_name;
use crate::document::{self, schema};
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::{bench, cache, doctor, elastodynamics, heat_bem, ode, poisson, solve, tune, wave, waveform};

/// What the keys mean: a table for each document or command, and one for all.
const KEYS: &str = include_str!("schema/keys.toml");

/// Print the JSON Schema of what a command prints with --json, which says what each key means
///
/// Every document has the key schema_version, which increases when a key changes its meaning or is removed; new keys do not increase it. Only
/// `devices` prints a list, whose objects have no such key.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  clinalg schema poisson > poisson.schema.json
  clinalg schema ode-compare                 the document of `clinalg ode --compare --json`")]
pub(crate) struct Args {
    /// The command, with the option that chooses another document
    #[arg(value_enum)]
    document: Document,
}

/// Documents that are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Document {
    Devices,
    Doctor,
    Poisson,
    Wave,
    /// `wave --points`
    WavePoints,
    Waveform,
    /// `waveform --study blocks` or `sizes`
    WaveformStudy,
    /// `waveform --study devices`
    WaveformDevices,
    /// `waveform --study network`
    WaveformNetwork,
    HeatBem,
    Elastodynamics,
    Ode,
    /// `ode --list`
    OdeList,
    /// `ode --graph`
    OdeGraph,
    /// `ode --compare`
    OdeCompare,
    Solve,
    Bench,
    /// `bench --devices`
    BenchDevices,
    /// `bench --predict`
    BenchPredict,
    Tune,
    Cache,
    /// What a failing command prints
    Error,
}

impl Document {
    fn schema(self) -> Schema {
        match self {
            Document::Devices => document::schema_of_list::<Vec<document::DeviceInfo>>(),
            Document::Doctor => schema::<doctor::Document>(),
            Document::Poisson => schema::<poisson::Document>(),
            Document::Wave => schema::<wave::Document<wave::Square>>(),
            Document::WavePoints => schema::<wave::Document<wave::Boxed>>(),
            Document::Waveform => schema::<waveform::Document>(),
            Document::WaveformStudy => schema::<waveform::StudyDocument>(),
            Document::WaveformDevices => schema::<waveform::DevicesDocument>(),
            Document::WaveformNetwork => schema::<waveform::NetworkDocument>(),
            Document::HeatBem => schema::<heat_bem::Document>(),
            Document::Elastodynamics => schema::<elastodynamics::Document>(),
            Document::Ode => schema::<ode::Document>(),
            Document::OdeList => schema::<ode::ListDocument>(),
            Document::OdeGraph => schema::<ode::GraphDocument>(),
            Document::OdeCompare => schema::<ode::CompareDocument>(),
            Document::Solve => schema::<solve::Document>(),
            Document::Bench => schema::<bench::Document>(),
            Document::BenchDevices => schema::<bench::DevicesDocument>(),
            Document::BenchPredict => schema::<bench::PredictDocument>(),
            Document::Tune => schema::<tune::Document>(),
            Document::Cache => schema::<cache::Document>(),
            Document::Error => schema::<Failed>(),
        }
    }
}

/// Adds a description to each key that has none.
struct Described<'a>(Vec<&'a Table>);

impl<'a> Described<'a> {
    /// The tables of a document, its own first.
    fn new(name: &str, keys: &'a Table) -> Described<'a> {
        let command = name.split('-').next().unwrap_or(name);
        Described([name, command, "all"].iter().filter_map(|table| keys.get(*table)?.as_table()).collect())
    }
}

impl Transform for Described<'_> {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            for (key, property) in properties {
                let about = self.0.iter().find_map(|table| table.get(key)?.as_str());
                if let (Value::Object(property), Some(about)) = (property, about) {
                    property.entry("description").or_insert_with(|| about.into());
                }
            }
        }
        transform_subschemas(self, schema);
    }
}

/// The schema of a document with a description of each key.
fn described(document: Document) -> Schema {
    let keys: Table = KEYS.parse().expect("the table of keys is TOML");
    let mut schema = document.schema();
    Described::new(&value_name(&document), &keys).transform(&mut schema);
    schema
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let mut schema = described(args.document);
    let name = value_name(&args.document);
    let title = match args.document {
        Document::HeatBem => "heat-bem".into(),
        Document::WaveformDevices | Document::WaveformNetwork => name.replacen('-', " --study ", 1),
        _ => name.replacen('-', " --", 1),
    };
    schema.insert("title".into(), Value::String(format!("clinalg {title}")));
    let text = serde_json::to_string_pretty(&schema).map_err(|error| Failure::Stdout(error.into()))?;
    out.raw(format!("{text}\n").as_bytes())?;
    Ok(Exit::Done)
}

/// What a failing command prints.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only described")]
struct Failed {
    error: FailedError,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only described")]
struct FailedError {
    /// Such as `clinalg:file:format`
    id: String,
    message: String,
    /// As `clinalg --help` lists them
    exit_code: u8,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Every key in the schema, and those without a description.
    fn keys(schema: &Value, found: &mut BTreeSet<String>, bare: &mut BTreeSet<String>) {
        match schema {
            Value::Object(object) => {
                for (key, property) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
                    found.insert(key.clone());
                    if property.get("description").is_none() {
                        bare.insert(key.clone());
                    }
                }
                object.values().for_each(|value| keys(value, found, bare));
            }
            Value::Array(list) => list.iter().for_each(|value| keys(value, found, bare)),
            _ => {}
        }
    }

    #[test]
    fn key_without_a_meaning_or_meaning_without_a_key() {
        let table: Table = KEYS.parse().unwrap();
        let mut meanings: BTreeSet<(String, String)> = BTreeSet::new();
        for (name, meant) in &table {
            meanings.extend(meant.as_table().unwrap().keys().map(|key| (name.clone(), key.clone())));
        }
        for document in Document::value_variants() {
            let name = value_name(document);
            let (mut found, mut bare) = (BTreeSet::new(), BTreeSet::new());
            keys(&described(*document).to_value(), &mut found, &mut bare);
            assert!(bare.is_empty(), "not in schema/keys.toml: {bare:?} of {name}");
            let command = name.split('-').next().unwrap();
            meanings.retain(|(of, key)| !([&name, command, "all"].contains(&of.as_str()) && found.contains(key)));
        }
        assert!(meanings.is_empty(), "no document has the keys {meanings:?} of schema/keys.toml");
    }
}
