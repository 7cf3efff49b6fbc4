"""examples/fashion_mnist in PyTorch: the same network, data, optimizer and schedule, timed the same way.

usage: torch_fashion_mnist.py [--epochs 10] [--threads 2] [--channels-last] [--seed 0]

Prints a JSON line per epoch with loss, test accuracy and the seconds of training and of validation, and one for all.
"""
import argparse, gzip, json, time
from pathlib import Path

import numpy as np
import torch
from torch import nn

FOLDER = Path("/usr/share/datasets/fashion-mnist")
BATCH, TEST_BATCH, TOP_RATE, DECAY = 128, 256, 4e-3, 0.2


def load(name):
    with gzip.open(FOLDER / f"{name}-images-idx3-ubyte.gz") as f:
        images = np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 1, 28, 28)
    with gzip.open(FOLDER / f"{name}-labels-idx1-ubyte.gz") as f:
        labels = np.frombuffer(f.read(), np.uint8, offset=8)
    return torch.from_numpy(images.copy()), torch.from_numpy(labels.astype(np.int64))


def convnet():
    def conv(channels):
        return [nn.Conv2d(channels, 32, 3, padding=1), nn.ReLU()]

    layers = [*conv(1), nn.MaxPool2d(2), *conv(32), *conv(32), nn.MaxPool2d(2), *conv(32), nn.Flatten(),
              nn.Linear(32 * 7 * 7, 512), nn.ReLU(), nn.Dropout(0.5), nn.Linear(512, 10)]
    for layer in layers:
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            nn.init.kaiming_normal_(layer.weight)
            nn.init.zeros_(layer.bias)
    return nn.Sequential(*layers)


def prepared(images, args):
    x = images.float() / 255 * 2 - 1
    return x.contiguous(memory_format=torch.channels_last) if args.channels_last else x


def adamw(model):
    weights = [p for p in model.parameters() if p.dim() > 1]
    biases = [p for p in model.parameters() if p.dim() == 1]
    return torch.optim.AdamW([{"params": weights, "weight_decay": DECAY}, {"params": biases, "weight_decay": 0}], lr=1)


def up_and_down(optimizer, steps):
    end = steps + 1
    top = end // 5 + 1
    return torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: TOP_RATE * (step / top if step <= top else (end - step) / (end - top)))


def train_epoch(model, optimizer, schedule, data, args):
    model.train()
    images, labels = data
    order = torch.randperm(len(labels))
    total = 0.0
    for begin in range(0, len(labels) - BATCH + 1, BATCH):
        rows = order[begin:begin + BATCH]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(prepared(images[rows], args)), labels[rows])
        loss.backward()
        optimizer.step()
        schedule.step()
        total += loss.item()
    return total / (len(labels) // BATCH)


@torch.no_grad()
def accuracy(model, data, args):
    model.eval()
    images, labels = data
    right = sum((model(prepared(images[i:i + TEST_BATCH], args)).argmax(1) == labels[i:i + TEST_BATCH]).sum().item()
                for i in range(0, len(labels), TEST_BATCH))
    return right / len(labels)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    train, test = load("train"), load("t10k")
    model = convnet()
    if args.channels_last:
        model = model.to(memory_format=torch.channels_last)
    optimizer = adamw(model)
    schedule = up_and_down(optimizer, args.epochs * (len(train[1]) // BATCH))
    start = time.perf_counter()
    for epoch in range(1, args.epochs + 1):
        began = time.perf_counter()
        loss = train_epoch(model, optimizer, schedule, train, args)
        trained = time.perf_counter()
        right = accuracy(model, test, args)
        print(json.dumps({"epoch": epoch, "loss": loss, "accuracy": right, "train_seconds": trained - began,
                          "test_seconds": time.perf_counter() - trained}), flush=True)
    print(json.dumps({"accuracy": right, "seconds": time.perf_counter() - start}))


main()
