// A device that registers as CUDA and computes on the CPU, for a PyTorch without CUDA: see pretended.py.
//
// It uses the CPU's memory. All operations except those below run on the CPU, on copies, by PyTorch's fallback for new
// devices (at::native::cpu_fallback). As on a GPU, all tensors of an operation must be on the device. New memory is
// filled with NaN, as a GPU's may be.

#include <ATen/EmptyTensor.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_coalesced_native.h>
#include <ATen/ops/_indices_native.h>
#include <ATen/ops/_nnz_native.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/_sparse_coo_tensor_with_dims_and_tensors_native.h>
#include <ATen/ops/_sparse_coo_tensor_with_dims_native.h>
#include <ATen/ops/_values_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/clone_native.h>
#include <ATen/ops/copy_native.h>
#include <ATen/ops/dense_dim_native.h>
#include <ATen/ops/empty_native.h>
#include <ATen/ops/indices_native.h>
#include <ATen/ops/is_coalesced_native.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/sparse_dim_native.h>
#include <ATen/ops/sparse_resize_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/values_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/extension.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

namespace {

using at::IntArrayRef;
using at::Tensor;
using c10::Device;
using c10::DeviceIndex;
using c10::DeviceType;
using std::optional;

const Device kGpu(DeviceType::CUDA, 0);

// ---- memory ----

struct Memory final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    void* data = bytes ? std::malloc(bytes) : nullptr;
    if (data) std::memset(data, 0xFF, bytes);
    return {data, data, &std::free, kGpu};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &std::free; }
  void copy_data(void* to, const void* from, size_t bytes) const override { std::memcpy(to, from, bytes); }
};

Memory memory;

// ---- one device, one stream ----

struct Guard final : c10::impl::DeviceGuardImplInterface {
  static constexpr DeviceType static_type = DeviceType::CUDA;
  Guard() = default;
  explicit Guard(DeviceType) {}
  DeviceType type() const override { return DeviceType::CUDA; }
  Device exchangeDevice(Device) const override { return kGpu; }
  Device getDevice() const override { return kGpu; }
  void setDevice(Device) const override {}
  void uncheckedSetDevice(Device) const noexcept override {}
  c10::Stream getStream(Device) const override { return c10::Stream(c10::Stream::DEFAULT, kGpu); }
  c10::Stream getStreamFromGlobalPool(Device, bool) const override { return c10::Stream(c10::Stream::DEFAULT, kGpu); }
  c10::Stream getDefaultStream(Device) const override { return c10::Stream(c10::Stream::DEFAULT, kGpu); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  DeviceIndex deviceCount() const noexcept override { return 1; }
  void record(void**, const c10::Stream&, const DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void*, const DeviceIndex) const noexcept override {}
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void synchronizeEvent(void*) const override {}
  void recordDataPtrOnStream(const c10::DataPtr&, const c10::Stream&) const override {}
};

C10_REGISTER_GUARD_IMPL(CUDA, Guard)

struct Hooks final : at::CUDAHooksInterface {
  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  DeviceIndex current_device() const override { return 0; }
  DeviceIndex getCurrentDevice() const override { return 0; }
  DeviceIndex exchangeDevice(DeviceIndex) const override { return 0; }
  DeviceIndex maybeExchangeDevice(DeviceIndex) const override { return 0; }
  void setCurrentDevice(DeviceIndex) const override {}
  DeviceIndex deviceCount() const override { return 1; }
  int getNumGPUs() const override { return 1; }
  bool isPinnedPtr(const void*) const override { return false; }
  c10::Allocator* getPinnedMemoryAllocator() const override { return c10::GetCPUAllocator(); }
  void deviceSynchronize(DeviceIndex) const override {}
};

// ---- operations without a copy ----

Tensor as_cpu(const Tensor& tensor) {
  if (!tensor.is_cuda()) return tensor;
  auto options = tensor.options().device(at::kCPU);
  if (!tensor.numel()) return at::empty_strided(tensor.sizes(), tensor.strides(), options);
  return at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(), options);
}

Tensor empty(IntArrayRef size, optional<at::ScalarType> dtype, optional<at::Layout>, optional<Device>, optional<bool>,
             optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(size, &memory, c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                   c10::dtype_or_default(dtype), format);
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, optional<at::ScalarType> dtype, optional<at::Layout>,
                     optional<Device>, optional<bool>) {
  return at::detail::empty_strided_generic(size, stride, &memory, c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                           c10::dtype_or_default(dtype));
}

Tensor& copy_(Tensor& self, const Tensor& source, bool) {
  auto to = as_cpu(self);
  to.copy_(as_cpu(source));
  return self;
}

Tensor copy_from(const Tensor& source, const Tensor& self, bool) {
  as_cpu(self).copy_(as_cpu(source));
  return self;
}

Tensor copy_from_and_resize(const Tensor& source, const Tensor& self) {
  if (self.sizes() != source.sizes()) self.resize_(source.sizes());
  as_cpu(self).copy_(as_cpu(source));
  return self;
}

at::Scalar local_scalar_dense(const Tensor& self) { return as_cpu(self).item(); }

void record_stream(Tensor&, c10::Stream) {}

int64_t sdp_choice(const Tensor&, const Tensor&, const Tensor&, const optional<Tensor>&, double, bool, optional<double>,
                   bool) {
  return 0;  // the math backend, which every device has
}

// One step of an LSTM, which the CPU computes with other operations than a GPU
std::tuple<Tensor, Tensor, Tensor> lstm_step(const Tensor& input, const Tensor& hidden, const Tensor& cell,
                                             const optional<Tensor>& input_bias, const optional<Tensor>& hidden_bias) {
  auto gates = input + hidden;
  if (input_bias && input_bias->defined()) gates = gates + *input_bias + *hidden_bias;
  auto parts = gates.chunk(4, 1);
  auto next = parts[1].sigmoid() * cell + parts[0].sigmoid() * parts[2].tanh();
  return {parts[3].sigmoid() * next.tanh(), next, gates};
}

std::tuple<Tensor, Tensor> gru_step(const Tensor& input, const Tensor& hidden, const Tensor& state,
                                    const optional<Tensor>& input_bias, const optional<Tensor>& hidden_bias) {
  auto from = input_bias && input_bias->defined() ? input + *input_bias : input;
  auto back = hidden_bias && hidden_bias->defined() ? hidden + *hidden_bias : hidden;
  auto in = from.chunk(3, 1), past = back.chunk(3, 1);
  auto reset = (in[0] + past[0]).sigmoid(), update = (in[1] + past[1]).sigmoid();
  auto fresh = (in[2] + reset * past[2]).tanh();
  return {(state - fresh) * update + fresh, fresh};
}

// ---- all other operations ----

bool takes_the_cpus(const std::string& name, size_t argument) {
  // Indices may be on the CPU; the lengths of a packed sequence must be.
  static const std::set<std::string> may = {"aten::index", "aten::index_put", "aten::index_put_",
                                            "aten::_index_put_impl_", "aten::_pack_padded_sequence"};
  return argument > 0 && may.count(name);
}

void check(const std::string& name, const Tensor& tensor, size_t argument) {
  // Scalar tensors may be on the CPU, except for fused optimiser steps, which read them on the device.
  bool is_number = !tensor.dim() && name.rfind("aten::_fused_", 0) != 0;
  TORCH_CHECK(!tensor.defined() || tensor.is_cuda() || tensor.is_meta() || is_number || takes_the_cpus(name, argument),
              "Expected all tensors to be on the same device, but argument ", argument, " of ", name, " is on ",
              tensor.device(), ", others on ", kGpu);
}

void on_the_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& name = op.schema().name();
  auto arguments = torch::jit::last(*stack, op.schema().arguments().size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& value = arguments[i];
    if (value.isTensor()) check(name, value.toTensor(), i);
    if (value.isTensorList())
      for (const Tensor& tensor : value.toTensorVector()) check(name, tensor, i);
    if (value.isOptionalTensorList())
      for (const optional<Tensor>& tensor : value.toOptionalTensorVector())
        if (tensor) check(name, *tensor, i);
  }
  at::native::cpu_fallback(op, stack);
}

void sparse_on_the_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  at::native::cpu_fallback(op, stack, false, c10::DispatchKey::SparseCPU);
}

}  // namespace

TORCH_LIBRARY_IMPL(_, CUDA, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_the_cpu>()); }

TORCH_LIBRARY_IMPL(_, SparseCUDA, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&sparse_on_the_cpu>()); }

TORCH_LIBRARY_IMPL(aten, SparseCUDA, m) {
  m.impl("_sparse_coo_tensor_with_dims", at::native::new_with_dims_sparse);
  m.impl("_sparse_coo_tensor_with_dims_and_tensors", at::native::new_with_dims_and_tensor_sparse_symint);
  m.impl("_indices", at::native::_indices_sparse);
  m.impl("_values", at::native::_values_sparse);
  m.impl("indices", at::native::indices_sparse);
  m.impl("values", at::native::values_sparse);
  m.impl("_nnz", at::native::_nnz_sparse);
  m.impl("is_coalesced", at::native::is_coalesced_sparse);
  m.impl("_coalesced_", at::native::_coalesced_sparse_);
  m.impl("sparse_dim", at::native::sparse_dim_sparse);
  m.impl("dense_dim", at::native::dense_dim_sparse);
  m.impl("sparse_resize_", at::native::sparse_resize_);
  m.impl("empty.memory_format", at::native::empty_sparse_symint);
  m.impl("copy_", at::native::copy_sparse_wrapper_);
  m.impl("clone", at::native::clone_sparse);
}

TORCH_LIBRARY_IMPL(aten, CUDA, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("view", at::native::view);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("unfold", at::native::unfold);
  m.impl("resize_", at::native::resize_);
  m.impl("set_.source_Storage_storage_offset", at::native::set_storage_cpu_);
  m.impl("set_.source_Storage", at::native::set_);
  m.impl("set_.source_Tensor", at::native::set_tensor_);
  m.impl("copy_", copy_);
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("_local_scalar_dense", local_scalar_dense);
  m.impl("record_stream", record_stream);
  m.impl("_fused_sdp_choice", sdp_choice);
  m.impl("_thnn_fused_lstm_cell", lstm_step);
  m.impl("_thnn_fused_gru_cell", gru_step);
}

TORCH_LIBRARY_IMPL(aten, AutogradCUDA, m) {  // autograd differentiates the operations of a step
  m.impl("_thnn_fused_lstm_cell", lstm_step);
  m.impl("_thnn_fused_gru_cell", gru_step);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  c10::SetAllocator(DeviceType::CUDA, &memory);
  // PyTorch looks up its CUDA hooks once, at import: replace the object in place.
  static_assert(sizeof(Hooks) == sizeof(at::CUDAHooksInterface));
  new (const_cast<at::CUDAHooksInterface*>(&at::detail::getCUDAHooks())) Hooks();
}
