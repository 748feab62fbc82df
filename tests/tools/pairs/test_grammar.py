"""Sentences of the small grammar agree in four languages; what judges the translator is none of them."""

import re
from pathlib import Path

from attnviz.models.catalogue import translator
from attnviz.training.corpus import read_table
from tests.each_case import each_case
from tools.pairs.grammar import __main__ as grammar
from tools.pairs.grammar.lexicon import (
    ANIMALS,
    BEAUTIFUL,
    COLOURS,
    NEW,
    OLD,
    PLACES,
    SIZES,
    TEXTS,
    THINGS,
    WAYS,
)
from tools.pairs.grammar.phrases import chinese, english, french, german, spanish

HELD_OUT = Path(__file__).parents[3] / "assets" / "held-out.txt"
OF = {noun.en: noun for noun in (*ANIMALS, *THINGS, *WAYS, *PLACES, *TEXTS)}
BIG, SMALL = SIZES
RED, WHITE = (next(each for each in COLOURS if each.en == name) for name in ("red", "white"))
EVERY = {kind.__name__: list(kind()) for kind in grammar.KINDS}


@each_case(
    ("found", "right"),
    [
        (english(OF["animal"], [BIG, RED]), "a big red animal"),
        (english(OF["cat"], [OLD]), "an old cat"),
        (french(OF["dog"], [BIG, RED]), "un gros chien rouge"),
        (french(OF["cow"], [SMALL, WHITE]), "une petite vache blanche"),
        (french(OF["bird"], [OLD]), "un vieil oiseau"),
        (french(OF["bird"], [OLD], article="le"), "le vieil oiseau"),
        (french(OF["tree"], [BEAUTIFUL]), "un bel arbre"),
        (french(OF["tree"], [NEW], article="ce"), "ce nouvel arbre"),
        (french(OF["animal"], article="ce"), "cet animal"),
        (french(OF["story"], article="ce"), "cette histoire"),
        (french(OF["story"], article="le"), "l'histoire"),
        (french(OF["animal"], article="le"), "l'animal"),
        (german(OF["dog"], [BIG, RED]), "ein großer roter Hund"),
        (german(OF["cat"], [BIG, RED]), "eine große rote Katze"),
        (german(OF["horse"], [BIG, RED]), "ein großes rotes Pferd"),
        (german(OF["bridge"], [OLD], case="accusative"), "eine alte Brücke"),
        (german(OF["river"], [OLD], case="accusative"), "einen alten Fluss"),
        (german(OF["field"], [OLD], case="dative"), "einem alten Feld"),
        (german(OF["dog"], [BIG], article="der"), "der große Hund"),
        (german(OF["dog"], [BIG], case="accusative", article="der"), "den großen Hund"),
        (german(OF["cat"], [BIG], case="dative", article="der"), "der großen Katze"),
        (german(OF["village"], case="dative", article="dieser"), "diesem Dorf"),
        (spanish(OF["dog"], [BIG, RED]), "un gran perro rojo"),
        (spanish(OF["cow"], [SMALL, WHITE]), "una pequeña vaca blanca"),
        (spanish(OF["house"], article="este"), "esta casa"),
        (chinese(OF["dog"], [BIG, RED]), "一只红色的大狗"),
        (chinese(OF["horse"], [OLD], article="那"), "那匹老马"),
    ],
)
def test_articles_endings_and_elisions(found, right):
    assert found == right


def _translations(kind: str, english: str) -> tuple[str, ...]:
    (found,) = {row[1:] for row in EVERY[kind] if row[0] == english}
    return found


def test_a_pronoun_agrees_with_what_it_stands_for():
    """The same words but for the last: it is the cow that is too tired, and the bridge that is too long."""
    assert _translations("reasons", "The cow didn't cross the bridge because it was too tired.") == (
        "La vache n'a pas traversé le pont parce qu'elle était trop fatiguée.",
        "Die Kuh überquerte die Brücke nicht, weil sie zu müde war.",
        "La vaca no cruzó el puente porque estaba demasiado cansada.",
        "那头牛没有过桥，因为它太累了。",
    )
    assert _translations("reasons", "The cow didn't cross the bridge because it was too long.") == (
        "La vache n'a pas traversé le pont parce qu'il était trop long.",
        "Die Kuh überquerte die Brücke nicht, weil sie zu lang war.",
        "La vaca no cruzó el puente porque era demasiado largo.",
        "那头牛没有过桥，因为桥太长了。",
    )


@each_case("kind", EVERY)
def test_no_sentence_breaks_a_rule_of_its_language(kind):
    for _, fr, de, es, zh in EVERY[kind]:
        assert not re.search(r"\b([Ll][ea]|[Dd]e|[Cc]e|que) [aeiouéèêâœ]", fr), fr
        assert not re.search(r"\b(de|a) el\b", es), es
        assert not re.search(r"\bein \w+e(n)? |\beine \w+(er|es) ", de), de
        assert not re.search(r"[A-Za-z]|  |老桌|老椅", zh), zh
        for text in (fr, de, es):
            assert text[0].isupper()
            assert text.endswith(".")
            assert "  " not in text
        assert zh.endswith("。")


def test_every_word_is_one_that_the_translator_can_write():
    codec = translator(device="cpu", dtype="float32").codec
    for rows in EVERY.values():
        for to, column in {"fr": 1, "de": 2, "es": 3, "zh": 4}.items():
            texts = sorted({row[column] for row in rows})
            for text, ids in zip(texts, codec.target_ids(texts, to), strict=True):
                assert codec.unk_id not in ids, text
                assert codec.text(ids) == text


def test_the_table_is_the_same_each_time_and_has_none_of_what_judges(tmp_path):
    judges = [HELD_OUT, tmp_path / "judges.txt"]
    every = [row[0] for row in EVERY["reasons"]]
    judges[1].write_text("\n".join(every[::2]), encoding="utf-8")
    for name in ("one", "two"):
        out = str(tmp_path / f"{name}.tsv")
        assert grammar.main(["--out", out, "--without", *map(str, judges)]) == 0
    assert (tmp_path / "one.tsv").read_bytes() == (tmp_path / "two.tsv").read_bytes()
    english = [sentence for sentence, _ in read_table(tmp_path / "one.tsv")["fr"]]
    assert len(set(english)) == len(english) > 1500
    assert not {*every[::2], *HELD_OUT.read_text(encoding="utf-8").splitlines()} & set(english)
    assert {*every[1::2]} & set(english)


def test_a_file_that_is_missing_is_said_in_a_sentence(tmp_path, capsys):
    assert grammar.main(["--out", str(tmp_path / "t.tsv"), "--without", str(tmp_path / "none.txt")]) == 2
    assert "none.txt" in capsys.readouterr().err
