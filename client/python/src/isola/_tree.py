"""Packs a local folder as a tar archive, and unpacks an archive that is not trusted."""

from __future__ import annotations

import os
import stat
import tarfile
from pathlib import Path
from typing import BinaryIO, Dict, Iterator, List, Optional, Tuple, Union

CHUNK = 64 * 1024
MAX_ENTRIES = 1_000_000
MAX_DEPTH = 512
MAX_HEADER = 1 << 20


class BadArchive(ValueError):
    """An archive that cannot be read, or that contains entries that are not allowed."""


def pack(folder: Union[str, "os.PathLike[str]"]) -> Iterator[bytes]:
    """Packs the content of a folder, while the result is read. Links are packed as links."""
    root = os.path.realpath(folder)
    if not os.path.isdir(root):
        raise NotADirectoryError(f"{folder} is not a folder")
    for parent, folders, files in os.walk(root, onerror=_raise):
        folders.sort()
        for name in sorted(folders + files):
            path = os.path.join(parent, name)
            yield from _entry(path, os.path.relpath(path, root))
    yield bytes(2 * tarfile.BLOCKSIZE)


def _raise(error: OSError) -> None:
    raise error


def _entry(path: str, name: str) -> Iterator[bytes]:
    status = os.lstat(path)
    entry = tarfile.TarInfo(name)
    entry.mode = stat.S_IMODE(status.st_mode)
    entry.mtime = int(status.st_mtime)
    if stat.S_ISLNK(status.st_mode):
        entry.type, entry.mode, entry.linkname = tarfile.SYMTYPE, 0o777, os.readlink(path)
    elif stat.S_ISDIR(status.st_mode):
        entry.type = tarfile.DIRTYPE
    elif stat.S_ISREG(status.st_mode):
        entry.size = status.st_size
    else:
        raise OSError(f"{path} is not a file, folder or link")
    # The names of this format are bytes as they are in the file system.
    yield entry.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")
    if entry.isreg():
        yield from _content(path, entry.size)


def _content(path: str, size: int) -> Iterator[bytes]:
    left = size
    with open(path, "rb") as file:
        while left > 0:
            chunk = file.read(min(CHUNK, left))
            if not chunk:
                raise OSError(f"{path} became shorter while it was read")
            left -= len(chunk)
            yield chunk
    yield bytes(-size % tarfile.BLOCKSIZE)


class TreeUnpacker:
    """Unpacks an archive from the chunks it is given. Nothing is written outside of the folder: names
    cannot contain "..", nothing is written through a link, and links may only point inside."""

    def __init__(self, folder: Union[str, "os.PathLike[str]"]) -> None:
        os.makedirs(folder, exist_ok=True)
        self.skipped: List[str] = []
        """Links that were skipped because they point outside."""
        self._root = Path(os.path.realpath(folder))
        self._buffer = bytearray()
        self._left = 0  # bytes of the content of the current entry, with padding
        self._padding = 0
        self._file: Optional[BinaryIO] = None
        self._after: Optional[Tuple[Path, int, int]] = None  # path, mode and time of the current file
        self._extension: Optional[Tuple[bytes, bytearray]] = None  # type and content of an extended header
        self._long: Dict[str, str] = {}
        self._modes: Dict[Path, int] = {}
        self._entries = 0
        self._ended = False

    def feed(self, chunk: bytes) -> None:
        """Unpacks what is complete. After the end of the archive everything is ignored."""
        self._buffer += chunk
        while not self._ended and self._step():
            pass
        if self._ended:
            self._buffer.clear()

    def _step(self) -> bool:
        if self._left > 0:
            return self._take()
        if len(self._buffer) < tarfile.BLOCKSIZE:
            return False
        block = bytes(self._buffer[: tarfile.BLOCKSIZE])
        del self._buffer[: tarfile.BLOCKSIZE]
        if not any(block):
            self._ended = True
        else:
            self._header(block)
        return True

    def _take(self) -> bool:
        if not self._buffer:
            return False
        taken = bytes(self._buffer[: self._left])
        del self._buffer[: self._left]
        self._left -= len(taken)
        content = taken[: max(0, len(taken) - max(0, self._padding - self._left))]
        if self._extension is not None:
            self._extension[1].extend(content)
        elif self._file is not None:
            self._file.write(content)
        if self._left == 0:
            self._end_content()
        return True

    def _end_content(self) -> None:
        if self._extension is not None:
            kind, content = self._extension
            self._extension = None
            self._extend(kind, bytes(content))
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._after is not None:
            path, mode, modified = self._after
            self._after = None
            os.chmod(path, mode)
            os.utime(path, (modified, modified))

    def _header(self, block: bytes) -> None:
        try:
            entry = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except tarfile.HeaderError as e:
            raise BadArchive(f"the archive is damaged: {e}") from e
        self._padding = -entry.size % tarfile.BLOCKSIZE
        if entry.type in (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE):
            if not 0 <= entry.size <= MAX_HEADER:
                raise BadArchive(f"a header of the archive is longer than {MAX_HEADER} bytes")
            self._extension = (entry.type, bytearray())
            self._left = entry.size + self._padding
            if self._left == 0:
                self._end_content()
            return
        self._entries += 1
        if self._entries > MAX_ENTRIES:
            raise BadArchive(f"the archive has more than {MAX_ENTRIES} entries")
        entry.name = self._long.pop("path", entry.name)
        entry.linkname = self._long.pop("linkpath", entry.linkname)
        size = self._long.pop("size", "")
        if size:
            entry.size = int(size) if size.isascii() and size.isdigit() else -1
            self._padding = -entry.size % tarfile.BLOCKSIZE
        self._long.clear()
        self._create(entry)

    def _extend(self, kind: bytes, content: bytes) -> None:
        if kind == tarfile.GNUTYPE_LONGNAME:
            self._long["path"] = _text(content.rstrip(b"\0"))
        elif kind == tarfile.GNUTYPE_LONGLINK:
            self._long["linkpath"] = _text(content.rstrip(b"\0"))
        elif kind == tarfile.XHDTYPE:
            self._long.update(_records(content))

    def _create(self, entry: tarfile.TarInfo) -> None:
        segments = _segments(entry.name)
        if entry.isreg() and segments:
            if entry.size < 0:
                raise BadArchive(f"{entry.name} has no valid size")
            path = self._replace(segments)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
            self._file = os.fdopen(os.open(path, flags, 0o600), "wb")
            self._after = (path, entry.mode & 0o777, max(0, int(entry.mtime)))
            self._left = entry.size + self._padding
            if self._left == 0:
                self._end_content()
            return
        self._left = 0
        if not segments:
            return  # the folder itself
        if entry.isdir():
            self._modes[self._folder(segments)] = entry.mode & 0o777
        elif entry.issym():
            if _stays_inside(len(segments) - 1, entry.linkname):
                os.symlink(entry.linkname, self._replace(segments))
            else:
                self.skipped.append(f"{entry.name} -> {entry.linkname}")
        elif entry.islnk():
            self._hard_link(entry.name, segments, entry.linkname)
        else:
            raise BadArchive(f"{entry.name} is not a file, folder or link in the archive")

    def _hard_link(self, name: str, segments: List[str], target: str) -> None:
        first = _segments(target)
        source = self._folder(first[:-1]) / first[-1] if first else self._root
        if not source.is_file() or source.is_symlink():
            raise BadArchive(f"the archive links {name} to a missing file: {target}")
        os.link(source, self._replace(segments), follow_symlinks=False)

    def _folder(self, segments: List[str]) -> Path:
        """Returns a folder, creating what is missing. Never follows a link."""
        path = self._root
        for segment in segments:
            path = path / segment
            if path.is_symlink() or (path.exists() and not path.is_dir()):
                raise BadArchive(f"{path} exists and is not a folder")
            if not path.exists():
                path.mkdir(0o700)
        return path

    def _replace(self, segments: List[str]) -> Path:
        """Returns the path of an entry, after removing an existing file or link."""
        path = self._folder(segments[:-1]) / segments[-1]
        if path.is_dir() and not path.is_symlink():
            raise BadArchive(f"{path} exists and is a folder")
        if os.path.lexists(path):
            path.unlink()
        return path

    def finish(self) -> List[str]:
        """Ends an archive that is complete and returns the skipped links. Sets the modes of folders
        last, because files could not be created in a read-only folder."""
        if not self._ended:
            raise BadArchive("the archive is truncated")
        for path, mode in reversed(list(self._modes.items())):
            os.chmod(path, mode)
        return self.skipped

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _records(content: bytes) -> Dict[str, str]:
    """Reads the records of an extended header: LENGTH KEYWORD=VALUE, a line each."""
    records: Dict[str, str] = {}
    while content and content[:1] != b"\0":
        digits, _, rest = content.partition(b" ")
        if not digits.isdigit() or len(digits) > 7 or not len(digits) + 1 < int(digits) <= len(content):
            raise BadArchive("an extended header of the archive is damaged")
        record = content[len(digits) + 1 : int(digits)].rstrip(b"\n")
        key, _, value = record.partition(b"=")
        records[_text(key)] = _text(value)
        content = content[int(digits) :]
    return {key: value for key, value in records.items() if key in ("path", "linkpath", "size")}


def _segments(name: str) -> List[str]:
    segments = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or "\0" in name or ".." in segments:
        raise BadArchive(f"the archive contains a path outside of the folder: {name!r}")
    if len(segments) > MAX_DEPTH:
        raise BadArchive(f"the archive is nested deeper than {MAX_DEPTH} folders")
    return segments


def _stays_inside(depth: int, target: str) -> bool:
    """Whether a link points inside of the folder. ".." is allowed only at the beginning: elsewhere its
    meaning would depend on other links."""
    if not target or target.startswith("/") or "\0" in target:
        return False
    parts = [part for part in target.split("/") if part not in ("", ".")]
    up = 0
    while up < len(parts) and parts[up] == "..":
        up += 1
    return up <= depth and ".." not in parts[up:]
