"""Relations by a parse, where the extra is installed; and what happens where it is not."""

import pytest

from hydramem.core.errors import ConfigError
from hydramem.ingest.extraction.extract import Passage, extract
from hydramem.ingest.extraction.parse.model import is_installed, is_used

needs_nlp = pytest.mark.skipif(not is_installed(), reason="the extra nlp is not installed")


def triples(text: str, *, document: bool = False) -> set[tuple[str, str, str]]:
    (found,) = extract([Passage(text=text, author="Mel")], document=document, parser="spacy")
    return {(claim.subject, claim.type, claim.object) for claim in found.claims}


def test_auto_follows_what_is_installed_and_none_is_none() -> None:
    assert is_used("auto") is is_installed()
    assert is_used("none") is False


@pytest.mark.skipif(is_installed(), reason="the extra nlp is installed")
def test_a_parser_that_is_missing_is_named() -> None:
    with pytest.raises(ConfigError, match=r"hydramem\[nlp\]"):
        triples("Ada leads Billing.")


@needs_nlp
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Priya's dentist is Dr. Hollis.", ("Dr. Hollis", "cares_for", "Priya")),
        ("Solveig wrote Winter Light Again.", ("Winter Light Again", "written_by", "Solveig")),
        ("Lars sold his Volvo.", ("Lars", "sell", "Volvo")),
    ],
)
def test_verbs_and_roles_are_relations(text: str, expected: tuple[str, str, str]) -> None:
    assert triples(text) == {expected}
    assert triples("Lars sold his Volvo.", document=True) == set(), "documents have mapped verbs only"


@needs_nlp
@pytest.mark.parametrize(
    "text",
    [
        "AuthBox does not support Okta.",
        "If AuthBox supports Okta, tell Renata.",
        "Does AuthBox support Okta?",
    ],
)
def test_what_is_not_stated_is_no_relation(text: str) -> None:
    assert triples(text) == set()


@needs_nlp
def test_agreement_is_surest() -> None:
    (found,) = extract([Passage(text="Ada Hale joined Acme. Bo Berg attended Yale.")], parser="spacy")
    how = {claim.object: claim.how for claim in found.claims}
    assert how["Acme"] == "both"
