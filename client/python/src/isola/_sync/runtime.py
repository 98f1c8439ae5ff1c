"""What differs between the clients: this one blocks."""

from __future__ import annotations

import time
from threading import Lock
from typing import Any, Callable, TypeVar

T = TypeVar("T")

__all__ = ["Lock", "connect_websocket", "run_blocking", "sleep"]


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def run_blocking(function: Callable[..., T], *arguments: Any) -> T:
    return function(*arguments)


def connect_websocket(uri: str, **options: Any) -> Any:
    from websockets.sync.client import connect

    return connect(uri, **options)
