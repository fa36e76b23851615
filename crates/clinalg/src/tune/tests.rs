//! Tests of the module above.

use super::*;
use crate::matrix::tuning::*;
use crate::ops::reduce::REDUCE;
use crate::runtime::DeviceKind;

/// A device as large or as small as these say.
pub(crate) fn device(platform: &str, name: &str, max_work_group: usize, local_mem: u64) -> DeviceInfo {
    DeviceInfo {
        index: 0,
        platform: platform.into(),
        platform_version: "OpenCL 3.0".into(),
        vendor: "vendor".into(),
        name: name.into(),
        version: "OpenCL 3.0".into(),
        c_version: "OpenCL C 1.2".into(),
        driver: "1.0".into(),
        kind: DeviceKind::Gpu,
        fp64: true,
        compute_units: 132,
        global_mem: 1 << 37,
        max_alloc: 1 << 35,
        local_mem,
        max_work_group,
        clock_mhz: 1980,
        int64_atomics: true,
        sub_groups: false,
        correctly_rounded_divide_sqrt: true,
        tensor_f64: 0,
        l1_no_allocate: false,
        unified_memory: false,
        extensions: Vec::new(),
    }
}

pub(crate) fn h200() -> DeviceInfo {
    DeviceInfo { tensor_f64: 90, l1_no_allocate: true, ..device("NVIDIA CUDA", "NVIDIA H200", 1024, 48 << 10) }
}

#[test]
fn size_classes_are_binary_logarithms() {
    for (n, expected) in [(0, 0), (1, 0), (2, 1), (1023, 9), (1024, 10), (usize::MAX, CLASSES - 1)] {
        assert_eq!(class(n), expected, "{n}");
    }
}

#[test]
fn the_users_table_wins_over_the_librarys_and_that_over_the_default() {
    let device = h200();
    let op = &REDUCE;
    let mut table = Table::new(&device);
    let mine = [128, 4, 1, 3, 0, 0];
    table.choices.push(Entry::new(op, Precision::F64, [20, CLASSES - 1], &mine));
    let (choices, warnings) = Choices::with(&device, Some(Ok(table)));
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(choices.get(op, Precision::F64, 1 << 20), mine);
    let (without, warnings) = Choices::with(&device, None);
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(choices.get(op, Precision::F64, 1 << 19), without.get(op, Precision::F64, 1 << 19));
    assert_eq!(choices.get(op, Precision::F32, 1 << 20), without.get(op, Precision::F32, 1 << 20));
}

#[test]
fn an_entry_that_cannot_be_used_leaves_the_operation_its_defaults_and_warns() {
    let device = device("new", "small", 256, 32 << 10);
    let entry = |choice| Entry::new(&REDUCE, Precision::F32, [0, 10], &choice);
    let good = entry([128, 1, 1, 1, 0, 0]);
    let bad = [
        (entry([1024, 1, 1, 1, 0, 0]), "does not support"),
        (entry([100, 1, 1, 1, 0, 0]), "does not support"),
        (Entry { parameters: [("local".to_owned(), 64)].into(), ..good.clone() }, "lacks `width`"),
        (
            Entry {
                parameters: good.parameters.clone().into_iter().chain([("depth".to_owned(), 1)]).collect(),
                ..good.clone()
            },
            "no parameter `depth`",
        ),
    ];
    let (defaults, _) = Choices::with(&device, None);
    let other = Entry::new(&MV_CSR, Precision::F32, [0, 10], &[64, 2, 0, 0, 0, 0]);
    for (entry, why) in bad {
        // Not even the sound entry of such an operation counts; those of others do.
        let table = Table { choices: vec![good.clone(), entry, other.clone()], ..Table::new(&device) };
        let (choices, warnings) = Choices::with(&device, Some(Ok(table)));
        assert!(warnings.is_empty(), "{warnings:?}");
        let (_, warnings) = choices.load(&REDUCE);
        assert!(warnings.len() == 1 && warnings[0].contains(why), "{warnings:?}");
        for n in [1, 1000] {
            assert_eq!(choices.get(&REDUCE, Precision::F32, n), defaults.get(&REDUCE, Precision::F32, n));
        }
        assert_eq!(choices.get(&MV_CSR, Precision::F32, 1000), [64, 2, 0, 0, 0, 0]);
    }
}

#[test]
fn a_table_that_cannot_be_read_changes_nothing_and_warns() {
    let device = device("new", "small", 256, 32 << 10);
    let (choices, warnings) = Choices::with(&device, Some(Err("it is damaged".into())));
    assert_eq!(warnings, ["it is damaged"]);
    let (defaults, _) = Choices::with(&device, None);
    assert_eq!(choices.get(&REDUCE, Precision::F32, 1000), defaults.get(&REDUCE, Precision::F32, 1000));
}

#[test]
fn parameters_of_products_that_mean_nothing_or_do_not_fit_are_refused() {
    let device = device("new", "small", 256, 16 << 10);
    let bad = [
        (&MV_CSR, [512, 1, 0, 0, 0, 0]),
        (&MV_CSR, [96, 1, 0, 0, 0, 0]),
        (&MV_CSR, [256, 0, 0, 0, 0, 0]),
        (&MV_CSR_LANES, [64, 128, 0, 0, 0, 0]),
        (&MV_CSR_LANES, [64, 12, 0, 0, 0, 0]),
        (&MV_CSR_LONG, [64, 0, 0, 0, 0, 0]),
        (&MV_CSR_CPU, [0, 512, 128, 0, 0, 0]),
        (&MV_CSR_CPU, [8, 512, 1 << 20, 0, 0, 0]),
        (&MV_NNZ_BALANCED, [128, 0, 0, 0, 0, 0]),
        // 256 items of 10 numbers each, in 16 KiB.
        (&MV_NNZ_BALANCED, [256, 10, 0, 0, 0, 0]),
        // 14 entries and a gap of each of 128 items fit with a sum each, not with those of two dot products.
        (&MV_NNZ_BALANCED, [128, 14, 0, 0, 0, 0]),
        (&MV_SELL_CPU, [8, u32::MAX, 0, 0, 0, 0]),
        (&MV_DIA, [0, 1, 0, 0, 0, 0]),
        (&MV_STENCIL, [128, 0, 0, 0, 0, 0]),
        (&MV_STENCIL, [128, 17, 0, 0, 0, 0]),
        (&MV_BAND, [64, 65, 0, 0, 0, 0]),
        (&MV_DENSE, [128, 48, 8, 0, 0, 0]),
        (&MV_DENSE, [128, 256, 8, 0, 0, 0]),
        (&MV_DENSE, [128, 64, 0, 0, 0, 0]),
        (&MV_DENSE_TRANSPOSED, [128, 0, 0, 0, 0, 0]),
        (&MM_CSR, [16, 4, 0, 0, 0, 0]),
        (&MM_DENSE, [128, 256, 1, 4, 0, 0]),
        (&MM_DENSE, [128, 2, 1, 4, 0, 0]),
        (&MM_DENSE_8, [128, 64, 1, 3, 0, 0]),
        (&MM_DENSE_16, [256, 64, 2, 16, 0, 0]),
        // The device has no tensor cores.
        (&MM_DENSE_16, [256, 64, 2, 16, 2, 0]),
    ];
    let (defaults, _) = Choices::with(&device, None);
    for (op, choice) in bad {
        let entry = Entry::new(op, Precision::F64, [0, CLASSES - 1], &choice);
        let table = Table { choices: vec![entry], ..Table::new(&device) };
        let (choices, _) = Choices::with(&device, Some(Ok(table)));
        let (_, warnings) = choices.load(op);
        let name = op.name;
        assert!(warnings.len() == 1 && warnings[0].contains("does not support"), "{name} {choice:?}: {warnings:?}");
        assert_eq!(choices.get(op, Precision::F64, 1000), defaults.get(op, Precision::F64, 1000), "{name}");
    }
}

#[test]
fn the_defaults_of_products_are_those_that_were_measured() {
    let (choices, _) = Choices::with(&h200(), None);
    for (op, want) in [
        (&MV_CSR, [256, 1, 0, 0, 0, 0]),
        (&MV_CSR_LANES, [256, 8, 0, 0, 0, 0]),
        (&MV_CSR_LONG, [256, 32, 0, 0, 0, 0]),
        (&MV_NNZ_BALANCED, [512, 7, 0, 0, 0, 0]),
        (&MV_DIA, [256, 1, 0, 0, 0, 0]),
        (&MV_STENCIL, [256, 4, 0, 0, 0, 0]),
        (&MV_BAND, [256, 1, 0, 0, 0, 0]),
        (&MV_DENSE, [1024, 64, 8, 0, 0, 0]),
        (&MV_DENSE_TRANSPOSED, [256, 8, 0, 0, 0, 0]),
        (&MM_CSR, [256, 4, 0, 0, 0, 0]),
        (&MM_DIA, [128, 4, 0, 0, 0, 0]),
        (&MM_BAND, [256, 4, 0, 0, 0, 0]),
        (&MM_DENSE, [512, 128, 1, 4, 0, 0]),
        (&MM_DENSE_8, [512, 128, 1, 8, 0, 0]),
        (&MM_DENSE_16, [256, 64, 2, 8, 0, 0]),
    ] {
        for precision in [Precision::F32, Precision::F64] {
            let tensor = precision == Precision::F64 && op.name.starts_with("mm_dense");
            let got = choices.get(op, precision, 1 << if tensor { 19 } else { 24 });
            assert_eq!(got, want, "{}", op.name);
        }
    }
    // Large ones on tensor cores.
    for op in [&MM_DENSE, &MM_DENSE_8] {
        assert_eq!(choices.get(op, Precision::F64, 1 << 26), [256, 128, 2, 8, 2, 0]);
    }
    assert_eq!(choices.get(&MM_DENSE_16, Precision::F64, 1 << 22), [256, 256, 1, 16, 1, 0]);
    assert_eq!(choices.get(&MM_DENSE_16, Precision::F64, 1 << 26), [512, 128, 1, 16, 2, 0]);
}
