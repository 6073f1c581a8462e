//! Changes that change the hashes, and changes that do not.

use peerlane_regmap::Map;

const SMALL: &str = include_str!("small.toml");

fn map(text: &str) -> Map {
    match Map::parse(text, "small.toml") {
        Ok(map) => map,
        Err(errors) => panic!("{errors}"),
    }
}

/// Returns the small map with one change.
fn edited(from: &str, to: &str) -> Map {
    assert_eq!(SMALL.matches(from).count(), 1, "{from:?}");
    map(&SMALL.replace(from, to))
}

#[test]
fn wording_does_not_count() {
    let id = map(SMALL).map_id();
    for (from, to) in [
        ("# A small map", "# The small map"),
        ("doc = \"How fast.\"", "doc = \"The speed.\""),
        ("doc = \"An item.\"", "doc = \"A thing.\""),
        ("unit = \"words\"", "unit = \"bytes\""),
        ("doc = \"Modes.\"", "doc = \"Ways.\""),
        ("offset = 0x20", "offset = 32"),
        ("bits = \"4\"", "bits = \"4:4\""),
    ] {
        assert_eq!(edited(from, to).map_id(), id, "{to}");
    }
}

#[test]
fn order_does_not_count() {
    let mut blocks: Vec<&str> = SMALL.split("\n[[block]]\n").collect();
    let records = blocks[2].find("\n[[record]]").unwrap();
    let (table, rest) = blocks[2].split_at(records);
    blocks[2] = table;
    let swapped = format!(
        "{}\n[[block]]\n{}\n[[block]]\n{}{rest}",
        blocks[0], blocks[2], blocks[1]
    );
    assert_ne!(swapped, SMALL);
    assert_eq!(map(&swapped).map_id(), map(SMALL).map_id());
}

#[test]
fn structure_counts() {
    let changes: &[&[(&str, &str)]] = &[
        &[("name = \"tiny\"", "name = \"other\"")],
        &[("version = 7", "version = 8")],
        &[("name = \"SLOW\"", "name = \"IDLE\"")],
        &[("name = \"SLOW\"\nvalue = 0", "name = \"SLOW\"\nvalue = 1")],
        &[("size = 0x40", "size = 0x80")],
        &[("size = 0x20", "size = 0x40")],
        &[("offset = 0x08", "offset = 0x10")],
        &[("name = \"start\"", "name = \"run\"")],
        &[("bits = \"4\"", "bits = \"6\"")],
        &[("bits = \"15:8\"", "bits = \"16:8\"")],
        &[("access = \"pulse\"", "access = \"w1c\"")],
        &[("reset = 0x1000001", "reset = 0x1000002")],
        &[("max = 200", "max = 201")],
        &[("min = 1", "min = 2")],
        &[("constant = \"map_id\"\n", "")],
        &[("enum = \"mode\"\nreset = 2", "reset = 2")],
        &[("count = 4", "count = 2")],
        &[
            ("type = \"u32\"", "type = \"u64\""),
            ("reserved = [\"0x0c..0x10\"]", ""),
            ("bits = \"31:0\"\nmin", "bits = \"63:0\"\nmin"),
        ],
        &[
            (
                "bits = \"1:0\"\nenum = \"mode\"\ndoc",
                "bits = \"2:0\"\nenum = \"mode\"\ndoc",
            ),
            ("[\"11:2\"]", "[\"11:3\"]"),
        ],
    ];
    let mut ids = vec![map(SMALL).map_id()];
    for change in changes {
        let mut text = SMALL.to_owned();
        for (from, to) in *change {
            assert_eq!(text.matches(from).count(), 1, "{from:?}");
            text = text.replace(from, to);
        }
        ids.push(map(&text).map_id());
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "two different maps have the same hash");
}

/// Written by hand after the map file; the hashes below by another program from this text.
const CANONICAL: &str = "\
map tiny version 7
bits item.length.bytes at 0 width 32 min 1
bits item.place.address at 12 width 52
bits item.place.mode at 0 width 2 enum mode
block ctl size 64 count 1
block slots size 32 count 1
enum mode FAST = 2
enum mode SLOW = 0
field ctl.BASE.address at 12 width 28 rw reset 16777217
field ctl.ID.value at 0 width 32 ro reset 0 constant map_id
field ctl.SETUP.done at 5 width 1 w1c reset 0
field ctl.SETUP.fill at 8 width 8 ro reset 0 max 200
field ctl.SETUP.mode at 0 width 2 rw reset 2 enum mode
field ctl.SETUP.start at 4 width 1 pulse reset 0
field ctl.SLOT.value at 0 width 64 wo reset 0
member item.length at 8 width 32
member item.place at 0 width 64
record item size 16
register ctl.BASE at 8 width 64 count 1 stride 8
register ctl.ID at 0 width 32 count 1 stride 4
register ctl.SETUP at 4 width 32 count 1 stride 4
register ctl.SLOT at 32 width 64 count 4 stride 8
table slots item entries 2
";

#[test]
fn the_hash_is_what_it_says() {
    let map = map(SMALL);
    assert_eq!(map.canonical(), CANONICAL);
    assert_eq!(map.map_id(), 0xf108_5ad1);
    assert_eq!(map.build_id("a=1 b=2"), 0xc110_2ae1);
}

#[test]
fn build_parameters_count() {
    let map = map(SMALL);
    assert_ne!(map.build_id("port_bits=128"), map.build_id("port_bits=256"));
    assert_ne!(map.build_id(""), map.map_id());
    assert_eq!(map.build_id("port_bits=128"), map.build_id("port_bits=128"));
    assert_ne!(
        map.build_id("port_bits=128"),
        edited("version = 7", "version = 8").build_id("port_bits=128")
    );
}
