/* SPDX-License-Identifier: Apache-2.0 */
/* cairo, opened when the first picture is drawn (io/library.h): its functions, without the "cairo_"
 * of their names. */
#ifndef TY_CAIRO_LIBRARY_H
#define TY_CAIRO_LIBRARY_H

#include <cairo-svg.h>
#include <cairo.h>

#define TY_CAIRO_FUNCTIONS(F)                                                                      \
    F(arc)                                                                                         \
    F(clip)                                                                                        \
    F(close_path)                                                                                  \
    F(create)                                                                                      \
    F(destroy)                                                                                     \
    F(fill)                                                                                        \
    F(fill_preserve)                                                                               \
    F(get_source)                                                                                  \
    F(get_target)                                                                                  \
    F(image_surface_create)                                                                        \
    F(image_surface_get_data)                                                                      \
    F(image_surface_get_stride)                                                                    \
    F(line_to)                                                                                     \
    F(move_to)                                                                                     \
    F(new_path)                                                                                    \
    F(paint)                                                                                       \
    F(pattern_add_color_stop_rgb)                                                                  \
    F(pattern_create_linear)                                                                       \
    F(pattern_destroy)                                                                             \
    F(pattern_set_filter)                                                                          \
    F(rectangle)                                                                                   \
    F(restore)                                                                                     \
    F(rotate)                                                                                      \
    F(save)                                                                                        \
    F(scale)                                                                                       \
    F(select_font_face)                                                                            \
    F(set_antialias)                                                                               \
    F(set_font_size)                                                                               \
    F(set_line_join)                                                                               \
    F(set_line_width)                                                                              \
    F(set_source)                                                                                  \
    F(set_source_rgb)                                                                              \
    F(set_source_rgba)                                                                             \
    F(set_source_surface)                                                                          \
    F(show_text)                                                                                   \
    F(status)                                                                                      \
    F(status_to_string)                                                                            \
    F(stroke)                                                                                      \
    F(surface_destroy)                                                                             \
    F(surface_finish)                                                                              \
    F(surface_get_type)                                                                            \
    F(surface_mark_dirty)                                                                          \
    F(surface_status)                                                                              \
    F(surface_write_to_png_stream)                                                                 \
    F(svg_surface_create_for_stream)                                                               \
    F(text_extents)                                                                                \
    F(translate)
#if CAIRO_VERSION >= CAIRO_VERSION_ENCODE(1, 16, 0)
#define TY_CAIRO_UNITS(F) F(svg_surface_set_document_unit)
#else
#define TY_CAIRO_UNITS(F)
#endif

typedef struct ty_libcairo_table {
#define TY_CAIRO_FUNCTION(name) __typeof__(&cairo_##name) name;
    TY_CAIRO_FUNCTIONS(TY_CAIRO_FUNCTION) TY_CAIRO_UNITS(TY_CAIRO_FUNCTION)
#undef TY_CAIRO_FUNCTION
} ty_libcairo_table;

/* Of use once ty_cairo_library_open has returned NULL, and not why it cannot be used. */
extern ty_libcairo_table ty_libcairo;
const char *ty_cairo_library_open(void);

#endif
