//! Identities of processes.

use peerlane_host::Process;

/// Returns the result of a child of a fork.
fn in_a_child(says: impl FnOnce() -> i32) -> i32 {
    // SAFETY: this program has no other thread with a lock that the child could want: its one test runs alone.
    match unsafe { libc::fork() } {
        // SAFETY: the child ends here.
        0 => unsafe { libc::_exit(says()) },
        child => {
            assert!(child > 0, "{}", std::io::Error::last_os_error());
            let mut status = 0;
            // SAFETY: a place for the status of this process's child.
            let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
            assert_eq!(ended, child);
            assert!(libc::WIFEXITED(status), "the child has not ended by itself");
            libc::WEXITSTATUS(status)
        }
    }
}

/// Makes new name spaces: the next child is process 1.
fn unshare(flags: i32) -> bool {
    // SAFETY: the call takes no pointer.
    unsafe { libc::unshare(flags) == 0 }
}

#[test]
fn a_child_is_another_process_whatever_its_number() {
    let parent = Process::current();
    assert_eq!(std::thread::spawn(Process::current).join().unwrap(), parent);
    let grandchild = |parent| move || i32::from(Process::current() == parent);
    let child = || {
        let child = Process::current();
        i32::from(child == parent || child != Process::current())
            + 2 * in_a_child(grandchild(parent))
            + 4 * in_a_child(grandchild(child))
    };
    assert_eq!(in_a_child(child), 0);
    assert_eq!(Process::current(), parent);

    const NOT_ALLOWED: i32 = 77;
    let one = |child: Process| {
        move || {
            let is_one = std::process::id() == 1;
            i32::from(!is_one || Process::current() == child)
        }
    };
    let first = move || {
        let child = Process::current();
        if std::process::id() != 1 || !unshare(libc::CLONE_NEWPID) {
            return NOT_ALLOWED;
        }
        in_a_child(one(child))
    };
    let said = in_a_child(|| match unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWPID) {
        true => in_a_child(first),
        false => NOT_ALLOWED,
    });
    if said == NOT_ALLOWED {
        eprintln!("not tried: this system allows no PID name spaces");
        return;
    }
    assert_eq!(said, 0, "process 1 takes its child for itself");
}
