#pragma once

/// \file
/// Tables of errors, before and after a fit.

#include <string>
#include <vector>

#include "fit.hpp"

namespace gpuscale::fit {

/// Errors of the kernels of one family by class and units: plain roofline, before, after.
void print_errors(const std::vector<Sample>& samples, const Family& before, const Family& after);

/// For each card of the family: how well the others predict it. Every stage is fitted without the card, and the error
/// on the card's kernels stands beside that of a fit with it.
void print_leave_one_out(const std::vector<Sample>& samples, const Family& start, const Family& fitted,
                         std::span<const std::string_view> hold);

/// Median ratio of model to measured step by network, precision and card.
void print_steps(const Steps& steps, const Family& before, const Family& after);

/// Every constant that changed.
void print_changes(const Family& before, const Family& after);

}  // namespace gpuscale::fit
