"""Converted tensors on disk. A file is used only if it is the very file that was written for what is asked.

A file is `WHAT.KEY.DIGEST.tensorbin`: the key says what it was made from, the digest is over the key and the content.
So a file that is truncated, changed, or was made for another key and renamed does not match its own name, and one made
from other values has another key. Files are written aside and renamed: a killed writer leaves a file of another name.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

LIMIT = 16 << 30  # bytes; the expert of 64 layers takes 2.6 GB in bfp8
SUFFIX = ".tensorbin"  # which ttnn asks of its files
UNFINISHED = "unfinished-"
ABANDONED_S = 3600  # nothing takes an hour to write
CHUNK = 1 << 20
NAME = re.compile(r"(?P<what>[\w-]+)\.(?P<key>[0-9a-f]{32})\.(?P<digest>[0-9a-f]{32})" + re.escape(SUFFIX))


@dataclass(frozen=True)
class Entry:
    """A file of the cache: what is in it, by its name; its size; when it was last used, in s since the epoch."""

    path: Path
    what: str
    key: str
    digest: str
    size: int
    used: float


class TensorCache:
    """A folder of converted tensors, at most `limit` bytes of them: what was not used for longest goes first."""

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self.folder, self.limit = folder, limit
        folder.mkdir(parents=True, exist_ok=True)

    def find(self, key: str) -> Path | None:
        """The file made for `key`, its content verified; None if there is none. What is not whole is removed."""
        for path in self.folder.glob(f"*.{key}.*{SUFFIX}"):
            entry = _entry(path)
            if entry is None:
                continue
            try:
                if _digest(key, path) == entry.digest:
                    os.utime(path)
                    return path
                path.unlink()
            except OSError:  # another process has removed it, or the disk fails: as good as not there
                continue
        return None

    def add(self, key: str, what: str, write: Callable[[Path], None]) -> None:
        """Keep what `write` writes into the path that it is given. A folder that takes no more is no error."""
        handle, name = tempfile.mkstemp(dir=self.folder, prefix=UNFINISHED, suffix=SUFFIX)
        os.close(handle)
        aside = Path(name)
        try:
            write(aside)
            aside.replace(self.folder / f"{what}.{key}.{_digest(key, aside)}{SUFFIX}")
        except OSError:
            aside.unlink(missing_ok=True)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
        self._trim()

    def entries(self) -> list[Entry]:
        """All files, the most recently used first; not verified."""
        found = (_entry(path) for path in self.folder.glob(f"*{SUFFIX}"))
        return sorted((e for e in found if e), key=lambda e: e.used, reverse=True)

    def unfinished(self) -> list[Path]:
        """Files that are being written, or that killed writers left."""
        return list(self.folder.glob(f"{UNFINISHED}*"))

    def clear(self) -> int:
        """Remove everything that the cache wrote. Returns the bytes given back."""
        paths = [e.path for e in self.entries()] + self.unfinished()
        freed = sum(path.stat().st_size for path in paths)
        for path in paths:
            path.unlink(missing_ok=True)
        return freed

    def _trim(self) -> None:
        """Remove what exceeds the limit, and what killed writers left."""
        size = 0
        for entry in self.entries():
            size += entry.size
            if size > self.limit:
                entry.path.unlink(missing_ok=True)
        for path in self.unfinished():
            try:
                if time.time() - path.stat().st_mtime > ABANDONED_S:
                    path.unlink()
            except FileNotFoundError:
                continue


def _entry(path: Path) -> Entry | None:
    """None for a file that the cache did not name, or that has gone."""
    name = NAME.fullmatch(path.name)
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return Entry(path, name["what"], name["key"], name["digest"], stat.st_size, stat.st_mtime) if name else None


def _digest(key: str, path: Path) -> str:
    digest = hashlib.sha256(key.encode())
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()[:32]
