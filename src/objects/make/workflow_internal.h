/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "objects/make/maker.h"

/* A workflow on its way to the pods that it starts with. */
struct flow {
    struct maker *maker;
    const struct object *owner;
    struct json_at own;   // its spec
    struct json_at spec;  // that of the template which it is made from; `own` when there is none
    int64_t limit;        // pods that may run at once
    int64_t pods;
    bool is_full;                    // the limit is reached, or the pods are not ours to schedule
    const struct scope *parameters;  // of the workflow
    int visits;
    size_t kept;  // bytes of names and values; parameters that are made of each other could grow without end
};

/* What stands for "{{name}}" in a template. */
struct scope {
    struct str_pair *pairs;  // the latest of a name counts
    size_t count;
    const struct scope *outer;  // where what is not here is looked for; NULL: nowhere
};

/* Bytes of names and values that a workflow may keep. */
enum { FLOW_KEPT_MAX = 64 << 20 };

/* A template that is called. */
struct call {
    yyjson_val *template;
    yyjson_val *templates;  // those that its steps may name
    const struct scope *scope;
};

/* How often a step runs, and with which item. */
struct fan {
    int64_t count;
    yyjson_val *items;  // NULL: numbers from `start` on, or nothing at all
    yyjson_doc *doc;    // that holds the items, when they came as text
    bool has_item;
    int64_t start;
};

void flow_warn(struct flow *flow, const char *what);

/* A member of the workflow's spec, or else of its template's. */
struct json_at flow_member(const struct flow *flow, const char *key);

/* The pod of a template that runs something. `is_entry`: the workflow is nothing but this pod. Returns 0, or 1 when it
 * is another scheduler's. */
MUST_CHECK int flow_make_pod(struct flow *flow, const struct call *call, bool is_entry, struct err *err);

/* The workflow's parameters, and the entry template's inputs from them. */
const struct scope *scope_workflow(struct flow *flow, yyjson_val *template);

/* The inputs of `template` when `step` calls it, beside the workflow's parameters. */
const struct scope *scope_inputs(struct flow *flow, const struct scope *scope, const struct json_at *step,
                                 yyjson_val *template);

/* The text with all that is known put in. */
const char *scope_fill(struct flow *flow, const struct scope *scope, const char *text);

/* withItems, withSequence and withParam of a step. */
MUST_CHECK int fan_decode(struct flow *flow, const struct scope *scope, const struct json_at *step, struct fan *ret_fan,
                          struct err *err);
const struct scope *fan_scope(struct flow *flow, const struct scope *scope, const struct fan *fan, int64_t index);
void fan_done(struct fan *fan);
