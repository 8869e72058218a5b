// Classes whose objects can be refused memory.
#pragma once

#include <pybind11/pybind11.h>

#include <new>
#include <utility>

namespace properboost::bindings {

namespace py = pybind11;

// A py::class_ for which it is an error, and not the end of the process, if there is no memory left
// for pybind11's own record of a new object: it notes it where it catches nothing, and then frees
// the object twice.
template <class T, class... Options, class... Extra>
py::class_<T, Options...> make_class(Extra&&... extra) {
  static py::detail::type_info* type = nullptr;
  static void (*note)(py::detail::instance*, const void*) = nullptr;
  py::class_<T, Options...> made(std::forward<Extra>(extra)...);
  type = py::detail::get_type_info(reinterpret_cast<PyTypeObject*>(made.ptr()));
  note = std::exchange(type->init_instance, [](py::detail::instance* self, const void* holder) {
    try {
      note(self, holder);
    } catch (const std::bad_alloc&) {
      auto object = self->get_value_and_holder(type);
      T* const value = object.template value_ptr<T>();
      if (object.instance_registered()) {  // the holder was refused, which has freed the value
        py::detail::deregister_instance(self, value, type);
        object.set_instance_registered(false);
      } else if (holder == nullptr) {
        delete value;
      }
      object.value_ptr() = nullptr;
      self->owned = false;
      PyErr_NoMemory();  // SystemError to the caller, from this
    }
  });
  return made;
}

}  // namespace properboost::bindings
