//! Launch parameters and where they come from.
//!
//! An [`Operation`] is a key with what its parameters are called, what they ask of a device, and a default for any device; it stands
//! beside the code that launches it: `let [local, ..] = context.choice(&MV_CSR, T::PRECISION, n);`. For every operation,
//! precision and size class (the binary logarithm of the number of elements) a context takes the parameters, when it first needs any of
//! the operation, from
//!
//! 1. the default, computed from what the device says of itself;
//! 2. a table that comes with the library, for devices it was measured on;
//! 3. the user's table, which `clinalg tune` writes ([`folder`]).
//!
//! The later wins over the earlier. After that a launch pays for an index. Algorithms for whole problems, which are more than such
//! numbers, stand in the same table, each with its class of problems ([`Problem`]). A table that cannot be read, or was made with
//! another driver, is ignored; one whose entries for an operation cannot be used on the device (unknown names, more than it has) is
//! ignored for this operation. Both are a warning through the crate `log`.
//!
//! How candidates are tried is [`tuner`](crate::tuner)'s business.

mod table;
#[cfg(test)]
pub(crate) mod tests;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::{Context, DeviceInfo, KernelFamily, Precision};

use table::Checked;
#[cfg(test)]
pub(crate) use table::shipped;
pub use table::{Entry, Problem, Table, folder, keep};

/// Launch parameters of one operation in the order of [`Operation::parameters`]; those it does not have are 0.
pub type Choice = [u32; PARAMETERS];

/// Most parameters of an operation.
pub const PARAMETERS: usize = 6;

/// Size classes: a class is the binary logarithm of the number of elements, the last one takes all beyond.
pub const CLASSES: usize = 36;

/// The size class of `n` elements.
pub fn class(n: usize) -> usize {
    (n.max(1).ilog2() as usize).min(CLASSES - 1)
}

/// An operation with launch parameters.
#[derive(Debug)]
pub struct Operation {
    /// Its name in tables and for `clinalg tune --op`.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// The family of kernels it belongs to; the other one does not look here.
    pub family: KernelFamily,
    /// Name and meaning of each parameter.
    pub parameters: &'static [(&'static str, &'static str)],
    needs: fn(&Choice, Precision) -> Option<Needs>,
    default: fn(&DeviceInfo, Precision, usize) -> Choice,
    /// Its number in every context, given when it is first asked for.
    place: OnceLock<usize>,
}

/// What operations with the same parameters share.
#[derive(Clone, Copy)]
pub(crate) struct Parameters {
    pub(crate) family: KernelFamily,
    /// Name and meaning of each.
    pub(crate) names: &'static [(&'static str, &'static str)],
    /// What a choice asks of a device; `None` for numbers that mean nothing.
    pub(crate) needs: fn(&Choice, Precision) -> Option<Needs>,
    /// A sound choice for a device never seen, in a size class.
    pub(crate) default: fn(&DeviceInfo, Precision, usize) -> Choice,
}

/// What a launch asks of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Items of a work-group.
    pub(crate) group: usize,
    /// Bytes of local memory of a work-group.
    pub(crate) local_bytes: usize,
    /// Whether it takes tensor cores in double precision.
    pub(crate) tensor: bool,
}

impl Operation {
    pub(crate) const fn new(name: &'static str, about: &'static str, parameters: Parameters) -> Operation {
        let Parameters { family, names, needs, default } = parameters;
        Operation { name, about, family, parameters: names, needs, default, place: OnceLock::new() }
    }

    /// Whether the device can run the operation with this choice.
    pub(crate) fn fits(&self, device: &DeviceInfo, precision: Precision, choice: &Choice) -> bool {
        (self.needs)(choice, precision).is_some_and(|needs| {
            (1..=device.max_work_group).contains(&needs.group)
                && needs.local_bytes as u64 <= device.local_mem
                && (device.tensor_f64 > 0 || !needs.tensor)
        })
    }

    /// The choice for a device that no table is for, in a size class.
    pub(crate) fn default(&self, device: &DeviceInfo, precision: Precision, class: usize) -> Choice {
        (self.default)(device, precision, class)
    }

    /// A choice in words: `local 256, width 2`.
    pub fn words(&self, choice: &Choice) -> String {
        let words = self.parameters.iter().zip(choice).map(|((name, _), value)| format!("{name} {value}"));
        words.collect::<Vec<_>>().join(", ")
    }

    fn place(&self) -> usize {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        *self.place.get_or_init(|| NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Most operations; a test compares it with those there are.
pub(crate) const OPERATIONS: usize = 128;

/// Parameters of operations on CPUs that cut the work into chunks.
pub(crate) const CHUNKS: Parameters = Parameters {
    family: KernelFamily::Cpu,
    names: &[CHUNKS_NAME],
    needs: chunks_needs,
    // As many as `Context::chunks` has.
    default: |_, _, _| [8, 0, 0, 0, 0, 0],
};

pub(crate) const CHUNKS_NAME: (&str, &str) = ("chunks", "parts of the work per compute unit");

pub(crate) fn chunks_needs(&[chunks, ..]: &Choice, _: Precision) -> Option<Needs> {
    (1..=1024).contains(&chunks).then_some(Needs { group: 1, local_bytes: 0, tensor: false })
}

/// The parameters of an operation by precision and size class.
type Numbers = [[[AtomicU32; PARAMETERS]; CLASSES]; 2];

/// The launch parameters in force in one context.
pub(crate) struct Choices {
    device: DeviceInfo,
    /// The library's and the user's, the later over the earlier.
    tables: Vec<Table>,
    all: [OnceLock<Box<Numbers>>; OPERATIONS],
}

impl Context {
    /// The launch parameters of an operation on `n` elements.
    pub(crate) fn choice(&self, op: &Operation, precision: Precision, n: usize) -> Choice {
        self.choices().get(op, precision, n)
    }

    /// All launch parameters, which the search changes while it tries candidates.
    pub(crate) fn choices(&self) -> &Choices {
        self.extension(Choices::of)
    }
}

impl Choices {
    fn of(device: &DeviceInfo) -> Choices {
        let (choices, warnings) = Choices::with(device, table::user(device));
        warn(warnings);
        choices
    }

    /// With a given user's table, and warnings of those that are ignored.
    fn with(device: &DeviceInfo, user: Option<Checked<Table>>) -> (Choices, Vec<String>) {
        let (mut tables, mut warnings) = (Vec::new(), Vec::new());
        for table in table::shipped(device).chain(user) {
            match table {
                Ok(table) => tables.push(table),
                Err(why) => warnings.push(why),
            }
        }
        (Choices { device: device.clone(), tables, all: [const { OnceLock::new() }; OPERATIONS] }, warnings)
    }

    /// Defaults and what the tables say of an operation, and warnings of those that are ignored.
    fn load(&self, op: &Operation) -> (Box<Numbers>, Vec<String>) {
        let of =
            |precision| std::array::from_fn(|class| op.default(&self.device, precision, class).map(AtomicU32::new));
        let numbers = Box::new([of(Precision::F32), of(Precision::F64)]);
        let mut warnings = Vec::new();
        for table in &self.tables {
            match table.choices_of(op, &self.device) {
                Ok(found) => {
                    for (entry, choice) in found {
                        set(&numbers, entry.precision, entry.sizes[0]..=entry.sizes[1], &choice);
                    }
                }
                Err(why) => warnings.push(why),
            }
        }
        (numbers, warnings)
    }

    fn numbers(&self, op: &Operation) -> &Numbers {
        self.all[op.place()].get_or_init(|| {
            let (numbers, warnings) = self.load(op);
            warn(warnings);
            numbers
        })
    }

    /// The parameters for `n` elements.
    #[inline]
    pub(crate) fn get(&self, op: &Operation, precision: Precision, n: usize) -> Choice {
        let place = &self.numbers(op)[usize::from(precision == Precision::F64)][class(n)];
        std::array::from_fn(|k| place[k].load(Ordering::Relaxed))
    }

    /// All parameters of an operation, for [`Choices::restore`].
    pub(crate) fn copy(&self, op: &Operation, precision: Precision) -> Vec<Choice> {
        (0..CLASSES).map(|class| self.get(op, precision, 1 << class)).collect()
    }

    pub(crate) fn restore(&self, op: &Operation, precision: Precision, kept: &[Choice]) {
        kept.iter().enumerate().for_each(|(class, choice)| self.set(op, precision, [class], choice));
    }

    /// Changes the parameters of some size classes. A launch that looks them up at the same time may see a mixture:
    /// only for contexts that nobody else uses.
    pub(crate) fn set(
        &self,
        op: &Operation,
        precision: Precision,
        classes: impl IntoIterator<Item = usize>,
        choice: &Choice,
    ) {
        set(self.numbers(op), precision, classes, choice);
    }
}

fn set(numbers: &Numbers, precision: Precision, classes: impl IntoIterator<Item = usize>, choice: &Choice) {
    for class in classes {
        let place = &numbers[usize::from(precision == Precision::F64)][class.min(CLASSES - 1)];
        place.iter().zip(choice).for_each(|(place, &value)| place.store(value, Ordering::Relaxed));
    }
}

fn warn(warnings: Vec<String>) {
    for warning in warnings {
        log::warn!("{warning}; the defaults are used");
    }
}

/// The largest power of two of at most `wanted` items that a work-group of the device may have, where an item takes so
/// many bytes of local memory.
pub(crate) fn local_size(device: &DeviceInfo, wanted: usize, bytes_per_item: usize) -> u32 {
    let held = device.local_mem as usize / bytes_per_item.max(1);
    1 << wanted.min(device.max_work_group).min(held).max(1).ilog2()
}
