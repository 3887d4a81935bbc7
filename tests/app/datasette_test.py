"""The named questions as pages of Datasette answer what `infimum query` answers.

    python datasette_test.py INFIMUM MODEL.onnx      with datasette beside this Python
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

PROGRAM, MODEL = (str(Path(word).resolve()) for word in sys.argv[1:3])
# A question, what is typed into its page, and what the same is on a command line, which asks for each value that has no
# default.
_ASKED: list[tuple[str, dict[str, str]]] = [
    ("outcomes", {}),
    ("environments", {"library": ""}),
    ("coverage", {"all": "yes", "cache": ""}),
    ("coverage", {"threads": "any"}),
    ("model-layers", {"model": "light_squeezenet"}),
    ("fleet", {}),
    ("sweep", {"evaluation": "none"}),
]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:

        def output(*words: str) -> str:
            return subprocess.run(words, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout

        output(PROGRAM, "analyze", MODEL, "--backend", "fake", "--framework", "none", "--db", "team.db", "-q")
        Path(folder, "metadata.json").write_text(output(PROGRAM, "query", "--datasette", "--db", "team.db"))

        def asked(name: str, typed: dict[str, str]) -> list[dict[str, Any]]:
            page = f"/team/{name}.json?" + urlencode({"_shape": "array", **typed})
            found = output(sys.executable, "-m", "datasette", "-m", "metadata.json", "--get", page, "team.db")
            rows: list[dict[str, Any]] = json.loads(found)
            return rows

        some = 0
        for name, typed in _ASKED:
            words = [f"{key}={value if value != 'any' else ''}" for key, value in typed.items() if value]
            answer = json.loads(output(PROGRAM, "query", name, *words, "--db", "team.db", "--format", "json"))
            expected = [dict(zip(answer["columns"], row)) for row in answer["rows"]]
            assert asked(name, typed) == expected, (name, expected[:3])
            some += len(expected) > 0
        assert some >= 4, f"only {some} questions have an answer"
        print(f"{len(_ASKED)} questions answer the same in Datasette, {some} of them with rows")


main()
