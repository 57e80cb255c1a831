/* SPDX-License-Identifier: Apache-2.0 */

#include "dump_engine.h"

#include <inttypes.h>

#include "engine/engine.h"
#include "model/state.h"
#include "model/test/dump.h"

static void dump_pod_id(struct dump *dump, const char *what, pod_id pod)
{
    if (pod == NO_ID)
        strbuf_addf(&dump->out, " %s=-", what);
    else
        dump_id(dump, what, dump->state->pods.items[pod].namespace, dump->state->pods.items[pod].name);
}

static void dump_gang_id(struct dump *dump, const char *what, gang_id gang)
{
    if (gang == NO_ID)
        strbuf_addf(&dump->out, " %s=-", what);
    else
        dump_id(dump, what, dump->state->gangs.items[gang].namespace, dump->state->gangs.items[gang].name);
}

char *dump_decisions(const struct engine *engine, const struct state *state)
{
    struct dump dump;
    size_t count;
    const struct decision *decisions = engine_decisions(engine, &count);

    dump_begin(&dump, state);
    for (size_t i = 0; i < count; i++) {
        const struct decision *one = &decisions[i];

        strbuf_addf(&dump.out, "%s %s", action_name(one->action), decision_kind_name(one->kind));
        dump_pod_id(&dump, "pod", one->pod);
        strbuf_addf(&dump.out, " node=%s",
                    one->node == NO_ID ? "-" : dump_name(&dump, state->nodes.items[one->node].name));
        dump_gang_id(&dump, "for", one->on_behalf);
        strbuf_addch(&dump.out, '\n');
    }
    return strbuf_take(&dump.out);
}

char *dump_verdicts(const struct engine *engine, const struct state *state)
{
    struct dump dump;

    dump_begin(&dump, state);
    for (gang_id id = 0; id < state->gangs.len; id++) {
        if (!state->gangs.items[id].is_present || state->gangs.items[id].pending == 0)
            continue;
        struct verdict verdict = engine_verdict(engine, id);
        bool is_dimension = verdict.code == VERDICT_TOO_LARGE;

        dump_gang_id(&dump, "gang", id);
        strbuf_addf(&dump.out, " %s by %s", verdict_code_name(verdict.code), action_name(verdict.action));
        dump_pod_id(&dump, "pod", verdict.pod);
        strbuf_addf(
            &dump.out, " placed=%u group=%u queue=%s resource=%s%d %g/%g/%g until=%" PRId64 "\n", verdict.placed,
            verdict.group, verdict.queue == NO_ID ? "-" : dump_name(&dump, state->queues.items[verdict.queue].name),
            is_dimension ? dump_name(&dump, state->res.name[verdict.resource]) : "",
            is_dimension ? 0 : verdict.resource, verdict.requested, verdict.allocated, verdict.bound, verdict.until);
    }
    dump_sort(&dump, 0);
    return strbuf_take(&dump.out);
}

char *dump_shares(const struct engine *engine, const struct state *state)
{
    struct dump dump;

    dump_begin(&dump, state);
    for (queue_id id = 0; id < state->queues.len; id++) {
        if (!state->queues.items[id].is_present)
            continue;
        struct queue_share share = engine_share(engine, id);

        strbuf_addstr(&dump.out, dump_name(&dump, state->queues.items[id].name));
        for (int r = 0; r < SHARE_COUNT; r++)
            strbuf_addf(&dump.out, " %a/%a/%a/%a", share.fair[r], share.allocated[r], share.allocated_fixed[r],
                        share.requested[r]);
        strbuf_addch(&dump.out, '\n');
    }
    dump_sort(&dump, 0);
    return strbuf_take(&dump.out);
}
