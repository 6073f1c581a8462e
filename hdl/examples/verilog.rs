//! Writes the Verilog of a build: `cargo run -p peerlane-hdl --example verilog -- DIR [JSON]`, where
//! JSON has the parameters that differ from the default, as in `{"channels":1}`.

use std::{error::Error, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = PathBuf::from(arguments.next().ok_or("usage: verilog DIR [JSON]")?);
    let params = serde_json::from_str(&arguments.next().unwrap_or_else(|| "{}".to_owned()))?;
    fs::create_dir_all(&directory)?;
    for module in peerlane_hdl::generate(&params)?.modules {
        let file = directory.join(format!("{}.v", module.name));
        fs::write(&file, module.verilog)?;
        println!("{}", file.display());
    }
    Ok(())
}
