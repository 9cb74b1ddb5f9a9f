#include "arguments.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include "output.hpp"
#include "report/text_style.hpp"
#include "units/diagnostic.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale::tool {

namespace po = boost::program_options;

namespace {

constexpr unsigned kHelpWidth = 100;
constexpr const char* kRest = "rest of the command line";  // no option can be called so

std::vector<std::string_view> long_names(const po::options_description& options, std::vector<std::string>& storage) {
  for (const auto& option : options.options()) storage.push_back("--" + option->long_name());
  return {storage.begin(), storage.end()};
}

}  // namespace

struct ArgumentParser::Options {
  po::options_description visible;
  std::string help;  ///< a line or more for each
};

void ArgumentParser::describe(std::string_view name, std::string_view metavar, std::string_view help) {
  constexpr std::size_t kColumn = 28;
  const std::size_t comma = name.find(',');
  const std::string letter = comma == std::string_view::npos ? "    " : fmt::format("-{}, ", name.substr(comma + 1));
  const std::string option = fmt::format("  {}--{} {}", letter, name.substr(0, comma), metavar);
  options_->help += padded(option, kColumn) + wrapped(help, kHelpWidth, kColumn) + '\n';
}

ArgumentParser::ArgumentParser(std::string_view usage, std::string_view about)
    : usage_(usage), about_(about), options_(std::make_unique<Options>()) {
  options_->visible.add_options()("help,h", "");
}

ArgumentParser::~ArgumentParser() = default;

void ArgumentParser::flag(const char* name, bool& target, const char* help) {
  options_->visible.add_options()(name, po::bool_switch(&target), "");
  describe(name, "", help);
}

void ArgumentParser::value(const char* name, const char* metavar, std::string& target, const char* help) {
  options_->visible.add_options()(name, po::value(&target)->value_name(metavar), "");
  describe(name, metavar, help);
}

void ArgumentParser::value(const char* name, const char* metavar, int& target, const char* help) {
  options_->visible.add_options()(name, po::value(&target)->value_name(metavar), "");
  describe(name, metavar, help);
}

void ArgumentParser::value(const char* name, const char* metavar, std::optional<int>& target, const char* help) {
  const auto set = [&target](int value) { target = value; };
  options_->visible.add_options()(name, po::value<int>()->notifier(set)->value_name(metavar), "");
  describe(name, metavar, help);
}

void ArgumentParser::list(const char* name, const char* metavar, std::vector<std::string>& target, const char* help) {
  options_->visible.add_options()(name, po::value(&target)->value_name(metavar), "");
  describe(name, metavar, help);
}

void ArgumentParser::rest(std::vector<std::string>& target) { rest_ = &target; }

void ArgumentParser::example(std::string_view line) { examples_ += fmt::format("  {}\n", line); }

std::string ArgumentParser::help() const {
  const std::string examples = examples_.empty() ? "" : "\nExamples:\n" + examples_;
  return fmt::format("Usage: gpuscale {}\n\n{}\n\nOptions:\n{}  -h, --help                show this help\n{}", usage_,
                     wrapped(about_, kHelpWidth, 0), options_->help, examples);
}

bool ArgumentParser::parse(const std::vector<std::string>& arguments) {
  po::options_description all;
  all.add(options_->visible);
  all.add_options()(kRest, po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add(kRest, rest_ == nullptr ? 0 : -1);
  using Style = po::command_line_style::style_t;
  const int style = Style::unix_style & ~Style::allow_guessing;
  try {
    po::variables_map values;
    po::store(po::command_line_parser(arguments).options(all).positional(positional).style(style).run(), values);
    if (values.contains("help")) {
      write_out(help());
      return false;
    }
    po::notify(values);
    if (values.contains(kRest)) *rest_ = values[kRest].as<std::vector<std::string>>();
  } catch (const po::unknown_option& error) {
    std::vector<std::string> storage;
    const std::string option = error.get_option_name();
    throw UsageError(fmt::format("unknown option {}{}", in_quotes(option),
                                 did_you_mean(option, long_names(options_->visible, storage))));
  } catch (const po::too_many_positional_options_error&) {
    throw UsageError("too many arguments");
  } catch (const po::error& error) {
    throw UsageError(error.what());
  }
  return true;
}

}  // namespace gpuscale::tool
