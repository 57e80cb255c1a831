/* SPDX-License-Identifier: Apache-2.0 */

/* Which PodGroups are admitted: their subgroups are a tree, and say how many pods or children they need. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "kube/client/meta.h"
#include "services/admission/rules.h"

enum { NONE = -1 };

struct subgroup {
    const char *name;
    const char *parent;      // NULL: it is at the top
    yyjson_val *min_member;  // NULL: not set
    yyjson_val *min_subgroup;
    size_t index;   // in the PodGroup
    int64_t above;  // the parent, in the order of names; NONE: at the top
    size_t children;
    uint32_t walk;  // that came past it, 0: none has
};

struct subgroups VEC_OF(struct subgroup);

/* A member that is null is not set. */
static yyjson_val *member(yyjson_val *object, const char *key)
{
    yyjson_val *found = yyjson_obj_get(object, key);

    return yyjson_is_null(found) ? NULL : found;
}

static void read_subgroups(yyjson_val *list, struct subgroups *groups)
{
    yyjson_val *item;
    size_t i, max;

    yyjson_arr_foreach(list, i, max, item)
    {
        yyjson_val *parent = member(item, "parent");

        vec_push(groups, (struct subgroup){
                             .name = kube_text(item, "name"),
                             .parent = parent ? kube_text(item, "parent") : NULL,
                             .min_member = member(item, "minMember"),
                             .min_subgroup = member(item, "minSubGroup"),
                             .index = i,
                             .above = NONE,
                         });
    }
}

static int by_name(const void *a, const void *b)
{
    const struct subgroup *left = a;
    const struct subgroup *right = b;
    int order = strcmp(left->name, right->name);

    return order ? order : (left->index > right->index) - (left->index < right->index);
}

static int64_t find(const struct subgroups *groups, const char *name)
{
    size_t low = 0;
    size_t high = groups->len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, groups->items[middle].name);

        if (order == 0)
            return (int64_t)middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NONE;
}

/* The following look for what makes subgroups no tree; each denies what it finds, and returns whether it did. */

static bool has_duplicates(const struct subgroups *groups, struct admission_verdict *verdict)
{
    char shown[ADMISSION_TEXT_MAX];

    for (size_t i = 1; i < groups->len; i++) {
        const struct subgroup *one = &groups->items[i - 1];
        const struct subgroup *other = &groups->items[i];

        if (strcmp(one->name, other->name) != 0)
            continue;
        admission_deny(
            verdict,
            "duplicate subgroup name %s: spec.subGroups[%zu] and spec.subGroups[%zu] both have it. Give each "
            "subgroup a name of its own",
            admission_text(one->name, shown), one->index, other->index);
        return true;
    }
    return false;
}

static bool lacks_parents(struct subgroups *groups, struct admission_verdict *verdict)
{
    char parent[ADMISSION_TEXT_MAX];
    char name[ADMISSION_TEXT_MAX];

    vec_foreach (groups, group) {
        if (!group->parent)
            continue;
        group->above = find(groups, group->parent);
        if (group->above >= 0) {
            groups->items[group->above].children++;
            continue;
        }
        admission_deny(
            verdict,
            "parent %s of %s was not found: spec.subGroups[%zu].parent names no subgroup of this PodGroup. "
            "Write the name of another entry of spec.subGroups, or leave parent out for a subgroup at the top",
            admission_text(group->parent, parent), admission_text(group->name, name), group->index);
        return true;
    }
    return false;
}

/* Every walk upwards ends at the top, at a subgroup that an earlier walk came past, or at one of its own steps. */
static bool has_cycle(struct subgroups *groups, struct admission_verdict *verdict)
{
    char name[ADMISSION_TEXT_MAX];
    uint32_t walk = 0;

    vec_foreach (groups, start) {
        int64_t at = start - groups->items;

        for (walk++; at != NONE && !groups->items[at].walk; at = groups->items[at].above)
            groups->items[at].walk = walk;
        if (at == NONE || groups->items[at].walk != walk)
            continue;
        admission_deny(
            verdict,
            "cycle detected in subgroups: following spec.subGroups[%zu].parent from %s leads back to it. Leave "
            "parent out for one of these subgroups",
            groups->items[at].index, admission_text(groups->items[at].name, name));
        return true;
    }
    return false;
}

/* What the subgroup needs at the least. Returns whether it cannot be read at all. */
static bool check_least(const struct subgroup *group, bool is_new, struct admission_verdict *verdict)
{
    char name[ADMISSION_TEXT_MAX];

    (void)admission_text(group->name, name);
    if (group->min_member && group->min_subgroup) {
        admission_deny(verdict,
                       "subgroup \"%s\": minMember and minSubGroup are mutually exclusive: keep minMember in "
                       "spec.subGroups[%zu] if it has pods, minSubGroup if it has subgroups",
                       name, group->index);
        return true;
    }
    if (!group->children && group->min_subgroup)
        admission_deny(verdict,
                       "subgroup \"%s\": minSubGroup cannot be set on a leaf SubGroup (no child SubGroups): write "
                       "spec.subGroups[%zu].minMember, the number of pods, instead",
                       name, group->index);
    if (!group->children && !group->min_member)
        admission_deny(
            verdict,
            "subgroup %s: minMember is required: write spec.subGroups[%zu].minMember, the number of pods that "
            "have to start together",
            name, group->index);
    if (group->children && group->min_member) {
        static const char text[] =
            "subgroup \"%s\": minMember cannot be set on a mid-level SubGroup (has child SubGroups); "
            "use minSubGroup instead of spec.subGroups[%zu].minMember";

        if (is_new)
            admission_deny(verdict, text, name, group->index);
        else
            admission_warn(verdict, text, name, group->index);
    }
    if (group->children && yyjson_get_num(group->min_subgroup) > (double)group->children)
        admission_warn(verdict,
                       "subgroup \"%s\": minSubGroup (%.0f) exceeds the number of direct child SubGroups (%zu)", name,
                       yyjson_get_num(group->min_subgroup), group->children);
    return false;
}

static void check_top(yyjson_val *min_subgroup, const struct subgroups *groups, struct admission_verdict *verdict)
{
    double least = yyjson_get_num(min_subgroup);
    size_t children = 0;

    if (!min_subgroup)
        return;
    if (least < 1) {
        admission_deny(
            verdict,
            "minSubGroup at the podgroup level must be equal to or greater than 1: spec.minSubGroup is %.0f. "
            "Write the number of subgroups that have to start together, or leave it out",
            least);
        return;
    }
    vec_foreach (groups, group)
        children += group->parent == NULL;
    if (least > (double)children)
        admission_warn(verdict, "minSubGroup (%.0f) exceeds the number of direct child SubGroups (%zu)", least,
                       children);
}

void admission_check_pod_group(const struct admission_rules *rules, const struct admission_request *request,
                               struct admission_verdict *verdict)
{
    yyjson_val *spec = yyjson_obj_get(request->object, "spec");
    yyjson_val *min_member = member(spec, "minMember");
    yyjson_val *min_subgroup = member(spec, "minSubGroup");
    struct subgroups groups = {0};

    (void)rules;
    if (min_member && min_subgroup) {
        admission_deny(
            verdict,
            "minMember and minSubGroup are mutually exclusive: set minMember (%.0f) to schedule a fixed number "
            "of pods, or set minSubGroup to require a minimum number of child SubGroups, but not both: remove "
            "spec.minMember or spec.minSubGroup",
            yyjson_get_num(min_member));
        return;
    }
    read_subgroups(yyjson_obj_get(spec, "subGroups"), &groups);
    if (groups.len > 1)
        qsort(groups.items, groups.len, sizeof *groups.items, by_name);
    if (!has_duplicates(&groups, verdict) && !lacks_parents(&groups, verdict) && !has_cycle(&groups, verdict)) {
        bool is_broken = false;

        vec_foreach (&groups, group)
            is_broken = is_broken || check_least(group, !request->old, verdict);
        if (!is_broken)
            check_top(min_subgroup, &groups, verdict);
    }
    vec_done(&groups);
}
