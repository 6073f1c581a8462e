//! Slaves of one word.

/// Identity of the BSP (`version_id`).
///
/// 0xA0C7C1E0 is what BSPs of 13.1 have; the drivers and tools of the board look for it. An extended BSP has
/// one of its own.
pub(crate) const VERSION: u32 = 0xA0C7_C1E0;

/// State of the memory's calibration (`uniphy_status`): 0, all memories are calibrated.
pub(crate) const CALIBRATED: u32 = 0;

/// The word of the temperature sensor for a temperature in degrees Celsius: the sensor's eight bits are the
/// temperature plus 128 (*Altera Temperature Sensor IP Core User Guide*, UG-01074). That the slave gives these
/// bits as they are is an assumption.
pub(crate) fn temperature(celsius: i32) -> u32 {
    (celsius + 128).clamp(0, 255) as u32
}
