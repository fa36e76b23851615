//! Tuning tables: the files, and whether they suit a device.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{CLASSES, Choice, Operation, class};
use crate::runtime::trusted;
use crate::{DeviceInfo, Error, Precision, Result};

/// A result whose error says why a table cannot be used.
pub(crate) type Checked<T> = std::result::Result<T, String>;

/// Bytes of the largest file that is read.
const LARGEST: u64 = 16 << 20;

/// The version of the format that this library reads and writes.
const FORMAT: u32 = 2;

/// Tables that come with the library: part of the platform's name, part of the device's name, the file.
const SHIPPED: &[(&str, &str, &str)] = &[
    ("NVIDIA CUDA", "NVIDIA H200", include_str!("tables/nvidia-h200.toml")),
    ("Portable Computing Language", "", include_str!("tables/pocl.toml")),
];

/// Launch parameters measured on one device.
///
/// In a file:
/// ```toml
/// format = 2
/// platform = "NVIDIA CUDA"
/// device = "NVIDIA H200"
/// driver = "580.82.07"
/// choices = [
///   { operation = "reduce", precision = "f64", sizes = [20, 35], local = 256, width = 2, groups = 8 },
/// ]
/// problems = [
///   { operation = "ode", problem = "rk4-6b1f0c2d93a4e857", precision = "f64", sizes = [22, 22], variant = "grid", nanoseconds = 541000, links = 4 },
/// ]
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Version of the format.
    pub format: u32,
    /// The platform's name.
    pub platform: String,
    /// The device's name.
    pub device: String,
    /// The driver's version; any where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// The parameters found; later entries win.
    pub choices: Vec<Entry>,
    /// What was chosen for classes of problems.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// What was chosen for a class of problems: an algorithm with its parameters, which whoever asks for it checks against what the
/// problem allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What chooses.
    pub operation: String,
    /// The class of problems, in a word of its operation's making.
    pub problem: String,
    /// The precision.
    pub precision: Precision,
    /// First and last size class, see [`class`](super::class).
    pub sizes: [usize; 2],
    /// The algorithm chosen.
    pub variant: String,
    /// What it took when it was chosen.
    pub nanoseconds: u64,
    /// Its parameters by their names.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, u32>,
}

impl Problem {
    /// Whether the entry is for these problems.
    fn is_for(&self, operation: &str, problem: &str, precision: Precision, class: usize) -> bool {
        (self.operation.as_str(), self.problem.as_str(), self.precision) == (operation, problem, precision)
            && (self.sizes[0]..=self.sizes[1]).contains(&class)
    }
}

/// The parameters of one operation in one precision, for a range of sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The operation's name.
    pub operation: String,
    /// The precision.
    pub precision: Precision,
    /// First and last size class, see [`class`](super::class).
    pub sizes: [usize; 2],
    /// The parameters by their names.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, u32>,
}

impl Entry {
    /// The entry of `choice` for the size classes `sizes`.
    pub fn new(operation: &Operation, precision: Precision, sizes: [usize; 2], choice: &Choice) -> Entry {
        let names = operation.parameters.iter().map(|(name, _)| (*name).to_owned());
        Entry { operation: operation.name.into(), precision, sizes, parameters: names.zip(*choice).collect() }
    }

    /// The choice, if the entry has all parameters of the operation and no other.
    fn choice(&self, operation: &Operation) -> Checked<Choice> {
        let names = operation.parameters;
        let mut choice = Choice::default();
        for (place, (name, _)) in choice.iter_mut().zip(names) {
            *place = *self.parameters.get(*name).ok_or_else(|| format!("{} lacks `{name}`", self.operation))?;
        }
        if let Some(name) = self.parameters.keys().find(|key| names.iter().all(|(name, _)| name != key)) {
            return Err(format!("{} has no parameter `{name}`", self.operation));
        }
        Ok(choice)
    }
}

fn check_sizes(sizes: [usize; 2]) -> Checked<()> {
    if sizes[0] > sizes[1] || sizes[1] >= CLASSES {
        return Err(format!("size classes are 0 to {}, got {sizes:?}", CLASSES - 1));
    }
    Ok(())
}

impl Table {
    /// An empty table for a device and its driver.
    pub fn new(device: &DeviceInfo) -> Table {
        Table {
            format: FORMAT,
            platform: device.platform.clone(),
            device: device.name.clone(),
            driver: Some(device.driver.clone()),
            choices: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Reads the text of a file.
    fn parse(text: &str) -> Checked<Table> {
        let table: Table = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        if table.format != FORMAT {
            return Err(format!("its format is {}, this library reads {FORMAT}", table.format));
        }
        let sizes = table.choices.iter().map(|entry| entry.sizes);
        sizes.chain(table.problems.iter().map(|entry| entry.sizes)).try_for_each(check_sizes)?;
        Ok(table)
    }

    /// The file's text, one line an entry.
    fn text(&self) -> String {
        let quoted = |text: &str| toml::Value::from(text).to_string();
        let mut text = String::from("# Launch parameters found by `clinalg tune`; `sizes` are binary logarithms.\n");
        let mut line = |name: &str, value: String| writeln!(text, "{name} = {value}").expect("a string takes all");
        line("format", self.format.to_string());
        line("platform", quoted(&self.platform));
        line("device", quoted(&self.device));
        if let Some(driver) = &self.driver {
            line("driver", quoted(driver));
        }
        text.push_str("choices = [\n");
        for entry in &self.choices {
            let which = format!("operation = {}", quoted(&entry.operation));
            text.push_str(&line_of(&which, entry.precision, entry.sizes, "", &entry.parameters));
        }
        text.push_str("]\n");
        if !self.problems.is_empty() {
            text.push_str("problems = [\n");
            for entry in &self.problems {
                let which = format!("operation = {}, problem = {}", quoted(&entry.operation), quoted(&entry.problem));
                let what = format!(", variant = {}, nanoseconds = {}", quoted(&entry.variant), entry.nanoseconds);
                text.push_str(&line_of(&which, entry.precision, entry.sizes, &what, &entry.parameters));
            }
            text.push_str("]\n");
        }
        text
    }

    /// What the table has for a class of problems of `n` elements.
    pub fn problem(&self, operation: &str, problem: &str, precision: Precision, n: usize) -> Option<&Problem> {
        self.problems.iter().rev().find(|entry| entry.is_for(operation, problem, precision, class(n)))
    }

    /// Puts `entry` in place of what the table has for the same class of problems and sizes.
    pub fn keep(&mut self, entry: Problem) {
        let Problem { operation, problem, precision, sizes, .. } = &entry;
        self.problems
            .retain(|old| !(sizes[0]..=sizes[1]).any(|class| old.is_for(operation, problem, *precision, class)));
        self.problems.push(entry);
    }

    /// The entries of an operation with their choices, or why the device cannot use them.
    pub(crate) fn choices_of(&self, operation: &Operation, device: &DeviceInfo) -> Checked<Vec<(&Entry, Choice)>> {
        let checked = |entry| {
            let choice = Entry::choice(entry, operation)
                .map_err(|why| format!("the tuning table for {}: {why}", self.device))?;
            if operation.fits(device, entry.precision, &choice) {
                return Ok((entry, choice));
            }
            Err(format!(
                "the tuning table for {} requests {} in {}, which {} does not support",
                self.device,
                operation.words(&choice),
                operation.name,
                device.name
            ))
        };
        self.choices.iter().filter(|entry| entry.operation == operation.name).map(checked).collect()
    }

    /// Puts `found` in place of what the table has for the same operations and precisions.
    pub fn replace(&mut self, found: Vec<Entry>) {
        let same = |a: &Entry, b: &Entry| a.operation == b.operation && a.precision == b.precision;
        self.choices.retain(|old| !found.iter().any(|new| same(old, new)));
        self.choices.extend(found);
        self.choices.sort_by(|a, b| (&a.operation, a.precision, a.sizes).cmp(&(&b.operation, b.precision, b.sizes)));
    }

    /// The user's table of a device, empty where there is none that can be read.
    pub fn of_user(device: &DeviceInfo) -> Table {
        user(device).and_then(|table| table.ok()).unwrap_or_else(|| Table::new(device))
    }

    /// The user's table of a device with what this process has [kept](keep).
    pub fn in_force(device: &DeviceInfo) -> Table {
        let (mut table, mut own) = (Table::of_user(device), own());
        of_process(&mut own, device).problems.iter().for_each(|entry| table.keep(entry.clone()));
        table
    }

    /// Writes the table as the user's table of `device`, for contexts made from then on. Returns the file.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be written, or [`Error::Value`] when `CLINALG_TUNE_DIR` is empty: no folder.
    pub fn save(&self, device: &DeviceInfo) -> Result<PathBuf> {
        let Some(folder) = folder() else {
            return Err(Error::value("CLINALG_TUNE_DIR", "a folder for tuning tables", "none"));
        };
        let name = file_name(device);
        let path = folder.join(&name);
        match trusted::write(&folder, &name, &[self.text().as_bytes()]) {
            Ok(()) => Ok(path),
            Err(source) => Err(Error::Io { path, source }),
        }
    }
}

/// What this process has kept, in a table for each device.
static OWN: Mutex<Vec<Table>> = Mutex::new(Vec::new());

fn own() -> MutexGuard<'static, Vec<Table>> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The table of this process for a device.
fn of_process<'t>(own: &'t mut Vec<Table>, device: &DeviceInfo) -> &'t mut Table {
    let empty = Table::new(device);
    let is_same = |table: &Table| {
        (&table.platform, &table.device, &table.driver) == (&empty.platform, &empty.device, &empty.driver)
    };
    let place = own.iter().position(is_same).unwrap_or(own.len());
    if place == own.len() {
        own.push(empty);
    }
    &mut own[place]
}

/// Keeps a choice for the rest of this process and, in the user's table, for others. That the table cannot be written is a warning, once.
pub fn keep(device: &DeviceInfo, entry: Problem) {
    static FAILED: Once = Once::new();
    of_process(&mut own(), device).keep(entry.clone());
    if folder().is_none() {
        return;
    }
    // Read again: others may have written since.
    let mut table = Table::of_user(device);
    table.keep(entry);
    if let Err(error) = table.save(device) {
        FAILED.call_once(|| log::warn!("what trials chose is lost at the end of this process: {error}"));
    }
}

/// An entry as a line of a file.
fn line_of(
    which: &str,
    precision: Precision,
    sizes: [usize; 2],
    what: &str,
    parameters: &BTreeMap<String, u32>,
) -> String {
    let precision = match precision {
        Precision::F32 => "f32",
        Precision::F64 => "f64",
    };
    let parameters: String = parameters.iter().map(|(name, value)| format!(", {name} = {value}")).collect();
    format!("  {{ {which}, precision = \"{precision}\", sizes = {sizes:?}{what}{parameters} }},\n")
}

/// The folder of the user's tables: `CLINALG_TUNE_DIR`, where an empty value means none, else `tuning` in the folder
/// that the system has for a user's data of `clinalg`.
pub fn folder() -> Option<PathBuf> {
    match std::env::var_os("CLINALG_TUNE_DIR") {
        Some(dir) if dir.is_empty() => None,
        Some(dir) => Some(PathBuf::from(dir)),
        None => directories::ProjectDirs::from("", "", "clinalg").map(|d| d.data_local_dir().join("tuning")),
    }
}

/// The device's name in letters and digits, and a hash that tells apart what these do not.
fn file_name(device: &DeviceInfo) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = device.name.chars().map(plain).take(48).collect();
    let hash = Sha256::digest(format!("{}\n{}", device.platform, device.name));
    format!("{name}-{:02x}{:02x}{:02x}{:02x}.toml", hash[0], hash[1], hash[2], hash[3])
}

/// The user's table for `device`, if there is one.
pub(super) fn user(device: &DeviceInfo) -> Option<Checked<Table>> {
    read(&folder()?, &file_name(device), device)
}

/// The table in a file of `folder`, if there is one; it must be for this device with this driver, and others must not be able
/// to write it.
pub(super) fn read(folder: &Path, name: &str, device: &DeviceInfo) -> Option<Checked<Table>> {
    let path = folder.join(name);
    let content = trusted::read(folder, name, LARGEST)
        .and_then(|bytes| String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error)));
    let text = match content {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return Some(Err(format!("the tuning table {} cannot be read ({error})", path.display()))),
    };
    let ours = |table: Table| {
        let made_for = (table.platform.as_str(), table.device.as_str(), table.driver.as_deref());
        if made_for == (device.platform.as_str(), device.name.as_str(), Some(device.driver.as_str())) {
            return Ok(table);
        }
        Err(format!(
            "it was made for {} ({}, driver {}), this is {} ({}, driver {}); `clinalg tune` makes a new one",
            table.device,
            table.platform,
            table.driver.as_deref().unwrap_or("not named"),
            device.name,
            device.platform,
            device.driver
        ))
    };
    let table = Table::parse(&text).and_then(ours);
    Some(table.map_err(|why| format!("the tuning table {} is ignored: {why}", path.display())))
}

/// The tables that come with the library and are for `device`.
pub(crate) fn shipped(device: &DeviceInfo) -> impl Iterator<Item = Checked<Table>> {
    let ours =
        |&&(platform, name, _): &&(&str, &str, &str)| device.platform.contains(platform) && device.name.contains(name);
    SHIPPED.iter().filter(ours).map(|(_, _, text)| Table::parse(text))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{device, h200};
    use super::*;
    use crate::ops::elementwise::ELEMENTWISE;
    use crate::ops::reduce::REDUCE;

    fn written(text: &str, device: &DeviceInfo) -> Option<Checked<Table>> {
        let folder = tempfile::tempdir().unwrap();
        trusted::write(folder.path(), "table.toml", &[text.as_bytes()]).unwrap();
        read(folder.path(), "table.toml", device)
    }

    fn sample(device: &DeviceInfo) -> Table {
        let mut table = Table::new(device);
        table.choices.push(Entry::new(&ELEMENTWISE, Precision::F32, [0, 35], &[256, 4, 2, 0, 0, 0]));
        table.choices.push(Entry::new(&REDUCE, Precision::F64, [12, 20], &[128, 2, 1, 8, 0, 0]));
        table.keep(problem("rk4-1", [20, 20], "fused"));
        table.keep(problem("odd \"name\"", [20, 22], "grid"));
        table
    }

    fn problem(problem: &str, sizes: [usize; 2], variant: &str) -> Problem {
        Problem {
            operation: "ode".into(),
            problem: problem.into(),
            precision: Precision::F64,
            sizes,
            variant: variant.into(),
            nanoseconds: 12_000_000_000,
            parameters: [("links".to_owned(), 4), ("steps".to_owned(), 1)].into(),
        }
    }

    #[test]
    fn a_table_comes_back_from_its_file() {
        // A name that needs quoting.
        let odd = device("A \"platform\"", "back\\slash \u{3b1}", 256, 1 << 15);
        for device in [h200(), odd] {
            let table = sample(&device);
            assert_eq!(written(&table.text(), &device), Some(Ok(table.clone())));
            assert_eq!(table.text().lines().filter(|line| line.starts_with("  {")).count(), 4);
        }
        // Tables of before there were problems.
        let table = Table { problems: Vec::new(), ..sample(&h200()) };
        assert!(!table.text().contains("problems"));
        assert_eq!(written(&table.text(), &h200()), Some(Ok(table)));
    }

    #[test]
    fn problems_are_found_by_their_class_and_size() {
        let mut table = sample(&h200());
        let found = |table: &Table, problem: &str, precision, n: usize| {
            table.problem("ode", problem, precision, n).map(|entry| entry.variant.clone())
        };
        assert_eq!(found(&table, "rk4-1", Precision::F64, 1 << 20), Some("fused".into()));
        for (name, precision, n) in
            [("rk4-1", Precision::F64, 1 << 21), ("rk4-1", Precision::F32, 1 << 20), ("rk4-2", Precision::F64, 1 << 20)]
        {
            assert_eq!(found(&table, name, precision, n), None);
        }
        assert_eq!(table.problem("pde", "rk4-1", Precision::F64, 1 << 20), None);
        table.keep(problem("rk4-1", [20, 20], "basic"));
        assert_eq!((found(&table, "rk4-1", Precision::F64, 1 << 20), table.problems.len()), (Some("basic".into()), 2));
    }

    #[test]
    fn a_damaged_table_is_reported() {
        let device = h200();
        let text = sample(&device).text();
        let half = &text[..text.len() / 2];
        for damaged in [
            half,
            "",
            "choices",
            &text.replace("f64", "f16"),
            &text.replace("local = 256", "local = -1"),
            &text.replace("links = 4", "links = \"four\""),
            &text.replace("nanoseconds = ", "hours = "),
        ] {
            let why = written(damaged, &device).unwrap().unwrap_err();
            assert!(why.contains("table.toml is ignored"), "{why}");
        }
        let why = written(&text.replace("format = 2", "format = 1"), &device).unwrap().unwrap_err();
        assert!(why.contains("its format is 1"), "{why}");
        let why = {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join("table.toml")).unwrap();
            read(folder.path(), "table.toml", &device).unwrap().unwrap_err()
        };
        assert!(why.contains("cannot be read"), "{why}");
        assert_eq!(read(Path::new("no such folder"), "table.toml", &device), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_table_that_others_may_write_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let device = h200();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.toml");
        std::fs::write(&path, sample(&device).text()).unwrap();
        for (mode, used) in [(0o600, true), (0o644, true), (0o664, false), (0o666, false)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(read(folder.path(), "table.toml", &device).unwrap().is_ok(), used, "{mode:o}");
        }
    }

    #[test]
    fn a_table_of_another_driver_device_or_platform_is_refused() {
        let here = h200();
        let changed: [fn(&mut DeviceInfo); 3] =
            [|d| d.driver = "2.0".into(), |d| d.name += " NVL", |d| d.platform += " 2"];
        for change in changed {
            let mut other = here.clone();
            change(&mut other);
            let why = written(&sample(&other).text(), &here).unwrap().unwrap_err();
            assert!(why.contains("it was made for") && why.contains("clinalg tune"), "{why}");
        }
        let any = Table { driver: None, ..sample(&here) };
        assert!(written(&any.text(), &here).unwrap().unwrap_err().contains("not named"));
    }

    #[test]
    fn new_results_take_the_place_of_old_ones() {
        let mut table = sample(&h200());
        let new = Entry::new(&REDUCE, Precision::F64, [0, 35], &[64, 1, 1, 1, 0, 0]);
        table.replace(vec![new.clone()]);
        assert_eq!(table.choices.len(), 2);
        assert_eq!(table.choices[1], new);
    }

    #[test]
    fn devices_have_files_of_their_own() {
        let [a, b] = [device("P", "GPU (TM) 1", 1, 1), device("Q", "GPU (TM) 1", 1, 1)].map(|d| file_name(&d));
        assert!(a.starts_with("gpu--tm--1-") && a.ends_with(".toml") && a != b, "{a} {b}");
    }
}
