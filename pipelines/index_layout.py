"""Where index versions lie on disk, and how one becomes the served one: every step is atomic and survives a kill.

index/<version>/            a complete version
index/<version>.tmp-<pid>/  one that is being built, or was when its process died
index/CURRENT               name of the served version
index/PREVIOUS              name of the version served before it
index/LOCK                  held by the process that builds or switches
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipelines.errors import IndexBusy, IndexFault, IndexMissing

INDEX_DIR = "index"
CURRENT = "CURRENT"
PREVIOUS = "PREVIOUS"
LOCK = "LOCK"
TMP_MARK = ".tmp-"


class IndexLayout:
    """The `index/` folder of one data directory. Reading needs no lock; whatever changes it is called under `lock()`.

    Args:
        data_dir: PV_DATA_DIR.
        folder: another folder whose versions are kept and switched in the same way.
    """

    def __init__(self, data_dir: Path, folder: str = INDEX_DIR) -> None:
        self.root = data_dir / folder

    def directory(self, version: str) -> Path:
        """Where a version lies, whether it exists or not."""
        return self.root / version

    def current(self) -> str | None:
        """Name of the served version; None when nothing was built yet."""
        return self._read(CURRENT)

    def previous(self) -> str | None:
        """Name of the version that can be gone back to; None when there is none."""
        name = self._read(PREVIOUS)
        return name if name and name != self.current() and self.directory(name).is_dir() else None

    def require_current(self) -> str:
        """Name of the served version.

        Raises:
            IndexMissing: nothing was built yet.
        """
        name = self.current()
        if name is None:
            raise IndexMissing(f"There is no index under {str(self.root)!r}.", hint="Build it with `python -m app ingest`.")
        return name

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Holds the writers' lock; it ends with the process, however that dies.

        Raises:
            IndexBusy: another process holds it.
            IndexFault: the folder cannot be written.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            handle = (self.root / LOCK).open("a+", encoding="utf-8")
        except OSError as exc:
            raise IndexFault(
                f"The index folder {str(self.root)!r} cannot be written: {exc.strerror}.",
                hint="Check PV_DATA_DIR, its permissions and the free space.",
            ) from exc
        with handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                handle.seek(0)
                raise IndexBusy(
                    f"Process {handle.read().strip() or 'unknown'} is building the index in {str(self.root)!r}.",
                    hint="Wait until it has ended and try again.",
                ) from None
            handle.truncate(0)
            handle.write(str(os.getpid()))
            handle.flush()
            yield

    def new_directory(self, version_hint: str = "build") -> Path:
        """An empty directory to build in; its name says that it is not a version yet."""
        path = self.root / f"{version_hint}{TMP_MARK}{os.getpid()}"
        path.mkdir(parents=True)
        return path

    def free_name(self, name: str) -> str:
        """`name`, or with the first counter from 2 on that is not taken by a directory."""
        taken = {path.name for path in self.root.iterdir()}
        candidates = (name if n == 1 else f"{name}-{n}" for n in range(1, len(taken) + 2))
        return next(candidate for candidate in candidates if candidate not in taken)

    def publish(self, built: Path, version: str) -> None:
        """Makes a finished build the served version: sync, rename, switch. Readers see the old one or the new one."""
        sync_tree(built)
        os.rename(built, self.directory(version))
        sync_directory(self.root)
        self.switch(version)

    def switch(self, version: str) -> None:
        """Serves a complete version that exists; the one served so far becomes the previous one."""
        old = self.current()
        if old is not None and old != version:
            self._write(PREVIOUS, old)
        self._write(CURRENT, version)

    def clean(self) -> tuple[str, ...]:
        """Removes every directory that is neither served nor the previous version; returns the removed names, sorted."""
        keep = {self.current(), self.previous()}
        gone = sorted(path.name for path in self.root.iterdir() if path.is_dir() and path.name not in keep)
        for name in gone:
            shutil.rmtree(self.directory(name))
        for leftover in (CURRENT, PREVIOUS):
            (self.root / f"{leftover}.tmp").unlink(missing_ok=True)
        return tuple(gone)

    def _read(self, file_name: str) -> str | None:
        try:
            return (self.root / file_name).read_text(encoding="utf-8").strip() or None
        except FileNotFoundError:
            return None

    def _write(self, file_name: str, name: str) -> None:
        tmp = self.root / f"{file_name}.tmp"
        with tmp.open("w", encoding="utf-8") as handle:
            handle.write(name + "\n")
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(tmp, self.root / file_name)
        sync_directory(self.root)


def sync_directory(path: Path) -> None:
    """Makes renames inside a directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(path: Path) -> None:
    """Makes every file and directory below `path` durable."""
    for folder, _, names in os.walk(path):
        for name in names:
            descriptor = os.open(os.path.join(folder, name), os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        sync_directory(Path(folder))
