"""Clients that use the Python SDK while servers are replaced."""

import threading
import time
from collections import Counter

from isola import Data, Isola
from isola.errors import IsolaError

# Answers that docs/several-servers.md announces: repeat the request, or look at what it did.
ANNOUNCED = {"PROVIDER_UNAVAILABLE", "RATE_LIMITED", "OUTCOME_UNKNOWN", "SERVER_UNREACHABLE"}
TIMEOUT = 90

# The output of this command is read while servers change.
LONG = "n=0; while [ ! -e end ]; do n=$((n+1)); echo line $n; sleep 0.05; done; echo last $n"


def create(client, ttl):
    """Creates a sandbox that outlives its handle; repeats while the servers announce that they cannot yet."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            sandbox = client.create(ttl=ttl)
            sandbox.detach()
            return sandbox
        except IsolaError as e:
            if e.code not in ANNOUNCED or time.monotonic() > deadline:
                raise
            time.sleep(1)


class Traffic:
    """Sends requests until it is stopped. Each failure that is not announced is a problem."""

    def __init__(self, url, key):
        self.client = Isola(url, key)
        self.problems = []
        self.announced = Counter()
        self.done = Counter()
        self._end = threading.Event()
        self._threads = []
        self._held = []
        self._long = None

    def repeat(self, what, action):
        """Calls an action until it succeeds, as docs/several-servers.md tells clients to."""
        deadline = time.monotonic() + TIMEOUT
        while True:
            try:
                result = action()
                self.done[what] += 1
                return result
            except IsolaError as e:
                if e.code not in ANNOUNCED or time.monotonic() > deadline:
                    self.problems.append(f"{what}: {e.code} (status {e.status}): {e}")
                    raise
                self.announced[f"{what} {e.code}"] += 1
                time.sleep(min(max(e.retry_after or 0.0, 0.1), 5.0))

    def start(self, sandboxes):
        for _ in range(sandboxes):
            sandbox = self.repeat("create", lambda: self.client.create(ttl=1800))
            sandbox.detach()
            self.repeat("write", lambda sandbox=sandbox: sandbox.files.write("kept", sandbox.id))
            self._held.append(sandbox)
        self._long = self.repeat("start", lambda: self._held[0].start(LONG))
        for loop in [self._lives, self._lists, self._reads] + [
            lambda sandbox=sandbox: self._commands(sandbox) for sandbox in self._held
        ]:
            thread = threading.Thread(target=self._guarded, args=(loop,), daemon=True)
            thread.start()
            self._threads.append(thread)

    def _guarded(self, loop):
        try:
            loop()
        except IsolaError:
            pass  # repeat() has recorded it
        except Exception as e:  # a client must not end without a trace
            self.problems.append(f"{type(e).__name__}: {e}")

    def _commands(self, sandbox):
        number = 0
        while not self._end.is_set():
            number += 1
            result = self.repeat("exec", lambda: sandbox.exec(f"echo {number}; cat kept"))
            if result.stdout != f"{number}\n{sandbox.id}":
                self.problems.append(f"command {number} of {sandbox.id} printed {result.stdout!r}")
            time.sleep(0.1)

    def _lives(self):
        while not self._end.is_set():
            sandbox = self.repeat("create", lambda: self.client.create(ttl=600))
            self.repeat("first exec", lambda: sandbox.exec("true"))
            self.repeat("destroy", sandbox.destroy)

    def _lists(self):
        while not self._end.is_set():
            self.repeat("list", lambda: list(self.client.list()))
            time.sleep(0.2)

    def _reads(self):
        """Reads the output of the long command, which the SDK continues at another server."""
        text = bytearray()
        try:
            for piece in self._long:
                if not isinstance(piece, Data):
                    self.problems.append(f"output was lost: {piece}")
                    return
                text += piece.bytes
        except IsolaError as e:
            self.problems.append(f"reader of the output, after {len(text)} bytes: {e.code} (status {e.status}): {e}")
            return
        lines = text.decode().split("\n")[:-1]
        expected = [f"line {n}" for n in range(1, len(lines))] + [f"last {len(lines) - 1}"]
        if lines != expected:
            self.problems.append(f"output of the long command: {len(lines)} lines that end with {lines[-3:]}")
        self.done["lines"] = len(lines)

    def stop(self):
        """Ends the clients, destroys the sandboxes and returns the problems."""
        self._end.set()
        self.repeat("write", lambda: self._held[0].files.write("end", ""))
        for thread in self._threads:
            thread.join(TIMEOUT)
            if thread.is_alive():
                self.problems.append("a client did not end")
        for sandbox in self._held:
            kept = self.repeat("read", lambda sandbox=sandbox: sandbox.files.read("kept"))
            if kept != sandbox.id.encode():
                self.problems.append(f"the file of {sandbox.id} contains {kept!r}")
            self.repeat("destroy", sandbox.destroy)
        self.client.close()
        if not self.done["lines"] and not self.problems:
            self.problems.append("the output of the long command was not read")
        return self.problems

    def summary(self):
        done = ", ".join(f"{number} {what}" for what, number in sorted(self.done.items()))
        announced = ", ".join(f"{number} {what}" for what, number in sorted(self.announced.items()))
        return f"{done}; announced errors: {announced or 'none'}"
