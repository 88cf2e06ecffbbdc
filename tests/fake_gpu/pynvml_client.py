"""An independent client (nvidia-ml-py) over the fake library: it must read what the scenario says.

usage: pynvml_client.py   with LD_LIBRARY_PATH and FAKE_GPU_SCENARIO set; the scenario is scenarios/discrete.txt or
scenarios/loaded-healthy.txt. Prints one line for each mismatch and ends with 1 if there was one.
"""
import os
import sys

import pynvml


def code_of(call, *arguments):
    try:
        return call(*arguments)
    except pynvml.NVMLError as error:
        return f"error {error.value}"


def processes(device):
    return [(p.pid, p.usedGpuMemory) for p in pynvml.nvmlDeviceGetComputeRunningProcesses(device)]


def field(device, number):
    value = pynvml.nvmlDeviceGetFieldValues(device, [number])[0]
    return value.value.ullVal if value.nvmlReturn == 0 else f"error {value.nvmlReturn}"


def read(device):
    memory = code_of(pynvml.nvmlDeviceGetMemoryInfo, device)
    memory_v2 = code_of(pynvml.nvmlDeviceGetMemoryInfo, device, pynvml.nvmlMemory_v2)
    utilization = pynvml.nvmlDeviceGetUtilizationRates(device)
    pci = pynvml.nvmlDeviceGetPciInfo(device)
    return {
        "driver": pynvml.nvmlSystemGetDriverVersion(),
        "cuda": pynvml.nvmlSystemGetCudaDriverVersion(),
        "count": pynvml.nvmlDeviceGetCount(),
        "name": pynvml.nvmlDeviceGetName(device),
        "capability": pynvml.nvmlDeviceGetCudaComputeCapability(device),
        "bus": pci.busId,
        "pci_device_id": pci.pciDeviceId,
        "memory": memory if isinstance(memory, str) else (memory.total, memory.free),
        "memory_v2": memory_v2 if isinstance(memory_v2, str) else (memory_v2.total, memory_v2.free, memory_v2.used),
        "power": pynvml.nvmlDeviceGetPowerUsage(device),
        "sm_clock": pynvml.nvmlDeviceGetClockInfo(device, pynvml.NVML_CLOCK_SM),
        "memory_clock": code_of(pynvml.nvmlDeviceGetClockInfo, device, pynvml.NVML_CLOCK_MEM),
        "utilization": (utilization.gpu, utilization.memory),
        "performance_state": pynvml.nvmlDeviceGetPerformanceState(device),
        "reasons": pynvml.nvmlDeviceGetCurrentClocksEventReasons(device),
        "power_instant": field(device, 186),
        "processes": processes(device),
    }


EXPECTED = {
    "loaded-healthy.txt": {
        "driver": "580.173.02", "cuda": 13000, "count": 1, "name": "NVIDIA GB10", "capability": (12, 1),
        "bus": "0000000F:01:00.0", "pci_device_id": 0x2E1210DE, "memory": "error 3", "memory_v2": "error 3",
        "power": 71300, "sm_clock": 2418, "memory_clock": "error 3", "utilization": (96, 0), "performance_state": 0,
        "reasons": 0, "power_instant": 72900, "processes": [(41207, 47244640256)],
    },
    "discrete.txt": {
        "driver": "580.126.09", "cuda": 13000, "count": 1, "name": "NVIDIA RTX 4000 Ada Generation",
        "capability": (8, 9), "bus": "00000000:01:00.0", "pci_device_id": 0x27B210DE,
        "memory": (21474836480, 6442450944), "memory_v2": (21474836480, 6442450944, 14562623488),
        "power": 121400, "sm_clock": 2610, "memory_clock": 9001, "utilization": (99, 41), "performance_state": 2,
        "reasons": 4, "power_instant": 124900, "processes": [(2877, 14226423808)],
    },
}


def main():
    expected = EXPECTED[os.path.basename(os.environ["FAKE_GPU_SCENARIO"])]
    pynvml.nvmlInit()
    actual = read(pynvml.nvmlDeviceGetHandleByIndex(0))
    wrong = [f"{key}: expected {value}, read {actual.get(key)}" for key, value in expected.items()
             if actual.get(key) != value]
    pynvml.nvmlShutdown()
    print("\n".join(wrong) if wrong else f"{len(expected)} values as the scenario says")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
