/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Any JSON is a scenario that can be played, twice with the same outcome, or fails with a message in one line. What a
 * cycle leaves is never more than there is, unless the scenario began that way.
 */
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "engine/engine.h"
#include "fuzz.h"
#include "model/state.h"
#include "sim/scenario/scenario.h"

enum { SCENARIOS_MAX = 3, ROUNDS_MAX = 8, PLACES_MAX = 4000 };

/* What was decided, as one number. */
static void note_round(void *context, const struct scenario *s, const struct engine *engine,
                       const struct scenario_round *round)
{
    uint64_t *outcome = context;
    size_t count;
    const struct decision *decisions = engine_decisions(engine, &count);

    (void)round;
    for (size_t i = 0; i < count; i++) {
        BUG_ON(decisions[i].pod >= s->state->pods.len);
        *outcome = (*outcome ^ decisions[i].pod) * UINT64_C(1099511628211);
        *outcome = (*outcome ^ decisions[i].node) * UINT64_C(1099511628211);
        *outcome =
            (*outcome ^ (uint64_t)decisions[i].kind ^ (uint64_t)decisions[i].action << 8) * UINT64_C(1099511628211);
    }
    BUG_ON(s->state->undo.is_recording || s->state->undo.len > 0);
}

/* Large ones are for benchmarks. */
static bool is_small(const struct scenario *s)
{
    return s->rounds_until_match + s->rounds_after_match <= ROUNDS_MAX &&
           (uint64_t)s->state->pods.len * s->state->nodes.len <= PLACES_MAX;
}

static void play(const struct json_at *at)
{
    uint64_t outcomes[2] = {0};

    for (uint32_t i = 0; i < 2; i++) {
        struct scenario_watch watch = {.round = note_round, .context = &outcomes[i]};
        struct scenario s = {0};
        struct err err = {0};
        int r = scenario_read(&s, at, &err);

        BUG_ON(r < 0 && (err.text[0] == '\0' || strchr(err.text, '\n')));
        bool is_played = r >= 0 && is_small(&s);
        scenario_done(&s);
        if (!is_played)
            return;
        s = (struct scenario){0};
        BUG_ON(scenario_simulate(&s, at, &watch, &err) < 0);
        scenario_done(&s);
    }
    BUG_ON(outcomes[0] != outcomes[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct err err = {0};
    uint32_t count = 0;

    if (json_parse((const char *)data, size, "input", &doc, &err) < 0)
        return 0;
    struct json_at root = json_root(doc);
    if (!yyjson_is_arr(root.val)) {
        play(&root);
        return 0;
    }
    for (struct json_at item = {0}; count < SCENARIOS_MAX && json_next(&root, &item); count++)
        play(&item);
    return 0;
}
