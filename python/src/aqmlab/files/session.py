"""Programs in a session of their own: however the block around one ends, none of its processes is left."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

_ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def alone(words: Sequence[str], **how: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a program as `subprocess.Popen` does, in a session of its own; kill all of it when the block ends.

    Raises:
        KeyboardInterrupt: if the user interrupts, while it starts, too: then it is killed as well.
        OSError: if it cannot be started.

    """
    process: subprocess.Popen[Any] | None = None
    try:
        with _interrupts_later():
            process = subprocess.Popen(words, start_new_session=True, **how)
        yield process
    finally:
        if process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Raise what interrupts the block when it is through: a program that has started is known by then."""
    # Only the main thread receives signals.
    is_main = threading.current_thread() is threading.main_thread()
    held = {number: signal.getsignal(number) for number in _ENDING} if is_main else {}
    came: list[int] = []
    try:
        # All are put back, even where one that comes meanwhile ends the block.
        with ExitStack() as put_back:
            for number, handler in held.items():
                # One that is ignored, or ends the process at once, stays as it is, for the program, too.
                if callable(handler):
                    put_back.callback(signal.signal, number, handler)
                    signal.signal(number, lambda number, _: came.append(number))
            yield
    finally:
        for number in came:
            signal.raise_signal(number)
