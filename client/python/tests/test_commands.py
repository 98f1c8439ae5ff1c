"""Sandboxes and their commands."""

from __future__ import annotations

import io
import unittest
from typing import List

from isola import Data, Isola, Sandbox
from isola.errors import Conflict, InvalidRequest, NotFound, Unauthenticated

from support import client


class SandboxTest(unittest.TestCase):
    def test_context_manager_creates_and_destroys(self) -> None:
        with Sandbox.create(tags={"python": "context"}, ttl=600, env={"A": "b c"}) as sandbox:
            info = sandbox.info()
            self.assertEqual("running", info.state)
            self.assertEqual({"python": "context"}, info.tags)
            self.assertEqual("b c\n", sandbox.exec("echo $A").stdout)
        with client() as isola:
            self.assertEqual([], isola.list(tags={"python": "context"}))
            self.assertEqual("destroyed", isola.sandbox(sandbox.id).info().state)

    def test_failed_block_destroys_the_sandbox(self) -> None:
        with self.assertRaises(KeyError), Sandbox.create() as sandbox:
            raise KeyError("planted")
        with client() as isola:
            self.assertNotIn(sandbox.id, [info.id for info in isola.list()])

    def test_detached_sandbox_stays_and_is_attached_by_id_and_name(self) -> None:
        with client() as isola:
            with isola.create(name="python-detached", seed_files={"a.txt": "text", "b": b"\xff"}) as first:
                first.detach()
            with Sandbox.attach_to(first.id) as second:
                self.assertEqual("text", second.files.read_text("a.txt"))
                self.assertEqual(b"\xff", second.files.read("b"))
            self.assertEqual(first.id, isola.resolve("python-detached").id)
            self.assertEqual(first.id, isola.resolve(first.id[:6]).id)
            with self.assertRaises(Conflict) as conflict:
                isola.create(name="python-detached")
            self.assertEqual("CONFLICT", conflict.exception.code)
            isola.sandbox(first.id).destroy()
            isola.sandbox(first.id).destroy()  # idempotent
            with self.assertRaises(NotFound):
                isola.resolve("python-detached")

    def test_pause_resume_renew_status_and_wait(self) -> None:
        with Sandbox.create() as sandbox:
            try:
                self.assertEqual("paused", sandbox.pause().state)
            except Exception as e:  # the provider says so itself
                self.assertEqual("NOT_IMPLEMENTED", getattr(e, "code", ""))
            else:
                self.assertEqual("running", sandbox.resume().state)
            self.assertIsNotNone(sandbox.renew(3600).expires_at)
            self.assertEqual("running", sandbox.wait_for_state("running", timeout=10).state)
            self.assertEqual("running", sandbox.status().state)
            with self.assertRaises(Exception) as refused:
                sandbox.wait_for_state("paused", timeout=0.2)
            self.assertIn(getattr(refused.exception, "code", ""), ("DEADLINE_EXCEEDED", "ILLEGAL_STATE"))

    def test_errors_have_code_category_remedy_and_sandbox(self) -> None:
        with Sandbox.create() as sandbox:
            with self.assertRaises(NotFound) as missing:
                sandbox.files.stat("missing")
            error = missing.exception
            self.assertEqual(("FILE_NOT_FOUND", "CALLER", 404), (error.code, error.category, error.status))
            self.assertEqual(sandbox.id, error.sandbox)
            self.assertTrue(error.remedy and error.request_id)
            self.assertIsNotNone(error.timestamp)
            self.assertFalse(error.is_retryable)
        with Isola(api_key="isk_ffffffffffffffffffffffffffffffff") as stranger:
            with self.assertRaises(Unauthenticated):
                stranger.list()
        with self.assertRaises(InvalidRequest):
            Isola("ftp://127.0.0.1")
        with self.assertRaises(InvalidRequest):
            Isola(api_key="a key")

    def test_ids_cannot_change_the_path(self) -> None:
        with client() as isola, self.assertRaises((InvalidRequest, NotFound)):
            isola.sandbox("../keys").info()

    def test_key_is_not_in_the_representation(self) -> None:
        with client() as isola, isola.create() as sandbox:
            token = sandbox.token("use", 60)
            self.assertNotIn(token.token, repr(token))
            self.assertNotIn("isk_", repr(isola._transport.options))


class ExecTest(unittest.TestCase):
    sandbox: Sandbox

    @classmethod
    def setUpClass(cls) -> None:
        cls.sandbox = Sandbox.create()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.sandbox.close()

    def test_result_of_a_command(self) -> None:
        result = self.sandbox.exec("echo out $A; echo err >&2; exit 3", env={"A": "b c"})
        self.assertEqual(("out b c\n", "err\n", 3), (result.stdout, result.stderr, result.exit_code))
        self.assertEqual("a b|$HOME|", self.sandbox.exec(["printf", "%s|", "a b", "$HOME"]).stdout)
        self.assertEqual("$(id) x\n", self.sandbox.exec("echo", "$(id)", "x").stdout)
        self.assertEqual("input", self.sandbox.exec(["cat"], stdin=b"input").stdout)
        self.assertEqual("/tmp\n", self.sandbox.exec("pwd", cwd="/tmp").stdout)

    def test_timeout_and_signal_are_results(self) -> None:
        late = self.sandbox.exec("sleep 60", timeout=0.2)
        self.assertTrue(late.timed_out)
        self.assertEqual(124, late.exit.shell_code)
        killed = self.sandbox.exec("kill -9 $$")
        self.assertEqual(("signaled", 137), (killed.exit.kind, killed.exit.shell_code))

    def test_missing_program_is_an_error(self) -> None:
        with self.assertRaises(InvalidRequest) as missing:
            self.sandbox.exec(["no-such-program"])
        self.assertEqual("COMMAND_NOT_FOUND", missing.exception.code)

    def test_output_is_streamed_in_order(self) -> None:
        with self.sandbox.start("seq 1 20000; echo err >&2") as execution:
            pieces = [piece for piece in execution if isinstance(piece, Data)]
        out = b"".join(piece.bytes for piece in pieces if piece.channel == "stdout")
        self.assertEqual([str(n) for n in range(1, 20001)], out.decode().split())
        self.assertEqual("err\n", "".join(piece.text for piece in pieces if piece.channel == "stderr"))
        self.assertEqual([piece.end for piece in pieces[:-1]], [piece.offset for piece in pieces[1:]])
        assert execution.exit is not None
        self.assertEqual(0, execution.exit.shell_code)

    def test_callbacks_get_whole_characters(self) -> None:
        texts: List[str] = []
        with self.sandbox.start("printf '\\303'; sleep 0.2; printf '\\274!'") as execution:
            execution.wait(on_stdout=texts.append)
        self.assertEqual("ü!", "".join(texts))
        self.assertNotIn("\ufffd", "".join(texts))

    def test_execution_continues_at_an_offset(self) -> None:
        with self.sandbox.start("printf 0123456789", tag="mine") as execution:
            execution.wait()
        with self.sandbox.execution(execution.id, 4) as again:
            self.assertEqual(b"456789", b"".join(p.bytes for p in again if isinstance(p, Data)))
        info = [one for one in self.sandbox.executions() if one.id == execution.id][0]
        self.assertEqual(("mine", False, 10), (info.tag, info.running, info.end_offset))

    def test_input_of_any_bytes(self) -> None:
        with self.sandbox.start(["cat"], stdin=True) as execution:
            execution.write_stdin("one\n")
            execution.write_stdin(b"\xff\x00\n")
            execution.close_stdin()
            out, err = io.BytesIO(), io.BytesIO()
            self.assertEqual(0, execution.copy_to(out, err).shell_code)
        self.assertEqual(b"one\n\xff\x00\n", out.getvalue())

    def test_signals(self) -> None:
        with self.sandbox.start(["sleep", "300"]) as execution:
            execution.signal("TERM")
            self.assertEqual("SIGTERM", execution.wait().signal)
        with self.sandbox.start("sleep 300 & wait") as execution:
            execution.kill()
            self.assertEqual(137, execution.wait().shell_code)

    def test_terminal_types_resizes_and_is_attached_again(self) -> None:
        screen = b""
        with self.sandbox.terminal("stty size; read x; stty size; read y; echo got $y; exit 5", rows=33, cols=99) as first:
            while b"33 99" not in screen:
                piece = first.read()
                assert isinstance(piece, Data)
                screen += piece.bytes
            first.resize(40, 120)
            first.write("a\r")
            while b"40 120" not in screen:
                piece = first.read()
                assert isinstance(piece, Data)
                screen += piece.bytes
        with self.sandbox.attach(first.id, first.offset) as second:
            second.write(b"b\r")
            rest = b"".join(piece.bytes for piece in second if isinstance(piece, Data))
            assert second.exit is not None
            self.assertEqual(5, second.exit.shell_code)
        self.assertIn(b"got b", rest)
        self.assertNotIn(b"40 120", rest)

    def test_terminal_of_an_unknown_execution_is_an_error(self) -> None:
        with self.sandbox.attach("99999") as terminal, self.assertRaises(NotFound) as missing:
            terminal.read()
        self.assertEqual("EXECUTION_NOT_FOUND", missing.exception.code)
