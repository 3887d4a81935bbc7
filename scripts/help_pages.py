#!/usr/bin/env python3
"""Man pages and completion for bash, zsh and fish, made from what `infimum --help` and its commands' help say.

    scripts/help_pages.py build/bin/infimum share    share/man/man1, share/bash-completion, share/zsh, share/fish
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

_HEADING = re.compile(r"^(Positionals|Options|Subcommands):$")
_ENTRY = re.compile(r"^  (\S.*?)(?:  +(.*))?$")
_CONTINUED = re.compile(r"^ {20,}(\S.*)$")
_OPTION = re.compile(r"(?<![\w-])(--?[\w-]+)")


@dataclass
class Entry:
    """An option, positional or subcommand, as it stands in the help: "--dim NAME=N ...", and what it is."""

    name: str
    text: str

    def options(self) -> list[str]:
        """The option's names: -h and --help of "-h,--help"."""
        return _OPTION.findall(self.name.split(" ")[0].split("{")[0])

    def takes_value(self) -> bool:
        """Whether a word follows."""
        return " " in self.name or ":" in self.name


@dataclass
class Command:
    """A command's help, in parts. `words`: infimum db merge."""

    words: list[str]
    what: str = ""
    usage: str = ""
    sections: dict[str, list[Entry]] = field(default_factory=dict)
    details: list[str] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)

    def entries(self, section: str) -> list[Entry]:
        """Those of a section; none where there is none."""
        return self.sections.get(section, [])

    def all(self) -> list[Command]:
        """This one and those below it."""
        return [self] + [below for command in self.commands for below in command.all()]


def read_command(program: Path, words: list[str]) -> Command:
    """Runs the command's --help, and that of its subcommands."""
    run = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True)
    command = Command(["infimum", *words])
    section = ""
    for line in run.stdout.splitlines():
        heading = _HEADING.match(line)
        if heading:
            section = heading[1]
            command.sections[section] = []
        elif line.startswith("Usage: "):
            command.usage = line.removeprefix("Usage: ")
        elif section and (continued := _CONTINUED.match(line)):
            last = command.sections[section][-1]
            last.text = f"{last.text} {continued[1]}".strip()
        elif section and (entry := _ENTRY.match(line)):
            command.sections[section].append(Entry(entry[1], entry[2] or ""))
        elif not line.strip() or not section:
            # What stands before the first section says what it is; behind the last are details.
            section = "" if command.sections and not line.strip() else section
            if command.usage:
                command.details.append(line)
            elif line.strip() and not command.what:
                command.what = line.strip()
    command.commands = [read_command(program, [*words, entry.name]) for entry in command.entries("Subcommands")]
    return command


def roff(text: str) -> str:
    """Text as a man page has it."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + escaped if escaped.startswith((".", "'")) else escaped


def man_page(command: Command, version: str) -> str:
    """The page of a command, section 1."""
    name = "-".join(command.words)
    lines = [f'.TH {name.upper()} 1 "" "{version}" "User Commands"', ".SH NAME", f"{roff(name)} \\- {roff(command.what)}"]
    lines += [".SH SYNOPSIS", f".B {roff(command.usage)}"]
    for section in ("Positionals", "Options", "Subcommands"):
        if not command.entries(section):
            continue
        lines.append(f".SH {'ARGUMENTS' if section == 'Positionals' else section.upper()}")
        for entry in command.entries(section):
            lines += [".TP", f".B {roff(entry.name)}", roff(entry.text)]
    details = "\n".join(command.details).strip()
    if details:
        lines += [".SH DESCRIPTION", ".nf", *(roff(line) for line in details.splitlines()), ".fi"]
    others = [f"infimum-{entry.name}" for entry in command.entries("Subcommands") if len(command.words) == 1]
    if len(command.words) > 1:
        others = ["-".join(command.words[:-1])]
    lines += [".SH SEE ALSO", ", ".join(f"{roff(other)}(1)" for other in others)]
    return "\n".join(lines) + "\n"


def options_of(command: Command) -> list[tuple[str, Entry]]:
    """Each name of each option, with what the help says of it."""
    return [(name, entry) for entry in command.entries("Options") for name in entry.options()]


def bash_completion(tool: Command) -> str:
    """A word that begins with - is an option, the first word behind a command its subcommand, all else a file."""
    cases = []
    for command in tool.all():
        options = " ".join(name for name, _ in options_of(command) if name.startswith("--"))
        below = " ".join(entry.name for entry in command.entries("Subcommands"))
        cases.append(f"    '{' '.join(command.words[1:])}') options='{options}' commands='{below}' ;;")
    return "\n".join(
        [
            "_infimum() {",
            "  local word command='' options commands current=${COMP_WORDS[COMP_CWORD]}",
            "  _infimum_of() { case $1 in",
            *cases,
            "    *) return 1 ;;",
            "  esac; }",
            "  _infimum_of ''",
            '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
            '    [[ " $commands " == *" $word "* ]] || continue',
            '    command="${command:+$command }$word"',
            '    _infimum_of "$command"',
            "  done",
            "  if [[ $current == -* ]]; then",
            '    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")',
            "  else",
            '    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current"; compgen -f -- "$current")',
            "  fi",
            "}",
            "complete -o filenames -F _infimum infimum",
            "",
        ]
    )


def quoted(text: str) -> str:
    """For a shell, in single quotes."""
    return "'" + text.replace("'", "'\\''") + "'"


def zsh_completion(tool: Command) -> str:
    """The same with what the help says beside each word."""
    lines = ["#compdef infimum", "_infimum() {", "  local command='' word", "  local -a options commands", "  of() {", "    case $1 in"]
    for command in tool.all():
        options = " ".join(quoted(f"{name}:{entry.text}") for name, entry in options_of(command) if name.startswith("--"))
        below = " ".join(quoted(f"{entry.name}:{entry.text}") for entry in command.entries("Subcommands"))
        lines.append(f"      {quoted(' '.join(command.words[1:]))}) options=({options}) commands=({below}) ;;")
    lines += [
        "    esac",
        "  }",
        "  of ''",
        "  for word in ${words[2,CURRENT-1]}; do",
        '    [[ -n ${commands[(r)$word:*]} ]] && command="${command:+$command }$word" && of "$command"',
        "  done",
        "  if [[ $words[CURRENT] == -* ]]; then",
        "    _describe option options",
        "  else",
        "    (( $#commands )) && _describe command commands",
        "    _files",
        "  fi",
        "}",
        '_infimum "$@"',
        "",
    ]
    return "\n".join(lines)


def fish_completion(tool: Command) -> str:
    """One line for each command and option."""
    lines = []
    for command in tool.all():
        below = " ".join(entry.name for entry in command.entries("Subcommands"))
        where = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in command.words[1:])
        where += f"; and not __fish_seen_subcommand_from {below}" if where and below else ""
        where = where or "__fish_use_subcommand"
        for entry in command.entries("Subcommands"):
            lines.append(f"complete -c infimum -n {quoted(where)} -f -a {entry.name} -d {quoted(entry.text)}")
        for name, entry in options_of(command):
            kind = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
            value = " -r" if entry.takes_value() else ""
            lines.append(f"complete -c infimum -n {quoted(where)} {kind}{value} -d {quoted(entry.text)}")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Writes all of them."""
    program, share = Path(sys.argv[1]), Path(sys.argv[2])
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    tool = read_command(program, [])
    files = {share / "man/man1" / f"{'-'.join(command.words)}.1": man_page(command, version) for command in tool.all()}
    files[share / "bash-completion/completions/infimum"] = bash_completion(tool)
    files[share / "zsh/site-functions/_infimum"] = zsh_completion(tool)
    files[share / "fish/vendor_completions.d/infimum.fish"] = fish_completion(tool)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
