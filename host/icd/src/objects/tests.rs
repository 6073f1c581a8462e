//! Orders of events that are rare between threads.

use std::sync::Once;

use super::*;

fn set_up_once() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| assert!(set_up(null_mut())));
}

fn new(raw: usize, kind: Kind, owner: Handle) -> Handle {
    set_up_once();
    adopt(raw as Handle, kind, owner, Held::nothing())
}

/// A callback still needs an event that the program has released; the vendor makes another event at its address.
#[test]
fn an_event_that_is_gone_does_not_take_the_next_one_with_it() {
    let raw = 0x1_0040 as Handle;
    let first = new(raw as usize, Kind::Event, null_mut());
    let need = Need::of(first, false).unwrap();
    assert_eq!(releasing(first, Kind::Event).0, raw);
    // The callback's thread has read the key when another one wraps the next event.
    let read = key(raw, Kind::Event as u32);
    let second = new(raw as usize, Kind::Event, null_mut());
    assert_ne!(first, second);
    drop(give_up_last(need.object, read, NEEDED));
    assert_eq!(known(raw, Kind::Event), second);
    assert_eq!(super::raw(first, Kind::Event), null_mut());
    assert_eq!(releasing(second, Kind::Event).0, raw);
    assert_eq!(known(raw, Kind::Event), null_mut());
}

/// A second release would take a child's reference.
#[test]
fn what_the_program_has_no_reference_to_is_not_released() {
    let context = new(0x2_0040, Kind::Context, null_mut());
    let queue = new(0x2_0080, Kind::Queue, context);
    assert_eq!(releasing(context, Kind::Queue).0, null_mut());
    assert_eq!(releasing(context, Kind::Context).0, 0x2_0040 as Handle);
    assert_eq!(releasing(context, Kind::Context).0, null_mut());
    assert_eq!(raw(context, Kind::Context), 0x2_0040 as Handle);
    assert_eq!(releasing(queue, Kind::Queue).0, 0x2_0080 as Handle);
    assert_eq!(raw(context, Kind::Context), null_mut());
    assert_eq!(releasing(queue, Kind::Queue).0, null_mut());
}

/// An address after the objects that were ever made is a plain number.
#[test]
fn numbers_are_not_taken_for_objects() {
    let buffer = new(0x3_0040, Kind::Mem, null_mut());
    assert!(was_ours(buffer));
    assert!(!was_ours(buffer.wrapping_byte_add(8)));
    assert_eq!(releasing(buffer, Kind::Mem).0, 0x3_0040 as Handle);
    assert!(was_ours(buffer));
    assert!(!was_ours(buffer.wrapping_byte_add((SLOTS - 1) / 2 * SIZE)));
    assert!(!was_ours(null_mut()) && !was_ours(64 as Handle));
}
