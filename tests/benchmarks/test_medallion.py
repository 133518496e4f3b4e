"""The generated project: five layers, 50 models, each over the layer below it."""

import re

import pytest

from benchmarks.medallion import models, sources
from benchmarks.medallion_sources import DIMENSIONS, FACTS, delivery
from benchmarks.statements import NOTHING

REF = re.compile(r"ref\('(\w+)'\)")


def test_fifty_models_in_five_layers_over_ten_sources():
    layers = [name.partition("/")[0] for name in models()]
    assert {layer: layers.count(layer) for layer in layers} == dict.fromkeys(
        ("1_bronze", "2_silver", "3_joined", "4_daily", "5_gold"), 10
    )
    text = sources()
    assert all(f"- name: {name}\n" in text + "\n" for name in (*DIMENSIONS, *FACTS))


def test_models_read_the_layer_below():
    layer_of = {name.partition("/")[2]: int(name[0]) for name in models()}
    for name, text in models().items():
        read = {layer_of[ref] for ref in REF.findall(text)}
        assert read == ({int(name[0]) - 1} if int(name[0]) > 1 else set())


@pytest.mark.parametrize("keys", ["spread", "recent"])
def test_a_delivery_changes_every_source(keys):
    texts = delivery(1, 1.0, keys).texts
    for name in (*DIMENSIONS, *FACTS):
        assert any(f"{{schema}}.{name}" in text for text in texts)
    assert all("{number}" in text for text in texts)
    assert delivery(0, 1.0, keys) == NOTHING
