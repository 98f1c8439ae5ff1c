"""Output of commands, changes of files, events: what streams deliver."""

from __future__ import annotations

import base64
import binascii
import json
from codecs import getincrementaldecoder
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Callable, Dict, Mapping, Optional, Union

from ._fields import Fields
from ._sse import MalformedStream, SseEvent


@dataclass(frozen=True)
class Data:
    """Output of a command. Offsets count the bytes of all channels together, from 0."""

    channel: str
    """``stdout``, ``stderr`` or, for both on a terminal, ``terminal``."""
    offset: int
    bytes: bytes

    @property
    def end(self) -> int:
        """The offset after the last byte."""
        return self.offset + len(self.bytes)

    @property
    def text(self) -> str:
        """The bytes decoded as UTF-8. A character may be cut at either end."""
        return self.bytes.decode("utf-8", "replace")


@dataclass(frozen=True)
class Gap:
    """Output that the sandbox no longer stores, because it was read too late."""

    offset: int
    lost: int

    @property
    def end(self) -> int:
        return self.offset + self.lost


Output = Union[Data, Gap]


@dataclass(frozen=True)
class FileChange:
    """A change in a watched folder. ``kind`` is created, modified, removed, moved_from, moved_to,
    attributes, overflow (changes were lost: list the folder) or gone (the folder was removed)."""

    kind: str
    path: str
    is_folder: bool


@dataclass(frozen=True)
class Event:
    """A lifecycle event. Pass ``number`` as ``after`` to continue behind it."""

    number: int
    type: str
    at: datetime
    sandbox: Optional[str]
    data: Mapping[str, Any]
    document: Mapping[str, Any] = field(repr=False, compare=False, default_factory=dict)

    @staticmethod
    def read(document: object) -> "Event":
        fields = Fields(document)
        return Event(
            fields.integer("number"),
            fields.text("type"),
            fields.time("at"),
            fields.optional("sandbox", fields.text),
            fields.object("data") if fields.has("data") else {},
            fields.document,
        )


def event_fields(event: SseEvent) -> Fields:
    return Fields(parse_json(event.data))


def parse_json(text: Union[str, bytes]) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as e:
        raise MalformedStream("the server sent malformed JSON") from e


def output_data(fields: Fields, offset: int) -> Optional[Data]:
    """Reads an output event; returns its part at and after an offset, or None if there is none."""
    content = fields.text("data")
    if fields.text("encoding") == "base64":
        try:
            raw = base64.b64decode(content, validate=True)
        except binascii.Error as e:
            raise MalformedStream("an output event has invalid base64 data") from e
    else:
        raw = content.encode("utf-8", "surrogatepass")
    start = fields.integer("offset")
    data = Data(fields.text("channel"), start, raw)
    if data.end <= offset:
        return None
    return data if start >= offset else Data(data.channel, offset, raw[offset - start :])


class TextCallbacks:
    """Passes output to callbacks as text, in which no character is cut."""

    def __init__(
        self,
        on_stdout: Optional[Callable[[str], object]],
        on_stderr: Optional[Callable[[str], object]],
        on_gap: Optional[Callable[[Gap], object]],
    ) -> None:
        self._on_gap = on_gap
        decoder = getincrementaldecoder("utf-8")
        self._channels: Dict[str, Any] = {
            channel: (action, decoder("replace"))
            for channel, action in (("stdout", on_stdout), ("stderr", on_stderr))
            if action is not None
        }

    def accept(self, piece: Output) -> None:
        if isinstance(piece, Gap):
            if self._on_gap is not None:
                self._on_gap(piece)
        elif piece.channel in self._channels:
            action, decoder = self._channels[piece.channel]
            text = decoder.decode(piece.bytes)
            if text:
                action(text)

    def end(self) -> None:
        for action, decoder in self._channels.values():
            rest = decoder.decode(b"", True)
            if rest:
                action(rest)
