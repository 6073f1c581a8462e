//! How an FPGA is programmed over PCIe.

use crate::messages::say;
use crate::program::{Jtag, Programmer};
use peerlane_host::{OpenCl, Packing};
use peerlane_package::section;

/// Programs over PCIe (CvP), in a second or so and without a cable, where the package has an image of the FPGA's core
/// and the FPGA takes one; else by [`Jtag`]. An FPGA that refuses the image, because it has another periphery than
/// that the image is for, is programmed by JTAG, too. `PEERLANE_PROGRAM`, `cvp` or `jtag`, takes one way only.
///
/// The core is all logic, controllers of memory too, so the board's memory is lost either way.
#[derive(Debug, Clone)]
pub struct CvpOrJtag(Jtag);

impl CvpOrJtag {
    /// By this JTAG where it is not over PCIe.
    pub fn new(jtag: Jtag) -> Self {
        Self(jtag)
    }
}

/// The variable that says the way.
const VARIABLE: &str = "PEERLANE_PROGRAM";

/// The section with the image of the core, and those with the hashes of the periphery that was compiled, and of the
/// one that the board's flash memory has (`create_fpga_bin.tcl` of Intel's s5_net BSP).
const CORE: &str = ".acl.core.rbf";
const PERIPHERY: &str = ".acl.periph.hash";
const BASE: &str = ".acl.base_revision.periph.hash";

/// How it is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Cvp,
    Jtag,
}

/// The way that the user wants.
fn wanted() -> Result<Option<Way>, String> {
    let value = std::env::var_os(VARIABLE).unwrap_or_default();
    match value.to_str() {
        Some("") => Ok(None),
        Some("cvp") => Ok(Some(Way::Cvp)),
        Some("jtag") => Ok(Some(Way::Jtag)),
        _ => Err(format!(
            "{VARIABLE}: {} is neither cvp nor jtag",
            value.display()
        )),
    }
}

/// The image of the core in a package.
fn core(image: &[u8]) -> Result<&[u8], String> {
    let content = |name| section(image, name).filter(|bytes: &&[u8]| !bytes.is_empty());
    let core = content(CORE).ok_or_else(|| {
        format!(
            "the program has no image for PCIe (section {CORE} of fpga.bin): its BSP does not support CvP"
        )
    })?;
    let hash = |name| content(name).map(<[u8]>::trim_ascii);
    match (hash(PERIPHERY), hash(BASE)) {
        (Some(own), Some(base)) if own != base => Err(format!(
            "the program's periphery is not that of the BSP's base revision (sections {PERIPHERY} and {BASE} of \
             fpga.bin): compile it again"
        )),
        _ => Ok(core),
    }
}

/// The way for a package on a board.
fn way(image: &[u8], board: &dyn OpenCl) -> Result<Way, String> {
    let wanted = wanted()?;
    let possible = || {
        core(image)?;
        match board.configures() {
            true => Ok(Way::Cvp),
            false => Err(
                "the configuration in the board's FPGA does not permit programming over PCIe"
                    .into(),
            ),
        }
    };
    match wanted {
        Some(Way::Jtag) => Ok(Way::Jtag),
        Some(Way::Cvp) => possible(),
        None => Ok(possible().unwrap_or(Way::Jtag)),
    }
}

impl Programmer for CvpOrJtag {
    fn keeps_memory(&self, _: &[u8]) -> bool {
        false
    }

    fn check(&self, image: &[u8], board: &dyn OpenCl) -> Result<(), String> {
        match way(image, board)? {
            Way::Cvp => Ok(()),
            Way::Jtag => self.0.check(image, board),
        }
    }

    fn program(&self, image: &[u8], board: &dyn OpenCl) -> Result<(), String> {
        if way(image, board)? == Way::Jtag {
            return self.0.program(image, board);
        }
        let Err(error) = board.configure(core(image)?, Packing::AsTold) else {
            return Ok(());
        };
        let reason = format!("not programmed over PCIe: {error}; the kernel's log says why");
        if wanted()?.is_some() {
            return Err(reason);
        }
        // It may have no configuration now.
        match self.0.check(image, board) {
            Ok(()) => {
                say(format_args!(
                    "{reason}. The FPGA is programmed by JTAG instead"
                ));
                self.0.program(image, board)
            }
            Err(jtag) => Err(format!(
                "{reason}. Programming by JTAG is not possible either: {jtag}"
            )),
        }
    }
}
