#!/usr/bin/env python3
"""agent_run.py PROGRAM MACHINE

Runs every command as an agent does: no terminal, standard input closed, nobody to answer. Each ends by itself, with an
exit code of the contract, asks nothing, and with --json prints one JSON object that names its schema and nothing else.
Prints each violation and ends with a count; exit 1 when there is one."""
import json
import os
import re
import subprocess
import sys
import tempfile

SECONDS = 60
# What would go on for ever is given an end.
ARGUMENTS = {"record": ["10", "--duration", "0.2"]}
# Their --json takes a file: stdout is the job's.
JSON_FILE = {"run"}
EXIT_CODES = {0, 1, 2, 3, 90, 91, 92}


def run(program, arguments, folder):
    # Closed, not /dev/null: a question that reads standard input fails at once and shows.
    return subprocess.run(["/bin/sh", "-c", 'exec 0<&-; exec "$0" "$@"', program, *arguments], cwd=folder,
                          capture_output=True, timeout=SECONDS, check=False, env={**os.environ, "HOME": folder})


def commands(program, folder):
    completions = run(program, ["documentation", "fish"], folder).stdout.decode()
    return re.findall(r"__fish_use_subcommand -f -a (\S+)", completions)


def problems_of(program, command, arguments, folder):
    words = [command, *arguments]
    try:
        result = run(program, words, folder)
    except subprocess.TimeoutExpired:
        return [f"{' '.join(words)}: still runs after {SECONDS} s"]
    problems = []
    if result.returncode not in EXIT_CODES:
        problems.append(f"{' '.join(words)}: exit {result.returncode}")
    if result.returncode == 2 and not result.stderr:
        problems.append(f"{' '.join(words)}: refused without a word")
    if "--json" in arguments and result.returncode != 2:
        try:
            value = json.loads(result.stdout)
            if value.get("schema") != f"sparkops.{command}/1":
                problems.append(f"{' '.join(words)}: schema is {value.get('schema')!r}")
        except (ValueError, AttributeError) as error:
            problems.append(f"{' '.join(words)}: no JSON object on stdout: {error}; {result.stderr[:200]!r}")
    return problems


def main():
    program, machine = (os.path.abspath(word) for word in sys.argv[1:3])
    problems, calls, objects = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        names = commands(program, folder)
        for command in names:
            usage = run(program, [command, "--help"], folder)
            if usage.returncode != 0 or b"Example" not in usage.stdout:
                problems.append(f"{command} --help: exit {usage.returncode}, or no example in it")
            ways = [[]]
            if b"--root" in usage.stdout:
                ways.append(["--root", machine])
            if b"--json" in usage.stdout and command not in JSON_FILE:
                ways += [[*way, "--json"] for way in ways]
                objects += 1
            ways = [[*ARGUMENTS.get(command, []), *way] for way in ways]
            for way in ways:
                calls += 1
                problems += problems_of(program, command, way, folder)
    for problem in problems:
        print(problem)
    print(f"{len(names)} commands, {objects} with --json, {calls} calls, {len(problems)} problems")
    return 1 if problems or not calls else 0


if __name__ == "__main__":
    sys.exit(main())
