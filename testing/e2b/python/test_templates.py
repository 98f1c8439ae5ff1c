"""Templates built by E2B's Python SDK."""

import pathlib
import tempfile
import time
import unittest

from e2b import Sandbox, Template
from e2b.exceptions import BuildException


class Templates(unittest.TestCase):
    def sandbox(self, template):
        sandbox = Sandbox.create(template, timeout=300)
        self.addCleanup(sandbox.kill)
        return sandbox

    def test_image_without_the_user_gets_it(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "app.txt").write_text("copied in")
            template = (
                Template(file_context_path=folder)
                .from_image("bare")
                .run_cmd('echo "$(id -un) in $(pwd)" > made.txt')
                .copy("app.txt", "app.txt")
            )
            Template.build(template, "isola-python-bare")
        sandbox = self.sandbox("isola-python-bare")
        out = sandbox.commands.run("id -un; cat made.txt app.txt; echo; sudo id -un").stdout
        self.assertEqual(out, "user\nuser in /home/user\ncopied in\nroot\n")
        sandbox.files.write("notes.txt", "written")
        self.assertEqual(sandbox.files.read("/home/user/notes.txt"), "written")
        self.assertEqual(sandbox.files.get_info("app.txt").owner, "user")

    def test_unknown_user_is_reported(self):
        template = Template().from_image("bare").run_cmd("whoami", user="missing-user")
        with self.assertRaises(BuildException) as raised:
            Template.build(template, "isola-python-unknown-user")
        self.assertEqual(
            str(raised.exception),
            "failed to run command 'whoami': command failed: unauthenticated: invalid username: 'missing-user'",
        )

    def test_failing_command_is_named_with_its_exit_code_and_output(self):
        template = Template().from_template("base").run_cmd("echo the reason; exit 7")
        with self.assertRaises(BuildException) as raised:
            Template.build(template, "isola-python-broken")
        for part in ("echo the reason; exit 7", "exit code 7", "ends with: the reason"):
            self.assertIn(part, str(raised.exception))

    def test_template_without_instructions_shares_the_files_of_its_base(self):
        lines = []
        Template.build(
            Template().from_template("base"),
            "isola-python-plain",
            on_build_logs=lambda line: lines.append(line.message),
        )
        self.assertIn("sharing the files of the base", lines)
        self.assertEqual(self.sandbox("isola-python-plain").commands.run("id -un").stdout, "user\n")

    def test_tags_exist_once_their_build_has_succeeded(self):
        name = f"isola-python-tags-{time.time_ns()}"
        with self.assertRaises(BuildException):
            Template.build(Template().from_template("base").run_cmd("exit 1"), f"{name}:bad")
        self.assertEqual(Template.get_tags(name), [])
        built = Template.build(Template().from_template("base"), f"{name}:v1")
        assigned = Template.assign_tags(f"{name}:v1", ["production"])
        self.assertEqual(assigned.build_id, built.build_id)
        self.assertEqual(sorted(one.tag for one in Template.get_tags(name)), ["production", "v1"])
        Template.remove_tags(name, "production")
        self.assertEqual([one.tag for one in Template.get_tags(name)], ["v1"])
        for wrong in (":x", f"{name}:", "", "a b", f"{name}:never"):
            with self.assertRaises(Exception, msg=wrong):
                Template.assign_tags(wrong, "x")
        for wrong in ("", "a b", "x:"):
            with self.assertRaises(Exception, msg=wrong):
                Template.assign_tags(name, wrong)
        self.assertEqual([one.tag for one in Template.get_tags(name)], ["v1"])


if __name__ == "__main__":
    unittest.main()
