"""What several tests use: the server of the tests, a server that can be killed, a hostile server."""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from typing import Callable, List, Optional

from isola import Isola

KEY = "isk_fedcba9876543210fedcba9876543210"


def client() -> Isola:
    return Isola()


def wait_until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("the condition was not met in time")
        time.sleep(0.02)


class OwnServer:
    """A server in a process of its own, on a fixed port, that can be killed and started again."""

    def __init__(self, *settings: str) -> None:
        self._command = os.environ["ISOLA_TEST_COMMAND"]
        self._settings = settings
        self._data = tempfile.mkdtemp(prefix="isola-python-")
        self._process: Optional["subprocess.Popen[bytes]"] = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = int(probe.getsockname()[1])
        self.url = f"http://127.0.0.1:{self._port}"

    def start(self) -> OwnServer:
        command = [self._command, "serve", "--data", self._data, "--port", str(self._port)]
        for setting in self._settings:
            command += ["--set", setting]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("ISOLA_")}
        with open(os.path.join(self._data, "log"), "ab") as log:
            self._process = subprocess.Popen(
                command, env=dict(environment, ISOLA_API_KEY=KEY), stdout=subprocess.PIPE, stderr=log
            )
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], 60)
        line = self._process.stdout.readline() if ready else b""
        if b"listening" not in line:
            self.kill()
            shutil.rmtree(self._data, ignore_errors=True)
            raise AssertionError(f"the server did not start: {line!r}")
        return self

    def kill(self) -> None:
        """Kills the server with SIGKILL."""
        assert self._process is not None and self._process.stdout is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(30)
        self._process.stdout.close()
        self._process = None

    def client(self, **options: float) -> Isola:
        return Isola(self.url, KEY, **options)  # type: ignore[arg-type]

    def close(self) -> None:
        if self._process is not None:
            with self.client() as isola:
                for info in isola.list():
                    isola.sandbox(info.id).destroy(force=True)
            self._process.terminate()
            self._process.wait(30)
            if self._process.stdout is not None:
                self._process.stdout.close()
        shutil.rmtree(self._data, ignore_errors=True)


class ScriptedServer:
    """A server that answers each connection with the next of the given functions, in a thread."""

    def __init__(self, *answers: Callable[[socket.socket], None]) -> None:
        self._answers = answers
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.1)
        self._closed = False
        self.requests: List[bytes] = []
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        for answer in self._answers:
            connection = self._accept()
            if connection is None:
                return
            with connection:
                connection.settimeout(10)
                self.requests.append(read_request(connection))
                try:
                    answer(connection)
                except OSError:
                    continue  # the client has closed the connection, as it should

    def _accept(self) -> Optional[socket.socket]:
        while not self._closed:
            try:
                return self._listener.accept()[0]
            except socket.timeout:
                continue
        return None

    def close(self) -> None:
        self._closed = True
        self._thread.join(15)
        self._listener.close()


def read_request(connection: socket.socket) -> bytes:
    """Reads the head and, as far as its length is given, the body of a request."""
    request = b""
    while b"\r\n\r\n" not in request:
        chunk = connection.recv(65536)
        if not chunk:
            return request
        request += chunk
    head, _, body = request.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            while len(body) < int(value):
                chunk = connection.recv(65536)
                if not chunk:
                    break
                body += chunk
    return head + b"\r\n\r\n" + body


def send(response: bytes) -> Callable[[socket.socket], None]:
    return lambda connection: connection.sendall(response)


def respond(status: int, body: bytes = b"{}", *headers: str) -> Callable[[socket.socket], None]:
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return send("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
