"""Relations by a dependency parse: verbs and nouns of role between the names that the scan found.

Names are masked by well-known ones of one word before the parse: a small parser knows those.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hydramem.ingest.extraction.claim_sentence import ClaimSentence
from hydramem.ingest.extraction.findings import Claim
from hydramem.ingest.extraction.name_words import DEMONYM, FIRST_PERSON, THINGS
from hydramem.ingest.extraction.parse.model import language
from hydramem.ingest.extraction.parse.verb_table import ROLE_PREPOSITIONS, ROLES, VERBS

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_MASKS = ("Microsoft", "Google", "Amazon", "Intel", "Oracle", "Nokia", "Siemens", "Toyota", "Boeing", "Sony")
_LONGEST = 600
_HEADS = frozenset(THINGS.split("|"))
_SUBJECTS = ("nsubj", "nsubjpass")
_OBJECTS = ("dobj", "obj")
_PERSONAL = frozenset({"he", "she", "it", "they", "him", "her", "them"})
_RELATIVE = frozenset({"who", "which", "that", "whom"})
_CARRY_ON = frozenset(
    ["begin", "start", "continue", "decide", "agree", "go", "come", "keep", "manage", "help"]
)
"""Verbs whose subject does what their infinitive says."""
_TRANSFERS = frozenset(
    {"assign", "reassign", "swap", "replace", "host", "deploy", "migrate", "move", "port", "merge"}
)
_CLAUSE_MARKS = frozenset(["if", "unless", "whether", "lest", "until"])
_VERBAL = ("VERB", "AUX")


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A parsed sentence: its tokens, and the names that stand in them by token."""

    sentence: ClaimSentence
    doc: "Doc"
    names: dict[int, str]
    origins: dict[int, int]


def parsed_claims(sentences: Sequence[ClaimSentence], *, all_verbs: bool) -> Iterator[Claim]:
    """Yield the relations that sentences state by their syntax.

    Args:
        sentences: Sentences with their names.
        all_verbs: Whether verbs that are mapped to no type state a relation named by themselves.
    """
    chosen = [each for each in sentences if _may_relate(each)]
    masked = [_masked(each) for each in chosen]
    for sentence, (text, places), doc in zip(
        chosen, masked, language().pipe(text for text, _ in masked), strict=True
    ):
        names, origins = {}, {}
        for token in doc:
            for start, end, name, origin in places:
                if start <= token.idx < end:
                    names[token.i] = name
                    origins[token.i] = origin
        yield from _claims(_Parsed(sentence, doc, names, origins), text, places, all_verbs=all_verbs)


def _may_relate(sentence: ClaimSentence) -> bool:
    named = [span for span in sentence.names if span.type != "date"]
    known = len(named) + (sentence.topic is not None or sentence.author is not None)
    return bool(named) and known > 1 and sentence.end - sentence.start <= _LONGEST


def _masked(sentence: ClaimSentence) -> tuple[str, list[tuple[int, int, str, int]]]:
    """Return a sentence with its names masked, and where each mask stands: (start, end, name, origin)."""
    parts: list[str] = []
    places: list[tuple[int, int, str, int]] = []
    at, length = sentence.start, 0
    for number, span in enumerate(span for span in sentence.names if span.type != "date"):
        if span.start < at:
            continue
        between = sentence.text[at : span.start]
        mask = _MASKS[number % len(_MASKS)]
        places.append((length + len(between), length + len(between) + len(mask), span.name, span.start))
        parts += [between, mask]
        length += len(between) + len(mask)
        at = span.end
    parts.append(sentence.text[at : sentence.end])
    return "".join(parts).replace("\n", " "), places


def _claims(
    parsed: _Parsed, text: str, places: Sequence[tuple[int, int, str, int]], *, all_verbs: bool
) -> Iterator[Claim]:
    found = [*_verb_claims(parsed, all_verbs=all_verbs), *_role_claims(parsed)]
    for at, subject, type, object in found:
        if subject != object and parsed.sentence.states(_original(parsed, at, places)):
            yield Claim(
                subject=subject,
                type=type,
                object=object,
                confidence=0.5,
                quote=parsed.sentence.quote,
                how="parse",
            )


def _original(parsed: _Parsed, at: int, places: Sequence[tuple[int, int, str, int]]) -> int:
    """Return where a place of the masked sentence stands in the text."""
    before = [place for place in places if place[1] <= at]
    if not before:
        return parsed.sentence.start + at
    _, end, _, origin = before[-1]
    span = next(span for span in parsed.sentence.names if span.start == origin)
    return span.end + at - end


_Edge = tuple[int, str, str, str]


def _verb_claims(parsed: _Parsed, *, all_verbs: bool) -> Iterator[_Edge]:
    for verb in parsed.doc:
        if verb.pos_ not in _VERBAL or verb.i in parsed.names or verb.lemma_ == "be" or _is_unreal(verb):
            continue
        if any(child.dep_ == "oprd" for child in verb.children):  # "called it a failure" names it so
            continue
        subjects = _subjects(verb, parsed)
        passive = _is_participle(verb) or any(each.dep_ in ("nsubjpass", "auxpass") for each in verb.children)
        for key, token in _complements(verb):
            mapped = VERBS.get(key)
            known = mapped is not None or (all_verbs and "_" not in key and token.i in parsed.names)
            if not known or (passive and "_" not in key):
                continue
            type, inverse = mapped or (key.replace("-", "_"), False)
            if verb.lemma_ in _TRANSFERS and "_" in key and not passive:
                subjects = _transferred(verb, parsed) or subjects
            for object in _names_at(token, parsed, described=True):
                for subject in subjects:
                    yield (verb.idx, object, type, subject) if inverse else (verb.idx, subject, type, object)


def _transferred(verb: "Token", parsed: _Parsed) -> list[str]:
    """Return what a verb such as "assign" or "deploy" says something of: its object."""
    objects = (child for child in verb.children if child.dep_ in _OBJECTS)
    return [name for child in objects for name in _names_at(child, parsed)]


def _is_participle(verb: "Token") -> bool:
    return (verb.dep_, verb.tag_) == ("acl", "VBN")


def _is_unreal(verb: "Token") -> bool:
    """Say whether a verb is denied, only possible, asked for or conditional, by its own clause."""
    for child in verb.children:
        if child.dep_ == "neg" or (child.dep_ == "aux" and child.tag_ == "MD"):
            return True
        if child.dep_ == "mark" and child.lower_ in _CLAUSE_MARKS:
            return True
    if (
        verb.tag_ == "VB"
        and verb.dep_ == "ROOT"
        and not any(child.dep_ in _SUBJECTS for child in verb.children)
    ):
        return True
    if verb.dep_ == "xcomp":
        return verb.head.lemma_ not in _CARRY_ON or _is_unreal(verb.head)
    if verb.dep_ == "conj" and verb.head.pos_ in _VERBAL:
        return _is_unreal(verb.head)
    return False


def _subjects(verb: "Token", parsed: _Parsed) -> list[str]:
    own = [child for child in verb.children if child.dep_ in _SUBJECTS]
    if own:
        token = own[0]
        if token.lower_ in _RELATIVE and verb.dep_ == "relcl":
            return _names_at(verb.head, parsed)
        return _names_at(token, parsed)
    if verb.lemma_ == "use" and verb.tag_ == "VBG" and verb.dep_ in ("acl", "advcl"):
        return []  # "install Atlas using Docker" says how, not what Atlas uses
    if verb.dep_ == "acl":
        return _names_at(verb.head, parsed) if verb.tag_ in ("VBN", "VBG") else []
    if verb.dep_ in ("conj", "xcomp") and verb.head.pos_ in _VERBAL:
        return _subjects(verb.head, parsed)
    if verb.dep_ == "advcl" and verb.tag_ == "VBG":
        return _subjects(verb.head, parsed)
    return []


def _complements(verb: "Token") -> Iterator[tuple[str, "Token"]]:
    """Yield what completes a verb, with the key by which the table knows both."""
    lemma = verb.lemma_.lower()
    particle = next((child.lower_ for child in verb.children if child.dep_ == "prt"), "")
    for child in verb.children:
        if child.dep_ in _OBJECTS:
            relative = child.lower_ in _RELATIVE and verb.dep_ == "relcl"
            yield f"{lemma}_{particle}" if particle else lemma, verb.head if relative else child
        elif child.dep_ in ("prep", "agent"):
            for object in child.children:
                if object.dep_ == "pobj":
                    yield f"{lemma}_{child.lower_}", object


def _names_at(token: "Token", parsed: _Parsed, *, described: bool = False) -> list[str]:
    """Return the names that a token stands for, with those that are joined to it.

    Args:
        described: Whether a noun stands for the name before it, as in "the Atlas session".
    """
    name = _name_at(token, parsed, described=described)
    found = [name] if name else []
    for child in token.children:
        if child.dep_ == "conj" and child.pos_ not in _VERBAL:
            found += _names_at(child, parsed, described=described)
    return found


def _name_at(token: "Token", parsed: _Parsed, *, described: bool) -> str | None:
    sentence, lower = parsed.sentence, token.lower_
    if token.i in parsed.names:
        return parsed.names[token.i]
    if lower in FIRST_PERSON:
        return sentence.author
    if lower in _PERSONAL:
        clause = token.head.head if token.head.dep_ == "relcl" else token
        before = [parsed.names[i] for i in sorted(parsed.names) if i < token.i and i != clause.i]
        return before[0] if before else sentence.topic
    for child in token.children:
        if child.dep_ == "appos" and child.i in parsed.names and child.i > token.i:
            return parsed.names[child.i]
    compounds = [child for child in token.children if child.dep_ == "compound" and child.i in parsed.names]
    if compounds and (described or token.lemma_.lower() in _HEADS):
        return parsed.names[compounds[-1].i]
    return None


def _role_claims(parsed: _Parsed) -> Iterator[_Edge]:
    """Read "Ada is the daughter of Bo", "Ada, head of Billing", "Ada's dentist is Bo" and "spokesman Bo"."""
    for noun in parsed.doc:
        role = ROLES.get(noun.lemma_.lower())
        if role is None or noun.i in parsed.names:
            continue
        owners = _owners(noun, parsed)
        for holder in _holders(noun, parsed):
            for owner in owners:
                type, inverse = role
                yield (noun.idx, owner, type, holder) if inverse else (noun.idx, holder, type, owner)


def _owners(noun: "Token", parsed: _Parsed) -> list[str]:
    found: list[str] = []
    for child in noun.children:
        if child.dep_ == "poss" and child.lower_ not in ("his", "her", "their", "its"):
            found += _names_at(child, parsed)
        elif child.dep_ == "prep" and child.lower_ in ROLE_PREPOSITIONS:
            for object in child.children:
                if object.dep_ == "pobj":
                    found += _names_at(object, parsed)
        elif child.dep_ == "compound" and not DEMONYM.search(parsed.names.get(child.i, "ish")):
            found.append(parsed.names[child.i])
    return found


def _holders(noun: "Token", parsed: _Parsed) -> list[str]:
    head = noun.head
    if noun.dep_ == "attr" and head.lemma_ == "be" and not _is_unreal(head):
        return _subjects(head, parsed)
    if noun.dep_ == "nsubj" and head.lemma_ == "be" and not _is_unreal(head):
        return [name for child in head.children if child.dep_ == "attr" for name in _names_at(child, parsed)]
    if noun.dep_ in ("appos", "compound") and head.i in parsed.names:
        return [parsed.names[head.i]]
    after = [child for child in noun.children if child.dep_ == "appos" and child.i in parsed.names]
    return [parsed.names[child.i] for child in after]
