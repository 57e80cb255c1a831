/* SPDX-License-Identifier: Apache-2.0 */

/* Groups as text. Everything is checked here, so that the rest of the daemon can take a spec as it is. */
#include "gpu/daemon/group_spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "gpu/daemon/arbiter/arbiter.h"
#include "text/json.h"
#include "text/quantity.h"

enum { GROUP_NUMBER_SIZE = 24 };

static const char *const mode_names[] = {
    [GPU_MODE_TIME] = "time", [GPU_MODE_FAIR] = "fair", [GPU_MODE_STRICT] = "strict"};
_Static_assert(ARRAY_LEN(mode_names) == GPU_MODE_COUNT_, "every mode has a name");

const char *gpu_mode_name(enum gpu_mode mode)
{
    return mode_names[mode];
}

int gpu_mode_parse(const char *text, enum gpu_mode *ret_mode, struct err *err)
{
    for (unsigned i = 0; i < GPU_MODE_COUNT_; i++) {
        if (strcmp(text, mode_names[i]) == 0) {
            *ret_mode = (enum gpu_mode)i;
            return 0;
        }
    }
    return err_set(err, -EINVAL, "'%s' is not a compute mode; expected strict, fair or time", text);
}

const char *gpu_priority_name(bool is_urgent)
{
    return is_urgent ? "latency" : "normal";
}

int gpu_priority_parse(const char *text, bool *ret_is_urgent, struct err *err)
{
    bool is_urgent = strcmp(text, "latency") == 0;

    if (!is_urgent && strcmp(text, "normal") != 0)
        return err_set(err, -EINVAL, "'%s' is not a compute priority; expected latency or normal", text);
    *ret_is_urgent = is_urgent;
    return 0;
}

bool group_name_is_good(const char *name)
{
    size_t len = strlen(name);

    if (len == 0 || len >= GROUP_NAME_SIZE || name[0] == '.')
        return false;
    for (const char *at = name; *at; at++) {
        if (!isalnum((unsigned char)*at) && !strchr("-_.", *at))
            return false;
    }
    return true;
}

/* A text that fits, or nothing. */
static int copy_member(const struct json_at *at, const char *key, char *text, size_t size, struct err *err)
{
    const char *found = "";
    int r = json_member_str(at, key, JSON_OPTIONAL, &found, err);

    if (r < 0)
        return r;
    if (strlen(found) >= size)
        return json_fail(at, err, -EINVAL, "%s is longer than %zu bytes", key, size - 1);
    memcpy(text, found, strlen(found) + 1);
    return r;
}

/* Bytes as a number, or a quantity such as "20Gi". */
static int read_bytes(const struct json_at *at, const char *key, uint64_t *ret_bytes, struct err *err)
{
    yyjson_val *val = yyjson_obj_get(at->val, key);
    const char *text;
    int64_t bytes = 0;
    int r;

    if (!yyjson_is_str(val)) {
        r = json_member_int64(at, key, JSON_OPTIONAL, 0, (int64_t)GPU_BYTES_MAX, &bytes, err);
    } else {
        r = json_member_str(at, key, JSON_REQUIRED, &text, err);
        if (r >= 0 && quantity_parse(text, QUANTITY_ONE, &bytes, err) < 0)
            r = json_fail(at, err, -EINVAL, "%s: '%s' is not an amount of memory, such as 20Gi", key, text);
        if (r >= 0 && bytes > (int64_t)GPU_BYTES_MAX)
            r = json_fail(at, err, -EINVAL, "%s: '%s' is larger than any GPU", key, text);
    }
    if (r > 0)
        *ret_bytes = (uint64_t)bytes;
    return r;
}

static int read_memory(const struct json_at *at, struct group_spec *spec, struct err *err)
{
    struct json_at memory;
    int r = json_member_object(at, "memory", JSON_REQUIRED, &memory, err);

    if (r < 0)
        return r;
    int has_request = read_bytes(&memory, "request", &spec->request_bytes, err);
    int has_limit = has_request < 0 ? has_request : read_bytes(&memory, "limit", &spec->limit_bytes, err);
    if (has_limit < 0)
        return has_limit;
    if (!has_request && !has_limit)
        return json_fail(&memory, err, -EINVAL, "needs a request or a limit");
    if (!has_request)
        spec->request_bytes = spec->limit_bytes;
    if (!has_limit)
        spec->limit_bytes = spec->request_bytes;
    if (spec->limit_bytes == 0 || spec->limit_bytes < spec->request_bytes)
        return json_fail(&memory, err, -EINVAL, "the limit must be greater than 0 and not less than the request");
    return 0;
}

static int read_share(const struct json_at *at, const char *key, uint32_t *ret_share, struct err *err)
{
    double share;
    int r = json_member_double(at, key, JSON_OPTIONAL, 0.000001, 1, &share, err);

    if (r > 0)
        *ret_share = (uint32_t)(share * ARBITER_WHOLE + 0.5);
    return r;
}

static int read_compute(const struct json_at *at, struct group_spec *spec, struct err *err)
{
    struct json_at compute;
    const char *mode = "fair", *priority = "normal";
    int r = json_member_object(at, "compute", JSON_OPTIONAL, &compute, err);

    spec->share = spec->cap = ARBITER_WHOLE;
    spec->mode = GPU_MODE_FAIR;
    if (r <= 0)
        return r;
    r = json_member_str(&compute, "mode", JSON_OPTIONAL, &mode, err);
    if (r >= 0 && gpu_mode_parse(mode, &spec->mode, err) < 0)
        r = json_fail(&compute, err, -EINVAL, "mode: expected strict, fair or time, found '%s'", mode);
    if (r >= 0)
        r = json_member_str(&compute, "priority", JSON_OPTIONAL, &priority, err);
    if (r >= 0 && gpu_priority_parse(priority, &spec->is_urgent, err) < 0)
        r = json_fail(&compute, err, -EINVAL, "priority: expected latency or normal, found '%s'", priority);
    if (r >= 0 && spec->is_urgent && spec->mode == GPU_MODE_TIME)
        r = json_fail(&compute, err, -EINVAL, "priority: latency needs the mode fair or strict");
    if (r >= 0)
        r = read_share(&compute, "share", &spec->share, err);
    if (r < 0)
        return r;
    if (spec->mode == GPU_MODE_STRICT)
        spec->cap = spec->share;
    r = read_share(&compute, "limit", &spec->cap, err);
    if (r >= 0 && spec->cap < spec->share)
        return json_fail(&compute, err, -EINVAL, "the limit is less than the share");
    if (r > 0 && spec->mode == GPU_MODE_STRICT && spec->cap != spec->share)
        return json_fail(&compute, err, -EINVAL, "a strict share is its own limit");
    return r;
}

static int read_gpus(const struct json_at *at, struct group_spec *spec, struct err *err)
{
    struct json_at gpus;
    int r = json_member_array(at, "gpus", JSON_REQUIRED, &gpus, err);

    if (r < 0)
        return r;
    for (struct json_at item = {0}; json_next(&gpus, &item);) {
        if (spec->gpu_count == GPU_MAX)
            return json_fail(&gpus, err, -EINVAL, "more than %d GPUs", GPU_MAX);
        char *to = spec->gpus[spec->gpu_count];

        if (yyjson_is_uint(item.val)) {
            (void)snprintf(to, GROUP_GPU_SIZE, "%llu", (unsigned long long)yyjson_get_uint(item.val));
        } else {
            const char *text;

            r = json_str(&item, &text, err);
            if (r < 0)
                return r;
            if (strlen(text) == 0 || strlen(text) >= GROUP_GPU_SIZE)
                return json_fail(&item, err, -EINVAL, "is neither the UUID nor the index of a GPU");
            memcpy(to, text, strlen(text) + 1);
        }
        spec->gpu_count++;
    }
    return spec->gpu_count > 0 ? 0 : json_fail(&gpus, err, -EINVAL, "needs at least one GPU");
}

static int read_owner(const struct json_at *at, struct group_spec *spec, struct err *err)
{
    struct json_at labels;
    int64_t started = 0;
    int r = json_member_int64(at, "uid", JSON_OPTIONAL, 0, UINT32_MAX, &spec->uid, err);

    if (r >= 0)
        r = json_member_int64(at, "owner", JSON_OPTIONAL, 1, INT32_MAX, &spec->owner, err);
    if (r >= 0)
        r = json_member_int64(at, "ownerStarted", JSON_OPTIONAL, 0, INT64_MAX, &started, err);
    spec->owner_started = (uint64_t)started;
    if (r >= 0)
        r = copy_member(at, "cgroup", spec->cgroup, sizeof spec->cgroup, err);
    if (r > 0 && spec->cgroup[0] != '/')
        return json_fail(at, err, -EINVAL, "cgroup: expected a path that begins with '/'");
    if (r >= 0)
        r = json_member_object(at, "labels", JSON_OPTIONAL, &labels, err);
    if (r <= 0)
        return r;
    r = copy_member(&labels, "namespace", spec->namespace_, sizeof spec->namespace_, err);
    if (r >= 0)
        r = copy_member(&labels, "pod", spec->pod, sizeof spec->pod, err);
    if (r >= 0)
        r = copy_member(&labels, "container", spec->container, sizeof spec->container, err);
    return r;
}

/* Words of one kind; numbers are taken as they would be written. */
static int add_words(const struct json_at *at, const char *member, enum gpu_word_kind kind, struct gpu_word *words,
                     char (*numbers)[GROUP_NUMBER_SIZE], size_t *count, struct err *err)
{
    struct json_at object;
    int r = json_member_object(at, member, JSON_OPTIONAL, &object, err);

    if (r <= 0)
        return r;
    for (struct json_at item = {0}; json_next(&object, &item);) {
        struct gpu_word *word = &words[*count];

        if (*count == GROUP_WORDS_MAX)
            return json_fail(at, err, -EINVAL, "more than %d annotations, resources and variables", GROUP_WORDS_MAX);
        *word = (struct gpu_word){.kind = kind, .key = item.key};
        if (yyjson_is_uint(item.val)) {
            (void)snprintf(numbers[*count], GROUP_NUMBER_SIZE, "%llu", (unsigned long long)yyjson_get_uint(item.val));
            word->value = numbers[*count];
        } else {
            r = json_str(&item, &word->value, err);
            if (r < 0)
                return r;
        }
        (*count)++;
    }
    return 0;
}

static int read_words(const struct json_at *at, const struct json_at *words_at, struct group_spec *spec,
                      struct err *err)
{
    struct gpu_word words[GROUP_WORDS_MAX];
    char numbers[GROUP_WORDS_MAX][GROUP_NUMBER_SIZE];
    size_t count = 0;
    int r = add_words(words_at, "annotations", WORD_ANNOTATION, words, numbers, &count, err);

    if (yyjson_obj_get(at->val, "memory") || yyjson_obj_get(at->val, "compute"))
        return json_fail(words_at, err, -EINVAL, "is another form of memory and compute: give either");
    if (r >= 0)
        r = add_words(words_at, "resources", WORD_RESOURCE, words, numbers, &count, err);
    if (r >= 0)
        r = add_words(words_at, "variables", WORD_VARIABLE, words, numbers, &count, err);
    if (r >= 0)
        r = gpu_request_read(words, count, &spec->asked, err);
    if (r < 0)
        return r;
    if (r == 0)
        return json_fail(words_at, err, -EINVAL, "no annotation, resource or variable requests a part of a GPU");
    if (spec->asked.devices != spec->gpu_count)
        return json_fail(words_at, err, -EINVAL, "requests %u GPUs, but %u are listed", spec->asked.devices,
                         spec->gpu_count);
    (void)snprintf(spec->asked_by, sizeof spec->asked_by, "%s", spec->asked.alias);
    spec->asked.alias = NULL;
    spec->is_asked = true;
    return 0;
}

/* What the GPU itself enforces leaves nothing to be said besides. */
static int read_slice(const struct json_at *at, struct group_spec *spec, struct err *err)
{
    if (yyjson_obj_get(at->val, "memory") || yyjson_obj_get(at->val, "compute") || yyjson_obj_get(at->val, "pod"))
        return json_fail(at, err, -EINVAL, "mig: a slice has its own memory and compute: give nothing else");
    if (spec->gpu_count > 1)
        return json_fail(at, err, -ENOTSUP, "mig: a group can have one slice of one GPU");
    if (spec->is_parkable)
        return json_fail(at, err, -ENOTSUP, "mig: groups with a slice cannot be parked");
    for (const char *c = spec->mig; *c; c++) {
        if (!isalnum((unsigned char)*c) && !strchr(".+-_", *c))
            return json_fail(at, err, -EINVAL, "mig: '%s' is not a MIG profile, such as 1g.10gb", spec->mig);
    }
    spec->mode = GPU_MODE_TIME;
    spec->share = spec->cap = ARBITER_WHOLE;
    return 0;
}

static int read_amounts(const struct json_at *at, struct group_spec *spec, struct err *err)
{
    struct json_at words;
    int r = copy_member(at, "mig", spec->mig, sizeof spec->mig, err);

    if (r < 0)
        return r;
    if (spec->mig[0])
        return read_slice(at, spec, err);
    r = json_member_object(at, "pod", JSON_OPTIONAL, &words, err);
    if (r > 0)
        return read_words(at, &words, spec, err);
    if (r == 0)
        r = read_memory(at, spec, err);
    return r < 0 ? r : read_compute(at, spec, err);
}

int group_spec_reckon(const struct group_spec *spec, uint64_t gpu_bytes, struct group_spec *ret_spec, struct err *err)
{
    struct gpu_request asked = spec->asked;
    struct gpu_amounts amounts;

    *ret_spec = *spec;
    if (!spec->is_asked)
        return 0;
    asked.alias = spec->asked_by;
    int r = gpu_request_on(&asked, gpu_bytes, &amounts, err);
    if (r < 0)
        return r;
    ret_spec->is_asked = false;
    ret_spec->request_bytes = amounts.request_bytes;
    ret_spec->limit_bytes = amounts.limit_bytes;
    ret_spec->share = amounts.share;
    ret_spec->cap = amounts.cap;
    ret_spec->mode = asked.mode;
    ret_spec->is_urgent = asked.is_urgent;
    return 0;
}

int group_spec_decode(const struct json_at *at, struct group_spec *ret_spec, struct err *err)
{
    struct group_spec spec = {.uid = -1};
    int r = json_object(at, err);

    if (r >= 0)
        r = copy_member(at, "name", spec.name, sizeof spec.name, err);
    if (r < 0)
        return r;
    if (!group_name_is_good(spec.name))
        return json_fail(at, err, -EINVAL, "name: expected letters, digits, '-', '_' and '.', at most %d of them",
                         GROUP_NAME_SIZE - 1);
    r = read_gpus(at, &spec, err);
    if (r >= 0)
        r = json_member_bool(at, "parkable", JSON_OPTIONAL, &spec.is_parkable, err);
    if (r > 0 && spec.is_parkable && spec.gpu_count > 1)
        r = json_fail(at, err, -ENOTSUP, "parkable: only groups with one GPU can be parked");
    if (r >= 0)
        r = read_amounts(at, &spec, err);
    if (r >= 0)
        r = read_owner(at, &spec, err);
    if (r < 0)
        return r;
    *ret_spec = spec;
    return 0;
}

static void encode_amounts(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct group_spec *spec)
{
    if (spec->mig[0]) {
        (void)yyjson_mut_obj_add_str(doc, root, "mig", spec->mig);
        return;
    }
    yyjson_mut_val *memory = yyjson_mut_obj_add_obj(doc, root, "memory");
    yyjson_mut_val *compute = yyjson_mut_obj_add_obj(doc, root, "compute");

    (void)yyjson_mut_obj_add_uint(doc, memory, "request", spec->request_bytes);
    (void)yyjson_mut_obj_add_uint(doc, memory, "limit", spec->limit_bytes);
    (void)yyjson_mut_obj_add_real(doc, compute, "share", (double)spec->share / ARBITER_WHOLE);
    (void)yyjson_mut_obj_add_real(doc, compute, "limit", (double)spec->cap / ARBITER_WHOLE);
    (void)yyjson_mut_obj_add_str(doc, compute, "mode", gpu_mode_name(spec->mode));
    (void)yyjson_mut_obj_add_str(doc, compute, "priority", gpu_priority_name(spec->is_urgent));
    if (spec->is_parkable)
        (void)yyjson_mut_obj_add_bool(doc, root, "parkable", true);
}

static yyjson_mut_val *encode(yyjson_mut_doc *doc, const struct group_spec *spec)
{
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_val *gpus = yyjson_mut_obj_add_arr(doc, root, "gpus");

    (void)yyjson_mut_obj_add_str(doc, root, "name", spec->name);
    for (uint32_t i = 0; i < spec->gpu_count; i++)
        (void)yyjson_mut_arr_add_str(doc, gpus, spec->gpus[i]);
    encode_amounts(doc, root, spec);
    yyjson_mut_val *labels = yyjson_mut_obj_add_obj(doc, root, "labels");
    if (spec->uid >= 0)
        (void)yyjson_mut_obj_add_int(doc, root, "uid", spec->uid);
    if (spec->owner > 0) {
        (void)yyjson_mut_obj_add_int(doc, root, "owner", spec->owner);
        (void)yyjson_mut_obj_add_uint(doc, root, "ownerStarted", spec->owner_started);
    }
    if (spec->cgroup[0])
        (void)yyjson_mut_obj_add_str(doc, root, "cgroup", spec->cgroup);
    (void)yyjson_mut_obj_add_str(doc, labels, "namespace", spec->namespace_);
    (void)yyjson_mut_obj_add_str(doc, labels, "pod", spec->pod);
    (void)yyjson_mut_obj_add_str(doc, labels, "container", spec->container);
    return root;
}

void group_spec_encode(const struct group_spec *spec, struct strbuf *text)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    size_t len = 0;

    yyjson_mut_doc_set_root(doc, encode(doc, spec));
    char *json = yyjson_mut_write(doc, 0, &len);
    BUG_ON(!json);
    strbuf_add(text, json, len);
    free(json);
    yyjson_mut_doc_free(doc);
}
