#include "execution/gates.hpp"

namespace gpuscale {

Gates::Gates(const Plan& plan) : plan_(plan) {
  for (const double credit : plan.gates()) gates_.push_back({.credit = credit});
}

bool Gates::enqueue(TaskId id) {
  const GatePass& pass = plan_.gate_pass(id);
  if (pass.returns) return true;
  Gate& gate = gates_[pass.gate.index()];
  if (gate.credit <= 0) {
    gate.waiting.emplace(pass.urgency, arrivals_++, id);
    return false;
  }
  gate.credit -= pass.credit;
  return true;
}

std::vector<TaskId> Gates::finish(TaskId id) {
  std::vector<TaskId> entering;
  const GatePass& pass = plan_.gate_pass(id);
  if (!pass.returns) return entering;
  Gate& gate = gates_[pass.gate.index()];
  gate.credit += pass.credit;
  while (gate.credit > 0 && !gate.waiting.empty()) {
    const TaskId next = std::get<TaskId>(*gate.waiting.begin());
    gate.waiting.erase(gate.waiting.begin());
    gate.credit -= plan_.gate_pass(next).credit;
    entering.push_back(next);
  }
  return entering;
}

}  // namespace gpuscale
