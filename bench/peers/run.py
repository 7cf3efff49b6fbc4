"""Whole training steps in Martello and its peers, one after another on the same machine, and a table of ratios.

usage: run.py --build build/release [--works tiny,mlp,...] [--threads 2] [--rounds 3] [--save NAME]

Every round runs each program once, and every figure, ours too, is the best of its rounds: a shared machine may slow one
program down by half, never speed it up. `--save NAME` writes bench/results/NAME.md and NAME.json with machine, commit and versions.
"""
import argparse, json, os, platform, subprocess, sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORKS_OF = {"keras": {"mlp", "mnist", "cifar", "resnet50", "lstm"}, "tensorpack": {"mlp", "mnist"}}
# What a work must reach, as a multiple of a peer's speed; "best" is the fastest of them.
BARS = {
    "tiny": {"jax jit": 2.0, "torch eager": 10.0},
    "mlp": {"jax jit": 1.5, "torch eager": 2.2},
    "mnist": {"best": 1.2, "torch eager": 2.0},
    "cifar": {"best": 1.1},
    "resnet50": {"best": 1.1},
    "lstm": {"best": 1.25},
    "gptmini": {"best": 1.25},
}


def programs(args):
    python, threads = sys.executable, str(args.threads)
    ours = [str(Path(args.build) / "bench" / "martello_bench"), "--threads", threads, "train"]
    yield "martello", ours, set(args.works)
    yield "torch", [python, str(HERE / "torch_peer.py"), "cpu"], set(args.works)
    yield "jax", [python, str(HERE / "jax_peer.py")], set(args.works)
    for kind, known in WORKS_OF.items():
        yield kind, [python, str(HERE / "tf_peer.py"), kind], known & set(args.works)


def environment(args):
    env = dict(os.environ, OMP_NUM_THREADS=str(args.threads), MKL_NUM_THREADS=str(args.threads), JAX_PLATFORMS="cpu",
               TF_CPP_MIN_LOG_LEVEL="3", TF_USE_LEGACY_KERAS="1", CUDA_VISIBLE_DEVICES="")
    env["XLA_FLAGS"] = env.get("XLA_FLAGS", "")
    return env


def figures(command, works, args):
    """(work, variant) -> milliseconds, with failures reported and left out."""
    order = [w for w in args.works if w in works]
    if not order:
        return {}
    done = subprocess.run(command + order, env=environment(args), capture_output=True, text=True)
    found = {}
    for line in done.stdout.splitlines():
        if not line.startswith("{"):
            continue
        row = json.loads(line)
        if "error" in row:
            print(f"  {row['work']} {row['variant']}: {row['error']}", file=sys.stderr)
        else:
            found[row["work"], row["variant"]] = row["ms"]
    if done.returncode != 0 or not found:
        print(f"  {' '.join(command)} failed:\n{done.stderr[-2000:]}", file=sys.stderr)
    return found


def measure(args):
    times = {}  # work -> peer -> [ms]
    for number in range(args.rounds):
        for peer, command, works in programs(args):
            print(f"round {number + 1}/{args.rounds}: {peer}", file=sys.stderr, flush=True)
            for (work, variant), ms in figures(command, works, args).items():
                name = peer if peer in ("martello", variant) else f"{peer} {variant}"
                times.setdefault(work, {}).setdefault(name, []).append(ms)
    return times


def table(times):
    lines, is_met = [], True
    for work, peers in times.items():
        if "martello" not in peers:
            lines.append(f"{work}: no figure of ours")
            is_met = False
            continue
        ours, bars = min(peers["martello"]), BARS.get(work, {})
        others = sorted((p for p in peers if p != "martello"), key=lambda p: min(peers[p]))
        lines += [f"### {work}", "", "| program | ms per step | ours is faster by | at least |", "|---|---:|---:|---:|",
                  f"| **martello** | {ours:.4f} | | |"]
        for peer in others:
            ratio, bar = min(peers[peer]) / ours, bars.get(peer, bars.get("best") if peer == others[0] else None)
            is_met = is_met and (bar is None or ratio >= bar)
            mark = "" if bar is None else f"{bar:g} ×" + ("" if ratio >= bar else " (missed)")
            lines.append(f"| {peer} | {min(peers[peer]):.4f} | {ratio:.2f} × | {mark} |")
        lines.append("")
    return "\n".join(lines), is_met


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, commit {commit.stdout.strip()}"


def versions():
    done = subprocess.run([sys.executable, "-m", "pip", "list", "--format=json"], capture_output=True, text=True)
    wanted = {"torch", "jax", "tensorflow_cpu", "tensorflow-cpu", "tensorpack", "keras"}
    return ", ".join(f"{p['name']} {p['version']}" for p in json.loads(done.stdout or "[]") if p["name"] in wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--works", default=",".join(BARS), type=lambda s: s.split(","))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--save")
    args = parser.parse_args()
    times = measure(args)
    text, is_met = table(times)
    print(text)
    if args.save:
        head = f"# Training steps against peers\n\n{machine()}; {args.threads} threads; {versions()}.\n" \
               f"Constant input, f32; best of {args.rounds} rounds for every program.\n\n"
        (ROOT / "bench/results" / f"{args.save}.md").write_text(head + text)
        (ROOT / "bench/results" / f"{args.save}.json").write_text(json.dumps(times, indent=1) + "\n")
    sys.exit(0 if is_met else 1)


if __name__ == "__main__":
    main()
