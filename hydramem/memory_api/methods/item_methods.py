"""Operations on items: JSON values under a program's own keys, and the ordered items of a session."""

from collections.abc import Mapping, Sequence

from hydramem.core.argument_checks import check_count, check_name, check_text
from hydramem.core.inputs import ItemInput, NamespaceCondition
from hydramem.core.results.item_results import ItemNamespace, ItemsPut, ItemView, SessionItems
from hydramem.memory_api import arguments
from hydramem.memory_api.handle import Handle
from hydramem.memory_api.write_operation import write_operation

_MOST_KEYS = 10_000
_MOST_SESSION_ITEMS = 1_000_000
_MOST_QUERY = 10_000


class ItemMethods(Handle):
    """Keeps values for programs."""

    @write_operation
    def put_items(self, items: Sequence[ItemInput], *, project: str | None = None) -> ItemsPut:
        """Put JSON values under keys of your own, or delete some; all in one transaction, or none.

        A key that is there gets the new value and keeps the time of its creation; the history has the old
        value, and `undo` brings it back. The texts at `search_paths` become memories in the scope of the
        namespace: ["users", "ada"] is /users/ada. `recall` finds them too. Of several items with one key the
        last counts.

        Args:
            items: What to put, at most ten thousand; an item without a value is deleted.
            project: Project to write to; this handle's own by default.

        Raises:
            InvalidInputError: An item is wrong; the message names its place, and nothing is written.
        """
        from hydramem.ingest.items.item_values import check_items
        from hydramem.ingest.items.put_items import put_items

        store = self._use()
        return put_items(
            check_items(items, self._name(project)),
            target=self._target(project),
            settings=store.config.memory,
            most_tokens=store.config.ingest.chunk_tokens,
        )

    def get_items(
        self,
        namespace: Sequence[str],
        keys: Sequence[str],
        *,
        refresh: bool = True,
        project: str | None = None,
    ) -> tuple[ItemView, ...]:
        """Return items of one namespace by their keys; keys without an item, or an expired one, are left out.

        Args:
            namespace: Labels, outermost first.
            keys: Keys, at most ten thousand.
            refresh: Whether an item that expires is kept for its whole time again, now that it is read.
            project: Project to read; this handle's own by default.

        Raises:
            InvalidInputError: A label or key is empty or too long.
        """
        from hydramem.ingest.items.item_values import check_key, check_namespace
        from hydramem.ingest.items.read_items import get_items

        labels = check_namespace(arguments.ids(namespace), name="namespace")
        named = [check_key(key, name="keys") for key in arguments.ids(keys)]
        check_count(len(named), name="number of keys", least=0, most=_MOST_KEYS)
        return get_items(labels, named, target=self._target(project), refresh=self._refreshes(refresh))

    def search_items(
        self,
        namespace: Sequence[str] = (),
        *,
        query: str | None = None,
        filter: Mapping[str, object] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh: bool = True,
        project: str | None = None,
    ) -> tuple[ItemView, ...]:
        """Find items in a namespace and below it: by the meaning of their texts, by their values, or both.

        With a query, items are ordered by their best text, and those without a text come last, without a
        score. Without one, the item that was put last comes first.

        Args:
            namespace: Labels that namespaces begin with, whole labels only; all by default.
            query: What their texts are compared with.
            filter: Fields of the value and what they must be, all of them: {"kind": "note"}, or with one of
                $eq, $ne, $gt, $gte, $lt and $lte: {"stars": {"$gte": 4}}. author.name is a field of an
                inner object.
            limit: Most items to return.
            offset: How many to leave out at the start.
            refresh: Whether items that expire are kept for their whole time again, now that they are read.
            project: Project to read; this handle's own by default.

        Raises:
            InvalidInputError: A label is empty, or the filter has an unknown operator.
        """
        from hydramem.ingest.items.item_filter import check_filter
        from hydramem.ingest.items.item_values import check_namespace
        from hydramem.ingest.items.read_items import ItemSearch, search_items

        page = arguments.page(limit, offset)
        words = None if query is None else check_text(query, name="query", most=_MOST_QUERY)
        store = self._use()
        search = ItemSearch(
            namespace=check_namespace(arguments.ids(namespace), name="namespace"),
            conditions=check_filter(filter),
            vector=None if words is None else store.space.embedder.embed_query(words),
            limit=page.limit,
            offset=page.offset,
        )
        return search_items(
            search, target=self._target(project), index=store.items, refresh=self._refreshes(refresh)
        )

    def list_namespaces(
        self,
        *,
        conditions: Sequence[NamespaceCondition] = (),
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
        project: str | None = None,
    ) -> tuple[ItemNamespace, ...]:
        """List the namespaces that have items, in order.

        Args:
            conditions: What their labels must begin or end with, all of it; * stands for any one label.
            max_depth: Labels to return at most; namespaces that begin alike are then one.
            limit: Most namespaces to return.
            offset: How many to leave out at the start.
            project: Project to read; this handle's own by default.

        Raises:
            InvalidInputError: A condition is wrong.
        """
        from hydramem.ingest.items.read_items import check_conditions, list_namespaces

        page = arguments.page(limit, offset)
        if max_depth is not None:
            check_count(max_depth, name="max_depth", most=100)
        return list_namespaces(
            check_conditions(conditions),
            max_depth=max_depth,
            limit=page.limit,
            offset=page.offset,
            project=self._name(project),
            index=self._use().items,
        )

    @write_operation
    def append_session_items(
        self, session: str, items: Sequence[str], *, project: str | None = None
    ) -> SessionItems:
        """Append JSON texts to the items of a session, in order; each is returned later byte for byte.

        They are kept for the program that runs the session, and are not recalled: `capture` stores what was
        said as memories.

        Args:
            session: Name of the session.
            items: JSON texts.
            project: Project to write to; this handle's own by default.

        Raises:
            InvalidInputError: One is no JSON text, or too long; nothing is written.
        """
        from hydramem.ingest.items.session_items import append_session_items, check_session_items

        return append_session_items(
            check_session_items(items),
            check_name(session, name="session"),
            target=self._target(project),
            index=self._use().items,
        )

    def session_items(
        self, session: str, *, limit: int | None = None, project: str | None = None
    ) -> SessionItems:
        """Return the items of a session, or the last ones, in the order in which they were appended.

        Args:
            session: Name of the session.
            limit: How many of the last; all by default.
            project: Project to read; this handle's own by default.
        """
        from hydramem.ingest.items.session_items import session_items

        return session_items(
            check_name(session, name="session"),
            most=_session_limit(limit),
            target=self._target(project),
            index=self._use().items,
        )

    @write_operation
    def pop_session_items(
        self, session: str, *, limit: int = 1, clear: bool = False, project: str | None = None
    ) -> SessionItems:
        """Remove the last items of a session, and return them in their order; `undo` brings them back.

        Args:
            session: Name of the session.
            limit: How many of the last.
            clear: Remove all, whatever the limit.
            project: Project to write to; this handle's own by default.
        """
        from hydramem.ingest.items.session_items import pop_session_items

        return pop_session_items(
            check_name(session, name="session"),
            most=None if clear else _session_limit(limit),
            target=self._target(project),
            index=self._use().items,
        )

    def _refreshes(self, wanted: bool) -> bool:
        """Say whether a read moves expiry: a store that cannot be written keeps it."""
        return wanted and not self._use().read_only


def _session_limit(limit: int | None) -> int | None:
    if limit is None:
        return None
    return check_count(limit, name="limit", least=0, most=_MOST_SESSION_ITEMS)
