#pragma once

#include <cstdint>
#include <string>

#include "contact/contact_problem.h"
#include "record/fclib_file.h"
#include "record/raw_tree.h"
#include "record/recording_file.h"

/// Contact problems from trees of unchecked arrays, and back. No HDF5 here.
///
/// Every reader ends with `check_problem`: what it returns is a valid problem, otherwise it throws
/// `InputError` "<where>: dataset '<path>': <reason>". Memory is bounded by a small multiple of the size of
/// the arrays.
namespace signorini {

/// A frame of a recording (the table of names is `kFields` in recording_format.cpp). Exact to the last
/// bit. Three rows per contact; the attribute spacedim only where it is 2.
RawTree encode_frame(const Frame& frame);
Frame decode_frame(const RawTree& tree, const std::string& id, const std::string& where);

/// A whole FCLib file: "fclib_local/…" or "fclib_global/…", "solution/…", "guesses/1/…", and what FCLib lacks
/// in "signorini/…", a group that FCLib's own readers never open.
RawTree encode_fclib(const FclibFile& file);
/// The contents of that group; empty when the problem has nothing that FCLib lacks. It has three rows per contact and
/// the dofs of planar_problem.h where the file itself has two rows (spacedim = 2).
RawTree encode_fclib_extras(const ContactProblem& problem);
/// `tree` without, `extras` with the contents of the group "signorini" (empty when absent).
FclibFile decode_fclib(const RawTree& tree, const RawTree& extras, const std::string& where,
                       MatrixReading reading = MatrixReading::symmetric);

/// `file` with the rows of contacts and the dofs that its file has: two rows each in the plane.
FclibFile file_as_written(const FclibFile& file);
/// One triangle of M where `M_stored` says so and the other says the same; otherwise all of it.
StoredTriangle written_triangle(const ContactProblem& problem);
/// The inverse of `file_as_written`, the last step of a decoder: checks the equations in the plane, reads `extras` (with
/// three rows per contact), and checks the whole problem.
FclibFile complete_file(const RawReader& raw, FclibFile file, const RawReader& extras,
                        const std::string& where);
/// Throws unless 2 or 3 (`place`: what holds it), and unless 3m and the row pointers fit 32 bits.
Index check_spacedim(const RawReader& raw, std::int64_t spacedim, const std::string& place);
void check_counts(const RawReader& raw, std::uint64_t contacts, std::uint64_t dofs);

/// What FCLib lacks: dt, time, kind as attributes; gap, frame, position, points, weights, bodies, features,
/// node_numbers, body_dofs, v_minus, start_states, start_bounds as arrays (absent when empty).
void put_extras(RawTree& tree, const ContactProblem& problem);
void read_extras(const RawReader& raw, ContactProblem& problem);

}  // namespace signorini
