"""read_tensors.py WRITER [PYTHON...]: safetensors and NumPy read what WRITER wrote, and WRITER what they wrote.

The library is looked for in the interpreters MARTELLO_SAFETENSORS_PYTHON, this one, and those given. Exit code 77, with
the reason, when none has it.
"""
import os
import subprocess
import sys
import tempfile

SKIPPED = 77
DTYPES = {"f32": "float32", "f64": "float64", "f16": "float16", "i32": "int32", "i64": "int64", "u8": "uint8",
          "bool": "bool"}


def has_safetensors(python):
    try:
        return subprocess.run([python, "-c", "import safetensors.numpy"], capture_output=True).returncode == 0
    except OSError:
        return False


def expected():
    import numpy

    tensors = {f"größe/{ours}": (numpy.arange(6).reshape(2, 3) % (2 if ours == "bool" else 6)).astype(theirs)
               for ours, theirs in DTYPES.items()}
    tensors["scalar"] = numpy.array(-5, dtype="int64")
    tensors["empty"] = numpy.zeros((0, 4), dtype="float32")
    return tensors


def check_same(found):
    import numpy

    assert found.keys() == expected().keys(), found.keys()
    for name, value in expected().items():
        assert found[name].dtype == value.dtype and numpy.array_equal(found[name], value), name


def compare_safetensors(writer, folder):
    import safetensors
    import safetensors.numpy

    for name, kept in [("ours", {"by"}), ("checked", {"by", "crc32c", "crc32c_header"})]:
        path = os.path.join(folder, f"{name}.safetensors")
        subprocess.run([writer, path], check=True)
        check_same(safetensors.numpy.load_file(path))
        with safetensors.safe_open(path, "numpy") as opened:
            assert opened.metadata().keys() == kept and opened.metadata()["by"] == "martello", opened.metadata()
    theirs = os.path.join(folder, "theirs.safetensors")
    safetensors.numpy.save_file(expected(), theirs, {"by": "numpy"})
    subprocess.run([writer, "--check", theirs], check=True)


def compare_npz(writer, folder):
    import numpy

    path = os.path.join(folder, "ours.npz")
    subprocess.run([writer, path], check=True)
    with numpy.load(path) as found:
        check_same(dict(found))
    for save in numpy.savez, numpy.savez_compressed:
        theirs = os.path.join(folder, "theirs.npz")
        save(theirs, **expected())
        subprocess.run([writer, "--check", theirs], check=True)


def compare(writer):
    with tempfile.TemporaryDirectory() as folder:
        compare_safetensors(writer, folder)
        compare_npz(writer, folder)


def main():
    writer, pythons = sys.argv[1], sys.argv[2:]
    if pythons == ["--here"]:
        return compare(writer)
    named = os.environ.get("MARTELLO_SAFETENSORS_PYTHON")
    for python in [named] * bool(named) + [sys.executable, *pythons]:
        if has_safetensors(python):
            sys.exit(subprocess.run([python, __file__, writer, "--here"]).returncode)
    print("skipped: the Python package safetensors is not installed; `./dev test --full` installs it.")
    sys.exit(SKIPPED)


main()
