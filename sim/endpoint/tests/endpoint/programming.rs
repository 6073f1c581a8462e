//! Tests of configuring the FPGA's core over PCIe.

use crate::guest::{Guest, noise, params};
use peerlane_core::cvp::{Cvp, HardIp, Packing};
use peerlane_core::regs::csr;
use peerlane_endpoint::opencl::{CvpConfig, CvpFault, CvpRecord, cvp_image};
use peerlane_endpoint::{Irq, Port};

impl HardIp for Guest {
    type Error = ();

    fn read(&mut self, offset: u16) -> Result<u32, ()> {
        Ok(self.read_config(offset.into()))
    }

    fn write(&mut self, offset: u16, value: u32) -> Result<(), ()> {
        self.write_config(offset.into(), value);
        Ok(())
    }

    fn send(&mut self, words: impl Iterator<Item = u32>) -> Result<(), ()> {
        for word in words {
            self.write_bar(0, &word.to_le_bytes());
        }
        Ok(())
    }

    fn pause(&mut self, _: u32) {}
}

fn guest(cvp: Option<CvpConfig>) -> Guest {
    Guest::with(params(Port::Txs, Irq::Msix), |config| config.cvp = cvp)
}

fn record(guest: &Guest) -> CvpRecord {
    guest.handle.with_cvp(|cvp| cvp.record().clone()).unwrap()
}

/// A setting of the block that is lost when the block is configured.
const TOLD: usize = csr::PORT_TIMEOUT;

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_core_that_comes_is_as_after_power_up() {
    let mut guest = guest(Some(CvpConfig::default()));
    let reset = guest.read_csr(TOLD);
    guest.write_csr(TOLD, 12_345);
    assert_eq!(guest.read_csr(TOLD), 12_345);
    let image = cvp_image(&noise(5000, 3), CvpConfig::default().periphery);
    let mut found = Cvp::find(&mut guest).unwrap().expect("a capability");
    assert_eq!(found.configure(&image, Packing::AsTold), Ok(()));
    assert_eq!(guest.read_csr(TOLD), reset);
    let record = record(&guest);
    assert!(
        record
            .words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .eq(image)
    );
    assert_eq!((record.configured, record.first_violation), (1, None));
    // None of the accesses reached the block.
    guest.settle();
    let status = guest.handle.status().unwrap();
    assert_eq!(status.mmio.get("nothing"), None);
    assert_eq!((status.violations, status.first_error), (0, None));
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn nobody_answers_behind_an_empty_core() {
    let mut guest = guest(Some(CvpConfig::default()));
    guest
        .handle
        .with_cvp(|cvp| cvp.set_fault(Some(CvpFault::Error(5))));
    let image = cvp_image(&noise(100, 3), CvpConfig::default().periphery);
    let mut found = Cvp::find(&mut guest).unwrap().unwrap();
    assert!(found.configure(&image, Packing::AsTold).is_err());
    assert_eq!(record(&guest).violations, 0);
    assert_eq!(guest.read_csr(csr::MAP_ID), u32::MAX);
    guest.write_csr(TOLD, 12_345);
    let violation = record(&guest).first_violation.unwrap_or_default();
    assert!(violation.starts_with("a read of the BAR"), "{violation}");
    assert_eq!(record(&guest).violations, 2);
    // After a configuration by JTAG the core exists again.
    guest.handle.configure().unwrap();
    assert_ne!(guest.read_csr(csr::MAP_ID), u32::MAX);
    assert_ne!(guest.read_csr(TOLD), 12_345);
}

#[test]
#[ignore = "external tools: cargo xtask test kernel"]
fn a_function_without_the_capability_has_no_registers() {
    let mut guest = guest(None);
    assert!(Cvp::find(&mut guest).unwrap().is_none());
    guest.write_config(0x220, 3);
    assert_eq!((guest.read_config(0x21C), guest.read_config(0x220)), (0, 0));
    assert_ne!(guest.read_csr(csr::MAP_ID), u32::MAX);
}
