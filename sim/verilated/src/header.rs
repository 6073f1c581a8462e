//! The ports of a design, read from the C++ header that Verilator writes.

use crate::{Direction, Error, Result};

/// A port as Verilator declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeaderPort {
    /// Name in the Verilog.
    pub name: String,
    /// Name of the C++ member.
    pub member: String,
    /// Direction.
    pub direction: Direction,
    /// Width in bits.
    pub width: u32,
}

/// Reads all `VL_IN…(&name,msb,lsb[,words]);` lines of the model class.
pub(crate) fn ports(header: &str) -> Result<Vec<HeaderPort>> {
    let mut ports = Vec::new();
    for line in header.lines() {
        let line = line.trim();
        let Some(rest) = line.strip_prefix("VL_") else {
            continue;
        };
        let direction = if rest.starts_with("INOUT") {
            Direction::InOut
        } else if rest.starts_with("IN") {
            Direction::Input
        } else if rest.starts_with("OUT") {
            Direction::Output
        } else {
            continue;
        };
        let Some((_, arguments)) = rest.split_once("(&") else {
            continue;
        };
        let bad = || Error::Header {
            line: line.to_owned(),
        };
        let mut fields = arguments.trim_end_matches(");").split(',');
        let member = fields.next().ok_or_else(bad)?.trim();
        let mut number = || -> Result<i64> {
            fields
                .next()
                .and_then(|field| field.trim().parse().ok())
                .ok_or_else(bad)
        };
        let (msb, lsb) = (number()?, number()?);
        let width = u32::try_from(msb.abs_diff(lsb) + 1).map_err(|_| bad())?;
        ports.push(HeaderPort {
            name: decode(member),
            member: member.to_owned(),
            direction,
            width,
        });
    }
    Ok(ports)
}

/// Verilator writes characters that C++ does not allow, and the second of two underscores, as
/// `__0` and two hexadecimal digits.
fn decode(member: &str) -> String {
    let mut name = String::with_capacity(member.len());
    let mut rest = member;
    while let Some(first) = rest.chars().next() {
        let code = rest
            .strip_prefix("__0")
            .and_then(|tail| tail.get(..2))
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let used = match code {
            Some(code) => {
                name.push(char::from(code));
                5
            }
            None => {
                name.push(first);
                first.len_utf8()
            }
        };
        rest = rest.get(used..).unwrap_or_default();
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_size_and_direction() {
        let header = "\
class alignas(VL_CACHE_LINE_BYTES) Vmodel VL_NOT_FINAL : public VerilatedModel {
    VL_IN8(&clk,0,0);
    VL_OUT16(&address,15,0);
    VL_IN(&word,31,0);
    VL_INOUT8(&pad,3,0);
    VL_OUTW(&data,511,0,16);
    VL_IN64(&q,39,0);
    VL_UNCOPYABLE(Vmodel);  ///< Copying not allowed
";
        let found: Vec<_> = ports(header)
            .unwrap()
            .into_iter()
            .map(|port| (port.name, port.direction, port.width))
            .collect();
        let expected = [
            ("clk", Direction::Input, 1),
            ("address", Direction::Output, 16),
            ("word", Direction::Input, 32),
            ("pad", Direction::InOut, 4),
            ("data", Direction::Output, 512),
            ("q", Direction::Input, 40),
        ];
        assert_eq!(
            found,
            expected
                .into_iter()
                .map(|(name, direction, width)| (name.to_owned(), direction, width))
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn decodes_names() {
        assert_eq!(decode("o___05Fx"), "o__x");
        assert_eq!(decode("odd__024name"), "odd$name");
        assert_eq!(decode("plain_name"), "plain_name");
        assert_eq!(decode("end__0"), "end__0");
    }

    #[test]
    fn refuses_a_line_it_does_not_understand() {
        assert!(matches!(
            ports("    VL_IN8(&clk,zero,0);"),
            Err(Error::Header { .. })
        ));
    }
}
