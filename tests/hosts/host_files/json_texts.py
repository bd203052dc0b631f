"""Texts of JSON as people write them: comments, blanks, trailing commas, line ends of either kind."""

import json

from hypothesis import strategies as st

KEYS = st.text(alphabet='abmcpSrvs"\\/é\U0001f40d ', min_size=1, max_size=6)
PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
)
COMMENTS = st.sampled_from(('// a note, {x}: "y"\n', "/* a\n [note] */", "/**/", "// c\r\n"))
BLANKS = st.lists(st.one_of(st.sampled_from((" ", "\n", "\r\n", "\t", "\n    ")), COMMENTS), max_size=2).map(
    "".join
)


@st.composite
def values(draw: st.DrawFn, level: int = 0) -> str:
    kind = draw(st.sampled_from(("plain", "object", "array"))) if level < 3 else "plain"
    if kind == "plain":
        return json.dumps(draw(PLAIN), ensure_ascii=draw(st.booleans()))
    return draw(objects(level + 1)) if kind == "object" else draw(arrays(level + 1))


@st.composite
def arrays(draw: st.DrawFn, level: int = 0) -> str:
    return _joined(draw, "[]", draw(st.lists(values(level), max_size=3)))


@st.composite
def objects(draw: st.DrawFn, level: int = 0) -> str:
    """Return an object without the key `hydramem` or a key that stands twice."""
    keys = draw(st.lists(KEYS, unique=True, max_size=3))
    members = [f"{json.dumps(key)}{draw(BLANKS)}:{draw(BLANKS)}{draw(values(level))}" for key in keys]
    return _joined(draw, "{}", members)


def _joined(draw: st.DrawFn, brackets: str, items: list[str]) -> str:
    inside = ",".join(f"{draw(BLANKS)}{item}{draw(BLANKS)}" for item in items)
    comma = draw(st.sampled_from(("", ","))) if items else ""
    return brackets[0] + inside + comma + draw(BLANKS) + brackets[1]


@st.composite
def files(draw: st.DrawFn) -> str:
    """Return a whole file: blanks and comments around an object."""
    return draw(st.sampled_from(("", "\ufeff"))) + draw(BLANKS) + draw(objects()) + draw(BLANKS)
