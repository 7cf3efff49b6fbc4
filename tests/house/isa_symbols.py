"""isa_symbols.py ROOT OBJECTS NM: code of an instruction-set level stays in its namespace.

The linker keeps one copy of an inline function. Were it the one compiled for x86-64-v4, the program would die on a
machine without AVX-512. So a kernel object may define shared (weak) functions only in namespaces v2, v3, v4; a helper
from elsewhere that is not inlined is made static or moved into the level's namespace.
"""
import pathlib
import re
import subprocess
import sys

from headers import report


def weak_functions(nm, path):
    lines = subprocess.run([nm, "--defined-only", str(path)], check=True, capture_output=True, text=True).stdout
    for line in lines.splitlines():
        _, kind, name = line.split(" ", 2)
        if kind in "WVu":
            yield name


def readable(name):
    return subprocess.run(["c++filt", name], capture_output=True, text=True).stdout.strip() or name


def main():
    nm, faults = sys.argv[3], []
    for path in filter(None, pathlib.Path(sys.argv[2]).read_text().split("\n")):
        for name in weak_functions(nm, path):
            if not re.search(r"2v[234]", name):
                faults.append(f"{path}: {readable(name)} is shared by all levels. "
                              "Make it static, or move it into namespace MARTELLO_ISA.")
    report(faults)


main()
