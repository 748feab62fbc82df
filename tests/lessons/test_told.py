"""Claims of the lessons on heads, on decoding and on images, outside their answers, are true of the shipped models."""

import math

import numpy as np
import pytest
import torch

from attnviz.analysis.inputs import site_inputs
from attnviz.anatomy.numbers.claims import one_head
from attnviz.lessons.run_measures import compare_decodings
from attnviz.toys import shipped
from attnviz.toys.experiment import Experiment
from attnviz.toys.storage import toy_recording
from attnviz.toys.tasks.catalogue import TASKS
from attnviz.transformer.attention import MultiHeadAttention
from tests.each_case import each_case
from tests.lessons.told import DOG, MARGIN, lesson_of, step, strongest, tells

pytestmark = pytest.mark.computes

HEADS = range(8)


def keys(trace, kind: str) -> list[str]:
    return [token.text for token in trace.key_tokens(kind)]


def writing(trace, word: str) -> int:
    """Return the decoder's row that puts a token out."""
    return [token.text for token in trace.tokens("tgt")].index(word) - 1


def looks_at(trace, layer: int, head: int, word: str) -> str:
    """Return the token that a head of cross-attention looks at most at a step."""
    return strongest(trace.attn("cross", layer=layer, head=head)[writing(trace, word)], keys(trace, "cross"))


@each_case(
    ("src", "after"),
    [
        ("The old man has a white car.", "Le vieil homme a une voiture blanche."),
        ("The white car has an old man.", "La voiture blanche a un vieil homme."),
        ("She reads a red book.", "Elle lit un livre rouge."),
        ("The red dog sleeps.", "Le chien rouge dort."),
        (DOG, "Un gros chien rouge sauta par-dessus un petit étang."),
        ("I love you.", "Je t'aime."),
    ],
)
def test_what_the_model_writes(model, src: str, after: str) -> None:
    assert model.translate(src, to="fr") == after


def test_one_head_looks_at_what_comes_out(model) -> None:
    """Lesson 1, steps 1 and 6."""
    trace = step("1", 1).trace
    found = trace.attn("cross", layer=2, head=4)[writing(trace, "rouge")]
    assert tells("1", "it has {} of its weight on *red*", found[keys(trace, "cross").index("red")])
    assert [looks_at(trace, 2, 4, word) for word in ("chien", "rouge")] == ["dog", "red"]
    assert looks_at(step("1", 6).trace, 2, 4, "livre") == "book"
    assert tells("1", "*book*, although *red* stands before it in English")


def test_the_heads_of_a_layer_look_at_different_things(dog) -> None:
    """Lesson 1, step 2."""
    trace = step("1", 2).trace
    of_layers = [[looks_at(trace, layer, head, "rouge") for head in HEADS] for layer in (0, 1)]
    assert of_layers[0][0] == "dog"
    assert (of_layers[0].count("red"), of_layers[0].count("dog")) == (5, 2)
    assert tells("1", "five of the eight heads of layer 0 look most at *red*, and only two at *dog*")
    assert set(of_layers[1]) == {"red"}
    assert tells("1", "In layer 1 all eight look most at *red*")


def test_the_first_layers_queries_know_nothing_of_the_source(model) -> None:
    """Lesson 1, step 2: before it, the decoder knows only the French that has gone in."""
    here = step("1", 2).trace
    other = model.trace("She reads a red book.", to="fr", tgt_text=here.tgt_text)
    one, another = (trace.call("cross", 0).query for trace in (here, other))
    torch.testing.assert_close(one, another)
    assert tells("1", "Before that it knows only the French that has gone in.")


def test_a_row_that_is_undecided() -> None:
    """Lesson 1, step 3."""
    trace = step("1", 3).trace
    found, names = trace.attn("cross", layer=0, head=3)[writing(trace, "rouge")], keys(trace, "cross")
    assert strongest(found, names) == "red"
    red, dog = (float(found[names.index(word)]) for word in ("red", "dog"))
    assert tells("1", "*red* has {} here and *dog* {}, and every token has some.", red, dog)
    assert 0.4 < red < 0.6
    assert tells("1", "One token has about half of the weight.")
    assert found.min() > 1e-3
    assert math.exp(-200) > 0
    assert float(torch.tensor(-200.0).exp()) == 0
    assert tells("1", "such as e⁻²⁰⁰, to 0")


def test_lesson_1_tells_the_softmax_that_is_computed_by_hand() -> None:
    """Lesson 1, step 4."""
    powers = [math.exp(score) for score in (2, 1, 0)]
    assert tells("1", "Their exponentials are {}, {} and 1.", *powers[:2])
    assert tells("1", "{} / {} is {}. The share", powers[0], sum(powers), powers[0] / sum(powers))
    assert tells("1", "12/33 = {}, while softmax still says {},", 12 / 33, torch.tensor([12.0, 11, 10]).softmax(-1)[0])


def test_rows_sum_to_one_and_columns_do_not() -> None:
    """Lesson 1, step 5."""
    trace = step("1", 5).trace
    for kind in trace.kinds:
        layers, heads = trace.shape(kind)
        for layer in range(layers):
            for head in range(heads):
                sums = trace.attn(kind, layer=layer, head=head).sum(dim=-1)
                assert (sums - 1).abs().max() < 1e-6
    assert tells("1", "1, but for rounding in the seventh digit")
    columns = dict(zip(keys(trace, "cross"), trace.attn("cross", layer=2, head=4).sum(dim=0).tolist(), strict=True))
    assert tells("1", "*The* sums to {} and that of `<eos>` to {}.", columns["The"], columns["<eos>"])


def test_heads_with_a_habit(dog) -> None:
    """Lesson 2, steps 2 and 3: what the lesson says of heads, and that its hints leave the right ones."""
    maps = {(layer, head): dog.attn("encoder_self", layer=layer, head=head) for layer in range(3) for head in HEADS}
    assert keys(dog, "encoder_self")[-1] == "<eos>"
    following = {place: 100 * float(found.diagonal(1).mean()) for place, found in maps.items()}
    before = {place: 100 * float(found.diagonal(-1).mean()) for place, found in maps.items()}
    parked = {place: 100 * float(found[:, -1].mean()) for place, found in maps.items()}
    assert tells("2", "L0 H7 gives {} % of its weight to the token after its own", following[0, 7])
    assert tells("2", "L1 H3 leaves {} % on `<eos>`", parked[1, 3])
    assert tells("2", "L1 H6 gives {} % to the next token", following[1, 6])
    assert tells("2", "L1 H7, with {} %.", before[1, 7])
    again = step("2", 6).trace.attn("encoder_self", layer=0, head=7)
    assert tells("2", "L0 H7 again, with {} %.", 100 * float(again.diagonal(1).mean()))
    asked = lesson_of("2").questions
    assert [asked[at].hints[1] for at in (1, 2)] == ["It is in layer 0.", "It is in layer 1."]


def test_later_layers_look_farther_on_average(dog) -> None:
    """Lesson 2, step 2."""
    places = torch.arange(len(keys(dog, "encoder_self")))
    away = (places[:, None] - places[None]).abs()
    of_layers = []
    for layer in range(3):
        maps = torch.stack([dog.attn("encoder_self", layer=layer, head=head) for head in HEADS])
        of_layers.append((float((maps * away).sum(-1).mean()), float(maps[:, :, -1].mean())))
    assert all(later[0] > of_layers[0][0] + 0.5 and later[1] > of_layers[0][1] + 0.1 for later in of_layers[1:])
    assert tells(
        "2", "On average over their heads, layers 1 and 2 look farther than layer 0 and leave more on `<eos>`."
    )


def test_places_are_known_before_the_first_layer(model, dog) -> None:
    """Lesson 2, step 2's hint: one word at two places goes in as two vectors."""
    twice = model.trace("red red red", to="fr")
    x = twice.input_("encoder_self", 0)
    assert (x[0] - x[1]).abs().max() > 0.1
    assert tells("2", "these are known before the first layer")


def test_lesson_2_tells_the_parameters_and_costs_of_heads(model, dog) -> None:
    """Lesson 2, steps 4 and 5."""
    inputs = site_inputs(model, dog, "encoder_self", 0)
    sizes = {
        heads: MultiHeadAttention(inputs.weights.d_model, heads, inputs.weights.d_model // heads) for heads in (8, 32)
    }
    counts = {sum(part.numel() for part in module.parameters()) for module in sizes.values()}
    assert len(counts) == 1
    d_model = inputs.weights.d_model
    assert tells(
        "2", "32 heads would have {} numbers each to look with, where 8 heads have {}.", d_model // 32, d_model // 8
    )
    assert tells("2", "a single head of size {},", d_model)
    single = one_head(inputs)
    assert single.attn_change < 1e-5 < single.output_change
    assert single.change_without_w_o < 1e-4
    assert tells("2", "Make it the identity, without a bias, and the difference is gone.")


def test_the_crossing_and_the_sink(dog) -> None:
    """Lesson 3, steps 2 and 3."""
    assert [looks_at(dog, 2, 4, word) for word in ("chien", "rouge")] == ["dog", "red"]
    assert writing(dog, "rouge") == writing(dog, "chien") + 1
    divided = dog.attn("cross", layer=0, head=2)[writing(dog, "rouge")]
    red, end, noun = (float(divided[keys(dog, "cross").index(word)]) for word in ("red", "<eos>", "dog"))
    assert tells("3", "*red* with {}, and the end token `<eos>` with {}; *dog* has less than 0.01.", red, end)
    assert noun < 0.005
    left = sorted(float(dog.attn("cross", layer=0, head=head)[:, -1].mean()) for head in HEADS)
    assert left[1] < 0.3 - MARGIN / 2 < 0.3 + MARGIN / 2 < left[2]
    assert tells("3", "Six of the eight heads of this layer leave more than 0.3 of their weight on `<eos>`")


def test_german_keeps_the_order_and_its_first_row_looks_at_the_noun() -> None:
    """Lesson 3, step 4."""
    german = step("3", 4).trace
    assert german.tgt_text == "Der rote Hund schläft."
    found = german.attn("cross", layer=2, head=7)[0]
    assert tells(
        "3", "In the first row of this head, {} of the weight is on *dog*", found[keys(german, "cross").index("dog")]
    )
    assert [looks_at(german, 2, 7, word) for word in ("Der", "ro", "Hund")] == ["dog", "red", "dog"]
    assert tells("3", "although *Hund* is written two words later")


def test_where_the_second_sentence_crosses(model) -> None:
    """Lesson 3, step 5: with the car last, and with the car first."""
    last = step("3", 5).trace
    order = [looks_at(last, 2, 4, word) for word in ("vieil", "homme", "voiture", "bl")]
    assert order == ["old", "man", "car", "white"]
    first = model.trace("The white car has an old man.", to="fr")
    assert [looks_at(first, 2, 4, word) for word in ("voiture", "bl", "homme")] == ["car", "white", "man"]
    assert tells("3", "the crossing is at the beginning now")


def test_the_loss_with_the_mask_and_without_it(dog) -> None:
    """Lesson 6, step 4."""
    asked = step("6", 4)
    assert asked.trace.tgt_text == dog.tgt_text
    without = compare_decodings(asked, lesson_of("6").questions[3]).losses.mean
    assert tells("6", "{}. It never learned to copy from the right", without)
    chances = dog.logits[0].log_softmax(dim=-1)
    labels = [token.id for token in dog.tokens("tgt")][1:]
    loss = -sum(float(chances[row, label]) for row, label in enumerate(labels)) / len(labels)
    assert tells("6", "With the mask, the loss is {}.", loss)


def test_where_steps_and_pass_part_without_the_mask() -> None:
    """Lesson 6, step 3."""
    first = compare_decodings(step("6", 3), lesson_of("6").questions[2]).verdict.first_break
    assert first is not None
    assert (first.line.quantity, first.line.layer, first.position) == ("decoder_self", 0, 0)
    assert tells("6", "the self-attention of the first layer, at the first position")


def test_how_many_tokens_are_written(model) -> None:
    """Lesson 6, steps 1 and 6."""
    french, chinese = (model.trace(src, to=to).tokens("tgt") for src, to in
                       (("I love you.", "fr"), ("Machine learning is fun.", "zh")))  # fmt: skip
    assert tells(
        "6", "The French for *I love you.* has {} tokens: `<bos:fr>`, *Je*, *t*, *'*, *aime*, *.*", len(french)
    )
    assert tells("6", "for “Machine learning is fun.” has {} tokens", len(chinese))
    assert [token.text for token in french][1:-1] == ["Je", "t", "'", "aime", "."]


def test_the_mask_alone_keeps_earlier_rows() -> None:
    """Lesson 6, step 5."""
    from attnviz.decoding.numbers.prefix_experiment import prefix_experiment

    kept = [bool(one.ours_equal[: len(one.ids) - 1].all()) for one in prefix_experiment(causal=False)]
    assert kept == [True, False, False, False, False]
    assert tells("6", "only the first prefix is left, which has no earlier rows")


def chances(values: np.ndarray) -> torch.Tensor:
    """Compute a digit's probabilities from grey values with the recorded network itself."""
    network = toy_recording(shipped.path(Experiment("digits"))).network()
    with torch.inference_mode():
        return network(torch.from_numpy(values / 16).float().unsqueeze(0))[0].softmax(-1)


def with_ink(*patches: tuple[int, int]) -> torch.Tensor:
    """Compute the probabilities for the lesson's 3 with patches full of ink."""
    values = np.array(TASKS["digits"].watched()[0].src, dtype=float).reshape(8, 8)
    for row, column in patches:
        values[2 * row : 2 * row + 2, 2 * column : 2 * column + 2] = 16
    return chances(values)


def test_what_the_toy_of_digits_looks_at_and_reads() -> None:
    """Lesson 9, steps 2 to 4 and 8."""
    upper, lower = (step("9", nth).trace.attn("encoder_self", layer=layer, head=head)[0]
                    for nth, layer, head in ((2, 1, 0), (4, 0, 1)))  # fmt: skip
    values = np.array(TASKS["digits"].watched()[0].src, dtype=float).reshape(8, 8)
    assert not values[2:6, 2:4].any(), "both gaps are blank"
    assert tells("9", "{}. A weight says where a head looks", upper[1 + 5])
    assert tells("9", "this head has a weight of {} on that patch", lower[1 + 9])
    means = step("9", 2).trace.attn("encoder_self", layer=1, head=0).mean(0)
    assert means[1 + 5] > 8 / 17, "the picture's words call it a sink"
    assert tells(
        "9", "{}, with a probability of {}. Before, it was {} with {}.", 9, with_ink((1, 1))[9], 3, with_ink()[3]
    )
    assert tells("9", "{}, with a probability of {}. But fill", 8, with_ink((1, 1), (2, 1))[8])
    assert tells("9", "the toy still reads {}, with {}, although", 3, with_ink((2, 1))[3])
    grey = step("9", 8).trace.sentences[0].images[0].array[..., 0]
    assert tells("9", "it reads a {}, with {}.", 2, chances(np.rint((255 - grey) / 255 * 16))[2])


def test_what_the_toys_of_digits_confuse() -> None:
    """Lesson 9, steps 5 to 7."""
    seeing, blind = (toy_recording(shipped.path(Experiment("digits", without=without)))
                     for without in ((), ("positions",)))  # fmt: skip
    assert tells("9", "How many of {} held-out images", seeing.confusion[-1].sum())
    shares = [100 * one.confusion[-1].trace() / 360 for one in (blind, seeing)]
    assert tells("9", "{} %; with positions it is {} %.", *shares)
    assert tells("9", "{} %. And the toy without positions? Exactly as many as before, {} %",
                 100 * seeing.scores["accuracy_shuffled"], 100 * blind.scores["accuracy_shuffled"])  # fmt: skip
    assert blind.scores["accuracy_shuffled"] == blind.scores["accuracy"]
    wrong = blind.confusion[-1].astype(int)
    assert (wrong[3, 8], wrong[3].sum(), seeing.confusion[-1][3, 8]) == (6, 40, 0)
    np.fill_diagonal(wrong, 0)
    assert sorted(wrong.ravel())[-2] < 6
    assert tells("9", "It reads six of {} threes as an 8, more than any other pair.", 40)
