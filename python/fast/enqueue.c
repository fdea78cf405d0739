/* Calls on a device, put on a stream. */
#include "fast.h"

/* enqueue(plan, data, dtype, samples, counts, stream): None, or (status, message). Addresses; the
 * caller sees to it that memory and plan live until the stream has come so far. */
PyObject *fast_enqueue(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    if (n_args != 6) {
        PyErr_SetString(PyExc_TypeError, "enqueue: six arguments are expected");
        return NULL;
    }
    const tally_plan *plan = PyLong_AsVoidPtr(args[0]);
    const void *data = PyLong_AsVoidPtr(args[1]);
    const long dtype = PyLong_AsLong(args[2]);
    const unsigned long long n = PyLong_AsUnsignedLongLong(args[3]);
    void *counts = PyLong_AsVoidPtr(args[4]);
    void *stream = PyLong_AsVoidPtr(args[5]);
    if (PyErr_Occurred())
        return NULL;
    const tally_view view = {.struct_size = sizeof view,
                             .data = data,
                             .dtype = (tally_dtype)dtype,
                             .device = TALLY_DEVICE_CUDA,
                             .batches = 1,
                             .rows = 1,
                             .columns = n,
                             .channels = 1};
    const tally_execute_options options = {.struct_size = sizeof options, .stream = stream};
    const tally_output output = {.struct_size = sizeof output, .counts = counts, .on_device = 1};
    tally_error error;
    error.message[0] = '\0';
    PyThreadState *state = PyEval_SaveThread();
    const tally_status status = lib.execute(plan, &view, &options, &output, &error);
    PyEval_RestoreThread(state);
    if (status)
        return Py_BuildValue("is", (int)status, error.message);
    Py_RETURN_NONE;
}
