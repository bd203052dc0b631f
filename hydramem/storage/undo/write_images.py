"""The images of one transaction: one for each write that it commits, on the first Change of that write."""

from collections.abc import Mapping
from typing import Any

from hydramem.storage.row_codec import Values, encode
from hydramem.storage.schema import CHANGE, Table
from hydramem.storage.undo.row_images import TABLES, Address, ImageMaker, key_of
from hydramem.storage.write_validation import PlannedWrite


class WriteImages:
    """Records what a transaction does, for each of its writes as if they were committed one after the other.

    Args:
        plan: The write. Where it has parts, each gets an image; only a write without parts removes rows.
    """

    def __init__(self, plan: PlannedWrite) -> None:
        parts = plan.parts or (plan.rows,)
        self._makers = tuple(ImageMaker() for _ in parts)
        self._leads = tuple(next(iter(rows[CHANGE.name]), None) for rows in parts)
        # The versions of each row that several parts write, in their order.
        self._versions: dict[Address, list[tuple[ImageMaker, Values]]] = {}
        for maker, rows in zip(self._makers, plan.parts, strict=False):
            for name, table in TABLES.items():
                for row in rows[name].values():
                    values = encode(table, row)
                    self._versions.setdefault((name, key_of(table, values)), []).append((maker, values))

    def put(self, table: Table, before: Mapping[str, Any] | None, values: Values) -> None:
        """Note a row that is written.

        Args:
            before: The row that is stored, with at least the columns that differ; None where there is none.
            values: The row as it is after the transaction.
        """
        alone = [(self._makers[0], values)]
        for maker, version in self._versions.get((table.name, key_of(table, values)), alone):
            if before is None:
                maker.made(table, version)
            else:
                maker.changed(table, before, version)
            before = version

    def removed(self, table: Table, values: Values) -> None:
        """Note a row that was removed."""
        self._makers[0].removed(table, values)

    @property
    def has_parts(self) -> bool:
        """Whether rows may have versions between the stored one and the last."""
        return bool(self._versions)

    def texts(self) -> dict[str, str | None]:
        """Return the images by the id of the Change that each belongs on."""
        made = zip(self._leads, self._makers, strict=True)
        return {lead: maker.text() for lead, maker in made if lead is not None}
