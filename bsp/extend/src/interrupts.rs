//! The interrupts of the hard IP that the block takes over.

use crate::hard_ip::FROM;
use peerlane_bsp_design::interrupts::{CONDUITS, RXM_IRQ, other_senders};
use peerlane_bsp_design::qsys::Connection;
use peerlane_bsp_design::site::Site;
use peerlane_bsp_generate::config::{Config, Irq};
use peerlane_bsp_platform::error::Result;

/// Returns the connection of the OpenCL kernel's interrupt, which the block takes over; `None` without MSI-X.
///
/// # Errors
/// [`peerlane_bsp_platform::error::ErrorKind::Unsupported`] if the hard IP is not known to have MSI-X, or uses it
/// already, or an interrupt would be left without a vector.
pub fn kernel<'a>(site: &Site<'a>, config: &Config) -> Result<Option<&'a Connection>> {
    const STAY: &str =
        "Set irq = \"rxm\" in the configuration, which leaves the hard IP's interrupts unchanged.";
    if config.irq == Irq::Rxm {
        return Ok(None);
    }
    let (system, hip) = (site.system, site.hip);
    let refuse = |what: String| Err(site.unsupported(system.place(hip), what, STAY).of_a_value());
    if !FROM.contains(&hip.kind.as_str()) {
        return refuse(format!(
            "irq = \"msix\" depends on the interrupt interfaces that {} (kind {}) exports; they are known for {} only",
            hip.name,
            hip.kind,
            FROM.join(" and ")
        ));
    }
    for name in [
        "enable_function_msix_support_hwtcl",
        "CG_ENABLE_ADVANCED_INTERRUPT",
    ] {
        if hip.number(name).is_some_and(|value| value != 0) {
            return refuse(format!(
                "{name} of {} is already on: another component of the BSP has its MSI-X",
                hip.name
            ));
        }
    }
    for interface in CONDUITS
        .map(|(of_hip, _)| of_hip)
        .into_iter()
        .chain([RXM_IRQ])
    {
        if let Some(export) = system.exported(&hip.name, Some(interface)) {
            return refuse(format!(
                "{}.{interface} is exported as {}: an interrupt from outside would have no vector",
                hip.name, export.name
            ));
        }
    }
    let senders: Vec<_> = other_senders(system, &hip.name, &site.dma.name).collect();
    match senders.as_slice() {
        [one] => Ok(Some(one)),
        [] => refuse(format!(
            "the OpenCL kernel's interrupt is not connected to {}.{RXM_IRQ}, and would have no vector",
            hip.name
        )),
        [_, second, ..] => {
            let names: Vec<_> = senders.iter().map(|c| c.end.to_string()).collect();
            Err(site.unsupported(
                site.place(second),
                format!(
                    "{} interrupts in addition to the DMA's at {}.{RXM_IRQ} ({}), but the block has one vector for the \
                     OpenCL kernel's",
                    names.len(),
                    hip.name,
                    names.join(", ")
                ),
                STAY,
            ))
        }
    }
}
