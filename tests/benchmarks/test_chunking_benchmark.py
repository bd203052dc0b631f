"""The benchmark of chunks: it finds functions apart from the rules that cut, and counts what goes wrong."""

from itertools import pairwise

import pytest

from benchmarks.chunking.cutters import CUTTERS, Cut
from benchmarks.chunking.functions import brace_functions, python_functions
from benchmarks.chunking.measure import lost_lines
from benchmarks.chunking.written import LANGUAGES, written_files
from hydramem.text.tokens import count_tokens

PYTHON = '''
class Kept:
    # A note on it.
    @property
    def size(self) -> int:
        """Say how large it is.

    Not indented as the rest.
        """
        return "}"

    other = 1
'''
C = """
#define TWICE(a) { a; a; }
/* A note
   on it. */
static int
count(char *text)
{
    if (*text == '{') { return 1; /* } */ }
    return 0;
}
// Another.
Status Add(int a) const { return "{"; }
int table[] = { 1, 2 };
"""


def texts_at(text: str, spans: list[tuple[int, int]]) -> list[str]:
    return [text[start:end].strip() for start, end in spans]


def test_functions_are_found_with_what_belongs_to_them() -> None:
    (size,) = texts_at(PYTHON, python_functions(PYTHON))
    assert size.startswith("# A note on it.") and size.endswith('return "}"')
    first, second = texts_at(C, brace_functions(C))
    assert first.startswith("/* A note") and first.endswith("return 0;\n}")
    assert second == '// Another.\nStatus Add(int a) const { return "{"; }'
    assert brace_functions("int f() {") == []


@pytest.mark.parametrize("name", LANGUAGES)
def test_written_code_is_the_same_each_time_and_its_functions_are_known(name: str) -> None:
    (text, spans), (other, _) = written_files(name, count=2)
    assert written_files(name, count=1) == [(text, spans)] and text != other
    for function in texts_at(text, spans):
        assert function.endswith("}") and function.count("{") == function.count("}")
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@pytest.mark.parametrize("cutter", CUTTERS.values())
def test_cutters_keep_the_limit_and_lose_nothing(cutter) -> None:
    text = "\n\n".join(f"Paragraph {n} tells of the harbour. " * (n % 7 + 1) for n in range(30))
    cuts = cutter(text, "text", 60)
    assert all(0 < cut.tokens <= 60 and count_tokens(text[cut.start : cut.end]) <= 61 for cut in cuts)
    assert lost_lines(text, cuts) == []
    assert cutter("Short.", "text", 60) == [Cut(0, 6, 2)]


def test_what_is_lost_is_named_and_headings_above_a_chunk_are_not() -> None:
    text = "# The *first* one\n\nkept\nlost\n---\n"
    cuts = [Cut(text.index("kept"), text.index("lost"), 1, path=("The first one",))]
    assert lost_lines(text, cuts) == ["lost"]
