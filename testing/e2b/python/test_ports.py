import os
import unittest

import httpx

from e2b import Sandbox
from programs import until

SERVER = """
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.headers["Host"].encode())
HTTPServer(("127.0.0.1", 8000), Handler).serve_forever()
"""
TOKEN = "e2b-traffic-access-token"


class PortsTest(unittest.TestCase):
    def create(self, **options):
        sandbox = Sandbox.create(timeout=120, **options)
        self.addCleanup(sandbox.kill)
        return sandbox

    def get(self, host, headers={}):
        """Requests https://get_host(port) without name resolution."""
        return httpx.get(os.environ["E2B_SANDBOX_URL"], headers={**headers, "Host": host})

    def serve(self, sandbox, headers={}):
        sandbox.files.write("server.py", SERVER)
        sandbox.commands.run("python3 server.py", background=True)
        until(
            lambda: self.get(sandbox.get_host(8000), headers).status_code == 200,
            "the service listens",
        )

    def assert_not_found(self, host, sandbox_id):
        answer = self.get(host)
        self.assertEqual(answer.status_code, 502)
        self.assertEqual(
            answer.json(),
            {"message": "The sandbox was not found", "sandboxId": sandbox_id, "code": 502},
        )

    def test_a_killed_or_unknown_sandbox_is_not_found(self):
        sandbox = self.create()
        host = sandbox.get_host(8000)
        sandbox.kill()
        self.assert_not_found(host, sandbox.sandbox_id)
        self.assert_not_found(host.replace(sandbox.sandbox_id, "x" * 20), "x" * 20)

    def test_a_closed_port_is_reported_with_its_number(self):
        sandbox = self.create()
        answer = self.get(sandbox.get_host(8001))
        self.assertEqual(answer.status_code, 502)
        self.assertEqual(
            answer.json(),
            {
                "message": "The sandbox is running but port is not open",
                "sandboxId": sandbox.sandbox_id,
                "port": 8001,
                "code": 502,
            },
        )

    def test_a_private_port_needs_the_traffic_token(self):
        sandbox = self.create(network={"allow_public_traffic": False})
        token = {TOKEN: sandbox.traffic_access_token}
        self.serve(sandbox, token)
        host = sandbox.get_host(8000)
        self.assertEqual(self.get(host).status_code, 403)
        self.assertEqual(self.get(host, {TOKEN: "wrong"}).json()["code"], 403)
        self.assertEqual(self.get(host, token).status_code, 200)

    def test_a_service_sees_the_masked_host(self):
        sandbox = self.create(network={"mask_request_host": "${PORT}-app.example.com"})
        self.serve(sandbox)
        self.assertEqual(self.get(sandbox.get_host(8000)).text, "8000-app.example.com")


if __name__ == "__main__":
    unittest.main()
