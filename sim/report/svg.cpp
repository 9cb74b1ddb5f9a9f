#include "report/svg.hpp"

#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "report/text_style.hpp"

namespace gpuscale {

namespace {

/// "12", "12.5": one decimal at most, none if it is zero.
std::string pixels(double value) {
  const double tenths = std::round(value * 10.0);
  const double shown = tenths == 0.0 ? 0.0 : tenths / 10.0;  // no "-0"
  return std::fmod(tenths, 10.0) == 0.0 ? fmt::format("{:.0f}", shown) : fmt::format("{:.1f}", shown);
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string attributes(const SvgStyle& style) {
  std::string text = fmt::format(" fill=\"{}\"", style.fill);
  if (style.stroke != "none") {
    text += fmt::format(" stroke=\"{}\" stroke-width=\"{}\"", style.stroke, pixels(style.stroke_width));
  }
  if (style.dashed) text += " stroke-dasharray=\"5 4\"";
  if (style.opacity < 1.0) text += fmt::format(" opacity=\"{:.2f}\"", style.opacity);
  return text;
}

}  // namespace

SvgWriter::SvgWriter(double width, double height)
    : document_(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                            "viewBox=\"0 0 {0} {1}\" font-family=\"Helvetica, Arial, sans-serif\">\n",
                            pixels(width), pixels(height))) {
  rect(0, 0, width, height, {.fill = "#ffffff"});
}

void SvgWriter::rect(double x, double y, double width, double height, const SvgStyle& style) {
  document_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", pixels(x), pixels(y), pixels(width),
                           pixels(height));
  if (style.radius > 0) document_ += fmt::format(" rx=\"{}\"", pixels(style.radius));
  document_ += attributes(style) + "/>\n";
}

void SvgWriter::line(double x1, double y1, double x2, double y2, const SvgStyle& style) {
  document_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{}/>\n", pixels(x1), pixels(y1), pixels(x2),
                           pixels(y2), attributes(style));
}

void SvgWriter::path(std::string_view data, const SvgStyle& style) {
  document_ += fmt::format("<path d=\"{}\"{}/>\n", data, attributes(style));
}

void SvgWriter::text(double x, double y, std::string_view text, const SvgText& style) {
  document_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\" text-anchor=\"{}\"", pixels(x),
                           pixels(y), pixels(style.size), style.fill, style.anchor);
  if (style.bold) document_ += " font-weight=\"bold\"";
  document_ += fmt::format(">{}</text>\n", escaped(text));
}

std::string SvgWriter::move_to(double x, double y) { return fmt::format("M {} {}", pixels(x), pixels(y)); }

std::string SvgWriter::curve_to(double x1, double y1, double x2, double y2, double x, double y) {
  return fmt::format(" C {} {} {} {} {} {}", pixels(x1), pixels(y1), pixels(x2), pixels(y2), pixels(x), pixels(y));
}

std::string SvgWriter::finish() { return std::exchange(document_, "") + "</svg>\n"; }

}  // namespace gpuscale
