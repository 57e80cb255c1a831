/* SPDX-License-Identifier: Apache-2.0 */

/* Defaults and rules from outside. A member that no workload has is an error: a rule for it would protect nothing. */
#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "console/assets/rows.h"
#include "console/policies/policy.h"
#include "text/quantity.h"

static int known(const struct json_at *member, const struct field *fields, const struct field **ret_field,
                 struct err *err)
{
    *ret_field = asset_member_find(fields, member->key);
    return *ret_field ? 0 : json_fail(member, err, -EINVAL, "policies have no such member of a workload");
}

/* --- defaults --- */

static int read_default_list(const struct json_at *at, const struct field *field, yyjson_mut_doc *doc,
                             yyjson_mut_val *to, struct err *err)
{
    struct field_reading reading = {.doc = doc};
    struct json_at list = {0};
    struct json_at attributes = {0};
    int r;

    if ((r = json_object(at, err)) < 0 || (r = json_member_array(at, "instances", JSON_OPTIONAL, &list, err)) < 0 ||
        (r = json_member_object(at, "attributes", JSON_OPTIONAL, &attributes, err)) < 0)
        return r;
    yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, to, field->name);
    if (attributes.val && (r = policy_read_defaults(&attributes, field->fields, doc,
                                                    yyjson_mut_obj_add_obj(doc, object, "attributes"), err)) < 0)
        return r;
    if (!list.val)
        return 0;
    yyjson_mut_val *value = NULL;
    r = asset_member_read(&list, field, &reading, &value, err);
    if (r == 0)
        (void)yyjson_mut_obj_add_val(doc, object, "instances", value);
    return r;
}

int policy_read_defaults(const struct json_at *at, const struct field *fields, yyjson_mut_doc *doc, yyjson_mut_val *to,
                         struct err *err)
{
    struct field_reading reading = {.doc = doc};
    const struct field *field;
    int r;

    for (struct json_at member = {0}; json_next(at, &member);) {
        yyjson_mut_val *value = NULL;

        /* Clients send null for all members that they know and do not set. */
        if (yyjson_is_null(member.val))
            continue;
        if ((r = known(&member, fields, &field, err)) < 0)
            return r;
        if (field->type == FIELD_OBJECT) {
            if ((r = json_object(&member, err)) < 0 ||
                (r = policy_read_defaults(&member, field->fields, doc, yyjson_mut_obj_add_obj(doc, to, field->name),
                                          err)) < 0)
                return r;
        } else if (field->type == FIELD_LIST && field->fields) {
            if ((r = read_default_list(&member, field, doc, to, err)) < 0)
                return r;
        } else {
            if ((r = asset_member_read(&member, field, &reading, &value, err)) < 0)
                return r;
            (void)yyjson_mut_obj_add_val(doc, to, field->name, value);
        }
    }
    return 0;
}

/* --- rules --- */

#define ANY_NUMBER(name) {name, FIELD_NUMBER, 0, -1e15, 1e15, NULL, NULL}

static const struct field option_fields[] = {
    {"value", FIELD_TEXT, FIELD_REQUIRED, 0, 0, NULL, NULL},
    TEXT_OR_EMPTY("displayed"),
    END,
};
static const struct field from_fields[] = {TEXT("field"), ANY_NUMBER("factor"), END};

#define OF_ALL BOOL("required"), BOOL("canEdit")
static const struct field bool_rules[] = {OF_ALL, END};
static const struct field text_rules[] = {OF_ALL, LIST("options", option_fields), END};
static const struct field number_rules[] = {
    OF_ALL, ANY_NUMBER("min"), ANY_NUMBER("max"), ANY_NUMBER("step"), OBJECT("defaultFrom", from_fields), END,
};
static const struct field whole_rules[] = {
    OF_ALL,
    WHOLE("min", -1e15, 1e15),
    WHOLE("max", -1e15, 1e15),
    WHOLE("step", 1, 1e15),
    OBJECT("defaultFrom", from_fields),
    END,
};
static const struct field quantity_rules[] = {
    OF_ALL, QUANTITY("min"), QUANTITY("max"), OBJECT("defaultFrom", from_fields), END,
};
static const struct field list_rules[] = {BOOL("canAdd"), TEXTS("locked"), END};

static const struct field *rules_of(const struct field *field)
{
    switch (field->type) {
    case FIELD_BOOL:
        return bool_rules;
    case FIELD_NUMBER:
        return number_rules;
    case FIELD_WHOLE:
        return whole_rules;
    case FIELD_QUANTITY:
        return quantity_rules;
    default:
        return text_rules;
    }
}

static int check_range(const struct json_at *at, struct err *err)
{
    yyjson_val *min = yyjson_obj_get(at->val, "min");
    yyjson_val *max = yyjson_obj_get(at->val, "max");
    struct quantity low, high;
    bool is_wrong = yyjson_is_num(min) && yyjson_is_num(max) && yyjson_get_num(min) > yyjson_get_num(max);

    if (yyjson_is_str(min) && yyjson_is_str(max)) {
        if (quantity_parse_exact(yyjson_get_str(min), &low, err) < 0 ||
            quantity_parse_exact(yyjson_get_str(max), &high, err) < 0)
            return -EINVAL;
        is_wrong = low.nano > high.nano;
    }
    return is_wrong ? json_fail(at, err, -EINVAL, "min is more than max") : 0;
}

static int read_leaf(const struct json_at *at, const struct field *rules, const char *name, yyjson_mut_doc *doc,
                     yyjson_mut_val *to, struct err *err)
{
    struct field_reading reading = {.doc = doc};
    const struct field *field;
    int r = json_object(at, err);

    if (r < 0)
        return r;
    for (struct json_at member = {0}; json_next(at, &member);) {
        field = asset_member_find(rules, member.key);
        if (!field && !yyjson_is_null(member.val))
            return json_fail(&member, err, -EINVAL, "there is no such rule for this member");
    }
    r = asset_members_read(at, rules, &reading, yyjson_mut_obj_add_obj(doc, to, name), err);
    return r < 0 ? r : check_range(at, err);
}

static int read_list_rules(const struct json_at *at, const struct field *field, yyjson_mut_doc *doc, yyjson_mut_val *to,
                           struct err *err)
{
    struct json_at instances = {0};
    struct json_at attributes = {0};
    int r;

    if ((r = json_object(at, err)) < 0 ||
        (r = json_member_object(at, "instances", JSON_OPTIONAL, &instances, err)) < 0 ||
        (r = json_member_object(at, "attributes", JSON_OPTIONAL, &attributes, err)) < 0)
        return r;
    yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, to, field->name);
    if (instances.val && (r = read_leaf(&instances, list_rules, "instances", doc, object, err)) < 0)
        return r;
    if (!attributes.val)
        return 0;
    return policy_read_rules(&attributes, field->fields, doc, yyjson_mut_obj_add_obj(doc, object, "attributes"), err);
}

int policy_read_rules(const struct json_at *at, const struct field *fields, yyjson_mut_doc *doc, yyjson_mut_val *to,
                      struct err *err)
{
    const struct field *field;
    int r;

    for (struct json_at member = {0}; json_next(at, &member);) {
        /* Clients send null for all members that they know and do not set. */
        if (yyjson_is_null(member.val))
            continue;
        if ((r = known(&member, fields, &field, err)) < 0)
            return r;
        if (field->type == FIELD_OBJECT) {
            if ((r = json_object(&member, err)) < 0)
                return r;
            r = policy_read_rules(&member, field->fields, doc, yyjson_mut_obj_add_obj(doc, to, field->name), err);
        } else if (field->type == FIELD_LIST && field->fields) {
            r = read_list_rules(&member, field, doc, to, err);
        } else {
            r = read_leaf(&member, rules_of(field), field->name, doc, to, err);
        }
        if (r < 0)
            return r;
    }
    return 0;
}
