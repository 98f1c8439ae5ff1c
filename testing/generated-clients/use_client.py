"""Uses the generated Python client: create, exec, files, destroy. Fails with an assertion or an exception."""

import io
import os

from isola_client import AuthenticatedClient
from isola_client.api.executions import exec_
from isola_client.api.files import list_files, read_file, write_file
from isola_client.api.sandboxes import create_sandbox, destroy_sandbox, get_sandbox, list_sandboxes
from isola_client.models import (
    CreateSandboxRequest,
    CreateSandboxRequestTags,
    ExecRequest,
    ExecResult,
    FileInfo,
    FileList,
    Problem,
    Sandbox,
    SandboxList,
    SandboxState,
)
from isola_client.types import File

client = AuthenticatedClient(base_url=os.environ["ISOLA_URL"], token=os.environ["ISOLA_API_KEY"])

tags = CreateSandboxRequestTags()
tags["made-by"] = "python"
sandbox = create_sandbox.sync(client=client, body=CreateSandboxRequest(ttl_seconds=300, tags=tags))
assert isinstance(sandbox, Sandbox), sandbox
assert sandbox.state == SandboxState.RUNNING

listed = list_sandboxes.sync(client=client, tag=["made-by=python"])
assert isinstance(listed, SandboxList) and [one.id for one in listed.sandboxes] == [sandbox.id], listed

result = exec_.sync(sandbox.id, client=client, body=ExecRequest(command="echo hello; exit 3"))
assert isinstance(result, ExecResult), result
assert result.stdout == "hello\n" and result.exit_code == 3

content = b"bytes \x00\xff"
written = write_file.sync(sandbox.id, client=client, path="data/a.bin", body=File(payload=io.BytesIO(content)))
assert isinstance(written, FileInfo) and written.size == len(content), written
read = read_file.sync(sandbox.id, client=client, path="data/a.bin")
assert isinstance(read, File) and read.payload.read() == content, read
entries = list_files.sync(sandbox.id, client=client, path="data")
assert isinstance(entries, FileList) and [one.name for one in entries.entries] == ["a.bin"], entries

destroyed = destroy_sandbox.sync_detailed(sandbox.id, client=client)
assert destroyed.status_code == 204, destroyed
problem = get_sandbox.sync("missing", client=client)
assert isinstance(problem, Problem) and problem.code == "SANDBOX_NOT_FOUND" and problem.remedy, problem

print("python: created", sandbox.id, "on", sandbox.provider + "; exec, files and destroy work")
