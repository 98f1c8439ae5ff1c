"""Connects 1,000 times a minute from one sandbox and samples the memory of the server; see testing/egress-here.sh.

Half of the connections are allowed and transfer 10 KiB, a quarter are denied by name, a quarter are left open for a
while. Usage: soak.py [MINUTES] [PROVIDER]
"""

import base64
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from live import Server, allow

PROGRAM = """
import threading
counts = {'echoed': 0, 'denied': 0, 'held': 0, 'failed': 0}
lock = threading.Lock()
def count(what):
    with lock:
        counts[what] += 1
def allowed():
    got = tcp('ok.example', 9003, b'x' * 10240, timeout=30)
    count('echoed' if len(got['got']) == 10240 else 'failed')
def denied(i):
    got = tcp('denied%d.example' % (i % 5000), 9003, timeout=30)
    count('denied' if got['got'] == '' else 'failed')
def held():
    try:
        with socket.create_connection(('ok.example', 9003), 30) as s:
            s.sendall(b'x'); s.recv(1); time.sleep(5); s.sendall(b'y')
            count('held' if s.recv(1) == b'y' else 'failed')
    except OSError:
        count('failed')
start = time.time()
i = 0
while time.time() - start < MINUTES * 60:
    target = [allowed, lambda i=i: denied(i), allowed, held][i % 4]
    threading.Thread(target=target, daemon=True).start()
    i += 1
    time.sleep(max(0, start + i * 0.06 - time.time()))
    if i % 50 == 0:
        with open('/tmp/counts', 'w') as f:
            f.write(repr(counts))
time.sleep(7)
with open('/tmp/counts', 'w') as f:
    f.write(repr(counts) + ' done')
"""


def live_heap(server):
    """Returns the memory in KiB that the server still refers to, after a garbage collection; 0 without jcmd."""
    jcmd = shutil.which("jcmd") or os.path.join(os.environ.get("JAVA_HOME", "/nowhere"), "bin", "jcmd")
    if not os.path.exists(jcmd):
        return 0
    process = str(server.process.pid)
    subprocess.run([jcmd, process, "GC.run"], check=True, capture_output=True, timeout=60)
    heap = subprocess.run([jcmd, process, "GC.heap_info"], check=True, capture_output=True, text=True, timeout=60).stdout
    return sum(int(used) for used in re.findall(r"total \d+K, used (\d+)K", heap))


def main():
    minutes = float((sys.argv[1:] or ["10"])[0])
    provider = (sys.argv[2:] or ["bubblewrap"])[0]
    work = tempfile.mkdtemp(prefix="isola-soak-")
    server = Server(work + "/data", 7788, provider, ["egress.dns=203.0.113.53"])
    try:
        server.start().await_ready()
        box = server.create([allow("ok.example", 9003)])
        program = base64.b64encode(PROGRAM.replace("MINUTES", str(minutes)).encode()).decode()
        box.start("python3 /workspace/probe.py " + program)
        samples, heaps, counts = [], [], ""
        start = time.time()
        while "done" not in counts and time.time() - start < minutes * 60 + 60:
            time.sleep(15)
            counts = box.exec("cat /tmp/counts 2>/dev/null")[1]
            samples.append(server.memory())
            if len(samples) % 4 == 0:
                heaps.append(live_heap(server))
            heap = heaps[-1] if heaps else 0
            print("%4d s  %4d MiB, %d KiB in use  %s" % (time.time() - start, samples[-1], heap, counts), flush=True)
        half = len(samples) // 2
        first, second = max(samples[: half or 1]), max(samples[half:])
        print("highest of the first half %d MiB, of the second half %d MiB; in use after a collection: %s KiB" % (first, second, heaps))
        settled = heaps[1:] or [0]
        flat = second <= first * 1.1 + 5 and settled[-1] <= settled[0] * 1.1 + 2048
        return 0 if "'failed': 0" in counts and flat else 1
    finally:
        server.stop()
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # destroys what was created
    sys.exit(main())
