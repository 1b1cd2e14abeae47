#!/usr/bin/env python3
"""Holds the operations of docs/openapi.yaml against the server's table of routes: the same methods of the same paths, both ways, and who may ask.

    check_routes.py OPENAPI.yaml PROGRAM        PROGRAM prints "METHOD PATH ACCESS" lines, one for each row
"""
import subprocess
import sys

from contract import Contract


def access_of(operation, method):
    if operation.get("security") == []:
        return "open"
    return "read" if method == "get" else "write"


def main():
    contract = Contract(sys.argv[1])
    served = subprocess.run([sys.argv[2]], check=True, capture_output=True, text=True).stdout.split("\n")[:-1]
    written = ["%s %s %s" % (method.upper(), path, access_of(operation, method)) for method, path, operation in contract.operations()]
    wrong = ["served, and not in the file: " + line for line in served if line not in written]
    wrong += ["in the file, and not served: " + line for line in written if line not in served]
    for text in wrong:
        print(text)
    print("%d routes, %d operations" % (len(served), len(written)))
    return 1 if wrong or len(served) < 10 or len(served) != len(written) else 0


if __name__ == "__main__":
    sys.exit(main())
