/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tally from C++17: objects that own their handles, views of any contiguous container, exceptions.
 * Header only, over tally/tally.h, whose comments say what everything means; get() gives the C
 * value of an object, for what is not wrapped here.
 *
 *     std::vector<float> samples = ...;
 *     auto h = tally::histogram(samples, tally::axis::even(100, 0, 1));
 *     h.counts[7], h.flows[0].over;
 *
 * What fails throws tally::error (and a vector std::bad_alloc), and leaves what it was to write as
 * it was. A function that is handed to C (progress, a source) must not throw. Threads: as in C.
 */
#ifndef TALLY_HPP
#define TALLY_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tally/tally.h>

namespace tally
{

/* What a C function returned and said. */
class error : public std::runtime_error
{
  public:
    error(tally_status status, const std::string &message)
        : std::runtime_error(message), status_(status)
    {
    }
    tally_status status() const noexcept
    {
        return status_;
    }

  private:
    tally_status status_;
};

/* Elements in a row that somebody else owns; std::span takes one too. */
template <class T> class span
{
  public:
    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size)
    {
    }
    constexpr T *data() const noexcept
    {
        return data_;
    }
    constexpr std::size_t size() const noexcept
    {
        return size_;
    }
    constexpr T *begin() const noexcept
    {
        return data_;
    }
    constexpr T *end() const noexcept
    {
        return data_ + size_;
    }
    constexpr T &operator[](std::size_t i) const
    {
        return data_[i];
    }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

namespace detail
{

inline void check(tally_status status, const tally_error &said)
{
    if (status != TALLY_OK)
        throw error(status, said.message);
}

template <class T>
inline constexpr bool countable = (std::is_arithmetic_v<T> && !std::is_same_v<T, bool> &&
                                   !std::is_same_v<T, long double>) ||
                                  std::is_same_v<T, std::byte>;

template <class R>
using element = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<R &>()))>>;

} // namespace detail

/* The type of samples that are T: integers of 8 to 64 bits, std::byte (u8), float, double. */
template <class T> constexpr tally_dtype dtype_of() noexcept
{
    using U = std::remove_cv_t<T>;
    static_assert(detail::countable<U>, "Tally counts integers, float and double");
    constexpr bool is_signed = std::is_signed_v<U>;
    if constexpr (std::is_same_v<U, float>)
        return TALLY_F32;
    else if constexpr (std::is_same_v<U, double>)
        return TALLY_F64;
    else if constexpr (sizeof(U) == 1)
        return is_signed ? TALLY_I8 : TALLY_U8;
    else if constexpr (sizeof(U) == 2)
        return is_signed ? TALLY_I16 : TALLY_U16;
    else if constexpr (sizeof(U) == 4)
        return is_signed ? TALLY_I32 : TALLY_U32;
    else
        return is_signed ? TALLY_I64 : TALLY_U64;
}

/* Samples that somebody else owns, who keeps them as long as the view is used. */
class view
{
  public:
    view() noexcept : c_ TALLY_VIEW_INIT
    {
    }
    view(const tally_view &c) noexcept : c_(c)
    {
    }
    /* `n` packed samples; a device's memory is then named by on(). */
    view(const void *data, tally_dtype dtype, std::uint64_t n) noexcept
        : c_(tally_view_1d(data, dtype, n))
    {
    }
    template <class T, std::enable_if_t<detail::countable<T>, int> = 0>
    view(const T *data, std::size_t n) noexcept : view(data, dtype_of<T>(), n)
    {
    }
    /* A vector, an array, a span … of samples. */
    template <class R, std::enable_if_t<detail::countable<detail::element<const R>>, int> = 0>
    view(const R &range) noexcept : view(std::data(range), std::size(range))
    {
    }
    /* Packed rows of interleaved channels, as in an image. */
    template <class T>
    static view image(const T *data, std::uint64_t rows, std::uint64_t columns,
                      std::uint64_t channels) noexcept
    {
        view image(data, dtype_of<T>(), columns);
        image.c_.rows = rows;
        image.c_.channels = channels;
        return image;
    }
    /* The same, in the memory of such a device. */
    view on(tally_device_type device) const noexcept
    {
        view moved = *this;
        moved.c_.device = device;
        return moved;
    }
    const tally_view &get() const noexcept
    {
        return c_;
    }

  private:
    tally_view c_;
};

/* Which bin a sample is in. Owns its edges. */
class axis
{
  public:
    explicit axis(const tally_axis &c) : c_(c)
    {
        if (c.edges)
            edges_.assign(c.edges, c.edges + c.bins + 1);
        if (c.categories)
            categories_.assign(c.categories, c.categories + 256);
    }
    static axis even(std::uint64_t bins, double lo, double hi)
    {
        return axis(tally_axis_even(bins, lo, hi));
    }
    static axis integer(std::uint64_t bins, std::int64_t first)
    {
        return axis(tally_axis_integer(bins, first));
    }
    static axis log(std::uint64_t bins, double lo, double hi)
    {
        return axis(tally_axis_log(bins, lo, hi));
    }
    /* One bin less than edges. */
    static axis uneven(const std::vector<double> &edges)
    {
        if (edges.size() < 2)
            throw error(TALLY_ERROR_ARGUMENT, "an axis needs at least two edges");
        return axis(tally_axis_edges(edges.size() - 1, edges.data()));
    }
    /* An alphabet, `per_bin` letters to a bin. */
    static axis letters(std::string_view alphabet, std::uint64_t per_bin = 1)
    {
        std::vector<std::uint16_t> categories(256);
        tally_axis c = TALLY_AXIS_INIT;
        c.kind = TALLY_AXIS_CATEGORY;
        c.bins =
            tally_categories_letters(alphabet.data(), alphabet.size(), per_bin, categories.data());
        c.categories = categories.data();
        if (c.bins == 0)
            throw error(TALLY_ERROR_ARGUMENT,
                        "an alphabet needs different letters, and bins at least one of them each");
        return axis(c);
    }
    /* What becomes of samples below the first edge, above the last, and of NaN. */
    axis &outside(tally_flow under, tally_flow over, tally_flow nan = TALLY_FLOW_COUNT) noexcept
    {
        c_.under = under;
        c_.over = over;
        c_.nan = nan;
        return *this;
    }
    /* A sample at the last edge is above. */
    axis &open() noexcept
    {
        c_.last = TALLY_LAST_OPEN;
        return *this;
    }
    std::uint64_t bins() const noexcept
    {
        return c_.bins;
    }
    std::vector<double> edges() const
    {
        const tally_axis c = get();
        tally_error said;
        std::vector<double> edges(static_cast<std::size_t>(c.bins) + 1);
        detail::check(tally_axis_edges_get(&c, edges.data(), &said), said);
        return edges;
    }
    /* Valid until the axis is changed or gone. */
    tally_axis get() const noexcept
    {
        tally_axis c = c_;
        c.edges = edges_.empty() ? nullptr : edges_.data();
        c.categories = categories_.empty() ? nullptr : categories_.data();
        return c;
    }

  private:
    tally_axis c_;
    std::vector<double> edges_;
    std::vector<std::uint16_t> categories_;
};

/* One device, with its threads. Copies share it; it is closed with the last of them and of the
 * plans and memory that were made from it. */
class context
{
  public:
    explicit context(const tally_context_options &options)
    {
        tally_context *opened = nullptr;
        tally_error said;
        detail::check(tally_context_create(&options, &opened, &said), said);
        c_.reset(opened, tally_context_destroy);
    }
    explicit context(tally_device_type device = TALLY_DEVICE_AUTO, std::int32_t index = 0)
        : context(options_of(device, index))
    {
    }
    tally_device_info device() const
    {
        tally_device_info info = TALLY_DEVICE_INFO_INIT;
        tally_error said;
        detail::check(tally_context_device(get(), &info, &said), said);
        return info;
    }
    tally_context *get() const noexcept
    {
        return c_.get();
    }

  private:
    static tally_context_options options_of(tally_device_type device, std::int32_t index) noexcept
    {
        tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
        options.device = device;
        options.index = index;
        return options;
    }
    std::shared_ptr<tally_context> c_;
};

/* Memory on a context's device. */
class memory
{
  public:
    memory(const context &on, std::uint64_t bytes) : context_(on)
    {
        tally_error said;
        detail::check(tally_memory_create(context_.get(), bytes, &c_, &said), said);
    }
    /* Holds a copy of these samples; of none, a byte. */
    template <class R, std::enable_if_t<detail::countable<detail::element<const R>>, int> = 0>
    memory(const context &on, const R &range)
        : memory(on, std::size(range) ? bytes_of(range) : std::uint64_t{1})
    {
        if (std::size(range))
            write(std::data(range), bytes_of(range));
    }
    memory(memory &&other) noexcept : context_(other.context_), c_(std::exchange(other.c_, nullptr))
    {
    }
    memory &operator=(memory &&other) noexcept
    {
        std::swap(context_, other.context_);
        std::swap(c_, other.c_);
        return *this;
    }
    ~memory()
    {
        tally_memory_destroy(context_.get(), c_);
    }
    /* The caller sees to it that the bytes fit. */
    void write(const void *from, std::uint64_t bytes, std::uint64_t offset = 0)
    {
        tally_error said;
        detail::check(tally_memory_write(context_.get(), c_, offset, from, bytes, &said), said);
    }
    void *get() const noexcept
    {
        return c_;
    }

  private:
    template <class R> static std::uint64_t bytes_of(const R &range)
    {
        return std::uint64_t{std::size(range)} * sizeof(detail::element<const R>);
    }
    context context_;
    void *c_ = nullptr;
};

/* What a call counted: one histogram for each batch and active channel of its views, one behind the
 * other, the last axis varying fastest, and the flows of each. */
template <class T> struct counted {
    std::vector<T> counts;
    std::vector<tally_flows> flows;

    span<const T> histogram(std::size_t h) const noexcept
    {
        const std::size_t bins = counts.size() / flows.size();
        return {counts.data() + h * bins, bins};
    }
};

/* An axis and the type of its samples. */
struct dimension {
    tally::axis axis;
    tally_dtype dtype;
};

/* Axes, types and a device, resolved to a method; for any number of calls, from any threads. */
class plan
{
  public:
    plan(const context &on, const tally_plan_options &options) : c_(nullptr, destroy{on})
    {
        tally_plan *made = nullptr;
        tally_error said;
        detail::check(tally_plan_create(on.get(), &options, &made, &said), said);
        c_.reset(made);
    }
    /* `rest` says all but dimensions, axes and dtypes. */
    plan(const context &on, const std::vector<dimension> &dimensions,
         const tally_plan_options &rest = TALLY_PLAN_OPTIONS_INIT)
        : plan(on, options_of(dimensions, rest))
    {
    }
    const char *method() const noexcept
    {
        return tally_plan_method(get());
    }
    const char *describe() const noexcept
    {
        return tally_plan_describe(get());
    }
    std::uint64_t bins() const noexcept
    {
        return tally_plan_bins(get());
    }
    const tally_plan *get() const noexcept
    {
        return c_.get();
    }

    /* Views have one for each axis. Counts samples; T is the type of the plan's counter. */
    template <class T = std::uint64_t, class... V> counted<T> count(const V &...views) const
    {
        return fresh<T>(nullptr, {view(views)...});
    }
    /* Sums weights; T is double, int64_t (of integers) or tally_wide (with a limit). */
    template <class T = double, class... V>
    counted<T> sum(const view &weights, const V &...views) const
    {
        return fresh<T>(&weights, {view(views)...});
    }
    /* Adds to what an earlier call of this plan counted. */
    template <class T, class... V> void add(counted<T> &to, const V &...views) const
    {
        into(to, TALLY_ACCUMULATE_ADD, nullptr, {view(views)...});
    }
    /* Puts the counting of samples in the device's memory on a stream (cudaStream_t,
     * cl_command_queue), which adds to `counts` there, and returns. */
    template <class... V> void add_on(void *stream, void *counts, const V &...views) const
    {
        tally_output output = TALLY_OUTPUT_INIT;
        output.counts = counts;
        output.on_device = 1;
        output.accumulate = TALLY_ACCUMULATE_ADD;
        tally_execute_options options = TALLY_EXECUTE_OPTIONS_INIT;
        options.stream = stream;
        execute({view(views)...}, output, options);
    }
    /* All that C can say. */
    void execute(std::initializer_list<view> views, const tally_output &output,
                 const tally_execute_options &options = TALLY_EXECUTE_OPTIONS_INIT) const
    {
        const std::uint32_t dimensions = tally_plan_options_get(get())->dimensions;
        if (views.size() != dimensions)
            throw error(TALLY_ERROR_ARGUMENT, "the plan has " + std::to_string(dimensions) +
                                                  " dimensions, and there are " +
                                                  std::to_string(views.size()) + " views");
        tally_view each[TALLY_MAX_DIMENSIONS];
        std::size_t d = 0;
        for (const view &one : views)
            each[d++] = one.get();
        tally_error said;
        detail::check(tally_execute(get(), each, &options, &output, &said), said);
    }

  private:
    struct destroy {
        context outlives; /* what was made from it */
        void operator()(tally_plan *c) const noexcept
        {
            tally_plan_destroy(c);
        }
    };
    static tally_plan_options options_of(const std::vector<dimension> &dimensions,
                                         tally_plan_options options)
    {
        if (dimensions.empty() || dimensions.size() > TALLY_MAX_DIMENSIONS)
            throw error(TALLY_ERROR_ARGUMENT, "a plan has one to eight dimensions, not " +
                                                  std::to_string(dimensions.size()));
        options.dimensions = static_cast<std::uint32_t>(dimensions.size());
        for (std::size_t d = 0; d < dimensions.size(); d++) {
            options.axes[d] = dimensions[d].axis.get();
            options.dtypes[d] = dimensions[d].dtype;
        }
        return options;
    }
    template <class T> bool holds() const noexcept
    {
        const tally_plan_options &options = *tally_plan_options_get(get());
        const bool weighted = options.weight_dtype != 0;
        if constexpr (std::is_same_v<T, tally_wide>)
            return weighted && options.weight_limit > 0;
        else if constexpr (std::is_same_v<T, double>)
            return weighted && options.weight_limit == 0 && options.weight_dtype >= TALLY_F16;
        else if constexpr (std::is_same_v<T, std::int64_t>)
            return weighted && options.weight_dtype < TALLY_F16;
        else if constexpr (std::is_same_v<T, std::uint64_t>)
            return !weighted && options.counter == TALLY_COUNTER_U64;
        else if constexpr (std::is_same_v<T, std::uint32_t>)
            return !weighted && options.counter == TALLY_COUNTER_U32;
        else if constexpr (std::is_same_v<T, std::uint16_t>)
            return !weighted && options.counter == TALLY_COUNTER_U16SAT;
        else
            return std::is_same_v<T, std::uint8_t> && !weighted &&
                   options.counter == TALLY_COUNTER_U8SAT;
    }
    template <class T>
    counted<T> fresh(const view *weights, std::initializer_list<view> views) const
    {
        const std::uint64_t batches = views.size() ? views.begin()->get().batches : 1;
        const auto histograms = static_cast<std::size_t>(batches * tally_plan_channels(get()));
        counted<T> made;
        if (histograms > made.counts.max_size() / bins())
            throw error(TALLY_ERROR_MEMORY, "the counts are more than any memory holds");
        made.flows.resize(histograms);
        made.counts.resize(histograms * static_cast<std::size_t>(bins()));
        into(made, TALLY_ACCUMULATE_NONE, weights, views);
        return made;
    }
    template <class T>
    void into(counted<T> &to, tally_accumulate accumulate, const view *weights,
              std::initializer_list<view> views) const
    {
        if (!holds<T>())
            throw error(TALLY_ERROR_ARGUMENT,
                        "the plan's counts have another type than this call asks for");
        const std::uint64_t batches = views.size() ? views.begin()->get().batches : 1;
        const std::uint64_t histograms = batches * tally_plan_channels(get());
        if (to.flows.size() != histograms || to.counts.size() != histograms * bins())
            throw error(TALLY_ERROR_ARGUMENT, "the counts are those of another plan or view");
        tally_output output = TALLY_OUTPUT_INIT;
        output.counts = to.counts.data();
        output.flows = to.flows.data();
        output.accumulate = accumulate;
        tally_execute_options options = TALLY_EXECUTE_OPTIONS_INIT;
        options.weights = weights ? &weights->get() : nullptr;
        execute(views, output, options);
    }
    std::unique_ptr<tally_plan, destroy> c_;
};

/* Counts samples in host memory on the processor, with no context and plan to be made: flows has
 * one element. */
inline counted<std::uint64_t> histogram(const view &samples, const axis &bins)
{
    const tally_view &v = samples.get();
    if (v.device > TALLY_DEVICE_CPU || v.batches != 1 || v.rows != 1 || v.channels != 1 ||
        v.column_stride_bytes != 0 || v.source)
        throw error(
            TALLY_ERROR_ARGUMENT,
            "tally::histogram takes packed samples of one channel in host memory; others take a "
            "plan");
    const tally_axis c = bins.get();
    counted<std::uint64_t> made;
    tally_error said;
    made.flows.resize(1);
    made.counts.resize(static_cast<std::size_t>(c.bins));
    detail::check(tally_histogram(v.data, v.dtype, v.columns, &c, made.counts.data(),
                                  made.flows.data(), &said),
                  said);
    return made;
}

/* Quantiles q of each batch and channel of samples in host memory, as tally_quantiles has them. */
inline std::vector<double> quantiles(const view &samples, const std::vector<double> &q,
                                     const context *threads = nullptr)
{
    const tally_view &v = samples.get();
    std::vector<double> found(static_cast<std::size_t>(v.batches * v.channels) * q.size());
    tally_error said;
    detail::check(tally_quantiles(threads ? threads->get() : nullptr, &v, q.data(),
                                  static_cast<std::uint32_t>(q.size()), nullptr, found.data(),
                                  &said),
                  said);
    return found;
}

} // namespace tally

#endif
