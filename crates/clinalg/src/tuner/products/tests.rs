//! Tests of the module above.

use super::*;
use crate::ContextOptions;
use crate::runtime::{KernelFamily, devices};
use crate::tune::CLASSES;

fn contexts() -> Vec<Context> {
    let Some(devices) = clinalg_testing::found(devices()) else { return Vec::new() };
    let make = |family| Context::new(&devices[0], &ContextOptions { family, ..Default::default() }).unwrap();
    clinalg_testing::families([KernelFamily::Cpu, KernelFamily::Gpu]).into_iter().map(make).collect()
}

fn products() -> impl Iterator<Item = &'static Tunable> {
    TUNABLES.iter()
}

#[test]
fn products_are_right_with_other_parameters() {
    for context in contexts() {
        for op in products().filter(|op| op.operation.family == context.family()) {
            let operation = op.operation;
            let precision = if context.device().fp64 { Precision::F64 } else { Precision::F32 };
            let mut all = (op.candidates)(context.device(), precision);
            all.retain(|choice| operation.fits(context.device(), precision, choice));
            // The one that is farthest from the default.
            let choice = all[all.len() - 1];
            context.choices().set(operation, precision, 0..CLASSES, &choice);
            for n in [1, 300, 5000] {
                let wrong = (op.check)(&context, precision, n).unwrap();
                assert_eq!(wrong, None, "{}, {}, {n}", operation.name, operation.words(&choice));
            }
        }
    }
}

#[test]
fn trials_take_new_parameters_over() {
    for context in contexts() {
        let some = [&MV_STENCIL, &MV_NNZ_BALANCED, &MV_DENSE, &MM_BAND, &MV_SELL_CPU, &MV_DENSE_CPU];
        for operation in some.into_iter().filter(|op| op.family == context.family()) {
            let op = products().find(|op| op.operation.name == operation.name).unwrap();
            let all = (op.candidates)(context.device(), Precision::F32);
            let mut trial = (op.trial)(&context, Precision::F32, 3000).unwrap();
            assert!(trial.bytes > 0, "{}", operation.name);
            for choice in all.iter().filter(|c| operation.fits(context.device(), Precision::F32, c)).take(2) {
                context.choices().set(operation, Precision::F32, 0..CLASSES, choice);
                (trial.run)().unwrap();
                context.finish().unwrap();
            }
        }
    }
}

#[test]
fn an_upload_takes_its_parameters_from_the_table() {
    for context in contexts() {
        let parts = stencil::<f32>(100 * 100).unwrap();
        let upload = |choices: &[(&'static Operation, Choice)]| {
            for (op, choice) in choices {
                context.choices().set(op, Precision::F32, 0..CLASSES, choice);
            }
            let a = Csr::from_parts(&context, &parts).unwrap();
            assert_eq!(a.format(), Format::Stencil);
            a
        };
        match context.family() {
            KernelFamily::Gpu => {
                let a = upload(&[(&MV_STENCIL, [64, 2, 0, 0, 0, 0])]);
                let tiles = a.stencil().unwrap().tiles.as_ref().unwrap();
                assert_eq!((tiles.size, tiles.groups), ([64, 2], [2, 50]));
                // Later changes of the table do not reach a matrix that was uploaded before.
                upload(&[(&MV_STENCIL, [128, 4, 0, 0, 0, 0])]);
                assert_eq!(a.stencil().unwrap().tiles.as_ref().unwrap().size, [64, 2]);
            }
            KernelFamily::Cpu => {
                let a = upload(&[(&MV_STENCIL_CPU, [3, 0, 0, 0, 0, 0])]);
                assert_eq!(a.stencil().unwrap().product.range.items(), 3 * context.units());
            }
        }
    }
}
