//! Random maps: a valid one passes and every emitter takes it; a map with an injected fault is refused at the line of
//! the fault.

use std::fmt::Write;

use peerlane_regmap::{ErrorKind, Map, emit, ones};
use proptest::prelude::*;

#[derive(Debug, Clone)]
struct Field {
    gap: u32,
    width: u32,
    access: &'static str,
    reset: u64,
}

#[derive(Debug, Clone)]
struct Register {
    gap: u64,
    width: u32,
    /// log2 of the elements.
    count_log2: u32,
    fields: Vec<Field>,
}

#[derive(Debug, Clone)]
struct Spec {
    registers: Vec<Register>,
    /// Sizes of record members in bytes, with the number of reserved words before each.
    members: Vec<(u64, u64)>,
}

fn field() -> impl Strategy<Value = Field> {
    let access = prop::sample::select(vec!["ro", "rw", "w1c", "pulse"]);
    (0..8u32, 1..24u32, access, any::<u64>()).prop_map(|(gap, width, access, reset)| Field {
        gap,
        width: if matches!(access, "w1c" | "pulse") {
            1
        } else {
            width
        },
        access,
        reset,
    })
}

fn register() -> impl Strategy<Value = Register> {
    let fields = prop::collection::vec(field(), 1..6);
    (0..4u64, any::<bool>(), 0..4u32, fields).prop_map(|(gap, wide, count_log2, fields)| Register {
        gap,
        width: if wide { 64 } else { 32 },
        count_log2,
        fields,
    })
}

fn spec() -> impl Strategy<Value = Spec> {
    let members = prop::collection::vec((prop::sample::select(vec![4u64, 8]), 0..3u64), 1..6);
    (prop::collection::vec(register(), 1..8), members)
        .prop_map(|(registers, members)| Spec { registers, members })
}

/// Returns the text of the map: a valid one for every specification.
fn text(spec: &Spec) -> String {
    let mut t = String::from("name = \"random\"\nversion = 1\ndoc = \"Random.\"\n");
    writeln!(
        t,
        "[[block]]\nname = \"regs\"\nsize = 0x1000\ndoc = \"Registers.\""
    )
    .unwrap();
    let mut offset = 0;
    for (index, r) in spec.registers.iter().enumerate() {
        let bytes = u64::from(r.width / 8);
        let span = bytes << r.count_log2;
        offset = (offset + 4 * r.gap).next_multiple_of(span);
        writeln!(
            t,
            "[[block.register]]\nname = \"R{index}\"\noffset = {offset}"
        )
        .unwrap();
        writeln!(t, "width = {}\ndoc = \"Register.\"", r.width).unwrap();
        if r.count_log2 > 0 {
            writeln!(t, "count = {}", 1 << r.count_log2).unwrap();
        }
        offset += span;
        let mut lsb = 0;
        for (index, f) in r.fields.iter().enumerate() {
            let low = lsb + f.gap;
            let high = low + f.width - 1;
            // The first field always fits.
            if high >= r.width {
                break;
            }
            lsb = high + 1;
            // Arrays have wo fields only.
            let access = if r.count_log2 > 0 { "wo" } else { f.access };
            writeln!(t, "[[block.register.field]]\nname = \"f{index}\"").unwrap();
            writeln!(
                t,
                "bits = \"{high}:{low}\"\naccess = \"{access}\"\ndoc = \"Field.\""
            )
            .unwrap();
            if matches!(access, "rw" | "w1c") {
                writeln!(t, "reset = {}", f.reset & ones(f.width) & (i64::MAX as u64)).unwrap();
            }
        }
    }
    let mut at = 0;
    let mut reserved = Vec::new();
    let mut members = String::new();
    for (index, (bytes, gap)) in spec.members.iter().enumerate() {
        let offset = (at + 4 * gap).next_multiple_of(*bytes);
        if offset > at {
            reserved.push(format!("\"{at}..{offset}\""));
        }
        at = offset + bytes;
        let bits = bytes * 8;
        writeln!(
            members,
            "[[record.member]]\nname = \"m{index}\"\ntype = \"u{bits}\""
        )
        .unwrap();
        writeln!(
            members,
            "offset = {offset}\ndoc = \"Member.\"\nreserved = [\"3\"]"
        )
        .unwrap();
        for (name, high, low) in [("low", 2, 0), ("high", bits - 1, 4)] {
            writeln!(members, "[[record.member.field]]\nname = \"{name}\"").unwrap();
            writeln!(members, "bits = \"{high}:{low}\"\ndoc = \"Bits.\"").unwrap();
        }
    }
    if at % 8 != 0 {
        reserved.push(format!("\"{at}..{}\"", at + 4));
        at += 4;
    }
    let reserved = reserved.join(", ");
    writeln!(
        t,
        "[[record]]\nname = \"rec\"\nsize = {at}\ndoc = \"Record.\""
    )
    .unwrap();
    writeln!(t, "reserved = [{reserved}]\n{members}").unwrap();
    t
}

/// A way to corrupt a line: the beginning of lines that it applies to, the change of a line, and whether the error is
/// the expected one.
type Spoiler = (&'static str, fn(&str) -> String, fn(&ErrorKind) -> bool);

const SPOILERS: &[Spoiler] = &[
    (
        "name = \"R",
        |_| "name = \"WIRE\"".into(),
        |k| matches!(k, ErrorKind::ReservedWord { .. }),
    ),
    (
        "name = \"R",
        |l| l.to_lowercase(),
        |k| matches!(k, ErrorKind::Name { .. }),
    ),
    (
        "name = \"f",
        |_| "name = \"fn\"".into(),
        |k| matches!(k, ErrorKind::ReservedWord { .. }),
    ),
    (
        "name = \"m",
        |l| l.replace("\"m", "\"M"),
        |k| matches!(k, ErrorKind::Name { .. }),
    ),
    (
        "offset = ",
        |l| format!("offset = {}", l[9..].parse::<u64>().unwrap() + 1),
        |k| matches!(k, ErrorKind::Unaligned { .. } | ErrorKind::Overflow { .. }),
    ),
    (
        "offset = ",
        |_| "offset = 0x100000".into(),
        |k| matches!(k, ErrorKind::Overflow { .. }),
    ),
    (
        "bits = ",
        |_| "bits = \"70:69\"".into(),
        |k| matches!(k, ErrorKind::Overflow { .. }),
    ),
    (
        "bits = ",
        |_| "bits = \"a\"".into(),
        |k| matches!(k, ErrorKind::Range(_)),
    ),
    (
        "access = ",
        |_| "access = \"r\"".into(),
        |k| matches!(k, ErrorKind::Access(_)),
    ),
    (
        "reset = ",
        |_| "reset = 0x7fffffffffffffff".into(),
        |k| matches!(k, ErrorKind::Reset { .. }),
    ),
    (
        "doc = ",
        |_| "doc = \"\"".into(),
        |k| matches!(k, ErrorKind::NoDoc),
    ),
    (
        "type = ",
        |_| "type = \"u16\"".into(),
        |k| matches!(k, ErrorKind::Width(_)),
    ),
    (
        "width = ",
        |_| "width = 16".into(),
        |k| matches!(k, ErrorKind::Width(_)),
    ),
    (
        "count = ",
        |_| "count = 0".into(),
        |k| matches!(k, ErrorKind::Number { .. }),
    ),
    (
        "size = ",
        |_| "size = 0".into(),
        |k| matches!(k, ErrorKind::Number { .. }),
    ),
    (
        "version = ",
        |_| "version = true".into(),
        |k| matches!(k, ErrorKind::Syntax(_)),
    ),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_valid_map_passes(spec in spec()) {
        let text = text(&spec);
        let map = Map::parse(&text, "random.toml");
        let map = map.map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        prop_assert_eq!(map.block("regs").unwrap().registers().len(), spec.registers.len());
        for files in [
            emit::rtl(&map), emit::host(&map), emit::c(&map),
            emit::markdown(&map), emit::html(&map), emit::systemrdl(&map),
        ] {
            prop_assert!(files.iter().all(|f| !f.text.is_empty()));
        }
    }

    #[test]
    fn a_spoilt_map_is_refused_at_its_line(
        spec in spec(),
        spoiler in prop::sample::select(SPOILERS),
        pick in any::<prop::sample::Index>(),
    ) {
        let (start, spoil, expected) = spoiler;
        let mut lines: Vec<String> = text(&spec).lines().map(str::to_owned).collect();
        let places: Vec<usize> = (0..lines.len()).filter(|i| lines[*i].starts_with(start)).collect();
        prop_assume!(!places.is_empty());
        let line = places[pick.index(places.len())];
        lines[line] = spoil(&lines[line]);
        let errors = Map::parse(&lines.join("\n"), "random.toml");
        let Err(errors) = errors else {
            return Err(TestCaseError::fail(format!("accepted: {}", lines[line])));
        };
        prop_assert!(
            errors.errors.iter().any(|e| e.line == line + 1 && expected(&e.kind)),
            "line {}: {}\n{errors}", line + 1, lines[line]
        );
    }

    /// Two registers or fields moved onto each other, and reserved ranges taken away.
    #[test]
    fn overlaps_and_gaps_are_refused(spec in spec(), pick in any::<prop::sample::Index>()) {
        let good = text(&spec);
        let offsets: Vec<&str> = good.lines().filter(|l| l.starts_with("offset = ")).take(spec.registers.len()).collect();
        if offsets.len() > 1 {
            let victim = 1 + pick.index(offsets.len() - 1);
            let from = format!("name = \"R{victim}\"\n{}\n", offsets[victim]);
            let bad = good.replace(&from, &format!("name = \"R{victim}\"\n{}\n", offsets[0]));
            let errors = Map::parse(&bad, "random.toml").unwrap_err();
            let found = errors.errors.iter().any(|e| matches!(e.kind, ErrorKind::Overlap { .. }));
            prop_assert!(found, "{errors}");
        }
        let bad = good.replacen("reserved = [\"3\"]", "reserved = []", 1);
        let errors = Map::parse(&bad, "random.toml").unwrap_err();
        prop_assert_eq!(errors.errors.len(), 1);
        prop_assert_eq!(&errors.errors[0].kind, &ErrorKind::Gap("bit 3".into()));
        prop_assert_eq!(&errors.errors[0].place, "record rec, member m0");
    }
}
