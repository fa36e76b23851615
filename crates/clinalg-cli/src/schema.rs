//! `clinalg schema`: JSON Schemas of what `--json` prints.

use clap::ValueEnum;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::args::value_name;
use crate::document::{self, schema};
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::{bench, cache, doctor, elastodynamics, heat_bem, ode, poisson, solve, tune, wave, waveform};

/// Print the JSON Schema of what a command prints with --json
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

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let mut schema = args.document.schema();
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
