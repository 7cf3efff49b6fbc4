"""make_zoo.py FOLDER: writes what the networks of models/zoo give for made-up weights, computed by PyTorch in f64.

One number per line. Run where torch is installed; the tests of models/zoo read the files.
"""
import torch
import torch.nn.functional as F

from torch_layers import conv, deconv, dense, losses, nchw, norm, tensor, write_all
from weights import image, tokens


def convnet():
    x = nchw(image((2, 12, 12, 1)))
    x = F.max_pool2d(F.relu(conv("conv0", x, 8, 3, bias=True)), 2)
    x = F.relu(conv("conv1", x, 8, 3, bias=True))
    x = F.max_pool2d(F.relu(conv("conv2", x, 8, 3, bias=True)), 2)
    x = F.relu(conv("conv3", x, 8, 3, bias=True))
    return dense("fc1", F.relu(dense("fc0", x, 512)), 10)


def vgg(depth, use_norm):
    stages = {11: [1, 1, 2, 2, 2], 13: [2, 2, 2, 2, 2], 16: [2, 2, 3, 3, 3], 19: [2, 2, 4, 4, 4]}[depth]
    x = nchw(image((1, 32, 32, 3)))
    for stage, count in enumerate(stages):
        for i in range(count):
            name = f"conv{stage + 1}_{i + 1}"
            x = conv(name, x, min(64 << stage, 512), 3, bias=True)
            x = F.relu(norm(f"{name}/bn", x) if use_norm else x)
        x = F.max_pool2d(x, 2)
    x = F.relu(dense("fc6", x, 64))
    x = F.relu(dense("fc7", x, 64))
    return dense("fc8", x, 7)


def excite(name, x):
    s = x.mean((2, 3))
    s = F.relu(dense(f"{name}/fc1", s, x.shape[1] // 4))
    return x * torch.sigmoid(dense(f"{name}/fc2", s, x.shape[1]))[:, :, None, None]


def block(name, x, filters, stride, *, bottleneck, pre, first, squeeze, pooled=False):
    out = filters * 4 if bottleneck else filters
    direct = x
    if out != x.shape[1] or stride != 1:
        if pooled:
            more = (out - x.shape[1]) // 2
            direct = F.pad(F.avg_pool2d(x, 2), (0, 0, 0, 0, more, more))
        else:
            direct = conv(f"{name}/convshortcut", x, out, 1, stride)
            direct = direct if pre else norm(f"{name}/convshortcut/bn", direct)
    if pre and not first:
        x = F.relu(norm(f"{name}/preact/bn", x))
    steps = [(filters, 1, 1), (filters, 3, stride), (out, 1, 1)] if bottleneck else [(filters, 3, stride), (out, 3, 1)]
    for i, (f, kernel, s) in enumerate(steps):
        conv_name, is_last = f"{name}/conv{i + 1}", i == len(steps) - 1
        x = conv(conv_name, x, f, kernel, s)
        if not is_last:
            x = F.relu(norm(f"{conv_name}/bn", x))
        elif not pre:
            x = norm(f"{conv_name}/bn", x)
    if squeeze:
        x = excite(f"{name}/se", x)
    return x + direct if pre else F.relu(x + direct)


def resnet(blocks, bottleneck, pre=False, squeeze=False):
    x = F.relu(norm("conv0/bn", conv("conv0", nchw(image((1, 48, 64, 3))), 16, 7, 2)))
    x = F.max_pool2d(x, 3, 2, 1)
    for group, count in enumerate(blocks):
        for i in range(count):
            x = block(f"group{group}/block{i}", x, 16 << group, 2 if i == 0 and group > 0 else 1, bottleneck=bottleneck,
                      pre=pre, first=group == 0 and i == 0, squeeze=squeeze)
    x = F.relu(norm("bnlast/bn", x)) if pre else x
    return dense("linear", x.mean((2, 3)), 10)


def cifar_resnet(depth, pre=False, squeeze=False):
    x = F.relu(norm("conv0/bn", conv("conv0", nchw(image((2, 16, 16, 3))), 16, 3)))
    for stage in range(3):
        for i in range((depth - 2) // 6):
            x = block(f"res{stage}.{i}", x, 16 << stage, 2 if i == 0 and stage > 0 else 1, bottleneck=False, pre=pre,
                      first=stage == 0 and i == 0, squeeze=squeeze, pooled=True)
    x = F.relu(norm("bnlast/bn", x)) if pre else x
    return dense("linear", x.mean((2, 3)), 10)


def dcgan_generator():
    z = torch.from_numpy(image((2, 10))).double()
    x = dense("gen/fc0", z, 16 * 16).view(2, 4, 4, 16).permute(0, 3, 1, 2)
    x = F.relu(norm("gen/act0/bn", x))
    x = F.relu(norm("gen/deconv1/bn", deconv("gen/deconv1", x, 8)))
    return torch.tanh(deconv("gen/deconv2", x, 3)).permute(0, 2, 3, 1)


def dcgan_discriminator():
    x = F.leaky_relu(conv("discrim/conv0", nchw(image((2, 16, 16, 3))), 8, 4, 2, 1, bias=True), 0.2)
    x = F.leaky_relu(norm("discrim/bn1", conv("discrim/conv1", x, 16, 4, 2, 1, bias=True)), 0.2)
    return dense("discrim/fc", x, 1)


def lstm_language_model():
    ids, units = torch.from_numpy(tokens((2, 5), 11)), 6
    x = tensor("embedding", (11, units))[ids]
    for i in range(2):
        wx, wh = tensor(f"lstm/layer{i}/Wx", (units, 4 * units)), tensor(f"lstm/layer{i}/Wh", (units, 4 * units))
        # PyTorch orders gates i, f, g, o; Martello i, j, f, o.
        order = torch.cat([torch.arange(units) + k * units for k in (0, 2, 1, 3)])
        cell = torch.nn.LSTM(units, units, batch_first=True).double()
        with torch.no_grad():
            cell.weight_ih_l0.copy_(wx.t()[order])
            cell.weight_hh_l0.copy_(wh.t()[order])
            cell.bias_ih_l0.copy_(tensor(f"lstm/layer{i}/b", (4 * units,))[order])
            cell.bias_hh_l0.zero_()
            x = cell(x)[0]
    return dense("softmax", x.reshape(-1, units), 11).view(2, 5, 11)


def gpt():
    ids, width, heads = torch.from_numpy(tokens((2, 7), 13)), 12, 3
    wte = tensor("wte", (13, width))
    x = wte[ids] + tensor("wpe", (9, width))[:7]

    def layer_norm(name, x):
        return F.layer_norm(x, (width,), tensor(f"{name}/gamma", (width,)), tensor(f"{name}/beta", (width,)), 1e-5)

    def linear(name, x, units):
        return x @ tensor(f"{name}/W", (x.shape[-1], units)) + tensor(f"{name}/b", (units,))

    for i in range(2):
        q, k, v = linear(f"h{i}/attn", layer_norm(f"h{i}/ln_1", x), 3 * width).split(width, -1)
        q, k, v = (t.view(2, 7, heads, -1).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(2, 7, width)
        x = x + linear(f"h{i}/proj", y, width)
        y = F.gelu(linear(f"h{i}/fc", layer_norm(f"h{i}/ln_2", x), 4 * width), approximate="tanh")
        x = x + linear(f"h{i}/fc_proj", y, width)
    return layer_norm("ln_f", x) @ wte.t()


GOLDEN = {
    "convnet": convnet,
    "vgg11": lambda: vgg(11, False),
    "vgg11_bn": lambda: vgg(11, True),
    "vgg13": lambda: vgg(13, False),
    "vgg16": lambda: vgg(16, False),
    "vgg19": lambda: vgg(19, False),
    "resnet18": lambda: resnet([2, 2, 2, 2], False),
    "resnet18_se": lambda: resnet([2, 2, 2, 2], False, squeeze=True),
    "resnet34": lambda: resnet([3, 4, 6, 3], False),
    "resnet34_pre": lambda: resnet([3, 4, 6, 3], False, pre=True),
    "resnet50": lambda: resnet([3, 4, 6, 3], True),
    "resnet50_se": lambda: resnet([3, 4, 6, 3], True, squeeze=True),
    "resnet50_pre": lambda: resnet([3, 4, 6, 3], True, pre=True),
    "resnet101": lambda: resnet([3, 4, 23, 3], True),
    "resnet152": lambda: resnet([3, 8, 36, 3], True),
    "cifar_resnet20": lambda: cifar_resnet(20),
    "cifar_resnet20_se": lambda: cifar_resnet(20, squeeze=True),
    "cifar_resnet32": lambda: cifar_resnet(32),
    "cifar_resnet56": lambda: cifar_resnet(56),
    "cifar_resnet32_pre": lambda: cifar_resnet(32, pre=True),
    "cifar_resnet20_losses": lambda: losses(lambda: cifar_resnet(20), torch.tensor([3, 7]), 5, 0.01),
    "dcgan_generator": dcgan_generator,
    "dcgan_discriminator": dcgan_discriminator,
    "lstm_language_model": lstm_language_model,
    "gpt": gpt,
}

write_all(GOLDEN)
