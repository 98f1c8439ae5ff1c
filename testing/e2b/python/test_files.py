import hashlib
import io
import os
import unittest

from e2b import (
    AuthenticationException,
    FileNotFoundException,
    FileType,
    InvalidArgumentException,
    SandboxException,
)
from programs import WithSandbox


def sha(content):
    return hashlib.sha256(content).hexdigest()


class FilesTest(WithSandbox):
    def test_written_text_is_read_back(self):
        written = self.files.write("notes/á b.txt", "žluť\n")
        self.assertEqual(
            (written.path, written.name, written.type),
            ("/home/user/notes/á b.txt", "á b.txt", FileType.FILE),
        )
        self.assertEqual(self.files.read("notes/á b.txt"), "žluť\n")
        self.assertEqual(self.out('cat "notes/á b.txt"'), "žluť\n")

    def test_owners_and_modes(self):
        self.files.write("/home/user/made/for/me.txt", "x")
        self.files.write("/opt/app/main.sh", "echo ran", user="root")
        line = self.out('stat -c "%U:%G %a" made/for made/for/me.txt /opt/app /opt/app/main.sh')
        self.assertEqual(line, "user:user 755\nuser:user 644\nroot:root 755\nroot:root 644\n")

    def test_an_existing_file_is_replaced_and_keeps_its_mode(self):
        self.files.write("tool.sh", "echo one")
        self.out("chmod 750 tool.sh")
        self.files.write("tool.sh", "two")
        self.assertEqual(self.files.read("tool.sh"), "two")
        self.assertEqual(self.files.get_info("tool.sh").mode, 0o750)

    def test_empty_files(self):
        self.files.write("empty", "")
        self.assertEqual(self.files.read("empty"), "")
        self.assertEqual(self.files.read("empty", format="bytes"), bytearray())
        self.assertEqual(b"".join(self.files.read("empty", format="stream")), b"")
        self.assertEqual(self.files.get_info("empty").size, 0)

    def test_bytes_and_streams_large_ones_too(self):
        content = os.urandom(12 << 20)
        self.files.write("raw", content)
        self.assertEqual(self.out("sha256sum raw").split()[0], sha(content))
        self.assertEqual(sha(self.files.read("raw", format="bytes")), sha(content))
        self.files.write("sent", io.BytesIO(content))
        self.assertEqual(self.out("sha256sum sent").split()[0], sha(content))
        got = hashlib.sha256()
        with self.files.read("sent", format="stream") as pieces:
            for piece in pieces:
                got.update(piece)
        self.assertEqual(got.hexdigest(), sha(content))
        self.files.write("generated", (b"part" * 1000 for _ in range(100)))
        self.assertEqual(self.files.get_info("generated").size, 400_000)

    def test_transfers_are_compressed_in_both_directions(self):
        text = "the same line again\n" * 50_000
        self.files.write("packed.txt", text, gzip=True)
        self.assertEqual(self.out("wc -c < packed.txt").strip(), str(len(text)))
        self.assertEqual(self.files.read("packed.txt", gzip=True), text)

    def test_several_files_are_written_in_one_call(self):
        for octets in (False, True):
            with self.subTest(octets=octets):
                entries = [
                    {"path": f"many-{octets}/{number}.txt", "data": f"file {number}"}
                    for number in range(5)
                ]
                written = self.files.write_files(entries, use_octet_stream=octets)
                self.assertEqual(
                    [one.path for one in written], [f"/home/user/{one['path']}" for one in entries]
                )
                self.assertEqual(
                    self.out(f"cat many-{octets}/*"), "file 0file 1file 2file 3file 4"
                )
        self.assertEqual(self.files.write_files([]), [])

    def test_metadata_is_kept_with_the_file(self):
        metadata = {"author": "me", "purpose": "a test"}
        self.assertEqual(self.files.write("described", "x", metadata=metadata).metadata, metadata)
        self.assertEqual(self.files.get_info("described").metadata, metadata)
        listed = {one.name: one.metadata for one in self.files.list(".")}
        self.assertEqual(listed["described"], metadata)
        self.files.write("plain", "x")
        self.assertIsNone(self.files.get_info("plain").metadata)
        # Overwriting the file replaces its metadata.
        other = {"purpose": "another"}
        self.assertEqual(self.files.write("described", "y", metadata=other).metadata, other)
        self.assertEqual(self.files.get_info("described").metadata, other)
        self.assertIsNone(self.files.write("described", "z").metadata)
        self.assertIsNone(self.files.get_info("described").metadata)

    def test_a_missing_path_is_not_found(self):
        for call in (self.files.read, self.files.get_info, self.files.list):
            with self.assertRaises(FileNotFoundException):
                call("no/such")
        with self.assertRaises(FileNotFoundException):
            self.files.rename("no/such", "other")
        self.assertFalse(self.files.exists("no/such"))
        self.files.remove("no/such")

    def test_a_path_of_the_wrong_type_is_rejected(self):
        self.files.write("a-file", "x")
        with self.assertRaises(InvalidArgumentException):
            self.files.list("a-file")
        with self.assertRaises(InvalidArgumentException):
            self.files.make_dir("a-file")
        with self.assertRaises(InvalidArgumentException):
            self.files.read("/tmp")
        with self.assertRaises(SandboxException):
            self.files.write("/tmp", "x")
        with self.assertRaises(AuthenticationException):
            self.files.read("a-file", user="no-such-user")

    def test_folders(self):
        self.assertTrue(self.files.make_dir("one/two/three"))
        self.assertFalse(self.files.make_dir("one/two"))
        self.files.write("one/two/file", "x")
        names = lambda depth: [one.path for one in self.files.list("one", depth=depth)]
        self.assertEqual(names(1), ["/home/user/one/two"])
        self.assertEqual(
            names(2), ["/home/user/one/two", "/home/user/one/two/file", "/home/user/one/two/three"]
        )
        self.assertEqual(self.files.list("one")[0].type, FileType.DIR)
        self.files.remove("one")
        self.assertFalse(self.files.exists("one"))

    def test_a_folder_is_moved_with_its_content(self):
        self.files.write("from/a/file", "x")
        moved = self.files.rename("from", "to/here")
        self.assertEqual((moved.path, moved.type), ("/home/user/to/here", FileType.DIR))
        self.assertEqual(self.files.read("to/here/a/file"), "x")
        self.assertFalse(self.files.exists("from"))

    def test_entry_info_is_complete(self):
        self.files.write("entry", "12345")
        self.out("ln -s entry to-entry; ln -s nowhere to-nothing; chmod 640 entry")
        info = self.files.get_info("entry")
        self.assertEqual(
            (info.name, info.type, info.path, info.size, info.mode, info.permissions),
            ("entry", FileType.FILE, "/home/user/entry", 5, 0o640, "-rw-r-----"),
        )
        self.assertEqual((info.owner, info.group, info.symlink_target), ("user", "user", None))
        now = int(self.out("date +%s"))
        self.assertLess(abs(info.modified_time.timestamp() - now), 60)
        link = self.files.get_info("to-entry")
        self.assertEqual((link.type, link.symlink_target), (FileType.FILE, "/home/user/entry"))
        self.assertTrue(self.files.exists("to-nothing"))


if __name__ == "__main__":
    unittest.main()
