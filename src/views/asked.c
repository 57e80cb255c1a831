/* SPDX-License-Identifier: Apache-2.0 */
#include "views/asked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "kube/client/meta.h"
#include "objects/fields.h"
#include "objects/keys.h"
#include "text/quantity.h"

/* No pod has that many; a larger number is a mistake, and sums stay far from overflow. */
enum { DEVICES_MAX = 1 << 20 };

#define AMOUNT_MAX (INT64_MAX >> 24)

static int64_t amount(yyjson_val *list, const char *name, enum quantity_unit unit)
{
    yyjson_val *found = yyjson_obj_get(list, name);
    char number[NUMBER_TEXT_MAX];
    const char *text = yyjson_is_num(found) ? number_format(found, number) : yyjson_get_str(found);
    int64_t value = 0;

    if (!text || quantity_parse(text, unit, &value, NULL) < 0)
        return 0;
    return MIN(value, AMOUNT_MAX);
}

/* Limits stand in for requests that are not given, as the API has it. */
static int64_t container_asks(yyjson_val *container, const char *name, enum quantity_unit unit)
{
    yyjson_val *resources = yyjson_obj_get(container, "resources");
    yyjson_val *requests = yyjson_obj_get(resources, "requests");

    return yyjson_obj_get(requests, name) ? amount(requests, name, unit)
                                          : amount(yyjson_obj_get(resources, "limits"), name, unit);
}

static void read_parts(struct asked *asked, yyjson_val *pod)
{
    const char *part = kube_text(pod, "metadata", "annotations", KEY_GPU_FRACTION);
    const char *memory = kube_text(pod, "metadata", "annotations", KEY_GPU_MEMORY);
    int64_t devices = 1;
    int64_t mib = 0;
    int64_t milli = 0;

    if (!int_parse(kube_text(pod, "metadata", "annotations", KEY_GPU_DEVICES), 1, DEVICES_MAX, &devices))
        devices = 1;
    if (*part && quantity_parse(part, QUANTITY_MILLI, &milli, NULL) == 0)
        asked->milli_gpus += MIN(milli, (int64_t)1000) * devices;
    else if (*memory && int_parse(memory, 1, INT64_C(1) << 32, &mib)) {
        asked->gpu_memory_mib = mib;
        asked->gpu_devices = devices;
    }
}

struct asked asked_read(yyjson_val *pod)
{
    yyjson_val *containers = yyjson_obj_get(yyjson_obj_get(pod, "spec"), "containers");
    struct asked asked = {0};
    yyjson_val *container;
    size_t i, count;

    yyjson_arr_foreach(containers, i, count, container)
    {
        asked.milli_gpus += container_asks(container, "nvidia.com/gpu", QUANTITY_MILLI);
        asked.milli_cpus += container_asks(container, "cpu", QUANTITY_MILLI);
        asked.memory_bytes += container_asks(container, "memory", QUANTITY_ONE);
    }
    read_parts(&asked, pod);
    return asked;
}

void asked_add(struct asked *sum, const struct asked *more, int64_t count)
{
    sum->milli_gpus += more->milli_gpus * count;
    sum->milli_cpus += more->milli_cpus * count;
    sum->memory_bytes += more->memory_bytes * count;
    if (more->gpu_memory_mib > 0) {
        sum->gpu_memory_mib = MAX(sum->gpu_memory_mib, more->gpu_memory_mib);
        sum->gpu_devices += more->gpu_devices * count;
    }
}

const char *asked_gpus_format(const struct asked *asked, char text[static ASKED_TEXT_MAX])
{
    char size[QUANTITY_TEXT_MAX];

    if (asked->milli_gpus > 0) {
        (void)snprintf(text, ASKED_TEXT_MAX, "%.10g", (double)asked->milli_gpus / 1000);
        return text;
    }
    if (asked->gpu_memory_mib == 0) {
        (void)snprintf(text, ASKED_TEXT_MAX, "-");
        return text;
    }
    (void)quantity_format(asked->gpu_memory_mib << 20, QUANTITY_ONE, size);
    if (asked->gpu_devices == 1)
        (void)snprintf(text, ASKED_TEXT_MAX, "%s", size);
    else
        (void)snprintf(text, ASKED_TEXT_MAX, "%lldx%s", (long long)asked->gpu_devices, size);
    return text;
}
