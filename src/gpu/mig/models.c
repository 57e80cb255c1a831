/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/mig/models.h"

#include <string.h>

/* Places on the eight slices of memory that all of them have; the seven slices of processors lie beside the first seven. */
enum {
    AT_ANY_OF_SEVEN = 0x7f,  // 0 to 6
    AT_EVEN = 0x55,          // 0, 2, 4, 6
    AT_EVEN_BELOW_6 = 0x15,  // 0, 2, 4
    AT_HALVES = 0x11,        // 0, 4
    AT_START = 0x01,
};

/* The same for each of these GPUs but for the names, which have the memory in them. 1g+me is 1g with the engines for media,
 * which there are once. */
#define PROFILES(g1, g1_more, g2, g3, g4, g7)                                                       \
    {                                                                                               \
        {.id = 0, .slices = 7, .size = 8, .starts = AT_START, .most = 1, .name = g7},               \
        {.id = 5, .slices = 4, .size = 4, .starts = AT_START, .most = 1, .name = g4},               \
        {.id = 9, .slices = 3, .size = 4, .starts = AT_HALVES, .most = 2, .name = g3},              \
        {.id = 14, .slices = 2, .size = 2, .starts = AT_EVEN_BELOW_6, .most = 3, .name = g2},       \
        {.id = 15, .slices = 1, .size = 2, .starts = AT_EVEN, .most = 4, .name = g1_more},          \
        {.id = 19, .slices = 1, .size = 1, .starts = AT_ANY_OF_SEVEN, .most = 7, .name = g1},       \
        {.id = 20, .slices = 1, .size = 1, .starts = AT_ANY_OF_SEVEN, .most = 1, .name = g1 "+me"}, \
    }

static const struct mig_profile a100_40[] = PROFILES("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb");
static const struct mig_profile of_80[] = PROFILES("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb");
static const struct mig_profile h100_94[] = PROFILES("1g.12gb", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb");
static const struct mig_profile h200[] = PROFILES("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb");
static const struct mig_profile b200[] = PROFILES("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb");

#define MODEL(name, memory_min, table) {name, memory_min, 8, table, ARRAY_LEN(table)}

/* Of those with one name, the one with most memory first. */
const struct mig_model mig_models[] = {
    MODEL("A100", 60, of_80), MODEL("A100", 0, a100_40), MODEL("H100", 88, h100_94),
    MODEL("H100", 60, of_80), MODEL("H200", 100, h200),  MODEL("B200", 150, b200),
};
const uint32_t mig_model_count = ARRAY_LEN(mig_models);

/* "B200" is a part of "GB200", which is cut otherwise. */
static bool is_named(const char *gpu_name, const char *name)
{
    const char *at = strstr(gpu_name, name);

    return at && (at == gpu_name || at[-1] == ' ');
}

const struct mig_model *mig_model_find(const char *gpu_name, uint64_t gpu_bytes)
{
    for (uint32_t i = 0; i < mig_model_count; i++) {
        if (is_named(gpu_name, mig_models[i].name) && gpu_bytes >> 30 >= mig_models[i].memory_min)
            return &mig_models[i];
    }
    return NULL;
}

const struct mig_profile *mig_model_profile(const struct mig_model *model, uint32_t id)
{
    for (uint32_t i = 0; model && i < model->profile_count; i++) {
        if (model->profiles[i].id == id)
            return &model->profiles[i];
    }
    return NULL;
}
