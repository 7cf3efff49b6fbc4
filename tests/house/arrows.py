"""arrows.py ROOT ARROWS: a folder includes only folders that its DEPS reach.

ARROWS has a line `folder: deps | test deps` for each folder; tests, and test_*.h that they share, may use both lists.
"""
import pathlib
import sys

from headers import includes, martello_files, report


def read_arrows(path):
    deps, test_deps = {}, {}
    for line in path.read_text().splitlines():
        folder, rest = line.split(":")
        deps[folder], test_deps[folder] = (part.split() for part in rest.split("|"))
    return deps, test_deps


def reachable(deps, starts):
    seen, todo = set(), list(starts)
    while todo:
        folder = todo.pop()
        if folder not in seen:
            seen.add(folder)
            todo += deps.get(folder, [])
    return seen


def main():
    root, (deps, test_deps) = pathlib.Path(sys.argv[1]), read_arrows(pathlib.Path(sys.argv[2]))
    faults = []
    for path in martello_files(root, ".h", ".cc", ".cu"):
        folder = path.relative_to(root / "martello").parts[0]
        if folder not in deps:
            continue
        is_test = path.stem.endswith("_test") or path.stem.startswith("test_")
        allowed = reachable(deps, [folder] + (test_deps[folder] if is_test else []))
        for number, header in includes(path):
            parts = header.split("/")
            if parts[0] == "martello" and parts[1] not in allowed:
                faults.append(
                    f"{path.relative_to(root)}:{number}: <{header}>: '{folder}' may use {sorted(allowed)}, not "
                    f"'{parts[1]}'. Move the code, or add '{parts[1]}' to DEPS if the arrow is right.")
    report(faults)


main()
