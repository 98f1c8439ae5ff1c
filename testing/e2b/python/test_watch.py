import unittest

from e2b import FileNotFoundException, FilesystemEventType, InvalidArgumentException, SandboxException
from programs import WithSandbox, until


class WatchTest(WithSandbox):
    """Watches of the synchronous SDK are polled."""

    def watch(self, path, **options):
        handle = self.files.watch_dir(path, **options)
        self.addCleanup(handle.stop)
        events = []

        def saw(name, kind):
            def seen():
                events.extend(handle.get_new_events())
                return any(one.name == name and one.type == kind for one in events)

            until(seen, f"{kind} of {name}")

        return saw, events

    def test_all_kinds_of_changes_are_reported(self):
        self.files.make_dir("seen")
        saw, _ = self.watch("seen")
        self.files.write("seen/new.txt", "one")
        saw("new.txt", FilesystemEventType.CREATE)
        self.files.write("seen/new.txt", "two")
        saw("new.txt", FilesystemEventType.WRITE)
        self.commands.run("chmod 600 seen/new.txt")
        saw("new.txt", FilesystemEventType.CHMOD)
        self.files.rename("seen/new.txt", "seen/old.txt")
        saw("new.txt", FilesystemEventType.RENAME)
        saw("old.txt", FilesystemEventType.CREATE)
        self.files.remove("seen/old.txt")
        saw("old.txt", FilesystemEventType.REMOVE)

    def test_a_poll_returns_every_change_made_before_it(self):
        self.files.make_dir("polled")
        handle = self.files.watch_dir("polled")
        self.addCleanup(handle.stop)
        load = self.commands.run("while :; do :; done", background=True, timeout=60)
        self.addCleanup(load.kill)
        for i in range(100):
            self.files.write(f"polled/{i}", "one")
            names = {one.name for one in handle.get_new_events()}
            self.assertIn(str(i), names)
            # The same file again, and a file that a command writes.
            self.files.write(f"polled/{i}", "two")
            kinds = [one.type for one in handle.get_new_events() if one.name == str(i)]
            self.assertIn(FilesystemEventType.WRITE, kinds)
        for i in range(20):
            self.commands.run(f"echo {i} >> polled/appended")
            self.assertIn("appended", [one.name for one in handle.get_new_events()])

    def test_subfolders_are_watched_only_if_recursive(self):
        self.files.make_dir("deep/in/it")
        saw, _ = self.watch("deep", recursive=True)
        flat, events = self.watch("deep")
        self.files.write("deep/in/it/file", "x")
        self.files.write("deep/here", "x")
        saw("in/it/file", FilesystemEventType.CREATE)
        flat("here", FilesystemEventType.CREATE)
        self.assertFalse([one for one in events if "file" in one.name])

    def test_events_describe_the_changed_entry(self):
        self.files.make_dir("told")
        saw, events = self.watch("told", include_entry=True)
        self.files.write("told/file", "hello")
        saw("file", FilesystemEventType.WRITE)
        self.assertIn("/home/user/told/file", [one.entry.path for one in events if one.entry])

    def test_invalid_watches_are_rejected(self):
        with self.assertRaises(FileNotFoundException):
            self.files.watch_dir("nothing")
        self.files.write("file", "x")
        with self.assertRaises(InvalidArgumentException):
            self.files.watch_dir("file")
        self.files.make_dir("over")
        handle = self.files.watch_dir("over")
        handle.stop()
        with self.assertRaises(SandboxException):
            handle.get_new_events()


if __name__ == "__main__":
    unittest.main()
