//! `clinalg schema`: JSON Schemas of what `--json` prints.

use clap::ValueEnum;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::output::{Output, SCHEMA_VERSION};
use crate::{bench, devices, doctor, elastodynamics, heat_bem, ode, poisson, solve, tune, wave, waveform};

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
    /// What a failing command prints
    Error,
}

impl Document {
    fn schema(self) -> Schema {
        match self {
            Document::Devices => devices::schema(),
            Document::Doctor => doctor::schema(),
            Document::Poisson => poisson::schema(),
            Document::Wave => wave::schema(),
            Document::WavePoints => wave::points_schema(),
            Document::Waveform => waveform::schema(),
            Document::WaveformStudy => waveform::study_schema(),
            Document::WaveformDevices => waveform::devices_schema(),
            Document::WaveformNetwork => waveform::network_schema(),
            Document::HeatBem => heat_bem::schema(),
            Document::Elastodynamics => elastodynamics::schema(),
            Document::Ode => ode::schema(),
            Document::OdeList => ode::list_schema(),
            Document::OdeGraph => ode::graph_schema(),
            Document::OdeCompare => ode::compare_schema(),
            Document::Solve => solve::schema(),
            Document::Bench => bench::schema(),
            Document::BenchDevices => bench::devices_schema(),
            Document::BenchPredict => bench::predict_schema(),
            Document::Tune => tune::schema(),
            Document::Error => of::<Failed>(),
        }
    }
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let mut schema = args.document.schema();
    let name = args.document.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
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

/// The schema of a document that [`Output::json`] prints.
pub(crate) fn of<T: JsonSchema>() -> Schema {
    let mut schema = of_list::<T>();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("schema_version".into(), json!({ "const": SCHEMA_VERSION }));
        let items = json!({
            "type": "object",
            "properties": { "phase": { "type": "string" }, "seconds": { "type": "number" } },
            "required": ["phase", "seconds"],
        });
        let about = "Parts of the run with their times, for commands that solve";
        properties.insert("phases".into(), json!({ "description": about, "type": "array", "items": items }));
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.insert(0, "schema_version".into());
    }
    schema
}

/// The schema of a document without a version.
pub(crate) fn of_list<T: JsonSchema>() -> Schema {
    let mut schema = SchemaGenerator::default().into_root_schema_for::<T>();
    Finite.transform(&mut schema);
    schema
}

/// Numbers that are not finite are `null`.
struct Finite;

impl Transform for Finite {
    fn transform(&mut self, schema: &mut Schema) {
        if schema.get("type") == Some(&"number".into()) {
            schema.insert("type".into(), json!(["number", "null"]));
        }
        transform_subschemas(self, schema);
    }
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

/// [`clinalg::DeviceInfo`] as it is printed.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only described")]
pub(crate) struct DeviceInfo {
    /// As --device takes it
    index: usize,
    platform: String,
    platform_version: String,
    vendor: String,
    name: String,
    version: String,
    c_version: String,
    driver: String,
    /// cpu, gpu, accelerator or other
    kind: String,
    fp64: bool,
    compute_units: u32,
    /// In bytes
    global_mem: u64,
    /// In bytes
    max_alloc: u64,
    /// In bytes
    local_mem: u64,
    max_work_group: usize,
    clock_mhz: u32,
    int64_atomics: bool,
    sub_groups: bool,
    correctly_rounded_divide_sqrt: bool,
    tensor_f64: u32,
    l1_no_allocate: bool,
    unified_memory: bool,
    extensions: Vec<String>,
}

/// A known fault of a driver.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only described")]
pub(crate) struct Fault {
    platform: String,
    vendor: String,
    versions: String,
    what: String,
    instead: String,
    quirk: String,
}

/// A check of the self-test.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only described")]
pub(crate) struct Check {
    name: String,
    precision: Option<String>,
    size: usize,
    max_error: f64,
    tolerance: f64,
    passed: bool,
    seconds: f64,
    /// What went wrong, or what was found out
    detail: String,
}

/// The worst implicit step of the wave equation.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only described")]
pub(crate) struct ImplicitReport {
    stop: String,
    cycles: usize,
    relative_residual: f64,
}
