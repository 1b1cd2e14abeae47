#!/usr/bin/env python3
"""Holds docs/openapi.yaml against OpenAPI 3.1, its examples against its schemas, and its problem codes against docs/http.md.

    check_openapi.py OPENAPI.yaml HTTP.md
"""
import re
import sys

import openapi_spec_validator

from contract import Contract


def media_of(contract, operation):
    """Every media type object of an operation, with words for where it is."""
    for kind, content in [("body", contract.resolve(operation.get("requestBody", {})).get("content", {}))] + [
            (status, contract.resolve(response).get("content", {})) for status, response in operation["responses"].items()]:
        for media, value in content.items():
            yield "%s %s" % (kind, media), value


def check_examples(contract):
    count = 0
    for method, path, operation in contract.operations():
        for where, media in media_of(contract, operation):
            if "example" in media:
                count += 1
                yield from ("%s %s, example of %s: %s" % (method, path, where, wrong) for wrong in contract.errors(media["schema"], media["example"]))
    if count < 50:
        yield "only %d examples" % count


def check_success_examples(contract):
    for method, path, operation in contract.operations():
        for status, response in operation["responses"].items():
            for media, value in contract.resolve(response).get("content", {}).items():
                if status.startswith("2") and media == "application/json" and "example" not in value and operation["operationId"] not in ("stats",):
                    yield "%s %s: no example of %s" % (method, path, status)


def check_names(contract):
    seen = set()
    for method, path, operation in contract.operations():
        name = operation.get("operationId")
        if name is None or name in seen:
            yield "%s %s: operationId %s is missing or taken" % (method, path, name)
        seen.add(name)
        named = {parameter["name"] for parameter in contract.parameters(operation) if parameter["in"] == "path"}
        if named != set(re.findall(r"{(\w+)}", path)):
            yield "%s %s: parameters of the path are %s" % (method, path, named)


def codes_of(contract):
    for response in contract.document["components"]["responses"].values():
        schema = response["content"]["application/problem+json"]["schema"]["allOf"][1]["properties"]
        for code in schema["code"]["enum"]:
            yield schema["status"]["const"], code


def check_codes(contract, docs):
    written = {(int(status), code) for status, code in re.findall(r"^\| (\d{3}) \| `([a-z_]+)` \|", docs, re.M)}
    known = set(codes_of(contract))
    yield from ("docs/http.md has no row of %d %s" % code for code in sorted(known - written))
    yield from ("no response has %d %s of docs/http.md" % code for code in sorted(written - known))


def main():
    contract = Contract(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        docs = file.read()
    openapi_spec_validator.validate(contract.document)
    wrong = [*check_examples(contract), *check_success_examples(contract), *check_names(contract), *check_codes(contract, docs)]
    for text in wrong:
        print(text)
    print("%d operations, %d things wrong" % (len(list(contract.operations())), len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
