/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events in the form of the core. Those with an eventTime are of the newer sort, of which more is asked; those that come by
 * events.k8s.io must be of it, and only their series may change. Fields are named as in the core, also to clients of the other
 * group, but for the reporter.
 */
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/builtin/members.h"
#include "local/builtin/validate_internal.h"

enum { WORD_BYTES_MAX = 128, MESSAGE_BYTES_MAX = 1024 };

static void check_length(struct validating *validating, yyjson_mut_val *event, const char *member, size_t max)
{
    char words[64];

    if (strlen(member_text(event, member)) <= max)
        return;
    (void)snprintf(words, sizeof words, "can have at most %zu characters", max);
    problem_invalid_text(validating->problems, FIELD(NULL, member), "", words);
}

static void check_needed(struct validating *validating, yyjson_mut_val *event, const char *member)
{
    if (!*member_text(event, member))
        problem_required(validating->problems, FIELD(NULL, member), "");
    check_length(validating, event, member, WORD_BYTES_MAX);
}

static void check_newer(struct validating *validating, yyjson_mut_val *event)
{
    const char *reporter = member_text(event, "reportingComponent");
    bool is_other = validating->kind->flags & KIND_OTHER_FORM;
    const struct field field = field_member(NULL, is_other ? "reportingController" : "reportingComponent");

    if (!*reporter)
        problem_required(validating->problems, &field, "");
    check_label_key(validating->problems, &field, reporter);
    check_needed(validating, event, "reportingInstance");
    check_needed(validating, event, "action");
    check_needed(validating, event, "reason");
    check_length(validating, event, "message", MESSAGE_BYTES_MAX);
}

/* Objects without a namespace have their events in the default one, and newer ones also in that of the system. */
static bool is_namespace_right(yyjson_mut_val *event, bool is_newer)
{
    const char *about = member_text(event, "involvedObject.namespace");
    const char *own = member_text(event, "metadata.namespace");

    if (!*about)
        return strcmp(own, "default") == 0 || (is_newer && strcmp(own, "kube-system") == 0);
    return is_newer || strcmp(about, own) == 0;
}

static void check_series(struct validating *validating, yyjson_mut_val *event)
{
    if (!member_get(event, "series"))
        return;
    if (member_number(event, "series.count", 0) < 2)
        problem_invalid_text(validating->problems, FIELD(NULL, "series.count"), "", "should be at least 2");
    if (!member_get(event, "series.lastObservedTime"))
        problem_required(validating->problems, FIELD(NULL, "series.lastObservedTime"), "");
}

static void check_unset(struct validating *validating, const char *member, bool is_set)
{
    if (is_set)
        problem_invalid_text(validating->problems, FIELD(NULL, member), "", "needs to be unset");
}

static void check_new(struct validating *validating, yyjson_mut_val *event)
{
    char words[256];

    check_series(validating, event);
    if (!member_get(event, "eventTime"))
        problem_required(validating->problems, FIELD(NULL, "eventTime"), "");
    if (!member_is(event, "type", "Normal") && !member_is(event, "type", "Warning")) {
        (void)snprintf(words, sizeof words, "has invalid value: %.200s", member_text(event, "type"));
        problem_invalid_text(validating->problems, FIELD(NULL, "type"), "", words);
    }
    check_unset(validating, "firstTimestamp", member_get(event, "firstTimestamp") != NULL);
    check_unset(validating, "lastTimestamp", member_get(event, "lastTimestamp") != NULL);
    check_unset(validating, "count", member_number(event, "count", 0) != 0);
    check_unset(validating, "source", *member_text(event, "source.component") || *member_text(event, "source.host"));
}

/* --- Updates --- */

/* Structs are shown with the names that their members have inside of the API server. */
static const struct shown {
    const char *member;
    const char *name;
} reference[] = {{"kind", "Kind"},
                 {"namespace", "Namespace"},
                 {"name", "Name"},
                 {"uid", "UID"},
                 {"apiVersion", "APIVersion"},
                 {"resourceVersion", "ResourceVersion"},
                 {"fieldPath", "FieldPath"},
                 {0}},
  source[] = {{"component", "Component"}, {"host", "Host"}, {0}};

static const struct {
    const char *member;
    const char *name;           // as it is told
    const struct shown *shown;  // NULL: as it is
} fixed[] = {
    {"involvedObject", "involvedObject", reference},
    {"reason", "reason", NULL},
    {"message", "message", NULL},
    {"source", "source", source},
    {"firstTimestamp", "firstTimestamp", NULL},
    {"lastTimestamp", "lastTimestamp", NULL},
    {"count", "count", NULL},
    {"reason", "reason", NULL},
    {"type", "type", NULL},
    {"eventTime", "eventTime", NULL},
    {"action", "action", NULL},
    {"related", "related", reference},
    {"reportingComponent", "reportingController", NULL},
    {"reportingInstance", "reportingInstance", NULL},
};

static yyjson_mut_val *show_struct(yyjson_mut_doc *doc, yyjson_mut_val *value, const struct shown *shown)
{
    yyjson_mut_val *object = yyjson_mut_obj(doc);

    for (; shown->member; shown++)
        member_set_text(doc, object, shown->name, member_text(value, shown->member));
    return object;
}

static void check_fixed(struct validating *validating)
{
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        yyjson_mut_val *value = member_get(validating->root, fixed[i].member);

        if (!is_member_changed(validating, fixed[i].member))
            continue;
        if (value && fixed[i].shown)
            value = show_struct(validating->doc, value, fixed[i].shown);
        problem_invalid(validating->problems, FIELD(NULL, fixed[i].name), value, "field is immutable");
    }
}

void check_event(struct validating *validating, yyjson_mut_val *event, const struct field *field)
{
    bool is_newer = member_get(event, "eventTime") != NULL;
    const struct field about = field_member(field, "involvedObject");

    if (!is_namespace_right(event, is_newer))
        problem_invalid_text(validating->problems, FIELD(&about, "namespace"),
                             member_text(event, "involvedObject.namespace"), "does not match event.namespace");
    if (is_newer)
        check_newer(validating, event);
    if (!(validating->kind->flags & KIND_OTHER_FORM))
        return;
    if (!validating->old) {
        check_new(validating, event);
        return;
    }
    if (is_member_changed(validating, "series"))
        check_series(validating, event);
    check_fixed(validating);
}
