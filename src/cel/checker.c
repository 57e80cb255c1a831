/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Types of expressions, names and the overloads that calls may mean. The first error ends the work. Overloads are tried in
 * the order of their table, and a call that several of them fit is decided when it is evaluated.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cel/check_literals_internal.h"
#include "cel/core.h"

struct scope {
    const struct scope *parent;
    const char *name;
    const struct cel_type *type;
};

struct checker {
    const struct cel_env *env;
    struct arena *arena;
    const char *text;
    struct err *err;
    struct bindings bindings;
    uint32_t last_param;
};

static int check(struct checker *checker, const struct scope *scope, struct expr *expr);

#define wrong(checker, at, ...) position_error((checker)->text, (at)->position, (checker)->err, __VA_ARGS__)

static const struct cel_type *new_param(struct checker *checker)
{
    return type_param(checker->arena, 100 + ++checker->last_param);
}

static const struct cel_type *settled(struct checker *checker, const struct cel_type *type)
{
    return type_substitute(checker->arena, &checker->bindings, type, false);
}

static const char *shown(struct checker *checker, const struct cel_type *type)
{
    return type_text(checker->arena, type_substitute(checker->arena, &checker->bindings, type, true));
}

static bool is_assignable(struct checker *checker, const struct cel_type *to, const struct cel_type *from)
{
    return type_is_assignable(&checker->bindings, to, from);
}

/* --- Names --- */

static const struct scope *local(const struct scope *scope, const char *name)
{
    while (scope && strcmp(scope->name, name) != 0)
        scope = scope->parent;
    return scope;
}

static void make_type_constant(struct checker *checker, struct expr *expr, const struct cel_type *type)
{
    expr->kind = EXPR_IDENT;
    expr->is_constant = true;
    expr->literal = (struct cel_value){.kind = CEL_TYPE, .type = type};
    expr->type = type_type_of(checker->arena, type);
}

static bool is_nameable(const struct cel_type *type)
{
    return type && type->kind != TYPE_ANY && type->kind != TYPE_ERROR && type->kind != TYPE_DYN &&
           type->kind != TYPE_STRUCT && (type->kind != TYPE_OPAQUE || type_is_optional(type));
}

static int check_ident(struct checker *checker, const struct scope *scope, struct expr *expr)
{
    const struct scope *found = expr->is_global ? NULL : local(scope, expr->name);

    if (found) {
        expr->type = found->type;
        return 0;
    }
    vec_foreach (&checker->env->variables, variable)
        if (strcmp(variable->name, expr->name) == 0) {
            expr->type = variable->type;
            expr->is_global = true;
            return 0;
        }
    if (is_nameable(type_by_name(expr->name))) {
        make_type_constant(checker, expr, type_by_name(expr->name));
        return 0;
    }
    return wrong(checker, expr, "undeclared reference to '%s' (in container '')", expr->name);
}

/* "a.b.c" of selects, when it begins with a name that is no local variable; false otherwise. */
static bool qualified_name(const struct scope *scope, const struct expr *expr, char *out, size_t size)
{
    size_t used;

    if (expr->kind == EXPR_IDENT) {
        if (local(scope, expr->name))
            return false;
        return (size_t)snprintf(out, size, "%s", expr->name) < size;
    }
    if (expr->kind != EXPR_SELECT || expr->is_test || !qualified_name(scope, expr->target, out, size))
        return false;
    used = strlen(out);
    return (size_t)snprintf(out + used, size - used, ".%s", expr->name) < size - used;
}

/* --- Fields --- */

static int field_type(struct checker *checker, const struct expr *at, const struct cel_type *object, const char *field,
                      const struct cel_type **ret_type)
{
    vec_foreach (&checker->env->fields, row)
        if (strcmp(row->object, object->name) == 0 && strcmp(row->name, field) == 0) {
            *ret_type = row->type;
            return 0;
        }
    return wrong(checker, at, "undefined field '%s'", field);
}

static int check_field(struct checker *checker, const struct scope *scope, struct expr *at, struct expr *operand,
                       const char *field, bool is_optional)
{
    int r = check(checker, scope, operand);

    if (r < 0)
        return r;
    const struct cel_type *type = settled(checker, operand->type);
    const bool was_optional = type_is_optional(type);
    const struct cel_type *target = was_optional ? type->params[0] : type;
    const struct cel_type *result = &type_dyn;
    if (target->kind == TYPE_MAP) {
        result = target->params[1];
    } else if (target->kind == TYPE_STRUCT) {
        r = field_type(checker, at, target, field, &result);
        if (r < 0)
            return r;
    } else if (target->kind == TYPE_PARAM) {
        (void)is_assignable(checker, &type_dyn, target);
    } else if (target->kind != TYPE_DYN && target->kind != TYPE_ANY && target->kind != TYPE_ERROR) {
        return wrong(checker, at, "type '%s' does not support field selection", shown(checker, target));
    }
    at->type = settled(checker, was_optional || is_optional ? type_optional_of(checker->arena, result) : result);
    return 0;
}

static int check_select(struct checker *checker, const struct scope *scope, struct expr *expr)
{
    char name[200];

    if (qualified_name(scope, expr, name, sizeof name) && is_nameable(type_by_name(name))) {
        make_type_constant(checker, expr, type_by_name(name));
        return 0;
    }
    int r = check_field(checker, scope, expr, expr->target, expr->name, false);
    if (r == 0 && expr->is_test)
        expr->type = &type_bool;
    return r;
}

/* --- Calls --- */

static int check_logic(struct checker *checker, struct expr *call)
{
    for (uint32_t i = 0; i < call->arg_count; i++)
        if (!is_assignable(checker, call->args[i]->type, &type_bool))
            return wrong(checker, call->args[i], "expected type 'bool' but found '%s'",
                         shown(checker, call->args[i]->type));
    call->type = &type_bool;
    return 0;
}

/* The types of an overload with type parameters of their own. */
static void instantiate(struct checker *checker, const struct resolved_overload *overload,
                        struct resolved_overload *ret_overload)
{
    const uint32_t first = 100 + checker->last_param + 1;

    *ret_overload = *overload;
    checker->last_param += 26;
    for (int i = 0; i < overload->arg_count; i++)
        ret_overload->args[i] = type_renumber(checker->arena, overload->args[i], first);
    ret_overload->result = type_renumber(checker->arena, overload->result, first);
}

static bool do_args_fit(struct checker *checker, const struct resolved_overload *overload,
                        const struct cel_type *const *types, int count)
{
    uint32_t before = checker->bindings.len;

    if (overload->arg_count != count)
        return false;
    for (int i = 0; i < count; i++) {
        if (!is_assignable(checker, types[i], overload->args[i])) {
            checker->bindings.len = before;
            return false;
        }
    }
    return true;
}

static int no_overload_error(struct checker *checker, const struct expr *call, const struct cel_type *const *types,
                             int count)
{
    char list[300] = "";

    for (int i = call->target ? 1 : 0; i < count; i++) {
        size_t used = strlen(list);
        (void)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", shown(checker, types[i]));
    }
    return wrong(checker, call, "found no matching overload for '%s' applied to '%s%s(%s)'", call->name,
                 call->target ? shown(checker, types[0]) : "", call->target ? "." : "", list);
}

static int resolve_overload(struct checker *checker, struct expr *call)
{
    const struct cel_type *types[ARGS_MAX];
    const struct cel_type *result = NULL;
    int count = 0;
    int fitting = 0;

    if (call->arg_count + (call->target ? 1 : 0) > ARGS_MAX)
        return wrong(checker, call, "found no matching overload for '%s'", call->name);
    if (call->target)
        types[count++] = call->target->type;
    for (uint32_t i = 0; i < call->arg_count; i++)
        types[count++] = call->args[i]->type;
    for (uint32_t i = 0; i < call->function->overload_count; i++) {
        struct resolved_overload overload;
        if (call->function->overloads[i].is_member != (call->target != NULL))
            continue;
        instantiate(checker, &call->function->overloads[i], &overload);
        if (!do_args_fit(checker, &overload, types, count))
            continue;
        const struct cel_type *this_result = settled(checker, overload.result);
        call->overload = ++fitting == 1 ? overload.row : NULL;
        if (!result)
            result = this_result;
        else if (result->kind != TYPE_DYN && result->kind != TYPE_ANY && !type_is_exact(this_result, result))
            result = &type_dyn;
    }
    if (!result)
        return no_overload_error(checker, call, types, count);
    call->type = result;
    return 0;
}

static int check_optional_select(struct checker *checker, const struct scope *scope, struct expr *call)
{
    call->args[1]->type = &type_string;
    return check_field(checker, scope, call, call->args[0], call->args[1]->literal.text.bytes, true);
}

static int check_call(struct checker *checker, const struct scope *scope, struct expr *call)
{
    char name[200];
    int r = 0;

    if (strcmp(call->name, "_?._") == 0)
        return check_optional_select(checker, scope, call);
    for (uint32_t i = 0; r == 0 && i < call->arg_count; i++)
        r = check(checker, scope, call->args[i]);
    if (r < 0)
        return r;
    if (strcmp(call->name, "_&&_") == 0 || strcmp(call->name, "_||_") == 0)
        return check_logic(checker, call);
    if (call->target && qualified_name(NULL, call->target, name, sizeof name)) {
        size_t used = strlen(name);
        (void)snprintf(name + used, sizeof name - used, ".%s", call->name);
        call->function = env_function(checker->env, name);
        if (call->function) {
            call->target = NULL;
            call->name = call->function->name;
            return resolve_overload(checker, call);
        }
    }
    r = call->target ? check(checker, scope, call->target) : 0;
    if (r < 0)
        return r;
    call->function = env_function(checker->env, call->name);
    if (!call->function)
        return wrong(checker, call, "undeclared reference to '%s' (in container '')", call->name);
    return resolve_overload(checker, call);
}

/* --- Literals and folds --- */

/* The type of all items so far and one more; check_literals() looks at those that differ. */
static const struct cel_type *join(struct checker *checker, const struct cel_type *type, const struct cel_type *more)
{
    if (!type)
        return more;
    return is_assignable(checker, type, more) ? type_most_general(type, more) : &type_dyn;
}

/* The type of an item that is written with a question mark. */
static int unwrap(struct checker *checker, const struct expr *item, const struct cel_type **ret_type)
{
    *ret_type = item->type;
    if (type_is_optional(item->type))
        *ret_type = item->type->params[0];
    else if (item->type->kind != TYPE_DYN && item->type->kind != TYPE_ANY)
        return wrong(checker, item, "expected an optional value but found '%s'", shown(checker, item->type));
    return 0;
}

static int check_list(struct checker *checker, const struct scope *scope, struct expr *list)
{
    const struct cel_type *item = NULL;

    for (uint32_t i = 0; i < list->arg_count; i++) {
        int r = check(checker, scope, list->args[i]);
        const struct cel_type *type = list->args[i]->type;
        if (r == 0 && list->is_optional[i])
            r = unwrap(checker, list->args[i], &type);
        if (r < 0)
            return r;
        item = join(checker, item, type);
    }
    list->type = type_list_of(checker->arena, item ? item : new_param(checker));
    return 0;
}

static int check_map(struct checker *checker, const struct scope *scope, struct expr *map)
{
    const struct cel_type *key = NULL;
    const struct cel_type *value = NULL;

    for (uint32_t i = 0; i < map->arg_count; i += 2) {
        const struct cel_type *type;
        int r = check(checker, scope, map->args[i]);
        r = r < 0 ? r : check(checker, scope, map->args[i + 1]);
        type = map->args[i + 1]->type;
        if (r == 0 && map->is_optional[i / 2])
            r = unwrap(checker, map->args[i + 1], &type);
        if (r < 0)
            return r;
        key = join(checker, key, map->args[i]->type);
        value = join(checker, value, type);
    }
    map->type = type_map_of(checker->arena, key ? key : new_param(checker), value ? value : new_param(checker));
    return 0;
}

static int range_types(struct checker *checker, const struct expr *fold, const struct cel_type **ret_first,
                       const struct cel_type **ret_second)
{
    const struct cel_type *range = settled(checker, fold->target->type);

    *ret_first = *ret_second = &type_dyn;
    switch (range->kind) {
    case TYPE_LIST:
        *ret_first = fold->iter_var2 ? &type_int : range->params[0];
        *ret_second = range->params[0];
        return 0;
    case TYPE_MAP:
        *ret_first = range->params[0];
        *ret_second = range->params[1];
        return 0;
    case TYPE_DYN:
    case TYPE_ERROR:
    case TYPE_PARAM:
        (void)is_assignable(checker, &type_dyn, range);
        return 0;
    default:
        return wrong(checker, fold->target, "expression of type '%s' cannot be range of a comprehension",
                     shown(checker, range));
    }
}

static int expect_type(struct checker *checker, const struct expr *expr, const struct cel_type *type)
{
    if (is_assignable(checker, type, expr->type))
        return 0;
    return wrong(checker, expr, "expected type '%s' but found '%s'", shown(checker, type), shown(checker, expr->type));
}

static int check_fold(struct checker *checker, const struct scope *scope, struct expr *fold)
{
    const struct cel_type *first;
    const struct cel_type *second;
    int r = check(checker, scope, fold->target);

    r = r < 0 ? r : check(checker, scope, fold->accu_init);
    r = r < 0 ? r : range_types(checker, fold, &first, &second);
    if (r < 0)
        return r;
    struct scope accu = {scope, fold->accu_var, fold->accu_init->type};
    struct scope iter = {&accu, fold->iter_var, first};
    struct scope iter2 = {&iter, fold->iter_var2, second};
    const struct scope *inner = fold->iter_var2 ? &iter2 : &iter;
    r = check(checker, inner, fold->condition);
    r = r < 0 ? r : expect_type(checker, fold->condition, &type_bool);
    r = r < 0 ? r : check(checker, inner, fold->step);
    r = r < 0 ? r : expect_type(checker, fold->step, accu.type);
    r = r < 0 ? r : check(checker, &accu, fold->result);
    if (r == 0)
        fold->type = settled(checker, fold->result->type);
    return r;
}

static int check(struct checker *checker, const struct scope *scope, struct expr *expr)
{
    if (expr->type)
        return 0;
    switch (expr->kind) {
    case EXPR_LITERAL:
        expr->type = value_type(expr->literal);
        return 0;
    case EXPR_IDENT:
        return check_ident(checker, scope, expr);
    case EXPR_SELECT:
        return check_select(checker, scope, expr);
    case EXPR_CALL:
        return check_call(checker, scope, expr);
    case EXPR_LIST:
        return check_list(checker, scope, expr);
    case EXPR_MAP:
        return check_map(checker, scope, expr);
    case EXPR_FOLD:
        return check_fold(checker, scope, expr);
    }
    return -EINVAL;
}

int cel_check(const struct cel_env *env, struct arena *arena, const char *text, struct expr *root, struct err *err)
{
    struct checker checker = {.env = env, .arena = arena, .text = text, .err = err};
    int r = check(&checker, NULL, root);

    if (r == 0) {
        settle_types(arena, &checker.bindings, root);
        r = check_literals(text, root, err);
    }
    vec_done(&checker.bindings);
    return r;
}
