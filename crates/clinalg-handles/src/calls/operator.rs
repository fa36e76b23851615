//! Operators behind handles.

use clinalg::solve::Operator;

use crate::object::{Applied, Element, Object};
use crate::registry::Registry;

impl Object {
    /// An operator, its type forgotten.
    pub(super) fn operator<T: Element>(operator: impl Operator<T> + Send + 'static) -> Object {
        Object::Operator(T::erase_operator(Applied::new(Box::new(operator))))
    }
}

impl Registry {
    /// Names an operator. Products and Krylov methods take its handle, and [`Registry::release`] with
    /// [`Kind::OPERATOR`](crate::Kind::OPERATOR).
    pub fn operator<T: Element>(&self, operator: impl Operator<T> + Send + 'static) -> u64 {
        self.insert(Object::operator(operator))
    }
}
