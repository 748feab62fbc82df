"""Processes that learn together: at every step each reads a batch of its own, and all move by the mean gradient."""

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import parent_process
from pathlib import Path
from threading import Thread

import torch
import torch.distributed as dist
from torch import Tensor
from torch.multiprocessing.spawn import spawn


@dataclass(frozen=True)
class Share:
    """The number of a worker among `count`. A single worker shares nothing."""

    rank: int = 0
    count: int = 1

    @property
    def leads(self) -> bool:
        """Whether this is the worker that writes files and reports."""
        return self.rank == 0

    def wait(self) -> None:
        """Until every worker is here."""
        if self.count > 1:
            dist.barrier()

    def average(self, gradients: Sequence[Tensor], loss: float, n_target: int, n_tokens: int) -> tuple[float, int]:
        """Replace the gradients of this worker's mean loss over `n_target` tokens by those of the mean over the
        tokens of all workers, as if one had read all the batches; returns that mean loss, and all `n_tokens`.
        """
        if self.count == 1:
            return loss, n_tokens
        told = torch.tensor([n_target, loss * n_target, n_tokens], dtype=torch.float32, device=gradients[0].device)
        flat = torch.cat([*(gradient.flatten().mul_(n_target) for gradient in gradients), told])
        dist.all_reduce(flat)
        targets, losses, tokens = flat[-3:].tolist()
        parts = flat[:-3].div_(targets).split([gradient.numel() for gradient in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.view_as(gradient))
        return losses / targets, round(tokens)


def run_in_processes(count: int, work: Callable[[Share], None]) -> None:
    """Call `work` in `count` processes of this machine, or here when it is one. `work` must be picklable.

    Raises ValueError with the sentence of a ValueError, OSError or EOFError in any of them.
    """
    if count == 1:
        work(Share())
        return
    with tempfile.TemporaryDirectory() as folder:
        meeting, complaint = Path(folder) / "meeting", Path(folder) / "complaint"
        try:
            spawn(_worker, (count, meeting, complaint, torch.get_num_threads(), work), count)
        except Exception:
            if complaint.is_file():
                raise ValueError(complaint.read_text(encoding="utf-8")) from None
            raise


def _worker(rank: int, count: int, meeting: Path, complaint: Path, threads: int, work: Callable[[Share], None]) -> None:
    Thread(target=_end_with_parent, name="attnviz-parent", daemon=True).start()
    torch.set_num_threads(threads)
    try:
        dist.init_process_group("gloo", init_method=meeting.as_uri(), rank=rank, world_size=count)
        work(Share(rank, count))
        dist.destroy_process_group()
    except (ValueError, OSError, EOFError) as error:
        complaint.write_text(str(error), encoding="utf-8")
        sys.exit(2)
    except KeyboardInterrupt:  # the parent says it
        sys.exit(130)


def _end_with_parent() -> None:
    """End this worker as soon as the process that began it has ended, however that came. PyTorch sends SIGINT then,
    which is ignored wherever a shell script put the training into the background.
    """
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)
