#!/usr/bin/env python3
"""Every metric that the alert rules, their tests, the dashboard and the runbooks ask for exists, with these labels and these values of them.

What exists is docs/metrics.md, which test_metrics holds to the table in the code.  check_names.py ROOT; --self-test proves that it bites.
"""
import json
import re
import sys
from pathlib import Path

SCRAPED = {"job", "instance"}
NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
METRIC = re.compile(r"\b((?:tarry|process|http|scheduler|notification|pending)_[a-z0-9_]+|up|ALERTS)\b(?!\s*\()")
MATCHER = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*(=~|!~|!=|=)\s*"((?:\\.|[^"\\])*)"\s*(?:,|$)')


def read_table(text):
    """name -> labels; and (name, label) -> values where they are a closed list of one word each."""
    metrics, values = {}, {}
    listed, explained = {}, {}
    for line in text.splitlines():
        row = re.match(r"\| `(\w+)` \| (counter|gauge|histogram) \| (.*?) \|", line)
        if row:
            labels = set(re.findall(r"`(\w+)`", row[3]))
            if row[2] == "histogram":
                metrics[row[1] + "_bucket"] = labels | {"le"}
                metrics[row[1] + "_sum"] = metrics[row[1] + "_count"] = labels
            else:
                metrics[row[1]] = labels
            continue
        label = re.match(r"\| `(\w+)` \| (.*) \|$", line)
        if label:
            explained.setdefault(label[1], []).append(label[2])
    for label, texts in explained.items():
        if len(texts) == 1 and re.fullmatch(r"(`\w+`(, )?)+", texts[0]):
            listed[label] = set(re.findall(r"`(\w+)`", texts[0]))
    for name, labels in metrics.items():
        for label in labels & set(listed):
            values[name, label] = listed[label]
    metrics["up"] = set()
    metrics["ALERTS"] = {"alertname", "alertstate", "severity", "target", "source", "result", "direction"}
    return metrics, values


def braces(text, at):
    """From '{' to past '}', quotes respected."""
    end, quoted = at + 1, False
    while quoted or text[end] != "}":
        if text[end] == "\\":
            end += 1
        elif text[end] == '"':
            quoted = not quoted
        end += 1
    return end + 1


def check_matchers(name, inside, table, values):
    rest = inside
    while rest.strip():
        found = MATCHER.match(rest)
        if not found:
            yield f"{name}: cannot read {{{inside}}}"
            return
        label, operator, value = found[1], found[2], found[3]
        if label not in table[name] | SCRAPED:
            yield f"{name} has no label {label}"
        elif operator in ("=", "!=") and (name, label) in values and value not in values[name, label]:
            yield f"{name}: {label} is never {value}"
        rest = rest[found.end():]


def check_expr(expr, table, values):
    used = set()
    for found in METRIC.finditer(expr):
        name = found[1]
        if found.start() > 0 and expr[found.start() - 1] == '"':
            continue
        if name not in table:
            yield f"there is no metric {name}"
            continue
        used |= table[name]
        if expr[found.end():found.end() + 1] == "{":
            end = braces(expr, found.end())
            yield from check_matchers(name, expr[found.end() + 1:end - 1], table, values)
    for labels in re.findall(r"\b(?:by|on|without|ignoring)\s*\(([^)]*)\)", expr):
        for label in NAME.findall(labels):
            if label not in used | SCRAPED | {"alertstate"}:
                yield f"no metric of it has the label {label}: {expr}"


def labels_left(expr, table):
    """Labels that the result may have."""
    names = [found[1] for found in METRIC.finditer(expr) if found[1] in table]
    left = set(SCRAPED).union(*(table[name] for name in names)) if names else set()
    by = re.findall(r"\bby\s*\(([^)]*)\)", expr)
    return left & set(NAME.findall(" ".join(by))) - {"le"} if by else left


def read_rules(text):
    """(alert, expr, texts) for each rule; the file keeps to one form of YAML."""
    for block in re.split(r"^ *- alert: ", text, flags=re.M)[1:]:
        alert = block.split("\n", 1)[0].strip()
        expr = re.search(r"^ *expr: *(?:>-\n((?: {10,}.*\n)+)|(.*)\n)", block, re.M)
        annotations = block[block.index("annotations:"):]
        yield alert, re.sub(r"\s+", " ", expr[1] or expr[2]).strip(), annotations


def check_rules(text, table, values, root):
    count = 0
    for alert, expr, annotations in read_rules(text):
        count += 1
        for problem in check_expr(expr, table, values):
            yield f"{alert}: {problem}"
        for label in re.findall(r"\$labels\.(\w+)", annotations):
            if label not in labels_left(expr, table):
                yield f"{alert}: its text names the label {label}, which its result has not: {expr}"
        for part in ("summary:", "description:", "runbook_url:"):
            if part not in annotations:
                yield f"{alert}: no {part}"
        page = f"docs/runbooks/{alert}.md"
        if f"runbook_url: {page}" not in annotations:
            yield f"{alert}: its runbook is not {page}"
        if root and not (root / page).is_file():
            yield f"{alert}: {page} is missing"
    if count < 15:
        yield f"only {count} alerts found"


def check_tests(text, table, values):
    for series in re.findall(r"series: '([^']*)'", text):
        for problem in check_expr(series, table, values):
            yield f"{series}: {problem}"


def dashboard_exprs(dashboard):
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"], target["legendFormat"]
    for note in dashboard["annotations"]["list"]:
        yield note["name"], note["expr"], note["titleFormat"] + note["textFormat"]


def check_dashboard(dashboard, table, values):
    count = 0
    for title, expr, legend in dashboard_exprs(dashboard):
        count += 1
        plain = expr.replace("$__rate_interval", "5m")
        for problem in check_expr(plain, table, values):
            yield f"panel {title}: {problem}"
        for label in re.findall(r"\{\{\s*(\w+)\s*\}\}", legend):
            if label not in labels_left(plain, table):
                yield f"panel {title}: its legend names the label {label}, which its result has not: {expr}"
    ids = [panel["id"] for panel in dashboard["panels"]]
    if len(ids) != len(set(ids)):
        yield "two panels have one id"
    if count < 30:
        yield f"only {count} queries found"


def check_page(name, text, table, values, code):
    """A runbook names metrics, alerts and log events that there are."""
    whole = table | {name[:-len("_bucket")]: labels for name, labels in table.items() if name.endswith("_bucket")}  # a page may name a histogram
    for quoted in re.findall(r"`([^`]*)`", text):
        for problem in check_expr(quoted, whole, values):
            yield f"{name}: {problem}"
        for alert in re.findall(r"\bTarry[A-Z]\w+", quoted):
            if f"- alert: {alert}\n" not in code["rules"]:
                yield f"{name}: there is no alert {alert}"
    for events in re.findall(r"`event` ((?:`\w+`(?:, )?)+)", text):
        for event in re.findall(r"`(\w+)`", events):
            if f'"{event}"' not in code["ops"]:
                yield f"{name}: nobody logs {event}"
    for part in ("**What it means.**", "**What is at stake.**", "## Look\n", "## Do\n", "## When to wake somebody\n"):
        if part not in text:
            yield f"{name}: no {part.strip()}"
    if not text.startswith(f"# {name}\n"):
        yield f"{name}: its title is another"


def check(root):
    table, values = read_table((root / "docs/metrics.md").read_text())
    rules = (root / "deploy/prometheus/tarry.rules.yml").read_text()
    yield from check_rules(rules, table, values, root)
    yield from check_tests((root / "deploy/prometheus/tarry.test.yml").read_text(), table, values)
    yield from check_dashboard(json.loads((root / "deploy/grafana/tarry.json").read_text()), table, values)
    alerts = {alert for alert, _, _ in read_rules(rules)}
    code = {"rules": rules, "ops": "".join(file.read_text() for file in sorted((root / "ops").glob("*.c")))}
    overview = (root / "docs/operating.md").read_text()
    yield from (f"docs/operating.md does not list {alert}" for alert in sorted(alerts) if f"`{alert}`" not in overview)
    for page in sorted((root / "docs/runbooks").glob("Tarry*.md")):
        yield from check_page(page.stem, page.read_text(), table, values, code)
        if page.stem not in alerts:
            yield f"docs/runbooks/{page.name} is of no alert"


def self_test(root):
    table, values = read_table((root / "docs/metrics.md").read_text())
    good = ['sum by (target) (rate(tarry_delivered_total{job="x", target=~"a|b"}[5m]))', 'tarry_connection_up{system="kafka"} == 0', "up == 0",
            'histogram_quantile(0.99, sum by (le) (rate(tarry_lateness_seconds_bucket[5m])))']
    bad = ["tarry_deliverd_total", "tarry_lateness_seconds", "tarry_delivered_total_bucket", 'tarry_delivered_total{source="x"}', 'tarry_connection_up{system="kafak"}',
           "sum by (source) (tarry_delivered_total)", "tarry_overdue unless on (source) tarry_lanes_paused", 'tarry_pending{source="a}"', "process_fds"]
    for expr in good:
        assert not list(check_expr(expr, table, values)), (expr, list(check_expr(expr, table, values)))
    for expr in bad:
        try:
            assert list(check_expr(expr, table, values)), expr
        except IndexError:
            pass  # an open quote: not to be read
    rule = "      - alert: A\n        expr: sum by (job) (tarry_pending)\n        annotations:\n          summary: {{ $labels.source }}\n"
    assert any("names the label source" in problem for problem in check_rules(rule, table, values, None))
    page = "# A\n**What it means.** `tarry_overdue`, `TarryNone`, the log, `event` `no_such_event`.\n"
    found = " ".join(check_page("A", page, table, values, {"rules": "", "ops": ""}))
    assert "no alert TarryNone" in found and "nobody logs no_such_event" in found and "no ## Do" in found and "tarry_overdue" not in found, found
    assert labels_left("max by (job) (tarry_dead_letters)", table) == {"job"}
    print("self-test: good")


def main():
    root = Path(sys.argv[1])
    if "--self-test" in sys.argv:
        self_test(root)
        return
    problems = list(check(root))
    for problem in problems:
        print(problem)
    if problems:
        sys.exit(1)
    print("every name is one of tarry's")


main()
