#include "units/quantity_text.hpp"

#include <array>
#include <clocale>
#include <doctest/doctest.h>
#include <string>
#include <string_view>

using namespace gpuscale;

namespace {

double value(std::string_view text, QuantityKind kind) {
  const QuantityReading reading = read_quantity(text, kind);
  CHECK(reading.problem == "");
  return reading.value;
}

}  // namespace

TEST_SUITE("units") {
  TEST_CASE("quantities are read in base units") {
    struct Row {
      std::string_view text;
      QuantityKind kind;
      double value;
    };
    constexpr std::array<Row, 21> kRows = {{{"12 GB/s", QuantityKind::rate, 12e9},
                                            {"40 Gb/s", QuantityKind::rate, 5e9},
                                            {"984.6 MB/s", QuantityKind::rate, 984.6e6},
                                            {"1.3 us", QuantityKind::duration, 1.3e-6},
                                            {"2 min", QuantityKind::duration, 120},
                                            {"80ns", QuantityKind::duration, 80e-9},
                                            {"8 GiB", QuantityKind::size, 8.0 * 1073741824},
                                            {"25 MiB", QuantityKind::size, 26214400},
                                            {"110 kB", QuantityKind::size, 110000},
                                            {"512 B", QuantityKind::size, 512},
                                            {"250 W", QuantityKind::power, 250},
                                            {"699 USD", QuantityKind::price, 699},
                                            {"1.5 kUSD", QuantityKind::price, 1500},
                                            {"207 /s", QuantityKind::per_second, 207},
                                            {"1.2 k/s", QuantityKind::per_second, 1200},
                                            {"11.34 TFLOP/s", QuantityKind::flop_rate, 11.34e12},
                                            {"8.18 GFLOP", QuantityKind::flop, 8.18e9},
                                            {"1480 MHz", QuantityKind::frequency, 1480e6},
                                            {"25.557 M", QuantityKind::count, 25.557e6},
                                            {"3072", QuantityKind::count, 3072},
                                            {" 1e3  MB ", QuantityKind::size, 1e9}}};
    for (const Row& row : kRows) {
      CAPTURE(row.text);
      CHECK(value(row.text, row.kind) == doctest::Approx(row.value).epsilon(1e-12));
    }
  }

  TEST_CASE("a bit is an eighth of a byte and Ki is 1024 where k is 1000") {
    CHECK(value("8 Mb/s", QuantityKind::rate) == value("1 MB/s", QuantityKind::rate));
    CHECK(value("1 MiB", QuantityKind::size) == 1048576);
    CHECK(value("1 MB", QuantityKind::size) == 1000000);
  }

  TEST_CASE("what is no quantity says what to write") {
    struct Row {
      std::string_view text;
      QuantityKind kind;
      std::string_view problem;
    };
    constexpr std::array<Row, 15> kRows = {{
        {"-5", QuantityKind::rate, "'-5' is not a rate; write a number with a unit, such as 12 GB/s"},
        {"0", QuantityKind::duration, "'0' is not a time; write a number with a unit, such as 30 us"},
        {"25", QuantityKind::size, "'25' is not a size; write a number with a unit, such as 25 MiB"},
        {"", QuantityKind::rate, "an empty text is not a rate; write 12 GB/s"},
        {"fast", QuantityKind::rate, "'fast' is not a rate; write a number with a unit, such as 12 GB/s"},
        {"12 GB", QuantityKind::rate, "'12 GB' is a size, not a rate; write 12 GB/s"},
        {"12 GB/s", QuantityKind::size, "'12 GB/s' is a rate, not a size; write 12 GB"},
        {"8 GFLOP", QuantityKind::flop_rate,
         "'8 GFLOP' is an amount of work, not a rate of arithmetic; write 8 GFLOP/s"},
        {"11 TFLOPS", QuantityKind::flop_rate, "'11 TFLOPS' has an unknown unit 'TFLOPS'; did you mean '11 TFLOP/s'?"},
        {"5 M", QuantityKind::size, "'5 M' is a count, not a size; write a size, such as 25 MiB"},
        {"0 us", QuantityKind::duration, "'0 us' is zero; a time here is above zero"},
        {"-1 us", QuantityKind::duration, "'-1 us' is negative; a time is above zero"},
        {"nan us", QuantityKind::duration, "'nan us' is not a time; write a number with a unit, such as 30 us"},
        {"010 us", QuantityKind::duration, "'010 us' starts with a zero, which YAML may read as octal; write 10 us"},
        {"1 B/s", QuantityKind::rate, "'1 B/s' is too small to be a rate"},
    }};
    for (const Row& row : kRows) {
      CAPTURE(row.text);
      CHECK(read_quantity(row.text, row.kind).problem == row.problem);
    }
  }

  TEST_CASE("zero is taken where it is allowed") {
    CHECK(read_quantity("0 us", QuantityKind::duration, true).ok());
    CHECK(!read_quantity("-0.5 us", QuantityKind::duration, true).ok());
  }

  TEST_CASE("plain numbers have limits and no unit") {
    CHECK(read_number("0.8", 0, 1).value == 0.8);
    CHECK(read_number("1.5", 0, 1).problem == "'1.5' is not between 0 and 1");
    CHECK(read_number("0.8 s", 0, 1).problem == "'0.8 s' is not a plain number; write 0.8 without a unit");
    CHECK(read_number("inf", 0, 1).problem == "'inf' is not a number");
  }

  TEST_CASE("advice on a plain number is never a number that would be refused") {
    CHECK(read_number("10 %", 0, 1).problem == "'10 %' is not a plain number; write the percentage as a fraction, 0.1");
    CHECK(read_number("150 %", 0, 1).problem == "'150 %' is not a plain number; write a number between 0 and 1");
    CHECK(read_number("10 s", 0, 1).problem == "'10 s' is not a plain number; write a number between 0 and 1");
    CHECK(read_number("50%", 0.5, 4).problem == "'50%' is not a plain number; write the percentage as a fraction, 0.5");
  }

  TEST_CASE("two sizes get the digits that tell them apart") {
    constexpr double kGiB = 1073741824;
    CHECK(told_apart(Bytes(12 * kGiB), Bytes(11 * kGiB)).first == "12.0 GiB");
    CHECK(told_apart(Bytes(11.02 * kGiB), Bytes(11 * kGiB)).first == "11.02 GiB");
    CHECK(told_apart(Bytes(11.02 * kGiB), Bytes(11 * kGiB)).second == "11.00 GiB");
    const TwoTexts byte = told_apart(Bytes(11 * kGiB + 1), Bytes(11 * kGiB));
    CHECK(byte.first != byte.second);
    CHECK(told_apart(Bytes(kGiB), Bytes(kGiB)).first == "1.00 GiB");
  }

  TEST_CASE("no value fills a line") {
    CHECK(to_text(Bytes(1180.0 * 0x1p50)) == "1180 PiB");
    CHECK(to_text(Bytes(1e20 * 0x1p50)) == "1.00e+20 PiB");
  }

  TEST_CASE("quantities are written with three digits and a fitting unit") {
    CHECK(to_text(BytesPerSecond(12.5e9)) == "12.5 GB/s");
    CHECK(to_text(BytesPerSecond(999.7e6)) == "1.00 GB/s");
    CHECK(to_text(Seconds(1.3149e-3)) == "1.31 ms");
    CHECK(to_text(Seconds(0)) == "0 s");
    CHECK(to_text(Seconds(250)) == "250 s");
    CHECK(to_text(Bytes(8.0 * 1073741824)) == "8.00 GiB");
    CHECK(to_text(Bytes(0)) == "0 B");
    CHECK(to_text(Bytes(512)) == "512 B");
    CHECK(to_text(Flop(8.18e9)) == "8.18 GFLOP");
    CHECK(to_text(FlopPerSecond(11.34e12)) == "11.3 TFLOP/s");
    CHECK(to_text(Hertz(1.48e9)) == "1.48 GHz");
    CHECK(to_text(Watts(250)) == "250 W");
    CHECK(to_text(Dollars(699)) == "699 USD");
    CHECK(to_text(Dollars(0.59)) == "0.59 USD");
    CHECK(count_text(25.557e6) == "25.6 M");
    CHECK(count_text(128) == "128");
    CHECK(per_second_text(207) == "207 /s");
  }

  TEST_CASE("texts in messages are short and printable") {
    CHECK(in_quotes("a\nb\x01") == "'a\\nb\\x01'");
    CHECK(in_quotes(std::string(100, 'x')) == "'" + std::string(60, 'x') + "...'");
  }

  TEST_CASE("reading and writing do not depend on the locale") {
    const std::string before = std::setlocale(LC_ALL, nullptr);
    std::setlocale(LC_ALL, "de_DE.UTF-8");  // a decimal comma, where installed
    CHECK(value("1.5 GB/s", QuantityKind::rate) == 1.5e9);
    CHECK(to_text(BytesPerSecond(1.5e9)) == "1.50 GB/s");
    std::setlocale(LC_ALL, before.c_str());
  }
}
