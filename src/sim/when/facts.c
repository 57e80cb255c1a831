/* SPDX-License-Identifier: Apache-2.0 */

/* What is known of workloads beside the state: whose they are, their image, and their declared limit. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "model/books/books.h"
#include "model/state.h"
#include "objects/object.h"
#include "objects/owner.h"
#include "sim/run/run.h"
#include "sim/when/when.h"

enum { NAME_TEXT_MAX = 1024 };
#define LIMIT_SECONDS_MAX 1000000000
#define USER_LABEL "user"

static int64_t gpus_of(const struct state *state, const struct gang *gang)
{
    int64_t gpus = 0;

    for (uint32_t g = 0; g < gang->group_count; g++)
        for (uint32_t i = 0; i < gang->groups[g].pods.len; i++)
            gpus += pod_asked(state, gang->groups[g].pods.items[i]).v[SHARE_GPU];
    return gpus;
}

/* Since when it runs, as far as that is known: its own start, else the creation of its oldest pod. */
static nsec_t running_since(const struct state *state, const struct gang *gang)
{
    nsec_t since = gang->last_start;

    if (since != 0)
        return since;
    for (uint32_t g = 0; g < gang->group_count; g++)
        for (uint32_t i = 0; i < gang->groups[g].pods.len; i++) {
            nsec_t created = state->pods.items[gang->groups[g].pods.items[i]].created;

            since = since == 0 ? created : MIN(since, created);
        }
    return since;
}

/* Objects without a date count nanoseconds from 1970 on: nobody knows since when they run. */
static nsec_t elapsed_of(const struct state *state, const struct gang *gang, nsec_t now)
{
    nsec_t since = gang->allocated > 0 ? running_since(state, gang) : 0;

    return since < 24 * NSEC_PER_HOUR || since > now ? 0 : now - since;
}

static nsec_t deadline_in(yyjson_val *spec)
{
    yyjson_val *seconds = yyjson_obj_get(spec, "activeDeadlineSeconds");
    int64_t number = yyjson_is_int(seconds) ? yyjson_get_sint(seconds) : 0;

    return number > 0 && number <= LIMIT_SECONDS_MAX ? number * NSEC_PER_SEC : 0;
}

/* Of the workload, else the least of its pods. */
static nsec_t limit_of(const struct object *owner, const struct pod_template *templates, size_t count)
{
    nsec_t limit = deadline_in(yyjson_obj_get(owner->root.val, "spec"));

    for (size_t i = 0; limit == 0 && i < count; i++)
        limit = deadline_in(yyjson_obj_get(templates[i].value, "spec"));
    return limit;
}

static const char *image_of(const struct pod_template *templates, size_t count)
{
    yyjson_val *containers =
        count > 0 ? yyjson_obj_get(yyjson_obj_get(templates[0].value, "spec"), "containers") : NULL;

    return yyjson_get_str(yyjson_obj_get(yyjson_arr_get_first(containers), "image"));
}

static struct future_fact fact_of(const struct state *state, const struct object_set *objects, gang_id id, nsec_t now)
{
    const struct gang *gang = &state->gangs.items[id];
    const char *namespace = state_name(state, gang->namespace);
    struct pod_template templates[POD_TEMPLATES_MAX];
    struct future_fact fact = {.elapsed = elapsed_of(state, gang, now), .gpus = gpus_of(state, gang)};
    struct owner owner = {0};
    const char *user = NULL;
    const char *image = NULL;
    struct strbuf name;

    if (objects && owner_find(objects, namespace, state_name(state, gang->name), &owner) && owner.object) {
        size_t count = owner_templates(owner.object, templates, POD_TEMPLATES_MAX);

        fact.limit = limit_of(owner.object, templates, count);
        image = image_of(templates, count);
        user = object_label(owner.object, USER_LABEL);
    }
    strbuf_init(&name, NAME_TEXT_MAX);
    workload_add_name(&name, state, id);
    const char *slash = strchr(name.text, '/');
    fact.traits = past_traits(user && *user ? user : namespace, state_name(state, gang->queue_name), image,
                              slash ? slash + 1 : name.text, fact.gpus);
    strbuf_done(&name);
    return fact;
}

struct future_fact *when_facts(const struct state *state, const struct object_set *objects, nsec_t now)
{
    struct future_fact *facts = xcalloc(MAX(state->gangs.len, 1u), sizeof *facts);

    for (gang_id id = 0; id < state->gangs.len; id++)
        if (state->gangs.items[id].is_present)
            facts[id] = fact_of(state, objects, id, now);
    return facts;
}
