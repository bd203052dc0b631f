"""The network: a MiniLM encoder that reads two texts together, with a head for what one is to the other.

All-MiniLM-L6-v2 (Wang et al., 2020; Reimers and Gurevych, 2019) is the start; six layers of width 384.
"""

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

WIDTH, HEADS, INNER, LAYERS = 384, 12, 1536, 6
_EPSILON = 1e-12


class Layer(nn.Module):
    """One layer of BERT: attention, then a network of two steps, each added to its input and normalised."""

    def __init__(self) -> None:
        super().__init__()
        self.joint = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm1 = nn.LayerNorm(WIDTH, eps=_EPSILON)
        self.wide = nn.Linear(WIDTH, INNER)
        self.narrow = nn.Linear(INNER, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH, eps=_EPSILON)

    def forward(self, state: Tensor, bias: Tensor) -> Tensor:
        # Shapes come from `unflatten` alone, so that the exported model takes batches of any size.
        query, key, value = (
            part.unflatten(-1, (HEADS, WIDTH // HEADS)).transpose(1, 2)
            for part in self.joint(state).chunk(3, -1)
        )
        weights = torch.softmax((query @ key.transpose(2, 3)) * (WIDTH // HEADS) ** -0.5 + bias, -1)
        state = self.norm1(state + self.out((weights.to(value.dtype) @ value).transpose(1, 2).flatten(2)))
        after: Tensor = self.norm2(state + self.narrow(nn.functional.gelu(self.wide(state))))
        return after


class PairEncoder(nn.Module):
    """Reads batches of token ids of pairs; returns one score a label.

    Its inputs are integer arrays of shape (pairs, tokens): `ids`, `types` (0 old text, 1 new text) and `mask`
    (1 token, 0 padding). Its output has shape (pairs, labels).
    """

    def __init__(self, labels: int, vocabulary: int = 30522, positions: int = 512) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, WIDTH)
        self.places = nn.Embedding(positions, WIDTH)
        self.segments = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=_EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.dropout = nn.Dropout(0.1)
        self.hidden = nn.Linear(3 * WIDTH, WIDTH)
        self.scores = nn.Linear(WIDTH, labels)

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1], device=ids.device)[None]
        state = self.dropout(self.norm(self.words(ids) + self.places(places) + self.segments(types)))
        bias = (1.0 - mask[:, None, None, :].to(state.dtype)) * -10_000.0
        for layer in self.layers:
            state = layer(state, bias)
        old, new = _mean(state, (1 - types) * mask), _mean(state, types * mask)
        joined = torch.cat([state[:, 0], old - new, old * new], -1)
        scores: Tensor = self.scores(self.dropout(torch.tanh(self.hidden(joined))))
        return scores


def _mean(state: Tensor, chosen: Tensor) -> Tensor:
    weights = chosen.to(state.dtype)[..., None]
    return (state * weights).sum(1) / weights.sum(1).clamp(min=1)


def from_minilm(path: Path, labels: int) -> PairEncoder:
    """Return an encoder with the weights of all-MiniLM-L6-v2, and a fresh head.

    Args:
        path: Its `model.safetensors`.
    """
    given = {name.removeprefix("bert."): value for name, value in load_file(path).items()}
    model = PairEncoder(labels)
    own = {
        "words.weight": given["embeddings.word_embeddings.weight"],
        "places.weight": given["embeddings.position_embeddings.weight"],
        "segments.weight": given["embeddings.token_type_embeddings.weight"],
        "norm.weight": given["embeddings.LayerNorm.weight"],
        "norm.bias": given["embeddings.LayerNorm.bias"],
    }
    for place in range(LAYERS):
        theirs, ours = f"encoder.layer.{place}.", f"layers.{place}."
        for kind in ("weight", "bias"):
            attention = [given[f"{theirs}attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
            own[f"{ours}joint.{kind}"] = torch.cat(attention)
            own[f"{ours}out.{kind}"] = given[f"{theirs}attention.output.dense.{kind}"]
            own[f"{ours}norm1.{kind}"] = given[f"{theirs}attention.output.LayerNorm.{kind}"]
            own[f"{ours}wide.{kind}"] = given[f"{theirs}intermediate.dense.{kind}"]
            own[f"{ours}narrow.{kind}"] = given[f"{theirs}output.dense.{kind}"]
            own[f"{ours}norm2.{kind}"] = given[f"{theirs}output.LayerNorm.{kind}"]
    missing = model.load_state_dict(own, strict=False)
    unexpected = [name for name in missing.missing_keys if not name.startswith(("hidden.", "scores."))]
    if unexpected or missing.unexpected_keys:
        raise ValueError(f"{path}: weights do not fit: {unexpected + missing.unexpected_keys}")
    return model
