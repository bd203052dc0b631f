"""Code is cut between its blocks: functions that fit are whole, in the styles of several languages."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.text.chunking import chunk
from hydramem.text.tokens import count_tokens
from tests.examples import FEW

PYTHON = '''
    @cache
    def area_{n}(
        width: float,
        height: float,
    ) -> float:
        """Return the area.

    A line of the text that is indented too little.
        """
        if width < 0:
            raise ValueError("width: " + str(width))

        return width * height + {n}
'''
JAVASCRIPT = """
    /**
     * Loads what is asked for.
     */
    export async function load{n}({{ url, retries }}) {{
      const text = `
one line at the left border
`
      try {{
        return await fetch(url, {{
          headers: {{ "x-number": {n} }},
        }})
      }} catch (error) {{
        return null
      }}
    }}
"""
GO = """
    // Close{n} ends it.
    func (c *Client) Close{n}() error {{
    \tif c.done {{
    \t\tgoto out
    \t}}

    \tc.done = true
    out:
    \treturn c.conn.Close({n})
    }}
"""
C = """
    static int
    read_all_{n} (FILE *file,
                  char *into)
    {{
      int count = 0;

    #ifdef DEBUG
      puts ("reading");
    #endif
      while (fgets (into, {n}, file))
        count++;
      return count;
    }}
"""


@pytest.mark.parametrize("source", [PYTHON, JAVASCRIPT, GO, C])
@pytest.mark.parametrize("limit", [130, 220])
def test_functions_that_fit_are_whole(source: str, limit: int) -> None:
    outdented = source in (JAVASCRIPT, PYTHON)  # a line at the left border stays there
    one = source.strip() if outdented else textwrap.dedent(source).strip()
    functions = [one.format(n=number) for number in range(12)]
    text = "\n\n".join(functions)
    texts = [piece.text for piece in chunk(text, kind="code", max_tokens=limit, overlap_tokens=20)]
    assert len(texts) > 1
    for function in functions:
        assert any(function in one for one in texts), function


LINES = st.lists(
    st.tuples(
        st.sampled_from([0, 0, 1, 2, 3]),
        st.sampled_from(
            [
                *("", "", "}", ")", "else:", "# note", "@cached", "def f(a):", "x = f(", "if (a) {", "{"),
                *("/*", '"""', "*/", ".then(", "label:", "- item: 1", "int", "x += y * 3;", "a " * 90),
            ]
        ),
    ),
    max_size=60,
)


@FEW
@given(LINES, st.sampled_from([40, 80, 220]))
def test_every_line_is_in_a_chunk_in_order_and_none_is_small(
    lines: list[tuple[int, str]], limit: int
) -> None:
    text = "\n".join("    " * depth + line for depth, line in lines)
    cut = chunk(text, kind="code", max_tokens=limit, overlap_tokens=0)
    position = 0
    for piece in cut:
        assert not text[position : piece.start].strip()
        assert piece.text == text[piece.start : piece.end]
        assert piece.tokens == count_tokens(piece.text) <= limit
        position = piece.end
    assert not text[position:].strip()
    assert len(cut) == 1 or all(piece.tokens >= min(20, limit // 4) for piece in cut)


METHODS = [f"    def m{n}(self):\n        one = {n}\n\n        return self.total + one" for n in range(40)]
RULES = [f".box-{n} {{\n  width: {n}px;\n  color: red;\n}}" for n in range(40)]
OBJECTS = [f'  {{\n    "id": {n},\n    "name": "row"\n  }}' for n in range(40)]


@pytest.mark.parametrize(
    ("text", "parts", "limit"),
    [
        ("class Large:\n" + "\n\n".join(METHODS), METHODS, 120),
        ("\n".join(RULES), RULES, 60),
        ("[\n" + ",\n".join(OBJECTS) + "\n]", OBJECTS, 90),
    ],
    ids=["methods of a class", "rules of a style sheet", "objects of a list"],
)
def test_parts_of_something_large_are_whole(text: str, parts: list[str], limit: int) -> None:
    texts = [piece.text for piece in chunk(text, kind="code", max_tokens=limit, overlap_tokens=0)]
    assert all(any(part.strip() in one for one in texts) for part in parts)
