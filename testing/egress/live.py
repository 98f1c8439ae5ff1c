"""A live server, its sandboxes, and the log of the test internet."""

import base64
import http.client
import json
import os
import signal
import subprocess
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
ISOLA = os.environ.get("ISOLA", os.path.join(HERE, "..", "..", "isola"))
INTERNET = os.environ.get("ISOLA_INTERNET", "")
KEY = "isk_0123456789abcdef0123456789abcdef"
with open(os.path.join(HERE, "probe.py"), "rb") as _f:
    PROBE = _f.read()


class Failure(Exception):
    """A request to the server failed."""

    def __init__(self, status, text):
        super().__init__("%d %s" % (status, text[:400]))
        self.status, self.text = status, text


def wait_until(condition, seconds, what):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.03)
    raise AssertionError("not within %s s: %s" % (seconds, what))


class Internet:
    """The lines of the log that were written since the last mark."""

    def __init__(self, path=os.path.join(INTERNET, "log.jsonl")):
        self.path = path
        self.at = 0

    def mark(self):
        self.at = os.path.getsize(self.path)

    def since(self, kind=None):
        with open(self.path, "rb") as f:
            f.seek(self.at)
            lines = [json.loads(line) for line in f.read().splitlines()]
        return [one for one in lines if kind is None or one["kind"] == kind]

    def names(self):
        return [one["name"] for one in self.since("dns")]

    def reached(self, address=None, port=None):
        return [
            one for one in self.since("tcp")
            if (address is None or one["address"] == address) and (port is None or one["port"] == port)
        ]


class Server:
    def __init__(self, data, port, provider, settings=(), user=None):
        self.data, self.port, self.provider, self.user = data, port, provider, user
        self.settings = ["provider=" + provider, "server.auth.failures=0", *settings]
        self.process = None
        self.configuration = None
        self.log = data + ".log"

    def configure(self, configuration):
        """Adds settings that are no single values; JSON is YAML."""
        self.configuration = self.data + ".yaml"
        with open(self.configuration, "w") as f:
            json.dump(configuration, f)

    def start(self):
        command = [ISOLA, "serve", "--data", self.data, "--port", str(self.port)]
        if self.configuration:
            command += ["--config", self.configuration]
        for setting in self.settings:
            command += ["--set", setting]
        if self.user:
            os.makedirs(self.data, mode=0o700, exist_ok=True)
            os.chown(self.data, self.user, self.user)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*self.as_user(), *command], stdout=log, stderr=log, env=self.environment(), start_new_session=True
            )
        return self

    def await_ready(self):
        wait_until(self.ready, 90, "the server is ready; its log is " + self.log)
        return self

    def ready(self):
        if self.process.poll() is not None:
            with open(self.log) as f:
                raise AssertionError("the server ended: " + f.read()[-2000:])
        try:
            return self.request("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def kill(self):
        """Kills the server at once; its sandboxes stay."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """Destroys all sandboxes, those of the warm pool included, and stops the server."""
        if self.process is None or self.process.poll() is not None:
            return
        self.destroy_all()
        self.process.terminate()
        self.process.wait(60)
        subprocess.run(
            [*self.as_user(), ISOLA, "purge", "--yes", "--data", self.data], check=True, env=self.environment(),
            stdout=subprocess.DEVNULL, timeout=120,
        )

    def as_user(self):
        return ["setpriv", "--reuid=%d" % self.user, "--regid=%d" % self.user, "--clear-groups"] if self.user else []

    def environment(self):
        environment = {**os.environ, "ISOLA_API_KEY": KEY}
        if self.user:
            environment["HOME"] = self.data
            environment.pop("XDG_RUNTIME_DIR", None)
        return environment

    def request(self, method, path, body=None, key=KEY, raw=False):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=200)
        try:
            data = body if raw or body is None else json.dumps(body)
            kind = "application/octet-stream" if raw else "application/json"
            connection.request(method, path, data, {"Authorization": "Bearer " + key, "Content-Type": kind})
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def call(self, method, path, body=None, **more):
        status, text = self.request(method, path, body, **more)
        if status >= 300:
            raise Failure(status, text)
        return json.loads(text) if text else {}

    def create(self, rules=(), mode="filtered", **more):
        network = {"mode": mode}
        if mode == "filtered":
            network["egress"] = {"rules": list(rules), **more.pop("egress", {})}
        return Sandbox(self, self.call("POST", "/api/v1/sandboxes", {"network": network, **more})["id"])

    def memory(self):
        """Returns the resident memory of the server in MiB."""
        with open("/proc/%d/status" % self.process.pid) as f:
            return next(int(l.split()[1]) for l in f if l.startswith("VmRSS")) // 1024

    def destroy_all(self):
        for one in self.call("GET", "/api/v1/sandboxes")["sandboxes"]:
            self.request("DELETE", "/api/v1/sandboxes/%s?force=true" % one["id"])


class Sandbox:
    def __init__(self, server, name):
        self.server, self.id, self.path = server, name, "/api/v1/sandboxes/" + name
        self.write("/workspace/probe.py", PROBE)

    def write(self, path, content):
        self.server.call(
            "PUT", self.path + "/files/content?path=" + urllib.parse.quote(path, safe=""), content, raw=True
        )

    def exec(self, command, timeout=100, **more):
        """Runs a shell command; returns the exit code, the output and the error output."""
        done = self.server.call(
            "POST", self.path + "/exec", {"command": command, "timeoutMs": timeout * 1000, **more}
        )
        return done.get("exitCode", -1), done["stdout"], done["stderr"]

    def run(self, code, timeout=100):
        """Runs Python with the functions of probe.py; returns what it put into `result`."""
        program = base64.b64encode(code.encode()).decode()
        status, out, err = self.exec("python3 /workspace/probe.py " + program, timeout)
        for line in out.splitlines():
            if line.startswith("RESULT "):
                return json.loads(line[len("RESULT "):])
        raise AssertionError("the probe failed with %d: %s %s" % (status, out[-500:], err[-1500:]))

    def value(self, expression, timeout=100):
        return self.run("result['value'] = " + expression, timeout)["value"]

    def start(self, command):
        return self.server.call("POST", self.path + "/executions", {"command": command})["id"]

    def rules(self, *rules, close=False, **more):
        return self.server.call(
            "PUT", self.path + "/egress" + ("?closeExisting=true" if close else ""), {"rules": list(rules), **more}
        )

    def report(self):
        return self.server.call("GET", self.path + "/egress")

    def denial(self, host=None, port=None):
        """Returns the latest denial of a host."""
        for one in self.report()["recentDenials"]:
            if (host is None or one["host"] == host) and (port is None or one["port"] == port):
                return one
        return None

    def destroy(self):
        self.server.request("DELETE", self.path + "?force=true")


def allow(destination, *ports, **more):
    rule = {"allow": destination, **more}
    if ports:
        rule["ports"] = list(ports)
    return rule


def deny(destination, *ports):
    rule = {"deny": destination}
    if ports:
        rule["ports"] = list(ports)
    return rule
