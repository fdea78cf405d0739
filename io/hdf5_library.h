/* SPDX-License-Identifier: Apache-2.0 */
/* libhdf5, opened when the first HDF5 file is met (io/library.h). */
#ifndef TY_HDF5_LIBRARY_H
#define TY_HDF5_LIBRARY_H

#if TALLY_HAVE_HDF5

#define H5_USE_110_API
#include <hdf5.h>

#define TY_H5_FUNCTIONS(F)                                                                         \
    F(H5open)                                                                                      \
    F(H5Aclose)                                                                                    \
    F(H5Aexists)                                                                                   \
    F(H5Aget_space)                                                                                \
    F(H5Aget_type)                                                                                 \
    F(H5Aopen)                                                                                     \
    F(H5Aread)                                                                                     \
    F(H5Dclose)                                                                                    \
    F(H5Dget_create_plist)                                                                         \
    F(H5Dget_offset)                                                                               \
    F(H5Dget_space)                                                                                \
    F(H5Dget_storage_size)                                                                         \
    F(H5Dget_type)                                                                                 \
    F(H5Dopen2)                                                                                    \
    F(H5Dread)                                                                                     \
    F(H5Eset_auto2)                                                                                \
    F(H5Ewalk2)                                                                                    \
    F(H5Fclose)                                                                                    \
    F(H5Fopen)                                                                                     \
    F(H5Iget_type)                                                                                 \
    F(H5Oclose)                                                                                    \
    F(H5Oget_info1)                                                                                \
    F(H5Oopen)                                                                                     \
    F(H5Ovisit1)                                                                                   \
    F(H5Pclose)                                                                                    \
    F(H5Pcreate)                                                                                   \
    F(H5Pget_chunk)                                                                                \
    F(H5Pget_external_count)                                                                       \
    F(H5Pget_layout)                                                                               \
    F(H5Pset_chunk_cache)                                                                          \
    F(H5Pset_type_conv_cb)                                                                         \
    F(H5Sclose)                                                                                    \
    F(H5Screate_simple)                                                                            \
    F(H5Sget_simple_extent_dims)                                                                   \
    F(H5Sget_simple_extent_ndims)                                                                  \
    F(H5Sget_simple_extent_npoints)                                                                \
    F(H5Sget_simple_extent_type)                                                                   \
    F(H5Sselect_hyperslab)                                                                         \
    F(H5Tclose)                                                                                    \
    F(H5Tconvert)                                                                                  \
    F(H5Tcreate)                                                                                   \
    F(H5Tcopy)                                                                                     \
    F(H5Tequal)                                                                                    \
    F(H5Tget_class)                                                                                \
    F(H5Tget_member_name)                                                                          \
    F(H5Tget_member_type)                                                                          \
    F(H5Tget_member_value)                                                                         \
    F(H5Tget_nmembers)                                                                             \
    F(H5Tget_order)                                                                                \
    F(H5Tget_sign)                                                                                 \
    F(H5Tget_size)                                                                                 \
    F(H5Tget_super)                                                                                \
    F(H5Tinsert)                                                                                   \
    F(H5Tset_order)                                                                                \
    F(H5free_memory)

/* Variables, which the library's macros stand for. */
#define TY_H5_VARIABLES(F)                                                                         \
    F(H5P_CLS_DATASET_ACCESS_ID_g)                                                                 \
    F(H5P_CLS_DATASET_XFER_ID_g)                                                                   \
    F(H5T_NATIVE_B8_g)                                                                             \
    F(H5T_NATIVE_INT8_g)                                                                           \
    F(H5T_NATIVE_INT16_g)                                                                          \
    F(H5T_NATIVE_INT32_g)                                                                          \
    F(H5T_NATIVE_INT64_g)                                                                          \
    F(H5T_NATIVE_UINT8_g)                                                                          \
    F(H5T_NATIVE_UINT16_g)                                                                         \
    F(H5T_NATIVE_UINT32_g)                                                                         \
    F(H5T_NATIVE_UINT64_g)                                                                         \
    F(H5T_NATIVE_FLOAT_g)                                                                          \
    F(H5T_NATIVE_DOUBLE_g)

typedef struct ty_h5 {
#define TY_H5_FUNCTION(name) __typeof__(&name) name;
    TY_H5_FUNCTIONS(TY_H5_FUNCTION)
#undef TY_H5_FUNCTION
#define TY_H5_VARIABLE(name) const hid_t *name;
    TY_H5_VARIABLES(TY_H5_VARIABLE)
#undef TY_H5_VARIABLE
} ty_h5;

/* The library, for the calling thread alone until ty_h5_unlock: it need not be thread-safe. Its
 * printing of errors is off. NULL, and nothing to unlock, when it does not open; *reason says why.
 */
const ty_h5 *ty_h5_lock(const char **reason);
void ty_h5_unlock(void);

#endif
#endif
