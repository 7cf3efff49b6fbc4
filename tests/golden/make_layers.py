"""make_layers.py FOLDER: writes what single layers give for made-up weights, computed by PyTorch in f64; batch_renorm,
which PyTorch lacks, by its formulas in NumPy."""
import numpy as np
import torch
import torch.nn.functional as F

from torch_layers import dense, nchw, tensor, write_all
from weights import image, noise, weight


def nhwc(x):
    return x.permute(0, 2, 3, 1)


def pixels():
    return nchw(image((2, 9, 7, 6)))


def kernel(shape):
    return tensor("layer/W", shape)


def bias(size):
    return tensor("layer/b", (size,))


def conv2d_same():
    # Stride 2 over 9 x 7 with a window of 4 x 3: 3 and 2 more pixels, the odd one at the end.
    w = kernel((4, 3, 6, 5)).permute(3, 2, 0, 1)
    return nhwc(F.relu(F.conv2d(F.pad(pixels(), (1, 1, 1, 2)), w, bias(5), stride=2)))


def conv2d_groups():
    w = kernel((3, 3, 3, 8)).permute(3, 2, 0, 1)
    return nhwc(F.conv2d(pixels(), w, bias(8), stride=(1, 2), padding=(2, 1), dilation=(2, 1), groups=2))


def conv2d_transpose():
    w = kernel((4, 4, 5, 6)).permute(3, 2, 0, 1)
    return nhwc(F.conv_transpose2d(pixels(), w, bias(5), stride=2, padding=1))


def depth_conv():
    w = kernel((3, 3, 6, 2)).permute(2, 3, 0, 1).reshape(12, 1, 3, 3)
    return nhwc(F.conv2d(pixels(), w, None, stride=1, padding=1, groups=6))


def max_pooling():
    return nhwc(F.max_pool2d(pixels(), 3, 2, 1))


def avg_pooling():
    return nhwc(F.avg_pool2d(pixels(), 3, 2, 1, count_include_pad=False))


def fixed_unpooling(matrix):
    """The Kronecker product of each channel with the matrix."""
    return torch.stack([torch.stack([torch.kron(channel, matrix) for channel in sample]) for sample in pixels()])


def maxout(units):
    x = nhwc(pixels())
    return x.reshape(*x.shape[:-1], -1, units).amax(-1)


def bn_relu():
    gamma, beta = tensor("layer/bn/gamma", (6,)), tensor("layer/bn/beta", (6,))
    return nhwc(F.relu(F.batch_norm(pixels(), None, None, gamma, beta, training=True, eps=1.001e-5)))


def affine(size):
    return tensor("layer/gamma", (size,)), tensor("layer/beta", (size,))


def batch_norm(x, epsilon, biased):
    """The output and the averages after one step, then the output in inference with them."""
    channels = x.shape[1]
    mean, variance = tensor("layer/mean/EMA", (channels,)), tensor("layer/variance/EMA", (channels,))
    old = variance.clone()
    gamma, beta = affine(channels)
    y = F.batch_norm(x, mean, variance, gamma, beta, training=True, momentum=0.1, eps=epsilon)
    if biased:
        n = x.numel() / channels
        variance = 0.9 * old + (variance - 0.9 * old) * (n - 1) / n
    after = F.batch_norm(x, mean, variance, gamma, beta, training=False, eps=epsilon)
    layout = nhwc if x.dim() == 4 else torch.clone
    return torch.cat([t.reshape(-1) for t in (layout(y), mean, variance, layout(after))])


def batch_renorm(shape, rmax=1.1, dmax=0.0625, momentum=0.75, past=0.875, epsilon=1e-3):
    """The outputs of three steps, the variables after them, then the output in inference."""
    gamma, beta = (weight(f"layer/{name}", shape[-1:]).astype(np.float64) for name in ("gamma", "beta"))
    axes = tuple(range(len(shape) - 1))
    moving_mean, moving_variance = np.zeros(shape[-1]), np.ones(shape[-1])
    renorm_mean, renorm_stddev, renorm_weight = np.zeros(shape[-1]), np.zeros(shape[-1]), 0.0
    values = []
    for step in range(3):
        x = ((step - 1) * 0.25 + (step + 1) * 0.5 * noise(f"step{step}", shape)).astype(np.float32).astype(np.float64)
        mean, stddev = x.mean(axes), np.sqrt(x.var(axes) + epsilon)
        past_mean = renorm_mean + (1 - renorm_weight) * mean
        past_stddev = renorm_stddev + (1 - renorm_weight) * stddev
        r = np.clip(stddev / past_stddev, 1 / rmax, rmax)
        d = np.clip((mean - past_mean) / past_stddev, -dmax, dmax)
        values.append(((x - mean) / stddev * r + d) * gamma + beta)
        renorm_mean = past * renorm_mean + (1 - past) * mean
        renorm_stddev = past * renorm_stddev + (1 - past) * stddev
        renorm_weight = past * renorm_weight + (1 - past)
        moving_mean = momentum * moving_mean + (1 - momentum) * renorm_mean / renorm_weight
        variance = (renorm_stddev / renorm_weight) ** 2 - epsilon
        moving_variance = momentum * moving_variance + (1 - momentum) * variance
    values += [moving_mean, moving_variance, renorm_mean, renorm_stddev, np.array(renorm_weight)]
    values.append((x - moving_mean) / np.sqrt(moving_variance + epsilon) * gamma + beta)
    return torch.from_numpy(np.concatenate([v.reshape(-1) for v in values]))


def group_norm(groups):
    return nhwc(F.group_norm(pixels(), groups, *affine(6), eps=1e-5))


def layer_norm():
    return F.layer_norm(torch.from_numpy(image((2, 5, 6))).double(), (6,), *affine(6), eps=1e-5)


def prelu():
    return nhwc(F.prelu(pixels(), tensor("layer/alpha", ())))


def lstm():
    units, x, lengths = 4, torch.from_numpy(image((3, 5, 6))).double(), torch.tensor([5, 2, 3])
    order = torch.cat([torch.arange(units) + k * units for k in (0, 2, 1, 3)])  # i, j, f, o as PyTorch's i, f, g, o
    cell = torch.nn.LSTM(6, units, batch_first=True).double()
    forget = torch.cat([torch.zeros(units), torch.ones(units), torch.zeros(2 * units)]).double()
    cell.weight_ih_l0.copy_(tensor("layer/layer0/Wx", (6, 4 * units)).t()[order])
    cell.weight_hh_l0.copy_(tensor("layer/layer0/Wh", (units, 4 * units)).t()[order])
    cell.bias_ih_l0.copy_(tensor("layer/layer0/b", (4 * units,))[order] + forget)
    cell.bias_hh_l0.zero_()
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    y, (h, c) = cell(packed)
    y = torch.nn.utils.rnn.pad_packed_sequence(y, batch_first=True)[0]
    return torch.cat([t.reshape(-1) for t in (y, h, c)])


def gru():
    units, x, lengths = 4, torch.from_numpy(image((3, 5, 6))).double(), torch.tensor([5, 2, 3])
    cell = torch.nn.GRU(6, units, batch_first=True).double()
    cell.weight_ih_l0.copy_(tensor("layer/Wx", (6, 3 * units)).t())
    cell.weight_hh_l0.copy_(tensor("layer/Wh", (units, 3 * units)).t())
    cell.bias_ih_l0.copy_(tensor("layer/bx", (3 * units,)))
    cell.bias_hh_l0.copy_(tensor("layer/bh", (3 * units,)))
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    y, h = cell(packed)
    y = torch.nn.utils.rnn.pad_packed_sequence(y, batch_first=True)[0]
    return torch.cat([y.reshape(-1), h.reshape(-1)])


MATRIX = torch.tensor([[1, 0.5, -0.25], [0, 2, -1]], dtype=torch.float64)
CORNER = torch.tensor([[1, 0], [0, 0]], dtype=torch.float64)

write_all({
    "layer_conv2d_same": conv2d_same,
    "layer_conv2d_groups": conv2d_groups,
    "layer_conv2d_transpose": conv2d_transpose,
    "layer_depth_conv": depth_conv,
    "layer_max_pooling": max_pooling,
    "layer_avg_pooling": avg_pooling,
    "layer_global_avg_pooling": lambda: pixels().mean((2, 3)),
    "layer_fixed_unpooling": lambda: nhwc(fixed_unpooling(CORNER)),
    "layer_fixed_unpooling_matrix": lambda: nhwc(fixed_unpooling(MATRIX)),
    "layer_maxout": lambda: maxout(3),
    "layer_concat_with": lambda: nhwc(torch.cat([pixels(), 2 * pixels()], 1)),
    "layer_channel_shuffle": lambda: nhwc(torch.channel_shuffle(pixels(), 3)),
    "layer_bn_relu": bn_relu,
    "layer_batch_renorm_images": lambda: batch_renorm((2, 9, 7, 6)),
    "layer_batch_renorm_matrix": lambda: batch_renorm((7, 6)),
    "layer_batch_norm_images": lambda: batch_norm(pixels(), 1.001e-5, False),
    "layer_batch_norm_matrix": lambda: batch_norm(torch.from_numpy(image((7, 6))).double(), 1e-5, True),
    "layer_layer_norm_images": lambda: group_norm(1),
    "layer_layer_norm_sequence": layer_norm,
    "layer_instance_norm": lambda: group_norm(6),
    "layer_group_norm": lambda: group_norm(3),
    "layer_prelu": prelu,
    "layer_fully_connected": lambda: torch.sigmoid(dense("layer", pixels(), 5)),
    "layer_lstm": lstm,
    "layer_gru": gru,
})
