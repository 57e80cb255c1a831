/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/mig/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/mig/models.h"

enum { PROCESSORS = 7, ROW = 8 };

static struct mig_layout layout_of(const struct mig_profile *profiles, uint32_t count)
{
    struct mig_layout layout = {0};

    for (uint32_t i = 0; i < count; i++)
        mig_layout_add(&layout, &profiles[i]);
    return layout;
}

/* Half of the GPUs there are: small enough to try everything that can happen to it. */
static struct mig_layout small_gpu(void)
{
    static const struct mig_profile profiles[] = {
        {.id = 19, .slices = 1, .size = 1, .starts = 0xf, .most = 4, .name = "1g.6gb"},
        {.id = 14, .slices = 2, .size = 2, .starts = 0x5, .most = 2, .name = "2g.12gb"},
        {.id = 5, .slices = 4, .size = 4, .starts = 0x1, .most = 1, .name = "4g.24gb"},
    };

    return layout_of(profiles, ARRAY_LEN(profiles));
}

static bool begins_at(const struct mig_profile *profile, uint32_t start)
{
    return start + profile->size <= MIG_ROW_MAX && profile->starts >> start & 1;
}

/* The most instances that fit, by trying all ways. */
static uint32_t most_that_fit(const struct mig_profile *profile, uint32_t taken, uint32_t from)
{
    uint32_t best = 0;

    for (uint32_t start = from; start < MIG_ROW_MAX; start++) {
        if (!begins_at(profile, start) || (mig_mask(start, profile->size) & taken))
            continue;
        best = MAX(best, 1 + most_that_fit(profile, taken | mig_mask(start, profile->size), start + 1));
    }
    return MIN(best, profile->most);
}

/* Whether `taken` leaves strictly more room than `other`: the rule of layout.h, word by word. */
static bool leaves_more(const struct mig_layout *layout, uint32_t taken, uint32_t other)
{
    for (uint32_t i = 0; i < layout->count; i++) {
        uint32_t room = most_that_fit(&layout->profiles[i], taken, 0);
        uint32_t other_room = most_that_fit(&layout->profiles[i], other, 0);

        if (room != other_room)
            return room > other_room;
    }
    return false;
}

static void check_place(const struct mig_layout *layout, const struct mig_profile *profile, uint32_t kept,
                        uint32_t idle)
{
    int place = mig_layout_place(layout, profile, kept, idle);
    bool fits = false, fits_beside = false;
    uint32_t mask = place < 0 ? 0 : mig_mask((uint32_t)place, profile->size);

    for (uint32_t start = 0; start < MIG_ROW_MAX; start++) {
        uint32_t other = mig_mask(start, profile->size);

        if (!begins_at(profile, start) || (other & kept))
            continue;
        fits = true;
        fits_beside |= !(other & idle);
    }
    assert_int_equal(place >= 0, fits);
    if (place < 0)
        return;
    assert_true(begins_at(profile, (uint32_t)place));
    assert_int_equal(mask & kept, 0);
    assert_true(!(mask & idle) || !fits_beside);
    for (uint32_t start = 0; start < MIG_ROW_MAX; start++) {
        uint32_t other = mig_mask(start, profile->size);

        if (!begins_at(profile, start) || (other & kept) || (fits_beside && (other & idle)))
            continue;
        assert_false(leaves_more(layout, kept | other, kept | mask));
        if ((int)start < place)
            assert_true(leaves_more(layout, kept | mask, kept | other));
    }
}

/* Marks all sums of instances beside each other. */
static void mark_sums(const struct mig_layout *layout, uint32_t taken, bool sums[1 << ROW])
{
    if (sums[taken])
        return;
    sums[taken] = true;
    for (uint32_t i = 0; i < layout->count; i++) {
        for (uint32_t start = 0; start < ROW; start++) {
            uint32_t mask = mig_mask(start, layout->profiles[i].size);

            if (begins_at(&layout->profiles[i], start) && !(mask & taken))
                mark_sums(layout, taken | mask, sums);
        }
    }
}

static void check_all_states(const struct mig_layout *layout)
{
    bool sums[1 << ROW] = {false};

    mark_sums(layout, 0, sums);
    for (uint32_t kept = 0; kept < 1 << ROW; kept++) {
        for (uint32_t idle = 0; idle < 1 << ROW; idle++) {
            if (!sums[kept] || !sums[idle] || (kept & idle))
                continue;
            for (uint32_t i = 0; i < layout->count; i++)
                check_place(layout, &layout->profiles[i], kept, idle);
        }
    }
}

static void the_best_place_is_chosen_in_every_state(void **state)
{
    struct mig_layout small = small_gpu();

    (void)state;
    check_all_states(&small);
    for (uint32_t i = 0; i < mig_model_count; i++) {
        struct mig_layout layout = layout_of(mig_models[i].profiles, mig_models[i].profile_count);

        check_all_states(&layout);
    }
}

/* Whether the wanted instances fit beside what is taken, in whatever places. */
static bool can_fit(const struct mig_layout *layout, uint32_t counts[], uint32_t taken)
{
    bool is_empty = true;

    for (uint32_t i = 0; i < layout->count; i++) {
        if (counts[i] == 0)
            continue;
        is_empty = false;
        counts[i]--;
        for (uint32_t start = 0; start < ROW; start++) {
            uint32_t mask = mig_mask(start, layout->profiles[i].size);

            if (begins_at(&layout->profiles[i], start) && !(mask & taken) && can_fit(layout, counts, taken | mask)) {
                counts[i]++;
                return true;
            }
        }
        counts[i]++;
        return false;
    }
    return is_empty;
}

/* All orders in which the instances can be asked for. Returns how many of them the rule does not place. */
static uint32_t place_all_orders(const struct mig_layout *layout, uint32_t counts[], uint32_t taken)
{
    uint32_t failed = 0;

    for (uint32_t i = 0; i < layout->count; i++) {
        if (counts[i] == 0)
            continue;
        int place = mig_layout_place(layout, &layout->profiles[i], taken, 0);
        if (place < 0) {
            failed++;
            continue;
        }
        counts[i]--;
        failed += place_all_orders(layout, counts, taken | mig_mask((uint32_t)place, layout->profiles[i].size));
        counts[i]++;
    }
    return failed;
}

static uint32_t try_sets(const struct mig_layout *layout, uint32_t counts[], uint32_t at, uint32_t *tried)
{
    uint32_t failed = 0;

    if (at == layout->count) {
        if (!can_fit(layout, counts, 0))
            return 0;
        (*tried)++;
        return place_all_orders(layout, counts, 0);
    }
    for (counts[at] = 0; counts[at] <= layout->profiles[at].most; counts[at]++)
        failed += try_sets(layout, counts, at + 1, tried);
    counts[at] = 0;
    return failed;
}

/* On GPUs with eight slices no rule can do so that does not know what comes: room for 4g costs some for two of 3g. */
static void what_fits_on_a_small_gpu_is_placed_in_any_order(void **state)
{
    struct mig_layout layout = small_gpu();
    uint32_t counts[MIG_PROFILES_MAX] = {0}, tried = 0;

    (void)state;
    assert_int_equal(try_sets(&layout, counts, 0, &tried), 0);
    assert_int_equal(tried, 10);
}

/* Processors of all instances beside each other. */
static void check_processors(const struct mig_layout *layout, uint32_t taken, uint32_t processors)
{
    assert_true(processors <= PROCESSORS);
    for (uint32_t i = 0; i < layout->count; i++) {
        for (uint32_t start = 0; start < ROW; start++) {
            uint32_t mask = mig_mask(start, layout->profiles[i].size);

            /* In the order of their places, so that each set is met once. */
            if (begins_at(&layout->profiles[i], start) && mask > taken && !(mask & taken))
                check_processors(layout, taken | mask, processors + layout->profiles[i].slices);
        }
    }
}

static void memory_alone_says_what_fits(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < mig_model_count; i++) {
        struct mig_layout layout = layout_of(mig_models[i].profiles, mig_models[i].profile_count);

        assert_int_equal(layout.count, mig_models[i].profile_count);
        assert_int_equal(mig_models[i].row, ROW);
        check_processors(&layout, 0, 0);
        for (uint32_t j = 0; j < layout.count; j++) {
            uint32_t fitting = most_that_fit(&layout.profiles[j], 0, 0);

            assert_int_equal(fitting, layout.profiles[j].most);
            assert_true(j == 0 || layout.profiles[j].size <= layout.profiles[j - 1].size);
        }
    }
}

static void models_are_found_by_name_and_memory(void **state)
{
    const uint64_t gib = UINT64_C(1) << 30;

    (void)state;
    assert_string_equal(mig_model_profile(mig_model_find("NVIDIA A100-SXM4-40GB", 40 * gib), 19)->name, "1g.5gb");
    assert_string_equal(mig_model_profile(mig_model_find("NVIDIA A100-SXM4-80GB", 80 * gib), 19)->name, "1g.10gb");
    assert_string_equal(mig_model_profile(mig_model_find("NVIDIA H100 80GB HBM3", 79 * gib), 15)->name, "1g.20gb");
    assert_string_equal(mig_model_profile(mig_model_find("NVIDIA H100 NVL", 93 * gib), 9)->name, "3g.47gb");
    assert_string_equal(mig_model_profile(mig_model_find("NVIDIA H200", 140 * gib), 0)->name, "7g.141gb");
    assert_string_equal(mig_model_profile(mig_model_find("NVIDIA B200", 178 * gib), 20)->name, "1g.23gb+me");
    assert_null(mig_model_find("NVIDIA GB200", 184 * gib));
    assert_null(mig_model_find("Tesla T4", 15 * gib));
    assert_null(mig_model_profile(NULL, 19));
    assert_null(mig_model_profile(mig_model_find("NVIDIA H200", 140 * gib), 77));
}

static void profiles_that_make_no_sense_are_left_out(void **state)
{
    static const struct mig_profile bad[] = {
        {.id = 1, .size = 0, .starts = 1, .most = 1},  {.id = 2, .size = 33, .starts = 1, .most = 1},
        {.id = 3, .size = 1, .starts = 0, .most = 1},  {.id = 4, .size = 2, .starts = UINT32_C(1) << 31, .most = 1},
        {.id = 5, .size = 32, .starts = 3, .most = 1},
    };
    static const struct mig_profile edges[] = {
        {.id = 6, .size = 32, .starts = 1, .most = 1},
        {.id = 7, .size = 1, .starts = UINT32_C(1) << 31, .most = 1},
        {.id = 7, .size = 2, .starts = 1, .most = 1},
    };
    struct mig_layout layout = layout_of(bad, ARRAY_LEN(bad));

    (void)state;
    assert_int_equal(layout.count, 0);
    layout = layout_of(edges, ARRAY_LEN(edges));
    assert_int_equal(layout.count, 2);
    assert_int_equal(mig_layout_place(&layout, mig_layout_find(&layout, 7), 0x7fffffff, 0), 31);
    assert_int_equal(mig_layout_place(&layout, mig_layout_find(&layout, 6), 1, 0), -1);
    assert_int_equal(mig_layout_place(&layout, mig_layout_find(&layout, 6), 0, 1), 0);
    for (uint32_t i = 0; i < 2 * MIG_PROFILES_MAX; i++)
        mig_layout_add(&layout, &(struct mig_profile){.id = 100 + i, .size = 1, .starts = 1, .most = 1});
    assert_int_equal(layout.count, MIG_PROFILES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_place_is_chosen_in_every_state),
        cmocka_unit_test(what_fits_on_a_small_gpu_is_placed_in_any_order),
        cmocka_unit_test(memory_alone_says_what_fits),
        cmocka_unit_test(models_are_found_by_name_and_memory),
        cmocka_unit_test(profiles_that_make_no_sense_are_left_out),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
