//! The terminal while `peerlane top` uses it: an alternate screen, which is left when this is dropped, regardless of
//! how the program ends, except by `SIGKILL`.

use peerlane_demo::error::Error;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{self, LocalModes, OptionalActions, Termios};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::{flag, low_level};
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Interval between two checks for signals and keys.
const LOOK: Duration = Duration::from_millis(50);

/// Enters the alternate screen, from its first line on, without the cursor; and leaves it (ECMA-48; private modes 1049
/// and 25 as in XTerm's Control Sequences).
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// Reasons why a wait has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// The time is over.
    Time,
    /// The view is to be drawn again: the window has another size, or the program was stopped in between.
    Redraw,
    /// The user quits.
    Quit,
}

/// The terminal.
pub struct Screen {
    signal: Arc<AtomicUsize>,
    stopped: Arc<AtomicBool>,
    changed: Arc<AtomicBool>,
    /// Whether standard output is a terminal, and shows the alternate screen.
    shown: bool,
    /// Settings of the keyboard before.
    keyboard: Option<Termios>,
}

impl Screen {
    /// Takes over the terminal; with `shown`, enters an alternate screen if standard output is a terminal.
    ///
    /// # Errors
    /// If signals cannot be watched.
    pub fn new(shown: bool) -> Result<Self, Error> {
        let failed = |e| Error::io("peerlane", "watch for signals", &e);
        let screen = Self {
            signal: Arc::default(),
            stopped: Arc::default(),
            changed: Arc::default(),
            shown: false,
            keyboard: None,
        };
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            let number = usize::try_from(signal).expect("signals have positive numbers");
            flag::register_usize(signal, Arc::clone(&screen.signal), number).map_err(failed)?;
        }
        let mut screen = screen;
        if shown && io::stdout().is_terminal() {
            flag::register(SIGTSTP, Arc::clone(&screen.stopped)).map_err(failed)?;
            for signal in [SIGWINCH, SIGCONT] {
                flag::register(signal, Arc::clone(&screen.changed)).map_err(failed)?;
            }
            screen.enter();
        }
        Ok(screen)
    }

    /// Whether the alternate screen is shown.
    pub fn is_shown(&self) -> bool {
        self.shown
    }

    fn enter(&mut self) {
        self.shown = true;
        let stdin = io::stdin();
        if let (true, Ok(before)) = (stdin.is_terminal(), termios::tcgetattr(&stdin)) {
            // A key is readable as soon as it is pressed, and is not printed.
            let mut modes = before.clone();
            modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
            if termios::tcsetattr(&stdin, OptionalActions::Now, &modes).is_ok() {
                self.keyboard = Some(before);
            }
        }
        put(ENTER);
    }

    fn leave(&mut self) {
        if !std::mem::take(&mut self.shown) {
            return;
        }
        put(LEAVE);
        if let Some(before) = self.keyboard.take() {
            let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, &before);
        }
    }

    /// Draws as many lines as there is room for.
    pub fn draw(&self, text: &str) {
        if !self.shown {
            peerlane_demo::out::say(format_args!("{text}\n"));
            return;
        }
        let rows = termios::tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_row));
        let rows = if rows == 0 { 24 } else { rows };
        let mut frame = String::from("\x1b[H");
        for (number, line) in text.lines().take(rows).enumerate() {
            if number > 0 {
                frame.push_str("\r\n");
            }
            frame.push_str(line);
            frame.push_str("\x1b[K");
        }
        frame.push_str("\x1b[J");
        put(&frame);
    }

    /// Sleeps until a moment, a key or a signal. A signal that ends programs ends this one, after the terminal is
    /// restored.
    pub fn wait(&mut self, until: Instant) -> Woken {
        loop {
            let signal = self.signal.swap(0, Ordering::Relaxed);
            if signal != 0 {
                self.leave();
                if let Ok(signal) = i32::try_from(signal) {
                    // It does not return; if it fails, the program ends as if the user had quit.
                    let _ = low_level::emulate_default_handler(signal);
                }
                return Woken::Quit;
            }
            if self.stopped.swap(false, Ordering::Relaxed) {
                self.leave();
                let _ = low_level::emulate_default_handler(SIGTSTP);
                self.enter();
                return Woken::Redraw;
            }
            if self.changed.swap(false, Ordering::Relaxed) {
                return Woken::Redraw;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Woken::Time;
            }
            if self.key(left.min(LOOK)) {
                return Woken::Quit;
            }
        }
    }

    /// Sleeps for at most `limit`; returns whether `q` was pressed, or the keyboard is gone.
    fn key(&self, limit: Duration) -> bool {
        if self.keyboard.is_none() {
            std::thread::sleep(limit);
            return false;
        }
        let stdin = io::stdin();
        let time = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(limit.subsec_nanos()),
        };
        let mut files = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut files, Some(&time)) {
            Ok(0) | Err(_) => false,
            Ok(_) => {
                let mut keys = [0; 64];
                // `Stdin` would buffer the data that it reads.
                match rustix::io::read(&stdin, &mut keys) {
                    Ok(0) | Err(_) => true,
                    Ok(count) => keys[..count]
                        .iter()
                        .any(|key| matches!(key, b'q' | b'Q' | 3)),
                }
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Writes to the terminal. Errors are ignored, as they only occur if the terminal is gone.
fn put(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
