"""Source code in languages of which a Python installation has no files, written by a seeded generator.

Functions differ in length, nesting, comments, blank lines and annotations; files differ in their indent. What
is a function is known, so nothing has to be found.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

Span = tuple[int, int]

_THINGS = (
    "order",
    "ship",
    "berth",
    "crane",
    "ticket",
    "letter",
    "meter",
    "basin",
    "cargo",
    "route",
    "signal",
)
_DEEDS = ("load", "check", "merge", "count", "send", "close", "read", "split", "reserve", "print", "measure")
_REASONS = (
    "Waits until the other side has answered, at most so long as the caller allows.",
    "Returns what is known so far; what is missing is asked for later.",
    "The first wins where two are equal.",
    "Nothing is written before all of it has been checked.",
)


@dataclass(frozen=True, slots=True)
class Language:
    """How functions look in a language.

    Attributes:
        head: Returns the line or lines that open a function with a name, two parameters and a return type.
        loop, branch: What opens a loop and a branch; `{thing}` and `{number}` are filled in.
        statement: A call or assignment.
        result: The last statement.
        comment: What begins a comment line.
        annotations: Lines that may stand above a function.
        brace_below: Whether the brace of a function stands on a line of its own in some files.
        container: What opens a type that holds methods; empty where methods stand outside.
    """

    head: str
    loop: str
    branch: str
    statement: str
    result: str
    comment: str = "//"
    annotations: tuple[str, ...] = ()
    brace_below: bool = False
    container: str = ""


LANGUAGES = {
    "Go": Language(
        head="func (s *Service) {name}({thing} *{Thing}, limit int) ({Thing}, error)",
        loop="for number, each := range {thing}.Parts {{",
        branch="if each.Size() > {number} {{",
        statement='s.log.Printf("{deed} {thing} %d of %d", number, {number})',
        result="return *{thing}, nil",
    ),
    "Java": Language(
        head="public List<{Thing}> {name}(final {Thing} {thing}, int limit) throws IOException",
        loop="for ({Thing} each : {thing}.parts()) {{",
        branch="if (each.size() > {number} && !each.isClosed()) {{",
        statement='logger.info("{deed} {{}} of {{}}", each.name(), {number});',
        result="return List.of({thing});",
        annotations=("@Override", "@Transactional(readOnly = true)"),
        brace_below=True,
        container="public class {Thing}Service extends Service {{",
    ),
    "Rust": Language(
        head="pub async fn {name}(&self, {thing}: &{Thing}, limit: usize) -> Result<{Thing}, Error>",
        loop="for each in {thing}.parts.iter().take(limit) {{",
        branch="if let Some(found) = each.get({number}) {{",
        statement='self.log.info(format!("{deed} {{}} of {number}", found.name()));',
        result="Ok({thing}.clone())",
        annotations=("#[inline]", "#[tracing::instrument(skip(self))]"),
        container="impl {Thing}Service {{",
    ),
    "TypeScript": Language(
        head="export async function {name}({thing}: {Thing}, limit = {number}): Promise<{Thing} | null>",
        loop="for (const each of {thing}.parts) {{",
        branch="if (each.size > {number}) {{",
        statement="await {deed}Each(each, {{ limit, reason: `{deed} ${{each.name}}` }})",
        result="return {thing} ?? null",
    ),
}


def written_files(name: str, *, count: int, functions: int = 30) -> list[tuple[str, list[Span]]]:
    """Write files of a language, the same ones at each call.

    Args:
        name: A key of `LANGUAGES`.
        count: How many files.
        functions: Functions of each.

    Returns:
        The text of each file, and where its functions are, comments and annotations included.
    """
    return [_file(LANGUAGES[name], Random(f"{name} {number}"), functions) for number in range(count)]


@dataclass(slots=True)
class _Writer:
    """A file as it is written."""

    language: Language
    random: Random
    indent: str
    brace_below: bool
    lines: list[str] = field(default_factory=list)

    def fill(self, template: str, thing: str, deed: str) -> str:
        number = self.random.randrange(2, 400)
        name = f"{deed}{thing.title()}{number}"
        return template.format(thing=thing, Thing=thing.title(), deed=deed, name=name, number=number)

    def add(self, depth: int, line: str) -> None:
        self.lines.append(self.indent * depth + line if line else "")


def _file(language: Language, random: Random, functions: int) -> tuple[str, list[Span]]:
    below = language.brace_below and random.random() < 0.5
    writer = _Writer(language, random, random.choice(["  ", "    ", "\t"]), below)
    spans: list[tuple[int, int]] = []
    depth = 0
    for number in range(functions):
        if language.container and number % 10 == 0:
            if depth:
                writer.add(0, "}")
                writer.add(0, "")
            writer.add(0, writer.fill(language.container, random.choice(_THINGS), ""))
            depth = 1
        first = len(writer.lines)
        _function(writer, depth)
        spans.append((first, len(writer.lines)))
        writer.add(0, "")
    if depth:
        writer.add(0, "}")
    starts = [0]
    for line in writer.lines:
        starts.append(starts[-1] + len(line) + 1)
    return "\n".join(writer.lines) + "\n", [(starts[first], starts[last]) for first, last in spans]


def _function(writer: _Writer, depth: int) -> None:
    random, language = writer.random, writer.language
    thing, deed = random.choice(_THINGS), random.choice(_DEEDS)
    for _ in range(random.choice([0, 0, 1, 2, 3])):
        writer.add(depth, f"{language.comment} {random.choice(_REASONS)}")
    if language.annotations and random.random() < 0.5:
        writer.add(depth, random.choice(language.annotations))
    head = writer.fill(language.head, thing, deed)
    if writer.brace_below:
        writer.add(depth, head)
        writer.add(depth, "{")
    else:
        writer.add(depth, f"{head} {{")

    def say(at: int, line: str) -> None:
        writer.add(at, writer.fill(line, thing, deed))

    for _ in range(random.choice([1, 1, 2, 3, 5])):
        _block(writer, depth + 1, say)
        if random.random() < 0.5:
            writer.add(0, "")
    say(depth + 1, language.result)
    writer.add(depth, "}")


def _block(writer: _Writer, depth: int, say: Callable[[int, str], None]) -> None:
    random, language = writer.random, writer.language
    shape = random.choice(["statement", "loop", "branch", "comment"])
    if shape == "comment":
        writer.add(depth, f"{language.comment} {random.choice(_REASONS)}")
    if shape in ("statement", "comment") or depth > 4:
        say(depth, language.statement)
        return
    say(depth, language.loop if shape == "loop" else language.branch)
    for _ in range(random.choice([1, 2])):
        _block(writer, depth + 1, say)
    if shape == "branch" and random.random() < 0.5:
        writer.add(depth, "} else {")
        say(depth + 1, language.statement)
    writer.add(depth, "}")
