"""check_claims.py ROOT: docs/claims.md has all claims, and what it names as their proof exists.

A proof is a test (`path: Suite.name`, the path relative to martello/ or to the repository), a program that the
CMakeLists.txt beside it names, a decision, or a part that is still to come.
"""
import pathlib
import re
import sys

NUM_CLAIMS = 141
ROW = re.compile(r"^\| (\d+) \| .+? \| (.+) \|$", re.MULTILINE)
TEST = re.compile(r"`([\w/]+_test\.cc): (\w+)\.(\w+)`")
PROGRAM = re.compile(r"`((?:tests/programs|examples|docs/examples)/[\w/]+\.cc)`")
LATER = re.compile(r"Later: (several devices|distribution|checkpoints)")


def strange_names(proof):
    for name in re.findall(r"`([^`]*\.cc[^`]*)`", proof):
        if not (TEST.fullmatch(f"`{name}`") or PROGRAM.fullmatch(f"`{name}`")):
            yield f"'{name}' is neither a test nor a program"


def find(root, path):
    return next((p for p in (root / "martello" / path, root / path) if p.is_file()), None)


def missing_tests(root, proof):
    for path, suite, name in TEST.findall(proof):
        source = find(root, path)
        if source is None:
            yield f"there is no {path}"
        elif not re.search(rf"TEST(_F|_P)?\({suite},\s*{name}\)", source.read_text()):
            yield f"{path} has no test {suite}.{name}"


def missing_programs(root, proof):
    for path in PROGRAM.findall(proof):
        source = root / path
        build = source.parent / "CMakeLists.txt"
        if not source.is_file() or not re.search(rf"\b{source.stem}\b", build.read_text()):
            yield f"no test runs {path}"


def faults(root):
    rows = ROW.findall((root / "docs/claims.md").read_text())
    numbers = [int(n) for n, _ in rows]
    if numbers != list(range(1, NUM_CLAIMS + 1)):
        yield f"claims 1 to {NUM_CLAIMS} in order are expected; there are {len(numbers)}: {numbers}"
    for number, proof in rows:
        if not (TEST.search(proof) or PROGRAM.search(proof) or LATER.search(proof) or "Decision" in proof):
            yield f"claim {number} has no proof: {proof}"
        for fault in [*strange_names(proof), *missing_tests(root, proof), *missing_programs(root, proof)]:
            yield f"claim {number}: {fault}"


def main():
    found = list(faults(pathlib.Path(sys.argv[1])))
    print("\n".join(found))
    sys.exit(1 if found else 0)


main()
