/* SPDX-License-Identifier: Apache-2.0 */

/* A Karta taken apart and checked, and the questions that it asks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "objects/group/karta_internal.h"

static yyjson_val *spec_of(const struct karta *karta, const char *key)
{
    return yyjson_obj_get(yyjson_obj_get(karta->object, "spec"), key);
}

yyjson_val *karta_gang(const struct karta *karta)
{
    return yyjson_obj_get(spec_of(karta, "optimizationInstructions"), "gangScheduling");
}

int32_t karta_find(const struct karta *karta, const char *component)
{
    for (uint32_t i = 0; i < karta->components.len; i++) {
        if (component && strcmp(karta->components.items[i].name, component) == 0)
            return (int32_t)i;
    }
    return KARTA_NONE;
}

static bool has(yyjson_val *object, const char *key)
{
    yyjson_val *val = yyjson_obj_get(object, key);

    return val && !yyjson_is_null(val);
}

static int add_component(struct karta *karta, yyjson_val *val, struct err *err)
{
    const char *name = yyjson_get_str(yyjson_obj_get(val, "name"));
    yyjson_val *spec = yyjson_obj_get(val, "specDefinition");
    yyjson_val *selector = yyjson_obj_get(val, "podSelector");
    int ways = has(spec, "podTemplateSpecPath") + has(spec, "podSpecPath") + has(spec, "fragmentedPodSpecDefinition");

    if (!name || !*name)
        return err_set(err, -EINVAL, "a component has no name");
    if (karta_find(karta, name) != KARTA_NONE)
        return err_set(err, -EINVAL, "component %s is defined twice", name);
    if (karta->components.len == KARTA_COMPONENTS_MAX)
        return err_set(err, -EINVAL, "has more than %d components", KARTA_COMPONENTS_MAX);
    if (ways > 1)
        return err_set(err, -EINVAL, "component %s defines its pods in more than one way", name);
    if (has(val, "instanceIdPath") != has(selector, "componentInstanceSelector"))
        return err_set(err, -EINVAL,
                       "component %s has one of instanceIdPath and componentInstanceSelector: it needs "
                       "both or neither",
                       name);
    karta->has_scale |= has(val, "scaleDefinition");
    vec_push(&karta->components, (struct karta_component){name, val, KARTA_NONE, ways > 0});
    return 0;
}

static int check_root(const struct karta *karta, struct err *err)
{
    yyjson_val *root = spec_of(karta, "structureDefinition");
    root = yyjson_obj_get(root, "rootComponent");

    if (has(root, "ownerRef"))
        return err_set(err, -EINVAL, "the root component has an ownerRef, which is not allowed");
    if (!has(root, "statusDefinition"))
        return err_set(err, -EINVAL, "the root component has no statusDefinition");
    return 0;
}

/* Who is below whom; every way up has to end at the root. */
static int find_parents(struct karta *karta, struct err *err)
{
    for (uint32_t i = 1; i < karta->components.len; i++) {
        struct karta_component *component = &karta->components.items[i];
        const char *owner = yyjson_get_str(yyjson_obj_get(component->val, "ownerRef"));

        component->parent = karta_find(karta, owner);
        if (component->parent == KARTA_NONE)
            return err_set(err, -EINVAL, "component %s: there is no component '%s' for its ownerRef", component->name,
                           owner ? owner : "");
    }
    for (uint32_t i = 1; i < karta->components.len; i++) {
        uint32_t steps = 0;

        for (int32_t at = (int32_t)i; at > 0; at = karta->components.items[at].parent) {
            if (++steps > karta->components.len)
                return err_set(err, -EINVAL, "component %s: its ownerRefs form a cycle",
                               karta->components.items[i].name);
        }
    }
    return 0;
}

static int check_members(const struct karta *karta, struct err *err)
{
    size_t i, max, j, members;
    yyjson_val *group, *member;

    yyjson_arr_foreach(yyjson_obj_get(karta_gang(karta), "podGroups"), i, max, group)
    {
        yyjson_arr_foreach(yyjson_obj_get(group, "members"), j, members, member)
        {
            const char *name = yyjson_get_str(yyjson_obj_get(member, "componentName"));

            if (karta_find(karta, name) == KARTA_NONE)
                return err_set(err, -EINVAL, "podGroups: there is no component '%s'", name ? name : "");
        }
    }
    return 0;
}

int karta_load(struct grouping *g, yyjson_val *object, struct karta *ret_karta, struct err *err)
{
    const char *name = yyjson_get_str(yyjson_obj_get(yyjson_obj_get(object, "metadata"), "name"));
    yyjson_val *structure;
    size_t i, max;
    yyjson_val *child;

    *ret_karta = (struct karta){.g = g, .object = object, .name = name ? name : ""};
    structure = spec_of(ret_karta, "structureDefinition");
    TRY(add_component(ret_karta, yyjson_obj_get(structure, "rootComponent"), err));
    yyjson_arr_foreach(yyjson_obj_get(structure, "childComponents"), i, max, child)
    {
        TRY(add_component(ret_karta, child, err));
    }
    TRY(check_root(ret_karta, err));
    TRY(find_parents(ret_karta, err));
    return check_members(ret_karta, err);
}

void karta_done(struct karta *karta)
{
    vec_done(&karta->components);
}

const char *karta_selector(const struct karta *karta, const struct karta_component *component, bool *ret_is_presence)
{
    yyjson_val *selector = yyjson_obj_get(yyjson_obj_get(component->val, "podSelector"), "componentTypeSelector");
    const char *path = yyjson_get_str(yyjson_obj_get(selector, "keyPath"));
    yyjson_val *value = yyjson_obj_get(selector, "value");
    char *text;

    *ret_is_presence = !yyjson_is_str(value);
    if (!path || !*path)
        return NULL;
    if (*ret_is_presence)
        return path;
    text = yyjson_val_write(value, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);
    BUG_ON(!text);
    const char *expression = arena_printf(&karta->g->objects->arena, "%s == %s", path, text);
    free(text);
    return expression;
}

static void ask(struct group_questions *questions, const char *expression, int document)
{
    if (!expression || !*expression)
        return;
    vec_foreach (questions, question) {
        if (question->document == document && strcmp(question->expression, expression) == 0)
            return;
    }
    vec_push(questions, (struct group_question){expression, document});
}

static void ask_at(struct group_questions *questions, yyjson_val *object, const char *key, int document)
{
    ask(questions, yyjson_get_str(yyjson_obj_get(object, key)), document);
}

static void ask_list(struct group_questions *questions, yyjson_val *list, int document)
{
    size_t i, max;
    yyjson_val *val;

    yyjson_arr_foreach(list, i, max, val)
    {
        ask(questions, yyjson_get_str(val), document);
    }
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text);

    return len >= strlen(end) && strcmp(text + len - strlen(end), end) == 0;
}

/* Expressions that grouping has no use for are still to make sense: they are known by the names of their fields. */
static void check_all(struct group_questions *questions, yyjson_val *val)
{
    size_t i, max;
    yyjson_val *key, *item;

    if (yyjson_is_arr(val)) {
        yyjson_arr_foreach(val, i, max, item)
        {
            check_all(questions, item);
        }
        return;
    }
    yyjson_obj_foreach(val, i, max, key, item)
    {
        const char *name = yyjson_get_str(key);

        if (yyjson_is_str(item) &&
            (ends_with(name, "Path") || strcmp(name, "path") == 0 || strcmp(name, "expression") == 0))
            ask(questions, yyjson_get_str(item), OF_CHECK);
        else
            check_all(questions, item);
    }
}

void karta_ask(const struct karta *karta, struct group_questions *questions)
{
    size_t i, max, j, members;
    yyjson_val *group, *member;

    vec_foreach (&karta->components, component) {
        yyjson_val *scale = yyjson_obj_get(component->val, "scaleDefinition");
        yyjson_val *selector = yyjson_obj_get(component->val, "podSelector");
        bool is_presence;

        check_all(questions, component->val);
        ask_at(questions, component->val, "instanceIdPath", OF_OWNER);
        ask_at(questions, scale, "replicasPath", OF_OWNER);
        ask_at(questions, scale, "minReplicasPath", OF_OWNER);
        ask_at(questions, scale, "maxReplicasPath", OF_OWNER);
        ask(questions, karta_selector(karta, component, &is_presence), OF_POD);
        ask_at(questions, yyjson_obj_get(selector, "componentInstanceSelector"), "idPath", OF_POD);
    }
    yyjson_arr_foreach(yyjson_obj_get(karta_gang(karta), "podGroups"), i, max, group)
    {
        yyjson_arr_foreach(yyjson_obj_get(group, "members"), j, members, member)
        {
            ask_list(questions, yyjson_obj_get(member, "groupByKeyPaths"), OF_POD);
            ask_list(questions, yyjson_obj_get(member, "filters"), OF_POD);
        }
    }
}

int karta_results(const struct karta *karta, const char *expression, int document, yyjson_val **ret_results,
                  struct err *err)
{
    const struct group_live *live = karta->g->live;

    for (size_t i = 0; i < live->questions.len; i++) {
        const struct group_question *question = &live->questions.items[i];
        yyjson_val *answer;

        if (question->document != document || strcmp(question->expression, expression) != 0)
            continue;
        answer = yyjson_arr_get(live->answers, i);
        *ret_results = yyjson_obj_get(answer, "results");
        if (yyjson_is_arr(*ret_results))
            return 0;
        const char *wrong = yyjson_get_str(yyjson_obj_get(answer, "wrong"));
        return err_set(err, -EINVAL, "'%s' fails on the %s: %s", expression, document == OF_POD ? "pod" : "workload",
                       wrong ? wrong : "it was not evaluated");
    }
    return err_set(err, -EINVAL, "'%s' was not evaluated", expression);
}

int karta_result(const struct karta *karta, const char *expression, yyjson_val **ret_result, struct err *err)
{
    yyjson_val *results = NULL;

    TRY(karta_results(karta, expression, OF_POD, &results, err));
    *ret_result = yyjson_arr_get_first(results);
    if (yyjson_arr_size(results) != 1)
        return err_set(err, -EINVAL, "'%s' returns %zu results for the pod, expected one", expression,
                       yyjson_arr_size(results));
    if (yyjson_is_null(*ret_result) || yyjson_equals_str(*ret_result, ""))
        return err_set(err, -EINVAL, "'%s' returns nothing for the pod", expression);
    return 0;
}
