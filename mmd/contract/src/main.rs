//! `peerlane-loader LIBRARY BOARD`: loads a board library as the runtime does, and executes the lines of its standard
//! input with it, for a test outside of the process. It answers each line by one line: `ok`, or the result.
//!
//! | line | |
//! | --- | --- |
//! | `open` | as a context of the runtime's does; `refused` if there is no handle |
//! | `checks` | all that every board must do |
//! | `printf` | a kernel that prints, and stalls on a buffer that is too small |
//! | `write ADDRESS FILE`, `read ADDRESS LENGTH FILE` | moves a file's content |
//! | `busy SOURCE TARGET ITEMS` | starts a kernel that copies, and threads whose transfers do not end |
//! | `program FILE` | with memory kept if it can be, else saved and restored around it; `failed`: then only `close` |
//! | `close` | |
//! | `exit CODE` | without a close, with transfers under way. There is no answer |

use peerlane_contract::{
    CSR, Calls, Library, Runtime, Version,
    checks::{self, PLACE, pattern},
};
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;

/// Places where the registers of the other kernels begin.
const COPY: u32 = 0x1100;
const CHATTER: u32 = 0x2000;

/// Bytes of the longest transfer of the checks: a simulated board takes a second for a few MiB.
const LONGEST: usize = (1 << 20) - 3;

/// Bytes of memory that `program` saves.
const SAVED: usize = 70_000;

struct Loader {
    calls: &'static dyn Calls,
    version: Version,
    board: String,
    runtime: Option<Arc<Runtime>>,
}

type Failure = Box<dyn std::error::Error>;

fn number(word: Option<&&str>) -> Result<usize, Failure> {
    let word = word.ok_or("a number is missing")?;
    Ok(match word.strip_prefix("0x") {
        Some(digits) => usize::from_str_radix(digits, 16)?,
        None => word.parse()?,
    })
}

/// A kernel prints three lines into a buffer that has room for two.
fn printf(runtime: &Runtime) {
    const BUFFER: usize = 0x1_0000;
    const RECORD: usize = 32;
    runtime.shared.use_kernel(CHATTER);
    let before = runtime.shared.heard.lock().unwrap().finished;
    let mut arguments = 3_u32.to_le_bytes().to_vec();
    arguments.extend((BUFFER as u64).to_le_bytes());
    arguments.extend((2 * RECORD as u32).to_le_bytes());
    runtime.relaunch(0, &arguments);
    let printed = runtime.serve_printf(BUFFER);
    assert_eq!(printed.len(), 2 * RECORD);
    for (line, record) in printed.chunks(RECORD).enumerate() {
        // The format's number, then the line's number.
        assert_eq!(record[..4], [0; 4]);
        assert_eq!(record[4..8], (line as u32).to_le_bytes());
    }
    runtime.until_finished(before + 1);
    runtime.shared.use_kernel(CSR);
}

/// A kernel copies, and transfers go both ways, as long as the process lives.
fn busy(runtime: &Arc<Runtime>, source: u64, target: u64, items: u32) {
    runtime.shared.use_kernel(COPY);
    runtime.launch(items, [source, target, 0]);
    for (thread, length) in [100, 70_001, 1 << 20].into_iter().enumerate() {
        let runtime = Arc::clone(runtime);
        std::thread::spawn(move || {
            let data = pattern(thread as u8, length);
            let mut found = vec![0; length];
            loop {
                let place = PLACE + (thread << 21);
                runtime.write_op(0x100 + thread, place, &data);
                runtime.read_op(0x200 + thread, place, &mut found);
                assert!(found == data, "thread {thread}");
            }
        });
    }
}

impl Loader {
    fn runtime(&self) -> Result<&Arc<Runtime>, Failure> {
        Ok(self.runtime.as_ref().ok_or("no board is open")?)
    }

    fn program(&self, file: &str) -> Result<&'static str, Failure> {
        let runtime = self.runtime()?;
        let mut image = std::fs::read(file)?;
        let memory = runtime.interfaces[2];
        // Runtimes of libraries before 18.1 do not ask whether memory can be kept.
        if self.version >= Version(18.1) && runtime.program(&mut image, 1) {
            return Ok("kept");
        }
        let mut saved = vec![0; SAVED];
        assert_eq!(runtime.shared.read(memory, PLACE, &mut saved), 0);
        if !runtime.program(&mut image, 0) {
            return Ok("failed");
        }
        assert_eq!(runtime.shared.write(memory, PLACE, &saved), 0);
        Ok("ok")
    }

    fn obey(&mut self, line: &str) -> Result<&'static str, Failure> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (order, rest) = words.split_first().ok_or("an empty line")?;
        let file = || rest.last().ok_or("a file is missing");
        match *order {
            "open" => {
                let opened = Runtime::open(self.calls, &self.board, self.version);
                let Some((runtime, text)) = opened else {
                    return Ok("refused");
                };
                assert!(text.starts_with(b"23 "), "the text of the board's program");
                self.runtime = Some(Arc::new(runtime));
            }
            "checks" => {
                let runtime = self.runtime()?;
                checks::launches(runtime);
                checks::sizes(runtime, LONGEST);
                checks::copies(runtime, LONGEST / 4);
                checks::threads(runtime, 8, LONGEST);
            }
            "printf" => printf(self.runtime()?),
            "write" => {
                let data = std::fs::read(file()?)?;
                self.runtime()?.write_op(1, number(rest.first())?, &data);
            }
            "read" => {
                let mut data = vec![0; number(rest.get(1))?];
                self.runtime()?.read_op(1, number(rest.first())?, &mut data);
                std::fs::write(file()?, &data)?;
            }
            "busy" => {
                let [source, target, items] = [0, 1, 2].map(|index| number(rest.get(index)));
                busy(
                    self.runtime()?,
                    source? as u64,
                    target? as u64,
                    items? as u32,
                );
            }
            "program" => return self.program(file()?),
            "close" => {
                let runtime = self.runtime.take().ok_or("no board is open")?;
                let runtime = Arc::into_inner(runtime).ok_or("transfers are in progress")?;
                runtime.close();
            }
            "exit" => std::process::exit(number(rest.first())? as i32),
            _ => return Err("no such command".into()),
        }
        Ok("ok")
    }
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [library, board] = &arguments[..] else {
        return Err("usage: peerlane-loader LIBRARY BOARD".into());
    };
    // SAFETY: the user gives the program a board library; that is its purpose.
    let (library, version) = unsafe { Library::load(Path::new(library))? };
    let mut loader = Loader {
        calls: Box::leak(Box::new(library)),
        version,
        board: board.clone(),
        runtime: None,
    };
    for line in std::io::stdin().lock().lines() {
        let answer = loader.obey(&line?)?;
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}
