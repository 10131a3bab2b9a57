# Compiler flags for our own code. fp-contract=off: the compiler may not fuse a*b+c on its own, so a result does not
# depend on which loop it happened to fuse; kernels that want FMA ask for it explicitly and are dispatched at run time.
# No -Wsign-conversion: indices are signed, as in Eigen and C++ Core Guidelines ES.107, and subscript the standard containers
# without a cast. -Wconversion (lost bits and fractions) and -Wsign-compare (in -Wall) stay. Clang's -Wconversion contains
# -Wsign-conversion, GCC's does not for C++.
add_library(signorini_flags INTERFACE)
add_library(signorini::flags ALIAS signorini_flags)
target_compile_options(signorini_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -ffp-contract=off)
# GCC's warnings about memory depend on lengths that it can see, the path of the build folder among them: what builds without
# a warning here may have one elsewhere. So only builds for development end at one.
option(SIGNORINI_WERROR "Warnings are errors" OFF)
if(SIGNORINI_WERROR)
  target_compile_options(signorini_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports these inside Eigen's and the standard library's inlined code (GCC PR 105562, 105651).
  target_compile_options(signorini_flags INTERFACE -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow
                                                   -Wno-stringop-overread -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(signorini_flags INTERFACE -Wno-sign-conversion)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  # Eigen's dot products and small products fuse where this is defined. Without it they round as on x86-64.
  target_compile_options(signorini_flags INTERFACE -U__ARM_FEATURE_FMA)
endif()
if(SIGNORINI_SANITIZE)
  string(REPLACE ";" "," _sanitizers "${SIGNORINI_SANITIZE}")
  add_compile_options(-fsanitize=${_sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${_sanitizers})
endif()
