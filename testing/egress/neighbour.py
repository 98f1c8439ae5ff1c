"""Attacks from one sandbox (or a few) while another one works; see testing/egress-here.sh.

For each attack: the latencies of commands, files and lookups of the other sandbox, before and during it, in the same
run; what the host has left; and whether the attack really had an effect within its own sandbox. A latency may be three
times that of before. Usage: neighbour.py [SECONDS] [PROVIDER] [ATTACK,...]
"""

import base64
import http.client
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from live import ISOLA, Failure, Server, allow, wait_until

ALLOWED_RATIO = 3
ATTACKER_MEMORY = 256
LOOKUPS = 200

# ---- what runs in the attacking sandbox; each writes what it has achieved to /tmp/achieved, and goes on ----

COMMON = """
import ctypes, errno, itertools, json, os, resource, signal, socket, threading, time
libc = ctypes.CDLL(None, use_errno=True)
def achieved(**what):
    with open('/tmp/achieved.new', 'w') as f:
        f.write(json.dumps(what))
    os.rename('/tmp/achieved.new', '/tmp/achieved')
def stay():
    while True:
        time.sleep(1)
"""

TREE = """
deep = '/workspace/tree'
links = 0
os.makedirs(deep)
achieved(links=0)
while links < 120000:
    if links % 8000 == 0: # 15 folders deep, so that all paths fit into a snapshot
        deep = os.path.join(deep, 'd' * 200)
        os.makedirs(deep, exist_ok=True)
        os.chdir(deep)
        deep = '.'
        if not os.path.exists('first'):
            open('first', 'w').close()
    os.link('first', 'n%07d' % links + 'x' * 230)
    links += 1
    if links % 4000 == 0:
        achieved(links=links)
achieved(links=links)
"""

SPARSE = """
with open('/workspace/sparse', 'w') as f:
    for size in 8 << 40, 1 << 40:
        try:
            f.truncate(size)
            break
        except OSError:
            pass # a file system of smaller blocks
achieved(bytes=os.path.getsize('/workspace/sparse'))
"""

TCP_MEMORY = """
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
listener.bind(('127.0.0.1', 0))
listener.listen(300)
held, sent = [], 0
for i in range(200):
    c = socket.socket()
    c.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16 << 20)
    c.connect(listener.getsockname())
    c.setblocking(False)
    held += [c, listener.accept()[0]]
block = b'x' * (1 << 20)
while True:
    for c in held[::2]:
        try:
            sent += c.send(block)
        except OSError:
            pass
    achieved(connections=len(held) // 2, bytes=sent)
    time.sleep(0.05)
"""

KERNEL_OBJECTS = """
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
counts = {'inotify': 0, 'aio': 0, 'queues': 0, 'signals': 0}
for kind in ('aio', 'queues', 'signals', 'inotify'):
    reader, writer = os.pipe()
    for user in [0] + list(range(1001, 1009)):
        if os.fork():
            continue
        n = 0
        try:
            if user: os.setuid(user)
        except OSError:
            pass
        if kind == 'inotify':
            while n < 1000 and libc.inotify_init() >= 0: n += 1
        elif kind == 'aio':
            context = ctypes.c_ulong
            while n < 65536 * 4:
                c = context(0)
                if libc.syscall(NR_IO_SETUP, 4096, ctypes.byref(c)) != 0: break
                n += 4096
        elif kind == 'queues':
            class Attr(ctypes.Structure):
                _fields_ = [(x, ctypes.c_long) for x in ('flags', 'maxmsg', 'msgsize', 'cur', 'a', 'b', 'c', 'd')]
            while n < 256:
                name = b'/q%d-%d' % (user, n)
                if libc.mq_open(name, os.O_CREAT | os.O_RDWR, 0o600, ctypes.byref(Attr(0, 10, 8192))) < 0: break
                n += 1
        else:
            signal.pthread_sigmask(signal.SIG_BLOCK, range(signal.SIGRTMIN, signal.SIGRTMAX + 1))
            while n < 100000 and libc.sigqueue(os.getpid(), signal.SIGRTMIN + 1, ctypes.c_void_p(0)) == 0: n += 1
        os.write(writer, b'%d\\n' % n)
        stay()
    os.close(writer)
    numbers = os.fdopen(reader)
    counts[kind] = sum(int(numbers.readline()) for _ in range(9))
achieved(**counts)
stay()
"""

SLOW_LOOKUPS = """
begun = itertools.count()
def look(i):
    for n in itertools.count():
        next(begun)
        tcp('slow%d-%d.example' % (i, n), 9999, timeout=60)
        time.sleep(0.05)
for i in range(LOOKUPS):
    threading.Thread(target=look, args=(i,), daemon=True).start()
while True:
    time.sleep(0.5)
    achieved(lookups=next(begun))
"""


HOST = """
def failed(taken):
    return '%d were left: %s' % (taken, errno.errorcode.get(ctypes.get_errno(), '?'))
out = {}
out['inotify instances'] = next((failed(n) for n in range(8) if libc.inotify_init() < 0), '')
out['aio contexts'] = '' if libc.syscall(NR_IO_SETUP, 1024, ctypes.byref(ctypes.c_ulong(0))) == 0 else failed(0)
queue = b'/isola-neighbour-%d' % os.getpid()
out['message queues'] = '' if libc.mq_open(queue, os.O_CREAT | os.O_RDWR, 0o600, None) >= 0 else failed(0)
libc.mq_unlink(queue)
signal.pthread_sigmask(signal.SIG_BLOCK, range(signal.SIGRTMIN, signal.SIGRTMAX + 1))
out['queued signals'] = next((failed(n) for n in range(100)
    if libc.sigqueue(os.getpid(), signal.SIGRTMIN + 1, ctypes.c_void_p(0)) != 0), '')
print(json.dumps(out))
"""


def left_on_the_host():
    """Takes some objects of each kind as root of the host, in a process that ends with them; returns what failed."""
    done = subprocess.run([sys.executable, "-c", complete(HOST)], capture_output=True, text=True, timeout=60)
    return json.loads(done.stdout) if done.returncode == 0 else {"answer of the probe": done.stderr[-300:]}


def tcp_memory():
    """Returns the bytes that all TCP sockets of the machine hold."""
    with open("/proc/net/sockstat") as f:
        tcp = next(line.split() for line in f if line.startswith("TCP:"))
    return int(tcp[tcp.index("mem") + 1]) * os.sysconf("SC_PAGE_SIZE")


def complete(program):
    """Returns a program with what all have in common and the number of io_setup on this machine."""
    return (COMMON + program).replace("NR_IO_SETUP", {"x86_64": "206", "aarch64": "0"}[os.uname().machine])


def start(box, program):
    """Starts a program with the functions of probe.py."""
    return box.start("python3 /workspace/probe.py " + base64.b64encode(complete(program).encode()).decode())


def achieved(box):
    return json.loads(box.exec("cat /tmp/achieved 2>/dev/null || echo '{}'")[1] or "{}")


class Neighbour:
    """A sandbox that does ordinary things, one after the other, and measures each."""

    LOOK = """
n = int(time.time() * 1000) % 1000000
result['times'], result['failed'] = [], 0
for i in range(5):
    start = time.time()
    got = tcp('n%d-%d.example' % (n, i), 9999, timeout=30)
    result['times'].append(time.time() - start)
    result['failed'] += got['got'] != 'hello'
"""

    def __init__(self, server):
        self.box = server.create([allow("*.example", 9999)])
        self.failed = 0

    def measure(self, seconds):
        """Returns the median latencies in ms, and how many there are of each."""
        times = {"exec": [], "file": [], "lookup": []}
        end = time.monotonic() + seconds
        while time.monotonic() < end or len(times["lookup"]) < 10:
            for _ in range(10):
                times["exec"].append(self.timed(lambda: self.box.exec("true")))
                times["file"].append(self.timed(lambda: self.box.write("/workspace/file", b"x" * 4096)))
            looked = self.box.run(self.LOOK, 200)
            times["lookup"] += looked["times"]
            self.failed += looked["failed"]
        return {kind: 1000 * statistics.median(some) for kind, some in times.items()}, len(times["exec"])

    @staticmethod
    def timed(action):
        begin = time.monotonic()
        action()
        return time.monotonic() - begin

    def snapshot(self):
        """Takes a snapshot and removes it; returns what failed."""
        try:
            made = self.box.server.call("POST", self.box.path + "/snapshots", {})
            self.box.server.call("DELETE", "/api/v1/snapshots/" + made["id"])
            return ""
        except (Failure, OSError, http.client.HTTPException) as e:
            return "a snapshot of another sandbox failed: " + str(e)


class Snapshots(threading.Thread):
    """Takes snapshots of a sandbox until it is stopped; their failures are answers, too."""

    def __init__(self, box):
        super().__init__(daemon=True)
        self.box, self.going, self.answers = box, True, {}
        self.problems = {}  # the first of each code

    def run(self):
        while self.going:
            try:
                status, text = self.box.server.request("POST", self.box.path + "/snapshots", {})
                answer = json.loads(text)
                if status < 300:
                    self.box.server.request("DELETE", "/api/v1/snapshots/" + answer["id"])
                else:
                    status = answer.get("code", status)
                    self.problems.setdefault(status, answer.get("detail") or text[:200])
            except (OSError, ValueError, http.client.HTTPException) as e:
                status = type(e).__name__
            self.answers[status] = self.answers.get(status, 0) + 1
            if status not in (200, 201):
                time.sleep(0.1)


# Of each: the program, the number of sandboxes, whether they are snapshotted, and the least that the program achieves.
ATTACKS = {
    "tree": (TREE, 1, True, {"links": 4000}),
    "tcp_memory": (TCP_MEMORY, 1, False, {"bytes": 4 << 20}),
    "kernel_objects": (KERNEL_OBJECTS, 4, False, {"inotify": 8}),
    "sparse": (SPARSE, 1, True, {"bytes": 1 << 40}),
    "lookups": (SLOW_LOOKUPS.replace("LOOKUPS", str(LOOKUPS)), 1, False, {"lookups": LOOKUPS}),
}


def attack(server, name, seconds):
    """Returns what the other sandbox, the host or the server suffers from."""
    program, sandboxes, snapshotted, least = ATTACKS[name]
    if seconds >= 60 and name == "tree":
        least = {"links": 120000}
    neighbour = Neighbour(server)
    neighbour.measure(5)  # as in a server that has run for a while
    before, _ = neighbour.measure(max(seconds / 3, 5))
    tcp = tcp_memory()
    boxes, threads = [], []
    try:
        for _ in range(sandboxes):
            boxes.append(
                server.create(
                    [allow("*.example", 9999)],
                    resources={"memory": ATTACKER_MEMORY, "disk": 2048, "cpu": 0.5, "fileDescriptors": 1 << 14},
                    egress={"limits": {"connections": 2 * LOOKUPS, "connectionsPerMinute": 100000}},
                )
            )
            start(boxes[-1], program)
        wait_until(
            lambda: all(achieved(box).get(what, 0) >= much for box in boxes for what, much in least.items()),
            120, "the attack has an effect within its own sandbox: %s" % least,
        )
        threads = [Snapshots(box) for box in boxes if snapshotted]
        for one in threads:
            one.start()
        during, count = neighbour.measure(seconds)
        problems = ["the host has no more %s: %s" % item for item in left_on_the_host().items() if item[1]]
        tcp = tcp_memory() - tcp
        problems.append(neighbour.snapshot() if snapshotted else "")
        status = server.request("GET", "/healthz")[0]
        got = [achieved(box) for box in boxes]
    finally:
        for one in threads:
            one.going = False
        for box in boxes:
            box.destroy()
    problems += ["%d lookups failed" % neighbour.failed] if neighbour.failed else []
    problems += ["%s took %.1f times as long" % (kind, during[kind] / before[kind])
                 for kind in during if during[kind] > ALLOWED_RATIO * before[kind]]
    if tcp > 1.5 * ATTACKER_MEMORY * (1 << 20):
        problems.append("TCP connections hold %d MiB, a sandbox may use %d MiB" % (tcp >> 20, ATTACKER_MEMORY))
    if status != 200:
        problems.append("/healthz answered %s" % status)
    figures = ", ".join("%s %.1f -> %.1f ms" % (kind, before[kind], during[kind]) for kind in during)
    print("       %s (n=%d); TCP %d MiB; achieved %s; snapshots %s"
          % (figures, count, tcp >> 20, got, [one.answers for one in threads]))
    for problem in [text[:300] for one in threads for text in one.problems.values()]:
        print("       " + problem)
    return [one for one in problems if one]


def cgroups():
    return "2" if os.path.exists("/sys/fs/cgroup/cgroup.controllers") else "1"


def stop(server):
    """Ends the server also when it does not answer any more, and its sandboxes."""
    try:
        server.stop()
    except (OSError, Failure, http.client.HTTPException, subprocess.SubprocessError) as e:
        print("       the server did not stop: %r" % e)
        if server.process.poll() is None:
            server.kill()
        subprocess.run([ISOLA, "purge", "--yes", "--data", server.data], check=False)


def main():
    arguments = sys.argv[1:]
    seconds = float((arguments or ["60"])[0])
    provider = (arguments[1:] or ["bubblewrap"])[0]
    names = (arguments[2:] or [",".join(ATTACKS)])[0].split(",")
    print("%s, control groups of version %s, %g s for each attack" % (provider, cgroups(), seconds), flush=True)
    failed = 0
    for name in names:
        work = tempfile.mkdtemp(prefix="isola-neighbour-")
        server = Server(work + "/data", 7789, provider, ["egress.dns=203.0.113.53"])
        try:
            problems = attack(server.start().await_ready(), name, seconds)
        except (AssertionError, Failure, OSError, http.client.HTTPException) as e:
            problems = [repr(e)[:400]]
        finally:
            stop(server)
            shutil.rmtree(work, ignore_errors=True)
        failed += bool(problems)
        print("%s %s%s" % ("failed" if problems else "passed", name, "".join("\n       " + one for one in problems)), flush=True)
    print("%d passed, %d failed, 0 not run" % (len(names) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # destroys what was created
    sys.exit(main())
