/* SPDX-License-Identifier: Apache-2.0 */

/* Dynamic resource allocation in a scenario: device classes, slices of devices, and claims on them. */
#include <errno.h>
#include <string.h>

#include "model/state.h"
#include "sim/scenario/scenario_internal.h"

enum { DEVICES_MAX = 10000 };

static const char default_driver[] = "nvidia.com/gpu";

static int read_classes(struct scenario_reader *r, const struct json_at *dra, struct err *err)
{
    const char *const *classes;
    size_t count;
    int rc = scenario_strings(r, dra, "device_classes", &classes, &count, err);

    for (size_t i = 0; rc >= 0 && i < count; i++)
        state_put_device_class(r->state, &(struct device_class_spec){.name = classes[i]});
    arena_clear(&r->scratch);
    return rc;
}

static int read_slice(struct scenario_reader *r, const struct json_at *item, struct err *err)
{
    struct slice_spec slice = {.driver = default_driver};
    int64_t count = 0;
    int rc;

    if ((rc = json_object(item, err)) < 0 || (rc = scenario_name(item, "name", &slice.name, err)) < 0 ||
        (rc = json_member_str(item, "driver", JSON_OPTIONAL, &slice.driver, err)) < 0 ||
        (rc = json_member_str(item, "device_class", JSON_OPTIONAL, &slice.device_class, err)) < 0 ||
        (rc = json_member_str(item, "node", JSON_OPTIONAL, &slice.node, err)) < 0 ||
        (rc = json_member_bool(item, "all_nodes", JSON_OPTIONAL, &slice.is_for_all_nodes, err)) < 0 ||
        (rc = json_member_int64(item, "device_count", JSON_REQUIRED, 0, DEVICES_MAX, &count, err)) < 0)
        return rc;
    if ((rc = scenario_take_name(r, NAME_SLICE, item, NULL, slice.name, err)) < 0)
        return rc;
    if (*slice.driver == '\0')
        slice.driver = default_driver;
    slice.pool = slice.node ? slice.node : "";
    if (slice.is_for_all_nodes)
        slice.node = NULL;
    slice.device_count = (size_t)count;
    return scenario_wrap(item, state_put_slice(r->state, &slice, err), err);
}

static int read_devices(struct scenario_reader *r, const struct json_at *status, struct claim_spec *claim,
                        struct err *err)
{
    struct json_at array;
    struct device_spec *devices;
    int rc = json_member_array(status, "allocated_devices", JSON_OPTIONAL, &array, err);

    if (rc <= 0)
        return rc;
    claim->is_allocated = true;
    devices = arena_calloc(&r->scratch, yyjson_arr_size(array.val), sizeof *devices);
    for (struct json_at item = {0}; json_next(&array, &item);) {
        struct device_spec *device = &devices[claim->device_count++];

        if ((rc = json_object(&item, err)) < 0 || (rc = scenario_name(&item, "driver", &device->driver, err)) < 0 ||
            (rc = json_member_str(&item, "pool", JSON_REQUIRED, &device->pool, err)) < 0 ||
            (rc = scenario_name(&item, "device", &device->device, err)) < 0)
            return rc;
    }
    claim->devices = devices;
    return 0;
}

static int read_reserved(struct scenario_reader *r, const struct json_at *status, struct claim_spec *claim,
                         struct err *err)
{
    struct json_at array;
    const char **uids;
    int rc = json_member_array(status, "reserved_for", JSON_OPTIONAL, &array, err);

    if (rc <= 0)
        return rc;
    uids = arena_calloc(&r->scratch, yyjson_arr_size(array.val), sizeof *uids);
    for (struct json_at item = {0}; json_next(&array, &item);) {
        const char *name;
        const char *uid = "";

        if ((rc = json_object(&item, err)) < 0 || (rc = json_member_str(&item, "uid", JSON_OPTIONAL, &uid, err)) < 0 ||
            (rc = json_member_str(&item, "name", JSON_OPTIONAL, &name, err)) < 0)
            return rc;
        if (*uid == '\0' && (rc = scenario_name(&item, "name", &uid, err)) < 0)
            return rc;
        uids[claim->reserved_count++] = uid;
    }
    claim->reserved_for = uids;
    return 0;
}

static int read_claim(struct scenario_reader *r, const struct json_at *item, struct err *err)
{
    struct claim_spec claim = {.count = 1};
    struct json_at status;
    struct str_pair *labels;
    int rc;

    if ((rc = json_object(item, err)) < 0 || (rc = scenario_name(item, "name", &claim.name, err)) < 0 ||
        (rc = json_member_str(item, "namespace", JSON_OPTIONAL, &claim.namespace, err)) < 0 ||
        (rc = scenario_take_name(r, NAME_CLAIM, item, claim.namespace, claim.name, err)) < 0 ||
        (rc = json_member_str(item, "device_class", JSON_REQUIRED, &claim.device_class, err)) < 0 ||
        (rc = json_member_int64(item, "count", JSON_OPTIONAL, 0, INT64_MAX, &claim.count, err)) < 0 ||
        (rc = scenario_pairs(r, item, "labels", 0, &labels, &claim.label_count, err)) < 0 ||
        (rc = json_member_object(item, "status", JSON_OPTIONAL, &status, err)) < 0 ||
        (rc = read_devices(r, &status, &claim, err)) < 0 || (rc = read_reserved(r, &status, &claim, err)) < 0)
        return rc;
    claim.labels = labels;
    if (claim.count == 0)
        claim.count = 1;
    return scenario_wrap(item, state_put_claim(r->state, &claim, err), err);
}

int scenario_read_dra(struct scenario_reader *r, const struct json_at *topology, struct err *err)
{
    struct json_at dra;
    struct json_at array;
    int rc = json_member_object(topology, "dra", JSON_OPTIONAL, &dra, err);

    if (rc <= 0 || (rc = read_classes(r, &dra, err)) < 0 ||
        (rc = json_member_array(&dra, "resource_slices", JSON_OPTIONAL, &array, err)) < 0)
        return rc;
    for (struct json_at item = {0}; json_next(&array, &item);) {
        if ((rc = read_slice(r, &item, err)) < 0)
            return rc;
    }
    rc = json_member_array(&dra, "resource_claims", JSON_OPTIONAL, &array, err);
    for (struct json_at item = {0}; rc >= 0 && json_next(&array, &item);) {
        rc = read_claim(r, &item, err);
        arena_clear(&r->scratch);
    }
    return rc < 0 ? rc : 0;
}
