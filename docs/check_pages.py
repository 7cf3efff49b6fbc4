"""check_pages.py ROOT: code on the pages stands in compiled files, and links lead somewhere.

A fenced block marked cpp or cmake must stand, line for line, in a source or build file of the repository.
"""
import pathlib
import re
import sys

SKIPPED_FOLDERS = {".git", "build", "__pycache__", ".cache"}
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")


def files(folder):
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name not in SKIPPED_FOLDERS:
            yield from files(path)
        elif path.is_file():
            yield path


def stray_blocks(page, text, sources):
    for match in FENCED.finditer(text):
        language, block = match.groups()
        if language in ("cpp", "cmake") and not any(block in source for source in sources):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{page}:{line}: this block stands in no source or build file. Copy it from one that a test compiles."


def dead_links(page, text, folder):
    for match in LINK.finditer(FENCED.sub("", text)):
        target = match.group(1)
        if "://" not in target and not (folder / target).exists():
            yield f"{page}: the link to '{target}' leads nowhere."


def main():
    root = pathlib.Path(sys.argv[1])
    every = list(files(root))
    sources = [p.read_text() for p in every if p.suffix in (".h", ".cc", ".cmake") or p.name == "CMakeLists.txt"]
    faults = []
    for path in every:
        if path.suffix == ".md":
            page, text = path.relative_to(root), path.read_text()
            faults += [*stray_blocks(page, text, sources), *dead_links(page, text, path.parent)]
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
