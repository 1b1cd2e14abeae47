"""The completion scripts, run by the shells that they are for: what each offers for the same beginnings of lines."""
import os
import pty
import re
import select
import subprocess
import tempfile
import time
import unittest

TARRY = os.environ["E2E_TARRY_BIN"]
DEADLINE_S = 60

VERBS = set("serve demo config schedule list get cancel run-now reschedule pause resume target watch stats forecast check audit dlq completion version help".split())
SERVER = {"--server", "--token-file", "--timeout", "--follow"}

# A line as typed so far -> what is offered, whole.
LINES = {
    "tarry ": VERBS,
    "tarry re": {"reschedule", "resume"},
    "tarry dlq ": set("list get reasons export import replay park edit purge jobs".split()),
    "tarry dlq re": {"reasons", "replay"},
    "tarry config ": {"check", "show", "schema"},
    "tarry target p": {"pause"},
    "tarry completion ": {"bash", "zsh", "fish"},
    "tarry help for": {"forecast"},
    "tarry list --st": {"--state"},
    "tarry list --due": {"--due-from", "--due-to"},
    "tarry list --state ": {"pending", "paused", "undecided"},
    "tarry list --limit 5 --state pe": {"pending"},
    "tarry list -o ": {"json", "jsonl", "table"},
    "tarry dlq list --state w": {"waiting"},
    "tarry schedule --if-exists ": {"replace", "reject"},
    "tarry dlq reasons --by ta": {"target"},
    "tarry dlq jobs pa": {"pause"},
}
FILES = ["tarry config check -c ", "tarry schedule -t x --token-file ", "tarry schedule -t x --in 1s ", "tarry dlq import "]


def script(shell):
    return subprocess.run([TARRY, "completion", shell], capture_output=True, text=True, timeout=DEADLINE_S, check=True).stdout


class Shell(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        os.mkdir(os.path.join(self.folder.name, "here"))
        self.here = os.path.join(self.folder.name, "here")
        for name in ("value.json", "with blank"):
            with open(os.path.join(self.here, name), "w", encoding="utf-8"):
                pass
        self.env = {"PATH": os.path.dirname(TARRY) + ":" + os.environ["PATH"], "HOME": self.folder.name, "TERM": "xterm", "LC_ALL": "C.UTF-8"}

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def check(self, offers):
        for line, expected in LINES.items():
            with self.subTest(line):
                self.assertEqual(offers(line), expected)
        for line in FILES:
            with self.subTest(line):
                self.assertLessEqual({"value.json", "with blank"}, offers(line))
        for line in ("tarry list --source ", "tarry get ", "tarry version "):
            with self.subTest(line):
                self.assertLessEqual(offers(line), {"--help"})


class Bash(Shell):
    def offers(self, line):
        """As bash calls it when the key is pressed: the words, split at its own word breaks."""
        words = [piece for word in re.split(r" +", line) for piece in re.split(r"(=)", word) if piece or not word]
        driver = self.write("driver", script("bash") + 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tarry; printf "%s\\n" "${COMPREPLY[@]}"\n')
        done = subprocess.run(["bash", "--norc", "-u", driver, *words], capture_output=True, text=True, cwd=self.here, env=self.env, timeout=DEADLINE_S, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return set(done.stdout.split("\n")) - {""}

    def test_offers(self):
        self.check(self.offers)
        self.assertEqual(self.offers("tarry list --state=pe"), {"pending"})
        self.assertEqual(self.offers("tarry list --state="), {"pending", "paused", "undecided"})
        self.assertEqual(self.offers("tarry stats --"), SERVER | {"--interval", "--count", "--output", "--help"})

    def test_the_key_itself(self):
        """In a bash with a terminal, by the key."""
        path = self.write("rc", script("bash") + "PS1='$ '\nbind 'set bell-style none'\n")
        shell = Typing(["bash", "--rcfile", path, "-i"], self.here, self.env)
        shell.until("$ ")
        shell.type("tarry resch\t\x01: \x05\n")  # home: made a comment's place, so that nothing runs
        shell.until("tarry reschedule ")
        shell.end("exit\n")


class Fish(Shell):
    def test_offers(self):
        self.write(".config/fish/completions/tarry.fish", script("fish"))

        def offers(line):
            done = subprocess.run(["fish", "-c", "complete -C $argv[1]", line], capture_output=True, text=True, cwd=self.here, env=self.env, timeout=DEADLINE_S, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return {offer.split("\t")[0].replace("\\ ", " ") for offer in done.stdout.split("\n")} - {""}

        self.check(offers)
        self.assertEqual(offers("tarry list --state=pe"), {"--state=pending"})
        self.assertLessEqual(SERVER | {"--interval", "--count", "--output"}, offers("tarry stats --"))


class Typing:
    """A shell on a terminal."""

    def __init__(self, command, folder, env):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=env, start_new_session=True)
        os.close(slave)
        self.text = ""
        self.deadline = time.monotonic() + DEADLINE_S

    def until(self, text):
        while text not in self.text:
            ready, _, _ = select.select([self.master], [], [], max(0, self.deadline - time.monotonic()))
            if not ready:
                self.process.kill()
                raise AssertionError(f"no {text!r} in time; it said: {self.text!r}")
            self.text += os.read(self.master, 65536).decode("utf-8", "replace")

    def type(self, text):
        self.text = ""
        os.write(self.master, text.encode())

    def end(self, text):
        self.type(text)
        try:
            while os.read(self.master, 65536):
                pass
        except OSError:
            pass
        os.close(self.master)
        self.process.wait(DEADLINE_S)


# What zsh would list for a line: its completion runs in a shell on a terminal of its own (zpty), and compadd is replaced by one that prints.
ZSH_RC = """
autoload -Uz compinit && compinit -u -d "$HOME/.zcompdump"
zstyle ':completion:*' list-grouped false
PROMPT='$ '
bindkey '^I' print-offers
print-offers-hook() { compstate[list]=''; compstate[insert]='' }
compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then
        builtin compadd "$@"
        return
    fi
    local -a hits
    builtin compadd -O hits "$@"
    local offer
    for offer in "${hits[@]}"; do print -r -- "OFFER<$offer>" > "$OFFERS"; done
    builtin compadd "$@"
}
_offers() { _main_complete; print -r -- 'OFFERS END' > "$OFFERS"; compstate[list]=''; compstate[insert]='' }
zle -C print-offers complete-word _offers
"""


class Zsh(Shell):
    def test_offers(self):
        self.write("functions/_tarry", script("zsh"))
        self.write(".zshrc", 'fpath=("$HOME/functions" $fpath)\n' + ZSH_RC)
        offers_path = os.path.join(self.folder.name, "offers")
        os.mkfifo(offers_path)
        shell = Typing(["zsh", "-i"], self.here, {**self.env, "OFFERS": offers_path})
        reader = os.open(offers_path, os.O_RDONLY | os.O_NONBLOCK)
        keeper = os.open(offers_path, os.O_WRONLY)
        shell.until("$ ")

        def offers(line):
            said = ""
            shell.type("\x15" + line + "\t")
            while "OFFERS END" not in said:
                ready, _, _ = select.select([reader, shell.master], [], [], DEADLINE_S)
                self.assertTrue(ready, said + shell.text)
                if reader in ready:
                    said += os.read(reader, 65536).decode()
                if shell.master in ready:
                    shell.text += os.read(shell.master, 65536).decode("utf-8", "replace")
            return {offer.replace("\\ ", " ") for offer in re.findall("OFFER<(.*)>", said)}

        self.check(offers)
        self.assertLessEqual(SERVER | {"--interval", "--count"}, {offer.rstrip("=") for offer in offers("tarry stats --")})
        shell.end("\x15exit\n")
        os.close(reader)
        os.close(keeper)

    def test_it_can_be_sourced(self):
        path = self.write("tarry.zsh", script("zsh"))
        done = subprocess.run(["zsh", "-f", "-c", f"autoload -Uz compinit && compinit -u -d {self.folder.name}/dump && source {path} && print -r -- $_comps[tarry]"],
                              capture_output=True, text=True, env=self.env, timeout=DEADLINE_S, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "_tarry\n", ""))


if __name__ == "__main__":
    unittest.main()
