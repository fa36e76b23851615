//! Kernels compiled for NVIDIA's GPUs: registers and spills.
//!
//! clang makes PTX, the built-in functions coming from libclc; NVIDIA's assembler tells what the GPU would use.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::kernels::{self, Build};
use super::passed::PassedCompilations;
use crate::outcome::Outcome;
use crate::setup;
use crate::system::{self, Workspace};

/// Compute capabilities, times ten.
const TARGETS: [u64; 2] = [70, 90];
const FOLDER: &str = "target/ci/nvidia";
const TABLE: &str = "target/ci/nvidia.txt";

/// Compiles every build for every target and judges the kernels that run on GPUs.
pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let libclc = setup::libclc().context("libclc is gone")?;
    let ptxas = setup::ptxas(workspace).context("ptxas is gone")?;
    let mut builds = kernels::builds(workspace)?;
    builds.extend(kernels::generated_builds(workspace)?);
    builds.retain(Build::for_gpus);
    let compilers = vec![workspace.command("clang-19"), workspace.command(&ptxas)];
    let mut passed = PassedCompilations::read(workspace, "nvidia", compilers, &libclc, include_str!("nvidia.rs"))?;
    let count = builds.len();
    builds.retain(|build| {
        let texts =
            [&*build.text, &build.options(workspace), &OPTIONS.join(" "), &TARGETS.map(|t| t.to_string()).join(" ")];
        passed.must_compile(&build.title(), &texts)
    });
    std::fs::create_dir_all(workspace.path(FOLDER))?;
    let results = system::parallel(&builds, |build| compile(workspace, build, &libclc, &ptxas));
    let mut table = format!("{:<7} {:<24} {}\n", "target", "build", Usage::HEADER);
    let (mut faults, mut faulty) = (Vec::new(), Vec::new());
    let mut kernels_checked = 0;
    for (build, result) in builds.iter().zip(results) {
        let (build, before) = (build.title(), faults.len());
        let kernels = result.unwrap_or_else(|error| {
            faults.push(format!("{build}: {error:#}"));
            Vec::new()
        });
        for (target, kernel) in kernels {
            writeln!(table, "{target:<7} {build:<24} {}", kernel.row())?;
            if !kernel.name.ends_with("_cpu") {
                kernels_checked += 1;
                let fault = kernel.fault();
                faults.extend(fault.map(|f| format!("{target} {build} {}: {f}", kernel.name)));
            }
        }
        if faults.len() > before {
            faulty.push(build);
        }
    }
    passed.write(&faulty)?;
    system::write_file(&workspace.path(TABLE), &table)?;
    for fault in &faults {
        println!("{fault}");
    }
    Ok(match faults.len() {
        0 => Outcome::ok(format!(
            "{kernels_checked} kernels checked in {} compilations, see {TABLE}; {} compilations skipped, unchanged since they passed",
            builds.len(),
            count - builds.len()
        )),
        n => Outcome::failed(format!("{n} faults, see above and {TABLE}")),
    })
}

/// Options in addition to those of the build.
const OPTIONS: [&str; 7] =
    ["-target", "nvptx64-nvidia-cuda", "-O3", "-S", "-nogpulib", "-Xclang", "-finclude-default-header"];

/// The kernels of a build on each target that can run it, with the target's name. One PTX, for the first, serves all of
/// them, as it does in drivers; but for the target's name clang makes the same for each.
fn compile(workspace: &Workspace, build: &Build, libclc: &Path, ptxas: &Path) -> Result<Vec<(String, Usage)>> {
    let mut targets =
        TARGETS.iter().filter(|target| build.capability() <= **target).map(|t| format!("sm_{t}")).peekable();
    let first = targets.peek().context("no target can run it")?;
    let ptx = workspace.path(FOLDER).join(format!("{}.ptx", build.title()));
    let mut clang = build.clang(workspace);
    clang.args(OPTIONS);
    // The library names another vendor in its triple.
    clang.args(["-Wno-linker-warnings", "-Xclang", "-mlink-builtin-bitcode", "-Xclang"]).arg(libclc);
    clang.arg(format!("-march={first}")).arg("-o").arg(&ptx);
    system::capture_ok(&mut clang)?;
    let mut all = Vec::new();
    for target in targets {
        let mut assembler = workspace.command(ptxas);
        assembler.arg("-v").arg(format!("-arch={target}")).arg(&ptx).arg("-o").arg(ptx.with_extension("cubin"));
        let kernels = parse_report(&system::text(&system::capture_ok(&mut assembler)?))?;
        all.extend(kernels.into_iter().map(|kernel| (target.clone(), kernel)));
    }
    Ok(all)
}

/// What one compiled kernel takes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Usage {
    name: String,
    registers: u64,
    /// Bytes per item.
    stack: u64,
    spill_stores: u64,
    spill_loads: u64,
    /// Bytes per work-group.
    shared: u64,
}

impl Usage {
    const HEADER: &str = "kernel                     registers  stack  spill-stores  spill-loads  shared";

    fn row(&self) -> String {
        let Usage { name, registers, stack, spill_stores, spill_loads, shared } = self;
        format!("{name:<26} {registers:>9}  {stack:>5}  {spill_stores:>12}  {spill_loads:>11}  {shared:>6}")
    }

    /// What a kernel for GPUs may not have.
    fn fault(&self) -> Option<String> {
        let spills = self.spill_stores + self.spill_loads;
        (spills > 0).then(|| format!("{spills} bytes spilled"))
    }
}

/// The kernels, from what `ptxas -v` prints.
fn parse_report(report: &str) -> Result<Vec<Usage>> {
    let mut kernels: Vec<Usage> = Vec::new();
    for line in report.lines() {
        let number_before = |unit: &str| -> Option<u64> { line.split(unit).next()?.rsplit(' ').next()?.parse().ok() };
        if let Some(rest) = line.split_once("Compiling entry function '").map(|(_, rest)| rest) {
            let name = rest.split('\'').next().unwrap_or_default().to_owned();
            kernels.push(Usage { name, ..Usage::default() });
        } else if line.contains("bytes stack frame") {
            // The line also appears for functions that were not inlined; theirs come before any use of registers.
            let kernel = kernels.last_mut().context("a stack frame before the first kernel")?;
            let read = |unit| number_before(unit).with_context(|| format!("ptxas says `{line}`"));
            kernel.stack += read(" bytes stack frame")?;
            kernel.spill_stores += read(" bytes spill stores")?;
            kernel.spill_loads += read(" bytes spill loads")?;
        } else if line.contains(" registers") {
            let kernel = kernels.last_mut().context("registers before the first kernel")?;
            kernel.registers = number_before(" registers").with_context(|| format!("ptxas says `{line}`"))?;
            kernel.shared = number_before(" bytes smem").unwrap_or(0);
        }
    }
    if let Some(kernel) = kernels.iter().find(|kernel| kernel.registers == 0) {
        bail!("ptxas says nothing of the registers of {}", kernel.name);
    }
    Ok(kernels)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'mv_csr_lanes_gpu' for 'sm_90'
ptxas info    : Function properties for mv_csr_lanes_gpu
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 2048 bytes smem
ptxas info    : Compile time = 6.088 ms
ptxas info    : Compiling entry function 'heavy_gpu' for 'sm_90'
ptxas info    : Function properties for heavy_gpu
    864 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers, 864 bytes cumulative stack size
";

    #[test]
    fn reports_are_read() {
        let kernels = parse_report(REPORT).unwrap();
        let lanes = Usage { name: "mv_csr_lanes_gpu".to_owned(), registers: 32, shared: 2048, ..Usage::default() };
        let heavy = Usage {
            name: "heavy_gpu".to_owned(),
            registers: 255,
            stack: 864,
            spill_stores: 12,
            spill_loads: 16,
            shared: 0,
        };
        assert_eq!(kernels, [lanes, heavy]);
    }

    #[test]
    fn spills_are_faults() {
        let faults: Vec<_> = parse_report(REPORT).unwrap().iter().map(Usage::fault).collect();
        assert_eq!(faults, [None, Some("28 bytes spilled".to_owned())]);
    }

    #[test]
    fn a_kernel_without_numbers_is_an_error() {
        assert!(parse_report("ptxas info : Compiling entry function 'a' for 'sm_70'\n").is_err());
        assert_eq!(parse_report("ptxas info    : 0 bytes gmem\n").unwrap(), []);
    }
}
