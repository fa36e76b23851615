//! Kernels compiled for AMD's GPUs: registers, spills, local memory.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::kernels::{self, Build, Precision};
use super::passed::PassedCompilations;
use crate::outcome::Outcome;
use crate::setup;
use crate::system::{self, Workspace};

/// A compilation target.
struct Target {
    name: &'static str,
    /// The number of the instruction set where rocm-device-libs 5.2 has no file for it.
    isa: Option<u32>,
    /// The fewest registers of its family. Generated kernels, of which there are many, are
    /// compiled for these only unless the long cases are asked for.
    tightest: bool,
    /// Stands for its family: GCN, CDNA, RDNA. The others are for the long cases.
    representative: bool,
    /// Compiled for in single precision too, which needs fewer registers. For the others that is for the long cases.
    single: bool,
}

const TARGETS: [Target; 5] = [
    Target { name: "gfx906", isa: None, tightest: true, representative: true, single: true },
    Target { name: "gfx90a", isa: None, tightest: false, representative: false, single: false },
    Target { name: "gfx942", isa: Some(9402), tightest: false, representative: true, single: false },
    Target { name: "gfx1030", isa: None, tightest: true, representative: true, single: false },
    Target { name: "gfx1100", isa: Some(11000), tightest: false, representative: false, single: false },
];

/// Bytes of local memory a work-group may take: half of what a compute unit has, so that two fit.
const LOCAL_MEMORY: u64 = 32 * 1024;
/// Items of a work-group unless a kernel asks for more.
const WORK_GROUP: u64 = 256;

const FOLDER: &str = "target/ci/amd";
const TABLE: &str = "target/ci/amd.txt";

/// Compiles every build for the targets and judges the kernels that run on GPUs.
pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let libraries = device_libraries(workspace)?;
    let [builds, generated] = [kernels::builds(workspace)?, kernels::generated_builds(workspace)?].map(|mut builds| {
        builds.retain(|build| build.for_gpus() && build.capability() == 0);
        builds
    });
    let mut passed = PassedCompilations::read(
        workspace,
        "amd",
        vec![workspace.command("clang-19")],
        &system_libraries()?,
        include_str!("amd.rs"),
    )?;
    let all: Vec<(&Build, &Target)> = TARGETS
        .iter()
        .filter(|t| t.representative || workspace.long)
        .flat_map(|t| {
            let generated = generated.iter().filter(move |_| t.tightest || workspace.long);
            let builds = builds.iter().filter(move |b| b.precision == Precision::Double || t.single || workspace.long);
            builds.chain(generated).map(move |b| (b, t))
        })
        .collect();
    let count = all.len();
    let mut jobs = all;
    jobs.retain(|(build, target)| {
        let texts = [&*build.text, &build.options(workspace), &OPTIONS.join(" "), target.name];
        passed.must_compile(&named(build, target), &texts)
    });
    let results = system::parallel(&jobs, |(build, target)| compile(workspace, build, target, &libraries));
    let mut table = format!("{:<8} {:<24} {}\n", "target", "build", Usage::HEADER);
    let (mut faults, mut faulty) = (Vec::new(), Vec::new());
    let mut kernels_checked = 0;
    for ((build, target), result) in jobs.iter().zip(results) {
        let (name, build, before) = (named(build, target), build.title(), faults.len());
        match result {
            Ok(kernels) => {
                for kernel in kernels {
                    writeln!(table, "{:<8} {build:<24} {}", target.name, kernel.row())?;
                    let found = if kernel.name.ends_with("_cpu") { Vec::new() } else { kernel.faults() };
                    kernels_checked += usize::from(!kernel.name.ends_with("_cpu"));
                    faults.extend(found.iter().map(|f| format!("{} {build} {}: {f}", target.name, kernel.name)));
                }
            }
            Err(error) => faults.push(format!("{} {build}: {error:#}", target.name)),
        }
        if faults.len() > before {
            faulty.push(name);
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
            jobs.len(),
            count - jobs.len()
        )),
        n => Outcome::failed(format!("{n} faults, see above and {TABLE}")),
    })
}

/// The device libraries of the system.
fn system_libraries() -> Result<PathBuf> {
    setup::device_libs().context("the folder of rocm-device-libs is gone")
}

/// A copy of the device libraries, with the files that the newer targets want.
fn device_libraries(workspace: &Workspace) -> Result<PathBuf> {
    let system = system_libraries()?;
    let folder = workspace.path(FOLDER).join("bitcode");
    system::fresh_folder(&folder)?;
    for entry in std::fs::read_dir(system)? {
        let entry = entry?;
        std::fs::copy(entry.path(), folder.join(entry.file_name()))?;
    }
    for target in &TARGETS {
        let Some(isa) = target.isa else { continue };
        let number = target.name.trim_start_matches("gfx");
        let bitcode = folder.join(format!("oclc_isa_version_{number}.bc"));
        if bitcode.exists() {
            continue;
        }
        let source = folder.join(format!("oclc_isa_version_{number}.cl"));
        system::write_file(&source, &format!("__constant const unsigned __oclc_ISA_version = {isa};\n"))?;
        let mut clang = workspace.command("clang-19");
        clang.args(["-x", "cl", "-cl-std=CL1.2", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-emit-llvm", "-c"]);
        system::capture_ok(clang.arg(&source).arg("-o").arg(&bitcode))?;
    }
    Ok(folder)
}

/// The name of a compilation in the record.
fn named(build: &Build, target: &Target) -> String {
    format!("{}-{}", target.name, build.title())
}

/// Options in addition to those of the build.
const OPTIONS: [&str; 5] = ["-target", "amdgcn-amd-amdhsa", "-O3", "-S", "-mcode-object-version=5"];

fn compile(workspace: &Workspace, build: &Build, target: &Target, libraries: &Path) -> Result<Vec<Usage>> {
    let assembly = workspace.path(FOLDER).join(format!("{}.s", named(build, target)));
    let mut clang = build.clang(workspace);
    clang.args(OPTIONS).arg(format!("-mcpu={}", target.name));
    clang.arg(format!("--rocm-device-lib-path={}", libraries.display())).arg("-o").arg(&assembly);
    system::capture_ok(&mut clang)?;
    let text = std::fs::read_to_string(&assembly).with_context(|| format!("cannot read {}", assembly.display()))?;
    parse_metadata(&text)
}

/// What one compiled kernel takes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Usage {
    name: String,
    vector_registers: u64,
    scalar_registers: u64,
    spills: u64,
    /// Bytes of private memory per item.
    scratch: u64,
    dynamic_stack: bool,
    /// Bytes per work-group.
    local_memory: u64,
    work_group: u64,
}

impl Usage {
    const HEADER: &str = "kernel                     vgprs  sgprs  spills  scratch  local  work-group";

    fn row(&self) -> String {
        format!(
            "{:<26} {:>5}  {:>5}  {:>6}  {:>7}  {:>5}  {:>10}",
            self.name,
            self.vector_registers,
            self.scalar_registers,
            self.spills,
            self.scratch,
            self.local_memory,
            self.work_group
        )
    }

    /// What a kernel for GPUs may not have.
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut check = |is_wrong: bool, words: String| faults.extend(is_wrong.then_some(words));
        check(self.spills > 0, format!("{} registers spilled", self.spills));
        check(self.scratch > 0, format!("{} bytes of scratch memory", self.scratch));
        check(self.dynamic_stack, "a stack of unknown size".to_owned());
        check(self.local_memory > LOCAL_MEMORY, format!("{} bytes of local memory", self.local_memory));
        check(self.work_group > WORK_GROUP, format!("work-groups of {}", self.work_group));
        faults
    }
}

/// The kernels of an assembly, from the metadata at its end. A function that nothing defines makes the stack of its
/// callers unknown.
fn parse_metadata(text: &str) -> Result<Vec<Usage>> {
    let mut kernels: Vec<Vec<(&str, &str)>> = Vec::new();
    let list = text.lines().skip_while(|line| line.trim() != "amdhsa.kernels:").skip(1);
    // A kernel is an item of the outer list; what is indented deeper tells of its arguments.
    for line in list.take_while(|line| line.starts_with("  ")) {
        let entry = line.strip_prefix("  - ");
        if entry.is_some() {
            kernels.push(Vec::new());
        }
        let entry = entry.or_else(|| line.strip_prefix("    ")).filter(|entry| entry.starts_with('.'));
        if let Some((key, value)) = entry.and_then(|entry| entry.split_once(':')) {
            kernels.last_mut().context("a key before the first kernel")?.push((key, value.trim()));
        }
    }
    let usage = |kernel: &Vec<(&str, &str)>| {
        let value = |key: &str| kernel.iter().find(|(k, _)| *k == key).map(|(_, v)| *v);
        let name = value(".name").context("a kernel without .name")?.trim_matches('\'').to_owned();
        let number = |key: &str| -> Result<u64> {
            let text = value(key).with_context(|| format!("kernel {name} without {key}"))?;
            text.parse().with_context(|| format!("kernel {name}: {key} is {text}"))
        };
        Ok(Usage {
            vector_registers: number(".vgpr_count")?,
            scalar_registers: number(".sgpr_count")?,
            spills: number(".vgpr_spill_count")? + number(".sgpr_spill_count")?,
            scratch: number(".private_segment_fixed_size")?,
            dynamic_stack: value(".uses_dynamic_stack") == Some("true"),
            local_memory: number(".group_segment_fixed_size")?,
            work_group: number(".max_flat_workgroup_size")?,
            name,
        })
    };
    kernels.iter().map(usage).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASSEMBLY: &str = "	.text
	s_endpgm
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .offset:         0
        .size:           8
        .name:           n
        .value_kind:     by_value
    .group_segment_fixed_size: 2048
    .language_version:
      - 1
      - 2
    .max_flat_workgroup_size: 256
    .name:           sum_gpu
    .private_segment_fixed_size: 0
    .sgpr_count:     28
    .sgpr_spill_count: 0
    .symbol:         sum_gpu.kd
    .uses_dynamic_stack: false
    .vgpr_count:     18
    .vgpr_spill_count: 0
  - .agpr_count:     0
    .group_segment_fixed_size: 65536
    .max_flat_workgroup_size: 1024
    .name:           wild_gpu
    .private_segment_fixed_size: 16
    .sgpr_count:     102
    .sgpr_spill_count: 3
    .uses_dynamic_stack: true
    .vgpr_count:     256
    .vgpr_spill_count: 4
amdhsa.target:   amdgcn-amd-amdhsa--gfx906
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
";

    #[test]
    fn metadata_is_read() {
        let kernels = parse_metadata(ASSEMBLY).unwrap();
        assert_eq!(kernels.len(), 2);
        let sum = Usage {
            name: "sum_gpu".to_owned(),
            vector_registers: 18,
            scalar_registers: 28,
            local_memory: 2048,
            work_group: 256,
            ..Usage::default()
        };
        assert_eq!(kernels[0], sum);
        assert_eq!(kernels[0].faults(), Vec::<String>::new());
    }

    #[test]
    fn the_gate_names_every_fault() {
        let kernels = parse_metadata(ASSEMBLY).unwrap();
        let faults = kernels[1].faults();
        let words = ["7 registers", "16 bytes of scratch", "stack", "65536 bytes of local", "groups of 1024"];
        assert_eq!(faults.len(), words.len());
        for (fault, word) in faults.iter().zip(words) {
            assert!(fault.contains(word), "{fault}");
        }
    }

    #[test]
    fn missing_facts_are_errors() {
        let error = parse_metadata("amdhsa.kernels:\n  - .name: a\n    .vgpr_count: 1\n").unwrap_err().to_string();
        assert!(error.contains("kernel a without"), "{error}");
        assert_eq!(parse_metadata("no kernels").unwrap(), []);
    }
}
