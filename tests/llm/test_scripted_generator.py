from dataclasses import dataclass

import pytest

from hydramem.core.errors import ModelReplyError, ModelUnavailableError
from hydramem.llm.scripted_generator import ScriptedGenerator


@dataclass(frozen=True, slots=True, kw_only=True)
class Colour:
    name: str
    warm: bool = False


def test_an_exception_in_the_script_is_raised_and_its_end_is_said():
    script = ScriptedGenerator([ModelUnavailableError("away"), {"name": "blue"}])
    with pytest.raises(ModelUnavailableError, match="away"):
        script.generate("q", Colour)
    assert script.generate("q", Colour).value.name == "blue"
    with pytest.raises(ModelUnavailableError, match="no reply left"):
        script.generate("q", Colour)


@pytest.mark.parametrize("reply", ["not JSON", '{"name": 3}', '{"name": "red"} and more', {"warm": True}])
def test_a_wrong_reply_fails_as_a_real_one_would(reply: object):
    with pytest.raises(ModelReplyError, match="Colour"):
        ScriptedGenerator([reply]).generate("q", Colour)
