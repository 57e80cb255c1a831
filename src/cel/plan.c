/* SPDX-License-Identifier: Apache-2.0 */

/*
 * From a checked tree to a plan. A plan has the shape that cel-go's has, because costs are counted by it: a variable and
 * the members that are read from it are one attribute, lists and conversions of constants are constants themselves, and
 * looking a value up in a constant list costs nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cel/core.h"

enum {
    CONSTANTS_BYTES_MAX = 16 << 20,
    CONSTANTS_WORK_MAX = 16 << 20,
    PATTERNS_BYTES_MAX = 4 << 20,
};

struct planner {
    struct cel_program *program;
    size_t memory_left;  // for constants
    uint64_t work_left;
    size_t pattern_bytes;
    struct err *err;
};

static int plan(struct planner *planner, const struct expr *expr, struct node **ret_node);

static void *new_piece(struct planner *planner, size_t size)
{
    return arena_calloc(&planner->program->arena, 1, size);
}

static struct node *new_node(struct planner *planner, enum node_kind kind, int64_t id)
{
    struct node *node = new_piece(planner, sizeof *node);

    node->kind = kind;
    node->id = id;
    return node;
}

static struct node *constant(struct planner *planner, int64_t id, struct cel_value value)
{
    struct node *node = new_node(planner, NODE_CONST, id);

    node->constant = value;
    return node;
}

static struct attribute *new_attribute(struct planner *planner, enum attribute_kind kind, int64_t id)
{
    struct attribute *attribute = new_piece(planner, sizeof *attribute);

    attribute->kind = kind;
    attribute->id = id;
    vec_push(&planner->program->attributes, attribute);
    return attribute;
}

static struct attribute *operand_attribute(struct planner *planner, int64_t id, struct node *operand)
{
    struct attribute *attribute = new_attribute(planner, ATTRIBUTE_OPERAND, id);

    attribute->operand = operand;
    return attribute;
}

static struct node *attribute_node(struct planner *planner, struct attribute *attribute)
{
    struct node *node = new_node(planner, NODE_ATTRIBUTE, attribute->id);

    node->attribute = attribute;
    return node;
}

static void add_qualifier(struct attribute *attribute, struct qualifier qualifier)
{
    if (attribute->kind == ATTRIBUTE_CHOICE) {
        add_qualifier(attribute->yes, qualifier);
        add_qualifier(attribute->no, qualifier);
        return;
    }
    vec_push(&attribute->qualifiers, qualifier);
}

/* The node as one that members can be read from. */
static struct node *as_attribute(struct planner *planner, struct node *node)
{
    if (node->kind == NODE_ATTRIBUTE)
        return node;
    return attribute_node(planner, operand_attribute(planner, node->id, node));
}

/* A constant evaluated now, with nothing around it. All constants of a program share a limit. */
static int eval_now(struct planner *planner, const struct node *node, struct cel_value *ret_value)
{
    struct run run = {.arena = &planner->program->arena,
                      .memory_left = planner->memory_left,
                      .work_left = planner->work_left,
                      .cost_limit = UINT64_MAX};

    *ret_value = eval_node(&run, NULL, node);
    vec_done(&run.stack);
    vec_done(&run.tops);
    planner->memory_left = run.memory_left;
    planner->work_left = run.work_left;
    return run.stopped ? err_set(planner->err, -EINVAL, "1:1: the constants of the expression are too large") : 0;
}

static int plan_args(struct planner *planner, struct expr *const *exprs, uint32_t count, struct node **nodes)
{
    for (uint32_t i = 0; i < count; i++) {
        int r = plan(planner, exprs[i], &nodes[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool are_constant(struct node *const *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (nodes[i]->kind != NODE_CONST)
            return false;
    return true;
}

/* --- Members --- */

static int plan_ident(struct planner *planner, const struct expr *expr, struct node **ret_node)
{
    if (expr->is_constant) {
        *ret_node = constant(planner, expr->id, expr->literal);
        return 0;
    }
    struct attribute *attribute = new_attribute(planner, ATTRIBUTE_NAME, expr->id);
    attribute->name = expr->name;
    attribute->is_global = expr->is_global;
    *ret_node = attribute_node(planner, attribute);
    return 0;
}

static int plan_member(struct planner *planner, struct node *operand, struct qualifier qualifier,
                       struct node **ret_node)
{
    struct node *node = as_attribute(planner, operand);

    add_qualifier(node->attribute, qualifier);
    if (qualifier.is_test) {
        struct node *test = attribute_node(planner, node->attribute);
        test->is_test = true;
        test->id = qualifier.id;
        node = test;
    }
    *ret_node = node;
    return 0;
}

static int plan_select(struct planner *planner, const struct expr *expr, struct node **ret_node)
{
    struct node *operand;
    int r;

    if (expr->is_constant)
        return plan_ident(planner, expr, ret_node);
    r = plan(planner, expr->target, &operand);
    if (r < 0)
        return r;
    return plan_member(
        planner, operand,
        (struct qualifier){
            .id = expr->id, .is_test = expr->is_test, .is_constant = true, .constant = cel_string(expr->name)},
        ret_node);
}

static int plan_index(struct planner *planner, const struct expr *expr, struct node **args, struct node **ret_node)
{
    struct qualifier qualifier = {.id = expr->id, .is_optional = strcmp(expr->name, "_[_]") != 0};

    switch (args[1]->kind) {
    case NODE_CONST:
        qualifier.is_constant = true;
        qualifier.constant = args[1]->constant;
        if (qualifier.constant.kind < CEL_BOOL || qualifier.constant.kind > CEL_STRING)
            return err_set(planner->err, -EINVAL, "1:1: invalid qualifier type");
        break;
    case NODE_ATTRIBUTE:
        qualifier.attribute = args[1]->attribute;
        break;
    default:
        qualifier.attribute = operand_attribute(planner, expr->id, args[1]);
        qualifier.is_observed_as_attribute = true;
        break;
    }
    return plan_member(planner, args[0], qualifier, ret_node);
}

/* --- Calls --- */

static struct attribute *branch(struct planner *planner, struct node *node)
{
    if (node->kind == NODE_ATTRIBUTE)
        return node->attribute;
    return operand_attribute(planner, node->id, node);
}

static void plan_choice(struct planner *planner, const struct expr *expr, struct node **args, struct node **ret_node)
{
    struct attribute *attribute = new_attribute(planner, ATTRIBUTE_CHOICE, expr->id);

    attribute->operand = args[0];
    attribute->yes = branch(planner, args[1]);
    attribute->no = branch(planner, args[2]);
    *ret_node = attribute_node(planner, attribute);
}

static bool is_conversion(const char *name)
{
    static const char *const names[] = {"bool", "bytes",  "double",    "duration", "dyn",
                                        "int",  "string", "timestamp", "type",     "uint"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static int compile_pattern(struct planner *planner, struct node *node)
{
    struct err why = {0};
    char *text = xstrndup(node->args[1]->constant.text.bytes, node->args[1]->constant.text.len);
    int r = pattern_new(text, &node->pattern, &why);

    free(text);
    if (r < 0)
        return err_set(planner->err, r, "1:1: invalid regular expression: %s", why.text);
    vec_push(&planner->program->patterns, node->pattern);
    planner->pattern_bytes += pattern_bytes(node->pattern);
    if (planner->pattern_bytes > PATTERNS_BYTES_MAX)
        return err_set(planner->err, -EINVAL, "1:1: the regular expressions are too large");
    return 0;
}

/* A list of booleans, numbers and strings: whether a value is in it is looked up. */
static bool is_set(struct cel_value list)
{
    for (size_t i = 0; i < list.list->len; i++)
        if (list.list->items->values[i].kind < CEL_BOOL || list.list->items->values[i].kind > CEL_STRING)
            return false;
    return true;
}

static int simplify_call(struct planner *planner, struct node *node, struct node **ret_node)
{
    const char *name = node->function->name;

    *ret_node = node;
    if (strcmp(name, "@in") == 0 && node->overload && strcmp(node->overload->id, "in_list") == 0 &&
        node->args[1]->kind == NODE_CONST && node->args[1]->constant.kind == CEL_LIST) {
        if (node->args[1]->constant.list->len == 0)
            *ret_node = constant(planner, node->id, cel_bool(false));
        else if (is_set(node->args[1]->constant))
            node->kind = NODE_IN_SET;
        return 0;
    }
    if (node->arg_count == 1 && is_conversion(name) && are_constant(node->args, 1)) {
        struct cel_value value;
        int r = eval_now(planner, node, &value);
        if (r < 0)
            return r;
        if (value.kind == CEL_ERROR)
            return err_set(planner->err, -EINVAL, "1:1: %s", value.explanation);
        *ret_node = constant(planner, node->id, value);
        return 0;
    }
    bool has_pattern = strcmp(name, "matches") == 0 || strcmp(name, "find") == 0 || strcmp(name, "findAll") == 0;
    if (has_pattern && node->args[1]->kind == NODE_CONST && node->args[1]->constant.kind == CEL_STRING)
        return compile_pattern(planner, node);
    return 0;
}

static enum node_kind special_kind(const struct expr *call)
{
    static const struct {
        const char *name;
        enum node_kind kind;
    } kinds[] = {{"_&&_", NODE_AND},     {"_||_", NODE_OR},        {"_==_", NODE_EQUAL},
                 {"_!=_", NODE_UNEQUAL}, {"or", NODE_OPTIONAL_OR}, {"orValue", NODE_OPTIONAL_OR_VALUE}};

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (strcmp(kinds[i].name, call->name) == 0)
            return kinds[i].kind;
    return NODE_CALL;
}

static int plan_call(struct planner *planner, const struct expr *expr, struct node **ret_node)
{
    uint32_t offset = expr->target ? 1 : 0;
    uint32_t count = expr->arg_count + offset;
    struct node **args = arena_calloc(&planner->program->arena, MAX(count, 1U), sizeof *args);
    int r = expr->target ? plan(planner, expr->target, &args[0]) : 0;

    r = r < 0 ? r : plan_args(planner, expr->args, expr->arg_count, args + offset);
    if (r < 0)
        return r;
    if (strcmp(expr->name, "_?_:_") == 0) {
        plan_choice(planner, expr, args, ret_node);
        return 0;
    }
    if (strcmp(expr->name, "_[_]") == 0 || strcmp(expr->name, "_[?_]") == 0 || strcmp(expr->name, "_?._") == 0)
        return plan_index(planner, expr, args, ret_node);
    struct node *node = new_node(planner, special_kind(expr), expr->id);
    node->function = expr->function;
    node->overload = expr->overload;
    node->args = args;
    node->arg_count = count;
    *ret_node = node;
    return node->kind == NODE_CALL ? simplify_call(planner, node, ret_node) : 0;
}

/* --- Literals and folds --- */

static int plan_items(struct planner *planner, const struct expr *expr, struct node **ret_node)
{
    struct node *node = new_node(planner, expr->kind == EXPR_LIST ? NODE_LIST : NODE_MAP, expr->id);

    node->arg_count = expr->arg_count;
    node->is_optional = expr->is_optional;
    node->args = arena_calloc(&planner->program->arena, MAX(expr->arg_count, 1U), sizeof *node->args);
    int r = plan_args(planner, expr->args, expr->arg_count, node->args);
    if (r < 0)
        return r;
    *ret_node = node;
    if (are_constant(node->args, node->arg_count)) {
        struct cel_value value;
        r = eval_now(planner, node, &value);
        *ret_node = constant(planner, node->id, value);
    }
    return r;
}

static int plan_fold(struct planner *planner, const struct expr *expr, struct node **ret_node)
{
    struct node *node = new_node(planner, NODE_FOLD, expr->id);
    int r = plan(planner, expr->accu_init, &node->accu_init);

    node->fold = expr;
    r = r < 0 ? r : plan(planner, expr->target, &node->range);
    r = r < 0 ? r : plan(planner, expr->condition, &node->condition);
    r = r < 0 ? r : plan(planner, expr->step, &node->step);
    r = r < 0 ? r : plan(planner, expr->result, &node->result);
    *ret_node = node;
    return r;
}

static int plan(struct planner *planner, const struct expr *expr, struct node **ret_node)
{
    switch (expr->kind) {
    case EXPR_LITERAL:
        *ret_node = constant(planner, expr->id, expr->literal);
        return 0;
    case EXPR_IDENT:
        return plan_ident(planner, expr, ret_node);
    case EXPR_SELECT:
        return plan_select(planner, expr, ret_node);
    case EXPR_CALL:
        return plan_call(planner, expr, ret_node);
    case EXPR_LIST:
    case EXPR_MAP:
        return plan_items(planner, expr, ret_node);
    case EXPR_FOLD:
        return plan_fold(planner, expr, ret_node);
    }
    return -EINVAL;
}

int cel_plan(struct cel_program *program, const struct expr *root, struct err *err)
{
    struct planner planner = {
        .program = program, .memory_left = CONSTANTS_BYTES_MAX, .work_left = CONSTANTS_WORK_MAX, .err = err};

    return plan(&planner, root, &program->root);
}

/* --- Programs --- */

int cel_compile(const struct cel_env *env, const char *expression, struct cel_program **ret_program, struct err *err)
{
    struct cel_program *program = xcalloc(1, sizeof *program);
    struct expr *root = NULL;

    arena_init(&program->arena);
    const char *text = arena_strdup(&program->arena, expression);
    int r = cel_parse(&program->arena, text, &root, err);
    r = r < 0 ? r : cel_check(env, &program->arena, text, root, err);
    r = r < 0 ? r : cel_plan(program, root, err);
    if (r < 0) {
        cel_program_free(program);
        return r;
    }
    program->type = root->type;
    *ret_program = program;
    return 0;
}

void cel_program_free(struct cel_program *program)
{
    if (!program)
        return;
    vec_foreach (&program->patterns, pattern)
        pattern_free(*pattern);
    vec_foreach (&program->attributes, attribute)
        vec_done(&(*attribute)->qualifiers);
    vec_done(&program->patterns);
    vec_done(&program->attributes);
    arena_done(&program->arena);
    free(program);
}

const char *cel_program_type(const struct cel_program *program)
{
    struct arena *arena;

    /* Only the text is added to the arena, which the program owns. */
    memcpy(&arena, &(const struct arena *){&program->arena}, sizeof arena);
    return type_text(arena, program->type);
}
