/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What verdicts say in KAI's words, for the tests of their texts. */
#include "base/strbuf.h"
#include "engine/reasons/explain.h"
#include "engine/test/small_state.h"
#include "words/verdict_text.h"

/* A queue with quotas and limits. */
static inline void put_bounds(struct small_state *s, const char *name, const double quota[3], const double limit[3])
{
    struct queue_spec spec = {.name = name, .display_name = "Team", .priority = 100, .weight = {1, 1, 1}};

    for (int r = 0; r < SHARE_COUNT; r++) {
        spec.deserved[r] = quota[r];
        spec.limit[r] = limit[r];
    }
    assert_int_equal(state_put_queue(s->state, &spec, NULL), 0);
}

/* What is said of the gang after a cycle, and of its first pod that found no place. */
static struct {
    char gang[8192];
    char pod[8192];
    char detailed_gang[8192];
    char detailed_pod[8192];
} said;

static inline void copy_text(char *to, size_t size, struct strbuf *from)
{
    (void)snprintf(to, size, "%s", from->text);
    strbuf_clear(from);
}

static inline void say(struct small_state *s, const char *gang)
{
    struct explanation e;
    struct verdict_text text = {.engine = s->engine, .explanation = &e};
    struct strbuf out;

    strbuf_init(&out, sizeof said.gang);
    engine_take_in(s->engine);
    engine_open(s->engine, NOW);
    for (int action = 0; action < _ACTION_MAX; action++)
        engine_run(s->engine, (enum action)action);
    explain(s->engine, state_find_gang(s->state, "ns", gang), &e);
    verdict_text_gang(&text, &out);
    copy_text(said.gang, sizeof said.gang, &out);
    verdict_text_pod(&text, e.pod, &out);
    copy_text(said.pod, sizeof said.pod, &out);
    text.is_detailed = true;
    verdict_text_gang(&text, &out);
    copy_text(said.detailed_gang, sizeof said.detailed_gang, &out);
    verdict_text_pod(&text, e.pod, &out);
    copy_text(said.detailed_pod, sizeof said.detailed_pod, &out);
    strbuf_done(&out);
    explanation_done(&e);
}
