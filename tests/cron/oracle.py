#!/usr/bin/env python3
"""Compares cron_next() with two independent implementations, over random expressions, zones and instants.

    oracle.py --program cron_next_main --packages DIR [--seed N] [--count N] [--show N]

The packages of oracle.txt (exact versions, by hash) are installed into DIR when they are not there: that needs the network, once.

cronsim says of itself that it follows Debian's cron, clock changes included, and is the oracle in all zones. croniter has another opinion on clock changes (it
moves what falls into a gap by its length, and repeats what is shown twice), so that it is asked in UTC alone, where it knows what cronsim does not: years and
the nearest workday (15W).

Where an oracle differs, one of the rules below has to explain it, by its condition, and what tarry says has to be exactly what the rules of scheduler/cron.h
make of the oracle's own calendar, which is then asked without any zone (see documented()). Whatever else differs is an error.

Exit status: 0 all agreed or explained, 1 a difference, 2 the oracle could not be had.
"""
import argparse
import collections
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from datetime import datetime, timedelta, timezone

HERE = os.path.dirname(os.path.abspath(__file__))
UTC = timezone.utc
OCCURRENCES = 3
ORACLE_WAIT_S = 1.5  # of computing
DAY_S = 86400
FIRST_S = 2 * DAY_S  # 1970-01-03: no zone is then before 1970 any more
LAST_S = 2840140800  # 2060-01-01

RULES = {
    "agrees": "the oracle says the same",
    "minute_star": "cronsim, as Debian, takes `*/5 1 * * *` for an interval because its minute begins with a star; tarry looks at the hour alone",
    "seconds": "cronsim treats clock changes only in expressions of five fields; tarry in all",
    "second_pass": "asked while the clock shows an hour for the second time, cronsim tells an occurrence of the first time, which has passed",
    "by_wall": "cronsim steps an interval to the next day or month (or out of a gap) by the wall clock, and so lands beside a change at midnight, or in a gap",
    "endless": "cronsim never answers (stopped after 1.5 s of computing): a clock that goes back over midnight sends it back for ever",
    "fifty_years": "cronsim and croniter give up after 50 years without an occurrence; tarry looks up to 2199",
    "refused": "cronsim refuses at once what tarry refuses after a look at the calendar: days that never come",
    "weekday_step": "of `1/3` in day-of-week croniter ends at Saturday; tarry, cronsim and Spring at 7, Sunday; asked for 1-7/3, croniter agrees",
    "not_asked": "croniter has no LW, and refuses some of what tarry takes, a day that never comes in one of two fields among it",
}

# Zones with something to them; any other is taken now and then.
ZONES = [
    "America/New_York", "Europe/London", "Australia/Lord_Howe", "America/Sao_Paulo", "Pacific/Apia", "Africa/Casablanca", "Africa/Cairo", "America/Santiago",
    "Asia/Tehran", "Europe/Dublin", "America/St_Johns", "Antarctica/Troll", "Asia/Kathmandu", "Pacific/Chatham", "America/Havana", "Asia/Beirut", "Asia/Gaza",
    "Pacific/Kwajalein", "Asia/Amman", "America/Caracas", "Asia/Pyongyang", "America/Scoresbysund", "Africa/Monrovia", "Europe/Lisbon",
]
MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
WEEKDAYS = "SUN MON TUE WED THU FRI SAT".split()


def install(folder):
    """The packages of oracle.txt, into a folder of their own; it appears all at once."""
    wanted = os.path.join(HERE, "oracle.txt")
    with open(wanted, "rb") as file:
        mark = hashlib.sha256(file.read()).hexdigest()
    marker = os.path.join(folder, "installed")
    if os.path.exists(marker) and open(marker, encoding="ascii").read() == mark:
        return True
    part = f"{folder}.part.{os.getpid()}"
    print(f"fetching {wanted} with pip into {folder}", flush=True)
    done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--require-hashes",
                           "--root-user-action", "ignore", "--target", part, "-r", wanted], stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        shutil.rmtree(part, ignore_errors=True)
        return False
    with open(os.path.join(part, "installed"), "w", encoding="ascii") as file:
        file.write(mark)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.dirname(os.path.abspath(folder)), exist_ok=True)
    os.rename(part, folder)
    return True


class Maker:
    """Random triples of expression, zone name and instant (in ms)."""

    def __init__(self, seed, all_zones, zone_of):
        self.random = random.Random(seed)
        self.all_zones = all_zones
        self.zone_of = zone_of

    def chance(self, share):
        return self.random.random() < share

    def case_of(self, name):
        return self.random.choice([name, name.lower(), name.capitalize()])

    def value(self, least, most, names):
        value = self.random.randint(least, most)
        if names and self.chance(0.4) and value - least < len(names):
            return self.case_of(names[value - least])
        return str(value)

    def item(self, least, most, names):
        kind = self.random.random()
        step = self.random.randint(1, max(1, (most - least) // 2))
        if kind < 0.5:
            return self.value(least, most, names)
        low, high = sorted(self.random.sample(range(least, most + 1), 2))
        if kind < 0.8:
            return f"{low}-{high}" if kind < 0.65 else f"{low}-{high}/{step}"
        return f"*/{step}" if kind < 0.92 else f"{low}/{step}"

    def field(self, least, most, star, names=None):
        if self.chance(star):
            return "*"
        count = 1 if self.chance(0.75) else self.random.randint(2, 3)
        return ",".join(self.item(least, most, names) for _ in range(count))

    def day(self, workdays):
        kind = self.random.random()
        if kind < 0.08:
            return "L"
        if kind < 0.14:
            return "LW"
        if kind < 0.2 and workdays:
            return f"{self.random.randint(1, 28)}W"
        return self.field(1, 31, 0.5)

    def weekday(self):
        kind = self.random.random()
        if kind < 0.08:
            return self.value(0, 7, WEEKDAYS) + "L"
        if kind < 0.16:
            return f"{self.value(0, 7, WEEKDAYS)}#{self.random.randint(1, 5)}"
        return self.field(0, 7, 0.55, WEEKDAYS)

    def expression(self, utc):
        if self.chance(0.03):
            return self.random.choice(["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"])
        minute = self.field(0, 59, 0.15)
        # The hours at which clocks change, more than others.
        hour = self.field(0, 23, 0.35) if self.chance(0.6) else self.field(0, 3, 0.0)
        month = self.field(1, 12, 0.7, MONTHS)
        fields = [minute, hour, self.day(utc), month, self.weekday()]
        if self.chance(0.25):
            fields.insert(0, self.field(0, 59, 0.15))
            if utc and self.chance(0.5):
                fields.append(self.random.choice(["*", "2024/4", "2025-2060/3", str(self.random.randint(1975, 2060)), "2031,2044,2052"]))
        return self.random.choice([" ", " ", "  "]).join(fields)

    def instant_s(self, zone_name):
        """Half of them within two days of a change of the zone's clock."""
        at = self.random.randint(FIRST_S, LAST_S)
        zone = self.zone_of(zone_name)
        if zone is not UTC and self.chance(0.5):
            change = next_change(zone, at)
            if change is not None:
                span = self.random.choice([2 * DAY_S, 4 * 3600, 3600, 1])
                at = change + self.random.randint(-span, span)
        return max(at, FIRST_S)

    def triple(self):
        name = "UTC" if self.chance(0.3) else self.random.choice(ZONES if self.chance(0.75) else self.all_zones)
        at_s = self.instant_s(name)
        return self.expression(name == "UTC"), name, at_s * 1000 + self.random.choice([0, 0, 1, 999, self.random.randint(0, 999)])


def offset_s(zone, at_s):
    return int(datetime.fromtimestamp(at_s, zone).utcoffset().total_seconds())


def first_with_other_offset(zone, low, high):
    """The instant in (low, high] from which on the offset is that at high; there is one change in between."""
    wanted = offset_s(zone, high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if offset_s(zone, middle) == wanted else (middle, high)
    return high


def next_change(zone, at_s):
    """A change of offset after at_s, within three years, or None."""
    for low in range(at_s, at_s + 3 * 366 * DAY_S, 7 * DAY_S):
        if offset_s(zone, low) != offset_s(zone, low + 7 * DAY_S):
            return first_with_other_offset(zone, low, low + 7 * DAY_S)
    return None


def shown_at(zone, local):
    """The instants at which the zone's clock shows this local time: none, one or two, in order; and the end of the gap when there is none."""
    found = set()
    ends = []
    for fold in (0, 1):
        at_s = int(local.replace(tzinfo=zone, fold=fold).timestamp())
        ends.append(at_s)
        if datetime.fromtimestamp(at_s, zone).replace(tzinfo=None, fold=0) == local:
            found.add(at_s)
    if found:
        return sorted(found), None
    return [], first_with_other_offset(zone, min(ends), max(ends))


def split_fields(expression):
    shorthands = {"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0", "@daily": "0 0 * * *",
                  "@midnight": "0 0 * * *", "@hourly": "0 * * * *"}
    return shorthands.get(expression, expression).split()


def is_interval(fields):
    return fields[2 if len(fields) > 5 else 1].startswith("*")


def documented(cronsim, fields, zone, after_s):
    """What scheduler/cron.h says, made of cronsim's calendar alone: it is asked without a zone, and each local time is put on the zone's clock here."""
    # Beside a change of days (Apia, Kwajalein) what is shown twice, or never, is a day long.
    far = abs(offset_s(zone, after_s - 26 * 3600) - offset_s(zone, after_s + 26 * 3600)) > 3 * 3600
    slack_s = (26 if far else 3) * 3600
    local = datetime.fromtimestamp(after_s, zone).replace(tzinfo=None, fold=0) - timedelta(seconds=slack_s)
    found = set()
    try:
        for match in cronsim.CronSim(for_cronsim(fields), local):
            instants, end_of_gap = shown_at(zone, match)
            if not is_interval(fields):
                instants = instants[:1] or [end_of_gap]
            found.update(at for at in instants if at > after_s)
            nearest = sorted(found)[:OCCURRENCES]
            if len(nearest) == OCCURRENCES:
                shown = datetime.fromtimestamp(nearest[-1], zone).replace(tzinfo=None, fold=0)
                if match > shown + timedelta(seconds=slack_s):
                    break
    except StopIteration:
        pass
    return sorted(found)[:OCCURRENCES]


class Endless(Exception):
    pass


def give_up(_signal, _frame):
    raise Endless


def of_cronsim(cronsim, fields, zone, after_s):
    """Its own answer: instants, or None when it refuses. Raises Endless when it gives none."""
    found = []
    signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, ORACLE_WAIT_S)
    try:
        simulation = cronsim.CronSim(for_cronsim(fields), datetime.fromtimestamp(after_s, zone))
        for _ in range(OCCURRENCES):
            found.append(int(next(simulation).timestamp()))
    except StopIteration:
        pass
    except cronsim.CronSimError:
        return None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return found


def last_weekday(field):
    """The number of `5L` or `FRIL`, or None."""
    day = field.upper()[:-1]
    if not field.upper().endswith("L") or not day:
        return None
    return WEEKDAYS.index(day) if day in WEEKDAYS else int(day) % 7


def for_cronsim(fields):
    """It has no names before L."""
    last = last_weekday(fields[-1])
    return " ".join(fields if last is None else fields[:-1] + [f"{last}L"])


def expressions_for_croniter(fields):
    """In its words: L5 for 5L. Where a day may match either field, it makes both match as soon as #, L or W is in one: it is asked for each field alone."""
    fields = list(fields)
    day, weekday = (3, 5) if len(fields) > 5 else (2, 4)
    last = last_weekday(fields[weekday])
    if last is not None:
        fields[weekday] = f"L{last}"
    if any(fields[at].startswith("*") for at in (day, weekday)):
        return [" ".join(fields)]
    return [" ".join(fields[:at] + ["*"] + fields[at + 1:]) for at in (weekday, day)]


def to_sunday(fields):
    """1/3 in day-of-week written out as 1-7/3."""
    at = 5 if len(fields) > 5 else 4
    items = [re.sub(r"^(\w+)/", r"\1-7/", item) for item in fields[at].split(",")]
    return fields[:at] + [",".join(items)] + fields[at + 1:]


def of_croniter(croniter, fields, after_s):
    """Its own answer, in UTC: instants, or None when it refuses or has no such thing."""
    if "LW" in [field.upper() for field in fields]:
        return None
    found = set()
    for expression in expressions_for_croniter(fields):
        try:
            iterator = croniter.croniter(expression, datetime.fromtimestamp(after_s, UTC), implement_cron_bug=True, second_at_beginning=True)
            for _ in range(OCCURRENCES):
                found.add(int(iterator.get_next(float)))
        except croniter.CroniterBadDateError:
            pass
        except croniter.CroniterBadCronError:
            return None
    return sorted(found)[:OCCURRENCES]


def starts_short(theirs, ours):
    return len(theirs) < len(ours) and ours[:len(theirs)] == theirs


def gave_up(after_s, theirs, ours):
    """The oracle's list is the beginning of ours, and what comes then is 49 years and more away."""
    if not starts_short(theirs, ours):
        return False
    last = theirs[-1] if theirs else after_s
    return ours[len(theirs)] - last > 49 * 365 * DAY_S


def judge_cronsim(cronsim, fields, zone, after_s, ours):
    """The name of the rule, or None."""
    try:
        theirs = of_cronsim(cronsim, fields, zone, after_s)
    except Endless:
        return "endless" if documented(cronsim, fields, zone, after_s) == ours else None
    if theirs is None or ours is None:
        return "refused" if ours in (None, []) and not theirs else None
    if theirs == ours:
        return "agrees"
    if gave_up(after_s, theirs, ours):
        return "fifty_years"
    if documented(cronsim, fields, zone, after_s) != ours:
        return None
    fixed = not is_interval(fields)
    if zone is UTC:
        return None
    if fixed and len(fields) > 5:
        return "seconds"
    if fixed and fields[0].startswith("*"):
        return "minute_star"
    if fixed and any(at <= after_s for at in theirs):
        return "second_pass"
    if not fixed:
        return "by_wall"
    return None


def judge_croniter(croniter, fields, after_s, ours):
    theirs = of_croniter(croniter, fields, after_s)
    if theirs is None:
        return "not_asked"
    if ours is None:
        return "refused" if not theirs else None
    if theirs == ours:
        return "agrees"
    if gave_up(after_s, theirs, ours):
        return "fifty_years"
    if of_croniter(croniter, to_sunday(fields), after_s) == ours:
        return "weekday_step"
    return None


def ask_tarry(program, zones, triples):
    lines = "".join(f"{name}\t{at_ms}\t{expression}\n" for expression, name, at_ms in triples)
    answered = subprocess.run([program, zones], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    if len(answered) != len(triples):
        raise SystemExit(f"{program} answered {len(answered)} of {len(triples)} lines")
    answers = []
    for line in answered:
        if line.startswith("no zone"):
            raise SystemExit(line)
        answers.append(None if line.startswith("refused") else [int(word) // 1000 for word in line.split() if word != "never"])
    return answers


def show(zone, instants):
    return "refused" if instants is None else ", ".join(datetime.fromtimestamp(at, zone).isoformat() for at in instants) or "never"


def report(label, counts):
    print(f"{label}:")
    for name, count in counts.most_common():
        print(f"  {count:6} {name}: {RULES.get(name, 'no rule')}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--packages", required=True)
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--show", type=int, default=10, help="so many unexplained differences are shown")
    parser.add_argument("--show-endless", action="store_true")
    options = parser.parse_args()
    if not install(options.packages):
        print("oracle.py: the packages of tests/cron/oracle.txt could not be had; pip's words are above")
        return 2
    sys.path.insert(0, options.packages)
    import zoneinfo

    import croniter
    import cronsim.cronsim as cronsim

    zones = os.path.join(os.path.abspath(options.packages), "tzdata", "zoneinfo")
    zoneinfo.reset_tzpath([zones])
    names = sorted(name for name in zoneinfo.available_timezones() if os.path.isfile(os.path.join(zones, name)) and name != "UTC")

    def zone_of(name):
        return UTC if name == "UTC" else zoneinfo.ZoneInfo(name)

    print(f"seed {options.seed}, {options.count} triples, {len(names)} zones", flush=True)
    maker = Maker(options.seed, names, zone_of)
    triples = [maker.triple() for _ in range(options.count)]
    answers = ask_tarry(options.program, zones, triples)
    counts = {"cronsim": collections.Counter(), "croniter": collections.Counter()}
    wrong = 0
    for (expression, name, at_ms), ours in zip(triples, answers):
        fields, zone, after_s = split_fields(expression), zone_of(name), at_ms // 1000
        judged = {}
        if len(fields) < 7 and "W" not in fields[-3].upper().replace("LW", ""):
            judged["cronsim"] = judge_cronsim(cronsim, fields, zone, after_s, ours)
        if zone is UTC:
            judged["croniter"] = judge_croniter(croniter, fields, after_s, ours)
        for oracle, rule in judged.items():
            counts[oracle][rule or "UNEXPLAINED"] += 1
            if rule == "endless" and options.show_endless:
                print(f"endless: `{expression}` in {name} after {show(zone, [after_s])}")
            if rule is None:
                wrong += 1
                if wrong <= options.show:
                    theirs = of_cronsim(cronsim, fields, zone, after_s) if oracle == "cronsim" else of_croniter(croniter, fields, after_s)
                    print(f"`{expression}` in {name} after {show(zone, [after_s])}\n  tarry    {show(zone, ours)}\n  {oracle:8} {show(zone, theirs)}")
                    if oracle == "cronsim" and ours is not None and theirs is not None:
                        print(f"  cron.h   {show(zone, documented(cronsim, fields, zone, after_s))}")
    for oracle, found in counts.items():
        report(oracle, found)
        if found["agrees"] < 0.9 * sum(found.values()):
            print(f"{oracle} agrees in less than 9 of 10: rules that explain everything prove nothing")
            wrong += 1
    print(f"{wrong} unexplained")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
