"""The queue of questions in the page: answers by keys, skipping, counts, undo."""

from tests.view.conftest import OwnPage, Page


def asked(page: Page) -> str:
    return page.get_by_role("region", name="Question").get_by_role("heading", level=2).inner_text()


def test_questions_are_answered_by_keys_and_an_answer_is_undone(own: OwnPage) -> None:
    questions = own.memory.review().questions
    waiting = len(questions)
    page = own.open("#/review")
    page.get_by_text(f"{waiting} open questions").wait_for()
    assert asked(page) == questions[0].text
    keys = [one.choices[0][0] for one in questions]
    page.keyboard.press(keys[0])
    page.get_by_text("Undo", exact=True).wait_for()
    left = own.memory.review()
    assert questions[0].id not in {one.id for one in left.questions} and left.waiting < waiting
    page.get_by_text(f"{left.waiting} open questions").wait_for()
    assert asked(page) == left.questions[0].text
    page.keyboard.press("u")
    page.get_by_text(f"{waiting} open questions").wait_for()
    assert asked(page) == questions[0].text
    assert own.memory.review().waiting == waiting


def test_a_relation_is_denied_by_n_and_what_is_skipped_comes_back(own: OwnPage) -> None:
    questions = own.memory.review().questions
    page = own.open("#/review")
    page.get_by_role("region", name="Question").wait_for()
    place = next(index for index, one in enumerate(questions) if one.kind == "relation")
    for one in questions[:place]:
        assert asked(page) == one.text
        page.keyboard.press("s")
    assert asked(page) == questions[place].text
    assert page.get_by_role("button", name="No", exact=True).get_attribute("aria-keyshortcuts") == "n"
    page.keyboard.press("n")
    page.get_by_text("Undo", exact=True).wait_for()
    left = own.memory.review()
    assert questions[place].id not in {one.id for one in left.questions}
    page.get_by_text(f"{left.waiting} open questions").wait_for()
    for _ in range(left.waiting - place):
        page.get_by_role("button", name="Skip").click()
    page.get_by_role("button", name="Ask them again").click()
    assert asked(page) == questions[0].text


def test_a_key_that_is_held_acts_on_one_question(own: OwnPage) -> None:
    questions = own.memory.review().questions
    page = own.open("#/review")
    page.get_by_role("region", name="Question").wait_for()
    for _ in range(3):
        page.keyboard.down("s")
        page.get_by_role("heading", name=questions[1].text).wait_for()
    page.keyboard.up("s")
    assert asked(page) == questions[1].text
