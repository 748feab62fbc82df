"""Every setting is checked before the server starts, and a wrong one is refused in one sentence."""

import re
import socket
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from attnviz.__main__ import main
from attnviz.server import checks
from attnviz.server.settings import Settings, read_settings

TEMPLATE = Path(__file__).parents[2] / "deploy" / "attnviz.toml"
PASSWORD = {"login": "password", "class_password": "correct horse"}
OIDC = {
    "login": "oidc", "oidc_metadata": "https://id.example/c", "oidc_client": "a", "oidc_secret": "b",
    "public_address": "https://attn.example", "allowed": ("@school.example",),
}  # fmt: skip


def file_of(folder: Path, text: str) -> Path:
    file = folder / "attnviz.toml"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    return file


def test_the_template_shows_every_setting_with_its_default() -> None:
    commented = re.findall(r"^#(\w+ = .*)$", TEMPLATE.read_text(encoding="utf-8"), re.MULTILINE)
    shown = tomllib.loads("\n".join(commented))
    assert [*shown] == [one.name for one in fields(Settings)]
    assert Settings(**{name: tuple(value) if isinstance(value, list) else value for name, value in shown.items()}) == (
        Settings()
    )


def test_the_environment_holds_over_the_file_and_the_command_line_over_both(tmp_path) -> None:
    file = file_of(tmp_path, 'port = 1000\nruns = 3\nhosts = ["a.example"]\nsession_rate = 2\nlog = false')
    environ = {"ATTNVIZ_PORT": "2000", "ATTNVIZ_HOSTS": "b.example, c.example", "ATTNVIZ_LOG": "true"}
    found = read_settings(file, environ, {"port": 3000, "host": None})
    assert (found.port, found.runs, found.hosts, found.session_rate, found.log) == (
        (3000, 3, ("b.example", "c.example"), 2.0, True)
    )
    assert read_settings(file, environ, {}).port == 2000
    assert read_settings(file, {}, {}).port == 1000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("prot = 80", "did you mean port?"),
        ("colour = 1", "deploy/attnviz.toml lists what there is"),
        ('port = "80"', "port in .*: it has to be a whole number"),
        ("port = true", "it has to be a whole number"),
        ("port = 0", "it has to be from 1 to 65535"),
        ("hosts = [1]", "it has to be a list of texts"),
        ('login = "ldap"', "it can be none, password, oidc"),
        ("class_password = 12345678", "a hidden value: it has to be a text"),
        ("port = ", "is not a TOML file"),
        ("memory_share = nan", "it has to be from 0.05 to 0.9"),
    ],
)
def test_a_file_that_cannot_be_meant_is_said(tmp_path, text, said) -> None:
    with pytest.raises(ValueError, match=said) as refusal:
        read_settings(file_of(tmp_path, text), {}, {})
    assert "\n" not in str(refusal.value)
    assert "12345678" not in str(refusal.value)


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"ATTNVIZ_PORTT": "80"}, "ATTNVIZ_PORTT sets nothing: did you mean port"),
        ({"ATTNVIZ_RUNS": "many"}, "ATTNVIZ_RUNS is 'many': it has to be a whole number"),
        ({"ATTNVIZ_LOG": "perhaps"}, "it has to be true or false"),
    ],
)
def test_a_variable_that_cannot_be_meant_is_said(environ, said) -> None:
    with pytest.raises(ValueError, match=said):
        read_settings(None, environ, {})


def test_variables_of_others_are_left_alone() -> None:
    assert read_settings(None, {"ATTNVIZ_THREADS": "2", "ATTNVIZ_WALK_STEPS": "9", "PORT": "1"}, {}) == Settings()


def test_a_file_with_a_password_that_everybody_can_read_is_refused(tmp_path) -> None:
    file = file_of(tmp_path, 'class_password = "correct horse"')
    file.chmod(0o644)
    with pytest.raises(ValueError, match="everybody on this machine may read it: chmod 600"):
        read_settings(file, {}, {})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"proxies": ("my proxy",)}, "proxies has 'my proxy'. Please write an address or a network"),
        ({"embedders": ("school.example",)}, "write a site, such as https"),
        ({"embedders": ("https://a.example; script-src *",)}, "write a site, such as https"),
        ({"hosts": ("https://a.example",)}, "write a name without scheme"),
        ({"hosts": ("a.example:80",)}, "write a name without scheme"),
        ({"base_path": "/my course"}, "base_path is '/my course'. Please write a path of letters"),
        ({"base_path": "/a/../b"}, "write a path of letters"),
        ({"base_path": "/heads/attn"}, "begins with 'heads', a path of the dashboard itself"),
        (
            {"base_path": "/course", "public_address": "https://a.example/attn"},
            "public_address has the path /attn, and base_path is /course. Please make them equal",
        ),
        ({"metrics_port": 8501}, "metrics_port is 8501, the port of the pages. Please choose another port"),
        ({"certificate": "c.pem"}, "certificate and key must be set together"),
        ({"certificate": "no.pem", "key": "no.pem"}, "certificate names no.pem, and there is no such file"),
        ({"certificate": str(TEMPLATE), "key": str(TEMPLATE)}, "are not a certificate and its key"),
        ({"redirect_port": 80}, "which needs certificate and key"),
        ({"models": ("gpt2", "/nowhere/at/all")}, "models names /nowhere/at/all, and there is no such folder"),
        ({"login": "password"}, "set class_password"),
        ({"class_password": "correct horse"}, 'class_password has no effect without login = "password"'),
        ({"teacher_password": "correct horse"}, "teacher_password has no effect without login"),
        ({"allowed": ("@school.example",)}, 'allowed has no effect without login = "oidc". Please set both'),
        (PASSWORD | {"class_password": "short"}, "class_password is too short"),
        (PASSWORD | {"teacher_password": "correct horse"}, "are the same"),
        (PASSWORD | {"cookie_secret": "short"}, "cookie_secret is too short"),
        (OIDC | {"oidc_client": "", "allowed": ()}, "also needs oidc_client, allowed"),
        (OIDC | {"public_address": "attn.example"}, "write the whole address"),
        ({"open_models": "teachers"}, "knows teachers only by their login"),
        ({"database": "mysql://ana:short@host/name"}, "names no database that classes can be stored in"),
        ({"host": "no.such.host.invalid"}, "not an address of this machine"),
    ],
)
def test_settings_that_do_not_go_together_are_said(given, said) -> None:
    with pytest.raises(ValueError, match=said) as refusal:
        checks.check(Settings(**given))
    assert "\n" not in str(refusal.value)
    assert "short" not in str(refusal.value).replace("too short", "")


def test_a_folder_that_cannot_be_written_is_said(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setattr(checks.os, "access", lambda *_: False)
    with pytest.raises(ValueError, match=r"cannot be written\. Please set HF_HOME"):
        checks.check(Settings(open_models="everybody"))


def test_the_command_says_that_its_port_is_taken(capsys, monkeypatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setenv("ATTNVIZ_PORT", str(port))
        assert main(["serve"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"Port {port} of 127.0.0.1 cannot be listened on: Address already in use." in said


def test_a_missing_settings_file_is_said(capsys) -> None:
    assert main(["serve", "--config", "no.toml"]) == 2
    assert "The settings cannot be read from no.toml: No such file or directory." in capsys.readouterr().err


def test_a_restart_signs_cookies_with_the_secret_that_was_kept_beside_the_database(tmp_path) -> None:
    settings = Settings(database=str(tmp_path / "state" / "classes.sqlite"))
    first = checks.secret_of(settings)
    file = tmp_path / "state" / "cookie-secret"
    assert len(first) == 64
    assert file.stat().st_mode & 0o777 == 0o600
    assert [*file.parent.iterdir()] == [file]
    assert checks.secret_of(settings) == first
    assert checks.secret_of(Settings(database=str(tmp_path / "other.sqlite"))) != first
    assert checks.secret_of(Settings(cookie_secret="given" * 8)) == "given" * 8


def test_a_secret_that_cannot_be_kept_is_said(tmp_path) -> None:
    (tmp_path / "file").write_text("", encoding="ascii")
    with pytest.raises(ValueError, match=r"cookie secret cannot be kept in .*. Please set cookie_secret\.$"):
        checks.secret_of(Settings(database=str(tmp_path / "file" / "classes.sqlite")))
    (tmp_path / "cookie-secret").write_text("short", encoding="ascii")
    with pytest.raises(ValueError, match=r"is too short. Please delete the file"):
        checks.secret_of(Settings(database=str(tmp_path / "classes.sqlite")))
