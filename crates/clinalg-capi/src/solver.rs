//! Solvers on handles.
