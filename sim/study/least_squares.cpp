#include "study/least_squares.hpp"

#include <cmath>
#include <utility>

namespace gpuscale {

namespace {

/// Weight of the pull towards zero beside one point of slope one. Measurements of one machine scatter by some 5 % and
/// its constants are within some 30 % of the data files': (5 / 30)^2.
constexpr double kPull = 0.03;

double sum_of_products(const std::vector<double>& a, const std::vector<double>& b, std::size_t left_out) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (i != left_out) sum += a[i] * b[i];
  }
  return sum;
}

}  // namespace

std::vector<double> solve(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < n; ++row) {
      if (std::abs(a[row][column]) > std::abs(a[pivot][column])) pivot = row;
    }
    std::swap(a[column], a[pivot]);
    std::swap(b[column], b[pivot]);
    for (std::size_t row = column + 1; row < n; ++row) {
      const double factor = a[row][column] / a[column][column];
      for (std::size_t k = column; k < n; ++k) a[row][k] -= factor * a[column][k];
      b[row] -= factor * b[column];
    }
  }
  for (std::size_t row = n; row-- > 0;) {
    for (std::size_t k = row + 1; k < n; ++k) b[row] -= a[row][k] * b[k];
    b[row] /= a[row][row];
  }
  return b;
}

std::vector<double> least_squares_step(const Linearised& at, const std::vector<double>& now, std::size_t left_out) {
  const std::size_t n = now.size();
  std::vector<std::vector<double>> normal(n, std::vector<double>(n));
  std::vector<double> right(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) normal[i][j] = sum_of_products(at.slopes[i], at.slopes[j], left_out);
    normal[i][i] += kPull;
    right[i] = -sum_of_products(at.slopes[i], at.residuals, left_out) - kPull * now[i];
  }
  return solve(std::move(normal), std::move(right));
}

}  // namespace gpuscale
