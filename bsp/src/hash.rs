//! `MAP_ID` and `BUILD_ID` in JSON: as documents and logs have them, `"0x13c7f0c9"`.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

/// Writes a hash; for `serialize_with`.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(id: &u32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{id:#010x}"))
}

/// Reads what [`serialize`] wrote.
///
/// # Errors
/// Of a word that is no hash.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let text = String::deserialize(deserializer)?;
    let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 8);
    let id = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    id.ok_or_else(|| D::Error::custom(format!("{text:?} is no hash such as \"0x13c7f0c9\"")))
}
