#!/usr/bin/env python3
"""Run the quick form of papers, and set its verdicts and processor time beside what is kept of their full forms.

    scripts/quick_forms.py [PAPER ...]

A quick form has fewer seeds, so it may leave open what the full form decides. It must never say the opposite, and must
take less than two minutes on two idle cores. The processor time is that of the runs, whatever else the machine does.
Status 1 if a verdict is the opposite of the kept one, or the time is over.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from aqmlab import papers
from aqmlab.papers.verdicts import Verdict

CORES = 2
MOST_S = 120.0
DECIDED = (Verdict.REPRODUCED, Verdict.IN_PART, Verdict.NOT_REPRODUCED)


def opposite(quick: str, full: str) -> bool:
    """Whether two verdicts exclude each other."""
    return {quick, full} == {str(Verdict.REPRODUCED), str(Verdict.NOT_REPRODUCED)}


def compared(document: dict[str, Any], paper: papers.Paper) -> list[tuple[str, str, str, str]]:
    """Return preset, claim, quick verdict and kept full verdict of each claim that has both."""
    found = []
    for one in document["claims"]:
        kept = paper.generated.verdicts.get(one["preset"], {}).get(one["id"])
        if kept is not None:
            found.append((one["preset"], one["id"], one["verdict"], str(kept.verdict)))
    return found


def main() -> int:
    """Run the papers that are named, or all."""
    wrong = False
    for name in sys.argv[1:] or papers.built():
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "result.json"
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            asked = [sys.executable, "-m", "aqmlab", "reproduce", name, "--quick", "--quiet"]
            subprocess.run([*asked, "--out", f"{folder}/out", "--json", str(out)], check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            pairs = compared(json.loads(out.read_text(encoding="utf-8")), papers.find(name))
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        same = sum(quick == full for _, _, quick, full in pairs)
        less = sum(quick not in DECIDED and full in DECIDED for _, _, quick, full in pairs)
        print(f"{name}: {spent:.0f} s of processor time, {spent / CORES:.0f} s on {CORES} idle cores")
        print(
            f"  {len(pairs)} verdicts: {same} as the full form's, {less} left open, {len(pairs) - same - less} others"
        )
        changes = Counter((full, quick) for _, _, quick, full in pairs if quick != full)
        for (full, quick), count in changes.most_common():
            print(f"    {count:3} {full} -> {quick}")
        for preset, claim, quick, full in pairs:
            if opposite(quick, full):
                wrong = True
                print(f"  OPPOSITE: {preset} {claim}: full {full}, quick {quick}")
        if spent / CORES > MOST_S:
            wrong = True
            print(f"  OVER: allowed are {MOST_S:.0f} s")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
