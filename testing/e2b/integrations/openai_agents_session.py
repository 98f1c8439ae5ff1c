"""The E2B extension of OpenAI Agents: the sandbox session that its agents work in, without a model."""

import asyncio
import io
from pathlib import Path

from agents.extensions.sandbox import E2BSandboxClient, E2BSandboxClientOptions, E2BSandboxType
from agents.sandbox import Manifest
from agents.sandbox.entries import File


async def main():
    manifest = Manifest(
        entries={
            "README.md": File(content=b"# Renewal notes\n"),
            "customers/northwind.md": File(content=b"- Risk: unresolved SSO setup.\n"),
        }
    )
    client = E2BSandboxClient()
    session = await client.create(
        options=E2BSandboxClientOptions(sandbox_type=E2BSandboxType.E2B, timeout=300),
        manifest=manifest,
    )
    async with session:
        listed = await session.exec("find . -type f | sort")
        print(listed.stdout.decode())
        assert listed.stdout.split() == [b"./README.md", b"./customers/northwind.md"], listed
        failed = await session.exec("cat nothing; exit 4")
        assert failed.exit_code == 4 and b"nothing" in failed.stderr, failed
        await session.write(Path("answer.txt"), io.BytesIO(b"42\n"))
        assert (await session.exec("cat answer.txt")).stdout == b"42\n"
        assert (await session.read(Path("answer.txt"))).read() == b"42\n"
    await client.delete(session)


asyncio.run(main())
