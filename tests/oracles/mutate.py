"""Changes the laws line by line and shows that the oracles, or the law's own unit tests, notice.

    python tests/oracles/mutate.py [LAW ...] [--lines FROM TO]

Each mutant is one small change in `crates/aqm-core/src/law/<name>.rs` (or, with a slash in the name, in
`crates/aqm-core/src/<name>.rs`: `scheduler/drr`, `discipline/sfq`): another comparison, operator or constant, or a
statement left out. It is built in a copy of the sources. A mutant that is detected by neither the oracles' traces nor
the unit tests of the law nor the golden runs is printed; it is either equivalent or a gap in the tests. Run by hand;
not part of the tests.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import test_oracles
import workload

SEEDS = range(6)
LAWS = (
    "afd",
    "aifo",
    "blue",
    "cobalt",
    "codel",
    "daqm",
    "discipline/daqm/gate",
    "docsis_pie",
    "features",
    "law/features/series",
    "law/pie/departure_rate",
    "law/pie/linux",
    "law/pie/ns3",
    "max_p",
    "pi",
    "pie",
    "rank",
    "red",
    "rem",
    "sfb",
    "share",
    "sp_pifo",
)

# Replacements; every match on a line is one mutant.
OPERATORS = [
    (r" < ", " <= "),
    (r" < ", " > "),
    (r" <= ", " < "),
    (r" > (?!\{)", " >= "),
    (r" > (?!\{)", " < "),
    (r" >= ", " > "),
    (r" >= ", " < "),
    (r" == ", " != "),
    (r" != ", " == "),
    (r" && ", " || "),
    (r" \|\| ", " && "),
    (r" \+ ", " - "),
    (r" - ", " + "),
    (r" \* ", " / "),
    (r" / ", " * "),
    (r" % ", " + "),
    (r" \+= ", " -= "),
    (r" -= ", " += "),
    (r" \*= ", " /= "),
    (r" << ", " >> "),
    (r" >> ", " << "),
    (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"),
    (r"(?<=[( =])!(?=[a-z(])", ""),
    (r"\bmin\(", "max("),
    (r"\bmax\(", "min("),
    (r"Verdict::Signal", "Verdict::Admit"),
    (r"Verdict::Drop", "Verdict::Admit"),
    (r"Verdict::Admit(?! =>)", "Verdict::Drop"),
]
NUMBER = re.compile(r"(?<![\w.])(\d[\d_]*(?:\.\d[\d_]*)?)(?![\w.])")


@dataclass(frozen=True)
class Mutant:
    """One changed line."""

    line: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.line}: {self.before.strip()}  ->  {self.after.strip() or '(left out)'}"


def mutants(text: str) -> Iterator[Mutant]:
    """Every mutant of the code above the unit tests."""
    code = text.split("#[cfg(test)]")[0].splitlines()
    for number, line in enumerate(code, 1):
        bare = line.split("//")[0]
        if not bare.strip() or bare.strip().startswith(
            ("use ", "#[", "pub fn", "fn ", "pub mod", "impl", "pub struct")
        ):
            continue
        seen = set()
        for pattern, replacement in OPERATORS:
            for match in re.finditer(pattern, bare):
                seen.add(bare[: match.start()] + replacement + bare[match.end() :])
        for match in NUMBER.finditer(bare):
            value = match.group(1)
            other = (
                f"{float(value.replace('_', '')) * 1.5 + 0.1}" if "." in value else f"{int(value.replace('_', '')) + 1}"
            )
            seen.add(bare[: match.start(1)] + other + bare[match.end(1) :])
        if re.match(r"\s+[a-z_.*()]+ ?(=|\+=|-=|\*=) .*;$", bare) or re.match(r"\s+(self|state)\.[\w.]+\(.*\);$", bare):
            seen.add(re.match(r"\s*", bare).group())  # type: ignore[union-attr]
        yield from (Mutant(number, line, after) for after in sorted(seen))


def path_of(law: str) -> Path:
    """The source of a law, or of another part that is named with its folder."""
    return Path("crates/aqm-core/src") / f"{law if '/' in law else f'law/{law}'}.rs"


class Workshop:
    """A copy of the sources in which mutants are built."""

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="aqm-mutants-"))
        for name in ("Cargo.toml", "Cargo.lock", "rust-toolchain.toml"):
            shutil.copy(workload.ROOT / name, self.root)
        shutil.copytree(workload.ROOT / "crates" / "aqm-core", self.root / "crates" / "aqm-core")
        self.environment = {
            **os.environ,
            "CARGO_PROFILE_DEV_OPT_LEVEL": "1",
            "CARGO_PROFILE_DEV_DEBUG": "false",
            "RUSTFLAGS": "-Awarnings --cap-lints warn",
        }

    def cargo(self, *words: str) -> bool:
        """Whether a cargo command succeeds; a mutant that hangs has failed."""
        try:
            done = subprocess.run(
                ["cargo", *words, "--quiet", "--package", "aqm-core"],
                cwd=self.root,
                env=self.environment,
                capture_output=True,
                timeout=180,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def write(self, law: str, text: str) -> None:
        """Writes the text of a law into the copy."""
        (self.root / path_of(law)).write_text(text)

    def build(self) -> bool:
        """Builds the program that replays traces."""
        return self.cargo("build", "--example", "trace_decisions")

    @property
    def program(self) -> Path:
        """Where it is."""
        return self.root / "target/debug/examples/trace_decisions"


def expectations(law: str) -> list[tuple[str, workload.Trace, list[str]]]:
    """The oracles' decisions for every case that uses this law."""
    kinds = {
        "classifier": ("l_lru", "lru_red", "sqm_lru"),
        "blue": ("blue", "cobalt", "fq_cobalt", "sfb"),
        "cobalt": ("cobalt", "fq_cobalt"),
        "codel": ("codel", "fq_codel"),
        "discipline/daqm/gate": ("daqm",),
        "features": ("daqm",),
        "law": ("daqm",),
        "law/pie/departure_rate": ("pie",),
        "law/pie/linux": ("pie",),
        "law/pie/ns3": ("pie", "s-pie"),
        "max_p": ("ared", "feng_ared"),
        "pi": ("pi", "pi2"),
        "pie": ("pie", "s-pie"),
        "rank": ("aifo", "pifo", "sp_pifo"),
        "red": ("red", "ared", "choke", "feng_ared", "nlred", "wred"),
        "share": ("s-pie",),
        "discipline/s_pie/gate": ("s-pie",),
        "sketch": ("s-pie",),
    }
    parts = tuple(law.split("/"))
    names = kinds.get(law, kinds.get(parts[0], parts))
    cases = [spec for spec in test_oracles.CASES if spec.split()[0].split(":")[0] in names]
    oracles = [(spec, test_oracles.CASES[spec](), seed) for spec in cases for seed in SEEDS]
    return [(spec, (trace := one.trace(seed)), workload.play(trace, one)) for spec, one, seed in oracles]


def detected(shop: Workshop, expected: list[tuple[str, workload.Trace, list[str]]]) -> str | None:
    """Which tests notice the mutant."""
    for spec, trace, decisions in expected:
        try:
            different = test_oracles.first_difference(workload.rust(spec, trace, shop.program, timeout=20), decisions)
        except (AssertionError, subprocess.TimeoutExpired):
            return "oracle"
        if different:
            return "oracle"
    if not shop.cargo("test", "--lib"):
        return "unit tests"
    if not shop.cargo("test", "--test", "golden"):
        return "golden runs"
    return None


def main() -> int:
    """Tries every mutant of the laws named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("laws", nargs="*", metavar="LAW", help=f"default: {' '.join(LAWS)}")
    parser.add_argument("--lines", nargs=2, type=int, default=(1, sys.maxsize), metavar=("FROM", "TO"))
    options = parser.parse_args()
    shop = Workshop()
    missed = 0
    try:
        for law in options.laws or LAWS:
            original = (workload.ROOT / path_of(law)).read_text()
            expected = expectations(law)
            counts: dict[str, int] = {}
            for mutant in mutants(original):
                if not options.lines[0] <= mutant.line <= options.lines[1]:
                    continue
                lines = original.splitlines()
                lines[mutant.line - 1] = mutant.after
                shop.write(law, "\n".join(lines) + "\n")
                who = (detected(shop, expected) or "nobody") if shop.build() else "compiler"
                counts[who] = counts.get(who, 0) + 1
                if who == "nobody":
                    missed += 1
                    print(f"{path_of(law)}:{mutant}", flush=True)
            shop.write(law, original)
            summary = ", ".join(f"{count} by {who}" for who, count in sorted(counts.items()))
            print(f"{law}: {sum(counts.values())} mutants, detected {summary}", flush=True)
    finally:
        shutil.rmtree(shop.root)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
