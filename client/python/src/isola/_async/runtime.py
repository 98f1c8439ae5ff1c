"""What differs between the clients: this one waits in coroutines."""

from __future__ import annotations

import asyncio
from asyncio import Lock
from typing import Any, Callable, TypeVar

T = TypeVar("T")

__all__ = ["Lock", "connect_websocket", "run_blocking", "sleep"]


async def sleep(seconds: float) -> None:
    await asyncio.sleep(seconds)


async def run_blocking(function: Callable[..., T], *arguments: Any) -> T:
    """Runs a function that uses the disk in a thread."""
    return await asyncio.get_running_loop().run_in_executor(None, lambda: function(*arguments))


async def connect_websocket(uri: str, **options: Any) -> Any:
    from websockets.asyncio.client import connect

    return await connect(uri, **options)
