//! Hashes of files and texts.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};

/// Returns the SHA-256.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Returns the SHA-256 in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    hexadecimal(&sha256(bytes))
}

/// Returns the SHA-256 of a file of any size.
///
/// # Errors
/// [`ErrorKind::Io`](crate::error::ErrorKind::Io).
pub fn digest_of(path: &Path) -> Result<String> {
    let failed = |e: std::io::Error| Error::io(path, "read the file", &e);
    let mut hash = Sha256::new();
    let mut file = std::fs::File::open(path).map_err(failed)?;
    std::io::copy(&mut file, &mut hash).map_err(failed)?;
    Ok(hexadecimal(&hash.finalize()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
