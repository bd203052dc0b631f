"""The command `hook` as the help shows it; `main` runs the quick program in its place."""

import sys

from hydramem.cli.options import Given


def hook(host: str, *, invocation: Given) -> None:
    """Answer an event of a coding agent from standard input; it never fails, and prints nothing on trouble.

    Args:
        host: claude-code, codex, gemini or opencode.
    """
    from hydramem.hosts.hooks.deadline import Deadline
    from hydramem.hosts.hooks.hook_program import HookWords, answer

    given = {"--store": invocation.store, "--config": invocation.config, "--project": invocation.project}
    options = {name: str(value) for name, value in given.items() if value is not None}
    words = HookWords(host=host, options=options)
    answer(sys.stdin.buffer.read(), words, Deadline(), lambda text: print(text, end=""))
