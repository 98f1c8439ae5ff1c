"""Files, trees, watches, volumes."""

from __future__ import annotations

import io
import os
import random
import stat
import tarfile
import tempfile
import unittest
from pathlib import Path
from typing import List

from isola import Sandbox
from isola._tree import BadArchive, TreeUnpacker, pack
from isola.errors import Conflict, InvalidRequest

from support import client

ODD = b"odd-\xff\xfe\x01"  # not UTF-8


class FilesTest(unittest.TestCase):
    sandbox: Sandbox

    @classmethod
    def setUpClass(cls) -> None:
        cls.sandbox = Sandbox.create()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.sandbox.close()

    def test_content_is_streamed_with_progress(self) -> None:
        files = self.sandbox.files
        large = random.Random(1).randbytes(3_000_000) if hasattr(random.Random, "randbytes") else bytes(3_000_000)
        sent: List[int] = []
        received: List[int] = []
        files.write("large", io.BytesIO(large), mode=0o600, progress=sent.append)
        self.assertEqual(large, files.read("large", progress=received.append))
        self.assertEqual([len(large)] * 2, [sent[-1], received[-1]])
        self.assertGreater(len(sent), 10)
        self.assertEqual(sorted(sent), sent)
        self.assertEqual(large, b"".join(files.stream("large")))
        self.assertEqual("0600", files.stat("large").mode)
        with self.assertRaises(InvalidRequest):
            files.read("large", limit=1000)

    def test_operations(self) -> None:
        files = self.sandbox.files
        files.write("d/a", "x")
        files.write("d/a", "y", append=True)
        self.assertEqual("xy", files.read_text("d/a"))
        with self.assertRaises(Conflict) as exists:
            files.write("d/a", "z", exclusive=True)
        self.assertEqual("FILE_EXISTS", exists.exception.code)
        files.write("d/empty", b"")
        files.make_folder("d/e/f")
        files.move("d/empty", "d/e/moved")
        with self.assertRaises(Conflict):
            files.move("d/a", "d/e/moved")
        files.change_mode("d/a", 0o640)
        self.assertEqual("0640", files.stat("d/a").mode)
        self.assertEqual({"a", "e"}, {one.name for one in files.list("d")})
        self.assertEqual({"a", "e", "f", "moved"}, {one.name for one in files.list("d", depth=0)})
        self.assertEqual(["moved"], [one.name for one in files.glob("d", "**/m*")])
        with self.assertRaises(Conflict):
            files.remove("d")
        files.remove("d", recursive=True)
        self.assertIsNone(files.find("d"))

    def test_odd_names(self) -> None:
        files = self.sandbox.files
        for name in ["ü & ?#%", "a+b", "line\nbreak", " space ", "'\"$(id)", "%2e%2e", "…/deep"]:
            with self.subTest(name):
                files.write("odd/" + name, name)
                self.assertEqual(name, files.read_text("odd/" + name))
                self.assertEqual(len(name.encode()), files.stat("odd/" + name).size)
        with self.assertRaises(InvalidRequest):
            files.read(os.fsdecode(ODD))  # paths of the API are UTF-8

    def test_tree_with_odd_bytes_links_and_modes(self) -> None:
        with tempfile.TemporaryDirectory() as temporary:
            tree = Path(temporary, "tree")
            deep = tree / ("long-name-" * 20) / "sub"
            deep.mkdir(parents=True)
            (deep / "file").write_bytes(bytes(range(256)) * 400)
            (tree / "run").write_text("#!/bin/sh\n")
            (tree / "run").chmod(0o750)
            (tree / "link").symlink_to("run")
            with open(os.fsencode(tree) + b"/" + ODD, "wb") as file:
                file.write(b"odd")
            sent: List[int] = []
            summary = self.sandbox.files.upload(tree, "up", progress=sent.append)
            self.assertEqual(6, summary.entries)
            self.assertEqual(sum(len(chunk) for chunk in pack(tree)), sent[-1])
            self.sandbox.exec("ln up/run up/hard; ln -s /etc up/out; ln -s ../../x up/out2")
            back = Path(temporary, "back")
            skipped = self.sandbox.files.download("up", back)
            self.assertEqual({"out -> /etc", "out2 -> ../../x"}, {one[2:] if one.startswith("./") else one for one in skipped})
            copied = back / ("long-name-" * 20) / "sub" / "file"
            self.assertEqual(bytes(range(256)) * 400, copied.read_bytes())
            self.assertEqual(0o750, stat.S_IMODE((back / "run").stat().st_mode))
            self.assertEqual("run", os.readlink(back / "link"))
            self.assertEqual("#!/bin/sh\n", (back / "hard").read_text())
            self.assertIn(ODD, os.listdir(os.fsencode(back)))

    def test_watch_reports_changes(self) -> None:
        self.sandbox.files.make_folder("w/sub")
        with self.sandbox.watch("w", recursive=True) as watch:
            self.sandbox.exec("echo a > w/sub/new")
            for change in watch:
                if change.path.endswith("w/sub/new"):
                    break
            self.assertEqual("created", change.kind)
            self.sandbox.files.remove("w", recursive=True)
            kinds = [change.kind for change in watch]
            self.assertEqual("gone", kinds[-1])

    def test_volume_outlives_sandboxes(self) -> None:
        with client() as isola:
            isola.volumes.create("python-volume")
            try:
                with isola.create(volumes={"/data": "python-volume"}) as first:
                    first.exec("echo kept > /data/file")
                self.assertEqual("kept\n", isola.volumes.files("python-volume").read_text("file"))
                self.assertIn("python-volume", [one.name for one in isola.volumes.list()])
            finally:
                isola.volumes.remove("python-volume")


class UnpackerTest(unittest.TestCase):
    """The archive comes from a sandbox and is hostile."""

    def unpack(self, *entries: "tuple[tarfile.TarInfo, bytes]", step: int = 100, cut: int = 0) -> Path:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for entry, content in entries:
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
        folder = Path(tempfile.mkdtemp(prefix="isola-python-"))
        self.addCleanup(lambda: __import__("shutil").rmtree(folder))
        unpacker = TreeUnpacker(folder / "in")
        self.addCleanup(unpacker.close)
        raw = buffer.getvalue()
        raw = raw[: len(raw) - cut] if cut else raw
        for start in range(0, len(raw), step):
            unpacker.feed(raw[start : start + step])
        unpacker.finish()
        return folder / "in"

    @staticmethod
    def entry(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, target
        return info

    def test_every_split_gives_the_same(self) -> None:
        for step in (1, 7, 511, 512, 513, 100_000):
            with self.subTest(step):
                folder = self.unpack((self.entry("n" * 150 + "ü"), b"x" * 700), (self.entry("e"), b""), step=step)
                self.assertEqual(b"x" * 700, (folder / ("n" * 150 + "ü")).read_bytes())
                self.assertEqual(b"", (folder / "e").read_bytes())

    def test_nothing_is_written_outside(self) -> None:
        for name in ("../x", "/x", "a/../../x"):
            with self.subTest(name), self.assertRaises(BadArchive):
                self.unpack((self.entry(name), b"x"))
        with self.assertRaises(BadArchive):
            self.unpack(
                (self.entry("in", tarfile.SYMTYPE, "."), b""), (self.entry("in/x"), b"through a link")
            )
        with self.assertRaises(BadArchive):
            self.unpack((self.entry("hard", tarfile.LNKTYPE, "../../etc/passwd"), b""))
        for target in ("/etc", "..", "a/../../..", "../../x"):
            with self.subTest(target):
                self.assertEqual([], os.listdir(self.unpack((self.entry("link", tarfile.SYMTYPE, target), b""))))

    def test_devices_truncation_and_damage_are_refused(self) -> None:
        with self.assertRaises(BadArchive):
            self.unpack((self.entry("device", tarfile.CHRTYPE), b""))
        with self.assertRaises(BadArchive):
            self.unpack((self.entry("a"), b"x" * 5000), cut=9000)
        with self.assertRaises(BadArchive):
            TreeUnpacker(tempfile.mkdtemp()).feed(b"\x01" * 512)
