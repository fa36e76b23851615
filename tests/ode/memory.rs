//! Systems made one after the other: their kernels take bounded memory.

#![cfg(target_os = "linux")]

use clinalg::runtime::devices;
use clinalg::{Context, ContextOptions};
use clinalg_ode::integrate::Stepper;
use clinalg_ode::{DeviceStepper, Grid, Method, System, Variant};

/// Resident bytes of this process.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[test]
fn many_systems_take_bounded_memory() {
    const KEPT: usize = 8;
    let count = if clinalg_testing::long() { 10_000 } else { 48 };
    let euler = Method::named("euler").unwrap();
    for device in clinalg_testing::found(devices()).unwrap_or_default() {
        let options = ContextOptions { most_kernels: Some(KEPT), ..ContextOptions::default() };
        let context = Context::new(&device, &options).unwrap();
        let mut before = 0;
        for number in 0..count {
            // A formula, and so a kernel, of its own.
            let decay = System::builder(Grid::unit(&[3])).field("u", format!("-{number}*u")).build().unwrap();
            let mut stepper = DeviceStepper::<f32>::new(&context, &euler, &decay, Variant::Fused).unwrap();
            stepper.set(&[vec![1.0, 2.0, -4.0]]).unwrap();
            stepper.advance(&[0.0], 0.25).unwrap();
            let factor = 1.0 - 0.25 * number as f32;
            assert_eq!(stepper.solution().unwrap(), [factor, 2.0 * factor, -4.0 * factor]);
            drop(stepper);
            assert!(context.programs_report().kept <= KEPT, "{}", context.programs_report().kept);
            if number == 2 * KEPT {
                before = resident();
            }
        }
        let per_system = resident().saturating_sub(before) / (count - 2 * KEPT - 1) as u64;
        println!("{per_system} bytes per system");
        assert!(per_system < 200 << 10, "{per_system} bytes per system stay");
        assert_eq!(context.memory().live_bytes, 0);
    }
}
