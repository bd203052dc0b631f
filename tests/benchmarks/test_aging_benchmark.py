"""The benchmark of memories that age: the lives it makes of texts, the model it scripts, and its figures."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.aging import section
from benchmarks.aging.ailments import ALONE, NONE, TOGETHER, cases_of
from benchmarks.aging.asking import _outcome
from benchmarks.aging.figures import given_back, parts_shown
from benchmarks.aging.lives import Question
from benchmarks.aging.measure import Plan, _limited, measure
from benchmarks.aging.scripted_model import KnowingModel, Known
from benchmarks.aging.shown import ShownRelations, _judged
from benchmarks.aging.texts import Texts, read_texts
from benchmarks.aging.year import present
from hydramem.core import time
from hydramem.core.results.hits import Hit
from hydramem.garden.phases.supersede.replacement_prompt import CheckedAgainReply, SettledReply
from hydramem.ingest.memories.distill.distill_prompt import DistillReply
from hydramem.llm.scripted_generator import ScriptedPrompt
from hydramem.verification.grounding.grounding_prompt import EvidenceReply

AUTHOR: dict[str, list[dict[str, Any]]] = {
    "told_again": [
        {
            "text": f"Berth {n} at Orsova takes ships of nine metres.",
            "again": f"At Orsova, nine metres is what a ship on berth {n} may draw.",
            "near": f"Berth {n} at Halvik takes ships of seven metres.",
            "question": f"How deep may a ship on berth {n} in Orsova be?",
            "near_question": f"How deep may a ship on berth {n} in Halvik be?",
        }
        for n in range(2)
    ],
    "changed": [
        {
            "question": "Who leads the billing team?",
            "states": [
                {"text": "Corinna leads billing these days.", "on": "2025-09-18", "value": "Corinna"},
                {"text": "Marguerite leads the billing team.", "on": "2025-01-14", "value": "Marguerite"},
            ],
            "beside": "Billing hands over on Wednesdays.",
            "beside_question": "When does billing hand over?",
        }
    ],
    "names": [
        {
            "kind": "service",
            "names": ["Tidebook", "TB"],
            "facts": [
                {"text": "Tidebook runs on Pelikan.", "name": "Tidebook"},
                {"text": "Ngozi hears of outages of TB.", "name": "TB"},
            ],
            "two_hop": [{"question": "Who hears of outages of what runs on Pelikan?", "needs": [0, 1]}],
            "namesake": {
                "name": "Tidelog",
                "facts": ["Tidelog is of paper."],
                "question": "What is Tidelog?",
            },
        }
    ],
    "noise": [
        {
            "turns": [
                {"role": "user", "text": "good morning, coffee first though"},
                {"role": "user", "text": "Ewelina takes vouchers off before tax"},
                {"role": "user", "text": "reviews of the cart go to Mislav"},
            ],
            "facts": [
                {
                    "text": "Vouchers come off before tax.",
                    "turn": 1,
                    "question": "When do vouchers come off?",
                },
                {"text": "Mislav reviews the cart.", "turn": 2, "question": "Who reviews the cart?"},
            ],
        }
    ],
    "asked": [
        {
            "gold": "Cranes stop at gusts of 72 km/h.",
            "rivals": ["Crane drivers change every four hours.", "Cranes work in fog."],
            "questions": [f"At what wind do cranes stop, {n}?" for n in range(12)],
            "new": [{"question": "Do cranes work in fog?", "gold": "Cranes work in fog."}],
        }
    ],
}


@pytest.fixture
def texts(tmp_path: Path) -> Texts:
    folder = tmp_path / "texts" / "author"
    folder.mkdir(parents=True)
    for name, rows in AUTHOR.items():
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return read_texts(tmp_path / "texts")


def test_every_ailment_has_a_memory_before_and_after(texts: Texts) -> None:
    cases = cases_of(texts)
    assert {*ALONE, TOGETHER, NONE} == cases.keys()
    assert len(texts.thinned(0.5).told_again) == 1
    told = {name: [one.text for one in case.aged.told] for name, case in cases.items()}
    clean = {name: [one.text for one in case.clean.told] for name, case in cases.items()}
    assert set(told["told again"]) - set(clean["told again"]) == {row.again for row in texts.told_again}
    assert set(told["changed facts"]) - set(clean["changed facts"]) == {"Marguerite leads the billing team."}
    assert cases["split names"].clean.names == (("Tidebook", "TB"),) and not cases["split names"].aged.names
    assert [one.text for one in cases["noise"].aged.told] == ["Vouchers come off before tax."]
    assert len(cases["noise"].aged.transcripts) == 1
    asked = cases["asked again"]
    assert {one.question for one in asked.aged.asked} == set(texts.asked[0].questions[:8])
    assert [one.text for one in asked.questions] == [*texts.asked[0].questions[8:], "Do cranes work in fog?"]
    assert "Cranes work in fog." in clean["asked again"]
    assert cases_of(texts) == cases
    alone = sum(len(cases[name].questions) for name in ALONE)
    assert len(cases[TOGETHER].questions) == alone and cases[TOGETHER].aged.false_share == 0.2


def test_fewer_questions_are_spread_over_all() -> None:
    asked = [Question(ailment=str(n % 2), part="", text=str(n), gold=()) for n in range(12)]
    assert [each.text for each in _limited(asked, 2)] == ["0", "1", "6", "7"]
    assert _limited(asked, None) == asked


def hit(text: str) -> Hit:
    return Hit(id=text, text=text, score=1.0, source="", kind="note", project="p", layer="working")


def test_an_outcome_says_what_came_first_and_what_came_twice() -> None:
    question = Question(
        ailment="a", part="b", text="?", gold=(frozenset(("new", "again")),), stale=frozenset(("old",))
    )
    same = {"new": 0, "again": 0}
    one = _outcome([hit("other"), hit("old"), hit("new"), hit("again")], question, same)
    assert (one.recall, one.reciprocal, one.stale, one.duplicates) == (1.0, 1 / 3, True, 1)
    none = _outcome([hit("other")], question, same)
    assert (none.recall, none.reciprocal, none.stale, none.duplicates) == (0.0, 0.0, False, 0)


def test_a_share_is_given_back_of_a_loss_alone() -> None:
    clean, aged = np.ones(40), np.zeros(40)
    half = np.array([1.0, 0.0] * 20)
    back = given_back(clean, aged, half)
    assert back.share == 0.5 and 0.2 < back.low < 0.5 < back.high < 0.8
    assert given_back(clean, clean, half).share is None
    assert given_back(aged, clean, half).share is None


def test_relations_shown_are_judged_by_the_first_five() -> None:
    false, true = ("C", "features", "D"), ("A", "features", "C")
    wrong = frozenset((false,))
    assert _judged([false, true], wrong) == ShownRelations(false=0.5, reciprocal=0.5)
    assert _judged([*[false] * 5, true], wrong) == ShownRelations(false=1.0, reciprocal=0.0)
    assert _judged([], wrong) == ShownRelations(false=None, reciprocal=0.0)


def test_what_is_shown_at_one_stage_alone_is_not_compared() -> None:
    none, half, whole = (ShownRelations(false=each, reciprocal=1.0) for each in (None, 0.5, 0.0))
    surfaces = ("neighbors", "expand", "deep recall")
    stages = {"clean": [none, whole], "aged": [half, half], "after 1": [whole, half]}
    parts = parts_shown({stage: dict.fromkeys(surfaces, shown) for stage, shown in stages.items()})
    assert [part.part for part in parts] == list(surfaces)
    share, rank = parts[0].measures
    assert (share.questions, share.stages) == (1, {"clean": 0.0, "aged": 0.5, "after 1": 0.5})
    assert rank.questions == 2 and parts_shown({}) == ()


def ask(model: KnowingModel, shape: type[Any], text: str) -> Any:
    return model(ScriptedPrompt(text=text, system="", shape=shape))


def pairs(*rows: tuple[str, str]) -> str:
    return "\n".join(
        f'<pair index="{n}">\n<older said="x">{old}</older>\n<newer said="y">{new}</newer>\n</pair>'
        for n, (old, new) in enumerate(rows, 1)
    )


def test_the_scripted_model_knows_the_texts() -> None:
    known = Known(
        changed=(("Ada leads R&D.", "Bo leads R&D."),),
        same=(frozenset(("Ada runs R&D.", "R&D is run by Ada.")),),
        hidden={"reviews go to Bo": "Bo reviews."},
        false=frozenset({("Ada", "led_by", "Oslo")}),
    )
    model = KnowingModel(known=known, wrong=0.0)
    prompt = pairs(
        ("Ada leads R&amp;D.", "Bo leads R&amp;D."),
        ("Bo leads R&amp;D.", "Ada leads R&amp;D."),
        ("Ada runs R&amp;D.", "R&amp;D is run by Ada."),
    )
    settled = ask(model, SettledReply, prompt)["pairs"]
    assert [each["verdict"] for each in settled] == ["REPLACES", "BOTH", "SAME"]
    checked = ask(model, CheckedAgainReply, prompt)["pairs"]
    assert [each["verdict"] for each in checked] == ["CONTRADICTION", "COMPATIBLE", "EQUIVALENT"]
    assert settled[0]["older_quote"] == "Ada leads R&D."
    turns = '<turn number="1" author="user" said="x">\nreviews go to Bo\n</turn>'
    [fact] = ask(model, DistillReply, turns)["facts"]
    assert fact["text"] == "Bo reviews." and fact["turns"] == [1]
    claim = '<claim index="1"><subject>Ada</subject><relation>led by</relation><object>Oslo</object></claim>'
    passage = '<passage number="1">\nAda was in Oslo.\n</passage>'
    [verdict] = ask(model, EvidenceReply, passage + claim)["claims"]
    assert verdict["verdict"] == "REJECTED" and verdict["quote"] == "Ada was in Oslo."


def test_the_scripted_model_errs_at_its_share_and_alike_each_time() -> None:
    known = Known(changed=tuple((f"old {n}", f"new {n}") for n in range(400)))
    prompt = pairs(*((f"old {n}", f"new {n}") for n in range(400)))
    model = KnowingModel(known=known)
    first = ask(model, SettledReply, prompt)
    assert model.answers == 400 and 8 <= model.mistakes <= 36
    assert sum(each["verdict"] != "REPLACES" for each in first["pairs"]) == model.mistakes
    assert ask(model, SettledReply, prompt) == first


def test_a_made_up_present_passes_and_ends() -> None:
    before = time.now()
    moment = datetime(2025, 3, 1, tzinfo=UTC)
    with present(moment):
        assert moment <= time.now() < moment + timedelta(minutes=1)
        assert moment <= time.clock() < moment + timedelta(minutes=1)
        assert time.parse_when(before, name="x") == before
        assert time.parse_when("2025-03", name="x") == moment
    assert time.now() > before


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name in ("2wiki", "hotpot100"):
        docs = [
            {
                "id": str(n),
                "case": name,
                "text": f"Town {n}\nTown {n} was founded by Ada{n} Berg.",
                "meta": {"title": f"Town {n}"},
            }
            for n in range(8)
        ]
        queries = [
            {
                "case": name,
                "query": f"Who founded Town {n}?",
                "gold": [str(n)],
                "meta": {"triples": [[f"Town {n}", "founded by", f"Ada{n} Berg"]]},
            }
            for n in range(4)
        ]
        write(tmp_path / "sets" / name, docs, queries)
    raw = [f"I walked to the harbour with dog number {n} this morning" for n in range(9)]
    turns = [
        {"id": f"D{n}", "case": "c", "text": f"Mel: {text}", "meta": {"raw": text}}
        for n, text in enumerate(raw)
    ]
    write(tmp_path / "sets" / "locomo-turn", turns, [])
    return tmp_path / "sets"


def write(folder: Path, docs: list[dict[str, Any]], queries: list[dict[str, Any]]) -> None:
    folder.mkdir(parents=True)
    for name, rows in (("docs", docs), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


@pytest.mark.slow
def test_a_memory_with_every_ailment_is_measured(texts: Texts, data: Path, tmp_path: Path) -> None:
    plan = Plan(
        data=data,
        texts=texts,
        sizes=(20,),
        ailments=(TOGETHER,),
        models=("none", "scripted"),
        nights=1,
        phases=("distill", "verify", "supersede", "merge", "reuse"),
        embedder="hash",
        keep=tmp_path / "kept",
    )
    without, scripted = measure(plan)
    kept = sorted((tmp_path / "kept").iterdir())
    stages = {stage for part in without.parts for one in part.measures for stage in one.stages}
    assert stages == {"clean", "aged", "after 1"}
    assert {part.ailment for part in without.parts} >= {"told again", "changed facts", "unaffected"}
    assert without.nights[0].state == "completed" and not without.nights[0].answers
    assert scripted.nights[0].answers and without.ended.truths >= 8
    assert without.ended.for_good == 0
    assert without.turns == 3 + 16 and without.memories > 10
    page = section.placed("# Results\n\n## Other\n\nstays\n", [without, scripted])
    assert "stays" in page and page.count(section.TITLE) == 1 and "all together" in page
    assert sorted((tmp_path / "kept").iterdir()) == kept


def test_the_texts_of_the_authors_hold_together() -> None:
    texts = read_texts()
    assert min(len(texts.told_again), len(texts.changed), len(texts.names)) >= 60
    assert len(texts.noise) == len(texts.asked) == 40
    for changed in texts.changed:
        assert 2 <= len(changed.states) <= 6 and len({each.text for each in changed.states}) > 1
    for split in texts.names:
        assert all(fact.name in split.names for fact in split.facts)
        assert all(0 <= place < len(split.facts) for hop in split.two_hop for place in hop.needs)
    for noisy in texts.noise:
        assert all(0 <= fact.turn < len(noisy.turns) for fact in noisy.facts)
    for asked in texts.asked:
        assert len(asked.questions) == 12 and asked.gold not in asked.rivals
