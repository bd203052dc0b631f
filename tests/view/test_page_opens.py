"""The page opens in a browser, keeps its token to itself, and has what every view relies on."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

Opened = Callable[[str, str], "Page"]


def test_the_token_leaves_the_address_bar(opened: Opened, address: str) -> None:
    page = opened(address, "#/")
    assert "token" not in page.url
    assert page.evaluate("Object.values({...sessionStorage}).length") == 1


def test_the_first_view_has_no_violations(opened: Opened, address: str, axe: Callable[[], list[str]]) -> None:
    opened(address, "#/")
    assert axe() == []
