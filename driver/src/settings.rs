// SPDX-License-Identifier: GPL-2.0

//! The module's parameters, as they are when a board is probed. sysfs has the values that result for a board
//! ([`crate::sysfs`]).

use crate::{
    ffi::{peerlane_is_isolated, peerlane_is_translated, raw_device},
    logic::{kept::Limits, peers::Policy, quota::Asked},
    module_parameters,
};
use kernel::{
    device::{Bound, Device},
    prelude::*,
};

/// Settings of a board.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// Longest wait for the block to become idle, in milliseconds.
    pub(crate) patience_ms: u32,
    /// `PORT_TIMEOUT` in cycles; `None`: as after power-up.
    pub(crate) port_timeout: Option<u32>,
    /// Longest wait for the recovery of an error of the bus, in seconds.
    pub(crate) recovery_s: u32,
    /// Peers from which a board without tags reads.
    pub(crate) peer_reads: Policy,
    /// GPUs' memory is also used if the kernel does not know that the board can reach it.
    pub(crate) any_distance: bool,
    /// The limits of a context and a user on this board.
    pub(crate) quotas: Asked,
    /// Bytes at the end of FPGA memory that contexts may allocate; `None`: all.
    pub(crate) memory_pool: Option<u64>,
    /// All users may hold all FPGA memory that is not allocated.
    pub(crate) hold_all: bool,
    /// All users who hold it may also have the FPGA configured, if an IOMMU translates.
    pub(crate) configure_all: bool,
    /// Longest time, in seconds, for which a user who may do so only for that reason has the board stopped.
    pub(crate) configure_s: u32,
    /// Refused regions and reported faults are logged.
    pub(crate) verbose: bool,
    /// Limits of a context's cached regions.
    pub(crate) kept: Limits,
}

const MIB: u64 = 1 << 20;

fn given(value: u32) -> Option<u32> {
    (value != 0).then_some(value)
}

fn given_mib(value: u32) -> Option<u64> {
    given(value).map(|mib| u64::from(mib) * MIB)
}

impl Settings {
    /// Returns the settings for a board. A setting that would give a user the whole machine is refused.
    pub(crate) fn of(device: &Device<Bound>) -> Self {
        let mut settings = Self::current();
        if !settings.configure_all {
            return settings;
        }
        // SAFETY: a valid device.
        let (translated, isolated) = unsafe {
            let device = raw_device(device);
            (peerlane_is_translated(device), peerlane_is_isolated(device))
        };
        if !translated {
            dev_warn!(
                device,
                "configure_all: refused, because no IOMMU translates the board's addresses: a user's design could read and write all memory of the machine\n"
            );
        } else if !isolated {
            dev_warn!(
                device,
                "configure_all: refused, because a user's design could reach another device without the IOMMU: the board shares its IOMMU group, or interrupts are not remapped\n"
            );
        }
        settings.configure_all = translated && isolated;
        settings
    }

    fn current() -> Self {
        Self {
            patience_ms: module_parameters::patience_ms.value(),
            port_timeout: given(module_parameters::port_timeout.value()),
            recovery_s: module_parameters::recovery_s.value(),
            peer_reads: Policy::from_parameter(module_parameters::peer_reads.value()),
            any_distance: module_parameters::any_distance.value(),
            quotas: Asked {
                channel_entries: given(module_parameters::context_entries.value()),
                user_entries: given(module_parameters::user_entries.value()),
                user_channels: given(module_parameters::user_channels.value()),
                user_memory: given_mib(module_parameters::user_memory_mib.value()),
                user_gpu: given_mib(module_parameters::user_gpu_mib.value()),
            },
            memory_pool: given_mib(module_parameters::memory_pool_mib.value()),
            hold_all: module_parameters::hold_all.value(),
            configure_all: module_parameters::configure_all.value(),
            configure_s: module_parameters::configure_s.value(),
            verbose: module_parameters::verbose.value(),
            kept: Limits {
                count: module_parameters::kept_regions.value(),
                host_bytes: u64::from(module_parameters::kept_host_mib.value()) * MIB,
                gpu_bytes: u64::from(module_parameters::kept_gpu_mib.value()) * MIB,
            },
        }
    }
}
