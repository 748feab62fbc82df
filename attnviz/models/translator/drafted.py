"""What a translator writes greedily, drafted with rounded weights and checked by the pass over the draft.

Each token that stays is the likeliest one after those before it, by the model's own weights: a draft that is wrong
somewhere is mended there, and goes on from there. It saves time, and changes nothing that is written.
"""

import torch

from attnviz.models.translator.pretrained import Pretrained
from attnviz.models.translator.target_pass import TargetPass
from attnviz.transformer.decoding import Stepper, decode

_MOST_MISTAKES = 4  # the shipped model's drafts have one in some 45 sentences; with more, going step by step is sooner


def drafted(model: Pretrained, target: TargetPass, *, bos_id: int, limit: int) -> list[int]:
    """The ids that greedy decoding writes after `<bos>`, at most `limit`, `<eos>` included where it came.

    Asks `target` for what it then holds: the pass over all of them but the last. Needs a model that has a draft.
    """
    assert model.draft is not None
    draft, ids = model.draft.begin(target.memory, capacity=limit), [bos_id]
    for _ in range(_MOST_MISTAKES):
        ids = draft.go_on(ids, model.vocabulary, limit=limit)
        chosen = model.vocabulary.likeliest(target.over(ids[:-1])[0])
        right = next((place for place, id_ in enumerate(chosen) if id_ != ids[place + 1]), len(chosen))
        if right == len(chosen):
            return ids[1:]
        ids = [*ids[: right + 1], chosen[right]]
        if ids[-1] in model.vocabulary.ends or len(ids) > limit:
            return ids[1:]
    stepper = Stepper(model.model, target.memory, None, capacity=limit)
    written = torch.tensor([ids], device=target.memory.device)
    stepper.step(written[:, :-1])
    rest = decode(stepper, written[:, -1], model.vocabulary, max_tokens=limit + 1 - len(ids))
    return [*ids[1:], *rest[0]]
