//! What `--json` prints, against what `clinalg schema` says of it.

use boon::{Compiler, Schemas};

use super::scaling::H200;
use super::*;

/// The schema of a document in which no object may have keys that it does not name.
fn closed(mut schema: Value) -> Value {
    fn close(schema: &mut Value) {
        match schema {
            Value::Object(keys) => {
                if keys.get("properties").is_some_and(Value::is_object) {
                    keys.entry("additionalProperties").or_insert(false.into());
                }
                keys.values_mut().for_each(close);
            }
            Value::Array(items) => items.iter_mut().for_each(close),
            _ => {}
        }
    }
    close(&mut schema);
    schema
}

/// Why a document does not meet the schema of that name, if it does not.
fn fault(name: &str, document: &Value) -> Option<String> {
    let schema: Value = serde_json::from_str(&words(&format!("schema {name}")).fine()).expect("JSON");
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource("document.json", closed(schema)).expect("a schema");
    let compiled = compiler.compile("document.json", &mut schemas).expect("a sound schema");
    schemas.validate(document, compiled).err().map(|error| format!("{name}: {error:#}"))
}

pub(super) fn meets(name: &str, document: &Value) {
    assert_eq!(fault(name, document), None, "{document:#}");
    if name != "devices" {
        assert_eq!(document["schema_version"], 1, "{name}");
    }
}

#[test]
fn documents_meet_their_schemas() {
    let folder = folder();
    let path = folder.path().display();
    meets("poisson", &words("poisson --n 17 --backend reference --json").json());
    meets("wave", &words("wave --n 17 --backend reference --scheme implicit --steps 3 --json").json());
    meets("ode", &words("ode --problem heat2d --n 9 --variant reference --json").json());
    meets("ode-list", &words("ode --list --json").json());
    meets("ode-graph", &words(&format!("ode --graph {path} --json")).json());
    meets("bench-predict", &words(&format!("bench --predict {H200} --json")).json());
    meets("error", &words("poisson --n 5 --tol 0 --max-cycles 0 --json --plot /no/such/folder/u.png").json());
}

#[test]
fn documents_of_devices_meet_their_schemas() {
    if !device() {
        return;
    }
    let folder = folder();
    meets("devices", &words("devices --json").json());
    meets("cache", &words("cache --json").json());
    meets("doctor", &words("doctor --quick --device 0 --json").json());
    meets("tune", &words("tune --quick --dry-run --op reduce_cpu --precision f32 --json").json());
    meets("solve", &words(&format!("solve {} --json", file(&folder, "upwind.mtx", &upwind(8, 1.0)))).json());
    meets("poisson", &words("poisson --n 17 --json").json());
    meets("poisson", &words("poisson --points 17x20 --rhs random --json").json());
    if clinalg_testing::thorough() {
        meets("bench-devices", &words("bench --devices 0 --samples 1 --json").json());
    }
    meets("bench", &words("bench --n 33 --samples 2 --only dot --kernels --json").json());
    meets("heat-bem", &words(&format!("{HEAT} --json")).json());
    meets("waveform", &words("waveform --problem heat2d --n 6 --h 1e-5 --steps 4 --json").json());
    meets("elastodynamics", &words("elastodynamics --mesh cavity:2 --frequency 2 --json").json());
}

/// The test above can fail: a key too many, one too few, a number for a text, another version.
#[test]
fn wrong_documents_are_found() {
    let right = words("poisson --n 9 --backend reference --json").json();
    assert_eq!(fault("poisson", &right), None);
    let wrong = |change: &dyn Fn(&mut Value)| {
        let mut document = right.clone();
        change(&mut document);
        assert!(fault("poisson", &document).is_some(), "{document:#}");
    };
    wrong(&|document| document["more"] = 1.into());
    wrong(&|document| drop(document.as_object_mut().and_then(|keys| keys.remove("points"))));
    wrong(&|document| document["levels"] = "nine".into());
    wrong(&|document| document["schema_version"] = 2.into());
}
