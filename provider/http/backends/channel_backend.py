#!/usr/bin/env python3
"""A backend of Isola at level channel: docs/backend-protocol.yaml, docs/write-a-backend.md.

A sandbox is a process of bubblewrap that sleeps, in namespaces and a folder of its own. Isola's
guest agent runs in it, and this script joins connections to it: commands, files, terminals, ports
and snapshots work without a line here. Needs Linux, Python 3.9, bwrap, nsenter. Copy it and change
Sandbox.start(), Sandbox.enter() and Sandbox.kill().
"""
import argparse, base64, datetime, hashlib, hmac, json, os, platform, re, shutil, signal
import subprocess, tempfile, threading, time, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

MAX_BODY = 16 << 20
INFO = {
    "protocol": 1, "name": "channel-backend", "level": "channel", "channel": "relay",
    "summary": "the guest agent in bubblewrap, in a folder per sandbox",
    "architecture": platform.machine(),
    "isolation": "process",  # it has namespaces, but this script promises nothing
    "capabilities": ["renewing"], "networkModes": ["host"], "startupMs": 200,
}
INSTALL = 'mkdir -p -- "${1%/*}" && cat >"$1" && chmod 700 -- "$1"'
STATUS = {"SANDBOX_NOT_FOUND": 404, "UNAUTHENTICATED": 401, "NOT_IMPLEMENTED": 501,
          "PROVIDER_UNAVAILABLE": 503, "SPAWN_FAILED": 503}


class Problem(Exception):
    def __init__(self, code, detail):
        super().__init__(detail)
        self.code = code


def root_folders():
    """The folders of this machine that a sandbox sees, as options of bwrap."""
    for name in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt"):
        if os.path.islink(name):
            yield from ("--symlink", os.readlink(name), name)
        elif os.path.isdir(name):
            yield from ("--ro-bind", name, name)


def started_at(pid):
    """The start time of a process, which tells it from another one that got its id later."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[19]
    except OSError:
        return None


class Sandbox:
    def __init__(self, folder, record):
        self.folder, self.record = folder, record
        self.terminating = False

    def describe(self):
        state = "terminating" if self.terminating else "running" if self.alive() else "error"
        reason = {"reason": "its processes have ended"} if state == "error" else {}
        return {**{name: self.record[name]
                   for name in ("id", "instance", "sandbox", "note", "createdAt")},
                "state": state, **reason}

    def save(self):
        draft = os.path.join(self.folder, "record.new")
        with open(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            json.dump(self.record, file)
        os.rename(draft, os.path.join(self.folder, "record"))

    def start(self, mount):
        """Starts the first process, which sleeps. If it ends, the kernel ends all others."""
        read, write = os.pipe()
        line = ["bwrap", *root_folders(), "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/run",
                "--bind", self.folder + "/tmp", "/tmp", "--bind", self.folder + "/workspace",
                mount, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--new-session",
                "--info-fd", str(write), "--", "sh", "-c", "echo ready; exec sleep infinity"]
        process = subprocess.Popen(line, env={"PATH": os.environ["PATH"]}, pass_fds=[write],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        os.close(write)
        with open(read) as file, process.stdout:
            text, ready = file.read(), process.stdout.readline()
        threading.Thread(target=process.wait, daemon=True).start()
        if not ready:
            raise Problem("SPAWN_FAILED", "bwrap does not work here")
        self.record["pid"] = json.loads(text)["child-pid"]
        self.record["pidStarted"] = started_at(self.record["pid"])

    def alive(self):
        return self.record["pidStarted"] == started_at(self.record["pid"])

    def enter(self, argv):
        """The command line that runs a command in the sandbox, without privileges of root."""
        drop = ["setpriv", "--bounding-set=-all", "--no-new-privs", "--"] if not os.getuid() else []
        return ["nsenter", "--target", str(self.record["pid"]), "--user", "--mount", "--pid",
                "--ipc", "--preserve-credentials", "--", *drop, *argv]

    def run(self, argv, stdin, timeout):
        """Runs a command that may leave processes behind, which must not keep a pipe open."""
        with tempfile.TemporaryFile() as into, tempfile.TemporaryFile() as out:
            into.write(stdin)
            into.seek(0)
            env = {"PATH": os.environ["PATH"], "HOME": "/tmp"}
            try:
                code = subprocess.run(self.enter(argv), stdin=into, stdout=out, stderr=out,
                                      env=env, timeout=timeout).returncode
            except subprocess.TimeoutExpired:
                raise Problem("DEADLINE_EXCEEDED", f"{argv[0]} did not end in {timeout} s")
            out.seek(0)
            if code != 0:
                said = out.read(1000).decode(errors="replace")
                raise Problem("SPAWN_FAILED", f"{argv[0]} ended with {code}: {said}")

    def kill(self):
        """Kills the first process, and waits until the kernel has ended all others."""
        while self.alive():
            try:
                os.kill(self.record["pid"], signal.SIGKILL)
            except ProcessLookupError:
                pass  # it has just ended
            time.sleep(0.005)


class Sandboxes:
    """The sandboxes in the data folder. They are found again after a restart of this script."""

    def __init__(self, data):
        self.data, self.lock, self.all, self.busy = data, threading.Lock(), {}, {}
        self.agents = os.path.join(data, "agents")
        os.makedirs(self.agents, mode=0o700, exist_ok=True)
        for name in os.listdir(data):
            folder = os.path.join(data, name)
            try:
                with open(folder + "/record") as file:
                    self.all[name] = Sandbox(folder, json.load(file))
            except (OSError, ValueError):
                if folder != self.agents:
                    remove(folder)  # of a create or a destroy that was interrupted

    def find(self, name):
        sandbox = self.all.get(name)
        if not sandbox:
            raise Problem("SANDBOX_NOT_FOUND", f"there is no sandbox {name}")
        return sandbox

    def only(self, name):
        """The lock of one sandbox, so that a create and a destroy of it do not overlap."""
        with self.lock:
            return self.busy.setdefault(name, threading.Lock())

    def create(self, name, request):
        with self.only(name):
            if name in self.all:
                return 200, self.all[name]
            folder = os.path.join(self.data, name)
            for part in ("workspace", "tmp"):
                os.makedirs(os.path.join(folder, part))
            now = datetime.datetime.now(datetime.timezone.utc)
            record = {"id": name, "instance": request["instance"], "sandbox": request["sandbox"],
                      "note": request.get("note", ""), "deadline": None, "pid": 0,
                      "createdAt": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "pidStarted": "",
                      "connect": request["agent"]["connect"]}
            sandbox, agent = Sandbox(folder, record), request["agent"]
            timeout = request.get("startupTimeoutMs", 60000) / 1000
            try:
                sandbox.start(request["spec"].get("workspaceMount", "/workspace"))
                with open(self.agent(agent["sha256"]), "rb") as file:
                    sandbox.run(["sh", "-c", INSTALL, "sh", agent["path"]], file.read(), timeout)
                sandbox.run(agent["start"], base64.b64decode(agent["input"]), timeout)
                if request.get("ttlMs"):
                    record["deadline"] = time.time() + request["ttlMs"] / 1000
                sandbox.save()
                self.all[name] = sandbox
            finally:
                if name not in self.all:
                    sandbox.kill()
                    remove(folder)
            return 201, sandbox

    def destroy(self, name):
        with self.only(name):
            sandbox = self.all.get(name)
            if sandbox:
                sandbox.terminating = True
                sandbox.kill()
                trash = os.path.join(self.data, "removed-" + uuid.uuid4().hex)
                os.rename(sandbox.folder, trash)
                del self.all[name]
                remove(trash)
        with self.lock:
            self.busy.pop(name, None)

    def agent(self, hash):
        return os.path.join(self.agents, hash)

    def end_expired(self):
        while True:
            time.sleep(0.5)
            for name, sandbox in list(self.all.items()):
                deadline = sandbox.record["deadline"]
                if deadline and deadline < time.time():
                    self.destroy(name)


def remove(folder):
    """Removes a tree of a guest, however deep, and also folders that it made unreadable."""
    if subprocess.run(["rm", "-rf", "--", folder], capture_output=True).returncode:
        subprocess.run(["chmod", "-R", "u+rwX", "--", folder], capture_output=True)
        subprocess.run(["rm", "-rf", "--", folder], check=True)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def handle_request(self):
        path = urlsplit(self.path)
        self.query = {name: values[0] for name, values in parse_qs(path.query).items()}
        try:
            length = int(self.headers.get("Content-Length") or 0)
            if length > MAX_BODY:
                raise Problem("INVALID_REQUEST", "the request is too long")
            self.body = self.rfile.read(length)
            if len(self.body) < length:
                return  # the client is gone, and nothing was changed
            if KEY and not hmac.compare_digest(self.headers.get("Authorization", "").encode(),
                                               b"Bearer " + KEY.encode()):
                raise Problem("UNAUTHENTICATED", "the key is wrong")
            for method, pattern, action in ROUTES:
                match = re.fullmatch(pattern, path.path)
                if method == self.command and match:
                    return action(self, *match.groups())
            raise Problem("NOT_IMPLEMENTED", f"{self.command} {path.path}")
        except Problem as e:
            self.answer(STATUS.get(e.code, 400), {"code": e.code, "detail": str(e)},
                        "application/problem+json")
        except (KeyError, ValueError, TypeError) as e:
            self.answer(400, {"code": "INVALID_REQUEST", "detail": f"invalid request: {e!r}"},
                        "application/problem+json")
        except (OSError, subprocess.SubprocessError) as e:
            self.close_connection = True
            self.answer(500, {"code": "PROVIDER_UNAVAILABLE", "detail": str(e)},
                        "application/problem+json")

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_request

    def answer(self, status, body=b"", type="application/json"):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Type", type)
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if status != 204 and self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *args):
        pass

    def info(self):
        missing = [name for name in ("bwrap", "nsenter") if not shutil.which(name)]
        health = {"status": "healthy"} if not missing else {
            "status": "unhealthy", "reason": " and ".join(missing) + " not installed",
            "fix": "apt-get install bubblewrap util-linux"}
        self.answer(200, {**INFO, "health": health})

    def inventory(self):
        found = [one.describe() for one in list(SANDBOXES.all.values())
                 if one.record["instance"] == self.query["instance"]]
        found.sort(key=lambda one: one["id"])
        page = [one for one in found if one["id"] > self.query.get("after", "")]
        more = {"next": page[999]["id"]} if len(page) > 1000 else {}
        self.answer(200, {"sandboxes": page[:1000], **more})

    def create(self, name):
        status, sandbox = SANDBOXES.create(name, json.loads(self.body))
        self.answer(status, sandbox.describe())

    def get(self, name):
        self.answer(200, SANDBOXES.find(name).describe())

    def destroy(self, name):
        SANDBOXES.destroy(name)
        self.answer(204)

    def renew(self, name):
        sandbox = SANDBOXES.find(name)
        sandbox.record["deadline"] = time.time() + json.loads(self.body)["ttlMs"] / 1000
        sandbox.save()
        self.answer(204)

    def has_agent(self, hash):
        self.answer(200 if os.path.exists(SANDBOXES.agent(hash)) else 404)

    def put_agent(self, hash):
        if hashlib.sha256(self.body).hexdigest() != hash:
            raise Problem("INVALID_REQUEST", "the program has another hash")
        draft = SANDBOXES.agent(uuid.uuid4().hex + ".new")
        with open(draft, "wb") as file:
            file.write(self.body)
        os.rename(draft, SANDBOXES.agent(hash))
        self.answer(204)

    def channel(self, name):
        """Gives the connection to a process in the sandbox, which joins it to the agent."""
        if self.headers.get("Upgrade", "").lower() != "isola-channel":
            raise Problem("INVALID_REQUEST", "the upgrade is missing")
        sandbox = SANDBOXES.find(name)
        if not sandbox.alive():
            raise Problem("SANDBOX_NOT_FOUND", "the processes of the sandbox have ended")
        self.close_connection = True
        self.send_response(101)
        self.send_header("Connection", "Upgrade")
        self.send_header("Upgrade", "isola-channel")
        self.end_headers()
        self.wfile.flush()
        subprocess.run(sandbox.enter(sandbox.record["connect"]), stdin=self.connection,
                       stdout=self.connection, stderr=subprocess.DEVNULL, env={})


BOX = "/v1/sandboxes/([0-9a-z]{1,32})"
ROUTES = [
    ("GET", "/v1/info", Handler.info), ("GET", "/v1/sandboxes", Handler.inventory),
    ("PUT", BOX, Handler.create), ("GET", BOX, Handler.get), ("DELETE", BOX, Handler.destroy),
    ("POST", BOX + "/renew", Handler.renew), ("GET", BOX + "/channel", Handler.channel),
    ("HEAD", "/v1/agents/([0-9a-f]{64})", Handler.has_agent),
    ("PUT", "/v1/agents/([0-9a-f]{64})", Handler.put_agent),
]


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def stop(*_):
    """Ends all processes. The sandboxes are listed in state error after the next start."""
    for sandbox in list(SANDBOXES.all.values()):
        sandbox.kill()
    os._exit(0)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--host", default="127.0.0.1")
    options.add_argument("--port", type=int, default=8901, help="0 for any; it is printed")
    options.add_argument("--key", default=os.environ.get("BACKEND_KEY", ""))
    options.add_argument("--data", default="/tmp/channel-backend")
    options = options.parse_args()
    KEY, SANDBOXES = options.key, Sandboxes(options.data)
    server = Server((options.host, options.port), Handler)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    threading.Thread(target=SANDBOXES.end_expired, daemon=True).start()
    print(f"http://{options.host}:{server.server_address[1]}", flush=True)
    server.serve_forever()
