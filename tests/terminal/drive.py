"""Runs a command on a terminal of its own and answers its questions.

usage: drive.py '[["expected text", ACTION], ...]' COMMAND...

An ACTION is a line to type, or {"keys": "..."} for keys without a newline, or {"columns": 60} for another width, or {"seconds": 1} to
let pass, or a list of these.
An empty expected text is done at once, before the command says anything. The terminal has 80 columns.
Prints what the terminal showed and ends with the command's exit code.
"""

import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios
import time

script, command = json.loads(sys.argv[1]), sys.argv[2:]


def resize(terminal, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def do(action):
    for part in action if isinstance(action, list) else [action]:
        if isinstance(part, str):
            os.write(terminal, (part + "\n").encode())
        elif "keys" in part:
            os.write(terminal, part["keys"].encode())
        elif "seconds" in part:
            time.sleep(part["seconds"])
        else:
            resize(terminal, part["columns"])


# The command starts when its terminal is ready.
ready_end, start_end = os.pipe()
pid, terminal = pty.fork()
if pid == 0:
    os.close(start_end)
    os.read(ready_end, 1)
    os.close(ready_end)
    os.execvp(command[0], command)
resize(terminal, 80)
while script and not script[0][0]:
    do(script.pop(0)[1])
os.close(ready_end)
os.close(start_end)

shown = b""
seen = 0
deadline = time.monotonic() + 120
while time.monotonic() < deadline:
    ready, _, _ = select.select([terminal], [], [], 0.2)
    if ready:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    if script and script[0][0].encode() in shown[seen:]:
        seen = len(shown)
        do(script.pop(0)[1])

_, status = os.waitpid(pid, 0)
sys.stdout.write(shown.decode(errors="replace"))
if script:
    sys.stdout.write(f"\nnever asked: {script}\n")
    sys.exit(99)
sys.exit(os.waitstatus_to_exitcode(status))
