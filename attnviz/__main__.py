"""The shell: `attnviz run`, or `python -m attnviz run` in a clone.

Commands: `translate --to zh < sentences.txt`, `trace "I love you." --to fr --out love.npz`, `trace "I love you."
--model gpt2 --new-tokens 5 --html love.html`, `steps "I love you." --to fr`, `reply "Hello" --model folder`, `learn
reverse --without causal-mask --out run.npz`, `lessons check lesson.md`, `lessons export lesson.md --to folder`, `serve
--config attnviz.toml`, `cluster --fronts 2`, `engine --model gpt2`. With --model any checkpoint takes the translator's
place.
"""

import argparse
import inspect
import os
import sys
import warnings
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from attnviz import __version__
from attnviz.cli import (
    learn_command,
    lessons_command,
    reply_command,
    server_commands,
    steps_command,
    translate_command,
)
from attnviz.cli.chat_arguments import add_chat, chat_turns, input_arguments
from attnviz.extras import needs

# What may be asked of `trace` besides its text, and the argument that it is: which model takes which, `inputs` says.
_ASKED = {
    "to": ("to", "to"),
    "target": ("tgt", "tgt_text"),
    "pair": ("pair", "pair"),
    "new_tokens": ("new", "new_tokens"),
}


_SECOND_RUN = {"other", "there"}  # what pictures of two runs call the second one


def main(arguments: list[str] | None = None) -> int:
    """Run one command, and return the exit status.

    It is 2 for unusable input, with a sentence on standard error, and 130 after Ctrl-C.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.run is None:
        parser.print_help()
        return 0
    for stream in (sys.stdin, sys.stdout, sys.stderr):  # whatever the shell thinks: sentences are in every script
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: threads that spin starve each other
    try:
        with warnings.catch_warnings():  # of a text that was cut a command prints the note
            warnings.filterwarnings("ignore", message=".*nly the first", category=UserWarning)
            return options.run(options)
    except BrokenPipeError:
        return _reader_gone()
    except KeyboardInterrupt:
        print("attnviz: stopped", file=sys.stderr)
        return 130
    except (ValueError, OSError) as error:
        print(f"attnviz: {error}", file=sys.stderr)
        return 2
    except RuntimeError as error:
        return _out_of_memory(error)


def _out_of_memory(error: RuntimeError) -> int:
    """Print that a device has run out of memory, and return the exit status 2; raise any other error again."""
    from attnviz.transformer import device

    if not device.is_out_of_memory(error):
        raise error
    print(f"attnviz: {device.FULL}", file=sys.stderr)
    return 2


def _exact_products() -> None:
    from attnviz.transformer.device import exact_products

    exact_products()


def _reader_gone() -> int:
    """Redirect standard output to nowhere after its reader has stopped reading (`| head`), and return the exit
    status 0.

    Otherwise Python would report an error when it flushes the output at exit.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _translate(options: argparse.Namespace) -> int:
    _exact_products()
    return translate_command.run(options, _teller())


def _trace(options: argparse.Namespace) -> int:
    import attnviz
    from attnviz.guards import plain_file

    if options.out is None and options.html is None:
        raise ValueError(
            "Please say which file to write: --out love.npz saves the numbers, and --html love.html saves the picture."
        )
    for path in filter(None, (options.out, options.html)):  # before the run, not after it
        plain_file.require_place(path, such_as=f"love.{'npz' if path is options.out else 'html'}")
    _check_picture(options)
    given = chat_turns(options)
    _exact_products()
    model = attnviz.load(options.model, progress=_teller())
    trace = model.trace(**input_arguments(given, options.text, model), **_arguments(options, model))
    print(trace.tgt_text or trace.src_text)
    if options.html is not None:
        print(_shown(options, model, trace, given).to_html(options.html))
    if options.out is not None:
        attnviz.save(trace, options.out)
        shapes = ", ".join(f"{kind} {'x'.join(map(str, trace.attn(kind).shape))}" for kind in trace.kinds)
        print(f"{options.out}: {shapes} (layers x heads x query x key)")
    for note in trace.info.notes:
        print(f"attnviz: {note}", file=sys.stderr)
    return 0


def _check_picture(options: argparse.Namespace) -> None:
    """Raise ValueError for a picture that does not exist, or that cannot be drawn with these options."""
    from attnviz.hosts.registry import pictures

    if options.html is None:
        return
    needed = _needed(options.picture)
    if "recording" in needed:
        raise ValueError(
            f"The picture {options.picture} needs a recording of a training run. To make one, run: "
            "attnviz learn reverse --out run.npz"
        )
    if needed & _SECOND_RUN and options.other is None:
        raise ValueError(
            f"The picture {options.picture} shows two runs, so it needs a second sentence. Please pass the second "
            "sentence with --other."
        )
    if not needed & _SECOND_RUN and options.other is not None:
        of_two = [name for name in sorted(pictures()) if _needed(name) & _SECOND_RUN]
        raise ValueError(
            f"--other adds a second sentence, but only the pictures {' and '.join(of_two)} can show two "
            "sentences. Please leave --other out."
        )


def _needed(name: str) -> set[str]:
    """Return the names of the arguments without which a picture cannot be drawn."""
    import attnviz

    taken = inspect.signature(attnviz.picture(name).subject).parameters.values()
    return {one.name for one in taken if one.default is one.empty}


def _shown(options: argparse.Namespace, model: Any, trace: Any, given: Any) -> Any:
    """Draw the picture named in the options, from those of these values that it takes."""
    import attnviz

    picture = attnviz.picture(options.picture)
    needed, taken = _needed(options.picture), inspect.signature(picture.subject).parameters
    values = {"model": model, "trace": trace, "other": options.other, "here": ("text", model, trace)}
    if "there" in needed:
        values["there"] = ("other", model, model.trace(options.other, **_arguments(options, model)))
    subject = {name: value for name, value in values.items() if name in needed}
    fields = {name: getattr(options, name) for name in ("kind", "layer", "head")}
    told = {name: getattr(options, name) for name in ("text", "to", "target", "new_tokens") if name in taken}
    told |= {"messages": given} if given and "messages" in taken else {}
    return picture.of(**subject, **{name: value for name, value in (fields | told).items() if value is not None})


def _reply(options: argparse.Namespace) -> int:
    _exact_products()
    return reply_command.run(options, _teller())


def _steps(options: argparse.Namespace) -> int:
    _exact_products()
    for line in steps_command.lines(options):
        print(line)
    return 0


def _learn(options: argparse.Namespace) -> int:
    print(learn_command.line(options))
    return 0


def _lessons(options: argparse.Namespace) -> int:
    problems = 0
    with needs("app", "lessons"):
        from attnviz.lessons import reading  # noqa: F401 - asked for only
    for line, is_problem in lessons_command.lines(options):
        print(line, file=sys.stderr if is_problem else sys.stdout)
        problems += is_problem
    return 2 if problems else 0


def _arguments(options: argparse.Namespace, model: Any) -> dict[str, Any]:
    """Return the keyword arguments for `model.trace`. Raises ValueError for options that the model does not take."""
    more = {"new": model.inputs.is_prompt, "to": bool(model.languages)}
    taken = (*model.inputs.names, *(name for name, is_taken in more.items() if is_taken))
    given = {option: value for option in _ASKED if (value := getattr(options, option)) is not None}
    for option in given:
        if _ASKED[option][0] not in taken:
            raise ValueError(f"{model.name} takes no --{option.replace('_', '-')}: it asks for {' and '.join(taken)}.")
    if model.inputs.has_language and "to" not in given:
        raise ValueError(f"Choose the language to write with --to: {', '.join(model.languages)}.")
    return {_ASKED[option][1]: value for option, value in given.items()}


def _teller() -> Callable[[float, str], None] | None:
    return _tell if sys.stderr.isatty() else None


def _tell(share: float, what: str) -> None:
    print(f"attnviz: {what} ({share:.0%})", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="attnviz", description="See how multi-head attention works.")
    parser.add_argument("--version", action="version", version=f"attnviz {__version__}")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(metavar="command")
    server_commands.add_run(commands.add_parser("run", help="open the dashboard on this machine"))
    translate = commands.add_parser("translate", help="translate standard input, one sentence per line")
    trace = _add_trace(commands.add_parser("trace", help="run one sentence and save what every head did"))
    steps = commands.add_parser("steps", help="decode a sentence step by step, and compare it with one pass")
    reply = commands.add_parser("reply", help="write the answer of a chat model, a token at a time")
    reply_command.add(reply)
    reply.set_defaults(run=_reply)
    learn = commands.add_parser("learn", help="train a tiny Transformer on a task, and record how its heads form")
    learn_command.add(learn)
    learn.set_defaults(run=_learn)
    lessons = commands.add_parser("lessons", help="check a lesson's file, or export it as a folder for any web host")
    lessons_command.add(lessons)
    lessons.set_defaults(run=_lessons)
    translate.set_defaults(run=_translate)
    steps.set_defaults(run=_steps)
    steps_command.add(steps)
    server_commands.add_engine(commands.add_parser("engine", help="run models for several dashboards, on Ray Serve"))
    server_commands.add_serve(commands.add_parser("serve", help="serve the dashboard to many visitors"))
    server_commands.add_cluster(commands.add_parser("cluster", help="serve it by several processes behind HAProxy"))
    for command in (translate, trace, steps):
        command.add_argument("--to", help="the language that a translator writes, such as fr or zh")
        command.add_argument(
            "--model",
            default=_default_model(),
            help="a shipped model's name, a checkpoint's folder, or a hub id",
        )
    return parser


def _add_trace(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("text", nargs="?", help="the sentence, or a decoder's prompt")
    add_chat(parser)
    parser.add_argument("--target", help="a target to trace instead of what the model writes")
    parser.add_argument("--pair", help="a second sentence, for an encoder")
    parser.add_argument("--new-tokens", type=int, help="how many tokens a decoder writes after its prompt")
    parser.add_argument("--out", type=Path, help="an .npz file; attnviz.tracing.storage lists its keys")
    parser.add_argument("--html", type=Path, help="an HTML file of its own, which shows the trace offline")
    parser.add_argument(
        "--picture", default="heads", metavar="NAME",
        help="what the HTML file shows: heads (the default), links, whole_model, one_row, neuron, flow, spans, "
        "alignment, stepper, mask_lab, switches, attribution; for two sentences, patching or compared",
    )  # fmt: skip
    parser.add_argument("--other", help="the second sentence, for patching and compared")
    parser.add_argument("--kind", help="the kind of attention that the picture shows first, such as cross")
    parser.add_argument("--layer", type=int, help="the layer that the picture shows first")
    parser.add_argument("--head", type=int, help="the head that the picture shows first")
    parser.set_defaults(run=_trace)
    return parser


def _default_model() -> str:
    from attnviz.models.catalogue import DEFAULT

    return DEFAULT


if __name__ == "__main__":
    sys.exit(main())
