"""Plan of JMeter: what an order asks for, as the XML it reads.

Three thread groups, one after the other in one Java machine, so that the steady phase meets a warm one: a clock, the
warm-up, the steady phase. The clock is one line in the log whose label holds Java's two clocks at the same instant:
System.nanoTime is CLOCK_MONOTONIC on Linux, and nothing else in JMeter tells it.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

from webdyno.load.order import Order
from webdyno.model.workload import Expectation, Request

CLOCK = "clock"
_BOTH_CLOCKS = '${__BeanShell(System.nanoTime()+":"+System.currentTimeMillis())}'
_MATCHES, _EQUALS, _SUBSTRING = 1, 8, 16
"""JMeter's numbers for how an assertion compares."""
_SIZE_EQUALS = 1
_PANELS = {
    "TestPlan": "TestPlanGui",
    "SetupThreadGroup": "SetupThreadGroupGui",
    "ThreadGroup": "ThreadGroupGui",
    "DebugSampler": "TestBeanGUI",
    "HTTPSamplerProxy": "HttpTestSampleGui",
    "HeaderManager": "HeaderPanel",
    "ResponseAssertion": "AssertionGui",
    "SizeAssertion": "SizeAssertionGui",
}
"""Parts of a plan, each with the panel that JMeter insists on knowing, window or not."""


def plan(order: Order, request: Request) -> bytes:
    """The whole .jmx file. Every sampler is labelled by its phase."""
    load = order.load
    root = ET.Element("jmeterTestPlan", version="1.2", properties="5.0", jmeter="5.6.3")
    whole = _element(ET.SubElement(root, "hashTree"), "TestPlan", "webdyno")
    _variables(whole[0], "TestPlan.user_defined_variables")
    _props(whole[0], {"TestPlan.serialize_threadgroups": True})
    inside = whole[1]
    clock = _group(inside, CLOCK, threads=1, loops=1, seconds=None, kind="SetupThreadGroup")
    sampler, _ = _element(clock, "DebugSampler", f"{CLOCK}:{_BOTH_CLOCKS}")
    _props(sampler, {"displayJMeterProperties": False, "displayJMeterVariables": False})
    if load.warmup_s:
        _requests(_group(inside, "warmup", load.connections, -1, load.warmup_s), "warmup", order, request)
    if load.count is None:
        _requests(_group(inside, "steady", load.connections, -1, load.duration_s), "steady", order, request)
    else:
        loops = load.count // load.connections
        _requests(_group(inside, "steady", load.connections, loops, None), "steady", order, request)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _requests(inside: ET.Element, phase: str, order: Order, request: Request) -> None:
    load = order.load
    sampler, below = _element(inside, "HTTPSamplerProxy", phase)
    timeout_ms = str(max(1, round(load.timeout_s * 1000)))
    _props(
        sampler,
        {
            "HTTPSampler.domain": order.authority.rpartition(":")[0],
            "HTTPSampler.port": str(order.port),
            "HTTPSampler.protocol": "http",
            "HTTPSampler.contentEncoding": "UTF-8",
            "HTTPSampler.path": request.path,
            "HTTPSampler.method": request.method,
            "HTTPSampler.connect_timeout": timeout_ms,
            "HTTPSampler.response_timeout": timeout_ms,
            "HTTPSampler.implementation": "HttpClient4",
            "HTTPSampler.use_keepalive": load.keep_alive,
            "HTTPSampler.follow_redirects": False,
            "HTTPSampler.auto_redirects": False,
            "HTTPSampler.postBodyRaw": request.body is not None,
        },
    )
    arguments = _variables(sampler, "HTTPsampler.Arguments")
    if request.body is not None:
        body = ET.SubElement(arguments, "elementProp", name="", elementType="HTTPArgument")
        _props(body, {"HTTPArgument.always_encode": False, "Argument.value": request.body, "Argument.metadata": "="})
    _headers(below, request)
    _assertions(below, request.expect)


def _headers(inside: ET.Element, request: Request) -> None:
    manager, _ = _element(inside, "HeaderManager", "headers")
    collected = ET.SubElement(manager, "collectionProp", name="HeaderManager.headers")
    for name, value in request.headers:
        header = ET.SubElement(collected, "elementProp", name="", elementType="Header")
        _props(header, {"Header.name": name, "Header.value": value})


def _assertions(inside: ET.Element, expect: Expectation) -> None:
    """Rules for the body; the status is in the log and judged from there."""
    if expect.body is not None:
        _assert(inside, "response_data", _EQUALS, expect.body)
    if expect.body_contains is not None:
        _assert(inside, "response_data", _SUBSTRING, expect.body_contains)
    if expect.content_type is not None:
        _assert(inside, "response_headers", _MATCHES, media_type_pattern(expect.content_type))
    if expect.body_length is not None:
        size, _ = _element(inside, "SizeAssertion", "length")
        _props(
            size,
            {"Assertion.test_field": "SizeAssertion.response_data", "SizeAssertion.size": str(expect.body_length)},
        )
        ET.SubElement(size, "intProp", name="SizeAssertion.operator").text = str(_SIZE_EQUALS)


def media_type_pattern(media_type: str) -> str:
    """A pattern that a whole header block matches when it has this type, with or without parameters."""
    return rf"(?ism).*^content-type:\s*{re.escape(media_type)}\s*(;[^\n]*)?$.*"


def _assert(inside: ET.Element, field: str, how: int, text: str) -> None:
    assertion, _ = _element(inside, "ResponseAssertion", field)
    texts = ET.SubElement(assertion, "collectionProp", name="Asserion.test_strings")  # JMeter's own spelling
    ET.SubElement(texts, "stringProp", name="0").text = text
    # "assume success": the status is not this assertion's business
    _props(assertion, {"Assertion.test_field": f"Assertion.{field}", "Assertion.assume_success": True})
    ET.SubElement(assertion, "intProp", name="Assertion.test_type").text = str(how)


def _group(
    inside: ET.Element, name: str, threads: int, loops: int, seconds: float | None, kind: str = "ThreadGroup"
) -> ET.Element:
    """Threads that all begin at once, for this many rounds or, rounded up, for so long; returns what they do."""
    group, below = _element(inside, kind, name)
    loop = ET.SubElement(
        group,
        "elementProp",
        name="ThreadGroup.main_controller",
        elementType="LoopController",
        testclass="LoopController",
    )
    _props(loop, {"LoopController.continue_forever": False})
    ET.SubElement(loop, "intProp", name="LoopController.loops").text = str(loops)
    _props(
        group,
        {
            "ThreadGroup.on_sample_error": "continue",
            "ThreadGroup.num_threads": str(threads),
            "ThreadGroup.ramp_time": "0",
            "ThreadGroup.scheduler": seconds is not None,
            "ThreadGroup.duration": "" if seconds is None else str(math.ceil(seconds)),
            "ThreadGroup.delay": "0",
        },
    )
    for edge in ("start_time", "end_time"):
        ET.SubElement(group, "longProp", name=f"ThreadGroup.{edge}").text = "0"
    return below


def _variables(inside: ET.Element, name: str) -> ET.Element:
    outer = ET.SubElement(inside, "elementProp", name=name, elementType="Arguments", testclass="Arguments")
    return ET.SubElement(outer, "collectionProp", name="Arguments.arguments")


def _element(inside: ET.Element, kind: str, name: str) -> tuple[ET.Element, ET.Element]:
    """A part of the plan, and the tree of what is below it: JMeter keeps the two side by side."""
    element = ET.SubElement(inside, kind, guiclass=_PANELS[kind], testclass=kind, testname=name, enabled="true")
    return element, ET.SubElement(inside, "hashTree")


def _props(inside: ET.Element, values: dict[str, str | bool]) -> None:
    for name, value in values.items():
        if isinstance(value, bool):
            ET.SubElement(inside, "boolProp", name=name).text = "true" if value else "false"
        else:
            ET.SubElement(inside, "stringProp", name=name).text = value
