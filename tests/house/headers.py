"""What the checks of this folder agree on: which headers are public, and what those may not include."""
import re
import sys

BANNED = re.compile(
    r"^(oneapi/|dnnl|opencv|google/protobuf|spdlog/|nlohmann/|fmt/|omp\.h$)"
    r"|^(filesystem|regex|chrono|thread|iostream|sstream)$"
)


def martello_files(root, *suffixes):
    return sorted(p for p in (root / "martello").rglob("*") if p.suffix in suffixes)


def is_public(header):
    """`header` is relative to the repository root. The same rule stands in cmake/MartelloLibrary.cmake."""
    return not re.search(r"^martello/kernel/|/internal/|_isa\.h$", header)


def includes(path):
    """(line number, header) of each #include in a file."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if match:
            yield number, match.group(1)


def report(faults):
    """Prints the faults and ends the program."""
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)
