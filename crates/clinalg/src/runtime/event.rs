//! Points in the work of a queue that others wait for.

use std::ffi::c_void;
use std::fmt;
use std::ptr::null_mut;
use std::sync::Arc;

use ocl::ffi;

use super::context::Context;
use super::fork;
use super::raw::Raw;
use super::status::SUCCESS;
use crate::{Error, Result};

/// A point in a queue: it is reached when all that was enqueued before is done.
///
/// The host waits for it by [`Event::wait`], another queue of the same context by
/// [`Queue::wait_for`](super::Queue::wait_for). Cheap to clone.
#[derive(Clone)]
pub struct Event {
    context: Context,
    raw: Arc<Owned>,
}

/// An OpenCL event.
struct Owned(Raw);

impl Drop for Owned {
    fn drop(&mut self) {
        if !fork::is_child() {
            // SAFETY: this owns one reference.
            unsafe { ffi::clReleaseEvent(self.0.0) };
        }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("device", &self.context.device().name).finish()
    }
}

impl Event {
    /// Takes over a reference to `event`, which lives in `context`.
    pub(super) fn of(context: &Context, event: *mut c_void) -> Event {
        Event { context: context.clone(), raw: Arc::new(Owned(Raw(event))) }
    }

    pub(super) fn raw(&self) -> *mut c_void {
        self.raw.0.0
    }

    /// The context of its queue.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Waits until it is reached.
    ///
    /// # Errors
    /// What the device reports of the work before it.
    pub fn wait(&self) -> Result<()> {
        fork::check()?;
        // SAFETY: the event is live.
        self.context.check("clWaitForEvents", unsafe { ffi::clWaitForEvents(1, &self.raw()) })
    }

    /// Whether it is reached; does not wait.
    ///
    /// # Errors
    /// What the device reports of the work before it.
    pub fn is_done(&self) -> Result<bool> {
        fork::check()?;
        let mut status = 0_i32;
        // SAFETY: the answer is one cl_int.
        let code = unsafe {
            ffi::clGetEventInfo(
                self.raw(),
                ffi::CL_EVENT_COMMAND_EXECUTION_STATUS,
                size_of::<i32>(),
                (&raw mut status).cast(),
                null_mut(),
            )
        };
        self.context.check("clGetEventInfo", code)?;
        // Negative states are errors of the work itself.
        self.context.check("clGetEventInfo", status.min(0))?;
        Ok(status == ffi::CL_COMPLETE)
    }

    /// An event of `other` that is reached when this one is, without the host waiting: the driver of this context tells
    /// it, and passes an error on.
    pub(super) fn seen_from(&self, other: &Context) -> Result<Event> {
        if self.context.same(other) {
            return Ok(self.clone());
        }
        let mut code = SUCCESS;
        // SAFETY: the context is live.
        let user = unsafe { ffi::clCreateUserEvent(other.raw().0, &mut code) };
        other.check("clCreateUserEvent", code)?;
        let seen = Event::of(other, user);
        // A reference of the callback's own, without the context: a driver's thread must not be the one that ends a
        // context, which would wait for the very queue that calls.
        // SAFETY: the event is live.
        other.check("clRetainEvent", unsafe { ffi::clRetainEvent(user) })?;
        let told = Box::into_raw(Box::new(Owned(Raw(user))));
        // SAFETY: the callback has the type of the OpenCL header and gets what it takes back into a box, once.
        let code =
            unsafe { ffi::clSetEventCallback(self.raw(), ffi::CL_COMPLETE, Some(pass_on), told.cast::<c_void>()) };
        if let Err(error) = self.context.check("clSetEventCallback", code) {
            // SAFETY: the driver did not take the callback, so that the box is still owned here. The event gets a state,
            // for nobody may wait for it for ever.
            unsafe {
                drop(Box::from_raw(told));
                ffi::clSetUserEventStatus(user, code);
            }
            return Err(error);
        }
        Ok(seen)
    }

    /// An error unless it lives in `context`.
    pub(super) fn check_context(&self, context: &Context) -> Result<()> {
        if self.context.same(context) { Ok(()) } else { Err(Error::Context { argument: "event" }) }
    }
}

/// Gives the boxed user event the state of the event that was reached.
extern "C" fn pass_on(_: *mut c_void, status: i32, user: *mut c_void) {
    // SAFETY: the box was made for this call, which happens once; its event is live and has had no state so far.
    unsafe {
        let seen = Box::from_raw(user.cast::<Owned>());
        ffi::clSetUserEventStatus(seen.0.0, status.min(0));
    }
}
