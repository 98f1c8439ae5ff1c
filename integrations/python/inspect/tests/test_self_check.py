"""Inspect's own checks of a sandbox, against the server that ISOLA_URL names.

ISOLA_SPEC is the path of a create request; the checks need an image in which users can be added, and a user
who is not root.
"""

import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from inspect_ai.util._sandbox.self_check import *  # noqa: F403
from isola_inspect import IsolaSandboxEnvironment

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def sandbox_env() -> AsyncIterator[IsolaSandboxEnvironment]:
    config = os.environ.get("ISOLA_SPEC")
    environments = await IsolaSandboxEnvironment.sample_init("self-check", config, {})
    try:
        yield environments["default"].as_type(IsolaSandboxEnvironment)
    finally:
        await IsolaSandboxEnvironment.sample_cleanup("self-check", config, environments, False)
