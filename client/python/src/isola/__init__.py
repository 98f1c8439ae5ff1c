"""Python SDK of Isola: sandboxes for untrusted code, behind one API.

    from isola import Sandbox

    with Sandbox.create() as sandbox:
        print(sandbox.exec("echo $((6 * 7))").stdout)

Every class has an asynchronous twin whose name begins with ``Async``.
"""

from ._async.client import AsyncIsola
from ._async.execution import AsyncExecution
from ._async.files import AsyncFiles
from ._async.sandbox import AsyncSandbox
from ._async.stores import AsyncEgress, AsyncPorts, AsyncSecrets, AsyncSnapshots, AsyncVolumes
from ._async.terminal import AsyncTerminal
from ._async.watch import AsyncEventStream, AsyncFileWatch
from ._output import Data, Event, FileChange, Gap, Output
from ._preview import Preview
from ._sync.client import Isola
from ._sync.execution import Execution
from ._sync.files import Files
from ._sync.sandbox import Sandbox
from ._sync.stores import Egress, Ports, Secrets, Snapshots, Volumes
from ._sync.terminal import Terminal
from ._sync.watch import EventStream, FileWatch
from .errors import IsolaError
from .models import ExecResult, ExecutionInfo, Exit, FileInfo, SandboxInfo, SandboxStatus, SnapshotInfo

__version__ = "0.1.0.dev0"

__all__ = [
    "AsyncEgress",
    "AsyncEventStream",
    "AsyncExecution",
    "AsyncFileWatch",
    "AsyncFiles",
    "AsyncIsola",
    "AsyncPorts",
    "AsyncSandbox",
    "AsyncSecrets",
    "AsyncSnapshots",
    "AsyncTerminal",
    "AsyncVolumes",
    "Data",
    "Egress",
    "Event",
    "EventStream",
    "ExecResult",
    "Execution",
    "ExecutionInfo",
    "Exit",
    "FileChange",
    "FileInfo",
    "FileWatch",
    "Files",
    "Gap",
    "Isola",
    "IsolaError",
    "Output",
    "Ports",
    "Preview",
    "Sandbox",
    "SandboxInfo",
    "SandboxStatus",
    "Secrets",
    "SnapshotInfo",
    "Snapshots",
    "Terminal",
    "Volumes",
]
