//! The vendor's compiled files come into a project in many ways: each is removed from the copy, or refused.

use std::fs;

use crate::common::{self, Work, expect, reference_net, told};
use peerlane_bsp::error::ErrorKind;

const SECTION: &str = "system_acl_iface:acl_iface";
const QXP: &str = "scripts/board_post_fit.qxp";
const FRAGMENT: &str = "SOURCE_TCL_SCRIPT_FILE iface/peerlane/peerlane.qsf";

fn net() -> Work {
    Work::of(&reference_net())
}

/// Returns the assignments of a partition that is imported.
fn partition(file: &str) -> String {
    format!(
        "set_global_assignment -name PARTITION_NETLIST_TYPE POST_FIT -section_id \"{SECTION}\"\n\
         set_global_assignment -name PARTITION_IMPORT_FILE {file} -section_id \"{SECTION}\"\n"
    )
}

/// Makes the reference BSP with a compiled partition.
fn with_partition() -> Work {
    let work = Work::new();
    work.put(QXP, "compiled");
    work.put("scripts/partitions.tcl", &partition(QXP));
    work
}

/// Checks that no file of the output imports, and that the file is not in it.
fn is_out(work: &Work, files: &[&str], compiled: &str) {
    let report = work.sound("");
    for file in files {
        let text = work.made(file);
        for name in ["IMPORT_FILE", "INPUT_PERSONA", "QXP_FILE", "POST_FIT"] {
            assert!(!text.contains(name), "{file}: {text}");
        }
    }
    assert!(!work.output(compiled).exists(), "{compiled} is in the copy");
    let script = work.made("scripts/peerlane/rebuild.tcl");
    assert!(script.contains(compiled), "{script}");
    let says = |n: &&String| n.contains("These imports were removed: ") && n.contains(compiled);
    assert_eq!(
        told(&report).filter(says).count(),
        1,
        "{:?}",
        told(&report).collect::<Vec<_>>()
    );
}

#[test]
fn tcl_that_is_taken_in_by_a_name_that_is_put_together() {
    for line in [
        "set here [file dirname [info script]]\nsource $here/scripts/partitions.tcl",
        "source [file join scripts partitions.tcl]",
        "set_global_assignment -name SOURCE_TCL_SCRIPT_FILE \"$::quartus(project_dir)/scripts/partitions.tcl\"",
        "set dir scripts\nsource \"${dir}/partitions.tcl\"",
        "source $::env(PWD)/scripts/partitions.tcl",
        "source $::env(WHO_KNOWS)/scripts/partitions.tcl",
        "foreach f {partitions} { source scripts/$f.tcl }",
    ] {
        let work = with_partition();
        work.append("top.qsf", &format!("{line}\n"));
        is_out(&work, &["top.qsf", "scripts/partitions.tcl"], QXP);
    }
}

#[test]
fn tcl_of_any_name_and_ip_files() {
    for (name, line) in [
        (
            "scripts/partitions.qsf",
            "set_global_assignment -name SOURCE_TCL_SCRIPT_FILE",
        ),
        (
            "scripts/PART.TCL",
            "set_global_assignment -name SOURCE_TCL_SCRIPT_FILE",
        ),
        ("scripts/settings", "source"),
        ("shell/shell.qip", "set_global_assignment -name QIP_FILE"),
    ] {
        let work = with_partition();
        work.rename("scripts/partitions.tcl", name);
        work.append("top.qsf", &format!("{line} {name}\n"));
        is_out(&work, &[name], QXP);
    }
}

#[test]
fn settings_and_partition_in_the_platforms_directory() {
    let work = Work::new();
    work.put("../../common/shell.qxp", "compiled");
    work.put(
        "../../common/partitions.tcl",
        &partition("../../common/shell.qxp"),
    );
    work.append("top.qsf", "source ../../common/partitions.tcl\n");
    work.sound("");
    let text = fs::read_to_string(work.out.join("common/partitions.tcl")).unwrap();
    assert!(!text.contains("IMPORT_FILE"), "{text}");
    assert!(!work.out.join("common/shell.qxp").exists());
    // A script outside the platform cannot be changed.
    let alone = Work::new();
    alone.put(
        "../../common/partitions.tcl",
        &partition("../../common/shell.qxp"),
    );
    alone.append("top.qsf", "source ../../common/partitions.tcl\n");
    let config = peerlane_bsp::config::Config::default();
    let error = common::extend_to(&alone.input(""), &alone.out, config, None).unwrap_err();
    expect(
        &error,
        ErrorKind::Unsupported,
        &["outside the given BSP", "top.qsf:"],
    );
}

#[test]
fn what_cannot_be_read_is_refused_with_its_line() {
    let lines = fs::read_to_string(Work::new().input("top.qsf"))
        .unwrap()
        .lines()
        .count();
    for (line, words) in [
        (
            "source [lindex $quartus(args) 1]\n",
            "name cannot be determined",
        ),
        (
            "set_global_assignment -name SOURCE_TCL_SCRIPT_FILE $more\n",
            "name cannot be determined",
        ),
        (
            "foreach {n v} {PARTITION_NETLIST_TYPE POST_FIT PARTITION_IMPORT_FILE p.qxp} { set_global_assignment \
             -name $n $v -section_id s }\n",
            "PARTITION_IMPORT_FILE is assigned by a composed name",
        ),
        (
            "set_global_assignment -name $name $value\n",
            "whose name cannot be determined",
        ),
    ] {
        let work = Work::new();
        work.append("top.qsf", line);
        let error = work.refused("");
        expect(
            &error,
            ErrorKind::Unsupported,
            &[words, &format!("top.qsf:{}", lines + 1)],
        );
    }
    // A loop over other assignments concerns only the vendor.
    let work = Work::new();
    work.append(
        "top.qsf",
        "foreach {n v} {OPTIMIZATION_MODE BALANCED SEED 3} { set_global_assignment -name $n $v }\n",
    );
    work.sound("");
}

#[test]
fn the_name_of_the_compiled_file() {
    let import = "set_global_assignment -name PARTITION_IMPORT_FILE";
    // By a variable, by the argument of a procedure, not at all, and with the command's namespace.
    for lines in [
        format!(
            "set qxp my_shell.qxp\n{import} $qxp -section_id {SECTION}\nset_global_assignment -name QXP_FILE $qxp\n"
        ),
        format!(
            "proc take {{file}} {{ {import} $file -section_id {SECTION} }}\ntake my_shell.qxp\n"
        ),
        format!("{import} [newest] -section_id {SECTION}\n"),
        format!("::quartus::project::{import} my_shell.qxp -section_id {SECTION}\n"),
    ] {
        let work = Work::new();
        work.put("my_shell.qxp", "compiled");
        work.append("top.qsf", &lines);
        is_out(&work, &["top.qsf"], "my_shell.qxp");
    }
    let work = Work::new();
    work.put("my_shell.qxp", "compiled");
    work.put("other.qxp", "compiled");
    work.append("top.qsf", &format!("{import} [newest] -section_id s\n"));
    let error = work.refused("");
    expect(
        &error,
        ErrorKind::Unsupported,
        &["my_shell.qxp", "other.qxp", "top.qsf:"],
    );
}

#[test]
fn every_revision_is_looked_at() {
    let persona = "persona/base.root_partition.personax";
    // The revisions in the project file, and their spelling, do not matter.
    for projects in [
        vec![("top.qpf", "PROJECT_REVISION = \"base\"\n")],
        vec![("top.qpf", "PROJECT_REVISION = \"top\"\n")],
        vec![(
            "top.qpf",
            "PROJECT_REVISION\t=\t\"base\"\r\nPROJECT_REVISION = \"top\"   # kernels\r\n",
        )],
        vec![
            ("aaa.qpf", "PROJECT_REVISION = \"flat\"\n"),
            ("top.qpf", "PROJECT_REVISION = \"base\"\n"),
        ],
    ] {
        let work = net();
        for (file, text) in &projects {
            work.put(file, text);
        }
        is_out(&work, &["top.qsf", "base.qsf"], persona);
        for revision in ["base.qsf", "top.qsf"] {
            assert_eq!(
                work.made(revision).matches(FRAGMENT).count(),
                1,
                "{projects:?}"
            );
        }
        let script = work.made("scripts/peerlane/rebuild.tcl");
        assert!(
            script.contains("set project top\n"),
            "{projects:?}: {script}"
        );
    }
    // A revision that only a command names, and one whose file ending is in capitals.
    let work = net();
    fs::copy(work.input("top.qsf"), work.input("kernel_flow.qsf")).unwrap();
    work.edit(
        "board_spec.xml",
        "compile top -c top",
        "compile top -c kernel_flow",
    );
    is_out(&work, &["top.qsf", "kernel_flow.qsf"], persona);
    let work = net();
    work.rename("top.qsf", "top.QSF");
    is_out(&work, &["top.QSF"], persona);
}

#[test]
fn a_revision_without_settings_is_said() {
    let work = net();
    work.edit("top.qsf", "BASE_REVISION base", "BASE_REVISION old_base");
    let report = work.sound("");
    let says = |n: &&String| n.contains("old_base.qsf") && n.starts_with("top.qsf:");
    assert_eq!(
        told(&report).filter(says).count(),
        1,
        "{:?}",
        told(&report).collect::<Vec<_>>()
    );
}

/// The import of a CvP project in Tcl that is found by the working directory.
#[test]
fn a_persona_that_sourced_tcl_imports() {
    let work = net();
    let import = "set_global_assignment -name INPUT_PERSONA persona/base.root_partition.personax -section_id Top\n";
    work.edit("top.qsf", import, "source $::env(PWD)/cvp.tcl\n");
    work.put("cvp.tcl", import);
    is_out(
        &work,
        &["top.qsf", "cvp.tcl"],
        "persona/base.root_partition.personax",
    );
}

#[test]
fn the_fragment_is_taken_in_once_and_always() {
    // Settings that include another revision's get the fragment from there.
    let work = net();
    work.put(
        "top.qsf",
        "set_global_assignment -name SOURCE_TCL_SCRIPT_FILE base.qsf\n",
    );
    work.sound("");
    assert!(!work.made("top.qsf").contains(FRAGMENT));
    assert!(work.made("base.qsf").contains(FRAGMENT));
    // Constraints in a body that may not run.
    let line = "set_global_assignment -name SDC_FILE top.sdc\n";
    let work = Work::new();
    work.edit(
        "top.qsf",
        line,
        &format!("if {{![info exists ::flat]}} {{\n  {line}}}\n"),
    );
    work.sound("");
    let text = work.made("top.qsf");
    assert!(
        text.contains(&format!("}}\nset_global_assignment -name {FRAGMENT}\n")),
        "{text}"
    );
    // Constraints that come from another file.
    let work = Work::new();
    let other = "set_global_assignment -name SOURCE_TCL_SCRIPT_FILE sdc.tcl\n";
    work.edit(
        "top.qsf",
        line,
        &format!("{other}# installed in C:\\altera\\13.1\\\n"),
    );
    work.put("sdc.tcl", line);
    work.sound("");
    let text = work.made("top.qsf");
    assert!(
        text.contains(&format!(
            "sdc.tcl\nset_global_assignment -name {FRAGMENT}\n#"
        )),
        "{text}"
    );
    // A comment that a backslash continues over the end of the file.
    let work = Work::new();
    work.edit("top.qsf", line, "# installed in C:\\altera\\13.1\\\n");
    work.sound("");
    let text = work.made("top.qsf");
    assert!(
        text.ends_with(&format!(
            "13.1\\\n\nset_global_assignment -name {FRAGMENT}\n"
        )),
        "{text}"
    );
}

/// The use of an import's name in a step decides: the step waits, or is noted.
#[test]
fn steps_wait_where_they_can() {
    let wait = "if {[file exists scripts/peerlane/imports_on]} { ";
    let option = "--incremental_compilation_import";
    let same = |lines: String| (lines.clone(), lines);
    for (lines, want) in [
        (
            format!(
                "set cmd [list quartus_cdb top {option}=on]\nif {{[catch {{exec {{*}}$cmd}} why]}} {{ exit 2 }}\n"
            ),
            format!(
                "set cmd [list quartus_cdb top {option}=on]\n\
                 if {{[catch {{{wait}exec {{*}}$cmd }}}} why]}} {{ exit 2 }}\n"
            ),
        ),
        same(format!(
            "if {{[lsearch $quartus(args) {option}] >= 0}} {{ puts importing }}\n"
        )),
        same(format!(
            "if {{[string match \"*{option}*\" $quartus(args)]}} {{ puts importing }}\n"
        )),
        (
            format!(
                "proc step {{args}} {{ qexec $args }}\nstep quartus_cdb top {option}=on\nstep quartus_sh hello\n"
            ),
            format!(
                "proc step {{args}} {{ qexec $args }}\n{wait}step quartus_cdb top {option}=on }}\n\
                 step quartus_sh hello\n"
            ),
        ),
    ] {
        let work = Work::new();
        work.append("scripts/post_flow.tcl", &lines);
        let report = work.sound("");
        let text = work.made("scripts/post_flow.tcl");
        assert!(text.ends_with(&want), "{text}");
        let said = |n: &&String| n.contains("post_flow.tcl:") && n.contains("names an import");
        assert_eq!(
            told(&report).filter(said).count(),
            1,
            "{:?}",
            told(&report).collect::<Vec<_>>()
        );
    }
}

#[test]
fn archives_and_compiled_designs() {
    let work = net();
    work.append(
        "scripts/pre_flow.tcl",
        "if {[file exists base.qar]} { project_restore base.qar -overwrite }\n\
         qexec \"quartus_cdb top -c top --import_design --file base.qdb --overwrite\"\n",
    );
    for file in ["base.qar", "base.qdb", "mine.qar"] {
        work.put(file, "compiled");
    }
    work.sound("");
    let text = work.made("scripts/pre_flow.tcl");
    let wait = "if {[file exists scripts/peerlane/imports_on]} { ";
    assert!(
        text.contains(&format!("{{ {wait}project_restore base.qar -overwrite }}")),
        "{text}"
    );
    assert!(
        text.contains(&format!(
            "{wait}qexec \"quartus_cdb top -c top --import_design"
        )),
        "{text}"
    );
    assert!(!work.output("base.qar").exists() && !work.output("base.qdb").exists());
    assert!(work.output("mine.qar").exists(), "nothing takes it");
}

#[test]
fn scripts_of_a_shell() {
    let spoil = |name: &str, line: &str| {
        let work = net();
        let command = "quartus_sh --flow compile top -c top";
        work.edit("board_spec.xml", command, &format!("sh scripts/{name}"));
        let on = "project_open top -revision top\n\
                  set_global_assignment -name PARTITION_IMPORT_FILE board_post_fit.qxp -section_id Top\n";
        work.put("scripts/on.tcl", on);
        work.put("board_post_fit.qxp", "compiled");
        let script = format!("{line}\n{command}\nquartus_sh -t scripts/on.tcl\n");
        work.put(&format!("scripts/{name}"), &script);
        work
    };
    let step = "quartus_cdb top -c top --incremental_compilation_import=board_post_fit.qxp";
    let work = spoil("compile.sh", step);
    work.sound("");
    let text = work.made("scripts/compile.sh");
    assert!(
        text.starts_with(&format!("[ ! -e scripts/peerlane/imports_on ] || {step}\n")),
        "{text}"
    );
    assert_eq!(
        work.made("scripts/on.tcl"),
        "project_open top -revision top\n"
    );
    assert!(!work.output("board_post_fit.qxp").exists());
    for (name, line) in [
        ("compile.bat", step),
        (
            "compile.sh",
            "if quartus_cdb --import_design x; then echo; fi",
        ),
    ] {
        let error = spoil(name, line).refused("");
        expect(
            &error,
            ErrorKind::Unsupported,
            &[&format!("{name}:1"), "cannot be changed safely"],
        );
    }
}

#[test]
fn a_command_that_imports_is_refused() {
    let work = net();
    let command = "quartus_sh --flow compile top -c top";
    work.edit(
        "board_spec.xml",
        command,
        "quartus_cdb top --incremental_compilation_import=on",
    );
    let error = work.refused("");
    expect(
        &error,
        ErrorKind::Unsupported,
        &["board_spec.xml:", "imports the vendor's compiled files"],
    );
}

/// A path into the vendor's own tree: the copy would include the vendor's file, with the import in it.
#[test]
fn absolute_paths_into_the_vendors_tree() {
    let work = with_partition();
    let path = work.input("scripts/partitions.tcl");
    work.append("top.qsf", &format!("source {}\n", path.display()));
    let error = work.refused("");
    expect(
        &error,
        ErrorKind::Unsupported,
        &["not be in the copy", "top.qsf:"],
    );
    let work = Work::new();
    let path = work.input("iface");
    work.append(
        "top.qsf",
        &format!(
            "set_global_assignment -name SEARCH_PATH {}\n",
            path.display()
        ),
    );
    let error = work.refused("");
    expect(
        &error,
        ErrorKind::Unsupported,
        &["search path", "leads into the given BSP"],
    );
}

/// The last search looks for words alone, in all files.
#[test]
fn names_of_imports_that_stay_are_said() {
    let work = net();
    let line = "set_global_assignment -name PARTITION_IMPORT_FILE p.qxp -section_id Top\n";
    work.put(
        "tools/by_hand.tcl",
        &format!("# PARTITION_IMPORT_FILE\n{line}"),
    );
    let report = work.sound("");
    let says = |n: &&String| {
        n.contains("tools/by_hand.tcl:2") && n.contains("still have the name of an import")
    };
    assert_eq!(
        told(&report).filter(says).count(),
        1,
        "{:?}",
        told(&report).collect::<Vec<_>>()
    );
    // A step with an unknown script may run that file.
    work.append("scripts/pre_flow.tcl", "source [lindex $quartus(args) 3]\n");
    fs::remove_dir_all(&work.out).unwrap();
    let error = work.refused("");
    expect(
        &error,
        ErrorKind::Unsupported,
        &["pre_flow.tcl:", "tools/by_hand.tcl"],
    );
}

/// An import of Quartus Prime Pro names its partition by `-to`, and the script does not handle it.
#[test]
fn an_import_of_quartus_prime_pro() {
    let work = Work::new();
    work.put("base.qdb", "compiled");
    work.append(
        "top.qsf",
        "set_instance_assignment -name QDB_FILE_PARTITION base.qdb -to |\n",
    );
    let report = work.sound("");
    assert!(!work.made("top.qsf").contains("QDB_FILE_PARTITION"));
    assert!(
        !work.output("base.qdb").exists() && !work.output("scripts/peerlane/rebuild.tcl").exists()
    );
    let says = |n: &&String| {
        n.contains("QDB_FILE_PARTITION base.qdb was removed") && n.contains("partition |")
    };
    assert_eq!(
        told(&report).filter(says).count(),
        1,
        "{:?}",
        told(&report).collect::<Vec<_>>()
    );
}

#[test]
fn a_directory_of_sources_called_db_stays_and_compiled_files_go_everywhere() {
    let work = net();
    for file in ["net_flash.v", "flash_hw.tcl"] {
        work.rename(&format!("ip/flash/{file}"), &format!("ip/db/{file}"));
    }
    work.put("ip/sensors/db/x.cdb", "record");
    work.put("db/x.v", "record");
    work.put("../../bringup/diagnostic.aocx", "compiled");
    work.sound("");
    assert!(work.output("ip/db/flash_hw.tcl").exists());
    assert!(!work.output("ip/sensors/db").exists() && !work.output("db").exists());
    assert!(!work.out.join("bringup/diagnostic.aocx").exists());
}
