"""Bodies of requests."""

from __future__ import annotations

import base64
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union, cast

from .models import CreateSandboxRequest, NetworkRequest, ResourceRequest, VolumeMountRequest

Command = Union[str, Sequence[str]]
"""A command for ``/bin/sh -c``, or a program and its arguments without a shell."""


def create_document(
    spec: Optional[CreateSandboxRequest],
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
) -> Dict[str, Any]:
    """Returns the body of a create request: the spec, with the arguments that are given."""
    given: Dict[str, Any] = {
        "image": image,
        "template": template,
        "provider": provider,
        "name": name,
        "env": env,
        "secretEnv": secret_env,
        "seedFiles": None if seed_files is None else {path: content(one) for path, one in seed_files.items()},
        "tags": tags,
        "ttlSeconds": ttl,
        "idleTimeoutSeconds": idle_timeout,
        "network": {"mode": network} if isinstance(network, str) else network,
        "resources": resources,
        "volumes": _mounts(volumes),
    }
    document = cast(Dict[str, Any], dict(spec or {}))
    document.update({key: value for key, value in given.items() if value is not None})
    return document


def _mounts(
    volumes: Union[Mapping[str, str], Sequence[VolumeMountRequest], None],
) -> Optional[List[Any]]:
    if volumes is None:
        return None
    if isinstance(volumes, Mapping):
        return [
            {"type": "volume", "source": name, "destination": folder} for folder, name in volumes.items()
        ]
    return list(volumes)


def content(value: Union[str, bytes]) -> Any:
    return value if isinstance(value, str) else {"base64": base64.b64encode(value).decode("ascii")}


def command_document(
    command: Command,
    args: Sequence[str],
    env: Optional[Mapping[str, str]],
    cwd: Optional[str],
    user: Optional[str],
    timeout: Optional[float],
    tag: Optional[str],
) -> Dict[str, Any]:
    document: Dict[str, Any] = {"command": command} if isinstance(command, str) else {"argv": list(command)}
    given: Dict[str, Any] = {
        "args": list(args) or None,
        "env": env,
        "cwd": cwd,
        "user": user,
        "timeoutMs": None if timeout is None else max(1, round(timeout * 1000)),
        "tag": tag,
    }
    document.update({key: value for key, value in given.items() if value is not None})
    return document
