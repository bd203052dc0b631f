"""The ids of a LanceDB table and the hashes of its mirrored columns, in memory."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


class RowIds:
    """The ids of a table and the hashes of its mirrored columns.

    It takes some 250 bytes a row. Filled from the table, and kept in step with it by the table's writer.
    """

    def __init__(self, rows: "pa.Table", without_vector: Callable[[Sequence[str]], Iterable[str]]) -> None:
        """Take the table as it is.

        Args:
            rows: Columns `id` and `mirror` of every row.
            without_vector: Says which of some rows have no vector. To ask it of all takes a second where a
                hundred thousand have one, so it is asked of those that it matters of.
        """
        self._mirrors = dict(zip(rows["id"].to_pylist(), rows["mirror"].to_pylist(), strict=True))
        self._without_vector = without_vector
        self._bare: dict[str, bool] = {}

    def holds_any(self, rows: "pa.Table") -> bool:
        """Say whether the table has a row of one of these ids."""
        return any(id in self._mirrors for id in rows["id"].to_pylist())

    def those_held(self, ids: Iterable[str]) -> list[str]:
        """Return those of some ids that the table has a row of."""
        return [id for id in ids if id in self._mirrors]

    def changed(self, rows: "pa.Table") -> "pa.Table":
        """Return those rows that the table does not have already; one that has a vector, or had, counts."""
        ids = rows["id"].to_pylist()
        cached = zip(ids, rows["mirror"].to_pylist(), rows["vector"].is_null().to_pylist(), strict=True)
        same = self._bare_of([id for id, mirror, bare in cached if bare and self._mirrors.get(id) == mirror])
        differs = [id not in same for id in ids]
        return rows if all(differs) else rows.filter(differs)

    def _bare_of(self, ids: Sequence[str]) -> set[str]:
        unknown = [id for id in ids if id not in self._bare]
        if unknown:
            found = set(self._without_vector(unknown))
            self._bare |= {id: id in found for id in unknown}
        return {id for id in ids if self._bare[id]}

    def put(self, rows: "pa.Table") -> None:
        """Note rows that were written."""
        ids, mirrors = rows["id"].to_pylist(), rows["mirror"].to_pylist()
        self._mirrors.update(zip(ids, mirrors, strict=True))
        self._bare.update(zip(ids, rows["vector"].is_null().to_pylist(), strict=True))

    def remove(self, ids: Iterable[str]) -> None:
        """Note rows that were deleted."""
        for id in ids:
            self._mirrors.pop(id, None)
            self._bare.pop(id, None)
