"""Watch a translator learn: trace some sentences at every checkpoint, and keep the maps in one small file.

The file is a recording that `attnviz.load_recording` opens. It is complete after every checkpoint, and a resumed run
continues it.
"""

from collections.abc import Collection, Mapping
from pathlib import Path

from attnviz.models.translator.translator import Translator
from attnviz.places import ASSETS
from attnviz.text.tokenizer import TranslatorTokenizer
from attnviz.toys.packing import to_8_bits
from attnviz.toys.run import MOMENTS
from attnviz.toys.storage import load_recording, save
from attnviz.toys.translator.recording import (
    MOST_LINES,
    TranslatorMoment,
    TranslatorRecording,
    WatchedLine,
    thin_out,
    translator_recording,
)
from attnviz.tracing.record import Sentence
from attnviz.tracing.trace import KINDS
from attnviz.training.corpus import Corpus, read_table
from attnviz.training.evaluation import Score, mean_loss
from attnviz.transformer.config import ModelConfig

SENTENCES = ASSETS / "watched.tsv"
MOST_BYTES = 400_000  # all maps together, before compression, which halves them (measured)
_LEAST = 8  # smallest number of snapshots that must fit


def watched_lines(
    path: Path, languages: Collection[str], codec: TranslatorTokenizer, learned: Collection[str]
) -> tuple[WatchedLine, ...]:
    """Read the sentences of a table (`read_table`) with their targets, going through `languages` in turn.

    `learned` are the English sentences of the training data. Raises ValueError if the table has no sentence in one of
    the languages, has too many sentences, or has a blank one.
    """
    table = read_table(path)
    found = [to for to in languages if to in table]
    if not found or not table[found[0]]:
        raise ValueError(f"{path.name} has no sentence in a language that is trained: {', '.join(languages)}.")
    if (count := len(table[found[0]])) > MOST_LINES:
        raise ValueError(f"{path.name} has {count} sentences; at most {MOST_LINES} can be watched.")
    lines = []
    for number in range(count):
        to = found[number % len(found)]
        english, target = table[to][number]
        if not english.strip() or not target.strip():
            raise ValueError(f"{path.name}, line {number + 2}: a sentence and its translation ({to}) cannot be blank.")
        src, tgt = codec.encode_source(english).tokens, codec.encode_target(target, to).tokens
        lines.append(WatchedLine(to, Sentence(src, tgt, english, target), english in learned))
    return tuple(lines)


class TrainingWatch:
    """The recording of a run, in a file that gains a snapshot at each checkpoint and is thinned out when it is full."""

    def __init__(self, path: Path, lines: tuple[WatchedLine, ...], config: ModelConfig, held_out: list[Corpus]) -> None:
        """Check the size of a recording. Raises ValueError if the sentences are so long that too few snapshots would
        fit.
        """
        self.path, self.lines, self.config, self.held_out = path, lines, config, held_out
        size = config.n_layers * config.n_heads * sum(_cells(line.sentence) for line in lines)
        self.most = min(MOMENTS, MOST_BYTES // size)
        if self.most < _LEAST:
            raise ValueError(
                f"The maps of the sentences to watch take {size:,} bytes at each look, and "
                f"{MOST_BYTES // _LEAST:,} is the most. Please take shorter ones, or fewer."
            )
        self._moments: list[TranslatorMoment] = []

    def resume(self) -> None:
        """Continue the file, if there is one. Raises ValueError if it is damaged or holds other sentences or another
        model.
        """
        if not self.path.is_file():
            return
        try:
            found = load_recording(self.path)
        except ValueError as error:
            raise ValueError(f"{error} Remove it to start a new recording.") from error
        if not isinstance(found, TranslatorRecording) or not self._is_of(found):
            raise ValueError(
                f"{self.path.name} was made with other sentences or another model. Please pass the "
                "same sentences, or remove it, and the watching begins again."
            )
        self._moments = list(found.moments)

    def has(self, step: int) -> bool:
        """Whether the latest snapshot in the recording was taken after this step."""
        return bool(self._moments) and self._moments[-1].step == step

    def look(self, translator: Translator, step: int, scores: Mapping[str, Score]) -> None:
        """Append a snapshot after `step` updates. Later snapshots in the file, from an abandoned run, are dropped."""
        found = [moment for moment in self._moments if moment.step < step]
        found.append(self._moment(translator, step, scores))
        self._moments = thin_out(found, self.most)
        part = self.path.with_suffix(".part")
        save(translator_recording(self.lines, self.config.vocab_size, self._moments), part)
        part.replace(self.path)

    def _moment(self, translator: Translator, step: int, scores: Mapping[str, Score]) -> TranslatorMoment:
        maps, wrote = [], []
        for line in self.lines:
            english, given = line.sentence.src_text, line.sentence.tgt_text
            trace = translator.trace(english, to=line.to, tgt_text=given)
            maps.append({kind: to_8_bits(trace.attn(kind)) for kind in KINDS})
            wrote.append(translator.translate(english, to=line.to))
        of_language = {
            f"{name}.{to}": getattr(score, name) for to, score in scores.items() for name in ("bleu", "chrf")
        }
        loss = mean_loss(translator.model, self.held_out)
        return TranslatorMoment(step, loss, of_language, tuple(maps), tuple(wrote))

    def _is_of(self, found: TranslatorRecording) -> bool:
        heads = self.config.n_layers, self.config.n_heads
        return (
            found.lines == self.lines
            and found.vocab_size == self.config.vocab_size
            and all(maps.shape[1:3] == heads for of_line in found.maps for maps in of_line.values())
        )


def _cells(sentence: Sentence) -> int:
    """Return the number of cells in one head's maps, summed over all kinds."""
    return sum(len(sentence.queries(kind)) * len(sentence.keys(kind)) for kind in KINDS)
