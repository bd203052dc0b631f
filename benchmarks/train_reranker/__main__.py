"""Train the reranker: `python -m benchmarks.train_reranker --weights pairs.pt --stores DIR --out DIR`.

It begins with the weights of the pair classifier, keeps some of its layers, and learns from the questions of
the visible sets, with what recall finds for them, and from the written ones in `data/questions/train`.
`--leave-out` leaves sets out, to be measured on by `python -m benchmarks reranker`. The carried model was
trained for 13 minutes without LoCoMo, and then for ten with all sets, from those weights and with
`--rate 0.5`. It needs torch, safetensors and onnx beside the package.
"""

import argparse
import hashlib
import json
import pickle
import shutil
from pathlib import Path

import torch

from benchmarks.train_pairs.encoder import PairEncoder
from benchmarks.train_pairs.export import export
from benchmarks.train_reranker.questions import Question, counts, of_set, written
from benchmarks.train_reranker.train import tokenizer, train
from hydramem.llm.passage_reranker import MOST_TOKENS

SETS = ("locomo-turn", "beam100k", "hotpot100", "2wiki")
_TOKENIZER = Path(__file__).parents[2] / "hydramem" / "data" / "minilm" / "tokenizer.json"


def main() -> None:
    """Gather questions, train, and write the weights and the model that the package carries."""
    parser = argparse.ArgumentParser(prog="benchmarks.train_reranker", description=__doc__)
    parser.add_argument(
        "--weights", type=Path, required=True, help="of the pair classifier, or of an earlier training"
    )
    parser.add_argument("--rate", type=float, default=1.0, help="factor of the learning rates")
    parser.add_argument("--data", type=Path, required=True, help="folder of the visible sets")
    parser.add_argument("--stores", type=Path, required=True, help="folder that keeps their stores")
    parser.add_argument("--out", type=Path, required=True, help="folder for weights and the exported model")
    parser.add_argument("--leave-out", nargs="*", default=[], choices=SETS, metavar="SET")
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--layers", type=int, default=6, help="how many of the first layers are kept")
    parser.add_argument("--epochs", type=float, default=4.0)
    parser.add_argument("--hours", type=float, default=1.0, help="stop after so long")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    questions = list(written("train"))
    for name in SETS:
        if name not in given.leave_out:
            questions += _kept(given.data / name, given.stores / name, embedder=given.embedder)
    print(counts(questions), flush=True)
    torch.set_num_threads(2)
    model = PairEncoder(1)
    model.layers = model.layers[: given.layers]
    own = model.state_dict()
    before = torch.load(given.weights)
    model.load_state_dict(
        {name: value for name, value in before.items() if name in own and value.shape == own[name].shape},
        strict=False,
    )
    words = tokenizer(str(_TOKENIZER))
    train(
        model,
        questions,
        words=words,
        epochs=given.epochs,
        seconds=given.hours * 3600,
        rate=given.rate,
        seed=given.seed,
    )
    torch.save(model.state_dict(), given.out / "weights.pt")
    file = given.out / "reranker.onnx"
    shutil.move(export(model, words, given.out), file)
    card = {
        "name": "hydramem reranker",
        "start": "the pair classifier; sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0)",
        "licence": "Apache-2.0",
        "language": "English; passages in other languages are not reordered",
        "texts": f"a question and a passage, {MOST_TOKENS} word pieces together; longer ones are cut",
        "layers": given.layers,
        "training": counts(questions),
        "left_out": given.leave_out,
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
    }
    (given.out / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(card, indent=1))


def _kept(data: Path, folder: Path, *, embedder: str) -> list[Question]:
    """Return the questions of a set, which are kept beside its store: recall takes minutes."""
    file = folder / "questions.pickle"
    if not file.is_file():
        questions = list(of_set(data, folder, embedder=embedder))
        file.write_bytes(pickle.dumps(questions))
    found: list[Question] = pickle.loads(file.read_bytes())
    return found


if __name__ == "__main__":
    main()
