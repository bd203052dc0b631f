"""The plots of the benchmarks, and the page that shows them: every number is read from a committed file."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from generators.charts import bars, lines
from generators.tables import Row, first_number, table

NOTE = "<!-- Made by docs/generate.py from the pages of results: run a benchmark, then that. -->\n"

_EMBEDDERS = {
    "bge-small-en-v1.5-int8/384": "bge-small",
    "all-MiniLM-L6-v2-int8/384": "MiniLM (comes with it)",
}


def recall(root: Path) -> str:
    """Return the plot of recall by set and embedder."""
    rows = table(_page(root, "results"), "Recall")
    sets = list(dict.fromkeys(row["set"] for row in rows))
    found = {(row["set"], row["embedder"]): float(row["@5"]) for row in rows}
    series = {name: [found.get((one, key)) for one in sets] for key, name in _EMBEDDERS.items()}
    return bars("Answers among the first five hits, in percent", sets, series, most=100, unit="")


def methods(root: Path) -> str:
    """Return the plot of recall beside plain methods, all with the embedder that comes with the package.

    Conversations are those that were left out of the fit of the weights that they are asked with.
    """
    results = _page(root, "results")
    ours = {
        row["set"]: float(row["@5"])
        for row in table(results, "Recall")
        if row["embedder"].startswith("all-MiniLM")
    }
    ours |= {row["set"]: float(row["@5 after"]) for row in table(results, "Conversations")}
    others = _peers(root)["methods"]["recall_at_5"]
    series = {"HydraMem": list(ours.values())}
    series |= {name: [found.get(one) for one in ours] for name, found in others.items()}
    return bars("Beside plain methods: @5, in percent", list(ours), series, most=100, unit="")


def products(root: Path) -> str:
    """Return the plot of recall beside other products."""
    found = _peers(root)["products"]["recall_at_5"]
    sets = list(found["HydraMem"])
    series = {name: [values.get(one) for one in sets] for name, values in found.items()}
    return bars("Beside other products: @5, in percent", sets, series, most=100, unit="")


def conversations(root: Path) -> str:
    """Return the plot of recall in conversations that no weight was fitted on."""
    rows = table(_page(root, "results"), "Conversations")
    series = {
        "learned order of turns": [float(row["@5 after"]) for row in rows],
        "without it": [float(row["@5 before"]) for row in rows],
    }
    sets = [row["set"] for row in rows]
    return bars("Conversations left out of the fit: @5, in percent", sets, series, most=100, unit="")


def scale(root: Path) -> str:
    """Return the plot of the latency of a recall as a memory grows."""
    rows = table(_page(root, "scale"), "Recall")
    series = {
        name: [(first_number(row["chunks"]), first_number(row[column])) for row in rows]
        for name, column in (("a whole recall", "recall ms"), ("its embedding alone", "embedder alone ms"))
    }
    return lines("Median time of a recall, in milliseconds", "chunks in the memory", series, most=40, step=10)


def verification(root: Path) -> str:
    """Return the plot of how well the first stage tells true relations from false ones, beside a baseline."""
    rows = [row for row in table(_page(root, "results"), "Verification") if row["wrong claims"] == "all"]
    series = {
        "HydraMem's first stage": [float(row["AUC"]) for row in rows],
        "plain sum of the same signals": [float(row["plain AUC"]) for row in rows],
    }
    sets = [row["set"] for row in rows]
    return bars("True relations told from false ones: AUC, 0.5 is chance", sets, series, most=1, unit="")


def matching(root: Path) -> str:
    """Return the plot of how well pairs of entities are matched, beside two baselines."""
    rows = table(_page(root, "results"), "Matching entities")
    series = {
        name: [float(row[column]) for row in rows]
        for name, column in (
            ("HydraMem, one model for all", "F1"),
            ("rare letter trigrams", "F1 of trigrams"),
            ("similarity of fields", "F1 of fields"),
        )
    }
    return bars("Same thing or not: F1, in percent", [row["set"] for row in rows], series, most=100, unit="")


PLOTS: Mapping[str, Callable[[Path], str]] = {
    "recall": recall,
    "methods": methods,
    "products": products,
    "conversations": conversations,
    "scale": scale,
    "verification": verification,
    "matching": matching,
}


def benchmarks_page(root: Path) -> str:
    """Return the overview of the benchmarks, with a plot for each question that a reader has."""
    results = _page(root, "results")
    largest: Row = table(_page(root, "scale"), "Recall")[-1]
    store: Row = table(_page(root, "scale"), "Memory and loading")[-1]
    relevance = next(row for row in table(results, "Relevance") if row["store left out"] == "mean of these")
    return _TEXT.format(
        note=NOTE,
        methods=_peers(root)["methods"]["measured"],
        products=_peers(root)["products"]["measured"],
        chunks=largest["chunks"],
        median=largest["recall ms"].split(" / ")[0],
        slow=largest["recall ms"].split(" / ")[1],
        resident=store["resident MB"],
        loaded=store["snapshot loaded s"],
        auc=relevance["AUC own : foreign"],
        unanswered=relevance["foreign unanswered"].replace(" %", ""),
        lost=relevance["own lost at 0.25"].replace(" %", ""),
    )


def _peers(root: Path) -> Mapping[str, Any]:
    """Return what was measured of others, with how."""
    found: Mapping[str, Any] = json.loads((root / "docs" / "peers.json").read_text(encoding="utf-8"))
    return found


def _page(root: Path, name: str) -> str:
    return (root / "docs" / f"{name}.md").read_text(encoding="utf-8")


_TEXT = """\
# Benchmarks

{note}
Everything here was measured with the default configuration, on two CPU cores, without an LLM and without a
network, unless a plot says otherwise. The plots are drawn from the tables of [results](results.md),
[scale](scale.md) and [writes](writes.md), which say when and how each number was measured and which command
measures it again.

## Does it find the answer?

![Share of answers among the first five hits, by set and embedder](assets/plots/recall.svg)

The mean share of a question's documents among the first five hits. `2wiki` and `hotpot100` ask about
encyclopedia passages and often need several of them; `locomo` and `beam100k` are long conversations, asked by
turn or by session.
[All depths, and what each part of the search brings](results.md#recall).

![Recall in conversations that no weight was fitted on](assets/plots/conversations.svg)

The order of turns in conversations is learned, so each conversation was left out of the fit of the weights
that its questions are asked with ([more](results.md#conversations)).

## And beside others?

![Recall beside words alone, vectors alone, and both added](assets/plots/methods.svg)

All with the embedder that comes with the package. HydraMem's bars are those of [results](results.md).
{methods}

![Recall beside LanceDB hybrid, Chroma, Mem0, and words with vectors](assets/plots/products.svg)

{products}

## Does it know when it has no answer?

`relevance` tells questions that a memory answers from those of other memories with an AUC of {auc}, on kinds
of memory that were left out of the fit. At the default floor {unanswered} percent of foreign questions stay
unanswered, and {lost} percent of the memory's own are lost ([more](results.md#relevance)).

## Is it quick?

![Median time of a recall by the size of the memory](assets/plots/scale.svg)

At {chunks} chunks a recall takes {median} ms at the median and {slow} ms at the 95th percentile, its
embedding included. Such a memory loads its graph in {loaded} s and takes {resident} MB of resident memory
([more](scale.md)). What a write costs: [writes](writes.md).

## Can its facts be trusted?

![How well true relations are told from false ones](assets/plots/verification.svg)

Verification without a model, with weights that were not fitted on any of these claims
([more](results.md#verification)).

## Does it know what is one thing?

![How well records of one thing are matched](assets/plots/matching.svg)

The gardener merges entities only where it is surer than this plot asks for
([more](results.md#matching-entities)).

## What these figures do not say

- The settings were chosen with these sets in view. On questions that were held back, recall was one and a
  half to four points lower.
- Conversations and encyclopedia passages in English are not your data. `python -m benchmarks retrieval`
  measures a folder of your own with `docs.jsonl` and `queries.jsonl`.
- The sets are for evaluation only and do not come with the project.
"""
