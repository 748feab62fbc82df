"""All measurements of a corpus, stage by stage, so that each stage's results can be shown and each can be stopped."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import pandas as pd

from attnviz.analysis.cancellable import Cancellable
from attnviz.analysis.corpus.lines import CorpusLine
from attnviz.analysis.corpus.reading import ReadCorpus, read_corpus
from attnviz.analysis.runs import HeadPlace
from attnviz.causes.corpus.numbers.importance import HeadImportance, ablation_importance, gradient_importance
from attnviz.causes.corpus.numbers.profiles import HeadProfiles, head_profiles
from attnviz.models.protocol import Model

Stage = Literal["reading", "measuring", "gradient", "ablation"]
STAGES: tuple[Stage, ...] = ("reading", "measuring", "gradient", "ablation")
Listen = Callable[[Stage], Cancellable]  # receives the progress of each stage, and may stop it
NO_TARGETS = "{} writes no targets, so the importance of its heads cannot be measured."


@dataclass(frozen=True, eq=False)
class CorpusStudy:
    """Results so far.

    An importance is None if it has not been measured yet, or cannot be, for the reason in `why_not`.
    """

    profiles: HeadProfiles
    gradient: HeadImportance | None = None
    ablation: HeadImportance | None = None
    why_not: str = ""

    @property
    def corpus(self) -> ReadCorpus:
        """The tokenized sentences."""
        return self.profiles.corpus

    @property
    def places(self) -> tuple[HeadPlace, ...]:
        """Kind, layer and number of every head."""
        return self.profiles.places

    @cached_property
    def heads(self) -> pd.DataFrame:
        """Table with one row per head: mean and quantiles of each measure over sentences, the share of each role with
        the share that a random key would reach, and both importances in nats per target token.
        """
        of_head = ["kind", "layer", "head"]
        found = pd.DataFrame(self.places, columns=of_head)
        distribution = self.profiles.distribution().drop(columns="sentences")
        for name, part in distribution.groupby("measure", sort=False):
            found = found.merge(_add_prefix(part.drop(columns="measure"), str(name), of_head), on=of_head)
        shares = self.profiles.role_shares()
        for role in shares["role"].unique():
            part = shares.loc[shares["role"] == role, [*of_head, "share", "by lot"]]
            named = part.rename(columns={"share": role, "by lot": f"{role} by lot"})
            found = found.merge(named, on=of_head, how="left")
        for made in filter(None, (self.gradient, self.ablation)):
            found = found.merge(_add_prefix(made.table(), made.how, of_head), on=of_head)
        return found

    def sentence_table(self) -> pd.DataFrame:
        """Return a table with one row per sentence and head: each measure, the largest output norm and its row, and
        the head's importance by gradient and by ablation, in nats over the whole target.
        """
        from attnviz.analysis.metric_table import METRICS

        profiles, lines = self.profiles, []
        for item in profiles.measured.nonzero()[:, 0].tolist():
            part = pd.DataFrame(profiles.places, columns=["kind", "layer", "head"])
            part.insert(0, "sentence", profiles.corpus.lines[item].text)
            part.insert(0, "line", profiles.corpus.lines[item].number)
            part[list(METRICS)] = profiles.measures[item].numpy()
            part["written"], part["written_at"] = profiles.written[item].numpy(), profiles.written_at[item].numpy()
            for made in filter(None, (self.gradient, self.ablation)):
                part[made.how] = made.signed[item].numpy()
            lines.append(part)
        return pd.concat(lines, ignore_index=True)


def run_stages(model: Model, lines: Sequence[CorpusLine], *, to: str, listen: Listen) -> Iterator[CorpusStudy]:
    """Yield the study after each stage from "measuring" on.

    If stopped, the last study has the results until then. Raise TextError, which names the line, if `read_corpus` does.
    """
    corpus = read_corpus(model, lines, to=to, stop=listen("reading"))
    study = CorpusStudy(head_profiles(model, corpus, stop=listen("measuring")))
    if not all(corpus.target_rows):
        yield replace(study, why_not=NO_TARGETS.format(model.name))
        return
    yield study
    study = replace(study, gradient=_if_any(gradient_importance(model, corpus, stop=listen("gradient"))))
    yield study
    yield replace(study, ablation=_if_any(ablation_importance(model, corpus, stop=listen("ablation"))))


def _if_any(found: HeadImportance) -> HeadImportance | None:
    return found if found.sentences else None


def _add_prefix(part: pd.DataFrame, name: str, but: Sequence[str]) -> pd.DataFrame:
    """Prefix every column with the name of its measure, except the columns in `but`."""
    return part.rename(columns={column: f"{name} {column}" for column in part.columns if column not in but})
