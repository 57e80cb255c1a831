/* SPDX-License-Identifier: Apache-2.0 */
#include "model/test/helper.h"

#include "base/intern.h"

static void dimensions_are_found_by_name_and_any_gpu_is_one(void **unused)
{
    struct intern names;
    struct resources res;
    uint32_t dim;

    (void)unused;
    intern_init(&names);
    resources_init(&res, &names);
    assert_true(resources_find(&res, &names, "memory", &dim));
    assert_int_equal(dim, RES_MEMORY);
    assert_true(resources_find(&res, &names, "amd.com/gpu", &dim));
    assert_int_equal(dim, RES_GPU);
    assert_false(resources_find(&res, &names, "example.com/disk", &dim));
    assert_int_equal(resources_add(&res, &names, "example.com/disk", &dim, NULL), 0);
    assert_int_equal(dim, RES_FIXED);
    assert_int_equal(resources_add(&res, &names, "example.com/disk", &dim, NULL), 0);
    assert_int_equal(dim, RES_FIXED);
    assert_int_equal(res.count, RES_FIXED + 1);
    intern_done(&names);
}

static void slices_of_mig_count_by_their_size(void **unused)
{
    static const struct {
        const char *name;
        int32_t slices;
        int32_t gigabytes;
    } cases[] = {
        {"nvidia.com/mig-1g.5gb", 1, 5},     {"nvidia.com/mig-3g.20gb", 3, 20}, {"nvidia.com/mig-1g.5gb.me", 0, 0},
        {"nvidia.com/mig-g.5gb", 0, 0},      {"nvidia.com/mig-1g5gb", 0, 0},    {"nvidia.com/mig-1g.gb", 0, 0},
        {"nvidia.com/mig-12345g.5gb", 0, 0}, {"example.com/mig-1g.5gb", 0, 0},
    };
    struct intern names;
    struct resources res;
    int64_t v[RES_MAX] = {0};

    (void)unused;
    intern_init(&names);
    resources_init(&res, &names);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint32_t dim;

        assert_int_equal(resources_add(&res, &names, cases[i].name, &dim, NULL), 0);
        assert_int_equal(res.mig_slices[dim], cases[i].slices);
        assert_int_equal(res.mig_gigabytes[dim], cases[i].gigabytes);
        v[dim] = 2;
    }
    v[RES_GPU] = GPU_ONE / 2;
    assert_int_equal(resources_total_gpu(&res, v), GPU_ONE / 2 + 2 * GPU_ONE + 6 * GPU_ONE);
    intern_done(&names);
}

static void a_cluster_with_too_many_kinds_of_resources_is_refused(void **unused)
{
    struct state *state = state_new();
    struct err err = {0};
    int r = 0;

    (void)unused;
    put_node(state, "n", 1, 0);
    for (int i = 0; i < RES_MAX && r == 0; i++) {
        char name[32];
        struct amount_spec amount = {name, 1};
        struct node_spec spec = {.name = "n", .allocatable = &amount, .allocatable_count = 1, .device_count = -1};

        (void)snprintf(name, sizeof name, "example.com/r%d", i);
        r = state_put_node(state, &spec, &err);
        state_settle(state);
    }
    assert_int_equal(r, -ENOSPC);
    assert_string_equal(err.text, "node 'n': resource 'example.com/r60': more than 64 kinds of resources");
    state_free(state);
}

static void whole_devices_are_counted_downwards(void **unused)
{
    (void)unused;
    assert_int_equal(gpu_floor(GPU_ONE * 3 / 2), 1);
    assert_int_equal(gpu_floor(-GPU_ONE / 2), -1);
    assert_int_equal(gpu_floor(-GPU_ONE), -1);
    assert_true(share_to_double(SHARE_GPU, GPU_ONE / 2) == 0.5);
    assert_true(share_to_double(SHARE_CPU, 1500) == 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dimensions_are_found_by_name_and_any_gpu_is_one),
        cmocka_unit_test(slices_of_mig_count_by_their_size),
        cmocka_unit_test(a_cluster_with_too_many_kinds_of_resources_is_refused),
        cmocka_unit_test(whole_devices_are_counted_downwards),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
