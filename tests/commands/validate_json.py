#!/usr/bin/env python3
"""validate_json.py PROGRAM SCHEMA_FOLDER MACHINE_FOLDER

Validates what every command prints with --json, on every fixture machine and on this one, against its JSON Schema.
Prints each violation and ends with a count; exit 1 when there is one."""
import glob
import json
import os
import struct
import subprocess
import sys
import tempfile
import warnings
import zipfile

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)


# Newer versions call RefResolver deprecated; Debian 12 and Ubuntu 24.04 have no successor yet.
warnings.simplefilter("ignore", DeprecationWarning)


def load(folder):
    schemas = {}
    for path in glob.glob(os.path.join(folder, "*.schema.json")):
        with open(path, encoding="utf-8") as file:
            schemas[os.path.basename(path)] = json.load(file)
    return schemas


def validator(schemas, name):
    resolver = jsonschema.RefResolver(base_uri=name, referrer=schemas[name], store=dict(schemas))
    return jsonschema.Draft202012Validator(schemas[name], resolver=resolver)


def run(program, arguments):
    return subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)


def fat_binary(folder):
    """One container with one cubin for sm_120f, as nvcc writes its header."""
    entry = struct.pack("<HHIQIIHHIIIQQQ", 2, 0x0101, 64, 4096, 0, 0, 8, 1, 120, 0, 0, 0x200011, 0, 0) + b"c" * 4096
    path = os.path.join(folder, "x.fatbin")
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry)) + entry)
    return path


def wheel(folder, program):
    """A library, device code and something that is neither, deflated."""
    path = os.path.join(folder, "x.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(program, "x/libx.so")
        archive.write(fat_binary(folder), "x/x.fatbin")
        archive.writestr("x/broken.so", b"not a library")
        archive.writestr("x/__init__.py", b"")
    return path


def main():
    program, schema_folder, machine_folder = sys.argv[1:4]
    schemas = load(schema_folder)
    machines = sorted(glob.glob(os.path.join(machine_folder, "*.machine")))
    topics = ([], ["G3"], ["--list"], ["headroom"], ["the box freezes"])
    calls = [("explain.schema.json", ["explain", "--json", *topic]) for topic in topics]
    for root in [[], *(["--root", machine] for machine in machines)]:
        calls.append(("preflight.schema.json", ["preflight", "--json", *root]))
        calls.append(("status.schema.json", ["status", "--json", *root]))
        calls.append(("memory.schema.json", ["memory", "--json", *root]))
        calls.append(("setup.schema.json", ["setup", "--json", "--check", *root]))
    calls.append(("memory.schema.json", ["memory", "--json", program]))
    calls.append(("demo.schema.json", ["demo", "--json"]))
    calls.append(("demo.schema.json", ["demo", "--json", "spark-wedged"]))
    calls.append(("flush.schema.json", ["flush", "--json", "--dry-run", program]))
    calls.append(("flush.schema.json", ["flush", "--json", "--dry-run", "--all", "--compact"]))
    calls.append(("record.schema.json", ["record", "10", "--json", "--duration", "0.1",
                                         "--columns", "pstate,clocks.gr,clocks.mem,power.draw.instant,"
                                         "clocks_event_reasons.active,temperature.gpu.tlimit"]))
    plans = (["Qwen3-8B", "--method", "lora", "--fit", "--compare"], ["--params", "8e9", "--method", "qlora"],
             ["Qwen3-32B", "--framework", "vllm", "--server-fraction", "0.5", "--beside", "vllm serve m"],
             ["GLM-4.5-Air", "--method", "nvfp4-lora"], ["Llama-3.3-70B", "--method", "full", "--fsdp"])
    calls += [("plan.schema.json", ["plan", "--json", *plan]) for plan in plans]
    calls += [("plan.schema.json", ["plan", "--json", "Qwen3-8B", "--root", machine]) for machine in machines]
    for recipe in ("pytorch", "unsloth", "trl", "vllm", "sglang"):
        calls.append(("setup.schema.json", ["setup", "--json", "--for", recipe]))
    violations = checked = 0
    for name, arguments in calls:
        result = run(program, arguments)
        checked += 1
        try:
            errors = [e.message for e in validator(schemas, name).iter_errors(json.loads(result.stdout))]
        except (ValueError, KeyError) as error:
            errors = [f"{type(error).__name__}: {error}; {result.stderr.decode(errors='replace')[:200]}"]
        violations += len(errors)
        for error in errors:
            print(f"{' '.join(arguments)}: {error[:300]}")
    with tempfile.TemporaryDirectory() as folder:
        captured = run(program, ["capture", "--json", "--root", machines[0], os.path.join(folder, "again.machine")])
        checked += 1
        for error in validator(schemas, "capture.schema.json").iter_errors(json.loads(captured.stdout)):
            violations += 1
            print(f"capture: {error.message[:300]}")
        for path, options in ((program, []), (fat_binary(folder), ["--verbose"]), (wheel(folder, program), [])):
            inspected = run(program, ["inspect", "--json", *options, path])
            checked += 1
            for error in validator(schemas, "inspect.schema.json").iter_errors(json.loads(inspected.stdout)):
                violations += 1
                print(f"inspect {os.path.basename(path)}: {error.message[:300]}")
        recorded = os.path.join(folder, "run.json")
        run(program, ["run", "--run-dir", folder, "--json", recorded, "--", "sh", "-c", "kill -9 $$"])
        for path in (recorded, *glob.glob(os.path.join(folder, "*-sh", "run.json"))):
            with open(path, encoding="utf-8") as file:
                content = json.load(file)
            checked += 1
            for error in validator(schemas, "run.schema.json").iter_errors(content):
                violations += 1
                print(f"run: {error.message[:300]}")
        report = os.path.join(folder, "env-report.json")
        run(program, ["preflight", "--root", machines[0], "--report", report])
        with open(report, encoding="utf-8") as file:
            content = json.load(file)
        checked += 1
        for error in validator(schemas, "env-report.schema.json").iter_errors(content):
            violations += 1
            print(f"env-report.json: {error.message[:300]}")
    print(f"{checked} outputs validated, {violations} violations")
    return 1 if violations or not machines else 0


if __name__ == "__main__":
    sys.exit(main())
