"""Files of a sandbox or volume."""

from __future__ import annotations

import io
import os
from typing import (
    Any,
    AsyncIterator,
    BinaryIO,
    Callable,
    Iterable,
    Iterator,
    List,
    Optional,
    Sequence,
    Union,
)

from .._fields import Fields
from .._options import QueryValue, api_path
from .._tree import CHUNK, BadArchive, TreeUnpacker, pack
from ..errors import NotFound, client_error
from ..models import FileInfo, TreeSummary
from .runtime import run_blocking
from .transport import AsyncTransport

SLOW_TIMEOUT = 300.0
MAX_READ = 256 << 20

Content = Union[str, bytes, BinaryIO, Iterable[bytes]]
Progress = Callable[[int], object]


class AsyncFiles:
    """Files of a sandbox or volume. Content is streamed in both directions, except by ``read``."""

    def __init__(self, transport: AsyncTransport, *owner: str) -> None:
        self._transport = transport
        self._owner = owner

    def _path(self, *parts: str, **query: QueryValue) -> str:
        return api_path(*self._owner, "files", *parts, **query)

    async def stream(self, path: str) -> AsyncIterator[bytes]:
        """Streams the content of a file."""
        async for chunk in self._transport.chunks(self._path("content", path=path)):
            yield chunk

    async def read(self, path: str, *, limit: int = MAX_READ, progress: Optional[Progress] = None) -> bytes:
        """Reads a file into memory, up to ``limit`` bytes."""
        content = io.BytesIO()
        await self.copy_to(path, content, limit=limit, progress=progress)
        return content.getvalue()

    async def read_text(self, path: str) -> str:
        return (await self.read(path)).decode("utf-8")

    async def copy_to(
        self, path: str, file: BinaryIO, *, limit: Optional[int] = None, progress: Optional[Progress] = None
    ) -> int:
        """Copies a file of the sandbox to a local file that is open for writing. Returns the number of
        bytes; ``progress`` receives the number so far."""
        count = 0
        async for chunk in self._transport.chunks(self._path("content", path=path)):
            count += len(chunk)
            if limit is not None and count > limit:
                raise client_error(
                    "INVALID_REQUEST",
                    f"{path} has more than {limit} bytes",
                    "use stream or copy_to, or pass a higher limit",
                )
            await run_blocking(file.write, chunk)
            if progress is not None:
                progress(count)
        return count

    async def write(
        self,
        path: str,
        content: Content,
        *,
        mode: Optional[int] = None,
        append: bool = False,
        exclusive: bool = False,
        progress: Optional[Progress] = None,
    ) -> FileInfo:
        """Writes a file atomically and creates its parent folders. ``progress`` receives the number of
        bytes sent so far; ``exclusive`` fails if the file exists."""
        raw = content.encode("utf-8") if isinstance(content, str) else content
        to = self._path(
            "content",
            path=path,
            mode=None if mode is None else f"{mode:04o}",
            append=append or None,
            exclusive=exclusive or None,
        )
        return await self._transport.upload(
            "PUT",
            to,
            FileInfo.read,
            _sent(raw, progress),
            length=len(raw) if isinstance(raw, bytes) else None,
            timeout=self._transport.options.timeout,
        )

    async def stat(self, path: str) -> FileInfo:
        """Describes a file. Does not follow links."""
        return await self._transport.get(self._path("stat", path=path), FileInfo.read)

    async def find(self, path: str) -> Optional[FileInfo]:
        """Describes a file, or returns None if it does not exist."""
        try:
            return await self.stat(path)
        except NotFound as e:
            if e.code == "FILE_NOT_FOUND":
                return None
            raise

    async def list(self, path: str = ".", *, depth: int = 1) -> List[FileInfo]:
        """Lists a folder; at most 10,000 entries. ``depth`` is the number of levels, 0 for all."""
        return await self._transport.get(self._path(path=path, depth=depth), _entries)

    async def glob(self, path: str, pattern: str) -> List[FileInfo]:
        """Finds files below a folder by a pattern with *, ?, [a-z] and **; at most 10,000."""
        return await self._transport.get(self._path("glob", path=path, pattern=pattern), _entries)

    async def move(self, source: str, target: str, *, replace: bool = False) -> None:
        await self._post("move", {"from": source, "to": target, "replace": replace})

    async def remove(self, path: str, *, recursive: bool = False) -> None:
        """Removes a file, a link or a folder; a folder with content only if ``recursive``."""
        await self._transport.call(
            "DELETE", self._path(path=path, recursive=recursive), lambda _: None, timeout=SLOW_TIMEOUT
        )

    async def change_mode(self, path: str, mode: int) -> None:
        await self._post("mode", {"path": path, "mode": f"{mode:04o}"})

    async def make_folder(self, path: str) -> None:
        """Creates a folder and its parents. Does nothing if it exists."""
        await self._post("folder", {"path": path})

    async def _post(self, operation: str, body: Any) -> None:
        await self._transport.call(
            "POST", self._path(operation), lambda _: None, body, timeout=SLOW_TIMEOUT
        )

    async def export_tree(self, path: str, *, exclude: Sequence[str] = ()) -> AsyncIterator[bytes]:
        """Streams a folder as a tar archive."""
        async for chunk in self._transport.chunks(self._path("tree", path=path, exclude=exclude)):
            yield chunk

    async def import_tree(
        self, path: str, archive: Content, *, progress: Optional[Progress] = None
    ) -> TreeSummary:
        """Unpacks a tar archive into a folder, creating it if it does not exist."""
        return await self._transport.upload(
            "PUT",
            self._path("tree", path=path),
            TreeSummary.read,
            _sent(archive, progress),
            content_type="application/x-tar",
            timeout=max(SLOW_TIMEOUT, self._transport.options.timeout),
        )

    async def upload(
        self,
        folder: Union[str, "os.PathLike[str]"],
        path: str,
        *,
        progress: Optional[Progress] = None,
    ) -> TreeSummary:
        """Uploads the content of a local folder into a folder of the sandbox. ``progress`` receives the
        number of archive bytes sent so far."""
        return await self.import_tree(path, pack(folder), progress=progress)

    async def download(
        self,
        path: str,
        folder: Union[str, "os.PathLike[str]"],
        *,
        exclude: Sequence[str] = (),
        progress: Optional[Progress] = None,
    ) -> List[str]:
        """Downloads the content of a folder of the sandbox into a local folder. The archive is not
        trusted: nothing is written outside of the local folder, and links that point outside are
        skipped. Returns the skipped links."""
        unpacker = await run_blocking(TreeUnpacker, folder)
        count = 0
        try:
            async for chunk in self._transport.chunks(self._path("tree", path=path, exclude=exclude)):
                await run_blocking(unpacker.feed, chunk)
                count += len(chunk)
                if progress is not None:
                    progress(count)
            return await run_blocking(unpacker.finish)
        except BadArchive as e:
            raise client_error(
                "BAD_ARCHIVE", f"{path} cannot be unpacked: {e}", "read the archive with export_tree"
            ) from e
        finally:
            unpacker.close()


def _entries(document: object) -> List[FileInfo]:
    return Fields(document).list("entries", FileInfo.read)


async def _sent(content: Content, progress: Optional[Progress]) -> AsyncIterator[bytes]:
    """Reads content in pieces and reports those that were sent."""
    pieces = _pieces(content)
    count = 0
    while True:
        piece = await run_blocking(next, pieces, b"")
        if not piece:
            return
        yield piece
        count += len(piece)
        if progress is not None:
            progress(count)


def _pieces(content: Content) -> Iterator[bytes]:
    if isinstance(content, str):
        content = content.encode("utf-8")
    if isinstance(content, bytes):
        for start in range(0, len(content), CHUNK):
            yield content[start : start + CHUNK]
        return
    if hasattr(content, "read"):
        while True:
            piece = content.read(CHUNK)
            if not piece:
                return
            yield piece
    for piece in content:
        if piece:
            yield piece
