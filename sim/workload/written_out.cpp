#include "workload/written_out.hpp"

#include "workload/lower.hpp"

namespace gpuscale {

namespace {

constexpr Bytes kWideNumber(4);

bool is_narrow(Precision precision) { return activation_size(precision) < kWideNumber; }

StreamKernel stream(const WrittenOut& form, double passes, double wide, std::int64_t kernels, double numbers,
                    Precision precision) {
  const Bytes number = activation_size(precision);
  if (!is_narrow(precision)) return {.moved = numbers * passes * number, .kernels = kernels};
  const Bytes casts = static_cast<double>(form.casts) * (number + kWideNumber);
  return {.moved = numbers * ((passes - wide) * number + wide * kWideNumber + casts), .kernels = kernels + form.casts};
}

}  // namespace

StreamKernel forward_stream(const WrittenOut& form, double numbers, Precision precision) {
  return stream(form, form.forward, form.forward_wide, form.forward_kernels, numbers, precision);
}

StreamKernel backward_stream(const WrittenOut& form, double numbers, Precision precision) {
  return stream(form, form.backward, form.backward_wide, form.backward_kernels, numbers, precision);
}

Bytes kept_tensors(const WrittenOut& form, double numbers, Precision precision) {
  const bool wide = is_narrow(precision) && form.forward_wide >= form.forward;
  return form.kept * numbers * (wide ? kWideNumber : activation_size(precision));
}

}  // namespace gpuscale
