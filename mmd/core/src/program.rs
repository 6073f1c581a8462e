//! How an FPGA is programmed.

use peerlane_package::section;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How a board's FPGA is programmed.
pub trait Programmer: Send + Sync {
    /// Whether the board's memory keeps its contents when this image is loaded.
    fn keeps_memory(&self, image: &[u8]) -> bool;

    /// Looks at an image before anything is stopped for it.
    ///
    /// # Errors
    /// A sentence that says why it cannot be loaded.
    fn check(&self, image: &[u8]) -> Result<(), String>;

    /// Loads an image. Nothing uses the board meanwhile.
    ///
    /// # Errors
    /// A sentence that says why it was not loaded.
    fn program(&self, image: &[u8]) -> Result<(), String>;
}

/// Programs by JTAG with Quartus's programmer, which has to be installed: `quartus_pgm` on the `PATH`, in
/// `$QUARTUS_ROOTDIR/bin`, or where `PEERLANE_QUARTUS_PGM` says. `ACL_PCIE_JTAG_CABLE` and
/// `ACL_PCIE_JTAG_DEVICE_INDEX` choose the cable and the device on it, both 1 by default, as with the vendor's
/// own boards. The whole FPGA is configured, so its memory is lost.
#[derive(Debug, Clone, Copy, Default)]
pub struct Jtag;

/// The section with the configuration for JTAG.
const SOF: &str = ".acl.sof";

impl Programmer for Jtag {
    fn keeps_memory(&self, _: &[u8]) -> bool {
        false
    }

    fn check(&self, image: &[u8]) -> Result<(), String> {
        if section(image, SOF).is_none_or(<[u8]>::is_empty) {
            return Err(format!(
                "the program has no configuration for JTAG (section {SOF} of fpga.bin): compile it \
                 with this board's BSP, and without -fast-emulator or -c"
            ));
        }
        quartus_pgm().map(drop)
    }

    fn program(&self, image: &[u8]) -> Result<(), String> {
        let tool = quartus_pgm()?;
        let sof = section(image, SOF).unwrap_or_default();
        let failed = |what: &str, error: std::io::Error| format!("{what}: {error}");
        let mut file = tempfile::Builder::new()
            .prefix("peerlane-")
            .suffix(".sof")
            .tempfile()
            .map_err(|error| failed("no temporary file", error))?;
        file.write_all(sof)
            .and_then(|()| file.flush())
            .map_err(|error| failed("the temporary file", error))?;
        let output = command(&tool, file.path())
            .output()
            .map_err(|error| failed(&tool.display().to_string(), error))?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let errors: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("Error"))
            .collect();
        Err(format!(
            "{} ended with {}: {}",
            tool.display(),
            output.status,
            errors.first().unwrap_or(&"it gave no reason")
        ))
    }
}

fn variable(name: &str, default: &str) -> OsString {
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    value.unwrap_or_else(|| default.into())
}

/// The programmer's command line (Quartus Prime Command-Line Reference, `quartus_pgm`: `-c` cable, `-m`
/// mode, `-o` operation `P;file@device`).
fn command(tool: &Path, sof: &Path) -> Command {
    let mut operation = OsString::from("P;");
    operation.push(sof);
    operation.push("@");
    operation.push(variable("ACL_PCIE_JTAG_DEVICE_INDEX", "1"));
    let mut command = Command::new(tool);
    command
        .arg("-c")
        .arg(variable("ACL_PCIE_JTAG_CABLE", "1"))
        .args(["-m", "jtag", "-o"])
        .arg(operation);
    command
}

/// Quartus's programmer.
fn quartus_pgm() -> Result<PathBuf, String> {
    const TOOL: &str = "quartus_pgm";
    if let Some(named) = std::env::var_os("PEERLANE_QUARTUS_PGM").map(PathBuf::from) {
        return match named.is_file() {
            true => Ok(named),
            false => Err(format!(
                "PEERLANE_QUARTUS_PGM: {} is no file",
                named.display()
            )),
        };
    }
    let root = std::env::var_os("QUARTUS_ROOTDIR").map(|root| PathBuf::from(root).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = root.into_iter().chain(std::env::split_paths(&path));
    let mut tools = places.map(|place| place.join(TOOL));
    tools.find(|tool| tool.is_file()).ok_or_else(|| {
        format!(
            "{TOOL} is not on the PATH, nor in $QUARTUS_ROOTDIR/bin: install Quartus's programmer, or \
             load the program at power-on and set CL_CONTEXT_COMPILER_MODE_INTELFPGA=3"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_for_another_tool_is_refused() {
        let error = Jtag.check(b"text").unwrap_err();
        assert!(error.contains(".acl.sof"), "{error}");
        assert!(!Jtag.keeps_memory(b"text"));
    }

    #[test]
    fn the_command_names_cable_file_and_device() {
        let command = command(Path::new("/q/quartus_pgm"), Path::new("/tmp/x.sof"));
        let arguments: Vec<_> = command.get_args().collect();
        assert_eq!(arguments, ["-c", "1", "-m", "jtag", "-o", "P;/tmp/x.sof@1"]);
    }
}
