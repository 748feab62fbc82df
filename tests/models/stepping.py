"""One sentence stepped through in each way, and the one pass over the same target."""

from attnviz.decoding.numbers.verdict import Verdict, judge
from attnviz.models.decoding_record import DecodingRecord, decoding_record
from attnviz.models.translator.stepwise import Plan, steps, teacher_forced
from attnviz.models.translator.translator import Translator
from attnviz.tracing.trace import Trace

TEXT, TARGET = "A big red dog jumped over a small pond.", "un chien rouge a sauté"


def plan_of(model: Translator, way: str, **options) -> Plan:
    teacher = model.codec.encode_target(TARGET, "fr").ids if way == "teacher" else None
    return Plan("fr", teacher, cached=way != "recomputed", **{"max_tokens": 14, **options})


def run(model: Translator, way: str, **options) -> tuple[DecodingRecord, Trace]:
    plan = plan_of(model, way, **options)
    made = decoding_record(steps(model, TEXT, plan))
    return made, teacher_forced(model, TEXT, made.ids, to="fr", faults=plan.faults)


def judged_run(model: Translator, way: str, **options) -> Verdict:
    """Return the verdict on the steps, by what rounding does to the pass."""
    plan = plan_of(model, way, **options)
    made = decoding_record(steps(model, TEXT, plan))
    how = {"to": "fr", "faults": plan.faults}
    return judge(made, lambda probe: teacher_forced(model, TEXT, made.ids, probe=probe, **how))
