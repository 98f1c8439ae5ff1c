import json
import os
import re
import subprocess
import sys
import unittest


def program(**environment):
    """Runs domain.py with the server's domain, and a library that resolves all names beneath it."""
    return subprocess.run(
        [sys.executable, "-B", "domain.py"],
        env={
            "PATH": os.environ["PATH"],
            "LD_PRELOAD": os.environ["E2B_TEST_RESOLVER"],
            "E2B_DOMAIN": os.environ["E2B_TEST_DOMAIN"],
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=60,
    )


class DomainTest(unittest.TestCase):
    key = "e2b_" + re.sub("^(e2b|isk)_", "", os.environ["E2B_API_KEY"])

    def test_the_domain_alone_leads_to_the_server_by_tls(self):
        ended = program(E2B_API_KEY=self.key, SSL_CERT_FILE=os.environ["E2B_TEST_CA"])
        self.assertEqual(ended.returncode, 0, ended.stderr)
        received = json.loads(ended.stdout)
        domain = re.escape(os.environ["E2B_TEST_DOMAIN"])
        self.assertRegex(received.pop("host"), f"^8000-[a-z0-9]+[.]{domain}$")
        self.assertEqual(
            received, {"stdout": "42\n", "page": "hello over TLS", "download": "hello over TLS"}
        )

    def test_a_client_that_does_not_trust_the_authority_does_not_connect(self):
        self.assertNotEqual(program(E2B_API_KEY=self.key).returncode, 0)


if __name__ == "__main__":
    unittest.main()
