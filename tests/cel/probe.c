/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates device selectors: a request a line on stdin, an answer a line on stdout, in the form of the program in
 * tests/cel/reference.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cel/device.h"
#include "text/json.h"

static const char *const classes[] = {"value", "overload", "key", "range", "division", "failed", "cost", "memory"};

/* 0, or -1 for an attribute that Kubernetes refuses too. */
static int attribute_value(struct arena *arena, yyjson_val *attribute, struct cel_value *ret_value)
{
    yyjson_val *value;

    if ((value = yyjson_obj_get(attribute, "int")))
        *ret_value = cel_int(yyjson_get_sint(value));
    else if ((value = yyjson_obj_get(attribute, "bool")))
        *ret_value = cel_bool(yyjson_get_bool(value));
    else if ((value = yyjson_obj_get(attribute, "string")))
        *ret_value = cel_string(yyjson_get_str(value));
    else if ((value = yyjson_obj_get(attribute, "version")))
        return cel_semver(arena, yyjson_get_str(value), ret_value);
    else
        return -1;
    return 0;
}

static int describe(struct arena *arena, yyjson_val *device, struct cel_value *ret_value)
{
    struct device_value description;
    yyjson_val *key;
    size_t index;
    size_t max;
    yyjson_val *member;

    device_value_init(&description, arena, yyjson_get_str(yyjson_obj_get(device, "driver")));
    yyjson_obj_foreach(yyjson_obj_get(device, "attributes"), index, max, key, member)
    {
        struct cel_value value;
        if (attribute_value(arena, member, &value) < 0)
            return -1;
        device_value_attribute(&description, yyjson_get_str(key), value);
    }
    yyjson_obj_foreach(yyjson_obj_get(device, "capacity"), index, max, key, member)
    {
        struct cel_value value;
        if (cel_quantity(arena, yyjson_get_str(yyjson_obj_get(member, "value")), &value) < 0)
            return -1;
        device_value_capacity(&description, yyjson_get_str(key), value);
    }
    *ret_value = device_value_finish(&description, yyjson_get_bool(yyjson_obj_get(device, "allowMultipleAllocations")));
    return 0;
}

static void answer(const char *class, const char *text, const struct cel_result *result)
{
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    yyjson_mut_obj_add_str(doc, root, "class", class);
    if (result && result->outcome == CEL_VALUE && result->value.kind == CEL_BOOL)
        yyjson_mut_obj_add_bool(doc, root, "value", result->value.boolean);
    if (result)
        yyjson_mut_obj_add_uint(doc, root, "cost", result->cost);
    if (text && *text)
        yyjson_mut_obj_add_str(doc, root, "text", text);
    _cleanup_(freep) char *line = yyjson_mut_write(doc, 0, NULL);
    puts(line);
    yyjson_mut_doc_free(doc);
}

static void evaluate(const struct cel_env *env, yyjson_val *request)
{
    struct cel_program *program = NULL;
    struct cel_variable variable = {.name = "device"};
    struct err err = {0};
    struct arena arena;

    if (device_selector_compile(env, yyjson_get_str(yyjson_obj_get(request, "expression")), &program, &err) < 0) {
        answer("compile", err.text, NULL);
        return;
    }
    arena_init(&arena);
    if (describe(&arena, yyjson_obj_get(request, "device"), &variable.value) < 0) {
        answer("failed", "attribute", NULL);
    } else {
        struct cel_result result = cel_eval(program, &variable, 1, CEL_DEVICE_COST_MAX, &arena);
        bool is_other = result.outcome == CEL_VALUE && result.value.kind != CEL_BOOL;
        answer(is_other ? "not bool" : classes[result.outcome],
               result.outcome == CEL_VALUE ? NULL : result.value.explanation, &result);
    }
    arena_done(&arena);
    cel_program_free(program);
}

int main(void)
{
    struct cel_env *env = device_env_new();
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    int status = EXIT_SUCCESS;

    while (status == EXIT_SUCCESS && (len = getline(&line, &cap, stdin)) > 0) {
        _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
        struct err err = {0};
        if (json_parse(line, (size_t)len, "request", &doc, &err) < 0) {
            fprintf(stderr, "%s\n", err.text);
            status = EXIT_FAILURE;
            break;
        }
        evaluate(env, yyjson_doc_get_root(doc));
    }
    free(line);
    cel_env_free(env);
    return status;
}
