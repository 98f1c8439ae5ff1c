"""The sandbox environment that Inspect AI calls."""

from __future__ import annotations

import json
import secrets
import shlex
from pathlib import Path
from typing import Any, Literal, Optional, Union, cast, overload

import anyio
from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    SandboxUserUnsupportedError,
    sandboxenv,
)
from isola import AsyncExecution, AsyncIsola, AsyncSandbox, Data, IsolaError
from isola.models import CreateSandboxRequest, Exit

TAG = "inspect-task"
TTL = 24 * 3600.0
INPUT_PIECE = 1 << 20
MAX_COMMAND = 1 << 19

# Exit codes of the script below, which are those of errno.
MISSING, DENIED, IS_FOLDER = 2, 13, 21

# Asks as the user of the sandbox: the server's file operations replace a file, whoever may write to it.
ACCESS = f"""
if [ -d "$1" ]; then exit {IS_FOLDER}; fi
if [ "$2" = -r ] && [ ! -e "$1" ]; then exit {MISSING}; fi
if [ -e "$1" ] && [ ! "$2" "$1" ]; then exit {DENIED}; fi
if [ "$2" = -r ]; then wc -c <"$1"; fi
"""


class _Output:
    """One stream of a command, up to the limit of Inspect."""

    def __init__(self) -> None:
        self.bytes = bytearray()

    def add(self, piece: bytes) -> None:
        self.bytes += piece
        limit = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        if len(self.bytes) > limit:
            raise OutputLimitExceededError(
                SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR,
                self.bytes[:limit].decode("utf-8", "replace"),
            )

    @property
    def text(self) -> str:
        return self.bytes.decode("utf-8", "replace")


@sandboxenv(name="isola")
class IsolaSandboxEnvironment(SandboxEnvironment):
    """A sandbox of the server that ``ISOLA_URL`` names, with the key of ``ISOLA_API_KEY``.

    The configuration is the path of a JSON file with the fields of a create request, such as ``image``,
    ``network`` and ``resources``.
    """

    def __init__(self, sandbox: AsyncSandbox) -> None:
        super().__init__()
        self.sandbox = sandbox

    @classmethod
    def config_files(cls) -> list[str]:
        return ["isola.json"]

    @classmethod
    async def sample_init(
        cls,
        task_name: str,
        config: Optional[SandboxEnvironmentConfigType],
        metadata: dict[str, str],
    ) -> dict[str, SandboxEnvironment]:
        spec = await _spec(config)
        spec.setdefault("ttlSeconds", TTL)
        spec["tags"] = {**spec.get("tags", {}), TAG: task_name}
        return {"default": cls(await AsyncSandbox.create(cast(CreateSandboxRequest, spec)))}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: Optional[SandboxEnvironmentConfigType],
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        for environment in environments.values():
            with anyio.CancelScope(shield=True):  # also when the evaluation was interrupted
                await environment.as_type(cls).sandbox.aclose()

    @classmethod
    async def cli_cleanup(cls, id: Optional[str]) -> None:
        """Destroys one sandbox, or all that evaluations have left."""
        async with AsyncIsola() as isola:
            if id is not None:
                await isola.sandbox(id).destroy(force=True)
                return
            for info in await isola.list():
                if TAG in (info.tags or {}):
                    await isola.sandbox(info.id).destroy(force=True)

    async def exec(
        self,
        cmd: list[str],
        input: Union[str, bytes, None] = None,
        cwd: Optional[str] = None,
        env: Optional[dict[str, str]] = None,
        user: Optional[str] = None,
        timeout: Optional[int] = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        if sum(map(len, cmd)) > MAX_COMMAND:
            cmd = await self._script(cmd)
        try:
            execution = await self.sandbox.start(
                cmd, env=env, cwd=cwd, user=user, timeout=timeout, stdin=input is not None
            )
        except IsolaError as e:
            if e.code == "USER_NOT_FOUND":
                raise SandboxUserUnsupportedError(str(e)) from e
            if e.code == "COMMAND_NOT_EXECUTABLE":
                raise PermissionError(str(e)) from e
            if e.code == "COMMAND_NOT_FOUND":
                return ExecResult(False, 127, "", str(e))
            raise
        out, err = _Output(), _Output()
        try:
            ended = await _exchange(execution, input, out, err)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await execution.kill()
            raise
        finally:
            await execution.aclose()
        if ended.kind == "timedOut":
            raise TimeoutError(f"the command took longer than {timeout} s")
        code = ended.code if ended.code is not None else 128 + (ended.number or 0)
        return ExecResult(code == 0, code, out.text, err.text)

    async def _script(self, cmd: list[str]) -> list[str]:
        """Returns a command that runs one which is too long for a request, and removes its script."""
        path = f"/tmp/.inspect-{secrets.token_hex(8)}"
        await self.sandbox.files.write(path, f'rm -f -- "$0"; exec {shlex.join(cmd)}\n', mode=0o644)
        return ["/bin/sh", path]

    async def write_file(self, file: str, contents: Union[str, bytes]) -> None:
        await self._check_access(file, "-w")
        try:
            await self.sandbox.files.write(file, contents)
        except IsolaError as e:
            raise _file_error(e, file) from e

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> Union[str, bytes]:
        size = await self._check_access(file, "-r")
        limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        if size > limit:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
        try:
            content = await self.sandbox.files.read(file, limit=limit)
        except IsolaError as e:
            raise _file_error(e, file) from e
        return content.decode("utf-8") if text else content

    async def _check_access(self, file: str, access: str) -> int:
        """Returns the size of a file that is to be read."""
        result = await self.sandbox.exec(["/bin/sh", "-c", ACCESS, "access", file, access], timeout=30)
        if result.exit_code == IS_FOLDER:
            raise IsADirectoryError(f"{file} is a directory")
        if result.exit_code == MISSING:
            raise FileNotFoundError(f"{file} does not exist")
        if result.exit_code == DENIED:
            raise PermissionError(f"the user of the sandbox may not use {file}")
        return int(result.stdout.strip() or 0)


async def _spec(config: Optional[SandboxEnvironmentConfigType]) -> dict[str, Any]:
    if config is None:
        return {}
    if not isinstance(config, str):
        raise TypeError("the configuration of an Isola sandbox is the path of a JSON file")
    spec = json.loads(await anyio.Path(config).read_text(encoding="utf-8"))
    if not isinstance(spec, dict):
        raise ValueError(f"{Path(config).name} has no JSON object")
    return spec


async def _exchange(
    execution: AsyncExecution, input: Union[str, bytes, None], out: _Output, err: _Output
) -> Exit:
    """Writes the input while the output is read, since a command may do both at once."""
    async with anyio.create_task_group() as tasks:
        if input is not None:
            tasks.start_soon(_write, execution, input)
        async for piece in execution:
            if isinstance(piece, Data):
                (err if piece.channel == "stderr" else out).add(piece.bytes)
        tasks.cancel_scope.cancel()  # nobody reads the rest of the input
    assert execution.exit is not None
    return execution.exit


async def _write(execution: AsyncExecution, input: Union[str, bytes]) -> None:
    content = input.encode("utf-8") if isinstance(input, str) else input
    try:
        for begin in range(0, len(content), INPUT_PIECE):
            await execution.write_stdin(content[begin : begin + INPUT_PIECE])
        await execution.close_stdin()
    except IsolaError as e:
        if e.category != "CALLER":
            raise
        # The command has ended, or closed its input.


def _file_error(e: IsolaError, file: str) -> Exception:
    kinds: dict[str, type[OSError]] = {
        "FILE_NOT_FOUND": FileNotFoundError,
        "NOT_A_FOLDER": FileNotFoundError,
        "IS_A_FOLDER": IsADirectoryError,
        "PERMISSION_DENIED": PermissionError,
    }
    kind = kinds.get(e.code)
    return e if kind is None else kind(f"{file}: {e}")
