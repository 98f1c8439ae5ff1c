"""What all versions of the SDK since 1.0 have. Uses nothing newer."""

import http.client
import os
import ssl
import unittest
import urllib.parse
import uuid

from e2b import CommandExitException, Sandbox
from programs import until

RUN = str(uuid.uuid4())


def create(**options):
    """Creates a sandbox: in version 1 with the constructor."""
    return getattr(Sandbox, "create", Sandbox)(timeout=300, **options)


def listed():
    """Returns all sandboxes: version 1 returns a list, later versions return pages."""
    found = Sandbox.list()
    if isinstance(found, list):
        return found
    every = []
    while found.has_next:
        every.extend(found.next_items())
    return every


def get(host):
    """Requests a host of the sandbox, through the URL of the server if the program has one."""
    url = os.environ.get("E2B_SANDBOX_URL")
    if url:
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=10)
    else:
        connection = http.client.HTTPSConnection(host, timeout=10, context=ssl.create_default_context())
    try:
        connection.request("GET", "/", headers={"Host": host})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


class BasicsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sandbox = create(metadata={"run": RUN}, envs={"GREETING": "hello"})
        cls.addClassCleanup(cls.sandbox.kill)

    def test_a_command_returns_its_output(self):
        parts = []
        result = self.sandbox.commands.run(
            "echo $GREETING $MORE; echo bad >&2", envs={"MORE": "you"}, on_stdout=parts.append
        )
        self.assertEqual((result.exit_code, result.stdout, result.stderr), (0, "hello you\n", "bad\n"))
        self.assertEqual("".join(parts), "hello you\n")

    def test_a_nonzero_exit_code_is_an_error(self):
        with self.assertRaises(CommandExitException) as caught:
            self.sandbox.commands.run("echo out; exit 3")
        self.assertEqual((caught.exception.exit_code, caught.exception.stdout), (3, "out\n"))

    def test_files_are_written_read_and_listed(self):
        files = self.sandbox.files
        files.write("notes/one.txt", "žluť\n")
        files.write("/home/user/notes/two.txt", b"two")
        self.assertEqual(files.read("notes/one.txt"), "žluť\n")
        self.assertEqual(bytes(files.read("notes/two.txt", format="bytes")), b"two")
        self.assertEqual(self.sandbox.commands.run("cat notes/two.txt").stdout, "two")
        self.assertEqual(
            [(one.name, one.type.value, one.path) for one in files.list("notes")],
            [
                ("one.txt", "file", "/home/user/notes/one.txt"),
                ("two.txt", "file", "/home/user/notes/two.txt"),
            ],
        )
        self.assertFalse(files.exists("notes/three.txt"))

    def test_folders_are_made_files_renamed_and_removed(self):
        files = self.sandbox.files
        self.assertTrue(files.make_dir("made/here"))
        files.write("made/before.txt", "same")
        files.rename("made/before.txt", "made/here/after.txt")
        self.assertEqual(files.read("made/here/after.txt"), "same")
        files.remove("made")
        self.assertFalse(files.exists("made"))

    def test_running_commands_are_listed_and_killed(self):
        commands = self.sandbox.commands
        running = commands.run("sleep 1000", background=True)
        self.assertIn(running.pid, [one.pid for one in commands.list()])
        self.assertTrue(commands.kill(running.pid))
        with self.assertRaises(CommandExitException):
            running.wait()
        self.assertNotIn(running.pid, [one.pid for one in commands.list()])

    def test_get_host_leads_to_a_port_of_the_sandbox(self):
        host = self.sandbox.get_host(8000)
        self.assertTrue(host.startswith(f"8000-{self.sandbox.sandbox_id}."), host)
        self.sandbox.files.write("site/index.html", "from the sandbox")
        server = self.sandbox.commands.run("python3 -m http.server 8000 -d site", background=True)
        until(lambda: get(host)[0] == 200, "the port is open")
        self.assertEqual(get(host), (200, "from the sandbox"))
        self.assertTrue(server.kill())

    def test_the_list_contains_the_sandbox(self):
        found = [one.sandbox_id for one in listed() if one.metadata.get("run") == RUN]
        self.assertEqual(found, [self.sandbox.sandbox_id])

    def test_a_sandbox_ends_at_the_timeout_that_was_set_last(self):
        short = create()
        self.addCleanup(short.kill)
        self.assertTrue(short.is_running())
        short.set_timeout(1)
        until(lambda: not short.is_running(), "the sandbox has ended", 20)

    def test_a_killed_sandbox_is_gone(self):
        killed = create()
        killed.kill()
        self.assertFalse(killed.is_running())
        self.assertFalse(Sandbox.kill(killed.sandbox_id))
        with self.assertRaises(Exception):
            killed.commands.run("true")
        self.assertNotIn(killed.sandbox_id, [one.sandbox_id for one in listed()])


if __name__ == "__main__":
    unittest.main()
