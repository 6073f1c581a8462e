// SPDX-License-Identifier: MIT OR Apache-2.0
//! The committed `src/regs.rs` is what the register map gives today.

use peerlane_regmap::{Map, emit};

#[test]
fn regs_are_current() {
    let place = concat!(env!("CARGO_MANIFEST_DIR"), "/src/regs.rs");
    let files = emit::host(&Map::load());
    let [file] = files.as_slice() else {
        panic!("the emitter gives {} files, not one", files.len());
    };
    let committed = std::fs::read_to_string(place).unwrap();
    if committed != file.text && std::env::var_os("PEERLANE_BLESS").is_some() {
        std::fs::write(place, &file.text).unwrap();
        return;
    }
    assert!(
        committed == file.text,
        "driver/core/src/regs.rs differs from the output for regmap/peerlane.toml; \
         `PEERLANE_BLESS=1 cargo test -p peerlane-core --test generated` writes it"
    );
}
