//! What describes a function of the gateway: its arguments, its help text, what it runs.

use crate::args::{Args, Input};
use crate::emit::Answer;
use crate::fault::{Fault, id};

/// A function that the gateway offers. The fields for people make the file `<name>.m`.
#[cfg_attr(not(test), expect(dead_code, reason = "the help texts are written to files by a test"))]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// What it does, in a line.
    pub(crate) title: &'static str,
    pub(crate) inputs: &'static [Input],
    /// Inputs from the first on that may not be left out.
    pub(crate) required: usize,
    pub(crate) outputs: &'static [&'static str],
    /// Whether it may be called without taking an output, and then does something else.
    pub(crate) prints: bool,
    /// Shapes, classes and defaults.
    pub(crate) text: &'static str,
    pub(crate) example: &'static str,
    pub(crate) see: &'static [&'static str],
    /// Whether the host may clear the library afterwards.
    pub(crate) unlocks: bool,
    pub(crate) run: fn(&Args<'_>) -> Result<Answer, Fault>,
}

impl Function {
    /// For the fields that most functions leave alone.
    pub(crate) const DEFAULT: Function = Function {
        name: "",
        title: "",
        inputs: &[],
        required: 0,
        outputs: &[],
        prints: false,
        text: "",
        example: "",
        see: &[],
        unlocks: false,
        run: |_| Ok(Answer::Nothing),
    };

    /// The call in the language of the host, optional arguments in brackets.
    pub(crate) fn usage(&self) -> String {
        let mut usage = match self.outputs {
            [] => String::new(),
            [one] => format!("{one} = "),
            several => format!("[{}] = ", several.join(", ")),
        };
        usage += self.name;
        usage += "(";
        for (position, input) in self.inputs.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            if position < self.required {
                usage += &format!("{comma}{}", input.name);
            } else {
                usage += &format!(" [{comma}{}]", input.name);
            }
        }
        usage + ")"
    }

    /// An error unless `inputs` arguments and `outputs` results fit.
    pub(crate) fn check_count(&self, inputs: usize, outputs: usize) -> Result<(), Fault> {
        let problem = if inputs < self.required {
            "too few arguments"
        } else if inputs > self.inputs.len() {
            "too many arguments"
        } else if outputs > self.outputs.len() {
            "too many outputs"
        } else {
            return Ok(());
        };
        Err(Fault::new(id::COUNT, format_args!("{problem}; the call is {}", self.usage())))
    }

    /// Puts the function's name in front of an error's text, and the arguments' names and positions for the
    /// names that the core gives them.
    #[cold]
    pub(crate) fn explain(&self, mut fault: Fault) -> Fault {
        for (position, input) in self.inputs.iter().enumerate() {
            let core = format!("argument `{}`", input.core);
            if fault.text.contains(&core) {
                fault.text = fault.text.replace(&core, &format!("argument {} `{}`", position + 1, input.name));
            }
        }
        fault.text = format!("{}: {}", self.name, fault.text);
        fault
    }
}
