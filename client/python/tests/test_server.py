"""Snapshots, forks, ports, egress, secrets, events; a server that dies; a server that lies."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import unittest
from typing import Callable, List

import httpx
from isola import Data, Isola, Sandbox
from isola._options import MAX_RETRY_DELAY
from isola.errors import (
    CODES,
    Conflict,
    DeadlineExceeded,
    Internal,
    IsolaError,
    LimitExceeded,
    NotFound,
    OutcomeUnknown,
    ProviderUnavailable,
)

from isola.models import EgressRequest

from support import OwnServer, ScriptedServer, client, respond, send, wait_until


OTHER_PROVIDERS = (
    "bubblewrap crun runc gvisor proot docker podman docker-gvisor kata qemu firecracker worktree"
).split()


class StoresTest(unittest.TestCase):
    def test_snapshot_restore_diff_and_fork(self) -> None:
        with client() as isola, isola.create() as sandbox:
            sandbox.exec("echo original > state.txt")
            first = sandbox.snapshot(scope="folder", tags={"step": "1"})
            self.assertEqual({"step": "1"}, first.tags)
            forks = sandbox.fork(2)
            for fork in forks:
                with fork:
                    self.assertEqual("original\n", fork.exec("cat state.txt; echo new > state.txt").stdout)
            sandbox.exec("echo more > other.txt")
            second = sandbox.snapshot(scope="folder")
            self.assertTrue(any(name.endswith("other.txt") for name in isola.snapshots.diff(first.id, second.id).added))
            with isola.snapshots.restore(first.id) as restored:
                self.assertEqual("original\n", restored.exec("cat state.txt").stdout)
                self.assertIsNone(restored.files.find("other.txt"))
            self.assertLessEqual({first.id, second.id}, {one.id for one in isola.snapshots.list()})
            for one in (first, second):
                isola.snapshots.remove(one.id)
            with self.assertRaises(NotFound):
                isola.snapshots.get(first.id)

    def test_port_as_a_site(self) -> None:
        with Sandbox.create() as sandbox:
            sandbox.files.write("index.html", "<h1>hello</h1>")
            sandbox.start(["python3", "-m", "http.server", "8000"])
            wait_until(lambda: bool(sandbox.ports.get(8000).listening))
            preview = sandbox.ports.preview(8000, ttl=60)
            self.assertEqual("<h1>hello</h1>", httpx.get(preview.url("/"), headers=preview.headers).text)
            self.assertEqual(401, httpx.get(preview.url("/")).status_code)
            self.assertTrue(sandbox.ports.link(8000, 60, by_path=True).url.startswith("http"))
            self.assertTrue(sandbox.ports.set_public(8000, True).public)
            self.assertEqual([8000], [one.port for one in sandbox.ports.list()])

    def test_egress_and_secrets(self) -> None:
        with client() as isola:
            isola.secrets.put("python-secret", "value-of-the-secret-0123", hosts=["api.example.com"])
            try:
                settings: EgressRequest = {"rules": ["api.example.com"], "secrets": {"TOKEN": "python-secret"}}
                try:
                    sandbox = isola.create(network={"egress": settings})
                except IsolaError as e:
                    self.skipTest(f"no filtered network here: {e}")
                with sandbox:
                    self.assertNotIn("value-of-the-secret", sandbox.exec("echo $TOKEN").stdout)
                    denied = sandbox.exec("curl -s -o /dev/null -w '%{http_code}' http://example.org/")
                    self.assertEqual("403", denied.stdout)
                    report = sandbox.egress.report()
                    self.assertEqual("example.org", report.recent_denials[0].host)
                    self.assertEqual("deny", report.default)
                    allowed = sandbox.egress.allow("pypi.org", 443)
                    self.assertIn("pypi.org", [rule.allow for rule in allowed.rules])
                    replaced = sandbox.egress.replace({"rules": ["a.example"]}, close_existing=True)
                    self.assertEqual(["a.example"], [rule.allow for rule in replaced.rules])
                self.assertEqual(["api.example.com"], isola.secrets.get("python-secret").hosts)
                self.assertNotIn("value-of-the-secret", repr(isola.secrets.list()))
            finally:
                isola.secrets.remove("python-secret")

    def test_events_of_a_sandbox(self) -> None:
        with client() as isola, isola.create() as sandbox:
            with isola.events(sandboxes=[sandbox.id], types=["terminate"]) as events:
                sandbox.destroy()
                event = events.next()
            self.assertEqual(("terminate", sandbox.id), (event.type, event.sandbox))
            with isola.events(sandboxes=[sandbox.id], after=0) as past:
                self.assertEqual("spawn", past.next().type)

    def test_providers(self) -> None:
        with client() as isola:
            self.assertTrue([one.name for one in isola.providers()])


class ServerFailureTest(unittest.TestCase):
    """Against a server of its own, with capacity for two sandboxes."""

    server: OwnServer

    @classmethod
    def setUpClass(cls) -> None:
        if "ISOLA_TEST_COMMAND" not in os.environ:
            raise unittest.SkipTest("ISOLA_TEST_COMMAND is not set")
        cls.server = OwnServer(
            "floor=process",
            "provider=subprocess",
            "admission.memory_mb=2048",
            "admission.queue_timeout=0s",
            # Their health checks would delay the start and the end of the server.
            *(f"providers.{name}.enabled=false" for name in OTHER_PROVIDERS),
        )
        cls.server.start()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.server.close()

    def test_output_is_complete_after_the_server_was_killed(self) -> None:
        with self.server.client() as isola, isola.create() as sandbox:
            script = "i=1; while [ $i -le 60 ]; do echo line $i; i=$((i+1)); sleep 0.05; done"
            with sandbox.start(script) as execution:
                out = b""
                restart = threading.Thread(target=self.server.start)
                for piece in execution:
                    assert isinstance(piece, Data), piece
                    self.assertEqual(len(out), piece.offset)
                    out += piece.bytes
                    if out.count(b"\n") >= 10 and restart.ident is None:
                        self.server.kill()
                        restart.start()
                restart.join()
            self.assertEqual("".join(f"line {n}\n" for n in range(1, 61)), out.decode())
            assert execution.exit is not None
            self.assertEqual(0, execution.exit.shell_code)
            # Another client continues from the offset alone.
            with self.server.client() as other, other.sandbox(sandbox.id).execution(execution.id, len(out) - 8) as rest:
                self.assertEqual(b"line 60\n", b"".join(p.bytes for p in rest if isinstance(p, Data)))

    def test_terminal_and_events_continue_after_the_server_was_killed(self) -> None:
        with self.server.client() as isola, isola.create() as sandbox:
            with sandbox.terminal("echo ready; read x; echo got $x; read y; echo got $y") as terminal, isola.events(
                sandboxes=[sandbox.id], types=["terminate"]
            ) as events:
                screen = b""
                while b"ready" not in screen:
                    piece = terminal.read()
                    assert isinstance(piece, Data)
                    screen += piece.bytes
                self.server.kill()
                self.server.start()
                terminal.write("one\r")
                while b"got one" not in screen:
                    piece = terminal.read()
                    assert isinstance(piece, Data)
                    screen += piece.bytes
                terminal.write("two\r")
                for piece in terminal:
                    assert isinstance(piece, Data)
                    screen += piece.bytes
                self.assertEqual(1, screen.count(b"ready"))
                self.assertIn(b"got two", screen)
                sandbox.destroy()
                self.assertEqual("terminate", events.next().type)

    def test_exhausted_capacity_is_a_limit(self) -> None:
        with self.server.client() as isola, isola.create(), isola.create():
            started = time.monotonic()
            with self.assertRaises(LimitExceeded) as full:
                isola.create()
            error = full.exception
            self.assertEqual(("RESOURCE_LIMIT", "RESOURCE", 429), (error.code, error.category, error.status))
            self.assertTrue(error.is_retryable)
            self.assertLess(time.monotonic() - started, 5)


class HostileServerTest(unittest.TestCase):
    """Servers that fail or lie. Nothing is repeated that may have been executed, and nothing that they
    send is held without a bound."""

    def serve(self, *answers: Callable[[socket.socket], None]) -> ScriptedServer:
        server = ScriptedServer(*answers)
        self.addCleanup(server.close)
        return server

    def client(self, server: ScriptedServer, timeout: float = 5.0) -> Isola:
        isola = Isola(server.url, "isk_0000000000000000", timeout=timeout, reconnect_for=0.5)
        self.addCleanup(isola.close)
        return isola

    @staticmethod
    def problem(code: str, status: int, *headers: str) -> Callable[[socket.socket], None]:
        body = json.dumps({"code": code, "detail": "planted", "remedy": "none", "status": status})
        return respond(status, body.encode(), *headers)

    def test_create_is_repeated_with_the_same_key(self) -> None:
        server = self.serve(lambda connection: None, respond(201, b'{"id": "abc"}'))
        self.assertEqual("abc", self.client(server).create().detach().id)
        keys = [line for request in server.requests for line in request.split(b"\r\n") if b"dempotency" in line]
        self.assertEqual(2, len(keys))
        self.assertEqual(keys[0], keys[1])

    def test_lost_response_of_a_command_is_not_repeated(self) -> None:
        server = self.serve(lambda connection: None, respond(200, b"{}"))
        with self.assertRaises(OutcomeUnknown):
            self.client(server).sandbox("abc").exec("true")
        self.assertEqual(1, len(server.requests))

    def test_refused_request_is_repeated_after_the_time_that_the_server_names(self) -> None:
        server = self.serve(self.problem("RATE_LIMITED", 429, "Retry-After: 1"), respond(204, b""))
        started = time.monotonic()
        self.client(server).sandbox("abc").execution("1").signal("TERM")
        self.assertGreaterEqual(time.monotonic() - started, 1)
        self.assertEqual(2, len(server.requests))

    def test_long_retry_after_is_reported_instead(self) -> None:
        server = self.serve(self.problem("RATE_LIMITED", 429, f"Retry-After: {int(MAX_RETRY_DELAY) + 1}"))
        with self.assertRaises(LimitExceeded) as refused:
            self.client(server).list()
        self.assertEqual(MAX_RETRY_DELAY + 1, refused.exception.retry_after)
        self.assertEqual(1, len(server.requests))

    def test_reads_are_attempted_three_times(self) -> None:
        server = self.serve(*[self.problem("PROVIDER_UNAVAILABLE", 503)] * 4)
        with self.assertRaises(ProviderUnavailable):
            self.client(server).list()
        self.assertEqual(3, len(server.requests))

    def test_no_server(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with Isola(url, "isk_0000000000000000") as isola, self.assertRaises(ProviderUnavailable) as refused:
            isola.sandbox("abc").exec("true")
        self.assertEqual("SERVER_UNREACHABLE", refused.exception.code)

    def test_endless_json_is_refused(self) -> None:
        chunk = b" " * (1 << 20)

        def endless(connection: socket.socket) -> None:
            connection.sendall(b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\n\r\n")
            while True:
                connection.sendall(chunk)

        with self.assertRaises(Internal) as refused:
            self.client(self.serve(endless), timeout=30).list()
        self.assertIn("longer than", str(refused.exception))

    def test_endless_line_of_a_stream_is_refused(self) -> None:
        def endless(connection: socket.socket) -> None:
            connection.sendall(b"HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\n\r\ndata: ")
            while True:
                connection.sendall(b"x" * (1 << 20))

        server = self.serve(endless)
        with self.assertRaises(Internal) as refused:
            self.client(server).sandbox("abc").execution("1").read()
        self.assertIn("longer than", str(refused.exception))

    def test_endless_header_is_refused(self) -> None:
        def endless(connection: socket.socket) -> None:
            connection.sendall(b"HTTP/1.1 200 X\r\nX: ")
            while True:
                connection.sendall(b"x" * (1 << 20))

        with self.assertRaises(IsolaError):
            self.client(self.serve(*[endless] * 3)).list()

    def test_slow_response_ends_with_the_deadline(self) -> None:
        def slow(connection: socket.socket) -> None:
            connection.sendall(b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\n\r\n")
            for _ in range(100):
                connection.sendall(b" ")
                time.sleep(0.1)

        started = time.monotonic()
        with self.assertRaises(DeadlineExceeded):
            self.client(self.serve(slow), timeout=0.5).list()
        self.assertLess(time.monotonic() - started, 5)

    def test_responses_of_other_servers(self) -> None:
        answers = [respond(200, b"<html>"), respond(200, b"[1]"), respond(200, b'{"sandboxes": 7}')]
        answers += [respond(200, b"[" * 100_000), respond(302, b"", "Location: http://127.0.0.1:1/")]
        server = self.serve(*answers)
        isola = self.client(server)
        for number in range(len(answers)):
            with self.subTest(number), self.assertRaises(Internal):
                isola.list()

    def test_stream_that_ends_at_once_is_given_up(self) -> None:
        head = b"HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        server = self.serve(*[send(head)] * 20)
        with self.assertRaises(ProviderUnavailable):
            self.client(server).sandbox("abc").execution("1").read()
        self.assertGreater(len(server.requests), 2)

    def test_malformed_event_is_an_error(self) -> None:
        head = b"HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\n\r\n"
        for event in (b"data: nonsense", b"data: [1]", b'data: {"channel": 1}'):
            server = self.serve(send(head + b"event: output\n" + event + b"\n\n"))
            with self.subTest(event), self.assertRaises(Internal):
                self.client(server).sandbox("abc").execution("1").read()

    def test_unknown_code_of_a_newer_server(self) -> None:
        isola = self.client(self.serve(self.problem("NEW_CODE", 409)))
        with self.assertRaises(Conflict) as conflict:
            isola.list()
        self.assertEqual("NEW_CODE", conflict.exception.code)

    def test_events_that_repeat_and_overlap(self) -> None:
        def output(offset: int, text: str) -> bytes:
            data = {"channel": "stdout", "offset": offset, "encoding": "utf8", "data": text}
            return f"id: {offset + len(text)}\nevent: output\ndata: {json.dumps(data)}\n\n".encode()

        head = b"HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        end = b'event: exit\ndata: {"kind": "exited", "code": 0}\n\n'
        parts = [
            head + output(0, "abc") + b": comment\n\nevent: new\ndata: {}\n\n" + output(3, "de")[:-9],
            head + output(1, "bcd") + b"event: output\ndata: {",
            head + output(4, "ef") + end,
        ]
        server = self.serve(*[send(part) for part in parts])
        execution = self.client(server).sandbox("abc").execution("1")
        pieces: List[Data] = [piece for piece in execution if isinstance(piece, Data)]
        self.assertEqual(b"abcdef", b"".join(piece.bytes for piece in pieces))
        self.assertIn(b"offset=3", server.requests[1])
        self.assertIn(b"offset=4", server.requests[2])


class ErrorsTest(unittest.TestCase):
    def test_codes_are_those_of_the_contract(self) -> None:
        codes = os.environ.get("ISOLA_TEST_CODES")
        if not codes:
            self.skipTest("ISOLA_TEST_CODES is not set")
        self.assertEqual(set(codes.split(",")), set(CODES) - {"SERVER_UNREACHABLE"})
