// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use proptest::prelude::*;
use sha2::Digest;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

fn sha256(bytes: &[u8]) -> [u8; 32] {
    sha2::Sha256::digest(bytes).into()
}

fn range(offset: u64, bytes: u64) -> Option<Range> {
    Some(Range { offset, bytes })
}

/// Returns the shell of a board with all parts.
fn shell() -> Shell {
    Shell {
        memory: 1 << 33,
        clock: 250_000_000,
        line: Some(Line {
            cra: 0x8000,
            block: 1,
            kernels: Some(0),
        }),
        opencl: OpenCl {
            kernels: range(0x4000, 0x4000),
            clock: range(0xc000, 0x800),
            version: range(0xcfc0, 4),
            temperature: range(0xcff0, 4),
            status: range(0xcfe0, 4),
        },
    }
}

/// Returns the parameters of a block in a board with this shell.
fn block(shell: &Shell) -> String {
    let hash = hash(sha256, shell.to_string().as_bytes());
    format!(
        "port=txs irq=rxm bar=2 csr=0xc800 chan=0x20000 att=0x28000 msix=none window=0x10000 shell={hash:08x}"
    )
}

/// Returns the board of which a driver may believe everything.
fn board<'a>(block: &'a str, shell: Shell) -> Board<'a> {
    let map_id = 0x393e_e6af;
    Board {
        name: "de5net_peerlane",
        ids: Ids {
            vendor: 0x1172,
            device: 0xab00,
            subvendor: None,
            subdevice: Some(0x504c),
        },
        map_id,
        block,
        build_id: hash(sha256, Hashed(map_id, block).to_string().as_bytes()),
        shell,
    }
}

#[test]
fn the_text_of_a_board_gives_the_board() {
    let block = block(&shell());
    let board = board(&block, shell());
    let text = board.to_string();
    assert_eq!(Board::parse(&text, 0, sha256), Ok(board));
    assert_eq!(board.bar(), Ok(2));
    let places = Places {
        csr: 0xc800,
        chan: 0x2_0000,
        att: 0x2_8000,
        msix: None,
        window: Some(0x1_0000),
    };
    assert_eq!(board.places(), Ok(places));
}

#[test]
fn the_format_is_the_documented_one() {
    let block = block(&shell());
    let text = board(&block, shell()).to_string();
    let expected = format!(
        "peerlane board 1\nname de5net_peerlane\npci 1172:ab00:*:504c\nmap 393ee6af\nblock {block}\n\
         memory 0x200000000\nclock 250000000\nline 0x8000 1 0\nkernels 0x4000 0x4000\n\
         kernel_clock 0xc000 0x800\nversion 0xcfc0 0x4\ntemperature 0xcff0 0x4\nstatus 0xcfe0 0x4\n"
    );
    assert_eq!(text, expected);
}

#[test]
fn a_file_is_named_by_the_ids() {
    let block = block(&shell());
    let ids = board(&block, shell()).ids;
    assert_eq!(FileName(ids).to_string(), "1172-ab00-504c.board");
    let any = Ids {
        subdevice: None,
        ..ids
    };
    assert_eq!(FileName(any).to_string(), "1172-ab00-any.board");
}

#[test]
fn what_the_hardware_does_not_confirm_is_refused() {
    let block = block(&shell());
    let good = board(&block, shell());
    let text = good.to_string();
    // The lines after `block`.
    let other = text.replace("kernels 0x4000 0x4000", "kernels 0x4000 0x8000");
    assert_eq!(Board::parse(&other, 0, sha256), Err(BoardError::Altered));
    let more = format!("{text}\n");
    assert_eq!(
        Board::parse(&more, 0, sha256),
        Err(BoardError::Line { number: 14 })
    );
    // Those that the hardware confirms.
    for (from, to) in [
        ("csr=0xc800", "csr=0xc400"),
        ("map 393ee6af", "map 393ee6ae"),
    ] {
        let other = text.replace(from, to);
        let read = Board::parse(&other, 0, sha256).unwrap();
        assert_ne!(read.build_id, good.build_id, "{to}");
    }
}

#[test]
fn an_error_names_the_line() {
    let block = block(&shell());
    let text = board(&block, shell()).to_string();
    let error = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        Board::parse(&text.replacen(from, to, 1), 0, sha256).unwrap_err()
    };
    assert_eq!(error("board 1", "board 2"), BoardError::Header);
    assert_eq!(
        error("name ", "named "),
        BoardError::Missing { line: "name" }
    );
    assert_eq!(error("1172:", "117:"), BoardError::Line { number: 3 });
    assert_eq!(error(":504c", ""), BoardError::Line { number: 3 });
    assert_eq!(error("map 39", "map x9"), BoardError::Line { number: 4 });
    assert_eq!(error("bar=2", "bar=6"), BoardError::Block { word: "bar" });
    assert_eq!(error("csr=0x", "csr="), BoardError::Block { word: "csr" });
    assert_eq!(
        error("shell=", "shall="),
        BoardError::Block { word: "shell" }
    );
    assert_eq!(
        error("memory ", "memories "),
        BoardError::Line { number: 6 }
    );
    assert_eq!(error("clock 2", "clock x"), BoardError::Line { number: 7 });
    assert_eq!(
        error("line 0x8000 1 0", "line 0x8000 16 0"),
        BoardError::Line { number: 8 }
    );
    let twice = "memory 0x200000000\n";
    assert_eq!(
        error(twice, &format!("{twice}{twice}")),
        BoardError::Line { number: 7 }
    );
    assert_eq!(error(twice, ""), BoardError::Missing { line: "memory" });
}

#[test]
fn a_file_may_have_several_descriptions() {
    let one_block = block(&shell());
    let one = board(&one_block, shell());
    let small = Shell {
        line: None,
        opencl: OpenCl::default(),
        ..shell()
    };
    let other_block = block(&small);
    let other = board(&other_block, small);
    let text = format!("{one}{other}");
    let read = |(before, text)| Board::parse(text, before, sha256).unwrap();
    assert_eq!(
        descriptions(&text).map(read).collect::<Vec<_>>(),
        [one, other]
    );
    // The line's number in the file.
    let text = text.replace("memory 0x200000000\nclock 250000000\nperhaps", "");
    let text = format!("{text}perhaps\n");
    let last = descriptions(&text).last().unwrap();
    let lines = text.lines().count();
    assert_eq!(
        Board::parse(last.1, last.0, sha256),
        Err(BoardError::Line { number: lines })
    );
}

proptest! {
    #[test]
    fn no_text_breaks_the_reader(text in "\\PC*") {
        for (before, one) in descriptions(&text) {
            let _ = Board::parse(one, before, sha256);
        }
    }

    #[test]
    fn no_change_breaks_the_reader(at in 0usize..400, with in "\\PC{0,3}|\n") {
        let block = block(&shell());
        let good = board(&block, shell());
        let mut text = good.to_string();
        let at = at % text.len();
        text.replace_range(at..=at, &with);
        for (before, one) in descriptions(&text) {
            if let Ok(read) = Board::parse(one, before, sha256) {
                // Only the lines before `map` may differ without a trace.
                prop_assert!(read.build_id != good.build_id || (read.block, read.shell) == (good.block, good.shell));
            }
        }
    }
}
