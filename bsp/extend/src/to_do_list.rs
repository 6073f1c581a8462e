//! The report's list of tasks for a user: a line for each, with an example where settings change, and the details
//! below.

use std::fmt::Write as _;

/// A line of the list, chosen by words of the note.
struct Headline {
    /// Words of the note.
    of: &'static str,
    line: &'static str,
    /// A line of a file before and after; without an "after" the line is removed. The reader replaces words in `<>`.
    example: Option<(&'static str, Option<&'static str>)>,
}

const fn line(of: &'static str, line: &'static str) -> Headline {
    Headline {
        of,
        line,
        example: None,
    }
}

const fn change(
    of: &'static str,
    line: &'static str,
    before: &'static str,
    after: Option<&'static str>,
) -> Headline {
    Headline {
        of,
        line,
        example: Some((before, after)),
    }
}

/// Headlines of the notes. A note gets the first one whose words it has.
const HEADLINES: [Headline; 29] = [
    line(
        "says FAMILY",
        "Check whether Peerlane knows the device's family.",
    ),
    // The reader chooses the rectangle; the note has the line of each.
    line(
        "its rectangles (LL_RECT) need",
        "Enlarge a rectangle of the LogicLock region, or add one: it is too small for the block.",
    ),
    line(
        "enlarge a rectangle (LL_RECT",
        "Check whether the LogicLock region has room for the block. If not, enlarge a rectangle of it.",
    ),
    change(
        "The region is too small",
        "Enlarge the LogicLock region: it is too small for the block.",
        "set_global_assignment -name LL_WIDTH <old> -section_id <region>",
        Some("set_global_assignment -name LL_WIDTH <new> -section_id <region>"),
    ),
    change(
        "The LogicLock region",
        "Check whether the LogicLock region has room for the block, and enlarge it if not.",
        "set_global_assignment -name LL_WIDTH <old> -section_id <region>",
        Some("set_global_assignment -name LL_WIDTH <new> -section_id <region>"),
    ),
    change(
        "generates and numbers again",
        "After the first compile, compare the numbered members of LogicLock regions with the hierarchy.",
        "set_instance_assignment -name LL_MEMBER_OF <region> -to \"<path>|mm_interconnect_1:mm_interconnect_1\"",
        Some(
            "set_instance_assignment -name LL_MEMBER_OF <region> -to \"<path>|mm_interconnect_2:mm_interconnect_2\"",
        ),
    ),
    change(
        "Remove these settings, which are for it",
        "Remove the settings for configuration over PCIe (CvP), which the board does not have any more.",
        "set_global_assignment -name ENABLE_CVP_CONFDONE ON",
        None,
    ),
    line(
        "CvP",
        "Read how configuration over PCIe (CvP) continues to work.",
    ),
    line(
        "Platform Designer must accept",
        "Make sure that Platform Designer accepts the hard IP and the block without an error.",
    ),
    line(
        "PCIe becomes Gen",
        "Make sure that device, board and slot support the new PCIe generation.",
    ),
    line(
        "adaptive equalisation",
        "Add the driver that equalises the receivers at Gen3.",
    ),
    line(
        "serves others in addition to",
        "Give the reconfiguration controller more interfaces manually.",
    ),
    line(
        "conduits reconfig_to_xcvr",
        "Give the reconfiguration controller outside the system more interfaces.",
    ),
    line(
        "takes the hard IP's description from the installed Quartus",
        "Make sure that the installed Quartus knows the hard IP by these names.",
    ),
    change(
        "These rules make Quartus accept a hard reset controller",
        "Remove the rules about the hard reset controller from quartus.ini.",
        "skip_hssi_gen3_pcie_hip_hip_hard_reset_rule = on",
        None,
    ),
    change(
        "These lines place cells of the hard IP's transceivers",
        "Remove the places of the transceivers' cells if the Fitter cannot use them.",
        "set_location_assignment <place> -to \"<path>|sv_xcvr_pipe_native:<cell>\"",
        None,
    ),
    line(
        "has the speed grade",
        "Check whether the device's speed grade allows the new link.",
    ),
    change(
        "These lines name instances inside the hard IP",
        "Write the new paths into the hard IP.",
        "set_instance_assignment -name <assignment> <value> -to \"<path>|pcie|altpcie_hip_256_pipen1b:<name>\"",
        Some(
            "set_instance_assignment -name <assignment> <value> -to \"<path>|<the block>|<name>\"",
        ),
    ),
    line(
        "files that Platform Designer generates for the hard IP",
        "Make sure that the files that replace those of the hard IP are right for this Quartus.",
    ),
    line(
        "were left out: ",
        "Generate the systems again if no step of the compile does.",
    ),
    change(
        "board_env.xml",
        "Set the SDK's version.",
        "<board_env version=\"<old version>\" name=\"<platform>\">",
        Some("<board_env version=\"<version of the SDK>\" name=\"<platform>\">"),
    ),
    line(
        "has other boards",
        "Note that the runtime of this platform is for this board alone.",
    ),
    line(
        "They stay off: each kernel's compile compiles the whole board",
        "Note that each kernel's compile compiles the whole board now.",
    ),
    line(
        "The vendor shipped the board compiled",
        "Compile the board once before kernels, as README.md explains: the compiled files had the old DMA.",
    ),
    line(
        "still have the name of an import",
        "Make sure that none of these lines imports the vendor's compiled board.",
    ),
    line(
        "pipeline stages into a path",
        "Chain no transfers, or make sure that the interconnect has no stages.",
    ),
    line(
        "has no <compile>, where an unwanted fix",
        "Set this platform's type for the SDK's migration of platforms.",
    ),
    line(
        "has ports for the streams",
        "Connect the streams to your logic in the top module.",
    ),
    change(
        "These lines name the old DMA",
        "Change or remove the lines that name the old DMA and removed bridges.",
        "set_false_path -from [get_registers *|<the old DMA>|*]",
        None,
    ),
];

/// The longest line without a known headline.
const MOST: usize = 160;

/// Returns the line of a note without a headline: its first sentence.
fn first_sentence(note: &str) -> String {
    let end = note.find(". ").map_or(note.len(), |at| at + 1);
    let sentence = &note[..end];
    match sentence.char_indices().nth(MOST) {
        None => sentence.into(),
        Some((at, _)) => format!("{} …", sentence[..at].trim_end()),
    }
}

/// Returns an example with the note's values of a region instead of the words in `<>`.
fn filled(example: &str, note: &str) -> String {
    let between = |begin: &str, end: &[char]| {
        let (_, rest) = note.split_once(begin)?;
        rest.split(end).next()
    };
    let words = [
        ("<region>", between("The LogicLock region ", &[' '])),
        ("<old>", between(" (", &[' '])),
        ("<new>", between("LL_WIDTH ", &[' ', ',', '.'])),
    ];
    let mut example = example.to_string();
    for (word, value) in words {
        if let Some(value) = value {
            example = example.replace(word, value);
        }
    }
    example
}

/// Returns the line of a note in the list.
pub fn headline(note: &str) -> String {
    let headline = known(note);
    headline.map_or_else(|| first_sentence(note), |headline| headline.line.into())
}

fn known(note: &str) -> Option<&'static Headline> {
    HEADLINES.iter().find(|headline| note.contains(headline.of))
}

/// Writes the list and its details.
pub(crate) fn write(out: &mut String, notes: &[String]) -> std::fmt::Result {
    for (n, note) in notes.iter().enumerate() {
        writeln!(out, "{}. {}", n + 1, headline(note))?;
        if let Some((before, after)) = known(note).and_then(|headline| headline.example) {
            // The details have the project's own lines.
            writeln!(
                out,
                "   For example:\n\n   ```diff\n   -{}",
                filled(before, note)
            )?;
            if let Some(after) = after {
                writeln!(out, "   +{}", filled(after, note))?;
            }
            writeln!(out, "   ```\n")?;
        }
    }
    writeln!(out, "\n### Details\n")?;
    for (n, note) in notes.iter().enumerate() {
        writeln!(out, "{}. {note}", n + 1)?;
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_and_an_example_stand_above_the_details() {
        let region = "The LogicLock region board_region (116 × 24, X0_Y1; revision base) has the block in it. It has 5 \
                      places. Set LL_WIDTH 130 or LL_HEIGHT 30, and make sure that no other region overlaps.";
        let other = "A note that has no headline. It goes on.";
        let mut out = String::new();
        write(&mut out, &[region.into(), other.into()]).unwrap();
        let (list, details) = out.split_once("### Details").unwrap();
        for words in [
            "1. Check whether the LogicLock region has room for the block, and enlarge it if not.\n   For \
             example:\n\n   ```diff\n",
            "-set_global_assignment -name LL_WIDTH 116 -section_id board_region",
            "+set_global_assignment -name LL_WIDTH 130 -section_id board_region",
            "2. A note that has no headline.\n",
        ] {
            assert!(list.contains(words), "{words}: {list}");
        }
        assert!(
            !list.contains("places") && !list.contains("It goes on"),
            "{list}"
        );
        assert!(
            details.contains(region) && details.contains(other),
            "{details}"
        );
    }

    #[test]
    fn each_headline_is_a_line() {
        for headline in &HEADLINES {
            assert!(
                headline.line.len() < 110 && headline.line.ends_with('.'),
                "{}",
                headline.line
            );
        }
    }
}
