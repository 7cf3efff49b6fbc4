"""lint.py ROOT: public headers stay light, and no file names a place on somebody's machine."""
import pathlib
import re
import sys

from headers import BANNED, includes, is_public, martello_files, report

SKIPPED_FOLDERS = {".git", "build", "__pycache__", ".cache"}
MACHINE_PATH = re.compile(rb"(?<![\w.}~-])/(?:home|root|work|Users)/\w")


def heavy_includes(root):
    for path in martello_files(root, ".h"):
        name = str(path.relative_to(root))
        if not is_public(name):
            continue
        for number, header in includes(path):
            if BANNED.search(header):
                yield f"{name}:{number}: a public header includes <{header}>. Include it in the source."
            elif header.startswith("martello/") and not is_public(header):
                yield f"{name}:{number}: a public header includes <{header}>, which is not installed."


def quoted_includes(root):
    for path in martello_files(root, ".h", ".cc", ".cu"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.match(r'\s*#\s*include\s*"', line):
                yield f"{path.relative_to(root)}:{number}: write <martello/...>, not a quoted include."


def files(folder):
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name not in SKIPPED_FOLDERS:
            yield from files(path)
        elif path.is_file():
            yield path


def machine_paths(root):
    for path in files(root):
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            match = MACHINE_PATH.search(line)
            if match:
                yield f"{path.relative_to(root)}:{number}: names a place on one machine: {match.group().decode()}..."


def main():
    root = pathlib.Path(sys.argv[1])
    report([*heavy_includes(root), *quoted_includes(root), *machine_paths(root)])


main()
