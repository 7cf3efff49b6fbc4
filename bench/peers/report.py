"""What run.py and accuracy.py share: running programs that print JSON lines, and what a report says about its origin."""
import contextlib, json, os, platform, signal, subprocess, sys, tempfile, threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class Failed(Exception):
    """A program that could not be started, ended badly, took too long or printed nonsense."""


def environment(threads):
    env = dict(os.environ, OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads), JAX_PLATFORMS="cpu",
               TF_CPP_MIN_LOG_LEVEL="3", TF_USE_LEGACY_KERAS="1", CUDA_VISIBLE_DEVICES="")
    env["XLA_FLAGS"] = env.get("XLA_FLAGS", "")
    return env


def end(program):
    """With all that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)


def json_lines(command, env, seconds):
    """Yields the JSON objects that a program prints, as they come. Raises Failed in the end unless it succeeded."""
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        try:
            program = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=errors, text=True,
                                       start_new_session=True)
        except OSError as e:
            raise Failed(f"cannot be started: {e}") from e
        timer = threading.Timer(seconds, end, [program])
        timer.start()
        try:
            for line in program.stdout:
                if line.startswith("{"):
                    yield json.loads(line)
            code = program.wait()
        except json.JSONDecodeError as e:
            raise Failed(f"printed a line that is no JSON: {e}") from e
        finally:
            is_late = not timer.is_alive()
            timer.cancel()
            end(program)
            program.wait()
        if is_late:
            raise Failed(f"was stopped after {seconds} s")
        if code != 0:
            errors.seek(0)
            raise Failed(f"ended with status {code}: {errors.read()[-1000:].strip()}")


def machine():
    """Names of virtual processors do not tell generations apart; family and model do."""
    fields = dict(map(str.strip, line.split(":", 1)) for line in open("/proc/cpuinfo") if ":" in line)
    name, family, model = (fields.get(key, "?") for key in ("model name", "cpu family", "model"))
    return f"{name} (family {family}, model {model}), {os.cpu_count()} cores, {platform.system()} {platform.release()}"


def commit():
    git = ["git", "-C", str(ROOT)]
    name = subprocess.run(git + ["rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    changed = subprocess.run(git + ["status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/results"],
                             capture_output=True, text=True).stdout
    return name + (" with changes" if changed else "")


def versions(wanted):
    """Of packages, as pip names them; dashes and underscores are the same."""
    done = subprocess.run([sys.executable, "-m", "pip", "list", "--format=json"], capture_output=True, text=True)
    return ", ".join(f"{p['name']} {p['version']}" for p in json.loads(done.stdout or "[]")
                     if p["name"].replace("-", "_") in wanted)


def write(folder, name, text, data):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(text)
    (folder / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n")
