"""The verbs that show the daemon itself: target, stats, forecast, audit, watch, check."""
import json
import threading
import time
import unittest

from scripted_server import Server, Terminal, answer, problem, run, run_on_terminal
from test_daemon_verbs import AGO_3_MIN, IN_4_MIN, STAMP, Case, always, reply_to


class Target(Case):
    def test_list(self):
        items = [{"name": "orders", "match": "orders.*", "state": "failing", "pending": 12345, "in_flight": 2, "overdue": 7, "oldest_overdue_s": 61, "rate_per_s": 100, "delivered": 1},
                 {"name": "default", "match": None, "state": "running", "pending": 0, "in_flight": 0, "overdue": 0, "oldest_overdue_s": 0, "rate_per_s": None, "delivered": 0}]
        self.both(reply_to({"items": items}), ["target", "list"], items,
                  "name     state    pending  in flight  overdue  oldest  delivered   rate  match\n"
                  "orders   failing   12,345          2        7     61s          1  100/s  orders.*\n"
                  "default  running        0          0        0       -          0      -  \n")

    def test_pause_and_resume(self):
        for verb, words in (("pause", "paused"), ("resume", "resumed")):
            requests = self.both(reply_to({"result": "done", "name": "a b"}), ["target", verb, "a b"], [{"result": "done", "name": "a b"}], f"{words} a b\n")
            self.assertEqual((requests[0].method, requests[0].target, requests[0].body), ("POST", f"/api/v1/targets/a%20b/{verb}", b"{}"))
            with Server(always(problem(404, "not_found", "there is no such target"))) as server:
                self.assertEqual(run("target", verb, "x", server=server).code, 3)
        for arguments in (["target"], ["target", "stop", "x"], ["target", "pause"], ["target", "pause", ""], ["target", "pause", "a", "b"], ["target", "list", "a"]):
            result = run(*arguments, env={"TARRY_SERVER": "127.0.0.1:1"})
            self.assertEqual((result.code, result.err + result.out != ""), (2, True), arguments)


STATS = {"uptime_s": 93784, "pending": 1234567, "pending_bytes": 5, "in_memory": 100, "in_flight": 2, "overdue": 3, "next_due": STAMP, "next_due_ms": IN_4_MIN, "last_due": STAMP,
         "last_due_ms": AGO_3_MIN, "read": 10, "refused": 1, "delivered": 9, "delivered_per_s": 12.34, "cancelled": 4, "replaced": 5, "letters": 6,
         "lateness": {"p50_ms": 1.5, "p99_ms": 4, "max_bucket_ms": 10}, "store": {"used_bytes": 104857600, "max_bytes": 1073741824},
         "sources": [{"topic": "delays", "pending": 1234567, "intake_lag": 8, "partitions": [0, 1]}], "clock": {"synchronised": True, "offset_s": 0.001}}


class Stats(Case):
    def test_once(self):
        self.both(reply_to(STATS), ["stats"], [STATS],
                  "up           1d2h3m4s\n"
                  "pending      1,234,567\n"
                  "in memory    100\n"
                  "in flight    2\n"
                  "overdue      3\n"
                  f"next due     in 4m ({STAMP})\n"
                  f"last due     3m ago ({STAMP})\n"
                  "read         10\n"
                  "delivered    9 (12.3/s now)\n"
                  "cancelled    4\n"
                  "replaced     5\n"
                  "refused      1\n"
                  "letters      6\n"
                  "late by      1.5 ms (half), 4 ms (99 of 100)\n"
                  "store        100.0 MiB of 1024.0 MiB (9.8%)\n"
                  "clock        synchronised, off by 0.001 s\n"
                  "source       delays: 1,234,567 pending, 8 not read yet, 2 partitions here\n")

    def test_again(self):
        with Server(reply_to(STATS)) as server:
            result = run("stats", "--interval", "100ms", "--count", "3", server=server)
            self.assertEqual((result.code, result.lines(), len(server.requests)), (0, [STATS] * 3, 3))
            result = run_on_terminal("stats", "--interval", "100ms", "--count", "2", server=server)
            self.assertEqual((result.code, result.out.count("\x1b[H\x1b[J")), (0, 2))
            for arguments, seen, end in (((), "source ", ""), (("-o", "json"), "uptime_s", "\n]\n")):
                terminal = Terminal("stats", "--interval", "1h", *arguments, server=server)
                terminal.until(seen)
                terminal.interrupt()
                result = terminal.end()
                self.assertEqual((result.code, result.out.endswith(end)), (130, True))
        for arguments in (["--count", "2"], ["--interval", "1ms"], ["--interval", "soon"], ["now"]):
            self.assertEqual(run("stats", *arguments, env={"TARRY_SERVER": "127.0.0.1:1"}).code, 2, arguments)


class Forecast(Case):
    ITEMS = [{"from": "2026-01-31T12:00:00.000Z", "from_ms": 1, "to_ms": 2, "count": 1000, "exact": True}, {"from": "2026-01-31T13:00:00.000Z", "from_ms": 2, "to_ms": 3, "count": 1, "exact": False},
             {"from": "2026-01-31T14:00:00.000Z", "from_ms": 3, "to_ms": 4, "count": 0, "exact": True}, {"from": "2026-01-31T15:00:00.000Z", "from_ms": 4, "to_ms": 5, "count": 500, "exact": True}]

    def test_bars(self):
        document = {"unit": "hour", "from": STAMP, "from_ms": 1, "overdue": 12, "items": self.ITEMS, "later": 1234, "paused": 1}
        width = 80 - 11 - 5 - 6
        requests = self.both(reply_to(document), ["forecast", "--unit", "hour", "--count", "4", "--source", "delays", "--target", "orders"], [document],
                             "12 overdue\n"
                             "01-31 12:00  1,000  " + "#" * width + "\n"
                             "01-31 13:00      1~ #\n"
                             "01-31 14:00      0  \n"
                             "01-31 15:00    500  " + "#" * (width // 2) + "\n"
                             "1,234 later\n"
                             "1 paused\n")
        self.assertEqual(requests[0].target, "/api/v1/forecast?unit=hour&count=4&source=delays&target=orders")

    def test_widths(self):
        document = {"unit": "day", "items": self.ITEMS}
        with Server(reply_to(document)) as server:
            for columns in (20, 40, 200):
                lines = run_on_terminal("forecast", server=server, columns=columns).out.splitlines()
                self.assertTrue(lines[0].startswith("2026-01-31  1,000  ###"))
                self.assertEqual(len(lines[0]), max(columns - 2, 10 + 5 + 4 + 10))
            self.assertTrue(run("forecast", "-o", "table", server=server).out.startswith("2026-01-31  1,000  ###"))
        self.assertEqual(server.requests[0].target, "/api/v1/forecast")
        for arguments in (["--unit", "week"], ["--count", "401"], ["--count", "0"], ["x"]):
            self.assertEqual(run("forecast", *arguments, env={"TARRY_SERVER": "127.0.0.1:1"}).code, 2, arguments)


class Audit(Case):
    def test_newest_first(self):
        items = [{"at": STAMP, "at_ms": AGO_3_MIN - 7200000, "actor": "uid 1000", "action": "cancel", "id": "a\x1b", "result": "cancelled"},
                 {"at": STAMP, "at_ms": AGO_3_MIN, "actor": "token", "action": "target pause", "target": "orders", "result": "done"}]
        self.both(reply_to({"items": items}), ["audit"], items[::-1],
                  "at  who       action        result     what\n"
                  "3m  token     target pause  done       orders\n"
                  "2h  uid 1000  cancel        cancelled  a\\x1b\n")
        with Server(reply_to({"items": items})) as server:
            self.assertEqual(run("audit", "-n", "1", server=server).lines(), items[1:])


def sse(number, outcome="delivered", identity="a", **members):
    data = {"id": identity, "source": {"topic": "delays", "partition": 0, "offset": number}, "due": STAMP, "outcome": outcome, "at": STAMP,
            "target": {"topic": "orders", "partition": 0, "offset": number}, "lateness_ms": 4, **members}
    return f"id: boot-{number}\nevent: {outcome}\ndata: {json.dumps(data)}\n\n".encode(), data


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\r\n"


class Watch(Case):
    def test_lines(self):
        events = [sse(1), sse(2, "letter", None, lateness_ms=None, target=None), sse(3, "cancelled", "e\x1b[2J")]
        body = HEAD + b": still here\n\n" + b"".join(event for event, _ in events)
        self.both(always(body), ["watch", "-n", "3"], [data for _, data in events],
                  "12:00:00.000Z  delivered   a  -> orders/0/1  4 ms late\n"
                  "12:00:00.000Z  letter      delays/0/2\n"
                  "12:00:00.000Z  cancelled   e\\x1b[2J  -> orders/0/3  4 ms late\n")

    def test_filters(self):
        with Server(always(HEAD + sse(1)[0])) as server:
            self.assertEqual(run("watch", "-n", "1", "--id", "a b", "--target", "t", "--outcome", "letter", server=server).code, 0)
        self.assertEqual((server.requests[0].target, server.requests[0].headers["accept"].split(",")[0]), ("/api/v1/events?id=a%20b&target=t&outcome=letter", "text/event-stream"))
        self.assertNotIn("last-event-id", server.requests[0].headers)

    def test_it_goes_on_behind_the_last_one(self):
        """A connection that ends in the middle of an event, one that is refused for a while, and the rest."""
        def script(request, connection):
            number = len(server.requests)
            if number == 1:
                return HEAD + sse(1)[0] + sse(2)[0][:-5]
            if number == 2:
                return problem(503, "stopping", "ending")
            if number == 3:
                return b""
            return HEAD + sse(2)[0] + b"event: missed\ndata: {\"missed\":7}\n\n" + sse(3)[0]

        with Server(script) as server:
            result = run("watch", "-n", "3", server=server)
        self.assertEqual((result.code, [line["source"]["offset"] for line in result.lines()]), (0, [1, 2, 3]))
        self.assertEqual([request.headers.get("last-event-id") for request in server.requests], [None, "boot-1", "boot-1", "boot-1"])
        self.assertIn("the connection ended: trying again", result.err)
        self.assertIn("7 outcomes were missed", result.err)

    def test_what_was_missed_without_a_count(self):
        with Server(always(HEAD + b"event: missed\ndata: {\"missed\":null}\n\n" + sse(1)[0])) as server:
            self.assertIn("tarry watch: outcomes may have been missed", run("watch", "-n", "1", server=server).err)

    def test_bytes_that_come_one_by_one(self):
        def script(request, connection):
            for byte in HEAD + b"data: {\"outcome\":\r\ndata: \"x\"}\r\n\r\n: c\r\rdata:{}\r\r":
                connection.sendall(bytes([byte]))

        with Server(script) as server:
            self.assertEqual(run("watch", "-n", "2", server=server).lines(), [{"outcome": "x"}, {}])

    def test_what_ends_it(self):
        for reply, code in ((problem(401, "unauthorized", "no"), 4), (problem(404, "not_found", "no such path"), 3), (answer(200, {}), 1), (problem(503, "stopping", "x"), 69), (b"", 69),
                            (problem(400, "bad_parameter", "x"), 2)):
            with Server(always(reply)) as server:
                result = run("watch", server=server)
                self.assertEqual((result.code, result.out, result.err.count("\n")), (code, "", 1), result.err)
        self.assertEqual(run("watch", "--server", "127.0.0.1:1").code, 69)

    def test_refused_later_ends_it(self):
        with Server(lambda r, c: HEAD + sse(1)[0] if len(server.requests) == 1 else problem(401, "unauthorized", "no")) as server:
            result = run("watch", server=server)
        self.assertEqual((result.code, len(result.lines())), (4, 1))

    def test_interrupted(self):
        gone = threading.Event()

        def script(request, connection):
            connection.sendall(HEAD + sse(1)[0])
            connection.recv(1)
            gone.set()

        for arguments, start, end in (((), "delivered", ""), (("-o", "json"), "delivered", "\n]\n")):
            with Server(script) as server:
                terminal = Terminal("watch", *arguments, server=server)
                terminal.until(start)
                begin = time.monotonic()
                terminal.interrupt()
                result = terminal.end()
                self.assertLess(time.monotonic() - begin, 20)
                self.assertEqual(result.code, 130)
                self.assertTrue(result.out.endswith(end))
                self.assertTrue(gone.wait(30))


READY = {"status": "ready", "reasons": []}
TARGETS = {"items": [{"name": "default", "state": "running", "oldest_overdue_s": 0}]}
WELL = {**STATS, "pending": 10, "overdue": 0, "delivered": 5}


class Check(Case):
    @staticmethod
    def server(ready=READY, stats=None, targets=None, letters=None):
        def script(request, connection):
            if request.target == "/readyz":
                return ready if isinstance(ready, bytes) else answer(200, ready)
            if request.target == "/api/v1/stats":
                return answer(200, {**WELL, **(stats or {})})
            if request.target == "/api/v1/targets":
                return answer(200, targets or TARGETS)
            return letters if isinstance(letters, bytes) else answer(200, {"items": letters or []})
        return Server(script)

    def expect(self, code, line, *arguments, **parts):
        with self.server(**parts) as server:
            for runner in (run, run_on_terminal):
                result = runner("check", *arguments, server=server)
                self.assertEqual((result.code, result.out, result.err), (code, line + "\n", ""))

    def test_well(self):
        self.expect(0, "TARRY OK: 10 pending, 0 overdue | pending=10;;;0 overdue=0;;;0 lag=8;;;0 store=9.7%;80;95;0 delivered=5c;;;0 late=0s;10;60;0")

    def test_thresholds(self):
        tail = " store=9.7%;80;95;0 delivered=5c;;;0 late=0s;10;60;0"
        self.expect(1, "TARRY WARNING: 5 events are overdue | pending=10;;;0 overdue=5;5;10;0 lag=8;;;0" + tail, "--warn-overdue", "5", "--crit-overdue", "10", stats={"overdue": 5})
        self.expect(2, "TARRY CRITICAL: 10 events are overdue, 8 records of a delay topic are not read yet | pending=10;;;0 overdue=10;5;10;0 lag=8;8;;0" + tail,
                    "--warn-overdue", "5", "--crit-overdue", "10", "--warn-lag", "8", stats={"overdue": 10})
        late = {"items": [{"name": "a", "state": "paused", "oldest_overdue_s": 1000}, {"name": "b|c", "state": "failing", "oldest_overdue_s": 12}]}
        with self.server(targets=late) as server:
            result = run("check", server=server)
            self.assertEqual(result.code, 1)
            self.assertTrue(result.out.startswith("TARRY WARNING: target b/c fails, 12s the oldest overdue event waits | "))
            self.assertEqual(run("check", "--crit-late", "12s", server=server).code, 2)
            self.assertEqual(run("check", "--warn-late", "13s", server=server).code, 1)
        with self.server(stats={"store": {"used_bytes": 96, "max_bytes": 100}, "clock": {"synchronised": False}}) as server:
            result = run("check", server=server)
            self.assertEqual(result.code, 2)
            self.assertTrue(result.out.startswith("TARRY CRITICAL: 96% of the store is used, the clock is not synchronised | "))
            result = run("check", "--no-clock", server=server)
            self.assertTrue(result.out.startswith("TARRY CRITICAL: 96% of the store is used | "))

    def test_letters(self):
        letters = [{"by": "reason", "group": "no_time", "count": 3}, {"by": "reason", "group": "late", "count": 4}]
        with self.server(letters=letters) as server:
            self.assertEqual(run("check", server=server).code, 0)
            self.assertNotIn("/api/v1/dlq/reasons?by=reason", [r.target for r in server.requests])
            self.assertEqual(run("check", "--warn-letters", "8", server=server).code, 0)
            result = run("check", "--warn-letters", "1", "--crit-letters", "8", server=server)
            self.assertEqual(result.code, 1)
            self.assertIn("7 dead letters are there", result.out)
            self.assertIn("letters=7;1;8;0", result.out)
        with self.server(letters=problem(503, "dead_letters_unavailable", "NATS is away")) as server:
            self.assertEqual(run("check", "--warn-letters", "1", server=server).code, 2)

    def test_not_ready_and_not_there(self):
        reasons = {"status": "not ready", "reasons": [{"component": "kafka", "code": "away", "message": "no broker answers"}, {"component": "store", "code": "x", "message": "full"}]}
        with self.server(ready=answer(503, reasons)) as server:
            result = run("check", server=server)
        self.assertEqual(result.code, 2)
        self.assertTrue(result.out.startswith("TARRY CRITICAL: not ready: kafka: no broker answers, not ready: store: full | pending=10"))
        result = run("check", "--server", "127.0.0.1:1")
        self.assertEqual((result.code, result.err), (2, ""))
        self.assertTrue(result.out.startswith("TARRY CRITICAL: http://127.0.0.1:1 cannot be reached"))
        with Server(always(problem(401, "unauthorized", "the token is missing or wrong"))) as server:
            self.assertEqual(run("check", server=server).code, 3)

    def test_wrong_usage_is_unknown(self):
        for arguments in (["--warn-late", "soon"], ["--nothing"], ["--warn-store", "101"], ["--server", "a b"], ["--token-file", "/nonexistent"], ["x"], ["--crit-letters", "-1"]):
            result = run("check", *arguments)
            self.assertEqual((result.code, result.out), (3, "TARRY UNKNOWN: nothing was asked: its standard error says why\n"), arguments)
            self.assertNotEqual(result.err, "")


if __name__ == "__main__":
    unittest.main()
