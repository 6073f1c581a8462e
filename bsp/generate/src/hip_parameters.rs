//! Every parameter of the hard IP's Avalon-MM variant of Quartus 13.0 to 18.1, and its fate.
//!
//! The variant is a bridge around the one with an Avalon-ST interface, so most parameters belong to both, under the
//! same name (component descriptions of ACDS 13.1, `altera_pcie_sv_hip_avmm` and `altera_pcie_sv_hip_ast`). Quartus
//! 14.0 and 14.1 added some to both. They were seen in these public systems, which agree: of the Avalon-MM variant
//! `tarafdar/clmonte` `acl_iface_system.qsys` (13.0), `KastnerRG/tinker` `tcl/{14.1,15.1,16.0}/tinker_hw.tcl` and
//! `maccoymerrell/Rowhammer_StratixV_FPGA` `pcie_hip_avmm.qsys` with its `.sopcinfo` (16.0); of the Avalon-ST variant
//! `KastnerRG/riffa` `QSysDE5QGen2x8If128.qsys` (14.1) and `bluecmd/fejkon` (20.1). The generated Verilog of the hard
//! IP (`altpcie_sv_hip_ast_hwtcl`) has the same ports in 13.1, 16.0 and 17.0.

/// The fate of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is copied unchanged.
    Keep,
    /// It is copied if it has one of these values; another is not possible, for this reason.
    KeepOnly(&'static [&'static str], &'static str),
    /// It is copied if it has one of these values; another value becomes the one that follows, for this reason.
    KeepOr(&'static [&'static str], &'static str, &'static str),
    /// The plan sets it.
    Decided,
    /// The Avalon-ST variant has no such parameter; the reason why it needs none.
    Drop(&'static str),
    /// The Avalon-ST variant has no such parameter, and only this value may be dropped; the effect of another.
    DropOnly(&'static str, &'static str),
}

/// Parameters of one fate.
pub struct Group {
    fate: Fate,
    /// Prefix of all names.
    prefix: &'static str,
    /// The rest of each name, separated by commas; `#` is a number.
    names: &'static str,
}

const fn group(fate: Fate, prefix: &'static str, names: &'static str) -> Group {
    Group {
        fate,
        prefix,
        names,
    }
}

/// Reason why the bridge's own parameters are dropped.
const BRIDGE: &str = "it belongs to the Avalon-MM bridge, which the block replaces";
const TRANSLATION: &str = "the block has its own address table and makes PCIe addresses itself";
const SYSTEM: &str = "Platform Designer derives it";
const MAPPED: &str = "the host's accesses would reach other addresses of the board's bus";

/// The rule of the receive buffer, for either port.
///
/// A completion that finds no room in the hard IP is a receiver overflow, which is fatal, and nothing slows the sender:
/// the credits of completions are infinite on the wire. `Txs` has eight reads of 512 bytes outstanding, at most 4,096
/// bytes in 72 packets, and its bridge in Stratix V and Arria V GZ does not check the room (RTL that Quartus 16.0
/// generates for `altera_pcie_sv_hip_avmm`). A TLP port counts 64 bytes for each header. Minimum, Low and Balanced
/// leave at least 112 headers and 7,168 bytes, and 64 bytes for each header; High and Maximum leave 1 to 32 headers and
/// 128 to 2,048 bytes (`set_pcie_hip_flow_control_settings_common`, ACDS 13.1). Altera removed these two as not
/// supported (Stratix V Avalon-ST Interface for PCIe 683093, revision of 2019-01-18).
const ROOM: &str = "the other settings have less room for completions than the block's reads need, and completions \
                    without room are lost; the OpenCL SDK's own boards have Low";
const BY_HAND: &str =
    "manually set credits may leave less room for completions than the block's reads need";
/// Parameters of that rule.
pub const BUFFER: [&str; 2] = ["rxbuffer_rxreq_hwtcl", "override_rxbuffer_cred_preset"];

/// The table.
pub const TABLE: &[Group] = &[
    group(
        Fate::Keep,
        "",
        "INTENDED_DEVICE_FAMILY, pcie_qsys, lane_mask_hwtcl, pll_refclk_freq_hwtcl, set_pld_clk_x1_625MHz_hwtcl, \
         enable_tl_only_sim_hwtcl, use_atx_pll_hwtcl, serial_sim_hwtcl, force_hrc, force_src",
    ),
    group(
        Fate::Keep,
        "",
        "vendor_id_hwtcl, device_id_hwtcl, revision_id_hwtcl, class_code_hwtcl, subsystem_vendor_id_hwtcl, \
         subsystem_device_id_hwtcl, max_payload_size_hwtcl, \
         enable_completion_timeout_disable_hwtcl, use_aer_hwtcl, ecrc_check_capable_hwtcl, ecrc_gen_capable_hwtcl, \
         port_link_number_hwtcl, dll_active_report_support_hwtcl, surprise_down_error_support_hwtcl, slotclkcfg_hwtcl, \
         msi_multi_message_capable_hwtcl, msix_table_size_hwtcl, msix_table_offset_hwtcl, msix_table_bir_hwtcl, \
         msix_pba_offset_hwtcl, msix_pba_bir_hwtcl, enable_slot_register_hwtcl, slot_power_scale_hwtcl, slot_power_limit_hwtcl, \
         slot_number_hwtcl, endpoint_l0_latency_hwtcl, endpoint_l1_latency_hwtcl, vsec_id_hwtcl, vsec_rev_hwtcl, \
         io_window_addr_width_hwtcl, prefetchable_mem_window_addr_width_hwtcl",
    ),
    group(
        Fate::Keep,
        "",
        "advanced_default_parameter_override, override_tbpartner_driver_setting_hwtcl, \
         gen3_rxfreqlock_counter_hwtcl, hwtcl_override_g2_txvod, rpre_emph_a_val_hwtcl, rpre_emph_b_val_hwtcl, \
         rpre_emph_c_val_hwtcl, rpre_emph_d_val_hwtcl, rpre_emph_e_val_hwtcl, rvod_sel_a_val_hwtcl, \
         rvod_sel_b_val_hwtcl, rvod_sel_c_val_hwtcl, rvod_sel_d_val_hwtcl, rvod_sel_e_val_hwtcl",
    ),
    group(
        Fate::Keep,
        "advanced_default_hwtcl_",
        "bypass_cdc, enable_rx_buffer_checking, disable_link_x2_support, wrong_device_id, data_pack_rx, \
         ltssm_1ms_timeout, ltssm_freqlocked_check, deskew_comma, device_number, pipex1_debug_sel, pclk_out_sel, \
         no_soft_reset, maximum_current, d1_support, d2_support, d0_pme, d1_pme, d2_pme, d3_hot_pme, d3_cold_pme, \
         low_priority_vc, disable_snoop_packet, enable_l1_aspm, set_l0s, l1_exit_latency_sameclock, \
         l1_exit_latency_diffclock, hot_plug_support, extended_tag_reset, no_command_completed, interrupt_pin, \
         bridge_port_vga_enable, bridge_port_ssid_support, ssvid, ssid, eie_before_nfts_count, \
         gen2_diffclock_nfts_count, gen2_sameclock_nfts_count, l0_exit_latency_sameclock, l0_exit_latency_diffclock, \
         ltr_mechanism, atomic_malformed, vc0_clk_enable, \
         register_pipe_signals, skp_os_gen3_count, tx_cdc_almost_empty, rx_l0s_count_idl, cdc_dummy_insert_limit, \
         ei_delay_powerdown_count, skp_os_schedule_count, fc_init_timer, l01_entry_latency, \
         flow_control_update_count, flow_control_timeout_count, reserved_debug, enable_adapter_half_rate_mode, \
         retry_buffer_last_active_address",
    ),
    group(
        Fate::KeepOnly(
            &["false"],
            "the block does not support such requests, and would misread them",
        ),
        "advanced_default_hwtcl_",
        "atomic_op_routing, atomic_op_completer_32bit, atomic_op_completer_64bit, cas_completer_128bit, tph_completer, \
         extended_format_field",
    ),
    group(
        Fate::KeepOnly(
            &["false"],
            "a reset of the function does not reach the block and would not reset it",
        ),
        "advanced_default_hwtcl_",
        "flr_capability",
    ),
    group(
        Fate::KeepOnly(
            &["Native endpoint"],
            "the block is a function of an endpoint",
        ),
        "",
        "port_type_hwtcl",
    ),
    group(
        Fate::KeepOr(&["Minimum", "Low", "Balanced"], "Low", ROOM),
        "",
        BUFFER[0],
    ),
    group(Fate::KeepOr(&["0"], "0", BY_HAND), "", BUFFER[1]),
    // Since 14.0, except the inspectors, the image of CvP (14.1) and the user's number (16.0).
    group(
        Fate::Keep,
        "",
        "enable_power_on_rst_pulse_hwtcl, enable_pcisigtest_hwtcl, pcie_inspector_hwtcl, tlp_inspector_hwtcl, \
         tlp_inspector_use_signal_probe_hwtcl, tlp_insp_trg_dw#_hwtcl, use_cvp_update_core_pof_hwtcl, user_id_hwtcl",
    ),
    group(
        Fate::KeepOr(
            &["1"],
            "1",
            "the Avalon-MM variant does not hand it on to the hard IP, which has the value 1",
        ),
        "",
        "hip_tag_checking_hwtcl",
    ),
    group(
        Fate::KeepOnly(
            &["0"],
            "the block does not make or read packets of that form",
        ),
        "",
        "use_crc_forwarding_hwtcl, use_rx_st_be_hwtcl, use_ast_parity",
    ),
    group(
        Fate::KeepOr(
            &["0"],
            "0",
            "the Avalon-MM variant does not bring its interface out, so it is not in use; the other variant would need \
             a clock and a reset for it",
        ),
        "",
        "hip_reconfig_hwtcl",
    ),
    group(
        Fate::KeepOnly(
            &["0"],
            "the host would see a second range, which no hardware serves",
        ),
        "",
        "expansion_base_address_register_hwtcl",
    ),
    group(
        Fate::KeepOnly(&["true"], "the block's messages have addresses of 64 bits"),
        "",
        "msi_support_hwtcl, msi_64bit_addressing_capable_hwtcl",
    ),
    group(
        Fate::KeepOnly(
            &["false"],
            "the block does not see the mask of a vector of MSI",
        ),
        "",
        "msi_masking_capable_hwtcl",
    ),
    group(
        Fate::KeepOnly(&["0"], "another component of the BSP has its MSI-X table"),
        "",
        "enable_function_msix_support_hwtcl",
    ),
    group(
        Fate::Decided,
        "",
        "in_cvp_mode_hwtcl, gen123_lane_rate_mode_hwtcl, pcie_spec_version_hwtcl, ast_width_hwtcl, extend_tag_field_hwtcl, \
         completion_timeout_hwtcl, avmm_width_hwtcl, SLAVE_ADDRESS_MAP_#, bar#_type_hwtcl, bar#_size_mask_hwtcl",
    ),
    group(
        Fate::Drop(BRIDGE),
        "",
        "NUM_PREFETCH_MASTERS, CG_COMMON_CLOCK_MODE, CB_PCIE_MODE, CB_PCIE_RX_LITE, AST_LITE, CG_RXM_IRQ_NUM, \
         CG_IMPL_CRA_AV_SLAVE_PORT, CG_ENABLE_ADVANCED_INTERRUPT, CG_ENABLE_A2P_INTERRUPT, CG_ENABLE_HIP_STATUS, \
         CG_ENABLE_HIP_STATUS_EXTENSION, CB_RP_S_ADDR_WIDTH, RXM_DATA_WIDTH, RXM_BEN_WIDTH, \
         coreclkout_hip_phaseshift_hwtcl, pldclk_hip_phase_shift_hwtcl",
    ),
    group(
        Fate::Drop(TRANSLATION),
        "",
        "AVALON_ADDR_WIDTH, TX_S_ADDR_WIDTH, BYPASSS_A2P_TRANSLATION, CB_A2P_ADDR_MAP_IS_FIXED, \
         CB_A2P_ADDR_MAP_NUM_ENTRIES, CB_A2P_ADDR_MAP_PASS_THRU_BITS, CB_A2P_ADDR_MAP_FIXED_TABLE_#_HIGH, \
         CB_A2P_ADDR_MAP_FIXED_TABLE_#_LOW, Address Page, PCIe Address 63:32, PCIe Address 31:0, AddressPage, \
         PCIeAddress63_32, PCIeAddress31_0",
    ),
    group(
        Fate::Drop(SYSTEM),
        "",
        "AUTO_REFCLK_CLOCK_RATE, avmm_burst_width_hwtcl, CB_RXM_DATA_WIDTH, CG_AVALON_S_ADDR_WIDTH, pld_clk_MHz, \
         millisecond_cycle_count_hwtcl, port_width_be_hwtcl, port_width_data_hwtcl",
    ),
    group(
        Fate::DropOnly("0", MAPPED),
        "",
        "CB_P2A_AVALON_ADDR_B#, CB_P2A_FIXED_AVALON_ADDR_B#, fixed_address_mode",
    ),
    group(
        Fate::DropOnly("false", "the hard IP would have no transaction layer"),
        "",
        "bypass_tl",
    ),
];

/// Reports whether a name matches a pattern, in which `#` is a number.
fn is(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('#') else {
        return pattern == name;
    };
    let number = name
        .strip_prefix(before)
        .and_then(|rest| rest.strip_suffix(after));
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Returns the fate of a parameter; `None` for one that is not in the table.
pub fn fate(name: &str) -> Option<Fate> {
    let has = |group: &&Group| {
        name.strip_prefix(group.prefix)
            .is_some_and(|rest| group.names.split(", ").any(|pattern| is(pattern, rest)))
    };
    TABLE.iter().find(has).map(|group| group.fate)
}

/// Reports whether a parameter belongs to the Avalon-MM variant in a known version.
pub fn is_parameter(name: &str) -> bool {
    fate(name).is_some()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_parameter_has_one_fate() {
        let mut seen = BTreeSet::new();
        for group in TABLE {
            for name in group.names.split(", ") {
                assert!(!name.is_empty() && name.trim() == name, "{name:?}");
                let whole = format!("{}{name}", group.prefix);
                assert!(seen.insert(whole.clone()), "{whole} twice");
                let one = whole.replace('#', "3");
                assert_eq!(fate(&one), Some(group.fate), "{one}");
            }
        }
    }

    #[test]
    fn a_number_stands_for_a_number_only() {
        assert!(fate("bar5_type_hwtcl").is_some() && fate("SLAVE_ADDRESS_MAP_0").is_some());
        assert!(fate("CB_A2P_ADDR_MAP_FIXED_TABLE_15_HIGH").is_some());
        for name in [
            "bar_type_hwtcl",
            "barx_type_hwtcl",
            "bar5_type_hwtcl_2",
            "advanced_default_hwtcl_",
            "advanced_default_hwtcl_new",
            "",
        ] {
            assert_eq!(fate(name), None, "{name}");
        }
    }
}
