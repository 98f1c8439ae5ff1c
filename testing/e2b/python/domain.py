"""A program that knows E2B_DOMAIN and E2B_API_KEY only. Prints what it received as JSON."""

import json
import time

import httpx

from e2b import Sandbox

sandbox = Sandbox.create()
try:
    stdout = sandbox.commands.run("echo $((6 * 7))").stdout
    sandbox.files.write("site/index.html", "hello over TLS")
    again = Sandbox.connect(sandbox.sandbox_id)
    again.commands.run("python3 -m http.server 8000 --directory site", background=True)
    url = f"https://{sandbox.get_host(8000)}/index.html"
    page = httpx.get(url)
    end = time.monotonic() + 20
    while page.status_code == 502 and time.monotonic() < end:
        time.sleep(0.05)
        page = httpx.get(url)
    download = httpx.get(sandbox.download_url("site/index.html"))
    print(
        json.dumps(
            {
                "stdout": stdout,
                "host": sandbox.get_host(8000),
                "page": page.text,
                "download": download.text,
            }
        )
    )
finally:
    sandbox.kill()
