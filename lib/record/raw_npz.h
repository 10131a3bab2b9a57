#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "record/fclib_file.h"
#include "record/raw_tree.h"
#include "record/zip_archive.h"

/// Contact problems as numpy's .npz archives (docs/npz.md), from bytes and back. No files here.
///
///   mu                                 always
///   M, H, f, w  or  W, q  or all       matrices in a form of `read_numpy_rows` (numpy_matrix.h), written as CSR
///   spacedim                           3 when absent; 2: two rows per contact
///   warm_start, r, u, v                impulses to start from; a solution
///   title, description, math_info      texts
///   dt, time, kind, gap, frame, …      what a recording has besides, by its names there (`put_extras`)
///
/// The same rules as for FCLib's files: one triangle of M means all of it, whatever was read is written to the last bit,
/// and a decoder returns valid problems only. Arrays of other names are passed over, and not unpacked.
namespace signorini {

/// The arrays that have a meaning. Throws `InputError`, before memory is taken, when they would unpack to more than
/// 1 GiB and four times the size of the archive.
RawTree npz_tree(const ZipArchive& archive, const std::string& where);
/// What they unpack to, in bytes.
std::uint64_t npz_unpacked_bytes(const ZipArchive& archive, const std::string& where);
/// Contacts of a problem, from its coefficients of friction alone.
int npz_contacts(const ZipArchive& archive, const std::string& where);

FclibFile decode_npz(const RawTree& tree, const std::string& where,
                     MatrixReading reading = MatrixReading::symmetric);
RawTree encode_npz(const FclibFile& file);

/// The archive. Equal problems give equal bytes; nothing is compressed, so they do not depend on zlib.
std::vector<std::byte> npz_bytes(const RawTree& tree, const std::string& where);

}  // namespace signorini
