//! The map as it stands in the TOML file, with the place of everything that can be wrong.

use serde::Deserialize;
use toml::Spanned;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawMap {
    pub name: Spanned<String>,
    pub version: Spanned<u64>,
    pub doc: Spanned<String>,
    #[serde(default, rename = "enum")]
    pub enums: Vec<RawEnum>,
    #[serde(default, rename = "block")]
    pub blocks: Vec<RawBlock>,
    #[serde(default, rename = "record")]
    pub records: Vec<RawRecord>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawEnum {
    pub name: Spanned<String>,
    pub doc: Spanned<String>,
    #[serde(default, rename = "variant")]
    pub variants: Vec<RawVariant>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawVariant {
    pub name: Spanned<String>,
    pub value: Spanned<u64>,
    pub doc: Spanned<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawBlock {
    pub name: Spanned<String>,
    pub size: Spanned<u64>,
    pub count: Option<Spanned<u64>>,
    pub read_latency: Option<Spanned<u64>>,
    pub record: Option<Spanned<String>>,
    pub doc: Spanned<String>,
    #[serde(default, rename = "register")]
    pub registers: Vec<RawRegister>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawRegister {
    pub name: Spanned<String>,
    pub offset: Spanned<u64>,
    pub width: Option<Spanned<u64>>,
    pub count: Option<Spanned<u64>>,
    pub stride: Option<Spanned<u64>>,
    pub record: Option<Spanned<String>>,
    pub held: Option<Spanned<String>>,
    pub doc: Spanned<String>,
    #[serde(default, rename = "field")]
    pub fields: Vec<RawField>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawField {
    pub name: Spanned<String>,
    pub bits: Spanned<String>,
    pub access: Spanned<String>,
    pub reset: Option<Spanned<u64>>,
    pub constant: Option<Spanned<String>>,
    #[serde(rename = "enum")]
    pub enumeration: Option<Spanned<String>>,
    pub min: Option<Spanned<u64>>,
    pub max: Option<Spanned<u64>>,
    pub unit: Option<Spanned<String>>,
    pub doc: Spanned<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawRecord {
    pub name: Spanned<String>,
    pub size: Spanned<u64>,
    #[serde(default)]
    pub reserved: Vec<Spanned<String>>,
    pub doc: Spanned<String>,
    #[serde(default, rename = "member")]
    pub members: Vec<RawMember>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawMember {
    pub name: Spanned<String>,
    #[serde(rename = "type")]
    pub kind: Spanned<String>,
    pub offset: Spanned<u64>,
    #[serde(default)]
    pub reserved: Vec<Spanned<String>>,
    pub doc: Spanned<String>,
    #[serde(default, rename = "field")]
    pub fields: Vec<RawMemberField>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawMemberField {
    pub name: Spanned<String>,
    pub bits: Spanned<String>,
    #[serde(rename = "enum")]
    pub enumeration: Option<Spanned<String>>,
    pub min: Option<Spanned<u64>>,
    pub max: Option<Spanned<u64>>,
    pub unit: Option<Spanned<String>>,
    pub doc: Spanned<String>,
}
