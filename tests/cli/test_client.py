"""The way to the daemon: addresses, token, failures, retries, other instances. Each against a server that answers by a script."""
import os
import socket
import subprocess
import tempfile
import time
import unittest

from scripted_server import TARRY, Server, answer, environment, problem, run

TOKEN = "canary-token-0123456789abcdef"
STATS = {"pending": 1}


def stats(request, connection):
    return answer(200, STATS)


class Address(unittest.TestCase):
    def test_tcp_in_every_form(self):
        with Server(stats) as server:
            for form in (server.address, "http://" + server.address, "http://" + server.address + "/", server.address.replace("127.0.0.1", "localhost")):
                with self.subTest(form):
                    result = run("stats", "--server", form)
                    self.assertEqual((result.code, result.err), (0, ""))
                    self.assertEqual(result.lines(), [STATS])
            self.assertEqual({request.target for request in server.requests}, {"/api/v1/stats"})
            self.assertTrue(all(request.headers["host"] for request in server.requests))

    def test_a_prefix_of_the_path_stays(self):
        with Server(stats) as server:
            self.assertEqual(run("stats", "--server", f"http://{server.address}/tarry/").code, 0)
            self.assertEqual(server.requests[0].target, "/tarry/api/v1/stats")

    def test_unix_socket(self):
        with Server(stats, unix=True) as server:
            result = run("stats", server=server)
            self.assertEqual((result.code, result.lines(), result.err), (0, [STATS], ""))

    def test_environment_and_flag_before_it(self):
        with Server(stats) as server:
            self.assertEqual(run("stats", env={"TARRY_SERVER": server.address}).code, 0)
            self.assertEqual(run("stats", server=server, env={"TARRY_SERVER": "127.0.0.1:1"}).code, 0)

    def test_what_is_none(self):
        for text in ("http://", "ftp://host", "host:0", "host:65536", "host:x", "user:secret@host:1", "http://user:secret@host:1", "[::1", "unix:", "a b", "host/path",
                     "http://host?x", "http://host/#x", "unix:" + "x" * 200, "h" * 600, "http://ho\nst", ""):
            with self.subTest(text):
                result = run("stats", "--server", text)
                self.assertEqual((result.code, result.out), (2, ""))
                self.assertTrue(result.err.startswith("tarry stats: the address of the daemon "), result.err)
                self.assertEqual(result.err.count("\n"), 1)
                self.assertNotIn("secret", result.err)

    def test_nobody_there(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            address = "127.0.0.1:%d" % unused.getsockname()[1]
            result = run("stats", "--server", address)
        self.assertEqual((result.code, result.out), (69, ""))
        self.assertEqual(result.err, f"tarry stats: http://{address} cannot be reached: Connection refused; does tarry serve run there? See --server\n")
        result = run("stats", "--server", "unix:/nonexistent/socket")
        self.assertEqual(result.code, 69)
        self.assertIn("No such file or directory", result.err)
        self.assertEqual(run("stats", "--server", "host.invalid").code, 69)

    def test_no_proxy_of_the_environment(self):
        with Server(stats) as server:
            proxy = {"http_proxy": "http://127.0.0.1:1", "HTTP_PROXY": "http://127.0.0.1:1", "ALL_PROXY": "http://127.0.0.1:1"}
            self.assertEqual(run("stats", server=server, env=proxy).code, 0)


class Token(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "token")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(TOKEN + "\n")
        os.chmod(self.path, 0o600)

    def tearDown(self):
        self.folder.cleanup()

    def test_it_is_sent_as_a_bearer(self):
        with Server(stats) as server:
            run("stats", "--token-file", self.path, server=server)
            run("stats", server=server, env={"TARRY_TOKEN_FILE": self.path})
            run("stats", server=server)
        self.assertEqual([request.headers.get("authorization") for request in server.requests], ["Bearer " + TOKEN, "Bearer " + TOKEN, None])

    def test_unusable_files(self):
        bad = os.path.join(self.folder.name, "bad")
        for content in (b"", b"\n", b"short", b"two words and more of them", b"x" * 5000, b"nul\0nul nul nul nul nul"):
            with self.subTest(content[:20]):
                with open(bad, "wb") as file:
                    file.write(content)
                result = run("stats", "--token-file", bad, "--server", "127.0.0.1:1")
                self.assertEqual((result.code, result.out), (78, ""))
                self.assertIn(bad, result.err)
                self.assertTrue(result.err.startswith("tarry stats: --token-file: "), result.err)
                self.assertEqual(result.err.count("\n"), 1)
        self.assertEqual(run("stats", "--token-file", "/nonexistent").code, 78)
        self.assertEqual(run("stats", "--token-file", "").code, 78)

    def test_a_file_for_everybody_is_warned_of(self):
        for mode, warned in ((0o600, False), (0o640, False), (0o644, True), (0o606, True)):
            os.chmod(self.path, mode)
            with Server(stats) as server:
                result = run("stats", "--token-file", self.path, server=server)
                self.assertEqual((result.code, "warning: everybody on this machine" in result.err, TOKEN in result.err), (0, warned, False))

    def test_wrong_or_missing(self):
        with Server(lambda request, connection: problem(401, "unauthorized", "the token is missing or wrong")) as server:
            result = run("stats", server=server)
        self.assertEqual(result.code, 4)
        self.assertEqual(result.err, "tarry stats: the token is missing or wrong; name the file of its token with --token-file or TARRY_TOKEN_FILE (unauthorized)\n")

    def test_no_error_shows_it(self):
        """Whatever comes back."""
        scripts = [lambda r, c: problem(401, "unauthorized", "no"), lambda r, c: b"garbage\r\n\r\n", lambda r, c: None,
                   lambda r, c: answer(302, headers=[("Location", "http://127.0.0.1:1/")]), lambda r, c: answer(500, body=b"oops")]
        for script in scripts:
            with Server(script) as server:
                result = run("stats", "--token-file", self.path, server=server)
                self.assertNotEqual(result.code, 0)
                self.assertNotIn(TOKEN, result.out + result.err)

    def test_no_redirect_is_followed(self):
        with Server(stats) as other:
            for location in (f"http://{other.address}/api/v1/stats", "/elsewhere"):
                with Server(lambda r, c, to=location: answer(307, headers=[("Location", to)])) as server:
                    result = run("stats", "--token-file", self.path, server=server)
                    self.assertEqual(result.code, 1)
                    self.assertIn("redirect", result.err)
                    self.assertEqual(len(server.requests), 1)
            self.assertEqual(other.requests, [])

    def test_the_owner_of_a_partition_is_asked_only_with_follow(self):
        with Server(lambda r, c: answer(200, {"result": "done", "due": "x", "due_ms": 1})) as owner:
            with Server(lambda r, c: problem(421, "not_owner", "elsewhere", owner=owner.address, partition=3)) as server:
                result = run("pause", "a", "--token-file", self.path, server=server)
                self.assertEqual((result.code, result.out, owner.requests), (1, "", []))
                self.assertEqual(result.err, "tarry pause: its partition belongs to another instance: ask it with --server http://" + owner.address +
                                 ", or say --follow (not_owner)\n")
                result = run("pause", "a", "--token-file", self.path, "--follow", server=server)
                self.assertEqual(result.code, 0)
                self.assertEqual(result.err, f"tarry pause: its partition belongs to another instance: asking http://{owner.address}\n")
        self.assertEqual([(r.method, r.target, r.headers["authorization"], r.body) for r in owner.requests], [("POST", "/api/v1/messages/a/pause", "Bearer " + TOKEN, b"{}")])

    def test_following_ends(self):
        """Two that name each other; and addresses that are none, which get no token."""
        with Server(lambda r, c: problem(421, "not_owner", "elsewhere", owner=first.address)) as second:
            with Server(lambda r, c: problem(421, "not_owner", "elsewhere", owner=second.address)) as first:
                result = run("pause", "a", "--follow", server=first)
                self.assertEqual((result.code, len(first.requests), len(second.requests)), (1, 1, 1))
                self.assertIn("does not own the partition either", result.err)
        for owner in ("", "no port", "http://127.0.0.1:1", "user@127.0.0.1:1", "127.0.0.1:1/x", "127.0.0.1:1\r\nX: y", "127.0.0.1", "unix:/x", "a" * 600 + ":1"):
            with self.subTest(owner), Server(lambda r, c, to=owner: problem(421, "not_owner", "elsewhere", owner=to)) as server:
                result = run("pause", "a", "--follow", server=server)
                self.assertEqual(result.code, 1)
                self.assertIn("whose address is not known", result.err)


class Failures(unittest.TestCase):
    def test_problems_and_their_codes(self):
        for status, code, expected in ((400, "bad_parameter", 2), (401, "unauthorized", 4), (403, "host_not_allowed", 4), (404, "not_found", 3), (409, "too_late", 1),
                                       (415, "unsupported_media_type", 1), (422, "refused", 1), (500, "answer_too_large", 1), (502, "not_written", 1),
                                       (503, "stopping", 69), (503, "too_much_to_look_through", 1), (504, "unknown_outcome", 1)):
            with self.subTest(code), Server(lambda r, c, s=status, k=code: problem(s, k, "some words, and the remedy")) as server:
                result = run("get", "a", server=server)
                self.assertEqual((result.code, result.out), (expected, ""))
                self.assertTrue(result.err.startswith("tarry get: some words, and the remedy"))
                self.assertTrue(result.err.endswith(f"({code})\n"))

    def test_those_who_may_have_it_are_named(self):
        elsewhere = [{"topic": "d", "partition": i, "owner": owner} for i, owner in enumerate(["b:7411", None, "c:7411", "b:7411", "x" * 900])]
        with Server(lambda r, c: problem(404, "not_found", "Not here.", elsewhere=elsewhere)) as server:
            for verb in ("get", "pause", "cancel"):
                result = run(verb, "a", server=server)
                self.assertEqual((result.code, result.out, result.err), (3, "", f"tarry {verb}: Not here. Ask them: --server b:7411, --server c:7411 (not_found)\n"))

    def test_words_of_a_daemon_cannot_upset_a_terminal(self):
        with Server(lambda r, c: problem(404, "not\x1bfound", "\x1b[31mred\x07\r\n\u202e" + "x" * 5000)) as server:
            result = run("get", "a", server=server)
        self.assertEqual(result.code, 3)
        self.assertIn("\\x1b[31mred\\x07\\r\\n\\xe2\\x80\\xae", result.err)
        self.assertLess(len(result.err), 1200)
        self.assertEqual(result.err.count("\n"), 1)

    def test_what_is_no_tarry(self):
        scripts = {"html": lambda r, c: answer(200, body=b"<html>hello</html>"), "an array": lambda r, c: answer(200, [1]), "empty": lambda r, c: answer(200),
                   "cut": lambda r, c: answer(200, body=b'{"items":[{"id":'), "an html error": lambda r, c: answer(404, body=b"<html>not found</html>"),
                   "deep": lambda r, c: answer(200, body=b"[" * 100000), "a tail": lambda r, c: answer(200, body=b"{}x{"),
                   "a problem of another kind": lambda r, c: answer(500, {"code": 7, "detail": []})}
        for name, script in scripts.items():
            for verb in (("stats",), ("list",), ("get", "a")):
                with self.subTest(name, verb=verb), Server(script) as server:
                    result = run(*verb, server=server)
                    self.assertEqual((result.code, result.out), (1, ""))
                    self.assertIn("is it a tarry?", result.err)
        for name, bytes_sent in {"garbage": b"SSH-2.0-OpenSSH\r\n", "nothing": b"", "half a head": b"HTTP/1.1 200 OK\r\nContent-Le"}.items():
            with self.subTest(name), Server(lambda r, c, b=bytes_sent: b) as server:
                result = run("stats", server=server)
                self.assertIn(result.code, (1, 69))
                self.assertEqual((result.out, result.err.count("\n")), ("", 1))

    def test_wrong_kinds_of_members(self):
        """A list whose members are of other kinds is shown as far as it goes, and hurts nobody."""
        items = [{}, {"id": 7, "due_ms": "x", "source": [], "target": 3, "recurrence": "no"}, {"id": "b", "due_ms": 1e300, "source": {"topic": "t", "partition": -5, "offset": 1e17}}, 5, None]
        with Server(lambda r, c: answer(200, {"items": items, "next_cursor": 5})) as server:
            self.assertEqual(len(run("list", server=server).lines()), len(items))
            self.assertEqual(run("list", "-o", "table", server=server).code, 0)
            self.assertEqual(run("get", "a", "-o", "table", server=server).code, 0)
            for verb in ("stats", "forecast", "audit"):
                self.assertEqual(run(verb, "-o", "table", server=server).code, 0, verb)
            self.assertEqual(run("target", "list", "-o", "table", server=server).code, 0)

    def test_a_cursor_that_does_not_move(self):
        with Server(lambda r, c: answer(200, {"items": [{"id": "a"}], "next_cursor": "same"})) as server:
            result = run("list", "--limit", "0", server=server)
        self.assertEqual(result.code, 1)
        self.assertEqual(len(server.requests), 2)

    def test_broken_off(self):
        whole = answer(200, STATS)
        with Server(lambda r, c: whole[:-3]) as server:
            result = run("stats", server=server)
        self.assertEqual((result.code, result.out), (69, ""))
        self.assertIn("broke before its answer was whole", result.err)

    def test_silent(self):
        with Server(lambda r, c: c.recv(1) and None) as server:
            start = time.monotonic()
            result = run("stats", "--timeout", "300ms", server=server)
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual((result.code, result.out), (69, ""))
        self.assertEqual(result.err, f"tarry stats: http://{server.address} did not answer in time (300 ms)\n")
        with Server(lambda r, c: c.recv(1) and None) as server:
            self.assertIn("(300 ms); whether it did what was asked is not known\n", run("cancel", "a", "--timeout", "300ms", server=server).err)

    def test_chunked_and_huge(self):
        document = {"items": [{"id": "x" * 1000, "n": i} for i in range(1000)], "next_cursor": None}
        with Server(lambda r, c: answer(200, document, chunked=True)) as server:
            self.assertEqual(run("list", "--limit", "0", server=server).lines(), document["items"])

    def test_larger_than_is_held(self):
        def endless(request, connection):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"x\":\"")
            for _ in range(80):
                connection.sendall(b"y" * (1 << 20))

        with Server(endless) as server:
            result = run("stats", server=server)
        self.assertEqual((result.code, result.out), (1, ""))
        self.assertIn("more than 64 MiB", result.err)

    def test_a_full_disk_is_no_success(self):
        with Server(stats) as server, open("/dev/full", "wb") as full:
            done = subprocess.run([TARRY, "stats", "--server", server.address], stdout=full, stderr=subprocess.PIPE, env=environment(), timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"could not be written whole", done.stderr)

    def test_retries_of_a_schedule_carry_one_key(self):
        replies = [b"", answer(200, STATS)[:5], answer(201, {"result": "scheduled", "id": "a", "due_ms": 1})]
        with Server(lambda r, c: replies[len(server.requests) - 1]) as server:
            result = run("schedule", "-t", "t", "--in", "1s", "--value", "v", server=server)
        self.assertEqual((result.code, result.err), (0, ""))
        keys = {request.headers["idempotency-key"] for request in server.requests}
        self.assertEqual((len(server.requests), len(keys)), (3, 1))
        self.assertRegex(keys.pop(), r"^[0-9a-f]{32}$")

    def test_a_schedule_that_stays_unknown_says_how_to_say_it_again(self):
        with Server(lambda r, c: b"") as server:
            result = run("schedule", "-t", "t", "--in", "1s", "--value", "v", server=server)
        self.assertEqual((result.code, len(server.requests)), (69, 3))
        key = server.requests[0].headers["idempotency-key"]
        self.assertIn(f"saying it again with --idempotency-key {key} does not schedule it twice", result.err)
        replies = [problem(409, "idempotency_in_progress", "under way"), answer(201, {"result": "scheduled"})]
        with Server(lambda r, c: replies[len(server.requests) - 1]) as server:
            self.assertEqual(run("schedule", "-t", "t", "--in", "1s", "--value", "v", "--idempotency-key", "my-key", server=server).code, 0)
        self.assertEqual([r.headers["idempotency-key"] for r in server.requests], ["my-key", "my-key"])

    def test_other_writes_are_sent_once(self):
        for verb in (("pause", "a"), ("cancel", "a"), ("target", "pause", "a")):
            with Server(lambda r, c: b"") as server:
                self.assertEqual(run(*verb, server=server).code, 69)
                self.assertEqual(len(server.requests), 1)

    def test_hostile_ids_stay_one_segment(self):
        for identity, segment in (("a/b", "a%2Fb"), ("..", "%2E%2E"), (".", "%2E"), ("a b?c=d&e#f%", "a%20b%3Fc%3Dd%26e%23f%25"), ("é", "%C3%A9"), ("\r\nX: y", "%0D%0AX%3A%20y"), ("a..b", "a..b")):
            with self.subTest(identity), Server(lambda r, c: problem(404, "not_found", "none")) as server:
                self.assertEqual(run("get", identity, server=server).code, 3)
                self.assertEqual(server.requests[0].target, "/api/v1/messages/" + segment)
        with Server(lambda r, c: problem(404, "not_found", "none")) as server:
            self.assertEqual(run("get", "--server", server.address, "--", "-x").code, 3)
            self.assertEqual(server.requests[0].target, "/api/v1/messages/-x")
        self.assertEqual(run("get", "").code, 2)
        self.assertEqual(run("get", "x" * 100000).code, 2)


if __name__ == "__main__":
    unittest.main()
