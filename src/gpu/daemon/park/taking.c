/* SPDX-License-Identifier: Apache-2.0 */

/* Host memory for what is about to be parked: within the budget, and taken in other threads. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "gpu/daemon/park/host.h"
#include "gpu/daemon/park/park_internal.h"

/* Host memory that is being taken: of one group, a part for each process. The thread that takes it has the files alone. */
struct taking {
    struct group *group;  // NULL: it is gone, or has been told to go on
    uint32_t count;
    int error;
    struct part {
        uint64_t session;
        uint64_t bytes;
        int file;
    } parts[];
};

static struct session *find_session(const struct group *group, uint64_t number)
{
    struct session *s = session_first(group);

    while (s && (!s->slot || s->slot->session != number))
        s = session_next(s);
    return s;
}

void park_drop_taking(struct group *group)
{
    if (group->park.taking)
        group->park.taking->group = NULL;
    group->park.taking = NULL;
}

static void take_host_memory(void *arg)
{
    struct taking *taking = arg;

    for (uint32_t i = 0; i < taking->count && taking->error == 0; i++)
        taking->error = host_memory_take(taking->parts[i].file, taking->parts[i].bytes);
}

static void free_taking(struct taking *taking)
{
    for (uint32_t i = 0; i < taking->count; i++)
        (void)close(taking->parts[i].file);
    free(taking);
}

static void on_taken(void *arg)
{
    struct taking *taking = arg;
    struct group *group = taking->group;
    struct err why = {0};

    if (!group) {
        free_taking(taking);
        return;
    }
    group->park.taking = NULL;
    if (taking->error < 0) {
        (void)err_set(&why, -EBUSY, "the host does not have enough memory: %s", strerror(-taking->error));
        park_give_up(group, &why);
        free_taking(taking);
        return;
    }
    park_set_state(group, PARK_MOVING);
    for (uint32_t i = 0; i < taking->count; i++) {
        struct session *s = find_session(group, taking->parts[i].session);

        if (!s || !s->is_promised)
            continue;
        s->is_promised = false;
        if (!park_is_there(s)) {
            s->slot->parked = 0;
            continue;
        }
        s->is_awaited = true;
        park_tell(s, GPU_MOVE, taking->parts[i].bytes, &taking->parts[i].file);
    }
    free_taking(taking);
    park_go_on(group);
}

/* All have stopped: it is known what they need. */
int park_take_host_memory(struct group *group, struct err *err)
{
    struct gpud *gpud = group->gpud;
    uint64_t wanted = 0, taken = park_host_taken(gpud), budget = gpud->config->host_bytes;
    struct taking *taking = xcalloc(1, sizeof *taking + group->sessions.len * sizeof taking->parts[0]);
    int r = 0;

    for (const struct session *s = session_first(group); s; s = session_next(s))
        wanted += park_is_there(s) && s->slot->parked == 0 ? s->stopped.park.bytes : 0;
    if (wanted > budget || taken > budget - wanted)
        r = err_set(err, -EBUSY,
                    "parking needs %.1f GiB of host memory: of the budget of %.1f GiB (park.host), %.1f GiB are in use",
                    (double)wanted / GIB, (double)budget / GIB, (double)taken / GIB);
    for (struct session *s = session_first(group); s && r >= 0; s = session_next(s)) {
        struct part *part = &taking->parts[taking->count];

        if (!park_is_there(s) || s->slot->parked > 0 || s->stopped.park.bytes == 0)
            continue;
        *part = (struct part){.session = s->slot->session, .bytes = s->stopped.park.bytes};
        part->file = host_memory_new("muster-parked", part->bytes);
        if (part->file < 0) {
            r = err_set(err, -EBUSY, "host memory for process %d: %s", (int)s->peer.pid, strerror(-part->file));
            break;
        }
        taking->count++;
        s->slot->parked = part->bytes;
        s->is_promised = true;
    }
    if (r < 0) {
        free_taking(taking);
        return r;
    }
    park_set_state(group, PARK_TAKING);
    taking->group = group;
    group->park.taking = taking;
    loop_work(gpud->loop, take_host_memory, on_taken, taking);
    return 0;
}
