"""Prints what tests/analyzer/stored_campaigns_test.cc reads of a campaign of many rounds, from its journal and plan.

    infimum plan MODEL -o model.plan
    infimum-microbench-onednn model.plan -o model.jsonl --rounds 24
    python3 from_journal.py model.jsonl model.plan > model.txt

A line for each row of a layer that was repeated in every round: the number of the layer's workload, how often the model
uses it, the candidate, and the medians in microseconds, round by round.
"""

import json
import re
import sys


def main(journal: str, plan: str) -> None:
    uses = {}
    with open(plan, encoding="utf-8") as lines:
        for line in lines:
            entry = re.match(r"uses=(\d+) \S+ \S+ (?!region)(.*)$", line)
            if entry:
                uses[entry[2]] = int(entry[1])
    rows = {}
    with open(journal, encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if record.get("kind") != "measurement" or record["workload"] not in uses:
                continue
            medians = [repetition["median_us"] for repetition in record.get("repetitions", [])]
            rows[record["workload"], json.dumps(record["candidate"], sort_keys=True)] = medians
    rounds = max(len(medians) for medians in rows.values())
    numbers = {workload: number for number, workload in enumerate(uses)}
    for (workload, candidate), medians in rows.items():
        if len(medians) == rounds:
            name = json.loads(candidate)
            print(numbers[workload], uses[workload], f"{name['library']}/{name['algorithm']}",
                  *(f"{median:.5g}" for median in medians))


if __name__ == "__main__":
    main(*sys.argv[1:])
