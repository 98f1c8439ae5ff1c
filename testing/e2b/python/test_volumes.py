import io
import os
import unittest

from e2b import Sandbox, Volume, VolumeException, VolumePathNotFoundException


class VolumesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.volume = Volume.create(f"python-{os.getpid()}")

    @classmethod
    def tearDownClass(cls):
        Volume.destroy(cls.volume.volume_id)

    def test_writes_through_the_api_are_visible_in_the_sandbox_and_vice_versa(self):
        self.volume.write_file("/in/a.txt", "hello", mode=0o644)
        sandbox = Sandbox.create(volume_mounts={"/mnt/data": self.volume.name})
        try:
            self.assertEqual(sandbox.commands.run("cat /mnt/data/in/a.txt").stdout, "hello")
            sandbox.commands.run("printf inside > /mnt/data/b.txt")
            self.assertEqual(self.volume.read_file("b.txt"), "inside")
            with self.assertRaises(VolumeException):
                Volume.destroy(self.volume.volume_id)
        finally:
            sandbox.kill()

    def test_folders(self):
        self.volume.make_dir("/one/two", force=True)
        self.volume.write_file("/one/file", b"x")
        names = sorted(one.path for one in self.volume.list("/one"))
        self.assertEqual(names, ["/one/file", "/one/two"])
        self.assertFalse(self.volume.exists("/none"))
        with self.assertRaises(VolumePathNotFoundException):
            self.volume.list("/none")
        self.volume.remove("/one")
        self.assertFalse(self.volume.exists("/one/two"))

    def test_bytes_and_streams(self):
        content = os.urandom(2_000_000)
        info = self.volume.write_file("/bytes", io.BytesIO(content))
        self.assertEqual(info.size, len(content))
        self.assertEqual(self.volume.read_file("/bytes", format="bytes"), content)
        self.assertEqual(b"".join(self.volume.read_file("/bytes", format="stream")), content)

    def test_rights(self):
        self.volume.write_file("/owned", "x")
        info = self.volume.update_metadata("/owned", uid=1234, gid=4321, mode=0o600)
        self.assertEqual((info.uid, info.gid, info.mode & 0o777), (1234, 4321, 0o600))

    def test_volumes_are_found_and_destroyed(self):
        other = Volume.create(f"other-python-{os.getpid()}")
        other.write_file("/kept", "x")
        self.assertEqual(Volume.connect(other.volume_id).read_file("/kept"), "x")
        self.assertIn(other.name, [one.name for one in Volume.list()])
        self.assertTrue(Volume.destroy(other.volume_id))
        self.assertFalse(Volume.destroy(other.volume_id))
