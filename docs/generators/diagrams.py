"""Draw diagrams of boxes and arrows from a grid of names.

A diagram is data (`diagram_data.py`): rows of keys say where the boxes are, lines such as `a > b: label` draw
arrows. The layout is a plain grid, so that a change of one box moves no other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from generators.drawing import number, picture, text, width_of

_COLUMN, _ROW, _BOX_WIDTH, _BOX_HEIGHT, _MARGIN, _LINE = 178.0, 84.0, 128.0, 46.0, 18.0, 16.0


@dataclass(frozen=True, slots=True)
class Diagram:
    """Boxes on a grid, and arrows between them.

    Attributes:
        title: What it shows, for those who cannot see it.
        grid: Rows of keys, separated by blanks; a dot is an empty place.
        arrows: Lines `a > b`, `a > b: label`, or `a ~ b` for a dashed arrow.
        names: What stands in a box; lines are separated by a bar. A key without a name is its own.
        stores: Keys of boxes that are kept on disk.
        results: Keys of boxes that are an outcome.
    """

    title: str
    grid: tuple[str, ...]
    arrows: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    stores: frozenset[str] = frozenset()
    results: frozenset[str] = frozenset()


def draw(diagram: Diagram) -> str:
    """Return the SVG of a diagram.

    Raises:
        KeyError: An arrow names a box that is not in the grid.
    """
    rows = [row.split() for row in diagram.grid]
    places = {
        key: (column, row) for row, keys in enumerate(rows) for column, key in enumerate(keys) if key != "."
    }
    arrows, labels = [], []
    for line in diagram.arrows:
        ends, _, label = line.partition(": ")
        begin, kind, end = ends.split()
        path, middle = _route(places[begin], places[end])
        dashed = " dashed" if kind == "~" else ""
        arrows.append(f'<path class="arrow{dashed}" d="{path}" marker-end="url(#head)"/>')
        if label:
            labels += _label(label, *middle)
    boxes = [part for key, place in places.items() for part in _box(diagram, key, place)]
    width = 2 * _MARGIN + (max(map(len, rows)) - 1) * _COLUMN + _BOX_WIDTH
    height = 2 * _MARGIN + (len(rows) - 1) * _ROW + _BOX_HEIGHT
    return picture(diagram.title, width, height, [_HEAD, *arrows, *boxes, *labels])


_HEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto"><path class="head" d="M0 0 8 4 0 8z"/></marker></defs>'
)


def _box(diagram: Diagram, key: str, place: tuple[int, int]) -> list[str]:
    x, y = _middle(place)
    kind = "store" if key in diagram.stores else "result" if key in diagram.results else "box"
    lines = diagram.names.get(key, key).split("|")
    first = y + 4.5 - _LINE * (len(lines) - 1) / 2
    return [
        f'<rect class="{kind}" x="{number(x - _BOX_WIDTH / 2)}" y="{number(y - _BOX_HEIGHT / 2)}" '
        f'width="{number(_BOX_WIDTH)}" height="{number(_BOX_HEIGHT)}" rx="5"/>',
        *(text(words, x, first + _LINE * count) for count, words in enumerate(lines)),
    ]


def _label(label: str, x: float, y: float) -> list[str]:
    lines = label.split("|")
    width, height = max(map(width_of, lines)) * 0.92 + 6, _LINE * len(lines)
    behind = (
        f'<rect class="behind" x="{number(x - width / 2)}" y="{number(y - height / 2)}" '
        f'width="{number(width)}" height="{number(height)}"/>'
    )
    first = y + 4 - _LINE * (len(lines) - 1) / 2
    return [behind, *(text(words, x, first + _LINE * count, small=True) for count, words in enumerate(lines))]


def _middle(place: tuple[int, int]) -> tuple[float, float]:
    column, row = place
    return _MARGIN + _BOX_WIDTH / 2 + column * _COLUMN, _MARGIN + _BOX_HEIGHT / 2 + row * _ROW


def _route(begin: tuple[int, int], end: tuple[int, int]) -> tuple[str, tuple[float, float]]:
    """Return the path of an arrow and the place of its label: straight, or with one step."""
    (x1, y1), (x2, y2) = _middle(begin), _middle(end)
    if x1 == x2:
        down = 1 if y2 > y1 else -1
        y1, y2 = y1 + down * _BOX_HEIGHT / 2, y2 - down * _BOX_HEIGHT / 2
        return f"M{number(x1)} {number(y1)}V{number(y2)}", (x1, (y1 + y2) / 2)
    right = 1 if x2 > x1 else -1
    x1, x2 = x1 + right * _BOX_WIDTH / 2, x2 - right * _BOX_WIDTH / 2
    if y1 == y2:
        return f"M{number(x1)} {number(y1)}H{number(x2)}", ((x1 + x2) / 2, y1)
    turn = x2 - right * (_COLUMN - _BOX_WIDTH) / 2
    return f"M{number(x1)} {number(y1)}H{number(turn)}V{number(y2)}H{number(x2)}", (turn, (y1 + y2) / 2)
