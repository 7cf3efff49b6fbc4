"""dev.py ROOT: ./dev refuses what it does not know before it installs or builds anything."""
import pathlib
import subprocess
import sys

from headers import report

# Arguments, and what the refusal must say.
REFUSALS = [
    (["toast"], "there is no job 'toast'"),
    (["run", "toast"], "there is no example 'toast'"),
    (["test", "--onednn=4"], "--onednn=4 is unknown: write --onednn=3"),
    (["test", "--onednn="], "--onednn= is unknown"),
    (["bench", "--onednn", "3"], "--onednn is unknown"),
    (["lint", "--onednn=3"], "run, test and bench, not with lint"),
]


def main():
    dev, faults = pathlib.Path(sys.argv[1], "dev").resolve(), []
    for arguments, text in REFUSALS:
        result = subprocess.run([dev, *arguments, "--no-install"], capture_output=True, text=True)
        if result.returncode != 1 or text not in result.stderr or result.stdout:
            faults.append(f"./dev {' '.join(arguments)}: expected a refusal that says \"{text}\", got status "
                          f"{result.returncode} and:\n{result.stdout}{result.stderr}")
    report(faults)


main()
