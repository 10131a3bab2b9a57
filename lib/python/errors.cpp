#include "python/errors.h"

#include "base/cancellation.h"
#include "python/bindings.h"

namespace signorini::python {

namespace {

void raise(const char* name, const char* text) {
  const py::object type = py::module_::import("signorini._errors").attr(name);
  PyErr_SetObject(type.ptr(), text_of(text).ptr());
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(std::move(thrown));
  } catch (const FileInputError& error) {
    raise("FileError", error.what());
  } catch (const InputError& error) {
    raise("ProblemError", error.what());
  } catch (const UsageError& error) {
    raise("UsageError", error.what());
  } catch (const InternalError& error) {
    raise("InternalError", error.what());
  } catch (const Cancelled&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  }
}

}  // namespace

void bind_errors() { py::register_exception_translator(translate); }

}  // namespace signorini::python
