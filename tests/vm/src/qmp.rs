//! QEMU's machine protocol: commands to a running machine.

use std::{
    io::{self, BufRead, BufReader, Write},
    os::unix::net::UnixStream,
};

use serde_json::{Value, json};

use crate::{Error, Result};

/// The machine, from outside.
#[derive(Debug)]
pub struct Qmp {
    replies: BufReader<UnixStream>,
    reset: bool,
}

impl Qmp {
    /// Uses the connection that QEMU made.
    pub(crate) fn new(stream: UnixStream) -> Result<Self> {
        let mut qmp = Self {
            replies: BufReader::new(stream),
            reset: false,
        };
        // QEMU sends a greeting; then it expects the list of extensions that are used: none.
        qmp.line("connect")?;
        qmp.execute("qmp_capabilities", json!({}))?;
        Ok(qmp)
    }

    /// Plugs a device in, given as QEMU takes it: `{"driver": …, "id": …, "bus": "slot1"}`.
    ///
    /// # Errors
    /// If QEMU refuses it, or has ended.
    pub fn device_add(&mut self, device: Value) -> Result<()> {
        self.execute("device_add", device).map(drop)
    }

    /// Makes the device report an error as PCIe's Advanced Error Reporting does. `error` is QEMU's
    /// name of it: `SDN`, `COMP_TIME`, `POISON_TLP`, `RCVR`, …
    ///
    /// # Errors
    /// If the device has no such registers, or QEMU has ended.
    pub fn inject_aer(&mut self, device: &str, error: &str) -> Result<()> {
        // Only QEMU's command line for people has this command, and answers in words.
        let command = format!("pcie_aer_inject_error {device} {error}");
        let answer = self.execute(
            "human-monitor-command",
            json!({ "command-line": command.as_str() }),
        )?;
        match answer.as_str() {
            Some(words) if words.starts_with("OK") => Ok(()),
            _ => Err(Error::Qmp {
                command,
                answer: answer.to_string(),
            }),
        }
    }

    /// Resets the machine, as its button does. Needs `Machine::reboots`. The program whose
    /// question is being answered gets no answer any more.
    ///
    /// # Errors
    /// If QEMU has ended.
    pub fn reset(&mut self) -> Result<()> {
        self.reset = true;
        self.execute("system_reset", json!({})).map(drop)
    }

    /// Presses and releases a key of the keyboard, by QEMU's name of it (`QKeyCode` in its QMP reference).
    ///
    /// # Errors
    /// If there is no such key, or QEMU has ended.
    pub fn press(&mut self, key: &str) -> Result<()> {
        let keys = json!({ "keys": [{ "type": "qcode", "data": key }] });
        self.execute("send-key", keys).map(drop)
    }

    /// Executes any command of QEMU's QMP reference. Returns its result.
    ///
    /// # Errors
    /// If QEMU refuses it, or has ended.
    pub fn execute(&mut self, command: &str, arguments: Value) -> Result<Value> {
        let request = json!({ "execute": command, "arguments": arguments });
        let mut stream = self.replies.get_ref();
        stream
            .write_all(format!("{request}\n").as_bytes())
            .map_err(|error| gone(command, &error))?;
        loop {
            let mut reply = self.line(command)?;
            if let Some(value) = reply.get_mut("return") {
                return Ok(value.take());
            }
            if let Some(error) = reply.get("error") {
                return Err(Error::Qmp {
                    command: command.to_owned(),
                    answer: error["desc"].to_string(),
                });
            }
            // An event, for which no caller waits.
        }
    }

    /// Returns whether the machine was reset since the last call.
    pub(crate) fn was_reset(&mut self) -> bool {
        std::mem::take(&mut self.reset)
    }

    fn line(&mut self, command: &str) -> Result<Value> {
        let mut line = String::new();
        match self.replies.read_line(&mut line) {
            Ok(0) => Err(gone(command, &io::ErrorKind::UnexpectedEof.into())),
            Err(error) => Err(gone(command, &error)),
            Ok(_) => serde_json::from_str(&line).map_err(|_| Error::Qmp {
                command: command.to_owned(),
                answer: line,
            }),
        }
    }
}

fn gone(command: &str, error: &io::Error) -> Error {
    Error::Qmp {
        command: command.to_owned(),
        answer: format!("the connection broke: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Plays a machine that sends `script` before it is asked; returns the questions that it was asked.
    fn machine(script: &'static str) -> (Result<Qmp>, thread::JoinHandle<Vec<String>>) {
        let (here, there) = UnixStream::pair().unwrap();
        let asked = thread::spawn(move || {
            (&there).write_all(script.as_bytes()).unwrap();
            let lines = BufReader::new(there).lines();
            lines.map_while(io::Result::ok).collect()
        });
        (Qmp::new(here), asked)
    }

    #[test]
    fn events_between_are_passed_over_and_errors_are_errors() {
        let (qmp, asked) = machine(
            "{\"QMP\": {}}\n{\"return\": {}}\n{\"event\": \"RESET\"}\n{\"return\": \"OK id: x\"}\n\
             {\"error\": {\"class\": \"GenericError\", \"desc\": \"no such bus\"}}\n",
        );
        let mut qmp = qmp.unwrap();
        qmp.inject_aer("slot0", "RCVR").unwrap();
        let refused = qmp.device_add(json!({ "driver": "x" })).unwrap_err();
        assert!(refused.to_string().contains("no such bus"), "{refused}");
        drop(qmp);
        let asked: Vec<Value> = asked
            .join()
            .unwrap()
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(asked[0]["execute"], "qmp_capabilities");
        assert_eq!(
            asked[1]["arguments"]["command-line"],
            "pcie_aer_inject_error slot0 RCVR"
        );
        assert_eq!(asked[2]["arguments"]["driver"], "x");
    }
}
