#!/usr/bin/env python3
"""run_terminal.py PROGRAM

`sparkops run` in a terminal, with an interactive shell around it: the job has a terminal of its own, window sizes, ^C,
^D and ^Z/fg reach it, the terminal is as before afterwards, and nothing of it shows through a pipe. Prints each point;
exit 1 when one does not hold."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import tempfile
import termios
import time

SECONDS = 20
PROMPT = "ready> "
failed = 0


def check(what, holds, seen=""):
    global failed
    print(f"{'ok' if holds else 'NOT OK'}: {what}" + ("" if holds else f"\n  seen: {seen!r}"))
    failed += not holds


class Shell:
    """bash in a terminal of its own."""

    def __init__(self, folder):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ.update(PS1=PROMPT, TERM="dumb", HOME=folder, BASH_SILENCE_DEPRECATION_WARNING="1")
            os.execvp("bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"])
        self.seen = ""
        self.until(re.escape(PROMPT))
        self.say("stty -echo")

    def size(self, rows, columns):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, text):
        os.write(self.terminal, text.encode())

    def until(self, pattern):
        """What came up to and with the pattern; all there was when it does not come."""
        end = time.monotonic() + SECONDS
        while not (found := re.search(pattern, self.seen)):
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            if not ready:
                print(f"  waited in vain for {pattern!r}")
                break
            try:
                self.seen += os.read(self.terminal, 65536).decode(errors="replace")
            except OSError:
                break
        cut = found.end() if found else len(self.seen)
        text, self.seen = self.seen[:cut], self.seen[cut:]
        return text

    def say(self, line):
        """Runs one line and gives back what was printed up to the next prompt."""
        self.press(line + "\n")
        return self.until(re.escape(PROMPT))

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(folder)
        run = f"{program} run -- "
        shell.size(33, 77)
        out = shell.say(run + "python3 -c 'import os,sys; print(sys.stdin.isatty(), sys.stdout.isatty(), "
                              "os.get_terminal_size())'")
        check("the job has a terminal of our size", "True True os.terminal_size(columns=77, lines=33)" in out, out)

        out = shell.say(run + "sh -c 'exit 5'; echo code=$?")
        check("the exit code comes through", "code=5" in out, out)
        check("what sparkops says stands at the left margin", re.search(r"(^|\r?\n)sparkops: exit 5, ", out), out)

        shell.press(run + "sh -c 'trap \"echo got-int; exit 4\" INT; echo up; while :; do sleep 0.05; done'; "
                          "echo code=$?\n")
        shell.until("up\r?\n")
        shell.press("\x03")
        out = shell.until(r"code=\d+")
        check("^C reaches the job, once", out.count("got-int") == 1 and out.endswith("code=4"), out)
        shell.until(re.escape(PROMPT))

        shell.press(run + "cat; echo code=$?\n")
        shell.until(r"record: \S+\r?\n")
        time.sleep(0.5)  # cat says nothing when it is there
        shell.press("a line\n\x04")
        out = shell.until(r"code=\d+")
        check("^D ends what reads the terminal", out.endswith("code=0") and "a line" in out, out)
        shell.until(re.escape(PROMPT))

        shell.press(run + "python3 -uc 'import os,time\nprint(\"up\")\nfor i in range(400):\n"
                          " time.sleep(0.05)\n s=os.get_terminal_size()\n if s.columns==91: print(\"columns 91\"); break'; "
                          "echo code=$?\n")
        shell.until("up\r?\n")
        shell.size(40, 91)
        os.kill(os.tcgetpgrp(shell.terminal), signal.SIGWINCH)
        out = shell.until(r"code=\d+")
        check("a new window size reaches the job", "columns 91" in out and out.endswith("code=0"), out)
        shell.until(re.escape(PROMPT))

        before = termios.tcgetattr(shell.terminal)
        shell.press(run + "sh -c 'echo up; n=0; while [ $n -lt 60 ]; do n=$((n+1)); sleep 0.05; done; echo finished; "
                          "exit 6'\n")
        shell.until("up\r?\n")
        time.sleep(0.3)
        shell.press("\x1a")
        out = shell.until(re.escape(PROMPT))
        check("^Z gives the shell back", "Stopped" in out, out)
        check("the terminal is as before while it is stopped", termios.tcgetattr(shell.terminal)[3] == before[3])
        time.sleep(3.5)  # longer than the job would have taken
        out = shell.say("echo still-here")
        check("the job stands still meanwhile", "finished" not in out, out)
        shell.press("fg\n")
        out = shell.until("finished")
        check("fg goes on with it", out.endswith("finished"), out)
        shell.until(re.escape(PROMPT))
        out = shell.say("echo code=$?")
        check("and its exit code comes through", "code=6" in out, out)
        check("the terminal is as before at the end", termios.tcgetattr(shell.terminal) == before)

        out = shell.say(run + "python3 -c 'import sys; print(sys.stdout.isatty())' 2>/dev/null | cat")
        check("no terminal through a pipe", "False" in out, out)
        out = shell.say(run + "python3 -c 'import sys; print(\"to-out\"); print(\"to-err\", file=sys.stderr)' 2>errors; "
                              "echo; grep -c to-err errors")
        check("a redirected stderr stays redirected", "to-out" in out and "to-err" not in out and "1" in out, out)
        shell.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
