//! JSON Schemas of the documents that commands print, and of the library's types in them.

use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

use crate::exit::Failure;
use crate::output::{Output, SCHEMA_VERSION};

// The files that a solve by boundary elements writes.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct BoundaryFiles {
    pub(crate) pictures: Vec<String>,
    pub(crate) vtk: Option<String>,
    pub(crate) out: Option<String>,
    pub(crate) checkpoint: Option<String>,
}

impl BoundaryFiles {
    /// A line for each file; `content` names what `--out` holds.
    pub(crate) fn print(&self, content: &str, out: &mut Output) -> Result<(), Failure> {
        self.pictures.iter().try_for_each(|file| out.field("picture", file))?;
        let files = [("for ParaView", &self.vtk), (content, &self.out), ("checkpoint", &self.checkpoint)];
        files.iter().try_for_each(|(name, file)| file.iter().try_for_each(|file| out.field(name, file)))
    }
}

// The files that a solve of a linear system writes.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct SolutionFiles {
    pub(crate) out: Option<String>,
    pub(crate) checkpoint: Option<String>,
    pub(crate) pictures: Vec<String>,
}

impl SolutionFiles {
    /// A line for each file.
    pub(crate) fn print(&self, out: &mut Output) -> Result<(), Failure> {
        let files = [("solution", &self.out), ("checkpoint", &self.checkpoint)];
        files.iter().try_for_each(|(name, file)| file.iter().try_for_each(|file| out.field(name, file)))?;
        self.pictures.iter().try_for_each(|file| out.field("picture", file))
    }
}

/// The schema of a document that [`Output::json`] prints.
pub(crate) fn schema<T: JsonSchema>() -> Schema {
    let mut schema = schema_of_list::<T>();
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
pub(crate) fn schema_of_list<T: JsonSchema>() -> Schema {
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
