/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/spec.h"

#include <errno.h>
#include <string.h>

#include "console/assets/kinds.h"
#include "console/assets/rows.h"
#include "console/policies/policy.h"
#include "console/rest/context.h"
#include "console/workloads/imposed.h"
#include "console/workloads/kinds.h"
#include "console/workloads/make/inference.h"
#include "console/workloads/make/words.h"
#include "console/workloads/refusals.h"
#include "text/quantity.h"

/* --- members --- */

/* Those of the pods of a kind, as its policies know them. */
static const struct field *pod_fields_of(const struct workload_kind *kind)
{
    const struct policy_kind *policy = policy_kind_find(kind->type);

    BUG_ON(!policy);
    return kind->part ? asset_member_find(policy->fields, kind->part)->fields : policy->fields;
}

/* A member that is left out in silence would have no effect. */
static int check_known(const struct json_at *at, const struct field *fields, const struct field *more, struct err *err)
{
    int r = 0;

    for (struct json_at member = {0}; r == 0 && json_next(at, &member);) {
        const struct field *field = asset_member_find(fields, member.key);

        if (yyjson_is_null(member.val))
            continue;
        if (!field)
            field = asset_member_find(more, member.key);
        if (!field)
            return json_fail(&member, err, -ENOSYS, "it is not supported");
        if (field->type == FIELD_OBJECT) {
            r = check_known(&member, field->fields, NULL, err);
        } else if (field->type == FIELD_LIST && field->fields) {
            for (struct json_at item = {0}; r == 0 && json_next(&member, &item);)
                r = check_known(&item, field->fields, NULL, err);
        }
    }
    return r;
}

static int read_members(struct request *request, const struct json_at *at, const struct field *fields,
                        const struct field *more, yyjson_mut_val *spec, struct err *err)
{
    struct field_reading reading = {.doc = request->doc};
    int r;

    if ((r = check_known(at, fields, more, err)) < 0 || (r = asset_members_read(at, fields, &reading, spec, err)) < 0)
        return r;
    return asset_members_read(at, more, &reading, spec, err);
}

/* Instances with `exclude` were there to leave out those of the policy. */
static void drop_excluded(const struct field *fields, yyjson_mut_val *object)
{
    for (const struct field *field = fields; field->name; field++) {
        yyjson_mut_val *value = yyjson_mut_obj_get(object, field->name);
        yyjson_mut_val *item;
        yyjson_mut_arr_iter iter;

        if (value && field->type == FIELD_OBJECT)
            drop_excluded(field->fields, value);
        if (!value || field->type != FIELD_LIST || !field->fields)
            continue;
        yyjson_mut_arr_iter_init(value, &iter);
        while ((item = yyjson_mut_arr_iter_next(&iter))) {
            if (yyjson_mut_get_bool(yyjson_mut_obj_get(item, "exclude")))
                (void)yyjson_mut_arr_iter_remove(&iter);
            else
                (void)yyjson_mut_obj_remove_key(item, "exclude");
        }
    }
}

static const struct field no_more[] = {OBJECT("nodeAffinityRequired", affinity_fields), END};

/* --- the policy --- */

static const char *const policy_members[] = {"defaults", "rules"};

/* The part of an effective policy that is about the pods; all of it where policies have no parts. */
static yyjson_mut_val *part_of(struct request *request, const char *part, yyjson_mut_val *effective)
{
    yyjson_mut_val *to = yyjson_mut_obj(request->doc);

    if (!part)
        return effective;
    for (size_t i = 0; i < ARRAY_LEN(policy_members); i++) {
        yyjson_mut_val *whole = yyjson_mut_obj_get(effective, policy_members[i]);
        yyjson_mut_val *own = yyjson_mut_obj_get(whole, part);

        (void)yyjson_mut_obj_add_val(request->doc, to, policy_members[i],
                                     own ? yyjson_mut_val_mut_copy(request->doc, own) : yyjson_mut_obj(request->doc));
    }
    return to;
}

static int check_policy(struct request *request, const struct field *fields, yyjson_mut_val *effective,
                        yyjson_val *given, struct err *err)
{
    yyjson_mut_val *reasons = yyjson_mut_arr(request->doc);

    policy_check(fields, request->doc, effective, given, reasons);
    yyjson_mut_val *first = yyjson_mut_arr_get_first(reasons);
    if (!first)
        return 0;
    const char *scope = yyjson_mut_get_str(yyjson_mut_ptr_get(first, "/sourceOfRule/scope"));
    return err_set(err, -EINVAL, "the policy of the %s does not allow this: spec.%s: %s", scope ? scope : "scope",
                   yyjson_mut_get_str(yyjson_mut_obj_get(first, "field")),
                   yyjson_mut_get_str(yyjson_mut_obj_get(first, "details")));
}

/* --- what belongs together --- */

static int64_t bytes_of(yyjson_val *object, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, key));
    int64_t bytes = 0;

    return text && quantity_parse(text, QUANTITY_ONE, &bytes, NULL) == 0 ? bytes : 0;
}

static int check_limits(yyjson_val *compute, struct err *err)
{
    yyjson_val *cores = yyjson_obj_get(compute, "cpuCoreLimit");
    int64_t limit = bytes_of(compute, "cpuMemoryLimit");

    if (cores && yyjson_get_num(cores) < yyjson_get_num(yyjson_obj_get(compute, "cpuCoreRequest")))
        return err_set(err, -EINVAL, "spec.compute.cpuCoreLimit: it is less than cpuCoreRequest");
    if (limit > 0 && limit < bytes_of(compute, "cpuMemoryRequest"))
        return err_set(err, -EINVAL, "spec.compute.cpuMemoryLimit: it is less than cpuMemoryRequest");
    return 0;
}

int spec_gpus(yyjson_val *compute, struct gpu_ask *ret_ask, struct err *err)
{
    const char *type = yyjson_get_str(yyjson_obj_get(compute, "gpuRequestType"));
    yyjson_val *devices = yyjson_obj_get(compute, "gpuDevicesRequest");
    yyjson_val *portion = yyjson_obj_get(compute, "gpuPortionRequest");
    int64_t memory = bytes_of(compute, "gpuMemoryRequest");
    bool is_memory = type ? strcmp(type, "memory") == 0 : memory > 0;
    struct gpu_ask ask = {.portion = 1};

    if (portion && memory > 0)
        return err_set(err, -EINVAL, "spec.compute: gpuPortionRequest and gpuMemoryRequest cannot be used together");
    if (is_memory != (memory > 0))
        return err_set(err, -EINVAL, "spec.compute: gpuMemoryRequest and gpuRequestType memory need each other");
    ask.devices = devices ? yyjson_get_sint(devices) : portion || memory > 0 ? 1 : 0;
    if (portion)
        ask.portion = yyjson_get_num(portion);
    if (ask.devices > 0 && (ask.portion <= 0 || ask.portion > 1))
        return err_set(err, -EINVAL, "spec.compute.gpuPortionRequest: expected a part of one GPU, above 0 and up to 1");
    if (memory > 0 && ask.devices != 1)
        return err_set(err, -EINVAL,
                       "spec.compute.gpuMemoryRequest: it is for one GPU; use gpuPortionRequest for several");
    ask.memory = memory;
    *ret_ask = ask;
    return 0;
}

double gpu_ask_total(const struct gpu_ask *ask)
{
    return ask->memory > 0 ? 0 : (double)ask->devices * ask->portion;
}

static int check_words(struct request *request, yyjson_mut_val *spec, const char *key, struct err *err)
{
    const char *text = yyjson_mut_get_str(yyjson_mut_obj_get(spec, key));
    yyjson_mut_val *list = NULL;
    int r = text ? words_split(request->doc, text, &list, err) : 0;

    return r < 0 ? err_wrap(err, r, "spec.%s", key) : 0;
}

static int check_whole(struct request *request, yyjson_mut_val *spec, struct err *err)
{
    const char *priority = yyjson_mut_get_str(yyjson_mut_obj_get(spec, "priorityClass"));
    struct gpu_ask ask;
    int r;

    if (!yyjson_mut_obj_get(spec, "image"))
        return err_set(err, -EINVAL, "spec.image: it is required");
    if (priority && *priority && !workload_priority_find(priority))
        return err_set(
            err, -EINVAL,
            "spec.priorityClass: expected very-low, low, medium-low, medium, medium-high, high or very-high");
    if ((r = check_words(request, spec, "command", err)) < 0 || (r = check_words(request, spec, "args", err)) < 0)
        return r;
    yyjson_doc *copy = yyjson_mut_val_imut_copy(spec, NULL);
    BUG_ON(!copy);
    yyjson_val *compute = yyjson_doc_ptr_get(copy, "/compute");
    if ((r = refuse_unsupported(yyjson_doc_get_root(copy), err)) == 0 &&
        (r = refuse_incomplete(yyjson_doc_get_root(copy), err)) == 0 &&
        (r = refuse_reserved(yyjson_doc_get_root(copy), err)) == 0 && (r = check_limits(compute, err)) == 0)
        r = spec_gpus(compute, &ask, err);
    yyjson_doc_free(copy);
    return r;
}

int spec_read_template(struct request *request, const struct workload_kind *kind, const struct json_at *at,
                       yyjson_mut_val **ret_spec, struct err *err)
{
    yyjson_mut_val *spec = yyjson_mut_obj(request->doc);
    int r = read_members(request, at, pod_fields_of(kind), kind->more, spec, err);

    if (r < 0)
        return r;
    yyjson_doc *copy = yyjson_mut_val_imut_copy(spec, NULL);
    BUG_ON(!copy);
    if ((r = refuse_unsupported(yyjson_doc_get_root(copy), err)) == 0)
        r = refuse_reserved(yyjson_doc_get_root(copy), err);
    yyjson_doc_free(copy);
    *ret_spec = spec;
    return r;
}

int spec_read_part(struct request *request, const struct workload_kind *kind, const struct place *place,
                   const struct spec_part *part, const struct json_at *body, yyjson_mut_val **ret_spec, struct err *err)
{
    const struct policy_kind *policy = policy_kind_find(kind->type);
    const struct field *fields = part->name ? asset_member_find(policy->fields, part->name)->fields : policy->fields;
    yyjson_mut_val *spec = yyjson_mut_obj(request->doc);
    yyjson_mut_val *effective = NULL;
    struct json_at at = {0};
    int r;

    if ((r = json_member_object(body, part->member, JSON_OPTIONAL, &at, err)) < 0 ||
        (r = read_members(request, &at, fields, part->more ? part->more : no_more, spec, err)) < 0 ||
        (r = policy_effective(request, policy, place, &effective, err)) < 0)
        return r;
    yyjson_mut_val *imposed = yyjson_mut_obj_get(effective, "imposedAssets");
    if (part->name)
        imposed = yyjson_mut_obj_get(imposed, part->name);
    effective = part_of(request, part->name, effective);
    if ((r = check_policy(request, fields, effective, at.val, err)) < 0)
        return r;
    policy_fill(fields, request->doc, yyjson_mut_obj_get(effective, "defaults"), spec);
    if ((r = imposed_add(request, imposed, spec, err)) < 0)
        return r;
    drop_excluded(fields, spec);
    *ret_spec = spec;
    return check_whole(request, spec, err);
}

int spec_read(struct request *request, const struct workload_kind *kind, const struct place *place,
              const struct json_at *body, yyjson_mut_val **ret_spec, struct err *err)
{
    const struct spec_part part = {"spec", kind->part, kind->more};
    int r = spec_read_part(request, kind, place, &part, body, ret_spec, err);

    if (r == 0 && strcmp(kind->type, WORKLOAD_INFERENCE) == 0)
        r = inference_check(*ret_spec, err);
    return r;
}
