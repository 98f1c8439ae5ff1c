"""One sandbox for all tests of a class, made and killed as a user would."""

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


def until(holds, what, patience=10):
    """Waits until something holds."""
    end = time.monotonic() + patience
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"not within {patience} s: {what}")
        time.sleep(0.02)
