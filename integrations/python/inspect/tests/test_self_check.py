"""Inspect's own checks of a sandbox, against the server that ISOLA_URL names."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from inspect_ai.util._sandbox.self_check import *  # noqa: F403
from isola_inspect import IsolaSandboxEnvironment

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def sandbox_env() -> AsyncIterator[IsolaSandboxEnvironment]:
    environments = await IsolaSandboxEnvironment.sample_init("self-check", None, {})
    try:
        yield environments["default"].as_type(IsolaSandboxEnvironment)
    finally:
        await IsolaSandboxEnvironment.sample_cleanup("self-check", None, environments, False)
