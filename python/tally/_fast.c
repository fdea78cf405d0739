/*
 * The short way for small plain NumPy arrays: one call from Python instead of the dozen that ctypes
 * needs. It counts through the same library (whose functions it is handed, so that nothing is
 * linked) and answers None whenever a case is not plain; then the long way says what is wrong.
 *
 * CPython's stable interface, with the buffer protocol, which joined it in 3.11 but has been the
 * same since 3.0: one file loads from 3.9 on.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <string.h>
#include <tally/tally.h>

/* More than MOST_BYTES may be stopped by Ctrl-C, which is the long way's; FEW_BYTES are not worth
 * letting go of the interpreter's lock, nor a plan for whole numbers. */
enum { MOST_BYTES = 1 << 26, FEW_BYTES = 1 << 14, MOST_BINS = 1 << 16 };

/* Handed over by bind(). */
static struct {
    tally_context *context;
    tally_status (*stats_add)(tally_context *, const tally_view *, const tally_view *, uint64_t,
                              int, tally_stats *, tally_error *);
    tally_status (*plan_create)(tally_context *, const tally_plan_options *, tally_plan **,
                                tally_error *);
    void (*plan_destroy)(tally_plan *);
    tally_status (*execute)(const tally_plan *, const tally_view *, const tally_execute_options *,
                            const tally_output *, tally_error *);
    PyObject *ndarray, *empty, *int64, *float32, *float64;
} lib;

static PyObject *bind(PyObject *self, PyObject *args)
{
    (void)self;
    Py_ssize_t address[5];
    if (!PyArg_ParseTuple(args, "nnnnnOOOOO", &address[0], &address[1], &address[2], &address[3],
                          &address[4], &lib.ndarray, &lib.empty, &lib.int64, &lib.float32,
                          &lib.float64))
        return NULL;
    memcpy(&lib.context, &address[0], sizeof lib.context);
    memcpy(&lib.stats_add, &address[1], sizeof lib.stats_add);
    memcpy(&lib.plan_create, &address[2], sizeof lib.plan_create);
    memcpy(&lib.plan_destroy, &address[3], sizeof lib.plan_destroy);
    memcpy(&lib.execute, &address[4], sizeof lib.execute);
    Py_INCREF(lib.ndarray);
    Py_INCREF(lib.empty);
    Py_INCREF(lib.int64);
    Py_INCREF(lib.float32);
    Py_INCREF(lib.float64);
    Py_RETURN_NONE;
}

/* The library's type for a buffer's format, 0 if there is none. */
static tally_dtype dtype_of(const Py_buffer *b)
{
    if (!b->format || !b->format[0] || b->format[1])
        return (tally_dtype)0;
    const int wide = b->itemsize == 8;
    switch (b->format[0]) {
    case 'B':
        return TALLY_U8;
    case 'b':
        return TALLY_I8;
    case 'H':
        return TALLY_U16;
    case 'h':
        return TALLY_I16;
    case 'I':
        return TALLY_U32;
    case 'i':
        return TALLY_I32;
    case 'L':
    case 'Q':
        return wide ? TALLY_U64 : TALLY_U32;
    case 'l':
    case 'q':
        return wide ? TALLY_I64 : TALLY_I32;
    case 'f':
        return TALLY_F32;
    case 'd':
        return TALLY_F64;
    default:
        return (tally_dtype)0;
    }
}

/* Takes the samples of a small contiguous NumPy array of at least one; 0 if it is none. */
static int take(PyObject *a, int dimensions, Py_buffer *b, tally_view *view)
{
    if ((PyObject *)Py_TYPE(a) != lib.ndarray)
        return 0;
    if (PyObject_GetBuffer(a, b, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)) {
        PyErr_Clear();
        return 0;
    }
    tally_dtype dtype = dtype_of(b);
    if (!dtype || !b->len || b->len > MOST_BYTES || (dimensions && b->ndim != dimensions)) {
        PyBuffer_Release(b);
        return 0;
    }
    *view = (tally_view){.struct_size = sizeof *view,
                         .data = b->buf,
                         .dtype = dtype,
                         .batches = 1,
                         .rows = 1,
                         .columns = (uint64_t)(b->len / b->itemsize),
                         .channels = 1};
    return 1;
}

/* numpy.empty(n, dtype) and its memory. */
static PyObject *new_array(Py_ssize_t n, PyObject *dtype, Py_buffer *b)
{
    PyObject *array = PyObject_CallFunction(lib.empty, "nO", n, dtype);
    if (array && PyObject_GetBuffer(array, b, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)) {
        Py_DECREF(array);
        array = NULL;
    }
    return array;
}

/* Without the interpreter's lock where it takes a while. */
static PyThreadState *let_go(const tally_view *view)
{
    return view->columns > FEW_BYTES / 8 ? PyEval_SaveThread() : NULL;
}

static void take_back(PyThreadState *state)
{
    if (state)
        PyEval_RestoreThread(state);
}

/* Counts with a plan of its own: 1, or 0 when the library does not. */
static int count(const tally_view *view, const tally_axis *axis, void *counts)
{
    PyThreadState *state = let_go(view);
    tally_plan_options options = {.struct_size = sizeof options, .dimensions = 1};
    options.axes[0] = *axis;
    options.dtypes[0] = view->dtype;
    options.n_hint = view->columns;
    tally_plan *plan;
    tally_output output = {.struct_size = sizeof output, .counts = counts};
    tally_status status = lib.plan_create(lib.context, &options, &plan, NULL);
    if (!status) {
        status = lib.execute(plan, view, NULL, &output, NULL);
        lib.plan_destroy(plan);
    }
    take_back(state);
    return !status;
}

#define EACH(type, body)                                                                           \
    {                                                                                              \
        const type *x = view->data;                                                                \
        for (uint64_t i = 0; i < view->columns; i++)                                               \
            body;                                                                                  \
        break;                                                                                     \
    }
#define EACH_INTEGER(body)                                                                         \
    switch (view->dtype) {                                                                         \
    case TALLY_U8:                                                                                 \
        EACH(uint8_t, body)                                                                        \
    case TALLY_I8:                                                                                 \
        EACH(int8_t, body)                                                                         \
    case TALLY_U16:                                                                                \
        EACH(uint16_t, body)                                                                       \
    case TALLY_I16:                                                                                \
        EACH(int16_t, body)                                                                        \
    case TALLY_U32:                                                                                \
        EACH(uint32_t, body)                                                                       \
    case TALLY_I32:                                                                                \
        EACH(int32_t, body)                                                                        \
    case TALLY_I64:                                                                                \
        EACH(int64_t, body)                                                                        \
    default:                                                                                       \
        return 0;                                                                                  \
    }

static int extremes(const tally_view *view, tally_stats *stats)
{
    PyThreadState *state = let_go(view);
    *stats = (tally_stats)TALLY_STATS_INIT;
    tally_status status = lib.stats_add(lib.context, view, NULL, 0, 0, stats, NULL);
    take_back(state);
    return !status;
}

/* The largest of whole numbers that are none negative; 0 if the view has others. */
static int largest(const tally_view *view, uint64_t *most)
{
    if (view->columns > FEW_BYTES / 8) {
        tally_stats stats;
        int whole = view->dtype < TALLY_F16 && view->dtype != TALLY_U64;
        if (!whole || !extremes(view, &stats) || stats.min_integer < 0)
            return 0;
        *most = (uint64_t)stats.max_integer;
        return 1;
    }
    uint64_t all = 0, top = 0; /* a negative one sets the highest bit of `all` */
    EACH_INTEGER({
        uint64_t v = (uint64_t)(int64_t)x[i];
        all |= v;
        top = v > top ? v : top;
    })
    *most = top;
    return !(all >> 63);
}

/* How often each of 0 … bins-1 occurs: 1, or 0 when the library does not say. */
static int add_each(const tally_view *view, int64_t *counts, Py_ssize_t bins)
{
    if (view->columns > FEW_BYTES / 8) {
        tally_axis axis = {
            .struct_size = sizeof axis, .kind = TALLY_AXIS_INTEGER, .bins = (uint64_t)bins};
        return count(view, &axis, counts);
    }
    memset(counts, 0, (size_t)bins * sizeof *counts);
    EACH_INTEGER(counts[x[i]]++)
    return 1;
}

/* bincount(x, minlength) */
static PyObject *bincount(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    Py_buffer b, out;
    tally_view view;
    if (n_args != 2 || !PyLong_CheckExact(args[1]) || !take(args[0], 1, &b, &view))
        Py_RETURN_NONE;
    Py_ssize_t n = PyLong_AsSsize_t(args[1]);
    uint64_t most;
    PyObject *counts = NULL;
    if (n >= 0 && n <= MOST_BINS && largest(&view, &most) && most < MOST_BINS) {
        n = n > (Py_ssize_t)most ? n : (Py_ssize_t)most + 1;
        counts = new_array(n, lib.int64, &out);
        if (counts) {
            int good = add_each(&view, out.buf, n);
            PyBuffer_Release(&out);
            if (!good)
                Py_CLEAR(counts);
        }
    } else {
        PyErr_Clear();
    }
    PyBuffer_Release(&b);
    if (!counts && !PyErr_Occurred())
        Py_RETURN_NONE;
    return counts;
}

/* A Python float or a moderate int as a double. */
static int number(PyObject *x, double *value)
{
    if (!PyFloat_CheckExact(x) && !PyLong_CheckExact(x))
        return 0;
    *value = PyFloat_AsDouble(x);
    if (PyErr_Occurred())
        PyErr_Clear();
    return fabs(*value) <= (PyLong_CheckExact(x) ? 0x1p53 : 0x1p1000);
}

/* NumPy's ends: the range, or the extremes of finite samples. `narrow` when they are float32. */
static int ends(const tally_view *view, PyObject *range, double *lo, double *hi, int *narrow)
{
    *narrow = 0;
    if (range != Py_None) {
        if (!PyTuple_CheckExact(range) || PyTuple_Size(range) != 2 ||
            !number(PyTuple_GetItem(range, 0), lo) || !number(PyTuple_GetItem(range, 1), hi))
            return 0;
    } else {
        tally_stats stats;
        if (!extremes(view, &stats) || stats.finite != stats.samples)
            return 0;
        *lo = stats.min;
        *hi = stats.max;
        *narrow = view->dtype == TALLY_F32;
    }
    if (*lo == *hi) {
        *lo -= 0.5;
        *hi += 0.5;
    }
    /* Integers that may have been rounded (2^53 may stand for 2^53 + 1), spans that overflow or
     * vanish: the long way. */
    double most = view->dtype == TALLY_F32   ? 0x1p120
                  : view->dtype == TALLY_F64 ? 0x1p1000
                                             : 0x1p53 - 1;
    return *lo < *hi && fabs(*lo) <= most && fabs(*hi) <= most && *hi - *lo > 0x1p-100;
}

/* numpy.linspace, operation by operation: in float64, or in float32 for float32 ends. */
static void space(double *edges, uint64_t bins, double lo, double hi, int narrow)
{
    if (narrow) {
        const float first = (float)lo, step = ((float)hi - first) / (float)bins;
        for (uint64_t i = 0; i < bins; i++) {
            float at = (float)i * step;
            edges[i] = at + first;
        }
        hi = (float)hi;
    } else {
        const double step = (hi - lo) / (double)bins;
        for (uint64_t i = 0; i < bins; i++)
            edges[i] = (double)i * step + lo;
    }
    edges[bins] = hi;
}

static int increase(const double *edges, uint64_t bins)
{
    for (uint64_t i = 0; i < bins; i++) {
        if (!(edges[i] < edges[i + 1]))
            return 0;
    }
    return 1;
}

/* Whether an even axis from the first to the last edge counts float32 samples as these edges do: no
 * float32 lies between its float64 edges and these. */
static int as_even(const double *edges, uint64_t bins)
{
    const double lo = edges[0], width = (edges[bins] - lo) / (double)bins;
    for (uint64_t i = 0; i < bins; i++) {
        double there = (double)i * width + lo;
        if (edges[i] < there || (double)nextafterf((float)edges[i], -INFINITY) >= there)
            return 0;
    }
    return 1;
}

/* The edges as an array of the samples' kind; `exact` gets what they are in float64. */
static PyObject *edges_array(const tally_view *view, uint64_t bins, double lo, double hi,
                             int narrow, double *exact)
{
    Py_buffer out;
    const int f32 = view->dtype == TALLY_F32;
    PyObject *array = new_array((Py_ssize_t)bins + 1, f32 ? lib.float32 : lib.float64, &out);
    if (!array)
        return NULL;
    space(exact, bins, lo, hi, narrow);
    if (f32) {
        float *to = out.buf;
        for (uint64_t i = 0; i <= bins; i++) {
            to[i] = (float)exact[i];
            exact[i] = to[i];
        }
    } else {
        memcpy(out.buf, exact, (bins + 1) * sizeof *exact);
    }
    PyBuffer_Release(&out);
    return array;
}

static PyObject *histogram_of(const tally_view *view, uint64_t bins, PyObject *range)
{
    double lo, hi;
    int narrow;
    if (!ends(view, range, &lo, &hi, &narrow))
        Py_RETURN_NONE;
    double *exact = PyMem_Malloc((bins + 1) * sizeof *exact);
    if (!exact)
        return PyErr_NoMemory();
    PyObject *edges = edges_array(view, bins, lo, hi, narrow, exact), *counts = NULL;
    tally_axis axis = {.struct_size = sizeof axis, .bins = bins, .lo = lo, .hi = hi};
    int good = edges && increase(exact, bins);
    if (good && view->dtype == TALLY_F32) {
        axis.lo = exact[0];
        axis.hi = exact[bins];
        axis.kind = as_even(exact, bins) ? TALLY_AXIS_EVEN : TALLY_AXIS_EDGES;
        axis.edges = axis.kind == TALLY_AXIS_EVEN ? NULL : exact;
    }
    if (good) {
        Py_buffer out;
        counts = new_array((Py_ssize_t)bins, lib.int64, &out);
        if (counts) {
            good = count(view, &axis, out.buf);
            PyBuffer_Release(&out);
        }
    }
    PyMem_Free(exact);
    PyObject *answer = good && counts ? PyTuple_Pack(2, counts, edges) : NULL;
    Py_XDECREF(counts);
    Py_XDECREF(edges);
    if (!answer && !PyErr_Occurred())
        Py_RETURN_NONE;
    return answer;
}

/* histogram(a, bins, range) */
static PyObject *histogram(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    Py_buffer b;
    tally_view view;
    if (n_args != 3 || !PyLong_CheckExact(args[1]) || !take(args[0], 0, &b, &view))
        Py_RETURN_NONE;
    Py_ssize_t bins = PyLong_AsSsize_t(args[1]);
    PyObject *answer = NULL;
    if (bins >= 1 && bins <= MOST_BINS)
        answer = histogram_of(&view, (uint64_t)bins, args[2]);
    else
        PyErr_Clear();
    PyBuffer_Release(&b);
    if (!answer && !PyErr_Occurred())
        Py_RETURN_NONE;
    return answer;
}

static PyMethodDef methods[] = {
    {"bind", bind, METH_VARARGS, NULL},
    {"bincount", (PyCFunction)(void (*)(void))bincount, METH_FASTCALL, NULL},
    {"histogram", (PyCFunction)(void (*)(void))histogram, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "tally._fast", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__fast(void)
{
    return PyModule_Create(&module);
}
