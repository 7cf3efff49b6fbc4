"""ResNet-20 on the first images of Fashion-MNIST in PyTorch, step for step as bench/accuracy/resnet20.cc does it.

usage: torch_accuracy.py [--seed 1] [--epochs 4] [--images 10000] [--threads 2] [--data FOLDER]
One JSON line with the accuracy on all test images.
"""
import argparse, gzip, json, math, sys, time
from pathlib import Path

import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F

BATCH, TEST_BATCH = 100, 1000
RATE, MOMENTUM, WEIGHT_DECAY = 0.1, 0.9, 1e-4
PIXEL_MEAN, PIXEL_DEVIATION = 0.2860, 0.3530


def norm(channels):
    return nn.BatchNorm2d(channels, eps=1.001e-5, momentum=0.1)


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), norm(outputs)
        self.conv2, self.bn2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), norm(outputs)
        nn.init.zeros_(self.bn2.weight)  # a block starts as its shortcut
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), norm(outputs))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


class ResNet20(nn.Module):
    def __init__(self):
        super().__init__()
        blocks = [Block(i, o, s) for i, o, s in [(16, 16, 1)] * 3 + [(16, 32, 2)] + [(32, 32, 1)] * 2 +
                  [(32, 64, 2)] + [(64, 64, 1)] * 2]
        self.features = nn.Sequential(nn.Conv2d(1, 16, 3, 1, 1, bias=False), norm(16), nn.ReLU(), *blocks)
        self.linear = nn.Linear(64, 10)
        for m in self.modules():
            if isinstance(m, (nn.Conv2d, nn.Linear)):
                nn.init.kaiming_normal_(m.weight, nonlinearity="relu")  # variance 2 / fan_in
        nn.init.zeros_(self.linear.bias)

    def forward(self, x):
        return self.linear(self.features(x).mean((2, 3)))


def read_idx(path):
    data = gzip.open(path).read()
    rank = data[3]
    shape = np.frombuffer(data, ">i4", rank, 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


def load(folder, name):
    images = torch.from_numpy(read_idx(folder / f"{name}-images-idx3-ubyte.gz").copy())[:, None]
    return images, torch.from_numpy(read_idx(folder / f"{name}-labels-idx1-ubyte.gz").astype(np.int64))


def pixels(images):
    x = (images.float() / 255 - PIXEL_MEAN) / PIXEL_DEVIATION
    return x.contiguous(memory_format=torch.channels_last)


def train(model, images, labels, args):
    weights = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() == 1]
    optimizer = torch.optim.SGD([dict(params=weights, weight_decay=WEIGHT_DECAY), dict(params=others)], RATE, MOMENTUM)
    steps = args.images // BATCH
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: (1 + math.cos(math.pi * step / (args.epochs * steps))) / 2)
    model.train()
    for epoch in range(args.epochs):
        order, total = torch.randperm(args.images), 0
        for step in range(steps):
            rows = order[step * BATCH : (step + 1) * BATCH]
            optimizer.zero_grad()
            loss = F.cross_entropy(model(pixels(images[rows])), labels[rows])
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item() / steps
        print(f"  seed {args.seed}: epoch {epoch + 1}/{args.epochs}, loss {total:.4f}", file=sys.stderr, flush=True)
    return total


@torch.no_grad()
def test(model, images, labels):
    model.eval()
    correct = sum((model(pixels(x)).argmax(1) == y).sum().item()
                  for x, y in zip(images.split(TEST_BATCH), labels.split(TEST_BATCH)))
    return correct / len(labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("seed", 1), ("epochs", 4), ("images", 10000), ("threads", 2)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--data", type=Path, default="/usr/share/datasets/fashion-mnist")
    args, start = parser.parse_args(), time.perf_counter()
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    model = ResNet20().to(memory_format=torch.channels_last)
    loss = train(model, *load(args.data, "train"), args)
    accuracy = test(model, *load(args.data, "t10k"))
    print(json.dumps(dict(peer="torch", seed=args.seed, epochs=args.epochs, images=args.images, accuracy=accuracy,
                          loss=round(loss, 4), seconds=round(time.perf_counter() - start, 1))))


main()
