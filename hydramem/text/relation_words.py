"""The words by which a sentence states a relation, from the words of its type."""

import re
from dataclasses import dataclass
from functools import lru_cache

from hydramem.text.search_terms import stem

_WORDS = re.compile(r"[^\W\d_]+")

_PARTS = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W_]+")

_SMALL_LIST = "a an the of by in on at to for from with is was are were be been has have had as and or"

_SMALL = frozenset(_SMALL_LIST.split())

# A row: words of types; words of sentences that state them; what the object is, and the subject, where such
# types always take the same: a name that is no nation's, a nation or its adjective, a place; a person, a
# work, or some thing that is no person. A copula is written as `=`.
_ROWS: tuple[tuple[str, str, str, str], ...] = (
    ("birth born birthplace birthday", "born birth native née b", "", "person"),
    ("death died dead", "died death dead killed assassinated murdered executed d †", "", "person"),
    ("burial buried", "buried burial interred entombed cemetery grave", "name", "person"),
    ("director directed directs", "directed director directs directing film helmed", "name", "work"),
    (
        "writer author written wrote writes screenwriter",
        "written wrote writer author authored scripted novel book",
        "",
        "",
    ),
    ("composer composed music", "composed composer music score scored soundtrack songs", "name", "work"),
    (
        "performer performed singer artist",
        "performed performer song single album sung singer recorded by rapper",
        "name",
        "work",
    ),
    ("producer produced", "produced producer producing", "name", "work"),
    ("publisher published", "published publisher released publication", "", ""),
    (
        "publication released release premiere",
        "released release published premiered publication debuted = film",
        "",
        "work",
    ),
    (
        "inception founded founder established foundation formed",
        "founded founder established formed inception created",
        "",
        "",
    ),
    ("editor edited", "edited editor editing", "name", "work"),
    (
        "created creator designed developer developed invented",
        "created designed developed invented built",
        "name",
        "",
    ),
    (
        "spouse wife husband married partner",
        "wife husband spouse married marriage marry wed widow widower consort queen",
        "name",
        "person",
    ),
    ("father", "son daughter father child born eldest youngest", "name", "person"),
    ("mother", "son daughter mother child born by", "name", "person"),
    ("parent child_of", "son daughter child father mother parents born", "name", "person"),
    (
        "child children son daughter",
        "son daughter child children father mother sons daughters",
        "name",
        "person",
    ),
    (
        "sibling brother sister",
        "brother sister sibling siblings twin half-brother brothers sisters",
        "name",
        "person",
    ),
    ("citizenship nationality", "=", "nation", "person"),
    ("country nation state", "= in of", "nation", "thing"),
    ("origin", "= film song", "nation", "thing"),
    (
        "located location headquarters situated",
        "located situated headquartered based lies lying in at",
        "place",
        "",
    ),
    ("capital", "capital", "place", ""),
    (
        "residence lives live reside resides",
        "lives lived living resides resided residence home",
        "place",
        "person",
    ),
    ("moved", "moved relocated emigrated migrated", "", ""),
    ("migrated migrate switched", "migrated migrating moved switched ported converted", "", ""),
    (
        "educated education school university studied alumni",
        "educated studied graduated attended student alumnus university college school",
        "name",
        "person",
    ),
    (
        "employer employed works work worked employee",
        "works worked working employed professor joined employee taught staff",
        "name",
        "person",
    ),
    ("award won received prize awarded", "won received awarded award prize recipient winner", "name", ""),
    ("cause", "died death killed caused cause due of from", "", ""),
    ("occupation profession job", "= worked career", "", "person"),
    ("member belongs joined", "member members joined belongs belonged joining", "name", ""),
    ("plays played team player", "plays played playing signed joined club team", "name", ""),
    (
        "leads led leader head manager runs manages",
        "leads led head headed leader manager manages runs run president",
        "",
        "",
    ),
    (
        "owner owned owns acquired subsidiary",
        "owned owns owner acquired subsidiary belongs bought",
        "name",
        "",
    ),
    ("depends depend requires", "depends relies requires depend rely needs", "", ""),
    ("uses use used", "uses use used using", "", ""),
    ("replaced replaces replace", "replaced replaces replacing superseded", "", ""),
    ("named", "named called eponym", "", ""),
    ("features starring cast stars actor", "starring stars starred featuring features cast", "name", ""),
    ("detention imprisoned prison", "imprisoned detained prison jailed held jail", "place", "person"),
    ("likes loves prefers", "likes loves enjoys prefers like love enjoy prefer", "", ""),
    ("dislikes hates", "dislikes hates dislike hate", "", ""),
    ("language", "language speaks spoke", "", ""),
    ("part", "part within belongs", "", ""),
    ("type instance kind", "=", "", ""),
)

_DATED_LIST = "date time year day month when inception birthday"

_DATED = frozenset(_DATED_LIST.split())

_PLACED_LIST = "place country city location town state nation located lives"

_PLACED = frozenset(_PLACED_LIST.split())

_IN = frozenset(["in", "at"])

_DOERS_LIST = "by director writer author composer performer producer publisher editor creator founder owner"

_DOERS = frozenset(_DOERS_LIST.split())

_LIFE = frozenset(["born", "died", "buried"])


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeWording:
    """How a type reads in a sentence.

    Attributes:
        cues: Stems of words that state it; a copula is `=`.
        object: What its object is: a `date`, a `place`, a `nation`, another `name`, or unknown (empty).
        subject: What its subject is: a `person`, a `work`, a `thing` that is no person, or unknown (empty).
        passive: Whether its object does what its words say: "directed by", "composer".
    """

    cues: frozenset[str]
    object: str
    subject: str
    passive: bool


@lru_cache(maxsize=4096)
def wording(type: str) -> TypeWording:
    """Return how a type of relation reads in a sentence: its own words, and others that state the same."""
    words = [word.casefold() for word in _PARTS.split(type[:200]) if word]
    group = frozenset(index for word in words for index in _ROW_OF.get(word, ()))
    # "date of birth" is about birth: what only says the kind of the object is no cue where another word is.
    telling = [word for word in words if word not in _SMALL]
    cues = {stem(cue) for index in group for cue in _CUES[index]}
    cues |= {stem(word) for word in telling if word not in _DATED | _PLACED or len(telling) == 1}
    return TypeWording(
        cues=frozenset(cues),
        object=_object(words, group),
        subject=_only(group, 3),
        passive=bool(_DOERS & set(words)),
    )


def _object(words: list[str], group: frozenset[int]) -> str:
    if _DATED & set(words) or ("on" in words and _LIFE & set(words)):
        return "date"
    kind = _only(group, 2)
    if kind != "nation" and (_PLACED & set(words) or (_IN & set(words) and _LIFE & set(words))):
        return "place"
    return kind


def _only(group: frozenset[int], column: int) -> str:
    """Return what the rows agree on; the narrower where a nation's row meets another, nothing else."""
    kinds = {_ROWS[index][column] for index in group}
    if "person" in kinds and "thing" in kinds:
        kinds.remove("thing")
    return next(iter(kinds)) if len(kinds) == 1 else ""


_CUES = tuple(tuple(cues.split()) for _, cues, _, _ in _ROWS)

_ROW_OF: dict[str, tuple[int, ...]] = {}
for _index, (_types, *_) in enumerate(_ROWS):
    for _word in _types.split():
        _ROW_OF[_word] = (*_ROW_OF.get(_word, ()), _index)

ALL_CUES = frozenset(stem(cue) for cues in _CUES for cue in cues) - {stem(word) for word in _SMALL | {"="}}
"""Words that state some relation: the one next to an object may state another than was claimed."""
