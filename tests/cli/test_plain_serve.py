"""`serve` read without Cyclopts: what it takes, Cyclopts reads in the same way; all else it leaves."""

from hydramem.cli.commands.plain_serve import plain_serve
from hydramem.cli.main import build
from hydramem.cli.options import Invocation

PLAIN = [
    "serve",
    "serve --tools reader",
    "serve --tools=recall,get",
    "--store /tmp/a --project notes serve",
    "--store=/tmp/a serve --tools all --config /tmp/c.yml",
    "serve --store rel/../a --project p --transport stdio",
    "serve --transport=stdio --project=a=b",
    "--config ~/c.yml serve",
]
LEFT = [
    "", "--help", "serve --help", "serve -h", "serve --transport http", "serve --port 1",
    "serve --background",
    "serve --tools", "serve --tools=", "serve --tools -x", "--tools all serve", "serve serve", "serve recall",
    "recall serve", "--store serve", "serve --store a --store b", "serve --unknown 1", "--json serve",
]  # fmt: skip


def test_what_is_plain_is_read_as_cyclopts_reads_it():
    app = build("serve")
    for line in PLAIN:
        _, launched, _ = app.meta.parse_args(line.split())
        command, bound, _ = app.parse_args(launched.args)
        assert command.__name__ == "serve"
        given = {"transport": "stdio", "tools": None, **bound.arguments}
        assert given["transport"] == "stdio"
        assert plain_serve(line.split()) == (Invocation(**launched.kwargs), given["tools"]), line


def test_what_is_not_plain_is_left_to_cyclopts():
    assert [line for line in LEFT if plain_serve(line.split()) is not None] == []
