"""docs/openapi.yaml as the tests see it: operations, and answers held against them."""
import json

import jsonschema
import referencing
import yaml

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
BASE = "urn:tarry:openapi"


class Contract:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.document = yaml.load(self.text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        resource = referencing.Resource.from_contents(self.document, default_specification=referencing.jsonschema.DRAFT202012)
        self.registry = referencing.Registry().with_resource(BASE, resource)

    def operations(self):
        """(method, path, operation), in the order of the file."""
        for path, item in self.document["paths"].items():
            for method in METHODS:
                if method in item:
                    yield method, path, item[method]

    def resolve(self, node):
        while "$ref" in node:
            target = self.document
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part.replace("~1", "/").replace("~0", "~")]
            node = target
        return node

    def parameters(self, operation):
        return [self.resolve(parameter) for parameter in operation.get("parameters", [])]

    def response(self, operation, status):
        """The response of this status, resolved; None: it is not in the file."""
        found = operation["responses"].get(str(status))
        return None if found is None else self.resolve(found)

    def errors(self, schema, instance):
        """What is wrong with it: texts, one for each place."""
        validator = jsonschema.Draft202012Validator(self.absolute(schema), registry=self.registry)
        return ["%s: %s" % ("/".join(map(str, error.absolute_path)) or "(all)", error.message[:300]) for error in validator.iter_errors(instance)]

    def absolute(self, node):
        """The same with references that say in which document."""
        if isinstance(node, dict):
            return {key: BASE + value if key == "$ref" and isinstance(value, str) else self.absolute(value) for key, value in node.items()}
        return [self.absolute(item) for item in node] if isinstance(node, list) else node

    def check_answer(self, response, content_type, body):
        """Texts of what is wrong with an answer that is to be this response."""
        media = (content_type or "").split(";")[0].strip()
        content = response.get("content", {})
        if media not in content:
            return ["content type %s, where there are %s" % (content_type, ", ".join(content))]
        if not media.endswith("json"):
            return [] if body else ["an empty body"]
        try:
            instance = json.loads(body)
        except ValueError as error:
            return ["no JSON: %s" % error]
        return self.errors(content[media]["schema"], instance)
