//! Built programs on disk.
//!
//! One file per program, named by a hash of all that its binary depends on. A file is written
//! beside its final place and renamed, and carries a hash of its content; whatever is wrong with
//! the folder or a file, the caller builds from source.

use std::io::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::DeviceInfo;
use super::faults::{self, Quirk};

const MAGIC: &[u8] = b"clinalg kernel 1\n";

/// The key of one built program.
pub(super) struct Key(String);

impl Key {
    pub(super) fn new(device: &DeviceInfo, source: &str, options: &str) -> Key {
        let mut hash = Sha256::new();
        let parts = [
            env!("CARGO_PKG_VERSION"),
            &device.platform,
            &device.platform_version,
            &device.vendor,
            &device.name,
            &device.version,
            &device.driver,
            options,
            source,
        ];
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Key(hex(&hash.finalize()))
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

/// The binary stored in `folder` under `key`, if there is a sound one.
pub(super) fn load(folder: &Path, key: &Key) -> Option<Vec<u8>> {
    let path = folder.join(&key.0);
    let bytes = std::fs::read(&path).ok()?;
    let binary = bytes.strip_prefix(MAGIC).and_then(|rest| {
        let (sum, binary) = rest.split_at_checked(32)?;
        (Sha256::digest(binary).as_slice() == sum).then(|| binary.to_vec())
    });
    if binary.is_none() {
        log::warn!("damaged kernel cache file {} is ignored and replaced", path.display());
    }
    binary
}

/// Stores `binary` in `folder` under `key`; failure costs time at the next start and nothing else.
pub(super) fn store(folder: &Path, key: &Key, binary: &[u8]) {
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(MAGIC)?;
        file.write_all(&Sha256::digest(binary))?;
        file.write_all(binary)?;
        file.persist(folder.join(&key.0)).map_err(|e| e.error)?;
        Ok(())
    };
    if let Err(error) = write() {
        log::info!("kernel cache {} cannot be written: {error}", folder.display());
    }
}

/// Removes what is stored in `folder` under `key`, after a driver refused it.
pub(super) fn remove(folder: &Path, key: &Key) {
    // Nothing depends on the removal: the next store replaces the file.
    let _ = std::fs::remove_file(folder.join(&key.0));
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
            tensor_f64: 0,
            unified_memory: false,
            extensions: Vec::new(),
        }
    }

    #[test]
    fn the_key_depends_on_all_that_the_binary_depends_on() {
        let changed = |change: fn(&mut DeviceInfo)| {
            let mut device = device();
            change(&mut device);
            Key::new(&device, "source", "options").0
        };
        let keys = [
            changed(|_| {}),
            changed(|d| d.platform += "2"),
            changed(|d| d.platform_version += "2"),
            changed(|d| d.vendor += "2"),
            changed(|d| d.name += "2"),
            changed(|d| d.version += "2"),
            changed(|d| d.driver += "2"),
            Key::new(&device(), "source2", "options").0,
            Key::new(&device(), "source", "options2").0,
            // A part that ends where the next begins is another pair of parts.
            Key::new(&device(), "ssource", "option").0,
            changed(|d| (d.vendor, d.name) = ("vendorn".to_owned(), "ame".to_owned())),
        ];
        for (i, key) in keys.iter().enumerate() {
            assert!(key.len() == 64 && !keys[..i].contains(key), "key {i}");
        }
        // The place in the list of devices is no part of it.
        assert_eq!(changed(|d| d.index = 1), keys[0]);
    }
}
