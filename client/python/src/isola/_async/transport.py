"""Sends requests and reads responses."""

from __future__ import annotations

import json
import time
from collections import deque
from typing import Any, AsyncIterator, Callable, Deque, Dict, Mapping, Optional, TypeVar, Union

import httpx

from .._fields import MalformedResponse
from .._options import IDLE_TIMEOUT, NEVER_SENT, Backoff, Options, is_transient, retry_delay
from .._output import parse_json
from .._sse import MalformedStream, SseEvent, SseParser, StreamEnded
from ..errors import IsolaError, client_error, error_class, read_problem
from .runtime import sleep

T = TypeVar("T")

MAX_RESPONSE = 64 << 20
MAX_PROBLEM = 1 << 20
CONNECT_TIMEOUT = 10.0
TRAILING_TIME = 30.0


class AsyncTransport:
    """Sends requests. Repeats only what is safe to repeat: requests that were never executed, and
    requests that may be executed twice. For all others a lost response is an OutcomeUnknown."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._http = httpx.AsyncClient(
            base_url=options.url,
            # The bodies of responses are read as they are: nothing is decompressed.
            headers={"Authorization": "Bearer " + options.key, "Accept-Encoding": "identity"},
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
        )

    async def get(self, path: str, read: Callable[[object], T], timeout: Optional[float] = None) -> T:
        return await self.call("GET", path, read, timeout=timeout, idempotent=True)

    async def call(
        self,
        method: str,
        path: str,
        read: Callable[[object], T],
        body: Optional[Mapping[str, Any]] = None,
        *,
        timeout: Optional[float] = None,
        idempotent: bool = False,
        headers: Optional[Mapping[str, str]] = None,
    ) -> T:
        """Sends a request with a small body and reads the response."""
        seconds = self.options.timeout if timeout is None else timeout
        content = None if body is None else json.dumps(body).encode("utf-8")
        all_headers: Dict[str, str] = dict(headers or {})
        if content is not None:
            all_headers["Content-Type"] = "application/json"
        attempt = 1
        while True:
            try:
                response = await self._send(
                    method, path, content, all_headers, httpx.Timeout(seconds, connect=CONNECT_TIMEOUT), idempotent
                )
                raw = await self._body(response, MAX_RESPONSE, seconds, idempotent)
                return self._decode(raw, read)
            except IsolaError as e:
                delay = retry_delay(e, attempt, self.options, idempotent)
                if delay is None:
                    raise
            attempt += 1
            await sleep(delay)

    async def upload(
        self,
        method: str,
        path: str,
        read: Callable[[object], T],
        content: Union[bytes, AsyncIterator[bytes]],
        *,
        content_type: str = "application/octet-stream",
        length: Optional[int] = None,
        timeout: Optional[float],
    ) -> T:
        """Sends a body that may be large, once. The timeout applies to each step, not to the whole."""
        headers = {"Content-Type": content_type}
        if length is not None:
            headers["Content-Length"] = str(length)
        limits = httpx.Timeout(timeout, connect=CONNECT_TIMEOUT)
        response = await self._send(method, path, content, headers, limits, False)
        return self._decode(await self._body(response, MAX_RESPONSE, IDLE_TIMEOUT, False), read)

    async def open(self, path: str) -> httpx.Response:
        """Opens a stream of bytes, with retries. The caller closes it."""
        attempt = 1
        while True:
            try:
                return await self.open_once(path, {})
            except IsolaError as e:
                delay = retry_delay(e, attempt, self.options, True)
                if delay is None:
                    raise
            attempt += 1
            await sleep(delay)

    async def open_once(self, path: str, headers: Mapping[str, str]) -> httpx.Response:
        limits = httpx.Timeout(self.options.timeout, connect=CONNECT_TIMEOUT, read=IDLE_TIMEOUT)
        return await self._send("GET", path, None, headers, limits, True)

    async def chunks(self, path: str) -> AsyncIterator[bytes]:
        """Streams the body of a response."""
        response = await self.open(path)
        try:
            async for chunk in response.aiter_raw():
                yield chunk
        except httpx.HTTPError as e:
            raise self.failure(e, True) from e
        finally:
            await response.aclose()

    async def _send(
        self,
        method: str,
        path: str,
        content: Union[bytes, AsyncIterator[bytes], None],
        headers: Mapping[str, str],
        limits: httpx.Timeout,
        idempotent: bool,
    ) -> httpx.Response:
        request = self._http.build_request(method, path, content=content, headers=headers, timeout=limits)
        try:
            response = await self._http.send(request, stream=True)
        except httpx.HTTPError as e:
            raise self.failure(e, idempotent) from e
        if response.status_code // 100 == 2:
            return response
        raise self.problem(response, await self._body(response, MAX_PROBLEM, TRAILING_TIME, idempotent))

    async def _body(self, response: httpx.Response, limit: int, seconds: float, idempotent: bool) -> bytes:
        """Reads a body of limited length in limited time, and closes the response."""
        deadline = time.monotonic() + seconds
        body = bytearray()
        try:
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > limit:
                    raise client_error(
                        "INTERNAL",
                        f"the response of {self.options.url} is longer than {limit} bytes",
                        "check that the URL belongs to an Isola server",
                    )
                if time.monotonic() > deadline:
                    raise self.failure(httpx.ReadTimeout("the body took too long"), idempotent)
        except httpx.HTTPError as e:
            raise self.failure(e, idempotent) from e
        finally:
            await response.aclose()
        return bytes(body)

    def _decode(self, body: bytes, read: Callable[[object], T]) -> T:
        try:
            return read(parse_json(body) if body else {})
        except (MalformedResponse, MalformedStream) as e:
            raise self.unreadable(e) from e

    def unreadable(self, e: Exception) -> IsolaError:
        return client_error(
            "INTERNAL",
            f"the response of {self.options.url} cannot be read: {e}",
            "check that the URL belongs to an Isola server, and its version",
        )

    def problem(self, response: httpx.Response, body: bytes) -> IsolaError:
        """Returns the error of a response. Without a code it comes from a proxy or another server."""
        return self.problem_of(
            response.status_code,
            body,
            response.headers.get("X-Request-Id", ""),
            response.headers.get("Retry-After", ""),
        )

    def problem_of(self, status: int, body: bytes, request_id: str, retry_after: str) -> IsolaError:
        wait = float(retry_after) if retry_after.isascii() and retry_after.isdigit() else None
        try:
            known = read_problem(parse_json(body), status, request_id, wait)
        except MalformedStream:
            known = None
        code = f"HTTP_{status}"
        return known or error_class(code, status)(
            code,
            f"{self.options.url} responded with status {status}",
            "check that the URL belongs to an Isola server",
            status=status,
            request_id=request_id,
            retry_after=wait,
        )

    def failure(self, e: Exception, idempotent: bool) -> IsolaError:
        reason = str(e) or type(e).__name__
        if isinstance(e, httpx.TimeoutException) and not isinstance(e, NEVER_SENT):
            return client_error(
                "DEADLINE_EXCEEDED",
                f"the server at {self.options.url} did not respond in time",
                "try again" if idempotent else "check whether the request was executed, then try again",
            )
        if isinstance(e, NEVER_SENT) or idempotent:
            return self.unreachable(reason)
        return client_error(
            "OUTCOME_UNKNOWN",
            f"the connection to {self.options.url} was lost before the response: {reason}",
            "check whether the request was executed before repeating it",
        )

    def unreachable(self, reason: str) -> IsolaError:
        return client_error(
            "SERVER_UNREACHABLE",
            f"no server responds at {self.options.url}: {reason}",
            "check the URL, or start a server with isola serve",
        )

    async def aclose(self) -> None:
        await self._http.aclose()


class AsyncEventReader:
    """One connection of a stream of server-sent events."""

    def __init__(self, response: httpx.Response, backoff: Backoff) -> None:
        self._response = response
        self._backoff = backoff
        self._chunks = response.aiter_raw()
        self._parser = SseParser()
        self._events: Deque[SseEvent] = deque()
        self.last_id = ""
        """The id of the last event that was returned, or the last position after it."""

    async def next(self) -> SseEvent:
        """Waits for the next event. Fails at the end of the stream."""
        while True:
            while self._events:
                event = self._events.popleft()
                self.last_id = event.id or self.last_id
                if event.data:
                    return event
            try:
                chunk = await self._chunks.__anext__()
            except StopAsyncIteration:
                raise StreamEnded("the stream ended") from None
            self._backoff.data_received()  # A heartbeat is enough.
            self._events.extend(self._parser.feed(chunk))

    async def aclose(self) -> None:
        await self._response.aclose()


class AsyncReconnectingStream:
    """A stream of events that reconnects at its position after a broken connection or a restart of
    the server. A read that is cancelled loses nothing: the next one reconnects."""

    def __init__(self, transport: AsyncTransport, path: Callable[[str], str]) -> None:
        self._transport = transport
        self._path = path
        self._backoff = Backoff(transport.options.reconnect_for)
        self._reader: Optional[AsyncEventReader] = None
        self._last_id = ""
        self._closed = False

    async def connect(self) -> AsyncEventReader:
        path = self._path(self._last_id)
        response = await self._transport.open_once(path, {"Accept": "text/event-stream"})
        self._reader = AsyncEventReader(response, self._backoff)
        return self._reader

    async def next(self, decode: Callable[[SseEvent], T]) -> T:
        """Waits for the next event and returns it decoded."""
        while True:
            if self._closed:
                raise client_error("CANCELLED", "the stream is closed", "open it again")
            try:
                reader = self._reader or await self.connect()
                event = await reader.next()
                return decode(event)
            except (httpx.HTTPError, StreamEnded) as e:
                failure = self._transport.unreachable(str(e) or type(e).__name__)
            except (MalformedStream, MalformedResponse) as e:
                await self.disconnect()
                raise self._transport.unreadable(e) from e
            except IsolaError as e:
                await self.disconnect()
                if not is_transient(e):
                    raise
                failure = e
            await self.disconnect()
            await sleep(self._backoff.delay(failure))

    async def disconnect(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            self._last_id = reader.last_id or self._last_id
            await reader.aclose()

    async def aclose(self) -> None:
        self._closed = True
        await self.disconnect()
