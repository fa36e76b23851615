//! Only the library says of its objects that they are alike.

use clinalg::matrix::Values;
use clinalg::{Buffer, Result, ViewMut};

struct Mine(Buffer<f64>);

impl Values<f64> for Mine {
    fn values(&self) -> &Buffer<f64> {
        &self.0
    }

    fn values_mut(&mut self) -> ViewMut<'_, f64> {
        (&mut self.0).into()
    }

    fn check_same(&self, _: &Self, _: &'static str) -> Result<()> {
        Ok(())
    }

    unsafe fn like_uninit(&self) -> Result<Self> {
        Ok(Mine(Buffer::zeroed(self.0.context(), 0)?))
    }
}

fn main() {}
