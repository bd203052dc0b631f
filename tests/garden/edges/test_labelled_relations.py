"""Labels for the edge scorers: what people said, as it stands now, and nothing that was decided otherwise."""

from hydramem import Memory
from hydramem.core.results.garden_results import Answer
from hydramem.garden.edges.labelled_relations import LEAST, Labels, labels
from tests.garden.memories import put
from tests.garden.phases.prune.test_prune import claim, thing

PAIRS = [(f"thing {one}", f"thing {one + 1}") for one in range(30)]


def found(memory: Memory) -> Labels:
    store = memory._use()
    return labels(store.graph, store.snapshots.of("default"))


def test_answers_of_a_review_are_labels_until_they_are_undone(memory: Memory) -> None:
    open_ones = [claim(one, "knows", other, verdict="deferred") for one, other in PAIRS]
    put(memory, entities=tuple(thing(f"thing {one}") for one in range(31)), relations=tuple(open_ones))
    answers = [Answer(id=f"relation:{row.id}", yes=place < 8) for place, row in enumerate(open_ones)]
    assert memory.review(answers[: LEAST - 1]).answered == LEAST - 1
    assert len(found(memory)) == 0, "too few say more of what was asked than of the graph"
    memory.review(answers[LEAST - 1 :])
    said = found(memory)
    assert len(said) == 30 and said.true.sum() == 8
    nodes = memory._use().snapshots.of("default").nodes.ids
    told = {(nodes[said.claims.subject[row]], bool(said.true[row])) for row in range(30)}
    assert told == {(row.subject, place < 8) for place, row in enumerate(open_ones)}
    memory.undo(memory.history(open_ones[29].id).entries[-1].run)
    assert len(found(memory)) < 30
