"""A server that answers by a script, and the program run against it: for tests of the client side.

It speaks HTTP by itself, so that it can also speak it badly: answers that break off, never come, or are none.
"""
import fcntl
import json
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import threading
import time

TARRY = os.environ["E2E_TARRY_BIN"]
DEADLINE_S = 60


class Request:
    """One request as it came."""

    def __init__(self, head, body):
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.target, _ = lines[0].split(" ", 2)
        self.headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines[1:] if line)}
        self.body = body

    def json(self):
        return json.loads(self.body)


def answer(status, document=None, headers=(), body=None, chunked=False):
    """The bytes of an answer."""
    if body is None:
        body = b"" if document is None else json.dumps(document).encode()
    kind = "application/json" if status < 400 else "application/problem+json"
    lines = [f"HTTP/1.1 {status} Whatever", *(f"{name}: {value}" for name, value in headers)]
    if not any(name.lower() == "content-type" for name, _ in headers):
        lines.append(f"Content-Type: {kind}")
    if chunked:
        pieces = [body[i:i + 7] for i in range(0, len(body), 7)] + [b""]
        return ("\r\n".join(lines + ["Transfer-Encoding: chunked", "", ""])).encode() + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return ("\r\n".join(lines + [f"Content-Length: {len(body)}", "", ""])).encode() + body


def problem(status, code, detail, **members):
    return answer(status, {"type": "about:blank", "title": "Whatever", "status": status, "code": code, "detail": detail, **members})


class Server:
    """Each request goes to script(request, connection): bytes are sent; None: the script did all itself; then the connection is closed."""

    def __init__(self, script, unix=False):
        self.script = script
        self.requests = []
        self.folder = None
        self.failures = []
        if unix:
            self.folder = tempfile.TemporaryDirectory()
            path = os.path.join(self.folder.name, "socket")
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(path)
            self.address = "unix:" + path
        else:
            self.listener = socket.socket()
            self.listener.bind(("127.0.0.1", 0))
            self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.listener.listen(64)
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(DEADLINE_S)
        if self.folder:
            self.folder.cleanup()
        if self.failures and kind is None:
            raise self.failures[0]

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            data = b""
            while b"\r\n\r\n" not in data:
                piece = connection.recv(65536)
                if not piece:
                    return
                data += piece
            head, _, body = data.partition(b"\r\n\r\n")
            request = Request(head, b"")
            while len(body) < int(request.headers.get("content-length", "0")):
                body += connection.recv(65536)
            request.body = body
            self.requests.append(request)
            try:
                reply = self.script(request, connection)
            except (BrokenPipeError, ConnectionResetError):
                return
            except Exception as failure:  # told to the test, which fails by it
                self.failures.append(failure)
                return
            if reply is not None:
                try:
                    connection.sendall(reply)
                except (BrokenPipeError, ConnectionResetError):
                    pass


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]


def environment(extra=None):
    return {"PATH": os.environ["PATH"], "TERM": "xterm", "NO_COLOR": "1", **(extra or {})}


def run(*arguments, server=None, env=None, stdin=b""):
    """The program with its output in pipes."""
    command = [TARRY, *arguments] + (["--server", server.address] if server else [])
    done = subprocess.run(command, input=stdin, env=environment(env), capture_output=True, timeout=DEADLINE_S, check=False)
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


class Terminal:
    """The program on a terminal of 24 lines, all three of its streams; what it says is one text."""

    def __init__(self, *arguments, server=None, env=None, columns=80, err_apart=False):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        command = [TARRY, *arguments] + (["--server", server.address] if server else [])
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=subprocess.PIPE if err_apart else slave,
                                        env=environment(env), start_new_session=True)
        os.close(slave)
        self.text = ""
        self.deadline = time.monotonic() + DEADLINE_S

    def read(self):
        """Some more; False: its end."""
        ready, _, _ = select.select([self.master], [], [], max(0, self.deadline - time.monotonic()))
        if not ready:
            self.process.kill()
            raise AssertionError("it did not end in time; it said: " + self.text)
        try:
            piece = os.read(self.master, 65536)
        except OSError:
            return False
        self.text += piece.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(piece)

    def until(self, text):
        while text not in self.text:
            if not self.read():
                raise AssertionError(f"it ended without saying {text!r}; it said: {self.text}")

    def type(self, text):
        os.write(self.master, text.encode())

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def end(self):
        while self.read():
            pass
        err = ""
        if self.process.stderr:
            with self.process.stderr as stream:
                err = stream.read().decode()
        code = self.process.wait(DEADLINE_S)
        os.close(self.master)
        return Result(code, self.text, err)


def run_on_terminal(*arguments, server=None, env=None, columns=80):
    return Terminal(*arguments, server=server, env=env, columns=columns, err_apart=True).end()
