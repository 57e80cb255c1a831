/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "local/builtin/members.h"
#include "local/builtin/validate_internal.h"
#include "text/quantity.h"

/* Resources of containers that need no prefix. */
static bool is_standard(const char *name)
{
    static const char *const names[] = {"cpu", "memory", "ephemeral-storage"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return strncmp(name, "hugepages-", 10) == 0;
}

/* More of them may be requested than there are; of all others, requests are limits. */
static bool is_overcommitted(const char *name)
{
    return is_standard(name) && strncmp(name, "hugepages-", 10) != 0;
}

static void check_resource_name(struct problems *problems, const struct field *field, const char *name)
{
    check_label_key(problems, field, name);
    if (strchr(name, '/') || is_standard(name))
        return;
    problem_invalid_text(problems, field, name, "must be a standard resource type or fully qualified");
    problem_invalid_text(problems, field, name, "must be a standard resource for containers");
}

static quantity_nano nano_of(const char *text)
{
    struct quantity quantity = {0};
    int code = quantity_parse_exact(text + (*text == '-'), &quantity, NULL);

    return code < 0 ? 0 : quantity.nano;
}

static void check_amounts(struct validating *validating, yyjson_mut_val *amounts, const struct field *field)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(amounts);

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *name = yyjson_mut_get_str(key);
        const char *amount = yyjson_mut_get_str(yyjson_mut_obj_iter_get_val(key));
        const struct field at = field_key(field, name);

        check_resource_name(validating->problems, &at, name);
        if (*amount == '-')
            problem_invalid_text(validating->problems, &at, amount, "must be greater than or equal to 0");
        if (strchr(name, '/') && nano_of(amount) % QUANTITY_NANO_PER_ONE != 0)
            problem_invalid_text(validating->problems, &at, amount, "must be an integer");
    }
}

static void compare(struct validating *validating, const char *name, const char *request, const char *limit,
                    const struct field *field)
{
    const char *relation = NULL;
    struct strbuf words;

    if (!is_overcommitted(name) && nano_of(request) != nano_of(limit))
        relation = "equal to";
    else if (is_overcommitted(name) && nano_of(request) > nano_of(limit) && *request != '-')
        relation = "less than or equal to";
    if (!relation)
        return;
    strbuf_init(&words, PROBLEM_BYTES_MAX);
    strbuf_addf(&words, "must be %s %s limit of %s", relation, name, limit);
    problem_invalid_text(validating->problems, FIELD(field, "requests"), request, words.text);
    strbuf_done(&words);
}

void check_container_resources(struct validating *validating, yyjson_mut_val *resources, const struct field *field)
{
    yyjson_mut_val *limits = member_get(resources, "limits");
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(member_get(resources, "requests"));

    check_amounts(validating, limits, FIELD(field, "limits"));
    check_amounts(validating, member_get(resources, "requests"), FIELD(field, "requests"));
    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *name = yyjson_mut_get_str(key);
        const char *request = yyjson_mut_get_str(yyjson_mut_obj_iter_get_val(key));
        const char *limit = yyjson_mut_get_str(yyjson_mut_obj_get(limits, name));
        if (limit)
            compare(validating, name, request, limit, field);
        else if (!is_overcommitted(name) && strchr(name, '/'))
            problem_required(validating->problems, FIELD(field, "limits"),
                             "Limit must be set for non overcommitable resources");
    }
}

/* What pods of a RuntimeClass need beside their containers. It is named as a limit. */
void check_overhead(struct validating *validating, yyjson_mut_val *overhead, const struct field *field)
{
    check_amounts(validating, member_get(overhead, "podFixed"), FIELD(field, "limits"));
}
