//! Archives for machines without Rust: the program, the C library, the folder for MATLAB, the package for Octave.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::elf;
use crate::install;
use crate::matlab;
use crate::notices;
use crate::products::{GLIBC, Products};
use crate::setup::{self, Installer, Need};
use crate::system::{self, Profile, Workspace};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What the names of the archives end with.
const PLATFORM: &str = "linux-x86_64";

/// Packed archives.
pub(crate) struct Archives {
    /// The program with completions and manual pages.
    pub(crate) program: PathBuf,
    /// The C library.
    pub(crate) library: PathBuf,
    /// The folder for MATLAB and Octave.
    pub(crate) matlab: PathBuf,
    /// The package for `pkg install`.
    pub(crate) octave: PathBuf,
    /// The newest symbol version of the C library in any of them.
    pub(crate) glibc: (u32, u32),
}

/// Builds and packs; gives the archives.
pub(crate) fn run(workspace: &Workspace, installer: &Installer, profile: Profile) -> Result<Archives> {
    setup::provide(workspace, installer, &[Need::Zig])?;
    let products = Products::portable(workspace, profile)?;
    let folder = match profile {
        Profile::Dev => "target/dist-dev",
        Profile::Release => "target/dist-release",
        Profile::Dist => "target/dist",
    };
    pack(workspace, &products, &workspace.path(folder))
}

/// What the archive of a name holds at its top, for a person who has unpacked it.
fn read_me(words: &str) -> String {
    format!(
        "clinalg {VERSION}: linear algebra on any OpenCL device\n\n{words}\n\n\
         Needed: Linux on x86-64 with the GNU C library {}.{} or newer, an OpenCL loader (libOpenCL.so.1) and a driver\n\
         for the device. On Debian and Ubuntu\n\n    apt-get install ocl-icd-libopencl1 pocl-opencl-icd\n\n\
         installs a loader and a driver for the CPU; a driver for a GPU comes from its vendor.\n\n\
         Licence: MIT or Apache-2.0 (LICENSE-MIT, LICENSE-APACHE); that of the code of others in {}.\n",
        GLIBC.0,
        GLIBC.1,
        notices::FILE
    )
}

const PROGRAM: &str = "bin/clinalg is the program; it runs from any folder. With this folder as $DIR:\n\n    \
                       export PATH=\"$DIR/bin:$PATH\" MANPATH=\"$DIR/share/man:\"\n    clinalg devices\n    man clinalg\n\n\
                       The completions of bash, zsh and fish are below share/. To install for all users, copy bin and share into\n\
                       /usr/local.";
const LIBRARY: &str = "The C library with headers for C99 and C++11. The folder may be moved. With this folder as $DIR:\n\n    \
                       cmake -S share/doc/clinalg/examples/cpp -B build -DCMAKE_PREFIX_PATH=\"$DIR\"\n    \
                       PKG_CONFIG_PATH=\"$DIR/lib/pkgconfig\" pkg-config --cflags --libs clinalg\n\n\
                       Programs linked by pkg-config find the shared library through LD_LIBRARY_PATH=\"$DIR/lib\".";
const MATLAB: &str = "In MATLAB or GNU Octave, with this folder as DIR:\n\n    addpath DIR\n    \
                      help clinalg\n    A = rand(500); x = rand(500, 1); norm(clinalg.matrix(A) * clinalg.vector(x) - A * x)\n\n\
                      clinalg_mex.mexa64 serves MATLAB, the same file as clinalg_mex.mex GNU Octave. Examples are in examples/.";

/// Packs products into a new folder, with the sums of the archives, and checks what their files need.
pub(crate) fn pack(workspace: &Workspace, products: &Products, folder: &Path) -> Result<Archives> {
    system::fresh_folder(folder)?;
    let stage = folder.join("stage");
    let notices = notices::text(workspace)?;
    let licences = |place: &Path| -> Result<()> {
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            install::copy(&workspace.path(licence), &place.join(licence))?;
        }
        system::write_file(&place.join(notices::FILE), &notices)
    };
    let root = |name: &str| stage.join(format!("{name}-{VERSION}-{PLATFORM}"));
    let archive = |root: &Path| -> Result<PathBuf> {
        let name = root.file_name().context("a folder has a name")?.to_string_lossy();
        system::pack(root, &folder.join(format!("{name}.tar.gz")))
    };

    let program = root("clinalg");
    install::place_program(products, &program)?;
    licences(&program)?;
    system::write_file(&program.join("README.txt"), &read_me(PROGRAM))?;

    let library = root("libclinalg");
    install::place(workspace, products, &library)?;
    for language in ["c", "cpp"] {
        let place = library.join("share/doc/clinalg/examples").join(language);
        install::copy_folder(&workspace.path("examples").join(language), &place)?;
    }
    licences(&library)?;
    system::write_file(&library.join("README.txt"), &read_me(LIBRARY))?;

    let hosts = root("clinalg-matlab");
    matlab::place(workspace, products, &hosts)?;
    licences(&hosts)?;
    system::write_file(&hosts.join("README.txt"), &read_me(MATLAB))?;

    // `pkg` wants the folder named so.
    let package = stage.join(matlab::package());
    matlab::place_package(workspace, products, &package)?;
    licences(&package)?;

    let glibc = check(&stage)?;
    let octave = folder.join(format!("clinalg-octave-{VERSION}-{PLATFORM}.tar.gz"));
    let archives = Archives {
        program: archive(&program)?,
        library: archive(&library)?,
        matlab: archive(&hosts)?,
        octave: system::pack(&package, &octave)?,
        glibc,
    };
    std::fs::remove_dir_all(&stage)?;
    let mut sums = workspace.command("sha256sum");
    sums.current_dir(folder);
    for file in [&archives.program, &archives.library, &archives.matlab, &archives.octave] {
        sums.arg(file.file_name().context("an archive has a name")?);
        println!("{} ({} MB)", file.display(), std::fs::metadata(file)?.len().div_ceil(1_000_000));
    }
    let sums = system::text(&system::capture_ok(&mut sums)?) + "\n";
    system::write_file(&folder.join("SHA256SUMS"), &sums)?;
    println!("their files need the GNU C library {}.{} or newer", glibc.0, glibc.1);
    Ok(archives)
}

/// Checks every dynamic file below `folder`; gives the newest version of the C library that one needs.
fn check(folder: &Path) -> Result<(u32, u32)> {
    let mut newest = (0, 0);
    let mut count = 0;
    for file in dynamic_files(folder)? {
        let needs = elf::Needs::of(&file)?;
        newest = newest.max(needs.check(GLIBC).with_context(|| format!("{} is not portable", file.display()))?);
        count += 1;
    }
    ensure!(count >= 4, "only {count} dynamic files are packed: the program and three libraries are missing");
    Ok(newest)
}

/// The programs and shared libraries below `folder`, by their first bytes.
fn dynamic_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            files.extend(dynamic_files(&path)?);
        } else if entry.file_type()?.is_file() && begins_as_elf(&path)? {
            files.push(path);
        }
    }
    Ok(files)
}

fn begins_as_elf(file: &Path) -> Result<bool> {
    use std::io::Read as _;
    let mut first = Vec::new();
    std::fs::File::open(file)?.take(4).read_to_end(&mut first)?;
    Ok(first == b"\x7fELF")
}
