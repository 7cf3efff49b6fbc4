"""Writes martello/optim/golden_values.inc: ten steps of each optimizer in PyTorch, TensorFlow, Keras or NumPy, in f64.

usage: golden_optimizers.py OUTPUT
The gradient of w is c w + cos(w), by hand, so that all do the same.
"""
import json
import os
import subprocess
import sys

import numpy as np

C = np.array([0.5, 1.0, 2.0, 4.0])
START = np.array([1.0, -0.5, 0.25, 2.0])
STEPS = 10
# Numbers that f32 holds exactly: TensorFlow keeps options in it.
RATE, EPSILON = 0.0625, 2.0**-10


def gradient(w):
    return C * w + np.cos(w)


def with_torch(make):
    import torch

    w = torch.tensor(START, requires_grad=True)
    optimizer = make([w])
    path = []
    for _ in range(STEPS):
        w.grad = torch.tensor(gradient(w.detach().numpy()))
        optimizer.step()
        path.append(w.detach().numpy().copy())
    return path


def with_tf1(make):
    import tensorflow as tf

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        w = tf.compat.v1.get_variable("w", initializer=START, use_resource=True)
        fed = tf.compat.v1.placeholder(tf.float64, [4])
        step = make().apply_gradients([(fed, w)])
        session.run(tf.compat.v1.global_variables_initializer())
        path = []
        for _ in range(STEPS):
            session.run(step, {fed: gradient(session.run(w))})
            path.append(session.run(w))
        return path


def with_keras(make):
    import tensorflow as tf

    tf.keras.backend.set_floatx("float64")
    w = tf.keras.Variable(START, dtype="float64")
    optimizer = make()
    path = []
    for _ in range(STEPS):
        optimizer.apply([tf.constant(gradient(w.numpy()))], [w])
        path.append(w.numpy().copy())
    return path


def lamb(decay, beta1=0.75, beta2=0.875):
    """The paper's formulas: Keras decays weights outside of the ratio, and PyTorch has no LAMB."""
    w, m, v, path = START.copy(), np.zeros(4), np.zeros(4), []
    for t in range(1, STEPS + 1):
        g = gradient(w)
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        r = m / (1 - beta1**t) / (np.sqrt(v / (1 - beta2**t)) + EPSILON) + decay * w
        w = w - RATE * np.linalg.norm(w) / np.linalg.norm(r) * r
        path.append(w)
    return path


def tensorflow_cases():
    import tensorflow as tf

    k, v1 = tf.keras.optimizers, tf.compat.v1.train
    yield "version", f"TensorFlow {tf.__version__}, Keras {tf.keras.__version__}"
    yield "gradient_descent", with_tf1(lambda: v1.GradientDescentOptimizer(RATE))
    yield "momentum", with_tf1(lambda: v1.MomentumOptimizer(RATE, 0.75))
    yield "nesterov", with_tf1(lambda: v1.MomentumOptimizer(RATE, 0.75, use_nesterov=True))
    yield "adam", with_tf1(lambda: v1.AdamOptimizer(RATE, 0.75, 0.875, EPSILON))
    yield "rms_prop", with_tf1(lambda: v1.RMSPropOptimizer(RATE, 0.75, 0.625, EPSILON))
    yield "centered_rms_prop", with_tf1(lambda: v1.RMSPropOptimizer(RATE, 0.75, 0.625, EPSILON, centered=True))
    yield "adagrad", with_tf1(lambda: v1.AdagradOptimizer(RATE, 0.125))
    yield "adadelta", with_tf1(lambda: v1.AdadeltaOptimizer(0.5, 0.875, EPSILON))
    yield "lion", with_keras(lambda: k.Lion(RATE, 0.75, 0.875, weight_decay=0.125))
    yield "lamb", with_keras(lambda: k.Lamb(RATE, 0.75, 0.875, EPSILON))


def torch_cases():
    import torch

    o = torch.optim
    yield "version", f"PyTorch {torch.__version__.split('+')[0]}"
    yield "torch_momentum", with_torch(lambda w: o.SGD(w, RATE, momentum=0.75))
    yield "torch_nesterov", with_torch(lambda w: o.SGD(w, RATE, momentum=0.75, nesterov=True))
    yield "torch_adamw", with_torch(lambda w: o.AdamW(w, RATE, (0.75, 0.875), EPSILON, weight_decay=0.125))
    yield "torch_rms_prop", with_torch(lambda w: o.RMSprop(w, RATE, 0.75, 0, momentum=0.625))
    yield "torch_adagrad", with_torch(lambda w: o.Adagrad(w, RATE, initial_accumulator_value=0, eps=EPSILON))
    yield "torch_adadelta", with_torch(lambda w: o.Adadelta(w, 0.5, 0.875, EPSILON))
    yield "numpy_lamb", lamb(0.125)


def run_part(part):
    """In a process of its own: both libraries bring an LLVM along, and one process cannot hold two."""
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
    text = subprocess.run([sys.executable, __file__, part], check=True, stdout=subprocess.PIPE, env=environment).stdout
    return json.loads(text)


def main():
    if sys.argv[1] in ("tensorflow", "torch"):
        cases = tensorflow_cases() if sys.argv[1] == "tensorflow" else torch_cases()
        print(json.dumps([[name, w if name == "version" else [[float(v) for v in x] for x in w]] for name, w in cases]))
        return
    parts = [run_part("tensorflow"), run_part("torch")]
    versions = ", ".join(part[0][1] for part in parts)
    lines = [f"// Written by bench/peers/golden_optimizers.py: {versions}."]
    for name, path in [case for part in parts for case in part[1:]]:
        lines.append(f'{{"{name}", {{')
        lines += ["  {" + ", ".join(repr(x) for x in w) + "}," for w in path]
        lines.append("}},")
    with open(sys.argv[1], "w") as f:
        f.write("\n".join(lines) + "\n")


main()
