"""Requests to the test cluster, and the report."""

import contextlib
import json
import re
import subprocess
import sys
import time
import traceback


class Failed(Exception):
    """A check failed; the message says what was found."""


def run(*command, stdin=None, timeout=480):
    """Runs a program and returns its exit status and its output, of both channels."""
    result = subprocess.run(
        command,
        input=stdin,
        stdin=None if stdin is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=timeout,
        text=isinstance(stdin, str) or stdin is None,
    )
    return result.returncode, result.stdout


def must(*command, stdin=None, timeout=480):
    """Runs a program that must succeed, and returns its output."""
    status, output = run(*command, stdin=stdin, timeout=timeout)
    if status != 0:
        raise Failed(f"{' '.join(command)} exited with {status}: {str(output).strip()[-1500:]}")
    return output


def kubectl(*arguments, stdin=None, timeout=480):
    return must("kubectl", *arguments, stdin=stdin, timeout=timeout)


def get(*arguments):
    """Returns objects of the cluster as JSON."""
    return json.loads(kubectl("get", *arguments, "-o", "json"))


def expect(condition, found):
    if not condition:
        raise Failed(str(found))


def await_true(seconds, what, condition):
    """Waits until a condition returns something true, and returns it. Failures of commands count as false."""
    deadline = time.monotonic() + seconds
    last = "nothing"
    while time.monotonic() < deadline:
        try:
            found = condition()
            if found:
                return found
        except Failed as e:
            last = e
        time.sleep(0.2)
    raise Failed(f"{what}: not within {seconds} s; last error: {last}")


@contextlib.contextmanager
def port_forward(namespace, target, port):
    """Forwards a port of this machine to a pod or a service, and yields the URL."""
    process = subprocess.Popen(
        ["kubectl", "-n", namespace, "port-forward", target, f":{port}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        line = process.stdout.readline()
        found = re.search(r"127\.0\.0\.1:(\d+)", line)
        expect(found, f"kubectl port-forward {target} printed {line!r}")
        yield f"http://127.0.0.1:{found.group(1)}"
    finally:
        process.terminate()
        process.wait()


class Report:
    """Runs checks and counts the results."""

    def __init__(self):
        self.passed = self.failed = self.not_run = 0

    def check(self, title, action, *arguments):
        """Runs one check, prints a line, and returns whether it passed. The text that it returns is printed."""
        start = time.monotonic()
        try:
            found = action(*arguments)
            self.passed += 1
            verdict = "passed" + (f": {found}" if isinstance(found, str) else "")
        except Failed as e:
            self.failed += 1
            verdict = f"FAILED: {e}"
        except Exception:  # the cluster must be removed, and the other checks run
            self.failed += 1
            verdict = "FAILED: " + traceback.format_exc().strip()
        print(f"{title}: {verdict} ({time.monotonic() - start:.0f} s)", flush=True)
        return not verdict.startswith("FAILED")

    def leave_out(self, title, reason):
        self.not_run += 1
        print(f"{title}: NOT RUN: {reason}", flush=True)

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.not_run} not run")
        sys.exit(1 if self.failed else 0)
