"""What the table of verbs names is what the verbs take: each flag is given to its verb, and none is called unknown."""
import os
import re
import subprocess
import unittest

from scripted_server import DEADLINE_S, TARRY, Server, answer, environment, run

# Good values for flags whose argument says no alternative.
VALUES = {"set": "log.level=debug", "header": "a=b", "header-base64": "a=Yg==", "set-header": "a=b", "since": "1h", "until": "now", "due-from": "1h", "due-to": "1h", "limit": "5",
          "rate": "5/s", "ramp": "1s", "spread": "1s", "delay": "1s", "stop-after": "20%", "max-replays": "3", "count": "5", "interval": "1s", "timeout": "5s", "after": "parked:1",
          "id-base64": "YQ==", "key-base64": "YQ==", "partition": "1", "warn-late": "1s", "crit-late": "1s", "kafka": "127.0.0.1:1", "nats-server": "/bin/false"}


def flags_by_verb():
    """(verb, flag) -> a value, or None for a switch: as completion for fish has them, which is made from the table."""
    script = subprocess.run([TARRY, "completion", "fish"], capture_output=True, text=True, timeout=DEADLINE_S, check=True).stdout
    found = {}
    for verb, name, letter, rest in re.findall(r"""^complete -c tarry -n "__tarry_is '([^']*)'" -l (\S+)(?: -s (\S))?(.*)$""", script, re.M):
        choice = re.search(r"-a '([^' ]*)", rest)
        value = None if not re.match(r" -[xr]", rest) else choice.group(1) if choice else VALUES.get(name, "1")
        found[verb, "--" + name] = value
        if letter:
            found[verb, "-" + letter] = value
    return found


class Flags(unittest.TestCase):
    def test_each_is_taken(self):
        flags = flags_by_verb()
        self.assertGreater(len(flags), 200)
        equals = {}  # one flag of each verb is given as --flag=VALUE, too
        for (verb, flag), value in flags.items():
            if value is not None:
                equals[verb] = flag
        with Server(lambda request, connection: answer(418)) as server:
            for (verb, flag), value in flags.items():
                arguments = [*verb.split(), flag] + ([] if value is None else [value])
                if verb == "demo":
                    arguments += ["--count", "0"]  # so it does not begin
                for form in (arguments, [*verb.split(), f"{flag}={value}"] + arguments[len(verb.split()) + 2:]):
                    if form is not arguments and equals.get(verb) != flag:
                        continue
                    with self.subTest(" ".join(form)):
                        result = run(*form, env={"TARRY_SERVER": server.address})
                        self.assertNotIn("not understood", result.err)
                        self.assertNotIn("needs a value", result.err)

    def test_what_is_none_of_them_is_refused(self):
        for verb in sorted({verb for verb, _ in flags_by_verb()} | {"version", "target list"}):
            with self.subTest(verb):
                result = run(*verb.split(), "--frobnicate")
                self.assertEqual(result.code, 3 if verb == "check" else 2)
                self.assertIn("--frobnicate", result.err)
                self.assertEqual(result.out, "TARRY UNKNOWN: nothing was asked: its standard error says why\n" if verb == "check" else "")

    def test_every_verb_has_a_page_and_the_ways_to_it_agree(self):
        script = subprocess.run([TARRY, "completion", "zsh"], capture_output=True, text=True, timeout=DEADLINE_S, check=True).stdout
        verbs = re.findall(r"^            '(?: )?([a-z -]+)'\) verb=", script, re.M)
        self.assertGreater(len(verbs), 35)
        for verb in verbs:
            page = run(*verb.split(), "--help")
            self.assertEqual((page.code, page.err), (0, ""))
            self.assertTrue(page.out.startswith(f"tarry {verb}"))
            self.assertIn(f"\n  tarry {verb.split()[0]}" if verb.split()[0] in ("config", "target", "dlq") else f"\n  tarry {verb}", page.out)
            for other in ((*verb.split(), "-h"), ("help", *verb.split())):
                self.assertEqual(run(*other).out, page.out, other)
        for group in ("configuration", "server", "output", "letters"):
            self.assertIn(" flags: ", run("help", group).out)
        self.assertEqual(run("--help").out, run("help").out)
        self.assertEqual(run().code, 2)
        self.assertEqual(run().out, run("help").out)

    def test_near_misses(self):
        for arguments, meant in ((["lst"], "list"), (["run_now"], "run-now"), (["dlq", "lst"], "list"), (["config", "chek"], "check"), (["list", "--limt", "5"], "--limit"),
                                 (["help", "wach"], "watch")):
            result = run(*arguments)
            self.assertEqual((result.code, result.out), (2, ""))
            self.assertIn(f"did you mean {meant}?", result.err)

    def test_names_cannot_upset_a_terminal(self):
        for arguments in (["\x1b[2J"], ["dlq", "\x1b[2J"], ["help", "\x1b[2J"], ["list", "--\x1b[2J"], ["completion", "\x1b[2J"], ["list", "-o", "\x1b[2J"], ["get", "a", "\x1b[2J"]):
            result = run(*arguments)
            self.assertEqual(result.code, 2)
            self.assertNotIn("\x1b", result.err)

    def test_a_full_disk_is_no_success(self):
        for arguments in (["--help"], ["list", "--help"], ["completion", "bash"], ["version"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([TARRY, *arguments], stdout=full, stderr=subprocess.DEVNULL, env=environment(), timeout=DEADLINE_S, check=False)
            self.assertEqual(done.returncode, 1, arguments)


if __name__ == "__main__":
    unittest.main()
