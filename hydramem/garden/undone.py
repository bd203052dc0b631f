"""What a person took back is not done again: a look at the history before a row is touched the same way."""

from itertools import pairwise

from hydramem.storage.changes import purges
from hydramem.storage.store import GraphStore


class Undone:
    """Knows which rows the gardener touched and a person put back.

    The history is asked once for what was undone, which is little; the rest of it only for such rows.

    Args:
        graph: Where the history is.
        project: Whose rows are meant.
    """

    def __init__(self, graph: GraphStore, project: str) -> None:
        self._graph = graph
        self._put_back = {change.target for change in graph.changes(project=project, operation="undo")}
        gone = (purged for change, purged in purges(graph) if change.project == project)
        self._only_remembered = frozenset(id for purged in gone for id in purged.taken_back)

    def __contains__(self, target: str) -> bool:
        """Say whether what the gardener last did to a row was undone, or a merge of it split."""
        if target in self._only_remembered:
            return True
        if target not in self._put_back:
            return False
        return was_undone(self._graph, target)


def was_undone(graph: GraphStore, target: str) -> bool:
    """Say of one row whether what the gardener did to it was undone next; of many, ask `Undone`."""
    operations = [change.operation for change in graph.changes(target=target)]
    return ("garden", "undo") in pairwise(operations)
