#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "record/raw_tree.h"

/// One array in numpy's .npy format (versions 1 to 3): magic, a Python dictionary with dtype, order and shape, numbers.
///
/// Read: little-endian floats of 4 and 8 bytes, whole numbers of 1 to 8, bool, and a single text ('S' or 'U'), in C or
/// Fortran order, with at most two dimensions. Big-endian, complex, object and structured arrays are refused with
/// the way out. Written: '<f8', '<i4' and '|S', C order, version 1.
namespace signorini {

enum class NpyContent {
  real,   ///< any numbers; whole ones are converted
  whole,  ///< whole numbers that fit `Index`
  text
};

/// Throws `InputError` "<place>: <reason>"; the length is checked against the shape before memory is taken.
RawArray read_npy(std::span<const std::byte> bytes, NpyContent wanted, const std::string& place);

std::vector<std::byte> npy_image(const RawArray& array);

}  // namespace signorini
