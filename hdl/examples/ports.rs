//! Prints the ports of the default block, and the additional ports of other builds, as Markdown: `cargo run -p
//! peerlane-hdl --example ports`.

use peerlane_hdl::{Irq, ModulePort, Params, Port, TOP, generate};
use peerlane_verilog::Direction;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let plain = Params::default();
    let ports = generate(&plain)?.ports;
    println!("# Ports of the block\n");
    println!(
        "The module is `{TOP}`. The part of a name before the last `_` is the name of the interface. Widths are \
         those of the default build:\n\n```text\n{}\n```\n",
        plain.canonical()
    );
    table(&ports);
    let others = [
        (
            "With an MSI-X table",
            "`irq = \"msix\"`",
            Params {
                irq: Irq::Msix,
                ..plain
            },
        ),
        (
            "With tagged streams for the PCIe port",
            "`port = \"stream\"`",
            Params {
                port: Port::Stream,
                ..plain
            },
        ),
        (
            "With the transaction layer",
            "`port = \"tlp\"`",
            Params {
                port: Port::Tlp,
                ..plain
            },
        ),
    ];
    for (title, key, params) in others {
        let more = generate(&params)?.ports;
        let is_new = |port: &&ModulePort| ports.iter().all(|plain| plain.name != port.name);
        println!("\n## {title}\n\nA build with {key} also has these ports.\n");
        table(&more.iter().filter(is_new).cloned().collect::<Vec<_>>());
    }
    Ok(())
}

fn table(ports: &[ModulePort]) {
    println!("| Port | Direction | Bits | |\n|---|---|---:|---|");
    for port in ports {
        let direction = match port.direction {
            Direction::Input => "in",
            Direction::Output => "out",
        };
        let doc = port.doc.join(" ").replace('|', "\\|");
        println!("| `{}` | {direction} | {} | {doc} |", port.name, port.width);
    }
}
