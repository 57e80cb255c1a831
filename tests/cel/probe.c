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

static int attribute_value(struct arena *arena, yyjson_val *attribute, struct cel_value *ret_value);

/* A list of values that are each of this kind. */
static int list_value(struct arena *arena, yyjson_val *list, const char *kind, struct cel_value *ret_value)
{
    struct cel_value *values = arena_calloc(arena, yyjson_arr_size(list), sizeof *values);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    size_t i, max;
    yyjson_val *item;
    int r = 0;

    yyjson_arr_foreach(list, i, max, item)
    {
        yyjson_mut_val *one = yyjson_mut_obj(doc);
        yyjson_mut_obj_add_val(doc, one, kind, yyjson_val_mut_copy(doc, item));
        yyjson_doc *read = yyjson_mut_val_imut_copy(one, NULL);
        if (r == 0)
            r = attribute_value(arena, yyjson_doc_get_root(read), &values[i]);
        yyjson_doc_free(read);
    }
    yyjson_mut_doc_free(doc);
    if (r == 0)
        *ret_value = cel_list(arena, values, yyjson_arr_size(list));
    return r;
}

/* 0, or -1 for an attribute that Kubernetes refuses too. */
static int attribute_value(struct arena *arena, yyjson_val *attribute, struct cel_value *ret_value)
{
    static const struct {
        const char *list;
        const char *kind;
    } lists[] = {{"ints", "int"}, {"bools", "bool"}, {"strings", "string"}, {"versions", "version"}};
    yyjson_val *value;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if ((value = yyjson_obj_get(attribute, lists[i].list)))
            return list_value(arena, value, lists[i].kind, ret_value);
    if ((value = yyjson_obj_get(attribute, "int")))
        *ret_value = cel_int(yyjson_get_sint(value));
    else if ((value = yyjson_obj_get(attribute, "bool")))
        *ret_value = cel_bool(yyjson_get_bool(value));
    else if ((value = yyjson_obj_get(attribute, "string")))
        *ret_value = cel_string(arena_strdup(arena, yyjson_get_str(value)));
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
    struct cel_env *envs[] = {device_env_new(DEVICE_LISTS_OFF), device_env_new(DEVICE_LISTS_ON)};
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
        yyjson_val *request = yyjson_doc_get_root(doc);
        evaluate(envs[yyjson_get_bool(yyjson_obj_get(request, "lists"))], request);
    }
    free(line);
    cel_env_free(envs[0]);
    cel_env_free(envs[1]);
    return status;
}
