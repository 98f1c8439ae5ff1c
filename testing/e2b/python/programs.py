"""One sandbox for all tests of a class, created and killed through the SDK."""

import time
import unittest

from e2b import Sandbox


class WithSandbox(unittest.TestCase):
    envs = {}

    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox.create(timeout=300, envs=cls.envs)
        cls.files = cls.sandbox.files
        cls.commands = cls.sandbox.commands

    @classmethod
    def tearDownClass(cls):
        cls.sandbox.kill()

    def out(self, cmd, **options):
        return self.commands.run(cmd, **options).stdout


def until(holds, what, timeout=10):
    """Waits until a condition holds."""
    end = time.monotonic() + timeout
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"not within {timeout} s: {what}")
        time.sleep(0.02)
