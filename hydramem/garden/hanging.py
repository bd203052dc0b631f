"""What came to hang on a row since somebody looked: a thing that is named again is not taken out."""

from hydramem.garden.proposal import Proposal, written
from hydramem.storage.schema import MENTIONS, RELATES
from hydramem.storage.store import GraphStore
from hydramem.storage.undo.undo_images import address_of


def hanging(proposal: Proposal, graph: GraphStore) -> str | None:
    """Return what holds a thing that a proposal only takes out; None where nothing does.

    A merge says itself what becomes of what its entities held, as far as it knew it.

    Args:
        proposal: What is about to be made.
        graph: The store as it is by then.
    """
    gone = proposal.write.removed.entities
    if not gone:
        return None
    foreseen = proposal.expects if any(True for _ in written(proposal.write)) else {}
    for mention in graph.mentioned(gone):
        if address_of(MENTIONS, mention) not in foreseen:
            return f"memory {mention.chunk} names"
    new = (row.id for row in graph.relations(gone) if address_of(RELATES, row) not in foreseen)
    return next((f"relation {id} holds" for id in new), None)
