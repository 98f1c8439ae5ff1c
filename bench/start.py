#!/usr/bin/env python3
"""Measures the startup time and the memory of a server: bench/start.py [N] [-- COMMAND...]

Measures from the start of the process to the first 200 of /readyz, N times (default 10), each with an empty data
folder, and the CPU time until then, which depends less on other load; then the resident memory after ten idle
seconds. COMMAND is ./isola serve by default.
"""
import http.client
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
arguments = sys.argv[1:]
command = arguments[arguments.index("--") + 1:] if "--" in arguments else [os.path.join(root, "isola"), "serve"]
count = int(arguments[0]) if arguments and arguments[0] != "--" else 10
idle = 10


def start():
    """Returns the process, its data folder, the seconds until it was ready, and the CPU seconds."""
    data = tempfile.mkdtemp(prefix="isola-start-")
    begin = time.monotonic()
    server = subprocess.Popen(
        command + ["--port", "0", "--data", data],
        env={**os.environ, "ISOLA_API_KEY": "isk_only_for_this_measurement"},
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    port = int(re.search(rb":(\d+)$", server.stdout.readline().strip()).group(1))
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/readyz")
        status = connection.getresponse().status
        connection.close()
        if status == 200:
            return server, data, time.monotonic() - begin, cpu_seconds(server.pid)
        time.sleep(0.002)


def stop(server, data):
    server.send_signal(signal.SIGTERM)
    server.wait(30)
    shutil.rmtree(data, ignore_errors=True)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024


stop(*start()[:2])  # builds, and fills the page cache
times, cpu = [], []
for i in range(count):
    server, data, seconds, used = start()
    times.append(seconds)
    cpu.append(used)
    if i == count - 1:
        time.sleep(idle)
        memory = resident(server.pid)
    stop(server, data)
print(f"ready: median {statistics.median(times):.3f} s, best {min(times):.3f} s, worst {max(times):.3f} s of {count}; "
      f"CPU time {statistics.median(cpu):.2f} s; "
      f"resident after {idle} s: {memory:.0f} MB")
