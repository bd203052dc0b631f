"""The operation that trains the gardener's scorer of relations."""

from collections.abc import Callable

from hydramem.core.results.garden_results import Trained
from hydramem.garden.edges import edge_scoring
from hydramem.memory.handle import Handle


class Training(Handle):
    """What teaches the gardener a project's graph."""

    def train(
        self, *, project: str | None = None, progress: Callable[[int, int], None] | None = None
    ) -> Trained:
        """Train the gardener's scorer of relations now, and say how well it tells wrong ones from right ones.

        The scorer with torch (the extra `gnn`) learns from the project's own relations, against wrong ones
        that are drawn, from what the names of entities mean, and from what people said of relations, once
        they judged twenty. It is measured on relations held out from training. The gardener uses it until
        more than a tenth of the relations, or of what people said, is new or gone, or the embedder is
        another, and then trains again by itself.

        Args:
            project: Namespace to learn; the handle's own where not given.
            progress: Called with training steps done and the most that there are.

        Raises:
            ModelUnavailableError: Torch is not installed.
            InvalidInputError: The project has too few relations to learn from.
        """
        store, name = self._use(), self._name(project)
        folder = self._garden_folder(name)
        return edge_scoring.train(
            edge_scoring.material(store.snapshots.of(name), store.graph, store.space.vectors, folder),
            seconds=store.config.garden.phase_seconds,
            progress=progress or (lambda done, whole: None),
        )
