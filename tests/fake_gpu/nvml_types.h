#pragma once

#include <cstdint>

/// The layouts of NVML's binary interface, declared once more and independently of the product: a mistake in one of
/// the two shows as a test that fails. Source: nvml.h as published with nvidia-settings, tags 550.40 to 610.43.
extern "C" {

typedef int nvmlReturn_t;
typedef void* nvmlDevice_t;

typedef struct {
  char busIdLegacy[16];
  unsigned int domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
} nvmlPciInfo_t;

typedef struct {
  char busId[16];
  unsigned int domain, bus, device, pciDeviceId, pciSubSystemId, reserved0, reserved1, reserved2, reserved3;
} nvmlPciInfo_v2_t;

typedef struct {
  unsigned int gpu, memory;
} nvmlUtilization_t;

typedef struct {
  unsigned long long total, free, used;
} nvmlMemory_t;

typedef struct {
  unsigned int version;
  unsigned long long total, reserved, free, used;
} nvmlMemory_v2_t;

typedef struct {
  unsigned int pid;
  unsigned long long usedGpuMemory;
} nvmlProcessInfo_v1_t;

typedef struct {
  unsigned int pid;
  unsigned long long usedGpuMemory;
  unsigned int gpuInstanceId, computeInstanceId;
} nvmlProcessInfo_v2_t;

typedef union {
  double dVal;
  int siVal;
  unsigned int uiVal;
  unsigned long ulVal;
  unsigned long long ullVal;
  signed long long sllVal;
  unsigned short usVal;
} nvmlValue_t;

typedef struct {
  unsigned int fieldId, scopeId;
  long long timestamp, latencyUsec;
  unsigned int valueType;
  nvmlReturn_t nvmlReturn;
  nvmlValue_t value;
} nvmlFieldValue_t;

typedef struct {
  unsigned int version, sensorType;
  int temperature;
} nvmlTemperature_v1_t;

typedef struct {
  unsigned int version;
  int marginTemperature;
} nvmlMarginTemperature_v1_t;

typedef struct {
  unsigned int version, value;
} nvmlDeviceAddressingMode_v1_t;

typedef struct {
  unsigned int isC2cEnabled;
} nvmlC2cModeInfo_v1_t;

}  // extern "C"
