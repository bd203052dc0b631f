"""Texts made short for a person."""


def one_line(text: str, most: int) -> str:
    """Return a text on one line of at most so many characters; what is left out is shown by a last `…`."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"
