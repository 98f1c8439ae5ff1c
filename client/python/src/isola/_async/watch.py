"""Changes in folders, and events of sandboxes."""

from __future__ import annotations

from typing import AsyncIterator, Optional, Sequence

from .._options import api_path
from .._output import Event, FileChange, event_fields
from .._sse import SseEvent
from ..errors import stream_error
from .transport import AsyncReconnectingStream, AsyncTransport


class AsyncFileWatch:
    """Changes in a folder of a sandbox; iterate over it. After a broken connection the watch is
    established again and a change of kind ``overflow`` says that changes may be missing."""

    def __init__(self, transport: AsyncTransport, path: str) -> None:
        self._stream = AsyncReconnectingStream(transport, lambda _: path)
        self._established = False
        self._ended = False

    async def establish(self) -> AsyncFileWatch:
        try:
            while not self._established:
                await self._stream.next(self._decode)
        except BaseException:
            await self.aclose()
            raise
        return self

    async def next(self) -> Optional[FileChange]:
        """Waits for the next change. Returns None once the folder was removed."""
        while not self._ended:
            change = await self._stream.next(self._decode)
            if change is not None:
                return change
        return None

    def _decode(self, event: SseEvent) -> Optional[FileChange]:
        fields = event_fields(event)
        if event.type == "watching":
            again, self._established = self._established, True
            return FileChange("overflow", "", True) if again else None
        if event.type == "change":
            return FileChange(fields.text("kind"), fields.text("path"), fields.flag("folder"))
        if event.type == "overflow":
            return FileChange("overflow", "", True)
        if event.type == "gone":
            self._ended = True
            return FileChange("gone", "", True)
        if event.type == "error":
            raise stream_error(fields.document)
        return None

    async def __aiter__(self) -> AsyncIterator[FileChange]:
        while True:
            change = await self.next()
            if change is None:
                return
            yield change

    async def aclose(self) -> None:
        self._ended = True
        await self._stream.aclose()

    async def __aenter__(self) -> AsyncFileWatch:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class AsyncEventStream:
    """Events of sandboxes; iterate over it. Resumes by itself after a broken connection or a restart of
    the server, and never ends."""

    def __init__(
        self,
        transport: AsyncTransport,
        types: Sequence[str],
        sandboxes: Sequence[str],
        after: Optional[int],
    ) -> None:
        self._types = types
        self._sandboxes = sandboxes
        self._after = after
        self._stream = AsyncReconnectingStream(transport, self._path)

    def _path(self, position: str) -> str:
        # The server also sends its position without an event, so that a stream that got none yet
        # misses none.
        if position.isascii() and position.isdigit():
            self._after = max(int(position), self._after or 0)
        return api_path("events", type=self._types, sandbox=self._sandboxes, after=self._after)

    async def connect(self) -> AsyncEventStream:
        """Connects at once, so that no event is missed before the first read."""
        await self._stream.connect()
        return self

    async def next(self) -> Event:
        return await self._stream.next(self._decode)

    def _decode(self, event: SseEvent) -> Event:
        read = Event.read(event_fields(event).document)
        self._after = read.number
        return read

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            yield await self.next()

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> AsyncEventStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
