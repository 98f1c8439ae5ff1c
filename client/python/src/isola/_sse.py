"""Parses server-sent events. Does no input or output; shared by both clients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List

MAX_EVENT = 8 << 20


class StreamEnded(Exception):
    """The connection ended, but not the stream."""


class MalformedStream(ValueError):
    """A stream that is not one of server-sent events, or an event that is too long."""


@dataclass(frozen=True)
class SseEvent:
    """An event. Without data it is only an id: the position of the stream."""

    type: str
    data: str
    id: str


class SseParser:
    """Collects bytes and returns the events that are complete. Holds at most one event."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0
        self._type = "message"
        self._id = ""
        self._data: List[str] = []
        self._size = 0

    def feed(self, chunk: bytes) -> List[SseEvent]:
        self._buffer += chunk
        events: List[SseEvent] = []
        start = 0
        while True:
            end = self._buffer.find(b"\n", max(start, self._searched))
            if end < 0:
                break
            self._line(bytes(self._buffer[start:end]).rstrip(b"\r").decode("utf-8", "replace"), events)
            start = end + 1
            self._searched = start
        del self._buffer[:start]
        self._searched = len(self._buffer)
        if len(self._buffer) > MAX_EVENT:
            raise MalformedStream(f"a line is longer than {MAX_EVENT} bytes")
        return events

    def _line(self, line: str, events: List[SseEvent]) -> None:
        if not line:
            if self._data or self._id:
                events.append(SseEvent(self._type, "\n".join(self._data), self._id))
            self._type, self._id, self._data, self._size = "message", "", [], 0
            return
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "event":
            self._type = value
        elif name == "id":
            self._id = value
        elif name == "data":
            self._size += len(value) + 1
            if self._size > MAX_EVENT:
                raise MalformedStream(f"an event is longer than {MAX_EVENT} bytes")
            self._data.append(value)
