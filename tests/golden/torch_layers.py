"""What make_zoo.py and make_layers.py share: Martello's layers in PyTorch's functions, in f64."""
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F

from weights import weight


leaves = None  # while a network is trained: its parameters by name


def tensor(name, shape):
    value = torch.from_numpy(weight(name, shape)).double()
    return value if leaves is None else leaves.setdefault(name, value.requires_grad_())


def nchw(x):
    return torch.from_numpy(x).double().permute(0, 3, 1, 2)


def conv(name, x, filters, kernel, stride=1, padding=None, bias=False):
    w = tensor(f"{name}/W", (kernel, kernel, x.shape[1], filters)).permute(3, 2, 0, 1)
    b = tensor(f"{name}/b", (filters,)) if bias else None
    return F.conv2d(x, w, b, stride=stride, padding=(kernel - 1) // 2 if padding is None else padding)


def deconv(name, x, filters):
    w = tensor(f"{name}/W", (4, 4, filters, x.shape[1])).permute(3, 2, 0, 1)
    return F.conv_transpose2d(x, w, tensor(f"{name}/b", (filters,)), stride=2, padding=1)


def norm(name, x, epsilon=1.001e-5):
    c = (x.shape[1],)
    if leaves is not None:
        return F.batch_norm(x, None, None, tensor(f"{name}/gamma", c), tensor(f"{name}/beta", c), training=True,
                            eps=epsilon)
    return F.batch_norm(x, tensor(f"{name}/mean/EMA", c), tensor(f"{name}/variance/EMA", c), tensor(f"{name}/gamma", c),
                        tensor(f"{name}/beta", c), training=False, eps=epsilon)


def dense(name, x, units):
    if x.dim() == 4:  # Martello flattens [N, H, W, C]
        x = x.permute(0, 2, 3, 1).flatten(1)
    return x @ tensor(f"{name}/W", (x.shape[1], units)) + tensor(f"{name}/b", (units,))


def losses(network, labels, steps, rate):
    """Cross entropy before each of `steps` steps of momentum."""
    global leaves
    leaves, values, optimizer = {}, [], None
    with torch.enable_grad():
        for _ in range(steps):
            loss = F.cross_entropy(network(), labels)
            optimizer = optimizer or torch.optim.SGD(leaves.values(), lr=rate, momentum=0.9)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            values.append(loss.item())
    leaves = None
    return torch.tensor(values, dtype=torch.float64)


def write_all(golden):
    """Writes a file for each name and function of `golden` into the folder that is the program's argument."""
    folder = pathlib.Path(sys.argv[1])
    for name, build in golden.items():
        with torch.no_grad():
            values = build().reshape(-1).numpy()
        folder.joinpath(f"{name}.txt").write_text("".join(f"{v:.10g}\n" for v in values))
        print(name, len(values), float(np.abs(values).max()))
