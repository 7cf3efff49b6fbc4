"""Whole training steps in Martello and its peers, one after another on the same machine, and a table of ratios.

usage: run.py --build build/release [--works tiny,mlp@16,...] [--precision bf16] [--threads 2] [--rounds 3] [--save NAME [--add]]

Every round runs each program once for each work, in a process of its own. Every time, ours too, is the best of its
rounds: a shared machine may slow one program down by half, never speed it up. Memory is what the work adds to a process
that has loaded its libraries; of several rounds, our largest and a peer's smallest. Before and after each program
`martello_bench machine` tells how far two cores are apart: virtual ones may be moved, and what shared a cache before then
does not (docs/benchmarks.md). So the table also compares the best times of one and the same state. It names programs
beside which others took processor time, and those that fail; the others go on. `--precision bf16` compares our products
in bf16 with ours in f32 and with PyTorch under autocast. NAME@BATCH is a work with another batch size, which must reach
the same; PyTorch and JAX have it.

The table and its numbers are written after each round, to bench/results/NAME.md and NAME.json with `--save NAME`, else
to peers.md and peers.json in the build folder. With `--add` the rounds are further ones of what is saved there, for works
whose first rounds were disturbed: all programs of such a work run again, the best of all rounds counts, and the table
names all commits that rounds were measured at. The exit status is 1 when a bar is missed or could not be checked.
"""
import argparse, json, os, resource, sys, time
from pathlib import Path

from report import HERE, ROOT, Failed, commit, environment, json_lines, machine, versions, write

WORKS_OF = {"keras": {"mlp", "mlp_trainer", "mnist", "cifar", "resnet50", "lstm"}, "tensorpack": {"mlp", "mlp_trainer", "mnist"}}
OURS_F32 = "martello f32"
TRAINER, PREDICT = "mlp_trainer", "mnist_predict"
# What a work must reach, as a multiple of a peer's speed; "best" is the fastest of them.
BARS = {
    "tiny": {"jax jit": 2.0, "torch eager": 10.0},
    "mlp": {"jax jit": 1.5, "torch eager": 2.2},
    TRAINER: {"keras keras-fit": 2.2, "keras keras-fit-xla": 2.2, "tensorpack": 1.5},
    "mnist": {"best": 1.2, "torch eager": 2.0},
    PREDICT: {"torch eager": 3.0, "jax jit": 1.2},
    "cifar": {"best": 1.1},
    "resnet50": {"best": 1.1},
    "lstm": {"best": 1.25},
    "gptmini": {"best": 1.25},
}
BF16_BARS = {"resnet50": {OURS_F32: 1.5, "best": 1.1}}
# What it may take, as a multiple of a peer's memory.
MEMORY_BARS = {"resnet50": {"torch eager": 0.8}}
SECONDS = 1800  # for one work of one program: torch.compile of the largest takes minutes
FAR_NS = 150  # from core to core and back: less where they share a cache
BUSY = 0.1  # cores that other programs may take
STATES = {"near": "cores share a cache", "far": "cores share no cache"}


def kind_of(work):
    """Without a batch size."""
    return work.partition("@")[0]


def batch_of(work):
    """0: the usual one."""
    return int(work.partition("@")[2] or 0)


class Results:
    def __init__(self, figures, failures, commits=()):
        self.figures = figures  # work -> program -> {"ms": [...], "memory_mb": [...], "state": [...]}
        self.failures = failures  # work -> program -> reason
        self.commits = list(dict.fromkeys([*commits, commit()]))  # whose rounds are in it

    def works(self):
        known = list(BARS)
        return sorted(self.figures.keys() | self.failures.keys(), key=lambda w: (known.index(kind_of(w)), batch_of(w)))

    def rounds(self, work):
        return max((len(f["ms"]) for f in self.figures.get(work, {}).values()), default=0)

    def add(self, work, name, row, state):
        figure = self.figures.setdefault(work, {}).setdefault(name, {"ms": [], "memory_mb": [], "state": []})
        figure["ms"].append(row["ms"])
        figure["memory_mb"].append(round(row["peak_mb"] - row["base_mb"], 1))
        figure["state"].append(state)

    def fail(self, work, name, reason):
        say(f"  {name} failed at {work}: {reason}")
        self.failures.setdefault(work, {})[name] = reason


def say(text):
    print(text, file=sys.stderr, flush=True)


def programs(args):
    """(program, command, works that it has)"""
    python = sys.executable
    ours = [str(args.build / "bench" / "martello_bench"), "--threads", str(args.threads), "train"]
    torch = [python, str(HERE / "torch_peer.py"), "cpu"]
    if args.precision == "bf16":
        precision = ["--precision", "bf16"]
        yield "martello", ours + precision, set(BARS)
        yield OURS_F32, ours, set(BARS)
        yield "torch", torch + precision, set(BARS)
        return
    # In a trainer, its data through the default input pipeline; of the others, those that have one.
    trainer, predict = {TRAINER}, {PREDICT}
    yield "martello", ours, set(BARS) - trainer - predict
    yield "martello", [str(args.build / "bench" / "martello_predict_bench")], predict
    yield "martello", [str(args.build / "bench" / "martello_loop_bench")], trainer
    yield "torch", torch, set(BARS) - trainer
    yield "jax", [python, str(HERE / "jax_peer.py")], set(BARS) - trainer
    for kind, known in WORKS_OF.items():
        yield kind, [python, str(HERE / "tf_peer.py"), kind], known


def cores(args):
    """How far two of them are apart now: "near" or "far"."""
    command = [str(args.build / "bench" / "martello_bench"), "machine"]
    try:
        trip = list(json_lines(command, environment(args.threads), 60))[0]["round_trip_ns"]
    except Failed as e:
        say(f"  the distance of cores is not known: {e}")
        return "unknown"
    return "far" if trip > FAR_NS else "near"


class Others:
    """How many cores were busy with what is neither this program nor its children."""

    def __init__(self):
        self.start, self.before = time.monotonic(), self.seconds()

    @staticmethod
    def seconds():
        everything = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
        user, nice, system, _idle, _wait, irq, softirq, _stolen = map(int, everything)
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        ticks = user + nice + system + irq + softirq
        return ticks / os.sysconf("SC_CLK_TCK") - sum(u.ru_utime + u.ru_stime for u in used)

    def cores(self):
        return (self.seconds() - self.before) / (time.monotonic() - self.start)


def run_one(results, program, command, work, args):
    rows = []
    work_there = work if program == "martello" else work.removesuffix("_trainer")
    before, others = cores(args), Others()
    try:
        for row in json_lines(command + [work_there], environment(args.threads), SECONDS):
            variant = row["variant"]
            name = program if program in ("martello", OURS_F32, variant) else f"{program} {variant}"
            rows.append((name, row))
            if "error" not in row:
                say(f"  {name}: {row['ms']:.4f} ms, {row['peak_mb'] - row['base_mb']:.0f} MiB")
        if not rows:
            raise Failed("printed no figure")
    except Failed as e:
        results.fail(work, program, str(e))
    except KeyError as e:
        results.fail(work, program, f"printed a line without {e}")
    taken = others.cores()
    # Not while it runs: that would slow it down.
    after = cores(args)
    state = "busy" if taken > BUSY else after if after == before else "moved"
    if state == "busy":
        say(f"  other programs took {taken:.1f} cores meanwhile")
    for name, row in rows:
        if "error" in row:
            results.fail(work, name, row["error"])
        else:
            results.add(work, name, row, state)


def has_work(known, program, work):
    return kind_of(work) in known and (work in known or program not in WORKS_OF)


def run_round(results, number, args):
    for work in args.works:
        for program, command, known in programs(args):
            # What failed once would only take time again.
            if not has_work(known, program, work) or program in results.failures.get(work, {}):
                continue
            say(f"round {number}/{args.rounds}, {work}: {program}")
            run_one(results, program, command, work, args)


class Table:
    """The report as lines, and the bars that were missed."""

    def __init__(self, results, args):
        self.lines, self.missed = [], []
        is_bf16 = args.precision == "bf16"
        self.bars, self.memory_bars = (BF16_BARS, {}) if is_bf16 else (BARS, MEMORY_BARS)
        for work in results.works():
            rounds = results.rounds(work)
            self.lines += [f"### {work} ({rounds} round{'s' if rounds != 1 else ''})", ""]
            figures = results.figures.get(work, {})
            if "martello" in figures:
                self.add_work(work, dict(figures))
            else:
                self.missed.append(f"{work}: no figure of ours")
            for name, reason in results.failures.get(work, {}).items():
                self.lines += [f"{name} failed: {reason.splitlines()[-1] if reason else '?'}", ""]

    def add_work(self, work, figures):
        ours = figures.pop("martello")
        ms, memory = min(ours["ms"]), max(ours["memory_mb"])
        others = sorted(figures, key=lambda p: min(figures[p]["ms"]))
        best = next((p for p in others if p != OURS_F32), "best")
        bars = {best if p == "best" else p: bar for p, bar in self.bars.get(kind_of(work), {}).items()}
        memory_bars = self.memory_bars.get(work, {})
        self.lines += ["| program | ms per step | ours is faster by | at least | MiB | ours takes | at most |",
                       "|---|---:|---:|---:|---:|---:|---:|", f"| **martello** | {ms:.4f} | | | {memory:.0f} | | |"]
        for name in others:
            its_ms, its_memory = min(figures[name]["ms"]), min(figures[name]["memory_mb"])
            speed, share = its_ms / ms, memory / max(its_memory, 0.1)
            self.lines.append(f"| {name} | {its_ms:.4f} | {speed:.2f} × | {self.bar(work, name, bars, speed, 1)} | "
                              f"{its_memory:.0f} | {share:.2f} × | {self.bar(work, name, memory_bars, share, -1)} |")
        self.lines.append("")
        self.add_states(ours, figures)
        busy = [name for name, f in ({"martello": ours} | figures).items() if set(f.get("state", [])) == {"busy"}]
        if busy:
            self.lines += [f"Other programs took processor time beside every run of {', '.join(busy)}.", ""]
        for name in (bars.keys() | memory_bars.keys()) - set(others):
            self.missed.append(f"{work}: no figure of {name}, which it is compared with")

    def add_states(self, ours, figures):
        """The same comparison among figures of one state."""
        def best(figure, state):
            return min((ms for ms, s in zip(figure["ms"], figure.get("state", [])) if s == state), default=None)

        for state, meaning in STATES.items():
            ms = best(ours, state)
            times = {name: best(figure, state) for name, figure in figures.items()}
            others = sorted((its, name) for name, its in times.items() if its)
            if ms and others:
                ratios = ", ".join(f"{name} {its:.4f} ({its / ms:.2f} ×)" for its, name in others)
                self.lines += [f"While {meaning}: ours {ms:.4f} ms; {ratios}.", ""]

    def bar(self, work, name, bars, ratio, sign):
        if name not in bars:
            return ""
        if sign * ratio >= sign * bars[name]:
            return f"{bars[name]:g} ×"
        self.missed.append(f"{work}: {ratio:.2f} × {name}, {'at least' if sign > 0 else 'at most'} {bars[name]:g} ×")
        return f"{bars[name]:g} × (missed)"

    def text(self):
        verdict = ["Missed:", ""] + [f"- {line}" for line in self.missed] if self.missed else ["All bars are met."]
        return "\n".join(self.lines + verdict) + "\n"


def folder_and_name(args):
    return (ROOT / "bench/results" if args.save else args.build), args.save or "peers"


def save(results, args, packages):
    text = Table(results, args).text()
    origin = f"{machine()}, commit{'s' if len(results.commits) > 1 else ''} {', '.join(results.commits)}; " \
             f"{args.threads} threads; {packages}."
    head = f"# Training steps against peers\n\n{origin}\nConstant input, {args.precision}; times are the best of " \
           "all rounds of a program, memory is what the step adds to a process that has loaded its libraries.\n\n"
    folder, name = folder_and_name(args)
    write(folder, name, head + text, vars(results))
    return text, folder / f"{name}.md"


def arguments():
    def names(text):
        for work in text.split(","):
            kind, at, batch = work.partition("@")
            if kind not in BARS:
                raise argparse.ArgumentTypeError(f"there is no work '{kind}'; there are {', '.join(BARS)}")
            if at and (kind in (TRAINER, PREDICT) or not batch.isdigit() or int(batch) == 0):
                raise argparse.ArgumentTypeError(f"'{work}' asks for a batch that '{kind}' cannot have")
        return text.split(",")

    def positive(text):
        if not text.isdigit() or int(text) == 0:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number above 0")
        return int(text)

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--works", type=names, help="default: all that have a bar")
    parser.add_argument("--precision", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--threads", type=positive, default=2)
    parser.add_argument("--rounds", type=positive, default=3)
    parser.add_argument("--save", metavar="NAME")
    parser.add_argument("--add", action="store_true", help="further rounds of what is saved")
    args = parser.parse_args()
    args.works = args.works or list(BF16_BARS if args.precision == "bf16" else BARS)
    return args


def first_results(args):
    folder, name = folder_and_name(args)
    return Results(**json.loads((folder / f"{name}.json").read_text())) if args.add else Results({}, {})


def main():
    args, start = arguments(), time.monotonic()
    results = first_results(args)
    packages = versions({"torch", "jax", "tensorflow_cpu", "tensorpack", "keras"})
    for number in range(1, args.rounds + 1):
        try:
            run_round(results, number, args)
        except KeyboardInterrupt:
            say(f"interrupted; what there is: {save(results, args, packages)[1]}")
            sys.exit(130)
        text, path = save(results, args, packages)
        say(f"round {number}/{args.rounds} done after {(time.monotonic() - start) / 60:.0f} min: {path}")
    print(text)
    sys.exit(1 if Table(results, args).missed else 0)


if __name__ == "__main__":
    main()
