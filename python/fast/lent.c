/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays on CUDA devices, as torch and CuPy have them: read where they lie, and made by their own
 * allocators. A lender is described once, from Python (lend()). Arrays are read by DLPack's
 * exchange table where their type has one, else by their attributes.
 */
#include <string.h>

#include "fast.h"

/* ---- DLPack's exchange table, version 1 ---- */

typedef struct exchanged {
    void *data;
    int32_t device_type, device;
    int32_t dimensions;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides; /* in elements; no strides: C order */
    uint64_t offset;
} exchanged;

typedef struct exchange {
    uint32_t major, minor;
    const void *older;
    void *allocate, *lend, *take;
    int (*describe)(void *object, exchanged *tensor);
    int (*stream)(int32_t device_type, int32_t device, void **stream);
} exchange;

enum { DLPACK_CUDA = 2, DLPACK_INT = 0, DLPACK_UINT = 1, DLPACK_FLOAT = 2, DLPACK_BFLOAT = 4 };

static tally_dtype dtype_of(const exchanged *t)
{
    static const tally_dtype whole[2][4] = {{TALLY_I8, TALLY_I16, TALLY_I32, TALLY_I64},
                                            {TALLY_U8, TALLY_U16, TALLY_U32, TALLY_U64}};
    const int size = t->bits == 8 ? 0 : t->bits == 16 ? 1 : t->bits == 32 ? 2 : 3;
    if (t->lanes != 1 || t->bits != 8 << size)
        return (tally_dtype)0;
    if (t->code == DLPACK_INT || t->code == DLPACK_UINT)
        return whole[t->code][size];
    if (t->code == DLPACK_BFLOAT)
        return size == 1 ? TALLY_BF16 : (tally_dtype)0;
    if (t->code != DLPACK_FLOAT || !size)
        return (tally_dtype)0;
    return size == 1 ? TALLY_F16 : size == 2 ? TALLY_F32 : TALLY_F64;
}

/* ---- lenders ---- */

enum { MOST_LENDERS = 4, MOST_DEVICES = 16, RESULTS = 3 };

/* What is known of one device of a lender's. */
typedef struct known {
    tally_context *context;
    PyObject *keywords[RESULTS]; /* of an allocation, by type */
    PyObject *dtypes[RESULTS];
} known;

struct lender {
    PyTypeObject *type; /* of its arrays, and of nothing derived from it */
    const exchange *exchange;
    PyObject *about; /* the Python object that answers the rest */
    PyObject *empty, *zeros, *strided, *stream, *recording, *current, *cast, *copy, *negated,
        *codes;
    known devices[MOST_DEVICES];
};

static lender lenders[MOST_LENDERS];
static PyObject *introduce; /* a function that lends what it can of a type, or NULL */
enum { STRANGERS = 8 };

/* An attribute of the object that tells of a lender; of None NULL. Owned. */
static PyObject *asked(PyObject *about, const char *name)
{
    PyObject *found = PyObject_GetAttrString(about, name);
    if (found == Py_None)
        Py_CLEAR(found);
    return found;
}

static const exchange *exchange_of(PyObject *about)
{
    PyObject *capsule = asked(about, "exchange");
    const exchange *table = NULL;
    if (capsule && PyCapsule_IsValid(capsule, "dlpack_exchange_api"))
        table = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    Py_XDECREF(capsule); /* the type has it */
    return table && table->major == 1 && table->describe && table->stream ? table : NULL;
}

/* lend(type, about): arrays of a type are read from now on. `about` has
 *   exchange          the capsule of DLPack's exchange table, or None
 *   empty, zeros      make an array: (shape, **keywords)
 *   strided           the same as empty, but sooner: (shape, strides, **keywords); or None
 *   open(index)       of a device: the context's address; for int64, float64 and float32 the
 *                     keywords for `empty`, and the types for `cast`
 *   give(index, a)    a NumPy array on the device, there for every stream
 *   put(index, a)     the same, by the current stream
 *   extremes(x)       smallest and largest sample as numbers
 *   stream(index)     the current stream
 *   recording()       whether it records a graph
 *   copy, cast        names of an array's methods: (), and (type)
 *   copies(x, n)      a list of copies, made by one launch
 * and for arrays without an exchange table, but None for torch's
 *   current()         the device that `empty` makes arrays on
 *   codes             the library's types by the array's
 *   negated           the name of a method that says whether memory holds the samples' negatives */
PyObject *fast_lend(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    lender *l = lenders;
    while (l < lenders + MOST_LENDERS && l->type && (PyObject *)l->type != args[0])
        l++;
    if (n_args != 2 || !PyType_Check(args[0]) || l == lenders + MOST_LENDERS) {
        PyErr_SetString(PyExc_TypeError, "lend: a type, of four at most, and what tells of it");
        return NULL;
    }
    PyObject *about = args[1];
    lender made = {.exchange = exchange_of(about), .about = about};
    made.empty = asked(about, "empty");
    made.zeros = asked(about, "zeros");
    made.strided = asked(about, "strided");
    made.stream = asked(about, "stream");
    made.recording = asked(about, "recording");
    made.current = asked(about, "current");
    made.cast = asked(about, "cast");
    made.copy = asked(about, "copy");
    made.negated = asked(about, "negated");
    made.codes = asked(about, "codes");
    if (PyErr_Occurred())
        return NULL;
    if (l->type) /* plans have the address: what was there stays alive */
        memcpy(made.devices, l->devices, sizeof made.devices);
    made.type = (PyTypeObject *)args[0];
    Py_INCREF(args[0]);
    Py_INCREF(about);
    *l = made;
    Py_RETURN_NONE;
}

/* introduce(function): function(type) is asked of types that nobody has lent. */
PyObject *fast_introduce(PyObject *self, PyObject *function)
{
    (void)self;
    Py_INCREF(function);
    Py_XDECREF(introduce);
    introduce = function;
    Py_RETURN_NONE;
}

/* Position of a result's type in what is known of a device. */
static int result_of(int type)
{
    return type == NUMPY_INT64 ? 0 : type == NUMPY_FLOAT64 ? 1 : 2;
}

static known *device_of(lender *by, int index)
{
    known *k = &by->devices[index];
    if (k->context)
        return k;
    PyObject *answer = PyObject_CallMethod(by->about, "open", "i", index);
    PyObject *keywords[RESULTS], *dtypes[RESULTS];
    Py_ssize_t context;
    if (answer && PyArg_ParseTuple(answer, "n(OOO)(OOO)", &context, &keywords[0], &keywords[1],
                                   &keywords[2], &dtypes[0], &dtypes[1], &dtypes[2])) {
        for (int i = 0; i < RESULTS; i++) {
            Py_INCREF(k->keywords[i] = keywords[i]);
            Py_INCREF(k->dtypes[i] = dtypes[i]);
        }
        memcpy(&k->context, &context, sizeof context);
    }
    Py_XDECREF(answer);
    return k->context ? k : NULL;
}

tally_context *lent_context(lender *by, int device)
{
    const known *k = device_of(by, device);
    return k ? k->context : NULL;
}

int lent_stream(lender *by, int device, void **stream)
{
    void *const legacy = (void *)1; /* the default stream, by a name that is not NULL */
    *stream = NULL;
    if (by->exchange) {
        if (by->exchange->stream(DLPACK_CUDA, device, stream))
            return 0;
    } else {
        PyObject *index = PyLong_FromLong(device);
        PyObject *answer = index ? PyObject_CallFunctionObjArgs(by->stream, index, NULL) : NULL;
        *stream = answer ? PyLong_AsVoidPtr(answer) : NULL;
        Py_XDECREF(index);
        Py_XDECREF(answer);
        if (PyErr_Occurred())
            return 0;
    }
    *stream = *stream ? *stream : legacy;
    return 1;
}

int lent_recording(const lender *by)
{
    PyObject *answer = PyObject_CallFunctionObjArgs(by->recording, NULL);
    const int is = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return is;
}

/* ---- reading ---- */

static PyObject *text(const char *name, PyObject **kept)
{
    if (!*kept)
        *kept = PyUnicode_InternFromString(name);
    return *kept;
}

/* x.name; a name is made once. */
#define GET(x, name)                                                                               \
    __extension__({                                                                                \
        static PyObject *kept;                                                                     \
        PyObject *of = (x);                                                                        \
        of &&text(#name, &kept) ? PyObject_GetAttr(of, kept) : NULL;                               \
    })

/* x.name() */
#define CALL(x, name)                                                                              \
    __extension__({                                                                                \
        static PyObject *kept;                                                                     \
        PyObject *of = (x);                                                                        \
        of &&text(#name, &kept) ? PyObject_CallMethodObjArgs(of, kept, NULL) : NULL;               \
    })

/* A number, taken over; -1 of an error. */
static Py_ssize_t number(PyObject *x)
{
    const Py_ssize_t n = x ? PyLong_AsSsize_t(x) : -1;
    Py_XDECREF(x);
    return n;
}

static int truth(PyObject *x)
{
    const int is = x ? PyObject_IsTrue(x) : -1;
    Py_XDECREF(x);
    return is;
}

/* Extents and strides (in elements; NULL: C order) as the array has them. */
static int lay_out(array *a, const int64_t *shape, const int64_t *strides)
{
    int64_t step = 1;
    int packed = 1;
    a->n = 1;
    for (int d = a->dimensions; d-- > 0;) {
        a->extents[d] = (Py_ssize_t)shape[d];
        packed &= !strides || shape[d] == 1 || strides[d] == step;
        step *= shape[d];
        a->n *= (uint64_t)shape[d];
    }
    packed |= !a->n;
    a->stride = packed || a->dimensions != 1 ? 0 : strides[0] * (int64_t)array_bytes(a->dtype);
    return packed || a->stride;
}

static int read_exchange(const lender *by, PyObject *x, array *a)
{
    exchanged t;
    if (by->exchange->describe(x, &t))
        return 0;
    a->dtype = dtype_of(&t);
    if (t.device_type != DLPACK_CUDA || !a->dtype || t.dimensions > TALLY_MAX_DIMENSIONS)
        return 0;
    a->data = (const char *)t.data + t.offset;
    a->device = t.device;
    a->dimensions = t.dimensions;
    return lay_out(a, t.shape, t.strides);
}

static int read_shape(PyObject *x, array *a)
{
    int64_t extents[TALLY_MAX_DIMENSIONS];
    PyObject *shape = GET(x, shape);
    const Py_ssize_t n = shape && PyTuple_Check(shape) ? PyTuple_Size(shape) : -1;
    if (n >= 0 && n <= TALLY_MAX_DIMENSIONS) {
        a->dimensions = (int)n;
        for (int d = 0; d < n; d++)
            extents[d] = PyLong_AsLongLong(PyTuple_GetItem(shape, d));
    }
    Py_XDECREF(shape);
    return n >= 0 && n <= TALLY_MAX_DIMENSIONS && !PyErr_Occurred() && lay_out(a, extents, NULL);
}

/* CuPy's: packed arrays on the device that is current. */
static int read_attributes(const lender *by, PyObject *x, array *a)
{
    PyObject *flags = GET(x, flags), *device = GET(x, device), *dtype = GET(x, dtype);
    PyObject *data = GET(x, data);
    PyObject *code = dtype ? PyDict_GetItem(by->codes, dtype) : NULL; /* borrowed */
    a->dtype = code ? (tally_dtype)PyLong_AsLong(code) : (tally_dtype)0;
    int plain = a->dtype && truth(GET(flags, c_contiguous)) > 0;
    a->device = plain ? (int)number(GET(device, id)) : -1;
    plain = plain && a->device == (int)number(PyObject_CallFunctionObjArgs(by->current, NULL));
    PyObject *at = plain ? GET(data, ptr) : NULL;
    a->data = at ? PyLong_AsVoidPtr(at) : NULL;
    Py_XDECREF(at);
    Py_XDECREF(flags);
    Py_XDECREF(device);
    Py_XDECREF(dtype);
    Py_XDECREF(data);
    return plain && read_shape(x, a);
}

/* torch's, where it has no exchange table yet. */
static int read_methods(const lender *by, PyObject *x, array *a)
{
    PyObject *dtype = GET(x, dtype);
    PyObject *code = dtype ? PyDict_GetItem(by->codes, dtype) : NULL; /* borrowed */
    a->dtype = code ? (tally_dtype)PyLong_AsLong(code) : (tally_dtype)0;
    Py_XDECREF(dtype);
    if (!a->dtype || truth(GET(x, is_cuda)) <= 0 || truth(CALL(x, is_contiguous)) <= 0)
        return 0;
    a->device = (int)number(CALL(x, get_device));
    PyObject *at = CALL(x, data_ptr);
    a->data = at ? PyLong_AsVoidPtr(at) : NULL;
    Py_XDECREF(at);
    return at && read_shape(x, a);
}

static int describe(lender *by, PyObject *x, array *a)
{
    if (by->exchange ? !read_exchange(by, x, a)
                     : !(by->current ? read_attributes(by, x, a) : read_methods(by, x, a)))
        return 0;
    return a->device >= 0 && a->device < MOST_DEVICES;
}

static lender *known_lender(const PyTypeObject *type)
{
    for (lender *l = lenders; l < lenders + MOST_LENDERS; l++) {
        if (l->type == type)
            return l;
    }
    return NULL;
}

/* A type's lender, or NULL. `introduce` is asked once of each of the types that came last, so that
 * the first call already goes the way of later ones, as a graph that records the second one needs.
 */
static lender *lender_of(PyTypeObject *type)
{
    static const PyTypeObject *strangers[STRANGERS];
    static unsigned next;
    lender *l = known_lender(type);
    for (int i = 0; !l && i < STRANGERS; i++) {
        if (strangers[i] == type)
            return NULL;
    }
    if (l || !introduce)
        return l;
    PyObject *answer = PyObject_CallFunctionObjArgs(introduce, (PyObject *)type, NULL);
    if (!answer)
        PyErr_Clear(); /* the long way has words for it */
    Py_XDECREF(answer);
    l = known_lender(type);
    if (!l)
        strangers[next++ % STRANGERS] = type;
    return l;
}

int lent_take(PyObject *x, array *a)
{
    lender *l = lender_of(Py_TYPE(x));
    if (!l)
        return 0;
    a->object = NULL;
    a->shape = NULL;
    a->column = -1;
    a->lender = l;
    int plain = describe(l, x, a);
    if (plain && l->negated)
        plain = truth(PyObject_CallMethodObjArgs(x, l->negated, NULL)) == 0;
    if (!plain) {
        PyErr_Clear(); /* the long way has words for it */
        return 0;
    }
    Py_INCREF(x);
    a->object = x;
    return 1;
}

/* ---- making ---- */

static PyObject *tuple_of(int n, const Py_ssize_t *numbers)
{
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; tuple && i < n; i++) {
        PyObject *one = PyLong_FromSsize_t(numbers[i]);
        if (!one || PyTuple_SetItem(tuple, i, one))
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* (shape, strides) of an array in C order. */
static PyObject *with_strides(int n, const Py_ssize_t *shape)
{
    Py_ssize_t strides[TALLY_MAX_DIMENSIONS], step = 1;
    for (int d = n; d-- > 0;) {
        strides[d] = step;
        step *= shape[d] ? shape[d] : 1;
    }
    return Py_BuildValue("(NN)", tuple_of(n, shape), tuple_of(n, strides));
}

PyObject *lent_new(const array *like, int dimensions, const Py_ssize_t *shape, int type, int zeros,
                   void **data)
{
    lender *by = like->lender;
    const known *k = device_of(by, like->device);
    PyObject *function = zeros ? by->zeros : by->strided ? by->strided : by->empty;
    PyObject *args = !k                        ? NULL
                     : function == by->strided ? with_strides(dimensions, shape)
                                               : Py_BuildValue("(N)", tuple_of(dimensions, shape));
    array about;
    if (!args)
        return NULL;
    PyObject *made = PyObject_Call(function, args, k->keywords[result_of(type)]);
    Py_DECREF(args);
    if (made && !describe(by, made, &about))
        Py_CLEAR(made);
    if (made)
        memcpy(data, &about.data, sizeof *data);
    return made;
}

PyObject *lent_cast(const array *like, PyObject *object, int type)
{
    const lender *by = like->lender;
    PyObject *made = PyObject_CallMethodObjArgs(
        object, by->cast, by->devices[like->device].dtypes[result_of(type)], NULL);
    Py_DECREF(object);
    return made;
}

PyObject *lent_copy(const lender *by, PyObject *object)
{
    return PyObject_CallMethodObjArgs(object, by->copy, NULL);
}

PyObject *lent_copies(const lender *by, PyObject *object, int n)
{
    return PyObject_CallMethod(by->about, "copies", "Oi", object, n);
}

PyObject *lent_given(lender *by, int device, PyObject *host, int waits)
{
    return host ? PyObject_CallMethod(by->about, waits ? "give" : "put", "iN", device, host) : NULL;
}

/* The samples as their library has them. */
static PyObject *samples_of(const array *a)
{
    if (a->column < 0) {
        Py_INCREF(a->object);
        return a->object;
    }
    PyObject *all = PySlice_New(NULL, NULL, NULL);
    PyObject *key = all ? Py_BuildValue("Nn", all, a->column) : NULL;
    PyObject *column = key ? PyObject_GetItem(a->object, key) : NULL;
    Py_XDECREF(key);
    return column;
}

/* Of packed samples, by the library in one reading. */
static int packed_stats(const array *a, tally_stats *stats)
{
    const tally_view view = array_view(a);
    const uint64_t ranks[2] = {0, a->n - 1};
    tally_quantile_options options = TALLY_QUANTILE_OPTIONS_INIT;
    array found = {.dtype = a->dtype, .n = 2};
    uint64_t words[2], nan = 0;
    double ends[2];
    tally_context *context = lent_context(a->lender, a->device);
    if (!context || !lent_stream(a->lender, a->device, &options.stream))
        return 0;
    PyThreadState *state = PyEval_SaveThread();
    const tally_status status =
        lib.order_statistics(context, &view, ranks, 2, &options, words, &nan, NULL);
    PyEval_RestoreThread(state);
    if (status || nan)
        return 0;
    found.data = words;
    const double *values = array_doubles(&found, 0, 2, ends);
    stats->min = values[0];
    stats->max = values[1];
    if (a->dtype == TALLY_I64)
        memcpy(&stats->min_integer, words, sizeof stats->min_integer);
    else if (a->dtype < TALLY_F16)
        stats->min_integer = (int64_t)values[0];
    if (a->dtype == TALLY_I64)
        memcpy(&stats->max_integer, words + 1, sizeof stats->max_integer);
    else if (a->dtype < TALLY_F16)
        stats->max_integer = (int64_t)values[1];
    stats->samples = stats->finite = a->n;
    return stats->max - stats->min < Py_HUGE_VAL;
}

int lent_stats(const array *a, tally_stats *stats)
{
    *stats = (tally_stats)TALLY_STATS_INIT;
    if (!a->stride && a->dtype != TALLY_BF16)
        return packed_stats(a, stats);
    PyObject *samples = samples_of(a);
    PyObject *pair =
        samples ? PyObject_CallMethod(a->lender->about, "extremes", "N", samples) : NULL;
    PyObject *lo, *hi;
    int good = pair && PyArg_ParseTuple(pair, "OO", &lo, &hi);
    if (good) {
        stats->min = PyFloat_AsDouble(lo);
        stats->max = PyFloat_AsDouble(hi);
        if (a->dtype < TALLY_F16 && a->dtype != TALLY_U64) {
            stats->min_integer = PyLong_AsLongLong(lo);
            stats->max_integer = PyLong_AsLongLong(hi);
        }
        stats->samples = stats->finite = a->n;
        good = !PyErr_Occurred() && stats->max - stats->min < Py_HUGE_VAL; /* NaN is not */
    }
    Py_XDECREF(pair);
    return good;
}
