//! The output of each emitter for a small map.

use peerlane_regmap::Map;
use peerlane_regmap::emit::{self, OutputFile};

fn check(name: &str, files: Vec<OutputFile>) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for file in files {
            insta::assert_snapshot!(format!("{name}-{}", file.path), file.text);
        }
    });
}

fn small() -> Map {
    match Map::parse(include_str!("small.toml"), "small.toml") {
        Ok(map) => map,
        Err(errors) => panic!("{errors}"),
    }
}

#[test]
fn rtl() {
    check("rtl", emit::rtl(&small()));
}

#[test]
fn host() {
    check("host", emit::host(&small()));
}

#[test]
fn c() {
    check("c", emit::c(&small()));
}

#[test]
fn markdown() {
    check("markdown", emit::markdown(&small()));
}

#[test]
fn systemrdl() {
    check("systemrdl", emit::systemrdl(&small()));
}

/// Not a snapshot, which would be mostly style sheet: the required contents of the page.
#[test]
fn html() {
    let files = emit::html(&small());
    let [page] = files.as_slice() else {
        panic!("one page")
    };
    assert_eq!(page.path, "tiny.html");
    let text = &page.text;
    // Every link of the page leads somewhere.
    let links: Vec<&str> = text
        .split("href=\"#")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(links.len() > 10);
    for link in links {
        let target = format!("id=\"{link}\"");
        assert_eq!(text.matches(&target).count(), 1, "{link}");
    }
    // Every diagram row has 32 columns: ID, SETUP, two words of BASE and SLOT, then the members.
    let rows: Vec<u32> = text
        .split("class=\"word\"")
        .skip(1)
        .map(|row| {
            let row = row.split("</table>").next().unwrap();
            row.split("grid-column: span ")
                .skip(1)
                .map(|rest| rest.split('"').next().unwrap().parse::<u32>().unwrap())
                .sum()
        })
        .collect();
    assert_eq!(rows, [32; 9]);
    assert!(
        text.contains("<code>a[1]</code> &lt; b."),
        "prose is escaped"
    );
    assert!(!text.contains("http://") && !text.contains("https://"));
    for (open, close) in [
        ("<table", "</table>"),
        ("<div", "</div>"),
        ("<td", "</td>"),
        ("<ul", "</ul>"),
    ] {
        assert_eq!(
            text.matches(open).count(),
            text.matches(close).count(),
            "{open}"
        );
    }
}
