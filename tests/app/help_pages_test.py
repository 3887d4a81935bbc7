"""Man pages and completion are of every command, and shells can read them.

    tests/app/help_pages_test.py build/bin/infimum
"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

_SCRIPT = Path(__file__).resolve().parents[2] / "scripts/help_pages.py"


class HelpPages(unittest.TestCase):
    """Of the program given."""

    program: Path
    share: Path

    @classmethod
    def setUpClass(cls) -> None:
        """Makes them once."""
        cls.share = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        subprocess.run([sys.executable, _SCRIPT, cls.program, cls.share], check=True)

    def complete(self, *words: str) -> list[str]:
        """What bash offers behind these words."""
        script = self.share / "bash-completion/completions/infimum"
        line = " ".join(f"'{word}'" for word in words)
        code = f"source {script}; COMP_WORDS=(infimum {line}); COMP_CWORD={len(words)}; _infimum; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        run = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True, cwd=self.share)
        self.assertEqual(run.stderr, "")
        return run.stdout.split()

    def test_each_command_has_a_page(self) -> None:
        """Each that the help lists, with its options, and nothing that groff objects to."""
        text = subprocess.run([self.program, "--help"], capture_output=True, text=True, check=True).stdout
        commands = re.findall(r"^  ([a-z]+) {2,}", text.split("Subcommands:")[1], re.MULTILINE)
        self.assertGreater(len(commands), 20)
        for command in commands:
            page = (self.share / f"man/man1/infimum-{command}.1").read_text()
            self.assertIn(".SH SYNOPSIS", page)
            help_text = subprocess.run([self.program, command, "--help"], capture_output=True, text=True, check=True).stdout
            for option in set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", help_text, re.MULTILINE)):
                self.assertIn(option.replace("-", "\\-"), page)
        if shutil.which("groff"):
            for page_file in (self.share / "man/man1").iterdir():
                check: list[str | Path] = ["groff", "-man", "-ww", "-z", "-Tutf8", "-Kutf8", page_file]
                run = subprocess.run(check, capture_output=True, text=True, check=True)
                self.assertEqual(run.stderr, "", page_file.name)

    def test_bash_completes(self) -> None:
        """Commands, subcommands, options of either, and files."""
        self.assertIn("analyze", self.complete(""))
        self.assertEqual(self.complete("ana"), ["analyze"])
        self.assertIn("--budget", self.complete("analyze", "--"))
        self.assertEqual(self.complete("campaign", "pre"), ["prepare"])
        self.assertIn("--shards", self.complete("campaign", "prepare", "--sh"))
        self.assertNotIn("--shards", self.complete("campaign", "status", "--sh"))
        self.assertIn("man", self.complete("analyze", "m"))

    def test_other_shells_can_read_theirs(self) -> None:
        """Where they are installed."""
        for shell, file in (("zsh", "zsh/site-functions/_infimum"), ("fish", "fish/vendor_completions.d/infimum.fish")):
            self.assertIn("campaign", (self.share / file).read_text())
            if shutil.which(shell):
                subprocess.run([shell, "-n", self.share / file], check=True)


if __name__ == "__main__":
    HelpPages.program = Path(sys.argv.pop(1)).resolve()
    unittest.main()
