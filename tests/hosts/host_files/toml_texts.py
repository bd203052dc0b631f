"""Texts of TOML as people write them: comments, texts over several lines, tables in any order."""

from hypothesis import strategies as st

_NAMES = st.sampled_from(("model", "a", '"q r"', "'l.i'", "b-2", "mcp"))
_VALUES = st.sampled_from(
    (
        '"x # [y]"',
        "'\\'",
        '"""\n[mcp_servers.hydramem]\ncommand = 1\n"" """',
        "'''\n# '\n[z]'''",
        '"""a"""""',
        "1_000",
        "-0.5",
        "true",
        "1979-05-27T07:32:00Z",
        "[1, 2]",
        '[\n  "a", # one\n  [ "]" ],\n]',
        '{ k = "}", l = [1] }',
        '"\\""',
    )
)
_COMMENTS = st.sampled_from(("", "", " # [note]", '\t# "a" = \''))
_BETWEEN = st.sampled_from(("", "", "\n", "\n\n", "# about the next\n", "  # [mcp_servers.hydramem]\n"))


@st.composite
def tables(draw: st.DrawFn) -> str:
    names = draw(st.lists(_NAMES, unique=True, max_size=3))
    return "".join(f"{draw(_BETWEEN)}{name} = {draw(_VALUES)}{draw(_COMMENTS)}\n" for name in names)


@st.composite
def toml_files(draw: st.DrawFn) -> str:
    """Return a whole file without the server `hydramem`."""
    headers = draw(
        st.lists(
            st.sampled_from(
                (
                    "[mcp_servers.other]",
                    "[mcp_servers.other.env]",
                    "[tui]",
                    '[profiles."p q"]',
                    "[[skill]]",
                    "[ tools . web ]",
                )
            ),
            unique=True,
            max_size=4,
        )
    )
    text = draw(tables())
    for header in headers:
        text += f"{draw(_BETWEEN)}{header}{draw(_COMMENTS)}\n{draw(tables())}"
    text += draw(_BETWEEN)
    if draw(st.booleans()):
        text = text.removesuffix("\n")
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text
