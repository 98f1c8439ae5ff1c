"""Isola as the sandbox of deepagents: ``create_deep_agent(backend=IsolaSandbox(sandbox))``."""

from __future__ import annotations

from typing import Optional

from deepagents.backends.protocol import (
    FILE_NOT_FOUND,
    INVALID_PATH,
    IS_DIRECTORY,
    PERMISSION_DENIED,
    ExecuteResponse,
    FileDownloadResponse,
    FileUploadResponse,
)
from deepagents.backends.sandbox import BaseSandbox
from isola import Data, IsolaError, Sandbox

__all__ = ["IsolaSandbox"]

MAX_OUTPUT = 1 << 20
TIMEOUT = 30 * 60.0

ERRORS = {
    "FILE_NOT_FOUND": FILE_NOT_FOUND,
    "NOT_A_FOLDER": INVALID_PATH,
    "NOT_A_FILE": INVALID_PATH,
    "IS_A_FOLDER": IS_DIRECTORY,
    "PERMISSION_DENIED": PERMISSION_DENIED,
    "INVALID_PATH": INVALID_PATH,
}


class IsolaSandbox(BaseSandbox):
    """A sandbox of Isola. Whoever created it closes it.

    A command ends after ``timeout`` seconds unless the agent says otherwise. Of its output the first
    ``max_output`` bytes are returned, both streams in the order in which they were written.
    """

    def __init__(self, sandbox: Sandbox, *, timeout: float = TIMEOUT, max_output: int = MAX_OUTPUT) -> None:
        self._sandbox = sandbox
        self._timeout = timeout
        self._max_output = max_output

    @property
    def id(self) -> str:
        return self._sandbox.id

    def execute(self, command: str, *, timeout: Optional[int] = None) -> ExecuteResponse:
        limit = self._timeout if timeout is None else timeout
        output = bytearray()
        truncated = False
        with self._sandbox.start(command, timeout=limit) as execution:
            for piece in execution:
                room = self._max_output - len(output)
                if isinstance(piece, Data):
                    output += piece.bytes[:room]
                truncated = truncated or not isinstance(piece, Data) or len(piece.bytes) > room
            ended = execution.exit
        assert ended is not None
        text = output.decode("utf-8", "replace")
        if ended.kind == "timedOut":
            return ExecuteResponse(f"{text}\nthe command was ended after {limit:g} s", 124, truncated)
        code = ended.code if ended.code is not None else 128 + (ended.number or 0)
        return ExecuteResponse(text, code, truncated)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        return [self._upload(path, content) for path, content in files]

    def _upload(self, path: str, content: bytes) -> FileUploadResponse:
        if not path.startswith("/"):
            return FileUploadResponse(path, INVALID_PATH)
        try:
            self._sandbox.files.write(path, content)
            return FileUploadResponse(path)
        except IsolaError as e:
            return FileUploadResponse(path, ERRORS.get(e.code, str(e)))

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return [self._download(path) for path in paths]

    def _download(self, path: str) -> FileDownloadResponse:
        if not path.startswith("/"):
            return FileDownloadResponse(path, error=INVALID_PATH)
        try:
            return FileDownloadResponse(path, self._sandbox.files.read(path))
        except IsolaError as e:
            return FileDownloadResponse(path, error=ERRORS.get(e.code, str(e)))
