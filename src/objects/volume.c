/* SPDX-License-Identifier: Apache-2.0 */

/* PersistentVolumeClaims, read together with the volume that they are bound to and their class. */
#include <string.h>

#include "objects/decode_internal.h"
#include "objects/kinds.h"
#include "objects/selector.h"

#define DEFAULT_CLASS_ANNOTATION "storageclass.kubernetes.io/is-default-class"

struct volume_claim_json {
    struct json_at spec;
    struct json_at status;
    const char *volume;
    const char *class;
    const char *phase;
};

static const struct object *default_class(const struct object_set *objects, const struct object_kind *kind)
{
    for (const struct object *object = object_set_first(objects, kind); object; object = object->next) {
        const char *is_default = object_annotation(object, DEFAULT_CLASS_ANNOTATION);

        if (is_default && strcmp(is_default, "true") == 0 && !object->is_replaced)
            return object;
    }
    return NULL;
}

/* A claim that names no class gets the default one; "" asks for none. */
static bool waits_for_consumer(const struct object_reader *reader, const char *class_name)
{
    const struct object_kind *kind = object_kind_of("storage.k8s.io", "StorageClass");
    const struct object *class =
        class_name ? object_set_find(reader->objects, kind, "", class_name) : default_class(reader->objects, kind);
    const char *mode = class ? json_peek_str(&class->root, "volumeBindingMode") : NULL;

    /* A claim on a class that the input does not hold: nothing is known against it. */
    if (!class && !reader->options->is_whole)
        return true;
    return mode && strcmp(mode, "WaitForFirstConsumer") == 0;
}

/* Where the volume can be reached from. */
static int volume_terms(struct object_reader *reader, const char *volume_name, struct volume_spec *spec,
                        struct err *err)
{
    const struct object *volume =
        object_set_find(reader->objects, object_kind_of("", "PersistentVolume"), "", volume_name);

    if (!volume)
        return 0;

    struct json_at in = json_member(&volume->root, "spec");
    struct json_at affinity = json_member(&in, "nodeAffinity");
    struct json_at required = json_member(&affinity, "required");
    struct json_at terms = json_member(&required, "nodeSelectorTerms");
    if (!required.val)
        return 0;
    int r = node_terms_decode(&reader->scratch, &terms, &spec->node_terms, &spec->node_term_count, err);
    return r < 0 ? object_wrap(volume, r, err) : 0;
}

int volume_claim_decode(struct object_reader *reader, const struct object *object, struct err *err)
{
    static const struct field in_root[] = {
        FIELD(volume_claim_json, spec, "spec", FIELD_OBJECT),
        FIELD(volume_claim_json, status, "status", FIELD_OBJECT),
    };
    static const struct field in_spec[] = {
        FIELD(volume_claim_json, volume, "volumeName", FIELD_STR),
        FIELD(volume_claim_json, class, "storageClassName", FIELD_STR),
    };
    static const struct field in_status[] = {FIELD(volume_claim_json, phase, "phase", FIELD_STR)};
    struct volume_claim_json json = {.volume = "", .phase = ""};
    struct volume_spec spec = {.namespace = object->namespace, .name = object->name};
    struct json_at meta = json_member(&object->root, "metadata");

    TRY(FIELDS_DECODE(&object->root, in_root, &json, err));
    TRY(FIELDS_DECODE(&json.spec, in_spec, &json, err));
    TRY(FIELDS_DECODE(&json.status, in_status, &json, err));
    spec.is_lost = strcmp(json.phase, "Lost") == 0 || json_peek_str(&meta, "deletionTimestamp");
    spec.is_bound = *json.volume && strcmp(json.phase, "Pending") != 0;
    if (spec.is_bound)
        TRY(volume_terms(reader, json.volume, &spec, err));
    else
        spec.waits_for_consumer = waits_for_consumer(reader, json.class);
    return state_put_volume(reader->state, &spec, err);
}
