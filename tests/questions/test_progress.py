"""The default of every question: nobody watches."""

from samekind.questions.progress import silent


def test_silent_shows_nothing(capsys):
    with silent("title", 10) as advance:
        advance(10)
    assert capsys.readouterr() == ("", "")
