#!/usr/bin/env bash
# check_manuals.sh: the manual pages are clean mdoc, and the linter bites.
set -euo pipefail
cd "$(dirname "$0")/../../man"
command -v mandoc >/dev/null || { echo 'mandoc is not installed' >&2; exit 1; }
mandoc -T lint -W warning tarry.1 tarry-dlq.1 tarry.yaml.5
if printf '.Dd x\n.Dt A\n.Bl\n' | mandoc -T lint -W warning >/dev/null 2>&1; then
    echo 'mandoc accepts a broken page' >&2
    exit 1
fi
