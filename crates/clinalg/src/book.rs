//! The Rust examples of the README and the book; `cargo test --doc` runs them.

macro_rules! pages {
    ($($name:ident $path:literal)*) => {$(
        #[doc = include_str!(concat!("../../../", $path))]
        struct $name;
    )*};
}

pages! {
    Readme "README.md"
    Tutorial "docs/tutorial.md"
    Devices "docs/guide/devices.md"
    Objects "docs/guide/objects.md"
    Operations "docs/guide/operations.md"
    Solvers "docs/guide/solvers.md"
    Poisson "docs/guide/poisson.md"
    Wave "docs/guide/wave.md"
    Files "docs/guide/files.md"
    Errors "docs/guide/errors.md"
    Team "docs/guide/team.md"
}
