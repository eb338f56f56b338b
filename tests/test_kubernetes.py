"""The manifest for Kubernetes in the guide to many machines: what KubeRay's own schema says of it."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "how-to" / "many-machines.md"
SCHEMA = HERE / "kuberay" / "raycluster-1.7.0.json.gz"


def strict(schema: Any) -> Any:
    """As ``kubectl apply`` validates: a key that the schema does not have is an error."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(value) for key, value in schema.items()}
    is_open = schema.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in schema
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object" and not is_open:
        made["additionalProperties"] = False
    return made


def errors(manifest: dict[str, Any]) -> list[str]:
    schema = strict(json.loads(gzip.decompress(SCHEMA.read_bytes())))
    # The server fills them in: a CRD says no more of them than that they are an object.
    schema["properties"]["metadata"] = {"type": "object"}
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(manifest)]


def manifests() -> Iterator[dict[str, Any]]:
    for block in re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE):
        found = YAML(typ="safe").load(block)
        if found.get("kind") == "RayCluster":
            yield found


@pytest.fixture
def manifest() -> dict[str, Any]:
    """Without what its anchors share, so that it can be changed in one place."""
    (found,) = manifests()
    copied: dict[str, Any] = json.loads(json.dumps(found))
    return copied


def test_the_manifest_of_the_guide_is_one_that_kuberay_takes(manifest: dict[str, Any]) -> None:
    assert errors(manifest) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda it: it["spec"].update(workerGroupSpec=[]), "workerGroupSpec"),
        (lambda it: it["spec"]["headGroupSpec"].pop("template"), "template"),
        (lambda it: it["spec"]["workerGroupSpecs"][0].update(replicas="one"), "replicas"),
        (lambda it: _container(it).update(resource={}), "resource"),
        (lambda it: _container(it)["resources"]["limits"].update(cpu=[4]), "cpu"),
        (lambda it: it["spec"]["headGroupSpec"]["rayStartParams"].update(resources={"a": 1}), "rayStartParams"),
    ],
)
def test_a_slip_in_it_would_be_seen(
    manifest: dict[str, Any], change: Callable[[dict[str, Any]], object], says: str
) -> None:
    change(manifest)
    assert any(says in error for error in errors(manifest))


def _container(manifest: dict[str, Any]) -> dict[str, Any]:
    container: dict[str, Any] = manifest["spec"]["headGroupSpec"]["template"]["spec"]["containers"][0]
    return container


def test_the_drivers_resource_is_json_within_a_string_as_ray_start_wants_it(manifest: dict[str, Any]) -> None:
    """KubeRay hands it to a shell: the outer quotes are for that, the inner ones are JSON's."""
    (group,) = manifest["spec"]["workerGroupSpecs"]
    assert json.loads(json.loads(group["rayStartParams"]["resources"])) == {"webdyno_driver": 1}
