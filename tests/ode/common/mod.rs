//! What several tests need.

// Each test program uses its part of this module.
#![allow(dead_code)]

use std::sync::{Mutex, PoisonError};

use clinalg::runtime::devices;
use clinalg::{Context, ContextOptions, KernelFamily};

type Shared = (Option<KernelFamily>, Vec<Context>);

/// Drivers prepare each context to compile, which takes as long as a few kernels: tests share them.
static SHARED: Mutex<Vec<Shared>> = Mutex::new(Vec::new());

/// A context for every device and each family of kernels to test.
pub(crate) fn contexts() -> Vec<Context> {
    let families = clinalg_testing::families([KernelFamily::Cpu, KernelFamily::Gpu]);
    families.into_iter().flat_map(shared).collect()
}

/// A context for every device, with the kernels of a family.
pub(crate) fn contexts_of(family: KernelFamily) -> Vec<Context> {
    shared(Some(family))
}

fn shared(family: Option<KernelFamily>) -> Vec<Context> {
    let mut all = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, contexts)) = all.iter().find(|(made_for, _)| *made_for == family) {
        return contexts.clone();
    }
    let devices = clinalg_testing::found(devices()).unwrap_or_default();
    let options = ContextOptions { family, ..ContextOptions::default() };
    let contexts: Vec<_> = devices.iter().map(|device| Context::new(device, &options).unwrap()).collect();
    all.push((family, contexts.clone()));
    contexts
}

/// `count` contexts on the device of `like`, of its family.
pub(crate) fn contexts_like(like: &Context, count: usize) -> Vec<Context> {
    static MADE: Mutex<Vec<Context>> = Mutex::new(Vec::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = (like.device().index, like.family());
    let is_alike = |context: &&Context| (context.device().index, context.family()) == place;
    let missing = count.saturating_sub(made.iter().filter(is_alike).count());
    if missing > 0 {
        let device = &devices().unwrap()[like.device().index];
        let options = ContextOptions { family: Some(like.family()), ..ContextOptions::default() };
        made.extend((0..missing).map(|_| Context::new(device, &options).unwrap()));
    }
    made.iter().filter(is_alike).take(count).cloned().collect()
}
