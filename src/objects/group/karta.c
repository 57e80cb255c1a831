/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Grouping by a Karta: kinds that have no rule here, but somebody has written down what they are made of. Kinds that
 * nobody has are grouped as by default, and so are those of a Karta that makes no sense.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "objects/group/karta_internal.h"

#define TRAIN "train"

static const char *text_at(yyjson_val *object, const char *key)
{
    const char *text = yyjson_get_str(yyjson_obj_get(object, key));

    return text ? text : "";
}

static bool is_for(const struct grouping *g, yyjson_val *karta)
{
    yyjson_val *structure = yyjson_obj_get(yyjson_obj_get(karta, "spec"), "structureDefinition");
    yyjson_val *kind = yyjson_obj_get(yyjson_obj_get(structure, "rootComponent"), "kind");
    const char *slash = strchr(g->top->api_version, '/');
    char group[API_GROUP_MAX];

    return strcmp(text_at(kind, "kind"), g->top->kind->kind) == 0 &&
           strcmp(text_at(kind, "version"), slash ? slash + 1 : g->top->api_version) == 0 &&
           strcmp(text_at(kind, "group"), api_group(g->top->api_version, group)) == 0;
}

/* Whether a Karta is one for the kind at hand that says what a gang is. */
static bool is_candidate(const struct grouping *g, yyjson_val *karta)
{
    yyjson_val *spec = yyjson_obj_get(karta, "spec");
    yyjson_val *gang = yyjson_obj_get(yyjson_obj_get(spec, "optimizationInstructions"), "gangScheduling");

    return is_for(g, karta) && !*text_at(yyjson_obj_get(karta, "metadata"), "deletionTimestamp") &&
           (yyjson_is_obj(yyjson_obj_get(gang, "podGroup")) || yyjson_arr_size(yyjson_obj_get(gang, "podGroups")) > 0);
}

static void pass_over(const struct grouping *g, const char *karta, const struct err *err)
{
    g->live->warning = arena_printf(&g->objects->arena, "Karta %s is not used: %s", karta, err->text);
}

/* Whether all that the Karta asks makes sense, as far as is known. */
static int check_questions(const struct karta *karta, struct err *err)
{
    struct group_questions questions = {0};
    int r = 0;

    karta_ask(karta, &questions);
    vec_foreach (&questions, question) {
        vec_foreach (&karta->g->live->senseless, bad) {
            if (strcmp(bad->expression, question->expression) == 0)
                r = err_set(err, -EINVAL, "'%s': %s", bad->expression, bad->wrong);
        }
    }
    vec_done(&questions);
    return r;
}

struct karta_list VEC_OF(struct karta);

/* The Kartas for the kind that make sense as far as is known. */
static void find_kartas(struct grouping *g, struct karta_list *ret_kartas)
{
    size_t i, max;
    yyjson_val *item;

    yyjson_arr_foreach(g->live->kartas, i, max, item)
    {
        struct karta karta;
        struct err err = {0};
        int r;

        if (!is_candidate(g, item))
            continue;
        r = karta_load(g, item, &karta, &err);
        if (r >= 0)
            r = check_questions(&karta, &err);
        if (r >= 0) {
            vec_push(ret_kartas, karta);
        } else {
            pass_over(g, karta.name, &err);
            karta_done(&karta);
        }
    }
}

static int need(struct grouping *g, enum group_need what, struct err *err)
{
    g->live->need = what;
    if (what == GROUP_NEEDS_KARTAS) {
        const char *slash = strchr(g->top->api_version, '/');
        char group[API_GROUP_MAX];

        g->live->selector = arena_printf(
            &g->objects->arena, KEY_KARTA_GROUP "=%s," KEY_KARTA_VERSION "=%s," KEY_KARTA_KIND "=%s",
            api_group(g->top->api_version, group), slash ? slash + 1 : g->top->api_version, g->top->kind->kind);
    }
    return err_set(err, -EAGAIN, "%s %s lacks required fields", g->top->kind->kind, g->top->name);
}

static int topology_at(yyjson_val *object, struct topology_constraint_spec *ret_topology, struct err *err)
{
    yyjson_val *topology = yyjson_obj_get(object, "topology");

    if (!yyjson_is_obj(topology))
        return 0;
    *ret_topology = (struct topology_constraint_spec){
        .topology = text_at(topology, "topologyName"),
        .required = text_at(topology, "requiredTopologyLevel"),
        .preferred = text_at(topology, "preferredTopologyLevel"),
    };
    if (!*ret_topology->topology)
        return err_set(err, -EINVAL, "topology: topologyName is missing");
    if (!*ret_topology->required && !*ret_topology->preferred)
        return err_set(err, -EINVAL, "topology: give requiredTopologyLevel or preferredTopologyLevel");
    return 0;
}

/* Whether the pod is one of the component or of any below it. */
static int is_pod_below(const struct karta *karta, int32_t index, struct err *err)
{
    int r = karta_is_pod_of(karta, &karta->components.items[index], err);

    for (uint32_t i = 1; r == 0 && i < karta->components.len; i++) {
        if (karta->components.items[i].parent == index)
            r = is_pod_below(karta, (int32_t)i, err);
    }
    return r;
}

static int add_component_group(struct karta *karta, yyjson_val *mapping, struct err *err)
{
    const char *name = text_at(mapping, "componentName");
    int32_t component = karta_find(karta, name);
    struct subgroup_draft draft = {.name = name, .min_subgroup = -1};

    if (component == KARTA_NONE)
        return err_set(err, -EINVAL, "subGroups: there is no component '%s'", name);
    TRY(karta_scale(karta, component, NULL, &draft.min_member, err));
    if (draft.min_member == 0)
        return err_set(err, -EINVAL, "component %s has no pods: give it a scaleDefinition", name);
    TRY(topology_at(mapping, &draft.topology, err));
    int is_in = karta->g->pod_subgroup ? 0 : is_pod_below(karta, component, err);
    if (is_in < 0)
        return is_in;
    if (is_in)
        karta->g->pod_subgroup = name;
    add_subgroup(karta->g, draft);
    return 0;
}

/* All of the workload is one gang, its components are subgroups. */
static int group_as_one(struct karta *karta, yyjson_val *definition, struct err *err)
{
    struct grouping *g = karta->g;
    size_t i, max;
    yyjson_val *mapping;

    TRY(topology_at(definition, &g->topology, err));
    g->name = arena_printf(&g->objects->arena, "pg-%s-%s", g->top->uid, text_at(definition, "name"));
    yyjson_arr_foreach(yyjson_obj_get(definition, "subGroups"), i, max, mapping)
    {
        TRY(add_component_group(karta, mapping, err));
    }
    if (g->subgroups.len > 0)
        g->min_subgroup = (int32_t)g->subgroups.len;
    else
        TRY(karta_scale(karta, 0, NULL, &g->min_member, err));
    return 0;
}

/* The older form: what the pod is a part of decides which gang it joins. */

/* The component that the pod was made of. */
static int find_pod_component(const struct karta *karta, int32_t *ret_component, struct err *err)
{
    uint32_t with_pods = 0;

    for (uint32_t i = 0; i < karta->components.len; i++) {
        if (karta->components.items[i].has_pods && with_pods++ == 0)
            *ret_component = (int32_t)i;
    }
    if (with_pods == 1)
        return 0;
    for (uint32_t i = 0; i < karta->components.len; i++) {
        const struct karta_component *component = &karta->components.items[i];
        int r = component->has_pods ? karta_is_pod_of(karta, component, err) : 0;

        if (r < 0)
            return r;
        *ret_component = (int32_t)i;
        if (r > 0)
            return 0;
    }
    return err_set(err, -EINVAL, "no component selects the pod");
}

static int passes_filters(const struct karta *karta, yyjson_val *member, struct err *err)
{
    size_t i, max;
    yyjson_val *filter, *result;

    yyjson_arr_foreach(yyjson_obj_get(member, "filters"), i, max, filter)
    {
        TRY(karta_result(karta, yyjson_get_str(filter) ? yyjson_get_str(filter) : "", &result, err));
        if (!yyjson_is_true(result))
            return 0;
    }
    return 1;
}

/* The first member of a group that the component or one above it is, and whose filters the pod passes. */
static int find_member(const struct karta *karta, int32_t component, int32_t *ret_component, yyjson_val **ret_member,
                       struct err *err)
{
    for (int32_t at = component; at != KARTA_NONE; at = karta->components.items[at].parent) {
        size_t i, max, j, members;
        yyjson_val *group, *member;

        yyjson_arr_foreach(yyjson_obj_get(karta_gang(karta), "podGroups"), i, max, group)
        {
            yyjson_arr_foreach(yyjson_obj_get(group, "members"), j, members, member)
            {
                int r = 0;

                if (strcmp(text_at(member, "componentName"), karta->components.items[at].name) == 0)
                    r = passes_filters(karta, member, err);
                if (r < 0)
                    return r;
                *ret_component = at;
                *ret_member = member;
                if (r > 0)
                    return 0;
            }
        }
    }
    return err_set(err, -EINVAL, "the pod is not a member of any of its podGroups");
}

/* A result as a part of a name. */
static int text_of(const struct karta *karta, const char *expression, const char **ret_text, struct err *err)
{
    yyjson_val *result;
    char *text;

    TRY(karta_result(karta, expression, &result, err));
    if (yyjson_is_str(result)) {
        *ret_text = yyjson_get_str(result);
        return 0;
    }
    if (!yyjson_is_num(result) && !yyjson_is_bool(result))
        return err_set(err, -EINVAL, "'%s' returns a value that is not text for the pod", expression);
    text = yyjson_val_write(result, 0, NULL);
    BUG_ON(!text);
    *ret_text = arena_strdup(&karta->g->objects->arena, text);
    free(text);
    return 0;
}

/* The instance of its component that the pod belongs to; NULL where there is only one. */
static int find_instance(const struct karta *karta, int32_t index, const char **ret_instance, struct err *err)
{
    const struct karta_component *component = &karta->components.items[index];
    yyjson_val *selector = yyjson_obj_get(yyjson_obj_get(component->val, "podSelector"), "componentInstanceSelector");
    const char *id = NULL;
    yyjson_val *ids;

    *ret_instance = NULL;
    TRY(karta_instances(karta, component, &ids, err));
    if (yyjson_arr_size(ids) == 0)
        return 0;
    TRY(text_of(karta, text_at(selector, "idPath"), &id, err));
    for (size_t i = 0; i < yyjson_arr_size(ids); i++) {
        if (yyjson_equals_str(yyjson_arr_get(ids, i), id)) {
            *ret_instance = id;
            return 0;
        }
    }
    return err_set(err, -EINVAL, "component %s has no instance '%s', which the pod names", component->name, id);
}

/* What Kubernetes takes as a name: labels with points between them. */
static bool is_subdomain(const char *name)
{
    size_t len = strlen(name);

    if (len == 0 || len > 253)
        return false;
    for (size_t i = 0; i < len; i++) {
        bool is_plain = islower((unsigned char)name[i]) || isdigit((unsigned char)name[i]);
        bool is_edge = i == 0 || i + 1 == len || name[i - 1] == '.' || name[i + 1] == '.';

        if (!is_plain && (is_edge || (name[i] != '-' && name[i] != '.')))
            return false;
    }
    return true;
}

static int name_by_keys(struct karta *karta, yyjson_val *member, struct err *err)
{
    struct grouping *g = karta->g;
    yyjson_val *paths = yyjson_obj_get(member, "groupByKeyPaths");
    size_t i, max;
    yyjson_val *path;

    g->name = arena_printf(&g->objects->arena, "pg-%s", g->top->uid);
    yyjson_arr_foreach(paths, i, max, path)
    {
        const char *key = NULL;

        TRY(text_of(karta, yyjson_get_str(path) ? yyjson_get_str(path) : "", &key, err));
        g->name = arena_printf(&g->objects->arena, "%s-%s", g->name, key);
    }
    if (yyjson_arr_size(paths) > 0 && !is_subdomain(g->name))
        return err_set(err, -EINVAL, "groupByKeyPaths give '%s', which cannot be the name of a PodGroup", g->name);
    return 0;
}

static int group_by_members(struct karta *karta, struct err *err)
{
    int32_t of_pod = 0, effective = 0;
    const char *instance = NULL;
    yyjson_val *member = NULL;

    TRY(find_pod_component(karta, &of_pod, err));
    TRY(find_member(karta, of_pod, &effective, &member, err));
    if (effective == of_pod)
        TRY(find_instance(karta, of_pod, &instance, err));
    TRY(name_by_keys(karta, member, err));
    return karta_scale(karta, effective, instance, &karta->g->min_member, err);
}

static int group_by(struct karta *karta, struct err *err)
{
    yyjson_val *whole = yyjson_obj_get(karta_gang(karta), "podGroup");
    int r = group_base(karta->g, false, TRAIN, err);

    if (r >= 0)
        r = yyjson_is_obj(whole) ? group_as_one(karta, whole, err) : group_by_members(karta, err);
    return r < 0 ? err_wrap(err, r, "by Karta %s", karta->name) : 0;
}

/* What has to be known before the Kartas can be followed. */
static int need_answers(struct grouping *g, const struct karta_list *kartas, struct err *err)
{
    TRY(group_need_whole(g, g->top, err));
    if (!g->live->pod)
        return need(g, GROUP_NEEDS_POD, err);
    if (g->live->answers)
        return 0;
    vec_clear(&g->live->questions);
    vec_foreach (kartas, karta)
        karta_ask(karta, &g->live->questions);
    return need(g, GROUP_NEEDS_VALUES, err);
}

int group_karta(struct grouping *g, struct err *err)
{
    struct karta_list kartas = {0};
    int r;

    if (!g->live->has_kartas)
        return need(g, GROUP_NEEDS_KARTAS, err);
    find_kartas(g, &kartas);
    r = kartas.len > 0 ? need_answers(g, &kartas, err) : 0;
    if (r >= 0) {
        if (kartas.len > 1)
            pass_over(g, kartas.items[0].name,
                      &(struct err){-EEXIST, "there are others for the same kind; keep one of them"});
        r = kartas.len == 1 ? group_by(&kartas.items[0], err) : group_default(g, err);
    }
    vec_foreach (&kartas, karta)
        karta_done(karta);
    vec_done(&kartas);
    return r;
}
