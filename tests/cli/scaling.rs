//! Times of several devices, and what the model predicts.

use super::*;

/// Runs on one and two H200.
pub(super) const H200: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/results/2026-11-23-h200-team.jsonl");

/// The model, fitted to one device and to exchanges, is within 10 % of the times of two devices, which it has not seen.
#[test]
fn the_model_of_several_devices_predicts_measured_times() {
    let folder = folder();
    let picture = folder.path().join("scaling.svg");
    let report =
        words(&format!("bench --predict {H200} --network slow:100:1 --json --plot {}", picture.display())).json();
    let checks = report["checks"].as_array().unwrap();
    let unseen: Vec<f64> =
        checks.iter().filter(|c| number(c, "devices") == 2.0).map(|c| number(c, "relative_difference")).collect();
    assert!(unseen.len() == 8 && unseen.iter().all(|d| d.abs() < 0.1), "{unseen:?}");
    let predictions = report["predictions"].as_array().unwrap();
    let strong = |devices: f64| {
        let of = |p: &&Value| p["problem"] == "wave" && p["scaling"] == "strong" && number(p, "devices") == devices;
        number(predictions.iter().find(of).unwrap(), "efficiency")
    };
    // By hand: a step on 16385 rows of 16385 points takes c + 16385^2 d, with the fitted c and d.
    let wave = report["models"].as_array().unwrap().iter().find(|m| m["problem"] == "wave").unwrap();
    let (c, d, n) = (number(wave, "launch_seconds"), number(wave, "point_seconds"), 16385.0);
    let link = (number(&report, "latency") + 1e-4, 1.0 / (1.0 / number(&report, "bandwidth") + 1e-9));
    let (one, halo) = (c + n * n * d, 2.0 * 16.0 * n * 16.0);
    let four = c + (n / 4.0 + 32.0) * n * d + (link.0 + halo / link.1) / 16.0;
    assert!((strong(4.0) / (one / (4.0 * four)) - 1.0).abs() < 1e-9, "{}", strong(4.0));
    assert!(strong(1.0) == 1.0 && strong(1024.0) < 0.01);
    assert!(std::fs::read_to_string(picture).unwrap().contains("wave, n = 16385, slow"));
}

#[test]
fn several_devices_are_measured() {
    if !clinalg_testing::thorough() {
        return clinalg_testing::skip("measurements of every solver are for CLINALG_TEST_THOROUGH");
    }
    let Some(pair) = two_devices() else { return };
    let folder = folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let line = format!("bench --devices 0,1 --n 17 --samples 1 --json --plot {}", path("scaling.svg"));
    let report = pair(&line).json();
    super::schema::meets("bench-devices", &report);
    let runs = report["runs"].as_array().unwrap();
    for problem in ["poisson2", "poisson3", "cg", "wave", "ode", "heat"] {
        let of = |scaling: &str, devices: f64| {
            let run = runs
                .iter()
                .find(|r| r["problem"] == problem && r["scaling"] == scaling && number(r, "devices") == devices);
            assert_eq!(run.is_some(), (problem, scaling) != ("heat", "weak"), "{problem} {scaling}");
            run.map_or(1.0, |run| number(run, "seconds").min(number(run, "predicted_seconds")))
        };
        assert!(of("strong", 1.0).min(of("strong", 2.0)).min(of("weak", 2.0)) > 0.0);
    }
    let transfers = report["transfers"].as_array().unwrap();
    for way in ["read", "write", "one-way", "both-ways", "exchange"] {
        assert!(transfers.iter().any(|t| t["transfer"] == way && number(t, "gb_per_s") > 0.0), "{way}");
    }
    // What it prints can be predicted from.
    std::fs::write(path("measured.json"), report.to_string()).unwrap();
    let predicted = words(&format!("bench --predict {} --solvers wave --json", path("measured.json"))).json();
    assert_eq!(predicted["models"].as_array().map(Vec::len), Some(1));
    let mut single = report.clone();
    single["precision"] = "f32".into();
    std::fs::write(path("single.json"), single.to_string()).unwrap();
    let done = words(&format!("bench --predict {} {}", path("measured.json"), path("single.json")));
    assert!(done.code == 2 && done.stderr.contains("give those of one"), "{}", done.stderr);
    let text = words("bench --devices 0 --samples 1").fine();
    assert!(text.contains("one device: exchanges") && !text.contains("scaling:"), "{text}");
}
