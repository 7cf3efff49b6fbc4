"""umbrella.py ROOT COMPILER: <martello/martello.h> costs a user under a second and brings in no banned header."""
import pathlib
import resource
import subprocess
import sys
import tempfile

from headers import BANNED, report

LIMIT_SECONDS = 1.0
MOST_ROUNDS = 30


def user_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def dependencies(command):
    rule = subprocess.run(command + ["-M"], check=True, capture_output=True, text=True).stdout
    return [word for word in rule.split(":", 1)[1].split() if word != "\\"]


def banned(header):
    """A path such as .../include/spdlog/spdlog.h or .../c++/12/chrono holds a banned name after some slash."""
    parts = pathlib.PurePath(header).parts
    return any(BANNED.search("/".join(parts[i:])) for i in range(1, len(parts)))


def least_seconds(command):
    """Until it is within the limit: a busy machine adds, never takes away."""
    least = float("inf")
    for _ in range(MOST_ROUNDS):
        least = min(least, user_seconds(command + ["-fsyntax-only"]))
        if least <= LIMIT_SECONDS:
            break
    return least


def main():
    root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "empty.cc")
        source.write_text("#include <martello/martello.h>\nint main() {}\n")
        command = [compiler, "-std=c++20", "-O0", f"-I{root}", str(source)]
        seconds = least_seconds(command)
        headers = dependencies(command)
    print(f"<martello/martello.h>: {seconds:.2f} s of {LIMIT_SECONDS} s, {len(headers)} files")
    faults = [f"brings in {h}" for h in headers if not h.startswith(str(root)) and banned(h)]
    if seconds > LIMIT_SECONDS:
        faults.append(f"costs {seconds:.2f} s, more than {LIMIT_SECONDS} s")
    report(faults)


main()
