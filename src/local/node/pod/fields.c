/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/pod/fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "local/node/machine.h"
#include "text/quantity.h"

struct map_entry {
    const char *key, *value;
};

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const struct map_entry *)a)->key, ((const struct map_entry *)b)->key);
}

/* A whole map, a line each: key="value", with the value quoted as Go does. */
static void add_map(struct strbuf *to, yyjson_val *map)
{
    VEC(struct map_entry) entries = {0};
    size_t i, max;
    yyjson_val *key, *value;

    yyjson_obj_foreach(map, i, max, key, value)
    {
        const char *text = yyjson_get_str(value);

        vec_push(&entries, (struct map_entry){yyjson_get_str(key), text ? text : ""});
    }
    if (entries.len > 0)
        qsort(entries.items, entries.len, sizeof *entries.items, compare_entries);
    vec_foreach (&entries, entry) {
        strbuf_addf(to, "%s%s=\"", entry == entries.items ? "" : "\n", entry->key);
        for (const char *at = entry->value; *at; at++) {
            if (*at == '"' || *at == '\\')
                strbuf_addf(to, "\\%c", *at);
            else if (*at == '\n')
                strbuf_addstr(to, "\\n");
            else if (*at == '\t')
                strbuf_addstr(to, "\\t");
            else
                strbuf_addch(to, *at);
        }
        strbuf_addch(to, '"');
    }
    vec_done(&entries);
}

/* metadata.labels['key'] */
static bool add_member(struct strbuf *to, yyjson_val *pod, const char *path, const char *member)
{
    size_t head = strlen("metadata.") + strlen(member), len = strlen(path);

    if (strncmp(path + strlen("metadata."), member, strlen(member)) != 0 || strncmp(path + head, "['", 2) != 0 ||
        len < head + 4 || strcmp(path + len - 2, "']") != 0)
        return false;
    yyjson_val *value = yyjson_obj_getn(value_at(pod, "metadata", member), path + head + 2, len - head - 4);
    strbuf_addstr(to, yyjson_is_str(value) ? yyjson_get_str(value) : "");
    return true;
}

int field_add(struct strbuf *to, yyjson_val *pod, const char *path, const struct machine *machine, struct err *err)
{
    static const struct {
        const char *path, *first, *second;
    } plain[] = {
        {"metadata.name", "metadata", "name"},
        {"metadata.namespace", "metadata", "namespace"},
        {"metadata.uid", "metadata", "uid"},
        {"spec.nodeName", "spec", "nodeName"},
        {"spec.serviceAccountName", "spec", "serviceAccountName"},
    };
    static const char *const addresses[] = {"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"};

    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        if (strcmp(plain[i].path, path) == 0) {
            strbuf_addstr(to, kube_text(pod, plain[i].first, plain[i].second));
            return 0;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
        if (strcmp(addresses[i], path) == 0) {
            strbuf_addstr(to, machine->address);
            return 0;
        }
    }
    if (strcmp(path, "metadata.labels") == 0 || strcmp(path, "metadata.annotations") == 0) {
        add_map(to, value_at(pod, "metadata", path + strlen("metadata.")));
        return 0;
    }
    if (strncmp(path, "metadata.", strlen("metadata.")) == 0 &&
        (add_member(to, pod, path, "labels") || add_member(to, pod, path, "annotations")))
        return 0;
    return err_set(err, -EINVAL, "unsupported fieldPath: %s", path);
}

static yyjson_val *find_container(yyjson_val *pod, const char *name)
{
    static const char *const lists[] = {"containers", "initContainers"};

    for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
        size_t i, max;
        yyjson_val *container;

        yyjson_arr_foreach(value_at(pod, "spec", lists[k]), i, max, container)
        {
            if (strcmp(kube_text(container, "name"), name) == 0)
                return container;
        }
    }
    return NULL;
}

static quantity_nano of_machine(const struct machine *machine, const char *resource)
{
    if (strcmp(resource, "cpu") == 0)
        return (quantity_nano)(machine->cpus * 1000 - machine_reserved_milli_cpu(machine)) * 1000000;
    if (strcmp(resource, "memory") == 0)
        return (quantity_nano)(machine->memory_bytes - machine_reserved_bytes(machine)) * QUANTITY_NANO_PER_ONE;
    if (strcmp(resource, "ephemeral-storage") == 0)
        return (quantity_nano)machine->disk_bytes * QUANTITY_NANO_PER_ONE;
    return 0;
}

int resource_field_add(struct strbuf *to, yyjson_val *pod, yyjson_val *container, yyjson_val *ref,
                       const struct machine *machine, struct err *err)
{
    const char *name = kube_text(ref, "containerName"), *resource = kube_text(ref, "resource");
    const char *dot = strchr(resource, '.');
    struct quantity amount = {0}, divisor = {.nano = QUANTITY_NANO_PER_ONE};

    if (*name)
        container = find_container(pod, name);
    if (!container || !dot)
        return err_set(err, -EINVAL, "resourceFieldRef %s: no such container or resource", resource);
    bool is_limit = strncmp(resource, "limits.", strlen("limits.")) == 0;
    const char *text = kube_text(container, "resources", is_limit ? "limits" : "requests", dot + 1);
    if (*text) {
        int r = quantity_parse_exact(text, &amount, err);

        if (r < 0)
            return r;
    } else if (is_limit) {
        amount.nano = of_machine(machine, dot + 1);
    }
    const char *unit = kube_text(ref, "divisor");
    if (*unit && strcmp(unit, "0") != 0) {
        int r = quantity_parse_exact(unit, &divisor, err);

        if (r < 0)
            return r;
    }
    if (divisor.nano <= 0)
        return err_set(err, -EINVAL, "resourceFieldRef %s: divisor %s", resource, unit);
    strbuf_addf(to, "%lld", (long long)((amount.nano + divisor.nano - 1) / divisor.nano));
    return 0;
}
