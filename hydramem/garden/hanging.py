"""What came to hang on a row since somebody looked: a thing that is named again is not taken out."""

from hydramem.garden.proposal import Proposal, written
from hydramem.storage.store import GraphStore


def hanging(proposal: Proposal, graph: GraphStore) -> str | None:
    """Return what holds a thing that a proposal only takes out; None where nothing does.

    A proposal that puts something in its place, as a merge does, says itself what becomes of what it held.

    Args:
        proposal: What is about to be made.
        graph: The store as it is by then.
    """
    gone = proposal.write.removed.entities
    if not gone or any(True for _ in written(proposal.write)):
        return None
    named = next((f"memory {mention.chunk} names" for mention in graph.mentioned(gone)), None)
    return named or next((f"relation {row.id} holds" for row in graph.relations(gone)), None)
