"""Reads the fields of a JSON object of the server, which is not trusted to have the right types."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any, Callable, Dict, List, Mapping, Optional, TypeVar

T = TypeVar("T")


class MalformedResponse(ValueError):
    """A response that is not what the API describes."""


class Fields:
    """The fields of one JSON object. Each method reads one field and checks its type."""

    def __init__(self, document: object) -> None:
        if not isinstance(document, dict):
            raise MalformedResponse("the response is not a JSON object")
        self.document: Dict[str, Any] = document

    def has(self, name: str) -> bool:
        return self.document.get(name) is not None

    def optional(self, name: str, read: Callable[[str], T]) -> Optional[T]:
        return read(name) if self.has(name) else None

    def any(self, name: str) -> Any:
        if name not in self.document:
            raise MalformedResponse(f"the field {name} is missing")
        return self.document[name]

    def text(self, name: str) -> str:
        return _text(self.any(name), name)

    def integer(self, name: str) -> int:
        value = self.any(name)
        if isinstance(value, bool) or not isinstance(value, int):
            raise MalformedResponse(f"the field {name} is not an integer")
        return value

    def number(self, name: str) -> float:
        value = self.any(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise MalformedResponse(f"the field {name} is not a number")
        return float(value)

    def flag(self, name: str) -> bool:
        value = self.any(name)
        if not isinstance(value, bool):
            raise MalformedResponse(f"the field {name} is not a boolean")
        return value

    def time(self, name: str) -> datetime:
        text = self.text(name)
        try:
            # fromisoformat of Python 3.9 and 3.10 takes neither Z nor nanoseconds.
            seconds, _, fraction = text.rstrip("Z").partition(".")
            micros = int(fraction[:6].ljust(6, "0")) if fraction else 0
            return datetime.fromisoformat(seconds).replace(microsecond=micros, tzinfo=timezone.utc)
        except ValueError as e:
            raise MalformedResponse(f"the field {name} is not a time in UTC") from e

    def object(self, name: str) -> Dict[str, Any]:
        value = self.any(name)
        if not isinstance(value, dict):
            raise MalformedResponse(f"the field {name} is not an object")
        return value

    def list(self, name: str, read: Callable[[Any], T]) -> List[T]:
        value = self.any(name)
        if not isinstance(value, list):
            raise MalformedResponse(f"the field {name} is not a list")
        return [read(one) for one in value]

    def texts(self, name: str) -> List[str]:
        return self.list(name, lambda one: _text(one, name))

    def text_map(self, name: str) -> Mapping[str, str]:
        return {key: _text(value, name) for key, value in self.object(name).items()}


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise MalformedResponse(f"the field {name} is not text")
    return value


class ExitCode:
    """Adds the exit code of a shell to how a command ended."""

    kind: str
    code: Optional[int]
    number: Optional[int]

    @property
    def shell_code(self) -> int:
        """The code that a shell reports: the exit code, 128 plus the number of the signal, 124 for
        a timeout, 137 for out of memory, 255 if the exit is unknown."""
        if self.kind == "exited":
            return self.code or 0
        if self.kind == "signaled":
            return 128 + (self.number or 0)
        return {"timedOut": 124, "outOfMemory": 137}.get(self.kind, 255)
