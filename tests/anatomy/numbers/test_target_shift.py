"""The decoder reads the target without its last token, for a source of any length."""

import pytest

from attnviz.analysis.rerun import batch_of_two
from attnviz.anatomy.numbers.counts import count_parameters, target_shift
from attnviz.models.translator.tiny import tiny_translator

MODEL = tiny_translator()


def test_the_decoders_input_lacks_the_targets_last_token() -> None:
    shift = target_shift(MODEL.trace("a big red dog jumped over a small pond", to="fr", tgt_text="un chien"))
    assert shift.dropped is not None
    assert shift.dropped.text == "<eos>"
    assert len(shift.rows) == shift.tgt - 1
    assert shift.rows[0][0].text == "<bos:fr>"
    assert shift.rows[-1][1].text == "<eos>"
    assert [out.text for _, out in shift.rows[:-1]] == [in_.text for in_, _ in shift.rows[1:]]
    assert not shift.one_less_than_source


def test_padding_of_a_batch_is_counted_as_no_token() -> None:
    long, short = (
        MODEL.trace(text, to="fr", tgt_text=tgt) for text, tgt in (("a big dog", "un gros chien"), ("a", "un"))
    )
    batch = batch_of_two(MODEL, long, short)
    for item, alone in enumerate((long, short)):
        assert target_shift(batch, item) == target_shift(alone)


def test_one_less_than_the_source_is_noticed_where_it_is_true_by_chance() -> None:
    trace = MODEL.trace("a big red dog", to="fr", tgt_text="un")
    by_hand = len(trace.tokens("tgt")) - 1 == len(trace.tokens("src")) - 1
    assert target_shift(trace).one_less_than_source == by_hand


def test_a_translation_that_was_cut_drops_nothing() -> None:
    trace = MODEL.trace("a big red dog", to="fr", max_tokens=1)
    assert trace.sentences[0].cut
    assert target_shift(trace).dropped is None


def test_layers_in_a_plain_list_are_nobodys_parameters() -> None:
    found = count_parameters(7)
    assert found.in_module_list == 4 * 7 * 7 + 4 * 7
    assert (found.in_list, found.saved) == (0, 0)


def test_a_model_of_one_text_is_refused() -> None:
    trace = MODEL.trace("a", to="fr")
    calls = {site: call for site, call in trace.calls.items() if site.kind == "encoder_self"}
    with pytest.raises(ValueError, match="has no target"):
        target_shift(type(trace)(calls, {}, {}, trace.sentences))
