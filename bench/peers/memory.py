"""Memory of a process in MiB, as Linux counts it: what the peers print beside their times.

`base_mb` is what the process holds when the framework is imported, before the first model; `peak_mb` the most that it
held while the figure was taken. Their difference is the work's own memory.
"""
import ctypes, gc


def status_mb(key):
    for line in open("/proc/self/status"):
        if line.startswith(key + ":"):
            return int(line.split()[1]) / 1024
    raise KeyError(f"/proc/self/status has no line {key}")


class Memory:
    """Made after the imports."""

    def __init__(self):
        self.base = status_mb("VmRSS")

    def start(self):
        """Gives freed memory back to the system and starts the peak from what is left."""
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        with open("/proc/self/clear_refs", "w") as f:
            f.write("5")

    def figures(self):
        return dict(base_mb=round(self.base, 1), peak_mb=round(status_mb("VmHWM"), 1))
