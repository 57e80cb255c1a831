/* SPDX-License-Identifier: Apache-2.0 */

/* What CSI drivers tell of themselves: how many volumes a node takes, and where there is room for new ones. */
#include "objects/decode/decode.h"
#include "objects/kinds.h"
#include "objects/selector.h"
#include "text/quantity.h"

int attach_limits_decode(struct object_reader *reader, const char *node, struct node_spec *spec, struct err *err)
{
    const struct object *object =
        object_set_find(reader->objects, object_kind_of("storage.k8s.io", "CSINode"), "", node);

    if (!object)
        return 0;
    struct json_at in_spec = json_member(&object->root, "spec");
    struct json_at drivers = json_member(&in_spec, "drivers");
    struct attach_limit_spec *limits = arena_calloc(&reader->scratch, json_len(&drivers), sizeof *limits);
    size_t count = 0;

    for (struct json_at item = {0}; json_next(&drivers, &item);) {
        struct json_at allocatable = json_member(&item, "allocatable");
        const char *name = NULL;
        int64_t most = json_peek_int(&allocatable, "count", -1);
        int r = json_member_str(&item, "name", JSON_REQUIRED, &name, err);

        if (r < 0)
            return object_wrap(object, r, err);
        /* Without a number the driver takes as many as there are. */
        if (most >= 0 && *name)
            limits[count++] = (struct attach_limit_spec){name, most};
    }
    spec->attach_limits = limits;
    spec->attach_limit_count = count;
    return 0;
}

struct capacity_json {
    const char *class;
    const char *capacity;
    const char *largest;
    struct json_at nodes;
};

int storage_capacity_decode(struct object_reader *reader, const struct object *object, struct err *err)
{
    static const struct field fields[] = {
        FIELD_NEEDED(capacity_json, class, "storageClassName", FIELD_STR),
        FIELD(capacity_json, capacity, "capacity", FIELD_STR),
        FIELD(capacity_json, largest, "maximumVolumeSize", FIELD_STR),
        FIELD(capacity_json, nodes, "nodeTopology", FIELD_OBJECT),
    };
    struct capacity_json json = {0};
    struct storage_spec spec = {.namespace = object->namespace, .name = object->name};

    TRY(FIELDS_DECODE(&object->root, fields, &json, err));
    TRY(label_selector_decode(&reader->scratch, &json.nodes, &spec.nodes, err));
    /* The size of the largest volume says more than what is free in all. */
    const char *bytes = json.largest ? json.largest : json.capacity;
    if (bytes)
        TRY(quantity_parse(bytes, QUANTITY_ONE, &spec.bytes, err));
    spec.class = json.class;
    return state_put_storage(reader->state, &spec, err);
}
