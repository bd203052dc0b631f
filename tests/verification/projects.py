"""Projects of relations with random features, and labels by a rule that is not the shipped one."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from hydramem.core.config import VerificationConfig
from hydramem.core.row_types import Decision, Relation
from hydramem.graph.snapshot.registry import Snapshots
from hydramem.ingest.write_target import Target
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.storage.changes import record
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.in_memory.vectors import InMemoryVectors
from hydramem.storage.outbox import Mirror
from hydramem.storage.vector_rows import Vector
from hydramem.storage.write import Write
from hydramem.verification.calibration.calibrate import CalibrationTarget
from hydramem.verification.calibration.saved_calibrations import Calibrations
from hydramem.verification.first_stage import first_stage
from hydramem.verification.first_stage.weights import DEFAULT
from tests.storage.rows import entity, relation

TRUE_BY = "isolated"
"""The feature that says what is true in these projects; elsewhere it says, if anything, what is false."""


class Project:
    """A store in memory with relations that the first stage judged, and calibrations in a folder."""

    def __init__(self, folder: Path | None = None, *, name: str = "p") -> None:
        self.name = name
        self.folder = folder
        self.graph = InMemoryGraph()
        self.snapshots = Snapshots(self.graph)
        embedder = HashEmbedder()
        vectors = InMemoryVectors(embedder.dimension)
        self.mirror = Mirror(self.graph, lambda: vectors, embedder.embed_documents, self.snapshots.apply)
        self.embed = embedder.embed_documents
        self.calibrations = Calibrations(folder, first_stage.NAMES)
        self.settings = VerificationConfig()

    @property
    def place(self) -> CalibrationTarget:
        """Return what calibrate works on."""
        target = Target(
            project=self.name,
            graph=self.graph,
            commit=self.commit,
            one_writer=self.mirror.one_writer,
            embed=self.embed,
            known=lambda keys: dict(self.snapshots.of(self.name).names.lookup(keys)),
        )
        return CalibrationTarget(
            target=target,
            snapshot=self.snapshots.of(self.name),
            calibrations=self.calibrations,
            settings=self.settings,
        )

    def commit(self, write: Write, vectors: Mapping[str, Vector]) -> None:
        self.mirror.commit(write, vectors)

    def fill(self, count: int) -> list[Relation]:
        """Store relations between entities `s0`, `o0` and so on; return them in order."""
        rows = [
            replace(scored(place, np.random.default_rng([0, place]), "srmkg:1"), project=self.name)
            for place in range(count)
        ]
        ends = [
            entity(f"e_{side}{place}", f"{side}{place}", project=self.name)
            for place in range(count)
            for side in "so"
        ]
        self.put(*rows, entities=tuple(ends))
        return rows

    def put(self, *rows: Relation, **others: object) -> None:
        changes = (record("test", project=self.name, target="any"),)
        self.mirror.commit(Write(changes=changes, relations=rows, **others))

    def stored(self, row: Relation) -> Relation:
        """Return a relation as it is stored now."""
        (found,) = [one for one in self.graph.relations([row.subject]) if one.id == row.id]
        return found


def scored(place: int, generator: np.random.Generator, verifier: str) -> Relation:
    """Return a relation with random features, as the first stage judged it."""
    values = dict(
        zip(first_stage.NAMES, generator.random(len(first_stage.NAMES)).round(4).tolist(), strict=True)
    )
    values["topology"] = values["text"] = 1.0
    # As passages mostly have it: with anything else the text alone would decide.
    values |= dict.fromkeys(("subject_named", "object_named"), 1.0)
    values |= dict.fromkeys(("negated", "turned", "kind_differs", "subject_differs"), 0.0)
    row = np.array([[values[name] for name in first_stage.NAMES]])
    chance = float(first_stage.probabilities(row, DEFAULT)[0])
    verdict: Decision = "accepted" if chance >= 0.7 else "rejected" if chance < 0.3 else "deferred"
    return relation(
        f"e_s{place}",
        "leads",
        f"e_o{place}",
        verdict=verdict,
        probability=chance,
        verifier=verifier,
        scores=values,
    )


def is_true(row: Relation) -> bool:
    """Say what is true of a relation, but for one in twenty."""
    noise = row.scores["jaccard"] < 0.05
    return (row.scores[TRUE_BY] > 0.5) != noise


def judged(row: Relation, true: bool, verifier: str = "person:ada") -> Relation:
    """Return a relation with the verdict of somebody who is independent."""
    return replace(
        row, verdict="accepted" if true else "rejected", verifier=verifier, probability=float(true)
    )
