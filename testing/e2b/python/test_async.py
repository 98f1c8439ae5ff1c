import asyncio
import unittest

from e2b import AsyncSandbox, CommandExitException, FilesystemEventType, PtySize, TimeoutException


async def until(holds, what, timeout=10):
    try:
        async with asyncio.timeout(timeout):
            while not holds():
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(f"not within {timeout} s: {what}") from None


class AsyncTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.sandbox = await AsyncSandbox.create(timeout=120)
        self.addAsyncCleanup(self.end)

    async def end(self):
        await self.sandbox.kill()

    async def test_many_commands_at_once(self):
        run = self.sandbox.commands.run
        all = await asyncio.gather(*(run(f"sleep 0.1; echo {number}") for number in range(20)))
        self.assertEqual([one.stdout for one in all], [f"{number}\n" for number in range(20)])

    async def test_a_command_in_the_background_with_input(self):
        seen = []
        cat = await self.sandbox.commands.run(
            "cat; exit 4", background=True, stdin=True, on_stdout=seen.append
        )
        again = await self.sandbox.commands.connect(cat.pid)
        await cat.send_stdin("one\n")
        await until(lambda: seen == ["one\n"], "what was sent")

        async with self.sandbox.commands.stream_input(cat.pid) as more:
            await more.send("two\n")
            await until(lambda: "".join(seen) == "one\ntwo\n", "what was sent while it is open")
            await more.send("three\n")
        await cat.close_stdin()
        for handle in (cat, again):
            with self.assertRaises(CommandExitException) as caught:
                await handle.wait()
            self.assertEqual(
                (caught.exception.exit_code, caught.exception.stdout), (4, "one\ntwo\nthree\n")
            )

    async def test_a_watch_reports_events(self):
        await self.sandbox.files.make_dir("seen")
        events, ends = [], []
        handle = await self.sandbox.files.watch_dir(
            "seen", on_event=events.append, on_exit=ends.append
        )
        await self.sandbox.files.write("seen/new.txt", "one")
        create = lambda one: (one.name, one.type) == ("new.txt", FilesystemEventType.CREATE)
        await until(lambda: any(map(create, events)), "the new file")
        await handle.stop()
        self.assertEqual(ends, [None])

    async def test_a_terminal(self):
        shown = bytearray()
        pty = await self.sandbox.pty.create(PtySize(rows=24, cols=80), on_data=shown.extend)
        await self.sandbox.pty.send_stdin(pty.pid, b"echo is-$((40 + 2))\n")
        await until(lambda: b"is-42" in shown, "what it says")
        self.assertTrue(await pty.kill())

    async def test_files_as_streams(self):
        async def parts():
            for _ in range(100):
                yield b"part" * 1000

        await self.sandbox.files.write("streamed", parts())
        size = 0
        async for piece in await self.sandbox.files.read("streamed", format="stream"):
            size += len(piece)
        self.assertEqual(size, 400_000)

    async def test_a_killed_sandbox_fails_and_a_paused_one_resumes(self):
        handle = await self.sandbox.commands.run("sleep 300", background=True)
        self.assertTrue(await self.sandbox.pause())
        self.assertFalse(await self.sandbox.is_running())
        await self.sandbox.connect(timeout=60)
        self.assertTrue(await self.sandbox.is_running())
        self.assertIn(handle.pid, [one.pid for one in await self.sandbox.commands.list()])
        again = await self.sandbox.commands.connect(handle.pid)
        self.assertTrue(await self.sandbox.kill())
        with self.assertRaisesRegex(TimeoutException, "The sandbox was killed"):
            await again.wait()


if __name__ == "__main__":
    unittest.main()
