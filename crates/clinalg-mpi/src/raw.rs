//! The calls of MPI that do not block, in the forms used here.

use std::ffi::{c_int, c_void};

use mpi::ffi;

/// A communicator that lives as long as the process.
pub(crate) struct Comm(ffi::MPI_Comm);

// SAFETY: a handle, which the calls take by value; the network makes one call at a time.
unsafe impl Send for Comm {}
// SAFETY: as above.
unsafe impl Sync for Comm {}

/// A transfer or collective on its way.
pub(crate) struct Request(ffi::MPI_Request);

/// A call that failed, and its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) call: &'static str,
    pub(crate) code: c_int,
}

type Result<T> = std::result::Result<T, Failed>;

fn check(call: &'static str, code: c_int) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(Failed { call, code }) }
}

/// The only tag.
const TAG: c_int = 0;

impl Comm {
    /// A communicator of all processes with messages of its own, whose calls return their errors.
    pub(crate) fn of_all() -> Result<Comm> {
        // SAFETY: MPI is initialised, as the caller holds the universe; the new handle is written before it is read.
        unsafe {
            let mut comm = ffi::RSMPI_COMM_NULL;
            check("MPI_Comm_dup", ffi::MPI_Comm_dup(ffi::RSMPI_COMM_WORLD, &mut comm))?;
            check("MPI_Comm_set_errhandler", ffi::MPI_Comm_set_errhandler(comm, ffi::RSMPI_ERRORS_RETURN))?;
            Ok(Comm(comm))
        }
    }

    /// Starts to send to `to`.
    ///
    /// # Safety
    /// The `len` bytes stay as they are until the request is complete, or no call of MPI is made any more.
    pub(crate) unsafe fn send(&self, bytes: *const u8, len: c_int, to: usize) -> Result<Request> {
        // SAFETY: the caller vouches for the bytes.
        unsafe {
            let mut request = ffi::RSMPI_REQUEST_NULL;
            let (bytes, to) = (bytes.cast::<c_void>(), to as c_int);
            let code = ffi::MPI_Isend(bytes, len, ffi::RSMPI_UINT8_T, to, TAG, self.0, &mut request);
            check("MPI_Isend", code).map(|()| Request(request))
        }
    }

    /// Starts to receive from `from`.
    ///
    /// # Safety
    /// Nothing else reads or writes the `len` bytes until the request is complete, or no call of MPI is made any more.
    pub(crate) unsafe fn receive(&self, bytes: *mut u8, len: c_int, from: usize) -> Result<Request> {
        // SAFETY: the caller vouches for the bytes.
        unsafe {
            let mut request = ffi::RSMPI_REQUEST_NULL;
            let (bytes, from) = (bytes.cast::<c_void>(), from as c_int);
            let code = ffi::MPI_Irecv(bytes, len, ffi::RSMPI_UINT8_T, from, TAG, self.0, &mut request);
            check("MPI_Irecv", code).map(|()| Request(request))
        }
    }

    /// Starts to gather `len` bytes of each process in all of them.
    ///
    /// # Safety
    /// As [`Comm::send`] for `own` and [`Comm::receive`] for `all`, which has `len` bytes for each process.
    pub(crate) unsafe fn all_gather(&self, own: *const u8, len: c_int, all: *mut u8) -> Result<Request> {
        // SAFETY: the caller vouches for the bytes.
        unsafe {
            let mut request = ffi::RSMPI_REQUEST_NULL;
            let (own, all, byte) = (own.cast::<c_void>(), all.cast::<c_void>(), ffi::RSMPI_UINT8_T);
            let code = ffi::MPI_Iallgather(own, len, byte, all, len, byte, self.0, &mut request);
            check("MPI_Iallgather", code).map(|()| Request(request))
        }
    }

    /// Starts a barrier.
    pub(crate) fn barrier(&self) -> Result<Request> {
        // SAFETY: the handle is live.
        unsafe {
            let mut request = ffi::RSMPI_REQUEST_NULL;
            check("MPI_Ibarrier", ffi::MPI_Ibarrier(self.0, &mut request)).map(|()| Request(request))
        }
    }

    /// A message that has arrived and that no receive waits for, and who sent it.
    pub(crate) fn arrived(&self) -> Result<Option<(usize, Vec<u8>)>> {
        // SAFETY: the status is written by the probe where it finds a message, and read only then; the message fits the memory.
        unsafe {
            let mut status: ffi::MPI_Status = std::mem::zeroed();
            let mut found = 0;
            let code = ffi::MPI_Iprobe(ffi::RSMPI_ANY_SOURCE, TAG, self.0, &mut found, &mut status);
            check("MPI_Iprobe", code)?;
            if found == 0 {
                return Ok(None);
            }
            let mut count = 0;
            check("MPI_Get_count", ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut count))?;
            let mut bytes = vec![0_u8; count.max(0) as usize];
            let (to, from) = (bytes.as_mut_ptr().cast::<c_void>(), status.MPI_SOURCE);
            let code = ffi::MPI_Recv(to, count, ffi::RSMPI_UINT8_T, from, TAG, self.0, ffi::RSMPI_STATUS_IGNORE);
            check("MPI_Recv", code).map(|()| Some((from as usize, bytes)))
        }
    }
}

impl Request {
    /// Whether it is complete.
    pub(crate) fn is_complete(&mut self) -> Result<bool> {
        let mut flag = 0;
        // SAFETY: a request of this process; a complete one is null, for which the call says so again.
        let code = unsafe { ffi::MPI_Test(&mut self.0, &mut flag, ffi::RSMPI_STATUS_IGNORE) };
        check("MPI_Test", code).map(|()| flag != 0)
    }

    /// Asks for the end of a receive that has not begun; it is complete soon after.
    pub(crate) fn cancel(&mut self) {
        // SAFETY: a request of this process that is not null, as it is not complete. Its end is what tells whether it worked.
        unsafe {
            if self.0 != ffi::RSMPI_REQUEST_NULL {
                ffi::MPI_Cancel(&mut self.0);
            }
        }
    }
}
