"""`hydramem view`: the local page of a memory."""

import os
import sys
import webbrowser
from contextlib import suppress
from html import escape
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated

from cyclopts import Parameter

from hydramem.cli.options import Given
from hydramem.core.errors import InvalidInputError

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}">
<title>HydraMem</title><a href="{address}">Open the page</a></html>
"""


def view(
    *,
    port: Annotated[int | None, Parameter(help="Port of the page [default: a free one].")] = None,
    open_: Annotated[
        bool, Parameter(name="--open", help="Open the page in a browser.", show_default=False)
    ] = True,
    export: Annotated[
        Path | None,
        Parameter(help="Instead, write a copy that cannot be changed into this folder, to open or to host."),
    ] = None,
    invocation: Given,
) -> None:
    """Show and tend the memory on a local page; prints its address, and serves it until interrupted."""
    if export is not None:
        if port is not None:
            raise InvalidInputError("view: a port is for a page that is served; leave it out with --export")
        from hydramem.cli.output import show
        from hydramem.view.export_page import export_page

        folder = export.expanduser().resolve()
        with invocation.open(make=False) as memory:
            done = export_page(memory, folder, project=invocation.namespace)
        show(done, as_json=invocation.json)
        return
    from hydramem.view.page_server import PageServer

    with invocation.open(make=False) as memory, _Browser() as browser:

        def ready(address: str) -> None:
            print(address, flush=True)
            if open_:
                browser.open(address)

        server = PageServer(memory, project=invocation.namespace, port=port)
        server.serve(ready)
    if not server.has_ended:
        # The store is closed. A thread that native code runs in would abort the interpreter's own end.
        sys.stdout.flush()
        os._exit(0)


class _Browser:
    """Opens an address by way of a file that only this user can read.

    Every user of the machine can read the command line of a browser, and the address holds the token.
    """

    def __init__(self) -> None:
        self._file: Path | None = None

    def __enter__(self) -> "_Browser":
        return self

    def __exit__(self, *raised: object) -> None:
        if self._file is not None:
            self._file.unlink(missing_ok=True)

    def open(self, address: str) -> None:
        """Open the address where this machine shows windows; else it was printed."""
        shows_windows = sys.platform in ("win32", "darwin") or bool(
            os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        )
        if not shows_windows:
            return  # a browser in the terminal would hide what was printed
        with NamedTemporaryFile("w", suffix=".html", prefix="hydramem-", delete=False) as file:
            file.write(_PAGE.format(address=escape(address)))
        self._file = Path(file.name)
        with suppress(webbrowser.Error):
            webbrowser.open(self._file.as_uri())
