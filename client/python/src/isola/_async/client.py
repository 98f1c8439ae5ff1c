"""Client of a server."""

from __future__ import annotations

import re
import uuid
from typing import List, Mapping, Optional, Sequence, Tuple, Union

from .._fields import Fields
from .._options import Options, api_path
from .._requests import create_document
from ..errors import client_error
from ..models import (
    CreateSandboxRequest,
    NetworkRequest,
    ProviderInfo,
    ResourceRequest,
    SandboxInfo,
    VolumeMountRequest,
)
from .sandbox import AsyncSandbox
from .stores import AsyncSecrets, AsyncSnapshots, AsyncVolumes
from .transport import AsyncTransport
from .watch import AsyncEventStream

CREATE_TIMEOUT = 600.0
MAX_SANDBOXES = 100_000


class AsyncIsola:
    """Client of an Isola server. The URL and the key are those of ``ISOLA_URL`` and ``ISOLA_API_KEY``
    unless they are given. Close it when done.

    ``timeout`` is that of short requests and ``reconnect_for`` how long streams and terminals try to
    reconnect, in seconds; ``attempts`` is how often a request that is safe to repeat is sent in total.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        api_key: Optional[str] = None,
        *,
        timeout: float = 60.0,
        reconnect_for: float = 30.0,
        attempts: int = 3,
    ) -> None:
        self._transport = AsyncTransport(Options.of(url, api_key, timeout, reconnect_for, attempts))

    @property
    def url(self) -> str:
        return self._transport.options.url

    async def create(
        self,
        spec: Optional[CreateSandboxRequest] = None,
        *,
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
        """Creates a sandbox. If the response is lost, the request is repeated with the same idempotency
        key, so that no second sandbox is created. Closing the handle destroys the sandbox, unless it
        is detached.

        ``spec`` may have any field of the API; arguments replace its fields. ``network`` is a mode or
        an object of the API, ``volumes`` maps folders to names of volumes, times are in seconds."""
        document = create_document(
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
        created = await self._transport.call(
            "POST",
            api_path("sandboxes"),
            lambda page: Fields(page).text("id"),
            document,
            timeout=CREATE_TIMEOUT,
            idempotent=True,
            headers={"Idempotency-Key": str(uuid.uuid4())},
        )
        return AsyncSandbox(self._transport, created, destroy_on_close=True)

    def sandbox(self, sandbox: str) -> AsyncSandbox:
        """Returns a handle to an existing sandbox, without checking that it exists. Closing it leaves
        the sandbox running."""
        return AsyncSandbox(self._transport, sandbox, destroy_on_close=False)

    async def resolve(self, reference: str) -> AsyncSandbox:
        """Returns a handle to the sandbox with this id, this name, or an id that begins with it, in
        this order. Raises NotFound if there is none, Conflict if several ids begin with it."""
        if re.fullmatch("[a-z0-9]{20}", reference):
            return self.sandbox(reference)
        found = await self.list(reference=reference) if reference else []
        exact = [one for one in found if one.id == reference] or [
            one for one in found if one.name == reference
        ]
        if len(exact or found) == 1:
            return self.sandbox((exact or found)[0].id)
        if found:
            raise client_error(
                "CONFLICT",
                f"'{reference}' is ambiguous: " + ", ".join(one.id for one in found[:5]),
                "use more characters of the id, or the name",
            )
        raise client_error(
            "SANDBOX_NOT_FOUND", f"no sandbox has the name or id '{reference}'", "list the sandboxes"
        )

    async def list(
        self,
        *,
        states: Sequence[str] = (),
        tags: Optional[Mapping[str, str]] = None,
        provider: Optional[str] = None,
        reference: Optional[str] = None,
    ) -> List[SandboxInfo]:
        """Lists sandboxes, oldest first; without ``states`` all but the destroyed ones."""
        found: List[SandboxInfo] = []
        cursor: Optional[str] = None
        while True:
            page, cursor = await self._transport.get(
                api_path(
                    "sandboxes",
                    limit=1000,
                    state=states,
                    tag=[f"{name}={value}" for name, value in (tags or {}).items()],
                    provider=provider,
                    ref=reference,
                    cursor=cursor,
                ),
                _page,
            )
            found += page
            if cursor is None or len(found) >= MAX_SANDBOXES:
                return found

    async def events(
        self,
        *,
        types: Sequence[str] = (),
        sandboxes: Sequence[str] = (),
        after: Optional[int] = None,
    ) -> AsyncEventStream:
        """Opens a stream of events; ``after`` is the number of an event of the past."""
        return await AsyncEventStream(self._transport, types, sandboxes, after).connect()

    async def providers(self) -> List[ProviderInfo]:
        return await self._transport.get(
            api_path("providers"), lambda page: Fields(page).list("providers", ProviderInfo.read)
        )

    @property
    def snapshots(self) -> AsyncSnapshots:
        return AsyncSnapshots(self._transport, self)

    @property
    def volumes(self) -> AsyncVolumes:
        return AsyncVolumes(self._transport)

    @property
    def secrets(self) -> AsyncSecrets:
        return AsyncSecrets(self._transport)

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def __aenter__(self) -> AsyncIsola:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _page(document: object) -> Tuple[List[SandboxInfo], Optional[str]]:
    fields = Fields(document)
    return fields.list("sandboxes", SandboxInfo.read), fields.optional("next", fields.text)
