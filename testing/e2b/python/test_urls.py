import unittest

import httpx

from programs import WithSandbox


class UrlsTest(WithSandbox):
    def test_a_signed_url_reads_a_file_without_a_token_or_a_name(self):
        self.files.write("shared á.txt", "for all")
        url = self.sandbox.download_url("shared á.txt", use_signature_expiration=60)
        answer = httpx.get(url)
        self.assertEqual((answer.status_code, answer.text), (200, "for all"))
        as_root = self.sandbox.download_url("/home/user/shared á.txt", user="root")
        self.assertEqual(httpx.get(as_root).text, "for all")

    def test_a_signed_url_is_valid_for_one_file_and_use_only(self):
        self.files.write("secret.txt", "for none")
        url = httpx.URL(self.sandbox.download_url("shared.txt"))
        self.assertEqual(httpx.get(url.copy_set_param("path", "secret.txt")).status_code, 401)
        self.assertEqual(httpx.get(url.copy_set_param("username", "root")).status_code, 401)
        self.assertEqual(httpx.get(url.copy_remove_param("signature")).status_code, 401)
        self.assertEqual(httpx.post(url, files={"file": b"changed"}).status_code, 401)
        late = httpx.get(self.sandbox.download_url("shared.txt", use_signature_expiration=-120))
        self.assertEqual(late.status_code, 401)
        self.assertIn("expired", late.json()["message"])

    def test_a_signed_url_accepts_an_upload(self):
        url = self.sandbox.upload_url("sent/up.txt", use_signature_expiration=60)
        answer = httpx.post(url, files={"file": ("any-name.txt", b"sent")})
        self.assertEqual(answer.status_code, 200)
        self.assertEqual(
            answer.json(), [{"path": "/home/user/sent/up.txt", "name": "up.txt", "type": "file"}]
        )
        self.assertEqual(self.files.read("sent/up.txt"), "sent")


if __name__ == "__main__":
    unittest.main()
