//! The maps as tables.

use crate::diagram::{Diagram, State};
use crate::size::size;

/// A table: its title, the headings of its columns, and its rows with the effect of the extension on each.
pub(super) struct Table {
    pub(super) title: String,
    pub(super) columns: Vec<&'static str>,
    pub(super) rows: Vec<(Vec<String>, State)>,
}

/// Makes all tables of a diagram.
pub(super) fn of(diagram: &Diagram) -> Vec<Table> {
    let mut tables = Vec::new();
    let mut masters: Vec<&str> = diagram
        .addresses
        .iter()
        .map(|a| a.master.as_str())
        .collect();
    masters.dedup();
    for master in masters {
        let ours = diagram.addresses.iter().filter(|a| a.master == master);
        let rows = ours.map(|a| {
            let about = if a.assumed { "≤ " } else { "" };
            let row = [
                format!("{:#x}", a.base),
                format!("{about}{}", bytes(a.bytes)),
                a.slave.clone(),
                a.kind.clone(),
            ];
            (row.into(), a.state)
        });
        tables.push(Table {
            title: format!("Addresses of {master}"),
            columns: vec!["address", "size", "slave", "kind"],
            rows: rows.collect(),
        });
    }
    let interrupts = diagram.interrupts.iter().map(|i| {
        let row = [i.receiver.clone(), i.number.clone(), i.sender.clone()];
        (row.into(), i.state)
    });
    tables.push(Table {
        title: "Interrupts".into(),
        columns: vec!["receiver", "number", "sender"],
        rows: interrupts.collect(),
    });
    let clocks = diagram.clocks.iter().flat_map(|clock| {
        let sinks = clock.sinks.iter();
        sinks.map(|(sink, state)| (vec![clock.source.clone(), sink.clone()], *state))
    });
    tables.push(Table {
        title: "Clocks".into(),
        columns: vec!["clock", "drives"],
        rows: clocks.collect(),
    });
    if !diagram.streams.is_empty() {
        let streams = diagram.streams.iter().map(|stream| {
            let row = [
                stream.name.clone(),
                stream.interface.clone(),
                stream.direction.into(),
                stream.bits.to_string(),
                if stream.channel { "channel" } else { "ports" }.into(),
            ];
            (row.into(), State::New)
        });
        tables.push(Table {
            title: "Streams".into(),
            columns: vec!["stream", "interface", "direction", "bits", "connection"],
            rows: streams.collect(),
        });
    }
    tables
}

/// Formats a size; a whole 64-bit address space has one byte more than a `u64` can hold.
fn bytes(bytes: u64) -> String {
    match bytes {
        u64::MAX => "2⁶⁴ B".into(),
        bytes => size(bytes),
    }
}

impl Table {
    /// Formats the table for a terminal.
    pub(super) fn text(&self) -> String {
        let mut widths: Vec<usize> = self.columns.iter().map(|c| c.len()).collect();
        for (row, _) in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let line = |cells: &[String], state: &str| {
            let cells = cells.iter().zip(&widths);
            let cells = cells.map(|(cell, width)| format!("{cell:width$}"));
            let line = cells.collect::<Vec<_>>().join("  ");
            format!("  {line}  {state}").trim_end().to_string() + "\n"
        };
        let names: Vec<String> = self.columns.iter().map(|c| c.to_string()).collect();
        let rows = self.rows.iter().map(|(row, state)| line(row, state.word()));
        let rows: String = rows.collect();
        format!("\n{}\n{}{rows}", self.title, line(&names, ""))
    }
}
