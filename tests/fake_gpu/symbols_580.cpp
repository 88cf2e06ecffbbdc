// What drivers up to 580 have added.
#include "answer.h"

using namespace fake_gpu;

extern "C" {

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_v1_t* temperature) {
  FAKE_GPU_ENTER(Needs::device, device);
  if (temperature == nullptr || temperature->sensorType != 0) return k_invalid_argument;
  if (temperature->version != version_word<nvmlTemperature_v1_t>(1)) return k_argument_version_mismatch;
  return give_number("temperature", &temperature->temperature);
}

nvmlReturn_t nvmlDeviceGetMarginTemperature(nvmlDevice_t device, nvmlMarginTemperature_v1_t* margin) {
  FAKE_GPU_ENTER(Needs::device, device);
  if (margin == nullptr) return k_invalid_argument;
  if (margin->version != version_word<nvmlMarginTemperature_v1_t>(1)) return k_argument_version_mismatch;
  return give_number("temperature_margin", &margin->marginTemperature);
}

nvmlReturn_t nvmlDeviceGetAddressingMode(nvmlDevice_t device, nvmlDeviceAddressingMode_v1_t* mode) {
  FAKE_GPU_ENTER(Needs::device, device);
  if (mode == nullptr) return k_invalid_argument;
  if (mode->version != version_word<nvmlDeviceAddressingMode_v1_t>(1)) return k_argument_version_mismatch;
  return give_number("addressing_mode", &mode->value);
}

}  // extern "C"
