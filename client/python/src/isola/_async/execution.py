"""Commands that run in the background."""

from __future__ import annotations

from typing import AsyncIterator, BinaryIO, Callable, Optional, Union

from .._options import api_path
from .._output import Data, Gap, Output, TextCallbacks, event_fields, output_data
from .._sse import SseEvent
from ..errors import stream_error
from ..models import ExecutionInfo, Exit
from .transport import AsyncReconnectingStream, AsyncTransport


class AsyncExecution:
    """A command running in the background. Its output resumes by itself after a broken connection or a
    restart of the server. Nothing is delivered twice; output that the sandbox no longer stores is a
    Gap. Iterate over it for the output. Closing stops reading, not the command."""

    def __init__(self, transport: AsyncTransport, sandbox: str, execution: str, offset: int) -> None:
        self._transport = transport
        self._sandbox = sandbox
        self.id = execution
        """Unique within the sandbox; ``sandbox.execution(id, offset)`` continues it later."""
        self.offset = offset
        """Offset of the next output."""
        self.exit: Optional[Exit] = None
        """How the command ended, once all output is read."""
        self._stream = AsyncReconnectingStream(
            transport, lambda _: self._path("output", offset=self.offset)
        )

    def _path(self, *parts: str, **query: Union[str, int, bool]) -> str:
        return api_path("sandboxes", self._sandbox, "executions", self.id, *parts, **query)

    async def info(self) -> ExecutionInfo:
        return await self._transport.get(self._path(), ExecutionInfo.read)

    async def read(self) -> Optional[Output]:
        """Waits for the next output. Returns None once the command has exited and all output is
        read."""
        while self.exit is None:
            piece = await self._stream.next(self._decode)
            if self.exit is not None:
                await self._stream.disconnect()
            if piece is not None:
                return piece
        return None

    def _decode(self, event: SseEvent) -> Optional[Output]:
        fields = event_fields(event)
        piece: Optional[Output] = None
        if event.type == "output":
            piece = output_data(fields, self.offset)
        elif event.type == "gap":
            gap = Gap(fields.integer("offset"), fields.integer("lost"))
            piece = gap if gap.end > self.offset else None
        elif event.type == "exit":
            self.exit = Exit.read(fields.document)
        elif event.type == "error":
            raise stream_error(fields.document)
        if piece is not None:
            self.offset = piece.end
        return piece

    async def __aiter__(self) -> AsyncIterator[Output]:
        while True:
            piece = await self.read()
            if piece is None:
                return
            yield piece

    async def wait(
        self,
        *,
        on_stdout: Optional[Callable[[str], object]] = None,
        on_stderr: Optional[Callable[[str], object]] = None,
        on_gap: Optional[Callable[[Gap], object]] = None,
    ) -> Exit:
        """Passes the remaining output to the callbacks as text, discards what has none, and returns
        how the command ended."""
        callbacks = TextCallbacks(on_stdout, on_stderr, on_gap)
        while True:
            piece = await self.read()  # Unread output would block the command.
            if piece is None:
                break
            callbacks.accept(piece)
        callbacks.end()
        assert self.exit is not None
        return self.exit

    async def copy_to(self, out: BinaryIO, err: BinaryIO) -> Exit:
        """Copies the remaining output, each channel to its file, and returns how the command ended."""
        while True:
            piece = await self.read()
            if piece is None:
                break
            if isinstance(piece, Data):
                (err if piece.channel == "stderr" else out).write(piece.bytes)
        assert self.exit is not None
        return self.exit

    async def write_stdin(self, data: Union[str, bytes]) -> None:
        """Writes to the input of a command that was started with it. Returns when the command's side
        has accepted the bytes."""
        await self._stdin(data.encode("utf-8") if isinstance(data, str) else data, False)

    async def close_stdin(self) -> None:
        await self._stdin(b"", True)

    async def _stdin(self, data: bytes, close: bool) -> None:
        # No timeout: the command may read slowly.
        await self._transport.upload(
            "POST", self._path("stdin", close=close), lambda _: None, data, timeout=None
        )

    async def signal(self, signal: Union[str, int]) -> None:
        """Sends a signal such as TERM, SIGTERM or 15."""
        await self._transport.call("POST", self._path("signal"), lambda _: None, {"signal": str(signal)})

    async def kill(self) -> None:
        """Kills the command and all its descendants."""
        await self.signal("KILL")

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> AsyncExecution:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
