/* SPDX-License-Identifier: Apache-2.0 */
/* A user's program in C++: what tally/tally.hpp wraps, by the installed header and library. */
#include <array>
#include <cstdio>
#include <cstdlib>
#include <tally/tally.hpp>
#include <type_traits>

#if __cplusplus >= 202002L
#include <span>
#endif

namespace
{

void expect(bool right, const char *what)
{
    if (!right) {
        std::fprintf(stderr, "%s\n", what);
        std::exit(1);
    }
}

/* `call` throws tally::error of that status, whose text has `word`. */
template <class F> void refused(tally_status status, const char *word, F &&call)
{
    try {
        call();
    } catch (const std::runtime_error &said) {
        const auto *own = dynamic_cast<const tally::error *>(&said);
        expect(own && own->status() == status, "another status");
        expect(std::string(said.what()).find(word) != std::string::npos, said.what());
        return;
    }
    expect(false, word);
}

using numbers = std::vector<std::uint64_t>;

void plain()
{
    std::vector<float> samples{0, 0.5f, 1, 1.5f, 2.25f, 3, 3.5f, 4, 5, -1, -2};
    auto h = tally::histogram(samples, tally::axis::even(4, 0, 4));
    expect(h.counts == numbers{2, 2, 1, 3}, "even bins");
    expect(h.flows[0].over == 1 && h.flows[0].under == 2, "flows");
    const std::int16_t row[] = {3, 5, 5, 6};
    expect(tally::histogram(row, tally::axis::integer(3, 4)).counts == numbers{0, 2, 1},
           "an array");
    expect(tally::histogram({row, 2}, tally::axis::integer(3, 4)).counts == numbers{0, 1, 0},
           "a pointer");
    expect(tally::histogram(std::string("ACCA"), tally::axis::integer(2, 'A')).counts ==
               numbers{2, 0},
           "a string");
    const std::array<std::byte, 3> bytes{std::byte{'c'}, std::byte{'a'}, std::byte{'x'}};
    expect(tally::histogram(bytes, tally::axis::letters("abcd", 2)).counts == numbers{1, 1},
           "letters");
    auto uneven = tally::axis::uneven({0, 1, 10, 100});
    const auto copy = uneven;
    uneven = tally::axis::log(2, 1, 100);
    expect(copy.edges() == std::vector<double>{0, 1, 10, 100} && uneven.bins() == 2, "a copy");
    expect(tally::histogram(samples, copy).counts == numbers{2, 7 - 0, 0}, "uneven bins");
    auto open = tally::axis::even(4, 0, 4).open().outside(TALLY_FLOW_CLAMP, TALLY_FLOW_FAIL);
    refused(TALLY_ERROR_DATA, "4", [&] { tally::histogram(samples, open); });
#if __cplusplus >= 202002L
    expect(tally::histogram(std::span(samples).first(2), copy).counts == numbers{2, 0, 0}, "span");
    expect(std::span<const std::uint64_t>(h.histogram(0)).size() == 4, "to std::span");
#endif
    expect(tally::quantiles(samples, {0, 0.5}) == std::vector<double>{-2, 1.5}, "quantiles");
}

void planned()
{
    tally::context processor(TALLY_DEVICE_CPU);
    expect(processor.device().device == TALLY_DEVICE_CPU, "the device");
    const std::vector<float> x{0.1f, 0.6f, 0.7f, 0.2f, 1.5f}, weights{1, 2, 0.5f, 4, 8};
    const std::vector<std::int16_t> y{0, 1, 1, 2, 0};
    const std::vector<tally::dimension> axes{{tally::axis::even(2, 0, 1), TALLY_F32},
                                             {tally::axis::integer(3, 0), TALLY_I16}};
    tally::plan plan(processor, axes);
    auto counts = plan.count(x, y);
    expect(counts.counts == numbers{1, 0, 1, 0, 2, 0} && counts.flows[0].over == 1, "two axes");
    plan.add(counts, x, y);
    expect(counts.histogram(0)[4] == 4 && counts.flows[0].over == 2, "added");

    tally_plan_options rest = TALLY_PLAN_OPTIONS_INIT;
    rest.weight_dtype = TALLY_F32;
    tally::plan weighted(processor, axes, rest);
    expect(weighted.sum(weights, x, y).counts == std::vector<double>{1, 0, 4, 0, 2.5, 0},
           "weights");
    refused(TALLY_ERROR_ARGUMENT, "another type", [&] { weighted.count(x, y); });
    refused(TALLY_ERROR_ARGUMENT, "another type", [&] { plan.count<std::uint32_t>(x, y); });
    refused(TALLY_ERROR_ARGUMENT, "2 dimensions", [&] { plan.count(x); });
    refused(TALLY_ERROR_ARGUMENT, "", [&] { plan.count(y, x); });

    rest = TALLY_PLAN_OPTIONS_INIT;
    rest.channels = 3;
    rest.counter = TALLY_COUNTER_U32;
    const std::array<unsigned char, 6> pixels{0, 1, 1, 1, 1, 0};
    tally::plan colours(processor, {{tally::axis::integer(2, 0), TALLY_U8}}, rest);
    const auto three = colours.count<std::uint32_t>(tally::view::image(pixels.data(), 1, 2, 3));
    expect(three.flows.size() == 3 && three.histogram(1)[0] == 0 && three.histogram(1)[1] == 2,
           "channels");

    /* What a plan needs of its context stays; the older plan goes before its own. */
    plan = tally::plan(tally::context(TALLY_DEVICE_CPU), axes);
    processor = tally::context(TALLY_DEVICE_CPU);
    expect(plan.count(x, y).counts == numbers{1, 0, 1, 0, 2, 0}, "a plan that was moved");
    expect(plan.bins() == 6 && *plan.method() && *plan.describe(), "what it says");
}

void refusals()
{
    refused(TALLY_ERROR_ARGUMENT, "",
            [] { tally::histogram(numbers{1}, tally::axis::even(0, 0, 1)); });
    refused(TALLY_ERROR_ARGUMENT, "two edges", [] { tally::axis::uneven({1}); });
    refused(TALLY_ERROR_ARGUMENT, "letters", [] { tally::axis::letters("aa"); });
    refused(TALLY_ERROR_ARGUMENT, "host memory", [] {
        tally::histogram(tally::view(numbers{1}).on(TALLY_DEVICE_CUDA), tally::axis::integer(1, 0));
    });
    tally::context processor(TALLY_DEVICE_CPU);
    tally::plan plan(processor, {{tally::axis::integer(2, 0), TALLY_U64}});
    int stream = 0;
    numbers counts(2);
    refused(TALLY_ERROR_ARGUMENT, "stream", [&] {
        plan.add_on(&stream, counts.data(), numbers{0, 1});
    });
    tally::memory kept(processor, numbers{0, 1, 1});
    tally::memory moved = std::move(kept);
    expect(plan.count(tally::view(moved.get(), TALLY_U64, 3)).counts == numbers{1, 2}, "memory");
    moved = tally::memory(processor, numbers{});
    expect(plan.count(tally::view(moved.get(), TALLY_U64, 0)).counts == numbers{0, 0}, "none");
    tally::counted<std::uint64_t> other{{0}, {{}}};
    refused(TALLY_ERROR_ARGUMENT, "another plan", [&] { plan.add(other, numbers{0}); });
}

} // namespace

static_assert(!std::is_convertible_v<std::vector<bool>, tally::view>, "bits are no samples");
static_assert(!std::is_copy_constructible_v<tally::plan>, "a plan has one owner");
static_assert(!std::is_copy_constructible_v<tally::memory>, "memory has one owner");

int main()
{
    try {
        plain();
        planned();
        refusals();
    } catch (const std::exception &said) {
        std::fprintf(stderr, "%s\n", said.what());
        return 1;
    }
    std::printf("tally %s\n", tally_version());
    return 0;
}
