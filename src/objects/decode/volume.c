/* SPDX-License-Identifier: Apache-2.0 */

/*
 * PersistentVolumeClaims, read together with the volume that they are bound to, or those that they may be bound to, and
 * their class.
 */
#include <string.h>

#include "base/arena.h"
#include "objects/decode/decode.h"
#include "objects/kinds.h"
#include "objects/selector.h"

#include "text/quantity.h"

#define NO_PROVISIONER "kubernetes.io/no-provisioner"
#define DEFAULT_CLASS_ANNOTATION "storageclass.kubernetes.io/is-default-class"
#define SELECTED_NODE_ANNOTATION "volume.kubernetes.io/selected-node"

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
static const struct object *class_of(const struct object_reader *reader, const char *name)
{
    const struct object_kind *kind = object_kind_of("storage.k8s.io", "StorageClass");

    return name ? object_set_find(reader->objects, kind, "", name) : default_class(reader->objects, kind);
}

static bool waits_for_consumer(const struct object_reader *reader, const struct object *class)
{
    const char *mode = class ? json_peek_str(&class->root, "volumeBindingMode") : NULL;

    /* A claim on a class that the input does not hold: nothing is known against it. */
    if (!class && !reader->options->is_whole)
        return true;
    return mode && strcmp(mode, "WaitForFirstConsumer") == 0;
}

/* Where the volume can be reached from; whether that is not from everywhere. */
static bool has_terms(const struct object *volume, struct json_at *ret_terms)
{
    struct json_at in = json_member(&volume->root, "spec");
    struct json_at affinity = json_member(&in, "nodeAffinity");
    struct json_at required = json_member(&affinity, "required");

    *ret_terms = json_member(&required, "nodeSelectorTerms");
    return required.val;
}

/* Where the claim's volume is, and who attaches it. */
static int own_volume_decode(struct object_reader *reader, const char *volume_name, struct volume_spec *spec,
                             struct err *err)
{
    const struct object *volume =
        object_set_find(reader->objects, object_kind_of("", "PersistentVolume"), "", volume_name);
    struct json_at terms;

    if (!volume)
        return 0;
    struct json_at in_volume = json_member(&volume->root, "spec");
    struct json_at csi = json_member(&in_volume, "csi");

    spec->driver = json_peek_str(&csi, "driver");
    spec->handle = json_peek_str(&csi, "volumeHandle");
    if (!has_terms(volume, &terms))
        return 0;
    int r = node_terms_decode(&reader->scratch, &terms, &spec->node_terms, &spec->node_term_count, err);
    return r < 0 ? object_wrap(volume, r, err) : 0;
}

/* 0 where the amount is not given or makes no sense: the binder looks again. */
static int64_t storage_of(struct json_at amounts)
{
    const char *text = json_peek_str(&amounts, "storage");
    int64_t value = 0;

    return text && quantity_parse(text, QUANTITY_ONE, &value, NULL) == 0 ? value : 0;
}

/* May the claim get this volume, as far as its class, its size and those who have it already are concerned? */
static bool is_candidate(const struct object *volume, const struct object *claim, const struct object *class)
{
    struct json_at in_volume = json_member(&volume->root, "spec");
    struct json_at in_claim = json_member(&claim->root, "spec");
    struct json_at resources = json_member(&in_claim, "resources");
    struct json_at holder = json_member(&in_volume, "claimRef");
    const char *class_name = json_peek_str(&in_volume, "storageClassName");
    const char *name = json_peek_str(&holder, "name");
    const char *namespace = json_peek_str(&holder, "namespace");

    if (volume->is_replaced || !class_name || strcmp(class_name, class->name) != 0 ||
        storage_of(json_member(&in_volume, "capacity")) < storage_of(json_member(&resources, "requests")))
        return false;
    return !holder.val ||
           (name && namespace && strcmp(name, claim->name) == 0 && strcmp(namespace, claim->namespace) == 0);
}

/*
 * A claim whose class makes no volumes can only have one that is there: the pod has to go where one of them can be
 * reached from, and waits while there is none.
 */
static int candidates_decode(struct object_reader *reader, const struct object *claim, const struct object *class,
                             struct volume_spec *spec, struct err *err)
{
    const struct object_kind *kind = object_kind_of("", "PersistentVolume");
    struct selector_spec *all;
    size_t count = 0;
    bool is_found = false;

    for (const struct object *one = object_set_first(reader->objects, kind); one; one = one->next) {
        struct json_at terms;

        if (!is_candidate(one, claim, class))
            continue;
        if (!has_terms(one, &terms))
            return 0;
        is_found = true;
        count += json_len(&terms) + 1;
    }
    all = arena_calloc(&reader->scratch, count + 1, sizeof *all);
    for (const struct object *one = object_set_first(reader->objects, kind); one; one = one->next) {
        const struct selector_spec *own = NULL;
        size_t own_count = 0;
        struct json_at terms;

        if (!is_candidate(one, claim, class))
            continue;
        (void)has_terms(one, &terms);
        int r = node_terms_decode(&reader->scratch, &terms, &own, &own_count, err);
        if (r < 0)
            return object_wrap(one, r, err);
        for (size_t i = 0; i < own_count; i++)
            all[spec->node_term_count++] = own[i];
    }
    /* An empty term, which no node matches, tells it from a claim that waits for nobody. */
    if (!is_found && reader->options->is_whole)
        spec->node_term_count = 1;
    spec->node_terms = all;
    spec->waits_for_consumer = is_found || !reader->options->is_whole;
    return 0;
}

/* allowedTopologies: one of the terms must match, by all of its labels. A term without any matches nothing. */
static int topologies_decode(struct object_reader *reader, const struct object *class, struct volume_spec *spec,
                             struct err *err)
{
    struct json_at terms = json_member(&class->root, "allowedTopologies");
    struct selector_spec *selectors = arena_calloc(&reader->scratch, json_len(&terms), sizeof *selectors);
    size_t count = 0;

    for (struct json_at term = {0}; json_next(&terms, &term);) {
        struct json_at labels = json_member(&term, "matchLabelExpressions");
        struct match_spec *matches = arena_calloc(&reader->scratch, json_len(&labels) + 1, sizeof *matches);
        size_t match_count = 0;

        for (struct json_at label = {0}; json_next(&labels, &label);) {
            struct match_spec *match = &matches[match_count++];
            struct json_at values = json_member(&label, "values");

            match->op = MATCH_IN;
            int r = json_member_str(&label, "key", JSON_REQUIRED, &match->key, err);
            if (r >= 0)
                r = strings_decode(&reader->scratch, &values, &match->values, &match->value_count, err);
            if (r < 0)
                return object_wrap(class, r, err);
        }
        if (match_count == 0)
            matches[match_count++] = (struct match_spec){.op = MATCH_IN, .key = ""};
        selectors[count++] = (struct selector_spec){matches, match_count};
    }
    spec->made_terms = selectors;
    spec->made_term_count = count;
    return 0;
}

/* Does the driver tell where it has room? */
static bool tells_room(const struct object_reader *reader, const char *driver)
{
    const struct object *object =
        object_set_find(reader->objects, object_kind_of("storage.k8s.io", "CSIDriver"), "", driver);
    struct json_at spec = {0};

    if (object)
        spec = json_member(&object->root, "spec");
    return spec.val && yyjson_get_bool(yyjson_obj_get(spec.val, "storageCapacity"));
}

/* A claim whose class makes a volume for it: for which nodes it does so. */
static int new_volume_decode(struct object_reader *reader, const struct object *claim, const struct object *class,
                             const char *provisioner, struct volume_spec *spec, struct err *err)
{
    struct json_at in_claim = json_member(&claim->root, "spec");
    struct json_at resources = json_member(&in_claim, "resources");

    spec->class = class->name;
    spec->driver = provisioner;
    spec->bytes = MAX(storage_of(json_member(&resources, "requests")), (int64_t)0);
    spec->made_for = object_annotation(claim, SELECTED_NODE_ANNOTATION);
    spec->needs_storage = tells_room(reader, provisioner);
    return topologies_decode(reader, class, spec, err);
}

/* Where a claim without a volume lets its pod go. */
static int open_claim_decode(struct object_reader *reader, const struct object *claim, const char *class_name,
                             struct volume_spec *spec, struct err *err)
{
    const struct object *class = class_of(reader, class_name);
    const char *provisioner = class ? json_peek_str(&class->root, "provisioner") : NULL;

    spec->waits_for_consumer = waits_for_consumer(reader, class);
    if (!spec->waits_for_consumer || !provisioner)
        return 0;
    if (strcmp(provisioner, NO_PROVISIONER) == 0)
        return candidates_decode(reader, claim, class, spec, err);
    return new_volume_decode(reader, claim, class, provisioner, spec, err);
}

static bool has_mode(const struct json_at *spec, const char *mode)
{
    struct json_at modes = json_member(spec, "accessModes");

    for (struct json_at item = {0}; json_next(&modes, &item);) {
        if (yyjson_equals_str(item.val, mode))
            return true;
    }
    return false;
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
    spec.is_for_one_pod = has_mode(&json.spec, "ReadWriteOncePod");
    if (spec.is_bound)
        TRY(own_volume_decode(reader, json.volume, &spec, err));
    else
        TRY(open_claim_decode(reader, object, json.class, &spec, err));
    return state_put_volume(reader->state, &spec, err);
}
