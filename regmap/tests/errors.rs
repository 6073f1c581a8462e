//! One test for each kind of error: kind, line, and the item it names.

use peerlane_regmap::{ErrorKind, Map, MapErrors};

const SMALL: &str = include_str!("small.toml");

/// The errors of the small map after `from` (which must be there once) became `to`.
fn edited(from: &str, to: &str) -> MapErrors {
    assert_eq!(SMALL.matches(from).count(), 1, "{from:?}");
    match Map::parse(&SMALL.replace(from, to), "small.toml") {
        Ok(_) => panic!("the change was accepted: {to:?}"),
        Err(errors) => errors,
    }
}

/// Expects exactly one error: its item, the text of its line, its kind.
fn expect(from: &str, to: &str, place: &str, line: &str, kind: ErrorKind) {
    let errors = edited(from, to);
    let text = SMALL.replace(from, to);
    let [error] = errors.errors.as_slice() else {
        panic!("expected one error:\n{errors}")
    };
    assert_eq!(error.kind, kind);
    assert_eq!(error.place, place);
    assert_eq!(text.lines().nth(error.line - 1), Some(line));
    assert_eq!(error.file, "small.toml");
    assert!(!error.hint.is_empty());
    let head = format!("small.toml:{}:{}: {place}: ", error.line, error.column);
    assert!(error.to_string().starts_with(&head), "{error}");
}

const FILL: &str = "register ctl.SETUP, field fill";
const MODE: &str = "register ctl.SETUP, field mode";

#[test]
fn the_small_map_is_right() {
    if let Err(errors) = Map::parse(SMALL, "small.toml") {
        panic!("{errors}");
    }
}

#[test]
fn not_toml() {
    let errors = edited("version = 7", "version = = 7");
    assert!(matches!(errors.errors[0].kind, ErrorKind::Syntax(_)));
    assert_eq!(errors.errors[0].line, 4);
}

#[test]
fn unknown_key() {
    let errors = edited("offset = 0x04", "offset = 0x04\noffste = 1");
    let ErrorKind::Syntax(message) = &errors.errors[0].kind else {
        panic!("{errors}")
    };
    assert!(message.contains("offste"), "{message}");
    let line = 1 + SMALL.lines().position(|l| l == "offset = 0x04").unwrap();
    assert_eq!(errors.errors[0].line, line + 1);
}

#[test]
fn wrong_type() {
    let errors = edited("version = 7", "version = \"7\"");
    assert!(matches!(errors.errors[0].kind, ErrorKind::Syntax(_)));
}

#[test]
fn name_not_in_its_case() {
    let kind = ErrorKind::Name {
        name: "Setup".into(),
        case: "UPPER_CASE",
    };
    expect(
        "\"SETUP\"",
        "\"Setup\"",
        "register ctl.Setup",
        "name = \"Setup\"",
        kind,
    );
    let kind = ErrorKind::Name {
        name: "FILL".into(),
        case: "snake_case",
    };
    let place = "register ctl.SETUP, field FILL";
    expect("\"fill\"", "\"FILL\"", place, "name = \"FILL\"", kind);
}

#[test]
fn reserved_words() {
    for (word, language) in [
        ("release", "Verilog"),
        ("volatile", "C"),
        ("move", "Rust"),
        ("regfile", "SystemRDL"),
    ] {
        let kind = ErrorKind::ReservedWord {
            name: word.into(),
            language,
        };
        let place = format!("register ctl.SETUP, field {word}");
        let line = format!("name = \"{word}\"");
        expect("\"fill\"", &format!("\"{word}\""), &place, &line, kind);
    }
}

#[test]
fn duplicate_register() {
    let errors = edited("\"BASE\"", "\"SETUP\"");
    let kind = ErrorKind::Duplicate("SETUP".into());
    assert!(errors.errors.iter().any(|e| e.kind == kind), "{errors}");
}

#[test]
fn duplicate_field() {
    let kind = ErrorKind::Duplicate("start".into());
    expect(
        "\"done\"",
        "\"start\"",
        "register ctl.SETUP",
        "name = \"start\"",
        kind,
    );
}

#[test]
fn duplicate_value() {
    let kind = ErrorKind::Overlap {
        range: "the value 2".into(),
        other: "SLOW".into(),
    };
    let from = "name = \"SLOW\"\nvalue = 0";
    let to = "name = \"SLOW\"\nvalue = 2";
    expect(from, to, "enum mode, variant FAST", "value = 2", kind);
}

#[test]
fn colliding_generated_names() {
    let kind = ErrorKind::Collision {
        name: "BASE_ADDRESS".into(),
        other: "register ctl.BASE".into(),
    };
    let place = "register ctl.BASE_ADDRESS";
    expect(
        "\"SLOT\"",
        "\"BASE_ADDRESS\"",
        place,
        "name = \"BASE_ADDRESS\"",
        kind,
    );
    let kind = ErrorKind::Collision {
        name: "READDATA".into(),
        other: "a port of the slave".into(),
    };
    let place = "register ctl.READDATA";
    expect(
        "\"SLOT\"",
        "\"READDATA\"",
        place,
        "name = \"READDATA\"",
        kind,
    );
    let kind = ErrorKind::Collision {
        name: "SETUP_DONE_SET".into(),
        other: "register ctl.SETUP".into(),
    };
    let place = "register ctl.SETUP_DONE_SET";
    expect(
        "\"SLOT\"",
        "\"SETUP_DONE_SET\"",
        place,
        "name = \"SETUP_DONE_SET\"",
        kind,
    );
}

#[test]
fn colliding_top_level_names() {
    let errors = edited("name = \"slots\"", "name = \"item\"");
    let kind = ErrorKind::Collision {
        name: "item".into(),
        other: "a record".into(),
    };
    assert!(errors.errors.iter().any(|e| e.kind == kind), "{errors}");
}

#[test]
fn no_doc() {
    let line = "doc = \"  \"";
    expect("doc = \"Fill level.\"", line, FILL, line, ErrorKind::NoDoc);
}

#[test]
fn nothing_in_it() {
    let text =
        "name = \"a\"\nversion = 1\ndoc = \"d\"\n[[block]]\nname = \"b\"\nsize = 8\ndoc = \"d\"\n";
    let errors = Map::parse(text, "a.toml").unwrap_err();
    assert_eq!(errors.errors.len(), 1);
    assert_eq!(errors.errors[0].kind, ErrorKind::Empty("register"));
    assert_eq!(errors.errors[0].line, 5);
}

#[test]
fn number_out_of_range() {
    let kind = ErrorKind::Number {
        value: 0,
        min: 1,
        max: u32::MAX.into(),
    };
    expect("version = 7", "version = 0", "map", "version = 0", kind);
}

#[test]
fn not_a_range() {
    let line = "bits = \"8:15\"";
    expect(
        "bits = \"15:8\"",
        line,
        FILL,
        line,
        ErrorKind::Range("8:15".into()),
    );
}

#[test]
fn field_beyond_the_register() {
    let kind = ErrorKind::Overflow {
        range: "bits 32:8".into(),
        end: 32,
    };
    let line = "bits = \"32:8\"";
    expect("bits = \"15:8\"", line, FILL, line, kind);
}

#[test]
fn register_beyond_the_block() {
    let kind = ErrorKind::Overflow {
        range: "the register at 0x100".into(),
        end: 0x40,
    };
    let line = "offset = 0x100";
    expect("offset = 0x20", line, "register ctl.SLOT", line, kind);
}

#[test]
fn member_beyond_the_record() {
    let errors = edited("offset = 8", "offset = 16");
    let kind = ErrorKind::Overflow {
        range: "the member at 0x10".into(),
        end: 16,
    };
    let there = errors.errors.iter().find(|e| e.kind == kind).unwrap();
    assert_eq!(there.place, "record item, member length");
}

#[test]
fn overlapping_fields() {
    let kind = ErrorKind::Overlap {
        range: "bits 15:5".into(),
        other: "done (bit 5)".into(),
    };
    let line = "bits = \"15:5\"";
    expect("bits = \"15:8\"", line, FILL, line, kind);
}

#[test]
fn overlapping_registers() {
    let kind = ErrorKind::Overlap {
        range: "bytes 0x00..0x08".into(),
        other: "ID (bytes 0x00..0x04)".into(),
    };
    let errors = edited("offset = 0x08", "offset = 0x00");
    let there = errors.errors.iter().find(|e| e.kind == kind).unwrap();
    assert_eq!(there.place, "register ctl.BASE");
}

#[test]
fn overlapping_reserved_range() {
    let kind = ErrorKind::Overlap {
        range: "bits 12:2".into(),
        other: "address (bits 63:12)".into(),
    };
    let line = "reserved = [\"12:2\"]";
    expect(
        "reserved = [\"11:2\"]",
        line,
        "record item, member place",
        line,
        kind,
    );
}

#[test]
fn gap_in_a_member() {
    let kind = ErrorKind::Gap("bits 11:3".into());
    let place = "record item, member place";
    expect(
        "reserved = [\"11:2\"]",
        "reserved = [\"2\"]",
        place,
        "name = \"place\"",
        kind,
    );
}

#[test]
fn gap_in_a_record() {
    let kind = ErrorKind::Gap("bytes 0x0c..0x10".into());
    expect(
        "reserved = [\"0x0c..0x10\"]",
        "",
        "record item",
        "name = \"item\"",
        kind,
    );
}

#[test]
fn unaligned_register() {
    let kind = ErrorKind::Unaligned {
        value: 12,
        alignment: 8,
    };
    let line = "offset = 0x0c";
    expect("offset = 0x08", line, "register ctl.BASE", line, kind);
}

#[test]
fn array_not_aligned_to_its_span() {
    let errors = edited("offset = 0x20", "offset = 0x18");
    let kind = ErrorKind::Unaligned {
        value: 0x18,
        alignment: 0x20,
    };
    assert_eq!(errors.errors[0].kind, kind);
}

#[test]
fn not_a_power_of_two() {
    let kind = ErrorKind::PowerOfTwo(0x60);
    expect(
        "size = 0x40",
        "size = 0x60",
        "block ctl",
        "size = 0x60",
        kind,
    );
    let errors = edited("count = 4", "count = 3");
    assert_eq!(errors.errors[0].place, "register ctl.SLOT");
    assert!(
        errors
            .errors
            .iter()
            .any(|e| e.kind == ErrorKind::PowerOfTwo(3)),
        "{errors}"
    );
}

#[test]
fn unknown_access() {
    let kind = ErrorKind::Access("rc".into());
    expect(
        "\"pulse\"",
        "\"rc\"",
        "register ctl.SETUP, field start",
        "access = \"rc\"",
        kind,
    );
}

#[test]
fn shapes_the_rtl_cannot_have() {
    let shape = |from, to| match &edited(from, to).errors[0].kind {
        ErrorKind::Shape(text) => *text,
        other => panic!("{other}"),
    };
    let text = "a pulse or w1c field is one bit";
    assert_eq!(shape("bits = \"4\"", "bits = \"4:3\""), text);
    let text = "a register with a wo field has only wo fields";
    assert_eq!(shape("access = \"pulse\"", "access = \"wo\""), text);
    let text = "an array of registers has only wo fields";
    assert_eq!(shape("access = \"wo\"", "access = \"rw\""), text);
    let text = "a stride needs a count";
    assert_eq!(shape("count = 4\n", ""), text);
    let text = "a block is either a table of records or has registers";
    assert_eq!(
        shape(
            "doc = \"Control.\"",
            "doc = \"Control.\"\nrecord = \"item\""
        ),
        text
    );
    let text = "the field of map_id is 32 bits wide";
    assert_eq!(
        shape(
            "bits = \"31:0\"\naccess = \"ro\"",
            "bits = \"30:0\"\naccess = \"ro\""
        ),
        text
    );
}

#[test]
fn not_a_width() {
    let errors = edited("width = 64\ndoc", "width = 48\ndoc");
    assert_eq!(errors.errors[0].kind, ErrorKind::Width("48".into()));
    let errors = edited("type = \"u32\"", "type = \"u16\"");
    assert_eq!(errors.errors[0].kind, ErrorKind::Width("u16".into()));
    assert_eq!(errors.errors[0].place, "record item, member length");
}

#[test]
fn reset_where_there_is_none() {
    let line = "reset = 3";
    let kind = ErrorKind::NoReset("ro", "reset value");
    expect("max = 200", &format!("max = 200\n{line}"), FILL, line, kind);
    let line = "constant = \"map_version\"";
    let kind = ErrorKind::NoReset("rw", "constant");
    let to = format!("enum = \"mode\"\n{line}\nreset = 2");
    expect("enum = \"mode\"\nreset = 2", &to, MODE, line, kind);
}

#[test]
fn reset_out_of_range() {
    let from = "enum = \"mode\"\nreset = 2";
    let line = "reset = 4";
    let kind = ErrorKind::Reset {
        value: 4,
        legal: "a value of 2 bits".into(),
    };
    expect(from, &format!("enum = \"mode\"\n{line}"), MODE, line, kind);
    let line = "reset = 1";
    let kind = ErrorKind::Reset {
        value: 1,
        legal: "a value of enum mode".into(),
    };
    expect(from, &format!("enum = \"mode\"\n{line}"), MODE, line, kind);
    let line = "reset = 3";
    let kind = ErrorKind::Reset {
        value: 3,
        legal: "within the field's bounds".into(),
    };
    expect(from, &format!("max = 2\n{line}"), MODE, line, kind);
}

#[test]
fn value_too_wide() {
    let kind = ErrorKind::TooWide {
        what: "the bound".into(),
        value: 256,
        width: 8,
    };
    expect("max = 200", "max = 256", FILL, "max = 256", kind);
    let kind = ErrorKind::TooWide {
        what: "mode.FAST".into(),
        value: 2,
        width: 1,
    };
    let errors = edited("bits = \"1:0\"\naccess", "bits = \"0\"\naccess");
    assert_eq!(errors.errors[0].kind, kind);
}

#[test]
fn bounds_the_wrong_way_round() {
    let kind = ErrorKind::Bounds { min: 201, max: 200 };
    expect("max = 200", "max = 200\nmin = 201", FILL, "min = 201", kind);
}

#[test]
fn unknown_names() {
    let unknown = |what, name: &str| ErrorKind::Unknown {
        what,
        name: name.into(),
    };
    let line = "record = \"thing\"";
    expect(
        "record = \"item\"",
        line,
        "block slots",
        line,
        unknown("record", "thing"),
    );
    let line = "constant = \"build\"";
    let place = "register ctl.ID, field value";
    expect(
        "constant = \"map_id\"",
        line,
        place,
        line,
        unknown("constant", "build"),
    );
    let errors = edited("enum = \"mode\"\nreset = 2", "enum = \"speed\"\nreset = 2");
    assert_eq!(errors.errors[0].kind, unknown("enum", "speed"));
}

#[test]
fn record_that_does_not_fit() {
    let kind = ErrorKind::RecordSize {
        record: "item".into(),
        size: 16,
        there: "which does not divide the block's 8".into(),
    };
    expect(
        "size = 0x20",
        "size = 0x08",
        "block slots",
        "record = \"item\"",
        kind,
    );
    let kind = ErrorKind::RecordSize {
        record: "item".into(),
        size: 16,
        there: "the register 32".into(),
    };
    let to = "stride = 8\nrecord = \"item\"";
    expect(
        "stride = 8",
        to,
        "register ctl.SLOT",
        "record = \"item\"",
        kind,
    );
}

#[test]
fn all_errors_at_once_in_the_order_of_the_file() {
    let text = SMALL
        .replace("\"fill\"", "\"wire\"")
        .replace("\"SLOW\"", "\"slow\"")
        .replace("doc = \"Bytes.\"", "doc = \"\"");
    let errors = Map::parse(&text, "small.toml").unwrap_err();
    let places: Vec<&str> = errors.errors.iter().map(|e| e.place.as_str()).collect();
    let expected = [
        "enum mode, variant slow",
        "register ctl.SETUP, field wire",
        "record item, member length, field bytes",
    ];
    assert_eq!(places, expected);
    assert_eq!(errors.to_string().lines().count(), 3);
}
