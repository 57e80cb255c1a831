/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/gpu/daemon_status.h"

#include <string.h>

#include "base/macros.h"

double gpu_number_of(yyjson_val *at, const char *key)
{
    return yyjson_get_num(yyjson_obj_get(at, key));
}

const char *gpu_text_of(yyjson_val *at, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(at, key));

    return text ? text : "";
}

bool gpu_is_state(yyjson_val *group, const char *state)
{
    return strcmp(gpu_text_of(group, "state"), state) == 0;
}

bool gpu_is_measured(yyjson_val *group)
{
    return strcmp(gpu_text_of(group, "mode"), "time") != 0;
}

bool gpu_is_waiting(yyjson_val *group)
{
    return gpu_is_state(group, "waiting") || gpu_number_of(group, "wantedBytes") > 0;
}

double gpu_memory_of(yyjson_val *at)
{
    return gpu_number_of(at, "usedBytes") + gpu_number_of(at, "contextBytes");
}

size_t gpu_index_of(yyjson_val *gpus, const char *uuid)
{
    yyjson_val *gpu;
    size_t i;
    size_t count;

    yyjson_arr_foreach(gpus, i, count, gpu)
    {
        if (strcmp(gpu_text_of(gpu, "uuid"), uuid) == 0)
            return i;
    }
    return count;
}

bool gpu_is_on(yyjson_val *group, yyjson_val *gpu)
{
    return strcmp(gpu_text_of(group, "gpu"), gpu_text_of(gpu, "uuid")) == 0;
}

double gpu_busy_of(yyjson_val *groups, yyjson_val *gpu)
{
    double sum = 0;
    yyjson_val *group;
    size_t i;
    size_t count;

    yyjson_arr_foreach(groups, i, count, group)
    {
        if (!gpu_is_on(group, gpu))
            continue;
        if (!gpu_is_measured(group))
            return -1;
        sum += gpu_number_of(group, "shareActual");
    }
    return MIN(sum, 1.0);
}

size_t gpu_count_waiting(yyjson_val *groups, yyjson_val *gpu)
{
    size_t found = 0;
    yyjson_val *group;
    size_t i;
    size_t count;

    yyjson_arr_foreach(groups, i, count, group)
    {
        found += (!gpu || gpu_is_on(group, gpu)) && gpu_is_waiting(group);
    }
    return found;
}
