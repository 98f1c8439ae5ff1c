"""What a server stores: snapshots, volumes and secrets; and the egress and ports of a sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union, cast

from .._fields import Fields
from .._options import api_path
from .._preview import Preview
from ..models import (
    CollectedGarbage,
    CreateSandboxRequest,
    EgressReport,
    EgressRequest,
    EgressRuleDict,
    PortInfo,
    PortLink,
    SandboxToken,
    SecretInfo,
    SnapshotDiff,
    SnapshotInfo,
    VolumeInfo,
)
from .files import AsyncFiles
from .transport import AsyncTransport

if TYPE_CHECKING:
    from .client import AsyncIsola
    from .sandbox import AsyncSandbox

SLOW_TIMEOUT = 600.0


class AsyncSnapshots:
    """Snapshots of a server. ``sandbox.snapshot()`` takes one."""

    def __init__(self, transport: AsyncTransport, client: AsyncIsola) -> None:
        self._transport = transport
        self._client = client

    async def list(self) -> List[SnapshotInfo]:
        return await self._transport.get(
            api_path("snapshots"), lambda page: Fields(page).list("snapshots", SnapshotInfo.read)
        )

    async def get(self, snapshot: str) -> SnapshotInfo:
        return await self._transport.get(api_path("snapshots", snapshot), SnapshotInfo.read)

    async def restore(self, snapshot: str, spec: Optional[CreateSandboxRequest] = None) -> AsyncSandbox:
        """Creates a sandbox with the files of a snapshot; the processes of a snapshot of memory
        continue."""
        return await self._client.create(spec, image="snapshot:" + snapshot)

    async def diff(self, snapshot: str, to: str) -> SnapshotDiff:
        return await self._transport.get(api_path("snapshots", snapshot, "diff", to=to), SnapshotDiff.read)

    async def remove(self, snapshot: str) -> None:
        """Removes a snapshot. ``collect_garbage`` frees its space."""
        await self._transport.call(
            "DELETE", api_path("snapshots", snapshot), lambda _: None, timeout=SLOW_TIMEOUT
        )

    async def collect_garbage(self) -> CollectedGarbage:
        """Frees data that no snapshot references. Requires a key with scope admin."""
        return await self._transport.call(
            "POST", api_path("gc", "snapshots"), CollectedGarbage.read, {}, timeout=SLOW_TIMEOUT
        )


class AsyncVolumes:
    """Volumes of a server. To mount one, name it in ``volumes`` of a sandbox."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(self, name: str, *, provider: Optional[str] = None) -> VolumeInfo:
        body = {"name": name} if provider is None else {"name": name, "provider": provider}
        return await self._transport.call(
            "POST", api_path("volumes"), VolumeInfo.read, body, timeout=SLOW_TIMEOUT
        )

    async def list(self) -> List[VolumeInfo]:
        return await self._transport.get(
            api_path("volumes"), lambda page: Fields(page).list("volumes", VolumeInfo.read)
        )

    async def get(self, name: str) -> VolumeInfo:
        return await self._transport.get(api_path("volumes", name), VolumeInfo.read)

    async def remove(self, name: str) -> None:
        """Removes a volume with its files. Fails while a sandbox mounts it."""
        await self._transport.call(
            "DELETE", api_path("volumes", name), lambda _: None, timeout=SLOW_TIMEOUT
        )

    def files(self, name: str) -> AsyncFiles:
        """Returns the files of a volume; paths are relative to its root. Moving, globbing and changing
        modes are only possible in a sandbox that mounts it."""
        return AsyncFiles(self._transport, "volumes", name)


class AsyncSecrets:
    """Secrets of a server. No method returns a value. Storing and removing requires a key with scope
    admin."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> List[SecretInfo]:
        """Lists the secrets that the key may use; all of them with scope admin."""
        return await self._transport.get(
            api_path("secrets"), lambda page: Fields(page).list("secrets", SecretInfo.read)
        )

    async def get(self, name: str) -> SecretInfo:
        return await self._transport.get(api_path("secrets", name), SecretInfo.read)

    async def put(
        self, name: str, value: str, hosts: Sequence[str], *, keys: Sequence[str] = ()
    ) -> SecretInfo:
        """Stores a secret, or replaces it. ``hosts`` receive the value: names, or ``*.suffix``;
        ``keys`` are the names of the API keys that may use it, empty for every key."""
        body: Dict[str, Any] = {"value": value, "hosts": list(hosts)}
        if keys:
            body["keys"] = list(keys)
        return await self._transport.call("PUT", api_path("secrets", name), SecretInfo.read, body)

    async def remove(self, name: str) -> None:
        """Removes a secret. Sandboxes that use it keep running without the value."""
        await self._transport.call("DELETE", api_path("secrets", name), lambda _: None)


class AsyncEgress:
    """The hosts that a sandbox in network mode ``filtered`` reaches."""

    def __init__(self, transport: AsyncTransport, sandbox: str) -> None:
        self._transport = transport
        self._sandbox = sandbox

    async def report(self) -> EgressReport:
        """Returns the rules that apply and the traffic of the sandbox."""
        return await self._transport.get(self._path(), EgressReport.read)

    async def replace(self, settings: EgressRequest, *, close_existing: bool = False) -> EgressReport:
        """Replaces all settings; new connections follow them at once. ``close_existing`` ends open
        connections that the new settings deny."""
        path = api_path("sandboxes", self._sandbox, "egress", closeExisting=close_existing)
        return await self._transport.call("PUT", path, EgressReport.read, cast(Mapping[str, Any], settings))

    async def allow(self, host: str, *ports: int) -> EgressReport:
        """Allows a host, in addition to the present rules: a name, ``*.suffix``, ``*``, an address or
        a block of addresses; on all ports if none is given."""
        return await self._add("allow", host, ports)

    async def deny(self, host: str, *ports: int) -> EgressReport:
        """Denies a host; see ``allow``."""
        return await self._add("deny", host, ports)

    async def _add(self, action: str, host: str, ports: Sequence[int]) -> EgressReport:
        rule: Dict[str, Any] = {action: host}
        if ports:
            rule["ports"] = list(ports)
        return await self.add(cast(EgressRuleDict, rule))

    async def add(self, rule: EgressRuleDict) -> EgressReport:
        """Adds a rule as in ``network.egress.rules`` of a spec."""
        return await self._transport.call(
            "POST", self._path("allow"), EgressReport.read, cast(Mapping[str, Any], rule)
        )

    def _path(self, *parts: str) -> str:
        return api_path("sandboxes", self._sandbox, "egress", *parts)


class AsyncPorts:
    """Ports of a sandbox that are reachable as previews."""

    def __init__(self, transport: AsyncTransport, sandbox: AsyncSandbox) -> None:
        self._transport = transport
        self._sandbox = sandbox

    def _path(self, *parts: Union[str, int]) -> str:
        return api_path("sandboxes", self._sandbox.id, "ports", *(str(part) for part in parts))

    async def list(self) -> List[PortInfo]:
        """Lists the ports that the spec exposes and the public ports."""
        return await self._transport.get(
            self._path(), lambda page: Fields(page).list("ports", PortInfo.read)
        )

    async def get(self, port: int) -> PortInfo:
        """Describes a port. The server connects to it to learn whether a process listens."""
        return await self._transport.get(self._path(port), PortInfo.read)

    async def set_public(self, port: int, public: bool) -> PortInfo:
        """Makes a port public, or reachable only with a key or a link."""
        return await self._transport.call("PUT", self._path(port), PortInfo.read, {"public": public})

    async def link(self, port: int, ttl: int, *, by_path: bool = False) -> PortLink:
        """Creates a link for a browser, for ``ttl`` seconds. The site is its own origin, or with
        ``by_path`` a path of the server."""
        body: Dict[str, Any] = {"ttlSeconds": ttl}
        if by_path:
            body["form"] = "path"
        return await self._transport.call("POST", self._path(port, "link"), PortLink.read, body)

    async def preview(self, port: int, ttl: int = 3600) -> Preview:
        """Returns the site on a port, for programs, with a token that opens the ports of this sandbox
        and nothing else for ``ttl`` seconds. Does not check that a process listens."""
        token: SandboxToken = await self._sandbox.token("preview", ttl)
        return Preview(self._transport.options.url + self._path(port), port, token)
