use std::path::Path;

use super::*;
use peerlane_bsp_platform::xml::Document;

/// Line of the first parameter.
const FIRST: usize = 3;

/// Returns the new hard IP, or the error with all problems.
fn streaming(system: &System, hip: &Module, wanted: Wanted) -> Result<HardIp> {
    let mut problems = Problems::default();
    let made = super::streaming(system, hip, wanted, &mut problems);
    problems.settle("a TLP port")?;
    Ok(made.expect("without a problem there is one"))
}

/// Makes a board of Gen2 x8 with one BAR, with some parameters changed.
fn changed(changes: &[(&str, &str)]) -> System {
    let usual = [
        ("INTENDED_DEVICE_FAMILY", "Stratix V"),
        ("lane_mask_hwtcl", "x8"),
        ("gen123_lane_rate_mode_hwtcl", "Gen2 (5.0 Gbps)"),
        ("port_type_hwtcl", "Native endpoint"),
        ("rxbuffer_rxreq_hwtcl", "Low"),
        ("in_cvp_mode_hwtcl", "0"),
        ("bar0_type_hwtcl", "1"),
        ("SLAVE_ADDRESS_MAP_0", "18"),
        ("vendor_id_hwtcl", "4466"),
        ("device_id_hwtcl", "43776"),
        ("extend_tag_field_hwtcl", "32"),
        ("avmm_width_hwtcl", "128"),
        ("CB_A2P_ADDR_MAP_NUM_ENTRIES", "256"),
        ("CB_P2A_AVALON_ADDR_B0", "0x00000000"),
        ("bypass_tl", "false"),
    ];
    let mut all: Vec<(&str, &str)> = usual.to_vec();
    for change in changes {
        match all.iter_mut().find(|(name, _)| *name == change.0) {
            Some(found) => found.1 = change.1,
            None => all.push(*change),
        }
    }
    let parameters: String = all
        .iter()
        .map(|(name, value)| format!("<parameter name=\"{name}\" value=\"{value}\" />\n"))
        .collect();
    let text = format!(
        "<system name=\"s\">\n<module kind=\"{}\" version=\"13.1\" enabled=\"1\" name=\"pcie\">\n{parameters}</module>\n\
         </system>\n",
        FROM[0]
    );
    System::from_document(Document::parse(Path::new("s.qsys"), text).unwrap()).unwrap()
}

const WANTED: Wanted = Wanted {
    bar: 0,
    bar_log2: 19,
    generation: None,
    port_bits: None,
};

fn made(changes: &[(&str, &str)], wanted: Wanted) -> Result<HardIp> {
    let system = changed(changes);
    streaming(&system, &system.modules[0], wanted)
}

/// Returns the value of a parameter, which is written once.
#[track_caller]
fn value<'a>(made: &'a HardIp, name: &str) -> &'a str {
    let mut all = made.parameters.iter().filter(|value| value.name == name);
    let value = &all.next().expect(name).value;
    assert_eq!(all.next(), None, "{name} twice");
    value
}

#[test]
fn a_board_of_gen2_keeps_what_both_have() {
    let made = made(&[], WANTED).unwrap();
    for (name, is) in [
        ("INTENDED_DEVICE_FAMILY", "Stratix V"),
        ("lane_mask_hwtcl", "x8"),
        ("port_type_hwtcl", "Native endpoint"),
        ("vendor_id_hwtcl", "4466"),
        ("device_id_hwtcl", "43776"),
        (OWN_CVP, "0"),
        ("bar0_type_hwtcl", "1"),
        // Set by the extension.
        ("gen123_lane_rate_mode_hwtcl", "Gen2 (5.0 Gbps)"),
        ("pcie_spec_version_hwtcl", "2.1"),
        ("ast_width_hwtcl", "Avalon-ST 128-bit"),
        ("extend_tag_field_hwtcl", "64"),
        ("completion_timeout_hwtcl", "NONE"),
        ("use_tx_cons_cred_sel_hwtcl", "1"),
        ("bar0_size_mask_hwtcl", "19"),
        ("bar1_type_hwtcl", "0"),
        ("bar5_size_mask_hwtcl", "0"),
        // Not in the file.
        ("max_payload_size_hwtcl", "128"),
        ("class_code_hwtcl", "0"),
    ] {
        assert_eq!(value(&made, name), is, "{name}");
    }
    assert_eq!((made.port_bits, made.clock), (128, (250, 250)));
    let gone = [
        "CB_A2P_ADDR_MAP_NUM_ENTRIES",
        "CB_P2A_AVALON_ADDR_B0",
        "bypass_tl",
        "in_cvp_mode_hwtcl",
    ];
    let names: Vec<&str> = made.dropped.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, gone);
    let kept = |name: &str| made.parameters.iter().any(|value| value.name == name);
    for name in gone
        .into_iter()
        .chain(["avmm_width_hwtcl", "SLAVE_ADDRESS_MAP_0"])
    {
        assert!(!kept(name), "{name}");
    }
    // The report names each removed parameter, and every value that is set has its reason.
    let reasons = made.gone();
    let named: Vec<&str> = reasons
        .iter()
        .flat_map(|(_, names)| names.clone())
        .collect();
    assert!(gone.iter().all(|name| named.contains(name)), "{named:?}");
    assert!(made.notes().len() == 1 && made.notes()[0].contains("4 parameters"));
    let own = made
        .parameters
        .iter()
        .filter(|v| v.name.contains("_size_mask_"));
    assert!(own.clone().count() == 6 && own.clone().all(|v| !v.why.is_empty()));
}

#[test]
fn a_bar_does_not_shrink() {
    let large = made(&[("SLAVE_ADDRESS_MAP_0", "29")], WANTED).unwrap();
    assert_eq!(value(&large, "bar0_size_mask_hwtcl"), "29");
    let changes = [
        ("bar0_type_hwtcl", "0"),
        ("bar2_type_hwtcl", "2"),
        ("SLAVE_ADDRESS_MAP_0", "0"),
        ("SLAVE_ADDRESS_MAP_2", "17"),
    ];
    let third = made(&changes, Wanted { bar: 2, ..WANTED }).unwrap();
    assert_eq!(value(&third, "bar2_type_hwtcl"), "2");
    assert_eq!(value(&third, "bar2_size_mask_hwtcl"), "19");
    assert_eq!(value(&third, "bar0_size_mask_hwtcl"), "0");
}

#[test]
fn a_link_has_the_width_that_there_is() {
    let gen3 = Wanted {
        generation: Some(3),
        ..WANTED
    };
    let wide = made(&[], gen3).unwrap();
    assert_eq!(value(&wide, "ast_width_hwtcl"), "Avalon-ST 256-bit");
    assert_eq!(
        value(&wide, "gen123_lane_rate_mode_hwtcl"),
        "Gen3 (8.0 Gbps)"
    );
    assert_eq!(value(&wide, "pcie_spec_version_hwtcl"), "3.0");
    assert_eq!((wide.port_bits, wide.clock), (256, (250, 250)));
    // With four lanes the clock doubles.
    let four = made(&[("lane_mask_hwtcl", "x4")], gen3).unwrap();
    assert_eq!((four.port_bits, four.clock), (128, (125, 250)));
    let bits = |port_bits| Wanted {
        port_bits: Some(port_bits),
        ..gen3
    };
    assert_eq!(
        made(&[("lane_mask_hwtcl", "x4")], bits(256)).unwrap().clock,
        (125, 125)
    );
    for (changes, wanted, word) in [
        (vec![], bits(128), "port_bits = 128"),
        (
            vec![
                ("lane_mask_hwtcl", "x8"),
                ("gen123_lane_rate_mode_hwtcl", "Gen1 (2.5 Gbps)"),
            ],
            Wanted {
                port_bits: Some(256),
                ..WANTED
            },
            "port_bits = 256",
        ),
    ] {
        let error = made(&changes, wanted).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Config, "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
}

/// A width that a TLP port of the link does not have is replaced if the configuration gives another.
#[test]
fn another_width_is_asked_for() {
    let four = [("lane_mask_hwtcl", "x4"), ("avmm_width_hwtcl", "64")];
    let error = made(&four, WANTED).unwrap_err();
    assert!(
        error.what.to_string().contains("128 bits at 125 MHz"),
        "{error}"
    );
    assert!(
        error.hint.to_string().contains("port_bits = 128"),
        "{error}"
    );
    let bits = Wanted {
        port_bits: Some(128),
        ..WANTED
    };
    let narrow = made(&four, bits).unwrap();
    assert_eq!((narrow.port_bits, narrow.clock), (128, (250, 125)));
    let gen3 = Wanted {
        generation: Some(3),
        ..WANTED
    };
    let fast = made(&four, gen3).unwrap();
    assert_eq!((fast.port_bits, fast.clock), (128, (250, 250)));
    // An error does not blame a key that the configuration lacks.
    let slow = [
        four[0],
        four[1],
        ("gen123_lane_rate_mode_hwtcl", "Gen1 (2.5 Gbps)"),
    ];
    let error = made(&slow, bits).unwrap_err();
    assert!(!error.what.to_string().contains("port.gen"), "{error}");
    assert!(error.what.to_string().contains("64 bits"), "{error}");
    assert!(error.hint.to_string().contains("gen = 3"), "{error}");
    let fast = made(&slow, gen3).unwrap();
    assert_eq!((fast.port_bits, fast.clock), (128, (125, 250)));
}

#[test]
fn what_cannot_be_mapped_is_refused_at_its_line() {
    for (name, value, word) in [
        ("port_type_hwtcl", "Root port", "endpoint"),
        ("use_crc_forwarding_hwtcl", "1", "packets of that form"),
        ("CB_P2A_AVALON_ADDR_B0", "0x00001000", "other addresses"),
        ("CB_P2A_AVALON_ADDR_B1", "32'h10", "other addresses"),
        ("bypass_tl", "true", "no transaction layer"),
        ("enable_function_msix_support_hwtcl", "1", "MSI-X table"),
        (
            "expansion_base_address_register_hwtcl",
            "12",
            "second range",
        ),
        (
            "avmm_width_hwtcl",
            "64",
            "128 bits at 250 MHz or 256 bits at 125 MHz",
        ),
        (
            "advanced_default_hwtcl_flr_capability",
            "true",
            "reset of the function",
        ),
        ("advanced_default_hwtcl_tph_completer", "true", "misread"),
        (
            "advanced_default_hwtcl_cas_completer_128bit",
            "true",
            "misread",
        ),
        (
            "advanced_default_hwtcl_extended_format_field",
            "true",
            "misread",
        ),
        ("gen123_lane_rate_mode_hwtcl", "Gen4 (16 Gbps)", "Gen4"),
        ("bar0_type_hwtcl", "0", "Rxm_BAR0"),
        ("bar0_type_hwtcl", "4", "Rxm_BAR0"),
        ("bar2_type_hwtcl", "1", "second BAR in use"),
        ("SLAVE_ADDRESS_MAP_0", "32", "2^32 bytes"),
        ("a_new_parameter", "5", "a_new_parameter"),
        ("a_new_list", "0,1", "a_new_list"),
    ] {
        let system = changed(&[(name, value)]);
        let hip = &system.modules[0];
        let all: Vec<_> = hip.element.children("parameter").collect();
        let index = all
            .iter()
            .position(|p| p.attribute("name") == Some(name))
            .unwrap();
        let error = streaming(&system, hip, WANTED).expect_err(name);
        assert_eq!(error.kind, ErrorKind::Unsupported, "{error}");
        assert_eq!(error.place.line, Some(FIRST + index), "{error}");
        assert!(error.to_string().contains(word), "{error}");
        assert!(
            !error.hint.to_string().is_empty() && error.what.to_string().contains("pcie"),
            "{error}"
        );
    }
}

#[test]
fn a_number_is_the_same_however_it_is_written() {
    for value in ["0", "0x0", "0x00000000", "32'h00000000", " 0 "] {
        let made = made(&[("CB_P2A_AVALON_ADDR_B0", value)], WANTED);
        assert!(made.is_ok(), "{value}");
    }
}

#[test]
fn another_family_is_refused() {
    let system = changed(&[]);
    let mut hip = system.modules[0].clone();
    hip.kind = "altera_pcie_cv_hip_avmm".into();
    let error = is_known(&system, &hip).unwrap_err();
    assert!(
        error.to_string().contains("altera_pcie_cv_hip_avmm"),
        "{error}"
    );
    assert!(error.hint.to_string().contains("port.kind"));
    for family in ["altera_pcie_sv_hip_avmm", "altera_pcie_avgz_hip_avmm"] {
        hip.kind = family.into();
        assert!(is_known(&system, &hip).is_ok(), "{family}");
    }
}

/// Parameters that Quartus 14.0 and 14.1 added, with their values in `KastnerRG/tinker` `tcl/14.1/tinker_hw.tcl`, and
/// the one that `maccoymerrell/Rowhammer_StratixV_FPGA` `pcie_hip_avmm.qsys` (16.0) has in addition. `KastnerRG/riffa`
/// `QSysDE5QGen2x8If128.qsys` (14.1) shows those that the Avalon-ST variant has, too.
#[test]
fn parameters_of_later_versions_go_over() {
    const PAGES: &str = "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15";
    let words = ["0x00000000"; 16].join(",");
    let bridge = [
        ("AddressPage", PAGES),
        ("PCIeAddress63_32", words.as_str()),
        ("PCIeAddress31_0", words.as_str()),
    ];
    let both = [
        ("enable_power_on_rst_pulse_hwtcl", "1"),
        ("enable_pcisigtest_hwtcl", "0"),
        ("hip_tag_checking_hwtcl", "1"),
        ("pcie_inspector_hwtcl", "0"),
        ("tlp_inspector_hwtcl", "0"),
        ("tlp_inspector_use_signal_probe_hwtcl", "0"),
        ("tlp_insp_trg_dw0_hwtcl", "2049"),
        ("tlp_insp_trg_dw3_hwtcl", "0"),
        ("use_cvp_update_core_pof_hwtcl", "0"),
        ("user_id_hwtcl", "0"),
    ];
    let made = made(&[&bridge[..], &both].concat(), WANTED).unwrap();
    for (name, is) in both {
        assert_eq!(value(&made, name), is, "{name}");
    }
    for (name, _) in bridge {
        assert!(made.dropped.iter().any(|one| one.name == name), "{name}");
        assert!(made.parameters.iter().all(|one| one.name != name), "{name}");
    }
    assert!(made.unknown.is_empty());
}

/// A value that the bridge does not pass on, or that leaves no room, becomes one that works, with the reason.
#[test]
fn some_values_become_others() {
    for (name, was, is, word) in [
        ("rxbuffer_rxreq_hwtcl", "Maximum", "Low", "completions"),
        ("rxbuffer_rxreq_hwtcl", "High", "Low", "completions"),
        ("override_rxbuffer_cred_preset", "1", "0", "manually"),
        ("hip_tag_checking_hwtcl", "0", "1", "does not hand it on"),
        ("hip_reconfig_hwtcl", "1", "0", "does not bring"),
    ] {
        let made = made(&[(name, was)], WANTED).unwrap();
        assert_eq!(value(&made, name), is);
        let why = made.parameters.iter().find(|one| one.name == name).unwrap();
        assert!(why.why.contains(word), "{}", why.why);
    }
    // The two settings of the receive buffer are needed with the other port, too, if the bridge does not wait for room.
    for (changes, want) in [
        (vec![], vec![]),
        (vec![("rxbuffer_rxreq_hwtcl", "Balanced")], vec![]),
        (
            vec![("rxbuffer_rxreq_hwtcl", "Maximum")],
            vec![("rxbuffer_rxreq_hwtcl", "Low")],
        ),
        (
            vec![
                ("rxbuffer_rxreq_hwtcl", "High"),
                ("override_rxbuffer_cred_preset", "1"),
            ],
            vec![
                ("rxbuffer_rxreq_hwtcl", "Low"),
                ("override_rxbuffer_cred_preset", "0"),
            ],
        ),
    ] {
        let system = changed(&changes);
        let mut hip = system.modules[0].clone();
        let settings: Vec<_> = receive_buffer(&hip)
            .into_iter()
            .map(|(name, value, _)| (name, value))
            .collect();
        assert_eq!(settings, want);
        hip.kind = "altera_pcie_cv_hip_avmm".into();
        assert!(receive_buffer(&hip).is_empty());
    }
}

/// An unknown parameter whose value switches nothing on is left out with a note.
#[test]
fn an_unknown_parameter_that_is_off_is_a_note() {
    for off in ["0", "false", "disable", "", "0,0", "0x0,0x0", "0.0", "None"] {
        let made = made(&[("a_new_parameter", off)], WANTED).expect(off);
        assert_eq!(made.unknown, [format!("a_new_parameter = {off}")]);
        assert!(
            made.parameters
                .iter()
                .all(|one| one.name != "a_new_parameter")
        );
        assert!(made.notes()[1].contains("a_new_parameter"), "{off}");
    }
    for on in ["1", "0,1", "true", "x8", "Low"] {
        assert!(made(&[("a_new_parameter", on)], WANTED).is_err(), "{on}");
    }
    // Advanced parameters have no effect unless the file enables them.
    let advanced = ("advanced_default_hwtcl_new", "5");
    assert!(made(&[advanced], WANTED).is_ok());
    let counts = ("advanced_default_parameter_override", "1");
    assert!(made(&[advanced, counts], WANTED).is_err());
}

/// All problems are listed at once, each with its line.
#[test]
fn all_problems_are_told_at_once() {
    let changes = [
        ("port_type_hwtcl", "Root port"),
        ("bar2_type_hwtcl", "1"),
        ("a_new_parameter", "5"),
        ("avmm_width_hwtcl", "64"),
        ("SLAVE_ADDRESS_MAP_0", "32"),
    ];
    let error = made(&changes, WANTED).unwrap_err();
    assert!(
        error.what.to_string().starts_with("5 reasons prevent"),
        "{error}"
    );
    assert_eq!(error.below.all.len(), 5);
    let words = [
        "port_type_hwtcl",
        "second BAR in use",
        "a_new_parameter",
        "have 64 bits",
        "2^32 bytes",
    ];
    for word in words {
        let times = (error.below.all.iter()).filter(|one| one.paragraph().contains(word));
        assert_eq!(times.count(), 1, "{word}: {:#?}", error.below.all);
    }
    assert!((error.below.all.iter()).all(|one| one.to_string().starts_with("s.qsys:")));
}

/// Configuration over PCIe stays at Gen2, with another component, and is lost at Gen3.
#[test]
fn configuration_over_pcie_stays_where_there_is_any() {
    const NAME: &str = "in_cvp_mode_hwtcl";
    let cvp = [(NAME, "1")];
    let gen_2 = made(&cvp, WANTED).unwrap();
    assert_eq!(gen_2.kind, "peerlane_pcie_hip");
    assert!(!gen_2.loses_cvp);
    assert_eq!(value(&gen_2, OWN_CVP), "1");
    assert!(gen_2.parameters.iter().all(|one| one.name != NAME));
    assert!(gen_2.dropped.iter().any(|one| one.name == NAME));
    let wanted = Wanted {
        generation: Some(3),
        ..WANTED
    };
    let gen_3 = made(&cvp, wanted).unwrap();
    assert!(gen_3.loses_cvp);
    assert_eq!(value(&gen_3, OWN_CVP), "0");
    assert_eq!(gen_3.reconfiguration, (10, 11));
    // Quartus's component does not pass the parameter that the credits need.
    let without = made(&[], WANTED).unwrap();
    assert_eq!(
        (without.kind, value(&without, OWN_CVP)),
        ("peerlane_pcie_hip", "0")
    );
}

/// The block counts completions in lines of 64 bytes with a header each, so a buffer must have room for the data of as
/// many lines as it has headers (credits of data are 16 bytes). Figures of ACDS 13.1, `pcie_sv_parameters_common.tcl`,
/// without atomic operations and forwarded CRC: headers and data of completions for payloads of 128, 256, 512, 1024 and
/// 2048 bytes.
#[test]
fn completions_have_room_for_their_data_in_every_setting() {
    const ROOM: [(&str, [(u32, u32); 5]); 5] = [
        (
            "Minimum",
            [(202, 809), (200, 803), (197, 790), (191, 764), (178, 713)],
        ),
        (
            "Low",
            [(195, 781), (195, 781), (192, 768), (185, 743), (172, 692)],
        ),
        ("Balanced", [(112, 448); 5]),
        ("High", [(16, 16), (16, 16), (16, 32), (16, 64), (32, 128)]),
        ("Maximum", [(1, 8), (1, 16), (1, 32), (1, 64), (1, 128)]),
    ];
    // Eight reads of 512 bytes at any alignment, answered in parts of 64.
    const READS: (u32, u32) = (8 * 9, 8 * (512 / 16 + 1));
    for (setting, room) in ROOM {
        let counted = room.iter().all(|(headers, data)| 4 * headers <= *data);
        let enough = room
            .iter()
            .all(|(headers, data)| *headers >= READS.0 && *data >= READS.1);
        let made = made(&[("rxbuffer_rxreq_hwtcl", setting)], WANTED).unwrap();
        let stays = value(&made, "rxbuffer_rxreq_hwtcl") == setting;
        assert_eq!(stays, counted && enough, "{setting}");
        let system = changed(&[("rxbuffer_rxreq_hwtcl", setting)]);
        assert_eq!(
            receive_buffer(&system.modules[0]).is_empty(),
            enough,
            "{setting}"
        );
    }
}

/// At Gen3 Quartus uses the hard IP's soft reset controller; the hard one is forced only for configuration over PCIe,
/// which Gen3 does not have.
#[test]
fn gen_3_has_the_soft_reset_controller() {
    let gen_3 = Wanted {
        generation: Some(3),
        ..WANTED
    };
    let forced = [("force_hrc", "1")];
    assert_eq!(value(&made(&forced, WANTED).unwrap(), "force_hrc"), "1");
    let made = made(&forced, gen_3).unwrap();
    assert_eq!(value(&made, "force_hrc"), "0");
    let mut all = made.parameters.iter();
    let why = all.find(|one| one.name == "force_hrc").unwrap().why;
    assert!(why.contains("soft reset controller"), "{why}");
    let unset = streaming(&changed(&[]), &changed(&[]).modules[0], gen_3).unwrap();
    assert!(unset.parameters.iter().all(|one| one.name != "force_hrc"));
}
