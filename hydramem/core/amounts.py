"""Amounts in words: a number with the name of what is counted."""


def amount(number: int, one: str, several: str = "") -> str:
    """Return a number of things in words: `1 memory`, `2 memories`.

    Args:
        number: How many.
        one: What one of them is called.
        several: What several are called; with an s where not given.
    """
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"
