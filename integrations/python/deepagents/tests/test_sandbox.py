"""The adapter, and an agent with a scripted model, against the server that ISOLA_URL names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from deepagents import create_deep_agent
from isola import Sandbox
from isola_deepagents import IsolaSandbox
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage


class ScriptedModel(GenericFakeChatModel):
    """Says what it was told to say, in place of a language model."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox.create() as created:
        yield created


def test_commands(sandbox: Sandbox) -> None:
    backend = IsolaSandbox(sandbox)
    assert backend.id == sandbox.id
    answer = backend.execute("echo one; echo two >&2; exit 3")
    assert answer.exit_code == 3
    assert sorted(answer.output.split()) == ["one", "two"]
    assert not answer.truncated


def test_a_command_that_takes_too_long_is_ended(sandbox: Sandbox) -> None:
    answer = IsolaSandbox(sandbox).execute("echo begun; sleep 60", timeout=1)
    assert answer.exit_code == 124
    assert answer.output.startswith("begun\n")


def test_long_output_is_cut_and_the_command_ends(sandbox: Sandbox) -> None:
    answer = IsolaSandbox(sandbox, max_output=1000).execute("head -c 3000000 /dev/zero | tr '\\0' x; exit 4")
    assert answer.truncated
    assert answer.exit_code == 4
    assert answer.output == "x" * 1000


def test_a_signal_is_an_exit_code(sandbox: Sandbox) -> None:
    assert IsolaSandbox(sandbox).execute("kill -9 $$").exit_code == 137


def test_files(sandbox: Sandbox) -> None:
    backend = IsolaSandbox(sandbox)
    sent = backend.upload_files([("/tmp/a/b.bin", b"\0\xff"), ("relative", b""), ("/tmp/a", b"")])
    assert [one.error for one in sent] == [None, "invalid_path", "is_directory"]
    got = backend.download_files(["/tmp/a/b.bin", "/tmp/none", "/tmp/a", "relative"])
    assert [one.error for one in got] == [None, "file_not_found", "is_directory", "invalid_path"]
    assert got[0].content == b"\0\xff"


def test_operations_of_the_base_class(sandbox: Sandbox) -> None:
    backend = IsolaSandbox(sandbox)
    assert backend.write("/tmp/notes/one.txt", "alpha\nbeta\n").error is None
    assert backend.edit("/tmp/notes/one.txt", "beta", "gamma").error is None
    assert b"gamma" in (backend.download_files(["/tmp/notes/one.txt"])[0].content or b"")
    listed = backend.ls("/tmp/notes")
    assert [entry["path"].rsplit("/", 1)[-1] for entry in listed.entries or []] == ["one.txt"]


def test_an_agent_uses_the_sandbox(sandbox: Sandbox) -> None:
    model = ScriptedModel(
        messages=iter(
            [
                AIMessage(
                    "",
                    tool_calls=[
                        {"name": "execute", "args": {"command": "echo $((6 * 7)); hostname"}, "id": "1"}
                    ],
                ),
                AIMessage("It is 42."),
            ]
        )
    )
    agent = create_deep_agent(model=model, backend=IsolaSandbox(sandbox))
    answer = agent.invoke({"messages": [("user", "What is six times seven?")]})
    results = [message for message in answer["messages"] if isinstance(message, ToolMessage)]
    assert "42" in str(results[0].content)
    assert answer["messages"][-1].content == "It is 42."
