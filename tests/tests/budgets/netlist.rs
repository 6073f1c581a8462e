//! A design through Yosys.

use std::{fs, path::Path};

use peerlane_hdl::Design;
use peerlane_tools::Yosys;

/// Writes the Verilog of a design into `directory`, runs `synthesis` (`-top` is added) on it
/// there, and then `after`.
pub(crate) fn synthesise(
    yosys: &Yosys,
    directory: &Path,
    design: &Design,
    synthesis: &str,
    after: &str,
) {
    let top = &design.top().name;
    let mut files = String::new();
    for module in &design.modules {
        let file = format!("{}.v", module.name);
        fs::write(directory.join(&file), &module.verilog).unwrap();
        files += &file;
        files.push(' ');
    }
    // `MLAB` in a memory's style is Quartus's word; to Yosys it is a style that no RAM has.
    let script = format!(
        "read_verilog {files}; hierarchy -check -top {top}; proc; \
         setattr -set ramstyle \"no_rw_check\" m:*; {synthesis} -top {top}; {after}"
    );
    let output = yosys
        .command()
        .current_dir(directory)
        .args(["-q", "-p", &script])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
