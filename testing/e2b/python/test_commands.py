import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

from e2b import (
    AuthenticationException,
    CommandExitException,
    InvalidArgumentException,
    NotFoundException,
    Sandbox,
    SandboxException,
    TimeoutException,
)
from programs import WithSandbox, until


class CommandsTest(WithSandbox):
    envs = {"OF_THE_SANDBOX": "yes"}

    def pids(self):
        return [one.pid for one in self.commands.list()]

    def test_run_returns_stdout_stderr_and_the_exit_code(self):
        result = self.commands.run("echo out; echo err >&2")
        self.assertEqual(
            (result.exit_code, result.stdout, result.stderr, result.error),
            (0, "out\n", "err\n", None),
        )

    def test_large_unicode_output_is_complete(self):
        text = "žluťoučký kůň 🐎 '\"$`\\"
        self.assertEqual(self.out(f'cat <<"END"\n{text}\nEND'), text + "\n")
        much = self.out('head -c 3000000 /dev/zero | tr "\\0" x')
        self.assertEqual(len(much), 3_000_000)

    def test_a_nonzero_exit_code_raises_with_the_whole_result(self):
        with self.assertRaises(CommandExitException) as caught:
            self.commands.run("echo so far; echo why >&2; exit 7")
        error = caught.exception
        self.assertEqual((error.exit_code, error.stdout, error.stderr), (7, "so far\n", "why\n"))
        self.assertIn("exit status 7", error.error)

    def test_variables_folders_and_users(self):
        line = 'echo "$OF_THE_SANDBOX $MINE $E2B_SANDBOX $HOME $(id -un) $(pwd)"'
        self.assertEqual(
            self.out(line, envs={"MINE": "a b"}), "yes a b true /home/user user /home/user\n"
        )
        self.assertEqual(self.out(line, user="root"), "yes  true /root root /root\n")
        self.assertEqual(self.out("pwd", cwd="/tmp"), "/tmp\n")
        self.files.make_dir("deep/er")
        self.assertEqual(self.out("pwd", cwd="deep/er"), "/home/user/deep/er\n")
        with self.assertRaises(InvalidArgumentException):
            self.out("pwd", cwd="/no/such/folder")
        with self.assertRaises(AuthenticationException):
            self.out("pwd", user="no-such-user")

    def test_output_arrives_while_the_command_runs(self):
        seen = []

        def take(text):
            seen.append(text)
            if len(seen) == 1:
                self.files.write("/tmp/go", "")

        wait = "while [ ! -e /tmp/go ]; do sleep 0.05; done"
        self.commands.run(f"echo one; {wait}; echo two", on_stdout=take)
        self.assertEqual("".join(seen), "one\ntwo\n")
        self.assertGreaterEqual(len(seen), 2)

    def test_a_background_command_is_listed_connected_to_and_killed(self):
        handle = self.commands.run("echo begin; sleep 300", background=True)
        listed = next(one for one in self.commands.list() if one.pid == handle.pid)
        self.assertEqual(
            (listed.cmd, listed.args, listed.cwd),
            ("/bin/bash", ["-l", "-c", "echo begin; sleep 300"], "/home/user"),
        )
        handle.disconnect()
        self.assertEqual(self.commands.run(f"kill -0 {handle.pid}").exit_code, 0)
        again = self.commands.connect(handle.pid)
        self.assertEqual(again.pid, handle.pid)
        self.assertTrue(self.commands.kill(handle.pid))
        with self.assertRaises(CommandExitException):
            self.commands.run(f"kill -0 {handle.pid}")
        with self.assertRaises(CommandExitException) as caught:
            again.wait()
        self.assertEqual(caught.exception.exit_code, -1)
        self.assertIn("signal: killed", caught.exception.error)
        self.assertFalse(self.commands.kill(handle.pid))
        self.assertNotIn(handle.pid, self.pids())

    def test_a_new_connection_receives_later_output(self):
        wait = "while [ ! -e /tmp/on ]; do sleep 0.05; done"
        started = self.commands.run(f"echo before; {wait}; echo after; exit 3", background=True)
        self.assertEqual(next(iter(started))[0], "before\n")
        again = self.commands.connect(started.pid)
        self.files.write("/tmp/on", "")
        for handle, text in ((again, "after\n"), (started, "before\nafter\n")):
            with self.assertRaises(CommandExitException) as caught:
                handle.wait()
            self.assertEqual((caught.exception.exit_code, caught.exception.stdout), (3, text))

    def test_connecting_to_a_missing_process_fails(self):
        with self.assertRaises(NotFoundException):
            self.commands.connect(999_999)

    def test_input(self):
        cat = self.commands.run("cat", background=True, stdin=True)
        self.commands.send_stdin(cat.pid, "one\n")
        cat.send_stdin("dvě 🐎\n")
        cat.send_stdin(b"three\n")
        cat.close_stdin()
        self.assertEqual(cat.wait().stdout, "one\ndvě 🐎\nthree\n")
        count = self.commands.run("wc -c", background=True, stdin=True)
        count.send_stdin("x" * 1_000_000)
        self.commands.close_stdin(count.pid)
        self.assertEqual(count.wait().stdout.strip(), "1000000")

    def test_input_is_streamed(self):
        count = self.commands.run("wc -c", background=True, stdin=True)
        self.commands.stream_input(count.pid, (b"y" * 100_000 for _ in range(20)))
        count.close_stdin()
        self.assertEqual(count.wait().stdout.strip(), "2000000")
        with self.assertRaises(NotFoundException):
            self.commands.stream_input(999_999, ["unread input"])

    def test_a_command_without_stdin_reads_end_of_file_and_rejects_input(self):
        self.assertEqual(self.out("cat; echo end"), "end\n")
        sleep = self.commands.run("sleep 300", background=True)
        with self.assertRaisesRegex(SandboxException, "without stdin"):
            sleep.send_stdin("unread input")
        sleep.kill()

    def test_an_ended_command_can_be_connected_to_for_a_while(self):
        handle = self.commands.run("exit 9", background=True)
        with self.assertRaises(CommandExitException):
            handle.wait()
        for _ in range(70):
            self.out("true")
        with self.assertRaises(CommandExitException) as caught:
            self.commands.connect(handle.pid).wait()
        self.assertEqual(caught.exception.exit_code, 9)

    def test_a_command_that_exceeds_its_timeout_is_killed(self):
        mark = "sleep 302.5"
        with self.assertRaises(TimeoutException):
            self.commands.run(mark, timeout=0.5)
        gone = lambda: not any(mark in one.args for one in self.commands.list())
        until(gone, "the command is gone")
        self.assertEqual(self.out("sleep 0.2; echo done", timeout=0), "done\n")

    def test_many_commands_run_concurrently(self):
        found = {}

        def run(number):
            found[number] = self.out(f"sleep 0.1; echo {number}")

        threads = [threading.Thread(target=run, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, {number: f"{number}\n" for number in range(20)})

    def test_output_is_not_retained_on_request(self):
        seen = []
        result = self.commands.run("echo told", on_stdout=seen.append, retain_output=False)
        self.assertEqual((result.stdout, seen), (None, ["told\n"]))

    def test_another_client_connects_by_id(self):
        other = Sandbox.connect(self.sandbox.sandbox_id)
        self.assertEqual(other.commands.run("echo $OF_THE_SANDBOX").stdout, "yes\n")
        self.assertTrue(other.is_running())

    def test_killing_a_sandbox_ends_its_commands_with_an_error(self):
        doomed = Sandbox.create()
        handle = doomed.commands.run("sleep 300", background=True)
        self.assertTrue(doomed.kill())
        with self.assertRaisesRegex(TimeoutException, "The sandbox was killed"):
            handle.wait()
        self.assertFalse(doomed.is_running())
        with self.assertRaisesRegex(SandboxException, "(?i)sandbox"):
            doomed.commands.run("true")

    def test_a_sandbox_killed_under_a_running_command_is_reported_as_killed(self):
        for _ in range(3):
            doomed = Sandbox.create()
            other = Sandbox.connect(doomed.sandbox_id)
            started = threading.Event()
            with ThreadPoolExecutor(1) as pool:
                running = pool.submit(
                    doomed.commands.run,
                    "echo started; exec sleep 300",
                    on_stdout=lambda _: started.set(),
                    timeout=60,
                )
                self.assertTrue(started.wait(20))
                self.assertTrue(other.kill())
                with self.assertRaisesRegex(TimeoutException, "The sandbox was killed"):
                    running.result()


if __name__ == "__main__":
    unittest.main()
