//! Operators of other crates behind handles.

use clinalg::solve::Operator;

use crate::object::{Applied, Object, RealElement};
use crate::registry::Registry;

impl Registry {
    /// Names an operator. Products and Krylov methods take its handle, and [`Registry::release`] with
    /// [`Kind::OPERATOR`](crate::Kind::OPERATOR).
    pub fn operator<T: RealElement>(&self, operator: impl Operator<T> + Send + 'static) -> u64 {
        self.insert(Object::Operator(T::erase_operator(Applied::new(Box::new(operator)))))
    }
}
