// Precompiled headers of the test programs; CMake wants a source beside them.
