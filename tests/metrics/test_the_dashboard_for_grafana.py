"""The dashboard file for Grafana: valid, and every expression names metrics and labels that exist."""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from agent.metrics.families import FAMILIES, PREFIX
from tests.metrics.test_what_the_agent_does_by_itself_is_counted import PLANNED

FILE = Path(__file__).parents[2] / "configs" / "grafana.json"
_METRIC = re.compile(rf"{PREFIX}([a-z_]+)(?:\{{([^}}]*)\}})?")
_BY = re.compile(r"\bby \(([^)]*)\)")
_ENDS = {"histogram": {"_bucket", "_sum", "_count"}, "summary": {"_sum", "_count"}}
_WORDS = {"sum", "max", "min", "by", "rate", "increase", "topk", "histogram_quantile", "le"}


@pytest.fixture(scope="module")
def board() -> dict[str, Any]:
    found = json.loads(FILE.read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def series() -> dict[str, set[str]]:
    """Every name of a series that is scraped, with the labels that it has."""
    found = {}
    for family in FAMILIES:
        for end in _ENDS.get(family.kind, {""}):
            labels = set(family.labels) - ({"le"} if end != "_bucket" else set())
            found[family.name + end] = {"vault", *labels}
    return found


def expressions(board: dict[str, Any]) -> list[str]:
    return [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]


def test_every_expression_names_a_metric_and_labels_that_exist(board: dict[str, Any]) -> None:
    known, wrong = series(), list[str]()
    for expression in expressions(board):
        named = _METRIC.findall(expression)
        assert named, expression
        labels = [known.get(name) for name, _ in named]
        wrong += [f"{name} in {expression}" for name, _ in named if name not in known]
        for (name, selector), has in zip(named, labels, strict=True):
            chosen = {each.partition("=")[0].strip(" ~!") for each in selector.split(",") if each}
            wrong += [f"{name}: {each}" for each in chosen - (has or set())]
        both = set.intersection(*[each for each in labels if each is not None])
        for names in _BY.findall(expression):
            wrong += [f"{expression}: {each}" for each in {each.strip() for each in names.split(",")} - both]
    assert wrong == []


def test_names_in_legends_are_labels_of_the_result(board: dict[str, Any]) -> None:
    for panel in board["panels"]:
        for target in panel.get("targets", ()):
            shown = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            kept = {each.strip() for names in _BY.findall(target["expr"]) for each in names.split(",")}
            assert shown <= (kept or {"vault"}), target


def test_brackets_and_functions_are_well_formed(board: dict[str, Any]) -> None:
    for expression in expressions(board):
        bare = re.sub(r'"[^"]*"', "", expression)
        for one, other in ("()", "{}", "[]"):
            assert bare.count(one) == bare.count(other), expression
        functions = set(re.findall(r"\b([a-z_]+)\s*\(", bare))
        assert functions <= _WORDS, expression


def test_every_figure_of_the_plan_is_on_it(board: dict[str, Any]) -> None:
    text = " ".join(expressions(board))
    assert [name for name in PLANNED if not re.search(rf"{PREFIX}{name}(_bucket)?\{{", text)] == []


def test_panels_have_numbers_of_their_own_and_do_not_overlap(board: dict[str, Any]) -> None:
    ids = [panel["id"] for panel in board["panels"]]
    assert len(set(ids)) == len(ids) > 20
    places = [(panel["title"], panel["gridPos"]) for panel in board["panels"]]
    for (one, a), (other, b) in combinations(places, 2):
        is_apart = a["x"] + a["w"] <= b["x"] or b["x"] + b["w"] <= a["x"]
        is_apart |= a["y"] + a["h"] <= b["y"] or b["y"] + b["h"] <= a["y"]
        assert is_apart, (one, other)
    assert all(place["x"] + place["w"] <= 24 for _, place in places)


def test_the_source_and_the_vault_are_chosen(board: dict[str, Any]) -> None:
    names = {each["name"]: each for each in board["templating"]["list"]}
    assert names["source"]["type"] == "datasource" and set(names) == {"source", "vault"}
    for panel in board["panels"]:
        if panel["type"] != "row":
            assert panel["datasource"]["uid"] == "${source}" and panel["targets"]
    assert all('vault=~"$vault"' in expression for expression in expressions(board))
