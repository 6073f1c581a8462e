//! Turns of several copies over one board: at its memory for probes, and at its window.

use crate::error::Result;
use crate::gate::{Gate, Inside};
use crate::limits::Watch;
use crate::push::Push;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The turns of a board: all [`Board`](crate::Board)s of one board have the same. Clones are the same turns.
#[derive(Clone)]
pub struct Turns(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// Entered by the copy that probes or measures with the board's memory for that.
    aside: Gate,
    /// Entered by the copy that stores to the window.
    window: Gate,
    /// Place of the pusher that has the window.
    holder: Mutex<Weak<Place>>,
}

/// The place in which a pusher is kept.
type Place = Mutex<Option<Box<dyn Push>>>;

/// A place for the pusher that stores to a board's window, kept from one copy to the next.
#[derive(Clone, Default)]
pub(crate) struct Pusher(Arc<Place>);

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Turns {
    /// Returns the turns of the board with this name, as its driver calls it.
    pub(crate) fn of(board: &str) -> Self {
        static BOARDS: Mutex<BTreeMap<String, Weak<Shared>>> = Mutex::new(BTreeMap::new());
        let mut boards = lock(&BOARDS);
        boards.retain(|_, known| known.strong_count() > 0);
        if let Some(known) = boards.get(board).and_then(Weak::upgrade) {
            return Self(known);
        }
        let new = Arc::<Shared>::default();
        boards.insert(board.into(), Arc::downgrade(&new));
        Self(new)
    }

    /// Returns the turns of several sides, each board once, in an order that is the same for all callers: so two
    /// callers cannot each have turns that the other one waits for.
    pub(crate) fn together<const N: usize>(all: [Option<Self>; N]) -> Vec<Self> {
        let mut all: Vec<Self> = all.into_iter().flatten().collect();
        all.sort_by_key(|turns| Arc::as_ptr(&turns.0).addr());
        all.dedup_by(|one, other| Arc::ptr_eq(&one.0, &other.0));
        all
    }

    /// Waits until no other caller probes or measures with these.
    ///
    /// # Errors
    /// As [`Gate::enter`].
    pub(crate) fn aside<'a>(all: &'a [Self], watch: &Watch<'_>) -> Result<Vec<Inside<'a>>> {
        let mut all = all.iter();
        all.try_fold(Vec::new(), |mut inside, turns| {
            inside.push(turns.0.aside.enter(watch)?);
            Ok(inside)
        })
    }

    /// Makes `run` store to the window by the pusher in this place, or by the one that `make` makes there. Other
    /// callers wait, and their pusher has released the window.
    ///
    /// # Errors
    /// As [`Gate::enter`], and those of both.
    pub(crate) fn push<T>(
        &self,
        place: &Pusher,
        watch: &Watch<'_>,
        make: impl FnOnce() -> Result<Box<dyn Push>>,
        run: impl FnOnce(&mut dyn Push) -> Result<T>,
    ) -> Result<T> {
        let _alone = self.0.window.enter(watch)?;
        let other = {
            let mut holder = lock(&self.0.holder);
            std::mem::replace(&mut *holder, Arc::downgrade(&place.0))
        };
        if let Some(other) = other.upgrade()
            && !Arc::ptr_eq(&other, &place.0)
        {
            drop(lock(&other).take());
        }
        let mut pusher = lock(&place.0);
        match &mut *pusher {
            Some(pusher) => run(&mut **pusher),
            none => run(&mut **none.insert(make()?)),
        }
    }

    /// Releases the window, if this pusher has it. This does not wait for another pusher that stores to it.
    pub(crate) fn give_window_back(place: &Pusher) {
        drop(lock(&place.0).take());
    }
}

impl fmt::Debug for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turns").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{Clock, Limits};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    /// A window that one user at a time has, as a board's.
    #[derive(Clone, Default)]
    struct Window(Arc<AtomicBool>);

    struct Stores(Window);

    impl Window {
        fn take(&self) -> Result<Box<dyn Push>> {
            assert!(
                !self.0.swap(true, Ordering::SeqCst),
                "another thread has it"
            );
            Ok(Box::new(Stores(self.clone())))
        }
    }

    impl Drop for Stores {
        fn drop(&mut self) {
            self.0.0.store(false, Ordering::SeqCst);
        }
    }

    impl Push for Stores {
        fn window(&self) -> u64 {
            1
        }
        fn place(&mut self, _: u64) -> Result<()> {
            Ok(())
        }
        fn push(&mut self, _: u64, _: u64, _: u64) -> Result<()> {
            Ok(())
        }
        fn settle(&mut self, _: Duration) -> Result<bool> {
            Ok(true)
        }
    }

    #[test]
    fn boards_of_one_name_have_the_same_turns() {
        let (one, same, other) = (Turns::of("a"), Turns::of("a"), Turns::of("b"));
        assert!(Arc::ptr_eq(&one.0, &same.0) && !Arc::ptr_eq(&one.0, &other.0));
        let [forth, back] = [[&one, &other], [&other, &one]]
            .map(|all| Turns::together([Some(all[0].clone()), None, Some(all[1].clone())]));
        assert!(forth.len() == 2 && back.len() == 2);
        assert!(
            forth
                .iter()
                .zip(&back)
                .all(|(a, b)| Arc::ptr_eq(&a.0, &b.0))
        );
        // A board on both sides is waited for once.
        let (clock, limits) = (Clock::Process(Instant::now()), Limits::default());
        let watch = Watch::new(&clock, &limits, 0);
        let both = Turns::together([Some(one), Some(same)]);
        assert_eq!(Turns::aside(&both, &watch).unwrap().len(), 1);
    }

    #[test]
    fn the_window_goes_from_one_to_the_other() {
        let (window, turns) = (Window::default(), Turns::of("window"));
        let busy = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let place = Pusher::default();
                    let (clock, limits) = (Clock::Process(Instant::now()), Limits::default());
                    let watch = Watch::new(&clock, &limits, 0);
                    for _ in 0..50 {
                        let run = |_: &mut dyn Push| {
                            assert!(!busy.swap(true, Ordering::SeqCst));
                            std::thread::sleep(Duration::from_micros(50));
                            busy.store(false, Ordering::SeqCst);
                            Ok(())
                        };
                        turns.push(&place, &watch, || window.take(), run).unwrap();
                    }
                    Turns::give_window_back(&place);
                });
            }
        });
        assert!(!window.0.load(Ordering::SeqCst));
    }
}
