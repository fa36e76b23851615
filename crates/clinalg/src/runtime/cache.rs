//! Built programs on disk.
//!
//! One file per program, named by a hash of all that its binary depends on, the driver's environment included. Only files that nobody else can have written are
//! loaded ([`trusted`]), and each carries a hash of its name and content; whatever is wrong with the folder or a file, the
//! caller builds from source. Files that were not used for long and leftovers of killed processes are removed, and the
//! size of the folder is bounded. The folder may hold files of other programs: only those with the name and the first bytes of
//! this cache are removed.

use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

use sha2::{Digest, Sha256};

use super::DeviceInfo;
use super::faults::{self, Quirk};
use super::host;
use super::trusted;

const MAGIC: &[u8] = b"clinalg kernel 3\n";
/// How the names of this cache's files end.
const SUFFIX: &str = ".clinalg-kernel";

/// How the names of environment variables begin that steer a driver's compiler, by driver. A kernel that was built under them may
/// differ.
const COMPILER_VARIABLES: &[(&str, &[&str])] = &[
    ("PoCL", &["POCL_"]),
    ("Intel's GPU driver", &["IGC_", "NEO"]),
    ("Intel's CPU runtime", &["CL_CONFIG_", "VOLCANO_"]),
    ("AMD", &["AMD_", "GPU_", "ROC_"]),
    ("NVIDIA", &["CUDA_FORCE_", "CUDA_DISABLE_", "NVVM_"]),
    ("Mesa's rusticl", &["RUSTICL_", "CLC_", "LP_", "GALLIVM_", "NIR_", "MESA_", "RADEON_"]),
];

/// Bytes of the largest file that is read.
const LARGEST: u64 = 64 << 20;
/// Bytes that all files of a folder may have together.
const MOST: u64 = 256 << 20;
/// Files that were not used for so long are removed.
const OLD: Duration = Duration::from_secs(90 * 24 * 3600);
/// A use is noted in a file's time once a day.
const NOTED: Duration = Duration::from_secs(24 * 3600);
/// After so long nobody is still writing a file.
const ABANDONED: Duration = Duration::from_secs(3600);
/// How long a process waits for another that builds the same program, and how often it looks.
const MAX_WAIT: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The folder is looked through at the first of so many stores of a process.
const STORES: u32 = 32;

/// The key of one built program.
pub(super) struct Key(String);

impl Key {
    pub(super) fn new(device: &DeviceInfo, source: &str, options: &str) -> Key {
        let lossy = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        Key::under(std::env::vars_os().map(|(name, value)| (lossy(name), lossy(value))), device, source, options)
    }

    /// The key in this environment.
    fn under(
        environment: impl Iterator<Item = (String, String)>,
        device: &DeviceInfo,
        source: &str,
        options: &str,
    ) -> Key {
        let steers =
            |name: &str| COMPILER_VARIABLES.iter().flat_map(|(_, all)| *all).any(|some| name.starts_with(some));
        let mut variables: Vec<String> =
            environment.filter(|(name, _)| steers(name)).map(|(name, value)| format!("{name}={value}")).collect();
        variables.sort_unstable();
        let variables = variables.join("\0");
        let mut hash = Sha256::new();
        let parts = [
            env!("CARGO_PKG_VERSION"),
            &device.platform,
            &device.platform_version,
            &device.vendor,
            &device.name,
            &device.version,
            &device.driver,
            &variables,
            options,
            source,
        ];
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Key(hex(&hash.finalize()))
    }

    fn file_name(&self) -> String {
        format!("{}{SUFFIX}", self.0)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The folder for programs of `device`: `CLINALG_CACHE_DIR`, where an empty value means none, else the user's cache
/// folder unless the driver keeps compiled kernels itself and binaries cost time.
pub(super) fn folder(device: &DeviceInfo) -> Option<PathBuf> {
    match std::env::var_os("CLINALG_CACHE_DIR") {
        Some(dir) if dir.is_empty() => None,
        Some(dir) => Some(PathBuf::from(dir)),
        None if faults::of(device).any(|f| f.quirk == Quirk::OwnKernelCache) => None,
        None => directories::ProjectDirs::from("", "", "clinalg").map(|d| d.cache_dir().join("kernels")),
    }
}

/// The kernels on disk that are built for any device with the same folder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelCache {
    /// Where they are.
    pub folder: PathBuf,
    /// How many files, each of one program.
    pub files: usize,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl KernelCache {
    /// The cache of `device`; `None` if only its driver keeps compiled kernels, or if `CLINALG_CACHE_DIR` is empty.
    pub fn of(device: &DeviceInfo) -> Option<KernelCache> {
        let folder = folder(device)?;
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let own = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_file_name));
        let sizes = own.filter_map(|entry| Some(entry.metadata().ok()?.len()));
        let (files, bytes) = sizes.fold((0, 0), |(files, bytes), size| (files + 1, bytes + size));
        Some(KernelCache { folder, files, bytes })
    }
}

/// The hash that a file holds: the key is a part of it, so that no file passes for another.
fn sum(key: &Key, binary: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(&key.0).chain_update(binary).finalize().into()
}

/// The binary stored in `folder` under `key`, if there is a sound one.
pub(super) fn load(folder: &Path, key: &Key) -> Option<Vec<u8>> {
    let name = key.file_name();
    let path = folder.join(&name);
    let bytes = match trusted::read(folder, &name, LARGEST) {
        Ok(bytes) => bytes,
        Err(error) => {
            if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
                log::warn!("kernel cache file {} is not used: {error}", path.display());
            }
            return None;
        }
    };
    let binary = bytes.strip_prefix(MAGIC).and_then(|rest| {
        let (stored, binary) = rest.split_at_checked(32)?;
        (sum(key, binary) == stored).then(|| binary.to_vec())
    });
    match binary {
        None => log::warn!("damaged kernel cache file {} is ignored and replaced", path.display()),
        Some(_) => note_use(&path),
    }
    binary
}

/// A lock, held while a program is built: other processes wait for the file instead of building the same program.
pub(super) struct BuildLock {
    path: PathBuf,
    /// Whether another process held the lock before. Unless that process failed, it has stored the program.
    pub(super) waited: bool,
    _locked: File,
}

impl BuildLock {
    /// `None` where the folder takes no locks, and where the other process is still building after [`MAX_WAIT`].
    pub(super) fn acquire(folder: &Path, key: &Key) -> Option<BuildLock> {
        trusted::make_folder(folder).ok()?;
        let path = folder.join(trusted::name_while_written(&key.file_name(), "building"));
        let file = trusted::create(&path).ok()?;
        let started = Instant::now();
        let mut waited = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Some(BuildLock { path, waited, _locked: file }),
                Err(TryLockError::WouldBlock) if started.elapsed() < MAX_WAIT => std::thread::sleep(POLL_INTERVAL),
                Err(_) => return None,
            }
            waited = true;
        }
    }
}

impl Drop for BuildLock {
    fn drop(&mut self) {
        // A waiting process has the file open. If the file remains, it is removed with the leftovers of killed processes.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Puts off the removal of a file that was used.
fn note_use(path: &Path) {
    let now = SystemTime::now();
    let noted = trusted::open(path).and_then(|file| match age(&file.metadata()?, now) > NOTED {
        true => file.set_modified(now),
        false => Ok(()),
    });
    if let Err(error) = noted {
        log::debug!("the use of {} cannot be noted: {error}", path.display());
    }
}

fn age(metadata: &std::fs::Metadata, now: SystemTime) -> Duration {
    metadata.modified().ok().and_then(|time| now.duration_since(time).ok()).unwrap_or_default()
}

/// Stores `binary` in `folder` under `key`; failure costs time at the next start and nothing else.
pub(super) fn store(folder: &Path, key: &Key, binary: &[u8]) {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    if host::fails() {
        return log::info!("kernel cache {} cannot be written", folder.display());
    }
    if let Err(error) = trusted::write(folder, &key.file_name(), &[MAGIC, &sum(key, binary), binary]) {
        return log::info!("kernel cache {} cannot be written: {error}", folder.display());
    }
    if COUNT.fetch_add(1, Ordering::Relaxed).is_multiple_of(STORES)
        && let Err(error) = clean(folder, MOST, SystemTime::now())
    {
        log::info!("kernel cache {} cannot be cleaned: {error}", folder.display());
    }
}

/// Removes what is stored in `folder` under `key`, after a driver refused it.
pub(super) fn remove(folder: &Path, key: &Key) {
    // Nothing depends on the removal: the next store replaces the file.
    let _ = std::fs::remove_file(folder.join(key.file_name()));
}

/// Removes old files and leftovers of killed processes, then those not used for longest until at most `most` bytes are
/// left. Touches only files with a name that this cache gives and its first bytes.
fn clean(folder: &Path, most: u64, now: SystemTime) -> io::Result<()> {
    let mut kept = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let partial = trusted::name_of_partial(name).is_some_and(is_file_name);
        if !partial && !is_file_name(name) {
            continue;
        }
        // Another process may have removed it.
        let Ok(metadata) = entry.path().symlink_metadata() else { continue };
        let age = age(&metadata, now);
        if age > if partial { ABANDONED } else { OLD } {
            remove_entry(&entry.path());
        } else if !partial {
            kept.push((age, metadata.len(), entry.path()));
        }
    }
    kept.sort_unstable();
    let mut total = 0;
    for (_, len, path) in kept {
        total += len;
        if total > most {
            remove_entry(&path);
        }
    }
    Ok(())
}

fn is_file_name(name: &str) -> bool {
    name.strip_suffix(SUFFIX).is_some_and(|key| key.len() == 64 && key.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Removes a file of this cache, or what of it a killed process left.
fn remove_entry(path: &Path) {
    let head = trusted::open(path).and_then(|file| {
        let mut head = Vec::new();
        file.take(MAGIC.len() as u64).read_to_end(&mut head).map(|_| head)
    });
    if !head.is_ok_and(|head| MAGIC.starts_with(&head)) {
        return log::debug!("{} is no file of the kernel cache and stays", path.display());
    }
    if let Err(error) = std::fs::remove_file(path) {
        log::debug!("{} cannot be removed: {error}", path.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::DeviceKind;

    fn device() -> DeviceInfo {
        let text = |what: &str| what.to_owned();
        DeviceInfo {
            index: 0,
            platform: text("platform"),
            platform_version: text("platform version"),
            vendor: text("vendor"),
            name: text("name"),
            version: text("version"),
            c_version: text("language version"),
            driver: text("driver"),
            kind: DeviceKind::Cpu,
            fp64: true,
            compute_units: 1,
            global_mem: 1,
            max_alloc: 1,
            local_mem: 1,
            max_work_group: 1,
            clock_mhz: 0,
            int64_atomics: false,
            sub_groups: false,
            correctly_rounded_divide_sqrt: false,
            tensor_f64: 0,
            l1_no_allocate: false,
            unified_memory: false,
            extensions: Vec::new(),
        }
    }

    #[test]
    fn the_key_depends_on_all_that_the_binary_depends_on() {
        let changed = |change: fn(&mut DeviceInfo)| {
            let mut device = device();
            change(&mut device);
            Key::under(std::iter::empty(), &device, "source", "options").0
        };
        let under = |variables: &[(&str, &str)]| {
            let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            Key::under(variables, &device(), "source", "options").0
        };
        let keys = [
            changed(|_| {}),
            changed(|d| d.platform += "2"),
            changed(|d| d.platform_version += "2"),
            changed(|d| d.vendor += "2"),
            changed(|d| d.name += "2"),
            changed(|d| d.version += "2"),
            changed(|d| d.driver += "2"),
            Key::under(std::iter::empty(), &device(), "source2", "options").0,
            Key::under(std::iter::empty(), &device(), "source", "options2").0,
            // A part that ends where the next begins is another pair of parts.
            Key::under(std::iter::empty(), &device(), "ssource", "option").0,
            changed(|d| (d.vendor, d.name) = ("vendorn".to_owned(), "ame".to_owned())),
            under(&[("POCL_WORK_GROUP_METHOD", "loops")]),
            under(&[("POCL_WORK_GROUP_METHOD", "cbs")]),
            under(&[("IGC_DisableLoopUnroll", "1")]),
            under(&[("AMD_OCL_BUILD_OPTIONS_APPEND", "-O0")]),
            under(&[("AMD_OCL_BUILD_OPTIONS_APPEND", "-O0"), ("POCL_WORK_GROUP_METHOD", "loops")]),
        ];
        for (i, key) in keys.iter().enumerate() {
            assert!(key.len() == 64 && !keys[..i].contains(key), "key {i}");
        }
        // The place in the list of devices is no part of it.
        assert_eq!(changed(|d| d.index = 1), keys[0]);
        // Neither are variables that no compiler reads, nor the order of those that one does.
        assert_eq!(under(&[("HOME", "/root"), ("LANG", "C")]), keys[0]);
        let two = [("POCL_WORK_GROUP_METHOD", "loops"), ("AMD_OCL_BUILD_OPTIONS_APPEND", "-O0")];
        assert_eq!(&under(&two), keys.last().unwrap());
    }

    fn key(source: &str) -> Key {
        Key::new(&device(), source, "options")
    }

    #[test]
    fn binaries_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("kernels");
        assert_eq!(load(&folder, &key("a")), None);
        store(&folder, &key("a"), b"binary a");
        store(&folder, &key("b"), b"");
        assert_eq!(load(&folder, &key("a")).unwrap(), b"binary a");
        assert_eq!(load(&folder, &key("b")).unwrap(), b"");
        remove(&folder, &key("a"));
        assert_eq!(load(&folder, &key("a")), None);
    }

    #[test]
    fn the_second_to_build_a_program_waits_for_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let first = BuildLock::acquire(folder, &key("a")).unwrap();
        assert!(!first.waited && !BuildLock::acquire(folder, &key("b")).unwrap().waited);
        std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                let lock = BuildLock::acquire(folder, &key("a")).unwrap();
                (lock.waited, load(folder, &key("a")))
            });
            std::thread::sleep(10 * POLL_INTERVAL);
            assert!(!second.is_finished());
            store(folder, &key("a"), b"binary a");
            drop(first);
            assert_eq!(second.join().unwrap(), (true, Some(b"binary a".to_vec())));
        });
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1);
    }

    #[test]
    fn damaged_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        store(folder, &key("a"), b"binary a");
        store(folder, &key("b"), b"binary b");
        let path = folder.join(key("a").file_name());
        let sound = std::fs::read(&path).unwrap();
        for len in 0..sound.len() {
            std::fs::write(&path, &sound[..len]).unwrap();
            assert_eq!(load(folder, &key("a")), None, "cut to {len} bytes");
        }
        for bit in 0..sound.len() * 8 {
            let mut damaged = sound.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &damaged).unwrap();
            assert_eq!(load(folder, &key("a")), None, "bit {bit}");
        }
        // A sound file under another's name.
        std::fs::copy(folder.join(key("b").file_name()), &path).unwrap();
        assert_eq!(load(folder, &key("a")), None);
        store(folder, &key("a"), b"binary a");
        assert_eq!(load(folder, &key("a")).unwrap(), b"binary a");
    }

    #[cfg(unix)]
    #[test]
    fn files_of_others_are_refused_and_replaced() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let path = folder.join(key("a").file_name());
        store(folder, &key("a"), b"binary a");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(load(folder, &key("a")), None);
        store(folder, &key("a"), b"binary a");
        assert!(load(folder, &key("a")).is_some());
        std::fs::rename(&path, folder.join("elsewhere")).unwrap();
        symlink(folder.join("elsewhere"), &path).unwrap();
        assert_eq!(load(folder, &key("a")), None);
        store(folder, &key("a"), b"binary a");
        assert!(load(folder, &key("a")).is_some());
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(load(folder, &key("a")), None);
        store(folder, &key("c"), b"binary c");
        assert!(!folder.join(key("c").file_name()).exists());
    }

    #[test]
    fn old_files_leftovers_and_what_is_too_much_go() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let now = SystemTime::now();
        let put = |name: &str, days: f64, content: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, content).unwrap();
            File::options()
                .append(true)
                .open(&path)
                .unwrap()
                .set_modified(now - Duration::from_secs_f64(days * 86400.0))
                .unwrap();
        };
        let own = [MAGIC, &[0; 100]].concat()[..100].to_vec();
        let keys: Vec<String> = ["a", "b", "c", "d"].iter().map(|source| key(source).file_name()).collect();
        for (key, days) in keys.iter().zip([1.0, 2.0, 3.0, 91.0]) {
            put(key, days, &own);
        }
        let partial = |middle: &str| format!(".{}.{middle}.partial", key("e").file_name());
        put(&partial("new"), 0.01, b"");
        put(&partial("old"), 0.1, &MAGIC[..3]);
        // Other programs' files, in a folder that is shared.
        let foreign = [
            "a file of the user's".to_owned(),
            "0".repeat(64),
            format!("{}{SUFFIX}", "1".repeat(64)),
            ".clinalg-settings".to_owned(),
            ".clinalg-old".to_owned(),
            partial("other"),
        ];
        for name in &foreign {
            put(name, 1000.0, b"not of this cache");
        }
        let names = || {
            let mut names: Vec<_> =
                std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
            names.sort_unstable();
            names
        };
        let expect = |keys: &[String]| {
            let mut all: Vec<String> = keys.to_vec();
            all.extend(foreign.iter().cloned().chain([partial("new")]));
            all.sort_unstable();
            assert_eq!(names(), all);
        };
        clean(folder, 1000, now).unwrap();
        expect(&keys[..3]);
        clean(folder, 250, now).unwrap();
        expect(&keys[..2]);
        // A use puts the removal off.
        store(folder, &key("a"), b"used");
        let path = folder.join(&keys[0]);
        File::options().append(true).open(&path).unwrap().set_modified(now - OLD).unwrap();
        assert!(load(folder, &key("a")).is_some());
        assert!(age(&path.metadata().unwrap(), SystemTime::now()) < NOTED);
    }
}
