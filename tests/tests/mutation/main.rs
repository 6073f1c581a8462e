use peerlane_hdl::{Params, Port, generate};
use peerlane_verilog::mutants::find;
#[test]
fn list() {
    for params in [
        Params::default(),
        Params {
            port: Port::Tlp,
            port_bits: 256,
            reads_log2: 6,
            receive_log2: 12,
            ..Params::default()
        },
    ] {
        for m in generate(&params).unwrap().modules {
            println!(
                "{} {} {}",
                m.name,
                m.verilog.lines().count(),
                find(&m.name, &m.verilog).len()
            );
        }
    }
}
