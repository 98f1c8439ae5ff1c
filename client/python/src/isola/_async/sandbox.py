"""Sandboxes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union

from .._fields import Fields
from .._options import QueryValue, api_path
from .._requests import Command, command_document, content
from ..errors import DeadlineExceeded, Gone, IsolaError, NotFound, read_problem
from ..models import (
    CreateSandboxRequest,
    ExecResult,
    ExecutionInfo,
    NetworkRequest,
    ResourceRequest,
    SandboxInfo,
    SandboxStatus,
    SandboxToken,
    SandboxUsage,
    SnapshotInfo,
    VolumeMountRequest,
)
from .execution import AsyncExecution
from .files import AsyncFiles
from .stores import AsyncEgress, AsyncPorts
from .terminal import AsyncTerminal
from .transport import AsyncTransport
from .watch import AsyncFileWatch

if TYPE_CHECKING:
    from .client import AsyncIsola

SLOW_TIMEOUT = 300.0
MAX_EXEC = 3600.0
MAX_POLL = 30.0
GRACE = 30.0


class AsyncSandbox:
    """Handle to a sandbox on a server.

    A handle that created its sandbox destroys it when it is closed, unless ``detach`` was called. A
    handle from ``AsyncIsola.sandbox`` or ``AsyncSandbox.attach_to`` leaves it running. A sandbox whose
    handle is never closed exists until it is destroyed or expires.
    """

    def __init__(
        self,
        transport: AsyncTransport,
        sandbox: str,
        *,
        destroy_on_close: bool,
        client: Optional[AsyncIsola] = None,
    ) -> None:
        self._transport = transport
        self._client = client  # closed with this handle
        self._destroy_on_close = destroy_on_close
        self.id = sandbox

    @classmethod
    async def create(
        cls,
        spec: Optional[CreateSandboxRequest] = None,
        *,
        client: Optional[AsyncIsola] = None,
        image: Optional[str] = None,
        template: Optional[str] = None,
        provider: Optional[str] = None,
        name: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        secret_env: Optional[Mapping[str, str]] = None,
        seed_files: Optional[Mapping[str, Union[str, bytes]]] = None,
        tags: Optional[Mapping[str, str]] = None,
        ttl: Optional[float] = None,
        idle_timeout: Optional[int] = None,
        network: Union[str, NetworkRequest, None] = None,
        resources: Optional[ResourceRequest] = None,
        volumes: Union[Mapping[str, str], Sequence[VolumeMountRequest], None] = None,
    ) -> AsyncSandbox:
        """Creates a sandbox; see ``AsyncIsola.create``. Without a client it is that of the server in
        the environment, and ends with this handle."""
        from .client import AsyncIsola

        owner = client or AsyncIsola()
        try:
            sandbox = await owner.create(
                spec,
                image=image,
                template=template,
                provider=provider,
                name=name,
                env=env,
                secret_env=secret_env,
                seed_files=seed_files,
                tags=tags,
                ttl=ttl,
                idle_timeout=idle_timeout,
                network=network,
                resources=resources,
                volumes=volumes,
            )
        except BaseException:
            if client is None:
                await owner.aclose()
            raise
        sandbox._client = owner if client is None else None
        return sandbox

    @classmethod
    def attach_to(cls, sandbox: str, *, client: Optional[AsyncIsola] = None) -> AsyncSandbox:
        """Returns a handle to an existing sandbox, without checking that it exists."""
        from .client import AsyncIsola

        if client is not None:
            return client.sandbox(sandbox)
        own = AsyncIsola()
        handle = own.sandbox(sandbox)
        handle._client = own
        return handle

    def _path(self, *parts: str, **query: QueryValue) -> str:
        return api_path("sandboxes", self.id, *parts, **query)

    async def info(self) -> SandboxInfo:
        return await self._transport.get(self._path(), SandboxInfo.read)

    async def status(self) -> SandboxStatus:
        """Returns the state, health, usage and latest errors. Neither resumes the sandbox nor counts as
        use of it."""
        return await self._transport.get(self._path("status"), SandboxStatus.read)

    async def usage(self) -> SandboxUsage:
        return await self._transport.get(self._path("usage"), SandboxUsage.read)

    async def wait_for_state(self, *states: str, timeout: float) -> SandboxInfo:
        """Waits until the sandbox is in one of the states: creating, running, paused, stopped, error,
        terminating or destroyed. Raises DeadlineExceeded after ``timeout`` seconds, and Conflict at
        once if it can no longer reach the state."""
        deadline = time.monotonic() + timeout
        while True:
            left = max(0.0, deadline - time.monotonic())
            poll = min(left, MAX_POLL)
            try:
                return await self._transport.get(
                    self._path("wait", state=states, timeoutMs=round(poll * 1000)),
                    SandboxInfo.read,
                    timeout=poll + GRACE,
                )
            except DeadlineExceeded:
                if left <= MAX_POLL:
                    raise

    async def exec(
        self,
        command: Command,
        *args: str,
        env: Optional[Mapping[str, str]] = None,
        cwd: Optional[str] = None,
        user: Optional[str] = None,
        timeout: Optional[float] = None,
        stdin: Union[str, bytes, None] = None,
        output_limit: Optional[int] = None,
        tag: Optional[str] = None,
    ) -> ExecResult:
        """Runs a command and waits until it exits. A text is run by ``/bin/sh -c``, with ``args`` quoted
        and appended; a list is a program and its arguments. A nonzero exit is a result, not an error.

        The command is killed if the connection breaks, and is never repeated. For commands that run
        longer than an hour, write more than 1 MiB, or whose output is needed while they run, use
        ``start``."""
        body = command_document(command, args, env, cwd, user, timeout, tag)
        if stdin is not None:
            body["stdin"] = content(stdin)
        if output_limit is not None:
            body["outputLimit"] = output_limit
        return await self._transport.call(
            "POST",
            self._path("exec"),
            ExecResult.read,
            body,
            timeout=MAX_EXEC if timeout is None else timeout + GRACE,
        )

    async def start(
        self,
        command: Command,
        *args: str,
        env: Optional[Mapping[str, str]] = None,
        cwd: Optional[str] = None,
        user: Optional[str] = None,
        timeout: Optional[float] = None,
        stdin: bool = False,
        tag: Optional[str] = None,
    ) -> AsyncExecution:
        """Starts a command in the background. With ``stdin`` its input stays open, for
        ``write_stdin``."""
        body = command_document(command, args, env, cwd, user, timeout, tag)
        body["stdin"] = stdin
        return self.execution(await self._start(body))

    async def _start(self, body: Mapping[str, Any]) -> str:
        return await self._transport.call(
            "POST", self._path("executions"), lambda started: Fields(started).text("id"), body
        )

    def execution(self, execution: str, offset: int = 0) -> AsyncExecution:
        """Returns a handle to an execution; its output starts at ``offset``."""
        return AsyncExecution(self._transport, self.id, execution, offset)

    async def executions(self) -> List[ExecutionInfo]:
        return await self._transport.get(
            self._path("executions"), lambda page: Fields(page).list("executions", ExecutionInfo.read)
        )

    async def terminal(
        self,
        command: Command = "exec ${SHELL:-/bin/sh}",
        *args: str,
        rows: int = 24,
        cols: int = 80,
        env: Optional[Mapping[str, str]] = None,
        cwd: Optional[str] = None,
        user: Optional[str] = None,
        timeout: Optional[float] = None,
        tag: Optional[str] = None,
    ) -> AsyncTerminal:
        """Starts a command on a terminal. Needs the package websockets."""
        body = command_document(command, args, env, cwd, user, timeout, tag)
        body["terminal"] = {"rows": rows, "cols": cols}
        return self.attach(await self._start(body))

    def attach(self, execution: str, offset: int = 0) -> AsyncTerminal:
        """Attaches to a command on a terminal; its output starts at ``offset``."""
        return AsyncTerminal(self._transport, self.id, execution, offset)

    @property
    def files(self) -> AsyncFiles:
        return AsyncFiles(self._transport, "sandboxes", self.id)

    @property
    def ports(self) -> AsyncPorts:
        return AsyncPorts(self._transport, self)

    @property
    def egress(self) -> AsyncEgress:
        """The hosts that the sandbox reaches; it must be in network mode ``filtered``."""
        return AsyncEgress(self._transport, self.id)

    async def watch(self, path: str, *, recursive: bool = False) -> AsyncFileWatch:
        """Watches a folder. Returns once the watch is established: later changes are reported."""
        return await AsyncFileWatch(
            self._transport, self._path("watch", path=path, recursive=recursive)
        ).establish()

    async def snapshot(
        self,
        *,
        kind: str = "filesystem",
        scope: Optional[str] = None,
        path: Optional[str] = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        tags: Optional[Mapping[str, str]] = None,
        allow_secrets: bool = False,
    ) -> SnapshotInfo:
        """Takes a snapshot of everything that the sandbox wrote, or with scope ``folder`` of its
        workspace or of ``path``. With kind ``memory`` it has the running processes too."""
        given: Dict[str, Any] = {
            "scope": scope or ("folder" if path is not None else None),
            "path": path,
            "include": list(include) or None,
            "exclude": list(exclude) or None,
            "allowSecrets": allow_secrets or None,
        }
        body: Dict[str, Any] = {"tags": dict(tags or {}), "kind": kind}
        body.update({key: value for key, value in given.items() if value is not None})
        return await self._transport.call(
            "POST", self._path("snapshots"), SnapshotInfo.read, body, timeout=MAX_EXEC
        )

    async def fork(
        self, count: int = 1, *, kind: str = "filesystem", allow_secrets: bool = False
    ) -> List[AsyncSandbox]:
        """Creates sandboxes with a copy of this sandbox's files; with kind ``memory`` its processes
        continue in each. If one of the forks fails, the others are destroyed and its error is
        raised."""
        body: Dict[str, Any] = {"count": count, "kind": kind}
        if allow_secrets:
            body["allowSecrets"] = True
        forks = await self._transport.call(
            "POST",
            self._path("fork"),
            lambda page: Fields(page).list("forks", _fork),
            body,
            timeout=MAX_EXEC,
        )
        created = [
            AsyncSandbox(self._transport, fork, destroy_on_close=True) for fork in forks if isinstance(fork, str)
        ]
        for failure in forks:
            if isinstance(failure, IsolaError):
                await _destroy_all(created)
                raise failure
        return created

    async def token(self, scope: str, ttl: int) -> SandboxToken:
        """Creates a token that is limited to this sandbox, for a client without a key: scope ``use`` for
        everything in the sandbox, ``preview`` for its ports."""
        return await self._transport.call(
            "POST", self._path("tokens"), SandboxToken.read, {"scope": scope, "ttlSeconds": ttl}
        )

    async def renew(self, ttl: float) -> SandboxInfo:
        """Sets the expiry to ``ttl`` seconds from now."""
        return await self._post("renew", {"ttlSeconds": ttl})

    async def pause(self) -> SandboxInfo:
        """Suspends all processes and keeps them in memory."""
        return await self._post("pause", {})

    async def stop(self) -> SandboxInfo:
        """Ends all processes and keeps the files."""
        return await self._post("stop", {})

    async def resume(self) -> SandboxInfo:
        """Resumes a paused or stopped sandbox."""
        return await self._post("resume", {})

    async def _post(self, operation: str, body: Mapping[str, Any]) -> SandboxInfo:
        return await self._transport.call(
            "POST", self._path(operation), SandboxInfo.read, body, timeout=SLOW_TIMEOUT
        )

    async def destroy(self, *, force: bool = False, timeout: Optional[float] = None) -> None:
        """Destroys the sandbox and returns when nothing is left of it. Idempotent. ``force`` destroys
        it even if it has unsaved work. After ``timeout`` seconds DeadlineExceeded is raised, and the
        server continues."""
        path = self._path(
            force=force or None, timeoutMs=None if timeout is None else round(timeout * 1000)
        )
        seconds = SLOW_TIMEOUT if timeout is None else timeout + GRACE
        await self._transport.call("DELETE", path, lambda _: None, timeout=seconds, idempotent=True)

    def detach(self) -> AsyncSandbox:
        """Makes closing this handle leave the sandbox running. Returns this handle."""
        self._destroy_on_close = False
        return self

    async def aclose(self) -> None:
        """Destroys the sandbox if this handle created it and was not detached. Does not fail if it no
        longer exists."""
        try:
            if self._destroy_on_close:
                await self.destroy()
                self._destroy_on_close = False
        except (NotFound, Gone):
            self._destroy_on_close = False
        finally:
            if self._client is not None and not self._destroy_on_close:
                await self._client.aclose()

    async def __aenter__(self) -> AsyncSandbox:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"


def _fork(document: object) -> Union[str, IsolaError]:
    """Reads one of the forks: the id of a sandbox, or an error."""
    fields = Fields(document)
    failure = read_problem(fields.object("error"), 0) if fields.has("error") else None
    return failure or Fields(fields.object("sandbox")).text("id")


async def _destroy_all(sandboxes: Sequence[AsyncSandbox]) -> None:
    """Destroys what a failed fork created. What cannot be destroyed expires."""
    for sandbox in sandboxes:
        try:
            await sandbox.aclose()
        except IsolaError:
            continue
