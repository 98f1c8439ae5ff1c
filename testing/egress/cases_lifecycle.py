"""Rules through the life of a sandbox: crash of the server, pause, fork, snapshot, warm pool."""

import base64
import time

from live import Failure, Sandbox, allow, wait_until
from suite import NotRun, case

LOOP = """
import itertools
for i in itertools.count():
    for name in ('ok.example', 'denied.example'):
        got = tcp(name, 9999, timeout=3)['got']
        with open('/tmp/loop', 'a') as f:
            f.write('%f %s %s\\n' % (time.time(), name, 'open' if got == 'hello' else 'closed'))
    time.sleep(0.05)
"""


def loop(box):
    box.start("python3 /workspace/probe.py " + base64.b64encode(LOOP.encode()).decode())
    wait_until(lambda: "ok.example open" in box.exec("cat /tmp/loop 2>/dev/null")[1], 20, "the loop of connections")


def lines(box):
    return [
        (float(at), name, state)
        for at, name, state in (line.split() for line in box.exec("cat /tmp/loop")[1].splitlines())
    ]


def attempt(call):
    """Calls a capability that a provider may lack."""
    try:
        return call()
    except Failure as e:
        if e.status in (405, 409, 422, 501) and ("support" in e.text.lower() or "capabilit" in e.text.lower()):
            raise NotRun("not supported by this provider: " + e.text[:160]) from e
        raise


def reaches(box, name, port=9999):
    return box.value("tcp(%r, %d)" % (name, port))["got"] == "hello"


@case("server is killed and started again")
def crash(c):
    server = c.server("crash", "egress.dns=203.0.113.53").start().await_ready()
    box = server.create([allow("ok.example", 9999)])
    try:
        loop(box)
        killed = time.time()
        server.kill()
        time.sleep(1.5)
        c.net.mark()
        time.sleep(1.5)
        assert not c.net.since("tcp"), "no connection arrives while no server runs"
        started = time.time()
        server.start().await_ready()
        wait_until(
            lambda: any(at > started and state == "open" for at, _, state in lines(box)), 40, "connections after the restart"
        )
        seen = lines(box)
        down = [state for at, _, state in seen if killed + 0.3 < at < started]
        assert down and set(down) == {"closed"}, "while the server was down: %s" % down
        assert not any(name == "denied.example" and state == "open" for _, name, state in seen)
        assert not c.net.reached("203.0.113.11")
        rules = box.report()["rules"]
        c.control(rules == [allow("ok.example", 9999)], "the allowed name is reached before and after; %d refused while down" % len(down))
    finally:
        server.stop()


@case("rules that changed before a crash")
def crash_after_change(c):
    server = c.server("crash2", "egress.dns=203.0.113.53").start().await_ready()
    box = server.create([allow("ok.example", 9999), allow("denied.example", 9999)])
    try:
        assert reaches(box, "denied.example")
        box.rules(allow("ok.example", 9999))
        server.kill()
        server.start().await_ready()
        c.net.mark()
        wait_until(lambda: reaches(box, "ok.example"), 30, "a connection after the restart")
        assert not reaches(box, "denied.example") and not c.net.reached("203.0.113.11")
        c.control(True, "the allowed name is reached after the restart")
    finally:
        server.stop()


@case("pause and resume", quick=True)
def pause(c):
    box = c.main.create([allow("ok.example", 9999)])
    try:
        assert reaches(box, "ok.example")
        attempt(lambda: c.main.call("POST", box.path + "/pause"))
        c.net.mark()
        c.main.call("POST", box.path + "/resume")
        assert not reaches(box, "denied.example") and not c.net.since("tcp")
        c.control(reaches(box, "ok.example"), "the allowed name after resuming")
    finally:
        box.destroy()


@case("stop and resume")
def stop(c):
    box = c.main.create([allow("ok.example", 9999)])
    try:
        attempt(lambda: c.main.call("POST", box.path + "/stop"))
        c.net.mark()
        c.main.call("POST", box.path + "/resume")
        box.write("/workspace/probe.py", __import__("live").PROBE)
        assert not reaches(box, "denied.example") and not c.net.since("tcp")
        c.control(reaches(box, "ok.example"), "the allowed name after resuming")
    finally:
        box.destroy()


@case("fork", quick=True)
def fork(c):
    box = c.main.create([allow("ok.example", 9999)])
    copy = None
    try:
        made = attempt(lambda: c.main.call("POST", box.path + "/fork", {}))
        identity = made["forks"][0]["sandbox"]["id"] if "sandbox" in made["forks"][0] else made["forks"][0]["id"]
        copy = Sandbox(c.main, identity)
        c.net.mark()
        assert not reaches(copy, "denied.example") and not c.net.since("tcp")
        good = reaches(copy, "ok.example")
        own = copy.report()["totalConnections"]
        copy.rules()
        assert reaches(box, "ok.example") and not reaches(copy, "ok.example"), "each has rules of its own"
        c.control(good and own == 1, "the allowed name from the fork, counted there")
    finally:
        box.destroy()
        if copy:
            copy.destroy()


@case("sandbox from a snapshot", quick=True)
def snapshot(c):
    box = c.main.create([allow("ok.example", 9999)])
    copy = None
    try:
        taken = attempt(lambda: c.main.call("POST", box.path + "/snapshots", {}))
        copy = c.main.create([], image="snapshot:" + taken["id"])
        c.net.mark()
        assert not reaches(copy, "ok.example") and not c.net.since("tcp"), "a snapshot carries no rules"
        copy.rules(allow("ok.example", 9999))
        c.control(reaches(copy, "ok.example"), "with a rule of its own")
    finally:
        box.destroy()
        if copy:
            copy.destroy()


@case("sandbox of the warm pool")
def warm(c):
    network = {"mode": "filtered", "egress": {"rules": [allow("ok.example", 9999)]}}
    server = c.server("warm", "egress.dns=203.0.113.53")
    server.configure({"pool": [{"spec": {"network": network}, "provider": c.provider, "size": 2}]})
    server.start().await_ready()
    try:
        wait_until(lambda: '"ready":2' in server.request("GET", "/api/v1/pool")[1], 60, "two sandboxes in the pool")
        c.net.mark()
        made = [server.call("POST", "/api/v1/sandboxes", {"network": network}) for _ in range(2)]
        boxes = [Sandbox(server, one["id"]) for one in made]
        assert not any(reaches(box, "denied.example") for box in boxes) and not c.net.since("tcp")
        warm = sum(1 for one in made if one["warm"])
        c.control(all(reaches(box, "ok.example") for box in boxes), "the allowed name; %d of 2 were warm" % warm)
    finally:
        server.stop()


@case("destroyed sandbox leaves no connection")
def destroyed(c):
    box = c.main.create([allow("ok.example", 9999)])
    loop(box)
    box.destroy()
    time.sleep(0.5)
    c.net.mark()
    time.sleep(1)
    assert not c.net.since("tcp") and not c.net.since("dns")
    try:
        box.report()
        raise AssertionError("a destroyed sandbox has no egress")
    except Failure as e:
        assert e.status in (404, 409, 410), e
    c.box.rules(allow("ok.example", 9999))
    c.control(reaches(c.box, "ok.example"), "another sandbox")
