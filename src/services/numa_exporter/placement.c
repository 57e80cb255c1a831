/* SPDX-License-Identifier: Apache-2.0 */

/* From what the kubelet says of containers to what the scheduler reads of pods. */
#include "services/numa_exporter/placement.h"

#include <errno.h>
#include <pod_resources.pb-c.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "services/numa_exporter/cpu_zones.h"
#include "text/json.h"
#include "text/quantity.h"

/* A message of a few bytes becomes a struct of a hundred: an answer of the greatest size that is meant to do harm must not take
 * the memory of the node. */
enum { DECODED_BYTES_MAX = 64 << 20, ZONE_TEXT_MAX = 32 };

struct amount {
    int32_t zone;
    const char *resource;  // of the message
    int64_t count;
};
struct amounts VEC_OF(struct amount);

static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static bool is_same(const struct amount *a, const struct amount *b)
{
    return a->zone == b->zone && strcmp(a->resource, b->resource) == 0;
}

/* What comes one after the other is added up at once: a container may have hundreds of CPUs. */
static void add(struct amounts *amounts, int32_t zone, const char *resource, uint64_t count)
{
    int64_t more = count < INT64_MAX ? (int64_t)count : INT64_MAX;
    struct amount one = {zone, resource, more};

    if (zone < 0 || one.count == 0)
        return;
    if (amounts->len && is_same(&vec_last(amounts), &one))
        vec_last(amounts).count = plus(vec_last(amounts).count, one.count);
    else
        vec_push(amounts, one);
}

/* The one zone of a topology, or -1. */
static int32_t zone_of(const Kubelet__Topology *topology)
{
    int64_t id = topology && topology->n_nodes == 1 ? topology->nodes[0]->id : -1;

    return id >= 0 && id < CPU_ZONES_ZONES_MAX ? (int32_t)id : -1;
}

static void add_container(struct amounts *amounts, const Kubelet__Container *container, const struct cpu_zones *zones)
{
    for (size_t i = 0; i < container->n_devices; i++) {
        const Kubelet__Devices *devices = container->devices[i];

        if (*devices->resource_name)
            add(amounts, zone_of(devices->topology), devices->resource_name, devices->n_device_ids);
    }
    for (size_t i = 0; i < container->n_cpu_ids; i++)
        add(amounts, cpu_zones_find(zones, container->cpu_ids[i]), "cpu", 1);
    for (size_t i = 0; i < container->n_memory; i++) {
        const Kubelet__Memory *memory = container->memory[i];

        add(amounts, zone_of(memory->topology), *memory->memory_type ? memory->memory_type : "memory", memory->size);
    }
}

static const char *zone_text(int32_t zone, char text[static ZONE_TEXT_MAX])
{
    (void)snprintf(text, ZONE_TEXT_MAX, "node-%d", zone);
    return text;
}

static int compare(const void *left, const void *right)
{
    const struct amount *a = left;
    const struct amount *b = right;
    char texts[2][ZONE_TEXT_MAX];

    if (a->zone != b->zone)
        return strcmp(zone_text(a->zone, texts[0]), zone_text(b->zone, texts[1]));
    return strcmp(a->resource, b->resource);
}

/* In the order in which they are written, one for each resource of a zone. */
static void settle(struct amounts *amounts)
{
    uint32_t kept = 0;

    qsort(amounts->items, amounts->len, sizeof *amounts->items, compare);
    for (uint32_t i = 1; i < amounts->len; i++) {
        struct amount *last = &amounts->items[kept];

        if (is_same(last, &amounts->items[i]))
            last->count = plus(last->count, amounts->items[i].count);
        else
            amounts->items[++kept] = amounts->items[i];
    }
    amounts->len = kept + 1;
}

/* To be freed. */
static char *write_amounts(const struct amounts *amounts)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    yyjson_mut_val *held = NULL;
    int32_t zone = -1;

    yyjson_mut_doc_set_root(doc, list);
    vec_foreach (amounts, one) {
        char zone_name[ZONE_TEXT_MAX];
        char text[QUANTITY_EXACT_TEXT_MAX];

        if (one->zone != zone) {
            yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);

            zone = one->zone;
            (void)yyjson_mut_obj_add_strcpy(doc, item, "zone", zone_text(zone, zone_name));
            held = yyjson_mut_obj_add_obj(doc, item, "amount");
        }
        struct quantity quantity = {.nano = one->count * QUANTITY_NANO_PER_ONE};
        (void)yyjson_mut_obj_add_strcpy(doc, held, one->resource, quantity_format_exact(&quantity, text));
    }
    char *text = yyjson_mut_write(doc, 0, NULL);
    yyjson_mut_doc_free(doc);
    return text;
}

/* NULL when nothing of the pod is in a zone. */
static char *placement_of(const Kubelet__Pod *pod, const struct cpu_zones *zones)
{
    struct amounts amounts = {0};
    char *text = NULL;

    for (size_t i = 0; i < pod->n_containers; i++)
        add_container(&amounts, pod->containers[i], zones);
    if (amounts.len) {
        settle(&amounts);
        text = write_amounts(&amounts);
    }
    vec_done(&amounts);
    return text;
}

/* The memory of a decoder. What it gives back is not counted again: it decodes once. */
static void *budget_alloc(void *arg, size_t size)
{
    size_t *left = arg;

    if (size > *left)
        return NULL;
    *left -= size;
    return malloc(size);
}

static void budget_free(void *arg, void *memory)
{
    (void)arg;
    free(memory);
}

int placed_pods_decode(const char *bytes, size_t len, const struct cpu_zones *zones, struct placed_pods *ret_pods,
                       struct err *err)
{
    size_t left = DECODED_BYTES_MAX;
    ProtobufCAllocator allocator = {.alloc = budget_alloc, .free = budget_free, .allocator_data = &left};
    Kubelet__PodList *list = kubelet__pod_list__unpack(&allocator, len, (const uint8_t *)bytes);

    if (!list)
        return err_set(err, -EBADMSG, "the kubelet's answer is not a list of pods and their resources");
    for (size_t i = 0; i < list->n_pods; i++) {
        const Kubelet__Pod *pod = list->pods[i];
        char *placement = *pod->namespace_ && *pod->name ? placement_of(pod, zones) : NULL;

        if (placement)
            vec_push(ret_pods, (struct placed_pod){xstrdup(pod->namespace_), xstrdup(pod->name), placement});
    }
    kubelet__pod_list__free_unpacked(list, &allocator);
    return 0;
}

void placed_pods_done(struct placed_pods *pods)
{
    vec_foreach (pods, pod) {
        free(pod->namespace);
        free(pod->name);
        free(pod->placement);
    }
    vec_done(pods);
}
