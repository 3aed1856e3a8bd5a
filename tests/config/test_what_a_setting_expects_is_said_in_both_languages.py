"""The form of a setting's value is explained in the language of the person who has typed another."""

import pytest

from agent.config.settings import keys, setting_type
from agent.texts import translated

FORMS = {key: setting_type(key) for key in keys() if setting_type(key).form is not None}


@pytest.mark.parametrize("key", FORMS)
def test_it_is(key: str) -> None:
    english = FORMS[key].expects
    assert translated(english, "zh") != english
