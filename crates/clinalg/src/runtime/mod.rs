//! Platforms, devices, contexts, buffers and kernels: the only room that names the OpenCL binding.
mod private {
    pub trait Sealed {}
}

/// A plain value that a device buffer can hold.
pub trait Element: private::Sealed + Copy + Send + Sync + 'static {}

macro_rules! elements {
    ($($t:ty),*) => {$(
        impl private::Sealed for $t {}
        impl Element for $t {}
    )*};
}
elements!(u8, u16, i32, u32, u64, f32, f64);
