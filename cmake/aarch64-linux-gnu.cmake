# Toolchain file: Debian's cross compiler for arm64, with the libraries of its multiarch folders. docs/installing.md names the packages.
# Programs that run during the build and tests run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
# h5cc, which FindHDF5 would ask, is that of the machine that builds.
set(HDF5_ROOT /usr/lib/aarch64-linux-gnu/hdf5/serial)
