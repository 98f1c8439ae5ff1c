"""Hostile cases against a live server on the test internet; see testing/egress-here.sh.

A case is a function that attacks from inside a sandbox, asserts what was observed inside and on the internet, and then
shows by a control that the same action works where it is allowed.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback

from live import Internet, Server

CASES = []
# What the control server opens: the same addresses that the floor denies.
FORBIDDEN_BLOCKS = (
    "0.0.0.0/8,10.0.0.0/8,100.64.0.0/10,127.0.0.0/8,168.63.129.16,169.254.0.0/16,172.16.0.0/12,192.0.0.0/24,"
    "192.168.0.0/16,198.18.0.0/15,198.51.100.1,64:ff9b::/96,2002::/16,2001::/32,::/96,fc00::/7,fec0::/10,2600:db8:1::1"
)


class NotRun(Exception):
    """The case cannot run here, with the reason."""


def case(name, quick=False):
    def add(function):
        CASES.append((name, quick, function))
        return function

    return add


class Context:
    """What a case uses: a sandbox of a server as it is by default, and one of a server that opens every address."""

    def __init__(self, provider, user, work):
        self.provider, self.user, self.work = provider, user, work
        self.net = Internet()
        self.controlled = ""
        self.servers = []
        self.port = 7790
        self.main = self.server("main", "egress.dns=203.0.113.53").start()
        self.open = self.server("open", "egress.dns=203.0.113.53", "egress.allow_addresses=" + FORBIDDEN_BLOCKS).start()
        self.main.await_ready()
        self.open.await_ready()
        self.box = self.main.create()
        self.open_box = self.open.create()
        self.every_port = self.box.report()["everyPort"]

    def server(self, name, *settings):
        self.port += 1
        made = Server(os.path.join(self.work, name), self.port, self.provider, settings, self.user)
        self.servers.append(made)
        return made

    def control(self, passed, what):
        """Records the control of the case. `what` says which action it was."""
        assert passed, "the control failed: " + what
        self.controlled = what

    def close(self):
        for server in self.servers:
            server.stop()


def run_case(context, name, function):
    context.controlled = ""
    start = time.monotonic()
    try:
        context.box.rules()
        context.net.mark()
        function(context)
        result, note = ("passed", "") if context.controlled else ("FAILED", "the case has no control")
    except NotRun as e:
        result, note = "NOT RUN", str(e)
    except Exception as e:  # every other end is a failure, and the next case still runs
        result, note = "FAILED", "%s: %s" % (type(e).__name__, e)
        if not isinstance(e, AssertionError):
            traceback.print_exc()
    return name, result, context.controlled or "-", note, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("providers", nargs="*", default=["bubblewrap"])
    parser.add_argument("--quick", action="store_true", help="the cases that ./check runs")
    parser.add_argument("--only", default="", help="cases whose name contains one of these, with commas between them")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    import cases_address
    import cases_hosted
    import cases_http
    import cases_lifecycle
    import cases_lookup
    import cases_network
    import cases_resources
    import cases_rules

    assert [cases_address, cases_hosted, cases_http, cases_lifecycle, cases_lookup, cases_network, cases_resources]
    assert cases_rules
    only = [part for part in options.only.split(",") if part]
    chosen = [
        one for one in CASES if (not options.quick or one[1]) and (not only or any(part in one[0] for part in only))
    ]
    if options.list:
        print("\n".join(name for name, _, _ in chosen))
        return 0
    rows = []
    for provider in options.providers:
        rows += run_provider(provider, chosen)
    return table(rows)


def run_provider(provider, chosen):
    """Runs the cases on a provider; PROVIDER-rootless is the provider without root."""
    user = 64321 if provider.endswith("-rootless") else None
    work = tempfile.mkdtemp(prefix="isola-egress-")
    os.chmod(work, 0o755 if user is None else 0o777)
    rows = []
    context = None
    try:
        context = Context(provider.removesuffix("-rootless"), user, work)
        for name, _, function in chosen:
            row = run_case(context, name, function)
            print("%-8s %6.2f s  %s %s" % (row[1], row[4], name, row[3]), flush=True)
            rows.append((provider, *row))
    except AssertionError as e:
        print("%s: %s" % (provider, e))
        rows.append((provider, "the server starts", "FAILED", "-", str(e), 0))
    finally:
        if context is not None:
            context.close()
        shutil.rmtree(work, ignore_errors=True)
    return rows


def table(rows):
    print("\n%-20s %-44s %-8s %s" % ("provider", "case", "result", "control"))
    for provider, name, result, control, note, _ in rows:
        print("%-20s %-44s %-8s %s" % (provider, name, result, control))
        if note:
            print("%-20s   %s" % ("", note[:600]))
    counts = {result: sum(1 for row in rows if row[2] == result) for result in ("passed", "FAILED", "NOT RUN")}
    print("\n%d passed, %d failed, %d not run" % (counts["passed"], counts["FAILED"], counts["NOT RUN"]))
    return 1 if counts["FAILED"] or not counts["passed"] else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # destroys what was created
    sys.modules["suite"] = sys.modules["__main__"]
    sys.exit(main())
