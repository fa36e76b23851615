//! Devices, contexts, the kernel cache, memory and threads.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use clinalg::runtime::faults::{self, Quirk};
use clinalg::runtime::{DeviceKind, devices};
use clinalg::{Context, ContextOptions, Device, Error, KernelFamily, Real, Vector, ops};
use common::{child, child_command, contexts, in_child, noise, own_context, passed, proc_bytes};
use sha2::{Digest, Sha256};

/// Whether there is a device; the test fails without one unless it may be skipped.
fn has_device() -> bool {
    !contexts().is_empty()
}

/// One reduction and one elementwise operation on a context of its own.
fn work() {
    let Some(context) = own_context() else { return };
    let x = Vector::from_slice(&context, &[1.0_f32, 2.0, 3.0]).unwrap();
    let mut y = Vector::zeros(&context, 3).unwrap();
    ops::scale(2.0, &x, &mut y).unwrap();
    assert_eq!(ops::sum(&y).unwrap(), 12.0);
}

#[test]
fn devices_are_selected_by_index_and_name() {
    if !has_device() {
        return;
    }
    let all = devices().unwrap();
    for (index, device) in all.iter().enumerate() {
        let info = device.info();
        assert_eq!(info.index, index);
        assert_eq!(Device::select(&index.to_string()).unwrap().info().index, index);
        assert_eq!(Device::select(&format!(" {index} ")).unwrap().info().index, index);
        // A name may stand on several devices: the first one is meant.
        let first = all.iter().position(|d| d.info().name == info.name).unwrap();
        assert_eq!(Device::select(&info.name.to_uppercase()).unwrap().info().index, first);
        assert!(Device::select(&info.platform.to_lowercase()).unwrap().info().index <= index);
        assert!(info.compute_units > 0 && info.max_alloc > 0 && info.global_mem >= info.max_alloc, "{info:?}");
        assert!(info.max_work_group > 0 && !info.version.is_empty() && !info.driver.is_empty(), "{info:?}");
        let json = serde_json::to_value(info).unwrap();
        assert_eq!(json["index"], index);
    }
    for bad in ["no such device", "4294967295", "-1", "", "  "] {
        let error = Device::select(bad).unwrap_err();
        assert_eq!(error.id(), "clinalg:device:notFound");
        let message = error.to_string();
        assert!(message.contains(&format!("`{bad}`")) && message.contains(&all[0].info().name), "{message}");
    }
}

#[test]
fn threads_list_devices_first_thing_at_once() {
    if in_child() {
        // PoCL 3.1 crashed here: a thread saw devices that another was still setting up.
        let barrier = std::sync::Barrier::new(8);
        let count = || {
            barrier.wait();
            devices().unwrap().len()
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(count)).collect();
            let counts: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
            assert!(counts.windows(2).all(|pair| pair[0] == pair[1]));
        });
    } else if has_device() {
        (0..3).for_each(|_| drop(child("threads_list_devices_first_thing_at_once", &[])));
    }
}

#[test]
fn a_number_past_the_last_index_is_a_part_of_a_name() {
    if !has_device() {
        return;
    }
    let all = devices().unwrap();
    let digits = |name: &str| -> Option<String> {
        name.split(|c: char| !c.is_ascii_digit())
            .find(|part| part.parse().is_ok_and(|n: usize| n >= all.len()))
            .map(Into::into)
    };
    let Some((wanted, number)) = all.iter().find_map(|d| Some((d, digits(&d.info().name)?))) else {
        clinalg_testing::skip("no device has a number in its name");
        return;
    };
    let found = Device::select(&number).unwrap();
    assert!(found.info().index <= wanted.info().index && found.info().name.contains(&number));
}

#[test]
fn the_environment_selects_the_default_device() {
    if !in_child() {
        if has_device() {
            let name = contexts()[0].device().name.clone();
            let names = [("0", "0"), (name.as_str(), name.as_str()), ("", "any"), ("nonsense", "none")];
            for (selector, expected) in names {
                let variables = [("CLINALG_DEVICE", selector), ("CLINALG_TEST_EXPECTED", expected)];
                child("the_environment_selects_the_default_device", &variables);
            }
        }
        return;
    }
    match std::env::var("CLINALG_TEST_EXPECTED").unwrap().as_str() {
        "none" => {
            for error in [Device::default_device().unwrap_err(), Context::global().unwrap_err()] {
                assert_eq!(error.id(), "clinalg:device:notFound");
                assert!(error.to_string().contains("nonsense"));
            }
        }
        "0" => assert_eq!(Device::default_device().unwrap().info().index, 0),
        "any" => drop(Device::default_device().unwrap()),
        name => assert_eq!(Context::global().unwrap().device().name, name),
    }
}

#[test]
fn the_environment_selects_the_shape() {
    if !in_child() {
        if has_device() {
            for shape in ["cpu", "gpu", "square", ""] {
                child("the_environment_selects_the_shape", &[("CLINALG_KERNEL_FAMILY", shape)]);
            }
        }
        return;
    }
    let device = Device::select("0").unwrap();
    let make = |family| Context::new(&device, &ContextOptions { family, ..ContextOptions::default() });
    let made = make(None);
    match std::env::var("CLINALG_KERNEL_FAMILY").unwrap().as_str() {
        "cpu" => assert_eq!(made.unwrap().family(), KernelFamily::Cpu),
        "gpu" => assert_eq!(made.unwrap().family(), KernelFamily::Gpu),
        "square" => {
            let error = made.unwrap_err();
            assert_eq!(error.id(), "clinalg:argument:value");
            assert!(
                error.to_string().contains("CLINALG_KERNEL_FAMILY") && error.to_string().contains("square"),
                "{error}"
            );
        }
        _ => drop(made.unwrap()),
    }
    // What the program asks for goes before the environment.
    assert_eq!(make(Some(KernelFamily::Gpu)).unwrap().family(), KernelFamily::Gpu);
}

/// Runs `calls` and fails unless each gives the error with this identifier, within a second all together.
fn refused(id: &str, in_words: &str) {
    let start = Instant::now();
    let errors = [
        devices().err(),
        Device::select("0").err(),
        Device::default_device().err(),
        Context::global().err(),
        Context::global().err(),
    ];
    for error in errors {
        let error = error.expect(id);
        assert_eq!(error.id(), id);
        assert!(error.to_string().contains(in_words), "{error}");
    }
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
}

#[test]
fn no_loader_is_an_error() {
    let name = "no_loader_is_an_error";
    if in_child() {
        return refused("clinalg:device:noLoader", "apt-get install");
    }
    if !cfg!(target_os = "linux") {
        clinalg_testing::skip("the loader can only be hidden on Linux");
        return;
    }
    // Files of the loader's names that are no libraries hide the real one.
    let folder = tempfile::tempdir().unwrap();
    for file in ["libOpenCL.so.1", "libOpenCL.so"] {
        std::fs::write(folder.path().join(file), "no library").unwrap();
    }
    child(name, &[("LD_LIBRARY_PATH", folder.path().to_str().unwrap())]);
}

#[test]
fn no_platform_is_an_error() {
    let name = "no_platform_is_an_error";
    if in_child() {
        return refused("clinalg:device:noPlatform", "OCL_ICD_VENDORS");
    }
    if devices().is_err_and(|e| matches!(e, Error::NoLoader { .. })) {
        clinalg_testing::skip("there is no OpenCL loader");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let vendors = format!("{}/", folder.path().display());
    let variables =
        [("OCL_ICD_VENDORS", vendors.as_str()), ("OCL_ICD_FILENAMES", ""), ("OPENCL_VENDOR_PATH", &vendors)];
    child(name, &variables);
}

#[test]
fn a_platform_without_devices_is_an_error() {
    let name = "a_platform_without_devices_is_an_error";
    if in_child() {
        return refused("clinalg:device:noDevice", "POCL_CACHE_DIR");
    }
    let Ok(icd) = std::fs::read_to_string("/etc/OpenCL/vendors/pocl.icd") else {
        clinalg_testing::skip("PoCL, which lists no device where its cache cannot be written, is not installed");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pocl.icd"), icd).unwrap();
    let vendors = format!("{}/", folder.path().display());
    // A version of PoCL without that fault lists its device, and the test has nothing to look at.
    let variables = [("OCL_ICD_VENDORS", vendors.as_str()), ("POCL_CACHE_DIR", "/proc/no/such/folder")];
    let listed = child_command("pocl_lists_a_device", &variables).output().unwrap();
    if listed.status.success() {
        clinalg_testing::skip("this PoCL lists its device with a cache that cannot be written");
        return;
    }
    child(name, &variables);
}

#[test]
fn pocl_lists_a_device() {
    if in_child() {
        devices().unwrap();
    }
}

#[test]
fn the_global_context_is_one_until_it_is_replaced() {
    if !in_child() {
        if has_device() {
            child("the_global_context_is_one_until_it_is_replaced", &[]);
        }
        return;
    }
    let first = Context::global().unwrap();
    let x = Vector::from_slice(&first, &[1.0_f32, 2.0]).unwrap();
    assert!(first.same(&Context::global().unwrap()));
    Context::release_global();
    let second = Context::global().unwrap();
    assert!(!first.same(&second));
    let third = own_context().unwrap();
    Context::set_global(third.clone());
    assert!(third.same(&Context::global().unwrap()));
    Context::release_global();
    Context::release_global();
    // Objects of a context that was let go work on.
    drop((first, second, third));
    assert_eq!(ops::sum(&x).unwrap(), 3.0);
}

#[test]
fn kernel_cache_child() {
    if in_child() {
        work();
    }
}

/// Names, contents and times of the files of a folder.
fn files(folder: &Path) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return BTreeMap::new() };
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, (std::fs::read(&path).unwrap(), path.metadata().unwrap().modified().unwrap()))
        })
        .collect()
}

/// Runs [`work`] in a child process with the cache in `folder`.
fn cached(folder: &Path) {
    child("kernel_cache_child", &[("CLINALG_CACHE_DIR", folder.to_str().unwrap())]);
}

/// How the names of files of the cache end, after the 64 digits of their keys.
const SUFFIX: &str = ".clinalg-kernel";

/// The hash that a file of the cache holds.
fn sum(name: &str, binary: &[u8]) -> Vec<u8> {
    let key = name.strip_suffix(SUFFIX).expect("a file of the cache");
    Sha256::new().chain_update(key).chain_update(binary).finalize().to_vec()
}

#[test]
fn built_kernels_are_kept_on_disk() {
    if !has_device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("new/folder");
    cached(&folder);
    let first = files(&folder);
    assert!(!first.is_empty(), "no kernel was kept");
    // A hit leaves the files alone; a miss would write them anew.
    cached(&folder);
    assert_eq!(files(&folder), first);

    // What is damaged is replaced: garbage, a cut file, an empty one, one bit, and a sound file that is no program.
    type Damage = fn(&str, &[u8]) -> Vec<u8>;
    let damages: &[(&str, Damage)] = &[
        ("garbage", |_, _| b"garbage".to_vec()),
        ("cut", |_, bytes| bytes[..bytes.len() / 2].to_vec()),
        ("cut in its head", |_, bytes| bytes[..20].to_vec()),
        ("empty", |_, _| Vec::new()),
        ("one bit", |_, bytes| {
            let mut bytes = bytes.to_vec();
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            bytes
        }),
        ("another program", |name, bytes| {
            let binary = b"not a program of this driver";
            [&bytes[..bytes.iter().position(|&b| b == b'\n').unwrap() + 1], &sum(name, binary), binary].concat()
        }),
    ];
    for (what, damage) in damages {
        for (name, (bytes, _)) in &first {
            std::fs::write(folder.join(name), damage(name, bytes)).unwrap();
        }
        cached(&folder);
        let now = files(&folder);
        assert_eq!(now.len(), first.len(), "{what}: names");
        for (name, (bytes, _)) in &now {
            let head = bytes.iter().position(|&b| b == b'\n').unwrap() + 1;
            assert_eq!(bytes[..head], first[name].0[..head], "{what}");
            assert_eq!(sum(name, &bytes[head + 32..]), bytes[head..head + 32], "{what}: not replaced");
            assert!(bytes.len() > head + 32 + 100, "{what}: not replaced");
        }
    }
}

#[test]
fn a_cache_that_cannot_be_written_does_no_harm() {
    if !has_device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    cached(&file);
    cached(&file.join("below"));
    assert_eq!(std::fs::read(&file).unwrap(), b"in the way");
    if cfg!(target_os = "linux") {
        cached(Path::new("/proc/no/such/folder"));
    }
    // Permissions bind everyone but root, who passes here by writing.
    let shut = folder.path().join("shut");
    std::fs::create_dir(&shut).unwrap();
    let mut permissions = std::fs::metadata(&shut).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&shut, permissions).unwrap();
    cached(&shut);
}

#[test]
fn an_empty_cache_variable_turns_the_cache_off() {
    if !has_device() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let cache = home.path().join("clinalg/kernels");
    let home = home.path().to_str().unwrap();
    let run = |variables: &[(&str, &str)]| {
        let mut command = child_command("kernel_cache_child", variables);
        command.env("XDG_CACHE_HOME", home);
        if variables.is_empty() {
            command.env_remove("CLINALG_CACHE_DIR");
        }
        passed("kernel_cache_child", command.output().unwrap());
    };
    run(&[("CLINALG_CACHE_DIR", "")]);
    assert!(!cache.exists());
    run(&[]);
    let by_driver = |device: &Device| faults::of(device.info()).any(|fault| fault.quirk == Quirk::OwnKernelCache);
    let expected = cfg!(target_os = "linux") && !by_driver(&devices().unwrap()[0]);
    assert_eq!(!files(&cache).is_empty(), expected, "files in the user's folder");
}

#[test]
fn processes_may_fill_the_cache_at_once() {
    if !has_device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // The driver's own cache is cold as well.
    let own = tempfile::tempdir().unwrap();
    let [own_path, path] = [&own, &folder].map(|folder| folder.path().to_str().unwrap());
    let variables = [("CLINALG_CACHE_DIR", path), ("POCL_CACHE_DIR", own_path)];
    let start = || {
        let mut command = child_command("kernel_cache_child", &variables);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        command.spawn().unwrap()
    };
    let children: Vec<_> = (0..4).map(|_| start()).collect();
    for child in children {
        passed("kernel_cache_child", child.wait_with_output().unwrap());
    }
    // Whole files under their names and nothing half written beside them.
    let kept = files(folder.path());
    assert!(
        !kept.is_empty() && kept.keys().all(|name| name.strip_suffix(SUFFIX).is_some_and(|key| key.len() == 64)),
        "{:?}",
        kept.keys()
    );
    passed("kernel_cache_child", start().wait_with_output().unwrap());
    assert_eq!(files(folder.path()), kept);
}

#[test]
fn allocations_are_counted() {
    let Some(context) = own_context() else { return };
    let live = |bytes, buffers| {
        let memory = context.memory();
        assert_eq!((memory.live_bytes, memory.live_buffers), (bytes, buffers));
    };
    live(0, 0);
    let x = Vector::<f32>::zeros(&context, 1000).unwrap();
    let y = Vector::<f32>::zeros(&context, 500).unwrap();
    live(6000, 2);
    drop(x);
    live(2000, 1);
    assert_eq!(context.memory().peak_bytes, 6000);
    context.reset_peak();
    assert_eq!(context.memory().peak_bytes, 2000);
    let z = y.copy_range(0..100).unwrap();
    live(2400, 2);
    assert_eq!(context.memory().peak_bytes, 2400);
    // Operations leave nothing behind: errors, reductions, products.
    ops::norm2(&y).unwrap();
    ops::dot(&y, &z).unwrap_err();
    y.slice(0..501).unwrap_err();
    let a = clinalg::Csr::from_triplets(&context, 100, 100, &[(0, 0, 1.0_f32), (99, 99, 2.0)]).unwrap();
    let before = context.memory();
    drop(a.transpose().unwrap());
    drop(a.diagonal().unwrap());
    assert_eq!(context.memory().live_bytes, before.live_bytes);
    drop((a, y, z));
    live(0, 0);
}

#[test]
fn too_large_an_allocation_is_an_error() {
    let Some(context) = own_context() else { return };
    let info = context.device().clone();
    let refused = |len: usize| {
        let before = context.memory();
        let error = Vector::<f32>::zeros(&context, len).unwrap_err();
        assert_eq!(error.id(), "clinalg:device:memory");
        let words = error.to_string();
        assert!(words.contains(&info.name) && words.contains("smaller problem"), "{words}");
        assert_eq!(context.memory(), before);
        words
    };
    let largest = (info.max_alloc / 4) as usize;
    assert!(refused(largest + 1).contains(&info.max_alloc.to_string()));
    refused(usize::MAX);
    refused(usize::MAX / 4);
    refused(usize::MAX / 4 + 2);

    // More in all than the device has; buffers that are not written take no memory of a CPU yet.
    let mut held = Vec::new();
    let mut bytes = 0;
    if info.global_mem / info.max_alloc <= 16 && info.unified_memory {
        while bytes + info.max_alloc <= info.global_mem {
            // SAFETY: nobody reads it.
            match unsafe { Vector::<f32>::uninit_unchecked(&context, largest) } {
                Ok(vector) => held.push(vector),
                Err(error) => {
                    // The driver may refuse before the account does.
                    assert_eq!(error.id(), "clinalg:device:memory");
                    break;
                }
            }
            bytes += largest as u64 * 4;
            assert_eq!(context.memory().live_bytes, bytes);
        }
        let words = refused(largest);
        assert!(words.contains("are in use") || words.contains("CL_"), "{words}");
    } else {
        clinalg_testing::skip_part("the device's memory is not filled, it holds many allocations or is not the host's");
    }
    drop(held);
    assert_eq!(context.memory().live_bytes, 0);
    let x = Vector::from_slice(&context, &[1.0_f32; 10]).unwrap();
    assert_eq!(ops::sum(&x).unwrap(), 10.0);
}

#[test]
fn threads_share_a_context() {
    for context in contexts() {
        // Different kernels and lengths in flight at once, each thread with its own vectors; reductions share a scratch.
        std::thread::scope(|scope| {
            for thread in 0..8_u64 {
                scope.spawn(move || {
                    let n = 1000 + 977 * thread as usize;
                    let values = noise::<f32>(n, thread);
                    let whole: Vec<f32> = (0..n).map(|i| ((i as u64 + thread) % 5) as f32).collect();
                    let sum: f32 = whole.iter().sum();
                    let x = Vector::from_slice(context, &values).unwrap();
                    let w = Vector::from_slice(context, &whole).unwrap();
                    let mut y = Vector::zeros(context, n).unwrap();
                    for round in 0..30 {
                        let factor = (round + 1) as f32;
                        ops::scale(factor, &x, &mut y).unwrap();
                        let got = y.to_vec().unwrap();
                        assert!(got.iter().zip(&values).all(|(g, v)| *g == factor * v), "thread {thread}");
                        ops::multiply(&x, &w, &mut y).unwrap();
                        let got = y.to_vec().unwrap();
                        assert!((0..n).all(|i| got[i] == values[i] * whole[i]), "thread {thread}");
                        assert_eq!(ops::sum(&w).unwrap(), sum, "thread {thread}");
                        assert_eq!(ops::norm_inf(&w).unwrap(), 4.0, "thread {thread}");
                    }
                });
            }
        });
    }
}

#[test]
fn threads_read_one_object_at_once() {
    for context in contexts() {
        let n = 5000;
        let parts = common::sparse::<f32>(n, n, 1, |_| 5);
        let a = clinalg::Csr::from_parts(context, &parts).unwrap();
        let x = Vector::from_slice(context, &noise::<f32>(n, 2)).unwrap();
        let mut want = Vector::zeros(context, n).unwrap();
        ops::mv(1.0, &a, &x, 0.0, &mut want).unwrap();
        let want = want.to_vec().unwrap();
        // The transpose is made by whichever thread comes first.
        let fresh = clinalg::Csr::from_parts(context, &parts.transpose().unwrap()).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let mut y = Vector::zeros(context, n).unwrap();
                    for _ in 0..10 {
                        ops::mv(1.0, &a, &x, 0.0, &mut y).unwrap();
                        assert_eq!(y.to_vec().unwrap(), want);
                        ops::mv_transposed(1.0, &fresh, &x, 0.0, &mut y).unwrap();
                        assert_eq!(y.to_vec().unwrap(), want);
                    }
                });
            }
        });
    }
}

#[test]
fn threads_build_kernels_at_once() {
    // Contexts without any kernel yet, so that the threads meet in the build.
    let Some(context) = own_context() else { return };
    let barrier = std::sync::Barrier::new(6);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let x = Vector::from_slice(&context, &[3.0_f32, 4.0]).unwrap();
                let mut y = Vector::zeros(&context, 2).unwrap();
                barrier.wait();
                ops::add(&x, &x, &mut y).unwrap();
                assert_eq!(ops::norm2(&y).unwrap(), 10.0);
            });
        }
    });
}

#[test]
fn timings_count_every_launch() {
    if !has_device() {
        return;
    }
    let device = Device::select("0").unwrap();
    let context = Context::new(
        &device,
        &ContextOptions { profiling: true, family: Some(KernelFamily::Cpu), ..ContextOptions::default() },
    )
    .unwrap();
    assert!(context.timings().unwrap().is_empty());
    let x = Vector::filled(&context, 100_000, 1.0_f32).unwrap();
    let mut y = Vector::zeros(&context, 100_000).unwrap();
    // More than are kept waiting at once.
    for _ in 0..1500 {
        ops::scale(2.0, &x, &mut y).unwrap();
    }
    ops::sum(&y).unwrap();
    let timings = context.timings().unwrap();
    let of = |name| timings.iter().find(|t| t.kernel == name).unwrap();
    assert_eq!((of("scale").launches, of("sum").launches), (1500, 1));
    assert!(timings.iter().all(|t| t.seconds > 0.0), "{timings:?}");
    assert!(timings.windows(2).all(|pair| pair[0].seconds >= pair[1].seconds));
    assert_eq!(context.timings().unwrap().len(), timings.len());
    context.reset_timings();
    assert!(context.timings().unwrap().is_empty());
    ops::scale(2.0, &x, &mut y).unwrap();
    assert_eq!(context.timings().unwrap()[0].launches, 1);
    // Without being asked for, nothing is kept.
    let plain = own_context().unwrap();
    let x = Vector::filled(&plain, 10, 1.0_f32).unwrap();
    ops::sum(&x).unwrap();
    assert!(plain.timings().unwrap().is_empty());
}

#[test]
fn launches_do_not_leak() {
    if !in_child() {
        if has_device() {
            // A process of its own: other tests' memory would hide a leak.
            child("launches_do_not_leak", &[]);
        }
        return;
    }
    for profiling in [false, true] {
        let device = Device::select("0").unwrap();
        let context = Context::new(&device, &ContextOptions { profiling, ..ContextOptions::default() }).unwrap();
        let x = Vector::filled(&context, 64, 1.0_f32).unwrap();
        let mut y = Vector::zeros(&context, 64).unwrap();
        let mut launch = |count: usize| {
            for i in 0..count {
                ops::scale(2.0, &x, &mut y).unwrap();
                if i % 1000 == 999 {
                    context.finish().unwrap();
                }
            }
            context.timings().unwrap();
        };
        launch(10_000);
        let Some(before) = proc_bytes("/proc/self/status", "VmRSS:") else {
            clinalg_testing::skip("this system does not tell a process's memory");
            return;
        };
        launch(if profiling { 20_000 } else { 100_000 });
        let grown = proc_bytes("/proc/self/status", "VmRSS:").unwrap().saturating_sub(before);
        // An event or command that stayed would take 100 bytes or more each.
        assert!(grown < 4 << 20, "{grown} bytes more after the launches (profiling: {profiling})");
    }
    // Contexts, buffers, programs.
    let cycle = || {
        work();
        drop(own_context());
    };
    (0..10).for_each(|_| cycle());
    let before = proc_bytes("/proc/self/status", "VmRSS:").unwrap();
    (0..40).for_each(|_| cycle());
    let grown = proc_bytes("/proc/self/status", "VmRSS:").unwrap().saturating_sub(before);
    assert!(grown < 32 << 20, "{grown} bytes more after 40 contexts");
}

/// Fill, sum, copy and a x + b y on vectors of `n` values; the last values are told from the others.
fn long_vectors<T: Real>(context: &Context, n: usize) {
    let what = format!("{n} x {} on {} ({:?})", T::PRECISION, context.device().name, context.family());
    let bytes = (n * size_of::<T>()) as u64;
    let info = context.device();
    if bytes > info.max_alloc || 2 * bytes > info.global_mem / 10 * 9 {
        clinalg_testing::skip_part(format_args!(
            "{what} needs {bytes} bytes twice; the device allows {} at once, {} in all",
            info.max_alloc, info.global_mem
        ));
        return;
    }
    if info.unified_memory
        && proc_bytes("/proc/meminfo", "MemAvailable:").is_none_or(|free| free < 2 * bytes + (1 << 30))
    {
        clinalg_testing::skip_part(format_args!("{what} needs {} GiB of free memory", (2 * bytes) >> 30));
        return;
    }
    let two = T::from_f64(2.0);
    let mut x = Vector::filled(context, n, T::one()).unwrap();
    let mut y = Vector::zeros(context, n).unwrap();
    let tail: Vec<T> = (0..1000).map(|i| T::from_f64(f64::from(i))).collect();
    x.buffer_mut().write_range(n - 1000, &tail).unwrap();
    let sum = (n - 1000) as f64 + 499_500.0;
    assert_eq!(ops::sum(&x).unwrap(), T::from_f64(sum), "sum of {what}");
    // The start, the end, and both sides of 2^31 and 2^32 bytes and 2^31 values of y = factor x.
    let size = size_of::<T>();
    let offsets = [0, n - 2000, (1 << 31) / size - 1000, (1 << 32) / size - 1000, (1 << 31) - 1000];
    let check = |y: &Vector<T>, factor: T| {
        for offset in offsets.into_iter().filter(|offset| offset + 2000 <= n) {
            let (mut got, mut want) = ([T::zero(); 2000], [T::one(); 2000]);
            y.buffer().read_range(offset, &mut got).unwrap();
            for (k, &value) in tail.iter().enumerate() {
                if let Some(at) = (n - 1000 + k).checked_sub(offset).filter(|&at| at < 2000) {
                    want[at] = value;
                }
            }
            assert!(
                got.iter().zip(&want).all(|(&g, &w)| g == factor * w),
                "values from {offset} on of {factor} x {what}"
            );
        }
    };
    y.copy_from(&x).unwrap();
    check(&y, T::one());
    ops::update(T::one(), &x, two, &mut y).unwrap();
    check(&y, T::from_f64(3.0));
    assert_eq!(
        y.slice(n - 1000..n).unwrap().to_vec().unwrap(),
        tail.iter().map(|&t| T::from_f64(3.0) * t).collect::<Vec<_>>()
    );
    if !info.unified_memory && n < 1 << 30 {
        // Through the host and back in one piece.
        let all = y.to_vec().unwrap();
        x.fill(T::zero()).unwrap();
        x.write(&all).unwrap();
        check(&x, T::from_f64(3.0));
    }
}

#[test]
fn vectors_past_2_to_the_31_bytes() {
    for context in contexts() {
        // Each takes a processor seconds: one precision a shape there.
        let all = context.device().kind != DeviceKind::Cpu;
        if all || context.family() == KernelFamily::Gpu {
            for n in [1 << 29, 1 << 32] {
                long_vectors::<f32>(context, n + 1000);
            }
        }
        if (all || context.family() == KernelFamily::Cpu) && common::has::<f64>(context) {
            long_vectors::<f64>(context, (1 << 28) + 1000);
        }
    }
}
