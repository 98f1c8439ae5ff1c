"""Options of a client, and the decision whether to repeat a request."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import List, Optional, Sequence, Tuple, Union
from urllib.parse import quote, urlsplit

import httpx

from .errors import IsolaError, LimitExceeded, client_error

DEFAULT_URL = "http://127.0.0.1:7777"

IDLE_TIMEOUT = 45.0
"""Idle timeout of streams in seconds. The server sends a heartbeat at least every ten."""

MAX_RETRY_DELAY = 10.0
"""Longest time in seconds to wait before a request is repeated, whatever Retry-After says."""

NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)

QueryValue = Union[str, int, bool, Sequence[str], None]


@dataclass(frozen=True)
class Options:
    """Connection options of a client. Times are in seconds."""

    url: str
    key: str = field(repr=False)
    timeout: float = 60.0
    reconnect_for: float = 30.0
    attempts: int = 3

    @staticmethod
    def of(
        url: Optional[str], api_key: Optional[str], timeout: float, reconnect_for: float, attempts: int
    ) -> "Options":
        """Returns options with the URL and the key of the environment where they are not given."""
        url = (url or os.environ.get("ISOLA_URL") or DEFAULT_URL).strip().rstrip("/")
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise client_error(
                "INVALID_REQUEST",
                f"'{url}' is not a valid server URL",
                "use a URL such as " + DEFAULT_URL,
            )
        key = api_key if api_key is not None else os.environ.get("ISOLA_API_KEY", "")
        if not key:
            raise client_error("UNAUTHENTICATED", "no API key", "set ISOLA_API_KEY, or pass api_key")
        if not all(0x20 < ord(char) < 0x7F for char in key):
            raise client_error(
                "INVALID_REQUEST",
                "the API key contains invalid characters",
                "use a key of the server, without spaces or line breaks",
            )
        return Options(url, key, timeout, reconnect_for, max(1, attempts))


def api_path(*parts: str, **query: QueryValue) -> str:
    """Returns a path of the API. Segments are percent-encoded, so that an id or a file name cannot
    change the path."""
    path = "/api/v1/" + "/".join(_segment(part) for part in parts)
    pairs: List[Tuple[str, str]] = []
    for name, value in query.items():
        if value is None:
            continue
        values = [value] if isinstance(value, (str, int)) else value
        pairs += [(name, _text(one)) for one in values]
    return path + ("?" + "&".join(f"{name}={_encode(value)}" for name, value in pairs) if pairs else "")


def _text(value: Union[str, int, bool]) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _encode(value: str) -> str:
    return quote(value, safe="", errors="surrogateescape")


def _segment(value: str) -> str:
    return value.replace(".", "%2E") if value in (".", "..") else _encode(value)


def is_transient(error: IsolaError) -> bool:
    """Whether a short delay may help. Reaching a limit usually lasts longer."""
    return error.is_retryable and not isinstance(error, LimitExceeded)


def retry_delay(error: IsolaError, attempt: int, options: Options, idempotent: bool) -> Optional[float]:
    """Returns how long to wait before a request is repeated, or None if it must not be: only a
    request that was never executed, or that may be executed twice, is repeated."""
    safe = (
        isinstance(error.__cause__, NEVER_SENT)
        or error.code == "RATE_LIMITED"
        or (idempotent and is_transient(error))
    )
    delay = max(0.1 * attempt * attempt, error.retry_after or 0.0)
    return delay if safe and attempt < options.attempts and delay <= MAX_RETRY_DELAY else None


class Backoff:
    """Delays between reconnection attempts, up to a total time without success."""

    def __init__(self, total: float) -> None:
        self._total = total
        self._failing_since: Optional[float] = None
        self._delay = 0.05

    def data_received(self) -> None:
        self._failing_since = None
        self._delay = 0.05

    def delay(self, failure: IsolaError) -> float:
        """Returns the next delay, or raises the failure if the time is up."""
        now = time.monotonic()
        if self._failing_since is None:
            self._failing_since = now
        elif now - self._failing_since > self._total:
            raise failure
        delay, self._delay = self._delay, min(1.0, self._delay * 2)
        return max(delay, min(failure.retry_after or 0.0, MAX_RETRY_DELAY))
