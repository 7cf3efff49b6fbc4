"""ResNet-20 on 10,000 images of Fashion-MNIST, trained by Martello and by PyTorch: do both reach the same accuracy?

usage: accuracy.py --build build/release [--epochs 4] [--images 10000] [--threads 2] [--seeds 3] [--peer-seeds 5]
                   [--save NAME]

Our mean must lie within two standard deviations of PyTorch's; the exit status is 1 when it does not. The table and its
numbers are written after each seed, to bench/results/NAME.md and NAME.json with `--save NAME`, else to accuracy.md and
accuracy.json in the build folder.
"""
import argparse, statistics, sys
from pathlib import Path

from report import HERE, ROOT, Failed, commit, environment, json_lines, machine, versions, write

SECONDS = 3600  # for one seed


def commands(args):
    """(program, command, seeds)"""
    options = [x for name in ("epochs", "images", "threads") for x in (f"--{name}", str(getattr(args, name)))]
    ours = [str(args.build / "bench" / "accuracy" / "accuracy_resnet20")]
    yield "martello", ours + options, args.seeds
    yield "torch", [sys.executable, str(HERE / "torch_accuracy.py")] + options, args.peer_seeds


def train(command, program, seed, args):
    found = list(json_lines(command + ["--seed", str(seed)], environment(args.threads), SECONDS))
    if not found:
        raise Failed("printed no figure")
    print(f"{program} seed {seed}: {100 * found[0]['accuracy']:.2f} % in {found[0]['seconds']:.0f} s", file=sys.stderr,
          flush=True)
    return found[0]


def mean_and_deviation(rows):
    values = [100 * row["accuracy"] for row in rows]
    return statistics.mean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def verdict(rows, args):
    if any(len(rows[program]) < count for program, _, count in commands(args)):
        return None, "Not all seeds have run."
    ours, (peer, deviation) = mean_and_deviation(rows["martello"])[0], mean_and_deviation(rows["torch"])
    is_met = abs(ours - peer) <= 2 * deviation
    return is_met, f"Our mean is {ours - peer:+.2f} points from PyTorch's, {'within' if is_met else 'not within'} two of " \
                   f"its standard deviations ({2 * deviation:.2f})."


def table(rows, args):
    lines = ["| program | test accuracy of each seed | mean | deviation | last epoch's loss | seconds of the fastest |",
             "|---|---|---:|---:|---:|---:|"]
    for program, runs in rows.items():
        if not runs:
            continue
        mean, deviation = mean_and_deviation(runs)
        loss, seconds = statistics.mean(row["loss"] for row in runs), min(row["seconds"] for row in runs)
        each = ", ".join(f"{100 * row['accuracy']:.2f}" for row in runs)
        lines.append(f"| {program} | {each} | {mean:.2f} % | {deviation:.2f} | {loss:.4f} | {seconds:.0f} |")
    return "\n".join(lines + ["", verdict(rows, args)[1]]) + "\n"


def save(rows, args, origin):
    head = f"# Accuracy against PyTorch\n\n{origin}\nResNet-20 (projection shortcuts) on the first {args.images} training " \
           f"images of Fashion-MNIST, {args.epochs} epochs of batches of 100 with momentum 0.9, a cosine from 0.1 to 0, " \
           "weight decay 1e-4 of kernels and no augmentation; accuracy on the 10,000 test images.\n\n"
    folder = ROOT / "bench/results" if args.save else args.build
    write(folder, args.save or "accuracy", head + table(rows, args), rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path)
    for name, default in (("epochs", 4), ("images", 10000), ("threads", 2), ("seeds", 3), ("peer-seeds", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--save", metavar="NAME")
    args, rows = parser.parse_args(), {"martello": [], "torch": []}
    origin = f"{machine()}, commit {commit()}; {args.threads} threads; {versions({'torch'})}."
    for program, command, count in commands(args):
        for seed in range(1, count + 1):
            try:
                rows[program].append(train(command, program, seed, args))
            except Failed as e:
                print(f"{program} seed {seed} {e}", file=sys.stderr, flush=True)
            save(rows, args, origin)
    print(table(rows, args))
    sys.exit(0 if verdict(rows, args)[0] else 1)


if __name__ == "__main__":
    main()
