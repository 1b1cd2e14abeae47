"""Each verb that asks the daemon, piped and on a terminal: what is sent, what is shown, how it ends."""
import base64
import os
import subprocess
import tempfile
import time
import unittest

from scripted_server import TARRY, Server, Terminal, answer, environment, problem, run, run_on_terminal

NOW_MS = int(time.time() * 1000)
IN_4_MIN = NOW_MS + 270000  # "in 4m" for the next half minute
IN_2_H = NOW_MS + 9000000
AGO_3_MIN = NOW_MS - 200000
STAMP = "2026-01-31T12:00:00.000Z"


def event(identity, due_ms=IN_4_MIN, **members):
    return {"id": identity, "kind": "message", "state": "pending", "due": STAMP, "due_ms": due_ms, "source": {"topic": "delays", "partition": 0, "offset": 42},
            "root_offset": 42, "target": {"topic": "orders", "partition": None, "lane": "default"}, "payloads": "full", **members}


def always(reply):
    return lambda request, connection: reply


def reply_to(document, status=200):
    return always(answer(status, document))


class Case(unittest.TestCase):
    def both(self, script, arguments, piped, shown, code=0):
        """Runs it piped and on a terminal against the same script; returns the requests of each."""
        with Server(script) as server:
            result = run(*arguments, server=server)
            self.assertEqual((result.code, result.lines(), result.err), (code, piped, ""))
            first = list(server.requests)
            server.requests.clear()
            result = run_on_terminal(*arguments, server=server)
            self.assertEqual((result.code, result.out, result.err), (code, shown, ""))
            second = list(server.requests)
        self.assertEqual([(r.method, r.target, r.body) for r in first], [(r.method, r.target, r.body) for r in second])
        for request in first:
            if request.method != "GET":
                self.assertEqual(request.headers["content-type"], "application/json")
        return first


class List(Case):
    def test_list(self):
        items = [event("order-7"), event("esc\x1b[2J\u202e", due_ms=AGO_3_MIN, state="paused"), event("/w==", id_encoding="base64"), event(None)]
        requests = self.both(reply_to({"items": items, "next_cursor": None, "complete": True}), ["list"], items,
                             "id                        due  state    target  source\n"
                             "order-7                 in 4m  pending  orders  delays/0/42\n"
                             "esc\\x1b[2J\\xe2\\x80\\xae     3m  paused   orders  delays/0/42\n"
                             "\\xff                    in 4m  pending  orders  delays/0/42\n"
                             "-                       in 4m  pending  orders  delays/0/42\n")
        self.assertEqual(requests[0].target, "/api/v1/messages?limit=50")

    def test_schedules(self):
        items = [event("a", kind="schedule", recurrence={"cron": "0 9 * * 1-5", "count_left": 3}), event("b", kind="schedule", recurrence={"every_ms": 5400000}),
                 event("c", kind="schedule", due=None, due_ms=None, state="paused", resume_due=STAMP, resume_due_ms=IN_2_H, recurrence={"every_ms": 1000})]
        requests = self.both(reply_to({"items": items, "next_cursor": None}), ["list", "--schedules"], items,
                             "id   next  state    target  source       repeats\n"
                             "a   in 4m  pending  orders  delays/0/42  cron 0 9 * * 1-5, 3 left\n"
                             "b   in 4m  pending  orders  delays/0/42  every 1h30m\n"
                             "c   in 2h  paused   orders  delays/0/42  every 1s\n")
        self.assertEqual(requests[0].target, "/api/v1/schedules?limit=50")

    def test_filters_and_pages(self):
        pages = {None: ([event("a"), event("b")], "1"), "1": ([], "2"), "2": ([event("c")], None)}

        def script(request, connection):
            cursor = request.target.partition("cursor=")[2] or None
            items, following = pages[cursor]
            return answer(200, {"items": items, "next_cursor": following, "complete": following != "2"})

        with Server(script) as server:
            result = run("list", "--limit", "0", "--source", "d d", "--target=t&u", "--lane", "l", "--id-prefix", "ü", "--due-from", "now", "--due-to", "1h", "--state", "pending",
                         "--partition", "3", "--payload", server=server)
            self.assertEqual([item["id"] for item in result.lines()], ["a", "b", "c"])
            self.assertEqual(server.requests[0].target, "/api/v1/messages?source=d%20d&target=t%26u&lane=l&id_prefix=%C3%BC&due_from=now&due_to=1h&state=pending&partition=3"
                             "&payload=true&limit=1000")
            server.requests.clear()
            result = run("list", "-n", "2", server=server)
            self.assertEqual([item["id"] for item in result.lines()], ["a", "b"])
            self.assertEqual(result.err, "tarry list: there are more: go on with --cursor 1, or say --limit 0\n")
            self.assertEqual([r.target for r in server.requests], ["/api/v1/messages?limit=2"])
            self.assertEqual([item["id"] for item in run("list", "--cursor", "2", server=server).lines()], ["c"])

    def test_none_and_forms(self):
        with Server(reply_to({"items": [], "next_cursor": None})) as server:
            result = run_on_terminal("list", server=server)
            self.assertEqual((result.code, result.out, result.err), (0, "", "tarry list: nothing is pending\n"))
            self.assertEqual(run_on_terminal("list", "--target", "x", server=server).err, "tarry list: nothing pending matches\n")
            self.assertEqual((run("list", server=server).out, run("list", "-o", "json", server=server).out), ("", "[]\n"))
        with Server(reply_to({"items": [event("a\x7f\u009b"), event("b")], "next_cursor": None})) as server:
            self.assertEqual(run("list", "-o", "json", server=server).out.splitlines()[0], "[")
            self.assertIn("\\u007f\\u009b", run_on_terminal("list", "-o", "jsonl", server=server).out)
            self.assertIn("\x7f\u009b", run("list", server=server).out)

    def test_colours(self):
        with Server(reply_to({"items": [event("a")], "next_cursor": None})) as server:
            self.assertNotIn("\x1b", run_on_terminal("list", server=server).out)
            self.assertIn("\x1b[1m", run_on_terminal("list", server=server, env={"NO_COLOR": ""}).out)
            self.assertNotIn("\x1b", run_on_terminal("list", server=server, env={"NO_COLOR": "", "TERM": "dumb"}).out)
            self.assertNotIn("\x1b", run("list", "-o", "table", server=server, env={"NO_COLOR": ""}).out)


class Schedule(Case):
    def test_once(self):
        done = {"result": "scheduled", "id": "order-7", "due": STAMP, "due_ms": IN_4_MIN, "source": {"topic": "delays", "partition": 0, "offset": 42}}
        requests = self.both(reply_to(done, 201), ["schedule", "-t", "orders", "--in", "4m", "--id", "order-7", "-k", "k", "-H", "a=1", "-H", "a=", "--header=b=x=y", "--value", "hello",
                                                   "--expires", "1h", "--if-exists", "reject", "--source", "delays"], [done],
                             f"scheduled order-7: due in 4m ({STAMP}), at delays/0/42\n")
        self.assertEqual((requests[0].method, requests[0].target), ("POST", "/api/v1/messages"))
        self.assertEqual(requests[0].json(), {"source": "delays", "topic": "orders", "in": "4m", "id": "order-7", "key": "k", "value": "hello", "expires": "1h", "if_exists": "reject",
                                              "headers": [{"name": "a", "value": "1"}, {"name": "a", "value": ""}, {"name": "b", "value": "x=y"}]})

    def test_again_and_again(self):
        with Server(reply_to({"result": "scheduled"}, 201)) as server:
            for arguments, expected in ((["--cron", "0 9 * * *", "--tz", "Europe/Berlin", "--until", "2027-01-01T00:00:00Z"],
                                         {"cron": "0 9 * * *", "tz": "Europe/Berlin", "until": "2027-01-01T00:00:00Z"}),
                                        (["--every", "1h", "--count", "3", "--at", "now"], {"every": "1h", "count": 3, "in": "0ms"})):
                self.assertEqual(run("schedule", "--topic", "t", *arguments, "--null", server=server).code, 0)
                self.assertEqual(server.requests[-1].target, "/api/v1/schedules")
                self.assertEqual(server.requests[-1].json(), {"topic": "t", "value": None, **expected})

    def test_values(self):
        binary = bytes(range(256))
        with tempfile.TemporaryDirectory() as folder, Server(reply_to({"result": "scheduled"}, 201)) as server:
            path = os.path.join(folder, "value")
            for content in (b"", b"text \xc3\xa9\n", binary, b"nul\0"):
                with open(path, "wb") as file:
                    file.write(content)
                plain = content in (b"", b"text \xc3\xa9\n")
                expected = {"value": content.decode()} if plain else {"value": base64.b64encode(content).decode(), "value_encoding": "base64"}
                for arguments, stdin in (([path], b""), (["-"], content)):
                    self.assertEqual(run("schedule", "-t", "t", "--in", "1s", *arguments, server=server, stdin=stdin).code, 0)
                    self.assertEqual(server.requests[-1].json(), {"topic": "t", "in": "1s", **expected})
            self.assertEqual(run("schedule", "-t", "t", "--in", "1s", path + "x", server=server).code, 1)
            self.assertEqual(run("schedule", "-t", "t", "--in", "1s", folder, server=server).code, 1)
            self.assertEqual(run("schedule", "-t", "t", "--in", "1s", "-k", b"\xff".decode("utf-8", "surrogateescape"), "-H", b"b=\xfe".decode("utf-8", "surrogateescape"), "--null",
                                 server=server).code, 0)
            self.assertEqual(server.requests[-1].json(), {"topic": "t", "in": "1s", "key": "/w==", "key_encoding": "base64", "value": None,
                                                          "headers": [{"name": "b", "value": "/g==", "encoding": "base64"}]})

    def test_control_bytes_do_not_make_it_larger(self):
        with Server(reply_to({"result": "scheduled"}, 201)) as server:
            for content in (b"\1" * 15000000, b"\33[0m" * 1000, b"a\tb\r\n" * 1000):
                result = run("schedule", "-t", "t", "--in", "1s", "-", server=server, stdin=content)
                self.assertEqual((result.code, result.err), (0, ""))
                sent = server.requests[-1].json()
                self.assertEqual(base64.b64decode(sent["value"]) if "value_encoding" in sent else sent["value"].encode(), content)
                self.assertLess(len(server.requests[-1].body), 2 * len(content) + 200)

    def test_at(self):
        with Server(reply_to({"result": "scheduled"}, 201)) as server:
            for at, expected in (("now", {"in": "0ms"}), ("10m", {"in": "10m"}), ("1796076549417", {"at": "1796076549417"}), (STAMP, {"at": STAMP}), ("noon", {"at": "noon"})):
                self.assertEqual(run("schedule", "-t", "t", "--at", at, "--null", server=server).code, 0)
                self.assertEqual(server.requests[-1].json(), {"topic": "t", "value": None, **expected})
                self.assertEqual(run("reschedule", "a", "--at", at, server=server).code, 0)
                self.assertEqual(server.requests[-1].json(), expected)

    def test_a_value_is_no_question(self):
        for word in ("-h", "--help"):
            with Server(reply_to({"result": "scheduled"}, 201)) as server:
                self.assertEqual(run("schedule", "-t", "t", "--in", "1s", "--value", word, "--id", word, server=server).code, 0)
                self.assertEqual(server.requests[-1].json(), {"topic": "t", "in": "1s", "value": word, "id": word})
        self.assertIn("tarry schedule [FLAG...]", run("schedule", "--value=a", "-h").out)

    def test_written_but_not_read(self):
        done = {"result": "written", "id": "a", "source": {"topic": "delays", "partition": 0, "offset": 1}}
        with Server(reply_to(done, 202)) as server:
            result = run("schedule", "-t", "t", "--in", "1s", "--null", server=server)
        self.assertEqual((result.code, result.lines()), (0, [done]))
        self.assertIn("not read yet", result.err)

    def test_what_does_not_go_together(self):
        for arguments in ([], ["--in", "1s"], ["--in", "1s", "--at", "now", "--null"], ["--every", "1s", "--cron", "* * * * *", "--null"], ["--in", "1s", "--tz", "UTC", "--null"],
                          ["--in", "1s", "--count", "2", "--null"], ["--in", "1s", "--value", "a", "--null"], ["--in", "1s", "--value", "a", "file"], ["--in", "1s", "a", "b"],
                          ["--in", "1s", "--null", "-H", "x"], ["--in", "1s", "--null", "-H", "=x"], ["--every", "1s", "--count", "0", "--null"], ["--in", "1s", "--null", "--id", ""],
                          ["--in", "1s", "--null", "--if-exists", "maybe"], ["--in"], ["--nil"], ["--null=1", "--in", "1s"], ["--in", "1s", "--null", "--idempotency-key", "a b"],
                          ["--in", "1s", "--null", "--timeout", "soon"]):
            with self.subTest(arguments):
                result = run("schedule", "-t", "t", *arguments, env={"TARRY_SERVER": "127.0.0.1:1"})
                self.assertEqual((result.code, result.out), (2, ""))
                self.assertRegex(result.err, r"^tarry schedule: .*; see `tarry schedule --help`\n$")


class Get(Case):
    WHOLE = event("order-7", kind="schedule", recurrence={"cron": "0 9 * * *", "tz": "UTC"}, expires=STAMP, expires_ms=IN_2_H, key="k", value="line 1\nline \x1b2", value_bytes=14,
                  headers=[{"name": "a", "value": "1"}, {"name": "b", "value": "/w==", "value_encoding": "base64"}],
                  history=[{"id": "order-7", "source": {"topic": "delays", "partition": 0, "offset": 41}, "due": STAMP, "outcome": "delivered", "at": STAMP,
                            "target": {"topic": "orders", "partition": 0, "offset": 7}, "lateness_ms": 4},
                           {"id": "order-7", "due": None, "outcome": "paused", "at": STAMP, "target": None}])

    def test_get(self):
        requests = self.both(reply_to(self.WHOLE), ["get", "order-7", "--source", "delays"], [self.WHOLE],
                             "id        order-7\n"
                             "state     pending\n"
                             f"due       in 4m ({STAMP})\n"
                             "repeats   cron 0 9 * * * UTC\n"
                             f"expires   in 2h ({STAMP})\n"
                             "target    orders (by default)\n"
                             "source    delays/0/42\n"
                             "size      14 bytes\n"
                             "key       k\n"
                             "header    a=1\n"
                             "header    b=\\xff\n"
                             "value     line 1\\nline \\x1b2\n"
                             "\n"
                             "                      at  outcome                         due  target\n"
                             f"{STAMP}  delivered  {STAMP}  orders/0/7\n"
                             f"{STAMP}  paused                            -  -\n")
        self.assertEqual(requests[0].target, "/api/v1/messages/order-7?source=delays")

    def test_what_tells_nothing_is_left_out(self):
        paused = event("a", due_ms=None, due=None, state="paused", resume_due=STAMP, resume_due_ms=IN_2_H,
                       history=[{"at": STAMP, "outcome": "not_found", "due": None, "target": None}, {"at": STAMP, "outcome": "paused", "due": STAMP, "target": None}])
        with Server(reply_to(paused)) as server:
            out = run_on_terminal("get", "a", server=server).out
        self.assertIn(f"was due   in 2h ({STAMP})\n", out)
        self.assertIn(f"{STAMP}  paused   {STAMP}  -\n", out)
        self.assertNotIn("not_found", out)
        with Server(reply_to(event("a", due_ms=int(time.time() * 1000) + 300, history=[paused["history"][0]]))) as server:
            out = run_on_terminal("get", "a", server=server).out
        self.assertIn(f"due       now ({STAMP})\n", out)
        self.assertNotIn("outcome", out)

    def test_ended_and_masked(self):
        ended = {"id": "a", "state": "delivered", "payloads": "masked", "value_bytes": 5, "due": None, "due_ms": None, "target": None, "source": None, "history": []}
        self.both(reply_to(ended), ["get", "a"], [ended], "id        a\nstate     delivered\nsize      5 bytes (payloads: masked)\n")

    def test_raw(self):
        with Server(reply_to(event("a", key=None, value="/wD+", value_encoding="base64"))) as server:
            done = subprocess.run([TARRY, "get", "a", "--raw", "value", "--server", server.address], capture_output=True, env=environment(), timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"\xff\x00\xfe", b""))
            self.assertEqual(run_on_terminal("get", "a", "--raw", "value", server=server).code, 1)
            self.assertEqual(run("get", "a", "--raw", "key", server=server).code, 3)
        with Server(reply_to(event("a", value=None, cut=True, value_bytes=5))) as server:
            self.assertEqual((run("get", "a", "--raw", "value", server=server).code, run("get", "a", "--raw", "key", server=server).code), (1, 3))
            self.assertIn("value     (too large for the daemon to show)\n", run("get", "a", "-o", "table", server=server).out)
        for value, code in (("20 \u00b0C, \u00a35\u00a0\u20ac\n", 0), ("\u009b31m", 1), ("\x7f", 1)):
            with Server(reply_to(event("a", value=value))) as server:
                result = run_on_terminal("get", "a", "--raw", "value", server=server)
                self.assertEqual((result.code, result.out), (code, "" if code else value))
        with Server(reply_to(event("a", payloads="off"))) as server:
            self.assertEqual(run("get", "a", "--raw", "value", server=server).code, 4)
        self.assertEqual(run("get", "a", "--raw", "header").code, 2)

    def test_usage(self):
        for arguments in ([], ["a", "b"], ["a", "--nothing"], ["a", "--source"]):
            self.assertEqual(run("get", *arguments, env={"TARRY_SERVER": "127.0.0.1:1"}).code, 2, arguments)


class Steer(Case):
    def test_each(self):
        done = {"result": "done", "id": "a", "partition": 0, "due": STAMP, "due_ms": IN_2_H, "was_due": STAMP, "was_due_ms": IN_4_MIN}
        for verb, words in (("run-now", "fired"), ("pause", "paused"), ("resume", "resumed")):
            requests = self.both(reply_to(done), [verb, "a/b"], [done], f"{words} a/b: due in 2h ({STAMP}), was due {STAMP}\n")
            self.assertEqual((requests[0].method, requests[0].target, requests[0].body), ("POST", f"/api/v1/messages/a%2Fb/{verb}", b"{}"))
        requests = self.both(reply_to(done), ["reschedule", "a", "--in", "2h", "--source", "d"], [done], f"rescheduled a: due in 2h ({STAMP}), was due {STAMP}\n")
        self.assertEqual((requests[0].target, requests[0].json()), ("/api/v1/messages/a/reschedule?source=d", {"in": "2h"}))
        paused = {**done, "due": None, "due_ms": None}
        self.both(reply_to(paused), ["pause", "a"], [paused], f"paused a: was due {STAMP}\n")

    def test_refused(self):
        for verb in (["run-now", "a"], ["pause", "a"], ["resume", "a"], ["reschedule", "a", "--at", "now"]):
            for status, code, expected in ((404, "not_found", 3), (409, "too_late", 1), (504, "unknown_outcome", 1)):
                with Server(always(problem(status, code, "words"))) as server:
                    result = run_on_terminal(*verb, server=server)
                    self.assertEqual((result.code, result.out, result.err), (expected, "", f"tarry {verb[0]}: words ({code})\n"))

    def test_usage(self):
        for arguments in (["pause"], ["pause", "a", "b"], ["reschedule", "a"], ["reschedule", "a", "--at", "now", "--in", "1s"], ["run-now", "a", "--at", "now"]):
            self.assertEqual(run(*arguments, "--server", "127.0.0.1:1").code, 2, arguments)


class Cancel(Case):
    def test_one(self):
        done = {"result": "cancelled", "id": "a", "partitions": [{"topic": "delays", "partition": 0, "result": "cancelled"}]}
        requests = self.both(reply_to(done), ["cancel", "a", "--source", "delays", "--key", "k k"], [done], "a: cancelled\n")
        self.assertEqual((requests[0].method, requests[0].target, requests[0].body), ("DELETE", "/api/v1/messages/a?source=delays&key=k%20k", b""))
        for extra, words in (({"already": True}, "cancelled already"), ({"last_occurrence": "went_out"}, "cancelled; an occurrence was on its way already and arrives")):
            self.both(reply_to({**done, **extra}), ["cancel", "a"], [{**done, **extra}], f"a: {words}\n")

    def test_not_cancelled(self):
        for status, code, expected in ((404, "not_found", 3), (409, "too_late", 1), (409, "delivered", 1), (401, "unauthorized", 4)):
            with Server(always(problem(status, code, "words"))) as server:
                result = run("cancel", "a", server=server)
                self.assertEqual((result.code, result.out), (expected, ""))
                self.assertTrue(result.err.startswith("tarry cancel: words"))

    def test_sent_to_others_is_not_known(self):
        sent = {"result": "sent", "partitions": [{"topic": "delays", "partition": 1, "result": "sent", "owner": "h:1"}]}
        self.both(reply_to(sent, 202), ["cancel", "a"], [sent], "a: sent to partitions of other instances: what came of it is not known here\n", code=3)

    @staticmethod
    def script(request, connection):
        name = request.target.split("/")[-1].split("?")[0]
        if request.method == "GET":
            return answer(200, {"items": [event("x-1"), event("x-2"), event(None)], "next_cursor": None})
        return problem(404, "not_found", "there is none") if name == "gone" else answer(200, {"result": "cancelled", "id": name})

    def test_several_without_a_terminal(self):
        with Server(self.script) as server:
            result = run("cancel", "a", "gone", "b", server=server)
            self.assertEqual((result.code, result.out, server.requests), (0, "", []))
            self.assertEqual(result.err, "tarry cancel: would cancel 3 events:\n  a\n  gone\n  b\ntarry cancel: nothing was cancelled: say --execute to do it\n")
            result = run("cancel", "a", "gone", "b", "--execute", server=server)
            self.assertEqual(result.code, 3)
            self.assertEqual(result.lines(), [{"result": "cancelled", "id": "a"}, {"id": "gone", "result": "not_found", "detail": "there is none (not_found)"}, {"result": "cancelled", "id": "b"}])
            self.assertEqual(result.err, "tarry cancel: gone: there is none (not_found)\ntarry cancel: 2 of 3 are cancelled\n")
            self.assertEqual(run("cancel", "gone", "gone", "--yes", server=server).code, 3)
            self.assertEqual(run("cancel", "a", "b", "-y", server=server).code, 0)

    def test_several_on_a_terminal(self):
        with Server(self.script) as server:
            for typed, code, count in (("y\n", 0, 2), ("yes\n", 0, 2), ("\n", 2, 0), ("n\n", 2, 0), ("\x04", 2, 0)):
                server.requests.clear()
                terminal = Terminal("cancel", "a", "b", server=server)
                terminal.until("Cancel them? [y/N] ")
                terminal.type(typed)
                result = terminal.end()
                self.assertEqual((result.code, len(server.requests)), (code, count), result.out)
                self.assertEqual("a: cancelled\nb: cancelled\n" in result.out, count == 2)
            self.assertEqual(run_on_terminal("cancel", "a", "b", "--yes", server=server).out, "a: cancelled\nb: cancelled\n")

    def test_by_flags(self):
        with Server(self.script) as server:
            result = run("cancel", "--id-prefix", "x-", "--limit", "5", server=server)
            self.assertEqual((result.code, result.out), (0, ""))
            self.assertEqual([r.target for r in server.requests], ["/api/v1/messages?id_prefix=x-&limit=5"])
            self.assertIn("would cancel 2 events:\n  x-1\n  x-2\n", result.err)
            self.assertIn("1 that match have no id", result.err)
            server.requests.clear()
            result = run("cancel", "--id-prefix", "x-", "--execute", server=server)
            self.assertEqual((result.code, [line["id"] for line in result.lines()]), (3, ["x-1", "x-2"]))
            self.assertEqual([(r.method, r.target) for r in server.requests[1:]], [("DELETE", "/api/v1/messages/x-1?source=delays&partition=0"), ("DELETE", "/api/v1/messages/x-2?source=delays&partition=0")])
            self.assertEqual(run("cancel", "--schedules", server=server).code, 0)
            self.assertEqual(server.requests[-1].target, "/api/v1/schedules?limit=1000")
        with Server(reply_to({"items": [], "next_cursor": None})) as server:
            self.assertEqual(run("cancel", "--target", "x", "--execute", server=server).code, 3)

    def test_it_stops_when_it_is_hopeless(self):
        with Server(always(problem(503, "stopping", "ending"))) as server:
            self.assertEqual(run("cancel", "a", "b", "c", "--execute", server=server).code, 69)
            self.assertEqual(len(server.requests), 1)

    def test_usage(self):
        for arguments in ([], ["a", "--target", "x"], ["a", "b", "--key", "k"], ["--key", "k"], ["--limit", "0", "--target", "x"], ["--execute"], [""]):
            self.assertEqual(run("cancel", *arguments, "--server", "127.0.0.1:1").code, 2, arguments)


if __name__ == "__main__":
    unittest.main()
