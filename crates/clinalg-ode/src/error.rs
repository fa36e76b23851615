//! The error type of the crate.

use clinalg::team::Team;
use clinalg::{number, shown};

/// The result of every fallible operation of the crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong, each with an [`id`](Error::id) for programs and a message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A method that is not what it claims to be.
    #[error("method `{method}`: {condition} gives {}, expected {}", shown(*got), shown(*expected))]
    Condition {
        /// The method's name.
        method: String,
        /// The condition that fails: a row sum, an order condition (its rooted tree) or a stability condition.
        condition: String,
        /// Its value for the given coefficients.
        got: f64,
        /// What it has to be.
        expected: f64,
    },
    /// A data-flow graph that cannot be run.
    #[error("graph `{graph}`: {reason}")]
    Graph {
        /// The graph's name.
        graph: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No variant's vectors fit the device, or the initial values do not fit the host.
    #[error("the vectors do not fit {place}; bytes needed: {needs}; available: {available}")]
    Memory {
        /// Where, and what to do.
        place: &'static str,
        /// Variants with the bytes that they need.
        needs: String,
        /// Bytes free on the device.
        available: u64,
    },
    /// Kernels of a variant that the system or the device does not allow.
    #[error("variant `{variant}`: {reason}")]
    Variant {
        /// The variant's name.
        variant: &'static str,
        /// Why there are no such kernels.
        reason: String,
    },
    /// A formula that cannot be read.
    #[error("formula `{formula}`, column {column}: {reason}")]
    Formula {
        /// The formula as given.
        formula: String,
        /// 1-based column, counted in characters.
        column: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A right-hand side in OpenCL C that reads further than it declares.
    #[error(
        "the snippet declares that it reads no further than {distance} components away, but component {} (counted from 1) reads {}",
        component + 1,
        .read.map_or("one that does not exist".into(), |read| format!("one {read} away"))
    )]
    Access {
        /// The component whose derivative reads furthest.
        component: usize,
        /// How far away it reads; `None` for a component that does not exist.
        read: Option<usize>,
        /// What was declared.
        distance: usize,
    },
    /// A value outside its range.
    #[error("{}", if argument.starts_with("line ") {
        format!("{argument}: expected {expected}, found {got}")
    } else {
        format!("argument `{argument}` is {got}, expected {expected}")
    })]
    Value {
        /// The argument's name, or `line N` of a description.
        argument: String,
        /// The expected range.
        expected: String,
        /// The value given.
        got: String,
    },
    /// Infinity or NaN appeared in the solution.
    #[error("{}", cause.message(component, *value, *t, *h))]
    NotFinite {
        /// Last time at which the solution was known to be finite, or the one at which it was seen not to be.
        t: f64,
        /// The step that was tried.
        h: f64,
        /// The first component that is not finite, or the largest where it grows without bound, as messages name it.
        component: String,
        /// Its value.
        value: f64,
        /// Why.
        cause: Cause,
    },
    /// No step that floating-point time can represent meets the tolerance.
    #[error("{}", grows.as_ref().map_or_else(
        || format!(
            "at t = {} the step {} that the tolerance requires is too small to advance the time; loosen the tolerance",
            number(*t, 7),
            number(*h, 2)
        ),
        |(component, value)| format!(
            "{}; the step {} that the tolerance requires is too small to advance the time",
            Cause::BlowUp.message(component, *value, *t, *h),
            number(*h, 2)
        )
    ))]
    StepTooSmall {
        /// Time reached.
        t: f64,
        /// The step that the tolerance needs.
        h: f64,
        /// The largest component, as messages name it, and its value, where the solution grows without bound.
        grows: Option<(String, f64)>,
    },
    /// The limit on the number of steps was met.
    #[error("after {steps} steps t is only {}{}", number(*t, 7), match (slides, stiff) {
        (Some(component), _) => format!(
            ", with steps of {}: the right-hand side of {component} jumps back and forth there (chattering), the \
             solution slides along a switch; end the integration at the switch by a terminal event and continue with the \
             equation of the sliding motion, or make the switch smooth",
            number(*h, 2)
        ),
        (None, Some(since)) => format!(
            "; since t = {}, stability rather than accuracy has limited the steps (the problem is stiff), last to \
             {}. If the stiff eigenvalues lie near the negative real axis, as in diffusion, use a stabilised method \
             (rkc); otherwise raise the step limit",
            number(*since, 4),
            number(*h, 2)
        ),
        (None, None) => "; raise the step limit or loosen the tolerance".into(),
    })]
    StepLimit {
        /// Steps tried.
        steps: usize,
        /// Time reached.
        t: f64,
        /// The step tried last.
        h: f64,
        /// The component whose derivative jumps back and forth, as messages name it, where that keeps the steps small.
        slides: Option<String>,
        /// The time at which stiffness was first detected ([`Report::stiff`](crate::integrate::Report::stiff)).
        stiff: Option<f64>,
    },
    /// A fixed step above the stability limit.
    #[error(
        "the step {} is above the stability limit of `{method}` for this problem, about {}",
        shown(*h),
        number(*limit, 3)
    )]
    Unstable {
        /// The method's name.
        method: String,
        /// The fixed step.
        h: f64,
        /// The largest one that can be stable, by an estimate of the largest eigenvalue at the beginning.
        limit: f64,
    },
    /// Infinity or NaN appeared in a waveform relaxation.
    #[error(
        "window {}, iteration {iteration}: component {} (counted from 1) is not finite: the step is above the stability limit, or the solution blows up",
        window + 1,
        component + 1
    )]
    Waveform {
        /// The window, counted from 0.
        window: usize,
        /// The iteration, counted from 1.
        iteration: usize,
        /// The first component that is not finite.
        component: usize,
    },
    /// A failure of the device or its runtime.
    #[error(transparent)]
    Device(#[from] clinalg::Error),
}

/// Why a solution is not finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The right-hand side is not where the integration begins.
    Beginning,
    /// Every step from some time on gives such a value, however small it is.
    Undefined,
    /// The solution grows without bound.
    BlowUp,
    /// Steps of a fixed size have led there.
    FixedStep,
}

impl Cause {
    fn message(self, component: &str, value: f64, t: f64, h: f64) -> String {
        match self {
            Cause::Beginning => format!(
                "the right-hand side of {component} is {value} at t = {}, where the integration begins; check its \
                 formula and the initial values",
                number(t, 7)
            ),
            Cause::Undefined => format!(
                "{component} becomes {value} in every step from t = {} on, however small: its right-hand side has no \
                 finite value past this time; check its formula for divisions by 0 and for roots and logarithms of \
                 negative numbers",
                number(t, 7)
            ),
            Cause::BlowUp => format!(
                "{component} has grown to {} at t = {}: the solution blows up there; end the integration before that time",
                number(value, 4),
                number(t, 7)
            ),
            Cause::FixedStep => format!(
                "{component} is {value} at t = {} after steps of {}: the step is above the stability limit, or the \
                 solution blows up; take a smaller step, or adaptive steps to see which",
                number(t, 7),
                shown(h)
            ),
        }
    }
}

macro_rules! identifiers {
    ($($pattern:pat => $id:literal,)*) => {
        impl Error {
            /// Every identifier that [`id`](Error::id) can give, besides those of [`clinalg::Error::IDS`].
            pub const IDS: &'static [&'static str] = &[$($id),*];

            /// The identifier `clinalg:<topic>:<what>`.
            pub fn id(&self) -> &'static str {
                match self {
                    $($pattern => $id,)*
                    Error::Device(error) => error.id(),
                }
            }
        }
    };
}
identifiers! {
    Error::Condition { .. } => "clinalg:ode:condition",
    Error::Graph { .. } => "clinalg:ode:graph",
    Error::Memory { .. } => "clinalg:ode:memory",
    Error::Variant { .. } => "clinalg:ode:variant",
    Error::Formula { .. } => "clinalg:ode:formula",
    Error::Access { .. } => "clinalg:ode:access",
    Error::Value { .. } => "clinalg:argument:value",
    Error::NotFinite { .. } => "clinalg:ode:notFinite",
    Error::StepTooSmall { .. } => "clinalg:ode:stepTooSmall",
    Error::StepLimit { .. } => "clinalg:ode:stepLimit",
    Error::Unstable { .. } => "clinalg:ode:unstable",
    Error::Waveform { .. } => "clinalg:ode:waveform",
}

impl Error {
    pub(crate) fn value(argument: impl Into<String>, expected: impl Into<String>, got: impl ToString) -> Error {
        Error::Value { argument: argument.into(), expected: expected.into(), got: got.to_string() }
    }

    /// An error of the device of local rank `k` names the rank.
    pub(crate) fn of_rank(self, team: &Team, k: usize) -> Error {
        match self {
            Error::Device(error) => Error::Device(team.at(k, error)),
            other => other,
        }
    }
}
