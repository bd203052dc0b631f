"""Write small SVG pictures for light and dark, without a script and without a font of their own.

A picture brings its own background and follows `prefers-color-scheme`, so that it can be read wherever it is
shown: in the site, in a file, or in a repository's viewer.
"""

from collections.abc import Sequence
from html import escape

_STYLE = """\
text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1c2733; }
.page { fill: #fbfcfd; stroke: #d3dae2; }
.box { fill: #e6eef7; stroke: #4d6e94; }
.store { fill: #fdf0d9; stroke: #97702a; }
.result { fill: #e1f2e6; stroke: #3f7a54; }
.arrow { fill: none; stroke: #55626f; stroke-width: 1.4; }
.head { fill: #55626f; }
.dashed { stroke-dasharray: 5 4; }
.behind { fill: #fbfcfd; }
.small { font-size: 12px; fill: #45525f; }
.grid { stroke: #d3dae2; }
.series0 { fill: #2f6db3; stroke: #2f6db3; }
.series1 { fill: #b97a10; stroke: #b97a10; }
.series2 { fill: #7a5aa6; stroke: #7a5aa6; }
.series3 { fill: #4c8f66; stroke: #4c8f66; }
.series4 { fill: #7e8a96; stroke: #7e8a96; }
.line { fill: none; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
text { fill: #e4e9ee; }
.page { fill: #1b2027; stroke: #39424d; }
.box { fill: #24364b; stroke: #7fa6d1; }
.store { fill: #43351b; stroke: #d3a755; }
.result { fill: #1f3a2a; stroke: #7cba92; }
.arrow { stroke: #a5b1bd; }
.head { fill: #a5b1bd; }
.behind { fill: #1b2027; }
.small { fill: #bcc6cf; }
.grid { stroke: #39424d; }
.series0 { fill: #6ba7e8; stroke: #6ba7e8; }
.series1 { fill: #e3b04f; stroke: #e3b04f; }
.series2 { fill: #b395dc; stroke: #b395dc; }
.series3 { fill: #7cc097; stroke: #7cc097; }
.series4 { fill: #98a4b0; stroke: #98a4b0; }
}
"""


def picture(title: str, width: float, height: float, parts: Sequence[str]) -> str:
    """Return a whole SVG file of some parts, on a background with a border.

    Args:
        title: What the picture shows, for those who cannot see it.
        width: Width in pixels.
        height: Height in pixels.
        parts: Elements in SVG, later ones above earlier ones.
    """
    size = f"{number(width)} {number(height)}"
    inside = (
        f'<rect class="page" x=".5" y=".5" width="{number(width - 1)}" height="{number(height - 1)}" rx="6"/>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{number(width)}" '
        f'height="{number(height)}" role="img">\n<title>{escape(title)}</title>\n<style>\n{_STYLE}</style>\n'
        + "\n".join((inside, *parts))
        + "\n</svg>\n"
    )


def text(
    words: str, x: float, y: float, *, anchor: str = "middle", small: bool = False, weight: str = ""
) -> str:
    """Return one line of text whose base line is at y.

    Args:
        words: The text.
        x: Where its anchor is.
        y: Where its base line is.
        anchor: start, middle or end.
        small: Whether it explains something and is written smaller.
        weight: The weight of the font, such as 600.
    """
    kind = ' class="small"' if small else ""
    bold = f' font-weight="{weight}"' if weight else ""
    return f'<text{kind}{bold} x="{number(x)}" y="{number(y)}" text-anchor="{anchor}">{escape(words)}</text>'


def width_of(words: str) -> float:
    """Return about how wide a line of text is, in pixels."""
    return 6.8 * len(words)


def number(value: float) -> str:
    """Write a coordinate with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")
