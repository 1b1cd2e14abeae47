#!/usr/bin/env python3
"""Checks that the C code keeps the rules of the house, and prints its measures.

    lint.py --root DIR [--archives libroom_base.a ...]    all rules; symbols are read from the archives with nm
    lint.py --self-test                                   feeds each rule something bad and something good

Exit status: 0 clean, 1 something found, 2 wrong usage. What each rule wants stands in RULES below.
"""
import argparse
import bisect
import fnmatch
import os
import re
import subprocess
import sys
import tempfile

RULES = {
    "include": "a room includes only what INCLUDES allows; system headers only as SYSTEM says",
    "third-party": "a third-party header only in the files that adapt it, and in no header that another room gets to see",
    "symbol": "a symbol that other files see begins with its file's stem (or is declared in the header of that stem)",
    "function": "a function has at most 70 lines",
    "file": "a file has at most 400 lines, a test 700",
    "banned": "calls in BANNED are not made",
    "comment": "comments are /* */",
    "brace": "a function's brace stands on a line of its own",
    "tab": "no tabs, no carriage returns",
    "blank": "no blanks at the end of a line, one line end at the end of the file",
    "leftover": "no note that something is still to be done: do it, or file it",
    "guard": "a room's header is guarded by TARRY_<ROOM>_<STEM>_H",
}

FUNCTION_LINES = 70
FILE_LINES = 400
TEST_LINES = 700

ROOMS = ["base", "scheduler", "store", "bridge", "dlq", "ops", "cli", "tests", "bench"]
EVERYTHING = ROOMS

# Room -> rooms it may include. A pair limits that to some headers (ARCHITECTURE.md).
SHARED_OF_SCHEDULER = ("scheduler", ["types.h", "core.h", "metadata.h", "bucket.h", "frontier.h", "retry.h"])
INCLUDES = {
    "base": ["base"],
    "scheduler": ["base", "scheduler"],
    "store": ["base", SHARED_OF_SCHEDULER, "store"],
    "bridge": ["base", SHARED_OF_SCHEDULER, "bridge"],
    "dlq": ["base", SHARED_OF_SCHEDULER, "dlq"],
    "ops": ["base", "scheduler", "store", "bridge", "dlq", "ops"],
    "cli": ["base", "scheduler", "store", "bridge", "dlq", "ops", "cli"],
    "tests": EVERYTHING,
    "bench": EVERYTHING,
}

# Header of a library -> the files that adapt it.
THIRD_PARTY = {
    "librdkafka/*": ["bridge/kafka_*.[ch]", "bridge/source*.[ch]", "bridge/sink*.[ch]", "bridge/admin*.[ch]", "bridge/topic_facts.c", "bridge/mock_cluster.c", "bridge/playground.c", "bridge/letter_sink*.[ch]", "bridge/nack_source*.[ch]", "bridge/request_sink*.[ch]"],
    "nats/*": ["dlq/link*.[ch]", "dlq/streams*.[ch]", "dlq/mailer*.[ch]", "dlq/outbox*.[ch]", "dlq/reader*.[ch]", "dlq/nack_stream*.[ch]", "dlq/jobs*.[ch]"],
    "lmdb.h": ["store/store_internal.h", "store/store*.c"],
    "yaml.h": ["ops/yaml_tree.c"],
    "cjson/*": ["ops/json.c", "ops/api_*.c", "ops/config_schema.c", "dlq/letter_json*.c", "dlq/mailer_answer.c", "dlq/jobs*.c", "cli/dlq_job.c", "cli/api_client_answer.c", "cli/json_line.c", "cli/event_*.c", "cli/schedule_request.c", "cli/verb_*.c"],
    "curl/*": ["cli/api_client*.[ch]"],
    "microhttpd.h": ["ops/http*.c"],
    "xxhash.h": ["bridge/decode_fingerprint.c", "bridge/decode_spread.c", "bridge/sink_topic.c", "dlq/letter*.c", "dlq/mailer_large.c", "dlq/reader_get.c", "ops/history.c", "ops/daemon_ids.c", "ops/api_idempotency.c"],
    "zlib.h": ["bridge/source_record.c"],
    "cmocka.h": [],
}

C_HEADERS = "assert ctype inttypes limits math stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib string".split()
PURE_HEADERS = "assert inttypes limits stdarg stdbool stddef stdint stdio stdlib string".split()
POSIX_HEADERS = ("arpa/inet dirent errno fcntl ftw getopt locale netdb netinet/in netinet/tcp poll pthread regex sched semaphore setjmp signal spawn "
                 "strings sys/epoll sys/eventfd sys/file sys/ioctl sys/mman sys/mount sys/prctl sys/ptrace sys/random sys/resource sys/select sys/signalfd "
                 "sys/socket sys/stat sys/statfs sys/statvfs sys/syscall sys/time sys/timerfd sys/timex sys/types sys/un sys/utsname sys/wait "
                 "sysexits syslog termios threads time unistd").split()
# Rooms not named here may use all of both.
SYSTEM = {"scheduler": PURE_HEADERS}

# Ours is base/memory.h, which does not fail; tests may do as they like.
ALLOCATE = ["base/memory.c", "tests/*", "bench/*"]

# Call -> files (patterns) in which it is fine all the same.
BANNED = {
    "strcpy": [], "strcat": [], "sprintf": [], "vsprintf": [], "strtok": [], "gets": [], "atoi": [], "atol": [], "atoll": [], "atof": [],
    "sscanf": [], "scanf": [], "fscanf": [], "alloca": [], "gmtime": [], "localtime": [], "ctime": [], "asctime": [], "rand": [], "srand": [],
    "usleep": [], "signal": ["tests/*"], "exit": ["*/main.c", "tests/*", "bench/*"], "system": [], "tmpnam": [], "mktemp": [],
    "malloc": ALLOCATE, "calloc": ALLOCATE, "realloc": ALLOCATE, "reallocarray": ALLOCATE,
    "strdup": ALLOCATE, "strndup": ALLOCATE, "asprintf": [], "vasprintf": [],
}

# Symbols that keep a name of their own, each with its reason. Keep it tiny.
SYMBOL_EXCEPTIONS = {
    "main": "the language says so",
}

LEFTOVERS = ["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"]
BANNED_CALL = re.compile(r"(?<![\w.>])(%s)\s*\(" % "|".join(map(re.escape, sorted(BANNED, key=len, reverse=True))))
LEFTOVER = re.compile(r"\b(%s)\b" % "|".join(LEFTOVERS))
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank_out(text):
    """A text of the same shape whose inside only has blanks, so that line numbers stay."""
    return re.sub(r"[^\n]", " ", text)


class Source:
    """One file, read and taken apart."""

    def __init__(self, root, path):
        self.path = path
        self.room = path.split("/")[0]
        with open(os.path.join(root, path), encoding="utf-8", newline="") as file:
            self.text = file.read()
        self.lines = self.text.split("\n")
        self.line_starts = [0]
        for line in self.lines:
            self.line_starts.append(self.line_starts[-1] + len(line) + 1)
        self.line_comments = []
        comments = []
        code = []
        at = 0
        for match in TOKEN.finditer(self.text):
            code.append(self.text[at:match.start()])
            token = match.group()
            if token.startswith("//"):
                self.line_comments.append(self.line_at(match.start()))
            if token.startswith(("//", "/*")):
                comments.append((match.start(), match.end()))
            code.append(token[0] + blank_out(token[1:-1]) + token[-1] if token[0] in "\"'" else blank_out(token))
            at = match.end()
        code.append(self.text[at:])
        self.code = "".join(code)
        self.comment_lines = len({n for start, end in comments for n in range(self.line_at(start), self.line_at(end - 1) + 1)})
        self.includes = [(self.line_at(m.start()), m.group(1) == "<", m.group(2)) for m in INCLUDE.finditer(self.text)]
        self.functions = find_functions(self.code)

    def line_at(self, position):
        return bisect.bisect_right(self.line_starts, position)

    def line_count(self):
        return len(self.lines) - 1 if self.text.endswith("\n") else len(self.lines)


def find_functions(code):
    """[(name, first line, lines)] for each function in the style of the house: brace and closing brace in the first column."""
    lines = code.split("\n")
    functions = []
    start = None
    for number, line in enumerate(lines):
        if line.rstrip() == "{":
            start = number
        elif line.startswith("}") and start is not None:
            first = start - 1
            while first > 0 and lines[first - 1].strip() and not re.search(r"[;}]\s*$|^\s*#", lines[first - 1]):
                first -= 1
            names = re.findall(r"(\w+)\s*\(", re.sub(r"__attribute__\s*\(\(.*?\)\)", "", " ".join(lines[first:start])))
            functions.append((names[0] if names else "?", first + 1, number - first + 1))
            start = None
    return functions


def matches(path, patterns):
    return any(fnmatch.fnmatch(path, pattern) for pattern in patterns)


def third_party_files(header):
    for pattern, files in THIRD_PARTY.items():
        if fnmatch.fnmatch(header, pattern):
            return files
    return None


def check_system_include(source, header):
    files = third_party_files(header)
    if files is not None:
        fine = source.room in ("tests", "bench") or matches(source.path, files)
        return None if fine else ("third-party", f"<{header}> is for {', '.join(files) or 'tests'} only")
    known = SYSTEM.get(source.room, C_HEADERS + POSIX_HEADERS)
    if header[:-2] not in known or not header.endswith(".h"):
        return ("include", f"<{header}> is not for {source.room}/ (or unknown to the tables of this script)")
    return None


def check_own_include(source, header):
    if "/" not in header:
        return ("include", f'"{header}": write the path from the root of the project') if source.room != "tests" else None
    room, _, name = header.partition("/")
    for allowed in INCLUDES.get(source.room, []):
        if allowed == room or (isinstance(allowed, tuple) and allowed[0] == room and name in allowed[1]):
            return None
    if source.room == "tests" and room not in ROOMS:
        return None  # relative to the tests' own folder
    return ("include", f'{source.room}/ may not include "{header}"')


def check_includes(source):
    for line, system, header in source.includes:
        problem = check_system_include(source, header) if system else check_own_include(source, header)
        if problem:
            yield (problem[0], source.path, line, problem[1])


def check_measures(source):
    most = TEST_LINES if source.room == "tests" else FILE_LINES
    if source.line_count() > most:
        yield ("file", source.path, source.line_count(), f"{source.line_count()} lines, at most {most}")
    for name, line, length in source.functions:
        if length > FUNCTION_LINES:
            yield ("function", source.path, line, f"{name} has {length} lines, at most {FUNCTION_LINES}")


def check_calls(source):
    for match in BANNED_CALL.finditer(source.code):
        if not matches(source.path, BANNED[match.group(1)]):
            yield ("banned", source.path, source.line_at(match.start()), f"{match.group(1)}() is banned")


def check_style(source):
    for line in source.line_comments:
        yield ("comment", source.path, line, "a // comment")
    for match in re.finditer(r"^[A-Za-z_][^;={}#\n]*\)[ \t]*\{[ \t]*$", source.code, re.M):
        yield ("brace", source.path, source.line_at(match.start()), "the brace belongs on the next line")
    for number, line in enumerate(source.lines, 1):
        if "\t" in line or "\r" in line:
            yield ("tab", source.path, number, "a tab or carriage return")
        if line.endswith(" "):
            yield ("blank", source.path, number, "blanks at the end")
        if LEFTOVER.search(line):
            yield ("leftover", source.path, number, LEFTOVER.search(line).group(1))
    if not source.text.endswith("\n") or source.text.endswith("\n\n"):
        yield ("blank", source.path, len(source.lines), "the file must end in exactly one line end")


def guards_of(path):
    """What the header may be guarded by; a room's name need not be said twice (store/store_job.h: TARRY_STORE_JOB_H)."""
    room, _, name = path.partition("/")
    names = [f"{room}_{name}", name] if name.startswith(room + "_") else [f"{room}_{name}"]
    return ["TARRY_" + re.sub(r"\W", "_", each).upper() for each in names]


def check_guard(source):
    if source.path.endswith(".h") and source.room != "tests":
        guards = guards_of(source.path)
        if not any(f"#ifndef {guard}\n#define {guard}\n" in source.text for guard in guards):
            yield ("guard", source.path, 1, f"{' or '.join(guards)} expected")


def check_leaks(sources):
    """Third-party headers that another room gets to see through a header of ours."""
    by_path = {source.path: source for source in sources}
    seen = {}

    def reached(path):
        if path not in seen:
            seen[path] = set()
            for _, system, header in by_path[path].includes if path in by_path else []:
                seen[path] |= {header} if system and third_party_files(header) is not None else set()
                seen[path] |= reached(header) if not system else set()
        return seen[path]

    for source in sources:
        if source.room in ("tests", "bench"):
            continue
        for line, system, header in source.includes:
            if not system and header.partition("/")[0] != source.room and reached(header):
                yield ("third-party", source.path, line, f'"{header}" shows <{", ".join(sorted(reached(header)))}> to another room')


def header_declares(by_path, room, stem, symbol):
    """True when a header whose stem is `stem` or its beginning (store.h for store_lock.c) declares the symbol, which carries its name."""
    words = stem.split("_")
    for count in range(len(words), 0, -1):
        prefix = "_".join(words[:count])
        header = by_path.get(f"{room}/{prefix}.h")
        named = symbol == prefix or symbol.startswith(prefix + "_")
        if header is not None and named and re.search(rf"\b{re.escape(symbol)}\b", header.code):
            return True
    return False


def check_symbols(room, nm_output, by_path):
    """nm_output: of `nm -A -g --defined-only ARCHIVE`, one `archive:member.c.o:address type name` a line."""
    for line in nm_output.splitlines():
        match = re.match(r"^.*?:([^:]+)\.c\.o:\s*[0-9a-fA-F]*\s+\S\s+(\S+)$", line)
        if not match or match.group(2).startswith("__") or match.group(2) in SYMBOL_EXCEPTIONS:
            continue
        stem, symbol = match.groups()
        fine = symbol == stem or symbol.startswith(stem + "_") or header_declares(by_path, room, stem, symbol)
        if not fine:
            yield ("symbol", f"{room}/{stem}.c", 1, f"{symbol} does not begin with {stem}_: rename it, or make it static")


def check_archives(archives, by_path):
    for archive in archives:
        room = re.sub(r"^lib(room_)?|\.a$", "", os.path.basename(archive))
        nm = subprocess.run(["nm", "-A", "-g", "--defined-only", archive], capture_output=True, text=True, check=True)
        yield from check_symbols(room, nm.stdout, by_path)


def read_sources(root):
    sources = []
    for room in ROOMS:
        for folder, folders, files in os.walk(os.path.join(root, room)):
            folders.sort()
            for name in sorted(files):
                if name.endswith((".c", ".h")):
                    sources.append(Source(root, os.path.relpath(os.path.join(folder, name), root)))
    return sources


def check_all(sources):
    for source in sources:
        for check in (check_includes, check_measures, check_calls, check_style, check_guard):
            yield from check(source)
    yield from check_leaks(sources)


def percentile(numbers, share):
    return sorted(numbers)[min(len(numbers) - 1, int(len(numbers) * share))] if numbers else 0


def measures(name, sources):
    """One row of the table; headers count as lines and comments, files and functions are those of .c files."""
    files = [s for s in sources if s.path.endswith(".c")]
    functions = [(length, name_, s.path) for s in files for name_, _, length in s.functions]
    lengths = [length for length, _, _ in functions]
    lines = sum(s.line_count() for s in sources)
    asserts = sum(len(re.findall(r"\b(?:assert\w*|INVARIANT|_Static_assert)\s*\(", s.code)) for s in sources)
    longest = max(functions, default=(0, "-", ""))
    largest = max(((s.line_count(), os.path.basename(s.path)) for s in sources), default=(0, "-"))
    over = sum(length > FUNCTION_LINES for length in lengths)
    return [name, len(files), lines, percentile([s.line_count() for s in sources], 0.5), f"{largest[0]} {largest[1]}", len(functions),
            percentile(lengths, 0.5), percentile(lengths, 0.9), f"{longest[0]} {longest[1]}", over,
            f"{100 * sum(s.comment_lines for s in sources) // max(lines, 1)} %", f"{100 * asserts / max(lines, 1):.1f}"]


def print_table(sources):
    head = ["room", ".c files", "lines", "median file", "largest file", "functions", "median fn", "p90 fn", "longest fn", "> 70",
            "comments", "asserts/100"]
    rows = [measures(room, [s for s in sources if s.room == room]) for room in ROOMS]
    rows = [row for row in rows if row[2] > 0]
    rows.append(measures("all but tests", [s for s in sources if s.room != "tests"]))
    widths = [max(len(str(row[i])) for row in [head] + rows) for i in range(len(head))]
    for row in [head] + rows:
        print("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip())


# ------------------------------------------------------------------------------------------------------ self-test

GOOD_C = """/* Good. */
#include "base/good.h"

#include <stdlib.h>

/* Says // and "exit(1)" in a comment. */
static const char text[] = "// strcpy(a, b) \\" exit(1)";

int good_call(int number)
{
    if (number > 0) {
        return my_exit(number) + queue->exit(3) + (int)sizeof(text);
    }
    return 0;
}
"""
GOOD_H = "/* Good. */\n#ifndef TARRY_BASE_GOOD_H\n#define TARRY_BASE_GOOD_H\n\nint good_call(int number);\n\n#endif\n"


def guarded(path, body):
    guard = guards_of(path)[0]
    return f"#ifndef {guard}\n#define {guard}\n{body}#endif\n"


def function_of(lines):
    return "void bad_long(void)\n{\n" + "    call();\n" * (lines - 3) + "}\n"


# (rule or None, {path: text})
FILE_CASES = [
    (None, {"base/good.c": GOOD_C, "base/good.h": GOOD_H}),
    (None, {"store/store_job.h": "#ifndef TARRY_STORE_JOB_H\n#define TARRY_STORE_JOB_H\n#endif\n"}),
    (None, {"store/a.c": '#include "scheduler/types.h"\n#include <errno.h>\n'}),
    (None, {"bridge/source.c": "#include <librdkafka/rdkafka.h>\n"}),
    (None, {"base/a.c": function_of(FUNCTION_LINES)}),
    (None, {"tests/unit/test_a.c": "#include <cmocka.h>\n" + "int a;\n" * (TEST_LINES - 1)}),
    (None, {"base/memory.c": "void *memory_new(void)\n{\n    return malloc(1);\n}\n"}),
    (None, {"cli/main.c": "int main(void)\n{\n    exit(1);\n}\n"}),
    ("include", {"base/a.c": '#include "scheduler/types.h"\n'}),
    ("include", {"store/a.c": '#include "bridge/row.h"\n'}),
    ("include", {"bridge/a.c": '#include "store/store.h"\n'}),
    ("include", {"store/a.c": '#include "scheduler/wheel.h"\n'}),
    ("include", {"scheduler/a.c": "#include <time.h>\n"}),
    ("include", {"scheduler/a.c": "#include <errno.h>\n"}),
    ("include", {"scheduler/a.c": "# include <pthread.h>\n"}),
    ("include", {"ops/a.c": "#include <openssl/ssl.h>\n"}),
    ("include", {"ops/a.c": '#include "a.h"\n'}),
    ("third-party", {"ops/a.c": "#include <librdkafka/rdkafka.h>\n"}),
    ("third-party", {"scheduler/a.c": "#include <lmdb.h>\n"}),
    ("third-party", {"bridge/a.c": "#include <cmocka.h>\n"}),
    ("third-party", {"ops/a.c": '#include "bridge/kafka_a.h"\n',
                     "bridge/kafka_a.h": guarded("bridge/kafka_a.h", "#include <librdkafka/rdkafka.h>\n")}),
    ("third-party", {"ops/a.c": '#include "bridge/b.h"\n', "bridge/b.h": guarded("bridge/b.h", '#include "bridge/kafka_a.h"\n'),
                     "bridge/kafka_a.h": guarded("bridge/kafka_a.h", "#include <librdkafka/rdkafka.h>\n")}),
    ("function", {"base/a.c": function_of(FUNCTION_LINES + 1)}),
    ("file", {"base/a.c": "int a;\n" * (FILE_LINES + 1)}),
    ("file", {"tests/unit/test_a.c": "int a;\n" * (TEST_LINES + 1)}),
    ("banned", {"ops/a.c": "void a(void)\n{\n    strcpy(a, b);\n}\n"}),
    ("banned", {"ops/a.c": "void a(void)\n{\n    exit (1);\n}\n"}),
    ("banned", {"ops/a.c": "void a(void)\n{\n    b = malloc(1);\n}\n"}),
    ("banned", {"tests/unit/test_a.c": "void a(void)\n{\n    usleep(1);\n}\n"}),
    ("comment", {"base/a.c": "int a; // why\n"}),
    ("brace", {"base/a.c": "static void a(int b) {\n}\n"}),
    ("tab", {"base/a.c": "int\ta;\n"}),
    ("tab", {"base/a.c": "int a;\r\n"}),
    ("blank", {"base/a.c": "int a; \n"}),
    ("blank", {"base/a.c": "int a;"}),
    ("blank", {"base/a.c": "int a;\n\n"}),
    ("guard", {"base/a.h": "#ifndef A_H\n#define A_H\n#endif\n"}),
] + [("leftover", {"base/a.c": f"/* {word}: later */\n"}) for word in LEFTOVERS]

# (wanted findings, line of nm)
SYMBOL_CASES = [
    (0, "lib.a:good.c.o:0000000000000000 T good_call"),
    (0, "lib.a:good.c.o:0000000000000000 T good"),
    (0, "lib.a:good_more.c.o:0000000000000000 T good_call"),
    (0, "lib.a:good.c.o:0000000000000000 D __odr_asan.x"),
    (0, "lib.a:main.c.o:0000000000000000 T main"),
    (1, "lib.a:good.c.o:0000000000000000 T goodish"),
    (1, "lib.a:good.c.o:0000000000000000 T other_call"),
    (1, "lib.a:good.c.o:0000000000000000 B counter"),
    (1, "lib.a:good_more.c.o:0000000000000000 T good_unknown"),
    (1, "lib.a:other.c.o:0000000000000000 T good_call"),
]


def write_tree(root, files):
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        with open(os.path.join(root, path), "w", encoding="utf-8", newline="") as file:
            file.write(text)


def findings_of(files):
    with tempfile.TemporaryDirectory() as root:
        write_tree(root, files)
        return list(check_all(read_sources(root)))


def self_test():
    failures = []
    tested = set()
    for rule, files in FILE_CASES:
        found = {finding[0] for finding in findings_of(files)}
        tested.add(rule)
        if found != ({rule} if rule else set()):
            failures.append(f"wanted {rule}, found {sorted(found)} in {files}")
    with tempfile.TemporaryDirectory() as root:
        write_tree(root, {"base/good.h": GOOD_H})
        by_path = {source.path: source for source in read_sources(root)}
        for wanted, line in SYMBOL_CASES:
            found = list(check_symbols("base", line, by_path))
            tested.add("symbol")
            if len(found) != wanted:
                failures.append(f"wanted {wanted} findings, found {found} in {line}")
    for rule in set(RULES) - tested:
        failures.append(f"rule {rule} has no case")
    for failure in failures:
        print(failure)
    print(f"{len(FILE_CASES) + len(SYMBOL_CASES)} cases, {len(failures)} failures")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root")
    parser.add_argument("--archives", nargs="*", default=[])
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    if not arguments.root:
        parser.error("--root or --self-test is needed")
    sources = read_sources(arguments.root)
    if not sources:
        parser.error(f"no C file under {arguments.root}")
    print_table(sources)
    by_path = {source.path: source for source in sources}
    findings = list(check_all(sources)) + list(check_archives(arguments.archives, by_path))
    for rule, path, line, text in sorted(findings):
        print(f"{path}:{line}: {rule}: {text}")
    for rule in sorted({finding[0] for finding in findings}):
        print(f"rule {rule}: {RULES[rule]}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
