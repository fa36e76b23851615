//! The arguments of a call, read by the host's getters into plain values.

use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::slice;

use clinalg::Complex;

use crate::fault::{Fault, id};
use crate::host::{Complex as Complexes, Host, MxArray, class};

/// The most arguments that a function takes.
pub(crate) const MAX_INPUTS: usize = 19;
/// Bytes of the longest text argument, with the zero at its end.
const MAX_TEXT: usize = 16384;
/// What the names of this library's classes begin with.
const CLASSES: &str = "clinalg.";
/// The largest whole number up to which a double counts in steps of 1.
const MAX_COUNT: f64 = 9_007_199_254_740_992.0;

/// What an argument must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The handle that `MexInitOpenCL` gave, or 0 for the session that runs.
    Runtime,
    /// A device's index or a part of its name, or several indices.
    Device,
    /// A `uint64` scalar that the library issued.
    Handle,
    /// A real number.
    Real,
    /// A real or complex number.
    Number,
    /// A whole number from 0 on.
    Count,
    /// `true`, `false`, 1 or 0.
    Flag,
    /// A full real array: double, single or logical.
    Full,
    /// A full array, real or complex: double, single or logical.
    Array,
    /// A sparse matrix, real or complex.
    Sparse,
    /// A full or sparse matrix, real or complex.
    Matrix,
    /// A row of characters.
    Text,
    /// A row of characters or a handle.
    TextOrHandle,
    /// A handle, an object that has one or a number; anything else counts as not given.
    Operand,
    /// A handle or an object; one that has no handle counts as not given.
    Object,
    /// `:`, positions or a mask; anything else counts as not given.
    Subscript,
    /// A handle, an object that has one or a full array; anything else counts as not given.
    Assigned,
}

impl Kind {
    fn words(self) -> &'static str {
        match self {
            Kind::Runtime => "the handle that MexInitOpenCL gave",
            Kind::Device => "the index of a device (from 0 on) or a part of its name",
            Kind::Handle | Kind::Object => "a handle (a uint64 scalar that a Mex function gave)",
            Kind::Real => "a real number",
            Kind::Number => "a real or complex number",
            Kind::Count => "a whole number from 0 on",
            Kind::Flag => "true, false, 1 or 0",
            Kind::Full => "a full real array of class double, single or logical",
            Kind::Array => "a full array of class double, single or logical",
            Kind::Sparse => "a sparse matrix",
            Kind::Matrix => "a full or sparse matrix of class double, single or logical",
            Kind::Text => "a row of characters",
            Kind::TextOrHandle => "a row of characters or a handle (a uint64 scalar that a Mex function gave)",
            Kind::Operand => "a handle (a uint64 scalar that a Mex function gave) or a number",
            Kind::Subscript => "':', positions from 1 on or a logical array",
            Kind::Assigned => "a handle (a uint64 scalar that a Mex function gave) or a full array",
        }
    }
}

/// An argument: its name in the help text and in errors, and what it must be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input {
    pub(crate) name: &'static str,
    /// Its name in the core's errors.
    pub(crate) core: &'static str,
    pub(crate) kind: Kind,
}

impl Input {
    pub(crate) const fn new(name: &'static str, kind: Kind) -> Input {
        Input { name, core: name, kind }
    }

    /// An argument that the core calls `core`.
    pub(crate) const fn named(name: &'static str, core: &'static str, kind: Kind) -> Input {
        Input { name, core, kind }
    }
}

/// Complex values in the host's memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Parts<'a, R> {
    /// Each real part followed by its imaginary part.
    Interleaved(&'a [Complex<R>]),
    /// Real and imaginary parts in two arrays.
    Separate(&'a [R], &'a [R]),
}

impl<R: Copy> Parts<'_, R> {
    /// The values, interleaved.
    pub(crate) fn joined(&self) -> Cow<'_, [Complex<R>]> {
        match *self {
            Parts::Interleaved(values) => Cow::Borrowed(values),
            Parts::Separate(re, im) => re.iter().zip(im).map(|(&re, &im)| Complex::new(re, im)).collect(),
        }
    }
}

/// Values in the host's memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Numbers<'a> {
    Single(&'a [f32]),
    Double(&'a [f64]),
    /// One byte per value, 0 or not.
    Logical(&'a [u8]),
    ComplexSingle(Parts<'a, f32>),
    ComplexDouble(Parts<'a, f64>),
}

impl Numbers<'_> {
    pub(crate) fn is_complex(&self) -> bool {
        matches!(self, Numbers::ComplexSingle(_) | Numbers::ComplexDouble(_))
    }

    /// Real values in double precision.
    pub(crate) fn reals(&self) -> Vec<f64> {
        match *self {
            Numbers::Single(values) => values.iter().map(|&v| f64::from(v)).collect(),
            Numbers::Double(values) => values.to_vec(),
            Numbers::Logical(values) => values.iter().map(|&v| f64::from(v != 0)).collect(),
            Numbers::ComplexSingle(_) | Numbers::ComplexDouble(_) => unreachable!("the table asks for real values"),
        }
    }
}

/// A full array, column by column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Full<'a> {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) values: Numbers<'a>,
}

/// A sparse matrix in compressed columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sparse<'a> {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) offsets: &'a [usize],
    pub(crate) indices: &'a [usize],
    pub(crate) values: Numbers<'a>,
}

/// An argument read.
#[derive(Debug, Clone, Default)]
pub(crate) enum Value<'a> {
    /// Not given, or `[]` where it may be left out.
    #[default]
    Absent,
    Handle(u64),
    /// The handle in the property `h` of an object.
    Object(u64),
    Real(f64),
    Number(Complex<f64>),
    Count(usize),
    Flag(bool),
    Full(Full<'a>),
    Sparse(Sparse<'a>),
    Text(String),
}

/// An array of the host that lives as long as the call.
#[derive(Clone, Copy)]
pub(crate) struct Array<'a> {
    host: &'a Host,
    raw: *const MxArray,
    call: PhantomData<&'a MxArray>,
}

/// What is wrong with an argument: an identifier and the words after its name.
pub(crate) type Problem = (&'static str, String);

impl<'a> Array<'a> {
    /// # Safety
    /// `raw` is an array of the host that lives and is not written during `'a`.
    pub(crate) unsafe fn new(host: &'a Host, raw: *const MxArray) -> Array<'a> {
        Array { host, raw, call: PhantomData }
    }

    /// The class; Octave looks for it by name, so that the questions below are answered faster.
    fn class(self) -> i32 {
        // SAFETY: the array is live, as in the getters below.
        unsafe { (self.host.class_id)(self.raw) }
    }

    fn is_char(self) -> bool {
        // SAFETY: live.
        unsafe { (self.host.is_char)(self.raw) }
    }

    fn is_double(self) -> bool {
        // SAFETY: live.
        unsafe { (self.host.is_double)(self.raw) }
    }

    fn is_uint64(self) -> bool {
        // SAFETY: live.
        unsafe { (self.host.is_uint64)(self.raw) }
    }

    fn class_name(self) -> String {
        // SAFETY: the host answers with a text that ends in zero and lives as long as the array.
        unsafe { CStr::from_ptr((self.host.class_name)(self.raw)) }.to_string_lossy().into_owned()
    }

    fn rows(self) -> usize {
        // SAFETY: live.
        unsafe { (self.host.rows)(self.raw) }
    }

    fn cols(self) -> usize {
        // SAFETY: live.
        unsafe { (self.host.cols)(self.raw) }
    }

    fn is_sparse(self) -> bool {
        // SAFETY: live.
        unsafe { (self.host.is_sparse)(self.raw) }
    }

    fn is_complex(self) -> bool {
        // SAFETY: live.
        unsafe { (self.host.is_complex)(self.raw) }
    }

    fn is_matrix(self) -> bool {
        // SAFETY: live.
        unsafe { (self.host.dimensions)(self.raw) == 2 }
    }

    fn data(self) -> *const c_void {
        // SAFETY: live.
        unsafe { (self.host.data)(self.raw) }
    }

    /// Whether this is `[]`, the host's way to leave an argument out.
    pub(crate) fn is_empty_matrix(self) -> bool {
        self.is_double() && self.rows() == 0 && self.cols() == 0 && !self.is_sparse()
    }

    /// Reads what `kind` says.
    pub(crate) fn read(self, kind: Kind) -> Result<Value<'a>, Problem> {
        Ok(match kind {
            Kind::Runtime => Value::Handle(self.runtime()?),
            Kind::Device if self.is_char() => Value::Text(self.text().ok_or_else(|| self.wrong_shape(kind))?),
            Kind::Device if !self.is_one() => Value::Full(self.full(Kind::Full)?),
            Kind::Device => Value::Text(self.count(kind)?.to_string()),
            Kind::Handle => Value::Handle(self.handle(kind)?),
            Kind::Real => Value::Real(self.number(kind)?),
            Kind::Number => Value::Number(self.complex_number(kind)?),
            Kind::Count => Value::Count(self.count(kind)?),
            Kind::Flag => Value::Flag(self.flag()?),
            Kind::Full | Kind::Array => Value::Full(self.full(kind)?),
            Kind::Sparse => Value::Sparse(self.sparse(kind)?),
            Kind::Matrix if self.is_sparse() => Value::Sparse(self.sparse(kind)?),
            Kind::Matrix => Value::Full(self.full(kind)?),
            Kind::TextOrHandle | Kind::Operand | Kind::Object | Kind::Assigned if self.is_uint64() => {
                Value::Handle(self.handle(kind)?)
            }
            Kind::Operand => self.operand(),
            Kind::Object if self.is_object() => self.object(),
            Kind::Object => return Err(self.wrong_class(kind)),
            Kind::Subscript if self.is_char() => match self.name(&mut [0; 64]) {
                Some(":") => Value::Text(":".into()),
                _ => Value::Absent,
            },
            Kind::Subscript => self.array_or_absent(Kind::Full),
            Kind::Assigned if self.is_object() => self.object(),
            Kind::Assigned => self.array_or_absent(Kind::Array),
            Kind::Text | Kind::TextOrHandle => Value::Text(self.text().ok_or_else(|| self.wrong_class(kind))?),
        })
    }

    #[cold]
    fn wrong_class(self, kind: Kind) -> Problem {
        let sparse = if self.is_sparse() { "sparse " } else { "" };
        let hint = match (kind, self.class()) {
            (Kind::Full | Kind::Array | Kind::Sparse | Kind::Matrix, class::INT8..=class::UINT64) => {
                ": convert it with double(x) or single(x)"
            }
            (Kind::Full | Kind::Array, class::DOUBLE | class::SINGLE | class::LOGICAL) => ": convert it with full(x)",
            (Kind::Sparse, class::DOUBLE | class::SINGLE | class::LOGICAL) => ": convert it with sparse(x)",
            (Kind::Text | Kind::TextOrHandle, _) => ": a string is converted with char(x)",
            _ => "",
        };
        (id::CLASS, format!("is of class {sparse}{}, expected {}{hint}", self.class_name(), kind.words()))
    }

    #[cold]
    fn wrong_shape(self, kind: Kind) -> Problem {
        let got = if self.is_matrix() {
            format!("{} x {}", self.rows(), self.cols())
        } else {
            // SAFETY: live.
            format!("an array of {} dimensions", unsafe { (self.host.dimensions)(self.raw) })
        };
        (id::SHAPE, format!("is {got}, expected {}", kind.words()))
    }

    #[cold]
    fn wrong_value(self, kind: Kind, got: f64) -> Problem {
        (id::VALUE, format!("is {got}, expected {}", kind.words()))
    }

    #[cold]
    fn complex(self, kind: Kind) -> Problem {
        (id::COMPLEX, format!("is complex, which is not supported: expected {}", kind.words()))
    }

    /// Whether there is one element.
    fn is_one(self) -> bool {
        // SAFETY: live.
        unsafe { (self.host.elements)(self.raw) == 1 }
    }

    /// Whether this is an object of a class that is not built into the host.
    fn is_object(self) -> bool {
        !(class::CELL..=class::FUNCTION).contains(&self.class())
    }

    /// The handle of an object of this library, whose class keeps it in the property `h`; otherwise nothing.
    fn object(self) -> Value<'a> {
        if !self.class_name().starts_with(CLASSES) {
            return Value::Absent;
        }
        let Some(properties) = &self.host.properties else { return Value::Absent };
        // SAFETY: live; the host makes a copy of the property, or none.
        let raw = unsafe { (properties.copy)(self.raw, 0, c"h".as_ptr()) };
        if raw.is_null() {
            return Value::Absent;
        }
        let handle = Array { raw, ..self }.handle(Kind::Handle);
        // SAFETY: this function owns the copy, and nothing else refers to it.
        unsafe { (properties.destroy)(raw) };
        handle.map_or(Value::Absent, Value::Object)
    }

    /// A number of a class that arrays can have, or the handle of an object; otherwise nothing.
    fn operand(self) -> Value<'a> {
        if self.is_object() {
            return self.object();
        }
        let known = matches!(self.class(), class::DOUBLE | class::SINGLE | class::LOGICAL);
        match known && self.is_one() && !self.is_sparse() {
            true => self.full(Kind::Array).map_or(Value::Absent, Value::Full),
            false => Value::Absent,
        }
    }

    /// What `kind` says, else nothing.
    fn array_or_absent(self, kind: Kind) -> Value<'a> {
        let known = self.is_double() || matches!(self.class(), class::SINGLE | class::LOGICAL);
        match known && !self.is_sparse() && self.is_matrix() && (kind == Kind::Array || !self.is_complex()) {
            true => self.full(kind).map_or(Value::Absent, Value::Full),
            false => Value::Absent,
        }
    }

    /// An error unless there is one element.
    fn single(self, kind: Kind) -> Result<(), Problem> {
        if self.is_one() { Ok(()) } else { Err(self.wrong_shape(kind)) }
    }

    /// The session's handle; the number 0 gives 0.
    fn runtime(self) -> Result<u64, Problem> {
        if self.is_double() && self.number(Kind::Runtime)? == 0.0 {
            return Ok(0);
        }
        self.handle(Kind::Runtime)
    }

    fn handle(self, kind: Kind) -> Result<u64, Problem> {
        if !self.is_uint64() {
            return Err(self.wrong_class(kind));
        }
        self.single(kind)?;
        let data = self.data();
        if data.is_null() {
            return Err(self.wrong_class(kind));
        }
        // SAFETY: the scalar is a uint64.
        Ok(unsafe { data.cast::<u64>().read() })
    }

    fn number(self, kind: Kind) -> Result<f64, Problem> {
        let class = if self.is_double() { class::DOUBLE } else { self.class() };
        if !matches!(class, class::LOGICAL | class::DOUBLE..=class::UINT64) || self.is_sparse() {
            return Err(self.wrong_class(kind));
        }
        if self.is_complex() {
            return Err(self.complex(kind));
        }
        self.single(kind)?;
        // SAFETY: live, and of a numeric class.
        Ok(unsafe { (self.host.scalar)(self.raw) })
    }

    fn count(self, kind: Kind) -> Result<usize, Problem> {
        let value = self.number(kind)?;
        if (0.0..=MAX_COUNT).contains(&value) && value.fract() == 0.0 {
            Ok(value as usize)
        } else {
            Err(self.wrong_value(kind, value))
        }
    }

    fn flag(self) -> Result<bool, Problem> {
        match self.number(Kind::Flag)? {
            0.0 => Ok(false),
            1.0 => Ok(true),
            value => Err(self.wrong_value(Kind::Flag, value)),
        }
    }

    /// A real or complex scalar.
    fn complex_number(self, kind: Kind) -> Result<Complex<f64>, Problem> {
        if !self.is_complex() || self.is_sparse() {
            return Ok(self.number(kind)?.into());
        }
        self.single(kind)?;
        match self.parts(kind, 1)? {
            Numbers::ComplexSingle(parts) => {
                parts.joined().first().map(|z| Complex::new(f64::from(z.re), f64::from(z.im)))
            }
            Numbers::ComplexDouble(parts) => parts.joined().first().copied(),
            _ => None,
        }
        .ok_or_else(|| self.wrong_class(kind))
    }

    /// The `count` values of a complex array.
    fn parts(self, kind: Kind, count: usize) -> Result<Numbers<'a>, Problem> {
        // SAFETY: the array is live and complex, and holds `count` values of the class's type, not written during the call: in
        // MATLAB from R2018a on interleaved, which the function of their class gives, else as real and imaginary parts.
        unsafe {
            Ok(match (self.class(), &self.host.complex) {
                (class::DOUBLE, Complexes::Interleaved(doubles, _)) => {
                    Numbers::ComplexDouble(Parts::Interleaved(values(doubles(self.raw), count)))
                }
                (class::SINGLE, Complexes::Interleaved(_, singles)) => {
                    Numbers::ComplexSingle(Parts::Interleaved(values(singles(self.raw), count)))
                }
                (class::DOUBLE, Complexes::Separate(imaginary)) => {
                    let (re, im) = (values(self.data(), count), values(imaginary(self.raw), count));
                    Numbers::ComplexDouble(Parts::Separate(re, im))
                }
                (class::SINGLE, Complexes::Separate(imaginary)) => {
                    let (re, im) = (values(self.data(), count), values(imaginary(self.raw), count));
                    Numbers::ComplexSingle(Parts::Separate(re, im))
                }
                _ => return Err(self.wrong_class(kind)),
            })
        }
    }

    /// The values of an array.
    fn numbers(self, kind: Kind, count: usize) -> Result<Numbers<'a>, Problem> {
        if self.is_complex() {
            return if kind == Kind::Full { Err(self.complex(kind)) } else { self.parts(kind, count) };
        }
        let data = self.data();
        // SAFETY: the array holds `count` values of the type that its class says, not written
        // during the call; an empty one may have no address.
        unsafe {
            match self.class() {
                class::DOUBLE => Ok(Numbers::Double(values(data, count))),
                class::SINGLE => Ok(Numbers::Single(values(data, count))),
                class::LOGICAL => Ok(Numbers::Logical(values(data, count))),
                _ => Err(self.wrong_class(kind)),
            }
        }
    }

    fn full(self, kind: Kind) -> Result<Full<'a>, Problem> {
        if self.is_sparse() || !matches!(self.class(), class::LOGICAL | class::DOUBLE | class::SINGLE) {
            return Err(self.wrong_class(kind));
        }
        if !self.is_matrix() {
            return Err(self.wrong_shape(kind));
        }
        let (rows, cols) = (self.rows(), self.cols());
        Ok(Full { rows, cols, values: self.numbers(kind, rows * cols)? })
    }

    fn sparse(self, kind: Kind) -> Result<Sparse<'a>, Problem> {
        if !self.is_sparse() || !matches!(self.class(), class::LOGICAL | class::DOUBLE | class::SINGLE) {
            return Err(self.wrong_class(kind));
        }
        let (rows, cols) = (self.rows(), self.cols());
        // SAFETY: a sparse matrix has `cols + 1` column offsets, the last of which counts its entries.
        let (offsets, indices) = unsafe {
            let offsets: &[usize] = values((self.host.column_offsets)(self.raw).cast(), cols + 1);
            let entries = offsets.last().copied().unwrap_or(0);
            (offsets, values((self.host.row_indices)(self.raw).cast(), entries))
        };
        Ok(Sparse { rows, cols, offsets, indices, values: self.numbers(kind, indices.len())? })
    }

    /// The characters of a row of them, or nothing.
    pub(crate) fn text(self) -> Option<String> {
        if !self.is_char() || self.rows() > 1 || !self.is_matrix() {
            return None;
        }
        if let Some(name) = self.name(&mut [0; 64])
            && name.is_ascii()
            && !name.contains('?')
        {
            return Some(name.to_owned());
        }
        let mut bytes: [c_char; MAX_TEXT] = [0; MAX_TEXT];
        // SAFETY: the host writes at most the bytes given and ends them by zero.
        let status = unsafe { (self.host.string)(self.raw, bytes.as_mut_ptr(), bytes.len()) };
        // SAFETY: as above.
        (status == 0).then(|| unsafe { CStr::from_ptr(bytes.as_ptr()) }.to_string_lossy().into_owned())
    }

    /// A short text of ASCII characters, or nothing. Octave makes a copy of the array for `mxGetString` and none for
    /// `mxGetData`.
    pub(crate) fn name(self, buffer: &mut [u8; 64]) -> Option<&str> {
        if !self.is_char() {
            return None;
        }
        // SAFETY: live.
        let count = unsafe { (self.host.elements)(self.raw) };
        let data = self.data();
        if count > buffer.len() || data.is_null() {
            return None;
        }
        // SAFETY: the array holds `count` characters of `char_bytes` bytes.
        unsafe {
            if self.host.char_bytes == 1 {
                buffer[..count].copy_from_slice(values::<u8>(data, count));
            } else {
                for (to, &from) in buffer.iter_mut().zip(values::<u16>(data, count)) {
                    *to = u8::try_from(from).unwrap_or(b'?');
                }
            }
        }
        str::from_utf8(&buffer[..count]).ok()
    }

    /// A real scalar, or nothing.
    pub(crate) fn any_number(self) -> Option<f64> {
        self.number(Kind::Real).ok()
    }
}

/// # Safety
/// `data` holds `count` values that live and are not written during `'a`, unless `count` is 0.
unsafe fn values<'a, T>(data: *const c_void, count: usize) -> &'a [T] {
    if count == 0 || data.is_null() {
        return &[];
    }
    // SAFETY: by the contract above; the host aligns its arrays for their type.
    unsafe { slice::from_raw_parts(data.cast(), count) }
}

/// The arguments of a call by position.
pub(crate) struct Args<'a> {
    values: [Value<'a>; MAX_INPUTS],
    /// Number of outputs that the caller takes.
    pub(crate) outputs: usize,
}

impl<'a> Args<'a> {
    /// Reads `arrays` as `inputs` say; the first `required` may not be left out.
    pub(crate) fn read(
        inputs: &[Input],
        required: usize,
        outputs: usize,
        arrays: impl Iterator<Item = Array<'a>>,
    ) -> Result<Args<'a>, Fault> {
        let mut values: [Value<'a>; MAX_INPUTS] = Default::default();
        for (position, ((array, input), value)) in arrays.zip(inputs).zip(&mut values).enumerate() {
            if position >= required && array.is_empty_matrix() {
                continue;
            }
            *value = array
                .read(input.kind)
                .map_err(|(id, problem)| Fault::argument(id, position + 1, input.name, problem))?;
        }
        Ok(Args { values, outputs })
    }

    pub(crate) fn value(&self, position: usize) -> &Value<'a> {
        &self.values[position]
    }
}

/// Getters by position: one that must be there, and one for what may be left out.
macro_rules! getters {
    ($($variant:ident: $one:ident, $maybe:ident -> $type:ty;)*) => {
        impl Args<'_> {
            $(
                #[allow(dead_code, reason = "each kind has both getters")]
                pub(crate) fn $one(&self, position: usize) -> $type {
                    self.$maybe(position).expect("the table asks for this kind here")
                }

                #[allow(dead_code, reason = "each kind has both getters")]
                pub(crate) fn $maybe(&self, position: usize) -> Option<$type> {
                    match &self.values[position] {
                        Value::$variant(value) => Some(value.clone()),
                        _ => None,
                    }
                }
            )*
        }
    };
}
getters! {
    Handle: handle, maybe_handle -> u64;
    Real: real, maybe_real -> f64;
    Number: number, maybe_number -> Complex<f64>;
    Count: count, maybe_count -> usize;
    Flag: flag, maybe_flag -> bool;
    Text: text, maybe_text -> String;
}
