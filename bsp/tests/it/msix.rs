//! `irq = "msix"`: its changes in a BSP, its refusals, and the faults that `peerlane check` finds.

use std::collections::BTreeSet;
use std::fs;

use crate::common::elements::{connections, elements, minus, parameters, set};
use crate::common::{Work, edit, expect, extended_with, finds_in, vendor_bsp};
use peerlane_bsp::error::ErrorKind;
use peerlane_bsp::layout::Layout;
use peerlane_bsp_check::{Level, check};

const SYSTEM: &str = "acl_iface_system.qsys";

/// The changes of MSI-X, in addition to all others.
#[test]
fn msix_takes_the_kernels_interrupt_and_the_hard_ips_capability() {
    let Some(bsp) = vendor_bsp() else { return };
    let work = Work::of(&bsp);
    work.extend("").unwrap();
    let with_rxm = elements(&work.output(SYSTEM));
    let work = Work::of(&bsp);
    let report = work.extend("irq = \"msix\"").unwrap();
    let with_msix = elements(&work.output(SYSTEM));
    let (gone, new) = (minus(&with_rxm, &with_msix), minus(&with_msix, &with_rxm));
    assert_eq!(
        connections(&gone),
        set(&["interrupt pcie.RxmIrq kernel_interface.kernel_irq_to_host"])
    );
    assert_eq!(
        connections(&new),
        set(&[
            "avalon pipe_stage_host_ctrl.m0 dma_0.msix 0x00050000",
            "conduit pcie.INTX_Interface dma_0.intx",
            "conduit pcie.MSIX_Interface dma_0.msix_control",
            "interrupt dma_0.kernel_irq kernel_interface.kernel_irq_to_host",
        ])
    );
    let hip = "module kind=altera_pcie_sv_hip_avmm";
    let changed: BTreeSet<String> = parameters(&new, hip)
        .difference(&parameters(&gone, hip))
        .cloned()
        .collect();
    // 8 channels, one vector for faults and one for the kernel: 10, of which the capability holds 9.
    assert_eq!(
        changed,
        set(&[
            "name=CG_ENABLE_ADVANCED_INTERRUPT value=1",
            "name=enable_function_msix_support_hwtcl value=1",
            "name=msix_pba_offset_hwtcl value=329728",
            "name=msix_table_offset_hwtcl value=327680",
            "name=msix_table_size_hwtcl value=9",
        ])
    );
    assert_eq!((0x5_0000, 0x5_0800), (327_680, 329_728));
    let notes = report.notes.join("\n");
    for words in [
        "10 vectors",
        "kernel_interface.kernel_irq_to_host interrupts through dma_0",
        "Not verified",
        "Vector table: BAR=0 offset=00050000",
        "PBA: BAR=0 offset=00050800",
    ] {
        assert!(notes.contains(words), "no {words:?} in: {notes}");
    }
    let record = fs::read_to_string(work.output("iface/peerlane/build.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["config"]["irq"], "msix");
    assert_eq!(record["slaves"]["msix"], 0x5_0000);
}

#[test]
fn the_capability_names_the_bar_that_the_table_is_in() {
    let work = Work::new();
    let report = work.extend("irq = \"msix\"\nchannels = 64").unwrap();
    let text = fs::read_to_string(work.output(SYSTEM)).unwrap();
    // The registers of this BSP are at BAR 2; 64 channels take 256 KiB, at a multiple of that.
    for want in [
        "end=\"dma_engine.chan\">\n  <parameter name=\"arbitrationPriority\" value=\"1\" />\n  \
         <parameter name=\"baseAddress\" value=\"0x00040000\" />",
        "name=\"msix_table_bir_hwtcl\" value=\"2\"",
        "name=\"msix_pba_bir_hwtcl\" value=\"2\"",
        "name=\"msix_table_size_hwtcl\" value=\"65\"",
        // After the channels (0x40000 to 0x80000) and the table (32 KiB).
        "name=\"msix_table_offset_hwtcl\" value=\"557056\"",
    ] {
        assert!(text.contains(want), "{want}");
    }
    assert_eq!(0x8_8000, 557_056);
    assert_eq!(report.bar_after.bits, 20);
    let tcl = fs::read_to_string(work.output("iface/peerlane/peerlane_dma_hw.tcl")).unwrap();
    for want in [
        "add_interface_port chan chan_address address Input 16",
        "add_interface kernel_irq interrupt start",
        "set_interface_property kernel_irq associatedAddressablePoint \"\"",
        "add_interface_port msix_control msix_control msix_intfc Input 16",
        "add_interface_port intx intx_req intx_req Output 1",
        "set_fileset_property QUARTUS_SYNTH TOP_LEVEL peerlane_dma_msix",
    ] {
        assert!(tcl.contains(want), "{want}");
    }
}

/// Every reason why a BSP may have no MSI-X for the block; each error names the way back.
#[test]
fn msix_that_the_bsp_does_not_allow() {
    const MSIX: &str = "irq = \"msix\"";
    let interrupt = |end: &str| {
        format!(
            " <connection kind=\"interrupt\" version=\"13.1\" start=\"host_link.RxmIrq\" end=\"{end}\">\n  \
             <parameter name=\"irqNumber\" value=\"2\" />\n </connection>\n"
        )
    };
    let export = |interface: &str| {
        format!(
            " <interface name=\"out\" internal=\"host_link.{interface}\" type=\"x\" dir=\"end\" />\n"
        )
    };
    let before = |place: &str, more: String| (place.to_string(), more + place);
    let replaced = |from: &str, to: &str| (from.to_string(), to.to_string());
    let requirement = " <interconnectRequirement";
    for ((from, to), words) in [
        (
            replaced("altera_pcie_sv_hip_avmm", "altera_pcie_cv_hip_avmm"),
            vec!["altera_pcie_cv_hip_avmm", "altera_pcie_avgz_hip_avmm"],
        ),
        (
            replaced(
                "name=\"enable_function_msix_support_hwtcl\" value=\"0\"",
                "name=\"enable_function_msix_support_hwtcl\" value=\"1\"",
            ),
            vec!["enable_function_msix_support_hwtcl", "already on"],
        ),
        (
            replaced(
                "name=\"CG_ENABLE_ADVANCED_INTERRUPT\" value=\"0\"",
                "name=\"CG_ENABLE_ADVANCED_INTERRUPT\" value=\"1\"",
            ),
            vec!["CG_ENABLE_ADVANCED_INTERRUPT", "already on"],
        ),
        (
            replaced(
                "end=\"kernels.kernel_irq_to_host\"",
                "end=\"dma_engine.dma_irq\"",
            ),
            vec!["kernel's interrupt is not connected", "RxmIrq"],
        ),
        (
            before(requirement, interrupt("kernels.other")),
            vec![
                "2 interrupts",
                "kernels.other",
                "kernels.kernel_irq_to_host",
            ],
        ),
        (
            before(" <module", export("RxmIrq")),
            vec!["host_link.RxmIrq is exported as out"],
        ),
        (
            before(" <module", export("MSIX_Interface")),
            vec!["host_link.MSIX_Interface is exported as out"],
        ),
    ] {
        let work = Work::new();
        work.edit(SYSTEM, &from, &to);
        let words: Vec<_> = words.into_iter().chain(["irq = \"rxm\""]).collect();
        expect(&work.refused(MSIX), ErrorKind::Unsupported, &words);
        // The hint works, unless the kind is refused in any case.
        if to != "altera_pcie_cv_hip_avmm" {
            work.extend("").unwrap();
        }
    }
}

/// MSI-X builds: the capability, the conduits, and that every interrupt has a vector.
#[test]
fn interrupts_that_would_not_arrive() {
    let kernel = "start=\"dma_engine.kernel_irq\"";
    for (from, to, test, words) in [
        (
            "name=\"msix_table_offset_hwtcl\" value=\"196608\"",
            "name=\"msix_table_offset_hwtcl\" value=\"24576\"",
            "parameters",
            "msix_table_offset_hwtcl is \"24576\", the block needs \"196608\"",
        ),
        (
            "name=\"msix_table_bir_hwtcl\" value=\"2\"",
            "name=\"msix_table_bir_hwtcl\" value=\"0\"",
            "parameters",
            "msix_table_bir_hwtcl",
        ),
        (
            "name=\"CG_ENABLE_ADVANCED_INTERRUPT\" value=\"1\"",
            "name=\"CG_ENABLE_ADVANCED_INTERRUPT\" value=\"0\"",
            "parameters",
            "CG_ENABLE_ADVANCED_INTERRUPT",
        ),
        (
            "start=\"host_link.MSIX_Interface\"",
            "start=\"host_link.MSI_Interface\"",
            "interrupts",
            "dma_engine.msix_control is not connected to host_link.MSIX_Interface",
        ),
        (
            "end=\"dma_engine.intx\"",
            "end=\"dma_engine.intc\"",
            "wiring",
            "dma_engine.intx is not connected",
        ),
        (
            kernel,
            "start=\"host_link.RxmIrq\"",
            "interrupts",
            "kernels.kernel_irq_to_host interrupts through host_link.RxmIrq",
        ),
        (kernel, "start=\"dma_engine.irq\"", "wiring", "kernel_irq"),
        (
            "end=\"dma_engine.msix\"",
            "end=\"dma_engine.att\"",
            "wiring",
            "dma_engine.msix is not connected",
        ),
    ] {
        let work = extended_with("irq = \"msix\"");
        finds_in(&work, SYSTEM, from, to, test, words);
    }
    // The number as newer versions of Platform Designer write it.
    let work = extended_with("irq = \"msix\"");
    edit(
        &work.output(SYSTEM),
        "name=\"msix_table_offset_hwtcl\" value=\"196608\"",
        "name=\"msix_table_offset_hwtcl\" value=\"196608.0\"",
    );
    let findings = check(&Layout::find(&work.out).unwrap()).unwrap();
    assert_eq!(findings.errors(), 0, "{:#?}", findings.0);
    let of_test = |level| {
        findings
            .0
            .iter()
            .filter(move |f| f.test == "interrupts" && f.level == level)
    };
    let good: Vec<_> = of_test(Level::Good).collect();
    assert!(
        good.len() == 1 && good[0].what.to_string().contains("BAR 2 at 0x30000"),
        "{good:?}"
    );
    assert!(of_test(Level::Note).any(|f| f.what.to_string().contains("lspci -vv")));
}
