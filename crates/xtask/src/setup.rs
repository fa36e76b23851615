//! What the demo, the tests and the checks need beyond cargo and a C compiler, and how it is had.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

use crate::packages::{self, Manager};
use crate::system::{self, Profile, Workspace};

/// The file to which tests append what they skip, see the crate `clinalg-testing`.
pub(crate) const SKIPS: &str = "CLINALG_TEST_SKIPS";

/// Something that a check needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Need {
    /// A C++ compiler, for the programs that test the C interface and the MEX gateway.
    Cxx,
    /// The headers of OpenCL, for the test program that calls it itself.
    OpenClHeaders,
    /// The OpenCL loader libOpenCL.
    Loader,
    /// The CPU driver PoCL.
    Pocl,
    /// Intel's CPU driver.
    Intel,
    /// The OpenCL interpreter with race detection.
    Oclgrind,
    /// clang with OpenCL C, the AMD and the NVIDIA target.
    Clang,
    /// AMD's device libraries.
    DeviceLibs,
    /// OpenCL's built-in functions for NVIDIA's target.
    Libclc,
    /// NVIDIA's assembler.
    Ptxas,
    /// GNU Octave.
    Octave,
    /// CMake, by which programs find the C library.
    Cmake,
    /// pkg-config, by which programs find the C library.
    PkgConfig,
    /// valgrind.
    Valgrind,
    /// An MPI library with its launcher and compiler wrapper.
    Mpi,
    /// libclang with its headers, by which the binding to MPI is made.
    Libclang,
    /// A linker for older systems, with the cargo command that uses it.
    Zig,
    /// Makes root folders of Debian; for `ci drivers --debian` only, not in [`Need::ALL`].
    Debootstrap,
}

/// The folder of [`Need::Zig`], below the root.
pub(crate) const ZIG: &str = "target/drivers/zig";

/// The exit code of the program `clinalg` where there is no OpenCL device.
pub(crate) const NO_DEVICE: i32 = 3;

/// What pip puts into an own folder.
struct Wheel {
    /// The virtual environment, below the root.
    folder: &'static str,
    packages: &'static [&'static str],
}

impl Need {
    /// What the crate `clinalg-mpi` needs.
    pub(crate) const OF_MPI: [Need; 2] = [Need::Mpi, Need::Libclang];

    pub(crate) const ALL: [Need; 17] = [
        Need::Cxx,
        Need::OpenClHeaders,
        Need::Loader,
        Need::Pocl,
        Need::Intel,
        Need::Oclgrind,
        Need::Clang,
        Need::DeviceLibs,
        Need::Libclc,
        Need::Ptxas,
        Need::Octave,
        Need::Cmake,
        Need::PkgConfig,
        Need::Valgrind,
        Need::Mpi,
        Need::Libclang,
        Need::Zig,
    ];

    /// What it is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Need::Cxx => "a C++ compiler",
            Need::OpenClHeaders => "the headers of OpenCL",
            Need::Loader => "the OpenCL loader",
            Need::Pocl => "PoCL",
            Need::Intel => "Intel's OpenCL runtime for CPUs",
            Need::Oclgrind => "oclgrind",
            Need::Clang => "clang-19",
            Need::DeviceLibs => "rocm-device-libs",
            Need::Libclc => "libclc",
            Need::Ptxas => "ptxas",
            Need::Octave => "GNU Octave",
            Need::Cmake => "CMake",
            Need::PkgConfig => "pkg-config",
            Need::Valgrind => "valgrind",
            Need::Mpi => "MPI (mpirun, mpicc)",
            Need::Libclang => "libclang",
            Need::Zig => "cargo-zigbuild",
            Need::Debootstrap => "debootstrap",
        }
    }

    /// Packages of the system that bring it; empty where pip does or where we know none.
    fn packages(self, manager: Manager) -> &'static [&'static str] {
        use Manager::{Apt, Brew, Dnf, Pacman, Zypper};
        match (self, manager) {
            (Need::Cxx, Apt) => &["g++"],
            (Need::Cxx, Dnf | Zypper) => &["gcc-c++"],
            (Need::Cxx, Pacman | Brew) => &["gcc"],
            (Need::OpenClHeaders, Apt) => &["opencl-c-headers"],
            (Need::OpenClHeaders, Dnf | Pacman | Zypper | Brew) => &["opencl-headers"],
            (Need::Loader, Apt) => &["ocl-icd-libopencl1"],
            (Need::Loader, Zypper) => &["libOpenCL1"],
            (Need::Loader, Dnf | Pacman | Brew) => &["ocl-icd"],
            (Need::Pocl, Apt) => &["pocl-opencl-icd"],
            (Need::Pocl, Dnf | Pacman | Zypper | Brew) => &["pocl"],
            (Need::Oclgrind, Apt) => &["oclgrind"],
            (Need::Clang, Apt) => &["clang-19"],
            (Need::DeviceLibs, Apt) => &["rocm-device-libs"],
            (Need::Libclc, Apt) => &["libclc-15"],
            (Need::Octave, Apt | Dnf | Pacman | Zypper | Brew) => &["octave"],
            (Need::Cmake, Apt | Dnf | Pacman | Zypper | Brew) => &["cmake"],
            (Need::PkgConfig, Apt | Zypper) => &["pkg-config"],
            (Need::PkgConfig, Dnf | Pacman | Brew) => &["pkgconf"],
            // Without the symbols of the C library it knows no function of the dynamic linker.
            (Need::Valgrind, Apt) => &["valgrind", "libc6-dbg"],
            (Need::Valgrind, Dnf | Pacman | Zypper) => &["valgrind"],
            (Need::Mpi, Apt) => &["libopenmpi-dev", "openmpi-bin"],
            (Need::Mpi, Dnf) => &["openmpi-devel"],
            (Need::Mpi, Pacman) => &["openmpi"],
            (Need::Mpi, Zypper) => &["openmpi4-devel"],
            (Need::Mpi, Brew) => &["open-mpi"],
            // The system's default version, 14 or newer.
            (Need::Debootstrap, Apt | Dnf | Pacman | Zypper) => &["debootstrap"],
            (Need::Libclang, Apt) => &["libclang-dev"],
            (Need::Libclang, Dnf | Zypper) => &["clang-devel"],
            (Need::Libclang, Pacman) => &["clang"],
            (Need::Libclang, Brew) => &["llvm"],
            _ => &[],
        }
    }

    fn wheel(self) -> Option<Wheel> {
        match self {
            // Without the compiler's run-time libraries the driver lists no device.
            Need::Intel => Some(Wheel {
                folder: "target/drivers/intel",
                packages: &["intel-opencl-rt~=2026.0", "intel-cmplr-lib-rt~=2026.0"],
            }),
            Need::Ptxas => Some(Wheel { folder: "target/drivers/nvidia", packages: &["nvidia-cuda-nvcc-cu12~=12.4"] }),
            Need::Zig => Some(Wheel { folder: ZIG, packages: &["cargo-zigbuild~=0.24.0", "ziglang~=0.17.1"] }),
            _ => None,
        }
    }

    pub(crate) fn is_there(self, workspace: &Workspace) -> bool {
        let program = |name| system::find_program(name).is_some();
        match self {
            Need::Cxx => std::env::var_os("CXX").is_some() || program("c++"),
            Need::OpenClHeaders => compiler_finds("cc", "CL/cl.h"),
            Need::Loader => loader_is_there(),
            Need::Pocl => pocl_icd().is_some(),
            Need::Intel => intel_driver(workspace).is_some(),
            Need::Oclgrind => program("oclgrind") && oclgrind_driver().is_some(),
            Need::Clang => program("clang-19"),
            Need::DeviceLibs => device_libs().is_some(),
            Need::Libclc => libclc().is_some(),
            Need::Ptxas => ptxas(workspace).is_some(),
            Need::Octave => program("octave-cli"),
            Need::Cmake => program("cmake"),
            Need::PkgConfig => program("pkg-config"),
            Need::Valgrind => program("valgrind"),
            Need::Debootstrap => program("debootstrap"),
            // Without the package for development some systems have the compiler wrapper alone.
            Need::Mpi => program("mpirun") && compiler_finds("mpicc", "mpi.h"),
            Need::Libclang => libclang_is_there(),
            Need::Zig => workspace.path(ZIG).join("bin/cargo-zigbuild").is_file() && ziglang(workspace).is_some(),
        }
    }
}

fn loader_is_there() -> bool {
    let known = system::find_program("ldconfig").and_then(|p| system::capture_ok(Command::new(p).arg("-p")).ok());
    known.is_some_and(|out| system::text(&out).contains("libOpenCL.so.1"))
}

/// Whether a compiler finds a header.
fn compiler_finds(compiler: &str, header: &str) -> bool {
    let mut command = Command::new(compiler);
    command.args(["-fsyntax-only", "-DCL_TARGET_OPENCL_VERSION=120", "-x", "c", "-include", header, "/dev/null"]);
    system::capture_ok(&mut command).is_ok()
}

/// Whether there is a libclang with the headers of its compiler.
fn libclang_is_there() -> bool {
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let named =
        |path: &Path, start: &str| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start));
    // Debian has a folder for each version.
    let versions = entries(Path::new("/usr/lib")).filter(|path| named(path, "llvm-")).map(|llvm| llvm.join("lib"));
    let folders = versions.chain(["/usr/lib64".into(), "/usr/lib".into()]);
    let headers = |folder: &Path| folder.join("clang").is_dir() || Path::new("/usr/lib/clang").is_dir();
    std::env::var_os("LIBCLANG_PATH").is_some()
        || folders
            .into_iter()
            .any(|folder| headers(&folder) && entries(&folder).any(|path| named(&path, "libclang.so")))
}

/// The text of PoCL's ICD file: the driver library's name.
pub(crate) fn pocl_icd() -> Option<String> {
    let icds = std::fs::read_dir("/etc/OpenCL/vendors").ok()?;
    let texts = icds.filter_map(|icd| std::fs::read_to_string(icd.ok()?.path()).ok());
    texts.map(|text| text.trim().to_owned()).find(|text| text.contains("pocl"))
}

/// The driver library of Intel's CPU runtime.
pub(crate) fn intel_driver(workspace: &Workspace) -> Option<PathBuf> {
    let library = workspace.path("target/drivers/intel/lib/libintelocl.so");
    library.is_file().then_some(library)
}

/// The library through which the loader reaches Oclgrind.
pub(crate) fn oclgrind_driver() -> Option<PathBuf> {
    let name = "oclgrind/liboclgrind-rt-icd.so";
    ["/usr/lib", "/usr/lib64", "/usr/local/lib"].into_iter().map(|lib| Path::new(lib).join(name)).find(|f| f.is_file())
}

/// The folder of AMD's device libraries (`ocml.bc` and its like).
pub(crate) fn device_libs() -> Option<PathBuf> {
    let multiarch = Path::new("/usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH));
    [multiarch.join("amdgcn/bitcode"), "/usr/lib/amdgcn/bitcode".into(), "/usr/amdgcn/bitcode".into()]
        .into_iter()
        .find(|folder| folder.join("ocml.bc").is_file())
}

/// libclc for NVIDIA's target.
pub(crate) fn libclc() -> Option<PathBuf> {
    ["/usr/lib/clc/nvptx64--nvidiacl.bc", "/usr/share/clc/nvptx64--nvidiacl.bc"]
        .into_iter()
        .map(PathBuf::from)
        .find(|file| file.is_file())
}

/// A path below the packages of the virtual environment `folder`.
fn of_wheel(workspace: &Workspace, folder: &str, path: &str) -> Option<PathBuf> {
    let versions = std::fs::read_dir(workspace.path(folder).join("lib")).ok()?;
    versions
        .filter_map(|version| Some(version.ok()?.path().join("site-packages").join(path)))
        .find(|path| path.exists())
}

/// NVIDIA's assembler.
pub(crate) fn ptxas(workspace: &Workspace) -> Option<PathBuf> {
    of_wheel(workspace, "target/drivers/nvidia", "nvidia/cuda_nvcc/bin/ptxas").or_else(|| system::find_program("ptxas"))
}

/// The folder of the compiler zig, with its licence.
pub(crate) fn ziglang(workspace: &Workspace) -> Option<PathBuf> {
    let program = of_wheel(workspace, ZIG, "ziglang/zig")?;
    program.parent().map(Path::to_owned)
}

/// Installs, or says what a person has to do.
pub(crate) struct Installer {
    /// Why nothing may be installed.
    forbidden: Option<&'static str>,
}

impl Installer {
    pub(crate) fn new(no_install: bool) -> Installer {
        let by_environment = std::env::var_os("CLINALG_NO_INSTALL").is_some_and(|v| !v.is_empty() && v != "0");
        Installer {
            forbidden: match (no_install, by_environment) {
                (true, _) => Some("--no-install was given"),
                (false, true) => Some("CLINALG_NO_INSTALL is set"),
                (false, false) => None,
            },
        }
    }

    /// Has the system's package manager install `packages`.
    fn system(&self, manager: Option<Manager>, packages: &[&str], why: &str) -> Result<()> {
        let Some(manager) = manager else {
            bail!("no package manager found that is known here; {why} must be installed by hand");
        };
        if packages.is_empty() {
            bail!("no package of {manager:?} is known that brings {why}; install it by hand");
        }
        if let Some(reason) = self.forbidden {
            bail!("{reason}; for {why} run `{}`", manager.by_hand(packages));
        }
        println!("Installing {} for {why}", packages.join(", "));
        packages::install(manager, packages)
    }

    /// Has pip fill a virtual environment.
    fn wheel(&self, workspace: &Workspace, wheel: &Wheel, why: &str) -> Result<()> {
        let python = "python3";
        let pip = Path::new(wheel.folder).join("bin/pip");
        let mut create = workspace.command(python);
        create.args(["-m", "venv", wheel.folder]);
        let mut fill = workspace.command(&pip);
        fill.args(["install", "--quiet", "--disable-pip-version-check", "--retries", "2"]).args(wheel.packages);
        if let Some(reason) = self.forbidden {
            bail!("{reason}; for {why} run `{} && {}`", system::words(&create), system::words(&fill));
        }
        println!("Installing {} into {} for {why}", wheel.packages.join(", "), wheel.folder);
        // What an interrupted run left there may be half a package.
        system::fresh_folder(&workspace.path(wheel.folder))?;
        system::run(&mut create)?;
        system::run(&mut fill).or_else(|_| system::run(&mut fill))
    }
}

/// Sees to it that the program `clinalg`, which must have been built, finds an OpenCL device.
///
/// # Errors
/// If there is none and none can be installed, with the command a person may run.
pub(crate) fn device(workspace: &Workspace, installer: &Installer, profile: Profile) -> Result<()> {
    let ask = || -> Result<Result<String, String>> {
        let out = system::capture(workspace.program(profile).args(["devices", "--json"]))?;
        match out.status.code() {
            Some(0) => Ok(Ok(device_names(&out.stdout)?)),
            Some(NO_DEVICE) => Ok(Err(String::from_utf8_lossy(&out.stderr).trim().to_owned())),
            _ => bail!("`clinalg devices` ended with {}:\n{}", out.status, system::text(&out)),
        }
    };
    let missing = match ask()? {
        Ok(names) => {
            println!("OpenCL: {names}");
            return Ok(());
        }
        Err(words) => words,
    };
    println!("No OpenCL device found. The program says:\n  {missing}");
    let needs: Vec<Need> = [Need::Loader, Need::Pocl].into_iter().filter(|need| !need.is_there(workspace)).collect();
    if needs.is_empty() {
        bail!("the OpenCL loader and PoCL are installed, so installing does not help; see what the program says above");
    }
    let manager = Manager::detect(|program| system::find_program(program).is_some());
    let packages = packages_of(&needs, manager);
    installer.system(manager, &packages, "an OpenCL device (the CPU, through PoCL)")?;
    match ask()? {
        Ok(names) => {
            println!("OpenCL: {names}");
            Ok(())
        }
        Err(words) => bail!("{} installed, but still no OpenCL device: {words}", packages.join(", ")),
    }
}

/// The names of the devices, from the output of `clinalg devices --json`.
fn device_names(json: &[u8]) -> Result<String> {
    let devices: Vec<Value> = serde_json::from_slice(json).context("`clinalg devices --json` printed no list")?;
    let name = |device: &Value| Some(format!("{} ({})", device["name"].as_str()?, device["platform"].as_str()?));
    let names: Option<Vec<String>> = devices.iter().map(name).collect();
    Ok(names.context("each device of `devices --json` has name and platform")?.join(", "))
}

fn packages_of(needs: &[Need], manager: Option<Manager>) -> Vec<&'static str> {
    manager.map_or_else(Vec::new, |m| needs.iter().flat_map(|need| need.packages(m)).copied().collect())
}

/// Sees to it that `needs` are there.
///
/// # Errors
/// Names what is missing in the end, each with the reason; what could be installed stays installed.
pub(crate) fn provide(workspace: &Workspace, installer: &Installer, needs: &[Need]) -> Result<()> {
    let missing: Vec<Need> = needs.iter().copied().filter(|need| !need.is_there(workspace)).collect();
    let (wheels, system): (Vec<Need>, Vec<Need>) = missing.iter().partition(|need| need.wheel().is_some());
    let manager = Manager::detect(|program| system::find_program(program).is_some());
    let mut reasons = Vec::new();

    let mut packages = packages_of(&system, manager);
    if !wheels.is_empty() && !python_makes_environments() {
        packages.push("python3-venv");
    }
    if !system.is_empty() || !packages.is_empty() {
        let why = system.iter().map(|need| need.name()).collect::<Vec<_>>().join(", ");
        let why = if why.is_empty() { "Python's virtual environments".to_owned() } else { why };
        reasons.extend(installer.system(manager, &packages, &why).err());
    }
    for need in wheels {
        if let Some(wheel) = need.wheel() {
            let done = installer.wheel(workspace, &wheel, need.name());
            reasons.extend(done.err());
        }
    }

    let lacking: Vec<&str> = needs.iter().filter(|need| !need.is_there(workspace)).map(|need| need.name()).collect();
    if lacking.is_empty() {
        return Ok(());
    }
    let reasons: Vec<String> = reasons.iter().map(|reason| format!("\n  {reason:#}")).collect();
    Err(anyhow!("missing: {}{}", lacking.join(", "), reasons.concat()))
}

fn python_makes_environments() -> bool {
    system::capture_ok(Command::new("python3").args(["-c", "import venv, ensurepip"])).is_ok()
}

/// The folder whose one ICD file names the driver `library`, for `OCL_ICD_VENDORS`.
pub(crate) fn icd_folder(workspace: &Workspace, name: &str, library: &str) -> Result<PathBuf> {
    let folder = workspace.path("target/drivers/icd").join(name);
    system::write_file(&folder.join(format!("{name}.icd")), &format!("{library}\n"))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named() {
        let list = br#"[{"index": 0, "platform": "Portable Computing Language", "name": "cpu", "fp64": true}]"#;
        assert_eq!(device_names(list).unwrap(), "cpu (Portable Computing Language)");
        let two = br#"[{"platform": "P", "name": "a"}, {"platform": "Q", "name": "b"}]"#;
        assert_eq!(device_names(two).unwrap(), "a (P), b (Q)");
        assert!(device_names(b"no device").is_err());
        assert!(device_names(br#"[{"name": "x"}]"#).is_err());
    }

    #[test]
    fn on_debian_every_need_has_a_source() {
        for need in Need::ALL {
            assert!(!need.packages(Manager::Apt).is_empty() || need.wheel().is_some(), "{}", need.name());
        }
    }

    #[test]
    fn every_manager_knows_a_loader_and_pocl() {
        use Manager::{Apt, Brew, Dnf, Pacman, Zypper};
        for manager in [Apt, Dnf, Pacman, Zypper, Brew] {
            assert_eq!(packages_of(&[Need::Loader, Need::Pocl], Some(manager)).len(), 2, "{manager:?}");
        }
    }

    #[test]
    fn the_command_is_printed_where_nothing_may_be_installed() {
        let installer = Installer { forbidden: Some("--no-install was given") };
        let error = installer.system(Some(Manager::Apt), &["pocl-opencl-icd"], "PoCL").unwrap_err().to_string();
        assert_eq!(
            error,
            "--no-install was given; for PoCL run `sudo apt-get install --no-install-recommends pocl-opencl-icd`"
        );
        let workspace = Workspace::find().unwrap();
        let wheel = Need::Ptxas.wheel().unwrap();
        let error = installer.wheel(&workspace, &wheel, "ptxas").unwrap_err().to_string();
        assert!(error.contains("python3 -m venv target/drivers/nvidia && target/drivers/nvidia/bin/pip"), "{error}");
    }

    #[test]
    fn without_a_package_manager_we_say_so() {
        let installer = Installer { forbidden: None };
        let error = installer.system(None, &[], "PoCL").unwrap_err().to_string();
        assert!(error.contains("PoCL must be installed by hand"), "{error}");
    }
}
