import unittest

from e2b import CommandExitException, NotFoundException, PtySize
from programs import WithSandbox


class Screen:
    """The output of a terminal so far."""

    def __init__(self, handle):
        self.handle = handle
        self.pieces = iter(handle)
        self.text = ""

    def shows(self, what):
        while what not in self.text:
            self.text += next(self.pieces)[2].decode(errors="replace")


class PtyTest(WithSandbox):
    def test_a_terminal(self):
        pty = self.sandbox.pty.create(PtySize(rows=31, cols=93), envs={"MINE": "yes"})
        screen = Screen(pty)
        send = lambda text: self.sandbox.pty.send_stdin(pty.pid, text.encode())
        send('stty size; echo "[$MINE $TERM $(pwd)]"\n')
        screen.shows("31 93")
        screen.shows("[yes xterm-256color /home/user]")
        self.sandbox.pty.resize(pty.pid, PtySize(rows=40, cols=120))
        send("stty size\n")
        screen.shows("40 120")
        self.sandbox.pty.stream_input(pty.pid, ["echo still-", "$((40 + 2)); ", "exit 5\n"])
        screen.shows("still-42")
        with self.assertRaises(CommandExitException) as caught:
            pty.wait()
        self.assertEqual(caught.exception.exit_code, 5)

    def test_another_client_connects_to_the_same_terminal(self):
        pty = self.sandbox.pty.create(PtySize(rows=24, cols=80), cwd="/tmp", user="root")
        pty.disconnect()
        again = self.sandbox.pty.connect(pty.pid)
        screen = Screen(again)
        self.sandbox.pty.send_stdin(pty.pid, b"echo from-$(pwd)-$(id -un)\n")
        screen.shows("from-/tmp-root")
        self.assertTrue(self.sandbox.pty.kill(pty.pid))
        with self.assertRaises(CommandExitException) as caught:
            again.wait()
        self.assertEqual(caught.exception.exit_code, -1)
        self.assertFalse(self.sandbox.pty.kill(pty.pid))
        with self.assertRaises(NotFoundException):
            self.sandbox.pty.send_stdin(pty.pid, b"unread input\n")


if __name__ == "__main__":
    unittest.main()
