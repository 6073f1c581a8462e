//! The default build through Yosys.

use std::{fs, path::Path};

use peerlane_hdl::{Params, TOP, generate};
use peerlane_tools::Yosys;

/// Writes the Verilog of the default build into `directory`, runs `synthesis` (`-top` is added) on it
/// there, and then `after`.
pub(crate) fn synthesise(yosys: &Yosys, directory: &Path, synthesis: &str, after: &str) {
    let mut files = String::new();
    for module in generate(&Params::default()).unwrap().modules {
        let file = format!("{}.v", module.name);
        fs::write(directory.join(&file), module.verilog).unwrap();
        files += &file;
        files.push(' ');
    }
    // `MLAB` in a memory's style is Quartus's word; to Yosys it is a style that no RAM has.
    let script = format!(
        "read_verilog {files}; hierarchy -check -top {TOP}; proc; \
         setattr -set ramstyle \"no_rw_check\" m:*; {synthesis} -top {TOP}; {after}"
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
