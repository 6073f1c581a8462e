//! `peerlane new`: a BSP for a board that has none, from a description of the board.
//!
//! A board in the shape of the vendors' BSPs, with the OpenCL SDK's `acl_dma`, is written into a temporary directory
//! and extended as any BSP is. So the block comes into a board in one way only, with one check and one report.

mod bank;
mod design;
mod file;
mod files;
mod model;
mod pins;
mod ports;
mod system;

use std::path::{Path, PathBuf};

use crate::config::Config;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::extend::{self, report::Report};
use crate::interrupt;
use crate::layout;
use crate::output;
use crate::size::size;
use crate::text;
use peerlane_bsp_platform::message::Message;

pub use model::Board;

/// A board whose description comes with Peerlane.
#[derive(Debug, Clone, Copy)]
pub struct Shipped {
    /// Name, for `--board`.
    pub name: &'static str,
    /// Description.
    pub text: &'static str,
    /// Its fragment with the pins, if they are public.
    pub pins: Option<&'static str>,
}

/// All shipped boards.
pub const SHIPPED: [Shipped; 2] = [
    Shipped {
        name: "de5net",
        text: include_str!("../../boards/de5net.toml"),
        pins: Some(include_str!("../../boards/de5net_pins.tcl")),
    },
    Shipped {
        name: "p385",
        text: include_str!("../../boards/p385.toml"),
        pins: None,
    },
];

impl Shipped {
    /// Finds the board of a name.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] with the names that exist.
    pub fn named(name: &str) -> Result<Self> {
        let found = SHIPPED.iter().find(|board| board.name == name);
        found.copied().ok_or_else(|| {
            let names: Vec<_> = SHIPPED.iter().map(|board| board.name).collect();
            Error::new(
                ErrorKind::Config,
                Place::file(name),
                "Peerlane has no board of this name",
                format!(
                    "Use one of {}, or the file name of a description.",
                    names.join(", ")
                ),
            )
        })
    }

    /// Returns the board's usual name.
    pub fn title(&self) -> &'static str {
        let line = self
            .text
            .lines()
            .find_map(|line| line.strip_prefix("title = "));
        line.unwrap_or(self.name).trim_matches('"')
    }

    /// Counts the values that the description leaves open.
    pub fn gaps(&self) -> usize {
        let open = |line: &&str| {
            line.split('#')
                .next()
                .is_some_and(|l| l.trim_end().ends_with("= \"unknown\""))
        };
        self.text.lines().filter(open).count()
    }
}

/// A description, from a file or shipped.
#[derive(Debug, Clone)]
pub struct Description {
    /// Its name in errors.
    path: PathBuf,
    text: String,
    shipped: Option<Shipped>,
}

impl Description {
    /// Finds the file of that name, or the shipped board.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if neither exists, [`ErrorKind::Io`].
    pub fn find(board: &Path) -> Result<Self> {
        let name = board.to_str().filter(|_| !board.is_file());
        match name.filter(|name| !name.contains(['/', '.'])) {
            Some(name) => {
                let shipped = Shipped::named(name)?;
                Ok(Self {
                    path: format!("{name}.toml").into(),
                    text: shipped.text.into(),
                    shipped: Some(shipped),
                })
            }
            None => Ok(Self {
                path: board.into(),
                text: text::read_small(board)?,
                shipped: None,
            }),
        }
    }

    /// Reads the board.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] with the line and the key.
    pub fn board(&self) -> Result<Board> {
        Board::parse(&self.path, &self.text)
    }

    /// Reads the fragment with the pins; returns its name and text.
    fn pins(&self, board: &Board, given: Option<&Path>) -> Result<(PathBuf, String)> {
        if let Some(path) = given {
            return Ok((path.into(), text::read_small(path)?));
        }
        let Some(named) = &board.pins else {
            return Err(Error::new(
                ErrorKind::Config,
                board.pins_place.clone(),
                "no pins: the description names no fragment with pins, because no public source has them",
                "Get the pins from the board's vendor. `peerlane new --board FILE --ports` prints a fragment to fill \
                 in; name it with --pins.",
            ));
        };
        if let Some(fragment) = self.shipped.and_then(|shipped| shipped.pins) {
            return Ok((named.clone(), fragment.into()));
        }
        let path = self.path.parent().unwrap_or(Path::new("")).join(named);
        if !path.is_file() {
            return Err(Error::new(
                ErrorKind::Config,
                board.pins_place.clone(),
                format!(
                    "the file {} with the board's pins does not exist",
                    path.display()
                ),
                "Correct the name, which is relative to the description's directory, or name the file with --pins.",
            ));
        }
        let text = text::read_small(&path)?;
        Ok((path, text))
    }
}

/// Options of [`make`].
#[derive(Debug, Clone)]
pub struct Options {
    /// The description.
    pub description: Description,
    /// The directory to make.
    pub out: PathBuf,
    /// A fragment with the pins that replaces the description's.
    pub pins: Option<PathBuf>,
    /// Configuration of the block.
    pub config: Config,
}

/// Returns a fragment for the board's pins, with the pins left open.
///
/// # Errors
/// Those of [`Description::board`].
pub fn blank_pins(description: &Description) -> Result<String> {
    Ok(pins::blank(&ports::ports(&description.board()?)))
}

/// Makes the BSP. On failure it leaves no files.
///
/// # Errors
/// [`ErrorKind::Config`] with the place in the description or the fragment; those of [`extend::extend`].
pub fn make(options: &Options) -> Result<Report> {
    let description = &options.description;
    let board = description.board()?;
    let ports = ports::ports(&board);
    let (path, fragment) = description.pins(&board, options.pins.as_deref())?;
    pins::check(&path, &fragment, &ports, &board.pins_place)?;

    output::check_for_aoc(&options.out)?;
    // No BSP is read, so the output cannot lie in one.
    let parent = output::check_output(&options.out, &options.out)?;
    let temporary = tempfile::Builder::new()
        .prefix(".peerlane-new-")
        .tempdir_in(&parent)
        .map_err(|e| output::not_writable(&parent, &e))?;
    let without = temporary.path().join(&board.name);
    let made = temporary.path().join("out");
    let config = &options.config;
    for file in files::files(&board, &ports, &fragment, &description.text, config) {
        layout::write_below(&without, &file.path, file.text.as_bytes())
            .map_err(|e| e.named_as_given(&without, &options.out))?;
    }
    let extension = extend::Options {
        bsp: without,
        out: made.clone(),
        config: options.config.clone(),
        report: None,
        board: None,
    };
    let report =
        extend::extend_new(&extension, &board.title).map_err(|error| match error.kind {
            // The board without the block is written a second time, next to the result.
            ErrorKind::Io => {
                let error = error.named_as_given(&made, &options.out);
                error.named_as_given(temporary.path(), &options.out)
            }
            _ => of_the_board(error, description, temporary.path()),
        })?;

    if let Some(asked) = board.pcie.bar_bits
        && report.bar_after.bits > u64::from(asked)
    {
        let needs = 1u64 << report.bar_after.bits.min(63);
        return Err(Error::new(
            ErrorKind::Config,
            board.bar_place,
            format!(
                "pcie.bar_bytes = {:#x} is too small: the registers, the window and the block need {} ({needs:#x})",
                1u64 << asked,
                size(needs)
            ),
            "Set this size, leave the key out, or set fewer channels or a smaller table in the configuration.",
        ));
    }
    interrupt::check(&options.out)?;
    output::put(&made, &options.out, "the finished BSP")?;
    Ok(report)
}

/// Changes an error of the extension so that it does not name the temporary directory, which is removed.
fn of_the_board(mut error: Error, description: &Description, temporary: &Path) -> Error {
    if error.kind != ErrorKind::Interrupted && error.place.path.starts_with(temporary) {
        error = error.named_as_given(temporary, Path::new(""));
        let what = format!("the block cannot be added to this board ({}: ", error.place);
        error.what = Message::from(what).then(error.what).then(")");
        error.place = Place::file(&description.path);
    }
    error
}
