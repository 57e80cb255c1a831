/* SPDX-License-Identifier: Apache-2.0 */

/* What has to be there before a pod can start: volume claims, config maps, resource claims. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "objects/decode/pod_internal.h"
#include "objects/keys.h"
#include "objects/kinds.h"
#include "objects/notes.h"

struct names {
    VEC(const char *) list;
};

static void add_name(struct names *names, const char *name)
{
    vec_foreach (&names->list, known) {
        if (strcmp(*known, name) == 0)
            return;
    }
    vec_push(&names->list, name);
}

static const char *const *keep_names(struct arena *arena, struct names *names, size_t *ret_count)
{
    const char **kept = arena_calloc(arena, names->list.len, sizeof *kept);

    if (names->list.len)
        memcpy(kept, names->list.items, names->list.len * sizeof *kept);
    *ret_count = names->list.len;
    vec_done(&names->list);
    return kept;
}

/* The claims behind the volumes; an ephemeral volume's claim is called after pod and volume. */
static void volume_claims(struct object_reader *reader, const struct object *object, const struct pod_json *json,
                          struct names *names)
{
    for (struct json_at item = {0}; json_next(&json->volumes, &item);) {
        struct json_at claim = json_member(&item, "persistentVolumeClaim");
        struct json_at ephemeral = json_member(&item, "ephemeral");
        const char *claim_name = json_peek_str(&claim, "claimName");
        const char *volume = json_peek_str(&item, "name");

        if (claim_name)
            add_name(names, claim_name);
        else if (ephemeral.val && volume && reader->options->is_whole)
            add_name(names, arena_printf(&reader->scratch, "%s-%s", object->name, volume));
    }
}

/* Config maps are needed unless they are optional, or are made for the pod when its shared GPU is bound. */
struct config_maps {
    const char *made_prefix;  // NULL: none are made
    struct names names;
};

static void need_config_map(struct config_maps *maps, const struct json_at *source)
{
    const char *name = json_peek_str(source, "name");

    if (!name || !*name || yyjson_get_bool(yyjson_obj_get(source->val, "optional")))
        return;
    if (maps->made_prefix && *maps->made_prefix && strncmp(name, maps->made_prefix, strlen(maps->made_prefix)) == 0)
        return;
    add_name(&maps->names, name);
}

static bool is_mounted(const struct json_at *containers, const char *volume)
{
    for (struct json_at item = {0}; json_next(containers, &item);) {
        struct json_at mounts = json_member(&item, "volumeMounts");

        for (struct json_at mount = {0}; json_next(&mounts, &mount);) {
            const char *name = json_peek_str(&mount, "name");
            if (name && strcmp(name, volume) == 0)
                return true;
        }
    }
    return false;
}

static void config_maps_of_volumes(const struct pod_json *json, struct config_maps *maps)
{
    for (struct json_at item = {0}; json_next(&json->volumes, &item);) {
        struct json_at map = json_member(&item, "configMap");
        struct json_at projected = json_member(&item, "projected");
        struct json_at sources = json_member(&projected, "sources");
        const char *volume = json_peek_str(&item, "name");

        if (!volume || (!is_mounted(&json->containers, volume) && !is_mounted(&json->init_containers, volume)))
            continue;
        need_config_map(maps, &map);
        for (struct json_at source = {0}; json_next(&sources, &source);) {
            struct json_at projected_map = json_member(&source, "configMap");
            need_config_map(maps, &projected_map);
        }
    }
}

static void config_maps_of_containers(const struct json_at *containers, struct config_maps *maps)
{
    for (struct json_at item = {0}; json_next(containers, &item);) {
        struct json_at variables = json_member(&item, "env");
        struct json_at sources = json_member(&item, "envFrom");

        for (struct json_at variable = {0}; json_next(&variables, &variable);) {
            struct json_at from = json_member(&variable, "valueFrom");
            struct json_at map = json_member(&from, "configMapKeyRef");
            need_config_map(maps, &map);
        }
        for (struct json_at source = {0}; json_next(&sources, &source);) {
            struct json_at map = json_member(&source, "configMapRef");
            need_config_map(maps, &map);
        }
    }
}

int pod_volumes_decode(struct object_reader *reader, const struct object *object, const struct pod_json *json,
                       struct constraints_spec *spec, struct err *err)
{
    struct names claims = {0};
    struct config_maps maps = {.made_prefix = json_peek_str(&json->annotations, KEY_SHARED_GPU_CONFIG)};

    (void)err;
    if (reader->knows_volume_claims)
        volume_claims(reader, object, json, &claims);
    if (reader->knows_config_maps) {
        config_maps_of_volumes(json, &maps);
        config_maps_of_containers(&json->containers, &maps);
        config_maps_of_containers(&json->init_containers, &maps);
    }
    spec->volume_claims = keep_names(&reader->scratch, &claims, &spec->volume_claim_count);
    spec->config_maps = keep_names(&reader->scratch, &maps.names, &spec->config_map_count);
    return 0;
}

/* What the claim made from a template is called: as the pod's status says, or as its controller would call it. */
static const char *claim_of_template(struct object_reader *reader, const struct object *object,
                                     const struct pod_json *json, const char *reference, bool *ret_is_made)
{
    for (struct json_at item = {0}; json_next(&json->claim_statuses, &item);) {
        const char *name = json_peek_str(&item, "name");
        const char *claim = json_peek_str(&item, "resourceClaimName");

        if (name && claim && strcmp(name, reference) == 0) {
            *ret_is_made = true;
            return claim;
        }
    }
    *ret_is_made = false;
    return arena_printf(&reader->scratch, "%s-%s", object->name, reference);
}

static int template_claim_decode(struct object_reader *reader, const struct object *object, const struct pod_json *json,
                                 const char *reference, const char *template_name, const char **ret_claim,
                                 struct err *err)
{
    bool is_made = false;
    bool is_known = true;

    *ret_claim = claim_of_template(reader, object, json, reference, &is_made);
    if (is_made)
        return 0;
    TRY(claim_put_from_template(reader, object->namespace, template_name, *ret_claim, &is_known, err));
    if (!is_known)
        object_notes_warn(reader->notes, "Pod %s/%s: ResourceClaimTemplate %s does not exist; the pod waits for it",
                          object->namespace, object->name, template_name);
    return 0;
}

int pod_claims_decode(struct object_reader *reader, const struct object *object, const struct pod_json *json,
                      struct pod_spec *spec, struct err *err)
{
    struct pod_claim_spec *claims = arena_calloc(&reader->scratch, json_len(&json->claims), sizeof *claims);
    size_t count = 0;

    for (struct json_at item = {0}; json_next(&json->claims, &item);) {
        const char *reference = NULL;
        const char *name = NULL;
        const char *template_name = NULL;
        struct json_at source = json_member(&item, "source");
        const struct json_at *from = source.val ? &source : &item;  // v1alpha wrote a level more

        TRY(json_member_str(&item, "name", JSON_REQUIRED, &reference, err));
        TRY(json_member_str(from, "resourceClaimName", JSON_OPTIONAL, &name, err));
        TRY(json_member_str(from, "resourceClaimTemplateName", JSON_OPTIONAL, &template_name, err));
        if (!name && !template_name)
            return json_fail(&item, err, -EINVAL, "expected resourceClaimName or resourceClaimTemplateName");
        if (!name)
            TRY(template_claim_decode(reader, object, json, reference, template_name, &name, err));
        claims[count++] = (struct pod_claim_spec){name, template_name != NULL};
    }
    spec->claims = claims;
    spec->claim_count = count;
    spec->extended_claim = json_peek_str(&json->extended_claim, "resourceClaimName");
    return 0;
}

const char *pod_claim_called(struct object_reader *reader, const struct object *object, const struct pod_json *json,
                             const char *reference)
{
    for (struct json_at item = {0}; json_next(&json->claims, &item);) {
        const char *name = json_peek_str(&item, "name");
        const char *direct = json_peek_str(&item, "resourceClaimName");
        bool is_made = false;

        if (name && strcmp(name, reference) == 0)
            return direct ? direct : claim_of_template(reader, object, json, reference, &is_made);
    }
    return NULL;
}
