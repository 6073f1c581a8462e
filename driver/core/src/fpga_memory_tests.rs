use super::*;
use proptest::prelude::*;
use std::string::ToString;
use std::vec;
use std::vec::Vec;

const G: u64 = GRANULE;

fn token(number: u64) -> Token {
    Token([number, !number])
}

/// The user whose offers these are, where it does not matter.
const SOMEBODY: u32 = 1000;

/// An offer in this state of the memory.
fn offered(memory: &FpgaMemory, number: u64, user: u32) -> Content {
    Content::Offered {
        offer: Offer::new(token(number), user),
        epoch: memory.epoch(),
    }
}

fn put_up(memory: &mut FpgaMemory, channel: u32, number: u64) {
    let content = offered(memory, number, SOMEBODY);
    memory.free(channel, content);
}

#[test]
fn ranges_come_from_the_top_in_whole_granules() {
    assert_eq!(G, 65536);
    let mut memory = FpgaMemory::new(10 * G + 5, None);
    assert_eq!((memory.bytes(), memory.pool()), (10 * G, 0..10 * G));
    assert_eq!(memory.allocate(0, 1).unwrap().range, 9 * G..10 * G);
    assert_eq!(memory.allocate(1, G + 1).unwrap().range, 7 * G..9 * G);
    assert_eq!(memory.allocate(2, G).unwrap().range, 6 * G..7 * G);
    assert_eq!(memory.free_bytes(), 6 * G);
    memory.free(1, Content::Unknown);
    // The highest that fits; pieces next to each other are one.
    assert_eq!(memory.allocate(3, G).unwrap().range, 8 * G..9 * G);
    memory.free(2, Content::Unknown);
    assert_eq!(memory.allocate(4, 2 * G).unwrap().range, 6 * G..8 * G);
    assert_eq!(memory.held(4), Some(6 * G..8 * G));
    assert_eq!(memory.held(2), None);
}

#[test]
fn what_cannot_be_had_is_told() {
    let mut memory = FpgaMemory::new(4 * G, None);
    assert_eq!(memory.allocate(0, 0), Err(MemoryError::Empty));
    let refused = |wanted, largest| Err(MemoryError::Full { wanted, largest });
    assert_eq!(memory.allocate(0, 4 * G + 1), refused(4 * G + 1, 4 * G));
    assert_eq!(memory.allocate(0, u64::MAX), refused(u64::MAX, 4 * G));
    memory.allocate(0, G).unwrap();
    memory.allocate(1, G).unwrap();
    memory.allocate(2, G).unwrap();
    memory.free(1, Content::Unknown);
    assert_eq!(memory.allocate(3, 2 * G), refused(2 * G, G));
    for again in [
        memory.allocate(0, G),
        memory.allocate_all(0, 0),
        memory.take_over(0, token(0)),
    ] {
        assert_eq!(again, Err(MemoryError::Exists));
    }
    let none = chan::COUNT as u32;
    assert_eq!(memory.allocate(none, G), Err(MemoryError::Channel(none)));
    memory.free(none, Content::Unknown);
    assert_eq!(memory.held(none), None);
    let text = memory.allocate(3, 2 * G).unwrap_err().to_string();
    assert!(text.contains("the largest has 0x10000"), "{text}");
}

#[test]
fn one_channel_holds_all_that_is_not_allocated() {
    let mut memory = FpgaMemory::new(8 * G, None);
    memory.allocate(0, 2 * G).unwrap();
    let refused = MemoryError::Full {
        wanted: 7 * G,
        largest: 6 * G,
    };
    assert_eq!(memory.allocate_all(1, 7 * G), Err(refused));
    // Nothing of it is to be filled.
    let all = memory.allocate_all(1, 6 * G).unwrap();
    assert_eq!((all.range, all.ready), (0..6 * G, 6 * G));
    let held = Err(MemoryError::Held { channel: 1 });
    assert_eq!(memory.allocate_all(2, 0), held);
    assert!(memory.allocate(2, G).is_err());
    memory.free(0, Content::Unknown);
    assert_eq!(memory.allocate(2, G).unwrap().range, 7 * G..8 * G);
    // The content that it reports is not believed.
    put_up(&mut memory, 1, 1);
    assert_eq!(memory.take_over(1, token(1)), Err(MemoryError::NotOffered));
    memory.allocate_all(3, 0).unwrap();
}

#[test]
fn a_pool_leaves_the_rest_to_the_holder_of_all() {
    let mut memory = FpgaMemory::new(8 * G, Some(3 * G + 1));
    assert_eq!(memory.pool(), 5 * G..8 * G);
    memory.allocate(0, 2 * G).unwrap();
    let refused = MemoryError::Full {
        wanted: 2 * G,
        largest: G,
    };
    assert_eq!(memory.allocate(1, 2 * G), Err(refused));
    assert_eq!(memory.allocate_all(1, 0).unwrap().range, 0..5 * G);
    assert_eq!(memory.allocate(2, G).unwrap().range, 5 * G..6 * G);
    // A pool of nothing, and one of more than there is.
    let mut none = FpgaMemory::new(8 * G, Some(0));
    assert!(none.allocate(0, 1).is_err());
    assert_eq!(none.allocate_all(0, 8 * G).unwrap().range, 0..8 * G);
    assert_eq!(FpgaMemory::new(8 * G, Some(u64::MAX)).pool(), 0..8 * G);
}

#[test]
fn an_offer_is_for_who_has_its_token_once() {
    let mut memory = FpgaMemory::new(8 * G, None);
    memory.allocate(0, 2 * G).unwrap();
    put_up(&mut memory, 0, 7);
    let wrong = [[7, 7], [!7, 7], [6, !7], [0, 0]];
    for wrong in wrong.map(Token) {
        assert_eq!(memory.take_over(1, wrong), Err(MemoryError::NotOffered));
    }
    // Others take other memory, as long as there is some.
    assert_eq!(memory.allocate(2, G).unwrap().range, 5 * G..6 * G);
    let taken = memory.take_over(1, token(7)).unwrap();
    assert_eq!((taken.range, taken.ready), (6 * G..8 * G, 2 * G));
    memory.free(1, Content::Unknown);
    assert_eq!(memory.take_over(1, token(7)), Err(MemoryError::NotOffered));
    // After another channel got a part of it, it is not offered any more.
    memory.allocate(1, G).unwrap();
    put_up(&mut memory, 1, 8);
    assert_eq!(memory.allocate(3, 5 * G).unwrap().range, 0..5 * G);
    assert_eq!(memory.allocate(4, 2 * G).unwrap().ready, 0);
    assert_eq!(memory.take_over(1, token(8)), Err(MemoryError::NotOffered));
}

#[test]
fn a_restart_makes_everything_unknown() {
    let mut memory = FpgaMemory::new(8 * G, None);
    let grant = memory.allocate(0, 4 * G).unwrap();
    assert_eq!(memory.confirm(&grant), Ok(()));
    memory.allocate(1, G).unwrap();
    put_up(&mut memory, 1, 1);
    memory.forget();
    assert_eq!(memory.confirm(&grant), Err(MemoryError::Restarted));
    assert_eq!(memory.take_over(1, token(1)), Err(MemoryError::NotOffered));
    // Zeros that were filled before it are not believed either.
    let before = Content::Zeros {
        bytes: 4 * G,
        epoch: grant.epoch,
    };
    memory.free(0, before);
    assert_eq!(memory.allocate(0, 4 * G).unwrap().ready, 0);
}

#[test]
fn what_was_filled_already_is_found_again() {
    let mut memory = FpgaMemory::new(8 * G, None);
    let grant = memory.allocate(0, 4 * G).unwrap();
    let filled = |bytes| Content::Zeros {
        bytes,
        epoch: grant.epoch,
    };
    memory.free(0, filled(3 * G + 100));
    let again = memory.allocate(0, 4 * G).unwrap();
    assert_eq!((again.range, again.ready), (4 * G..8 * G, 3 * G + 100));
    // More than there was.
    memory.free(0, filled(u64::MAX));
    let part = memory.allocate(0, 3 * G).unwrap();
    assert_eq!((part.range, part.ready), (5 * G..8 * G, 3 * G));
    // The note about the other granule's zeros was dropped.
    assert_eq!(memory.allocate(1, G).unwrap().ready, 0);
}

/// Makes as many offers as there are notes; then the oldest is dropped.
#[test]
fn notes_are_bounded() {
    let mut memory = FpgaMemory::new(100 * G, None);
    for number in 0..NOTES as u64 + 2 {
        memory.allocate(0, G).unwrap();
        put_up(&mut memory, 0, number);
    }
    for number in 0..NOTES as u64 + 2 {
        let taken = memory.take_over(1, token(number));
        assert_eq!(taken.is_ok(), number >= 2, "{number}");
        memory.free(1, Content::Unknown);
    }
}

/// The board was started again after the range was taken from its owner and before the offer was noted.
#[test]
fn an_offer_of_before_a_restart_is_none() {
    let mut memory = FpgaMemory::new(8 * G, None);
    memory.allocate(0, G).unwrap();
    let content = offered(&memory, 1, SOMEBODY);
    memory.forget();
    memory.free(0, content);
    assert_eq!(memory.held(0), None);
    assert_eq!(memory.offered(token(1)), Err(MemoryError::NotOffered));
    assert_eq!(memory.take_over(1, token(1)), Err(MemoryError::NotOffered));
    // An offer that was made later is valid.
    memory.allocate(0, G).unwrap();
    put_up(&mut memory, 0, 2);
    assert!(memory.take_over(1, token(2)).is_ok());
}

/// Offers `count` granules for a user, by tokens from `first` on.
fn offer_many(memory: &mut FpgaMemory, user: u32, first: u64, count: u64) {
    for number in first..first + count {
        memory.allocate(0, G).unwrap();
        let content = offered(memory, number, user);
        memory.free(0, content);
    }
}

/// Returns which of the tokens of this range are still valid.
fn good(memory: &FpgaMemory, tokens: Range<u64>) -> Vec<u64> {
    tokens
        .filter(|number| memory.offered(token(*number)).is_ok())
        .collect()
}

#[test]
fn nobody_ends_offers_of_others_by_making_many() {
    const ALL: u64 = NOTES as u64;
    let mut memory = FpgaMemory::new(1000 * G, None);
    offer_many(&mut memory, 1, 0, 1);
    offer_many(&mut memory, 2, 1, 2);
    offer_many(&mut memory, 3, 1000, 200);
    assert_eq!(good(&memory, 0..3), [0, 1, 2]);
    let last = 1200 - (ALL - 3)..1200;
    assert_eq!(good(&memory, 1000..1200), last.collect::<Vec<_>>());
    // A later user still gets a part, from the user with most offers; up to a fair share.
    offer_many(&mut memory, 4, 2000, 200);
    assert_eq!(good(&memory, 0..3), [0, 1, 2]);
    let fair = ALL / 4;
    let last = 2200 - fair..2200;
    assert_eq!(good(&memory, 2000..2200), last.collect::<Vec<_>>());
    let rest = 1200 - (ALL - 3 - fair)..1200;
    assert_eq!(good(&memory, 1000..1200), rest.collect::<Vec<_>>());
}

/// If there are more users than notes, the user with the oldest offer loses it; of two users with equally many
/// offers, the one that makes another.
#[test]
fn among_equals_the_oldest_goes() {
    let users = NOTES as u64;
    let mut memory = FpgaMemory::new(1000 * G, None);
    for user in 0..=users {
        offer_many(&mut memory, user as u32, user, 1);
    }
    assert_eq!(good(&memory, 0..2), [1]);
    let mut memory = FpgaMemory::new(1000 * G, None);
    offer_many(&mut memory, 1, 0, users / 2);
    offer_many(&mut memory, 2, 100, users / 2 + 1);
    assert_eq!(good(&memory, 0..users / 2).len() as u64, users / 2);
    assert_eq!(good(&memory, 100..102), [101]);
}

/// A user who takes an offer over and fails does not make an offer: its first user is charged for it as before, and
/// its age does not change.
#[test]
fn an_offer_that_is_put_back_is_the_same() {
    const ALL: u64 = NOTES as u64;
    let put_back = |memory: &mut FpgaMemory, number| {
        let grant = memory.take_over(1, token(number)).unwrap();
        memory.free(1, grant.content(0));
    };
    // The taker has many offers of its own, and loses none of them, nor the offer that it took.
    let mut memory = FpgaMemory::new(1000 * G, None);
    offer_many(&mut memory, 1, 0, ALL / 2);
    offer_many(&mut memory, 2, 100, ALL / 2);
    put_back(&mut memory, 100);
    assert_eq!(good(&memory, 0..200).len(), NOTES);
    // The next offer of its user is one too many, and the oldest goes.
    offer_many(&mut memory, 2, 200, 1);
    assert_eq!(good(&memory, 0..200).len(), NOTES - 1);
    assert_eq!(good(&memory, 100..102), [101]);
    // An offer that is not the oldest, and with free places for notes.
    let mut memory = FpgaMemory::new(1000 * G, None);
    offer_many(&mut memory, 2, 0, 3);
    put_back(&mut memory, 1);
    offer_many(&mut memory, 2, 3, ALL - 1);
    assert_eq!(good(&memory, 0..4), [2, 3]);
}

/// Memory that is known to be zero saves work; an offer is a user's data.
#[test]
fn zeros_go_before_offers() {
    let mut memory = FpgaMemory::new(1000 * G, None);
    offer_many(&mut memory, 1, 0, NOTES as u64 - 1);
    memory.allocate(1, G).unwrap();
    let grant = memory.allocate(0, G).unwrap();
    let zeros = Content::Zeros {
        bytes: G,
        epoch: grant.epoch,
    };
    memory.free(0, zeros);
    assert_eq!(memory.allocate(0, G).unwrap().ready, G);
    memory.free(0, zeros);
    let content = offered(&memory, 99, 1);
    memory.free(1, content);
    assert_eq!(good(&memory, 0..100).len(), NOTES);
    // The zeros have gone for it, and nothing goes for zeros.
    assert_eq!(memory.allocate(0, G).unwrap().ready, 0);
    memory.free(0, zeros);
    assert_eq!(good(&memory, 0..100).len(), NOTES);
    assert_eq!(memory.allocate(0, G).unwrap().ready, 0);
}

#[test]
fn what_a_user_is_charged_for() {
    let mut memory = FpgaMemory::new(8 * G, None);
    assert_eq!(FpgaMemory::rounded(1), G);
    assert_eq!(FpgaMemory::rounded(G), G);
    assert_eq!(FpgaMemory::rounded(u64::MAX), u64::MAX);
    memory.allocate(0, G + 1).unwrap();
    assert_eq!((memory.charged(0), memory.charged(1)), (2 * G, 0));
    memory.allocate_all(1, 0).unwrap();
    assert_eq!(memory.charged(1), 0);
    assert_eq!(memory.charged(chan::COUNT as u32), 0);
    // Memory that is offered belongs to no channel until it is taken over.
    assert_eq!(memory.offered(token(3)), Err(MemoryError::NotOffered));
    put_up(&mut memory, 0, 3);
    assert_eq!(
        (memory.charged(0), memory.offered(token(3))),
        (0, Ok(2 * G))
    );
    memory.take_over(2, token(3)).unwrap();
    assert_eq!(memory.charged(2), 2 * G);
}

#[test]
fn a_token_is_not_printed() {
    assert_eq!(std::format!("{:?}", token(1234)), "Token");
}

/// Model of a granule: its owner, the process whose data are in it, and its offer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Granule {
    owner: Option<u32>,
    /// The process that stored something last, if any has since it was filled with zeros.
    data_of: Option<u32>,
    offer: Option<u64>,
}

#[derive(Debug, Clone)]
enum Act {
    Allocate {
        channel: u32,
        granules: u64,
    },
    /// The driver fills a part of the granted memory and is interrupted.
    Interrupted {
        channel: u32,
        granules: u64,
        filled: u64,
    },
    All {
        channel: u32,
        least: u64,
    },
    Free {
        channel: u32,
    },
    Offer {
        channel: u32,
    },
    TakeOver {
        channel: u32,
        offer: u64,
    },
    Forget,
}

const CHANNELS: u32 = 6;
const GRANULES: u64 = 24;

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let channel = 0..CHANNELS;
    let act = prop_oneof![
        6 => (channel.clone(), 0..9u64).prop_map(|(channel, granules)| Act::Allocate { channel, granules }),
        2 => (channel.clone(), 1..9u64, 0..9u64)
            .prop_map(|(channel, granules, filled)| Act::Interrupted { channel, granules, filled }),
        1 => (channel.clone(), 0..GRANULES).prop_map(|(channel, least)| Act::All { channel, least }),
        4 => channel.clone().prop_map(|channel| Act::Free { channel }),
        2 => channel.clone().prop_map(|channel| Act::Offer { channel }),
        2 => (channel, 0..20u64).prop_map(|(channel, offer)| Act::TakeOver { channel, offer }),
        1 => Just(Act::Forget),
    ];
    prop::collection::vec(act, 0..80)
}

/// The memory and its model, which looks at each granule separately.
struct Bench {
    memory: FpgaMemory,
    model: Vec<Granule>,
    holder: Option<u32>,
    /// Granules of each offer that was made. There are never more at a time than notes, for each has a granule of its
    /// own.
    offers: Vec<u64>,
    pool: u64,
}

impl Bench {
    fn has(&self, channel: u32) -> bool {
        self.model
            .iter()
            .any(|granule| granule.owner == Some(channel))
    }

    /// Returns the highest first granule of so many granules in a row in the pool. With `avoid`, offered granules are
    /// avoided.
    fn highest(&self, granules: u64, avoid: bool) -> Option<u64> {
        let usable = |index: u64| {
            let granule = &self.model[index as usize];
            granule.owner.is_none() && !(avoid && granule.offer.is_some())
        };
        let last = GRANULES.checked_sub(granules)?;
        (self.pool..=last)
            .rev()
            .find(|first| (*first..first + granules).all(usable))
    }

    /// Applies a grant to the model. The part that is reported ready must not contain data of another process, unless
    /// `as_is`.
    fn granted(&mut self, channel: u32, grant: &Grant, as_is: bool) {
        let Range { start, end } = grant.range;
        assert!(start < end && start % G == 0 && end % G == 0, "{grant:?}");
        for index in start / G..end / G {
            let granule = &mut self.model[index as usize];
            assert_eq!(granule.owner, None, "{grant:?}");
            let ready = (index + 1) * G <= start + grant.ready;
            assert!(as_is || !ready || granule.data_of.is_none(), "{grant:?}");
            granule.owner = Some(channel);
            granule.offer = None;
        }
        self.spoil_offers();
    }

    /// Ends offers that are not complete any more.
    fn spoil_offers(&mut self) {
        let count = |model: &[Granule], offer| {
            model
                .iter()
                .filter(|granule| granule.offer == Some(offer))
                .count() as u64
        };
        for index in 0..self.model.len() {
            let Some(offer) = self.model[index].offer else {
                continue;
            };
            if count(&self.model, offer) < self.offers[offer as usize] {
                for granule in &mut self.model {
                    granule.offer = granule.offer.filter(|other| *other != offer);
                }
            }
        }
    }

    fn release(&mut self, channel: u32, offer: Option<u64>) {
        let held = self.holder == Some(channel);
        for granule in &mut self.model {
            if granule.owner == Some(channel) {
                granule.owner = None;
                granule.offer = offer.filter(|_| !held);
            }
        }
        if held {
            self.holder = None;
        }
    }

    /// The process stores something everywhere.
    fn used(&mut self, channel: u32) {
        for granule in &mut self.model {
            if granule.owner == Some(channel) {
                granule.data_of = Some(channel);
            }
        }
    }

    fn allocate(&mut self, channel: u32, granules: u64) -> Option<Grant> {
        let place = (self.highest(granules, true)).or_else(|| self.highest(granules, false));
        let expected = place.filter(|_| granules > 0 && !self.has(channel));
        let result = self.memory.allocate(channel, granules * G);
        assert_eq!(
            result.as_ref().ok().map(|grant| grant.range.start / G),
            expected,
            "{result:?}"
        );
        let grant = result.ok()?;
        assert_eq!(grant.range.end - grant.range.start, granules * G);
        self.granted(channel, &grant, false);
        Some(grant)
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Allocate { channel, granules } => {
                if self.allocate(channel, granules).is_some() {
                    self.used(channel);
                }
            }
            Act::Interrupted {
                channel,
                granules,
                filled,
            } => {
                let Some(grant) = self.allocate(channel, granules) else {
                    return;
                };
                let first = grant.range.start / G;
                let filled = (grant.ready / G).max(filled).min(granules);
                for granule in &mut self.model[first as usize..(first + filled) as usize] {
                    granule.data_of = None;
                }
                let content = Content::Zeros {
                    bytes: filled * G,
                    epoch: grant.epoch,
                };
                self.memory.free(channel, content);
                self.release(channel, None);
            }
            Act::All { channel, least } => {
                let lowest = self
                    .model
                    .iter()
                    .position(|granule| granule.owner.is_some());
                let limit = if self.pool == 0 { GRANULES } else { self.pool };
                let end = lowest.map_or(limit, |lowest| limit.min(lowest as u64));
                let may = self.holder.is_none() && !self.has(channel) && end >= least.max(1);
                let result = self.memory.allocate_all(channel, least * G);
                assert_eq!(result.is_ok(), may, "{result:?}");
                if let Ok(grant) = result {
                    assert_eq!(grant.range, 0..end * G);
                    self.holder = Some(channel);
                    self.granted(channel, &grant, true);
                    self.used(channel);
                }
            }
            Act::Free { channel } => {
                self.memory.free(channel, Content::Unknown);
                self.release(channel, None);
            }
            Act::Offer { channel } => {
                let mine = (self.model.iter()).filter(|granule| granule.owner == Some(channel));
                let granules = mine.count() as u64;
                let offer = self.offers.len() as u64;
                self.offers.push(granules);
                put_up(&mut self.memory, channel, offer);
                self.release(channel, Some(offer));
            }
            Act::TakeOver { channel, offer } => {
                let offered: Vec<u64> = (0..GRANULES)
                    .filter(|index| self.model[*index as usize].offer == Some(offer))
                    .collect();
                let may = !self.has(channel) && !offered.is_empty();
                let result = self.memory.take_over(channel, token(offer));
                assert_eq!(result.is_ok(), may, "{result:?}");
                if let Ok(grant) = result {
                    let granules: Vec<u64> = (grant.range.start / G..grant.range.end / G).collect();
                    assert_eq!(granules, offered);
                    self.granted(channel, &grant, true);
                    self.used(channel);
                }
            }
            Act::Forget => {
                self.memory.forget();
                for granule in &mut self.model {
                    granule.offer = None;
                    // It may contain anything now.
                    granule.data_of = Some(u32::MAX);
                }
            }
        }
        let owned = |channel| {
            let mine = (0..GRANULES).filter(|&i| self.model[i as usize].owner == Some(channel));
            mine.clone()
                .min()
                .map(|first| first * G..(mine.max().unwrap() + 1) * G)
        };
        for channel in 0..CHANNELS {
            assert_eq!(self.memory.held(channel), owned(channel));
        }
        let free = self.model.iter().filter(|granule| granule.owner.is_none());
        assert_eq!(self.memory.free_bytes(), free.count() as u64 * G);
    }
}

proptest! {
    /// Ranges never overlap and are where they should be. In any order of calls, no process sees data of others that
    /// they did not offer.
    #[test]
    fn it_does_what_its_model_does(acts in acts(), pool in prop::option::of(0..=GRANULES)) {
        let memory = FpgaMemory::new(GRANULES * G, pool.map(|pool| pool * G));
        let unknown = Granule { data_of: Some(u32::MAX), ..Granule::default() };
        let mut bench = Bench {
            memory,
            model: vec![unknown; GRANULES as usize],
            holder: None,
            offers: Vec::new(),
            pool: GRANULES - pool.unwrap_or(GRANULES),
        };
        for act in acts {
            bench.act(act);
        }
    }
}
