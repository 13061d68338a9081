"""Names a running process so that a later one with the same number is not taken for it."""

import os
from pathlib import Path


def this_process() -> str:
    """Name of the calling process."""
    return process_name(os.getpid()) or str(os.getpid())


def process_name(pid: int) -> str | None:
    """`pid:start:boot` of a running process; None when there is none (a zombie counts as ended)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return None
    # The command name in parentheses may itself hold spaces and parentheses; fields are counted after the last one.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else f"{pid}:{fields[19]}:{boot}"


def is_running(name: str) -> bool:
    """Whether the process that had this name when it was asked still runs."""
    pid = name.partition(":")[0]
    return pid.isdigit() and process_name(int(pid)) == name
