"""The example of scripts/python/README.md in a real notebook: the page shows itself, tables are tables,
progress is a bar.

    python notebook_test.py MODEL.onnx      with nbclient, ipykernel beside the installed package infimum[notebook]
"""

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import infimum
import nbclient
import nbformat

_README = Path(__file__).resolve().parents[2] / "scripts/python/README.md"


def main() -> None:
    """Runs each statement of the example as a cell of its own, and looks at what the notebook shows of it."""
    model = Path(sys.argv[1]).resolve()
    example = re.search(r"In Python:\n\n((?:    .*\n)+)", _README.read_text())
    assert example is not None
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        shutil.copy(model, "model.onnx")
        infimum.synth("decoder", output="models", layers="1")[0].rename("decoder.onnx")
        cells = [line.strip() for line in example[1].splitlines()] + ["page", 'infimum.query("coverage")']
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": folder}}).execute()
        html = {
            cell.source: output["data"]["text/html"]
            for cell in notebook.cells
            for output in cell.outputs
            if "text/html" in output.get("data", {})
        }
        said = "".join(output.get("text", "") for cell in notebook.cells for output in cell.outputs)
        assert "measuring: " in said and "%|" in said, said
        assert html["page"].startswith("<iframe srcdoc="), html.keys()
        tables = [cell for cell, shown in html.items() if "<table" in shown]
        assert any("llm" in cell for cell in tables) and any("query" in cell for cell in tables), html.keys()
        print(f"{len(cells)} cells ran; {len(html)} show pages or tables")


main()
