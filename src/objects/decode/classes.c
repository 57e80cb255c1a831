/* SPDX-License-Identifier: Apache-2.0 */

/* The small kinds that others name: priority classes, topologies, config maps. */
#include <errno.h>

#include "base/err.h"
#include "model/topology.h"
#include "objects/decode/decode.h"

int priority_class_decode(struct object_reader *reader, const struct object *object, struct err *err)
{
    int64_t value = 0;
    bool is_default = false;

    TRY(json_member_int64(&object->root, "value", JSON_OPTIONAL, INT32_MIN, INT32_MAX, &value, err));
    TRY(json_member_bool(&object->root, "globalDefault", JSON_OPTIONAL, &is_default, err));
    return state_put_priority_class(reader->state, object->name, (int32_t)value, is_default, err);
}

/* KAI's and Kueue's: the same but for aliases, which only KAI has. */
int topology_decode(struct object_reader *reader, const struct object *object, struct err *err)
{
    struct str_pair pairs[TOPOLOGY_LEVELS_MAX] = {0};
    struct topology_spec spec = {.name = object->name, .levels = pairs};
    struct json_at in;
    struct json_at levels;

    TRY(json_member_object(&object->root, "spec", JSON_REQUIRED, &in, err));
    TRY(json_member_array(&in, "levels", JSON_REQUIRED, &levels, err));
    if (json_len(&levels) == 0 || json_len(&levels) > TOPOLOGY_LEVELS_MAX)
        return json_fail(&levels, err, -EINVAL, "expected 1 to %d levels, found %zu", TOPOLOGY_LEVELS_MAX,
                         json_len(&levels));
    for (struct json_at item = {0}; json_next(&levels, &item); spec.level_count++) {
        TRY(json_member_str(&item, "nodeLabel", JSON_REQUIRED, &pairs[spec.level_count].key, err));
        TRY(json_member_str(&item, "alias", JSON_OPTIONAL, &pairs[spec.level_count].value, err));
    }
    return state_put_topology(reader->state, &spec, err);
}

int config_map_decode(struct object_reader *reader, const struct object *object, struct err *err)
{
    (void)err;
    state_put_config_map(reader->state, object->namespace, object->name);
    return 0;
}
