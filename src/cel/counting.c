/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Counts the cost of an evaluation step by step. As cel-go does, values that have been computed stay on a stack by the id of
 * their expression until what they were computed for takes them off, and a call whose arguments are not all there costs
 * nothing.
 */
#include "cel/counting_internal.h"

enum { STACK_MAX = CEL_MEMORY_MAX / sizeof(struct cost_entry) };

/* The place of the topmost value of an id is kept, and in each value the place of the one below it. */
void stack_push(struct run *run, int64_t id, struct cel_value value)
{
    if ((uint64_t)id >= run->tops.len)
        vec_resize(&run->tops, (uint64_t)id + 1);
    vec_push(&run->stack, (struct cost_entry){(uint32_t)id, run->tops.items[id], value});
    run->tops.items[id] = run->stack.len;
    if (run->cost > run->cost_limit && !run->stopped)
        run->stopped = CEL_COST;
    else if (run->stack.len >= STACK_MAX && !run->stopped)
        run->stopped = CEL_MEMORY;
}

bool stack_drop(struct run *run, int64_t id, struct cel_value *ret_value)
{
    const uint32_t top = (uint64_t)id < run->tops.len ? run->tops.items[id] : 0;

    if (top == 0)
        return false;
    if (ret_value)
        *ret_value = run->stack.items[top - 1].value;
    while (run->stack.len >= top) {
        const struct cost_entry *entry = &run->stack.items[--run->stack.len];
        run->tops.items[entry->id] = entry->below;
    }
    return true;
}

int64_t attribute_id(const struct attribute *attribute)
{
    if (attribute->kind == ATTRIBUTE_CHOICE) {
        int64_t yes = attribute_id(attribute->yes);
        return yes == attribute_id(attribute->no) ? yes : attribute->id;
    }
    return attribute->qualifiers.len ? attribute->qualifiers.items[attribute->qualifiers.len - 1].id : attribute->id;
}

static int64_t node_id(const struct node *node)
{
    return node->kind == NODE_ATTRIBUTE && !node->is_test ? attribute_id(node->attribute) : node->id;
}

static bool drop_args(struct run *run, const struct node *node, struct cel_value *values)
{
    for (uint32_t i = node->arg_count; i-- > 0;)
        if (!stack_drop(run, node_id(node->args[i]), values ? &values[i] : NULL))
            return false;
    return true;
}

/* Are the values of all arguments there, in their order? What drop_args() would take off is only looked at. */
static bool has_args(const struct run *run, const struct node *node)
{
    uint32_t below = run->stack.len;

    for (uint32_t i = node->arg_count; i-- > 0;) {
        int64_t id = node_id(node->args[i]);
        uint32_t top = (uint64_t)id < run->tops.len ? run->tops.items[id] : 0;
        while (top > below)
            top = run->stack.items[top - 1].below;
        if (top == 0)
            return false;
        below = top - 1;
    }
    return true;
}

bool is_affordable(struct run *run, const struct node *node, const struct cel_value *args)
{
    if (args[0].kind != CEL_LIST || !is_cost_foreseen(node) || !has_args(run, node))
        return true;
    uint64_t cost = call_cost(run, node, args, node->arg_count, cel_null());
    if (cost == COST_UNKNOWN || run->cost + cost <= run->cost_limit)
        return true;
    run->cost += cost;
    run->stopped = CEL_COST;
    return false;
}

static void count_call(struct run *run, const struct node *node, struct cel_value result)
{
    struct cel_value args[ARGS_MAX];

    if (node->arg_count > ARGS_MAX || !drop_args(run, node, args))
        return;
    uint64_t cost = call_cost(run, node, args, node->arg_count, result);
    if (cost == COST_UNKNOWN)
        run->stopped = CEL_FAILED;
    else
        run->cost += cost;
}

static void count_attribute(struct run *run, const struct node *node)
{
    const struct attribute *attribute = node->attribute;

    if (attribute->kind == ATTRIBUTE_CHOICE) {
        (void)stack_drop(run, attribute_id(attribute->no), NULL);
        (void)stack_drop(run, attribute_id(attribute->yes), NULL);
        (void)stack_drop(run, node_id(attribute->operand), NULL);
        if (node->is_test)
            run->cost--;
        return;
    }
    (void)stack_drop(run, attribute_id(attribute), NULL);
    run->cost += node->is_test ? 0 : 1;
}

void count_node(struct run *run, const struct node *node, struct cel_value value)
{
    switch (node->kind) {
    case NODE_ATTRIBUTE:
        count_attribute(run, node);
        break;
    case NODE_AND:
    case NODE_OR:
        for (uint32_t i = 0; i < node->arg_count; i++)
            (void)stack_drop(run, node_id(node->args[i]), NULL);
        break;
    case NODE_EQUAL:
    case NODE_UNEQUAL:
    case NODE_CALL:
        count_call(run, node, value);
        break;
    case NODE_LIST:
    case NODE_MAP:
        (void)drop_args(run, node, NULL);
        run->cost += node->kind == NODE_LIST ? 10 : 30;
        break;
    case NODE_FOLD:
        (void)stack_drop(run, node_id(node->range), NULL);
        break;
    case NODE_CONST:
    case NODE_IN_SET:
    case NODE_OPTIONAL_OR:
    case NODE_OPTIONAL_OR_VALUE:
        break;
    }
    stack_push(run, node_id(node), value);
}
