import unittest
import uuid
from datetime import datetime, timedelta, timezone

from e2b import (
    AuthenticationException,
    NotFoundException,
    Sandbox,
    SandboxException,
    SandboxNotFoundException,
    SandboxQuery,
    SandboxState,
)
from programs import until


def left(sandbox):
    """Returns the remaining seconds of a sandbox."""
    return (sandbox.get_info().end_at - datetime.now(timezone.utc)).total_seconds()


BOOT_ID = "/proc/sys/kernel/random/boot_id"


def boot_id(sandbox):
    return sandbox.commands.run(f"cat {BOOT_ID}").stdout


class LifecycleTest(unittest.TestCase):
    def make(self, *args, **options):
        sandbox = Sandbox.create(*args, **options)
        self.addCleanup(sandbox.kill)
        return sandbox

    def assert_rebooted(self, before, sandbox):
        with open(BOOT_ID) as host:
            if before == host.read():
                self.skipTest("NOT RUN: this provider cannot give a sandbox its own boot id")
        self.assertNotEqual(before, boot_id(sandbox))

    def test_create_returns_a_described_sandbox(self):
        begun = datetime.now(timezone.utc)
        sandbox = self.make("base", timeout=120, metadata={"who": "me"}, envs={"A": "b"})
        info = sandbox.get_info()
        self.assertEqual(
            (info.sandbox_id, info.template_id, info.metadata, info.state),
            (sandbox.sandbox_id, "base", {"who": "me"}, SandboxState.RUNNING),
        )
        self.assertEqual(info.lifecycle, {"on_timeout": "kill", "auto_resume": False})
        self.assertLess(abs((info.started_at - begun).total_seconds()), 60)
        self.assertLess(abs((info.end_at - info.started_at).total_seconds() - 120), 5)
        self.assertGreaterEqual(info.cpu_count, 1)
        self.assertGreaterEqual(info.memory_mb, 128)
        self.assertEqual(sandbox.get_host(3000).split(".")[0], f"3000-{sandbox.sandbox_id}")
        self.assertTrue(sandbox.is_running())

    def test_context_manager_kills_the_sandbox(self):
        with Sandbox.create() as sandbox:
            self.assertEqual(sandbox.commands.run("echo in it").stdout, "in it\n")
        self.assertFalse(sandbox.is_running())

    def test_an_idempotency_key_creates_one_sandbox(self):
        key = str(uuid.uuid4())
        one = self.make(idempotency_key=key)
        other = self.make(idempotency_key=key)
        self.assertEqual(one.sandbox_id, other.sandbox_id)
        self.assertNotEqual(one.sandbox_id, self.make().sandbox_id)

    def test_the_timeout_can_be_changed_and_connecting_does_not_shorten_it(self):
        sandbox = self.make(timeout=60)
        sandbox.set_timeout(600)
        end = sandbox.get_info().end_at
        self.assertGreater(left(sandbox), 550)
        Sandbox.connect(sandbox.sandbox_id, timeout=10)
        self.assertEqual(sandbox.get_info().end_at, end)
        sandbox.connect(timeout=900)
        self.assertGreater(sandbox.get_info().end_at, end)
        Sandbox.set_timeout(sandbox.sandbox_id, 30)
        self.assertLess(left(sandbox), 31)

    def test_the_sandbox_ends_at_its_timeout(self):
        sandbox = self.make(timeout=1)
        until(lambda: not sandbox.is_running(), "its time is up", 20)
        with self.assertRaises(SandboxException):
            sandbox.commands.run("true")

    def test_the_second_kill_returns_false(self):
        sandbox = self.make()
        self.assertTrue(sandbox.kill())
        self.assertFalse(sandbox.kill())
        self.assertFalse(Sandbox.kill("nosuchsandbox"))
        for call in (Sandbox.connect, Sandbox.get_info, Sandbox.get_metrics):
            with self.assertRaises(SandboxNotFoundException):
                call(sandbox.sandbox_id)

    def test_list_filters_by_metadata_and_pages_newest_first(self):
        run = str(uuid.uuid4())
        odd = "é %2F+ &="
        ids = [
            self.make(metadata={"run": run, "number": number, "odd": odd}).sandbox_id
            for number in "123"
        ]
        found = lambda query, **more: [
            one.sandbox_id for one in Sandbox.list(query=query, **more).next_items()
        ]
        mine = SandboxQuery(metadata={"run": run})
        pages = Sandbox.list(query=mine, limit=2)
        self.assertTrue(pages.has_next)
        self.assertEqual([one.sandbox_id for one in pages.next_items()], [ids[2], ids[1]])
        self.assertTrue(pages.has_next)
        self.assertEqual([one.sandbox_id for one in pages.next_items()], [ids[0]])
        self.assertFalse(pages.has_next)
        self.assertEqual(found(mine, order="asc"), ids)
        one = SandboxQuery(metadata={"run": run, "number": "2", "odd": odd})
        self.assertEqual(found(one), [ids[1]])
        self.assertEqual(found(SandboxQuery(metadata={"run": run, "number": "9"})), [])
        since = lambda time: SandboxQuery(metadata={"run": run}, started_after=time)
        newest = Sandbox.get_info(ids[-1]).started_at
        self.assertIn(ids[-1], found(since(newest)))
        self.assertEqual(len(found(since(datetime.now() - timedelta(hours=1)))), 3)
        self.assertEqual(found(since(datetime.now(timezone.utc) + timedelta(hours=1))), [])
        self.assertEqual(len(found(SandboxQuery(metadata={"run": run}, template="base"))), 3)

    def test_pause_keeps_processes_and_connecting_resumes(self):
        run = {"run": str(uuid.uuid4())}
        sandbox = self.make(timeout=60, metadata=run)
        sandbox.files.write("kept.txt", "kept")
        command = sandbox.commands.run("sleep 1000", background=True)
        self.assertTrue(sandbox.pause())
        self.assertFalse(sandbox.pause())
        self.assertFalse(sandbox.is_running())
        states = lambda *wanted: [
            one.state
            for one in Sandbox.list(
                query=SandboxQuery(metadata=run, state=list(wanted))
            ).next_items()
        ]
        self.assertEqual(states(SandboxState.PAUSED), [SandboxState.PAUSED])
        self.assertEqual(states(SandboxState.RUNNING), [])
        self.assertEqual(len(states(SandboxState.RUNNING, SandboxState.PAUSED)), 1)
        again = Sandbox.connect(sandbox.sandbox_id, timeout=60)
        self.assertEqual(again.files.read("kept.txt"), "kept")
        self.assertTrue(again.commands.kill(command.pid))
        self.assertTrue(30 < left(again) <= 61)

    def test_pause_without_memory_keeps_files(self):
        sandbox = self.make(timeout=60)
        sandbox.files.write("kept.txt", "kept")
        command = sandbox.commands.run("sleep 1000", background=True)
        self.assertEqual(sandbox.commands.run("sudo id -un").stdout, "root\n")
        boot = boot_id(sandbox)
        self.assertTrue(sandbox.pause(mode="filesystem"))
        sandbox.connect(timeout=60)
        self.assertEqual(sandbox.files.read("kept.txt"), "kept")
        self.assertFalse(sandbox.commands.kill(command.pid))
        self.assertEqual(sandbox.commands.run("sudo id -un").stdout, "root\n")
        self.assert_rebooted(boot, sandbox)

    def test_a_paused_sandbox_can_be_rebooted(self):
        sandbox = self.make(timeout=60)
        sandbox.files.write("kept.txt", "kept")
        command = sandbox.commands.run("sleep 1000", background=True)
        boot = boot_id(sandbox)
        sandbox.pause()
        sandbox.connect(timeout=60, on_resume="reboot")
        self.assertEqual(sandbox.files.read("kept.txt"), "kept")
        self.assertFalse(sandbox.commands.kill(command.pid))
        self.assert_rebooted(boot, sandbox)

    def test_a_sandbox_paused_at_its_timeout_resumes_on_a_request(self):
        # After the resume it sleeps again after as many seconds, which the command must not take.
        sandbox = self.make(timeout=8, lifecycle={"on_timeout": "pause", "auto_resume": True})
        self.assertEqual(
            sandbox.get_info().lifecycle, {"on_timeout": "pause", "auto_resume": True}
        )
        asleep = lambda: sandbox.get_info().state == SandboxState.PAUSED
        until(asleep, "it sleeps", 20)
        self.assertEqual(sandbox.commands.run("echo awake").stdout, "awake\n")

    def test_the_network_is_reported_as_given(self):
        sandbox = self.make(allow_internet_access=False, network={"deny_out": ["1.1.1.1"]})
        info = sandbox.get_info()
        self.assertEqual(info.network["deny_out"], ["1.1.1.1"])
        self.assertFalse(info.allow_internet_access)
        sandbox.update_network({"deny_out": ["1.1.1.1"], "allow_internet_access": False})
        with self.assertRaisesRegex(Exception, "allowOut"):
            sandbox.update_network({"allow_out": ["1.1.1.1"], "deny_out": ["0.0.0.0/0"]})

    def test_measurements(self):
        sandbox = self.make()
        for metric in (sandbox.get_metrics()[0], Sandbox.get_metrics(sandbox.sandbox_id)[0]):
            self.assertGreater(metric.mem_total, 0)
            self.assertTrue(0 <= metric.mem_used <= metric.mem_total)
            self.assertGreaterEqual(metric.mem_cache, 0)
            self.assertGreaterEqual(metric.cpu_count, 1)
            self.assertGreaterEqual(metric.cpu_used_pct, 0)
            self.assertGreater(metric.disk_total, 0)
            age = datetime.now(timezone.utc) - metric.timestamp
            self.assertLess(abs(age.total_seconds()), 60)

    def test_snapshots_and_forks(self):
        sandbox = self.make()
        sandbox.files.write("kept.txt", "one")
        snapshot = sandbox.create_snapshot()
        listed = sandbox.list_snapshots().next_items()
        self.assertIn(snapshot.snapshot_id, [one.snapshot_id for one in listed])
        sandbox.files.write("kept.txt", "two")
        self.assertEqual(self.make(snapshot.snapshot_id).files.read("kept.txt"), "one")
        forks = sandbox.fork(count=2)
        for fork in forks:
            self.assertNotIsInstance(fork, Exception)
            self.addCleanup(fork.kill)
        self.assertEqual([fork.files.read("kept.txt") for fork in forks], ["two", "two"])
        self.assertTrue(Sandbox.delete_snapshot(snapshot.snapshot_id))
        self.assertFalse(Sandbox.delete_snapshot(snapshot.snapshot_id))

    def test_invalid_requests_are_rejected_with_a_message(self):
        with self.assertRaisesRegex(Exception, "no-such-template"):
            self.make("no-such-template")
        with self.assertRaises(AuthenticationException):
            self.make(api_key="e2b_00000000")
        with self.assertRaises(NotFoundException):
            Sandbox.connect("nosuchsandbox")
        with self.assertRaisesRegex(Exception, r"isola\."):
            self.make(metadata={"isola.mine": "x"})


if __name__ == "__main__":
    unittest.main()
