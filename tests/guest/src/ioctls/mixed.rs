//! Regions with pages of two sizes.

use crate::lab::{Lab, has_iommu, told};
use crate::raw;
use crate::suite::skip;
use anyhow::{Result, ensure};
use peerlane_core::uapi::{
    self, Register, Submit, Unregister, access, provider, register, unregister,
};
use peerlane_host::{Direction, Memory};
use rustix::io::Errno;

const HUGE: u64 = 2 << 20;
const HEAD: u64 = 8 << 10;
const TAIL: u64 = 4 << 10;

/// Registers a huge page with small ones around it: with [`register::MIXED`] it takes four entries, and a descriptor must not
/// cross. Without the flag it takes an entry for each 4 KiB, and the other region is not found.
pub(super) fn mixed(lab: &mut Lab) -> Result<String> {
    if has_iommu() {
        return skip("all pages follow each other with an IOMMU");
    }
    let device = lab.open()?;
    let place = lab.place(&device)?;
    let memory = Memory::new(3 * HUGE as usize).map_err(told)?;
    memory.write(0, &vec![1; memory.length()]).map_err(told)?;
    let wanted = |flags| Register {
        provider: provider::HOST,
        access: access::READ | access::WRITE,
        address: (memory.address() + HEAD).next_multiple_of(HUGE) - HEAD,
        length: HEAD + HUGE + TAIL,
        fd: -1,
        flags,
        ..Default::default()
    };
    let mut short = raw::bytes(&wanted(register::MIXED));
    short.truncate(std::mem::offset_of!(Register, third_att_address));
    let refused = raw::call(&device, uapi::REGISTER, &mut short);
    ensure!(refused == Err(Errno::INVAL), "{refused:?}");
    let mut region = wanted(register::MIXED);
    raw::with(&device, uapi::REGISTER, &mut region)?;
    let shape = |region: &Register| {
        let lengths = (region.second_length, region.third_length);
        (region.page_shift, region.entries, lengths)
    };
    ensure!(shape(&region) == (21, 4, (HUGE, TAIL)), "{region:?}");
    let submit = |offset, length, direction: Direction| {
        let mut submit = Submit {
            direction: direction.raw(),
            handle: region.handle,
            offset,
            length,
            local: place,
            ..Default::default()
        };
        raw::with(&device, uapi::SUBMIT, &mut submit)
    };
    for direction in Direction::BOTH {
        for seam in [HEAD, HEAD + HUGE] {
            ensure!(submit(seam - 4, 4, direction).is_ok() && submit(seam, 4, direction).is_ok());
            // Nothing of a write with ends is written either.
            for (before, length) in [(4, 8), (1, 2), (3, 4)] {
                let crosses = submit(seam - before, length, direction);
                ensure!(crosses == Err(Errno::INVAL), "{crosses:?}");
            }
        }
    }
    let give_back = |handle| {
        let flags = unregister::KEEP;
        raw::with(&device, uapi::UNREGISTER, &mut Unregister { handle, flags })
    };
    give_back(region.handle)?;
    let entries = (HEAD + HUGE + TAIL) / 4096;
    let mut uniform = wanted(0);
    match raw::with(&device, uapi::REGISTER, &mut uniform) {
        Ok(()) => {
            let expected = (12, entries as u32, (0, 0));
            ensure!(
                shape(&uniform) == expected && uniform.found == 0,
                "{uniform:?}"
            );
            give_back(uniform.handle)?;
        }
        Err(error) => ensure!(
            error == Errno::FBIG && device.info().most_entries < entries,
            "{error} for {entries} entries"
        ),
    }
    let mut again = wanted(register::MIXED);
    raw::with(&device, uapi::REGISTER, &mut again)?;
    ensure!(again.found == 1, "{again:?}");
    Ok(format!("{} entries for {}", region.entries, entries))
}
