"""The mutants are single mistakes, the same in each run, and reach the functions that run."""

from __future__ import annotations

import ast
import os
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.mutants.live import NotApplied, apply
from tests.mutants.mutations import Mutant, mutants_of, sample_of
from tests.mutants.run import PRODUCT, SURVIVORS, Before, Killers, Trial, imported_names, known_survivors
from tests.mutants.suite import Known, in_fork, in_order, to_try

TEXT = '''
LIMIT = 3
TWICE = LIMIT * 2
KINDS = {"a", "b"}

def f(x: int | None, y=1):
    """Not a mistake: x < y."""
    assert x is not None
    if x < y and y:
        return x + 1
    raise ValueError("x <= y")

class C:
    flag = True

    def g(self, keys):
        return [key for key in keys if key in KINDS]
'''


def names() -> list[str]:
    return [mutant.name for mutant in mutants_of("m.py", TEXT)]


@pytest.mark.parametrize(
    "name",
    [
        "m.py LIMIT: 3 → 4",
        "m.py TWICE: LIMIT * 2 → LIMIT // 2",
        "m.py KINDS: {'a', 'b'} → without 'b'",
        "m.py f: x < y → x <= y",
        "m.py f: x < y and y → x < y or y",
        "m.py f: x < y and y → without y",
        "m.py f: x + 1 → x - 1",
        "m.py f: if x < y and y: return x + 1 → pass",
        "m.py C.g: key in KINDS → key not in KINDS",
        "m.py C.g: if key in KINDS → no if",
    ],
)
def test_a_mistake(name):
    assert name in names()


def test_no_other_places_are_mistaken():
    assert not any("ValueError" in name or "int | None" in name or "assert" in name for name in names())
    assert not any(name.startswith("m.py C:") for name in names()), "its body ran at import"


def test_each_mutant_is_a_module_with_its_own_name():
    found = mutants_of("m.py", TEXT)
    assert len({mutant.name for mutant in found}) == len(found)
    original = ast.dump(ast.parse(TEXT))
    for mutant in found:
        compile(mutant.tree(), "m.py", "exec")
        assert ast.dump(mutant.tree()) != original
    assert ast.dump(ast.parse(TEXT)) == original


def test_a_constant_brings_those_that_are_made_of_it():
    (limit,) = (mutant for mutant in mutants_of("m.py", TEXT) if mutant.name == "m.py LIMIT: 3 → 4")
    assert limit.defined == ("LIMIT", "TWICE")


def test_the_sample_is_the_same_in_each_run():
    found = mutants_of("m.py", TEXT)
    assert sample_of(found, "m.py", 5) == sample_of(found, "m.py", 5)
    assert len(sample_of(found, "m.py", 5)) == 5
    assert sample_of(found, "m.py", 1000) == found


def in_a_fork(mutant: Mutant, question: str) -> str:
    """An expression's value in a process with the mutant."""

    def ask(send: object) -> None:
        try:
            apply(mutant, PRODUCT / mutant.module)
        except NotApplied:
            send("not applied")  # type: ignore[operator]
            return
        send(repr(eval(question, {"sys": sys, "import_module": import_module})))  # type: ignore[operator]  # a callable

    pid, pipe = in_fork(ask)
    with os.fdopen(pipe) as lines:
        answer = lines.read()
    assert os.waitpid(pid, 0)[1] == 0
    return answer.strip().strip('"')


def product_mutant(name: str) -> Mutant:
    module = name.partition(" ")[0]
    found = mutants_of(module, (PRODUCT / module).read_text())
    return next(mutant for mutant in found if mutant.name == name)


def test_a_mutant_reaches_a_constant_that_others_have_imported():
    question = "import_module('tests.fuzz.metamorphic.same_views').INLINED_READS"
    before = eval(question)
    name = f"plan/steps.py INLINED_READS: {before} → {before + 1}"
    assert in_a_fork(product_mutant(name), question) == str(before + 1)
    assert eval(question) == before


def test_a_mutant_reaches_a_table_that_another_module_made_of_it():
    question = "import_module('sparkivm.algebra.aggregates.functions').FUNCTIONS['avg'].ignores_copies"
    assert eval(question) is False
    assert in_a_fork(product_mutant("algebra/aggregates/average.py AVG: False → True"), question) == "True"


def test_a_mutant_reaches_a_method():
    name = "names.py TableName.key: self.catalog == 'spark_catalog' → self.catalog != 'spark_catalog'"
    question = "import_module('sparkivm.names').TableName('s', 't', 'c').key"
    assert eval(question) == "c.s.t"
    assert in_a_fork(product_mutant(name), question) == "'s.t'"


def test_a_mutant_reaches_what_a_decorator_has_made():
    name = (
        "refresh/session/recording_engine.py _timed: "
        "getattr(self._engine, method.__name__) → getattr(method.__name__, self._engine)"
    )
    question = "import_module('sparkivm.refresh.session.recording_engine').RecordingEngine.query.__code__.co_names[3:5]"
    assert eval(question) == ("_engine", "__name__")
    assert in_a_fork(product_mutant(name), question) == "('__name__', '_engine')"


def test_a_function_that_is_nowhere_is_told_of(tmp_path: Path):
    file = tmp_path / "m.py"
    file.write_text(TEXT)
    with pytest.raises(NotApplied):
        apply(next(mutant for mutant in mutants_of("m.py", TEXT) if mutant.function == "f"), file)


def test_a_constant_that_is_read_only_at_import_is_told_of():
    """The body of a class reads it."""
    name = "algebra/spark_text.py _WORD_FOR_WORD: {'transform', 'overlay'} → without 'overlay'"
    question = "'overlay' in import_module('sparkivm.algebra.spark_text')._WORD_FOR_WORD"
    assert in_a_fork(product_mutant(name), question) == "not applied"


def test_a_case_of_each_test_comes_first():
    seconds = {
        "a::f[2]": 0.1,
        "a::f[1]": 0.2,
        "a::f[3]": 0.3,
        "a::g": 9.0,
        "b::h[1]": 1.0,
        "b::h[2]": 2.0,
        "tests/golden/c::i": 0.0,
    }
    known = Known(seconds, {})
    assert in_order(seconds, known) == [
        *("a::f[2]", "b::h[1]", "a::g", "a::f[1]", "b::h[2]", "a::f[3]", "tests/golden/c::i"),
    ]


def test_a_mutant_is_tried_for_some_time():
    known = Known({"a": 1.0, "b": 2.0, "c": 3.0, "d": 2.5, "e": 2.6})
    assert to_try(known.seconds, known, {"d", "e"}.__contains__, 6.0) == ["d", "a", "b"]
    assert to_try(known.seconds, known, set().__contains__, 6.0) == ["a", "b"]
    assert to_try(known.seconds, known, {"d"}.__contains__, 1.0) == []


def test_what_found_a_mistake_is_likely_to_find_another_one_in_the_module():
    killers, module = Killers(), "plan/align_unions.py"
    mutant, *_ = mutants_of(module, (PRODUCT / module).read_text())
    killers.add(Trial(mutant, [], outcome="killed", test="a::f[1]"))
    killers.add(Trial(mutant, [], outcome="survived", test="a::g"))
    names = ("a::f[2]", "a::g", "test_align_unions.py::h")
    assert list(map(killers.are_likely(module), names)) == [True, False, True]
    assert list(map(killers.are_likely("plan/split.py"), names)) == [False, False, False]


def test_the_names_that_a_test_imports_from_the_product():
    text = "import re\nfrom a.b import C, d as e\nfrom a_b import F\n\ndef f():\n    from a import G\n"
    assert imported_names(text, "a") == {"C", "d", "G"}


def test_survivors_have_reasons():
    text = "# cost only\nm.py f: a → b\nm.py f: c → d\n\n# equivalent\nm.py g: a → b\n"
    assert known_survivors(text) == {
        "m.py f: a → b": "cost only",
        "m.py f: c → d": "cost only",
        "m.py g: a → b": "equivalent",
    }


def test_each_listed_survivor_is_a_mutant():
    """The code of others has changed, and with it perhaps the reason."""
    listed = known_survivors(SURVIVORS.read_text())
    modules = {name.partition(" ")[0] for name in listed}
    found = {one.name for module in modules for one in mutants_of(module, (PRODUCT / module).read_text())}
    assert listed.keys() - found == set()


def test_what_was_killed_is_not_tried_again(tmp_path):
    path, module = tmp_path / "killed.json", "plan/align_unions.py"
    killed, survivor, *_ = mutants_of(module, (PRODUCT / module).read_text())
    test = "tests/unit/test_align_unions.py::test_every_branch_has_the_type_of_the_whole"
    Before(path).add(Trial(killed, [], outcome="killed", test=test))
    Before(path).add(Trial(survivor, [], outcome="survived"))
    trial = Before(path).of(killed)
    assert trial is not None
    assert (trial.outcome, trial.test) == ("killed", test)
    assert Before(path).of(survivor) is None
    path.write_text(path.read_text().replace(test, "tests/unit/test_names.py::test_it"))  # of another digest
    assert Before(path).of(killed) is None
