//! The end of what a queue's steps have left at the board.

use super::GpuQueue;
use crate::error::Result;
use std::time::Duration;

impl GpuQueue {
    /// Ends what the board still has of steps that were late, and returns when none of it moves data any more. What has not
    /// ended by itself after `grace`, a second at most, is aborted; says whether something was. What steps had sent to
    /// their regions before has arrived then.
    ///
    /// Steps that the GPU begins meanwhile may be refused by the board, and are late then. The queue can be used on: a step
    /// passes over the records of those before it.
    ///
    /// # Errors
    /// [`Error::Board`](crate::Error::Board): as [`Device::stop`](peerlane_host::Device::stop), and as
    /// [`Region::flush`](peerlane_host::Region::flush) where nothing proves that what was sent has arrived. It may be on
    /// its way then.
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
        // Later steps may use them still.
        assert!(written.forget().is_err() && read.forget().is_err());
    }
}
