#!/usr/bin/env python3
"""Creates many default sandboxes through the HTTP API, runs commands in all of them, and destroys them.

  bench/thousand.py                   1,000 sandboxes on a private server (./isola serve), which is stopped afterwards
  bench/thousand.py --count 100       fewer
  bench/thousand.py --provider crun   with that provider
  ISOLA_API_KEY=K bench/thousand.py --url http://127.0.0.1:7777    on a running server

Exits with 0 if no create request was refused, every command succeeded while all sandboxes were alive, and afterwards
the server lists no sandbox and, for a private server, no process, cgroup and mount remains.
"""
import argparse
import concurrent.futures
import glob
import http.client
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Api:
    """An API client with one connection per thread."""

    def __init__(self, url, key):
        self.address = urllib.parse.urlsplit(url).netloc
        self.key = key
        self.local = threading.local()

    def call(self, method, path, body=None):
        text = None if body is None else json.dumps(body)
        headers = {"Authorization": "Bearer " + self.key, "Content-Type": "application/json"}
        for attempt in (1, 2):
            connection = getattr(self.local, "connection", None)
            fresh = connection is None
            if fresh:
                connection = self.local.connection = http.client.HTTPConnection(self.address, timeout=300)
            try:
                connection.request(method, path, text, headers)
                answer = connection.getresponse()
                content = answer.read()
                return answer.status, json.loads(content) if content else None
            except (http.client.RemoteDisconnected, ConnectionError):
                self.local.connection = None  # the server may have closed the idle connection
                if fresh or attempt == 2 or method == "POST" and path.endswith("/sandboxes"):
                    raise
        raise AssertionError("unreachable")


def serve(data, port, key):
    environment = dict(os.environ, ISOLA_API_KEY=key, ISOLA_DATA=data)
    log = open(os.path.join(data, "server.log"), "wb")
    return subprocess.Popen(
        [os.path.join(ROOT, "isola"), "serve", "--port", str(port)],
        env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)


def wait_until_ready(api, server):
    end = time.monotonic() + 600
    while time.monotonic() < end:
        if server is not None and server.poll() is not None:
            sys.exit("the server exited with %d; see its log" % server.returncode)
        try:
            if api.call("GET", "/readyz")[0] == 200:
                return
        except OSError:
            pass
        time.sleep(0.2)
    sys.exit("the server was not ready within 10 minutes")


def available_mb():
    with open("/proc/meminfo") as lines:
        for line in lines:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) // 1024
    return -1


def processes(word):
    """Counts the other processes that have the text in their arguments or environment."""
    found = 0
    for folder in glob.glob("/proc/[0-9]*"):
        if folder == "/proc/%d" % os.getpid():
            continue
        for name in ("cmdline", "environ"):
            try:
                with open(folder + "/" + name, "rb") as file:
                    if word.encode() in file.read():
                        found += 1
                        break
            except OSError:
                pass
    return found


def control_groups(ids):
    found = 0
    for base, folders, _ in os.walk("/sys/fs/cgroup"):
        found += sum(1 for folder in folders if any(one in folder for one in ids))
    return found


def listed(api):
    count, after = 0, ""
    while True:
        query = "?limit=1000" + ("&after=" + urllib.parse.quote(after) if after else "")
        status, page = api.call("GET", "/api/v1/sandboxes" + query)
        if status != 200:
            sys.exit("listing sandboxes failed with %d: %s" % (status, page))
        count += sum(1 for one in page["sandboxes"] if one["state"] not in ("destroyed",))
        after = page.get("next") or ""
        if not after:
            return count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--together", type=int, default=16, help="number of concurrent requests")
    parser.add_argument("--url")
    parser.add_argument("--provider")
    options = parser.parse_args()

    server, data, key = None, None, os.environ.get("ISOLA_API_KEY", "")
    url = options.url
    if not url:
        key = "isk_" + secrets.token_hex(16)
        data = tempfile.mkdtemp(prefix="isola-thousand-")
        port = 20000 + secrets.randbelow(20000)
        url = "http://127.0.0.1:%d" % port
        server = serve(data, port, key)
    api = Api(url, key)
    wait_until_ready(api, server)
    spec = {"provider": options.provider} if options.provider else {}
    refused, wrong, ids, failed = [], [], [], []

    def create(_):
        status, body = api.call("POST", "/api/v1/sandboxes", spec)
        if status == 201:
            ids.append(body["id"])
            return body["provider"]
        refused.append("%d %s" % (status, body.get("detail")))
        return None

    def execute(one):
        status, body = api.call("POST", "/api/v1/sandboxes/%s/exec" % one, {"command": "echo I am " + one})
        if status != 200 or "I am " + one not in json.dumps(body):
            wrong.append("%s: %d %s" % (one, status, body))

    def destroy(one):
        status, body = api.call("DELETE", "/api/v1/sandboxes/" + one)
        if status not in (200, 202, 204):
            failed.append("%s: %d %s" % (one, status, body))

    def step(name, work, over):
        start = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(options.together) as pool:
            results = list(pool.map(work, over))
        took = time.monotonic() - start
        print("%-8s %5d in %6.1f s, %6.1f a second, %6d MB available"
              % (name, len(results), took, len(results) / max(took, 0.001), available_mb()), flush=True)
        return results

    try:
        print("before   %s, %d MB available" % (url, available_mb()), flush=True)
        providers = step("create", create, range(options.count))
        print("alive    %d listed by the server, providers: %s"
              % (listed(api), ", ".join(sorted({one for one in providers if one}))), flush=True)
        step("exec", execute, list(ids))
        step("again", execute, list(ids))
        step("destroy", destroy, list(ids))
        left = listed(api)
    finally:
        if server is not None:
            os.kill(server.pid, signal.SIGTERM)
            try:
                server.wait(120)
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, signal.SIGKILL)
                server.wait()
    remains = []
    if server is not None:
        end = time.monotonic() + 30
        while processes(data) and time.monotonic() < end:
            time.sleep(0.5)
        if processes(data):
            remains.append("%d processes" % processes(data))
        groups = control_groups(ids)
        if groups:
            remains.append("%d cgroups" % groups)
        mounts = sum(1 for line in open("/proc/self/mounts") if data in line)
        if mounts:
            remains.append("%d mounts" % mounts)
    print("refused %d, wrong results %d, not destroyed %d, still listed %d, remaining on the machine: %s"
          % (len(refused), len(wrong), len(failed), left, ", ".join(remains) or "nothing"))
    for some in (refused, wrong, failed):
        for text in some[:5]:
            print("  " + text[:400])
    good = not (refused or wrong or failed or left or remains) and len(ids) == options.count
    if data and good:
        shutil.rmtree(data)
    elif data:
        print("the data folder and the server's log remain in " + data)
    print("passed" if good else "FAILED")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
