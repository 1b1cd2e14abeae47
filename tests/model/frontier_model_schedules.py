#!/usr/bin/env python3
"""The frontier protocol with schedules that people steer: the third model, beside frontier_model.py and frontier_model_inflight.py.

One input partition, two instances with clocks that differ and step. Transactions are in flight while reading goes on, and end in a commit, an abort
or a crash at each boundary; disks are stale or lost; fenced instances act on; other people's transactions hold the last stable offset. On top of R1
to R7: undecided records (R10), if-exists: reject, the dedupe fold, recurrences, and people who move and pause schedules. Both delivery modes.
Checked for every seed:
  all       what nothing cancelled, replaced or refused comes out, each occurrence of it, and each undecided record is decided
  once      exactly once under exactly_once; under at_least_once at most once in each life of an instance
  no fork   each record goes on as at most one re-append
  early     nothing comes out before it is due by the clock of the instance that fires it
  obeyed    no output by an instance that had read a cancel or replacement of it, nor by any that began after somebody had
  refused   what was rejected, dropped or a duplicate comes out in no life, and each decision is made once and was right when it was made
  equal     each life judges duplicates as a reading of the whole log does
  steered   after DONE nothing leaves at the due time that was given up
RULES names what makes this hold; BROKEN says within how many seeds the model must fail without each.
Run: frontier_model_schedules.py FIRST_SEED LAST_SEED [RULE=off ...]   or   frontier_model_schedules.py broken
"""
import random
import sys
from dataclasses import replace

from frontier_model import END, NONE, Frontier
from frontier_model_schedules_world import (ACCEPT, DROP, LANES, PAUSED, REJECT, UNDECIDED, Fold, Output, Record, Transaction, World, Wrong,
                                            root_of)

RULES = dict(
    high_water=True,        # R10: nothing is decided before the high watermark of the assignment is read
    moving=True,            # R10: what is written again and not read back counts as pending
    moving_accepted=True,   # R10: so does what was accepted and is not written yet
    moving_control=True,    # R10: but no more once a control of its id was read
    newer_drops=True,       # R10: a newer control drops it undecided
    keep_marks=True,        # R10: marks stay while something is undecided
    again=True,             # R10: the decision is asked for again when it is written
    one_transaction=True,   # R4: a re-append and the F that passes the old one are one transaction
    postponed=True,         # R4: after an abort what was delivered is only written again, not delivered again
    undecided_stay=True,    # R6: what is undecided is not copied forward
    marks=True,             # R5: marks end re-appends of older roots
    mark_end=True,          # R5: a mark made while re-appends are under way reaches to their end
    root=True,              # R4: a re-append carries the root
    displaces=True,         # R5: a re-append that is read displaces the pending one of its own root
    blocked=True,           # steering: the old one is blocked while it is moved
    catch_up=True,          # R2
    moves_known=True,       # R2: F says that moves may be out: then reading goes to the high watermark first
    held=True,              # dedupe: C stays at or below each entry
    skipped=True,           # dedupe: C stays out of (entry, duplicate]
    log_time=True,          # dedupe: entries end by the log's timestamps, not by our clock
    span=True,              # dedupe: entries end by their distance in offsets, not by their number
)

# A model that catches nothing proves nothing: within how many seeds each broken rule makes one fail.
BROKEN = {**dict.fromkeys(RULES, 40), 'high_water': 80, 'undecided_stay': 300}


class Instance:
    def __init__(self, world, exactly, rng, name):
        self.world, self.exactly, self.rng, self.name, self.rules = world, exactly, rng, name, world.rules
        self.disk, self.alive, self.skew, self.transaction, self.building = None, False, 0, None, None

    # ------------------------------------------------------------------------------------------ begin and end

    def start(self):
        w, rng = self.world, self.rng
        w.epoch += 1
        w.floor[w.epoch] = w.read
        self.epoch, self.alive, self.transaction = w.epoch, True, None
        for t in list(w.open):
            if t.offsets_in:                          # offsets are asked for as stable: its end is waited for
                w.finish(t, t.phase >= 2 and rng.random() < 0.5)
            elif t.owner == self.name:                # init_transactions
                w.finish(t, False)
        self.lanes, self.proved, self.high, self.own_end = [replace(f) for f in w.lanes], 0, len(w.log), 0
        self.moves_end, self.low_known = self.high if w.moves else 0, w.C
        self.pending, self.marks, self.skips, self.read, self.known = {}, {}, [], w.C, 0
        if self.disk:                                 # R3
            pending, marks, skips, read = self.disk
            self.pending = {o: r for o, r in pending.items() if o >= w.C and not self.lanes[r.lane].done(o, r.key_due)}
            self.marks = {i: (o, max(end if end < END else 0, self.high)) for i, (o, end) in marks.items() if o >= w.C}
            self.skips, self.known = list(skips), max(read, w.C)
        self.fold = Fold(w.window, self.rules)
        if not w.window:
            self.read = max(self.read, self.known)    # else the fold needs what is between
        self.ids = {r.id: o for o, r in self.pending.items() if r.id is not NONE and not r.condition}
        self.moving, self.sent, self.verdicts, self.queue, self.fetched = {}, {}, {}, [], self.read
        self.caught_up = max([w.stable()] + [f.I for f in w.lanes]) if self.rules['catch_up'] else 0
        if self.rules['moves_known']:
            self.caught_up = max(self.caught_up, self.moves_end)

    def crash(self):
        self.world.out += [s for s in self.sent.values() if isinstance(s, Output) and self.rng.random() < 0.5]
        self.alive = False

    def checkpoint(self):
        if self.read >= self.known:
            self.disk = (dict(self.pending), dict(self.marks), list(self.skips), self.read)

    # ------------------------------------------------------------------------------------------ reading

    def fetch(self):
        stable = self.world.stable()
        self.queue += range(self.fetched, stable)
        self.fetched = max(self.fetched, stable)

    def drop(self, offset):
        record = self.pending.pop(offset, None)
        if record and self.ids.get(record.id) == offset:
            del self.ids[record.id]

    def ingest(self, most, now):
        self.world.read_truth(self.fetched)
        self.fold.forget_by_clock(now)
        while most and self.queue:
            most, offset = most - 1, self.queue.pop(0)
            self.read = offset + 1
            self.world.read = max(self.world.read, self.read)
            if self.world.visible(offset):
                self.take(offset, self.world.log[offset][0])
            self.moving = {i: m for i, m in self.moving.items() if m[1] is None or m[1] > self.read}

    def take(self, offset, record):
        duplicate = self.fold.is_duplicate(offset, record)
        if duplicate != (offset in self.world.duplicates):
            raise Wrong(f'unequal: {offset} is judged a duplicate: {duplicate}')
        if offset < self.known or duplicate:     # below the checkpoint's position: read for the fold alone
            return
        if record.id is not NONE and not self.control(offset, record):
            return
        if record.kind == 'cancel' or self.lanes[record.lane].done(offset, record.key_due):
            return
        self.pending[offset] = record
        if record.id is not NONE and not record.condition:
            self.ids[record.id] = offset

    def control(self, offset, record):
        """R5, and R10: what is conditional acts on nothing. False: it is ended already."""
        again, root, mark = record.root >= 0, root_of(record, offset), self.marks.get(record.id)
        if again and mark and mark[0] > root and self.rules['marks']:
            self.skips.append((mark[0], offset))
            return False
        if record.condition:
            return True
        pending = self.ids.get(record.id)
        rest = pending is not None and again and root_of(self.pending[pending], pending) == root and not self.rules['displaces']
        if again and pending is not None and root_of(self.pending[pending], pending) > root:
            self.skips.append((root_of(self.pending[pending], pending), offset))
            return False
        if not again:
            under_way = self.transaction and self.transaction.copies and self.rules['mark_end']
            end = END if under_way else max(self.high, self.own_end)
            if end > offset + 1 or (self.any_undecided() and self.rules['newer_drops']):
                self.marks[record.id] = (offset, end)
            if self.rules['moving_control']:
                self.moving.pop(record.id, None)
        if pending is not None and not rest:
            self.drop(pending)
        return True

    def any_undecided(self):
        return any(r.undecided for r in self.pending.values())

    # ------------------------------------------------------------------------------------------ firing

    def choose(self, lane, now, most, passed=None):
        """R1. With `passed` (at least once): the frontier of what is acknowledged."""
        f, mine = self.lanes[lane], {o: r for o, r in self.pending.items() if r.lane == lane}
        fire, cut = [], self.read
        if lane == UNDECIDED and self.rules['high_water'] and self.read < self.high:
            most = 0
        late = sorted(o for o, r in mine.items() if o >= f.I and f.covers(o, r.key_due))
        if any(mine[o].key_due > now for o in late):
            f = Frontier(I=f.I, old=(*f.old, (f.D, f.Q, f.I)))
            late = []
        for o in late:
            if len(fire) == most or (passed is not None and o not in passed):
                cut = o
                break
            fire.append(o)
        point = (f.D, f.Q)
        for due, o in sorted((r.key_due, o) for o, r in mine.items() if not f.done(o, r.key_due) and not f.covers(o, r.key_due) and o < cut):
            if len(fire) == most or (passed is None and due > now) or (passed is not None and o not in passed):
                break
            fire.append(o)
            point = (due, o)
        return fire, Frontier(*point, max(cut, f.I), tuple(x for x in f.old if x[:2] > point))

    def decide(self, offset):
        """R10. With what an observer has against it."""
        r, w = self.pending[offset], self.world
        root = root_of(r, offset)
        if not r.condition:
            return ACCEPT, None
        mark, moving = self.marks.get(r.id), self.moving.get(r.id)
        newer = any(root < c < self.read for c in w.controls(r.id))
        if mark and mark[0] > root and self.rules['newer_drops']:
            if moving and moving[0] == offset:
                del self.moving[r.id]
            return DROP, None if newer else 'and no newer control was read'
        live = w.is_live(r.id, self, offset) or self.is_accepted(r.id, offset)
        if r.id in self.ids or (moving and moving[0] != offset and self.rules['moving']):
            return REJECT, None if live or newer else 'and nothing was pending'
        if self.rules['moving_accepted']:
            self.moving[r.id] = (offset, None)
        return ACCEPT, 'beside a pending one' if live else 'behind a newer control' if newer else None

    def is_accepted(self, id_, but):
        """For the observer: one that was accepted before, and is not durable."""
        last = max([c for c in self.world.controls(id_) if c < self.read], default=-1)
        accepted = [o for o, s in self.sent.items() if s == 'again' and o in self.pending and self.pending[o].condition] + \
                   [o for t in (self.transaction, self.building) if t for o, d in t.decisions.items() if d[0] == ACCEPT and o in self.pending]
        return any(o != but and self.pending[o].id == id_ and root_of(self.pending[o], o) > last for o in accepted)

    def decided(self, offset, now):
        """What an accepted one goes on as."""
        r = self.pending[offset]
        due = r.due if r.due is not None else now - now % r.every + r.every
        return replace(r, due=due, condition=False, root=root_of(r, offset) if self.rules['root'] else -1)

    def next(self, offset, record):
        return replace(record, due=record.due + record.every, left=record.left - 1, run=record.run + 1,
                       root=root_of(record, offset) if self.rules['root'] else -1)

    def busy(self):
        return self.transaction.gone if self.transaction and self.rules['blocked'] else set()

    def send(self, now, most, closed):
        """At least once: outputs on their way, reports late and out of order."""
        if self.read < self.caught_up:
            return
        for o, s in list(self.sent.items()):
            if o not in self.pending and not isinstance(s, Output):
                del self.sent[o]
            elif isinstance(s, Output) and self.rng.random() < 0.5:
                self.world.out.append(s)
                self.sent[o] = 'acknowledged'
        for lane in range(LANES):
            for o in self.choose(lane, now, most)[0] if lane not in closed else []:
                if o in self.sent or o in self.busy():
                    continue
                if lane == UNDECIDED:
                    self.verdicts[o] = verdict = self.decide(o)
                    self.sent[o] = 'again' if verdict[0] == ACCEPT else 'acknowledged'
                else:
                    self.sent[o] = self.output(o, now)

    def output(self, offset, now):
        r = self.pending[offset]
        return Output(r.chain, r.run, r.due, now, root_of(r, offset), r.id, self.read, self.epoch, offset)

    # ------------------------------------------------------------------------------------------ steps

    def low(self, gone, marks):
        entries = [o for o, _ in self.fold.last.values()] if self.rules['held'] else []
        low = min([o for o in self.pending if o not in gone] + [m[0] for m in marks.values()] + entries + [self.read])
        skips, lowered = self.skips + (self.fold.skips if self.rules['skipped'] else []), True
        while lowered:
            lowered = False
            for offset, skipped in skips:
                if offset < low <= skipped:
                    low, lowered = offset, True
        return low

    def adopt(self, after, fired):
        a, b = self.rng.sample(range(LANES), 2)
        fa, fb = after[a], after[b]
        if not fa.old and not fb.old and (fb.D, fb.Q) >= (fa.D, fa.Q) and fb.I >= fa.I and \
                not any(r.lane == a and o not in fired and fb.done(o, r.key_due) for o, r in self.pending.items()):
            after[a] = replace(fb)

    def kept_marks(self, proved):
        undecided = self.any_undecided() and self.rules['keep_marks']
        return {i: m for i, m in self.marks.items() if undecided or proved < m[1]}

    def seal(self, t, after, now):
        """The transaction is built: F, C and what goes along, as of this moment."""
        marks = self.kept_marks(self.proved)
        t.C, t.lanes, t.read, t.epoch = self.low(t.gone if not t.moved else set(), marks), after, self.read, self.epoch
        if not t.moved and self.rng.random() < 0.1:   # R6
            oldest = [o for o in sorted(self.pending) if o not in t.gone and o not in self.sent][:self.rng.randint(1, 3)]
            stay = self.rules['undecided_stay'] and any(self.pending[o].undecided for o in oldest)
            if oldest and not stay and self.low(t.gone | set(oldest), marks) > oldest[-1]:
                t.copies += [(o, replace(self.pending[o], root=root_of(self.pending[o], o))) for o in oldest]
                t.gone |= set(oldest)
                t.C = self.low(t.gone, marks)
        t.moves = bool(t.moved) or self.read < self.moves_end
        for offset, copy in t.copies:
            if copy.id is not NONE and not copy.condition:
                self.moving[copy.id] = (offset, None)             # the latest counts: what it moves is read back
        self.transaction = t

    def build(self, now, most, closed):
        if self.read < self.caught_up or self.transaction:
            return
        t, after, fired = Transaction(self.name), list(self.lanes), []
        self.building = t
        passed = None if self.exactly else {o for o, s in self.sent.items() if s in ('acknowledged', 'again') and o in self.pending}
        for lane in range(LANES):
            fire, after[lane] = self.choose(lane, now, 0 if lane in closed else most if self.exactly else 1000, passed)
            fired += fire
        if self.rng.random() < 0.2:
            self.adopt(after, fired)
        t.gone = set(fired)
        for o in fired:
            self.pass_one(t, o, now)
        self.building = None
        t.plain = not self.exactly and not t.copies
        self.seal(t, after, now)
        t.plain = t.plain and not t.copies

    def pass_one(self, t, o, now):
        r = self.pending[o]
        if r.lane == UNDECIDED:
            verdict = self.decide(o) if self.exactly or (self.sent[o] == 'again' and self.rules['again']) else self.verdicts[o]
            t.decisions[o] = verdict
            if verdict[0] == ACCEPT:
                t.copies.append((o, self.decided(o, now)))
            return
        if self.exactly:
            if self.rng.random() < 0.05:              # its letter could not be kept: later
                t.copies.append((o, replace(r, due=now + self.rng.randint(1, 20), root=root_of(r, o))))
                return
            t.out.append(self.output(o, now))
        if r.left:
            t.copies.append((o, self.next(o, r)))

    def steer(self, id_, due, now):
        """A person moves a schedule, or has it wait. Only DONE is noted down."""
        o = self.ids.get(id_)
        if self.read < self.caught_up or self.transaction or o is None or self.pending[o].undecided or o in self.sent:
            return
        t = Transaction(self.name)
        t.moved, t.gone = [o], {o}
        t.copies = [(o, replace(self.pending[o], due=due, root=root_of(self.pending[o], o)))]
        after = [self.choose(lane, now, 0, None if self.exactly else set())[1] for lane in range(LANES)]
        self.seal(t, after, now)

    def advance(self):
        """Some boundaries of the transaction under way."""
        for _ in range(self.rng.randint(0, self.pace)):
            t, w = self.transaction, self.world
            if not t or not self.alive:
                return
            if t.phase == 0:
                for _, copy in t.copies:
                    t.end = w.put(copy, t if self.rules['one_transaction'] else None) + 1
                t.phase = 1
            elif t.phase == 1:
                if w.epoch != t.epoch:                # fenced: what it wrote stays open until it times out
                    self.alive = False
                elif not t.plain and self.rng.random() < 0.1:
                    w.finish(t, False)
                    self.aborted(t)
                else:
                    t.offsets_in, t.phase = True, 2
                    if t.plain:
                        w.finish(t, True)
                    else:
                        w.begin(t)
            elif t.phase == 2 and self.rng.random() < 0.7:
                w.finish(t, True)
                t.phase = 3
            elif t.phase == 3:
                if t.state != 'committed':
                    self.alive = False
                    return
                self.committed(t)

    def end_copies(self, t, end):
        self.own_end = max(self.own_end, end)
        self.marks = {i: (o, e if e < END else max(self.high, self.own_end)) for i, (o, e) in self.marks.items()}
        self.transaction = None

    def aborted(self, t):
        self.end_copies(t, 0)
        for offset, copy in t.copies:
            accepted = offset in t.decisions and t.decisions[offset][0] == ACCEPT
            if not accepted and self.moving.get(copy.id, (None,))[0] == offset:
                del self.moving[copy.id]
        if not self.rules['postponed']:
            for o in t.gone:
                self.sent.pop(o, None)                # delivered once more

    def committed(self, t):
        w = self.world
        self.end_copies(t, t.end)
        self.lanes, self.proved, self.low_known = t.lanes, max(self.proved, t.read), max(self.low_known, t.C)
        for offset, copy in t.copies:
            if self.moving.get(copy.id, (None,))[0] == offset:
                self.moving[copy.id] = (offset, t.end)
        for o in t.gone:
            self.drop(o)
            self.sent.pop(o, None)
        self.moving = {i: m for i, m in self.moving.items() if m[1] is None or m[1] > self.read}
        self.marks = self.kept_marks(self.proved)
        self.skips = [s for s in self.skips if s[1] >= w.C]
        self.fold.skips = [s for s in self.fold.skips if s[1] >= w.C]
        if t.moved:
            self.moves_end = max(self.moves_end, t.end)
            w.done.append((t.moved[0], self.epoch, len(w.out)))


class Play:
    """One seed: the people, the clock, the accidents."""

    def __init__(self, seed, exactly, rules):
        self.rng, self.exactly, self.chain = random.Random(seed), exactly, 0
        rng = self.rng
        self.world = World(rules, rng.choice([0, 0, 10, 40]))
        self.pair = [Instance(self.world, exactly, rng, name) for name in range(2)]
        self.ids, self.most, self.skewed = rng.choice([1, 2, 5]), rng.choice([2, 3, 1000]), rng.choice([0, 0, 9, 40])
        self.accidents, self.crowd, self.reading = rng.choice([0.01, 0.04, 0.1]), rng.choice([1, 2, 4]), rng.choice([0.1, 0.4, 1])
        self.pair[0].pace = self.pair[1].pace = rng.choice([1, 3, 8])
        self.closed, self.zombies, self.others = set(), [], []
        self.current = self.pair[0]
        self.current.start()

    def write(self, clock):
        rng, w = self.rng, self.world
        others = rng.choice(self.others) if self.others and rng.random() < 0.3 else None
        id_, ts, kind = f'x{rng.randrange(self.ids)}', clock + rng.choice([0, 0, 0, -3, 2, -20]), rng.random()
        self.chain += 1
        if kind < 0.2:
            w.put(Record('cancel', id_, 0, 0, ts), others)
            return
        every, left = rng.randint(1, 9), rng.choice([0, 0, 3])
        condition = kind < 0.55
        due = None if rng.random() < 0.2 else clock + rng.choice([-5, 0, 1, 3, 10, 60])
        id_ = NONE if not condition and due is not None and not left and rng.random() < 0.2 else id_
        w.put(Record('event', id_, due, self.chain, ts, 0, every, left, condition), others)

    def accidents_of(self, clock, hot):
        rng, w = self.rng, self.world
        for t in list(self.others):
            if rng.random() < 0.08 or not hot:
                w.finish(t, rng.random() < 0.6)
                self.others.remove(t)
        if hot and rng.random() < 0.05 and len(self.others) < 2:
            self.others.append(Transaction('somebody'))
        if hot and rng.random() < 0.1:
            self.closed ^= {rng.randrange(UNDECIDED)}
        if hot and self.skewed and rng.random() < 0.1:
            rng.choice(self.pair).skew = rng.randint(-self.skewed, self.skewed)
        if not hot:
            self.closed, self.pair[0].skew, self.pair[1].skew = set(), 0, 0
        if not self.current.alive or (hot and rng.random() < self.accidents):
            self.take_over(hot)
        for t in list(w.open):                        # those of the dead and fenced time out
            if t.owner != 'somebody' and t is not self.current.transaction and not any(z.transaction is t for z in self.zombies) and \
                    rng.random() < 0.1:
                w.finish(t, False)

    def take_over(self, hot):
        rng, old = self.rng, self.current
        self.current = rng.choice(self.pair)
        if hot and rng.random() < 0.25:
            self.current.disk = None
        if old.alive and (old is self.current or rng.random() < 0.5):
            old.crash()
        elif old.alive:
            self.zombies.append(old)
        self.zombies = [z for z in self.zombies if z is not self.current]
        self.current.start()

    def haunt(self, clock):
        for z in list(self.zombies):
            z.fetch()
            z.ingest(self.rng.randint(0, 9), clock + z.skew)
            if not self.exactly:
                z.send(clock + z.skew, 3, self.closed)
            z.advance()
            if z.alive:
                z.build(clock + z.skew, 3, self.closed)
            if self.rng.random() < 0.3:
                z.checkpoint()
            if not z.alive or self.rng.random() < 0.1:
                z.crash()
                self.zombies.remove(z)

    def steer(self, instance, clock, hot):
        if hot and self.rng.random() < 0.3:
            due = self.rng.choice([clock, clock - 3, clock + 5, clock + 40, PAUSED])
            instance.steer(f'x{self.rng.randrange(self.ids)}', due, clock + instance.skew)
        for r in list(instance.pending.values()) if not hot else []:
            if r.id is not NONE and r.key_due >= PAUSED:
                instance.steer(r.id, clock + 2, clock)

    def tick(self, clock, hot):
        rng = self.rng
        for _ in range(rng.randint(0, self.crowd) if clock < 130 else 0):
            self.write(clock)
        self.accidents_of(clock, hot)
        self.haunt(clock)
        current = self.current
        now = clock + current.skew
        if rng.random() < self.reading or not hot:
            current.fetch()
        current.ingest(rng.randint(0, 10) if hot else END, now)
        if not self.exactly:
            current.send(now, self.most, self.closed)
        current.advance()
        if current.alive:
            self.steer(current, clock, hot)
            current.build(now, self.most, self.closed)
            if hot and rng.random() < self.accidents:
                current.crash()
            elif rng.random() < 0.3:
                current.checkpoint()

    def run(self):
        try:
            for clock in range(3000):
                self.tick(clock, clock < 160)
                c = self.current
                if clock > 240 and c.alive and not c.pending and c.read == len(self.world.log) and not self.zombies and not self.world.open and \
                        not (c.transaction and c.transaction.copies):
                    return check(self.world, self.exactly)
            return f'stuck: {sorted(self.current.pending.items())[:3]} read {self.current.read} of {len(self.world.log)}'
        except Wrong as wrong:
            return str(wrong)


def check_outputs(w, exactly):
    times = {}
    for n, o in enumerate(w.out):
        key = (o.chain, o.run) if exactly else (o.chain, o.run, o.life)
        times[key] = times.get(key, 0) + 1
        if times[key] > 1:
            return f'twice: {key}'
        if o.now < o.due:
            return f'early: {o}'
        if o.id is not NONE and any(o.root < c < max(o.read, w.floor[o.life]) for c in w.controls(o.id)):
            return f'disobeyed: {o}'
        if o.root in w.duplicates or w.decided.get(o.root, ACCEPT) != ACCEPT:
            return f'refused, and out: {o}'
        if any(o.offset == moved and n >= since and (exactly or o.life >= life) for moved, life, since in w.done):
            return f'steered, and out at its old due time: {o}'
    return None


def check(w, exactly):
    w.read_truth(len(w.log))
    wrong = check_outputs(w, exactly)
    out = {(o.chain, o.run) for o in w.out}
    for offset, (r, _) in enumerate(w.log):
        if wrong or not w.visible(offset) or r.kind != 'event' or r.root >= 0 or offset in w.duplicates:
            continue
        if any(c > offset for c in w.controls(r.id)) and r.id is not NONE:
            continue
        lost = [run for run in range(r.left + 1) if (r.chain, run) not in out]
        if r.undecided and offset not in w.decided:
            wrong = f'undecided: {offset} {r}'
        elif lost and w.decided.get(offset, ACCEPT) == ACCEPT:
            wrong = f'lost: {offset} {r} runs {lost}'
    return wrong


def break_each():
    missed = []
    for rule, most in BROKEN.items():
        rules = {**RULES, rule: False}
        wrong = next(((seed, w) for seed in range(most) for exactly in (True, False) if (w := Play(seed, exactly, rules).run())), None)
        print(f'without {rule}: ' + (f'seed {wrong[0]}: {wrong[1][:100]}' if wrong else f'nothing fails within {most} seeds'))
        missed += [] if wrong else [rule]
    sys.exit(f'not caught: {missed}' if missed else 0)


def main(arguments):
    if arguments == ['broken']:
        break_each()
    first, last = int(arguments[0]), int(arguments[1])
    off = [a.removesuffix('=off') for a in arguments[2:]]
    if not set(off) <= set(RULES):
        sys.exit(f'rules are: {", ".join(RULES)}')
    rules = {**RULES, **dict.fromkeys(off, False)}
    bad = []
    for seed in range(first, last):
        for exactly in (True, False):
            wrong = Play(seed, exactly, rules).run()
            if wrong:
                bad.append((seed, exactly, wrong))
                print(f'seed {seed}, {"exactly" if exactly else "at least"} once: {wrong}')
    if not bad:
        print(f'seeds {first}..{last - 1}: all hold, in both modes')
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main(sys.argv[1:])
