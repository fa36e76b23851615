//! The barrier rule of the kernels.
//!
//! Compilers for CPUs split a kernel into loops over the items of a work-group at its barriers, and some get it wrong,
//! silently, when a barrier stands under an `if` or in a loop that items may leave early. So a barrier stands only
//!
//! * at the top level of a kernel, or in a `for` loop that stands there, or in a `for` loop of such a loop;
//! * in a loop whose header has the same values in every item of the work-group, among them what `shared_value` reads of local memory: its
//!   caller answers for a barrier before and after;
//! * in a loop that no `break`, `continue`, `return` or `goto` leaves;
//! * not behind a `return` or `goto`.
//!
//! A function or macro that holds a barrier keeps the rule in its own body and counts as a barrier where it is used.

use std::collections::HashSet;

use anyhow::Result;

use super::kernels;
use crate::opencl_c::{Kind, Source, Token};
use crate::outcome::Outcome;
use crate::system::Workspace;

/// Checks every kernel file, and a sample of those that are made at run time.
pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let mut findings = Vec::new();
    let (mut kernels_seen, mut barriers_seen) = (0, 0);
    let paths = |folder: &str, names: Vec<String>, extension: &str| -> Vec<String> {
        names.iter().map(|name| format!("{folder}/{name}.{extension}")).collect()
    };
    let headers = paths("kernels", kernels::headers(workspace)?, "clh");
    let own = paths("kernels", kernels::files(workspace)?, "cl");
    let made = paths(kernels::GENERATED, kernels::generated(workspace)?, "cl");
    let read = |file: &String| std::fs::read_to_string(workspace.path(file));
    for file in headers.iter().chain(&own).chain(&made) {
        // Whatever a file includes, it knows the macros of all headers.
        let others = headers.iter().filter(|header| *header != file);
        let known = others.map(read).collect::<std::io::Result<Vec<_>>>()?.concat();
        let report = scan(&known, &read(file)?);
        kernels_seen += report.kernels;
        barriers_seen += report.barriers;
        findings.extend(report.findings.iter().map(|f| format!("{file}:{}: {}", f.line, f.message)));
    }
    for finding in &findings {
        println!("{finding}");
    }
    Ok(match findings.len() {
        0 => Outcome::ok(format!(
            "{barriers_seen} barriers, {kernels_seen} kernels (macros that make kernels count once)"
        )),
        n => Outcome::failed(format!("{n} against the barrier rule")),
    })
}

/// Something against the rule.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    line: usize,
    message: String,
}

/// What a file holds.
#[derive(Debug, Default)]
struct Report {
    kernels: usize,
    barriers: usize,
    findings: Vec<Finding>,
}

/// Checks `text`, before which stands `prelude` with macros and functions of its own.
fn scan(prelude: &str, text: &str) -> Report {
    let (prelude, source) = (Source::parse(prelude), Source::parse(text));
    let mut report = Report::default();
    let mut outside = Vec::new();
    let known = units(&prelude, &mut outside);
    let own = units(&source, &mut report.findings);
    let types = [&prelude, &source].into_iter().flat_map(|source| types(&source.tokens)).collect();
    let names = Names::collect(known.iter().chain(&own), types);
    for unit in &own {
        unit.check(&names, &mut report);
    }
    report.findings.sort_by_key(|finding| finding.line);
    report.findings.dedup_by_key(|finding| finding.line);
    report
}

/// A function with its body, or a macro that is a part of one.
struct Unit<'a, 's> {
    /// By which other code names it; a function made by a macro has no name of its own.
    name: &'s str,
    /// For messages.
    title: String,
    is_function: bool,
    /// What stands before the body of a function.
    head: &'a [Token<'s>],
    body: &'a [Token<'s>],
}

/// The functions and macros of a source text.
fn units<'a, 's>(source: &'a Source<'s>, findings: &mut Vec<Finding>) -> Vec<Unit<'a, 's>> {
    let mut found = functions(&source.tokens, None, findings);
    for definition in &source.macros {
        if !balanced(&definition.body) {
            let message = format!("macro {} opens or closes brackets for other code", definition.name);
            findings.push(Finding { line: definition.line, message });
            continue;
        }
        let made = functions(&definition.body, Some(definition.name), findings);
        if made.is_empty() {
            let title = format!("macro {}", definition.name);
            found.push(Unit { name: definition.name, title, is_function: false, head: &[], body: &definition.body });
        }
        found.extend(made);
    }
    found
}

/// The names that `typedef` makes.
fn types<'a, 's>(tokens: &'a [Token<'s>]) -> impl Iterator<Item = &'s str> + 'a {
    let statements = tokens.split(|token| token.is(";"));
    let defines = |statement: &&[Token<'_>]| statement.iter().any(|token| token.is("typedef"));
    statements.filter(defines).filter_map(|statement| statement.last()).map(|name| name.text)
}

/// The function definitions among tokens of the file level.
fn functions<'a, 's>(
    tokens: &'a [Token<'s>],
    made_by: Option<&'s str>,
    findings: &mut Vec<Finding>,
) -> Vec<Unit<'a, 's>> {
    let mut found = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(token) = tokens.get(at) {
        if token.is("(") || token.is("[") || token.is("{") {
            let Some(close) = closing(tokens, at) else {
                let message = format!("`{}` is never closed", token.text);
                findings.push(Finding { line: token.line, message });
                return found;
            };
            let head = &tokens[start..at];
            if token.is("{")
                && let Some((name, _)) = signature(head)
            {
                let title = made_by.map_or_else(|| format!("`{name}`"), |m| format!("macro {m}"));
                let body = &tokens[at + 1..close];
                found.push(Unit { name: made_by.unwrap_or(name), title, is_function: true, head, body });
                start = close + 1;
            }
            at = close;
        } else if token.is(";") {
            start = at + 1;
        }
        at += 1;
    }
    found
}

/// Name and parameters of a function whose definition begins with `head`.
fn signature<'a, 's>(head: &'a [Token<'s>]) -> Option<(&'s str, &'a [Token<'s>])> {
    let mut found = None;
    let mut at = 0;
    while let Some(token) = head.get(at) {
        if token.is("=") {
            return None;
        }
        if token.is("(") {
            let close = closing(head, at)?;
            let before = at.checked_sub(1).map(|k| &head[k])?;
            if before.kind != Kind::Word || CONTROL.contains(&before.text) {
                return None;
            }
            if before.text != "__attribute__" {
                found = Some((before.text, &head[at + 1..close]));
            }
            at = close;
        }
        at += 1;
    }
    found
}

const CONTROL: [&str; 7] = ["if", "else", "for", "while", "do", "switch", "case"];
const LEAVES: [&str; 4] = ["return", "break", "continue", "goto"];
/// What differs between the items of a work-group.
const VARYING: [&str; 4] = ["get_global_id", "get_local_id", "get_global_linear_id", "get_local_linear_id"];
/// What is the same in all items of a work-group if the arguments are.
const UNIFORM: [&str; 28] = [
    "get_group_id",
    "get_num_groups",
    "get_global_size",
    "get_local_size",
    "get_global_offset",
    "get_work_dim",
    "min",
    "max",
    "clamp",
    "const",
    "unsigned",
    "signed",
    "char",
    "uchar",
    "short",
    "ushort",
    "int",
    "uint",
    "long",
    "ulong",
    "size_t",
    "bool",
    "float",
    "double",
    "sizeof",
    "popcount",
    "clz",
    "abs",
];

/// Names with a meaning for the rule.
struct Names<'s> {
    barriers: HashSet<&'s str>,
    leaves: HashSet<&'s str>,
    control: HashSet<&'s str>,
    varying: HashSet<&'s str>,
    kernels: HashSet<&'s str>,
    functions: HashSet<&'s str>,
    /// Those of `typedef`.
    types: HashSet<&'s str>,
}

impl<'s> Names<'s> {
    /// The language's own names, and those of macros and functions that come down to them.
    fn collect<'a>(units: impl Iterator<Item = &'a Unit<'a, 's>> + Clone, types: HashSet<&'s str>) -> Names<'s>
    where
        's: 'a,
    {
        let functions: HashSet<&str> = units.clone().filter(|unit| unit.is_function).map(|unit| unit.name).collect();
        let grow = |own: &[&'s str], functions_too: bool| {
            let mut names: HashSet<&str> = own.iter().copied().collect();
            loop {
                let before = names.len();
                for unit in units.clone().filter(|unit| functions_too || !unit.is_function) {
                    if (0..unit.body.len()).any(|at| stands_for(unit.body, at, &names, &functions)) {
                        names.insert(unit.name);
                    }
                }
                if names.len() == before {
                    return names;
                }
            }
        };
        Names {
            barriers: grow(&["barrier", "work_group_barrier"], true),
            leaves: grow(&LEAVES, false),
            control: grow(&CONTROL, false),
            varying: grow(&VARYING, true),
            kernels: grow(&["__kernel", "kernel"], false),
            functions: functions.clone(),
            types,
        }
    }
}

/// Whether the word at `at` is one of `names`; a function is meant only where it is called.
fn stands_for(tokens: &[Token<'_>], at: usize, names: &HashSet<&str>, functions: &HashSet<&str>) -> bool {
    let word = tokens[at];
    let is_called = || tokens.get(at + 1).is_some_and(|t| t.is("("));
    word.kind == Kind::Word && names.contains(word.text) && (!functions.contains(word.text) || is_called())
}

impl<'s> Unit<'_, 's> {
    fn check(&self, names: &Names<'s>, report: &mut Report) {
        let is_kernel = self.head.iter().any(|t| names.kernels.contains(t.text));
        report.kernels += usize::from(is_kernel);
        let mut body = Body {
            tokens: self.body,
            names,
            title: &self.title,
            findings: &mut report.findings,
            uniform: if is_kernel { self.uniform_parameters() } else { Vec::new() },
            barriers: Vec::new(),
            returns: Vec::new(),
        };
        body.block(0, self.body.len(), Place::Plain);
        let (barriers, returns) = (body.barriers, body.returns);
        report.barriers += barriers.len();
        for early in returns.into_iter().filter(|r| barriers.iter().any(|b| b > r)) {
            let message = format!("{}: items that leave here do not reach the barrier further on", self.title);
            report.findings.push(Finding { line: self.body[early].line, message });
        }
    }

    /// Parameters that are values, or arrays that nobody writes, unless the kernel assigns to them.
    fn uniform_parameters(&self) -> Vec<&'s str> {
        let Some((_, parameters)) = signature(self.head) else { return Vec::new() };
        parameters
            .split(|t| t.is(","))
            .filter(|p| !p.iter().any(|t| t.is("*")) || p.iter().any(|t| t.is("const") || t.is("__constant")))
            .filter_map(|p| p.iter().rfind(|t| t.kind == Kind::Word))
            .map(|t| t.text)
            .filter(|name| !assigns(self.body, name))
            .collect()
    }
}

/// Where a statement stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// At the top level or in loops in which a barrier may stand.
    Plain,
    /// Under a statement that not all items execute equally.
    Under(&'static str),
}

/// What a statement holds.
#[derive(Default)]
struct Held {
    barrier: bool,
    /// Statements that leave an enclosing loop: the positions.
    leaves: Vec<usize>,
}

impl Held {
    fn and(mut self, other: Held) -> Held {
        self.barrier |= other.barrier;
        self.leaves.extend(other.leaves);
        self
    }
}

/// A function body on its way through the check.
struct Body<'a, 's> {
    tokens: &'a [Token<'s>],
    names: &'a Names<'s>,
    title: &'a str,
    findings: &'a mut Vec<Finding>,
    /// Variables with the same value in all items of a work-group.
    uniform: Vec<&'s str>,
    /// Positions of what was found.
    barriers: Vec<usize>,
    returns: Vec<usize>,
}

impl<'s> Body<'_, 's> {
    fn find(&mut self, at: usize, message: &str) {
        let message = format!("{}: {message}", self.title);
        self.findings.push(Finding { line: self.tokens[at].line, message });
    }

    fn is_barrier(&self, at: usize) -> bool {
        stands_for(self.tokens, at, &self.names.barriers, &self.names.functions)
    }

    /// The statements from `at` to `end`.
    fn block(&mut self, mut at: usize, end: usize, place: Place) -> Held {
        let visible = self.uniform.len();
        let mut held = Held::default();
        while at < end {
            let next = statement_end(self.tokens, at).min(end);
            held = held.and(self.statement(at, next, place));
            at = next;
        }
        self.uniform.truncate(visible);
        held
    }

    fn statement(&mut self, at: usize, end: usize, place: Place) -> Held {
        if at >= end {
            // The body of a macro may end where a statement is still to come.
            return Held::default();
        }
        let first = self.tokens[at];
        if first.is("{") {
            return self.block(at + 1, end - 1, place);
        }
        let open = at + 1;
        let close = self.tokens.get(open).filter(|t| t.is("(")).and_then(|_| closing(self.tokens, open));
        match (first.text, close) {
            ("if", Some(close)) => {
                self.condition(open, close);
                let other = statement_end(self.tokens, close + 1).min(end);
                let held = self.statement(close + 1, other, Place::Under("if"));
                // The rest is `else` and its statement.
                if other + 1 < end { held.and(self.statement(other + 1, end, Place::Under("else"))) } else { held }
            }
            ("for", Some(close)) => self.loop_for(open, close, end, place),
            ("while", Some(close)) => {
                self.condition(open, close);
                let held = self.statement(close + 1, end, Place::Under("while"));
                self.leaving(held, &["break", "continue"])
            }
            ("do", _) => {
                let tail = statement_end(self.tokens, at + 1).min(end);
                self.condition(tail, end);
                let held = self.statement(at + 1, tail, Place::Under("do"));
                self.leaving(held, &["break", "continue"])
            }
            ("switch", Some(close)) => {
                self.condition(open, close);
                let held = self.statement(close + 1, end, Place::Under("switch"));
                self.leaving(held, &["break"])
            }
            // A macro that ends with the head of a loop.
            (_, Some(close)) if self.tokens.get(close + 1).is_some_and(|t| t.is("{")) => {
                let held = self.statement(close + 1, end, Place::Under("for"));
                self.leaving(held, &["break", "continue"])
            }
            _ => self.simple(at, end, place),
        }
    }

    /// What is held beyond a loop or switch that takes the `own` ways to leave for itself.
    fn leaving(&self, mut held: Held, own: &[&str]) -> Held {
        held.leaves.retain(|at| !own.contains(&self.tokens[*at].text));
        held
    }

    /// A condition may not hold a barrier.
    fn condition(&mut self, from: usize, to: usize) {
        for at in from..to {
            if self.is_barrier(at) {
                self.barriers.push(at);
                self.find(at, "a barrier in a condition");
            }
        }
    }

    fn loop_for(&mut self, open: usize, close: usize, end: usize, place: Place) -> Held {
        self.condition(open, close);
        let header = &self.tokens[open + 1..close];
        let variable = header.iter().take_while(|t| !t.is(";")).position(|t| t.is("=")).and_then(|k| k.checked_sub(1));
        let variable = variable.map(|k| header[k].text);
        let visible = self.uniform.len();
        self.uniform.extend(variable);
        let varying = self.varying(header);
        let changed = variable.filter(|name| assigns(&self.tokens[close + 1..end], name));
        if varying.is_some() || changed.is_some() {
            self.uniform.truncate(visible);
        }

        let held = self.statement(close + 1, end, place);
        self.uniform.truncate(visible);
        if held.barrier && place == Place::Plain {
            if let Some(word) = varying {
                let message =
                    format!("the loop holds a barrier, and `{word}` in its header may differ within a work-group");
                self.find(open - 1, &message);
            } else if let Some(name) = changed {
                self.find(open - 1, &format!("the loop holds a barrier, and its body changes `{name}`"));
            }
            for at in held.leaves.clone() {
                let message = format!("`{}` leaves a loop that holds a barrier", self.tokens[at].text);
                self.find(at, &message);
            }
        }
        self.leaving(held, &["break", "continue"])
    }

    /// A declaration, an expression or a jump.
    fn simple(&mut self, at: usize, end: usize, place: Place) -> Held {
        let statement = &self.tokens[at..end];
        let mut held = Held::default();
        for (k, token) in statement.iter().enumerate().filter(|(_, t)| t.kind == Kind::Word) {
            if self.names.leaves.contains(token.text) {
                held.leaves.push(at + k);
            }
            if token.is("return")
                || token.is("goto")
                || (self.names.leaves.contains(token.text) && !LEAVES.contains(&token.text))
            {
                self.returns.push(at + k);
            }
            if self.is_barrier(at + k) {
                held.barrier = true;
                self.barriers.push(at + k);
                let skips = |t: &Token<'_>| ["?", "&&", "||"].iter().any(|mark| t.is(mark));
                // The macro that holds the barrier is checked where it is defined.
                let controls = |(j, t): (usize, &Token<'_>)| j != k && self.names.control.contains(t.text);
                if let Place::Under(word) = place {
                    self.find(at + k, &format!("a barrier under `{word}`"));
                } else if statement.iter().any(skips) || statement.iter().enumerate().any(controls) {
                    self.find(at + k, "a barrier in an expression that may skip it");
                }
            }
        }
        self.uniform.retain(|name| !assigns(statement, name));
        if statement[0].is("const") && self.varying_initialiser(statement).is_none() {
            self.uniform.extend(declared(statement));
        }
        held
    }

    /// The first word whose value may differ between the items of a work-group.
    fn varying(&self, tokens: &[Token<'s>]) -> Option<&'s str> {
        let is_member = |k: usize| k > 0 && (tokens[k - 1].is(".") || tokens[k - 1].is("->"));
        let constant = |text: &str| !text.contains(|c: char| c.is_ascii_lowercase());
        let varies = |k: usize| {
            let text = tokens[k].text;
            // With equal arguments, which are looked at as well, it gives every item the same.
            let equal_function = || self.names.functions.contains(text) && tokens.get(k + 1).is_some_and(|t| t.is("("));
            stands_for(tokens, k, &self.names.varying, &self.names.functions)
                || !(constant(text)
                    || equal_function()
                    || UNIFORM.contains(&text)
                    || self.names.types.contains(&text)
                    || self.uniform.contains(&text))
        };
        let shared = calls(tokens, "shared_value");
        let words = (0..tokens.len()).filter(|k| tokens[*k].kind == Kind::Word && !is_member(*k));
        words
            .into_iter()
            .filter(|k| !shared.iter().any(|call| call.contains(k)))
            .find(|k| varies(*k))
            .map(|k| tokens[k].text)
    }

    /// As [`varying`](Self::varying), of the initial values of a declaration.
    fn varying_initialiser(&self, declaration: &[Token<'s>]) -> Option<&'s str> {
        let names: Vec<&str> = declared(declaration).collect();
        let values: Vec<Token<'s>> = declaration.iter().copied().filter(|t| !names.contains(&t.text)).collect();
        self.varying(&values)
    }
}

/// Names that a declaration gives a value.
fn declared<'a, 's>(declaration: &'a [Token<'s>]) -> impl Iterator<Item = &'s str> + 'a {
    declaration.windows(2).filter(|pair| pair[0].kind == Kind::Word && pair[1].is("=")).map(|pair| pair[0].text)
}

/// Whether the tokens change the variable `name` or take its address.
fn assigns(tokens: &[Token<'_>], name: &str) -> bool {
    const BEFORE: [&str; 2] = ["++", "--"];
    const BEHIND: [&str; 13] = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"];
    tokens.iter().enumerate().any(|(k, token)| {
        let marked = |k: Option<usize>, marks: &[&str]| {
            k.and_then(|k| tokens.get(k)).is_some_and(|t| t.kind == Kind::Mark && marks.contains(&t.text))
        };
        let address = || {
            let operand = |t: &Token<'_>| t.kind != Kind::Mark || t.is(")") || t.is("]");
            marked(k.checked_sub(1), &["&"]) && !k.checked_sub(2).is_some_and(|k| operand(&tokens[k]))
        };
        token.is(name) && (marked(Some(k + 1), &BEHIND) || marked(k.checked_sub(1), &BEFORE) || address())
    })
}

/// The calls of a function with their arguments.
fn calls(tokens: &[Token<'_>], name: &str) -> Vec<std::ops::Range<usize>> {
    let starts = tokens.windows(2).enumerate().filter(|(_, pair)| pair[0].is(name) && pair[1].is("("));
    let end =
        |start: usize| (start + 3..=tokens.len()).find(|&end| tokens[end - 1].is(")") && balanced(&tokens[start..end]));
    starts.filter_map(|(start, _)| Some(start..end(start)?)).collect()
}

fn balanced(tokens: &[Token<'_>]) -> bool {
    let mut open = Vec::new();
    for token in tokens.iter().filter(|t| t.kind == Kind::Mark) {
        match token.text {
            "(" => open.push(")"),
            "[" => open.push("]"),
            "{" => open.push("}"),
            ")" | "]" | "}" if open.pop() != Some(token.text) => return false,
            _ => {}
        }
    }
    open.is_empty()
}

/// Where the bracket that opens at `open` closes.
fn closing(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (k, token) in tokens.iter().enumerate().skip(open).filter(|(_, t)| t.kind == Kind::Mark) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth -= 1;
                if depth == 0 {
                    return Some(k);
                }
            }
            _ => {}
        }
    }
    None
}

/// One past the statement that begins at `at`.
fn statement_end(tokens: &[Token<'_>], at: usize) -> usize {
    let past_brackets = |at: usize| closing(tokens, at).map_or(tokens.len(), |close| close + 1);
    let Some(first) = tokens.get(at) else { return tokens.len() };
    let has_head = tokens.get(at + 1).is_some_and(|t| t.is("("));
    match first.text {
        "{" => past_brackets(at),
        "if" if has_head => {
            let end = statement_end(tokens, past_brackets(at + 1));
            if tokens.get(end).is_some_and(|t| t.is("else")) { statement_end(tokens, end + 1) } else { end }
        }
        "for" | "while" | "switch" if has_head => statement_end(tokens, past_brackets(at + 1)),
        "do" => statement_end_simple(tokens, statement_end(tokens, at + 1)),
        _ if has_head && tokens.get(past_brackets(at + 1)).is_some_and(|t| t.is("{")) => {
            past_brackets(past_brackets(at + 1))
        }
        _ => statement_end_simple(tokens, at),
    }
}

fn statement_end_simple(tokens: &[Token<'_>], mut at: usize) -> usize {
    while let Some(token) = tokens.get(at) {
        if token.is(";") {
            return at + 1;
        }
        let opens = ["(", "[", "{"].iter().any(|mark| token.is(mark));
        at = if opens { closing(tokens, at).map_or(tokens.len(), |close| close + 1) } else { at + 1 };
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of the findings.
    #[track_caller]
    fn lines(text: &str) -> Vec<usize> {
        scan("", text).findings.iter().map(|f| f.line).collect()
    }

    /// A kernel whose body begins on line 2.
    fn kernel(body: &str) -> String {
        format!(
            "__kernel void k(uint n, __global float *x, __global const uint *start, __local float *s) {{\n{body}\n}}\n"
        )
    }

    #[track_caller]
    fn good(body: &str) {
        let report = scan("", &kernel(body));
        assert_eq!(report.findings, [], "{body}");
        assert_eq!(report.kernels, 1);
    }

    #[track_caller]
    fn bad(body: &str, line: usize, word: &str) {
        let findings = scan("", &kernel(body)).findings;
        assert_eq!(findings.iter().map(|f| f.line).collect::<Vec<_>>(), [line], "{body}: {findings:?}");
        assert!(findings[0].message.contains(word), "{findings:?}");
    }

    #[test]
    fn top_level_and_uniform_loops_may_hold_barriers() {
        good("barrier(CLK_LOCAL_MEM_FENCE);");
        good("for (uint h = 128; h > 0; h /= 2) {\n barrier(CLK_LOCAL_MEM_FENCE);\n if (x[h] > 0) { s[h] = 0; }\n}");
        good("for (uint k = 0; k < n; ++k)\n for (uint j = k; j < n; ++j)\n  barrier(CLK_LOCAL_MEM_FENCE);");
        good("{ barrier(CLK_LOCAL_MEM_FENCE); }\nif (n > 3) return;");
        good(
            "const uint g = (uint)get_group_id(0), last = start[g + 1];\nfor (uint k = start[g]; k < last; ++k) { barrier(1); }",
        );
        good("for (uint k = 0; k < LANES; ++k) { barrier(1); for (uint j = 0; j < x[k]; ++j) { if (j > 3) break; } }");
        good(
            "for (uint k = 0; k < n; ++k) { barrier(1); switch (k) { case 1: s[0] = 1; break; } while (s[0] > 0) { break; } }",
        );
    }

    #[test]
    fn barriers_under_branches_are_found() {
        bad("if (n > 3) {\n  barrier(CLK_LOCAL_MEM_FENCE);\n}", 3, "`if`");
        bad("if (n > 3)\n  barrier(CLK_LOCAL_MEM_FENCE);", 3, "`if`");
        bad("if (n > 3) { x[0] = 1; }\nelse {\n\n barrier(CLK_LOCAL_MEM_FENCE);\n}", 5, "`else`");
        bad("if (n) ; else if (n > 2)\n barrier(1);", 3, "`if`");
        bad("while (n > x[0])\n  { barrier(CLK_LOCAL_MEM_FENCE); }", 3, "`while`");
        bad("do {\n  barrier(CLK_LOCAL_MEM_FENCE);\n} while (x[0] > 0);", 3, "`do`");
        bad("switch (n) {\n case 1:\n  barrier(CLK_LOCAL_MEM_FENCE); break;\n}", 4, "`switch`");
        bad("for (uint k = 0; k < n; ++k) {\n if (k) {\n  barrier(1);\n }\n}", 4, "`if`");
        bad("if (n)\n for (uint k = 0; k < n; ++k)\n  barrier(1);", 4, "`if`");
        bad("if (n) {\n {\n  work_group_barrier(1);\n }\n}", 4, "`if`");
    }

    #[test]
    fn barriers_in_expressions_are_found() {
        bad("n > 1 ? barrier(1) : (void)0;", 2, "expression");
        bad("if (helper(barrier(1)))\n x[0] = 1;", 2, "condition");
        bad("for (uint k = 0; (barrier(1), k < n); ++k)\n x[0] = 1;", 2, "condition");
        bad("do x[0] = 1;\n while ((barrier(1), n > 1));", 3, "condition");
    }

    #[test]
    fn leaving_a_loop_with_a_barrier_is_found() {
        let body =
            |leave: &str| format!("for (uint k = 0; k < n; ++k) {{\n barrier(1);\n if (x[k] > 0)\n  {leave}\n}}");
        for leave in ["break;", "continue;", "return;", "goto out;"] {
            bad(&body(leave), 5, leave.split([' ', ';']).next().unwrap());
        }
        bad(
            "for (uint k = 0; k < n; ++k) {\n for (uint j = 0; j < n; ++j) {\n  barrier(1);\n }\n break;\n}",
            6,
            "break",
        );
        bad("for (uint k = 0; k < n; ++k) {\n switch (n) {\n  case 1: continue;\n }\n barrier(1);\n}", 4, "continue");
    }

    #[test]
    fn early_returns_are_found() {
        bad("const size_t i = get_global_id(0);\nif (i >= n) return;\nbarrier(1);", 3, "leave");
        bad("if (n > 3)\n return;\nfor (uint k = 0; k < n; ++k) { barrier(1); }", 3, "leave");
        bad("if (n > 3)\n goto end;\nbarrier(1);\nend:;", 3, "leave");
    }

    #[test]
    fn loops_with_barriers_count_the_same_in_every_item() {
        bad("for (size_t k = get_local_id(0); k < n; ++k) {\n barrier(1);\n}", 2, "get_local_id");
        bad("const uint lane = (uint)get_local_id(0);\nfor (uint k = 0; k < lane; ++k) {\n barrier(1);\n}", 3, "lane");
        bad("uint m = 3;\nm = s[0];\nfor (uint k = 0; k < m; ++k) {\n barrier(1);\n}", 4, "`m`");
        bad("for (uint k = 0; k < x[0]; ++k) {\n barrier(1);\n}", 2, "`x`");
        bad("for (uint k = 0; k < n; ++k) {\n barrier(1);\n if (x[k] > 0) { k += 2; }\n}", 2, "`k`");
        bad("for (uint k = 0; k < n; ++k) {\n barrier(1);\n}\nn = (uint)x[0];", 2, "`n`");
        let changed = "for (uint k = 0; k < n; ++k) {\n ++k;\n for (uint j = 0; j < k; ++j) barrier(1);\n}";
        assert_eq!(lines(&kernel(changed)), [2, 4], "the inner loop counts up to what the outer one changes");
        bad(
            "const uint m = n;\n{ const uint m = (uint)get_local_id(0);\nfor (uint k = 0; k < m; ++k) barrier(1); }",
            4,
            "`m`",
        );
    }

    #[test]
    fn shared_values_are_equal() {
        good("const uint m = shared_value(s + 3);\nfor (uint k = 0; k < m; ++k) { barrier(1); }");
        good("for (uint k = 0; k < shared_value(&s[(3)]); ++k) { barrier(1); }");
        bad("const uint m = shared_value(s) + x[0];\nfor (uint k = 0; k < m; ++k) {\n barrier(1);\n}", 3, "`m`");
    }

    #[test]
    fn names_of_types_do_not_vary() {
        let body = "const idx g = (idx)get_group_id(0);\nfor (idx k = g; k < (idx)n; ++k) { barrier(1); }";
        let text = kernel(body);
        assert_eq!(lines(&text), [3]);
        assert_eq!(lines(&format!("typedef int idx; {text}")), [0; 0]);
        let varying = kernel("const idx i = (idx)get_local_id(0);\nfor (idx k = i; k < 9; ++k) { barrier(1); }");
        assert_eq!(lines(&format!("typedef int idx; {varying}")), [3]);
    }

    #[test]
    fn a_condition_at_a_uniform_address_is_not_an_assignment() {
        good("const uint bits = n & 7;\nfor (uint k = 0; k < n; ++k) { barrier(1); x[0] = n & k; }");
        bad("for (uint k = 0; k < n; ++k) {\n barrier(1);\n step(&k);\n}", 2, "`k`");
    }

    #[test]
    fn functions_of_equal_values_are_equal() {
        let with = |function: &str, argument: &str| {
            let body = format!("const uint m = most({argument});\nfor (uint k = 0; k < m; ++k) {{ barrier(1); }}");
            format!("inline uint most(uint i) {{ return {function}; }}\n{}", kernel(&body))
        };
        assert_eq!(lines(&with("i + 1", "start[n]")), [0; 0]);
        assert_eq!(lines(&with("i + 1", "s[n]")).len(), 1);
        assert_eq!(lines(&with("i + get_local_id(0)", "n")).len(), 1);
    }

    #[test]
    fn comments_and_strings_do_not_count() {
        good("// if (n) barrier(1);\n/* while (1) { barrier(1); } */\nif (n) { x[0] = 'b'; }");
    }

    #[test]
    fn macros_that_make_kernels_are_checked_on_their_own_lines() {
        let text = "#define MAKE(name, TERM) \\\n  __kernel void name(uint n) \\\n  { \\\n    if (n) { \\\n      barrier(1); \\\n    } \\\n  }\nMAKE(a, b)\n";
        assert_eq!(lines(text), [5]);
        let text = "#define MAKE(name) \\\n  __kernel void name(uint n) \\\n  { for (uint k = 0; k < n; ++k) { barrier(1); } }\n";
        let report = scan("", text);
        assert_eq!((report.kernels, report.barriers, report.findings.len()), (1, 1, 0));
    }

    #[test]
    fn macros_that_hold_a_barrier_count_as_one() {
        let sync = "#define SYNC barrier(CLK_LOCAL_MEM_FENCE)\n";
        assert_eq!(lines(&format!("{sync}__kernel void k(uint n) {{\n SYNC;\n}}")), [0_usize; 0]);
        assert_eq!(lines(&format!("{sync}__kernel void k(uint n) {{\n if (n) {{\n  SYNC;\n }}\n}}")), [4]);
        let deeper = "#define A barrier(1)\n#define B(x) A\n__kernel void k(uint n) {\n if (n)\n  B(2);\n}";
        assert_eq!(lines(deeper), [5]);
        let prelude = scan(sync, "__kernel void k(uint n) {\n if (n)\n  SYNC;\n}");
        assert_eq!(prelude.findings[0].line, 3);
        assert_eq!(lines("#define MAYBE(x) if (x) barrier(1)\n"), [1]);
    }

    #[test]
    fn macros_may_hold_a_whole_loop_with_a_barrier() {
        let tree = "#define TREE(s, lane) \\\n for (uint h = LOCAL / 2; h > 0; h /= 2) { \\\n barrier(1); if (lane < h) { s[lane] += s[lane + h]; } }\n";
        let body = |body: &str| lines(&format!("{tree}__kernel void k(uint n, uint lane) {{\n{body}\n}}"));
        assert_eq!(body("TREE(s, lane);\nif (lane == 0) n = 1;\nTREE(s, lane);"), [0_usize; 0]);
        assert_eq!(body("if (n)\n TREE(s, lane);"), [6]);
        assert_eq!(body("TREE(s, lane)\n barrier(1);"), [6]);
        assert_eq!(lines("#define TREE(s) if (s[0]) for (uint h = 9; h > 0; --h) { barrier(1); }\n"), [1]);
    }

    #[test]
    fn macros_that_hide_control_flow_are_found() {
        assert_eq!(lines("#define FIRST if (lane == 0)\n__kernel void k(uint lane) {\n FIRST barrier(1);\n}"), [3]);
        assert_eq!(lines("#define FIRST if (lane == 0)\n__kernel void k(uint lane) {\n FIRST { barrier(1); }\n}"), [3]);
        assert_eq!(lines("#define DONE return\n__kernel void k(uint n) {\n if (n) DONE;\n barrier(1);\n}"), [3]);
        assert_eq!(lines("#define OPEN if (x) {\n"), [1]);
        assert_eq!(
            lines("#define LANE get_local_id(0)\n__kernel void k() {\n for (uint k = 0; k < LANE; ++k) barrier(1);\n}"),
            [3]
        );
    }

    #[test]
    fn loops_of_macros_end_with_their_bodies() {
        let each = |body: &str| {
            lines(&format!("#define EACH(i) for (size_t i = f(i); i < 9; ++i)\n__kernel void k() {{\n{body}\n}}"))
        };
        assert_eq!(each("EACH(i)\n {\n x[i] = 0;\n }\n barrier(1);"), [0_usize; 0]);
        assert_eq!(each("EACH(i)\n {\n barrier(1);\n }"), [5]);
        assert_eq!(each("EACH(i)\n barrier(1);"), [4]);
    }

    #[test]
    fn functions_that_hold_a_barrier_count_as_one() {
        let tree = "inline float tree(__local float *s) {\n for (uint h = LOCAL / 2; h > 0; h /= 2) { barrier(1); }\n return s[0];\n}\n";
        assert_eq!(lines(&format!("{tree}__kernel void k(uint n) {{\n float a = tree(0);\n}}")), [0_usize; 0]);
        assert_eq!(lines(&format!("{tree}__kernel void k(uint n) {{\n if (n)\n  tree(0);\n}}")), [7]);
        assert_eq!(lines(&format!("{tree}__kernel void k(uint n) {{\n float a = n ? tree(0) : 0;\n}}")), [6]);
        assert_eq!(lines("void f(uint n) {\n for (uint k = 0; k < n; ++k) { barrier(1); }\n}"), [2]);
    }

    #[test]
    fn attributes_and_other_declarations_do_not_confuse() {
        let text = "__constant float w[2] = {1, 2};\ntypedef struct { float a; } pair;\nvoid f(int a);\n\
                    __kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void\nk(ulong n, __global float *x)\n\
                    {\n for (ulong i = 0; i < n; i += 2) { barrier(1); }\n}\n\
                    __kernel void l(uint n) __attribute__((x(1)))\n{ if (n)\n barrier(1);\n}";
        let report = scan("", text);
        assert_eq!(report.kernels, 2);
        assert_eq!(report.findings.iter().map(|f| f.line).collect::<Vec<_>>(), [11]);
    }

    #[test]
    fn both_branches_of_a_directive_are_checked() {
        assert_eq!(lines("__kernel void k(uint n) {\n#if A\n barrier(1);\n#else\n if (n) barrier(1);\n#endif\n}"), [5]);
    }

    #[test]
    fn a_bracket_that_never_closes_is_found() {
        assert_eq!(lines("int a;\n__kernel void k(uint n) {\n barrier(1);\n"), [2]);
    }
}
