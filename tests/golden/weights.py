"""Weights that both sides of a golden test make from names alone, by integers, so that they are the same bits.

An element is u(seed(name) + index) in [-1, 1), times a scale and plus an offset that follow from the name and shape.
The C++ side is martello/models/internal/golden.h.
"""
import math

import numpy as np

MASK = np.uint64(0xFFFFFFFF)


def seed_of(name):
    return sum((i + 1) * ord(c) for i, c in enumerate(name)) * 7919


def noise(name, shape):
    count = int(np.prod(shape, dtype=np.int64))
    h = (np.arange(count, dtype=np.uint64) + np.uint64(seed_of(name))) * np.uint64(2654435761) & MASK
    h ^= h >> np.uint64(16)
    h = h * np.uint64(2246822519) & MASK
    h ^= h >> np.uint64(13)
    return (h.astype(np.float64) / 2.0**31 - 1.0).reshape(shape)


def weight(name, shape):
    """In Martello's layout: kernels HWIO, matrices [in, out]."""
    u, last = noise(name, shape), name.rsplit("/", 1)[-1]
    if last in ("gamma",):
        value = 1.0 + 0.2 * u
    elif name.endswith("variance/EMA"):
        value = 1.0 + 0.5 * u
    elif len(shape) < 2:
        value = 0.1 * u
    else:
        fan_in = int(np.prod(shape[:-1], dtype=np.int64))
        value = u * math.sqrt(6.0 / fan_in)
    return np.asarray(value, dtype=np.float32)


def image(shape):
    return noise("image", shape).astype(np.float32)


def tokens(shape, vocabulary):
    return ((noise("tokens", shape) + 1.0) * 0.5 * vocabulary).astype(np.int64)
