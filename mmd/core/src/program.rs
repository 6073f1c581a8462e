//! The programming of an FPGA.

use peerlane_host::OpenCl;
use peerlane_package::section;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A way to program a board's FPGA.
pub trait Programmer: Send + Sync {
    /// Whether the board's memory keeps its contents when this image is loaded.
    fn keeps_memory(&self, image: &[u8]) -> bool;

    /// Checks an image before anything of the board is stopped for it.
    ///
    /// # Errors
    /// A sentence that says why it cannot be loaded.
    fn check(&self, image: &[u8], board: &dyn OpenCl) -> Result<(), String>;

    /// Loads an image. Nothing else uses the board during the call. If this process is killed, the board is used again
    /// when the last copy of its file is closed. So an implementation that runs a tool which outlives this process
    /// gives a copy to a process that waits for the tool, and not to the tool.
    ///
    /// # Errors
    /// A sentence that says why it was not loaded.
    fn program(&self, image: &[u8], board: &dyn OpenCl) -> Result<(), String>;
}

/// Programs by JTAG with Quartus's programmer, which has to be installed: `quartus_pgm` where [`quartus_tool`] finds
/// it, or the path in `PEERLANE_QUARTUS_PGM`. [`JTAG_CABLE`] and [`JTAG_DEVICE`] choose the cable and the device on it,
/// both 1 by default, as with the vendor's own boards; if there are several boards, each needs [settings of its
/// own](board_settings). The whole FPGA is configured, so its memory is lost.
///
/// The programmer goes on when this process is killed, or the terminal's interrupt key pressed: a board whose FPGA is
/// only partly configured is not usable.
#[derive(Debug, Clone)]
pub struct Jtag {
    board: String,
    alone: bool,
}

/// The variable that names the cable, as `quartus_pgm -c` takes it.
pub const JTAG_CABLE: &str = "ACL_PCIE_JTAG_CABLE";

/// The variable with the FPGA's number in the cable's chain of devices, from 1 on.
pub const JTAG_DEVICE: &str = "ACL_PCIE_JTAG_DEVICE_INDEX";

/// Returns settings of a board from the environment, which give its place on JTAG: for each name the variable
/// `NAME_BOARD`, else `NAME`, which is for all boards. Neither cable nor device shows a board's place on the bus. So
/// unless the board is `alone` in the computer, at least one of its settings must be its own: otherwise they would name
/// any board that the first cable is at.
///
/// # Errors
/// A sentence that names the settings which are missing.
pub fn board_settings<const N: usize>(
    board: &str,
    alone: bool,
    names: [&str; N],
) -> Result<[Option<OsString>; N], String> {
    let value = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let own = names.map(|name| value(&format!("{name}_{board}")));
    if !alone && own.iter().all(Option::is_none) {
        let wanted = names.map(|name| format!("{name}_{board}"));
        return Err(format!(
            "the computer has several boards, and this board's place on JTAG is not known: set {} (`jtagconfig` lists \
             the cables and the devices on each)",
            wanted.join(" or ")
        ));
    }
    let mut all = names.map(value).into_iter();
    Ok(own.map(|own| own.or(all.next().flatten())))
}

impl Jtag {
    /// Makes the programmer for the board of this name, which is `alone` or one of several boards in the computer.
    pub fn new(board: &str, alone: bool) -> Self {
        Self {
            board: board.into(),
            alone,
        }
    }

    /// Returns the cable, and the device on it.
    fn place(&self) -> Result<[OsString; 2], String> {
        let place = board_settings(&self.board, self.alone, [JTAG_CABLE, JTAG_DEVICE])?;
        Ok(place.map(|setting| setting.unwrap_or_else(|| "1".into())))
    }
}

/// The process that waits for the programmer: a shell of its own process group, whose standard input is the board's
/// file. The programmer does not get that file, because it starts a JTAG server, which stays. Neither process writes
/// into a pipe, which may have lost its reader. `$0` is the image's file, the rest a command line.
///
/// It writes the programmer's status to its standard output, a file that no other process has: another thread of the
/// application can take the status of a process, and where `SIGCHLD` is ignored the status is lost (POSIX.1-2017,
/// `wait`).
const KEEPER: &str =
    r#""$@" </dev/null >&2; status=$?; rm -f "$0"; echo "$status"; exit "$status""#;

/// The section with the configuration for JTAG.
const SOF: &str = ".acl.sof";

impl Programmer for Jtag {
    fn keeps_memory(&self, _: &[u8]) -> bool {
        false
    }

    fn check(&self, image: &[u8], _: &dyn OpenCl) -> Result<(), String> {
        if section(image, SOF).is_none_or(<[u8]>::is_empty) {
            return Err(format!(
                "the program has no configuration for JTAG (section {SOF} of fpga.bin): compile it \
                 with this board's BSP, and without -fast-emulator or -c"
            ));
        }
        self.place()?;
        quartus_pgm().map(drop)
    }

    fn program(&self, image: &[u8], board: &dyn OpenCl) -> Result<(), String> {
        let held = board.file().map(|file| file.try_clone_to_owned());
        let held = held.transpose();
        let held =
            held.map_err(|error| format!("cannot duplicate the board's file descriptor: {error}"))?;
        let (tool, place) = (quartus_pgm()?, self.place()?);
        let sof = section(image, SOF).unwrap_or_default();
        let failed = |what: &str, error: std::io::Error| format!("{what}: {error}");
        let no_file = |error| failed("cannot make a temporary file", error);
        let mut file = tempfile::Builder::new()
            .prefix("peerlane-")
            .suffix(".sof")
            .tempfile()
            .map_err(no_file)?;
        file.write_all(sof)
            .and_then(|()| file.flush())
            .map_err(|error| failed("cannot write the temporary file", error))?;
        let mut said = tempfile::tempfile().map_err(no_file)?;
        let mut ended = tempfile::tempfile().map_err(no_file)?;
        let copy = |file: &File| file.try_clone().map_err(no_file);
        board.disable_link();
        let waited = Command::new("/bin/sh")
            .args(["-c", KEEPER])
            .arg(file.path())
            .arg(&tool)
            .args(arguments(file.path(), place))
            .stdin(held.map_or_else(Stdio::null, Stdio::from))
            .stdout(copy(&ended)?)
            .stderr(copy(&said)?)
            .process_group(0)
            .spawn()
            .map_err(|error| failed("/bin/sh", error))?
            .wait();
        let status =
            content(&mut ended).map_err(|error| failed("the programmer's exit status", error))?;
        let status = match (status.trim(), waited) {
            ("0", _) => return Ok(()),
            ("", Ok(shell)) => format!("ended with its shell ({shell})"),
            ("", Err(error)) => format!("ended with its shell ({error})"),
            (status, _) => format!("ended with exit status: {status}"),
        };
        let text = content(&mut said);
        let text = text.map_err(|error| failed("the programmer's output", error))?;
        let error = text.lines().find(|line| line.starts_with("Error"));
        Err(format!(
            "{} {status}: {}",
            tool.display(),
            error.unwrap_or("it printed no error")
        ))
    }
}

/// Reads a whole file.
fn content(file: &mut File) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Makes the programmer's arguments (Quartus Prime Command-Line Reference, `quartus_pgm`: `-c` cable, `-m`
/// mode, `-o` operation `P;file@device`).
fn arguments(sof: &Path, [cable, device]: [OsString; 2]) -> [OsString; 6] {
    let mut operation = OsString::from("P;");
    operation.push(sof);
    operation.push("@");
    operation.push(device);
    [
        "-c".into(),
        cable,
        "-m".into(),
        "jtag".into(),
        "-o".into(),
        operation,
    ]
}

/// Finds Quartus's programmer.
fn quartus_pgm() -> Result<PathBuf, String> {
    quartus_tool("quartus_pgm", "PEERLANE_QUARTUS_PGM").map_err(|what| {
        format!(
            "{what}: install Quartus's programmer, or load the program at power-on and set \
             CL_CONTEXT_COMPILER_MODE_INTELFPGA=3 (CL_CONTEXT_COMPILER_MODE_ALTERA for runtimes before 17.1)"
        )
    })
}

/// Variables with the place of Quartus, in the order of precedence: AOCL before 17.1 has its users set the first one.
const QUARTUS: [&str; 2] = ["QUARTUS_ROOTDIR_OVERRIDE", "QUARTUS_ROOTDIR"];

/// Finds a tool of Quartus's: at the path in the variable, else in `bin` of `$QUARTUS_ROOTDIR_OVERRIDE` and
/// `$QUARTUS_ROOTDIR`, else on the `PATH`.
///
/// # Errors
/// A sentence with the places that were searched.
pub fn quartus_tool(tool: &str, variable: &str) -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os(variable).map(PathBuf::from) {
        return match named.is_file() {
            true => Ok(named),
            false => Err(format!("{variable}: {} is not a file", named.display())),
        };
    }
    let roots = QUARTUS.into_iter().filter_map(std::env::var_os);
    let roots = roots.map(|root| PathBuf::from(root).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = roots.chain(std::env::split_paths(&path));
    let mut tools = places.map(|place| place.join(tool));
    tools.find(|tool| tool.is_file()).ok_or_else(|| {
        format!(
            "{tool} is not on the PATH, nor in bin of $QUARTUS_ROOTDIR_OVERRIDE or $QUARTUS_ROOTDIR"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_names_cable_file_and_device() {
        let place = ["USB".into(), "2".into()];
        let arguments = arguments(Path::new("/tmp/x.sof"), place);
        let expected = ["-c", "USB", "-m", "jtag", "-o", "P;/tmp/x.sof@2"];
        assert_eq!(arguments, expected);
    }
}
