"""JSON Schemas of experiment files and resolved scenarios, from the declarations of options and flows.

# A larger bound only guards against overflow.
WITHOUT_BOUND = 1e15
They are not derived from the simulator's types: bounds, words and help are in the declarations, and a type would have
to say them again.

``aqmlab schema`` prints them; `make docs` writes them to docs/reference/schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from aqmlab.scenario.flows import CONTROLS
from aqmlab.scenario.kinds import ALIASES, COMMON, GROUPS, KINDS, TRANSPORTS, Key, SourceKind, Transport
from aqmlab.scenario.model import PLAIN, UNDER_TEST
from aqmlab.scenario.options import FIELDS, OPTIONS, SETTINGS, WIRE, Option

# A larger bound only guards against overflow.
WITHOUT_BOUND = 1e15

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_NAMED = {"type": "string", "pattern": r"\$[a-z_]"}
_QUANTITY = r"^\s*[0-9]+(\.[0-9]+)?\s*[A-Za-z]+\s*$"
_PATTERNS = {
    "share": r"^\s*[0-9]+(\.[0-9]+)?\s*%?\s*$",
    "packets": r"^\s*[0-9]+\s*p?\s*$",
}
_TEXT = {"type": "string", "minLength": 1}
_COUNT = {"type": "integer", "minimum": 0}
_PROBABILITY = {"type": "number", "minimum": 0, "maximum": 1}
_DRAWN = {"$ref": "#/$defs/distribution"}


def experiment() -> Schema:
    """Return the schema of an experiment file (TOML)."""
    options = {option.name: _option(option) for option in OPTIONS}
    # A value may be empty: a name that stands for nothing.
    names = {"type": "object", "additionalProperties": {"type": "string"}}
    several = {"type": "array", "minItems": 1, "uniqueItems": True}

    def swept(value: Schema) -> Schema:
        named = {"type": "object", "minProperties": 1, "additionalProperties": value}
        return {"anyOf": [_TEXT, {**several, "items": value}, named]}

    sweep = {
        "type": "object",
        "properties": {option.name: swept(_several(option)) for option in OPTIONS},
        "additionalProperties": swept({}),
    }
    tables = {
        "values": {"description": "values of $names in the options and in the topology's file", **names},
        "sweep": {
            "description": "options or values, each with its values: a list, a table of names and values, or text as "
            "'5ms,20ms' or '1ms..20ms*8'; values that belong together are a table under each name",
            **sweep,
        },
    }
    return {
        "$schema": DRAFT,
        "title": "An experiment of aqmlab",
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "title of the report"},
            "allow_unequal_buffers": {"type": "boolean", "description": "compare although the AQMs' limits differ"},
            **tables,
            "design": {
                "description": "all combinations of what is swept (grid), or a sample of N points",
                "type": "string",
                "pattern": "^(grid|(latin|sobol)\\*[0-9]+)$",
            },
            "quick": {
                "description": "values for a quick run; of a sweep of named points, the names of those that it runs",
                "type": "object",
                "properties": {**options, **tables},
                "additionalProperties": False,
            },
            **options,
        },
        "required": ["aqm"],
        "additionalProperties": False,
    }


def scenario() -> Schema:
    """Return the schema of a resolved scenario (JSON): base units, every default filled in."""
    positive = {"type": "integer", "minimum": 1}
    properties = {
        **{one.field: _setting(one) for one in SETTINGS},
        "aqm": _TEXT,
        "capacity": {"oneOf": [_object({"rate_bps": positive}), _object({"trace": _TEXT})]},
        "warmup_ns": _COUNT,
        "sample_ns": positive,
        "mser5": {"type": "boolean"},
        "record": {"enum": ["senders", "receivers", "home", "queue"], "description": "where every packet is recorded"},
        "trace": {"type": "boolean", "description": "whether every flow is traced at its sender"},
        "log": {"type": "boolean", "description": "whether all senders and queues are logged"},
        "measure": {"type": "array", "items": _TEXT, "uniqueItems": True, "description": "names of the measured ports"},
        "topology": {
            "anyOf": [_topology(), {"type": "null"}],
            "description": "nodes and links in place of the dumbbell",
        },
        "flows": {"type": "array", "items": {"$ref": "#/$defs/flows"}},
        "captures": {"type": "array", "items": _TEXT},
    }
    needed = ["aqm", "capacity", "warmup_ns", "sample_ns", *(one.field for one in SETTINGS if not one.default)]
    return {
        "$schema": DRAFT,
        "title": "A resolved scenario of aqmlab",
        **_object({field: properties[field] for field in FIELDS}, required=[one for one in FIELDS if one in needed]),
        "$defs": {"flows": _flows(), "distribution": _distribution(), **_common_keys()},
    }


def _setting(option: Option) -> Schema:
    """Return the schema of the field of an option, as declared."""
    match option.form:
        case "switch":
            return {"type": "boolean"}
        case "choice":
            return {"enum": [*(word for word in option.words if word != option.default), None]}
        case "share":
            return {"type": "number", "minimum": option.low, "exclusiveMaximum": option.high}
        case "loss":
            return {"anyOf": [{"type": "number", "minimum": option.low, "maximum": option.high}, *_CHAINS]}
        case "link":
            return {"type": ["string", "null"], "minLength": 1}
        case "reorder":
            return _or_null(_object({"share": _PROBABILITY, "gap": {"type": "integer", "minimum": 1}}))
        case "slots":
            most = {"type": ["integer", "null"], "minimum": 1}
            times = {"min_ns": _COUNT, "max_ns": {"type": "integer", "minimum": 1}}
            return _or_null(_object({**times, "packets": most, "bytes": most}, required=times))
        case "names":
            return {"type": "array", "items": _TEXT, "uniqueItems": True}
    number: Schema = {"type": ["integer", "null"] if option.is_nullable else "integer", "minimum": int(option.low)}
    if option.high < WITHOUT_BOUND:
        number["maximum"] = int(option.high)
    return number


def _topology() -> Schema:
    rate = {"type": ["integer", "null"], "minimum": 1, "description": "bit/s; null means the scenario's capacity"}
    queue = {"oneOf": [{"enum": [PLAIN, UNDER_TEST]}, _object({"discipline": _TEXT})]}
    ends = {"from": _TEXT, "to": _TEXT, "delay_ns": _COUNT}
    link = _object(
        {
            **ends,
            "rate_bps": rate,
            "queue": queue,
            "name": _TEXT,
            "medium": _TEXT,
            "kind": _TEXT,
            "wire": _wire(),
        },
        required=ends,
    )
    links = {"links": {"type": "array", "items": link, "minItems": 1}, "measured": _COUNT}
    return _object(
        {**links, "switches": {"type": "object", "additionalProperties": {"type": "object"}}}, required=links
    )


def _wire() -> Schema:
    """Return the schema of what a wire does to packets, by the fields of a scenario."""
    options = [option for option in OPTIONS if option.name in WIRE]
    return _object({option.field: _setting(option) for option in options}, required=[])


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [{"type": "null"}, schema]}


def _option(option: Option) -> Schema:
    described: Schema = {"description": option.help}
    if option.default:
        described["default"] = option.default
    return {**described, **_several(option)}


def _several(option: Option) -> Schema:
    one = _one(option)
    return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]} if option.many else one


def _one(option: Option) -> Schema:
    """Return the schema of one value of an option; a ``$name`` may replace any part of it."""
    match option.form:
        case "text" | "file" | "loss" | "reorder" | "slots" | "link":
            return _TEXT
        case "count":
            return {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": "^[0-9]+$"}, _NAMED]}
        case "flows":
            kinds = "|".join(map(re.escape, (*KINDS, *ALIASES)))
            return _pattern(rf"^\s*([0-9]+\s*\*)?\s*({kinds})\s*(:[^:=]+=[^:]+)*$")
        case "names":
            return _pattern(r"^[a-z_]+(\s*,\s*[a-z_]+)*$")
        case "switch" | "choice":
            return {"anyOf": [{"enum": list(option.words)}, _NAMED]}
    pattern = _pattern(_PATTERNS.get(option.form, _QUANTITY))
    return {"anyOf": [{"enum": list(option.words)}, *pattern["anyOf"]]} if option.words else pattern


def _pattern(pattern: str) -> Schema:
    return {"anyOf": [{"type": "string", "pattern": pattern}, _NAMED]}


def _object(properties: Schema, required: Iterable[str] | None = None) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": [*(properties if required is None else required)],
        "additionalProperties": False,
    }


# Netem's models of loss that have states, by their probabilities.
_CHAINS = [
    _object({"gemodel": _object(dict.fromkeys(("p", "r", "bad", "good"), _PROBABILITY))}),
    _object({"state": _object(dict.fromkeys(("p13", "p31", "p32", "p23", "p14"), _PROBABILITY))}),
]


def _flows() -> Schema:
    common = {key.field: _value(key) for key in COMMON if key.takes != "nodes"}
    ends = {key.field: {"type": "array", "items": _TEXT} for key in COMMON if key.takes == "nodes"}
    udp = _object({key.field: _value(key) for key in TRANSPORTS["udp"].keys}, required=["packet_bytes"])
    controlled = {form: [_controlled(one) for one in TRANSPORTS.values() if one.form == form] for form in CONTROLS}
    forms_of = [_object({form: {"oneOf": ones}}) for form, ones in controlled.items() if ones]
    transport = {"oneOf": [_object({"udp": udp}), *forms_of]}
    forms: dict[str, list[SourceKind]] = {}
    for kind in KINDS.values():
        forms.setdefault(kind.form, []).append(kind)
    source = {"oneOf": [_source(form, kinds) for form, kinds in forms.items()]}
    count = {"type": "integer", "minimum": 1}
    properties = {"count": count, **common, **ends, "transport": transport, "source": source}
    return _object(properties, required=["name", "count", "start_ns", "transport", "source"])


def _controlled(transport: Transport) -> Schema:
    """Return the schema of a transport: what all of its form have, its name and its own keys."""
    common = _common(transport.form)
    control = {CONTROLS[transport.form]: {"const": transport.name, "description": transport.summary}}
    own = {key.field: _value(key) for key in transport.keys if key not in common}
    object_ = {**_object({**control, **own}, required=control), "$ref": f"#/$defs/{transport.form}"}
    del object_["additionalProperties"]
    return {**object_, "unevaluatedProperties": False}


def _common(form: str) -> list[Key]:
    """Return the keys that all transports of a form have, with the same declaration."""
    first, *others = (one.keys for one in TRANSPORTS.values() if one.form == form)
    return [key for key in first if all(key in keys for keys in others)]


def _common_keys() -> dict[str, Schema]:
    """Return what all transports of a form have, by form; the rules of a group are a table."""
    found: dict[str, Schema] = {}
    for form in CONTROLS:
        if not any(one.form == form for one in TRANSPORTS.values()):
            continue
        properties: Schema = {}
        for key in _common(form):
            name, _, rule = key.field.partition(".")
            if rule:
                group = properties.setdefault(name, {"description": GROUPS[name].summary, **_object({}, ())})
                group["properties"][rule] = _value(key)
            else:
                properties[name] = _value(key)
        found[form] = {"properties": properties}
    return found


def _source(form: str, kinds: list[SourceKind]) -> Schema:
    """Return the schema of a source that several kinds of flow share: their keys and constants."""
    keys = {key.field: _value(key) for kind in kinds for key in kind.keys}
    values_of: dict[str, list[Any]] = {}
    for kind in kinds:
        for name, value in kind.constants.items():
            values_of.setdefault(name, []).append(value)
    constants: Schema = {
        name: {"enum": values} if isinstance(values[0], str) else {"type": "boolean"}
        for name, values in values_of.items()
    }
    fields = {**keys, **constants}
    return _object({form: _object(fields, required=[])}) if fields else {"const": form}


def _value(key: Key) -> Schema:
    schema: Schema = {"description": key.help}
    match key.takes:
        case "drawn":
            return {**schema, "anyOf": [_DRAWN, {"type": "null"}]}
        case "ascending":
            return {**schema, "type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1}
        case "range":
            return {**schema, "type": "array", "items": _COUNT, "minItems": 2, "maxItems": 2}
        case "name" | "capture":
            return {**schema, **_TEXT}
    none = ["null"] if key.default is None else []
    if key.unit == "choice":
        return {**schema, "enum": list(key.words)}
    if key.unit == "flag":
        return {**schema, "type": "boolean"}
    number: Schema = {"type": ["number" if key.unit == "fraction" else "integer", *none]}
    number["minimum"] = key.low if key.unit == "fraction" else int(key.low)
    if key.high < WITHOUT_BOUND:
        number["maximum"] = key.high if key.unit == "fraction" else int(key.high)
    return {**schema, **number, "$comment": key.allowed}


def _distribution() -> Schema:
    whole, real = _COUNT, {"type": "number", "exclusiveMinimum": 0}
    point = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    forms: dict[str, Schema] = {
        "constant": {"value": whole},
        "uniform": {"low": whole, "high": whole},
        "exponential": {"mean": whole},
        "pareto": {"scale": whole, "shape": real},
        "weibull": {"scale": whole, "shape": real},
        "lognormal": {"median": whole, "sigma": real},
        "empirical": {"name": _TEXT, "points": {"type": "array", "items": point, "minItems": 1}},
    }
    return {"oneOf": [_object({name: _object(fields)}) for name, fields in forms.items()]}
