"""The asynchronous client: it is the source of the other one, so the tests are about what differs."""

from __future__ import annotations

import asyncio
import tempfile
import time
import unittest
from pathlib import Path

from isola import AsyncIsola, AsyncSandbox, Data
from isola.errors import NotFound


class AsyncTest(unittest.IsolatedAsyncioTestCase):
    async def test_sandbox_command_and_files(self) -> None:
        async with await AsyncSandbox.create(tags={"python": "async"}) as sandbox:
            self.assertEqual("42\n", (await sandbox.exec("echo $((6 * 7))")).stdout)
            await sandbox.files.write("d/a", "text")
            self.assertEqual("text", await sandbox.files.read_text("d/a"))
            with tempfile.TemporaryDirectory() as folder:
                await sandbox.files.download("d", folder)
                self.assertEqual("text", Path(folder, "a").read_text())
                await sandbox.files.upload(folder, "copy")
            self.assertEqual(["a"], [one.name for one in await sandbox.files.list("copy")])
            with self.assertRaises(NotFound):
                await sandbox.files.stat("missing")
        async with AsyncIsola() as isola:
            self.assertEqual([], await isola.list(tags={"python": "async"}))

    async def test_commands_run_at_the_same_time(self) -> None:
        async with AsyncIsola() as isola, await isola.create() as sandbox:
            started = time.monotonic()
            results = await asyncio.gather(*(sandbox.exec(f"sleep 1; echo {n}") for n in range(10)))
            self.assertLess(time.monotonic() - started, 5)
            self.assertEqual([f"{n}\n" for n in range(10)], [one.stdout for one in results])

    async def test_cancelled_read_loses_nothing(self) -> None:
        async with await AsyncSandbox.create() as sandbox:
            async with await sandbox.start("for i in 1 2 3 4; do sleep 0.3; echo $i; done") as execution:
                out = b""
                cancelled = 0
                while execution.exit is None:
                    try:
                        piece = await asyncio.wait_for(execution.read(), 0.1)
                    except asyncio.TimeoutError:
                        cancelled += 1
                        continue
                    out += piece.bytes if isinstance(piece, Data) else b""
                self.assertEqual(b"1\n2\n3\n4\n", out)
                self.assertGreater(cancelled, 3)

    async def test_cancelled_command_is_killed(self) -> None:
        async with await AsyncSandbox.create() as sandbox:
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(sandbox.exec("sleep 300; echo late > late"), 0.5)
            for _ in range(100):
                if not any(one.running for one in await sandbox.executions()):
                    return
                await asyncio.sleep(0.1)
            self.fail("the command still runs")

    async def test_streams_watch_and_terminal(self) -> None:
        async with await AsyncSandbox.create() as sandbox:
            await sandbox.files.make_folder("w")
            async with await sandbox.watch("w") as watch:
                await sandbox.exec("echo a > w/new")
                async for change in watch:
                    self.assertTrue(change.path.endswith("w/new"))
                    break
            async with await sandbox.terminal("read x; echo got $x") as terminal:
                await terminal.write("y\r")
                screen = b"".join([piece.bytes async for piece in terminal if isinstance(piece, Data)])
            self.assertIn(b"got y", screen)
            chunks = [chunk async for chunk in sandbox.files.stream("w/new")]
            self.assertEqual(b"a\n", b"".join(chunks))
