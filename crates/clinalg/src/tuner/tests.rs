//! Tests of the module above.

use super::*;
use crate::matrix::tuning::{MM_DENSE_16, MV_CSR};
use crate::ops::reduce::REDUCE;
use crate::runtime::DeviceKind;
use crate::tune::tests::{device, h200};
use crate::tune::{CLASSES, Entry, OPERATIONS, PARAMETERS, shipped};

const PRECISIONS: [Precision; 2] = [Precision::F32, Precision::F64];

#[test]
fn defaults_fit_devices_never_seen() {
    let devices = [
        device("new", "tiny", 32, 4 << 10),
        device("new", "scarce", 1024, 4 << 10),
        device("new", "odd", 96, 16 << 10),
        device("new", "small", 256, 32 << 10),
        device("new", "large", 4096, 1 << 20),
        h200(),
    ];
    for device in &devices {
        for op in operations() {
            let operation = op.operation;
            for precision in PRECISIONS {
                for class in 0..CLASSES {
                    let choice = operation.default(device, precision, class);
                    assert!(operation.fits(device, precision, &choice), "{} {choice:?} {device:?}", operation.name);
                }
                if device.max_work_group >= 64 {
                    let any = (op.candidates)(device, precision);
                    assert!(any.iter().any(|c| operation.fits(device, precision, c)), "{}", operation.name);
                }
            }
        }
    }
}

#[test]
fn every_operation_has_its_own_name() {
    for op in operations() {
        assert!(std::ptr::eq(named(op.operation.name).unwrap(), op), "{} twice", op.operation.name);
        assert!(op.operation.parameters.len() <= PARAMETERS);
    }
    assert!(named("no such operation").is_none());
    // With room for those of tests.
    assert!(operations().count() + 16 <= OPERATIONS);
}

#[test]
fn tensor_cores_are_for_sound_shapes_in_double_precision() {
    let device = h200();
    let fits = |precision, choice: &[u32; 5]| {
        let &[local, panel, rows, columns, tensor] = choice;
        MM_DENSE_16.fits(&device, precision, &[local, panel, rows, columns, tensor, 0])
    };
    for good in [[256, 64, 2, 16, 2], [512, 128, 1, 8, 4], [32, 16, 4, 8, 1]] {
        assert!(fits(Precision::F64, &good) && !fits(Precision::F32, &good), "{good:?}");
    }
    // More warps than there are, not a power of two, not whole steps, no tiles, five, other right-hand sides.
    let bad = [[64, 16, 2, 16, 4], [256, 64, 2, 16, 3], [256, 48, 2, 16, 2], [256, 64, 0, 16, 2], [256, 64, 5, 16, 2]];
    for bad in bad.into_iter().chain([[256, 64, 2, 4, 2], [256, 64, 2, 24, 2], [0, 64, 2, 16, 2]]) {
        assert!(!fits(Precision::F64, &bad), "{bad:?}");
    }
    let candidates = (named("mm_dense_16").unwrap().candidates)(&device, Precision::F64);
    let (without, with): (Vec<Choice>, Vec<Choice>) = candidates.into_iter().partition(|choice| choice[4] == 0);
    assert!(!without.is_empty());
    assert!(with.iter().all(|choice| MM_DENSE_16.fits(&device, Precision::F64, choice)));
}

#[test]
fn the_tables_that_come_with_the_library_are_sound() {
    let devices = [
        h200(),
        DeviceInfo {
            kind: DeviceKind::Cpu,
            ..device("Portable Computing Language", "pthread-skylake-avx512-AMD EPYC", 4096, 1 << 20)
        },
    ];
    for device in devices {
        let tables: Vec<_> = shipped(&device).collect();
        assert_eq!(tables.len(), 1, "{}", device.name);
        for mut table in tables.into_iter().map(|table| table.unwrap()) {
            assert_eq!(drop_unusable(&mut table, &device), Vec::<String>::new());
        }
    }
    assert_eq!(shipped(&device("AMD", "gfx90a", 256, 65536)).count(), 0);
}

#[test]
fn what_a_device_cannot_use_is_dropped_from_a_table() {
    let device = device("new", "small", 256, 32 << 10);
    let good = Entry::new(&REDUCE, Precision::F32, [0, 10], &[128, 1, 1, 1, 0, 0]);
    let unknown = Entry { operation: "fft".into(), ..good.clone() };
    let large = Entry::new(&MV_CSR, Precision::F32, [0, 10], &[1024, 1, 0, 0, 0, 0]);
    let mut table = Table { choices: vec![unknown, good.clone(), large], ..Table::new(&device) };
    let dropped = drop_unusable(&mut table, &device);
    assert_eq!(table.choices, [good]);
    assert!(dropped.len() == 2 && dropped[0].contains("no operation `fft`"), "{dropped:?}");
    assert!(dropped[1].contains("does not support"), "{dropped:?}");
}
