"""Commands on a terminal. Needs the package websockets: ``pip install isola[terminals]``."""

from __future__ import annotations

import json
from typing import Any, AsyncIterator, Dict, Optional, Union

from .._fields import Fields, MalformedResponse
from .._options import IDLE_TIMEOUT, Backoff, api_path, is_transient
from .._output import Data, Gap, Output, parse_json
from .._sse import MalformedStream
from ..errors import IsolaError, client_error, stream_error
from ..models import Exit
from .runtime import Lock, connect_websocket, sleep
from .transport import CONNECT_TIMEOUT, AsyncTransport

PROTOCOL = "isola.terminal.v1"
MAX_MESSAGE = 1 << 20
MAX_INPUT = 32 * 1024
PING_INTERVAL = 10.0


class AsyncTerminal:
    """A command on a terminal; iterate over it for the output. Resumes by itself after a broken
    connection or a restart of the server. Closing detaches; the command continues, and
    ``sandbox.attach(id, offset)`` continues to read."""

    def __init__(self, transport: AsyncTransport, sandbox: str, execution: str, offset: int) -> None:
        self._transport = transport
        self._sandbox = sandbox
        self.id = execution
        """Id of the execution."""
        self.offset = offset
        """Offset of the next output."""
        self.exit: Optional[Exit] = None
        """How the command ended, once all output is read."""
        self._backoff = Backoff(transport.options.reconnect_for)
        self._connecting = Lock()
        self._socket: Any = None
        self._size: Optional[Dict[str, Any]] = None
        self._repeated = 0
        self._closed = False

    def _path(self, part: str, **query: int) -> str:
        return api_path("sandboxes", self._sandbox, "executions", self.id, part, **query)

    async def read(self) -> Optional[Output]:
        """Waits for the next output. Returns None once the command has exited and all output is
        read."""
        from websockets.exceptions import WebSocketException

        while self.exit is None:
            socket = None
            try:
                socket = await self._connection()
                piece = self._decode(await socket.recv())
                self._backoff.data_received()
                if self.exit is not None:
                    await self._disconnect(socket)
                if piece is not None:
                    return piece
                continue
            except (OSError, WebSocketException) as e:
                failure = self._explained(e)
            except (MalformedResponse, MalformedStream) as e:
                failure = self._transport.unreadable(e)
            except IsolaError as e:
                failure = e
            await self._disconnect(socket)
            await self._await_retry(failure)
        return None

    async def _connection(self) -> Any:
        """Returns the connection, and opens it if there is none."""
        async with self._connecting:
            if self._closed:
                raise client_error("CANCELLED", "the terminal is closed", "attach to it again")
            if self._socket is None:
                self._socket = await self._connect()
            return self._socket

    async def _connect(self) -> Any:
        options = self._transport.options
        socket = await connect_websocket(
            "ws" + options.url[len("http") :] + self._path("terminal", offset=self.offset),
            additional_headers={"Authorization": "Bearer " + options.key},
            subprotocols=[PROTOCOL],
            compression=None,
            open_timeout=CONNECT_TIMEOUT,
            close_timeout=1,
            max_size=MAX_MESSAGE,
            ping_interval=PING_INTERVAL,
            ping_timeout=IDLE_TIMEOUT - PING_INTERVAL,
        )
        if self._size is not None:
            await socket.send(json.dumps(self._size))
        return socket

    def _explained(self, e: Exception) -> IsolaError:
        """Returns the reason for a failed connection: the problem of a rejected handshake, if any."""
        response = getattr(e, "response", None)
        if response is None:
            return self._transport.unreachable(str(e) or type(e).__name__)
        return self._transport.problem_of(
            response.status_code,
            response.body or b"",
            response.headers.get("X-Request-Id", ""),
            response.headers.get("Retry-After", ""),
        )

    async def _await_retry(self, failure: IsolaError) -> None:
        if self._closed or not is_transient(failure):
            raise failure
        await sleep(self._backoff.delay(failure))

    async def _disconnect(self, socket: Any) -> None:
        """Closes a connection. Another one that has replaced it stays."""
        if socket is None:
            return
        if self._socket is socket:
            self._socket = None
        await socket.close()

    def _decode(self, message: Union[str, bytes]) -> Optional[Output]:
        if isinstance(message, bytes):
            known = min(self._repeated, len(message))
            self._repeated -= known
            data = Data("terminal", self.offset, message[known:])
            self.offset = data.end
            return data if data.bytes else None
        fields = Fields(parse_json(message))
        kind = fields.text("type")
        if kind in ("attached", "gap"):
            return self._skip_to(fields.integer("offset"))
        if kind == "exit":
            # The message has the fields of an exit, except that the code is named exitCode.
            self.exit = Exit.read(dict({"code": fields.document.get("exitCode")}, **fields.document))
        elif kind == "error":
            raise stream_error(fields.document)
        return None

    def _skip_to(self, offset: int) -> Optional[Output]:
        self._repeated = max(0, self.offset - offset)
        if offset <= self.offset:
            return None
        gap = Gap(self.offset, offset - self.offset)
        self.offset = offset
        return gap

    async def __aiter__(self) -> AsyncIterator[Output]:
        while True:
            piece = await self.read()
            if piece is None:
                return
            yield piece

    async def wait(self) -> Exit:
        """Discards the remaining output and returns how the command ended."""
        while await self.read() is not None:
            pass  # Unread output would block the command.
        assert self.exit is not None
        return self.exit

    async def write(self, data: Union[str, bytes]) -> None:
        """Types on the terminal. Waits while the connection is lost; what was in transit then may or
        may not have arrived."""
        from websockets.exceptions import WebSocketException

        raw = data.encode("utf-8") if isinstance(data, str) else data
        backoff = Backoff(self._transport.options.reconnect_for)
        start = 0
        while start < len(raw):
            socket = None
            try:
                socket = await self._connection()
                await socket.send(raw[start : start + MAX_INPUT])
                start += MAX_INPUT
                backoff.data_received()
                continue
            except (OSError, WebSocketException) as e:
                failure = self._explained(e)
            await self._disconnect(socket)
            if self.exit is not None or not is_transient(failure):
                raise failure
            await sleep(backoff.delay(failure))

    async def resize(self, rows: int, cols: int) -> None:
        """Sets the window size; it is sent again after each reconnection."""
        await self._transport.call(
            "POST", self._path("resize"), lambda _: None, {"rows": rows, "cols": cols}
        )
        self._size = {"type": "resize", "rows": rows, "cols": cols}

    async def signal(self, signal: Union[str, int]) -> None:
        """Sends a signal such as TERM, SIGTERM or 15."""
        await self._transport.call("POST", self._path("signal"), lambda _: None, {"signal": str(signal)})

    async def aclose(self) -> None:
        self._closed = True
        await self._disconnect(self._socket)

    async def __aenter__(self) -> AsyncTerminal:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
