"""Which rows a table holds: new ones are appended, which is several times quicker than looking for each."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


class Roll:
    """The ids of a table, each with the hash of its mirrored columns where it has no vector.

    It takes some 150 bytes a row. Filled from the table, and kept in step with it by the table's writer.
    """

    def __init__(self, rows: "pa.Table", without_vector: Iterable[str]) -> None:
        """Take the table as it is.

        Args:
            rows: Columns `id` and `mirror` of every row.
            without_vector: Ids of the rows that have no vector.
        """
        bare = set(without_vector)
        ids, mirrors = rows["id"].to_pylist(), rows["mirror"].to_pylist()
        self._held = {id: mirror if id in bare else None for id, mirror in zip(ids, mirrors, strict=True)}

    def holds_any(self, rows: "pa.Table") -> bool:
        """Say whether the table has a row of one of these ids."""
        return any(id in self._held for id in rows["id"].to_pylist())

    def changed(self, rows: "pa.Table") -> "pa.Table":
        """Return those rows that the table does not have already; one that has a vector, or had, counts."""
        bare = rows["vector"].is_null().to_pylist()
        held = zip(rows["id"].to_pylist(), rows["mirror"].to_pylist(), bare, strict=True)
        differs = [not bare or self._held.get(id) != mirror for id, mirror, bare in held]
        return rows if all(differs) else rows.filter(differs)

    def put(self, rows: "pa.Table") -> None:
        """Note rows that were written."""
        bare = rows["vector"].is_null().to_pylist()
        for id, mirror, without in zip(rows["id"].to_pylist(), rows["mirror"].to_pylist(), bare, strict=True):
            self._held[id] = mirror if without else None

    def remove(self, ids: Iterable[str]) -> None:
        """Note rows that were deleted."""
        for id in ids:
            self._held.pop(id, None)
