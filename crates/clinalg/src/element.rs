//! Plain values that device memory can hold.

use std::fmt;

use num_complex::Complex;

mod private {
    pub trait Sealed {}
}

/// A plain value that a device buffer can hold.
pub trait Element: private::Sealed + Copy + Default + Send + Sync + fmt::Debug + 'static {
    /// The value as kernels take it.
    #[doc(hidden)]
    fn value(self) -> Value;
    /// The bits of four 32-bit words of memory filled with the value.
    #[doc(hidden)]
    fn words(self) -> [u32; 4];
}

/// A value of one of the types that kernels take.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// `uint`.
    U32(u32),
    /// `ulong`.
    U64(u64),
    /// `float`.
    F32(f32),
    /// `double`.
    F64(f64),
    /// `float2`.
    F32x2([f32; 2]),
    /// `double2`.
    F64x2([f64; 2]),
}

macro_rules! elements {
    ($($t:ty => $value:expr, $words:expr;)*) => {$(
        impl private::Sealed for $t {}
        impl Element for $t {
            fn value(self) -> Value {
                let convert: fn($t) -> Value = $value;
                convert(self)
            }
            fn words(self) -> [u32; 4] {
                let words: fn($t) -> [u32; 4] = $words;
                words(self)
            }
        }
    )*};
}
elements! {
    u8 => |v| Value::U32(v.into()), |v| [u32::from_ne_bytes([v; 4]); 4];
    u16 => |v| Value::U32(v.into()), |v| [u32::from(v) * 0x1_0001; 4];
    u32 => Value::U32, |v| [v; 4];
    u64 => Value::U64, |v| halves([v.to_ne_bytes(); 2]);
    usize => |v| Value::U64(v as u64), |v| halves([(v as u64).to_ne_bytes(); 2]);
    f32 => Value::F32, |v| [v.to_bits(); 4];
    f64 => Value::F64, |v| halves([v.to_ne_bytes(); 2]);
    Complex<f32> => |v| Value::F32x2([v.re, v.im]), |v| [v.re.to_bits(), v.im.to_bits(), v.re.to_bits(), v.im.to_bits()];
    Complex<f64> => |v| Value::F64x2([v.re, v.im]), |v| halves([v.re.to_ne_bytes(), v.im.to_ne_bytes()]);
}

/// Kernels read `usize` as `ulong`.
const _: () = assert!(size_of::<usize>() == 8);

/// Twice eight bytes as two words each, in the order of memory.
fn halves(bytes: [[u8; 8]; 2]) -> [u32; 4] {
    let [[x0, x1], [y0, y1]] =
        bytes.map(|[a, b, c, d, e, f, g, h]| [[a, b, c, d], [e, f, g, h]].map(u32::from_ne_bytes));
    [x0, x1, y0, y1]
}
