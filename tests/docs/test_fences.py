"""Python in the documents is of the right types, and runs as it stands: page by page, from the first block on.

A block that begins with ```` ```python notest ```` shows what cannot be run here.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.models.huggingface import checkpoints
from tests.models.huggingface.chat import chat_folder

ROOT = Path(__file__).parents[2]
PAGES = [
    page.relative_to(ROOT).as_posix()
    for page in (
        ROOT / "README.md",
        *(ROOT / "docs" / "get-started").glob("*.md"),
        *(ROOT / "docs" / "how-to").glob("*.md"),
        *(ROOT / "docs" / "reference").glob("*.md"),
    )
    if "```python\n" in page.read_text(encoding="utf-8")
]


def code_of(page: str) -> str:
    """Join a page's Python, one block after another."""
    return "\n".join(re.findall(r"(?ms)^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8")))


def sessions_of(page: str) -> str:
    """Join a page's examples, without what they answer."""
    session = "\n".join(re.findall(r"(?ms)^```pycon\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8")))
    return "\n".join(line[4:] for line in session.splitlines() if line.startswith((">>>", "...")))


def test_there_are_pages() -> None:
    assert {"README.md", "docs/get-started/notebook.md", "docs/how-to/own-model.md"} <= {*PAGES}


def test_it_has_no_type_error_nor_has_a_users_script_in_strict_mode(tmp_path: Path) -> None:
    for number, page in enumerate(PAGES):
        (tmp_path / f"page_{number}.py").write_text(f"# {page}\n{code_of(page)}", encoding="utf-8")
    told = "# pyright: reportOptionalMemberAccess=false, reportOptionalIterable=false"  # of a translator none is None
    (tmp_path / "api.py").write_text(f"{told}\n{sessions_of('docs/reference/api.md')}", encoding="utf-8")
    shutil.copy(ROOT / "tests" / "user" / "script.py", tmp_path)
    (tmp_path / "pyrightconfig.json").write_text(
        '{"reportUnusedExpression": false, "strict": ["script.py"]}', encoding="utf-8"
    )
    pyright = [Path(sys.executable).with_name("pyright"), "--pythonpath", sys.executable, "--project", tmp_path]
    done = subprocess.run([*map(str, pyright)], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip().endswith("0 errors, 0 warnings, 0 informations"), done.stdout


@pytest.fixture(scope="module")
def of_hub(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Save two small models, in the place of two of the hub."""
    chat = chat_folder.save(tmp_path_factory.mktemp("chat"), positions=2_048)
    return {
        "bert-base-uncased": checkpoints.save(tmp_path_factory.mktemp("bert"), checkpoints.ALL["bert"]),
        "HuggingFaceTB/SmolLM2-135M-Instruct": chat,
        "HuggingFaceTB/SmolLM2-135M": chat,
    }


@pytest.mark.parametrize("page", PAGES)
def test_it_runs(page: str, of_hub: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it stands, but for models of the hub, which are small ones here."""
    monkeypatch.chdir(tmp_path)
    code = code_of(page)
    for name, folder in of_hub.items():
        code = code.replace(f'"{name}"', repr(str(folder)))
    exec(compile(code, page, "exec"), {})
