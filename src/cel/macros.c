/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The macros of CEL. Nearly all of them are folds: a range is walked over with one or two variables, and an accumulator
 * takes a new value at each step. cel.bind() is a fold over nothing whose accumulator is the variable.
 */
#include "cel/macros_internal.h"

#include <errno.h>
#include <string.h>

#define ACCUMULATOR "@result"

struct expr *tree_expr(struct tree *tree, enum expr_kind kind, size_t position)
{
    struct expr *expr = arena_calloc(tree->arena, 1, sizeof *expr);

    expr->kind = kind;
    expr->id = ++tree->last_id;
    expr->position = position;
    return expr;
}

struct expr *tree_literal(struct tree *tree, size_t position, struct cel_value value)
{
    struct expr *expr = tree_expr(tree, EXPR_LITERAL, position);

    expr->literal = value;
    return expr;
}

struct expr *tree_call(struct tree *tree, size_t position, const char *function, struct expr *target,
                       struct expr *const *args, uint32_t count)
{
    struct expr *call = tree_expr(tree, EXPR_CALL, position);

    call->name = function;
    call->target = target;
    call->arg_count = count;
    call->args = arena_calloc(tree->arena, MAX(count, 1U), sizeof *call->args);
    for (uint32_t i = 0; i < count; i++)
        call->args[i] = args[i];
    return call;
}

static struct expr *ident(struct tree *tree, size_t position, const char *name)
{
    struct expr *expr = tree_expr(tree, EXPR_IDENT, position);

    expr->name = name;
    return expr;
}

static struct expr *accumulator(struct tree *tree, size_t position)
{
    return ident(tree, position, ACCUMULATOR);
}

static struct expr *list_of(struct tree *tree, size_t position, struct expr *item)
{
    struct expr *list = tree_expr(tree, EXPR_LIST, position);

    list->arg_count = item ? 1 : 0;
    list->args = arena_calloc(tree->arena, 1, sizeof *list->args);
    list->is_optional = arena_calloc(tree->arena, 1, sizeof *list->is_optional);
    list->args[0] = item;
    return list;
}

static struct expr *choice(struct tree *tree, struct expr *condition, struct expr *yes, struct expr *no)
{
    return tree_call(tree, condition->position, "_?_:_", NULL, (struct expr *[]){condition, yes, no}, 3);
}

static struct expr *two(struct tree *tree, const char *function, struct expr *a, struct expr *b)
{
    return tree_call(tree, a->position, function, NULL, (struct expr *[]){a, b}, 2);
}

/* A macro that is called: its fold is begun, and the parts that differ are filled in. */
struct macro_call {
    struct tree *tree;
    struct expr *call;
    struct expr *fold;
    struct expr **args;  // behind the variables
    uint32_t arg_count;
    bool has_two_vars;
};

typedef void (*fill_fn)(struct macro_call *macro);

static struct expr *literal(struct macro_call *macro, struct cel_value value)
{
    return tree_literal(macro->tree, macro->call->position, value);
}

static struct expr *accu(struct macro_call *macro)
{
    return accumulator(macro->tree, macro->call->position);
}

static struct expr *not_strictly_false(struct macro_call *macro, struct expr *condition)
{
    return tree_call(macro->tree, macro->call->position, "@not_strictly_false", NULL, &condition, 1);
}

static void fill_all(struct macro_call *macro)
{
    macro->fold->accu_init = literal(macro, cel_bool(true));
    macro->fold->condition = not_strictly_false(macro, accu(macro));
    macro->fold->step = two(macro->tree, "_&&_", accu(macro), macro->args[0]);
    macro->fold->result = accu(macro);
}

static void fill_exists(struct macro_call *macro)
{
    struct expr *last = accu(macro);

    macro->fold->accu_init = literal(macro, cel_bool(false));
    macro->fold->condition =
        not_strictly_false(macro, tree_call(macro->tree, macro->call->position, "!_", NULL, &last, 1));
    macro->fold->step = two(macro->tree, "_||_", accu(macro), macro->args[0]);
    macro->fold->result = accu(macro);
}

static void fill_exists_one(struct macro_call *macro)
{
    macro->fold->accu_init = literal(macro, cel_int(0));
    macro->fold->condition = literal(macro, cel_bool(true));
    macro->fold->step = choice(macro->tree, macro->args[0],
                               two(macro->tree, "_+_", accu(macro), literal(macro, cel_int(1))), accu(macro));
    macro->fold->result = two(macro->tree, "_==_", accu(macro), literal(macro, cel_int(1)));
}

/* With two arguments, the first one is a filter. */
static void fill_list(struct macro_call *macro)
{
    const bool has_filter = macro->arg_count == 2;
    struct expr *item = macro->args[has_filter ? 1 : 0];

    macro->fold->accu_init = list_of(macro->tree, macro->call->position, NULL);
    macro->fold->condition = literal(macro, cel_bool(true));
    macro->fold->step = two(macro->tree, "_+_", accu(macro), list_of(macro->tree, item->position, item));
    if (has_filter)
        macro->fold->step = choice(macro->tree, macro->args[0], macro->fold->step, accu(macro));
    macro->fold->result = accu(macro);
}

static void fill_filter(struct macro_call *macro)
{
    struct expr *item = ident(macro->tree, macro->call->position, macro->fold->iter_var);

    macro->fold->accu_init = list_of(macro->tree, macro->call->position, NULL);
    macro->fold->condition = literal(macro, cel_bool(true));
    macro->fold->step =
        choice(macro->tree, macro->args[0],
               two(macro->tree, "_+_", accu(macro), list_of(macro->tree, macro->call->position, item)), accu(macro));
    macro->fold->result = accu(macro);
}

static void fill_map_with(struct macro_call *macro, bool is_entry)
{
    const bool has_filter = macro->arg_count == 2;
    struct expr *value = macro->args[has_filter ? 1 : 0];
    struct expr *insert_args[3] = {accu(macro), value};
    struct expr *empty = tree_expr(macro->tree, EXPR_MAP, macro->call->position);

    empty->args = arena_calloc(macro->tree->arena, 1, sizeof *empty->args);
    empty->is_optional = arena_calloc(macro->tree->arena, 1, sizeof *empty->is_optional);
    if (!is_entry) {
        insert_args[1] = ident(macro->tree, macro->call->position, macro->fold->iter_var);
        insert_args[2] = value;
    }
    macro->fold->accu_init = empty;
    macro->fold->condition = literal(macro, cel_bool(true));
    macro->fold->step =
        tree_call(macro->tree, macro->call->position, "cel.@mapInsert", NULL, insert_args, is_entry ? 2 : 3);
    if (has_filter)
        macro->fold->step = choice(macro->tree, macro->args[0], macro->fold->step, accu(macro));
    macro->fold->result = accu(macro);
}

static void fill_map(struct macro_call *macro)
{
    fill_map_with(macro, false);
}

static void fill_map_entry(struct macro_call *macro)
{
    fill_map_with(macro, true);
}

/* A variable with a value, seen in one expression. */
static struct expr *bind(struct tree *tree, size_t position, const char *name, struct expr *value, struct expr *body)
{
    struct expr *fold = tree_expr(tree, EXPR_FOLD, position);

    fold->target = list_of(tree, position, NULL);
    fold->iter_var = "#unused";
    fold->accu_var = name;
    fold->accu_init = value;
    fold->condition = tree_literal(tree, position, cel_bool(false));
    fold->step = ident(tree, position, name);
    fold->result = body;
    return fold;
}

static const struct {
    const char *name;
    uint8_t arg_count;
    uint8_t vars;
    fill_fn fill;
} folds[] = {
    {"all", 2, 1, fill_all},
    {"exists", 2, 1, fill_exists},
    {"exists_one", 2, 1, fill_exists_one},
    {"map", 2, 1, fill_list},
    {"map", 3, 1, fill_list},
    {"filter", 2, 1, fill_filter},
    {"all", 3, 2, fill_all},
    {"exists", 3, 2, fill_exists},
    {"exists_one", 3, 2, fill_exists_one},
    {"existsOne", 3, 2, fill_exists_one},
    {"transformList", 3, 2, fill_list},
    {"transformList", 4, 2, fill_list},
    {"transformMap", 3, 2, fill_map},
    {"transformMap", 4, 2, fill_map},
    {"transformMapEntry", 3, 2, fill_map_entry},
    {"transformMapEntry", 4, 2, fill_map_entry},
};

static int wrong(struct tree *tree, const struct expr *at, const char *what)
{
    return position_error(tree->text, at->position, tree->err, "%s", what);
}

static bool is_variable(const struct expr *expr)
{
    return expr->kind == EXPR_IDENT && !expr->is_global;
}

static int expand_fold(struct tree *tree, struct expr *call, uint8_t vars, fill_fn fill, struct expr **ret_expr)
{
    struct expr *fold = tree_expr(tree, EXPR_FOLD, call->position);
    struct macro_call macro = {.tree = tree,
                               .call = call,
                               .fold = fold,
                               .args = call->args + vars,
                               .arg_count = call->arg_count - vars,
                               .has_two_vars = vars == 2};

    for (uint8_t i = 0; i < vars; i++)
        if (!is_variable(call->args[i]))
            return wrong(tree, call->args[i], "argument must be a simple name");
    fold->target = call->target;
    fold->iter_var = call->args[0]->name;
    fold->iter_var2 = vars == 2 ? call->args[1]->name : NULL;
    fold->accu_var = ACCUMULATOR;
    if (vars == 2 && strcmp(fold->iter_var, fold->iter_var2) == 0)
        return wrong(tree, call->args[1], "duplicate variable name");
    if (strcmp(fold->iter_var, "__result__") == 0 || (vars == 2 && strcmp(fold->iter_var2, "__result__") == 0))
        return wrong(tree, call->args[0], "iteration variable overwrites accumulator variable");
    fill(&macro);
    *ret_expr = fold;
    return 0;
}

static int expand_has(struct tree *tree, struct expr *call, struct expr **ret_expr)
{
    struct expr *field = call->args[0];

    if (field->kind != EXPR_SELECT || field->is_test)
        return wrong(tree, field, "invalid argument to has() macro");
    struct expr *test = tree_expr(tree, EXPR_SELECT, call->position);
    test->name = field->name;
    test->target = field->target;
    test->is_test = true;
    *ret_expr = test;
    return 0;
}

static int expand_bind(struct tree *tree, struct expr *call, struct expr **ret_expr)
{
    if (!is_variable(call->args[0]))
        return wrong(tree, call->args[0], "cel.bind() variable names must be simple identifiers");
    *ret_expr = bind(tree, call->position, call->args[0]->name, call->args[1], call->args[2]);
    return 0;
}

static int expand_opt_map(struct tree *tree, struct expr *call, bool is_flat, struct expr **ret_expr)
{
    if (!is_variable(call->args[0]))
        return wrong(tree, call->args[0], "variable name must be a simple identifier");
    struct expr *has = tree_call(tree, call->position, "hasValue", call->target, NULL, 0);
    struct expr *value = tree_call(tree, call->position, "value", call->target, NULL, 0);
    struct expr *body = bind(tree, call->position, call->args[0]->name, value, call->args[1]);
    if (!is_flat)
        body = tree_call(tree, call->position, "optional.of", NULL, &body, 1);
    *ret_expr = choice(tree, has, body, tree_call(tree, call->position, "optional.none", NULL, NULL, 0));
    return 0;
}

static int expand_sort_by(struct tree *tree, struct expr *call, struct expr **ret_expr)
{
    static const char input[] = "@__sortBy_input__";
    struct expr *map = tree_call(tree, call->position, "map", ident(tree, call->position, input), call->args, 2);
    struct expr *keys;

    if (call->target->kind == EXPR_LITERAL || call->target->kind == EXPR_MAP)
        return wrong(tree, call->target,
                     "sortBy can only be applied to a list, identifier, comprehension, call or select");
    int r = expand_fold(tree, map, 1, fill_list, &keys);
    if (r < 0)
        return r;
    struct expr *sorted =
        tree_call(tree, call->position, "@sortByAssociatedKeys", ident(tree, call->position, input), &keys, 1);
    *ret_expr = bind(tree, call->position, input, call->target, sorted);
    return 0;
}

int expand_macro(struct tree *tree, struct expr *call, struct expr **ret_expr)
{
    if (!call->target)
        return strcmp(call->name, "has") == 0 && call->arg_count == 1 && !call->is_global
                   ? expand_has(tree, call, ret_expr)
                   : 0;
    for (size_t i = 0; i < ARRAY_LEN(folds); i++)
        if (strcmp(call->name, folds[i].name) == 0 && call->arg_count == folds[i].arg_count)
            return expand_fold(tree, call, folds[i].vars, folds[i].fill, ret_expr);
    if (strcmp(call->name, "bind") == 0 && call->arg_count == 3 && call->target->kind == EXPR_IDENT &&
        strcmp(call->target->name, "cel") == 0)
        return expand_bind(tree, call, ret_expr);
    if (strcmp(call->name, "sortBy") == 0 && call->arg_count == 2)
        return expand_sort_by(tree, call, ret_expr);
    bool is_flat = strcmp(call->name, "optFlatMap") == 0;
    if ((is_flat || strcmp(call->name, "optMap") == 0) && call->arg_count == 2)
        return expand_opt_map(tree, call, is_flat, ret_expr);
    return 0;
}
