"""The quick starts of langchain-e2b: the backend of Deep Agents, synchronous and asynchronous."""

import asyncio

from e2b import AsyncSandbox, Sandbox
from langchain_e2b import AsyncE2BSandbox, E2BSandbox

e2b_sandbox = Sandbox.create()
backend = E2BSandbox(sandbox=e2b_sandbox)

try:
    result = backend.execute("echo hello")
    print(result.output)
    assert (result.output, result.exit_code) == ("hello\n", 0), result
    assert backend.execute("exit 3").exit_code == 3
    backend.write("/home/user/notes.txt", "one\ntwo\n")
    assert "two" in str(backend.read("/home/user/notes.txt"))
    backend.edit("/home/user/notes.txt", "two", "three")
    assert backend.execute("cat notes.txt").output == "one\nthree\n"
    assert "notes.txt" in str(backend.ls("/home/user"))
    assert "notes.txt" in str(backend.grep("three", "/home/user"))
    assert "notes.txt" in str(backend.glob("*.txt", "/home/user"))
finally:
    e2b_sandbox.kill()


async def main():
    e2b_sandbox = await AsyncSandbox.create()
    backend = AsyncE2BSandbox(sandbox=e2b_sandbox)

    try:
        result = await backend.aexecute("echo hello")
        print(result.output)
        assert (result.output, result.exit_code) == ("hello\n", 0), result
        uploaded = await backend.aupload_files([("/home/user/data.bin", bytes(range(256)))])
        assert uploaded[0].error is None, uploaded
        downloaded = await backend.adownload_files(["/home/user/data.bin", "/home/user/none"])
        assert downloaded[0].content == bytes(range(256)), downloaded
        assert downloaded[1].error == "file_not_found", downloaded
    finally:
        await e2b_sandbox.kill()


asyncio.run(main())
