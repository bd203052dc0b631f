"""The steps of fine-tuning on a CPU: AdamW, a rate that rises shortly and falls to zero, 16-bit products."""

import time
from collections.abc import Callable, Iterable
from typing import TypeVar

import torch
from torch import Tensor, nn

from benchmarks.train_pairs.encoder import PairEncoder

Batch = TypeVar("Batch")
_RATE, _HEAD_RATE = 6e-5, 3e-4


def fine_tune(
    model: PairEncoder,
    batches: Callable[[], Iterable[Batch]],
    loss_of: Callable[[Batch], Tensor],
    *,
    steps: int,
    seconds: float,
    warm_up: int,
    rate: float = 1.0,
    after_step: Callable[[int], None] = lambda step: None,
) -> None:
    """Fine-tune a model in place; its embedding of words stays as it is.

    Args:
        batches: Returns the batches of one pass over the data.
        loss_of: Returns the loss of a batch.
        steps, seconds: How long to train, at most; the rate falls to zero by whichever comes first.
        warm_up: Steps in which the rate rises.
        rate: Factor of the learning rates; less than 1 to go on from trained weights.
        after_step: Called with the number of each step.
    """
    model.words.weight.requires_grad_(False)
    head = [*model.hidden.parameters(), *model.scores.parameters()]
    own = {id(one) for one in head}
    body = [one for one in model.parameters() if one.requires_grad and id(one) not in own]
    optimizer = torch.optim.AdamW(
        [{"params": head, "base": _HEAD_RATE}, {"params": body, "base": _RATE}], lr=_RATE, weight_decay=0.01
    )
    began, step, loss_now = time.monotonic(), 0, 0.0
    model.train()
    while step < steps and time.monotonic() - began < seconds:
        for batch in batches():
            done = max(step / steps, (time.monotonic() - began) / seconds)
            if done >= 1:
                break
            for group in optimizer.param_groups:
                group["lr"] = rate * group["base"] * min(1.0, (step + 1) / warm_up) * max(0.02, 1 - done)
            loss = loss_of(batch)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([one for one in model.parameters() if one.grad is not None], 1.0)
            optimizer.step()
            step += 1
            loss_now = 0.98 * loss_now + 0.02 * loss.item() if step > 1 else loss.item()
            if step % 100 == 0:
                spent = time.monotonic() - began
                print(f"step {step}/{steps} loss {loss_now:.3f} {spent:.0f}s", flush=True)
            after_step(step)
