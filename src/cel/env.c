/* SPDX-License-Identifier: Apache-2.0 */

/* An environment: the functions of all libraries with their types read, and what the caller declares. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cel/core.h"

static void resolve(struct arena *arena, const struct overload *row, struct resolved_overload *ret_overload)
{
    const char *at = row->signature;

    *ret_overload = (struct resolved_overload){.row = row, .is_member = *at == '.'};
    at += ret_overload->is_member ? 2 : 1;
    while (*at != ')') {
        BUG_ON(ret_overload->arg_count == ARGS_MAX);
        ret_overload->args[ret_overload->arg_count++] = type_read(arena, &at);
        at += strspn(at, ", ");
    }
    at += 2;
    ret_overload->result = type_read(arena, &at);
}

static struct function *function_for(struct cel_env *env, const char *name)
{
    vec_foreach (&env->functions, function)
        if (strcmp(function->name, name) == 0)
            return function;
    vec_push(&env->functions, (struct function){.name = name});
    return &vec_last(&env->functions);
}

static void add_overload(struct cel_env *env, const struct overload *row)
{
    struct function *function = function_for(env, row->function);
    struct resolved_overload *more =
        arena_calloc(&env->arena, function->overload_count + 1, sizeof *function->overloads);

    if (function->overload_count)
        memcpy(more, function->overloads, function->overload_count * sizeof *more);
    resolve(&env->arena, row, &more[function->overload_count]);
    function->overloads = more;
    function->overload_count++;
}

struct cel_env *cel_env_new(void)
{
    static const struct overload_table *const tables[] = {
        &operator_table, &conversion_table, &string_table,  &list_table, &time_table,   &optional_table,
        &quantity_table, &semver_table,     &network_table, &url_table,  &format_table, &regex_table,
    };
    struct cel_env *env = xcalloc(1, sizeof *env);

    arena_init(&env->arena);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        for (size_t row = 0; row < tables[i]->count; row++)
            add_overload(env, &tables[i]->rows[row]);
    return env;
}

void cel_env_free(struct cel_env *env)
{
    if (!env)
        return;
    vec_done(&env->functions);
    vec_done(&env->fields);
    vec_done(&env->variables);
    arena_done(&env->arena);
    free(env);
}

void cel_env_field(struct cel_env *env, const char *object_type, const char *field, const char *type)
{
    vec_push(&env->fields, (struct env_field){.object = arena_strdup(&env->arena, object_type),
                                              .name = arena_strdup(&env->arena, field),
                                              .type = type_read(&env->arena, &type)});
}

void cel_env_variable(struct cel_env *env, const char *name, const char *type)
{
    vec_push(&env->variables,
             (struct env_field){.name = arena_strdup(&env->arena, name), .type = type_read(&env->arena, &type)});
}

const struct function *env_function(const struct cel_env *env, const char *name)
{
    vec_foreach (&env->functions, function)
        if (strcmp(function->name, name) == 0)
            return function;
    return NULL;
}
