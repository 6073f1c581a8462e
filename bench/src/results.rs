//! Rows with their numbers, and explanations of the rows below their bar.

use serde::{Serialize, Serializer};

use crate::bar::Bar;
use crate::curves::Sweep;
use crate::limits::{BRIDGE, Limit};
use crate::scenario::Variant;

/// A row's result against its bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The bar is reached.
    Pass,
    /// The bar is not reached.
    Below,
    /// The bar is not reached, and the limit is below the bar.
    LimitBelow,
    /// There is no bar.
    Reported,
}

/// The cycles of a row by their use, as parts of all of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Stalls {
    /// Cycles of `pcie_clk`.
    pub cycles: u64,
    /// A word or a command crossed the port (counted by the model).
    pub port: f64,
    /// The link towards the host was busy (the model's count).
    pub link_out: f64,
    /// The link towards the board was busy.
    pub link_in: f64,
    /// `waitrequest` held the port (STALL_TXS).
    pub txs: f64,
    /// A read waited because as many were in flight as `Txs` takes (STALL_TAGS).
    pub tags: f64,
    /// A read waited for room in the receive buffer (STALL_CREDITS).
    pub credits: f64,
    /// A write waited for data from FPGA memory (STALL_MEM_READ).
    pub mem: f64,
    /// Received data waited for FPGA memory (STALL_MEM_WRITE).
    pub mem_write: f64,
    /// Mean time of a read from `Txs` taking it to its last word, nanoseconds; 0 without reads.
    pub read_ns: f64,
}

/// A row of the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// The measured value.
    pub value: f64,
    /// Of the value and the limits.
    pub unit: &'static str,
    /// The smaller one of the link's limit and the port's; of a latency its bar,
    /// of a modelled design the published value.
    pub limit: Option<f64>,
    /// Value ÷ limit.
    pub ratio: Option<f64>,
    /// The measured quantity, in words.
    pub what: &'static str,
    /// The build of the block, by its [`Block::name`]; none of a modelled design.
    pub block: Option<&'static str>,
    /// The bar that it is to reach.
    pub bar: Option<Bar>,
    /// Whether the bar is reached.
    pub verdict: Verdict,
    /// Both limits, where there are two.
    #[serde(flatten)]
    pub limits: Option<Limit>,
    /// Where the cycles went, where the block moved data.
    pub stalls: Option<Stalls>,
    /// Remarks about the row.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Row {
    /// Makes a row, and compares it with its bar.
    pub(crate) fn new(
        scenario: &crate::Scenario,
        value: f64,
        unit: &'static str,
        limit: Option<f64>,
    ) -> Self {
        let ratio = limit.map(|limit| value / limit);
        let reaches = |ratio: Option<f64>, value: f64| match scenario.bar {
            None => true,
            Some(Bar::RatioAtLeast(bar)) => ratio.is_some_and(|ratio| ratio >= bar),
            Some(Bar::RatioWithin(bar)) => ratio.is_some_and(|ratio| (ratio - 1.0).abs() <= bar),
            Some(Bar::ValueAtLeast(bar)) => value >= bar,
            Some(Bar::ValueAtMost(bar)) => value <= bar,
        };
        let verdict = match (scenario.bar, limit) {
            (None, _) => Verdict::Reported,
            _ if reaches(ratio, value) => Verdict::Pass,
            (_, Some(limit)) if !reaches(Some(1.0), limit) => Verdict::LimitBelow,
            _ => Verdict::Below,
        };
        Self {
            name: scenario.name,
            value,
            unit,
            limit,
            ratio,
            what: scenario.what,
            block: scenario.block().map(Variant::words),
            bar: scenario.bar,
            verdict,
            limits: None,
            stalls: None,
            notes: Vec::new(),
        }
    }

    /// Adds both limits and the cycles; a row below its bar is explained by them.
    pub(crate) fn with(mut self, limits: Limit, stalls: Stalls) -> Self {
        self.limits = Some(limits);
        if matches!(self.verdict, Verdict::Below | Verdict::LimitBelow) {
            self.notes.push(explain(&stalls, limits.by == BRIDGE));
        }
        if self.verdict == Verdict::LimitBelow {
            self.notes.push(format!(
                "{} allows {:.4} {}, less than the bar",
                limits.set_by(),
                limits.smaller(),
                self.unit
            ));
        }
        self.stalls = Some(stalls);
        self
    }
}

/// Returns the line for a row below its bar: the causes from the counters, the largest first.
fn explain(stalls: &Stalls, txs: bool) -> String {
    // Below this a stall explains nothing.
    const SEEN: f64 = 0.01;
    let mut causes = vec![
        (
            stalls.tags,
            format!(
                "a read waited {}, each for {:.0} ns (STALL_TAGS)",
                if txs {
                    "because 8 reads were in flight, the limit of Txs"
                } else {
                    "for a tag, for room for its completions, or for earlier reads"
                },
                stalls.read_ns
            ),
        ),
        (
            stalls.txs,
            format!(
                "{} stalled the port: its buffer was full of writes that waited for the link \
                 (STALL_TXS)",
                if txs { "Txs" } else { "the transaction layer" }
            ),
        ),
        (
            stalls.mem,
            "a write waited for its data: FPGA memory or the request maker was too slow (STALL_MEM_READ)"
                .to_owned(),
        ),
        (
            stalls.credits,
            "a read waited for room in the receive buffer (STALL_CREDITS)".to_owned(),
        ),
        (
            stalls.mem_write,
            "received data waited for FPGA memory (STALL_MEM_WRITE)".to_owned(),
        ),
    ];
    causes.retain(|(part, _)| *part >= SEEN);
    causes.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut text = format!(
        "of {} cycles the port moved data in {:.1} %, and the link was busy in {:.1} % towards the host \
         and in {:.1} % towards the board",
        stalls.cycles,
        stalls.port * 100.0,
        stalls.link_out * 100.0,
        stalls.link_in * 100.0
    );
    for (part, cause) in &causes {
        text.push_str(&format!("; in {:.1} % {cause}", part * 100.0));
    }
    if causes.is_empty() {
        text.push_str("; no stall was counted, so the block had no request in the other cycles");
    }
    text
}

pub(crate) fn hexadecimal<S: Serializer>(id: &u32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{id:#010x}"))
}

/// A build of the block that rows were measured with.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Block {
    /// Its name in rows, [`Row::block`].
    pub name: &'static str,
    /// Its parameters, in words.
    pub build: String,
    /// Its BUILD_ID; in JSON as documents and logs have it, `"0x06b48e0d"`.
    #[serde(serialize_with = "hexadecimal")]
    pub build_id: u32,
    /// The link, in words; rows that name another round trip have that one.
    pub link: String,
}

/// All that was measured. As JSON the rows are `results`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The builds of the rows.
    pub blocks: Vec<Block>,
    /// The rows, in their order.
    #[serde(rename = "results")]
    pub rows: Vec<Row>,
    /// Rate against size, when it was asked for.
    #[serde(skip)]
    pub sweep: Option<Sweep>,
}

impl Report {
    /// Counts the rows with this result.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|r| r.verdict == verdict).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SCENARIOS;

    const STALLS: Stalls = Stalls {
        cycles: 1000,
        port: 0.2,
        link_out: 0.5,
        link_in: 0.6,
        txs: 0.004,
        tags: 0.7,
        credits: 0.0,
        mem: 0.05,
        mem_write: 0.0,
        read_ns: 1010.0,
    };

    fn row(name: &str, value: f64, limit: Limit) -> Row {
        let scenario = SCENARIOS.iter().find(|s| s.name == name).unwrap();
        Row::new(scenario, value, "u", Some(limit.smaller())).with(limit, STALLS)
    }

    #[test]
    fn a_row_at_its_bar_needs_no_explanation() {
        let limit = Limit {
            link: 100.0,
            contract: 120.0,
            by: BRIDGE,
        };
        let row = row("write.bulk", 99.0, limit);
        assert_eq!((row.verdict, row.ratio), (Verdict::Pass, Some(0.99)));
        assert!(row.notes.is_empty());
    }

    #[test]
    fn a_row_below_it_is_explained_by_the_largest_stall_first() {
        let limit = Limit {
            link: 100.0,
            contract: 120.0,
            by: BRIDGE,
        };
        let row = row("read.bulk", 98.9, limit);
        assert_eq!(row.verdict, Verdict::Below);
        let [note] = &row.notes[..] else {
            panic!("{:?}", row.notes)
        };
        let tags = note.find("in 70.0 % a read waited").unwrap();
        let mem = note.find("in 5.0 % a write waited").unwrap();
        assert!(tags < mem && !note.contains("STALL_TXS"), "{note}");
    }

    #[test]
    fn a_limit_below_the_bar_is_told_apart() {
        let limit = Limit {
            link: 0.19,
            contract: 0.038,
            by: BRIDGE,
        };
        let row = row("tlp.gen2.read.64b.rate", 0.037, limit);
        assert_eq!(row.verdict, Verdict::LimitBelow);
        assert!(row.notes[1].contains("the hard IP's bridge allows 0.0380"));
    }

    #[test]
    fn json_has_the_five_fields_of_each_row() {
        let report = Report {
            blocks: Vec::new(),
            rows: vec![Row::new(SCENARIOS.last().unwrap(), 5.0, "cycles/s", None)],
            sweep: None,
        };
        let value: serde_json::Value = serde_json::to_value(&report).unwrap();
        let row = &value["results"][0];
        assert_eq!(row["name"], "sim.rate");
        assert_eq!(row["value"], 5.0);
        assert_eq!(row["unit"], "cycles/s");
        assert!(row["limit"].is_null() && row["ratio"].is_null());
    }
}
