"""Floods: the server's memory is bounded, and other sandboxes are served meanwhile."""

from live import allow, wait_until
from suite import case


def other_works(c):
    c.open_box.rules(allow("ok.example", 9999))
    return c.open_box.value("tcp('ok.example', 9999)")["got"] == "hello"


def bystander(c):
    """Another sandbox of the attacked server."""
    if not hasattr(c, "second"):
        c.second = c.main.create([allow("ok.example", 9999)])
    return c.second.value("tcp('ok.example', 9999)")["got"] == "hello"


@case("3,000 denied connections")
def denied_flood(c):
    before = c.main.memory()
    got = c.box.run(
        """
import concurrent.futures
def one(i):
    return tcp('denied%d.example' % (i % 50), 9999, b'\\0x', timeout=20)['got']
start = time.time()
with concurrent.futures.ThreadPoolExecutor(48) as pool:
    result['got'] = sum(1 for g in pool.map(one, range(3000)) if g)
result['seconds'] = time.time() - start
"""
    )
    assert got["got"] == 0 and not c.net.since("tcp") and not c.net.since("dns"), got
    after = c.main.memory()
    assert after - before < 150, "memory grew from %d to %d MiB" % (before, after)
    c.control(bystander(c), "another sandbox; %.1f s, %d to %d MiB" % (got["seconds"], before, after))


@case("3,000 allowed connections")
def allowed_flood(c):
    c.box.rules(allow("ok.example", 9003))
    before = c.main.memory()
    got = c.box.run(
        """
import concurrent.futures
def one(i):
    return tcp('ok.example', 9003, b'x', timeout=20)['got']
start = time.time()
with concurrent.futures.ThreadPoolExecutor(16) as pool:
    result['got'] = sum(1 for g in pool.map(one, range(3000)) if g == 'x')
result['seconds'] = time.time() - start
"""
    )
    after = c.main.memory()
    assert after - before < 150, "memory grew from %d to %d MiB" % (before, after)
    c.control(got["got"] >= 2990, "%d arrived in %.1f s, %d to %d MiB" % (got["got"], got["seconds"], before, after))


@case("connections that are opened and left", quick=True)
def held(c):
    c.box.rules(allow("ok.example", 9002), allow("ok.example", 9999))
    got = c.box.run(
        """
held = []
for i in range(700):
    try:
        s = socket.create_connection(('ok.example', 9002), 3)
        s.setblocking(False)
        held.append(s)
    except OSError:
        pass
time.sleep(0.3)
result['held'] = len(held)
alive = 0
for s in held:
    try:
        s.send(b'x')
        try:
            if s.recv(1) == b'': continue
        except BlockingIOError:
            alive += 1
    except OSError:
        pass
result['alive'] = alive
"""
    )
    assert len(c.net.reached(port=9002)) <= 256, "more connections than egress.connections arrived"
    c.control(bystander(c), "another sandbox; %d of %d were held" % (got["alive"], got["held"]))


@case("half-open flood")
def half_open(c):
    """Connections that are begun without waiting and dropped, faster than they are accepted."""
    c.box.rules(allow("ok.example", 9999))
    c.box.run(
        """
address = resolve('ok.example')[0]
for round in range(20):
    held = []
    for i in range(200):
        s = socket.socket(); s.setblocking(False)
        s.connect_ex((address, 9999))
        held.append(s)
    for s in held:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0)); s.close()
"""
    )
    wait_until(lambda: c.box.value("tcp('ok.example', 9999)")["got"] == "hello", 30, "the sandbox connects again")
    c.control(bystander(c), "another sandbox, and this one afterwards")


@case("slow reader", quick=True)
def slow_reader(c):
    """Asks for 2 GB on each of 20 connections and reads nothing."""
    c.box.rules(allow("ok.example", 9001))
    before = c.main.memory()
    c.box.run(
        """
held = []
for i in range(20):
    s = socket.create_connection(('ok.example', 9001), 5)
    s.sendall(b'2000000000\\n')
    held.append(s)
time.sleep(4)
"""
    )
    after = c.main.memory()
    assert after - before < 100, "memory grew from %d to %d MiB" % (before, after)
    c.control(bystander(c), "another sandbox; %d to %d MiB" % (before, after))


@case("slow receiver on the internet")
def slow_receiver(c):
    """Sends without end to a server that does not read."""
    c.box.rules(allow("ok.example", 9001))
    before = c.main.memory()
    got = c.box.run(
        """
held, total = [], 0
for i in range(10):
    s = socket.create_connection(('ok.example', 9001), 5)
    s.setblocking(False)
    held.append(s)
end = time.time() + 4
while time.time() < end:
    for s in held:
        try:
            total += s.send(b'9' * 10)
        except OSError:
            pass
result['sent'] = total
"""
    )
    after = c.main.memory()
    assert after - before < 100, "memory grew from %d to %d MiB" % (before, after)
    c.control(bystander(c), "another sandbox; %d to %d MiB" % (before, after))


@case("limit of bytes", quick=True)
def bytes_limit(c):
    box = c.main.create([allow("ok.example", 9001)], egress={"limits": {"bytes": 1_000_000}})
    try:
        code = (
            "total = 0\ntry:\n  s = socket.create_connection(('ok.example', 9001), 5); s.settimeout(5)\n"
            "  s.sendall(b'%d\\n')\n  while True:\n    b = s.recv(65536)\n    if not b: break\n    total += len(b)\n"
            "except OSError as e:\n  result['error'] = str(e)\nresult['total'] = total"
        )
        first = box.run(code % 500_000)
        second = box.run(code % 50_000_000)
        assert second["total"] < 1_000_000, second
        third = box.run(code % 10)
        assert third["total"] == 0, third
        assert "exhausts its limit" in box.denial("ok.example")["reason"]
        c.control(first["total"] == 500_000, "within the limit")
    finally:
        box.destroy()


@case("limit of bytes in a second")
def rate_limit(c):
    box = c.main.create([allow("ok.example", 9001)], egress={"limits": {"bytesPerSecond": 200_000}})
    code = (
        "start = time.time()\ns = socket.create_connection(('ok.example', 9001), 5); s.settimeout(30)\n"
        "s.sendall(b'1000000\\n')\ntotal = 0\nwhile total < 1000000:\n  total += len(s.recv(65536))\n"
        "result['seconds'] = time.time() - start"
    )
    try:
        limited = box.run(code)["seconds"]
        assert 3 < limited < 12, limited
        box.rules(allow("ok.example", 9001))
        free = box.run(code)["seconds"]
        c.control(free < limited / 2, "%.1f s with the limit, %.2f s without" % (limited, free))
    finally:
        box.destroy()


@case("bandwidth of the spec, and its traffic", quick=True)
def bandwidth(c):
    limited = c.main.create([allow("ok.example")], resources={"networkBandwidth": 8})
    free = c.main.create([allow("ok.example")], resources={"networkBandwidth": 1_000_000})
    code = (
        "start = time.time()\ns = socket.create_connection(('ok.example', 9001), 5); s.settimeout(60)\n"
        "s.sendall(b'1500000\\n')\ntotal = 0\nwhile total < 1500000:\n  total += len(s.recv(65536))\n"
        "result['received'] = time.time() - start\nstart = time.time()\n"
        "s = socket.create_connection(('ok.example', 9000), 5); s.settimeout(60)\n"
        "s.sendall(bytes(1500000)); s.shutdown(socket.SHUT_WR); s.recv(20)\n"
        "result['sent'] = time.time() - start"
    )
    try:
        slow = limited.run(code)
        # A megabyte in a second, less what passes at once.
        assert slow["received"] > 1.2 and slow["sent"] > 1.2, slow

        def traffic():
            usage = c.main.call("GET", limited.path + "/status")["usage"]
            counted = usage["receivedBytes"], usage["sentBytes"]
            return all(1_500_000 <= count < 1_600_000 for count in counted) and counted

        wait_until(traffic, 10, "the traffic in the status of the sandbox")
        fast = free.run(code)
        c.control(
            fast["received"] < slow["received"] and fast["sent"] < slow["sent"],
            "%.2f and %.2f s with the limit, %.2f and %.2f s without"
            % (slow["received"], slow["sent"], fast["received"], fast["sent"]),
        )
    finally:
        limited.destroy()
        free.destroy()


@case("limit of connections in a minute", quick=True)
def minute_limit(c):
    box = c.main.create([allow("ok.example", 9999)], egress={"limits": {"connectionsPerMinute": 10}})
    try:
        got = box.run("result['all'] = [tcp('ok.example', 9999)['got'] for _ in range(20)]")["all"]
        assert 9 <= got.count("hello") <= 12, got
        assert len(c.net.reached(port=9999)) == got.count("hello")
        c.control(bystander(c), "another sandbox without this limit")
    finally:
        box.destroy()


@case("events of denials are bounded")
def event_flood(c):
    c.box.run(
        """
for i in range(1500):
    tcp('e%d.example' % i, 9999, b'\\0', timeout=5)
"""
    )
    import time

    time.sleep(2.5)
    import glob
    import os

    size = sum(os.path.getsize(f) for f in glob.glob(c.main.data + "/ledger*"))
    denials = c.box.report()["recentDenials"]
    assert len(denials) <= 100, len(denials)
    c.control(c.box.report()["totalDenials"] >= 1500, "all are counted; the ledger has %d KiB" % (size // 1024))


@case("server of the sandbox's choice answers without end", quick=True)
def endless(c):
    """A denied name is not connected, so it cannot send; an allowed one is limited by its reader."""
    c.box.rules(allow("ok.example", 9001))
    got = c.box.run(
        "s = socket.create_connection(('ok.example', 9001), 5)\ns.sendall(b'100000000\\n')\ntotal = 0\n"
        "start = time.time()\nwhile total < 100000000:\n  n = len(s.recv(1 << 20))\n  if not n: break\n  total += n\n"
        "result['total'], result['seconds'] = total, time.time() - start"
    )
    c.control(got["total"] == 100_000_000, "100 MB in %.1f s" % got["seconds"])
