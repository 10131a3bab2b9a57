#include "record/npy_array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"

namespace signorini {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they stand in the file");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;

struct NpyHeader {
  std::string dtype;
  bool is_fortran = false;
  std::vector<std::uint64_t> shape;
};

/// What a dtype such as "<f8" says.
struct NumberType {
  char order = '|', letter = 0;
  std::size_t size = 0;  ///< bytes of one element
};

/// Reads a Python dictionary of the few things that a header holds.
class HeaderScanner {
 public:
  explicit HeaderScanner(std::string_view text) : text_(text) {}

  bool take(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    skip_space();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  std::optional<std::string> quoted() {
    const char quote = take('\'') ? '\'' : take('"') ? '"' : '\0';
    const std::size_t end = quote == '\0' ? std::string_view::npos : text_.find(quote, at_);
    if (end == std::string_view::npos) return {};
    std::string found(text_.substr(at_, end - at_));
    at_ = end + 1;
    return found;
  }
  std::optional<std::uint64_t> number() {
    skip_space();
    std::uint64_t value = 0;
    const std::size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && at_ - begin < 19; ++at_)
      value = 10 * value + static_cast<std::uint64_t>(text_[at_] - '0');
    if (at_ == begin) return {};
    return value;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

/// "(3, 4)", "(5,)", "()"
bool scan_shape(HeaderScanner& in, std::vector<std::uint64_t>& shape) {
  if (!in.take('(')) return false;
  while (!in.take(')')) {
    const std::optional<std::uint64_t> extent = in.number();
    if (!extent) return false;
    shape.push_back(*extent);
    if (!in.take(',')) return in.take(')');
  }
  return true;
}

/// The value behind one key of the dictionary; false for what no plain array has.
bool scan_value(HeaderScanner& in, const std::string& key, NpyHeader& header) {
  if (key == "descr") {
    std::optional<std::string> dtype = in.quoted();
    if (dtype) header.dtype = std::move(*dtype);
    return dtype.has_value();
  }
  if (key == "fortran_order") {
    header.is_fortran = in.take(std::string_view("True"));
    return header.is_fortran || in.take(std::string_view("False"));
  }
  header.shape.clear();
  return key == "shape" && scan_shape(in, header.shape);
}

std::optional<NpyHeader> scan_header(std::string_view text) {
  HeaderScanner in(text);
  NpyHeader header;
  std::set<std::string> keys;
  if (!in.take('{')) return {};
  for (bool is_open = !in.take('}'); is_open;) {
    const std::optional<std::string> key = in.quoted();
    if (!key || !in.take(':') || !scan_value(in, *key, header)) return {};
    keys.insert(*key);
    const bool has_comma = in.take(',');
    is_open = !in.take('}');
    if (is_open && !has_comma) return {};
  }
  if (keys.size() != 3) return {};
  return header;
}

std::uint64_t header_number(std::span<const std::byte> bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) value |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
  return value;
}

/// Takes the header off `bytes`.
NpyHeader take_header(std::span<const std::byte>& bytes, const std::string& place) {
  const auto damaged = [&](const char* what) { throw_input("{}: damaged .npy header ({})", place, what); };
  if (bytes.size() < 12) damaged("it is cut off");
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    damaged("it does not begin as numpy's do");
  const std::uint64_t version = header_number(bytes, 6, 1);
  if (version < 1 || version > 3) damaged("its version is not 1, 2 or 3");
  const std::size_t width = version == 1 ? 2 : 4;
  const std::uint64_t length = header_number(bytes, 8, width);
  if (length > bytes.size() - 8 - width) damaged("it is cut off");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 8 + width, length);
  std::optional<NpyHeader> header = scan_header(text);
  if (!header)
    throw_input(
        "{}: its .npy header is not that of a plain array (structured arrays cannot be read; save each "
        "field as an array of its own)",
        place);
  bytes = bytes.subspan(8 + width + length);
  return std::move(*header);
}

/// A dtype as it may be shown: printable and short.
std::string shown(const std::string& dtype) {
  std::string text = dtype.substr(0, 20);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

NumberType number_type(const std::string& dtype, const std::string& place) {
  NumberType type;
  const bool has_order = !dtype.empty() && std::string_view("<>|=").find(dtype[0]) != std::string_view::npos;
  const std::string rest = has_order ? dtype.substr(1) : dtype;
  if (has_order) type.order = dtype[0];
  if (!rest.empty()) type.letter = rest[0];
  if (type.letter == 'O')
    throw_input("{}: holds Python objects; save numbers, for example np.asarray(x, dtype=float)", place);
  const bool is_plain =
      rest.size() >= 2 && rest.size() <= 10 &&
      std::all_of(rest.begin() + 1, rest.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_plain)
    throw_input("{}: its dtype '{}' cannot be read; save it with .astype('<f8')", place, shown(dtype));
  type.size = std::stoul(rest.substr(1)) * (type.letter == 'U' ? 4 : 1);
  if (type.order == '>' && type.size > 1)
    throw_input("{}: is big-endian (dtype '{}'); save it with .astype('<{}')", place, shown(dtype),
                shown(rest));
  return type;
}

/// The number of elements; the bytes that are there must be just theirs.
std::size_t checked_count(const NpyHeader& header, std::size_t size, std::size_t bytes,
                          const std::string& place) {
  std::uint64_t elements = 1;
  const bool is_empty = std::find(header.shape.begin(), header.shape.end(), 0U) != header.shape.end();
  const std::uint64_t most = size == 0 ? 1 : bytes / size;
  for (const std::uint64_t extent : header.shape) {
    if (is_empty) break;
    if (elements > most / extent)
      throw_input("{}: its shape asks for more numbers than the {} bytes that follow hold", place, bytes);
    elements *= extent;
  }
  if (is_empty) elements = 0;
  if (elements * size != bytes)
    throw_input("{}: its shape asks for {} bytes, but {} follow", place, elements * size, bytes);
  return elements;
}

/// use(T{}) with the type of the elements; false where there is none.
template <class Use>
bool with_type(const NumberType& type, Use&& use) {
  const auto call = [&](auto zero) {
    use(zero);
    return true;
  };
  switch (type.letter) {
    case 'f':
      return type.size == 8 ? call(double{}) : type.size == 4 ? call(float{}) : false;
    case 'b':
      return type.size == 1 && call(std::uint8_t{});
    case 'i':
      return type.size == 8   ? call(std::int64_t{})
             : type.size == 4 ? call(std::int32_t{})
             : type.size == 2 ? call(std::int16_t{})
             : type.size == 1 ? call(std::int8_t{})
                              : false;
    case 'u':
      return type.size == 8   ? call(std::uint64_t{})
             : type.size == 4 ? call(std::uint32_t{})
             : type.size == 2 ? call(std::uint16_t{})
             : type.size == 1 ? call(std::uint8_t{})
                              : false;
    default:
      return false;
  }
}

/// visit(position in C order, element)
template <class T, class Visit>
void visit_elements(std::span<const std::byte> bytes, const NpyHeader& header, std::size_t elements,
                    Visit&& visit) {
  const bool is_turned = header.is_fortran && header.shape.size() == 2;
  const std::size_t rows = is_turned ? header.shape[0] : 1, columns = is_turned ? header.shape[1] : elements;
  for (std::size_t e = 0; e < elements; ++e) {
    T value;
    std::memcpy(&value, bytes.data() + e * sizeof(T), sizeof(T));
    visit(is_turned ? e % rows * columns + e / rows : e, value);
  }
}

std::vector<double> read_reals(std::span<const std::byte> bytes, const NpyHeader& header,
                               const NumberType& type, std::size_t elements, const std::string& place) {
  std::vector<double> values(elements);
  const bool is_known = with_type(type, [&]([[maybe_unused]] auto zero) {
    visit_elements<decltype(zero)>(bytes, header, elements,
                                   [&](std::size_t i, auto x) { values[i] = static_cast<double>(x); });
  });
  if (!is_known)
    throw_input("{}: its dtype '{}' cannot be read as real numbers; save it with .astype('<f8')", place,
                shown(header.dtype));
  return values;
}

std::vector<Index> read_whole(std::span<const std::byte> bytes, const NpyHeader& header,
                              const NumberType& type, std::size_t elements, const std::string& place) {
  std::vector<Index> values(elements);
  const bool is_known = type.letter != 'f' && with_type(type, [&]([[maybe_unused]] auto zero) {
                          using T = decltype(zero);
                          if constexpr (std::is_integral_v<T>) {
                            visit_elements<T>(bytes, header, elements, [&](std::size_t i, T x) {
                              if (!std::in_range<Index>(x))
                                throw_input("{}: holds {}, which does not fit 32 bits", place, x);
                              values[i] = static_cast<Index>(x);
                            });
                          }
                        });
  if (!is_known)
    throw_input("{}: its dtype '{}' holds no whole numbers; save it with .astype('<i4')", place,
                shown(header.dtype));
  return values;
}

void append_utf8(std::string& text, std::uint32_t c) {
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 0xfffd;
  const auto tail = [&](unsigned shift) { text += static_cast<char>(0x80U | (c >> shift & 0x3fU)); };
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xc0U | c >> 6U);
    tail(0);
  } else if (c < 0x10000) {
    text += static_cast<char>(0xe0U | c >> 12U);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0U | c >> 18U);
    tail(12);
    tail(6);
    tail(0);
  }
}

/// One text; numpy fills up with zeros.
std::string read_text(std::span<const std::byte> bytes, const NumberType& type, std::size_t elements,
                      const std::string& place) {
  if ((type.letter != 'S' && type.letter != 'U') || elements != 1)
    throw_input("{}: must be a single text, for example np.array('csr')", place);
  std::string text;
  if (type.letter == 'S') {
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  } else {
    for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4)
      append_utf8(text, static_cast<std::uint32_t>(header_number(bytes, i, 4)));
  }
  text.erase(text.find_last_not_of('\0') + 1);
  return text;
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return shape.size() == 1 ? fmt::format("({},)", shape[0]) : fmt::format("({})", fmt::join(shape, ", "));
}

std::span<const std::byte> payload_of(const RawArray& array) {
  return std::visit([](const auto& values) { return std::as_bytes(std::span(values.data(), values.size())); },
                    array.values);
}

}  // namespace

RawArray read_npy(std::span<const std::byte> bytes, NpyContent wanted, const std::string& place) {
  const NpyHeader header = take_header(bytes, place);
  const NumberType type = number_type(header.dtype, place);
  if (header.shape.size() > 2)
    throw_input("{}: has {} dimensions; vectors and matrices are read", place, header.shape.size());
  const std::size_t elements = checked_count(header, type.size, bytes.size(), place);
  switch (wanted) {
    case NpyContent::real:
      return {read_reals(bytes, header, type, elements, place), header.shape};
    case NpyContent::whole:
      return {read_whole(bytes, header, type, elements, place), header.shape};
    case NpyContent::text:
      break;
  }
  return {read_text(bytes, type, elements, place), {}};
}

std::vector<std::byte> npy_image(const RawArray& array) {
  std::string dtype = "<f8";
  if (std::holds_alternative<std::vector<Index>>(array.values)) dtype = "<i4";
  const auto* text = std::get_if<std::string>(&array.values);
  if (text != nullptr) dtype = fmt::format("|S{}", std::max<std::size_t>(text->size(), 1));
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", dtype,
                                   shape_text(text != nullptr ? std::vector<std::uint64_t>{} : array.shape));
  constexpr std::size_t kPreamble = 10;
  while ((kPreamble + header.size() + 1) % kAlignment != 0) header += ' ';
  header += '\n';
  std::string start(kMagic);
  start += {'\x01', '\0', static_cast<char>(header.size() & 0xffU), static_cast<char>(header.size() >> 8U)};
  start += header;
  std::vector<std::byte> out;
  const auto append = [&](std::span<const std::byte> bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
  };
  append(std::as_bytes(std::span(start)));
  append(payload_of(array));
  if (text != nullptr && text->empty()) out.push_back(std::byte{0});
  return out;
}

}  // namespace signorini
