import unittest

from e2b import Sandbox, SandboxException, Secret

REQUEST = (
    "exec 3<>/dev/tcp/{host}/80; "
    "printf 'GET / HTTP/1.1\\r\\nHost: {host}\\r\\nConnection: close\\r\\n\\r\\n' >&3; "
    "cat <&3"
)


class NetworkTest(unittest.TestCase):
    def denied(self, sandbox, host):
        """Whether the rules deny the host; otherwise only its name, which no server has, fails."""
        script = REQUEST.format(host=host)
        answer = sandbox.commands.run(f'bash -c "{script}"', timeout=30).stdout
        self.assertRegex(answer, "^HTTP/1.1 [45]", answer)
        return "no rule allows" in answer

    def test_only_allowed_hosts_are_reached_and_an_update_replaces_the_rules(self):
        network = {
            "allow_out": ["one.invalid"],
            "deny_out": lambda ctx: [ctx.all_traffic],
        }
        sandbox = Sandbox.create(network=network)
        try:
            self.assertFalse(self.denied(sandbox, "one.invalid"))
            self.assertTrue(self.denied(sandbox, "two.invalid"))
            info = sandbox.get_info().network
            self.assertEqual(info["allow_out"], ["one.invalid"])
            self.assertEqual(info["deny_out"], ["0.0.0.0/0"])
            sandbox.update_network(
                {"allow_out": ["*.two.invalid"], "deny_out": ["0.0.0.0/0"]}
            )
            self.assertTrue(self.denied(sandbox, "one.invalid"))
            self.assertFalse(self.denied(sandbox, "a.two.invalid"))
            self.assertEqual(sandbox.get_info().network["allow_out"], ["*.two.invalid"])
            sandbox.update_network({"allow_internet_access": False})
            self.assertTrue(self.denied(sandbox, "a.two.invalid"))
            sandbox.update_network({})
            self.assertFalse(self.denied(sandbox, "three.invalid"))
        finally:
            sandbox.kill()

    def test_what_cannot_be_enforced_is_refused(self):
        for network in (
            {"allow_out": ["one.invalid"]},
            {"deny_out": ["192.0.2.1"]},
            {"egress_proxy": {"address": "proxy.invalid:1080"}},
            {"dns_servers": ["192.0.2.1"]},
            {"https_ports": [3000]},
        ):
            with self.assertRaises(SandboxException, msg=network):
                Sandbox.create(network=network)

    def test_secrets_are_write_only_and_usable_in_rules(self):
        value = "sk-planted1Value2With3Enough4Room5"
        secret = Secret.create("python-openai", value, metadata={"hosts": "one.invalid"})
        try:
            self.assertEqual(secret.name, "python-openai")
            self.assertNotIn(value, repr(secret))
            self.assertTrue(Secret.exists("python-openai"))
            changed = Secret.update("python-openai", value=value + "6")
            self.assertEqual(changed.metadata, {"hosts": "one.invalid"})
            listed = Secret.list().next_items()
            self.assertIn("python-openai", [one.name for one in listed])
            header = {"Authorization": "Bearer " + Secret.fill("python-openai")}
            network = {
                "allow_out": ["one.invalid"],
                "deny_out": ["0.0.0.0/0"],
                "rules": {"one.invalid": [{"transform": {"headers": header}}]},
            }
            sandbox = Sandbox.create(network=network)
            try:
                rules = sandbox.get_info().network["rules"]
                self.assertEqual(rules["one.invalid"][0]["transform"]["headers"], header)
                self.assertFalse(self.denied(sandbox, "one.invalid"))
            finally:
                sandbox.kill()
            network["rules"]["one.invalid"][0]["transform"]["headers"] = {
                "Authorization": Secret.fill("absent")
            }
            with self.assertRaisesRegex(SandboxException, "no secret named absent"):
                Sandbox.create(network=network)
        finally:
            self.assertTrue(Secret.destroy("python-openai"))
        self.assertFalse(Secret.exists("python-openai"))
