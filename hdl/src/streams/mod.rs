//! Streams between the FPGA's logic and peers: a source of the engine's write descriptors, as FPGA memory is.
//!
//! Data flow: the logic's words, in the logic's clock → [`pack`] → a FIFO between the clocks → [`input`], which knows
//! how much waits and where blocks end → [`inflow`], which brings the beats of all requests in their order → the
//! write path of the engine. A build has a [`pack`] and an [`input`] for each stream, as one part, and one [`inflow`].
//!
//! The request maker asks how much waits in the stream of the descriptor that it serves. A request leaves when the
//! stream has all of its bytes, so no channel waits in the engine for the data of another.

pub mod inflow;
pub mod input;
pub mod pack;

use crate::error::GenerateError;
use crate::params::{Params, Stream};
use inflow::Inflow;
use input::Input;
use peerlane_language::*;
use peerlane_verilog::{Design, Part, emit};

/// Outputs that all streams drive; the one that is meant drives other values than 0.
const GATHERED: &[&str] = &[
    "unit_open",
    "unit_waiting",
    "unit_granted",
    "unit_held",
    "unit_sealed",
    "unit_wake",
    "unit_given",
    "unit_data",
    "unit_header",
];

/// Returns the parts of a build that make its streams.
pub(crate) fn parts(params: &Params, header: &str) -> Result<Vec<Part>, GenerateError> {
    let mut parts = vec![match params.port_bits {
        128 => inflow::<128>(params, header)?,
        _ => inflow::<256>(params, header)?,
    }];
    for (number, stream) in params.streams.iter().enumerate() {
        let design = match (params.port_bits, stream.bits) {
            (128, 64) => input::<64, 128, 138, 128, 16>(stream, header),
            (128, 128) => input::<128, 128, 138, 128, 16>(stream, header),
            (128, 256) => input::<256, 256, 266, 128, 16>(stream, header),
            (128, _) => input::<512, 512, 522, 128, 16>(stream, header),
            (_, 64) => input::<64, 256, 266, 256, 32>(stream, header),
            (_, 128) => input::<128, 256, 266, 256, 32>(stream, header),
            (_, 256) => input::<256, 256, 266, 256, 32>(stream, header),
            (_, _) => input::<512, 512, 522, 256, 32>(stream, header),
        }?;
        let own = design.ports.iter().filter_map(|port| {
            let rest = port.name.strip_prefix("logic_")?;
            Some((port.name.clone(), format!("stream{number}_{rest}")))
        });
        parts.push(Part {
            instance: format!("peerlane_input_{number}"),
            renamed: own.collect(),
            fixed: vec![("id".to_owned(), format!("4'd{number}"))],
            gathered: GATHERED,
            ..Part::from(design)
        });
    }
    Ok(parts)
}

fn inflow<const W: usize>(params: &Params, header: &str) -> Result<Part, GenerateError> {
    let mut inflow = Inflow::<W>::new(params.streams.len());
    inflow.connect_all();
    Ok(emit("peerlane_inflow", &inflow, header)?.into())
}

fn input<const U: usize, const F: usize, const G: usize, const W: usize, const B: usize>(
    stream: &Stream,
    header: &str,
) -> Result<Design, GenerateError> {
    let mut input = Input::<U, F, G, W, B>::new(stream.packets, stream.lossy);
    input.connect_all();
    let name = format!(
        "peerlane_input_{U}{}{}",
        if stream.packets { "_packets" } else { "" },
        if stream.lossy { "_lossy" } else { "" }
    );
    Ok(emit(&name, &input, header)?)
}
