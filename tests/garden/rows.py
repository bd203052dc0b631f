"""Rows of the default project."""

from functools import partial

from tests.storage import rows

chunk = partial(rows.chunk, project="default")
document = partial(rows.document, project="default")
entity = partial(rows.entity, project="default")
relation = partial(rows.relation, project="default")
session = partial(rows.session, project="default")
