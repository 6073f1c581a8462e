//! The end of transfers that a queue's steps have left at the board.

use super::GpuQueue;
use crate::error::Result;
use std::time::Duration;

impl GpuQueue {
    /// Ends the transfers of late steps that the board still has, and returns when none of them moves data any more.
    /// Transfers that have not ended by themselves after `grace`, a second at most, are aborted; returns whether one
    /// was. The bytes that steps had sent to their regions before have arrived then.
    ///
    /// The board may refuse steps that the GPU begins during this call, and these are late then. The queue can be used
    /// afterwards: a step skips the records of those before it.
    ///
    /// # Errors
    /// [`Error::Board`](crate::Error::Board): as [`Device::stop`](peerlane_host::Device::stop), and as
    /// [`Region::flush`](peerlane_host::Region::flush) where nothing proves that the sent bytes have arrived. They may
    /// be on their way then. its way then.
    pub fn stop(&self, grace: Duration) -> Result<bool> {
        let last = self.lock();
        let aborted = self.device.stop(grace)?;
        for (held, _) in last.regions.iter().filter(|(_, written)| *written) {
            held.region().flush()?;
        }
        Ok(aborted)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{device, request};
    use super::*;
    use crate::error::Error;
    use crate::standin;
    use peerlane_host::{Direction, Errno, MemoryKind, Permissions};

    #[test]
    fn what_was_late_is_ended_and_has_arrived() {
        let (least, device) = device();
        let queue = GpuQueue::new(&standin::gpu(), &device).unwrap();
        let memory = device.memory(MemoryKind::Host, 4096).unwrap();
        let register = || device.register_all(&memory, Permissions::ReadWrite);
        let [written, read] = [(); 2].map(|()| register().unwrap());
        for (region, direction) in [(&written, Direction::FromFpga), (&read, Direction::ToFpga)] {
            let request = request(region, direction);
            queue.admit(&mut queue.lock(), &request).unwrap();
        }
        let grace = Duration::from_millis(3);
        assert!(!queue.stop(grace).unwrap());
        assert_eq!(*least.stops.lock().unwrap(), [grace]);
        assert_eq!(*least.flushed.lock().unwrap(), [written.handle()]);
        *least.refuse_flush.lock().unwrap() = Some((Errno::IO, 1));
        assert!(matches!(queue.stop(grace), Err(Error::Board(_))));
        // Later steps may still use them.
        assert!(written.forget().is_err() && read.forget().is_err());
    }
}
