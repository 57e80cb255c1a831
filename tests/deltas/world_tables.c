/* SPDX-License-Identifier: Apache-2.0 */

/* What nodes, pods and gangs can be like. */
#include "world_tables.h"

#include "base/macros.h"

#define GIB (INT64_C(1) << 30)
#define GPUS(n) ((n) * GPU_ONE)

const struct node_shape node_shapes[] = {
    {"cpu", {{"cpu", 16000}, {"memory", 64 * GIB}, {"pods", 110}}, 0, false, MIG_NONE, 0},
    {"small", {{"cpu", 4000}, {"memory", 16 * GIB}, {"pods", 8}}, 0, false, MIG_NONE, 0},
    {"gpu1",
     {{"cpu", 8000}, {"memory", 32 * GIB}, {"nvidia.com/gpu", GPUS(1)}, {"pods", 110}},
     16000,
     false,
     MIG_NONE,
     0},
    {"gpu2",
     {{"cpu", 16000}, {"memory", 64 * GIB}, {"nvidia.com/gpu", GPUS(2)}, {"pods", 110}},
     40000,
     false,
     MIG_NONE,
     0},
    {"gpu4",
     {{"cpu", 32000}, {"memory", 128 * GIB}, {"nvidia.com/gpu", GPUS(4)}, {"pods", 110}},
     80000,
     false,
     MIG_NONE,
     0},
    {"gpu8",
     {{"cpu", 64000}, {"memory", 256 * GIB}, {"nvidia.com/gpu", GPUS(8)}, {"pods", 110}},
     80000,
     false,
     MIG_NONE,
     0},
    {"amd4", {{"cpu", 16000}, {"memory", 64 * GIB}, {"amd.com/gpu", GPUS(4)}, {"pods", 110}}, 0, false, MIG_NONE, 0},
    {"odd3",
     {{"cpu", 6000}, {"memory", 24 * GIB}, {"nvidia.com/gpu", GPUS(3)}, {"pods", 10}},
     15360,
     false,
     MIG_NONE,
     0},
    {"mig",
     {{"cpu", 32000}, {"memory", 64 * GIB}, {"nvidia.com/mig-1g.5gb", 6}, {"nvidia.com/mig-3g.20gb", 2}, {"pods", 110}},
     40000,
     true,
     MIG_MIXED,
     THEME_MIG},
    {"mig-single",
     {{"cpu", 32000}, {"memory", 64 * GIB}, {"nvidia.com/gpu", GPUS(7)}, {"pods", 110}},
     40000,
     true,
     MIG_SINGLE,
     THEME_MIG},
    {"dra", {{"cpu", 16000}, {"memory", 64 * GIB}, {"pods", 110}}, 40000, false, MIG_NONE, THEME_CLAIMS},
    {"nic",
     {{"cpu", 16000}, {"memory", 64 * GIB}, {"nvidia.com/gpu", GPUS(2)}, {"example.com/nic", 3000}, {"pods", 110}},
     40000,
     false,
     MIG_NONE,
     0},
};
const uint32_t node_shape_count = ARRAY_LEN(node_shapes);

#define SMALL             \
    {                     \
        {"cpu", 1000},    \
        {                 \
            "memory", GIB \
        }                 \
    }
#define TINY {{"cpu", 100}}

const struct request_shape request_shapes[] = {
    {"cpu-1", REQUEST_REGULAR, 0, 0, 0, 0, 0, 0, SMALL, 6, 0},
    {"cpu-4", REQUEST_REGULAR, 0, 0, 0, 0, 0, 0, {{"cpu", 4000}, {"memory", 8 * GIB}}, 3, 0},
    {"cpu-sure", REQUEST_REGULAR, QOS_GUARANTEED, 0, 0, 0, 0, 0, {{"cpu", 3000}, {"memory", 4 * GIB}}, 2, 0},
    {"nothing", REQUEST_REGULAR, QOS_BEST_EFFORT, 0, 0, 0, 0, 0, {{0}}, 1, 0},
    {"gpu-1", REQUEST_REGULAR, QOS_BURSTABLE, 0, 1, 0, 0, 0, SMALL, 10, 0},
    {"gpu-2", REQUEST_REGULAR, 0, 0, 2, 0, 0, 0, SMALL, 6, 0},
    {"gpu-4", REQUEST_REGULAR, 0, 0, 4, 0, 0, 0, SMALL, 3, 0},
    {"gpu-8", REQUEST_REGULAR, 0, 0, 8, 0, 0, 0, TINY, 1, 0},
    {"gpu-1-sure", REQUEST_REGULAR, QOS_GUARANTEED, 0, 1, 0, 0, 0, {{"cpu", 2000}, {"memory", 2 * GIB}}, 4, 0},
    {"gpu-2-sure", REQUEST_REGULAR, QOS_GUARANTEED, 0, 2, 0, 0, 0, {{"cpu", 5000}, {"memory", 2 * GIB}}, 2, 0},
    {"half", REQUEST_FRACTION, 0, 0, 0, 1, 0.5, 0, TINY, 8, THEME_SHARED},
    {"quarter", REQUEST_FRACTION, 0, 0, 0, 1, 0.25, 0, TINY, 4, THEME_SHARED},
    {"third", REQUEST_FRACTION, 0, 0, 0, 1, 0.333, 0, SMALL, 3, THEME_SHARED},
    {"most", REQUEST_FRACTION, 0, 0, 0, 1, 0.9, 0, TINY, 4, THEME_SHARED},
    {"whole-fraction", REQUEST_FRACTION, 0, 0, 0, 1, 1.0, 0, TINY, 2, THEME_SHARED},
    {"two-halves", REQUEST_FRACTION, 0, 0, 0, 2, 0.5, 0, SMALL, 3, THEME_SHARED},
    {"three-parts", REQUEST_FRACTION, 0, 0, 0, 3, 0.4, 0, TINY, 2, THEME_SHARED},
    {"4000-mib", REQUEST_GPU_MEMORY, 0, 0, 0, 1, 0, 4000, TINY, 4, THEME_MEMORY},
    {"12000-mib", REQUEST_GPU_MEMORY, 0, 0, 0, 1, 0, 12000, SMALL, 3, THEME_MEMORY},
    {"50000-mib", REQUEST_GPU_MEMORY, 0, 0, 0, 1, 0, 50000, TINY, 1, THEME_MEMORY},
    {"two-7000-mib", REQUEST_GPU_MEMORY, 0, 0, 0, 2, 0, 7000, TINY, 2, THEME_MEMORY},
    {"mig-1", REQUEST_MIG, 0, 0, 0, 0, 0, 0, {{"cpu", 500}, {"nvidia.com/mig-1g.5gb", 1}}, 3, THEME_MIG},
    {"mig-1x2", REQUEST_MIG, 0, 0, 0, 0, 0, 0, {{"cpu", 500}, {"nvidia.com/mig-1g.5gb", 2}}, 1, THEME_MIG},
    {"mig-3", REQUEST_MIG, 0, 0, 0, 0, 0, 0, {{"cpu", 500}, {"nvidia.com/mig-3g.20gb", 1}}, 2, THEME_MIG},
    {"mig-old", REQUEST_MIG, 0, true, 0, 0, 0, 0, {{"cpu", 500}, {"nvidia.com/mig-1g.5gb", 1}}, 1, THEME_MIG},
    {"nic", REQUEST_REGULAR, 0, 0, 1, 0, 0, 0, {{"cpu", 500}, {"example.com/nic", 1000}}, 2, 0},
};
const uint32_t request_shape_count = ARRAY_LEN(request_shapes);

#define GROUP(name_, parent_, min_) {.name = name_, .parent = parent_, .min = min_}
#define SET(name_, parent_) {.name = name_, .parent = parent_, .is_pod_set = true}

const struct tree_shape tree_shapes[] = {
    {2, {GROUP("", -1, -1), SET("default", 0)}},
    {3, {GROUP("", -1, -1), SET("leader", 0), SET("workers", 0)}},
    {3, {GROUP("", -1, 1), SET("default", 0), SET("extra", 0)}},
    {7,
     {GROUP("", -1, -1), GROUP("a", 0, -1), SET("a0", 1), SET("a1", 1), GROUP("b", 0, 1), SET("b0", 4), SET("b1", 4)}},
    {4, {GROUP("", -1, 2), SET("s0", 0), SET("s1", 0), SET("s2", 0)}},
    {4, {GROUP("", -1, -1), GROUP("inner", 0, 0), SET("default", 1), SET("last", 0)}},
};
const uint32_t tree_shape_count = ARRAY_LEN(tree_shapes);

uint32_t tree_pod_set(uint32_t tree, uint32_t set)
{
    const struct tree_shape *shape = &tree_shapes[tree];

    for (uint32_t g = 0; g < shape->count; g++)
        if (shape->groups[g].is_pod_set && set-- == 0)
            return g;
    return NOWHERE;
}

const struct place_shape place_shapes[] = {
    {0, {NULL, NULL, NULL}},        {0, {"tree", "zone", NULL}},   {0, {"tree", "rack", NULL}},
    {0, {"tree", NULL, "rack"}},    {0, {"tree", "zone", "rack"}}, {0, {"tree", "block", "host"}},
    {1, {"tree", "rack", NULL}},    {2, {"tree", "host", NULL}},   {1, {"racks", NULL, "rack"}},
    {0, {"racks", "rack", "rack"}}, {0, {"tree", "row", NULL}},    {0, {"nothing", "rack", NULL}},
};
const uint32_t place_shape_count = ARRAY_LEN(place_shapes);

uint32_t gang_constrained_group(const struct world_gang *gang)
{
    return MIN(place_shapes[gang->place].group, tree_shapes[gang->tree].count - 1);
}

const char *app_text(uint32_t app)
{
    static const char *const texts[] = {NULL, "a", "b", "c"};

    return texts[app % ARRAY_LEN(texts)];
}

const char *zone_text(uint32_t zone)
{
    static const char *const texts[] = {NULL, "east", "west", "north"};

    return texts[zone % ARRAY_LEN(texts)];
}

const char *rack_text(uint32_t rack)
{
    static const char *const texts[] = {NULL, "r1", "r2", "r3", "r4"};

    return texts[rack % ARRAY_LEN(texts)];
}

const char *pool_text(uint32_t pool)
{
    static const char *const texts[] = {NULL, "blue", "green"};

    return texts[pool % ARRAY_LEN(texts)];
}

const struct taint_row taint_rows[] = {
    {0, {{0}}},
    {1, {{"dedicated", "team", TAINT_NO_SCHEDULE}}},
    {1, {{"flaky", "", TAINT_PREFER_NO_SCHEDULE}}},
    {2, {{"dedicated", "team", TAINT_NO_SCHEDULE}, {"drain", "", TAINT_NO_EXECUTE}}},
};
const uint32_t taint_row_count = ARRAY_LEN(taint_rows);

const struct numa_row numa_rows[] = {
    {0, NUMA_NONE, false, false},       {2, NUMA_SINGLE_NODE, false, true}, {2, NUMA_RESTRICTED, true, true},
    {2, NUMA_BEST_EFFORT, false, true}, {4, NUMA_RESTRICTED, false, true},  {2, NUMA_SINGLE_NODE, true, true},
    {2, NUMA_NONE, false, true},
};
const uint32_t numa_row_count = ARRAY_LEN(numa_rows);
