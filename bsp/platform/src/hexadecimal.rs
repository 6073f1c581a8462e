//! IDs in JSON, as documents and logs have them: `"0x13c7f0c9"`, `"0x504c"`.

use std::fmt::LowerHex;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

/// Returns the number of characters of an ID: `0x` and two digits for each byte.
const fn letters<T>() -> usize {
    2 + 2 * size_of::<T>()
}

/// Writes an ID.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<T: LowerHex, S: Serializer>(id: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let width = letters::<T>();
    serializer.collect_str(&format_args!("{id:#0width$x}"))
}

/// Reads an ID that [`serialize`] wrote.
///
/// # Errors
/// If the word is not such an ID.
pub fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: TryFrom<u64>,
    D: Deserializer<'de>,
{
    let text = String::deserialize(deserializer)?;
    let digits = text
        .strip_prefix("0x")
        .filter(|_| text.len() == letters::<T>());
    let id = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let id = id.and_then(|id| T::try_from(id).ok());
    id.ok_or_else(|| {
        D::Error::custom(format!(
            "{text:?} is not an ID in hexadecimal, such as \"0x504c\""
        ))
    })
}

/// An ID that may be missing.
pub mod optional {
    use super::{Deserializer, LowerHex, Serializer};

    /// Writes the ID, or null.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<T: LowerHex, S: Serializer>(
        id: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match id {
            Some(id) => super::serialize(id, serializer),
            None => serializer.serialize_none(),
        }
    }

    /// Reads an ID that is present.
    ///
    /// # Errors
    /// If the word is not such an ID.
    pub fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
    where
        T: TryFrom<u64>,
        D: Deserializer<'de>,
    {
        super::deserialize(deserializer).map(Some)
    }
}
