"""make_losses.py FOLDER: writes what losses and their gradients give for made-up values, computed by PyTorch in f64."""
import numpy as np
import torch
import torch.nn.functional as F

from torch_layers import write_all
from weights import image, noise

SHAPE = (6, 5)
LABELS = torch.tensor([4, 0, 2, 2, 1, 3])


def fractions():
    return torch.from_numpy((0.5 + 0.5 * noise("label", SHAPE)).astype(np.float32)).double()


def both(loss):
    """The losses of 3 x image, then the gradient of their sum."""
    def build():
        with torch.enable_grad():
            x = (3 * torch.from_numpy(image(SHAPE)).double()).requires_grad_()
            y = loss(x)
            y.sum().backward()
        return torch.cat([y.detach().reshape(-1), x.grad.reshape(-1)])
    return build


def huber(reduction):
    return lambda x: F.huber_loss(x, fractions(), delta=0.75, reduction=reduction)


write_all({
    "loss_sparse_softmax": both(lambda x: F.cross_entropy(x, LABELS, reduction="none")),
    "loss_softmax": both(lambda x: F.cross_entropy(x, fractions(), reduction="none")),
    "loss_softmax_smoothed": both(lambda x: F.cross_entropy(x, fractions(), reduction="none", label_smoothing=0.125)),
    "loss_sigmoid": both(lambda x: F.binary_cross_entropy_with_logits(x, fractions(), reduction="none")),
    "loss_weighted_sigmoid": both(lambda x: F.binary_cross_entropy_with_logits(
        x, fractions(), reduction="none", pos_weight=torch.tensor(2.5, dtype=torch.float64))),
    "loss_huber": both(huber("none")),
    "loss_huber_mean": both(huber("mean")),
    "loss_huber_sum": both(huber("sum")),
    "loss_l1": both(lambda x: F.l1_loss(x, fractions())),
    "loss_mean_squared_error": both(lambda x: F.mse_loss(x, fractions())),
    "loss_l2": both(lambda x: 0.5 * x.square().sum()),
})
