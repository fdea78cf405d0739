/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiled part of the Python package: the short way for plain arrays of NumPy, torch and CuPy,
 * one call from Python instead of the dozen that ctypes needs. It counts through the library, whose
 * functions it is handed, so that nothing is linked.
 *
 * Every function answers None whenever a case is not plain: then the long way, in Python, counts
 * it or says what is wrong. None of them changes anything before it knows.
 *
 * CPython's stable interface, one file from 3.9 on. All of it runs with the interpreter's lock
 * held, but for calls of the library on more than FEW samples or on a device.
 */
#ifndef TALLY_PYTHON_FAST_H
#define TALLY_PYTHON_FAST_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <tally/quantile.h>
#include <tally/tally.h>

/* Calls on more bytes may be stopped by Ctrl-C: the long way sees to it, but for Hist.fill and
 * binned_statistic and digitize, some of which hear it every HEARD_AFTER samples. Fewer samples
 * than FEW are not worth letting go of the interpreter's lock. Bins are those of an axis,
 * MOST_JOINT_BINS of several together. */
enum { MOST_BYTES = 1 << 26, HEARD_AFTER = 1 << 20, FEW = 2048 };
enum { MOST_BINS = 1 << 16, MOST_DEVICE_BINS = 1 << 20, MOST_JOINT_BINS = 1 << 20 };

/* ---- the library, handed over by bind() ---- */

typedef struct library {
    tally_context *context; /* the processor's, of the package */
    tally_status (*stats_add)(tally_context *, const tally_view *, const tally_view *, uint64_t,
                              int, tally_stats *, tally_error *);
    tally_status (*plan_create)(tally_context *, const tally_plan_options *, tally_plan **,
                                tally_error *);
    void (*plan_destroy)(tally_plan *);
    tally_status (*execute)(const tally_plan *, const tally_view *, const tally_execute_options *,
                            const tally_output *, tally_error *);
    int (*rule_parse)(const char *);
    tally_status (*rule_bins)(tally_context *, tally_chunks, tally_dtype,
                              const tally_rule_options *, tally_axis *, tally_error *);
    tally_status (*order_statistics)(tally_context *, const tally_view *, const uint64_t *,
                                     uint32_t, const tally_quantile_options *, void *, uint64_t *,
                                     tally_error *);
    tally_status (*bin_statistics)(const tally_plan *, const tally_view *, const tally_view *,
                                   uint32_t, const tally_statistics_options *,
                                   const tally_statistics *, const tally_statistics *,
                                   tally_error *);
} library;
extern library lib;

/* ---- NumPy's arrays (arrays.c) ---- */

/* NumPy's numbers of types. */
enum { NUMPY_INT64 = 7, NUMPY_FLOAT32 = 11, NUMPY_FLOAT64 = 12, NUMPY_FLOAT16 = 23 };

/* Finds NumPy's functions: 0, or -1 and an ImportError. */
int arrays_bind(void);
/* Whether it is NumPy 2, where numbers of float32 samples' type make float32 numbers. */
extern int arrays_numpy_2;

/* An array of a type that the library counts, in C order or of one dimension: NumPy's, or one on a
 * CUDA device. */
typedef struct array {
    PyObject *object; /* owned */
    const void *data;
    tally_dtype dtype;
    int dimensions;
    const Py_ssize_t *shape; /* NumPy's own; NULL: `extents` */
    uint64_t n;
    int64_t stride;        /* bytes from one to the next; 0: packed */
    struct lender *lender; /* who has lent it; NULL: NumPy */
    int device;            /* its number */
    Py_ssize_t column;     /* of the object's two dimensions; -1: the whole object */
    Py_ssize_t extents[TALLY_MAX_DIMENSIONS];
} array;

/* Takes a NumPy array, list or tuple of up to MOST_BYTES: 1, or 0 (and no error) if it is not
 * plain. Released by array_release, which a cleared one needs not. */
int array_take(PyObject *x, array *a);
/* The same, but of any size; whether it is beyond MOST_BYTES. */
int array_take_large(PyObject *x, array *a);
int array_is_large(const array *a);
/* A NumPy array of any size, in C order, elements `stride` bytes apart. */
int array_take_cells(PyObject *x, array *a);
/* As array_take, or an array on a device. */
int array_take_any(PyObject *x, array *a);
void array_release(array *a);
/* Column i of an array of two dimensions, which has to outlive it. */
int array_column(const array *of, Py_ssize_t i, array *column);
/* Of one element. */
size_t array_bytes(tally_dtype dtype);
/* Whether a sample of `a` goes with each of `b`: the same shape, from the same lender and device.
 */
int array_same_shape(const array *a, const array *b);
/* Whether a NumPy array is of float64. */
int array_is_float64(PyObject *x);
tally_view array_view(const array *a);

/* Elements begin … begin+n-1 as float64: where they lie, or in `to`. */
const double *array_doubles(const array *a, uint64_t begin, uint64_t n, double *to);

/* A new array, not cleared, and its memory; NULL with an error. */
PyObject *array_new(int dimensions, const Py_ssize_t *shape, int type, void **data);
PyObject *array_new_1d(Py_ssize_t n, int type, void **data);

/* ---- arrays on CUDA devices (lent.c) ---- */

/* A library whose arrays lie there, as lend() was told of it. */
typedef struct lender lender;

/* As array_take, of the arrays of lenders. */
int lent_take(PyObject *x, array *a);
/* A new array on the device of `like`, made by its lender: zeros, or not cleared. */
PyObject *lent_new(const array *like, int dimensions, const Py_ssize_t *shape, int type, int zeros,
                   void **data);
/* The array in float64 or float32, whose reference it takes over. */
PyObject *lent_cast(const array *like, PyObject *object, int type);
PyObject *lent_copy(const lender *by, PyObject *object);
/* A list of so many copies, made at once. */
PyObject *lent_copies(const lender *by, PyObject *object, int n);
/* A NumPy array (taken over) on the device: ready for every stream, which the host waits for, or
 * put on the current one. */
PyObject *lent_given(lender *by, int device, PyObject *host, int waits);
/* Smallest and largest sample, which the host waits for; 0 if one is NaN or infinite. */
int lent_stats(const array *a, tally_stats *stats);
tally_context *lent_context(lender *by, int device);
/* The current stream; 0 and an error where there is none. */
int lent_stream(lender *by, int device, void **stream);
/* Whether the current stream records a graph. */
int lent_recording(const lender *by);

/* ---- plans (plans.c) ---- */

/* An axis as it is asked for. */
typedef enum ends_form {
    ENDS_FLOAT64 = 0, /* numpy.linspace in float64 */
    ENDS_ROUNDED = 1, /* in float64, rounded to float32 */
    ENDS_FLOAT32 = 2, /* in float32 */
    ENDS_EDGES = 3,   /* written down */
    ENDS_INTEGER = 4, /* 0 … bins - 1, a bin each */
    ENDS_HALF = 5     /* in float64, rounded to float16 */
} ends_form;

typedef struct wished_axis {
    uint64_t form, bins;
    int found;           /* the ends are the samples': other calls will hardly have them */
    double lo, hi;       /* of those without edges, but ENDS_INTEGER, else 0 */
    const double *edges; /* of ENDS_EDGES, else NULL */
} wished_axis;

/* What a plan is found by. */
typedef struct wish {
    uint32_t dimensions;
    tally_dtype weight; /* 0: none */
    uint64_t n;
    lender *lender; /* NULL: on the host */
    int device;
    wished_axis axes[TALLY_MAX_DIMENSIONS];
    tally_dtype dtypes[TALLY_MAX_DIMENSIONS];
} wish;

/* Equal arrays on a device that callers get for their own: a list, and the stream that made them,
 * on which alone they are given away. */
typedef struct pool {
    PyObject *list;
    void *stream;
} pool;

/* A plan and its edges, as NumPy has them, of axes that have them. */
typedef struct kept_plan {
    tally_plan *plan;
    double *edges[TALLY_MAX_DIMENSIONS];
    PyObject *there[TALLY_MAX_DIMENSIONS]; /* these on the device, */
    void *stream[TALLY_MAX_DIMENSIONS];    /* of found ends by this stream, */
    pool copies[TALLY_MAX_DIMENSIONS];     /* and copies */
    pool zeros;                            /* counts of no samples */
    wish wish;
    uint64_t hash, used, calls;
    unsigned users; /* calls under way */
    int keep;       /* 0: made for one call */
    int recorded;   /* by a graph, which does not say when it ends: never destroyed */
} kept_plan;

/* The plan of a wish, from those that were used last or a new one; NULL, perhaps without an error:
 * then it is not plain. Returned by plan_return. */
kept_plan *plan_take(const wish *w);
void plan_return(kept_plan *plan);

/* Plans are made for a number of samples; in one class the same one will do. */
uint64_t size_class(uint64_t n, const lender *lender);

/* The bins+1 edges of an even axis; 0 if they do not increase. */
int edges_make(const wished_axis *axis, double *edges);

/* Counts one view an axis, `weights` or NULL, into `counts` and, if not NULL, `flows`: 1, or 0 when
 * the library does not. On a device it is put on the lender's current stream. */
int plan_count(kept_plan *plan, const array *samples, const array *weights, void *counts,
               void *flows);

/* A device's edges of axis d, the caller's own. */
PyObject *plan_edges(kept_plan *plan, uint32_t d);
/* A device's counts or sums of no samples, the caller's own; `like` is on the device. */
PyObject *plan_zeros(kept_plan *plan, const array *like, const Py_ssize_t *shape, int type);

/* Around what takes a while: without the interpreter's lock for more than FEW samples. */
PyThreadState *lock_release(uint64_t n);
void lock_acquire(PyThreadState *state);

/* ---- ends, edges, rules (ends.c) ---- */

/* A Python float or a moderate int as a double; `exact`: no type derived from them. */
int ends_number(PyObject *x, int exact, double *value);
/* Smallest and largest sample, and kinds of samples; the array is not empty. */
int ends_stats(const array *a, tally_stats *stats);
/* The axis of a number of bins between a range, or Py_None for the samples' extremes. `float32`:
 * edges of float32 samples are float32, as in numpy.histogram. 1, or 0 if it is not plain. */
int ends_even(const array *a, uint64_t bins, PyObject *range, int float32, wished_axis *axis);
/* The axis of edges, an array, list or tuple. *object gets the array (owned) that is returned to
 * the caller, *memory the edges in float64 (PyMem_Free). */
int ends_edges(PyObject *bins, wished_axis *axis, PyObject **object, double **memory);
/* The number of bins that a rule chooses; 0 if it is not plain. */
uint64_t ends_rule(const array *a, PyObject *name, PyObject *range);
/* A number of bins, up to `most`; 0 if it is not plain. */
uint64_t ends_bins(PyObject *bins, uint64_t most);
/* A new NumPy array of an axis' edges, float64, float32 or float16. */
PyObject *ends_array(const wished_axis *axis, const double *edges);

/* How many of `n` increasing edges are at most each of `count` samples (`right`: below it); NaN is
 * above all. (digitize.c) */
void edges_find(const double *x, uint64_t count, const double *edges, uint64_t n, int right,
                int64_t *to);

/* ---- the functions ---- */

PyObject *fast_histogram(PyObject *self, PyObject *const *args, Py_ssize_t n_args);
PyObject *fast_histogramdd(PyObject *self, PyObject *const *args, Py_ssize_t n_args);
PyObject *fast_bin_edges(PyObject *self, PyObject *const *args, Py_ssize_t n_args);
PyObject *fast_binned(PyObject *self, PyObject *const *args, Py_ssize_t n_args);
PyObject *fast_bincount(PyObject *self, PyObject *const *args, Py_ssize_t n_args);
PyObject *fast_digitize(PyObject *self, PyObject *const *args, Py_ssize_t n_args);
PyObject *fast_quantile(PyObject *self, PyObject *const *args, Py_ssize_t n_args);
PyObject *fast_lend(PyObject *self, PyObject *const *args, Py_ssize_t n_args);
PyObject *fast_introduce(PyObject *self, PyObject *function);
PyObject *fast_handlers(PyObject *self, PyObject *const *args, Py_ssize_t n_args);
PyObject *fast_filler(PyObject *self, PyObject *args);
PyObject *fast_fill(PyObject *self, PyObject *const *args, Py_ssize_t n_args);

#endif
