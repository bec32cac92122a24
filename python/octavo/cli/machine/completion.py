"""Print a script with which a shell completes verbs and options of octavo."""

from __future__ import annotations

import argparse

EXAMPLES = [
    "source <(octavo completion bash)                     # in ~/.bashrc",
    "source <(octavo completion zsh)                      # in ~/.zshrc, after compinit",
    "octavo completion fish > ~/.config/fish/completions/octavo.fish",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=["bash", "zsh", "fish"])


def run(arguments: argparse.Namespace) -> int:
    print({"bash": bash, "zsh": zsh, "fish": fish}[arguments.shell](), end="")
    return 0


def words() -> dict[str, list[tuple[list[str], list[str], str]]]:
    """verb -> its options, each with its spellings, the values that it may take, and its help."""
    from octavo.cli import VERBS, verb_parser

    found = {}
    for verb in VERBS:
        actions = verb_parser(verb)._actions
        found[verb] = [
            (list(action.option_strings), [str(choice) for choice in action.choices or ()], action.help or "")
            for action in actions
            if action.option_strings
        ]
    return found


def bash() -> str:
    verbs = words()
    cases = "".join(
        f'    {verb}) options="{" ".join(name for names, _, _ in options for name in names)}" ;;\n'
        for verb, options in verbs.items()
    )
    values = "".join(
        f'    {verb}:{"|".join(f"{verb}:{name}" for name in names)[len(verb) + 1 :]}) values="{" ".join(choices)}" ;;\n'
        for verb, options in verbs.items()
        for names, choices, _ in options
        if choices
    )
    return f"""# Completion of octavo for bash.
_octavo() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} verb=${{COMP_WORDS[1]}} options= values=
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W "{" ".join([*verbs, "help"])}" -- "$word"))
    return
  fi
  case "$verb:${{COMP_WORDS[COMP_CWORD-1]}}" in
{values}    help:help) values="{" ".join(verbs)}" ;;
  esac
  case "$verb" in
{cases}  esac
  if [ -n "$values" ]; then COMPREPLY=($(compgen -W "$values" -- "$word"))
  elif [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$word"))
  else compopt -o default 2>/dev/null; fi
}}
complete -F _octavo octavo
"""


def zsh() -> str:
    return "# Completion of octavo for zsh, by that for bash.\nautoload -Uz bashcompinit && bashcompinit\n" + bash()


def fish() -> str:
    from octavo.cli import VERBS

    lines = ["# Completion of octavo for fish.", "complete -c octavo -n __fish_use_subcommand -f"]
    lines += [
        f"complete -c octavo -n __fish_use_subcommand -a {verb} -d {_quoted(text)}" for verb, text in VERBS.items()
    ]
    for verb, options in words().items():
        for names, choices, text in options:
            spelled = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in names)
            values = f" -xa {_quoted(' '.join(choices))}" if choices else ""
            lines.append(
                f"complete -c octavo -n '__fish_seen_subcommand_from {verb}' {spelled}{values} -d {_quoted(text)}"
            )
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("%%", "%").replace("\\", "\\\\").replace("'", "\\'") + "'"
