"""read_events.py WRITER [PYTHON...]: TensorBoard's own reader returns what WRITER put into an event file.

The reader is looked for in the interpreters MARTELLO_TENSORBOARD_PYTHON, this one, and those given. Exit code 77, with
the reason, when none has it.
"""
import math
import os
import subprocess
import sys
import tempfile

SKIPPED = 77


def has_tensorboard(python):
    command = [python, "-c", "from tensorboard.backend.event_processing import event_accumulator"]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


def check_scalars(events):
    loss = events.Scalars('größe/"loss"')
    assert [e.step for e in loss] == [1, 2, 3, 4, 5, 6], loss
    assert all(abs(e.value - 1 / e.step) < 1e-7 for e in loss), loss
    assert [(e.step, e.value) for e in events.Scalars("speed (steps/sec)")] == [(3, 1e6), (6, 2e6)]
    assert math.isnan(events.Scalars("bad")[0].value)
    assert events.Scalars("large")[0].value == math.inf
    assert all(a.wall_time <= b.wall_time for a, b in zip(loss, loss[1:]))


def check_others(events):
    histogram = events.Histograms("weights")[0].histogram_value
    assert (histogram.num, histogram.min, histogram.max, histogram.sum) == (100, 0, 99, 4950), histogram
    assert sum(histogram.bucket) == 100 and len(histogram.bucket) == len(histogram.bucket_limit)
    image = events.Images("picture")[0]
    assert (image.height, image.width) == (4, 6) and image.encoded_image_string[1:4] == b"PNG"
    text = events.Tensors("note")[0].tensor_proto
    assert text.string_val == [b"**bold** text"], text
    metadata = events.SummaryMetadata("note")
    assert metadata.plugin_data.plugin_name == "text", metadata


def check_graph(events):
    nodes = {node.name: node for node in events.Graph().node}
    assert nodes["layer/output"].op == "relu" and list(nodes["layer/output"].input) == ["input"]
    shape = nodes["input"].attr["_output_shapes"].list.shape[0]
    assert [dim.size for dim in shape.dim] == [-1, 3], shape


def read(folder):
    from tensorboard.backend.event_processing import event_accumulator

    events = event_accumulator.EventAccumulator(folder, size_guidance={"scalars": 0})
    events.Reload()
    check_scalars(events)
    check_others(events)
    check_graph(events)


def main():
    if sys.argv[1] == "--read":
        read(sys.argv[2])
        return
    writer, candidates = sys.argv[1], [os.environ.get("MARTELLO_TENSORBOARD_PYTHON"), sys.executable, *sys.argv[2:]]
    python = next((p for p in candidates if p and has_tensorboard(p)), None)
    if python is None:
        print("skipped: no interpreter has TensorBoard. ./dev test --full installs it, or name one that has it in "
              "MARTELLO_TENSORBOARD_PYTHON.")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([writer, folder], check=True)
        sys.exit(subprocess.run([python, __file__, "--read", folder]).returncode)


main()
