/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Evaluation. Errors are values: && and || swallow them when the other side decides, everything else passes them on. After
 * each step the cost is counted.
 */
#include <errno.h>
#include <string.h>

#include "cel/counting_internal.h"

/* --- Members --- */

static struct cel_value resolve_attribute(struct run *run, const struct frame *frame,
                                          const struct attribute *attribute);

static bool list_index(struct cel_value key, int64_t *ret_index)
{
    if (key.kind == CEL_INT)
        *ret_index = key.integer;
    else if (key.kind == CEL_UINT && key.uinteger <= INT64_MAX)
        *ret_index = (int64_t)key.uinteger;
    else if (key.kind == CEL_DOUBLE && key.number > -TWO_TO_62 && key.number < TWO_TO_62 &&
             (double)(int64_t)key.number == key.number)
        *ret_index = (int64_t)key.number;
    else
        return false;
    return true;
}

/* One member of an object; `*ret_is_there` is false when it is absent, which is an error unless `is_asked`. */
static struct cel_value member(struct run *run, struct cel_value object, struct cel_value key, bool is_asked,
                               bool *ret_is_there)
{
    int64_t index;

    *ret_is_there = true;
    if (object.kind == CEL_MAP) {
        const struct cel_value *found = map_member(run, object.map, key);
        if (found)
            return *found;
        if (object.map->fallback)
            return *object.map->fallback;
        *ret_is_there = false;
        return is_asked ? cel_null() : error_value(CEL_NO_KEY, "no such key");
    }
    if (object.kind == CEL_LIST) {
        if (!list_index(key, &index))
            return error_value(CEL_FAILED, "unsupported index type in list");
        if (index >= 0 && (uint64_t)index < object.list->len)
            return object.list->items->values[index];
        *ret_is_there = false;
        return is_asked ? cel_null() : error_value(CEL_RANGE, "index out of bounds");
    }
    if (object.kind == CEL_ERROR)
        return object;
    *ret_is_there = false;
    return is_asked ? cel_null() : error_value(CEL_NO_KEY, "no such key");
}

static struct cel_value qualify(struct run *run, const struct frame *frame, const struct qualifier *qualifier,
                                struct cel_value object, bool is_optional, bool *ret_is_there)
{
    struct cel_value key = qualifier->constant;
    struct cel_value value;
    bool is_there = true;

    if (!qualifier->is_constant)
        key = resolve_attribute(run, frame, qualifier->attribute);
    if (run->stopped)
        return stopped_value(run);
    if (key.kind == CEL_ERROR)
        value = key;
    else if (key.kind < CEL_BOOL || key.kind > CEL_STRING)
        value = error_value(CEL_FAILED, "invalid qualifier type");
    else
        value = member(run, object, key, is_optional || qualifier->is_test, &is_there);
    if (qualifier->is_test && value.kind != CEL_ERROR) {
        value = cel_bool(is_there);
        is_there = is_there || !is_optional;
    }
    *ret_is_there = is_there;
    if (is_optional && (!is_there || value.kind == CEL_ERROR))
        return value;
    if (qualifier->is_observed_as_attribute)
        (void)stack_drop(run, attribute_id(qualifier->attribute), NULL);
    run->cost++;
    stack_push(run, qualifier->id, value);
    return run->stopped ? stopped_value(run) : value;
}

static struct cel_value apply_qualifiers(struct run *run, const struct frame *frame, const struct attribute *attribute,
                                         struct cel_value value)
{
    bool is_optional = false;

    if (value.kind == CEL_ERROR || attribute->qualifiers.len == 0)
        return value;
    if (value.kind == CEL_OPTIONAL) {
        if (!value.optional)
            return value;
        value = *value.optional;
        is_optional = true;
    }
    for (uint32_t i = 0; i < attribute->qualifiers.len; i++) {
        const struct qualifier *qualifier = &attribute->qualifiers.items[i];
        bool is_there = false;
        is_optional = is_optional || qualifier->is_optional;
        value = qualify(run, frame, qualifier, value, is_optional, &is_there);
        if (value.kind == CEL_ERROR)
            return value;
        if (is_optional && !is_there)
            return optional_none();
    }
    return is_optional ? optional_of(run, value) : value;
}

static struct cel_value begin_accumulator(struct run *run, const struct frame *frame)
{
    if (!*frame->is_begun) {
        *frame->is_begun = true;
        *frame->accu = eval_node(run, frame->parent, frame->fold->accu_init);
    }
    return *frame->accu;
}

static struct cel_value resolve_name(struct run *run, const struct frame *frame, const char *name, bool is_global)
{
    for (; frame && !is_global; frame = frame->parent) {
        const struct expr *fold = frame->fold->fold;
        if (strcmp(name, fold->accu_var) == 0)
            return begin_accumulator(run, frame);
        if (frame->is_for_result)
            continue;
        if (strcmp(name, fold->iter_var) == 0)
            return frame->iter;
        if (fold->iter_var2 && strcmp(name, fold->iter_var2) == 0)
            return frame->iter2;
    }
    for (size_t i = 0; i < run->variable_count; i++)
        if (strcmp(run->variables[i].name, name) == 0)
            return run->variables[i].value;
    return error_value(CEL_FAILED, "no such attribute");
}

static struct cel_value resolve_choice(struct run *run, const struct frame *frame, const struct attribute *attribute)
{
    struct cel_value condition = eval_node(run, frame, attribute->operand);

    if (condition.kind == CEL_ERROR)
        return condition;
    if (condition.kind != CEL_BOOL)
        return no_overload();
    return resolve_attribute(run, frame, condition.boolean ? attribute->yes : attribute->no);
}

static struct cel_value resolve_attribute(struct run *run, const struct frame *frame, const struct attribute *attribute)
{
    struct cel_value value;

    if (run->stopped)
        return stopped_value(run);
    if (attribute->kind == ATTRIBUTE_CHOICE)
        return resolve_choice(run, frame, attribute);
    if (attribute->kind == ATTRIBUTE_NAME)
        value = resolve_name(run, frame, attribute->name, attribute->is_global);
    else
        value = eval_node(run, frame, attribute->operand);
    return apply_qualifiers(run, frame, attribute, value);
}

static struct cel_value eval_attribute(struct run *run, const struct frame *frame, const struct node *node)
{
    struct cel_value value = resolve_attribute(run, frame, node->attribute);

    if (node->is_test && value.kind == CEL_OPTIONAL)
        return cel_bool(value.optional != NULL);
    return value;
}

/* --- Operators and calls --- */

static struct cel_value eval_logic(struct run *run, const struct frame *frame, const struct node *node)
{
    const bool deciding = node->kind == NODE_OR;
    struct cel_value error = {.kind = CEL_NULL};

    for (uint32_t i = 0; i < node->arg_count; i++) {
        struct cel_value value = eval_node(run, frame, node->args[i]);
        if (run->stopped)
            return stopped_value(run);
        if (value.kind == CEL_BOOL && value.boolean == deciding)
            return value;
        if (value.kind != CEL_BOOL && error.kind != CEL_ERROR)
            error = value.kind == CEL_ERROR ? value : no_overload();
    }
    return error.kind == CEL_ERROR ? error : cel_bool(!deciding);
}

static struct cel_value eval_equal(struct run *run, const struct frame *frame, const struct node *node)
{
    struct cel_value left = eval_node(run, frame, node->args[0]);
    struct cel_value right = eval_node(run, frame, node->args[1]);

    if (left.kind == CEL_ERROR)
        return left;
    if (right.kind == CEL_ERROR)
        return right;
    int equal = value_equal(run, left, right);
    if (node->kind == NODE_UNEQUAL)
        return cel_bool(equal != 1);
    return equal < 0 ? no_overload() : cel_bool(equal == 1);
}

static const struct resolved_overload *find_overload(const struct node *node, const struct cel_value *args)
{
    for (uint32_t i = 0; i < node->function->overload_count; i++) {
        const struct resolved_overload *overload = &node->function->overloads[i];
        bool does_fit = overload->arg_count == (int)node->arg_count;
        if (node->overload && node->overload != overload->row)
            continue;
        for (int arg = 0; does_fit && arg < overload->arg_count; arg++)
            does_fit = value_fits(args[arg], overload->args[arg]);
        if (does_fit)
            return overload;
    }
    return NULL;
}

static struct cel_value eval_call(struct run *run, const struct frame *frame, const struct node *node)
{
    /* cel-go evaluates all of up to two arguments, unless the overload is looked for or the pattern compiled before. */
    const bool is_operator = node->function->name[0] == '_' || node->function->name[0] == '@';
    const bool ends_at_error = node->arg_count > 2 || node->pattern || (!node->overload && !is_operator);
    const bool is_lenient = node->function->name[0] == '@' && strcmp(node->function->name, "@not_strictly_false") == 0;
    struct cel_value args[ARGS_MAX];

    for (uint32_t i = 0; i < node->arg_count; i++) {
        args[i] = eval_node(run, frame, node->args[i]);
        if (run->stopped)
            return stopped_value(run);
        if (args[i].kind == CEL_ERROR && !is_lenient && ends_at_error)
            return args[i];
    }
    for (uint32_t i = 0; i < node->arg_count; i++)
        if (args[i].kind == CEL_ERROR && !is_lenient)
            return args[i];
    const struct resolved_overload *overload = find_overload(node, args);
    if (!overload)
        return no_overload();
    if (node->arg_count && !is_affordable(run, node, args))
        return stopped_value(run);
    run->pattern = node->pattern;
    return overload->row->call(run, args, (int)node->arg_count);
}

static struct cel_value eval_in_set(struct run *run, const struct frame *frame, const struct node *node)
{
    struct cel_value value = eval_node(run, frame, node->args[0]);
    const struct cel_list *set = node->args[1]->constant.list;

    if (value.kind == CEL_ERROR)
        return value;
    /* Kubernetes cannot look these up. */
    if (value.kind == CEL_BYTES || value.kind == CEL_SEMVER)
        return error_value(CEL_FAILED, "value cannot be looked up in a list of constants");
    for (size_t i = 0; i < set->len; i++)
        if (value_equal(run, set->items->values[i], value) == 1)
            return cel_bool(true);
    return cel_bool(false);
}

static struct cel_value eval_optional_or(struct run *run, const struct frame *frame, const struct node *node)
{
    struct cel_value left = eval_node(run, frame, node->args[0]);

    if (left.kind == CEL_ERROR)
        return left;
    if (left.kind != CEL_OPTIONAL)
        return no_overload();
    if (!left.optional)
        return eval_node(run, frame, node->args[1]);
    return node->kind == NODE_OPTIONAL_OR ? left : *left.optional;
}

/* --- Literals and folds --- */

static struct cel_value eval_list(struct run *run, const struct frame *frame, const struct node *node)
{
    struct cel_value *items = run_alloc(run, node->arg_count * sizeof *items);
    size_t len = 0;

    if (!items)
        return stopped_value(run);
    for (uint32_t i = 0; i < node->arg_count; i++) {
        struct cel_value value = eval_node(run, frame, node->args[i]);
        if (value.kind == CEL_ERROR)
            return value;
        if (node->is_optional[i]) {
            if (value.kind != CEL_OPTIONAL)
                return error_value(CEL_FAILED, "cannot initialize optional list element from non-optional value");
            if (!value.optional)
                continue;
            value = *value.optional;
        }
        items[len++] = value;
    }
    return list_copy(run, items, len);
}

static void map_set(struct run *run, struct cel_map *map, struct cel_value key, struct cel_value value)
{
    for (size_t i = 0; i < map->len; i++) {
        if (map->entries[i].key.kind == key.kind && value_equal(run, map->entries[i].key, key) == 1) {
            map->entries[i].value = value;
            return;
        }
    }
    map->entries[map->len++] = (struct map_entry){key, value};
}

static void map_remove(struct run *run, struct cel_map *map, struct cel_value key)
{
    for (size_t i = 0; i < map->len; i++) {
        if (map->entries[i].key.kind == key.kind && value_equal(run, map->entries[i].key, key) == 1) {
            map->entries[i] = map->entries[--map->len];
            return;
        }
    }
}

static struct cel_value eval_map(struct run *run, const struct frame *frame, const struct node *node)
{
    struct cel_map *map = run_alloc(run, sizeof *map);
    struct map_entry *entries = run_alloc(run, (node->arg_count / 2) * sizeof *entries);

    if (!map || !entries)
        return stopped_value(run);
    *map = (struct cel_map){.entries = entries, .cap = node->arg_count / 2};
    for (uint32_t i = 0; i < node->arg_count; i += 2) {
        struct cel_value key = eval_node(run, frame, node->args[i]);
        if (key.kind == CEL_ERROR)
            return key;
        struct cel_value value = eval_node(run, frame, node->args[i + 1]);
        if (value.kind == CEL_ERROR)
            return value;
        if (node->is_optional[i / 2]) {
            if (value.kind != CEL_OPTIONAL)
                return error_value(CEL_FAILED, "cannot initialize optional entry from non-optional value");
            if (!value.optional) {
                map_remove(run, map, key);
                continue;
            }
            value = *value.optional;
        }
        map_set(run, map, key, value);
    }
    return cel_map_value(map);
}

/* One step of a fold; false when it ends. */
static bool fold_step(struct run *run, struct frame *frame, const struct node *node)
{
    struct cel_value condition = eval_node(run, frame, node->condition);

    if (run->stopped || (condition.kind == CEL_BOOL && !condition.boolean))
        return false;
    *frame->accu = eval_node(run, frame, node->step);
    *frame->is_begun = true;
    return !run->stopped;
}

static struct cel_value eval_fold(struct run *run, const struct frame *parent, const struct node *node)
{
    struct cel_value accu = cel_null();
    bool is_begun = false;
    struct frame frame = {.parent = parent, .fold = node, .accu = &accu, .is_begun = &is_begun};
    struct cel_value range = eval_node(run, parent, node->range);
    bool goes_on = true;

    if (range.kind == CEL_ERROR)
        return range;
    if (range.kind != CEL_LIST && range.kind != CEL_MAP)
        return error_value(CEL_FAILED, "expected iterable type");
    const size_t len = range.kind == CEL_LIST ? range.list->len : range.map->len;
    for (size_t i = 0; goes_on && i < len; i++) {
        const bool has_two = node->fold->iter_var2 != NULL;
        if (range.kind == CEL_MAP) {
            frame.iter = range.map->entries[i].key;
            frame.iter2 = range.map->entries[i].value;
        } else {
            frame.iter = has_two ? cel_int((int64_t)i) : range.list->items->values[i];
            frame.iter2 = range.list->items->values[i];
        }
        goes_on = fold_step(run, &frame, node);
    }
    frame.is_for_result = true;
    return run->stopped ? stopped_value(run) : eval_node(run, &frame, node->result);
}

struct cel_value eval_node(struct run *run, const struct frame *frame, const struct node *node)
{
    typedef struct cel_value (*eval_fn)(struct run *, const struct frame *, const struct node *);
    static const eval_fn by_kind[] = {
        [NODE_ATTRIBUTE] = eval_attribute,
        [NODE_CALL] = eval_call,
        [NODE_AND] = eval_logic,
        [NODE_OR] = eval_logic,
        [NODE_EQUAL] = eval_equal,
        [NODE_UNEQUAL] = eval_equal,
        [NODE_LIST] = eval_list,
        [NODE_MAP] = eval_map,
        [NODE_FOLD] = eval_fold,
        [NODE_IN_SET] = eval_in_set,
        [NODE_OPTIONAL_OR] = eval_optional_or,
        [NODE_OPTIONAL_OR_VALUE] = eval_optional_or,
    };

    if (run->stopped)
        return stopped_value(run);
    struct cel_value value = node->kind == NODE_CONST ? node->constant : by_kind[node->kind](run, frame, node);
    if (!run->stopped)
        count_node(run, node, value);
    return run->stopped ? stopped_value(run) : value;
}

struct cel_result cel_eval(const struct cel_program *program, const struct cel_variable *variables, size_t count,
                           uint64_t cost_limit, struct arena *arena)
{
    struct run run = {
        .arena = arena,
        .memory_left = CEL_MEMORY_MAX,
        .work_left = work_within(cost_limit),
        .variables = variables,
        .variable_count = count,
        .cost_limit = cost_limit,
    };
    struct cel_value value = eval_node(&run, NULL, program->root);

    vec_done(&run.stack);
    vec_done(&run.tops);
    return (struct cel_result){
        .outcome = value.kind == CEL_ERROR ? value.outcome : CEL_VALUE, .value = value, .cost = run.cost};
}
