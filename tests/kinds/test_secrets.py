"""LI1: no secret is written down, and what only sounds like one is."""

from __future__ import annotations

import time
from argparse import Namespace
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from summarykit.kinds import secrets


class Login(NamedTuple):
    user: str
    accessToken: str


class TestSecrets:
    @pytest.mark.parametrize(
        ("given", "told"),
        [
            (["--token", "abc", "--lr", "0.1"], ["--token", "***", "--lr", "0.1"]), (["--api-key=abc"], ["--api-key=***"]),
            (["wandb.api_key=abc"], ["wandb.api_key=***"]), (["-password", "x"], ["-password", "***"]), (["--secret"], ["--secret"]),
            (["--max_tokens", "512"], ["--max_tokens", "512"]), (["--pad-token", "0"], ["--pad-token", "0"]),
            (["--hf_token", "--verbose"], ["--hf_token", "--verbose"]), (["--tokenizer=bert"], ["--tokenizer=bert"]),
            (["s3://id:key@bucket/x"], ["s3://***@bucket/x"]), (["--name", "hf_" + "a" * 30], ["--name", "***"]),
            (["+token=x", "++db.password=x"], ["+token=***", "++db.password=***"]), (["--dbPassword=x"], ["--dbPassword=***"]),
            (["-c", '{"api_key": "x", "lr": 1}'], ["-c", '{"api_key": ***, "lr": 1}']), (["-p", "lr=1,token=x"], ["-p", "lr=1,token=***"]),
            (["-H", "Authorization: Bearer abc"], ["-H", "Authorization: ***"]),
        ],
    )  # fmt: skip
    def test_in_a_command_line(self, given, told):
        assert secrets.command(given) == told

    def test_in_settings(self):
        given = {"lr": 0.1, "api_key": "x", "nested": {"db.password": "x", "tokens": 3}, "token": None, "list": [1]}
        assert secrets.settings(given) == {**given, "api_key": "***", "nested": {"db.password": "***", "tokens": 3}}

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            (Namespace(password="x", lr=1), {"password": "***", "lr": 1}), (Login("me", "x"), {"user": "me", "accessToken": "***"}),
            ([{"password": "x"}, (Login("me", "x"),)], [{"password": "***"}, [{"user": "me", "accessToken": "***"}]]),
            ({1: 2, "secrets": ["x"]}, {1: 2, "secrets": "***"}), ({"token": np.ones(2)}, {"token": "***"}),
            ("postgres://me:x@host/db", "postgres://***@host/db"),
            ("postgres://me:x@y@host/db", "postgres://***@host/db"), ('{"password": "x"}', '{"password": ***}'),
            ('{"password": "x\\"y", "a": 1}', '{"password": ***, "a": 1}'), ("password = 'x\\\\' # 'y'", "password = *** # 'y'"),
            ("PGPASSWORD=x", "PGPASSWORD=***"), ("https://h/d?token=x&page=2", "https://h/d?token=***&page=2"),
            ("https://h/d?X-Amz-Signature=x&se=1&sig=x%2F", "https://h/d?X-Amz-Signature=***&se=1&sig=***"),
            ({"signature": "x", "url": "https://h/d?next_token_count=3"}, {"signature": "x", "url": "https://h/d?next_token_count=3"}),
        ],
    )  # fmt: skip
    def test_in_settings_of_any_type(self, given, told):
        assert secrets.settings({"a": given}) == {"a": told}

    def test_hp1_of_settings_that_hold_themselves_everything_else_is_told(self):
        root = SimpleNamespace(name="root", children=[])
        root.children += [SimpleNamespace(name=str(number), parent=root) for number in range(9)]
        told = [{"name": str(number), "parent": "***"} for number in range(9)]
        assert secrets.settings({"tree": root}) == {"tree": {"name": "root", "children": told}}

    @pytest.mark.parametrize(
        "name",
        [
            "token_count", "max_tokens", "num_token", "loss_per_token", "padToken", "eos_token", "unknown_token",
            "class_token", "tokenizer", "forward_pass", "backwardPass", "keyboard", "author", "password_length", "compass", "sort_key",
            "image_key", "key",
        ],
    )  # fmt: skip
    def test_names_that_only_sound_like_it(self, name):
        assert secrets.settings({name: "x"}) == {name: "x"}

    @pytest.mark.parametrize(
        "name",
        [
            "HFToken", "hfToken", "hf-token", "APIKey", "email_pass", "X-Auth", "session_token",
            "accountKey", "ssh-key", "OPENAI_KEY", "passcode",
        ],
    )  # fmt: skip
    def test_names_in_every_spelling(self, name):
        assert secrets.settings({name: "x"}) == {name: "***"}

    def test_whether_there_is_one_is_no_secret(self):
        given = {"use_auth_token": True, "token": 0.5, "password": ""}
        assert secrets.settings(given) == given

    def test_of_a_data_pipeline_of_many_stages_all_are_told(self):
        stage = {"op_type": "Range", "children": []}
        for number in range(40):
            stage = {"op_type": f"Map{number}", "children": [stage]}
        assert secrets.settings(stage) == stage

    @pytest.mark.parametrize("value", ["<image>", "<your key>", "[MASK2]", "<|sep|>"])
    def test_what_stands_in_brackets_is_of_a_vocabulary_or_a_place_to_fill(self, value):
        assert secrets.settings({"tile_token": value, "password": f"{value} x"}) == {"tile_token": value, "password": "***"}
        assert secrets.without_secrets(f'{{"tile_token": "{value}"}}') == f'{{"tile_token": "{value}"}}'

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            (r'"{\"api_key\": \"x\", \"lr\": 1}"', r'"{\"api_key\": ***, \"lr\": 1}"'),
            (r"{\'password\': \'x y\', \'lr\': 1}", r"{\'password\': ***, \'lr\': 1}"),
            (r'{\\\"api_key\\\": \\\"x\\\", \\\"lr\\\": 1}', r'{\\\"api_key\\\": ***, \\\"lr\\\": 1}'),
            (r'{\"token\": \"\", \"lr\": \"x\"}', r'{\"token\": \"\", \"lr\": \"x\"}'),
            ('"a": "{\'api_key\': \'x\'}"', '"a": "{\'api_key\': ***}"'),
            (r'{\"max_tokens\": \"x\"}', r'{\"max_tokens\": \"x\"}'), (r"Authorization\": \"Bearer x\"", r"Authorization\": ***"),
        ],
    )  # fmt: skip
    def test_in_json_that_stands_in_a_text(self, given, told):
        assert secrets.without_secrets(given) == told

    @pytest.mark.parametrize(
        "line",
        [
            "api_key: {}", "+api_key: {}", "-  api_key:   {}",
            "  - password: {} # of the cluster", "db: {{user: me, password: {}, port: 1}}", "api_key : {}",
            r'"lr: 1\napi_key: {}\n"', "'api_key: {}'", "Cookie: {}",
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("value", ["abc", "x!y:z$", "12345678", "a/b=="])
    def test_in_yaml(self, line, value):
        assert secrets.without_secrets(line.format(value)) == line.format("***")
        assert secrets.without_secrets(f"{line.format(value)}\nlr: 1\r\n") == f"{line.format('***')}\nlr: 1\r\n"

    @pytest.mark.parametrize(
        "text",
        [
            "max_tokens: abc", "tokenizer: bert", "pad_token: x", "    token: str,", "token: torch.Tensor", "token: np.ndarray",
            "password: Optional[str] = None", "token: null", "password: ${PASSWORD}", "password: $PASSWORD", "token: SecretStr", "token: 3",
            "token: the token of the user", "secrets: {}", "auth: [a, b]", "def f(token: str, password: str) -> None:", "token: 0.5",
            "{token: index for index, token in found}", "password: !env PASSWORD", "password: *password", "if token: return", "x[token:]",
        ],
    )  # fmt: skip
    def test_what_only_looks_like_yaml_of_a_secret_stays(self, text):
        assert secrets.without_secrets(text) == text

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            ('os.environ["WANDB_API_KEY"] = "x"', 'os.environ["WANDB_API_KEY"] = ***'), ('api_key: str = "x"', "api_key: str = ***"),
            ('api_key: str | None = "x"', "api_key: str | None = ***"), ('login(token=b"x")', "login(token=b***)"),
            ('api_key = """x"y"""', "api_key = ***"), ("token = '''x y''' or z", "token = *** or z"),
            ("ValueError: api_key='x'", "ValueError: api_key=***"), ('a: token = "x", b: int', "a: token = ***, b: int"),
            ('if password == "x":', "if password == ***:"), ('os.environ["HOME"] = "x"', 'os.environ["HOME"] = "x"'),
        ],
    )  # fmt: skip
    def test_in_code(self, given, told):
        assert secrets.without_secrets(given) == told

    @pytest.mark.parametrize("sign", ["+", "-", " "])
    @pytest.mark.parametrize(
        ("given", "told"),
        [
            ("api_key = 'x'", "api_key = ***"), ("https://me:x@host/d", "https://***@host/d"), ("API_KEY=x", "API_KEY=***"),
            ("api_key: x", "api_key: ***"), ('"api_key": "x"', '"api_key": ***'), ("--api-key=x --lr=1", "--api-key=*** --lr=1"),
            ('--token="x"', "--token=***"), ("--token=$TOKEN --max_tokens=3", "--token=$TOKEN --max_tokens=3"),
            (r'"import os\napi_key = \"x\"\n"', r'"import os\napi_key = ***\n"'), (r'"\tAPI_KEY=x\n"', r'"\tAPI_KEY=***"'),
        ],
    )  # fmt: skip
    def test_in_a_line_of_a_diff(self, sign, given, told):
        assert secrets.without_secrets(f"{sign}{given}\n") == f"{sign}{told}\n"

    def test_in_code_what_is_no_literal_stays(self):
        code = "+token = tokenizer(text)\n+api_key: str = os.environ['KEY']\n+password = 'x'\n"
        assert secrets.without_secrets(code) == code.replace("'x'", "***")

    @pytest.mark.parametrize("newline", ["\n", "\n+", "\n ", "\r\n", r"\n"])    # as it is, in a diff, in JSON
    def test_a_private_key(self, newline):
        begin, end = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
        lines = newline.join([begin, *["MIIEpAIBAAKCAQEA3Tz2mr7SZiAM/fyuvBjM+Oi=="] * 3, end])
        assert secrets.without_secrets(f"'{lines}'\n") == f"'{begin}***{end}'\n"
        assert secrets.without_secrets(lines[:100]) == f"{begin}***"

    def test_what_looks_for_a_private_key_stays(self):
        code = 'if text.startswith("-----BEGIN PRIVATE KEY-----"):\n    return load(text)\n'
        assert secrets.without_secrets(code) == code

    @pytest.mark.parametrize("text", [
        "a" * 200_000, "a." * 100_000, "authorization" * 15_000, "password" + " " * 200_000, "?a" * 99_999,
        "api_key: " * 25_000, r'\"api_key\": ' + "x" * 200_000, "token:" + " " * 200_000, "{" * 200_000, "{password: " * 20_000,
        "password: " + "x!" * 100_000 + " y", r"\n" * 100_000, "\\" * 200_000, "api_key:" + "a " * 100_000, "api_key =" * 20_000,
        "-----BEGIN PRIVATE KEY-----" * 7_000, "a://" + "b" * 200_000, "a://" + "@" * 199_999,
    ])  # fmt: skip
    def test_a_long_line_takes_time_that_grows_with_its_length_alone(self, text):
        begun = time.thread_time()
        assert secrets.without_secrets(text) == text
        assert time.thread_time() - begun < 20    # it was minutes, in which no other thread ran
