//! Code for each type of values, which handles name at run time.

/// Evaluates the body with `$t` the type of values.
macro_rules! typed {
    ($scalar:expr, $t:ident => $body:expr) => {
        match $scalar {
            clinalg_handles::ScalarType::F32 => {
                type $t = f32;
                $body
            }
            clinalg_handles::ScalarType::F64 => {
                type $t = f64;
                $body
            }
            clinalg_handles::ScalarType::C32 => {
                type $t = clinalg::Complex<f32>;
                $body
            }
            clinalg_handles::ScalarType::C64 => {
                type $t = clinalg::Complex<f64>;
                $body
            }
        }
    };
}
pub(crate) use typed;
