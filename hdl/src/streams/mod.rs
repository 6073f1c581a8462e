//! Streams between the FPGA's logic and peers: sources of the engine's write descriptors and sinks of its read
//! descriptors, as FPGA memory is.
//!
//! From the logic: words in the logic's clock → [`pack`] → a FIFO between the clocks → [`input`], which knows how much
//! waits and where blocks end → [`inflow`], which brings the beats of all requests in their order → the write path of
//! the engine.
//!
//! To the logic: the read path of the engine → [`outflow`], which takes a stream's words out of those for FPGA memory →
//! [`output`], a buffer in which each request has its place → [`unpack`] → words in the logic's clock.
//!
//! The request maker asks how much waits in the stream of the descriptor that it serves, or how much room the stream
//! has. A request leaves when that is enough for it, so no channel waits in the engine for the data of another.

pub mod gate;
pub mod hub;
pub mod inflow;
pub mod input;
pub mod outflow;
pub mod output;
pub mod pack;
pub mod ports;
pub mod unpack;
pub mod waiter;

use crate::error::GenerateError;
use crate::params::{self, Params};
use inflow::Inflow;
use input::Input;
use outflow::Outflow;
use output::Output;
use peerlane_language::*;
use peerlane_verilog::{Design, Part, emit};

/// Signals that all inputs drive; the one that is meant drives other values than 0.
const FROM_INPUTS: &[&str] = &[
    "unit_in_open",
    "unit_in_waiting",
    "unit_in_granted",
    "unit_in_held",
    "unit_in_sealed",
    "unit_in_wake",
    "unit_in_given",
    "unit_in_data",
    "unit_in_header",
];

/// The same of the outputs.
const FROM_OUTPUTS: &[&str] = &[
    "unit_out_open",
    "unit_out_waiting",
    "unit_out_granted",
    "unit_out_held",
    "unit_out_wake",
    "unit_out_place",
];

/// Returns the parts of a build that make its streams from the logic.
pub(crate) fn inputs(params: &Params, header: &str) -> Result<Vec<Part>, GenerateError> {
    let mut parts = vec![match params.port_bits {
        128 => inflow::<128>(params, header)?,
        _ => inflow::<256>(params, header)?,
    }];
    for (number, stream) in params.inputs.iter().enumerate() {
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
        parts.push(stream_part("input", number, design, FROM_INPUTS));
    }
    Ok(parts)
}

/// Returns the parts of a build that make its streams to the logic.
pub(crate) fn outputs(params: &Params, header: &str) -> Result<Vec<Part>, GenerateError> {
    let mut outflow = Outflow::new(params.outputs.len());
    outflow.connect_all();
    let mut parts = vec![emit("peerlane_outflow", &outflow, header)?.into()];
    for (number, stream) in params.outputs.iter().enumerate() {
        let design = match stream.bits {
            64 => output::<64>(header),
            128 => output::<128>(header),
            256 => output::<256>(header),
            _ => output::<512>(header),
        }?;
        parts.push(stream_part("output", number, design, FROM_OUTPUTS));
    }
    Ok(parts)
}

/// Makes the part of one stream, whose ports to the logic begin with `kind` and its number.
fn stream_part(
    kind: &str,
    number: usize,
    design: Design,
    gathered: &'static [&'static str],
) -> Part {
    let own = design.ports.iter().filter_map(|port| {
        let rest = port.name.strip_prefix("logic_")?;
        Some((port.name.clone(), format!("{kind}{number}_{rest}")))
    });
    Part {
        instance: format!("peerlane_{kind}_{number}"),
        renamed: own.collect(),
        fixed: vec![("id".to_owned(), format!("4'd{number}"))],
        gathered,
        ..Part::from(design)
    }
}

fn inflow<const W: usize>(params: &Params, header: &str) -> Result<Part, GenerateError> {
    let mut inflow = Inflow::<W>::new(params.inputs.len());
    inflow.connect_all();
    Ok(emit("peerlane_inflow", &inflow, header)?.into())
}

fn input<const U: usize, const F: usize, const G: usize, const W: usize, const B: usize>(
    stream: &params::Input,
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

fn output<const U: usize>(header: &str) -> Result<Design, GenerateError> {
    let mut output = Output::<U>::default();
    output.connect_all();
    Ok(emit(&format!("peerlane_output_{U}"), &output, header)?)
}
