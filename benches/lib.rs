//! Benchmarks of the primitives: `cargo bench -p clinalg-benches`.
