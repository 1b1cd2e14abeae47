#!/usr/bin/env python3
"""Holds a running tarry to docs/openapi.yaml: each answer's status, content type and body, of every operation and of its documented errors.

    check_server.py PHASE        main: everything is there; two: another instance has some of the partitions; away: NATS is not there

Environment: OPENAPI, ADDRESS (host:port), TOKEN, and of the phase main LETTER_ID (schedule id of a letter) and JOBS (ids of two running jobs). Exits with 1 when an answer is not what the file says, or an
operation or an error that the file documents was not seen: what a phase cannot bring about is named in UNSEEN, with the reason.
"""
import http.client
import json
import os
import sys
import time
import urllib.parse

import yaml

from contract import Contract

JSON = {"Content-Type": "application/json"}
ANSWER_S = 40

# Statuses of the file that are not brought about here: C tests with a broker, a disk or a clock at hand do.
UNSEEN = {
    202: "the scheduler has to stand still for 10 s, or another instance to have the partition",
    421: "of the phase `two`",
    500: "an answer of 64 MiB, or a damaged disk",
    502: "a broker that refuses a record for good",
    503: "of the phase `away`, and of tests that take Kafka away",
    504: "a broker that says nothing",
}


class Failed(Exception):
    pass


class Server:
    def __init__(self, contract, address, token):
        self.contract = contract
        self.address = address
        self.token = token
        self.operations = {(method, path): operation for method, path, operation in contract.operations()}
        self.seen = set()
        self.wrong = []

    def send(self, method, target, body=None, headers=None, token=True):
        """(status, headers, body), of a connection of its own."""
        connection = http.client.HTTPConnection(self.address, timeout=ANSWER_S)
        sent = dict(headers or {})
        if token:
            sent["Authorization"] = "Bearer " + self.token
        try:
            connection.request(method, target, body=body, headers=sent)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def complain(self, what, texts):
        self.wrong += ["%s: %s" % (what, text) for text in texts]

    def check_headers(self, what, headers):
        for name, value in (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")):
            if headers.get(name) != value:
                self.complain(what, ["header %s is %s" % (name, headers.get(name))])
        if any(name.lower().startswith("access-control-") for name in headers):
            self.complain(what, ["a header of CORS"])

    def hold(self, what, response, status, headers, body):
        """An answer against a response of the file."""
        if response is None:
            self.complain(what, ["status %d is not in the file: %s" % (status, body[:300])])
            return
        self.check_headers(what, headers)
        self.complain(what, self.contract.check_answer(response, headers.get("Content-Type"), body.decode("utf-8", "replace")))
        self.complain(what, ["no header %s" % name for name in response.get("headers", {}) if name != "Retry-After" and name not in headers])

    def call(self, method, path, status, code=None, parameter=None, query=None, body=None, headers=None, token=True):
        """One request of an operation of the file. Returns the document, or the text. `status`: the one wanted, or several."""
        operation = self.operations.get((method, path))
        if operation is None:
            raise Failed("%s %s is not in the file" % (method, path))
        target = path if parameter is None else path[:path.index("{")] + urllib.parse.quote(parameter, safe="") + path[path.index("}") + 1:]
        target += "" if not query else "?" + urllib.parse.urlencode(query)
        sent = dict(JSON if method == "post" and headers is None else headers or {})
        raw = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        got, got_headers, got_body = self.send(method.upper(), target, raw if raw is not None else (b"{}" if method == "post" else None), sent, token)
        what = "%s %s -> %d" % (method.upper(), target, got)
        wanted = (status,) if isinstance(status, int) else status
        if got not in wanted:
            raise Failed("%s, not %s: %s" % (what, status, got_body[:600].decode("utf-8", "replace")))
        self.hold(what, self.contract.response(operation, got), got, got_headers, got_body)
        self.seen.add((method, path, got))
        if "json" not in (got_headers.get("Content-Type") or ""):
            return got_body.decode("utf-8", "replace")
        document = json.loads(got_body)
        if code is not None and document.get("code") != code:
            raise Failed("%s: code %s, not %s: %s" % (what, document.get("code"), code, document))
        return document

    def until(self, what, condition):
        """Asks again until it is so."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            time.sleep(0.1)
        raise Failed("not within 30 s: " + what)


# ------------------------------------------------------------------------------------------------------------ what holds for all

def parameter_of(path):
    return "x-nobody" if "{" in path else None


def refused_everywhere(server):
    """What is refused before a handler is asked: of every operation."""
    for (method, path), operation in server.operations.items():
        parameter = parameter_of(path)
        if operation.get("security") == []:
            continue
        server.call(method, path, 401, "unauthorized", parameter, token=False)
        server.call(method, path, 401, "unauthorized", parameter, headers={**JSON, "Authorization": "Bearer " + "x" * len(server.token)}, token=False)
        server.call(method, path, 403, "host_not_allowed", parameter, headers={**JSON, "Host": "evil.example"})
        if method != "get":
            server.call(method, path, 403, "origin_not_allowed", parameter, headers={**JSON, "Origin": "http://evil.example"})
            server.call(method, path, 415, "unsupported_media_type", parameter, body=b"a=1", headers={"Content-Type": "application/x-www-form-urlencoded"})
            server.call(method, path, 413, "payload_too_large", parameter, body=b"", headers={**JSON, "Content-Length": "2097153"})
        if "400" in operation["responses"]:
            server.call(method, path, 400, "bad_parameter", parameter, query={"nonsense": 1})
            server.call(method, path, 400, "bad_parameter", parameter, query=[("n%d" % i, 1) for i in range(33)])


def bodies_are_checked(server):
    for (method, path), operation in server.operations.items():
        if "requestBody" in operation:
            server.call(method, path, 400, "bad_json", parameter_of(path), body=b"[1]")
            server.call(method, path, 400, "bad_json", parameter_of(path), body=b"{\"id\":\"a\"")
            server.call(method, path, 400, "unknown_member", parameter_of(path), body={"nonsense": 1})


def other_methods(server):
    """405 with the methods that the file has; HEAD as GET."""
    response = server.contract.document["components"]["responses"]["MethodNotAllowed"]
    for path in server.contract.document["paths"]:
        target = path.replace("{id}", "x").replace("{name}", "x")
        methods = [method for method, of in server.operations if of == path]
        allowed = {method.upper() for method in methods} | ({"HEAD"} if "get" in methods else set())
        for method in ("PUT", "OPTIONS"):
            status, headers, body = server.send(method, target)
            server.hold("%s %s" % (method, target), response if status == 405 else None, status, headers, body)
            if set((headers.get("Allow") or "").split(", ")) != allowed:
                server.complain(method + " " + target, ["Allow is %s, not %s" % (headers.get("Allow"), allowed)])
        if "get" in methods and not path.endswith("/events") and "{" not in path:
            status, headers, body = server.send("HEAD", target)
            if status != 200 or body or not headers.get("Content-Type"):
                server.complain("HEAD " + target, ["%d, %d bytes" % (status, len(body))])
    status, headers, body = server.send("GET", "/api/v1/nothing")
    server.hold("GET /api/v1/nothing", server.contract.document["components"]["responses"]["NotFound"] if status == 404 else None, status, headers, body)


# ------------------------------------------------------------------------------------------------------------ events

def about(server):
    for path in ("/livez", "/healthz", "/readyz", "/health", "/status", "/metrics"):
        server.call("get", path, 200, token=False)
    server.call("get", "/api/v1/info", 200)
    configuration = yaml.safe_load(server.call("get", "/api/v1/config", 200))
    if "sources" not in configuration:
        raise Failed("no sources in the configuration")
    if server.call("get", "/api/v1/openapi.yaml", 200) != server.contract.text:
        raise Failed("/api/v1/openapi.yaml is another text than the file")
    server.call("get", "/api/v1/stats", 200)
    for unit in ("minute", "hour", "day"):
        forecast = server.call("get", "/api/v1/forecast", 200, query={"unit": unit, "count": 5})
        if len(forecast["items"]) != 5:
            raise Failed("5 items are asked for: %s" % forecast)
    server.call("get", "/api/v1/forecast", 400, "bad_parameter", query={"unit": "year"})


def lists(server, path):
    page = server.until("three in the list", lambda: (lambda found: found if len(found["items"]) >= 3 else None)(server.call("get", path, 200, query={"payload": "true"})))
    first = server.call("get", path, 200, query={"limit": 1})
    if first["next_cursor"] is None or first["items"][0]["id"] != page["items"][0]["id"]:
        raise Failed("a page of one is not the first of all: %s" % first)
    server.call("get", path, 200, query={"limit": 1, "cursor": first["next_cursor"]})
    for query in ({"limit": 0}, {"cursor": "AAAA"}, {"due_from": "yesterday"}, {"state": "dead"}, {"source": "nobody"}, {"partition": "-1"}):
        server.call("get", path, 400, "bad_parameter", query=query)


def schedules_one(server, kind, body):
    path = "/api/v1/" + kind
    one = path + "/{id}"
    for name in ("a/ä 1", "b", "c"):
        server.call("post", path, 201, body={**body, "id": name})
    made = server.call("post", path, 201, body={**body, "value": "AP8=", "value_encoding": "base64", "headers": [{"name": "n", "value": "/w==", "encoding": "base64"}, {"name": "n"}]})
    keyed = {**JSON, "Idempotency-Key": kind + "-key"}
    first = server.call("post", path, 201, body={**body, "id": "keyed"}, headers=keyed)
    if server.call("post", path, 201, body={**body, "id": "keyed"}, headers=keyed) != first:
        raise Failed("a repeat has another answer")
    server.call("post", path, 422, "idempotency_key_reused", body={**body, "id": "other"}, headers=keyed)
    server.call("post", path, 400, "bad_parameter", body=body, headers={**JSON, "Idempotency-Key": "x" * 256})
    server.call("post", path, 409, "exists", body={**body, "id": "b", "if_exists": "reject"})
    server.call("post", path, 404, "not_found", body={**body, "source": "nobody"})
    server.call("post", path, 400, "bad_body", body={**body, "at": 1, "in": 1})
    server.call("post", path, 422, "refused", body={**{k: v for k, v in body.items() if k != "in"}, "at": 1700000000})
    lists(server, path)
    for name in ("a/ä 1", made["id"]):
        event = server.call("get", one, 200, parameter=name)
        if event["id"] != name or event["state"] != "pending":
            raise Failed("not the pending one: %s" % event)
    server.call("get", one, 404, "not_found", parameter="nobody")
    server.call("get", one, 400, "bad_parameter", parameter="b", query={"source": "nobody"})
    return one


def steers(server, one):
    moved = server.call("post", one + "/reschedule", 200, parameter="b", body={"at": "2099-01-01T00:00:00Z"})
    if moved["due"] != "2099-01-01T00:00:00.000Z":
        raise Failed("it is due at another time: %s" % moved)
    for body in ({}, {"at": "soon"}, {"at": 1, "in": 1}):
        server.call("post", one + "/reschedule", 400, "bad_body", parameter="b", body=body)
    server.call("post", one + "/pause", 200, parameter="b")
    if server.until("it is paused", lambda: (lambda event: event if event["state"] == "paused" else None)(server.call("get", one, 200, parameter="b")))["due"] is not None:
        raise Failed("a paused one is due")
    server.call("post", one + "/resume", 200, parameter="b")
    for verb in ("run-now", "pause", "resume"):
        server.call("post", one + "/" + verb, 404, "not_found", parameter="nobody")
    server.call("post", one + "/reschedule", 404, "not_found", parameter="nobody", body={"in": "1h"})
    for verb, body in (("run-now", None), ("reschedule", {"in": "1h"}), ("pause", None), ("resume", None)):
        server.call("post", one + "/" + verb, 404, "not_found", parameter="b", query={"source": "nobody"}, body=body)


def cancels(server, one):
    server.call("delete", one, 200, parameter="a/ä 1")
    again = server.call("delete", one, 200, parameter="a/ä 1")
    if again.get("already") is not True:
        raise Failed("cancelled twice: %s" % again)
    server.call("delete", one, 404, "not_found", parameter="nobody")
    server.call("delete", one, 200, parameter="b", query={"key": "k"})


def messages(server):
    one = schedules_one(server, "messages", {"key": "k", "value": "v", "in": "1h"})
    steers(server, one)
    cancels(server, one)
    server.call("post", one + "/run-now", 200, parameter="c")
    server.until("it is delivered", lambda: server.call("get", one, 200, parameter="c")["state"] == "delivered")
    refused = server.until("its cancel is told so, too", lambda: (lambda found: found if found["code"] == "delivered" else None)(server.call("delete", one, 409, parameter="c")))
    if "delivered_ms" not in refused:
        raise Failed("not said when it was delivered: %s" % refused)


def schedules(server):
    one = schedules_one(server, "schedules", {"key": "k", "value": "v", "cron": "0 9 * * 1-5", "tz": "Europe/Berlin", "in": "1h"})
    server.call("post", "/api/v1/schedules", 201, body={"id": "every", "every": "1h", "count": 3, "until": "2099-01-01T00:00:00Z"})
    steers(server, one)
    cancels(server, one)
    server.call("post", one + "/run-now", 200, parameter="c")
    server.until("one went out", lambda: any(line["outcome"] == "delivered" for line in server.call("get", one, 200, parameter="c")["history"]))


def targets(server):
    names = [target["name"] for target in server.call("get", "/api/v1/targets", 200)["items"]]
    path = "/api/v1/targets/{name}/"
    for verb, state in (("pause", "paused"), ("resume", "running")):
        server.call("post", path + verb, 200, parameter=names[0])
        server.until(state, lambda state=state: server.call("get", "/api/v1/targets", 200)["items"][0]["state"] == state)
        server.call("post", path + verb, 404, "not_found", parameter="nobody")


def audit(server):
    items = server.call("get", "/api/v1/audit", 200)["items"]
    actions = {item["action"] for item in items}
    missing = {"schedule", "cancel", "run_now", "reschedule", "pause", "resume", "target_pause", "target_resume", "job_pause", "job_cancel"} - actions
    if missing or {item["actor"] for item in items} != {"token"}:
        raise Failed("the audit lacks %s" % missing)


def stream(server):
    """An outcome arrives while we read."""
    path = "/api/v1/events"
    operation = server.operations["get", path]
    connection = http.client.HTTPConnection(server.address, timeout=ANSWER_S)
    connection.request("GET", path + "?outcome=delivered&id=streamed", headers={"Authorization": "Bearer " + server.token})
    answer = connection.getresponse()
    if answer.status != 200 or answer.headers.get("Content-Type", "").split(";")[0] != "text/event-stream":
        raise Failed("no stream: %d %s" % (answer.status, answer.headers))
    server.check_headers("GET " + path, answer.headers)
    server.call("post", "/api/v1/messages", 201, body={"id": "streamed", "value": "v", "in": "1s"})
    for line in answer:
        text = line.decode().rstrip("\r\n")
        if text.startswith("data:"):
            server.complain("an event", server.contract.errors({"$ref": "#/components/schemas/History"}, json.loads(text[5:])))
            break
    connection.close()
    server.seen.add(("get", path, 200))
    assert "200" in operation["responses"]


# ------------------------------------------------------------------------------------------------------------ dead letters

def letters(server):
    path = "/api/v1/dlq/letters"
    page = server.until("a letter", lambda: (lambda found: found if found["items"] else None)(server.call("get", path, 200, query={"payload": "true", "target": "_refused"})))
    letter = page["items"][0]
    server.call("get", path, 200, query={"limit": 1})
    server.call("get", path, 200, query={"reason": letter["reason"], "target": "_refused"})
    for query in ({"limit": 1001}, {"cursor": "x"}, {"reason": "no_such"}, {"target": "a b"}, {"state": "dead"}):
        server.call("get", path, 400, "bad_parameter", query=query)
    whole = server.call("get", path + "/{id}", 200, parameter=letter["id"])
    named = server.call("get", path + "/{id}", 200, parameter=os.environ["LETTER_ID"])
    if whole != letter or named["schedule_id"] != {"encoding": "utf8", "data": os.environ["LETTER_ID"]}:
        raise Failed("other letters than asked for: %s %s %s" % (letter, whole, named))
    server.call("get", path + "/{id}", 404, "not_found", parameter="nobody")
    for by in ("reason", "error", "target", "source", "hour"):
        if not server.call("get", "/api/v1/dlq/reasons", 200, query={"by": by})["items"]:
            raise Failed("no group by " + by)


def jobs(server):
    path = "/api/v1/dlq/jobs"
    one, other = os.environ["JOBS"].split(",")
    if {job["id"] for job in server.call("get", path, 200)["items"]} < {one, other}:
        raise Failed("jobs are missing")
    server.call("post", path + "/{id}/pause", 200, parameter=one)
    server.call("post", path + "/{id}/pause", 409, "job_state", parameter=one)
    server.call("post", path + "/{id}/cancel", 200, parameter=other)
    server.call("post", path + "/{id}/cancel", 409, "job_state", parameter=other)
    for verb in ("pause", "cancel"):
        server.call("post", path + "/{id}/" + verb, 404, "not_found", parameter="nobody")


# ------------------------------------------------------------------------------------------------------------ phases

def check_all_seen(server):
    """Every operation, with every status that the file says and that can be had here."""
    for (method, path), operation in server.operations.items():
        for status in map(int, operation["responses"]):
            excused = status in UNSEEN or (path, status) in (("/api/v1/config", 404), ("/api/v1/messages/{id}", 422), ("/api/v1/schedules/{id}", 422))
            too_late = status == 409 and ("schedules/{id}" in path or path.startswith("/api/v1/messages/{id}/"))
            steering = status == 422 and "/{id}/" in path
            if (method, path, status) not in server.seen and not excused and not too_late and not steering:
                server.complain("%s %s" % (method.upper(), path), ["%d was never seen" % status])


MAIN = (refused_everywhere, bodies_are_checked, other_methods, about, messages, schedules, targets, stream, letters, jobs, audit, check_all_seen)


def phase_two(server):
    """With some keys the partition is the other instance's: nothing is written there, and a cancel is sent."""
    path = "/api/v1/messages"
    answers = [server.call("post", path, (201, 421), body={"id": "two-%d" % i, "key": "key-%d" % i, "value": "v", "in": "1h"}) for i in range(32)]
    if {answer.get("code", "scheduled") for answer in answers} != {"scheduled", "not_owner"}:
        raise Failed("both instances have partitions: %s" % answers)
    there = next(i for i, answer in enumerate(answers) if answer.get("code") == "not_owner")
    server.call("delete", path + "/{id}", 421, "not_owner", parameter="two", query={"key": "key-%d" % there})
    server.call("post", path + "/{id}/run-now", 421, "not_owner", parameter="two", query={"key": "key-%d" % there})
    server.call("delete", path + "/{id}", 202, parameter="two")
    server.call("get", path + "/{id}", 404, "not_found", parameter="two")


def phase_away(server):
    for (method, path) in server.operations:
        if path.startswith("/api/v1/dlq/"):
            began = time.monotonic()
            server.call(method, path, 503, "dead_letters_unavailable", parameter_of(path))
            if time.monotonic() - began > 5:
                server.complain(path, ["it took %.1f s to say so" % (time.monotonic() - began)])
    server.call("get", "/readyz", 200, token=False)


PHASES = {"main": MAIN, "two": (phase_two,), "away": (phase_away,)}


def main():
    server = Server(Contract(os.environ["OPENAPI"]), os.environ["ADDRESS"], os.environ["TOKEN"])
    for step in PHASES[sys.argv[1]]:
        try:
            step(server)
        except Failed as failed:
            server.complain(step.__name__, [str(failed)])
    for text in server.wrong:
        print(text)
    print("%s: %d answers of the file seen, %d things wrong" % (sys.argv[1], len(server.seen), len(server.wrong)))
    return 1 if server.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
