"""What a person took back is not done again: a look at the history before a row is touched the same way."""

from hydramem.storage.store import GraphStore


def was_undone(graph: GraphStore, target: str) -> bool:
    """Say whether what the gardener did to a row was undone since it did it last.

    Args:
        graph: Where the history is.
        target: Id of the row.
    """
    gardened = False
    for change in graph.changes(target=target):
        if gardened and change.operation == "undo":
            return True
        gardened = change.operation == "garden"
    return False
