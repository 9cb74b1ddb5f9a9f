#pragma once

#include <string>
#include <string_view>

namespace gpuscale {

/// How a shape of an SvgWriter looks; colours as in CSS, lengths in pixels.
struct SvgStyle {
  std::string_view fill = "none";
  std::string_view stroke = "none";
  double stroke_width = 1.0;
  double radius = 0.0;  ///< of a rectangle's corners
  double opacity = 1.0;
  bool dashed = false;
};

/// How a text stands.
struct SvgText {
  double size = 11.0;
  std::string_view fill = "#222222";
  std::string_view anchor = "middle";  ///< start, middle or end
  bool bold = false;
};

/// Writes one picture that needs nothing else: no style sheet, font file or script. Coordinates in
/// pixels from the upper left corner, written with at most one decimal; texts are escaped.
class SvgWriter {
 public:
  SvgWriter(double width, double height);

  void rect(double x, double y, double width, double height, const SvgStyle& style);
  void line(double x1, double y1, double x2, double y2, const SvgStyle& style);
  /// `data` as in the d attribute: see move_to, curve_to.
  void path(std::string_view data, const SvgStyle& style);
  void text(double x, double y, std::string_view text, const SvgText& style);

  static std::string move_to(double x, double y);
  static std::string curve_to(double x1, double y1, double x2, double y2, double x, double y);

  /// The whole document; the writer is then empty.
  std::string finish();

 private:
  std::string document_;
};

}  // namespace gpuscale
