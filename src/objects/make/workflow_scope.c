/* SPDX-License-Identifier: Apache-2.0 */

/* Parameters of a workflow: what "{{inputs.parameters.gpus}}" and its like stand for, and how often a step runs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "objects/make/workflow_internal.h"

/* A value that grows by being put into itself would grow without end. */
enum { TEXT_MAX = 1 << 20, SEQUENCE_MAX = OBJECTS_MADE_MAX };

struct json_at flow_member(const struct flow *flow, const char *key)
{
    struct json_at own = json_member(&flow->own, key);

    return own.val ? own : json_member(&flow->spec, key);
}

/* A parameter as text; NULL for what is no scalar. */
static const char *text_of(struct flow *flow, yyjson_val *val)
{
    char number[NUMBER_TEXT_MAX];

    if (yyjson_is_num(val))
        return arena_strdup(flow->maker->arena, number_format(val, number));
    if (yyjson_is_bool(val))
        return yyjson_get_bool(val) ? "true" : "false";
    return yyjson_get_str(val);
}

static struct scope *scope_new(struct flow *flow, const struct scope *outer, size_t max)
{
    struct scope *scope = ARENA_NEW(flow->maker->arena, struct scope);

    flow->kept += sizeof *scope + max * sizeof *scope->pairs;
    *scope = (struct scope){.outer = outer};
    scope->pairs = arena_calloc(flow->maker->arena, flow->kept <= FLOW_KEPT_MAX ? max : 0, sizeof *scope->pairs);
    return scope;
}

/* Room was made by scope_new(), unless the workflow has grown too large, which start_step() says. */
static void scope_add(struct flow *flow, struct scope *scope, const char *prefix, const char *name, const char *value)
{
    if (flow->kept <= FLOW_KEPT_MAX)
        scope->pairs[scope->count++] = (struct str_pair){arena_printf(flow->maker->arena, "%s%s", prefix, name), value};
}

static const char *scope_find(const struct scope *scope, const char *name, size_t len)
{
    for (; scope; scope = scope->outer) {
        for (size_t i = scope->count; i-- > 0;) {
            if (strlen(scope->pairs[i].key) == len && strncmp(scope->pairs[i].key, name, len) == 0)
                return scope->pairs[i].value;
        }
    }
    return NULL;
}

const char *scope_fill(struct flow *flow, const struct scope *scope, const char *text)
{
    struct strbuf filled;

    if (!strstr(text, "{{") || flow->kept > FLOW_KEPT_MAX)
        return text;
    strbuf_init(&filled, TEXT_MAX);
    for (const char *open; (open = strstr(text, "{{")) != NULL;) {
        const char *close = strstr(open, "}}");
        const char *name = open + 2 + strspn(open + 2, " ");

        if (!close)
            break;
        size_t len = close > name ? (size_t)(close - name) : 0;
        while (len > 0 && name[len - 1] == ' ')
            len--;
        const char *value = scope_find(scope, name, len);
        strbuf_add(&filled, text, (size_t)(open - text));
        if (value)
            strbuf_addstr(&filled, value);
        else
            strbuf_add(&filled, open, (size_t)(close + 2 - open));
        text = close + 2;
    }
    strbuf_addstr(&filled, text);
    flow->kept += filled.len;
    const char *kept = arena_strdup(flow->maker->arena, filled.text);
    strbuf_done(&filled);
    return kept;
}

/* The value of a parameter among `arguments`, NULL when it is not there. */
static const char *argument_of(struct flow *flow, const struct scope *scope, const struct json_at *arguments,
                               const char *name)
{
    struct json_at parameters = json_member(arguments, "parameters");

    for (struct json_at item = {0}; json_next(&parameters, &item);) {
        const char *found = json_peek_str(&item, "name");
        struct json_at value = json_member(&item, "value");
        const char *text = text_of(flow, value.val);

        if (found && text && strcmp(found, name) == 0)
            return scope_fill(flow, scope, text);
    }
    return NULL;
}

/* The inputs of a template, from the arguments of whoever calls it, which know what `of_caller` holds. */
static const struct scope *inputs_of(struct flow *flow, const struct scope *of_caller, const struct json_at *arguments,
                                     yyjson_val *template)
{
    struct json_at at = {.val = template};
    struct json_at inputs = json_member(&at, "inputs");
    struct json_at parameters = json_member(&inputs, "parameters");
    struct scope *scope = scope_new(flow, flow->parameters, json_len(&parameters));

    for (struct json_at item = {0}; json_next(&parameters, &item);) {
        const char *name = json_peek_str(&item, "name");
        struct json_at fixed = json_member(&item, "value");
        struct json_at fallback = json_member(&item, "default");
        const char *value = name ? argument_of(flow, of_caller, arguments, name) : NULL;

        if (!value)
            value = text_of(flow, fixed.val ? fixed.val : fallback.val);
        if (name && value)
            scope_add(flow, scope, "inputs.parameters.", name, scope_fill(flow, flow->parameters, value));
    }
    return scope;
}

/* The workflow's own parameters come after those of its template, and count before them. */
static const struct scope *workflow_parameters(struct flow *flow)
{
    struct json_at own = json_member(&flow->own, "arguments");
    struct json_at shared = json_member(&flow->spec, "arguments");
    struct json_at lists[] = {json_member(&shared, "parameters"), json_member(&own, "parameters")};
    struct scope *scope = scope_new(flow, NULL, 2 + json_len(&lists[0]) + json_len(&lists[1]));

    scope_add(flow, scope, "workflow.", "name", flow->owner->name);
    scope_add(flow, scope, "workflow.", "namespace", flow->owner->namespace);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        for (struct json_at item = {0}; json_next(&lists[i], &item);) {
            const char *name = json_peek_str(&item, "name");
            struct json_at value = json_member(&item, "value");
            const char *text = text_of(flow, value.val);

            if (name && text)
                scope_add(flow, scope, "workflow.parameters.", name, text);
        }
    }
    return scope;
}

const struct scope *scope_workflow(struct flow *flow, yyjson_val *template)
{
    struct json_at arguments = flow_member(flow, "arguments");

    flow->parameters = workflow_parameters(flow);
    return inputs_of(flow, flow->parameters, &arguments, template);
}

const struct scope *scope_inputs(struct flow *flow, const struct scope *scope, const struct json_at *step,
                                 yyjson_val *template)
{
    struct json_at arguments = json_member(step, "arguments");

    return inputs_of(flow, scope, &arguments, template);
}

/* A number of a sequence, which may be written as text or named by a parameter. Returns false when it is not known. */
static bool sequence_number(struct flow *flow, const struct scope *scope, const struct json_at *sequence,
                            const char *key, int64_t *ret_number)
{
    struct json_at at = json_member(sequence, key);
    const char *text = text_of(flow, at.val);

    return text && int_parse(scope_fill(flow, scope, text), -SEQUENCE_MAX, SEQUENCE_MAX, ret_number);
}

static bool sequence_decode(struct flow *flow, const struct scope *scope, const struct json_at *sequence,
                            struct fan *fan)
{
    int64_t end = 0;

    fan->start = 0;
    (void)sequence_number(flow, scope, sequence, "start", &fan->start);
    if (sequence_number(flow, scope, sequence, "count", &fan->count))
        return fan->count >= 0;
    if (!sequence_number(flow, scope, sequence, "end", &end))
        return false;
    fan->count = (end > fan->start ? end - fan->start : fan->start - end) + 1;
    return true;
}

int fan_decode(struct flow *flow, const struct scope *scope, const struct json_at *step, struct fan *ret_fan,
               struct err *err)
{
    struct json_at items;
    struct json_at sequence;
    const char *param = NULL;
    bool is_known = true;

    *ret_fan = (struct fan){.count = 1};
    TRY(json_member_array(step, "withItems", JSON_OPTIONAL, &items, err));
    TRY(json_member_object(step, "withSequence", JSON_OPTIONAL, &sequence, err));
    TRY(json_member_str(step, "withParam", JSON_OPTIONAL, &param, err));
    ret_fan->has_item = items.val || sequence.val || param;
    if (items.val) {
        ret_fan->items = items.val;
    } else if (sequence.val) {
        is_known = sequence_decode(flow, scope, &sequence, ret_fan);
    } else if (param) {
        const char *text = scope_fill(flow, scope, param);

        ret_fan->doc = yyjson_read(text, strlen(text), 0);
        ret_fan->items = yyjson_doc_get_root(ret_fan->doc);
        is_known = yyjson_is_arr(ret_fan->items);
    }
    if (ret_fan->items)
        ret_fan->count = (int64_t)yyjson_arr_size(ret_fan->items);
    if (!is_known) {
        ret_fan->count = 0;
        flow_warn(flow, "the number of runs of a step is known only when the workflow runs; its pods are left out");
    }
    return 0;
}

const struct scope *fan_scope(struct flow *flow, const struct scope *scope, const struct fan *fan, int64_t index)
{
    struct json_at item = {.val = fan->items ? yyjson_arr_get(fan->items, (size_t)index) : NULL};
    bool is_map = yyjson_is_obj(item.val);

    if (!fan->has_item)
        return scope;
    struct scope *with = scope_new(flow, scope, is_map ? json_len(&item) : 1);
    if (!is_map) {
        const char *text = item.val ? text_of(flow, item.val) : make_number(flow->maker, fan->start + index);

        if (text)
            scope_add(flow, with, "", "item", text);
        return with;
    }
    for (struct json_at member = {0}; json_next(&item, &member);) {
        const char *text = text_of(flow, member.val);

        if (text)
            scope_add(flow, with, "item.", member.key, text);
    }
    return with;
}

void fan_done(struct fan *fan)
{
    yyjson_doc_free(fan->doc);
    fan->doc = NULL;
}
