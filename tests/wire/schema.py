#!/usr/bin/env python3
"""Validates what the MCP server engine sent against the schemas of the specification.

    schema.py SPECIFICATIONS TAPE [part]

With `part`, the tape need not have a message of every kind. TAPE has a line for each message of the unit tests, in both directions: WORLD CLIENT < or >
and the message. Responses are judged by the method and the era of their request, everything
else by its own method. Messages of a legacy client are judged by 2025-11-25.

The validator is our own and knows the keywords of these two schemas alone: any other is an
error, so that nothing passes because it was not looked at."""

import json
import pathlib
import re
import sys

MODERN, LEGACY = "2026-07-28", "2025-11-25"
VERSION = "io.modelcontextprotocol/protocolVersion"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"

# What a request is answered with, if not with an error.
RESULTS = {
    "initialize": "InitializeResult",
    "ping": "EmptyResult",
    "logging/setLevel": "EmptyResult",
    "resources/subscribe": "EmptyResult",
    "resources/unsubscribe": "EmptyResult",
    "server/discover": "DiscoverResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "completion/complete": "CompleteResult",
    "subscriptions/listen": "SubscriptionsListenResult",
}
MESSAGES = {
    "elicitation/create": "ElicitRequest",
    "notifications/cancelled": "CancelledNotification",
    "notifications/message": "LoggingMessageNotification",
    "notifications/progress": "ProgressNotification",
    "notifications/prompts/list_changed": "PromptListChangedNotification",
    "notifications/resources/list_changed": "ResourceListChangedNotification",
    "notifications/resources/updated": "ResourceUpdatedNotification",
    "notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
    "notifications/tools/list_changed": "ToolListChangedNotification",
}
ERRORS = {-32022: "UnsupportedProtocolVersionError"}
TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "integer": lambda v: not isinstance(v, bool)
    and (isinstance(v, int) or isinstance(v, float) and v.is_integer()),
}
SILENT = {"description", "$comment", "title", "default", "$schema", "deprecated"}


def is_uri(text):
    return not isinstance(text, str) or re.match(r"^[A-Za-z][A-Za-z0-9+.-]*:\S*$", text)


class Schema:
    def __init__(self, path):
        self.defs = json.loads(path.read_text())["$defs"]

    def faults(self, name, value):
        return list(self.judge(self.defs[name], value, name))

    def judge(self, schema, value, where):
        """Yields what is wrong with the value."""
        if schema is True or schema == {}:
            return
        for keyword, wanted in schema.items():
            if keyword in SILENT:
                continue
            rule = getattr(self, "rule_" + keyword.replace("$", ""), None)
            if rule is None:
                raise SystemExit(f"schema.py does not know the keyword {keyword}")
            yield from rule(wanted, value, where, schema)

    def rule_ref(self, wanted, value, where, _):
        yield from self.judge(self.defs[wanted.removeprefix("#/$defs/")], value, where)

    def rule_type(self, wanted, value, where, _):
        names = wanted if isinstance(wanted, list) else [wanted]
        if not any(TYPES[name](value) for name in names):
            yield f"{where}: {value!r} is not of type {wanted}"

    def rule_const(self, wanted, value, where, _):
        if value != wanted:
            yield f"{where}: {value!r} is not {wanted!r}"

    def rule_enum(self, wanted, value, where, _):
        if value not in wanted:
            yield f"{where}: {value!r} is none of {wanted}"

    def rule_format(self, wanted, value, where, _):
        if wanted not in ("uri", "byte", "uri-template"):
            raise SystemExit(f"schema.py does not know the format {wanted}")
        if wanted == "uri" and not is_uri(value):
            yield f"{where}: {value!r} is no URI"

    def rule_minimum(self, wanted, value, where, _):
        if TYPES["number"](value) and value < wanted:
            yield f"{where}: {value} is less than {wanted}"

    def rule_maximum(self, wanted, value, where, _):
        if TYPES["number"](value) and value > wanted:
            yield f"{where}: {value} is more than {wanted}"

    def rule_maxItems(self, wanted, value, where, _):
        if isinstance(value, list) and len(value) > wanted:
            yield f"{where}: more than {wanted} items"

    def rule_required(self, wanted, value, where, _):
        for name in wanted:
            if isinstance(value, dict) and name not in value:
                yield f"{where}: has no {name}"

    def rule_properties(self, wanted, value, where, _):
        for name, schema in wanted.items():
            if isinstance(value, dict) and name in value:
                yield from self.judge(schema, value[name], f"{where}.{name}")

    def rule_additionalProperties(self, wanted, value, where, schema):
        for name in value if isinstance(value, dict) else ():
            if name in schema.get("properties", {}):
                continue
            if wanted is False:
                yield f"{where}: must not have {name}"
            else:
                yield from self.judge(wanted, value[name], f"{where}.{name}")

    def rule_items(self, wanted, value, where, _):
        for i, item in enumerate(value if isinstance(value, list) else ()):
            yield from self.judge(wanted, item, f"{where}[{i}]")

    def rule_allOf(self, wanted, value, where, _):
        for schema in wanted:
            yield from self.judge(schema, value, where)

    def rule_anyOf(self, wanted, value, where, _):
        attempts = [list(self.judge(schema, value, where)) for schema in wanted]
        if all(attempts):
            yield f"{where}: fits none: " + "; ".join(a[0] for a in attempts)


class Talk:
    """What one client and the engine have said to each other."""

    def __init__(self, schemas):
        self.schemas = schemas
        self.asked = {}
        self.eras = {}
        self.has_modern = False

    def heard(self, message):
        if not isinstance(message, dict) or "method" not in message:
            return
        params = message.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        is_modern = isinstance(meta, dict) and VERSION in meta
        era = MODERN if is_modern else LEGACY
        self.has_modern = self.has_modern or is_modern
        key = json.dumps(message.get("id"))
        self.asked[key] = (era, message["method"])
        if isinstance(meta, dict) and "progressToken" in meta:
            self.eras[json.dumps(meta["progressToken"])] = era

    def sent(self, message):
        if isinstance(message, list):
            return [fault for one in message for fault in self.sent(one)]
        if "method" in message:
            return self.judge_call(message)
        era, method = self.asked.get(json.dumps(message.get("id")), (LEGACY, None))
        schema = self.schemas[era]
        if "error" in message:
            name = "JSONRPCErrorResponse"
            if era == MODERN:
                name = ERRORS.get(message["error"]["code"], name)
            return schema.faults(name, message)
        faults = schema.faults("JSONRPCResultResponse", message)
        result = message["result"]
        if era == MODERN and result.get("resultType") == "input_required":
            return faults + schema.faults("InputRequiredResult", result)
        return faults + schema.faults(RESULTS[method], result)

    def judge_call(self, message):
        method, params = message["method"], message.get("params", {})
        token = json.dumps(params.get("progressToken"))
        era = self.eras.get(token, LEGACY)
        if SUBSCRIPTION in params.get("_meta", {}):
            era = MODERN
        if method == "notifications/message" and self.has_modern:
            era = MODERN
        schema = self.schemas[era]
        envelope = "JSONRPCRequest" if "id" in message else "JSONRPCNotification"
        return schema.faults(envelope, message) + schema.faults(MESSAGES[method], message)


def parse(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def main(specifications, tape, part=None):
    root = pathlib.Path(specifications) / "mcp"
    schemas = {era: Schema(root / era / "schema.json") for era in (MODERN, LEGACY)}
    talks, sent, wrong = {}, 0, 0
    kinds = set()
    for line in open(tape, encoding="utf-8", errors="replace"):
        world, client, direction, text = line.rstrip("\n").split(" ", 3)
        talk = talks.setdefault((world, client), Talk(schemas))
        message = parse(text)
        if direction == "<":
            for one in message if isinstance(message, list) else [message]:
                talk.heard(one)
            continue
        if message is None:
            raise SystemExit(f"what was sent is no JSON: {text}")
        sent += 1
        kinds.add(message.get("method") if isinstance(message, dict) else "batch")
        for fault in talk.sent(message):
            wrong += 1
            print(f"{fault}\n  in {text}")
    missing = set(MESSAGES) - kinds
    if missing and not part:
        raise SystemExit(f"the tape has no {', '.join(sorted(missing))}")
    print(f"{sent} messages, {wrong} faults")
    return 1 if wrong or sent < (1 if part else 100) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
