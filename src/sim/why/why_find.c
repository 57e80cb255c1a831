/* SPDX-License-Identifier: Apache-2.0 */

/* From a name that a person typed to a workload. */
#include "sim/why/why_find.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "model/state.h"
#include "objects/notes.h"
#include "objects/owner.h"
#include "text/suggest.h"

enum { NAME_MAX_BYTES = 1024, LISTED_MAX = 8 };

/* A name as a person types it. */
struct wanted {
    const char *namespace;  // NULL: any
    size_t namespace_len;
    const char *name;
};

struct gang_list VEC_OF(gang_id);

static struct wanted wanted_of(const char *workload)
{
    const char *slash = strchr(workload, '/');

    if (!slash)
        return (struct wanted){.name = workload};
    return (struct wanted){workload, (size_t)(slash - workload), slash + 1};
}

static bool is_in(const struct wanted *wanted, const char *namespace)
{
    return !wanted->namespace || (strlen(namespace) == wanted->namespace_len &&
                                  strncmp(namespace, wanted->namespace, wanted->namespace_len) == 0);
}

/* The gang that KAI makes for an owner called `job` is called "pg-job-" and the owner's UID. */
static bool is_made_for(const char *gang, const char *job)
{
    size_t len = strlen(job);

    return strncmp(gang, "pg-", 3) == 0 && strncmp(gang + 3, job, len) == 0 && gang[3 + len] == '-';
}

static const struct pod *first_pod(const struct state *state, const struct gang *gang)
{
    for (uint32_t g = 0; g < gang->group_count; g++) {
        if (gang->groups[g].pods.len > 0)
            return &state->pods.items[gang->groups[g].pods.items[0]];
    }
    return NULL;
}

static bool fits_owner(const struct why_input *input, const struct gang *gang, const char *name)
{
    const struct state *state = input->state;
    const char *namespace = state_name(state, gang->namespace);
    struct owner owner;

    if (!input->objects || !owner_find(input->objects, namespace, state_name(state, gang->name), &owner))
        return is_made_for(state_name(state, gang->name), name);
    return strcmp(owner.name, name) == 0 || owner_is_below(input->objects, &owner, name);
}

/* By the names of gangs themselves, or of the workloads that they were made for. */
static void find_named(const struct why_input *input, const struct wanted *wanted, bool by_owner,
                       struct gang_list *found)
{
    const struct state *state = input->state;

    for (gang_id id = 0; id < state->gangs.len; id++) {
        const struct gang *gang = &state->gangs.items[id];

        if (!gang->is_present || !is_in(wanted, state_name(state, gang->namespace)))
            continue;
        if (by_owner ? fits_owner(input, gang, wanted->name) : strcmp(state_name(state, gang->name), wanted->name) == 0)
            vec_push(found, id);
    }
}

/* A PodGroup whose pods are gone may outlive them, beside the one of the same workload that people ask about. */
static void drop_leftovers(const struct state *state, struct gang_list *found)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < found->len; i++) {
        if (first_pod(state, &state->gangs.items[found->items[i]]))
            found->items[kept++] = found->items[i];
    }
    if (kept > 0)
        found->len = kept;
}

static void find_gangs(const struct why_input *input, const struct wanted *wanted, struct gang_list *found)
{
    find_named(input, wanted, false, found);
    if (found->len == 0)
        find_named(input, wanted, true, found);
    drop_leftovers(input->state, found);
}

/* Pods of gangs; one that belongs to none, since another scheduler has placed it, goes to `*ret_foreign`. */
static void find_pods(const struct state *state, const struct wanted *wanted, struct gang_list *found,
                      pod_id *ret_foreign)
{
    for (pod_id id = 0; id < state->pods.len; id++) {
        const struct pod *pod = &state->pods.items[id];

        if (!pod->is_present || !is_in(wanted, state_name(state, pod->namespace)) ||
            strcmp(state_name(state, pod->name), wanted->name) != 0)
            continue;
        if (pod->gang != NO_ID && state->gangs.items[pod->gang].is_present)
            vec_push(found, pod->gang);
        else
            *ret_foreign = id;
    }
}

static const struct left_out *find_left_out(const struct why_input *input, const struct wanted *wanted)
{
    for (uint32_t i = 0; input->notes && i < input->notes->left_out.len; i++) {
        const struct left_out *left_out = &input->notes->left_out.items[i];

        if (is_in(wanted, left_out->namespace) && strcmp(left_out->name, wanted->name) == 0)
            return left_out;
    }
    return NULL;
}

static void add_full_name(struct strbuf *out, const char *namespace, const char *name)
{
    strbuf_addf(out, "%s%s%s", namespace, *namespace ? "/" : "", name);
}

void why_workload_name(const struct state *state, const struct object_set *objects, gang_id id, struct strbuf *out)
{
    const struct gang *gang = &state->gangs.items[id];
    const char *namespace = state_name(state, gang->namespace);
    const char *name = state_name(state, gang->name);
    struct owner owner;

    if (objects && owner_find(objects, namespace, name, &owner))
        name = owner.name;
    add_full_name(out, namespace, name);
}

/* One of several that match, so that typing it is enough: groups of one workload differ in their pods alone. */
static void add_match(const struct why_input *input, gang_id id, bool by_pod, struct strbuf *out)
{
    const struct state *state = input->state;
    const struct gang *gang = &state->gangs.items[id];
    const struct pod *pod = first_pod(state, gang);

    if (!by_pod)
        why_workload_name(state, input->objects, id, out);
    else
        add_full_name(out, state_name(state, gang->namespace), state_name(state, pod ? pod->name : gang->name));
}

static int fail_several(const struct why_input *input, const char *workload, const struct gang_list *found,
                        struct err *err)
{
    const struct gang *gangs = input->state->gangs.items;
    bool is_one_namespace = true;
    struct strbuf list;

    for (uint32_t i = 1; i < found->len; i++)
        is_one_namespace &= gangs[found->items[i]].namespace == gangs[found->items[0]].namespace;
    strbuf_init(&list, NAME_MAX_BYTES);
    for (uint32_t i = 0; i < found->len && i < LISTED_MAX; i++) {
        strbuf_addstr(&list, i > 0 ? ", " : "");
        add_match(input, found->items[i], is_one_namespace, &list);
    }
    if (found->len > LISTED_MAX)
        strbuf_addf(&list, " and %u more", found->len - LISTED_MAX);
    (void)err_set(err, -EINVAL, "'%s' matches %u workloads; ask about one of them: %s", workload, found->len,
                  list.text);
    strbuf_done(&list);
    return -EINVAL;
}

/* Offers every name that could have been typed, with the namespace where one was typed. */
static void offer_names(const struct why_input *input, bool has_namespace, struct suggestion *suggestion,
                        struct arena *arena)
{
    const struct state *state = input->state;
    struct strbuf name;

    strbuf_init(&name, NAME_MAX_BYTES);
    for (gang_id id = 0; id < state->gangs.len; id++) {
        if (!state->gangs.items[id].is_present)
            continue;
        strbuf_clear(&name);
        why_workload_name(state, input->objects, id, &name);
        const char *slash = strchr(name.text, '/');
        suggestion_offer(suggestion, arena_strdup(arena, has_namespace || !slash ? name.text : slash + 1));
    }
    for (uint32_t i = 0; input->notes && i < input->notes->left_out.len; i++) {
        const struct left_out *left_out = &input->notes->left_out.items[i];

        strbuf_clear(&name);
        add_full_name(&name, has_namespace ? left_out->namespace : "", left_out->name);
        suggestion_offer(suggestion, arena_strdup(arena, name.text));
    }
    strbuf_done(&name);
}

/* The same name in another namespace is the nearest of all. */
static bool is_elsewhere(const struct why_input *input, const struct wanted *wanted, struct strbuf *ret_name)
{
    struct wanted anywhere = {.name = wanted->name};
    struct gang_list found = {0};

    find_gangs(input, &anywhere, &found);
    if (found.len > 0)
        why_workload_name(input->state, input->objects, found.items[0], ret_name);
    vec_done(&found);
    return *ret_name->text != '\0';
}

static int fail_none(const struct why_input *input, const char *workload, struct err *err)
{
    struct wanted wanted = wanted_of(workload);
    struct suggestion suggestion;
    struct strbuf elsewhere;
    struct arena arena;
    char hint[SUGGESTION_MAX];

    arena_init(&arena);
    strbuf_init(&elsewhere, NAME_MAX_BYTES);
    suggestion_init(&suggestion, workload);
    if (wanted.namespace && is_elsewhere(input, &wanted, &elsewhere))
        suggestion.word = elsewhere.text;
    else
        offer_names(input, wanted.namespace != NULL, &suggestion, &arena);
    (void)suggestion_text(&suggestion, "", hint);
    (void)err_set(err, -ENOENT, "there is no workload '%s'%s", workload,
                  *hint ? hint : "; 'muster list' shows those of a server, 'muster simulate' those of files");
    strbuf_done(&elsewhere);
    arena_done(&arena);
    return -ENOENT;
}

int why_find(const struct why_input *input, const char *workload, struct why_target *ret_target, struct err *err)
{
    struct wanted wanted = wanted_of(workload);
    struct why_target target = {.gang = NO_ID, .foreign = NO_ID};
    struct gang_list found = {0};
    int r = 0;

    find_gangs(input, &wanted, &found);
    if (found.len == 0)
        find_pods(input->state, &wanted, &found, &target.foreign);
    if (found.len == 0 && target.foreign == NO_ID)
        target.left_out = find_left_out(input, &wanted);
    if (found.len > 1)
        r = fail_several(input, workload, &found, err);
    else if (found.len == 1)
        target = (struct why_target){.gang = found.items[0], .foreign = NO_ID};
    else if (target.foreign == NO_ID && !target.left_out)
        r = fail_none(input, workload, err);
    vec_done(&found);
    if (r >= 0)
        *ret_target = target;
    return r;
}
