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
const HEADLINES: [Headline; 28] = [
    line(
        "says FAMILY",
        "See whether the device's family is one that Peerlane knows.",
    ),
    // The reader chooses the rectangle; the note has the line of each.
    line(
        "its rectangles (LL_RECT) need",
        "Enlarge a rectangle of the LogicLock region, or add one: it is too small for the block.",
    ),
    line(
        "enlarge a rectangle (LL_RECT",
        "See whether the LogicLock region has room for the block, and enlarge a rectangle of it if not.",
    ),
    change(
        "The region is too small",
        "Enlarge the LogicLock region: it is too small for the block.",
        "set_global_assignment -name LL_WIDTH <old> -section_id <region>",
        Some("set_global_assignment -name LL_WIDTH <new> -section_id <region>"),
    ),
    change(
        "The LogicLock region",
        "See whether the LogicLock region has room for the block, and enlarge it if not.",
        "set_global_assignment -name LL_WIDTH <old> -section_id <region>",
        Some("set_global_assignment -name LL_WIDTH <new> -section_id <region>"),
    ),
    change(
        "it numbers them anew",
        "After the first compile, compare the numbered members of LogicLock regions with the hierarchy.",
        "set_instance_assignment -name LL_MEMBER_OF <region> -to \"<path>|mm_interconnect_1:mm_interconnect_1\"",
        Some(
            "set_instance_assignment -name LL_MEMBER_OF <region> -to \"<path>|mm_interconnect_2:mm_interconnect_2\"",
        ),
    ),
    change(
        "Take these settings out, which are for it",
        "Take out the settings for configuration over PCIe (CvP), which the board does not have any more.",
        "set_global_assignment -name ENABLE_CVP_CONFDONE ON",
        None,
    ),
    line("CvP", "Read how configuration over PCIe (CvP) goes on."),
    line(
        "Platform Designer must take",
        "See that Platform Designer takes the hard IP and the block without an error.",
    ),
    line(
        "PCIe becomes Gen",
        "See that device, board and slot can do the new PCIe generation.",
    ),
    line(
        "adaptive equalisation",
        "Put in the driver that equalises the receivers at Gen3.",
    ),
    line(
        "serves others beside",
        "Give the reconfiguration controller more interfaces, by hand.",
    ),
    line(
        "conduits reconfig_to_xcvr",
        "Give the reconfiguration controller outside of the system more interfaces.",
    ),
    line(
        "takes the hard IP's description from the installed Quartus",
        "See that the installed Quartus knows the hard IP by these names.",
    ),
    change(
        "These rules have Quartus take a hard reset controller",
        "Take the rules about the hard reset controller out of quartus.ini.",
        "skip_hssi_gen3_pcie_hip_hip_hard_reset_rule = on",
        None,
    ),
    change(
        "These lines place cells of the hard IP's transceivers",
        "Take out the places of the transceivers' cells if the Fitter cannot use them.",
        "set_location_assignment <place> -to \"<path>|sv_xcvr_pipe_native:<cell>\"",
        None,
    ),
    line(
        "has the speed grade",
        "See whether the device's speed grade allows the new link.",
    ),
    change(
        "These lines name what is inside of the hard IP",
        "Write these paths into the hard IP anew.",
        "set_instance_assignment -name <assignment> <value> -to \"<path>|pcie|altpcie_hip_256_pipen1b:<name>\"",
        Some(
            "set_instance_assignment -name <assignment> <value> -to \"<path>|<the block>|<name>\"",
        ),
    ),
    line(
        "files that Platform Designer generates for the hard IP",
        "See that the files put in place of the hard IP's are right for this Quartus.",
    ),
    line(
        "was left out: ",
        "Generate the systems again where no step of the compile does.",
    ),
    change(
        "board_env.xml",
        "Say the SDK's version.",
        "<board_env version=\"\" name=\"<platform>\">",
        Some("<board_env version=\"14.0\" name=\"<platform>\">"),
    ),
    line(
        "has other boards",
        "Know that the runtime of this platform is for this board alone.",
    ),
    line(
        "They stay out: each kernel's compile compiles the whole board",
        "Know that each kernel's compile compiles the whole board now.",
    ),
    line(
        "The vendor shipped the board compiled",
        "Compile the board once before kernels, as README.md says: what was compiled held the old DMA.",
    ),
    line(
        "still have the name of an import",
        "See that none of these lines imports the vendor's compiled board.",
    ),
    line(
        "pipeline stages into a path",
        "Chain no transfers, or see that the interconnect has no stages.",
    ),
    line(
        "has no <compile>, where an unwanted fix",
        "Tell the SDK's migration of platforms which kind this one is.",
    ),
    change(
        "These lines name the old DMA",
        "Change or take out the lines that name the old DMA and bridges that are gone.",
        "set_false_path -from [get_registers *|dma_0|*]",
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

/// Writes the list and its details.
pub fn write(out: &mut String, notes: &[String]) -> std::fmt::Result {
    for (n, note) in notes.iter().enumerate() {
        let headline = HEADLINES.iter().find(|headline| note.contains(headline.of));
        let line = headline.map_or_else(|| first_sentence(note), |headline| headline.line.into());
        writeln!(out, "{}. {line}", n + 1)?;
        if let Some((before, after)) = headline.and_then(|headline| headline.example) {
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
                      places. Set LL_WIDTH 130 or LL_HEIGHT 30, and see that no other region is in the way.";
        let other = "A note that has no headline. It goes on.";
        let mut out = String::new();
        write(&mut out, &[region.into(), other.into()]).unwrap();
        let (list, details) = out.split_once("### Details").unwrap();
        for words in [
            "1. See whether the LogicLock region has room for the block, and enlarge it if not.\n   For example:\n\n   ```diff\n",
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
