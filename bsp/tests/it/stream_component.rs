//! The component of a block with a TLP port: its declarations fit its Verilog and the hard IP on the other side.

use std::collections::BTreeMap;
use std::fs;

use crate::common::streaming;
use peerlane_bsp::extend::component::ip_files;
use peerlane_bsp::generator;
use peerlane_bsp_check::component::{self, Component};
use tempfile::TempDir;

/// Makes the files of a block of this width at a BAR, and the component as Platform Designer sees it.
fn made(port_bits: u32, bar: u32) -> (TempDir, Component) {
    let (config, board) = streaming(port_bits, bar);
    let modules = generator::generate(&config, board).unwrap();
    let ids = generator::agree(&config, board, &modules).unwrap();
    let dir = tempfile::tempdir().unwrap();
    for file in ip_files("ip", &config, &board, ids, &modules) {
        let path = dir.path().join(file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file.text).unwrap();
    }
    let component = component::run(&dir.path().join("ip/peerlane_dma_hw.tcl")).unwrap();
    (dir, component)
}

/// Returns name, direction and bits of each port that a module's header declares, with a minimal reader.
fn ports(verilog: &str, module: &str) -> BTreeMap<String, (String, u32)> {
    let start = verilog.find(&format!("module {module} ")).unwrap();
    let header = &verilog[start..start + verilog[start..].find(");").unwrap()];
    let mut found = BTreeMap::new();
    for line in header[header.find('(').unwrap() + 1..].lines() {
        let line = line.trim().trim_end_matches(',');
        if line.is_empty() {
            continue;
        }
        let (direction, rest) = line.split_once(' ').unwrap();
        let rest = rest.trim_start_matches("wire").trim();
        let (bits, name) = match rest.strip_prefix('[') {
            Some(range) => {
                let (high, name) = range.split_once(":0]").unwrap();
                (high.parse::<u32>().unwrap() + 1, name.trim())
            }
            None => (1, rest),
        };
        let old = found.insert(name.to_string(), (direction.to_string(), bits));
        assert_eq!(old, None, "{name}");
    }
    found
}

#[test]
fn every_port_of_the_verilog_is_declared_once() {
    for (bits, bar) in [(128, 0), (256, 2)] {
        let (dir, component) = made(bits, bar);
        assert_eq!(component.top, "peerlane_dma_stream");
        let text = fs::read_to_string(dir.path().join("ip/peerlane_dma_stream.v")).unwrap();
        let mut real = ports(&text, &component.top);
        assert!(real.len() > 100, "{}", real.len());
        for (port, interface, role) in &component.ports {
            let (direction, width) = real
                .remove(&port.name)
                .unwrap_or_else(|| panic!("{interface}.{role}: no port {}", port.name));
            assert_eq!(
                (direction.as_str(), width),
                (port.direction.verilog(), port.width),
                "{}",
                port.name
            );
        }
        assert!(real.is_empty(), "not declared: {real:?}");
        // The master to the board's slaves has the BAR's name.
        let board = component.interfaces.get(&format!("Rxm_BAR{bar}"));
        assert_eq!(board.map(String::as_str), Some("avalon start"));
        for gone in ["csr", "chan", "att", "msix", "txs", "dma_irq", "intx"] {
            assert!(!component.interfaces.contains_key(gone), "{gone}");
        }
    }
}

/// Synthesis reads the comment between the two marks and not the text between the others (Quartus II handbook volume 1,
/// QII51008, "translate_off and translate_on", "read_comments_as_HDL"); a simulator does the contrary.
#[test]
fn synthesis_sees_a_global_buffer_and_simulation_a_wire() {
    let (dir, component) = made(128, 0);
    let kind = |name: &str| component.interfaces.get(name).map(String::as_str);
    assert_eq!(kind("coreclkout_hip"), Some("clock end"));
    assert_eq!(kind("coreclkout"), Some("clock start"));
    let text = fs::read_to_string(dir.path().join("ip/peerlane_dma_stream.v")).unwrap();
    // The turn-off of power is acknowledged.
    assert!(text.contains("assign pme_to_cr = pme_to_sr;"));
    let (mut synthesis, mut simulation) = (String::new(), String::new());
    let (mut hidden, mut shown) = (false, false);
    for line in text.lines().map(str::trim) {
        match line {
            "// synthesis translate_off" => hidden = true,
            "// synthesis translate_on" => hidden = false,
            "// synthesis read_comments_as_HDL on" => shown = true,
            "// synthesis read_comments_as_HDL off" => shown = false,
            _ => {
                let comment = line.strip_prefix("//");
                let code = comment.is_none() && !hidden || comment.is_some() && shown;
                if code {
                    synthesis += comment.unwrap_or(line).trim();
                    synthesis += "\n";
                }
                if comment.is_none() {
                    simulation += line;
                    simulation += "\n";
                }
            }
        }
    }
    assert!(!hidden && !shown);
    let buffer = "global coreclkout_buffer (.in(coreclkout_hip), .out(coreclkout));\n";
    let wire = "assign coreclkout = coreclkout_hip;\n";
    assert!(
        synthesis.contains(buffer) && !synthesis.contains(wire),
        "{synthesis}"
    );
    assert!(simulation.contains(wire) && !simulation.contains("coreclkout_buffer"));
}

/// The other side: the hard IP with 128 bits (component `altera_pcie_sv_hip_ast` of ACDS 13.1 as an endpoint, without
/// parity, byte enables and tracking of overflows; with `use_tx_cons_cred_sel_hwtcl`). "+" is an input of the hard IP,
/// "-" an output.
const HARD_IP: [(&str, &str); 10] = [
    (
        "rx_st",
        "-startofpacket 1 -endofpacket 1 -error 1 -valid 1 -empty 2 +ready 1 -data 128",
    ),
    (
        "tx_st",
        "+startofpacket 1 +endofpacket 1 +error 1 +valid 1 +empty 2 -ready 1 +data 128",
    ),
    ("rx_bar_be", "-rx_st_bar 8 +rx_st_mask 1"),
    (
        "tx_cred",
        "-tx_cred_datafccp 12 -tx_cred_datafcnp 12 -tx_cred_datafcp 12 -tx_cred_fchipcons 6 -tx_cred_fcinfinite 6 \
         -tx_cred_hdrfccp 8 -tx_cred_hdrfcnp 8 -tx_cred_hdrfcp 8 +tx_cons_cred_sel 1",
    ),
    (
        "config_tl",
        "+hpg_ctrler 5 -tl_cfg_add 4 -tl_cfg_ctl 32 -tl_cfg_sts 53 +cpl_err 7 +cpl_pending 1",
    ),
    (
        "hip_rst",
        "-reset_status 1 -serdes_pll_locked 1 -pld_clk_inuse 1 +pld_core_ready 1 -testin_zero 1",
    ),
    (
        "hip_status",
        "-derr_cor_ext_rcv 1 -derr_cor_ext_rpl 1 -derr_rpl 1 -dlup 1 -dlup_exit 1 -ev128ns 1 -ev1us 1 -hotrst_exit 1 \
         -int_status 4 -l2_exit 1 -lane_act 4 -ltssmstate 5 -rx_par_err 1 -tx_par_err 2 -cfg_par_err 1 \
         -ko_cpl_spc_header 8 -ko_cpl_spc_data 12",
    ),
    (
        "int_msi",
        "+app_int_sts 1 +app_msi_num 5 +app_msi_req 1 +app_msi_tc 3 -app_int_ack 1 -app_msi_ack 1",
    ),
    (
        "lmi",
        "+lmi_addr 12 +lmi_din 32 +lmi_rden 1 +lmi_wren 1 -lmi_ack 1 -lmi_dout 32",
    ),
    (
        "power_mngt",
        "+pm_auxpwr 1 +pm_data 10 +pme_to_cr 1 +pm_event 1 -pme_to_sr 1",
    ),
];

#[test]
fn both_sides_have_the_same_roles() {
    let (_dir, component) = made(128, 0);
    for (interface, text) in HARD_IP {
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut want: Vec<(String, &str, u32)> = Vec::new();
        for pair in words.chunks(2) {
            let direction = if pair[0].starts_with('+') {
                "output"
            } else {
                "input"
            };
            want.push((pair[0][1..].into(), direction, pair[1].parse().unwrap()));
        }
        let ours = component.ports.iter().filter(|(_, of, _)| of == interface);
        let mut have: Vec<(String, &str, u32)> = ours
            .map(|(port, _, role)| (role.clone(), port.direction.verilog(), port.width))
            .collect();
        want.sort();
        have.sort();
        assert_eq!(have, want, "{interface}");
    }
}
