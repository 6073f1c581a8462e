// SPDX-License-Identifier: MIT OR Apache-2.0
//! Assignment of channels to users, the ATT entries of each channel, and the limits of a channel and a user, also for
//! FPGA memory: no user can take all of a resource from all others.

use super::regs::chan;
use core::fmt;

/// A user as far as quotas go. A user with several channels shares its quota among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User {
    /// The user's number, the same in all namespaces.
    pub id: u32,
    /// Whether the limits of a user do not apply: an administrator of the machine may take everything.
    pub exempt: bool,
}

/// Largest amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// ATT entries of one channel.
    pub channel_entries: u32,
    /// ATT entries of all channels of a user.
    pub user_entries: u32,
    /// Channels of a user.
    pub user_channels: u32,
    /// Bytes of FPGA memory of all channels of a user.
    pub user_memory: u64,
    /// Bytes of other devices' memory that all channels of a user may have pinned.
    pub user_gpu: u64,
}

/// Limits that the administrator has set; `None`: not set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asked {
    /// ATT entries of one channel.
    pub channel_entries: Option<u32>,
    /// ATT entries of all channels of a user.
    pub user_entries: Option<u32>,
    /// Channels of a user.
    pub user_channels: Option<u32>,
    /// Bytes of FPGA memory of all channels of a user.
    pub user_memory: Option<u64>,
    /// Bytes of other devices' memory that all channels of a user may have pinned.
    pub user_gpu: Option<u64>,
}

impl Limits {
    /// Makes the limits on a board of so many channels and entries, where users may allocate so many bytes of FPGA
    /// memory. Where no limit is asked for, a user gets half of the board's, but at least one channel and entry, and
    /// a channel has no limit of its own. Other devices' memory is not the board's: without a limit of its own only
    /// the entries limit it, at least one for each region.
    pub fn new(channels: u32, entries: u32, memory: u64, asked: &Asked) -> Self {
        let half = |all: u32| (all / 2).max(1);
        Self {
            channel_entries: asked.channel_entries.unwrap_or(u32::MAX),
            user_entries: asked.user_entries.unwrap_or(half(entries)),
            user_channels: asked.user_channels.unwrap_or(half(channels)),
            user_memory: asked.user_memory.unwrap_or(memory / 2),
            user_gpu: asked.user_gpu.unwrap_or(u64::MAX),
        }
    }
}

/// Limits that a request would exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exceeded {
    /// Entries of one channel.
    Channel {
        /// Entries that it holds.
        held: u32,
        /// Entries that it wants in addition.
        wanted: u32,
        /// The most that it may hold.
        limit: u32,
    },
    /// Entries of all channels of a user.
    User {
        /// Entries that they hold.
        held: u32,
        /// Entries that are wanted in addition.
        wanted: u32,
        /// The most that they may hold.
        limit: u32,
    },
    /// Channels of a user.
    Channels {
        /// The most that the user may have, and has.
        limit: u32,
    },
    /// Bytes of FPGA memory of all channels of a user.
    Memory {
        /// Bytes that they have.
        held: u64,
        /// Bytes that are wanted in addition.
        wanted: u64,
        /// The most that they may have.
        limit: u64,
    },
    /// Bytes of other devices' memory that all channels of a user have pinned.
    Pinned {
        /// Bytes that they have.
        held: u64,
        /// Bytes that are wanted in addition.
        wanted: u64,
        /// The most that they may have.
        limit: u64,
    },
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channel {
                held,
                wanted,
                limit,
            } => write!(
                f,
                "{wanted} ATT entries in addition to the {held} that the channel holds exceed its \
                 limit of {limit}: register less at a time, unregister regions, or raise \
                 context_entries"
            ),
            Self::User {
                held,
                wanted,
                limit,
            } => write!(
                f,
                "{wanted} ATT entries in addition to the {held} that the user's channels hold \
                 exceed the user's limit of {limit}: register less at a time, unregister regions, \
                 or raise user_entries"
            ),
            Self::Channels { limit } => write!(
                f,
                "the user has {limit} channels already, the most that a user may have: close one, \
                 or raise user_channels"
            ),
            Self::Memory {
                held,
                wanted,
                limit,
            } => write!(
                f,
                "{wanted:#x} bytes of FPGA memory in addition to the {held:#x} that the user's \
                 channels have exceed the user's limit of {limit:#x}: ask for less, free some, or \
                 raise user_memory_mib"
            ),
            Self::Pinned {
                held,
                wanted,
                limit,
            } => write!(
                f,
                "{wanted:#x} bytes of a device's memory in addition to the {held:#x} that the \
                 user's channels have pinned exceed the user's limit of {limit:#x}: register less \
                 at a time, unregister regions, or raise user_gpu_mib"
            ),
        }
    }
}

impl core::error::Error for Exceeded {}

/// Number of users that can have other devices' memory pinned at the same time: one for each channel, and some whose
/// channels are closed.
const PINNING: usize = chan::COUNT + 16;

/// Entries by channel.
pub type Freed = [u32; chan::COUNT];

/// The account of all channels.
#[derive(Debug)]
pub struct Quota {
    held: [u32; chan::COUNT],
    /// Users, and the bytes of other devices' memory that count for each. They count until they are released, which
    /// may be after the last channel of the user is closed.
    pinned: [(u32, u64); PINNING],
    users: [Option<User>; chan::COUNT],
    limits: Limits,
}

impl Quota {
    /// Makes the account without users.
    pub const fn new(limits: Limits) -> Self {
        Self {
            held: [0; chan::COUNT],
            pinned: [(0, 0); PINNING],
            users: [None; chan::COUNT],
            limits,
        }
    }

    /// Returns the limits.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Gives a free channel to a user, who may have one more.
    pub fn open(&mut self, channel: u32, user: User) -> Result<(), Exceeded> {
        let limit = self.limits.user_channels;
        let has = self.users.iter().flatten().filter(|has| has.id == user.id);
        if !user.exempt && has.count() >= limit as usize {
            return Err(Exceeded::Channels { limit });
        }
        if let Some(place) = self.users.get_mut(channel as usize) {
            *place = Some(user);
        }
        Ok(())
    }

    /// Frees a channel. Entries that it still holds stay counted for the channel.
    pub fn close(&mut self, channel: u32) {
        if let Some(place) = self.users.get_mut(channel as usize) {
            *place = None;
        }
    }

    /// Returns the number of entries that a channel holds; 0 if no build has a channel of this number.
    pub fn held(&self, channel: u32) -> u32 {
        self.held.get(channel as usize).copied().unwrap_or(0)
    }

    /// Returns the channels of a user.
    fn channels_of(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        let all = (0..).zip(&self.users);
        all.filter(move |(_, user)| user.is_some_and(|user| user.id == id))
            .map(|(channel, _)| channel)
    }

    /// Returns the entries that a channel would hold without the `freed` ones.
    fn left(&self, channel: u32, freed: &Freed) -> u32 {
        let freed = freed.get(channel as usize).copied().unwrap_or(0);
        self.held(channel).saturating_sub(freed)
    }

    /// Checks whether a channel's user may have so many more bytes of FPGA memory; `held` returns the bytes of a
    /// channel.
    pub fn check_memory(
        &self,
        channel: u32,
        wanted: u64,
        held: impl Fn(u32) -> u64,
    ) -> Result<(), Exceeded> {
        let user = self.users.get(channel as usize).copied().flatten();
        let Some(user) = user.filter(|user| !user.exempt) else {
            return Ok(());
        };
        let held = self.channels_of(user.id).map(held);
        let held = held.fold(0, u64::saturating_add);
        let limit = self.limits.user_memory;
        match held.checked_add(wanted) {
            Some(sum) if sum <= limit => Ok(()),
            _ => Err(Exceeded::Memory {
                held,
                wanted,
                limit,
            }),
        }
    }

    /// Adds bytes of other devices' memory, if the channel's user may have them pinned. Returns the number of the
    /// user, for whom they count until [`unpin`](Self::unpin). `None`: they do not count, because the user has no
    /// limit and the account no place.
    pub fn pin(&mut self, channel: u32, wanted: u64) -> Result<Option<u32>, Exceeded> {
        let user = self.users.get(channel as usize).copied().flatten();
        let limit = self.most_pinned(channel);
        let held = user.map_or(0, |user| self.pinned(user.id));
        let exceeded = Exceeded::Pinned {
            held,
            wanted,
            limit,
        };
        let sum = held.checked_add(wanted).filter(|sum| *sum <= limit);
        let (user, sum) = user.zip(sum).ok_or(exceeded)?;
        let is_users = |(id, bytes): &(u32, u64)| *id == user.id && *bytes > 0;
        let is_free = |(_, bytes): &(u32, u64)| *bytes == 0;
        let mut places = self.pinned.iter();
        let place = places.position(is_users);
        let place = place.or_else(|| self.pinned.iter().position(is_free));
        match place.and_then(|place| self.pinned.get_mut(place)) {
            Some(place) => *place = (user.id, sum),
            None if limit == u64::MAX => return Ok(None),
            None => return Err(exceeded),
        }
        Ok(Some(user.id))
    }

    /// Removes bytes that were added for a user.
    pub fn unpin(&mut self, user: u32, bytes: u64) {
        for (id, pinned) in &mut self.pinned {
            if *id == user {
                *pinned = pinned.saturating_sub(bytes);
            }
        }
    }

    /// Returns the bytes of other devices' memory that count for a user.
    pub fn pinned(&self, user: u32) -> u64 {
        let of_user = self.pinned.iter().filter(|(id, _)| *id == user);
        of_user.map(|(_, bytes)| bytes).sum()
    }

    /// Adds entries, if the channel and its user may have them.
    pub fn take(&mut self, channel: u32, wanted: u32) -> Result<(), Exceeded> {
        let sum = self.sum(channel, wanted, &[0; chan::COUNT])?;
        if let Some(place) = self.held.get_mut(channel as usize) {
            *place = sum;
        }
        Ok(())
    }

    /// Returns whether a channel could have so many more entries if others of each channel were `freed`.
    pub fn would_take(&self, channel: u32, wanted: u32, freed: &Freed) -> bool {
        self.sum(channel, wanted, freed).is_ok()
    }

    /// Returns the entries that a channel would hold with `wanted` more, and without those that are `freed`.
    fn sum(&self, channel: u32, wanted: u32, freed: &Freed) -> Result<u32, Exceeded> {
        let within = |held: u32, limit: u32| {
            let sum = held.checked_add(wanted);
            sum.filter(|sum| *sum <= limit)
        };
        let held = self.left(channel, freed);
        let limit = self.limits.channel_entries;
        let exceeded = Exceeded::Channel {
            held,
            wanted,
            limit,
        };
        let sum = within(held, limit).ok_or(exceeded)?;
        let user = self.users.get(channel as usize).ok_or(exceeded)?;
        if let Some(user) = user {
            let held = self
                .channels_of(user.id)
                .map(|channel| self.left(channel, freed));
            let held = held.fold(0, u32::saturating_add);
            let limit = self.limits.user_entries;
            if !user.exempt && within(held, limit).is_none() {
                return Err(Exceeded::User {
                    held,
                    wanted,
                    limit,
                });
            }
        }
        Ok(sum)
    }

    /// Returns the largest number of entries that a channel can ever hold: the smaller of the channel's limit and its
    /// user's.
    pub fn most(&self, channel: u32) -> u32 {
        let limits = &self.limits;
        match self.users.get(channel as usize) {
            Some(Some(user)) if !user.exempt => limits.channel_entries.min(limits.user_entries),
            _ => limits.channel_entries,
        }
    }

    /// Returns the largest number of bytes of other devices' memory that a channel can ever have pinned.
    pub fn most_pinned(&self, channel: u32) -> u64 {
        match self.users.get(channel as usize) {
            Some(Some(user)) if !user.exempt => self.limits.user_gpu,
            _ => u64::MAX,
        }
    }

    /// Removes entries that were added.
    pub fn give(&mut self, channel: u32, count: u32) {
        if let Some(place) = self.held.get_mut(channel as usize) {
            *place = place.saturating_sub(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const MANY: Limits = Limits {
        channel_entries: u32::MAX,
        user_entries: u32::MAX,
        user_channels: u32::MAX,
        user_memory: u64::MAX,
        user_gpu: u64::MAX,
    };

    /// Makes the default limits of a board of 8 channels.
    fn by_default(entries: u32) -> Limits {
        Limits::new(8, entries, 1 << 30, &Asked::default())
    }

    fn user(id: u32) -> User {
        User { id, exempt: false }
    }

    const ROOT: User = User {
        id: 0,
        exempt: true,
    };

    #[test]
    fn a_channel_holds_no_more_than_it_may_and_others_do_not_matter() {
        let mut quota = Quota::new(Limits {
            channel_entries: 10,
            ..MANY
        });
        assert_eq!(quota.take(3, 7), Ok(()));
        let exceeded = Exceeded::Channel {
            held: 7,
            wanted: 4,
            limit: 10,
        };
        assert_eq!(quota.take(3, 4), Err(exceeded));
        assert_eq!(quota.take(4, 10), Ok(()));
        assert_eq!(quota.take(3, 3), Ok(()));
        quota.give(3, 7);
        assert_eq!((quota.held(3), quota.held(4)), (3, 10));
        assert_eq!(quota.take(3, 7), Ok(()));
    }

    /// Memory that only another process can release counts for its user, and not for the channel's next one.
    #[test]
    fn what_is_pinned_behind_a_closed_channel_counts_for_its_user() {
        let mut quota = Quota::new(Limits {
            user_gpu: 100,
            ..MANY
        });
        assert_eq!(quota.open(0, user(7)), Ok(()));
        assert_eq!(quota.pin(0, 60), Ok(Some(7)));
        quota.close(0);
        assert!(quota.pin(0, 1).is_err());
        assert_eq!(quota.open(0, user(8)), Ok(()));
        assert_eq!(quota.pin(0, 100), Ok(Some(8)));
        assert_eq!(quota.open(1, user(7)), Ok(()));
        assert!(quota.pin(1, 41).is_err());
        quota.unpin(7, 60);
        assert_eq!(quota.pin(1, 100), Ok(Some(7)));
        assert_eq!((quota.pinned(7), quota.pinned(8)), (100, 100));
    }

    /// A full table of accounts loses none of them.
    #[test]
    fn more_users_than_places_are_refused() {
        let mut quota = Quota::new(Limits {
            user_gpu: 100,
            ..MANY
        });
        for id in 0..PINNING as u32 {
            assert_eq!(quota.open(0, user(id)), Ok(()));
            assert_eq!(quota.pin(0, 1), Ok(Some(id)));
            quota.close(0);
        }
        assert_eq!(quota.open(0, user(1000)), Ok(()));
        assert!(quota.pin(0, 1).is_err());
        // Without a limit no place is needed.
        let id = 1001;
        assert_eq!(quota.open(1, User { id, exempt: true }), Ok(()));
        assert_eq!(quota.pin(1, 1), Ok(None));
        quota.unpin(3, 1);
        assert_eq!(quota.pin(0, 1), Ok(Some(1000)));
        assert_eq!((quota.pinned(2), quota.pinned(3)), (1, 0));
    }

    #[test]
    fn impossible_counts_and_channels_are_refused() {
        let mut quota = Quota::new(MANY);
        assert_eq!(quota.take(0, u32::MAX), Ok(()));
        assert!(quota.take(0, 1).is_err());
        assert!(quota.take(chan::COUNT as u32, 1).is_err());
        quota.give(chan::COUNT as u32, 1);
        assert_eq!(quota.held(chan::COUNT as u32), 0);
        assert_eq!(quota.open(chan::COUNT as u32, user(1)), Ok(()));
        quota.close(chan::COUNT as u32);
    }

    #[test]
    fn by_default_a_user_has_half_of_the_board() {
        assert_eq!(
            by_default(4096),
            Limits {
                channel_entries: u32::MAX,
                user_entries: 2048,
                user_channels: 4,
                user_memory: 512 << 20,
                user_gpu: u64::MAX,
            }
        );
        // The only channel of a board can be taken.
        let alone = Limits::new(1, 4096, 0, &Asked::default());
        assert_eq!((alone.user_channels, alone.user_memory), (1, 0));
        let asked = Asked {
            channel_entries: Some(512),
            user_entries: Some(4000),
            user_channels: Some(7),
            user_memory: Some(1 << 31),
            user_gpu: Some(1 << 32),
        };
        let limits = Limits::new(8, 4096, 1 << 30, &asked);
        assert_eq!((limits.user_channels, limits.user_entries), (7, 4000));
        assert_eq!(limits.channel_entries, 512);
        assert_eq!((limits.user_memory, limits.user_gpu), (1 << 31, 1 << 32));
    }

    #[test]
    fn channels_of_a_user_share_its_part_of_the_memory() {
        let mut quota = Quota::new(Limits {
            user_memory: 100,
            ..MANY
        });
        for (channel, user) in [user(7), user(8), user(7), ROOT].into_iter().enumerate() {
            assert_eq!(quota.open(channel as u32, user), Ok(()));
        }
        let held = |channel: u32| [30, 100, 20, 500][channel as usize];
        assert_eq!(quota.check_memory(0, 50, held), Ok(()));
        assert_eq!(quota.check_memory(2, 50, held), Ok(()));
        let refused = |held, wanted| {
            Err(Exceeded::Memory {
                held,
                wanted,
                limit: 100,
            })
        };
        assert_eq!(quota.check_memory(2, 51, held), refused(50, 51));
        assert_eq!(quota.check_memory(0, u64::MAX, held), refused(50, u64::MAX));
        assert_eq!(quota.check_memory(1, 1, held), refused(100, 1));
        assert_eq!(quota.check_memory(1, 0, held), Ok(()));
        assert_eq!(quota.check_memory(3, u64::MAX, held), Ok(()));
        // Memory of a channel that is not counted any more counts for no user.
        quota.close(0);
        assert_eq!(quota.check_memory(2, 80, held), Ok(()));
        let text = quota.check_memory(2, 81, held).unwrap_err();
        assert!(std::string::ToString::to_string(&text).contains("user_memory_mib"));
    }

    #[test]
    fn channels_of_a_user_share_what_may_be_pinned_of_other_devices() {
        let mut quota = Quota::new(Limits {
            user_gpu: 100,
            ..MANY
        });
        for (channel, user) in [user(7), user(8), user(7), ROOT].into_iter().enumerate() {
            assert_eq!(quota.open(channel as u32, user), Ok(()));
        }
        assert_eq!(quota.pin(0, 60), Ok(Some(7)));
        let refused = |held, wanted| {
            Err(Exceeded::Pinned {
                held,
                wanted,
                limit: 100,
            })
        };
        assert_eq!(quota.pin(2, 41), refused(60, 41));
        assert_eq!(quota.pin(2, u64::MAX), refused(60, u64::MAX));
        assert_eq!(quota.pin(2, 40), Ok(Some(7)));
        assert_eq!(quota.pinned(7), 100);
        // Another user's quota is separate, and an administrator of the machine has no limit.
        assert_eq!(quota.pin(1, 100), Ok(Some(8)));
        assert_eq!(quota.pin(3, 1 << 40), Ok(Some(0)));
        quota.unpin(7, 60);
        assert_eq!(quota.pin(2, 60), Ok(Some(7)));
        assert!(quota.pin(chan::COUNT as u32, 1).is_err());
        let text = quota.pin(2, 1).unwrap_err();
        assert!(std::string::ToString::to_string(&text).contains("user_gpu_mib"));
    }

    #[test]
    fn a_second_user_always_gets_a_channel_and_entries() {
        let mut quota = Quota::new(by_default(4096));
        for channel in 0..4 {
            assert_eq!(quota.open(channel, user(7)), Ok(()));
        }
        let refused = quota.open(4, user(7));
        assert_eq!(refused, Err(Exceeded::Channels { limit: 4 }));
        // By one channel or by all.
        assert_eq!(quota.take(0, 2000), Ok(()));
        assert_eq!(quota.take(1, 48), Ok(()));
        let refused = Exceeded::User {
            held: 2048,
            wanted: 1,
            limit: 2048,
        };
        assert_eq!(quota.take(2, 1), Err(refused));
        assert_eq!(quota.open(4, user(8)), Ok(()));
        assert_eq!(quota.take(4, 2048), Ok(()));
        // Entries that were freed can be taken again.
        quota.give(0, 100);
        assert_eq!(quota.take(3, 100), Ok(()));
        quota.close(2);
        assert_eq!(quota.open(2, user(7)), Ok(()));
    }

    #[test]
    fn who_administers_the_machine_may_take_everything() {
        let mut quota = Quota::new(Limits {
            channel_entries: 4000,
            ..by_default(4096)
        });
        for channel in 0..8 {
            assert_eq!(quota.open(channel, ROOT), Ok(()));
        }
        assert_eq!(quota.take(0, 4000), Ok(()));
        // But a channel cannot have more than its own limit.
        assert!(quota.take(0, 1).is_err());
        assert_eq!(quota.take(1, 96), Ok(()));
    }

    #[derive(Debug, Clone)]
    enum Act {
        Open(u32, u32),
        Close(u32),
        Take(u32, u32),
        Give(u32, u32),
    }

    fn act() -> impl Strategy<Value = Act> {
        prop_oneof![
            (0u32..8, 0u32..3).prop_map(|(channel, id)| Act::Open(channel, id)),
            (0u32..8).prop_map(Act::Close),
            (0u32..8, 0u32..200).prop_map(|(channel, count)| Act::Take(channel, count)),
            (0u32..8, 0u32..200).prop_map(|(channel, count)| Act::Give(channel, count)),
        ]
    }

    proptest! {
        /// Compares with an account by user instead of by channel. User 0 is exempt.
        #[test]
        fn whatever_is_done_nobody_has_more_than_they_may(
            acts in proptest::collection::vec(act(), 0..200),
        ) {
            let limits = Limits { channel_entries: 400, ..by_default(1000) };
            let mut quota = Quota::new(limits);
            // By channel: its user and its entries.
            let mut open: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
            for act in acts {
                let of = |id| open.values().filter(move |(has, _)| *has == id);
                match act {
                    Act::Open(channel, id) if !open.contains_key(&channel) => {
                        let may = id == 0 || of(id).count() < 4;
                        let opened = quota.open(channel, User { id, exempt: id == 0 });
                        prop_assert_eq!(opened.is_ok(), may);
                        if may {
                            open.insert(channel, (id, 0));
                        }
                    }
                    Act::Close(channel) => {
                        // A context also frees everything first.
                        let held = open.remove(&channel).map_or(0, |(_, held)| held);
                        quota.give(channel, held);
                        quota.close(channel);
                    }
                    Act::Take(channel, count) => if let Some(&(id, held)) = open.get(&channel) {
                        let sum: u32 = of(id).map(|(_, held)| held).sum();
                        let may = held + count <= 400 && (id == 0 || sum + count <= 500);
                        prop_assert_eq!(quota.take(channel, count).is_ok(), may);
                        if may {
                            open.insert(channel, (id, held + count));
                        }
                    }
                    Act::Give(channel, count) => if let Some(&(id, held)) = open.get(&channel) {
                        let count = count.min(held);
                        quota.give(channel, count);
                        open.insert(channel, (id, held - count));
                    }
                    Act::Open(..) => {}
                }
            }
            for (channel, (_, held)) in open {
                prop_assert_eq!(quota.held(channel), held);
            }
        }
    }

    #[test]
    fn what_would_be_freed_counts_as_free() {
        let mut quota = Quota::new(Limits {
            channel_entries: 30,
            user_entries: 40,
            ..MANY
        });
        for (channel, id) in [7, 7, 8].into_iter().enumerate() {
            quota.open(channel as u32, user(id)).unwrap();
        }
        assert_eq!((quota.take(0, 20), quota.take(1, 20)), (Ok(()), Ok(())));
        let would = |freed: [u32; 3], wanted| {
            let mut all = [0; chan::COUNT];
            all[..3].copy_from_slice(&freed);
            quota.would_take(0, wanted, &all)
        };
        assert!(!would([0; 3], 1) && !would([0, 0, 20], 1));
        assert!(would([0, 1, 0], 1) && would([3, 7, 0], 10));
        // The channel's own limit, too.
        assert!(would([0, 20, 0], 10) && !would([0, 20, 0], 11));
        assert!(would([1, 20, 0], 11));
        assert!(quota.take(0, 1).is_err());
    }

    #[test]
    fn the_most_is_what_an_empty_account_allows() {
        let limits = Limits {
            channel_entries: 30,
            user_entries: 20,
            ..MANY
        };
        let mut quota = Quota::new(limits);
        for (channel, exempt) in [(0, false), (1, true)] {
            quota
                .open(
                    channel,
                    User {
                        id: channel,
                        exempt,
                    },
                )
                .unwrap();
            let most = quota.most(channel);
            assert_eq!(most, if exempt { 30 } else { 20 });
            assert!(quota.take(channel, most + 1).is_err());
            assert!(quota.take(channel, most).is_ok());
        }
    }
}
