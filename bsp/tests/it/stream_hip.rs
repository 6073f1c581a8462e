//! Peerlane's own component of the hard IP, under a mock of Platform Designer and with mocks of Quartus's files for the
//! hard IP. It takes everything from these files, and enables configuration over PCIe (CvP) again after the validation
//! that refuses it.

use std::fs;
use std::path::Path;

use peerlane_bsp::extend::component;
use tempfile::TempDir;

/// Commands of Platform Designer; `told` prints the settings.
const PLATFORM_DESIGNER: &str = r#"
package provide qsys 13.1
foreach name {set_module_property set_fileset_property set_interface_property} { proc $name args {} }
proc send_message {level text} { puts "$level: $text" }
proc add_parameter {name type value args} { set ::value($name) $value; set ::derived($name) false }
proc set_parameter_property {name property value} {
    if {![info exists ::value($name)]} { error "no parameter $name" }
    if {$property eq "DERIVED"} { set ::derived($name) $value }
    if {$property eq "HDL_PARAMETER"} { set ::passed($name) $value }
}
proc get_parameter_value name { return $::value($name) }
proc set_parameter_value {name value} {
    if {!$::derived($name)} { error "$name is not derived" }
    set ::value($name) $value
}
proc add_interface {name type side} { puts "interface $name $type $side" }
proc add_interface_port {interface port role direction width} { puts "port $interface $port $role $direction $width" }
proc get_parameters {} { return [array names ::value] }
proc add_fileset {name kind callback} { lappend ::filesets $callback }
proc add_fileset_file {name type how path args} {
    if {![file exists $path]} { error "$path is not there" }
    puts "file $name"
}
source [lindex $argv 0]
foreach {name new} [lrange $argv 1 end] { set value($name) $new }
elaborate
puts "cvp of the Verilog: $value(in_cvp_mode_hwtcl)"
puts "credits are shown: $passed(use_tx_cons_cred_sel_hwtcl)"
foreach callback $filesets { $callback one }
"#;

/// Steps of Quartus's description that do nothing here.
const STEPS: [&str; 28] = [
    "add_pcie_hip_parameters_ui_pci_registers",
    "add_pcie_hip_parameters_ui_pcie_cap_registers",
    "add_pcie_hip_hidden_rtl_parameters",
    "add_pcie_hip_common_hidden_rtl_parameters",
    "add_pcie_hip_gen2_vod",
    "add_pcie_hip_parameters_gen3_coef",
    "add_pcie_hip_parameters_phy_characteristics",
    "add_pcie_hip_port_npor",
    "add_pcie_hip_port_lmi",
    "add_pcie_hip_port_tl_cfg",
    "add_pcie_hip_port_pw_mngt",
    "validation_parameter_bar",
    "validation_parameter_base_limit_reg",
    "validation_parameter_pcie_cap_reg",
    "update_default_value_hidden_parameter_common",
    "add_pcie_hip_port_clk",
    "add_pcie_hip_port_rst",
    "add_pcie_hip_port_control",
    "add_pcie_hip_port_status",
    "add_pcie_hip_port_serial",
    "add_pcie_hip_port_pipe",
    "add_pcie_hip_port_reconfig",
    "add_pcie_hip_port_ast_rx",
    "add_pcie_hip_port_ast_tx",
    "add_pcie_hip_port_interrupt",
    "add_pcie_hip_port_hip_reconfig",
    "add_pcie_hip_port_config_bypass",
    "add_pcie_hip_port_cseb",
];

/// Makes a tree like Quartus's, with mocks of the files that the component uses.
fn quartus(dir: &Path) {
    let put = |path: &str, text: &str| {
        let path = dir.join("ip/altera").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let steps: String = STEPS
        .iter()
        .map(|name| format!("proc {name} {{}} {{ puts \"step {name}\" }}\n"))
        .collect();
    let parameters = r#"
proc add_pcie_hip_parameters_ui_system_settings {} {
    add_parameter in_cvp_mode_hwtcl integer 0
    add_parameter gen123_lane_rate_mode_hwtcl string "Gen2 (5.0 Gbps)"
    add_parameter use_tx_cons_cred_sel_hwtcl integer 0
    set_parameter_property use_tx_cons_cred_sel_hwtcl HDL_PARAMETER false
}
proc validation_parameter_system_setting {} {
    if {[get_parameter_value in_cvp_mode_hwtcl] == 1} { send_message error "refused" }
}
proc set_pcie_hip_flow_control_settings_common {} {}
proc set_pcie_cvp_parameters_common {} { puts "clock of the core: [get_parameter_value in_cvp_mode_hwtcl]" }
"#;
    let hip = "altera_pcie/altera_pcie_sv_hip_ast";
    put(&format!("{hip}/pcie_sv_parameters.tcl"), parameters);
    // Names are relative to this directory.
    put(&format!("{hip}/more.tcl"), &steps);
    put(&format!("{hip}/pcie_sv_port.tcl"), "source more.tcl\n");
    put(
        "altera_pcie_pipe/xcvr_generic/altera_xcvr_pipe_common.tcl",
        "proc pipe_decl_fileset_groups_sv_xcvr_pipe_native dir { puts \"declared in [file tail [pwd]]\" }\n\
         proc common_add_fileset_files {what how} { puts \"transceivers $what $how\" }\n",
    );
    for file in [
        "altpcie_sv_hip_ast_hwtcl.v",
        "altpcie_hip_256_pipen1b.v",
        "altpcie_rs_serdes.v",
        "altpcie_rs_hip.v",
    ] {
        put(&format!("{hip}/{file}"), "");
    }
    fs::create_dir_all(dir.join("quartus")).unwrap();
}

/// Runs the component with these parameters; returns whether it succeeded, and its output.
fn run(dir: &TempDir, parameters: &[&str]) -> (bool, String) {
    let own = dir.path().join("board");
    fs::create_dir_all(&own).unwrap();
    fs::write(
        own.join("hip_hw.tcl"),
        component::hip_files("ip", true)[0].text.clone(),
    )
    .unwrap();
    let stand_in = dir.path().join("stand_in.tcl");
    fs::write(&stand_in, PLATFORM_DESIGNER).unwrap();
    let tclsh = peerlane_tools::Cache::open().unwrap().tclsh().unwrap();
    let run = tclsh
        .command()
        .current_dir(&own)
        .env("QUARTUS_ROOTDIR", dir.path().join("quartus"))
        .arg(&stand_in)
        .arg("hip_hw.tcl")
        .args(parameters)
        .output()
        .unwrap();
    let said = [run.stdout, run.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    (run.status.success(), said)
}

#[test]
fn it_gives_configuration_over_pcie_back() {
    let dir = tempfile::tempdir().unwrap();
    quartus(dir.path());
    let (good, said) = run(&dir, &["CONFIGURATION_OVER_PCIE", "1"]);
    assert!(good && !said.contains("error"), "{said}");
    assert!(said.contains("clock of the core: 1"), "{said}");
    assert!(said.contains("cvp of the Verilog: 1"), "{said}");
    // Quartus's description leaves it out.
    assert!(said.contains("credits are shown: true"), "{said}");
    for step in STEPS {
        assert_eq!(
            said.matches(&format!("step {step}\n")).count(),
            1,
            "{step}: {said}"
        );
    }
    assert!(said.contains("port reconfig_clk_locked fixedclk_locked fixedclk_locked Output 1"));
    assert!(said.contains("declared in board"), "{said}");
    // For synthesis and simulation.
    assert_eq!(
        said.matches("file altpcie_rs_serdes.v").count(),
        2,
        "{said}"
    );
    assert_eq!(
        said.matches("transceivers S5 ALL_HDL PLAIN").count(),
        2,
        "{said}"
    );
    let (good, said) = run(&dir, &["CONFIGURATION_OVER_PCIE", "0"]);
    assert!(good && said.contains("cvp of the Verilog: 0"), "{said}");
}

/// Later versions have a step for the Verilog, which names the files relative to Quartus's component and asks for the
/// environment, and constraints in separate files: those of `altera_pcie_avgz_hip_ast` 18.1 and the files that 16.0
/// generated (`maccoymerrell/Rowhammer_StratixV_FPGA`, `pcie_hip_avmm/synthesis/submodules`).
#[test]
fn a_later_quartus_brings_its_own_files() {
    let dir = tempfile::tempdir().unwrap();
    quartus(dir.path());
    let hip = dir
        .path()
        .join("ip/altera/altera_pcie/altera_pcie_sv_hip_ast");
    let beside = dir.path().join("ip/altera/altera_pcie/altera_pcie_tlp");
    fs::create_dir_all(&beside).unwrap();
    let more = fs::read_to_string(hip.join("more.tcl")).unwrap();
    let steps = r#"
proc add_quartus_sv_ast_common_fileset {} {
    puts "environment [get_parameter_value design_environment_hwtcl]"
    add_fileset_file altpcie_sv_hip_ast_hwtcl.v VERILOG PATH ../altera_pcie_sv_hip_ast/altpcie_sv_hip_ast_hwtcl.v
    add_fileset_file altpcie_hip_eq_dprio.v VERILOG PATH altpcie_hip_eq_dprio.v
    add_fileset_file altpcie_tlp_inspector.v VERILOG PATH ../altera_pcie_tlp/altpcie_tlp_inspector.v {MENTOR_SPECIFIC}
}
proc add_simverilog_sv_ast_common_fileset {} { add_quartus_sv_ast_common_fileset }
"#;
    fs::write(hip.join("more.tcl"), more + steps).unwrap();
    let parameters = fs::read_to_string(hip.join("pcie_sv_parameters.tcl")).unwrap();
    let new = "proc add_pcie_hip_parameters_ui_system_settings {} {\n    add_parameter hip_hard_reset_hwtcl integer 0\n    \
               add_parameter enable_pcisigtest_hwtcl integer 0\n    \
               add_parameter enable_power_on_rst_pulse_hwtcl integer 0\n";
    let old = "proc add_pcie_hip_parameters_ui_system_settings {} {\n";
    fs::write(
        hip.join("pcie_sv_parameters.tcl"),
        parameters.replace(old, new),
    )
    .unwrap();
    for file in [
        "altpcie_hip_eq_dprio.v",
        "../altera_pcie_tlp/altpcie_tlp_inspector.v",
    ] {
        fs::write(hip.join(file), "").unwrap();
    }
    for end in [
        "pipen1b",
        "rs_serdes",
        "enable_power_on_rst_pulse",
        "enable_pcisigtest",
    ] {
        fs::write(hip.join(format!("altera_pcie_sv_hip_ast_{end}.sdc")), "").unwrap();
    }
    let constraints = |said: &str| -> Vec<String> {
        let lines = said
            .lines()
            .filter_map(|line| line.strip_prefix("file altera_pcie_sv_hip_ast_"));
        lines
            .map(|name| name.trim_end_matches(".sdc").to_string())
            .collect()
    };
    let (good, said) = run(&dir, &[]);
    assert!(good, "{said}");
    assert_eq!(said.matches("environment NATIVE").count(), 2, "{said}");
    for file in [
        "altpcie_sv_hip_ast_hwtcl.v",
        "altpcie_hip_eq_dprio.v",
        "altpcie_tlp_inspector.v",
    ] {
        assert_eq!(
            said.matches(&format!("file {file}\n")).count(),
            2,
            "{file}: {said}"
        );
    }
    // Only the step determines the files.
    assert!(!said.contains("file altpcie_rs_hip.v"), "{said}");
    assert_eq!(constraints(&said), ["pipen1b", "rs_serdes"]);
    let (_, said) = run(
        &dir,
        &[
            "enable_power_on_rst_pulse_hwtcl",
            "1",
            "enable_pcisigtest_hwtcl",
            "1",
        ],
    );
    assert_eq!(
        constraints(&said),
        [
            "pipen1b",
            "enable_pcisigtest",
            "rs_serdes",
            "enable_power_on_rst_pulse"
        ]
    );
    let (_, said) = run(
        &dir,
        &[
            "enable_power_on_rst_pulse_hwtcl",
            "1",
            "hip_hard_reset_hwtcl",
            "1",
        ],
    );
    assert_eq!(constraints(&said), ["pipen1b"]);
    // A missing file that the step names stops it with a message.
    fs::remove_file(hip.join("altpcie_hip_eq_dprio.v")).unwrap();
    let (good, said) = run(&dir, &[]);
    assert!(
        !good && said.contains("altpcie_hip_eq_dprio.v is not there"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_is_told() {
    let dir = tempfile::tempdir().unwrap();
    quartus(dir.path());
    let gen_3 = ["gen123_lane_rate_mode_hwtcl", "Gen3 (8.0 Gbps)"];
    let (_, said) = run(
        &dir,
        &[&gen_3[..], &["CONFIGURATION_OVER_PCIE", "1"]].concat(),
    );
    assert!(
        said.contains("error: There is no configuration over PCIe at Gen3"),
        "{said}"
    );
    let (_, said) = run(&dir, &gen_3);
    assert!(!said.contains("error"), "{said}");
    // Another version of Quartus.
    let hip = dir
        .path()
        .join("ip/altera/altera_pcie/altera_pcie_sv_hip_ast");
    let more = hip.join("more.tcl");
    let text = fs::read_to_string(&more).unwrap();
    fs::write(&more, text.replace("add_pcie_hip_port_lmi", "add_lmi")).unwrap();
    let (good, said) = run(&dir, &[]);
    assert!(
        !good && said.contains("has no add_pcie_hip_port_lmi"),
        "{said}"
    );
    fs::remove_file(hip.join("pcie_sv_port.tcl")).unwrap();
    let (good, said) = run(&dir, &[]);
    assert!(
        !good && said.contains("pcie_sv_port.tcl does not exist"),
        "{said}"
    );
}
