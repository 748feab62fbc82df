"""One cache for all pictures: a result of a run is made once."""

from attnviz.app.cache.pictures import get_or_make
from attnviz.maps.options import MapOptions
from attnviz.models.translator.tiny import tiny_translator
from attnviz.tracing.causes.making import ablate


def test_a_run_counts_by_what_it_was_made_from() -> None:
    model = tiny_translator()
    one, again = (model.trace("one two", to="fr", tgt_text="le chat") for _ in range(2))
    other = model.trace("one two", to="fr", tgt_text="le chat", interventions=[ablate("cross", layer=1, heads=[2])])
    first = get_or_make("of a test", (one, MapOptions()), object)
    assert get_or_make("of a test", (again, MapOptions()), object) is first
    assert get_or_make("of a test", (one, MapOptions(words=True)), object) is not first
    assert get_or_make("of another test", (one, MapOptions()), object) is not first
    assert get_or_make("of a test", (other, MapOptions()), object) is not first, "something was done to the run"
