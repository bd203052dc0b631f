"""Draw bar charts and line charts as SVG."""

import math
from collections.abc import Mapping, Sequence

from generators.drawing import number, picture, text, width_of

_LEFT, _TOP, _WIDTH, _BAR, _BETWEEN_BARS, _BETWEEN_GROUPS, _VALUE = 200.0, 44.0, 700.0, 15.0, 3.0, 14.0, 52.0


def bars(
    title: str, groups: Sequence[str], series: Mapping[str, Sequence[float | None]], *, most: float, unit: str
) -> str:
    """Return horizontal bars: a group for each name, in it a bar for each series, its value behind it.

    Args:
        title: What is shown, with its unit, above the bars.
        groups: Names of the groups, from the top.
        series: Values of each series, one for each group; None where there is no value.
        most: The value of a bar that is as long as it can be.
        unit: What stands behind a value, such as %.
    """
    parts = [text(title, 16, 24, anchor="start", weight="600")]
    room = _WIDTH - _LEFT - _VALUE - 16
    y = _TOP
    for place, group in enumerate(groups):
        shown = [(count, values[place]) for count, values in enumerate(series.values())]
        shown = [(count, value) for count, value in shown if value is not None]
        height = len(shown) * (_BAR + _BETWEEN_BARS)
        parts.append(text(group, _LEFT - 10, y + height / 2 + 3, anchor="end"))
        for count, value in shown:
            length = room * value / most
            parts += [
                f'<rect class="series{count}" x="{number(_LEFT)}" y="{number(y)}" width="{number(length)}" '
                f'height="{number(_BAR)}"/>',
                text(f"{value:g}{unit}", _LEFT + length + 6, y + 12, anchor="start", small=True),
            ]
            y += _BAR + _BETWEEN_BARS
        y += _BETWEEN_GROUPS
    parts += _legend(list(series), y)
    return picture(title, _WIDTH, y + 30, parts)


def lines(
    title: str, x_title: str, series: Mapping[str, Sequence[tuple[float, float]]], *, most: float, step: float
) -> str:
    """Return lines through points, over a logarithmic axis.

    Args:
        title: What is shown, with its unit, above the lines.
        x_title: What the horizontal axis counts.
        series: Points of each series; the first coordinate is above 0.
        most: The value at the top of the vertical axis.
        step: Distance of the vertical axis' marks.
    """
    parts = [text(title, 16, 24, anchor="start", weight="600")]
    left, right, top, bottom = 64.0, _WIDTH - 40, _TOP + 6, 300.0
    xs = sorted({x for points in series.values() for x, _ in points})
    low, high = math.log(xs[0]), math.log(xs[-1])

    def at(x: float, y: float) -> tuple[float, float]:
        return left + (right - left) * (math.log(x) - low) / (high - low), bottom - (bottom - top) * y / most

    for mark in range(round(most / step) + 1):
        y = at(xs[0], mark * step)[1]
        parts += [
            f'<path class="grid" d="M{number(left)} {number(y)}H{number(right)}"/>',
            text(f"{mark * step:g}", left - 8, y + 4, anchor="end", small=True),
        ]
    parts += [text(f"{x:,.0f}", at(x, 0)[0], bottom + 20, small=True) for x in xs]
    parts.append(text(x_title, (left + right) / 2, bottom + 40, small=True))
    for count, points in enumerate(series.values()):
        places = [at(*point) for point in points]
        way = "L".join(f"{number(x)} {number(y)}" for x, y in places)
        parts.append(f'<path class="series{count} line" style="fill:none" d="M{way}"/>')
        for (x, y), (_, value) in zip(places, points, strict=True):
            parts.append(f'<circle class="series{count}" cx="{number(x)}" cy="{number(y)}" r="3.5"/>')
            parts.append(text(f"{value:g}", x, y - 8, small=True))
    parts += _legend(list(series), bottom + 52)
    return picture(title, _WIDTH, bottom + 82, parts)


def _legend(names: Sequence[str], y: float) -> list[str]:
    if len(names) < 2:
        return []
    parts, x = [], 16.0
    for count, name in enumerate(names):
        parts += [
            f'<rect class="series{count}" x="{number(x)}" y="{number(y + 4)}" width="12" height="12"/>',
            text(name, x + 18, y + 14.5, anchor="start", small=True),
        ]
        x += 34 + width_of(name)
    return parts
