"""Numbers that lessons tell outside their answers come from the shipped model, too."""

import pytest

import attnviz
from attnviz.lessons.library import SHIPPED
from attnviz.lessons.of_runs import compared
from attnviz.lessons.picture import Picture, pictures
from attnviz.lessons.reading import read_file

DOG = "A big red dog jumped over a small pond."


@pytest.fixture(scope="module")
def model():
    return attnviz.load()


@pytest.fixture(scope="module")
def dog(model):
    return model.trace(DOG, to="fr")


def weights(trace, kind: str, layer: int, head: int):
    """A head's map, and its keys' texts."""
    return trace.attn(kind, layer=layer, head=head), [token.text for token in trace.key_tokens(kind)]


def told(lesson: str, sentence: str) -> bool:
    (file,) = SHIPPED.glob(f"{lesson}-*.md")
    return sentence in " ".join(file.read_text(encoding="utf-8").split())


def percent(share) -> str:
    """As lessons write it, with a space."""
    return f"{100 * float(share):.0f} %"


def step(lesson: str, nth: int) -> Picture:
    """The picture of a lesson's step, counted from 1."""
    (file,) = SHIPPED.glob(f"{lesson}-*.md")
    link = read_file(file).picture(nth - 1)
    assert link is not None
    return pictures()(link)


def test_heads_with_a_habit(dog) -> None:
    following, _ = weights(dog, "encoder_self", 0, 7)
    parked, keys = weights(dog, "encoder_self", 1, 3)
    before, _ = weights(dog, "encoder_self", 1, 7)
    assert told("2", f"L0 H7 gives {percent(following.diagonal(1).mean())} of its weight")
    assert keys[-1] == "<eos>"
    assert told("2", f"L1 H3 leaves {percent(parked[:, -1].mean())} there")
    assert told("2", f"L1 H7, with {percent(before.diagonal(-1).mean())}.")


def test_the_crossing_and_the_sink(dog) -> None:
    rows = [token.text for token in dog.query_tokens("cross")]
    crossing, keys = weights(dog, "cross", 2, 4)
    assert [keys[crossing[rows.index(word)].argmax()] for word in ("gros", "chien")] == ["dog", "red"]
    divided, _ = weights(dog, "cross", 0, 2)
    red, end = (divided[rows.index("chien"), keys.index(word)] for word in ("red", "<eos>"))
    assert told("3", f"*red* with {red:.2f}, and the end token `<eos>` with {end:.2f}.")


def test_german_keeps_the_order_and_its_first_row_looks_at_the_noun(model) -> None:
    german = model.trace("The red dog sleeps.", to="de")
    found, keys = weights(german, "cross", 2, 7)
    assert told("3", f"In the first row of this head, {found[0, keys.index('dog')]:.2f} of the weight is on *dog*")
    written = [token.text for token in german.tokens("tgt")]
    assert [keys[found[written.index(word) - 1].argmax()] for word in ("Der", "Hund")] == ["dog", "dog"]
    assert keys[found[written.index("Der")].argmax()] == "red"


@pytest.mark.parametrize(
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


def test_what_lies_on_the_future(dog) -> None:
    last = 4  # the fifth row
    shares = dog.scores("decoder_self", layer=1, head=0)[last].softmax(dim=-1)
    assert len(shares) == 15
    assert told("4", "the fifth of the fifteen tokens that go in")
    kept = float(shares[: last + 1].sum())
    assert told("5", f"{kept:.2f}: more than four fifths of this row's weight lay on the future.")
    assert kept < 0.2
    zeroed = dog.scores("decoder_self", layer=1, head=0)[last].clone()
    zeroed[last + 1 :] = 0
    assert told("5", f"{percent(zeroed.softmax(dim=-1)[last + 1 :].sum())}. Zero is an ordinary score.")


def test_the_loss_with_the_mask_and_without_it(dog) -> None:
    asked = step("6", 4)
    assert asked.trace.tgt_text == dog.tgt_text
    (question,) = (one for nth, one in read_file(next(SHIPPED.glob("6-*.md"))).questions.items() if nth == 3)
    assert told("6", f"{compared(asked, question).losses.mean:.1f}. It never learned to copy from the right")
    chances = dog.logits[0].log_softmax(dim=-1)
    labels = [token.id for token in dog.tokens("tgt")][1:]
    loss = -sum(float(chances[row, label]) for row, label in enumerate(labels)) / len(labels)
    assert told("6", f"With the mask, its loss is {loss:.2f}.")


def test_how_many_tokens_are_written(model) -> None:
    french, chinese = (
        len(model.trace(src, to=to).tokens("tgt"))
        for src, to in (("I love you.", "fr"), ("Machine learning is fun.", "zh"))
    )
    assert told("6", f"The French for *I love you.* has {french} tokens: `<bos:fr>`, *Je*, *t*, *'*, *aime*, *.*")
    assert told("6", f"The Chinese that the model writes for “Machine learning is fun.” has {chinese} tokens")


def test_what_is_left_on_the_token_itself(dog) -> None:
    found, _ = weights(dog, "encoder_self", 0, 7)
    x = dog.input_("encoder_self", 0)
    plain = (x @ x.T / x.shape[1] ** 0.5).softmax(dim=-1)
    moved = (found - plain).abs().sum(dim=-1).mean() / 2
    assert told("7", f"{percent(moved)}. `self_attn(x, x, x)` still projects")
    assert plain.argmax(dim=-1).tolist() == list(range(len(plain)))
    assert told("7", f"this head leaves {percent(found.diagonal().mean())} there")
