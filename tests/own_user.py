"""Tools run as the program's own user runs them, who needs no token."""

from functools import partialmethod

from hydramem.server.access import OWN_USER
from hydramem.server.run_tool import ToolRunner


class OwnRunner(ToolRunner):
    """A runner whose caller is the own user."""

    run = partialmethod(ToolRunner.run, access=OWN_USER)  # type: ignore[assignment]
