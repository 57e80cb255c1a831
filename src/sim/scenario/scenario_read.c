/* SPDX-License-Identifier: Apache-2.0 */

/* A scenario's frame: its kind, and its parts in an order in which each finds what it refers to. */
#include <errno.h>
#include <string.h>

#include "model/state.h"
#include "sim/scenario/scenario_internal.h"

enum { ROUNDS_MAX = 10000, WARNINGS_MAX = 16 * 1024, ROUNDS_UNTIL_MATCH = 2, ROUNDS_AFTER_MATCH = 5 };

static int read_actions(struct scenario *s, const struct json_at *kind, struct err *err)
{
    struct json_at actions;
    bool is_taken[_ACTION_MAX] = {false};
    int r = json_member_array(kind, "actions", JSON_OPTIONAL, &actions, err);

    if (r <= 0)
        return r;
    s->config.action_count = 0;
    for (struct json_at item = {0}; json_next(&actions, &item);) {
        const char *name;
        enum action action;

        r = json_str(&item, &name, err);
        if (r < 0)
            return r;
        if (!action_find(name, &action))
            return json_fail(&item, err, -EINVAL,
                             "there is no action '%s'; expected allocate, consolidation, reclaim, preempt and "
                             "stalegangeviction",
                             name);
        if (is_taken[action])
            return json_fail(&item, err, -EINVAL, "%s is listed twice", name);
        is_taken[action] = true;
        s->config.actions[s->config.action_count++] = action;
    }
    return 0;
}

static int read_rounds(struct scenario *s, const struct json_at *kind, struct err *err)
{
    int64_t until = s->is_multi_round ? ROUNDS_UNTIL_MATCH : 1;
    int64_t after = s->is_multi_round ? ROUNDS_AFTER_MATCH : 0;
    int r;

    if ((r = json_member_int64(kind, "rounds_until_match", JSON_OPTIONAL, 1, ROUNDS_MAX, &until, err)) < 0 ||
        (r = json_member_int64(kind, "rounds_after_match", JSON_OPTIONAL, 0, ROUNDS_MAX, &after, err)) < 0)
        return r;
    s->rounds_until_match = s->is_multi_round ? (uint32_t)until : 1;
    s->rounds_after_match = s->is_multi_round ? (uint32_t)after : 0;
    return 0;
}

static int read_kind(struct scenario *s, const struct json_at *scenario, struct err *err)
{
    struct json_at kind;
    const char *mode = "single_session";
    int r = json_member_object(scenario, "kind", JSON_OPTIONAL, &kind, err);

    if (r < 0)
        return r;
    if (r > 0 && (r = json_member_str(&kind, "mode", JSON_OPTIONAL, &mode, err)) < 0)
        return r;
    s->is_multi_round = strcmp(mode, "multi_round") == 0;
    if (!s->is_multi_round && strcmp(mode, "single_session") != 0)
        return scenario_fail(&kind, "mode", err, "expected single_session or multi_round, found '%s'", mode);
    if ((r = read_actions(s, &kind, err)) < 0)
        return r;
    return read_rounds(s, &kind, err);
}

static int read_topology(struct scenario_reader *r, const struct json_at *item, struct err *err)
{
    struct topology_spec spec = {0};
    struct str_pair *levels;
    struct json_at array;
    int rc;

    if ((rc = scenario_name(item, "name", &spec.name, err)) < 0 ||
        (rc = scenario_take_name(r, NAME_TOPOLOGY, item, NULL, spec.name, err)) < 0 ||
        (rc = json_member_array(item, "levels", JSON_REQUIRED, &array, err)) < 0)
        return rc;
    levels = arena_calloc(&r->scratch, yyjson_arr_size(array.val), sizeof *levels);
    for (struct json_at level = {0}; json_next(&array, &level);) {
        struct str_pair *pair = &levels[spec.level_count++];

        if ((rc = json_object(&level, err)) < 0 || (rc = scenario_name(&level, "node_label", &pair->key, err)) < 0 ||
            (rc = json_member_str(&level, "alias", JSON_OPTIONAL, &pair->value, err)) < 0)
            return rc;
    }
    spec.levels = levels;
    return scenario_wrap(item, state_put_topology(r->state, &spec, err), err);
}

static int read_topologies(struct scenario_reader *r, const struct json_at *topology, struct err *err)
{
    struct json_at array;
    int rc = json_member_array(topology, "topologies", JSON_OPTIONAL, &array, err);

    for (struct json_at item = {0}; rc >= 0 && json_next(&array, &item);) {
        rc = json_object(&item, err);
        if (rc >= 0)
            rc = read_topology(r, &item, err);
        arena_clear(&r->scratch);
    }
    return rc < 0 ? rc : 0;
}

static int read_cluster(struct scenario_reader *r, const struct json_at *scenario, struct err *err)
{
    struct json_at topology;
    int rc = json_member_object(scenario, "topology", JSON_REQUIRED, &topology, err);

    if (rc < 0 || (rc = read_topologies(r, &topology, err)) < 0 || (rc = scenario_read_queues(r, &topology, err)) < 0 ||
        (rc = scenario_read_nodes(r, &topology, err)) < 0)
        return rc;
    memset(r->total, 0, sizeof r->total);
    if ((rc = scenario_read_dra(r, &topology, err)) < 0 || (rc = scenario_read_jobs(r, &topology, err)) < 0)
        return rc;
    /* The recorded scenarios do not list this plugin: it is there when it has something to do. */
    r->s->config.has[PLUGIN_NUMA] = r->has_numa;
    return 0;
}

int scenario_read(struct scenario *s, const struct json_at *at, struct err *err)
{
    struct scenario_reader reader = {.s = s};
    int r;

    memset(s, 0, sizeof *s);
    s->id = s->name = "";
    s->state = state_new();
    strbuf_init(&s->warnings, WARNINGS_MAX);
    config_init(&s->config);
    reader.state = s->state;
    arena_init(&reader.scratch);
    for (size_t i = 0; i < ARRAY_LEN(reader.taken); i++)
        map64_init(&reader.taken[i]);

    if ((r = json_object(at, err)) >= 0 && (r = json_member_str(at, "id", JSON_OPTIONAL, &s->id, err)) >= 0 &&
        (r = json_member_str(at, "name", JSON_OPTIONAL, &s->name, err)) >= 0 && (r = read_kind(s, at, err)) >= 0 &&
        (r = scenario_read_config(&reader, at, err)) >= 0)
        r = read_cluster(&reader, at, err);

    for (size_t i = 0; i < ARRAY_LEN(reader.taken); i++)
        map64_done(&reader.taken[i]);
    arena_done(&reader.scratch);
    return r < 0 ? r : 0;
}

void scenario_done(struct scenario *s)
{
    state_free(s->state);
    s->state = NULL;
    vec_done(&s->jobs);
    vec_done(&s->pods);
    vec_done(&s->queues);
    vec_done(&s->nodes);
    strbuf_done(&s->warnings);
}
