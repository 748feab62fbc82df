"""What the architecture names is there: its tree has every folder of the package, its walks lead from file to file.
README's Python is of the right types, and runs.
"""

import re
import subprocess
import sys
from pathlib import Path

import attnviz
from attnviz.learning import shipped
from attnviz.learning.experiment import Experiment
from tests.models.huggingface import checkpoints

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "developing" / "architecture.md").read_text(encoding="utf-8")
PLACES = (ROOT, ROOT / "attnviz", ROOT / "attnviz" / "models" / "huggingface")


def folders_in_tree() -> set[str]:
    """Return the folders that the tree names: each is indented by two more than the one that it lies in."""
    found, folders = set(), []
    for line in re.findall(r"```\n(attnviz/.*?)```", TEXT, re.DOTALL)[0].splitlines():
        name, indent = line.split()[0], len(line) - len(line.lstrip())
        folders = [*folders[: indent // 2], name]
        found.add("".join(folders).rstrip("/"))
    return found


def test_the_tree_names_every_folder() -> None:
    """Down to the second level; widgets have a folder each."""
    package = ROOT / "attnviz"
    own = {path for pattern in ("*/", "*/*/") for path in package.glob(pattern) if any(path.glob("*.py"))}
    there = {path.relative_to(ROOT).as_posix() for path in (package, *own)}
    widgets = {path for path in there if path.startswith("attnviz/widgets/")}
    assert folders_in_tree() - widgets - {"attnviz/widgets/shared"} == there - widgets


def test_a_file_that_is_named_is_there() -> None:
    named = set(re.findall(r"`((?:\w+/)+\w+\.(?:py|js|css|html))`", TEXT))
    assert {path for path in named if not any((place / path).is_file() for place in PLACES)} == set()


def blocks(language: str) -> list[str]:
    """README's code in a language."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


def test_readme_s_python_has_no_type_error(tmp_path) -> None:
    for number, code in enumerate(blocks("python")):
        (tmp_path / f"block_{number}.py").write_text(code, encoding="utf-8")
    (tmp_path / "pyrightconfig.json").write_text('{"reportUnusedExpression": false}', encoding="utf-8")
    pyright = [Path(sys.executable).with_name("pyright"), "--pythonpath", sys.executable, "--project", tmp_path]
    done = subprocess.run([*map(str, pyright)], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip().endswith("0 errors, 0 warnings, 0 informations"), done.stdout


def test_readme_s_python_runs(tmp_path, monkeypatch) -> None:
    """As it stands, but for the hub's model, which is a small one here, and a run that has been recorded."""

    def load_shipped(task: str, **choices):
        return attnviz.load_recording(shipped.path(Experiment(task, **choices)))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(attnviz, "learn", load_shipped, raising=False)
    bert = checkpoints.save(tmp_path / "bert", checkpoints.ALL["bert"])
    first, second = blocks("python")
    exec(first.replace('"bert-base-uncased"', repr(str(bert))).replace("layer=2, head=5", "layer=1, head=4"), {})
    made: dict = {}
    exec(second, made)
    assert Path("love.npz").is_file()
    assert made["run"].experiment.without == made["toy"].without == ("causal-mask",)
