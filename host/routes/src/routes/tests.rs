//! Copies that wait for others, with a mock of the driver.

use super::*;
use crate::least::Least;
use crate::limits::Cancel;
use crate::side::Engine;
use peerlane_host::{Device, Memory};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

/// A device that takes long to give memory for a probe.
struct Slow {
    asked: Sender<()>,
    told: Mutex<Receiver<()>>,
}

impl Side for Slow {
    fn name(&self) -> String {
        "a slow device".into()
    }
    fn length(&self) -> u64 {
        1 << 20
    }
    fn attach(&self, _: &Memory) -> Result<Box<dyn Engine>> {
        Err(Error::side(self.name(), "it has no engine"))
    }
    fn another(&self, _: u64) -> Result<Box<dyn Side>> {
        self.asked.send(()).unwrap();
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = told.recv();
        Err(Error::side(self.name(), "it has no memory"))
    }
}

fn routes() -> (Arc<Routes>, Receiver<()>, Sender<()>) {
    let device = Device::over(Least::new()).unwrap();
    let board = Board::over(device.queue().unwrap(), 0..1 << 20, 1 << 20..1 << 21).unwrap();
    let ((asked, is_asked), (tell, told)) = (channel(), channel());
    let side = Slow {
        asked,
        told: Mutex::new(told),
    };
    let routes = Routes::new(&board, Arc::new(side), Options::default());
    (Arc::new(routes), is_asked, tell)
}

/// Cancels a copy that waits for another one. Returns the copy's result.
fn called_off(routes: &Arc<Routes>) -> Option<Result<Moved>> {
    let (cancel, (send, ended)) = (Cancel::default(), channel());
    let (routes, limits) = (
        Arc::clone(routes),
        Limits {
            deadline: None,
            cancel: Some(cancel.clone()),
        },
    );
    std::thread::spawn(move || {
        let order = Order {
            direction: Direction::FromFpga,
            fpga: 0,
            at: 0,
            length: 4096,
        };
        let _ = send.send(routes.transfer(&order, Route::Auto, &limits));
    });
    assert!(ended.recv_timeout(Duration::from_millis(20)).is_err());
    cancel.cancel();
    ended.recv_timeout(Duration::from_secs(10)).ok()
}

#[test]
fn a_copy_that_waits_for_others_can_be_called_off() {
    let (one, asked, tell) = routes();
    let (other, ..) = routes();
    let probes = Arc::clone(&one);
    let probes = std::thread::spawn(move || probes.findings());
    asked.recv().unwrap();
    // One waits for the same routes, the other for the board's memory for probes.
    for routes in [&one, &other] {
        let ended = called_off(routes).expect("it ends");
        assert!(
            matches!(
                ended,
                Err(Error::Cancelled {
                    done: 0,
                    length: 4096
                })
            ),
            "{ended:?}"
        );
    }
    tell.send(()).unwrap();
    assert!(probes.join().unwrap().is_err());
}
