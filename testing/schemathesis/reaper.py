"""Destroys sandboxes that generated requests created: repeatedly those older than a few seconds, or all at once."""

import datetime
import json
import os
import sys
import time
import urllib.error
import urllib.request

URL = os.environ["ISOLA_URL"]
AGE = datetime.timedelta(seconds=15)


def call(method, path):
    request = urllib.request.Request(URL + path, method=method)
    request.add_header("Authorization", "Bearer " + os.environ["ISOLA_API_KEY"])
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read() or b"{}")


def reap(kept, age):
    now = datetime.datetime.now(datetime.timezone.utc)
    for sandbox in call("GET", "/api/v1/sandboxes?limit=1000")["sandboxes"]:
        created = datetime.datetime.fromisoformat(sandbox["createdAt"][:19] + "+00:00")
        if sandbox["id"] not in kept and now - created >= age:
            try:
                call("DELETE", "/api/v1/sandboxes/%s?force=true" % sandbox["id"])
            except urllib.error.HTTPError as e:
                e.close()  # it is being created or destroyed; the next round tries again


if sys.argv[1:] == ["--all"]:
    reap(set(), datetime.timedelta())
else:
    while True:
        try:
            reap({os.environ["SANDBOX"], os.environ["DOOMED"]}, AGE)
        except (OSError, ValueError):
            pass  # the server is stopping, or busy
        time.sleep(3)
