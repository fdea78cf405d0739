/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NumPy's arrays, read and made without its headers: the two structs and three functions below have
 * been the same in every NumPy from 1.7 to 2 (the type's number, but not what follows it), and the
 * versions of its interface are checked.
 */
#include <string.h>

#include "fast.h"

typedef struct numpy_type {
    PyObject_HEAD PyTypeObject *scalar;
    char kind, letter, byte_order, flags;
    int number;
} numpy_type;

typedef struct numpy_array {
    PyObject_HEAD char *data;
    int dimensions;
    Py_ssize_t *shape, *strides;
    PyObject *base;
    numpy_type *type;
    int flags;
} numpy_array;

enum { C_ORDER = 1, ALIGNED = 0x100 };

/* Places in NumPy's table of functions, which never change. */
enum { AT_VERSION = 0, AT_ARRAY = 2, AT_FROM_ANY = 69, AT_NEW = 93 };
enum { VERSION_1 = 0x1000009, VERSION_2 = 0x2000000 };

static PyTypeObject *array_type;
static PyObject *(*from_any)(PyObject *, PyObject *, int, int, int, PyObject *);
static PyObject *(*make)(PyTypeObject *, int, const Py_ssize_t *, int, const Py_ssize_t *, void *,
                         int, int, PyObject *);

int arrays_numpy_2;

int arrays_bind(void)
{
    static const char *const names[] = {"numpy._core._multiarray_umath",
                                        "numpy.core._multiarray_umath"};
    PyObject *module = NULL;
    for (int i = 0; i < 2 && !module; i++) {
        PyErr_Clear();
        module = PyImport_ImportModule(names[i]);
    }
    PyObject *capsule = module ? PyObject_GetAttrString(module, "_ARRAY_API") : NULL;
    void **table = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    Py_XDECREF(capsule);
    Py_XDECREF(module);
    if (!table)
        return -1;
    unsigned (*version)(void);
    memcpy(&version, &table[AT_VERSION], sizeof version);
    arrays_numpy_2 = version() == VERSION_2;
    if (version() != VERSION_1 && version() != VERSION_2) {
        PyErr_Format(PyExc_ImportError, "tally: NumPy's binary interface %x is not known",
                     version());
        return -1;
    }
    array_type = table[AT_ARRAY];
    memcpy(&from_any, &table[AT_FROM_ANY], sizeof from_any);
    memcpy(&make, &table[AT_NEW], sizeof make);
    return 0;
}

/* The library's type for NumPy's number of one, 0 if there is none or it is not plain. */
static tally_dtype dtype_of(int number)
{
    static const tally_dtype dtypes[] = {0,
                                         TALLY_I8,
                                         TALLY_U8,
                                         TALLY_I16,
                                         TALLY_U16,
                                         TALLY_I32,
                                         TALLY_U32,
                                         sizeof(long) == 8 ? TALLY_I64 : TALLY_I32,
                                         sizeof(long) == 8 ? TALLY_U64 : TALLY_U32,
                                         TALLY_I64,
                                         TALLY_U64,
                                         TALLY_F32,
                                         TALLY_F64};
    return number > 0 && number < (int)(sizeof dtypes / sizeof *dtypes) ? dtypes[number]
                                                                        : (tally_dtype)0;
}

int array_is_float64(PyObject *x)
{
    return ((const numpy_array *)x)->type->number == NUMPY_FLOAT64;
}

size_t array_bytes(tally_dtype dtype)
{
    static const unsigned char bytes[] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
    return bytes[dtype];
}

/* Of a type that is counted, as this machine has it. */
static int is_native(const numpy_array *x)
{
    return dtype_of(x->type->number) && x->type->byte_order != '>' && (x->flags & ALIGNED);
}

/* Describes `object`, of which it takes over a reference. */
static int describe(PyObject *object, array *a)
{
    const numpy_array *x = (numpy_array *)object;
    a->object = object;
    a->data = x->data;
    a->dtype = dtype_of(x->type->number);
    a->dimensions = x->dimensions;
    a->shape = x->shape;
    a->stride = 0;
    a->lender = NULL;
    a->n = 1;
    for (int d = 0; d < x->dimensions; d++)
        a->n *= (uint64_t)x->shape[d];
    int plain = is_native(x);
    if (plain && !(x->flags & C_ORDER)) {
        a->stride = x->dimensions == 1 ? x->strides[0] : 0;
        plain = a->stride != 0;
    }
    if (!plain)
        array_release(a);
    return plain;
}

int array_take_large(PyObject *x, array *a)
{
    a->object = NULL;
    if (Py_TYPE(x) == array_type) {
        Py_INCREF(x);
        return describe(x, a);
    }
    if (!PyList_CheckExact(x) && !PyTuple_CheckExact(x))
        return 0;
    PyObject *made = from_any(x, NULL, 0, 0, C_ORDER | ALIGNED, NULL);
    if (!made) {
        PyErr_Clear();
        return 0;
    }
    if (Py_TYPE(made) == array_type)
        return describe(made, a);
    Py_DECREF(made);
    return 0;
}

int array_is_large(const array *a)
{
    return a->n > MOST_BYTES / array_bytes(a->dtype);
}

int array_take(PyObject *x, array *a)
{
    if (!array_take_large(x, a))
        return 0;
    if (array_is_large(a))
        array_release(a);
    return a->object != NULL;
}

int array_take_cells(PyObject *object, array *a)
{
    const numpy_array *x = (numpy_array *)object;
    if (Py_TYPE(object) != array_type || !is_native(x) || !x->dimensions)
        return 0;
    *a = (array){.data = x->data,
                 .dtype = dtype_of(x->type->number),
                 .dimensions = x->dimensions,
                 .shape = x->shape,
                 .n = 1};
    const Py_ssize_t step = x->strides[x->dimensions - 1];
    Py_ssize_t expected = step;
    for (int d = x->dimensions; d-- > 0; expected *= x->shape[d]) {
        if (x->strides[d] != expected)
            return 0;
        a->n *= (uint64_t)x->shape[d];
    }
    a->stride = (size_t)step == array_bytes(a->dtype) ? 0 : step;
    Py_INCREF(object);
    a->object = object;
    return 1;
}

int array_take_any(PyObject *x, array *a)
{
    return array_take(x, a) || lent_take(x, a);
}

void array_release(array *a)
{
    Py_XDECREF(a->object);
    a->object = NULL;
}

int array_column(const array *of, Py_ssize_t i, array *column)
{
    const numpy_array *x = (numpy_array *)of->object;
    if (of->dimensions != 2)
        return 0;
    *column = *of;
    Py_INCREF(column->object);
    if (of->lender) { /* in C order */
        const size_t bytes = array_bytes(of->dtype);
        column->data = (const char *)of->data + (size_t)i * bytes;
        column->dimensions = 1;
        column->column = i;
        column->n = (uint64_t)of->extents[0];
        column->stride =
            of->extents[0] > 1 && of->extents[1] > 1 ? of->extents[1] * (Py_ssize_t)bytes : 0;
        return 1;
    }
    column->data = x->data + i * x->strides[1];
    column->dimensions = 1;
    column->n = (uint64_t)x->shape[0];
    column->stride = x->shape[0] > 1 ? x->strides[0] : 0;
    return 1;
}

int array_same_shape(const array *a, const array *b)
{
    const Py_ssize_t *of_a = a->shape ? a->shape : a->extents;
    const Py_ssize_t *of_b = b->shape ? b->shape : b->extents;
    return a->lender == b->lender && (!a->lender || a->device == b->device) &&
           a->dimensions == b->dimensions &&
           !memcmp(of_a, of_b, (size_t)a->dimensions * sizeof *of_a);
}

tally_view array_view(const array *a)
{
    return (tally_view){.struct_size = sizeof(tally_view),
                        .data = a->n ? a->data : NULL,
                        .dtype = a->dtype,
                        .device = a->lender ? TALLY_DEVICE_CUDA : TALLY_DEVICE_CPU,
                        .batches = 1,
                        .rows = 1,
                        .columns = a->n,
                        .channels = 1,
                        .column_stride_bytes = a->stride};
}

#define CONVERT(type)                                                                              \
    for (uint64_t i = 0; i < n; i++, at += step)                                                   \
        to[i] = (double)*(const type *)(const void *)at;                                           \
    break

const double *array_doubles(const array *a, uint64_t begin, uint64_t n, double *to)
{
    const int64_t step = a->stride ? a->stride : (int64_t)array_bytes(a->dtype);
    const char *at = (const char *)a->data + (int64_t)begin * step;
    if (a->dtype == TALLY_F64 && !a->stride)
        return (const double *)(const void *)at;
    switch (a->dtype) {
    case TALLY_U8:
        CONVERT(uint8_t);
    case TALLY_I8:
        CONVERT(int8_t);
    case TALLY_U16:
        CONVERT(uint16_t);
    case TALLY_I16:
        CONVERT(int16_t);
    case TALLY_U32:
        CONVERT(uint32_t);
    case TALLY_I32:
        CONVERT(int32_t);
    case TALLY_U64:
        CONVERT(uint64_t);
    case TALLY_I64:
        CONVERT(int64_t);
    case TALLY_F32:
        CONVERT(float);
    default:
        CONVERT(double);
    }
    return to;
}

PyObject *array_new(int dimensions, const Py_ssize_t *shape, int type, void **data)
{
    PyObject *made = make(array_type, dimensions, shape, type, NULL, NULL, 0, 0, NULL);
    if (made)
        *data = ((numpy_array *)made)->data;
    return made;
}

PyObject *array_new_1d(Py_ssize_t n, int type, void **data)
{
    return array_new(1, &n, type, data);
}
