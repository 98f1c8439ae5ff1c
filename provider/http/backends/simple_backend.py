#!/usr/bin/env python3
"""A backend of Isola at level simple: docs/backend-protocol.yaml, docs/write-a-backend.md.

A sandbox is a folder. Each command runs in bubblewrap with that folder as its workspace, and every
process that it starts ends with it. Needs Linux, Python 3.9, bwrap. Copy it and change run().
"""
import argparse, base64, datetime, hmac, json, os, re, selectors, shutil, signal, subprocess
import tempfile, threading, time, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

MAX_BODY = 1 << 30
INFO = {
    "protocol": 1, "name": "simple-backend", "level": "simple",
    "summary": "each command in bubblewrap, in a folder per sandbox",
    "isolation": "process",  # it has namespaces, but this script promises nothing
    "capabilities": ["renewing"], "networkModes": ["host"], "limits": ["timeout"],
    "startupMs": 50,
}
READ = """
[ -e "$1" ] || exit 40; [ ! -d "$1" ] || exit 42; [ -r "$1" ] || exit 43
tail -c +"$2" -- "$1" | head -c "$3"
"""
WRITE = """
[ ! -d "$1" ] || exit 42; [ ! -e "$1" ] || [ -f "$1" ] || exit 46
file=$(readlink -m -- "$1") && mkdir -p -- "${file%/*}/" || exit 45
if [ "$2" = append ]; then cat >>"$file" || exit 45
elif [ "$2" = new ] && { [ -e "$1" ] || [ -L "$1" ]; }; then exit 41
else
  part=$(mktemp -- "${file%/*}/.part.XXXXXX") || exit 45
  mode=$(stat -c %a -- "$file" 2>/dev/null || echo 644)
  cat >"$part" && chmod "$mode" -- "$part" && mv -fT -- "$part" "$file" ||
    { rm -f -- "$part"; exit 45; }
fi
[ -z "$3" ] || chmod "$3" -- "$file" || exit 45
"""
LIST = """
[ -e "$1" ] || exit 40; [ -d "$1" ] || exit 44; [ -r "$1" ] || exit 43
find "$1/" -mindepth 1 -maxdepth 1 -printf '%y %s %f\\0'
"""
SCRIPT_ERRORS = {40: "FILE_NOT_FOUND", 41: "FILE_EXISTS", 42: "IS_A_FOLDER",
                 43: "PERMISSION_DENIED", 44: "NOT_A_FOLDER", 46: "NOT_A_FILE"}
STATUS = {"SANDBOX_NOT_FOUND": 404, "FILE_NOT_FOUND": 404, "FILE_EXISTS": 409,
          "UNAUTHENTICATED": 401, "NOT_IMPLEMENTED": 501, "PROVIDER_UNAVAILABLE": 503}


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


class Sandbox:
    def __init__(self, folder, record):
        self.folder, self.record = folder, record
        self.running = set()
        self.destroyed = False

    def describe(self):
        return {name: self.record[name]
                for name in ("id", "instance", "sandbox", "note", "createdAt", "state")}

    def save(self):
        """The record has the secret variables, so that only this user can read it."""
        draft = os.path.join(self.folder, "record.new")
        with open(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            json.dump(self.record, file)
        os.rename(draft, os.path.join(self.folder, "record"))

    def run(self, argv, env=None, cwd=None, stdin=b"", timeout=60, limit=1 << 20, client=None):
        """Runs a command. Ends it at its timeout, and when the client closes its connection."""
        spec = self.record["spec"]
        mount = spec.get("workspaceMount", "/workspace")
        status, status_end = os.pipe()
        variables = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LANG": "C.UTF-8",
                     "HOME": mount, **spec.get("env", {}), **spec.get("secretEnv", {}),
                     **(env or {})}
        line = [BWRAP, *root_folders(), "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/run",
                "--bind", self.folder + "/tmp", "/tmp", "--bind", self.folder + "/workspace",
                mount, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--die-with-parent",
                "--new-session", "--chdir", cwd or mount, "--json-status-fd", str(status_end),
                "--", *argv]
        started = time.monotonic()
        with tempfile.TemporaryFile() as file:
            file.write(stdin)
            file.seek(0)
            try:
                process = subprocess.Popen(line, env=variables, stdin=file, pass_fds=[status_end],
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            except OSError as e:
                os.close(status)
                raise Problem("INVALID_REQUEST", f"the command cannot be run: {e.strerror}")
            finally:
                os.close(status_end)
        with process, open(status) as report:
            self.running.add(process)
            try:
                if self.destroyed:
                    process.kill()
                outputs, timed_out = collect(process, started + timeout, limit, client)
                process.wait()
            finally:
                process.kill()
                self.running.discard(process)
            text = report.read()
        if self.destroyed:
            raise Problem("SANDBOX_NOT_FOUND", "the sandbox was destroyed")
        duration = int((time.monotonic() - started) * 1000)
        if not timed_out and '"exit-code"' not in text and process.returncode == 1:
            raise not_started(outputs[1][0].decode(errors="replace"))
        return Result(process.returncode, timed_out, outputs, duration)

    def script(self, script, *args, stdin=b"", limit=1 << 20):
        """Runs a script of this file, whose exit code tells what failed."""
        result = self.run(["sh", "-c", script, "sh", *args], cwd="/", stdin=stdin, limit=limit)
        if result.code != 0:
            said = result.outputs[1][0].decode(errors="replace").strip()[:300]
            code = SCRIPT_ERRORS.get(result.code)
            for word, known in (("Permission denied", "PERMISSION_DENIED"),
                                ("Read-only", "PERMISSION_DENIED"), ("No space", "DISK_FULL"),
                                ("Not a directory", "NOT_A_FOLDER"),
                                ("File exists", "NOT_A_FOLDER")):
                code = code or (known if word in said else None)
            raise Problem(code or "INVALID_REQUEST", f"{args[0]}: {said or code}")
        return bytes(result.outputs[0][0])

    def kill(self):
        for process in list(self.running):
            process.kill()


class Result:
    def __init__(self, code, timed_out, outputs, duration):
        self.code, self.outputs = code, outputs
        (stdout, out_dropped), (stderr, err_dropped) = outputs
        self.document = {"stdout": base64.b64encode(stdout).decode(),
                         "stderr": base64.b64encode(stderr).decode(),
                         "stdoutDropped": out_dropped, "stderrDropped": err_dropped,
                         "durationMs": duration}
        if timed_out:
            self.document["timedOut"] = True
        elif code < 0 or 128 < code <= 192:
            self.document["signal"] = -code if code < 0 else code - 128
        else:
            self.document["exitCode"] = code


def collect(process, end, limit, client):
    """Reads both outputs until they end. Kills the command at its deadline or with its client."""
    outputs, timed_out = [[bytearray(), 0], [bytearray(), 0]], False
    with selectors.DefaultSelector() as wait:
        wait.register(process.stdout, selectors.EVENT_READ, outputs[0])
        wait.register(process.stderr, selectors.EVENT_READ, outputs[1])
        if client:
            wait.register(client, selectors.EVENT_READ)
        open_outputs = 2
        while open_outputs:
            ready = wait.select(None if timed_out else max(0, end - time.monotonic()))
            if not ready and not timed_out:
                timed_out = True
                process.kill()
            for key, _ in ready:
                if key.data is None:  # the client sends nothing now, so that this is its end
                    wait.unregister(client)
                    process.kill()
                    continue
                data = os.read(key.fd, 65536)
                if not data:
                    wait.unregister(key.fileobj)
                    open_outputs -= 1
                kept = data[:max(0, limit - len(key.data[0]))]
                key.data[0] += kept
                key.data[1] += len(data) - len(kept)
    return outputs, timed_out


def not_started(said):
    """bwrap reports no exit code of a program that it could not start."""
    match = re.search(r"bwrap: (execvp|Can't chdir to) ?.*: (.*)", said)
    if not match:
        return Problem("PROVIDER_UNAVAILABLE", "bwrap: " + said[:300])
    program, missing = match[1] == "execvp", "No such file" in match[2]
    code = (("COMMAND_NOT_FOUND" if missing else "COMMAND_NOT_EXECUTABLE") if program
            else "INVALID_REQUEST")
    return Problem(code, match[0][7:300])


class Sandboxes:
    """The sandboxes in the data folder. Each has a folder with its record, also after a restart."""

    def __init__(self, data):
        self.data, self.lock, self.all = data, threading.Lock(), {}
        os.makedirs(data, mode=0o700, exist_ok=True)
        for name in os.listdir(data):
            folder = os.path.join(data, name)
            try:
                with open(folder + "/record") as file:
                    self.all[name] = Sandbox(folder, json.load(file))
            except (OSError, ValueError):
                remove(folder)  # of a create or a destroy that was interrupted

    def find(self, name):
        sandbox = self.all.get(name)
        if not sandbox:
            raise Problem("SANDBOX_NOT_FOUND", f"there is no sandbox {name}")
        return sandbox

    def create(self, name, request):
        with self.lock:
            if name in self.all:
                return 200, self.all[name]
            folder = os.path.join(self.data, name)
            for part in ("workspace", "tmp"):
                os.makedirs(os.path.join(folder, part))
            now = datetime.datetime.now(datetime.timezone.utc)
            record = {"id": name, "instance": request["instance"], "sandbox": request["sandbox"],
                      "note": request.get("note", ""), "spec": request["spec"], "state": "running",
                      "createdAt": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "deadline": None}
            if request.get("ttlMs"):
                record["deadline"] = time.time() + request["ttlMs"] / 1000
            sandbox = Sandbox(folder, record)
            spec = record["spec"]
            sandbox.script('mkdir -p -- "$1"', spec.get("cwd") or "/tmp")
            sandbox.save()
            self.all[name] = sandbox
            return 201, sandbox

    def destroy(self, name):
        with self.lock:
            sandbox = self.all.pop(name, None)
            if sandbox:
                sandbox.destroyed = True
                sandbox.kill()
                trash = os.path.join(self.data, "removed-" + uuid.uuid4().hex)
                os.rename(sandbox.folder, trash)
        if sandbox:
            remove(trash)

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
        data = body if isinstance(body, (bytes, bytearray)) else json.dumps(body).encode()
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Type", type)
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if status != 204:
            self.wfile.write(data)

    def log_message(self, *args):
        pass

    def info(self):
        health = {"status": "healthy"} if BWRAP else {
            "status": "unhealthy", "reason": "bwrap is not installed",
            "fix": "apt-get install bubblewrap"}
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

    def exec(self, name):
        request = json.loads(self.body)
        result = SANDBOXES.find(name).run(
            request["argv"], request.get("env"), request.get("cwd"),
            base64.b64decode(request.get("input", "")), request.get("timeoutMs", 60000) / 1000,
            request.get("outputLimit", 1 << 20), self.connection)
        self.answer(200, result.document)

    def read_file(self, name):
        length = int(self.query.get("length", 64 << 20))
        offset = int(self.query.get("offset", 0))
        content = SANDBOXES.find(name).script(
            READ, self.query["path"], str(offset + 1), str(length), limit=length)
        self.answer(200, content, "application/octet-stream")

    def write_file(self, name):
        SANDBOXES.find(name).script(WRITE, self.query["path"], self.query.get("how", "replace"),
                                    self.query.get("mode", ""), stdin=self.body)
        self.answer(204)

    def list_files(self, name):
        listing = SANDBOXES.find(name).script(LIST, self.query["path"], limit=32 << 20)
        types = {"f": "file", "d": "folder", "l": "link"}
        entries = []
        for line in listing.decode(errors="replace").split("\0")[:-1]:
            kind, size, name = line.split(" ", 2)
            entries.append({"name": name, "type": types.get(kind, "other"), "size": int(size)})
        self.answer(200, {"entries": entries})


BOX = "/v1/sandboxes/([0-9a-z]{1,32})"
ROUTES = [
    ("GET", "/v1/info", Handler.info), ("GET", "/v1/sandboxes", Handler.inventory),
    ("PUT", BOX, Handler.create), ("GET", BOX, Handler.get), ("DELETE", BOX, Handler.destroy),
    ("POST", BOX + "/renew", Handler.renew), ("POST", BOX + "/exec", Handler.exec),
    ("GET", BOX + "/files", Handler.read_file), ("PUT", BOX + "/files", Handler.write_file),
    ("GET", BOX + "/list", Handler.list_files),
]


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def stop(*_):
    """Ends all commands; the sandboxes are found again at the next start."""
    for sandbox in list(SANDBOXES.all.values()):
        sandbox.kill()
    os._exit(0)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--host", default="127.0.0.1")
    options.add_argument("--port", type=int, default=8900, help="0 for any; it is printed")
    options.add_argument("--key", default=os.environ.get("BACKEND_KEY", ""))
    options.add_argument("--data", default="/tmp/simple-backend")
    options = options.parse_args()
    KEY, BWRAP, SANDBOXES = options.key, shutil.which("bwrap"), Sandboxes(options.data)
    server = Server((options.host, options.port), Handler)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    threading.Thread(target=SANDBOXES.end_expired, daemon=True).start()
    print(f"http://{options.host}:{server.server_address[1]}", flush=True)
    server.serve_forever()
