//! The hard IP's Avalon-ST interface, for a design that makes packets itself: [`crate::hip`], with the board's link and
//! bus.

use std::{collections::HashMap, ops::Range};

use peerlane_verilated::{Direction, Library, Model, Port};

use crate::{
    bus::Bus,
    config::{Backpressure, BoardConfig},
    hip::{Damaged, Hip, HipConfig, Host, Kind, RootConfig},
    pcie::{BusEnd, Pcie},
    rng::Rng,
    stats::TxsStats,
    violation::{Clock, Error, Log, Result, Rule},
};

#[derive(Debug)]
pub(crate) struct PacketPort {
    hip: Hip,
    valid: Port,
    sop: Port,
    data: Port,
    width: u32,
    backpressure: Backpressure,
    rng: Rng,
    /// The packet in progress: the cycle in which it began, and whether it is a posted one.
    began: u64,
    posted: bool,
    pub(crate) stats: TxsStats,
    /// Addresses whose first request is measured.
    pub(crate) watch: Range<u64>,
}

impl PacketPort {
    /// Returns the port, if the design has one.
    pub(crate) fn bind(library: &Library, config: &BoardConfig) -> Result<Option<Self>> {
        let has = |name: &str| library.ports().iter().any(|port| port.name == name);
        if !has("tx_st_data") {
            return Ok(None);
        }
        if has("txs_address") || has("post_valid") {
            return Err(Error::Config {
                message: "the design has an Avalon-ST port and another PCIe port".to_owned(),
            });
        }
        let data = library
            .ports()
            .iter()
            .find(|port| port.name == "tx_st_data");
        let bits = data.map_or(0, |port| port.width);
        let (link, tlp) = (&config.link, &config.tlp);
        let hip = HipConfig {
            payload: link.max_payload,
            request: link.max_read_request,
            extended: tlp.extended_tags,
            // The board's link models the time of packets.
            rate: 0,
            gaps: config.stream.answer_gaps,
            credit_delay: tlp.credit_delay,
            own: tlp.own_packets,
            shows_consumed: tlp.shows_consumed,
            space: (tlp.completion_headers, tlp.completion_data),
            root: RootConfig {
                boundary: link.read_completion_boundary,
                ..RootConfig::default()
            },
            seed: config.seed,
            ..HipConfig::default()
        };
        let mut hip = Hip::bind(library, hip)?;
        hip.host.registers = true;
        Ok(Some(Self {
            hip,
            valid: library.port_as("tx_st_valid", Direction::Output, 1)?,
            sop: library.port_as("tx_st_sop", Direction::Output, 1)?,
            data: library.port_as("tx_st_data", Direction::Output, bits)?,
            width: bits / 8,
            backpressure: config.stream.backpressure,
            rng: Rng::new(config.seed, 7),
            began: 0,
            posted: false,
            stats: TxsStats::default(),
            watch: 0..u64::MAX,
        }))
    }

    pub(crate) fn width(&self) -> u32 {
        self.width
    }

    pub(crate) fn set_backpressure(&mut self, backpressure: Backpressure) {
        self.backpressure = backpressure;
    }

    /// Sets the function's MSI-X capability.
    pub(crate) fn set_msix(&mut self, enable: bool, mask: bool) {
        self.hip.config.msix = (enable, mask);
    }

    /// Sets the function's MSI capability: address and data if MSI is enabled.
    pub(crate) fn set_msi(&mut self, msi: Option<(u64, u16)>) {
        self.hip.config.msi = msi;
    }

    /// Returns the host, whose packets are those of [`crate::across`].
    pub(crate) fn host_mut(&mut self) -> &mut Host {
        &mut self.hip.host
    }

    /// Makes the hard IP lose data of the next completion.
    pub(crate) fn damage(&mut self) {
        self.hip.damage(Damaged::Data(1));
    }

    /// Returns whether no packet is between the design and the link.
    pub(crate) fn quiet(&self) -> bool {
        self.hip.quiet()
    }

    pub(crate) fn reset(&mut self) {
        self.hip.reset();
        self.hip.host.forget(&HashMap::new());
    }

    /// Reads the port's signals at a clock edge, before the edge changes them, and decides the next inputs of the
    /// design.
    pub(crate) fn sample(
        &mut self,
        model: &Model,
        now: u64,
        cycle: u64,
        pcie: &mut Pcie,
        bus: &mut Bus,
        log: &mut Log,
    ) {
        if model.get(self.valid) != 0 {
            if model.get(self.sop) != 0 {
                self.began = cycle;
                self.stats.last_request_cycle = cycle;
                let lead = model.words(self.data).first().copied().unwrap_or(0);
                self.posted = lead >> 30 & 1 == 1;
            }
            self.stats.write_words += u64::from(self.posted);
        }
        let holds = self.backpressure.holds(cycle, &mut self.rng);
        self.hip.config.not_ready = if holds { 100 } else { 0 };
        self.hip.config.master = bus.is_master();
        let mut end = BusEnd::new(pcie, bus, now, self.hip.config.id);
        self.hip.sample_with(model, Some(&mut end));
        for request in end.taken() {
            match request.kind {
                Kind::Read => self.stats.read_bursts += 1,
                _ => self.stats.write_bursts += 1,
            }
            if self.watch.contains(&request.address) {
                self.stats.first_request_cycle.get_or_insert(self.began);
            }
        }
        self.stats.most_reads = self.stats.most_reads.max(pcie.outstanding() as u32);
        self.stats.read_words += u64::from(self.hip.gives());
        for breach in self.hip.take_breaches() {
            log.add(Clock::Pcie, cycle, "tx_st", Rule::Packet, breach.what);
        }
    }

    /// Drives the port after the edge.
    pub(crate) fn drive(&mut self, model: &mut Model) {
        self.hip.drive(model);
    }
}
