/* SPDX-License-Identifier: Apache-2.0 */
/* The module tally._fast. */
#include <stdlib.h>
#include <string.h>

#include "fill.h"

library lib;

/* bind(context, stats_add, plan_create, plan_destroy, execute, rule_parse, rule_bins,
 * order_statistics, bin_statistics): addresses */
static PyObject *bind(PyObject *self, PyObject *args)
{
    (void)self;
    Py_ssize_t at[9];
    if (!PyArg_ParseTuple(args, "nnnnnnnnn", &at[0], &at[1], &at[2], &at[3], &at[4], &at[5], &at[6],
                          &at[7], &at[8]))
        return NULL;
    memcpy(&lib.context, &at[0], sizeof lib.context);
    memcpy(&lib.stats_add, &at[1], sizeof lib.stats_add);
    memcpy(&lib.plan_create, &at[2], sizeof lib.plan_create);
    memcpy(&lib.plan_destroy, &at[3], sizeof lib.plan_destroy);
    memcpy(&lib.execute, &at[4], sizeof lib.execute);
    memcpy(&lib.rule_parse, &at[5], sizeof lib.rule_parse);
    memcpy(&lib.rule_bins, &at[6], sizeof lib.rule_bins);
    memcpy(&lib.order_statistics, &at[7], sizeof lib.order_statistics);
    memcpy(&lib.bin_statistics, &at[8], sizeof lib.bin_statistics);
    Py_RETURN_NONE;
}

#define FAST(name)                                                                                 \
    {                                                                                              \
#name, (PyCFunction)(void (*)(void))fast_##name, METH_FASTCALL, NULL                       \
    }
static PyMethodDef methods[] = {{"bind", bind, METH_VARARGS, NULL},
                                FAST(bin_edges),
                                FAST(binned),
                                FAST(bincount),
                                FAST(digitize),
                                FAST(fill),
                                FAST(handlers),
                                {"filler", fast_filler, METH_VARARGS, NULL},
                                FAST(histogram),
                                FAST(histogramdd),
                                {"introduce", fast_introduce, METH_O, NULL},
                                FAST(lend),
                                FAST(quantile),
                                {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "libtally._fast", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__fast(void)
{
    places_bind(getenv("TALLY_DISABLE_CPU"));
    return arrays_bind() ? NULL : PyModule_Create(&module);
}
