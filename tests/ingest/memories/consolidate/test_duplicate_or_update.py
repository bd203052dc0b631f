"""Consolidation by rules: what ends, what stays, and what is never taken for the same."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.row_types import Chunk, Times
from hydramem.ingest.memories.consolidate.duplicate_or_update import (
    compare,
    decide,
    search_terms,
)
from hydramem.ingest.memories.similarity import NearbyChunk

THEN = datetime(2026, 1, 5, tzinfo=UTC)
LATER = THEN + timedelta(days=40)


def told(text: str, at: datetime = THEN, **fields: object) -> Chunk:
    chunk = Chunk(id=text, project="p", text=text, kind="note", times=Times(recorded_at=at))
    return changed(chunk, **fields)


def changed(chunk: Chunk, **fields: object) -> Chunk:
    times = {name: fields.pop(name) for name in ("recorded_at", "valid_from", "valid_to") if name in fields}
    return replace(chunk, times=replace(chunk.times, **times), **fields)


def action(old: str, new: str) -> str:
    return compare(told(new, LATER), told(old)).action


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We use PostgreSQL.", "We switched to MySQL."),
        ("crate 1001 is in hall 3", "crate 1001 is in hall 5"),
        ("The standup is at 3 pm.", "The standup is not at 3 pm."),
        ("Tom works at Siemens.", "Tom left Siemens."),
        ("Our CTO is Maria.", "Jonas took over from Maria as CTO."),
        ("Wir nutzen Slack.", "Wir nutzen Mattermost statt Slack."),
        ("Lucía vive en Sevilla.", "Lucía se mudó a Valencia."),
        ("The meeting moved to Thursday.", "The meeting is on Friday."),
        ("Paula maintains the parser.", "Omar maintains the parser now."),
        ("Tom: I use vim.", "Tom: I use emacs now."),
        ("We use MySQL.", "Update: we use PostgreSQL now."),
    ],
)
def test_a_later_one_takes_the_place_of_the_earlier(old: str, new: str) -> None:
    assert action(old, new) == "update"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("crate 1001 is in hall 3", "crate 1002 is in hall 4"),
        ("Ada is Bob's manager.", "Bob is Ada's manager."),
        ("I like jazz.", "I like hiking now."),
        ("We use PostgreSQL.", "We might switch to MySQL."),
        ("We use PostgreSQL for billing.", "We switched from PostgreSQL to MySQL for search."),
        ("I met Clara in Prague.", "I met Clara in Vienna."),
        ("My brother is Tom.", "My brother is Daniel."),
        ("Tom speaks French.", "Tom speaks Italian now."),
        ("Is Ada in Berlin?", "Ada is in Rome."),
        ("Ada works in Berlin.", "Ada works at Siemens."),
        ("Ada lives in Berlin.", "Ada moved to the marketing team."),
        ("Lisa likes dogs.", "Lisa doesn't like big dogs."),
        ("The team is small.", "The team is remote."),
        ("I prefer dark mode.", "I prefer light roast."),
        ("The app runs on iOS.", "The app runs on Android."),
        ("We use Python.", "We switched to TypeScript for the frontend."),
        ("I'm in the gym club.", "I'm on a ThinkPad now."),
        ("Tom: I use vim.", "Ana: I use emacs now."),
        ("The recipe needs 200 g of flour.", "The recipe needs 100 g of sugar."),
        ("Tom thinks the deadline is Friday.", "The deadline is Monday."),
    ],
)
def test_what_may_both_be_true_stays(old: str, new: str) -> None:
    assert action(old, new) == "unrelated"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The rent is 950 euros.", "The rent is 905 euros."),
        ("The key is with Ana.", "The key is with Anna."),
        ("The demo is on 4 May.", "The demo is on 5 May."),
        ("The door is locked.", "The door is not locked."),
        ("The client calls the server.", "The server calls the client."),
        ("He is now here.", "He is nowhere."),
        ("The cleaner comes on Friday.", "The cleaner comes on Fridays."),
        ("The cable is 3 m long.", "The cable is 3 ft long."),
        ("We run Python 3.1.", "We run Python 3.10."),
        ("Ada owes Ben 5 euros.", "Ben owes Ada 5 euros."),
    ],
)
def test_what_differs_is_never_a_duplicate(one: str, other: str) -> None:
    assert action(one, other) != "duplicate"
    assert action(other, one) != "duplicate"


NAMES = list(permutations(("Ada", "Ben", "Cleo")))


@given(st.sampled_from(NAMES), st.sampled_from(("pays", "told")))
def test_names_that_change_places_say_something_else(names: tuple[str, str, str], verb: str) -> None:
    first, second, third = names
    assert (
        action(f"{first} {verb} {second} and {third}", f"{second} {verb} {first} and {third}") != "duplicate"
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada lives in Berlin.", "ada lives in berlin"),
        ("The spare key is under the flowerpot.", "Spare key is under the flower pot!"),
        ("My manager is Priya.", "Priya is my manager."),
        ("We use PostgreSQL as our database.", "Our database is PostgreSQL."),
        ("Am Freitag fahren wir nach Wien.", "Wir fahren am Freitag nach Wien."),
        ("It's 15:00 in Rome.", "It is 3 pm in Rome."),
        ("Remember that the lab opens at 9.", "The lab opens at 9, by the way."),
        ("The plan costs $20 a month.", "The plan costs 20 dollars per month."),
        ("Our linter is ruff.", "The linter is ruff."),
    ],
)
def test_the_same_in_other_words_is_a_duplicate(one: str, other: str) -> None:
    assert action(one, other) == action(other, one) == "duplicate"


def test_more_of_the_same_is_a_refinement() -> None:
    assert action("Ada lives in Berlin.", "Ada lives in Berlin, in Kreuzberg near the canal.") == "refine"


def test_what_cannot_be_ordered_contradicts() -> None:
    old = told("The gate code is 4412.")
    new = told("The gate code is 4421.")
    assert compare(new, old).action == "contradict"
    assert "does not begin after" in compare(new, old).reason
    # An older statement that arrives late ends nothing.
    late = told("The gate code is 4421.", LATER, valid_from=THEN - timedelta(days=9))
    assert compare(late, changed(old, valid_from=THEN)).action == "contradict"
    assert action("Grandfather was born in 1931.", "Grandfather was born in 1933.") == "contradict"


def test_what_ended_before_the_other_began_is_left_alone() -> None:
    old = told("Ada lives in Berlin.", valid_to=THEN)
    assert compare(told("Ada lives in Rome.", LATER, valid_from=LATER), old).action == "unrelated"
    again = told("Ada lives in Berlin.", LATER, valid_from=LATER)
    assert compare(again, changed(old, valid_from=THEN - timedelta(days=9))).action == "unrelated"


def test_only_what_is_told_of_itself_is_touched() -> None:
    old, new = told("I live in Berlin.", author="ada"), told("I live in Rome now.", LATER, author="ben")
    assert compare(new, old).action == "unrelated"
    assert compare(replace(new, author="ada"), old).action == "update"
    assert compare(replace(new, author="ada", scope="/home"), old).action == "unrelated"
    assert compare(replace(new, author="ada", kind="turn"), old).action == "unrelated"
    assert compare(replace(new, author="ada", kind="event", happened_at=LATER), old).action == "unrelated"


def test_events_are_the_same_only_at_the_same_time() -> None:
    old = told("The server crashed.", kind="event", happened_at=THEN)
    assert compare(changed(old, recorded_at=LATER), old).action == "duplicate"
    assert compare(changed(old, recorded_at=LATER, happened_at=LATER), old).action == "unrelated"


def test_a_memory_does_not_end_for_a_part_of_it() -> None:
    old = "Ada lives in Berlin. She works at Siemens."
    assert action(old, "Ada lives in Rome now.") == "contradict"


def stored(*texts: str) -> list[NearbyChunk]:
    return [NearbyChunk(chunk=told(text)) for text in texts]


def test_a_duplicate_stands_for_the_new_one() -> None:
    plan = decide(told("ada lives in berlin", LATER), stored("Ben lives in Rome.", "Ada lives in Berlin."))
    assert not plan.insert
    assert [(one.id, one.action) for one in plan.actions] == [("Ada lives in Berlin.", "duplicate")]


def test_what_is_not_sure_ends_nothing_where_several_may_be_meant() -> None:
    new = told("We switched to Quandel.", LATER)
    assert [one.action for one in decide(new, stored("We use Zorbix.")).actions] == ["update"]
    assert decide(new, stored("We use Zorbix.", "We use Flimm.")).actions == ()


def test_cosine_decides_nothing() -> None:
    old, new = told("crate 1001 is in hall 3"), told("crate 1002 is in hall 4", LATER)
    for cosine in (None, 0.0, 0.97, 1.0):
        assert decide(new, [NearbyChunk(chunk=old, cosine=cosine)]).actions == ()


def test_what_to_look_for_finds_what_it_ends() -> None:
    switched = search_terms(told("We switched to MySQL."))
    assert switched.query is not None
    assert "postgresql" in switched.query.split()
    moved = search_terms(told("Crate 1001 is in hall 5."))
    assert moved.slots == ("1001 crate is",)
    assert search_terms(told("Hello!", kind="turn")) == search_terms(told("?!"))


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert compare(told(one, LATER), told(one)).action == "duplicate"
    compare(told(one, LATER), told(other))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The band doesn't rehearse in August.", "The band does not rehearse in August."),
        (
            "For recordings, we rent the studio on Mill Lane.",
            "We rent the studio on Mill Lane for recordings.",
        ),
        ("The office is on the 3rd floor.", "The office is on the third floor."),
        ("Das Lager ist im 2. Stock.", "Das Lager ist im zweiten Stock."),
        ("El taller está en el 2º piso.", "El taller está en el segundo piso."),
        ("The greenhouse is watered nightly.", "The greenhouse is watered every night."),
        ("Der Kompost wird wöchentlich gewendet.", "Der Kompost wird jede Woche gewendet."),
        ("Cada noche regamos las tomateras.", "Regamos las tomateras todas las noches."),
        ("Zweimal im Jahr prüfen wir die Heizung.", "Wir prüfen die Heizung zweimal im Jahr."),
        ("An API key rotates every 90 days.", "API keys rotate every ninety days."),
        ("Logs get deleted after 30 days.", "Logs are deleted after thirty days."),
        ("A mí me gusta el jazz.", "Me gusta el jazz."),
        ("On Sundays we bake bread.", "We bake bread on Sundays."),
        ("We milk the cows twice a day.", "The cows are milked two times a day."),
        ("The caretaker keeps the keys.", "The keys are kept by the caretaker."),
        ("A new episode comes out every Thursday.", "New episodes come out on Thursdays."),
    ],
)
def test_ways_of_saying_one_thing_are_one(old: str, new: str) -> None:
    assert action(old, new) == action(new, old) == "duplicate"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The red badge is in the lab.", "Red badges are in the lab."),
        ("My brother likes jazz.", "My brothers like jazz."),
        ("The wardrobe is on the 3rd floor.", "The workshop is on the third floor."),
        ("Two boats are moored at the second pier.", "The second boat is moored at pier 2."),
        ("For staging, we use Postgres.", "We use MySQL for testing."),
        ("A mí me gusta el jazz.", "A mi hermana le gusta el jazz."),
        ("The bus runs at 8:10.", "The bus runs at 9:10."),
        ("Jan segelt jeden Sonntag.", "Jan segelt jeden Sommer."),
        ("Where is Ana?", "Who is Ben?"),
        ("Anna manages Ben.", "Ben manages Anna."),
        ("The door code is 4471.", "The back door code is 4471."),
        ("Our water comes from the city.", "Our well water comes from the city."),
        ("Ana paints the fence.", "The fence is painted by Ben."),
        ("In 2023, the team had 5 members.", "In 2024, the team had 7 members."),
        ("Mia takes 5 mg of prednisone.", "Mia's sister's prednisone was raised to 10 mg."),
        ("Marta leads the design team.", "Jonas leads the sales team instead of Marta."),
        ("Kofi works at the aquarium.", "Kofi quit smoking."),
    ],
)
def test_what_only_sounds_alike_stays_apart(old: str, new: str) -> None:
    assert action(old, new) == action(new, old) == "unrelated"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Marta conducts the orchestra.", "Since Easter, Jonas conducts the orchestra instead of Marta."),
        ("Paula leitet den Chor.", "Seit Montag leitet Henrik statt Paula den Chor."),
        ("Kofi works at the aquarium.", "Kofi quit the aquarium and joined the zoo."),
        ("Membership costs 40 euros a year.", "Membership went up to 48 euros a year."),
        ("Grandpa takes 20 mg of the blood thinner.", "Grandpa's blood thinner dose was lowered to 10 mg."),
        ("The backup job runs at 2 am.", "The backup job runs at 4 am."),
        ("The pallet is in Hamburg.", "The pallet has arrived in Rotterdam."),
        ("El contenedor está en Bilbao.", "El contenedor ha llegado a Valencia."),
        ("The door code is 4471.", "New door code: 9023."),
        ("Nora is the treasurer.", "Instead of Nora, Felix is the treasurer."),
        ("The heating is set to 20 degrees.", "The heating was turned down to 18 degrees."),
        ("The gym costs 30 euros a month.", "The gym fee went up to 35 euros a month."),
        ("The newsletter goes out monthly.", "The newsletter goes out every week."),
        ("The plants are watered daily.", "The plants are watered every other day."),
    ],
)
def test_what_is_another_now_ends_what_was(old: str, new: str) -> None:
    assert action(old, new) == "update"
