//! The cache under concurrent processes, damage and failure.

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use peerlane_tools::{Cache, Error, Recipe, Result};

/// Installs a tool of two files that belong together, made slowly.
fn fake_tool(cache: &Cache, content: &str) -> Result<std::path::PathBuf> {
    let recipe = Recipe::new("fake", "a fake tool")
        .part(content)
        .requires("bin/tool");
    cache.install(&recipe, |directory, progress| {
        progress.step("writing");
        count(cache.root());
        fs::create_dir(directory.join("bin")).unwrap();
        fs::write(directory.join("bin/tool"), content).unwrap();
        thread::sleep(Duration::from_millis(300));
        fs::write(directory.join("share"), content).unwrap();
        Ok(())
    })
}

/// Counts an installation: one byte is appended, which is atomic.
fn count(root: &Path) {
    use std::io::Write;
    fs::File::options()
        .create(true)
        .append(true)
        .open(root.join("count"))
        .unwrap()
        .write_all(b"x")
        .unwrap();
}

fn counted(root: &Path) -> usize {
    fs::read(root.join("count")).map_or(0, |bytes| bytes.len())
}

/// Runs itself in four other processes at once; a variable marks them as children.
#[test]
fn processes_at_once_install_once() {
    const CHILD: &str = "PEERLANE_TEST_CHILD_CACHE";
    if let Some(root) = env::var_os(CHILD) {
        let cache = Cache::at(Path::new(&root)).unwrap();
        let path = fake_tool(&cache, "v1").unwrap();
        // A process that gets the path finds all files.
        assert_eq!(fs::read_to_string(path.join("bin/tool")).unwrap(), "v1");
        assert_eq!(fs::read_to_string(path.join("share")).unwrap(), "v1");
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let children: Vec<_> = (0..4)
        .map(|_| {
            Command::new(env::current_exe().unwrap())
                .args(["--exact", "processes_at_once_install_once"])
                .env(CHILD, root.path())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(counted(root.path()), 1);
}

#[test]
fn an_installation_is_made_once_and_again_when_damaged() {
    let root = tempfile::tempdir().unwrap();
    let cache = Cache::at(root.path()).unwrap();
    let path = fake_tool(&cache, "v1").unwrap();
    assert_eq!(fake_tool(&cache, "v1").unwrap(), path);
    assert_eq!(counted(root.path()), 1);

    // A stamp of another recipe.
    fs::write(path.join(".peerlane-stamp"), "0000\n").unwrap();
    assert_eq!(fake_tool(&cache, "v1").unwrap(), path);
    assert_eq!(counted(root.path()), 2);

    // No stamp: the installation never ended.
    fs::remove_file(path.join(".peerlane-stamp")).unwrap();
    fs::write(path.join("share"), "half").unwrap();
    fake_tool(&cache, "v1").unwrap();
    assert_eq!(fs::read_to_string(path.join("share")).unwrap(), "v1");
    assert_eq!(counted(root.path()), 3);

    // A required file was removed.
    fs::remove_file(path.join("bin/tool")).unwrap();
    fake_tool(&cache, "v1").unwrap();
    assert!(path.join("bin/tool").exists());
    assert_eq!(counted(root.path()), 4);
}

#[test]
fn another_recipe_gets_another_directory() {
    let root = tempfile::tempdir().unwrap();
    let cache = Cache::at(root.path()).unwrap();
    let old = fake_tool(&cache, "v1").unwrap();
    let new = fake_tool(&cache, "v2").unwrap();
    assert_ne!(old, new);
    assert_eq!(fs::read_to_string(old.join("share")).unwrap(), "v1");
    assert_eq!(fs::read_to_string(new.join("share")).unwrap(), "v2");
    // Parts are distinguished by their ends.
    assert_ne!(
        Recipe::new("a", "a").part("ab").part("c").hash(),
        Recipe::new("a", "a").part("a").part("bc").hash()
    );
}

#[test]
fn a_failure_leaves_nothing_and_the_next_try_works() {
    let root = tempfile::tempdir().unwrap();
    let cache = Cache::at(root.path()).unwrap();
    let recipe = Recipe::new("fails", "a tool that fails");
    let result: Result<_> = cache.install(&recipe, |directory, _| {
        fs::write(directory.join("half"), "half").unwrap();
        Err(Error::Hash {
            tool: "fails".to_owned(),
            detail: "corrupted".to_owned(),
        })
    });
    assert!(matches!(result, Err(Error::Hash { .. })));
    assert!(cache.installed(&recipe).is_none());
    assert_eq!(fs::read_dir(root.path().join(".tmp")).unwrap().count(), 0);

    // Files that a killed process left are removed.
    let hash = recipe.hash();
    let left = root
        .path()
        .join(format!(".tmp/fails-{}.killed", &hash[..16]));
    fs::create_dir(&left).unwrap();
    let path: Result<_> = cache.install(&recipe, |directory, _| {
        assert_eq!(fs::read_dir(directory).unwrap().count(), 0);
        Ok(())
    });
    assert!(path.is_ok());
    assert!(!left.exists());
}

#[test]
fn a_cache_directory_that_cannot_be_made_is_named() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Cache::at(&file.join("cache")).unwrap_err();
    assert!(error.to_string().contains("file/cache"), "{error}");
}
