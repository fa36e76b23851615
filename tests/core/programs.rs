//! Kernels made at run time: shared by text, bounded in number and memory, built by several threads.

use clinalg::runtime::{Arg, GeneratedKernel, Range, devices};
use clinalg::{Buffer, Context, ContextOptions, Precision};

fn adding(number: usize) -> GeneratedKernel {
    let source = format!("__kernel void add(__global uint *x) {{ x[get_global_id(0)] += {number}u; }}");
    GeneratedKernel::new("add", source, Precision::F32)
}

/// Kernels built, and kept of them.
fn counts(context: &Context) -> (u64, usize) {
    let report = context.programs_report();
    (report.builds, report.kept)
}

fn launch(context: &Context, kernel: &GeneratedKernel, x: &Buffer<u32>) {
    // SAFETY: the kernel has one argument, a buffer with a value per item.
    unsafe { context.launch_generated(kernel, Range::d1(x.len(), 1), &[x.arg()]) }.unwrap();
}

/// Resident bytes of this process.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[cfg(target_os = "linux")]
#[test]
fn thousands_of_kernels_take_bounded_memory() {
    const KEPT: usize = 8;
    let count = if clinalg_testing::long() { 10_000 } else { 64 };
    for device in devices().unwrap() {
        let options = ContextOptions { most_kernels: Some(KEPT), ..ContextOptions::default() };
        let context = Context::new(&device, &options).unwrap();
        let x = Buffer::<u32>::zeroed(&context, 3).unwrap();
        let held = adding(0);
        launch(&context, &held, &x);
        let mut sum = 0;
        let mut before = 0;
        for number in 1..=count {
            launch(&context, &adding(number), &x);
            sum += number as u32;
            assert!(context.programs_report().kept <= KEPT);
            if number == 2 * KEPT {
                context.finish().unwrap();
                before = resident();
            }
        }
        assert_eq!(x.to_vec().unwrap(), [sum; 3]);
        let per_kernel = resident().saturating_sub(before) / (count - 2 * KEPT) as u64;
        println!("{per_kernel} bytes per kernel");
        assert!(per_kernel < 200 << 10, "{per_kernel} bytes per kernel stay");
        // What somebody holds is never evicted.
        let builds = counts(&context).0;
        launch(&context, &held, &x);
        assert_eq!(counts(&context).0, builds);
    }
}

#[test]
fn kernels_of_one_text_are_built_once_and_evicted_ones_again() {
    for device in devices().unwrap() {
        let options = ContextOptions { most_kernels: Some(2), ..ContextOptions::default() };
        let context = Context::new(&device, &options).unwrap();
        let x = Buffer::<u32>::zeroed(&context, 5).unwrap();
        let three: Vec<GeneratedKernel> = (1..4).map(adding).collect();
        context.prepare_generated(&three).unwrap();
        assert_eq!(counts(&context), (3, 3), "all three are held");
        three.iter().for_each(|kernel| launch(&context, kernel, &x));
        launch(&context, &adding(3), &x);
        assert_eq!(counts(&context).0, 3);
        drop(three);
        launch(&context, &adding(4), &x);
        assert_eq!(counts(&context), (4, 2));
        launch(&context, &adding(1), &x);
        assert_eq!(counts(&context).0, 5);
        assert_eq!(x.to_vec().unwrap(), [14; 5]);
    }
}

#[test]
fn a_name_or_text_that_is_wrong_is_an_error() {
    for device in devices().unwrap() {
        let context = Context::new(&device, &ContextOptions::default()).unwrap();
        let run = |name: &str, source: &str| {
            let kernel = GeneratedKernel::new(name, source.to_owned(), Precision::F32);
            // SAFETY: no kernel is launched: none is built.
            unsafe { context.launch_generated(&kernel, Range::d1(1, 1), &[Arg::U32(1)]) }.unwrap_err()
        };
        assert_eq!(run("a\0b", "__kernel void a(uint n) {}").id(), "clinalg:argument:value");
        let error = run("a", "__kernel void a(uint n) { no_such_function(n); }");
        assert_eq!(error.id(), "clinalg:device:build", "{error}");
        assert!(error.to_string().contains("a.cl"), "{error}");
    }
}
