use super::*;

const SOURCE: &str = r#"
//! What they say: `bytes`, and
//! no more.
//!
//! Another paragraph.

/// Ours.
pub const IOC_TYPE: u32 = 0xe7;
const HIDDEN: u32 = 1 << 31;
/// Bytes of it; see [`DO`].
pub const BYTES: usize = 6_4;
/// Does it: [`Do`].
pub const DO: Ioctl = Ioctl::new::<Do>(3, true);
pub const UNDO: Ioctl = Ioctl::new::<Do>(4, false);
pub const ALL: [Ioctl; 2] = [DO, UNDO];

/// Bits of [`Do::flags`].
pub mod flags {
    /// Not at all, like [the other](super::HIDDEN_NOT).
    pub const NOT: u32 = 1 << 2;
    pub const FAR: u64 = 2 << 32;
}

/// Argument of [`DO`] with [`NOT`](flags::NOT).
#[repr(C)]
#[derive(Debug)]
pub struct Do {
    /// In: bits of [`flags`].
    pub flags: u32,
    pub fd: i32,
    /// Out: */ a trap.
    pub data: [u8; BYTES],
    pub never: i64,
    /// Zero.
    pub reserved: [u64; 2],
}

pub struct NotOurs { pub x: u16 }
"#;

fn source() -> String {
    SOURCE.replace(", like [the other](super::HIDDEN_NOT)", "")
}

#[test]
fn all_of_it_is_said_in_c() {
    let text = header(&source(), &Map::load()).unwrap();
    for part in [
        "/*\n * What they say: bytes, and no more.\n *\n * Another paragraph.\n */\n#ifndef",
        "/* Ours. */\n#define PEERLANE_IOC_TYPE 0xe7\n",
        "/* Bytes of it; see PEERLANE_IOC_DO. */\n#define PEERLANE_BYTES 64\n",
        "/* Does it: struct peerlane_do. */\n\
         #define PEERLANE_IOC_DO _IOWR(PEERLANE_IOC_TYPE, 3, struct peerlane_do)\n",
        "#define PEERLANE_IOC_UNDO _IOW(PEERLANE_IOC_TYPE, 4, struct peerlane_do)\n",
        "/* Bits of peerlane_do.flags. */\n/* Not at all. */\n#define PEERLANE_FLAGS_NOT (1U << 2)\n\
         #define PEERLANE_FLAGS_FAR (2ULL << 32)\n",
        "/* Argument of PEERLANE_IOC_DO with PEERLANE_FLAGS_NOT. */\nstruct peerlane_do {\n\
         \t/* In: bits of PEERLANE_FLAGS_*. */\n\t__u32 flags;\n\t__s32 fd;\n\
         \t/* Out: * / a trap. */\n\t__u8 data[PEERLANE_BYTES];\n\t__s64 never;\n\
         \t/* Zero. */\n\t__u64 reserved[2];\n};\n",
        "PEERLANE_SIZE_(peerlane_do, 96);\nPEERLANE_PLACE_(peerlane_do, flags, 0);\n\
         PEERLANE_PLACE_(peerlane_do, fd, 4);\nPEERLANE_PLACE_(peerlane_do, data, 8);\n\
         PEERLANE_PLACE_(peerlane_do, never, 72);\nPEERLANE_PLACE_(peerlane_do, reserved, 80);\n",
        // The map's part: one of each kind.
        "#define PEERLANE_CHAN_WRITE_DOORBELL 0x040u\n",
        "\tPEERLANE_STATUS_CODE_ABORTED = 9,\n",
        "struct peerlane_completion {\n",
        "PEERLANE_SIZE_(peerlane_completion, 32);\n",
        "PEERLANE_PLACE_(peerlane_descriptor, control, 20);\n",
    ] {
        assert!(text.contains(part), "no\n{part}\nin\n{text}");
    }
    for absent in [
        "HIDDEN",
        "_ALL",
        "notours",
        "uint32_t",
        "UINT64_C",
        "PEERLANE_CSR",
    ] {
        assert!(!text.contains(absent), "{absent} in\n{text}");
    }
}

#[test]
fn what_c_cannot_say_is_refused_with_its_line() {
    // The change, and a text of the line that is to blame.
    for (from, to, blamed, what) in [
        ("[`Do`].", "[`Don`].", "[`Don`].", "links to `Don`"),
        (
            "pub fd: i32,",
            "pub fd: i16,",
            "i16",
            "a member of the interface is",
        ),
        ("pub fd: i32,", "", "pub never", "a hole before it: 68"),
        ("[u64; 2]", "[u64; N]", "[u64; N]", "the length of an array"),
        ("(3, true)", "(three(), true)", "three", "an ioctl is"),
        ("= 0xe7", "= 7 + 7", "7 + 7", "`number << number`"),
        (
            "FAR: u64",
            "FAR: bool",
            "FAR: bool",
            "a constant of the interface is",
        ),
        ("pub struct NotOurs {", "pub struct NotOurs (", "x: u16", ""),
    ] {
        let source = source();
        assert!(source.contains(from), "{from}");
        let source = source.replacen(from, to, 1);
        let line = source.lines().position(|line| line.contains(blamed));
        match header(&source, &Map::load()) {
            Err(Error::Source {
                line: at,
                what: told,
            }) => {
                assert!(told.contains(what), "{told}");
                assert_eq!(Some(at - 1), line, "{to}: {told}");
            }
            other => panic!("{to}: {other:?}"),
        }
    }
}
