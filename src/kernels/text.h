/* The kernels' texts, embedded at build time (cmake/embed.cmake). */
#ifndef TY_TEXT_H
#define TY_TEXT_H

extern const char ty_text_dialect_h[], ty_text_bin_h[], ty_text_fast_h[], ty_text_guide_h[],
    ty_text_sample_h[], ty_text_walk_h[], ty_text_merge[], ty_text_atomic_global[],
    ty_text_private_shared[], ty_text_reduce_tree[], ty_text_atomic_local[], ty_text_coarsened[],
    ty_text_private_register[], ty_text_private_global[], ty_text_aggregated[],
    ty_text_saturating_global[], ty_text_saturating_shared[], ty_text_words_h[],
    ty_text_podlozhnyuk_64[], ty_text_podlozhnyuk_256[], ty_text_podlozhnyuk_256_tag[],
    ty_text_nugteren[], ty_text_trish[], ty_text_lane_private[], ty_text_swizzled[],
    ty_text_spill16[], ty_text_spill6[], ty_text_output_h[], ty_text_view_h[], ty_text_views[],
    ty_text_fixed_h[], ty_text_weighted[], ty_text_view_bytes[], ty_text_view_images[];
extern const char ty_text_routed[], ty_text_swizzled_columns[], ty_text_lane_private_pixels[],
    ty_text_weighted_packed[], ty_text_finish_h[], ty_text_halves[], ty_text_routed_columns[],
    ty_text_columns_h[], ty_text_spill16_h[];

#endif
