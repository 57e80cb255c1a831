/* SPDX-License-Identifier: Apache-2.0 */

/* A workload against the effective policy. A member that the workload leaves out has the policy's default. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "console/policies/policy.h"
#include "console/rest/context.h"
#include "text/quantity.h"

enum { PATH_MAX_BYTES = 256 };

struct check {
    yyjson_mut_doc *doc;
    yyjson_mut_val *reasons;
};

/* Paths are as deep as the tables are. */
static void join(char path[static PATH_MAX_BYTES], const char *above, const char *name)
{
    (void)snprintf(path, PATH_MAX_BYTES, "%.200s%s%.50s", above, *above ? "." : "", name);
}

static void add_reason(struct check *check, const char *path, const char *rule, yyjson_mut_val *rules,
                       const char *details)
{
    yyjson_mut_val *reason = yyjson_mut_arr_add_obj(check->doc, check->reasons);
    yyjson_mut_val *source = yyjson_mut_obj_get(rules, "sourceOfRule");

    put_text(check->doc, reason, "field", path);
    put_text(check->doc, reason, "rule", rule);
    put_text(check->doc, reason, "details", details);
    if (source)
        (void)yyjson_mut_obj_add_val(check->doc, reason, "sourceOfRule", yyjson_mut_val_mut_copy(check->doc, source));
}

/* A number that can be compared; false for what is none. */
static bool amount_of(yyjson_mut_val *value, double *ret_amount)
{
    struct quantity quantity;

    if (yyjson_mut_is_num(value)) {
        *ret_amount = yyjson_mut_get_num(value);
        return true;
    }
    if (!yyjson_mut_is_str(value) || quantity_parse_exact(yyjson_mut_get_str(value), &quantity, NULL) < 0)
        return false;
    *ret_amount = (double)quantity.nano / 1e9;
    return true;
}

static void check_amount(struct check *check, const char *path, yyjson_mut_val *rules, yyjson_mut_val *value)
{
    double amount, bound;
    char text[128];

    if (!amount_of(value, &amount))
        return;
    if (amount_of(yyjson_mut_obj_get(rules, "min"), &bound) && amount < bound) {
        (void)snprintf(text, sizeof text, "%g is less than the minimum %g", amount, bound);
        add_reason(check, path, "min", rules, text);
    }
    if (amount_of(yyjson_mut_obj_get(rules, "max"), &bound) && amount > bound) {
        (void)snprintf(text, sizeof text, "%g is more than the maximum %g", amount, bound);
        add_reason(check, path, "max", rules, text);
    }
    double base = 0;
    (void)amount_of(yyjson_mut_obj_get(rules, "min"), &base);
    if (amount_of(yyjson_mut_obj_get(rules, "step"), &bound) && bound > 0 &&
        fabs(remainder(amount - base, bound)) > 1e-9 * bound) {
        (void)snprintf(text, sizeof text, "%g is not a multiple of the step %g from %g", amount, bound, base);
        add_reason(check, path, "step", rules, text);
    }
}

static bool is_option(yyjson_mut_val *options, yyjson_mut_val *value)
{
    yyjson_mut_val *option;
    yyjson_mut_arr_iter iter;

    yyjson_mut_arr_iter_init(options, &iter);
    while ((option = yyjson_mut_arr_iter_next(&iter))) {
        if (yyjson_mut_equals(yyjson_mut_obj_get(option, "value"), value))
            return true;
    }
    return false;
}

static void check_options(struct check *check, const char *path, yyjson_mut_val *rules, yyjson_mut_val *value)
{
    yyjson_mut_val *options = yyjson_mut_obj_get(rules, "options");
    yyjson_mut_val *one;
    yyjson_mut_arr_iter iter;
    bool is_allowed = true;

    if (!options)
        return;
    if (!yyjson_mut_is_arr(value)) {
        is_allowed = is_option(options, value);
    } else {
        yyjson_mut_arr_iter_init(value, &iter);
        while ((one = yyjson_mut_arr_iter_next(&iter)))
            is_allowed = is_allowed && is_option(options, one);
    }
    if (!is_allowed)
        add_reason(check, path, "options", rules, "the value is none of the options");
}

static bool is_set(yyjson_mut_val *object, const char *key, bool wanted)
{
    yyjson_mut_val *value = yyjson_mut_obj_get(object, key);

    return yyjson_mut_is_bool(value) && yyjson_mut_get_bool(value) == wanted;
}

static void check_leaf(struct check *check, const char *path, yyjson_mut_val *rules, yyjson_mut_val *preset,
                       yyjson_mut_val *given)
{
    yyjson_mut_val *value = given ? given : preset;

    if (!value && is_set(rules, "required", true))
        add_reason(check, path, "required", rules, "the member is required");
    if (given && is_set(rules, "canEdit", false) && !(preset && yyjson_mut_equals(given, preset)))
        add_reason(check, path, "canEdit", rules, "the member cannot be changed");
    if (!value)
        return;
    check_amount(check, path, rules, value);
    check_options(check, path, rules, value);
}

static yyjson_mut_val *find_named(yyjson_mut_val *list, const char *name)
{
    yyjson_mut_val *one;
    yyjson_mut_arr_iter iter;

    yyjson_mut_arr_iter_init(list, &iter);
    while ((one = yyjson_mut_arr_iter_next(&iter))) {
        if (yyjson_mut_equals_str(yyjson_mut_obj_get(one, "name"), name))
            return one;
    }
    return NULL;
}

static void check_members(struct check *check, const struct field *fields, const char *above, yyjson_mut_val *rules,
                          yyjson_mut_val *defaults, yyjson_mut_val *given);

/* Instances of the policy that are locked stay as they are; others are added where that is allowed. */
static void check_list(struct check *check, const struct field *field, const char *path, yyjson_mut_val *rules,
                       yyjson_mut_val *defaults, yyjson_mut_val *given)
{
    yyjson_mut_val *of_list = yyjson_mut_obj_get(rules, "instances");
    yyjson_mut_val *locked = yyjson_mut_obj_get(of_list, "locked");
    yyjson_mut_val *presets = yyjson_mut_obj_get(defaults, "instances");
    yyjson_mut_val *one;
    yyjson_mut_arr_iter iter;
    yyjson_mut_val *name;
    yyjson_mut_arr_iter names;

    yyjson_mut_arr_iter_init(given, &iter);
    while ((one = yyjson_mut_arr_iter_next(&iter))) {
        const char *own = yyjson_mut_get_str(yyjson_mut_obj_get(one, "name"));
        yyjson_mut_val *preset = own ? find_named(presets, own) : NULL;

        if (!preset && is_set(of_list, "canAdd", false))
            add_reason(check, path, "canAdd", of_list, "instances cannot be added");
        yyjson_mut_arr_iter_init(locked, &names);
        while (preset && (name = yyjson_mut_arr_iter_next(&names))) {
            if (yyjson_mut_equals_str(name, own) && !yyjson_mut_equals(one, preset))
                add_reason(check, path, "locked", of_list, "the instance is locked");
        }
        check_members(check, field->fields, path, yyjson_mut_obj_get(rules, "attributes"),
                      yyjson_mut_obj_get(defaults, "attributes"), one);
    }
}

static void check_members(struct check *check, const struct field *fields, const char *above, yyjson_mut_val *rules,
                          yyjson_mut_val *defaults, yyjson_mut_val *given)
{
    for (const struct field *field = fields; rules && field->name; field++) {
        yyjson_mut_val *rule = yyjson_mut_obj_get(rules, field->name);
        yyjson_mut_val *preset = yyjson_mut_obj_get(defaults, field->name);
        yyjson_mut_val *value = yyjson_mut_obj_get(given, field->name);
        char path[PATH_MAX_BYTES];

        if (!rule)
            continue;
        if (yyjson_mut_is_null(value))
            value = NULL;
        join(path, above, field->name);
        if (field->type == FIELD_OBJECT)
            check_members(check, field->fields, path, rule, preset, value);
        else if (field->type == FIELD_LIST && field->fields)
            check_list(check, field, path, rule, preset, value);
        else
            check_leaf(check, path, rule, preset, value);
    }
}

void policy_check(const struct field *fields, yyjson_mut_doc *doc, yyjson_mut_val *effective, yyjson_val *workload,
                  yyjson_mut_val *reasons)
{
    struct check check = {doc, reasons};

    check_members(&check, fields, "", yyjson_mut_obj_get(effective, "rules"), yyjson_mut_obj_get(effective, "defaults"),
                  yyjson_val_mut_copy(doc, workload));
}
