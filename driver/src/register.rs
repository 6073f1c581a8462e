// SPDX-License-Identifier: GPL-2.0

//! Registering memory: `REGISTER`.

use crate::{
    context::Context,
    gate::Inside,
    logic::{
        att::{PageSize, Permissions},
        kept::Kind,
        layout::Segment,
        uapi::{access, provider, register, Register},
    },
    mapping::Mapping,
    memory::{dmabuf, host, nvidia, space::Space, Memory},
    peers::Proofs,
    regions::{Key, Lists, Region},
    room::{Room, Short},
    trace,
};
use kernel::{
    current,
    mm::Mm,
    prelude::*,
    sync::{aref::ARef, Arc},
};

/// A region that a caller wants.
struct Wanted {
    key: Key,
    space: Option<ARef<Mm>>,
    permissions: Permissions,
    /// A first read from a device may be tried.
    may_risk: bool,
    /// Its pages may be of two sizes.
    mixed: bool,
    buffer: Option<dmabuf::Buffer>,
}

impl Wanted {
    fn kind(&self) -> Kind {
        match self.key.provider {
            provider::HOST => Kind::Host,
            provider::NVIDIA => Kind::Nvidia,
            _ => Kind::DmaBuf,
        }
    }
}

/// Memory that is mapped for the board, and its segments on the bus.
struct Mapped {
    memory: Memory,
    segments: KVVec<Segment>,
    /// Offset of the region in the segments.
    offset: u64,
}

/// Decodes the bits of `access`.
fn permissions(bits: u32) -> Result<Permissions> {
    match bits {
        access::READ => Ok(Permissions::Read),
        access::WRITE => Ok(Permissions::Write),
        bits if bits == access::READ | access::WRITE => Ok(Permissions::ReadWrite),
        _ => Err(EINVAL),
    }
}

/// Places in a context's lists.
struct Promise<'a>(&'a Context);

impl Drop for Promise<'_> {
    fn drop(&mut self) {
        self.0.regions.lock().redeem();
    }
}

impl Context {
    /// Makes memory reachable, or finds its cached region.
    pub(crate) fn register(&self, arguments: &mut Register) -> Result {
        if arguments.length == 0 || arguments.flags & !(register::PROVED_ONLY | register::MIXED) != 0 {
            return Err(EINVAL);
        }
        let permissions = permissions(arguments.access)?;
        let buffer = match arguments.provider {
            provider::DMABUF => Some(dmabuf::Buffer::from_fd(arguments.fd)?),
            provider::HOST | provider::NVIDIA if arguments.fd == -1 => None,
            provider::HOST | provider::NVIDIA => return Err(EINVAL),
            _ => return Err(EOPNOTSUPP),
        };
        if let Some(buffer) = &buffer {
            let end = arguments.address.checked_add(arguments.length);
            if end.is_none_or(|end| end > buffer.length()) {
                return Err(EINVAL);
            }
        }
        let space = match buffer {
            Some(_) => None,
            None => Some(ARef::<Mm>::from(&**current!().mm().ok_or(EINVAL)?)),
        };
        let key = Key {
            space: space.as_ref().map_or(0, |space| space.as_raw() as usize),
            provider: arguments.provider,
            access: arguments.access,
            address: arguments.address,
            length: arguments.length,
            identity: buffer
                .as_ref()
                .map_or(arguments.identity, dmabuf::Buffer::identity),
        };
        let wanted = Wanted {
            key,
            space,
            permissions,
            may_risk: arguments.flags & register::PROVED_ONLY == 0,
            mixed: arguments.flags & register::MIXED != 0,
            buffer,
        };
        // A region that no context knows must not outlive the gate.
        let inside = self.board.gate.enter()?;
        arguments.found = u32::from(self.find(&wanted, arguments)?);
        drop(inside);
        if arguments.found == 0 {
            self.make(&wanted, arguments)?;
        }
        trace::registered(&self.board, self.channel, arguments);
        Ok(())
    }

    /// Checks that the context can ever hold so many entries. Otherwise `EFBIG`, and the answer has the number that
    /// is needed.
    fn check_entries(&self, arguments: &mut Register, entries: u64) -> Result {
        if entries > u64::from(self.board.most_entries(self.channel)) {
            arguments.entries = u32::try_from(entries).unwrap_or(u32::MAX);
            return Err(EFBIG);
        }
        Ok(())
    }

    /// Looks for a region among those that are cached.
    fn find(&self, wanted: &Wanted, arguments: &mut Register) -> Result<bool> {
        let found = self.regions.lock().reuse(&wanted.key, wanted.mixed, arguments)?;
        if found {
            self.board.kept_less();
        }
        Ok(found)
    }

    /// Returns the calling process's address space. A process that registers again need not wait for its lock.
    fn space_of_caller(&self) -> Result<Arc<Space>> {
        let last = self.regions.lock().space.clone();
        if let Some(space) = last.filter(|space| space.is_callers()) {
            return Ok(space);
        }
        Space::of_caller()
    }

    /// Reserves places in the context's lists for one more region.
    fn reserve(&self) -> Result<Promise<'_>> {
        loop {
            let promised = self.regions.lock().promise();
            let Err(room) = promised else {
                return Ok(Promise(self));
            };
            let lists = Lists::new(room)?;
            let before = self.regions.lock().move_to(lists);
            drop(before);
        }
    }

    /// Makes a region and gives it a handle.
    fn make(&self, wanted: &Wanted, arguments: &mut Register) -> Result {
        // Memory that never fits, in the largest pages either, is not pinned at all.
        self.check_entries(arguments, wanted.key.length.div_ceil(PageSize::Mib2.bytes()))?;
        let mut room = Room::new(self);
        // The owner of pages may delay them as long as it likes: a user's page fault handler, a file system in user
        // space. No thread waits for that inside of the gate.
        let mut pages = match wanted.kind() {
            Kind::Host => Some(self.pin(wanted, &mut room)?),
            Kind::DmaBuf | Kind::Nvidia => None,
        };
        // Until the region is in a list.
        let _places = self.reserve()?;
        let inside = self.board.gate.enter()?;
        if let Some(pages) = &pages {
            let space = Some(pages.space().clone());
            let before = core::mem::replace(&mut self.regions.lock().space, space);
            drop(before);
        }
        let pinned_bytes = match &wanted.buffer {
            // All of it is pinned, even if the caller asks for a small part.
            Some(buffer) => buffer.length(),
            None => wanted.key.length,
        };
        let mut pinned = match wanted.kind() {
            Kind::Host => None,
            Kind::DmaBuf | Kind::Nvidia => {
                let most = || self.board.with_quota(|quota| quota.most_pinned(self.channel));
                let fits = || pinned_bytes <= most();
                let short = |error| (error == EDQUOT && fits()).then_some(Short::Pinned);
                let pin = || self.board.pin(self.channel, pinned_bytes);
                let pin_again = |_| {
                    // Pages of this process that another one could not release count until now.
                    nvidia::settle_lost();
                    pin()
                };
                Some(room.find(short, || pin().or_else(pin_again))?)
            }
        };
        let (board, events) = (self.board.clone(), self.events.clone());
        let mapping = Mapping::new(board, events, self.channel, wanted.kind())?;
        let exporter = wanted.buffer.as_ref().map(dmabuf::Buffer::exporter);
        let short = |error| match error {
            error if error == ENOBUFS => Some(Short::Bar(exporter, pinned_bytes)),
            error if error == ENOMEM && wanted.kind() == Kind::Host => Some(Short::Locked),
            _ => None,
        };
        let map = || self.map(&inside, wanted, &mut pages, &mapping);
        let Mapped {
            memory,
            mut segments,
            offset,
        } = room.find(short, map)?;
        // Only the process that has them can release them, which may be long after the region's end.
        if let Memory::Nvidia { pages } = &memory {
            pages.count(pinned.take());
        }
        let (board, space) = (self.board.clone(), wanted.space.clone());
        let mut region = Region::new(board, mapping, memory, pinned, wanted.key, space);
        let mapping = region.mapping().clone();
        let mixed = wanted.mixed.then(|| self.board.most_entries(self.channel));
        let layout = mapping.lay_out(&segments, offset, wanted.key.length, mixed)?;
        let entries = layout.map_or_else(|entries| entries, |layout| layout.entries.into());
        self.check_entries(arguments, entries)?;
        let layout = layout.map_err(|_| EFBIG)?;
        let short = |error| match error {
            error if error == ENOSPC => Some(Short::Entries(layout.entries)),
            error if error == EDQUOT => Some(Short::Share(layout.entries)),
            _ => None,
        };
        let place = || mapping.place(&mut segments, offset, &layout, wanted.permissions);
        room.find(short, place)?;
        region.note_placed();
        if wanted.permissions.read() && wanted.kind().is_peer() && self.board.proves_peers() {
            let prove = |proofs: &mut Proofs<'_>| mapping.prove(proofs);
            self.board.with_proofs(inside.device(), wanted.may_risk, prove)?;
        }
        region.describe(arguments)?;
        let held = self.regions.lock().admit(region);
        // A region that was refused is dropped without the lock.
        arguments.handle = held.map_err(|(_, error)| error)?;
        Ok(())
    }

    /// Pins a process's memory.
    fn pin(&self, wanted: &Wanted, room: &mut Room<'_>) -> Result<host::Pinned> {
        let Key {
            address, length, ..
        } = wanted.key;
        let fits = || host::may_be_locked(length);
        let short = |error| (error == ENOMEM && fits()).then_some(Short::Locked);
        room.find(short, || {
            let space = || self.space_of_caller();
            host::Pinned::new(&self.board, space, address, length, wanted.permissions)
        })
    }

    /// Maps memory for the board. Pages that were pinned for it are taken if nothing fails.
    fn map(
        &self,
        inside: &Inside<'_>,
        wanted: &Wanted,
        pages: &mut Option<host::Pinned>,
        mapping: &Arc<Mapping>,
    ) -> Result<Mapped> {
        let (device, permissions) = (inside.device(), wanted.permissions);
        let Key {
            address, length, ..
        } = wanted.key;
        let any_distance = self.board.settings.any_distance;
        let mapping = mapping.clone();
        let (memory, segments, offset) = match &wanted.buffer {
            Some(buffer) => {
                let (import, segments) =
                    dmabuf::Import::new(inside, buffer.clone(), permissions, any_distance, mapping)?;
                (Memory::DmaBuf { import }, segments, address)
            }
            None if wanted.kind() == Kind::Host => {
                let (pages, segments, offset) = host::Pages::new(device, pages)?;
                (Memory::Host(pages), segments, offset)
            }
            None => {
                let (pages, segments, offset) =
                    nvidia::Pages::new(device, address, length, permissions, any_distance, mapping)?;
                (Memory::Nvidia { pages }, segments, offset)
            }
        };
        Ok(Mapped {
            memory,
            segments,
            offset,
        })
    }
}
