//! Slaves of one word.

/// Identity of the BSP (`version_id`).
///
/// 0xA0C7C1E0 is the value of BSPs of 13.1, which the drivers and tools of the board look for. An extended BSP has its
/// own value.
pub(crate) const VERSION: u32 = 0xA0C7_C1E0;

/// State of the memory's calibration (`uniphy_status`): 0 when all memories are calibrated, as software for such boards
/// interprets it. Its value before that is an assumption.
pub(crate) fn calibration(done: bool) -> u32 {
    u32::from(!done)
}

/// Returns the word of the temperature sensor for a temperature in degrees Celsius: the sensor's eight bits are the
/// temperature plus 128 (*Altera Temperature Sensor IP Core User Guide*, UG-01074). It is an assumption that the slave
/// returns these bits unchanged.
pub(crate) fn temperature(celsius: i32) -> u32 {
    (celsius + 128).clamp(0, 255) as u32
}
