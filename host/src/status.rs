//! Status codes of the driver.

use crate::error::{Error, Result};
use peerlane_core::fault::Fault;
use peerlane_core::regs::StatusCode;

/// Translates a status code of the driver.
pub(crate) fn outcome(status: u32, fault: impl FnOnce(Fault) -> Error) -> Result<()> {
    let code = StatusCode::from_raw(status).map_err(|code| Error::Broken {
        reason: format!("unknown status code {code}"),
    })?;
    Fault::from_code(code).map_err(fault)
}

#[cfg(test)]
mod tests {
    use super::*;
    use peerlane_core::descriptor::Direction;

    #[test]
    fn status_codes() {
        let fault = |fault| Error::Fault {
            direction: Direction::FromFpga,
            fault,
            bytes_done: 0,
            length: 1,
            offset: None,
        };
        assert!(outcome(0, fault).is_ok());
        // 7 is READ_TIMEOUT in the register map.
        assert!(matches!(
            outcome(7, fault),
            Err(Error::Fault {
                fault: Fault::ReadTimeout,
                ..
            })
        ));
        assert!(matches!(outcome(99, fault), Err(Error::Broken { .. })));
    }
}
