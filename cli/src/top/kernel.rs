//! A board of the kernel driver: its data in sysfs and debugfs (docs/operate/driver.md, "Sysfs" and "Debugfs").

use super::{Channel, Sample, Source};
use peerlane_core::counters::{BlockCounters, ChannelCounters, DirectionCounters, LinkErrors};
use peerlane_demo::error::Error;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A board, identified by its number.
pub struct Kernel {
    root: PathBuf,
    number: u32,
    begin: Instant,
}

fn refused(place: &Path, what: impl Into<String>, hint: impl Into<String>) -> Error {
    Error::new(place, what, hint)
}

impl Kernel {
    /// Opens the board of a device node, or the first one. `root` is `/`.
    ///
    /// # Errors
    /// If there is no board, or a required file cannot be read.
    pub fn new(root: &Path, device: Option<&Path>) -> Result<Self, Error> {
        let number = match device {
            Some(device) => number(device).ok_or_else(|| {
                let hint = "Give a node such as /dev/peerlane0.";
                refused(device, "this is not the device node of a board", hint)
            })?,
            None => first(root).ok_or_else(|| {
                let hint = "Run `peerlane doctor` to find the reason. `peerlane top --simulated` shows the simulated board.";
                refused(&root.join("dev"), "there is no board here: no /dev/peerlane*", hint)
            })?,
        };
        let kernel = Self {
            root: root.to_path_buf(),
            number,
            begin: Instant::now(),
        };
        let node = root.join(format!("dev/peerlane{number}"));
        if !node.exists() {
            let hint = "`ls /dev/peerlane*` lists boards; `peerlane doctor` finds the reason.";
            return Err(refused(&node, "there is no such board", hint));
        }
        // Fails before the screen is taken over.
        kernel.debug("counters")?;
        Ok(kernel)
    }

    /// Reads a file of the board's directory in debugfs.
    fn debug(&self, name: &str) -> Result<String, Error> {
        let file = format!("sys/kernel/debug/peerlane{}/{name}", self.number);
        let file = self.root.join(file);
        std::fs::read_to_string(&file).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => refused(
                &file,
                "only root can read the counters of all users' channels",
                "Run the command as root: `sudo env \"PATH=$PATH\" peerlane top`.",
            ),
            io::ErrorKind::NotFound => refused(
                &file,
                "the driver's counters are not visible",
                "Mount debugfs: `mount -t debugfs debugfs /sys/kernel/debug`. It needs a kernel with CONFIG_DEBUG_FS.",
            ),
            _ => Error::io(&file, "read the board's counters", &error),
        })
    }

    /// Reads an attribute of the board in sysfs, if possible.
    fn attribute(&self, name: &str) -> Option<String> {
        let file = format!(
            "sys/class/misc/peerlane{}/device/peerlane/{name}",
            self.number
        );
        let text = std::fs::read_to_string(self.root.join(file)).ok()?;
        Some(text.trim().to_owned())
    }

    fn facts(&self) -> Vec<String> {
        let free = |what: &str, all: &str, show: fn(u64) -> String| {
            let get = |name: &str| self.attribute(name)?.parse().ok();
            let (free, all) = (get(&format!("{all}_free"))?, get(all)?);
            Some(format!("{what}: {} of {} free", show(free), show(all)))
        };
        let plain = |number: u64| number.to_string();
        let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
        let link = || {
            let (speed, width) = (self.attribute("link_speed")?, self.attribute("link_width")?);
            Some(format!("link: {speed} x{width}"))
        };
        [
            link(),
            free("channels", "channels", plain),
            free("ATT entries", "att_entries", plain),
            free("FPGA memory", "fpga_memory", mib),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Returns a process with its name, such as `app (4711)`.
    fn process(&self, number: u64) -> String {
        let file = self.root.join(format!("proc/{number}/comm"));
        match std::fs::read_to_string(file) {
            Ok(name) => format!("{} ({number})", name.trim()),
            Err(_) => format!("process {number}"),
        }
    }
}

fn number(device: &Path) -> Option<u32> {
    device
        .file_name()?
        .to_str()?
        .strip_prefix("peerlane")?
        .parse()
        .ok()
}

fn first(root: &Path) -> Option<u32> {
    let entries = std::fs::read_dir(root.join("dev")).ok()?;
    entries
        .flatten()
        .filter_map(|entry| number(&entry.path()))
        .min()
}

impl Source for Kernel {
    fn name(&self) -> String {
        let name = format!("/dev/peerlane{}", self.number);
        let link = format!("sys/class/misc/peerlane{}/device", self.number);
        let slot = std::fs::canonicalize(self.root.join(link)).ok();
        let slot = slot.as_deref().and_then(Path::file_name);
        match slot.and_then(|slot| slot.to_str()) {
            Some(slot) => format!("{name} ({slot})"),
            None => name,
        }
    }

    fn sample(&mut self) -> Result<Sample, Error> {
        let text = self.debug("counters")?;
        let at = self.begin.elapsed();
        let state = self.attribute("state");
        let mut sample = Sample {
            at,
            state: state.unwrap_or_else(|| "unknown".into()),
            facts: self.facts(),
            ..Sample::default()
        };
        if text.starts_with("the board does not answer") {
            return Ok(sample);
        }
        // Older drivers have no such file.
        sample.link = self.debug("link").ok().as_deref().and_then(link);
        (sample.block, sample.channels) = counters(&text).ok_or_else(|| {
            let place = Path::new("/sys/kernel/debug");
            let hint = "Use a program and a driver of the same version.";
            refused(place, "the driver's counters have an unknown format", hint)
        })?;
        // The owners of the channels are additional information: without them the counters are still valid.
        for line in self.debug("state").unwrap_or_default().lines() {
            let Some((channel, rest)) = line
                .strip_prefix("channel ")
                .and_then(|l| l.split_once(": "))
            else {
                continue;
            };
            let channel = channel
                .parse()
                .ok()
                .and_then(|n: usize| sample.channels.get_mut(n));
            if let Some(channel) = channel {
                if let Some(process) = after(rest, "opened by process ") {
                    channel.owner = Some(self.process(process));
                }
                if let Some(regions) = after(rest, "regions ") {
                    channel.regions = Some(regions);
                }
            }
        }
        Ok(sample)
    }
}

/// Returns the number after the given words.
fn after(text: &str, words: &str) -> Option<u64> {
    let rest = text.split_once(words)?.1;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// Parses the numbers of a structure that was printed by `{:?}`, with their names: `write.bytes`.
fn numbers(text: &str) -> BTreeMap<String, u64> {
    let text = text
        .replace('{', " { ")
        .replace('}', " } ")
        .replace(',', " ");
    let (mut found, mut inside, mut name) = (BTreeMap::new(), Vec::new(), None);
    for word in text.split_whitespace() {
        match (word, word.strip_suffix(':'), word.parse::<u64>()) {
            ("{", ..) => inside.push(name.take()),
            ("}", ..) => {
                inside.pop();
            }
            (_, Some(field), _) => name = Some(field),
            (.., Ok(number)) => {
                let path: Vec<&str> = inside
                    .iter()
                    .copied()
                    .flatten()
                    .chain(name.take())
                    .collect();
                found.insert(path.join("."), number);
            }
            _ => {}
        }
    }
    found
}

/// Parses the failures on the link, for a block that counts them.
fn link(text: &str) -> Option<LinkErrors> {
    let all = numbers(text.strip_prefix("LinkErrors ")?);
    let get = |name: &str| u32::try_from(*all.get(name)?).ok();
    Some(LinkErrors {
        unsupported: get("unsupported")?,
        aborted: get("aborted")?,
        poisoned: get("poisoned")?,
        malformed: get("malformed")?,
        unexpected: get("unexpected")?,
        expired: get("expired")?,
    })
}

fn counters(text: &str) -> Option<(BlockCounters, Vec<Channel>)> {
    let mut lines = text.lines();
    let block = numbers(lines.next()?);
    let of_block = |name: &str| block.get(name).copied();
    let block = BlockCounters {
        write_busy: of_block("write_busy")?,
        read_busy: of_block("read_busy")?,
        stall_txs: of_block("stall_txs")?,
        stall_tags: of_block("stall_tags")?,
        stall_credits: of_block("stall_credits")?,
        stall_mem_read: of_block("stall_mem_read")?,
        stall_mem_write: of_block("stall_mem_write")?,
        records: of_block("records")?,
        irqs: of_block("irqs")?,
    };
    let channel = |line: &str| {
        let all = numbers(line.split_once(": ")?.1);
        let direction = |way: &str| {
            let get = |name: &str| all.get(&format!("{way}.{name}")).copied();
            Some(DirectionCounters {
                bytes: get("bytes")?,
                requests: get("requests")?,
                descriptors: get("descriptors")?,
                faults: get("faults")?,
                att_faults: get("att_faults")?,
                timeouts: get("timeouts")?,
            })
        };
        Some(Channel {
            counters: ChannelCounters {
                write: direction("write")?,
                read: direction("read")?,
            },
            ..Channel::default()
        })
    };
    let channels = lines.map(channel).collect::<Option<_>>()?;
    Some((block, channels))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text is printed as by the driver: by `{:?}`, from the same structures.
    #[test]
    fn counters_are_read_as_they_were_printed() {
        let direction = |n: u64| DirectionCounters {
            bytes: n,
            requests: n + 1,
            descriptors: n + 2,
            faults: n + 3,
            att_faults: n + 4,
            timeouts: n + 5,
        };
        let block = BlockCounters {
            write_busy: 1,
            read_busy: 2,
            stall_txs: 3,
            stall_tags: 4,
            stall_credits: 5,
            stall_mem_read: 6,
            stall_mem_write: 7,
            records: 8,
            irqs: u64::MAX,
        };
        let channels = [10, 100].map(|n| ChannelCounters {
            write: direction(n),
            read: direction(n * 2),
        });
        let mut text = format!("{block:?}\n");
        for (number, channel) in channels.iter().enumerate() {
            text.push_str(&format!("channel {number}: {channel:?}\n"));
        }
        let (found, of_channels) = counters(&text).unwrap();
        assert_eq!(found, block);
        assert_eq!(of_channels.len(), 2);
        for (found, channel) in of_channels.iter().zip(&channels) {
            assert_eq!(found.counters, *channel);
        }
        let errors = LinkErrors {
            unsupported: 1,
            aborted: 2,
            poisoned: 3,
            malformed: 4,
            unexpected: 5,
            expired: 65535,
        };
        let printed = format!("{errors:?}\n");
        assert_eq!(link(&printed), Some(errors));
        assert_eq!(link(&printed.replace("expired", "other")), None);
        assert_eq!(link("the board does not answer\n"), None);
        // A missing value is not treated as zero.
        assert_eq!(counters(&text.replace("att_faults", "other")), None);
        assert_eq!(counters(""), None);
    }

    /// The files of a computer with a board that a process has open.
    #[test]
    fn a_board_is_found_with_who_has_it() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let open = || Kernel::new(root.path(), None);
        let told = |result: Result<Kernel, Error>| result.err().unwrap().message();
        assert!(told(open()).contains("no board"), "{}", told(open()));
        write("dev/peerlane3", "");
        assert!(told(open()).contains("debugfs"), "{}", told(open()));
        let named = Kernel::new(root.path(), Some(Path::new("/dev/peerlane7")));
        assert!(told(named).contains("no such board"));
        let named = Kernel::new(root.path(), Some(Path::new("/dev/null")));
        assert!(told(named).contains("not the device node"));
        let channel = ChannelCounters::default();
        write(
            "sys/kernel/debug/peerlane3/counters",
            &format!(
                "{:?}\nchannel 0: {channel:?}\nchannel 1: {channel:?}\n",
                BlockCounters::default()
            ),
        );
        write(
            "sys/kernel/debug/peerlane3/state",
            "map_id 0x1\nchannel 1: ring 0x1000 + 4096, 5 events, generation 1, regions 3 (4096 bytes), kept 0 (0 bytes), revoked 0\n\
             channel 1: opened by process 4711 of user 1000, has 3 ATT entries, 65536 bytes of FPGA memory\n",
        );
        write("proc/4711/comm", "app\n");
        write("sys/class/misc/peerlane3/device/peerlane/state", "ready\n");
        write("sys/class/misc/peerlane3/device/peerlane/channels", "8\n");
        write(
            "sys/class/misc/peerlane3/device/peerlane/channels_free",
            "7\n",
        );
        let mut board = open().unwrap();
        assert!(board.name().starts_with("/dev/peerlane3"));
        let sample = board.sample().unwrap();
        assert_eq!(sample.state, "ready");
        assert_eq!(sample.facts, ["channels: 7 of 8 free"]);
        assert_eq!(sample.channels[0].owner, None);
        assert_eq!(sample.channels[1].owner.as_deref(), Some("app (4711)"));
        assert_eq!(sample.channels[1].regions, Some(3));
        write(
            "sys/kernel/debug/peerlane3/counters",
            "the board does not answer\n",
        );
        assert!(board.sample().unwrap().channels.is_empty());
    }
}
