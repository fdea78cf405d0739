/* SPDX-License-Identifier: Apache-2.0 */
/* HDF5: nothing of libhdf5 stays open when a file was read, refused or met no memory. libhdf5
 * closes what is left itself when the process ends, so that no checker of leaks sees it. */
#include "input_help.h"

#if TALLY_HAVE_HDF5

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "io/hdf5_library.h"

#define MORE(F)                                                                                    \
    F(H5Acreate2)                                                                                  \
    F(H5Awrite)                                                                                    \
    F(H5Dcreate2) F(H5Dwrite) F(H5Fcreate) F(H5Fget_obj_count) F(H5Iis_valid) F(H5Pset_chunk)
static struct {
#define MEMBER(name) __typeof__(&name) name;
    MORE(MEMBER)
} more;
static const hid_t *creation; /* the kind of properties with which datasets are made */

static int find_more(void)
{
    void *handle = dlopen(TY_HDF5_LIBRARY, RTLD_NOW | RTLD_LOCAL); /* once more */
    if (!handle)
        return 0;
#define FIND(name)                                                                                 \
    void *const at_##name = dlsym(handle, #name);                                                  \
    memcpy(&more.name, &at_##name, sizeof at_##name);
    MORE(FIND)
    creation = dlsym(handle, "H5P_CLS_DATASET_CREATE_ID_g");
#define FOUND(name) &&more.name
    return creation MORE(FOUND);
}

/* ---- What is open ---- */

/* A new space, type and list of properties, as libhdf5 numbers them: those of one kind count up. */
typedef struct marks {
    hid_t of[3];
} marks;

static marks make_marks(void)
{
    const char *reason;
    const hsize_t extent = 1;
    const ty_h5 *h5 = ty_h5_lock(&reason);
    const marks made = {{h5->H5Screate_simple(1, &extent, NULL), h5->H5Tcopy(*h5->H5T_NATIVE_B8_g),
                         h5->H5Pcreate(*creation)}};
    h5->H5Sclose(made.of[0]);
    h5->H5Tclose(made.of[1]);
    h5->H5Pclose(made.of[2]);
    ty_h5_unlock();
    return made;
}

/* Nothing that was made since *since is open; *since is set anew. */
static void check_closed(marks *since, const char *what)
{
    const marks now = make_marks();
    CHECK_SAY(more.H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL) == 0, "%s", what);
    for (int kind = 0; kind < 3; kind++)
        for (hid_t id = since->of[kind]; id <= now.of[kind]; id++)
            CHECK_SAY(more.H5Iis_valid(id) == 0, "%s: kind %d", what, kind);
    *since = now;
}

/* ---- A file ---- */

enum { ROWS = 200, COLUMNS = 3 };

typedef struct record {
    int64_t id;
    float x[2];
} record;

static void add_attribute(const ty_h5 *h5, hid_t set, const char *name)
{
    const double value = 2;
    const hsize_t one = 1;
    const hid_t space = h5->H5Screate_simple(1, &one, NULL);
    const hid_t number = *h5->H5T_NATIVE_DOUBLE_g;
    const hid_t made = more.H5Acreate2(set, name, number, space, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(made >= 0 && more.H5Awrite(made, number, &value) >= 0);
    h5->H5Aclose(made);
    h5->H5Sclose(space);
}

static void add_dataset(const ty_h5 *h5, hid_t file, const char *name, hid_t type, hsize_t columns,
                        hsize_t chunk_rows)
{
    static const unsigned char zeros[ROWS * sizeof(record) * COLUMNS];
    const hsize_t extents[2] = {ROWS, columns}, chunk[2] = {chunk_rows, columns};
    const hid_t space = h5->H5Screate_simple(2, extents, NULL);
    const hid_t how = h5->H5Pcreate(*creation);
    CHECK(!chunk_rows || more.H5Pset_chunk(how, 2, chunk) >= 0);
    const hid_t set = more.H5Dcreate2(file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    CHECK(more.H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros) >= 0);
    if (strcmp(name, "chunks") == 0) {
        add_attribute(h5, set, "_FillValue");
        add_attribute(h5, set, "scale_factor");
    }
    h5->H5Dclose(set);
    h5->H5Pclose(how);
    h5->H5Sclose(space);
}

static void make_file(const ty_h5 *h5, const char *path)
{
    const hid_t file = more.H5Fcreate(path, 2 /* anew */, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t records = h5->H5Tcreate(H5T_COMPOUND, sizeof(record));
    CHECK(file >= 0 && records >= 0);
    h5->H5Tinsert(records, "id", 0, *h5->H5T_NATIVE_INT64_g);
    h5->H5Tinsert(records, "x", offsetof(record, x), *h5->H5T_NATIVE_FLOAT_g);
    const hid_t opaque = h5->H5Tcreate(H5T_OPAQUE, 4);
    add_dataset(h5, file, "plain", *h5->H5T_NATIVE_DOUBLE_g, COLUMNS, 0);
    add_dataset(h5, file, "chunks", *h5->H5T_NATIVE_INT16_g, COLUMNS, 7);
    add_dataset(h5, file, "records", records, 1, 7);
    add_dataset(h5, file, "opaque", opaque, COLUMNS, 0);
    h5->H5Tclose(opaque);
    h5->H5Tclose(records);
    h5->H5Fclose(file);
}

/* ---- Read and refused ---- */

static tally_input_options options_of(const char *inside, const char *const *columns)
{
    tally_input_options o = TALLY_INPUT_OPTIONS_INIT;
    o.inside = inside;
    o.columns = columns;
    o.columns_count = columns ? 1 : 0;
    return o;
}

static void check_read(marks *since, const char *path, const char *inside,
                       const char *const *columns)
{
    contents c;
    tally_error error = {""};
    tally_input_options o = options_of(inside, columns);
    CHECK_SAY(help_read(path, &o, 2, &c, &error) == TALLY_OK, "%s: %s", inside, error.message);
    blob_free(&c.samples);
    check_closed(since, inside);
    help_starve(path, &o);
    check_closed(since, "without memory");
}

static void check_refused(marks *since, const char *path, const char *inside,
                          const char *const *columns, const char *words)
{
    contents c;
    tally_error error = {""};
    tally_input_options o = options_of(inside, columns);
    CHECK(help_read(path, &o, 1, &c, &error) != TALLY_OK);
    CHECK_SAY(strstr(error.message, words), "%s", error.message);
    check_closed(since, words);
}

static void check_cut(marks *since, const char *path)
{
    blob file = help_load(path);
    const tally_input_options o = options_of("/chunks", NULL);
    for (size_t size = 8; size < file.size; size += 1 + help_below(200)) {
        contents c;
        if (!help_read(help_write("cut.h5", file.bytes, size), &o, 1, &c, NULL))
            blob_free(&c.samples);
        check_closed(since, "a file that is cut");
    }
    blob_free(&file);
}

int main(int argc, char **argv)
{
    const char *reason = "no functions to write files", *const x[] = {"x"}, *const z[] = {"z"};
    const ty_h5 *h5 = ty_h5_lock(&reason);
    if (!h5 || !find_more()) {
        printf("skipped: libhdf5: %s\n", reason);
        return 77;
    }
    help_begin(argc, argv);
    const char *path = help_path("every.h5");
    make_file(h5, path);
    ty_h5_unlock();
    marks since = make_marks();
    check_read(&since, path, "/plain", NULL);
    check_read(&since, path, "/chunks", NULL);
    check_read(&since, path, "/records", x);
    check_refused(&since, path, "/records", NULL, "columns");
    check_refused(&since, path, "/records", z, "no column 'z'");
    check_refused(&since, path, "/opaque", NULL, "opaque bytes");
    check_refused(&since, path, "/nothing", NULL, "no dataset '/nothing'");
    check_refused(&since, path, NULL, NULL, "several datasets");
    check_cut(&since, path);
    return help_end();
}

#else

int main(void)
{
    puts("skipped: built without HDF5");
    return 77;
}

#endif
