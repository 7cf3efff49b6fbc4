"""umbrella.py ROOT COMPILER: <martello/martello.h> costs a user under a second and brings in no banned header."""
import pathlib
import resource
import subprocess
import sys
import tempfile

from headers import BANNED, report

LIMIT_SECONDS = 1.0
# What these cost on a machine that is quiet: one that takes longer for them may take longer for us.
STANDARD_HEADERS = ["algorithm", "functional", "map", "memory", "optional", "set", "string", "vector"]
STANDARD_SECONDS = 0.38


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


def least_seconds(commands):
    """Of each command, the least of eight: a busy machine adds, never takes away."""
    rounds = [[user_seconds(command + ["-fsyntax-only"]) for command in commands] for _ in range(8)]
    return [min(times) for times in zip(*rounds)]


def main():
    root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:

        def compilation(name, headers):
            source = pathlib.Path(folder, name)
            source.write_text("".join(f"#include <{h}>\n" for h in headers) + "int main() {}\n")
            return [compiler, "-std=c++20", "-O0", f"-I{root}", str(source)]

        command = compilation("empty.cc", ["martello/martello.h"])
        seconds, standard = least_seconds([command, compilation("standard.cc", STANDARD_HEADERS)])
        headers = dependencies(command)
    limit = LIMIT_SECONDS * max(1, standard / STANDARD_SECONDS)
    print(f"<martello/martello.h>: {seconds:.2f} s of {limit:.2f} s, {len(headers)} files; standard {standard:.2f} s")
    faults = [f"brings in {h}" for h in headers if not h.startswith(str(root)) and banned(h)]
    if seconds > limit:
        faults.append(f"costs {seconds:.2f} s, more than {limit:.2f} s")
    report(faults)


main()
