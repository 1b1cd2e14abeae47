"""What is durable in frontier_model_schedules.py: log, outputs, F and C; the dedupe fold; and an observer who sees all of it."""
from dataclasses import dataclass

from frontier_model import NONE, Frontier

UNDECIDED, LANES, EVER, PAUSED, SPAN, ENTRIES = 2, 3, -90, 1 << 40, 60, 2
ACCEPT, REJECT, DROP = 'accepted', 'rejected', 'dropped'


@dataclass(frozen=True)
class Record:
    kind: str               # 'event' or 'cancel'
    id: str | None
    due: int | None         # None: the first occurrence is to be worked out when it is read
    chain: int              # the person's record; with run it names one delivery that is owed
    ts: int = 0
    run: int = 0
    every: int = 0          # recurring: period, and occurrences after this one
    left: int = 0
    condition: bool = False # if-exists: reject, not decided yet
    root: int = -1

    @property
    def undecided(self):
        return self.condition or self.due is None

    @property
    def key_due(self):
        return EVER if self.undecided else self.due

    @property
    def lane(self):
        return UNDECIDED if self.undecided else self.chain % 2


def root_of(record, offset):
    return record.root if record.root >= 0 else offset


class Wrong(Exception):
    pass


class Fold:
    """Which records are duplicates: a function of the log alone, from any C on that keeps the rules."""

    def __init__(self, window, rules):
        self.window, self.rules, self.last, self.skips = window, rules, {}, []

    def end_entries(self, offset, ts):
        rules = self.rules
        self.last = {i: (o, due) for i, (o, due) in self.last.items()
                     if not (rules['log_time'] and ts >= due + self.window) and not (rules['span'] and offset >= o + SPAN)}

    def forget_by_clock(self, now):
        if not self.rules['log_time']:
            self.last = {i: e for i, e in self.last.items() if now <= e[1] + self.window}

    def is_duplicate(self, offset, record):
        if not self.window or record.id is NONE or record.root >= 0:
            return False
        self.end_entries(offset, record.ts)
        entry = self.last.get(record.id)
        if record.kind == 'cancel':
            if entry and record.ts < entry[1]:        # else it had come due
                del self.last[record.id]
            return False
        if record.due is None:
            return False
        if entry and entry[1] <= record.ts < entry[1] + self.window:
            self.skips.append((entry[0], offset))
            return True
        self.last[record.id] = (offset, record.due)
        if not self.rules['span'] and len(self.last) > ENTRIES:
            del self.last[min(self.last, key=lambda i: self.last[i][1])]
        return False


@dataclass
class Output:
    chain: int
    run: int
    due: int
    now: int
    root: int
    id: str | None
    read: int
    life: int
    offset: int


class Transaction:
    def __init__(self, owner=None):
        self.owner, self.state, self.phase, self.first, self.end, self.offsets_in = owner, 'open', 0, None, 0, False
        self.out, self.copies, self.decisions, self.gone, self.moved, self.plain = [], [], {}, set(), [], False


class World:
    """What is durable, and what an observer of all of it notes down."""

    def __init__(self, rules, window):
        self.rules, self.window = rules, window
        self.log, self.out, self.C, self.lanes, self.moves = [], [], 0, [Frontier() for _ in range(LANES)], False
        self.epoch, self.open, self.read, self.floor = 0, [], 0, {}
        self.decided, self.successor, self.done = {}, {}, []
        self.truth, self.truth_read, self.duplicates, self.judged = Fold(window, {**rules, 'log_time': True, 'span': True}), 0, set(), set()

    def stable(self):
        return min([t.first for t in self.open if t.first is not None], default=len(self.log))

    def put(self, record, transaction=None):
        if transaction and transaction.first is None:
            transaction.first = len(self.log)
            self.begin(transaction)
        self.log.append((record, transaction))
        return len(self.log) - 1

    def begin(self, transaction):
        if transaction not in self.open:
            self.open.append(transaction)

    def visible(self, offset):
        record, transaction = self.log[offset]
        return record is not None and (transaction is None or transaction.state == 'committed')

    def finish(self, transaction, commit):
        if transaction.state != 'open':
            return
        transaction.state = 'committed' if commit else 'aborted'
        if transaction in self.open:
            self.open.remove(transaction)
        if transaction.first is not None:
            self.log.append((None, None))             # the control record
        if commit and transaction.offsets_in:
            self.apply(transaction)

    def apply(self, t):
        self.out += t.out
        self.note(t)
        self.C, self.lanes, self.moves = max(self.C, t.C), t.lanes, t.moves

    def note(self, t):
        for offset, (decision, wrong) in t.decisions.items():
            root = root_of(self.log[offset][0], offset)
            if wrong or self.decided.setdefault(root, decision) != decision:
                raise Wrong(f'decision: {root} {decision} {wrong or "was " + self.decided[root]}')
        for offset, _ in t.copies:
            if offset in self.successor:
                raise Wrong(f'fork: {offset} goes on twice')
            self.successor[offset] = True

    def read_truth(self, end):
        """The fold over the whole log, as far as it is stable."""
        for offset in range(self.truth_read, end):
            if self.visible(offset) and self.truth.is_duplicate(offset, self.log[offset][0]):
                self.duplicates.add(offset)
        self.truth_read = max(self.truth_read, end)

    def controls(self, id_):
        return [o for o in range(len(self.log)) if self.visible(o) and self.is_control(o, id_)]

    def is_control(self, offset, id_):
        r = self.log[offset][0]
        return r.id == id_ and r.root < 0 and not r.condition and offset not in self.duplicates

    def is_live(self, id_, instance, but):
        """What an observer would call pending of this id, given what the instance has read."""
        controls = [o for o in self.controls(id_) if o < instance.read]
        for o in range(instance.low_known, len(self.log)):
            r = self.log[o][0]
            if o == but or not self.visible(o) or r.id != id_ or r.kind != 'event' or r.condition or o in self.duplicates or \
                    (r.root < 0 and o >= instance.read) or o in self.successor or instance.lanes[r.lane].done(o, r.key_due):
                continue
            if not any(root_of(r, o) < c for c in controls):
                return True
        return False
