//! The results of tests, in the JUnit files that nextest writes.

use std::{fs, io, path::Path};

use miette::{IntoDiagnostic, WrapErr};
use quick_xml::{Reader, events::Event};

/// A test that has run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Test {
    /// The names of its program and of the test.
    pub(crate) name: String,
    pub(crate) passed: bool,
    pub(crate) seconds: f64,
}

/// Reads a file. Without a file, no test ran.
pub(crate) fn read(file: &Path) -> miette::Result<Vec<Test>> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text.into_diagnostic(),
    };
    text.and_then(|text| tests(&text).into_diagnostic())
        .wrap_err_with(|| format!("cannot read {}", file.display()))
}

fn tests(text: &str) -> Result<Vec<Test>, quick_xml::Error> {
    let mut reader = Reader::from_str(text);
    let mut tests: Vec<Test> = Vec::new();
    loop {
        match reader.read_event()? {
            Event::Start(element) | Event::Empty(element) => match element.name().as_ref() {
                b"testcase" => {
                    let attribute = |name: &str| {
                        let found = element.try_get_attribute(name)?;
                        let value = found.map(|found| found.unescape_value()).transpose()?;
                        Ok::<_, quick_xml::Error>(value.unwrap_or_default().into_owned())
                    };
                    tests.push(Test {
                        name: format!("{} {}", attribute("classname")?, attribute("name")?),
                        passed: true,
                        seconds: attribute("time")?.parse().unwrap_or_default(),
                    });
                }
                b"failure" | b"error" => {
                    if let Some(test) = tests.last_mut() {
                        test.passed = false;
                    }
                }
                _ => {}
            },
            Event::Eof => return Ok(tests),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nextests_files_are_read() {
        // JUnit of nextest 0.9.148.
        let text = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="3" failures="1" errors="1" time="6.2">
    <testsuite name="a::b" tests="3" disabled="0" errors="1" failures="1">
        <testcase name="c" classname="a::b" timestamp="2026-11-30T01:20:06.000+00:00" time="0.125">
        </testcase>
        <testcase name="d::e" classname="a::b" time="5">
            <failure message="&lt;no&gt;" type="test failure with exit code 101">why</failure>
            <system-out>a &lt;failure&gt;</system-out>
        </testcase>
        <testcase name="f" classname="a::b" time="1.5"/>
    </testsuite>
</testsuites>"#;
        let test = |name: &str, passed, seconds| Test {
            name: name.to_owned(),
            passed,
            seconds,
        };
        let expected = [
            test("a::b c", true, 0.125),
            test("a::b d::e", false, 5.0),
            test("a::b f", true, 1.5),
        ];
        assert_eq!(tests(text).unwrap(), expected);
    }

    #[test]
    fn without_a_file_no_test_ran() {
        assert_eq!(read(Path::new("/nowhere/junit.xml")).unwrap(), []);
    }
}
