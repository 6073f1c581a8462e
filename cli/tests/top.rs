//! `peerlane top`.

mod common;

use common::{peerlane, text};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn without_a_board_it_says_so() {
    let output = peerlane(&["top", "--device", "/dev/peerlane99", "--once"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("no such board") && told.contains("peerlane doctor"),
        "{told}"
    );
    for arguments in [
        &["--interval", "0"][..],
        &["--simulated", "--device", "/dev/peerlane0"],
    ] {
        let output = peerlane(&[&["top"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn help_says_which_way_a_write_goes() {
    let output = peerlane(&["top", "--help"]);
    let help = String::from_utf8_lossy(&output.stdout);
    let words: Vec<&str> = help.split_whitespace().collect();
    assert!(
        words
            .join(" ")
            .contains("a write goes from FPGA memory to a GPU or the host"),
        "{help}"
    );
}

/// The view shows the data that the load moves.
#[test]
#[ignore = "external tools: cargo xtask test bsp"]
fn the_simulated_board_shows_its_load() {
    let output = peerlane(&[
        "top",
        "--simulated",
        "--once",
        "--json",
        "--interval",
        "0.1",
    ]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let view: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(view["state"], "ready");
    let seconds = view["seconds"].as_f64().unwrap();
    assert!((1e-4..1e-2).contains(&seconds), "{view}");
    let channels = view["channels"].as_array().unwrap();
    assert_eq!(channels.len(), 2, "{view}");
    for (channel, way, other) in [
        (&channels[0], "write", "read"),
        (&channels[1], "read", "write"),
    ] {
        let number = |name: &str| channel[way][name].as_f64().unwrap();
        // Both directions run at the same time, on a link that carries less than 4 GB/s each way.
        assert!((1e8..4e9).contains(&number("bytes_per_s")), "{channel}");
        // Transfers of 16 KiB, one descriptor each.
        let of_each = number("bytes_per_s") / number("completions_per_s");
        assert!((10_000.0..24_000.0).contains(&of_each), "{channel}");
        assert!(number("under_way") >= 1.0, "{channel}");
        assert_eq!(number("errors"), 0.0);
        // FPGA memory was filled with zeros before the first sample.
        assert_eq!(channel[other]["bytes_per_s"], 0.0, "{channel}");
    }
    assert!(view["interrupts_per_s"].as_f64().unwrap() > 0.0);
    let total = view["total"][0]["bytes_per_s"].as_f64().unwrap();
    assert_eq!(total, channels[0]["write"]["bytes_per_s"].as_f64().unwrap());

    let output = peerlane(&["top", "--simulated", "--once"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("in progress") && text.contains("interrupts:"),
        "{text}"
    );
    assert!(
        !text.contains('\u{1b}'),
        "no terminal, no escape sequences: {text:?}"
    );
}

/// A program on a terminal of its own (util-linux's `script`), killed at the end of the test.
struct OnTerminal {
    child: Child,
    work: tempfile::TempDir,
}

impl OnTerminal {
    /// Runs `peerlane` with these arguments; records the terminal settings before and afterwards.
    fn new(arguments: &str) -> Self {
        let work = tempfile::tempdir().unwrap();
        let file = |name: &str| text(&work.path().join(name)).to_owned();
        let program = env!("CARGO_BIN_EXE_peerlane");
        let shell = format!(
            "stty rows 30 cols 120; stty -a > {before}; sh -c 'echo $$ > {pid}; exec {program} {arguments}'; \
             echo $? > {status}; stty -a > {after}",
            before = file("before"),
            pid = file("pid"),
            status = file("status"),
            after = file("after"),
        );
        let child = Command::new("script")
            .args(["--quiet", "--flush", "--command", &shell, &file("screen")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self { child, work }
    }

    fn read(&self, name: &str) -> String {
        let bytes = std::fs::read(self.work.path().join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits until a file contains a word.
    fn until(&mut self, name: &str, word: &str) {
        let begin = Instant::now();
        while !self.read(name).contains(word) {
            assert!(
                begin.elapsed() < Duration::from_secs(120),
                "{}",
                self.read(name)
            );
            let ended = self.child.try_wait().unwrap();
            assert!(
                ended.is_none() || self.read(name).contains(word),
                "{}",
                self.read("screen")
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "external tools: cargo xtask test bsp"]
fn a_signal_gives_the_terminal_back() {
    assert!(
        Path::new("/usr/bin/script").exists(),
        "this takes util-linux's script"
    );
    let mut terminal = OnTerminal::new("top --simulated --interval 0.1");
    terminal.until("screen", "interrupts:");
    let screen = terminal.read("screen");
    assert!(screen.contains("\u{1b}[?1049h") && !screen.contains("\u{1b}[?1049l"));
    let pid = terminal.read("pid");
    let kill = Command::new("kill").args(["-TERM", pid.trim()]).status();
    assert!(kill.unwrap().success());
    terminal.until("status", "\n");
    // The status that a shell reports for a program ended by SIGTERM.
    assert_eq!(terminal.read("status").trim(), "143");
    terminal.until("after", "speed");
    let screen = terminal.read("screen");
    let end = screen
        .rfind("\u{1b}[?1049l")
        .expect("the other screen is gone");
    let cursor = screen.rfind("\u{1b}[?25h").expect("the cursor is back");
    assert!(cursor < end && screen.rfind("interrupts:").unwrap() < end);
    assert_eq!(terminal.read("after"), terminal.read("before"));
}
