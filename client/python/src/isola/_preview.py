"""Ports of sandboxes as web sites."""

from __future__ import annotations

from typing import Mapping

from .models import SandboxToken


class Preview:
    """A port of a sandbox as a web site, for programs. Its addresses are paths of the server. Requests
    carry a token in ``headers`` that never reaches the sandbox."""

    def __init__(self, prefix: str, port: int, token: SandboxToken) -> None:
        self._prefix = prefix
        self.port = port
        self.token = token

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers that a request must have."""
        return {"X-Isola-Token": self.token.token}

    def url(self, path: str = "/") -> str:
        """Returns the address of a path of the site, such as ``/search?q=a%20b``."""
        if not path.startswith("/"):
            raise ValueError(f"the path '{path}' does not start with a slash")
        return self._prefix + path

    def __repr__(self) -> str:
        return f"Preview({self._prefix}/)"
