"""The four coding agents of the command line: what is installed, and how each is run without an account.

Each runs offline, against a fake model on loopback: everything that it would send elsewhere is switched off.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Files = Mapping[str, str]
"""Texts by path, relative to the home folder."""


@dataclass(frozen=True, slots=True)
class CodingAgent:
    """One agent: its package, and what a run needs.

    Attributes:
        host: Its name for `hydramem install`.
        package: Its package in the npm registry, with the version that the tests know.
        program: The program that the package installs.
        words: The command line that asks one question and ends.
        environment: Variables, by the address of the model.
        files: Settings, by the address of the model.
        asks_beyond: Hosts of the network that no setting keeps it from asking; the proxy refuses them.
    """

    host: str
    package: str
    program: str
    words: Callable[[str], tuple[str, ...]]
    environment: Callable[[str], Mapping[str, str]]
    files: Callable[[str], Files]
    asks_beyond: tuple[str, ...] = ()


def _claude_environment(address: str) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": address,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
    }


def _codex_files(address: str) -> Files:
    return {
        ".codex/config.toml": (
            'model = "fake"\n'
            'model_provider = "fake"\n'
            "check_for_update_on_startup = false\n"
            "\n"
            "[analytics]\n"
            "enabled = false\n"
            "\n"
            "[features]\n"
            "apps = false\n"
            "plugins = false\n"
            "remote_plugin = false\n"
            "\n"
            "[model_providers.fake]\n"
            'name = "fake"\n'
            f'base_url = "{address}/v1"\n'
            'wire_api = "responses"\n'
            'env_key = "FAKE_KEY"\n'
            "request_max_retries = 0\n"
            "stream_max_retries = 0\n"
        )
    }


def _gemini_environment(address: str) -> Mapping[str, str]:
    return {
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
        "GOOGLE_API_KEY": "none",
        "GOOGLE_VERTEX_BASE_URL": address,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_TELEMETRY_ENABLED": "false",
    }


def _gemini_files(_: str) -> Files:
    settings = {
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    return {".gemini/settings.json": json.dumps(settings, indent=2)}


def _opencode_environment(_: str) -> Mapping[str, str]:
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }


def _opencode_files(address: str) -> Files:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{address}/v1", "apiKey": "none"},
        "models": {"fake": {"name": "fake"}},
    }
    settings = {
        "$schema": "https://opencode.ai/config.json",
        "model": "fake/fake",
        "share": "disabled",
        "autoupdate": False,
        "provider": {"fake": provider},
    }
    return {".config/opencode/opencode.json": json.dumps(settings, indent=2)}


CLAUDE_CODE = CodingAgent(
    "claude-code",
    "@anthropic-ai/claude-code@2.1.197",
    "claude",
    lambda prompt: ("-p", prompt),
    _claude_environment,
    lambda _: {},
)
CODEX = CodingAgent(
    "codex",
    "@openai/codex@0.169.0",
    "codex",
    lambda prompt: ("exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", prompt),
    lambda _: {"FAKE_KEY": "none"},
    _codex_files,
)
# Without `--yolo`, a run that nobody can confirm is offered no tools of servers; without `-m`, it asks the
# model which one to ask.
GEMINI = CodingAgent(
    "gemini",
    "@google/gemini-cli@0.61.0",
    "gemini",
    lambda prompt: ("--yolo", "-m", "gemini-2.5-flash", "-p", prompt),
    _gemini_environment,
    _gemini_files,
)
OPENCODE = CodingAgent(
    "opencode",
    "opencode-ai@1.18.33",
    "opencode",
    lambda prompt: ("run", prompt),
    _opencode_environment,
    _opencode_files,
    ("registry.npmjs.org:443",),  # types for plugins that a person writes
)
AGENTS = (CLAUDE_CODE, CODEX, GEMINI, OPENCODE)
