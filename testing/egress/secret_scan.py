"""A planted secret: it arrives at its host, and is found nowhere else; see testing/egress-here.sh.

Scans the memory and environment of every process of the sandbox, of a fork and of a sandbox from a snapshot, their
files, the data folder of the server (ledger, snapshots, audit), its log, and what the API answers. The same scan then
finds the value after it was planted on purpose.
"""

import glob
import os
import random
import re
import shutil
import signal
import sys
import tempfile

from live import INTERNET, Internet, Sandbox, Server, allow

FOLDERS = ("workspace", "tmp", "run", "root", "home", "var", "dev/shm", "etc")
MOST = 64 << 20


def processes(sandbox):
    """The processes of a sandbox, those of its runtime included, as this machine sees them."""
    found = []
    for path in glob.glob("/proc/[0-9]*"):
        try:
            with open(path + "/cgroup") as f:
                groups = f.read()
            with open(path + "/environ", "rb") as f:
                environment = f.read()
        except OSError:
            continue
        if sandbox in groups or b"ISOLA_SANDBOX=" + sandbox.encode() in environment:
            found.append(path)
    return found


def in_memory(path, value):
    """Whether the memory of a process has the value; also how many bytes were read."""
    total = 0
    try:
        with open(path + "/maps") as f:
            regions = [re.match(r"([0-9a-f]+)-([0-9a-f]+) r", line) for line in f]
        with open(path + "/mem", "rb", 0) as memory:
            for region in filter(None, regions):
                start, end = (int(part, 16) for part in region.groups())
                rest = b""
                while start < end:
                    try:
                        memory.seek(start)
                        block = memory.read(min(end - start, 8 << 20))
                    except (OSError, OverflowError, ValueError):
                        break  # [vvar] and the like
                    if not block:
                        break
                    total += len(block)
                    if value in rest + block:
                        return True, total
                    rest = block[-len(value):]
                    start += len(block)
    except OSError:
        return False, total  # it has ended
    return False, total


def in_files(folders, value):
    found = []
    for folder in folders:
        for root, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(root, name)
                try:
                    if os.path.islink(path) or not os.path.isfile(path):
                        continue
                    with open(path, "rb") as f:
                        if value in f.read(MOST):
                            found.append(path)
                except OSError:
                    continue
    return found


def scan(box, value):
    """Returns the places in a sandbox that have the value, and how much was read."""
    found, total, count = [], 0, 0
    for path in processes(box.id):
        with open(path + "/comm") as f:
            name = f.read().strip()
        if name == "java":
            continue  # the server, which has it
        count += 1
        try:
            with open(path + "/environ", "rb") as f:
                if value in f.read():
                    found.append(name + ": environ")
        except OSError:
            pass
        hit, size = in_memory(path, value)
        total += size
        if hit:
            found.append("%s: memory" % name)
    for path in processes(box.id):
        if os.path.exists(path + "/root/workspace"):
            found += in_files([path + "/root/" + folder for folder in FOLDERS], value)
            break
    return found, "%d processes, %d MiB" % (count, total >> 20)


class Checks:
    def __init__(self):
        self.failed = 0

    def check(self, what, passed, note=""):
        print("%-8s %s %s" % ("passed" if passed else "FAILED", what, note), flush=True)
        self.failed += not passed


REQUESTS = """
for host in api other; do
  curl -sS -m 10 -H "Authorization: Bearer $TOKEN" "https://$host.example/$host?q=$TOKEN" -d "body=$TOKEN"
  curl -sS -m 10 -u "user:$TOKEN" "http://$host.example/basic-$host"
  python3 -c "
import os, http.client, ssl
c = http.client.HTTPSConnection('$host.example', timeout=10)
t = os.environ['TOKEN'].encode()
c.request('POST', '/chunks-$host', iter([b'a' * 1000 + t[:7], t[7:], b'b' * 70000, t]), {'X-Key': t.decode()}, encode_chunked=True)
print(c.getresponse().read().decode())
"
done
echo $TOKEN > /tmp/from-env
"""


def main():
    provider = (sys.argv[1:] or ["bubblewrap"])[0]
    value = "ghp_" + "".join(random.choice("ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz23456789") for _ in range(36))
    secret = value.encode()
    work = tempfile.mkdtemp(prefix="isola-secret-")
    server = Server(work + "/data", 7787, provider, ["egress.dns=203.0.113.53", "egress.trust=" + INTERNET + "/ca.pem"])
    net, c = Internet(), Checks()
    try:
        server.start().await_ready()
        server.call("PUT", "/api/v1/secrets/github", {"value": value, "hosts": ["api.example"]})
        box = server.create(
            [allow("api.example", 80, 443), allow("other.example", 80, 443)],
            egress={"secrets": {"TOKEN": "github"}, "log": "connections"},
        )
        placeholder = box.exec("printf %s \"$TOKEN\"")[1]
        c.check("the variable has a placeholder of the same length", placeholder != value and len(placeholder) == len(value), placeholder[:8])
        box.start("python3 -c 'import os, time; held = [os.environ[\"TOKEN\"]] * 5; time.sleep(600)'")
        net.mark()
        status, out, err = box.exec(REQUESTS)
        arrived = net.since("http")
        texts = {one["path"].split("?")[0]: repr(one) for one in arrived}
        for name in ("/api", "/chunks-api"):
            c.check("the secret arrives at its host: " + name, value in texts.get(name, ""), err[-200:] if name not in texts else "")
        # curl encodes it for Basic, where a scan for the text does not find it.
        for name in ("/other", "/basic-other", "/chunks-other"):
            c.check("the secret does not arrive elsewhere: " + name, name in texts and value not in texts[name])
        c.check("the placeholder arrives elsewhere", placeholder in texts.get("/other", ""))
        c.check("an answer that repeats the secret does not show it inside", value not in out and "/chunks-api" in out)
        names = [record for record in net.since("dns") if value.lower() in record["name"].lower()]
        c.check("no lookup has it", not names)

        copy = Sandbox(server, server.call("POST", box.path + "/fork", {})["forks"][0]["sandbox"]["id"])
        snapshot = server.call("POST", box.path + "/snapshots", {})["id"]
        restored = server.create(image="snapshot:" + snapshot)
        for name, one in (("sandbox", box), ("fork", copy), ("sandbox from a snapshot", restored)):
            found, size = scan(one, secret)
            c.check("not in the processes and files of the " + name, not found and not size.startswith("0 "), "%s (%s)" % (found or "", size))
        present, _ = scan(box, placeholder.encode())
        c.check("the same scan finds the placeholder", any("environ" in p for p in present) and any("from-env" in p for p in present), str(present[:4]))

        answers = "".join(
            server.request("GET", path)[1]
            for path in ("/api/v1/secrets", "/api/v1/secrets/github", box.path, box.path + "/egress", "/api/v1/sandboxes", "/metrics",
                         "/api/v1/snapshots", box.path + "/executions")
        )
        c.check("not in what the API answers", value not in answers)
        c.check("not in the data folder: ledger, snapshots, audit", not in_files([server.data], secret), str(in_files([server.data], secret)))
        c.check("not in the log of the server", not in_files([work], secret))
        ledger = [f for f in glob.glob(server.data + "/*") if "ledger" in f or f.endswith(".db")]
        c.check("the same scan finds the sandbox's id in the ledger", bool(in_files([server.data], box.id.encode())), str(len(ledger)))

        box.write("/tmp/planted", secret)
        box.start("python3 -c 'import time; held = open(\"/tmp/planted\").read() * 3; time.sleep(600)'")
        import time

        time.sleep(1)
        found, _ = scan(box, secret)
        c.check("planted on purpose, the scan finds it", any("memory" in f for f in found) and any("planted" in f for f in found), str(found[:4]))
        with open(server.data + "/planted", "wb") as f:
            f.write(b"x" * 100 + secret)
        c.check("planted in the data folder, the scan finds it", bool(in_files([server.data], secret)))

        net.mark()
        server.request("DELETE", "/api/v1/secrets/github")
        box.exec("curl -sS -m 10 -H \"Authorization: Bearer $TOKEN\" https://api.example/removed")
        after = repr(net.since("http"))
        c.check("after its removal no host receives it", value not in after, "")
    finally:
        server.stop()
        shutil.rmtree(work, ignore_errors=True)
    print("\n%d failed" % c.failed)
    return 1 if c.failed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # destroys what was created
    sys.exit(main())
