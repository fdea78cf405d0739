/* SPDX-License-Identifier: Apache-2.0 */
// Boost.Histogram: fill over a span, axes without flow bins (its fastest), 64-bit counters.
#include <array>
#include <boost/histogram.hpp>
#include <boost/version.hpp>
#include <new>
#include <vector>

#include "peer.h"

namespace bh = boost::histogram;

namespace
{

// What fill() takes: something with begin, end, data and size.
template <class T> struct samples {
    const T *from;
    size_t count;
    const T *begin() const
    {
        return from;
    }
    const T *end() const
    {
        return from + count;
    }
    const T *data() const
    {
        return from;
    }
    size_t size() const
    {
        return count;
    }
};

using none = bh::axis::option::none_t;
using even = bh::axis::regular<double, bh::use_default, bh::use_default, none>;
using uneven = bh::axis::variable<double, bh::use_default, none>;
using whole = bh::axis::integer<int, bh::use_default, none>;
using table = bh::dense_storage<uint64_t>;
using sums = bh::dense_storage<double>;

struct counter {
    virtual ~counter() = default;
    virtual void count() = 0;
    virtual void counts(double *to) const = 0;
};

template <class H, class Fill> struct filled : counter {
    H histogram;
    Fill fill;
    filled(H h, Fill f) : histogram(std::move(h)), fill(f)
    {
    }
    void count() override
    {
        histogram.reset();
        fill(histogram);
    }
    void counts(double *to) const override
    {
        // Boost's first axis varies fastest; ours the last.
        const auto &axis = histogram.axis(0);
        const int rows = axis.size();
        const int columns = (int)histogram.size() / rows;
        int i = 0;
        for (const auto &cell : histogram) {
            to[(size_t)(i % rows) * columns + i / rows] = (double)cell;
            i++;
        }
    }
};

template <class H, class Fill> counter *make(H histogram, Fill fill)
{
    return new filled<H, Fill>(std::move(histogram), fill);
}

template <class T> counter *make_typed(const bench_problem &p)
{
    const samples<T> x{static_cast<const T *>(p.x), p.n}, y{static_cast<const T *>(p.y), p.n};
    const samples<double> w{p.weights, p.n};
    const even axis((unsigned)p.bins, p.lo, p.hi);
    const auto one = [x](auto &h) { h.fill(x); };
    switch (p.kind) {
    case BENCH_EVEN:
        return make(bh::make_histogram_with(table(), axis), one);
    case BENCH_EDGES:
        return make(bh::make_histogram_with(table(), uneven(p.edges, p.edges + p.bins + 1)), one);
    case BENCH_EVEN_2D:
        return make(bh::make_histogram_with(table(), axis, axis), [x, y](auto &h) {
            h.fill(std::array<samples<T>, 2>{x, y});
        });
    case BENCH_WEIGHTS:
        return make(bh::make_histogram_with(sums(), axis),
                    [x, w](auto &h) { h.fill(x, bh::weight(w)); });
    }
    return nullptr;
}

counter *make_bytes(const bench_problem &p)
{
    const samples<uint8_t> x{static_cast<const uint8_t *>(p.x), p.n};
    return make(bh::make_histogram_with(table(), whole(0, 256)), [x](auto &h) { h.fill(x); });
}

const char *start(const bench_problem *p, void **made)
{
    if (p->dtype == BENCH_U8 && (p->kind != BENCH_EVEN || p->bins != 256))
        return "bytes in 256 bins only, here";
    try {
        *made = p->dtype == BENCH_U8    ? make_bytes(*p)
                : p->dtype == BENCH_F32 ? make_typed<float>(*p)
                                        : make_typed<double>(*p);
        return nullptr;
    } catch (const std::exception &) {
        return "refused by the library";
    }
}

int count(void *user)
{
    try {
        static_cast<counter *>(user)->count();
    } catch (const std::exception &) {
        return 1;
    }
    return 0;
}

void counts(void *user, double *to)
{
    static_cast<const counter *>(user)->counts(to);
}

void end(void *user)
{
    delete static_cast<counter *>(user);
}

const bench_peer peers[] = {{"boost", "histogram", BOOST_LIB_VERSION, start, count, counts, end}};

} // namespace

extern "C" __attribute__((visibility("default"))) const bench_peer *
tally_bench_peers(size_t *count_of)
{
    *count_of = sizeof peers / sizeof *peers;
    return peers;
}
