"""Runs a command on a terminal of its own and answers its questions.

usage: drive.py '[["expected text", "answer"], ...]' COMMAND...

Prints what the terminal showed and ends with the command's exit code.
"""

import json
import os
import pty
import select
import sys
import time

script, command = json.loads(sys.argv[1]), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)

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
        os.write(terminal, (script.pop(0)[1] + "\n").encode())

_, status = os.waitpid(pid, 0)
sys.stdout.write(shown.decode(errors="replace"))
if script:
    sys.stdout.write(f"\nnever asked: {script}\n")
    sys.exit(99)
sys.exit(os.waitstatus_to_exitcode(status))
