//! Writes the default block's Verilog into a directory: `cargo run -p peerlane-hdl --example generate -- DIR`.

use peerlane_hdl::{Params, generate};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = PathBuf::from(
        std::env::args()
            .nth(1)
            .ok_or("usage: generate DIR [PORT_BITS]")?,
    );
    let port_bits = match std::env::args().nth(2) {
        Some(bits) => bits.parse()?,
        None => 128,
    };
    std::fs::create_dir_all(&dir)?;
    let params = Params {
        port_bits,
        ..Default::default()
    };
    for module in generate(&params)?.modules {
        std::fs::write(dir.join(format!("{}.v", module.name)), module.verilog)?;
    }
    Ok(())
}
