"""Train in several processes: at every step each process reads its own batch, and all apply the mean gradient."""

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
    """A worker's number, `rank`, among `count` workers that average their gradients.

    With one worker nothing is averaged.
    """

    rank: int = 0
    count: int = 1

    @property
    def leads(self) -> bool:
        """Whether this worker is the one that writes files and reports."""
        return self.rank == 0

    def wait(self) -> None:
        """Wait until every worker has called this method."""
        if self.count > 1:
            dist.barrier()

    def average(self, gradients: Sequence[Tensor], loss: float, n_target: int, n_tokens: int) -> tuple[float, int]:
        """Replace this worker's gradients by the mean over the target tokens of all workers.

        The result is that of one worker with all the batches. Return the mean loss, and the sum of `n_tokens`.
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
    """Call `work` in `count` processes on this machine, or in this process if `count` is 1. `work` must be picklable.

    Raises ValueError with the message of a ValueError, OSError or EOFError in any of the processes.
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
    except KeyboardInterrupt:  # the parent reports it
        sys.exit(130)


def _end_with_parent() -> None:
    """End this worker as soon as its parent process has ended for any reason.

    PyTorch sends SIGINT in this case, which is ignored if a shell script started the training in the background.
    """
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)
