//! Files that are no documents.

use std::fs;

use chaos_gameday::plan::read_source;

#[test]
fn what_is_no_file_of_text_is_named_for_what_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, bytes: &[u8]| fs::write(path(name), bytes).expect("a writable folder");
    rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe"), rustix::fs::Mode::RWXU).expect("a pipe");
    fs::create_dir(path("folder")).expect("a folder");
    let _socket = std::os::unix::net::UnixListener::bind(path("socket")).expect("a socket");
    // A sparse file: as large as it says and no work to make.
    fs::File::create(path("huge"))
        .and_then(|file| file.set_len(50 << 20))
        .expect("a large file");
    write("latin1", b"a: b\nc: \xe9\n");
    write("utf16", b"\xff\xfea\x00");
    write("nul", b"a: b\nc: \0\n");
    write("bell", b"a: \x07\n");
    for (name, expected) in [
        ("pipe", "`pipe` is a pipe, not a file"),
        ("folder", "`folder` is a folder, not a document"),
        ("socket", "`socket` is a socket, not a file"),
        (
            "huge",
            "`huge` is too large for a document: more than 1 MiB",
        ),
        ("latin1", "`latin1` is no UTF-8 text: byte 8, on line 2"),
        ("utf16", "`utf16` is UTF-16 text"),
        (
            "nul",
            "`nul` is no YAML text: a NUL byte at byte 8, on line 2",
        ),
        (
            "bell",
            "`bell` is no YAML text: the control character U+0007 at byte 3, on line 1",
        ),
        ("missing", "there is no file `missing`"),
    ] {
        let problem = read_source(&path(name)).expect_err(name);
        let prefix = format!("{}/", folder.path().display());
        assert_eq!(problem.message.replace(&prefix, ""), expected);
        assert!(problem.hint.is_some(), "{name} has no next move");
    }
    let device = read_source("/dev/zero".as_ref()).expect_err("a device");
    assert_eq!(device.message, "`/dev/zero` is a device, not a file");
}

#[test]
fn a_byte_order_mark_is_tolerated_and_a_megabyte_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("marked.yaml");
    let comment = format!("#{}\n", "x".repeat((1 << 20) - 5));
    fs::write(&path, format!("\u{feff}{comment}")).expect("a writable folder");
    assert_eq!(read_source(&path).map(|source| source.text), Ok(comment));
}
