//! Hashes of the map.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::model::{Content, Map};

impl Map {
    /// Returns the promises of the map, without its wording: one line for each enumeration value, block, register,
    /// field, record and member. Neither the order of the file, nor comments, nor documentation (texts and units)
    /// change it.
    pub fn canonical(&self) -> String {
        let mut lines = Vec::new();
        for e in &self.enums {
            for v in &e.variants {
                lines.push(format!("enum {} {} = {}", e.name, v.name, v.value));
            }
        }
        for block in &self.blocks {
            let place = &block.name;
            let (size, count) = (block.size, block.count);
            lines.push(format!("block {place} size {size} count {count}"));
            if let Content::Table { record, entries } = &block.content {
                lines.push(format!("table {place} {record} entries {entries}"));
            }
            for register in block.registers() {
                let place = format!("{place}.{}", register.name);
                let mut line = format!(
                    "register {place} at {} width {} count {} stride {}",
                    register.offset, register.width, register.count, register.stride
                );
                if let Some(record) = &register.record {
                    let _ = write!(line, " record {record}");
                }
                lines.push(line);
                for f in &register.fields {
                    let mut line = format!(
                        "field {place}.{} at {} width {} {} reset {}",
                        f.name,
                        f.lsb,
                        f.width,
                        f.access.name(),
                        f.reset
                    );
                    if let Some(constant) = f.constant {
                        let _ = write!(line, " constant {}", constant.name());
                    }
                    push_domain(&mut line, f.enumeration.as_deref(), f.min, f.max);
                    lines.push(line);
                }
            }
        }
        for record in &self.records {
            lines.push(format!("record {} size {}", record.name, record.size));
            for member in &record.members {
                let place = format!("{}.{}", record.name, member.name);
                let (at, width) = (member.offset, member.width);
                lines.push(format!("member {place} at {at} width {width}"));
                for f in &member.fields {
                    let mut line =
                        format!("bits {place}.{} at {} width {}", f.name, f.lsb, f.width);
                    push_domain(&mut line, f.enumeration.as_deref(), f.min, f.max);
                    lines.push(line);
                }
            }
        }
        lines.sort();
        let mut text = format!("map {} version {}\n", self.name, self.version);
        for line in lines {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    /// Identifies the map: the value of MAP_ID.
    ///
    /// Never 0 or 0xFFFF_FFFF: an absent or dead device reads as these values.
    pub fn map_id(&self) -> u32 {
        hash(&self.canonical())
    }

    /// Identifies a build of the block: the value of BUILD_ID. `params` names the build's
    /// parameters in a form that is the same for equal parameters. It is the hash of two lines of the board's description
    /// (`Hashed` of `peerlane_core::board`), so that a driver can compute it.
    ///
    /// Never 0 or 0xFFFF_FFFF, as for [`Map::map_id`].
    pub fn build_id(&self, params: &str) -> u32 {
        hash(&format!("map {:08x}\nblock {params}\n", self.map_id()))
    }
}

fn push_domain(line: &mut String, enumeration: Option<&str>, min: Option<u64>, max: Option<u64>) {
    if let Some(name) = enumeration {
        let _ = write!(line, " enum {name}");
    }
    if let Some(min) = min {
        let _ = write!(line, " min {min}");
    }
    if let Some(max) = max {
        let _ = write!(line, " max {max}");
    }
}

/// Returns the first 32 bits of the SHA-256, or of the SHA-256 of that, until the value is usable.
pub fn hash(text: &str) -> u32 {
    let mut digest = Sha256::digest(text.as_bytes());
    loop {
        let value = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
        if value != 0 && value != u32::MAX {
            return value;
        }
        digest = Sha256::digest(digest);
    }
}
