/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What NVML sees, against what the ledger says. NVML is asked in another thread, since it may take long; the rest happens
 * here. How often depends on what there is to see: a GPU with tenants every interval, one that is promised to groups
 * without any more seldom, and one without groups only while somebody reads figures. Memory of a tenant that the ledger
 * does not know of (contexts, code, stacks) is added to it, so that the group gets nothing new in its place; a process
 * that is no tenant and more memory than the limit are said, or ended.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "gpu/daemon/gpud_parts.h"
#include "gpu/nvml/nvml.h"

/* A GPU that has groups and no tenants is looked at as seldom as this. */
#define PACE_WITHOUT_TENANTS NSEC_PER_SEC
/* What a figure may be old. */
#define FRESH (2500 * NSEC_PER_MSEC)
/* Longer than NVML ever takes. */
#define HANGING (5 * NSEC_PER_SEC)

struct sample {
    bool is_wanted;  // the rest is of the time before where it is not
    int count;       // negative: NVML did not say
    uint64_t used_bytes;
    struct nvml_use uses[NVML_PROCESSES_MAX];
};

/* A process on a GPU that it is no tenant of; it is one until a look does not find it any more. */
struct stranger {
    struct peer peer;  // without a pidfd
    uint32_t device;
    bool is_seen;
};

struct watcher {
    struct gpud *gpud;  // NULL: freed while NVML was asked
    struct nvml *nvml;
    uint32_t device_count;
    uint32_t nvml_index[GPU_MAX];
    nsec_t looked_at[GPU_MAX];  // when the last look began; 0: never
    struct loop_timer timer;
    bool is_asking;
    nsec_t asked_at;
    bool is_hanging;
    bool is_hurried;  // the next look is not a whole interval away
    bool is_glanced;  // somebody reads figures: GPUs that nobody shares are looked at as well
    VEC(struct stranger) strangers;
    struct sample samples[GPU_MAX];
};

/* Two questions for each GPU. */
static void ask_nvml(void *arg)
{
    struct watcher *w = arg;

    for (uint32_t i = 0; i < w->device_count; i++) {
        struct sample *sample = &w->samples[i];

        if (!sample->is_wanted)
            continue;
        sample->count = nvml_processes(w->nvml, w->nvml_index[i], sample->uses);
        if (nvml_used(w->nvml, w->nvml_index[i], &sample->used_bytes, NULL) < 0)
            sample->count = -1;
    }
}

static struct session *find_tenant(const struct gpud *gpud, uint32_t pid, uint32_t device, uint32_t *ret_gpu)
{
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        const struct group *group = gpud->groups[i];
        int gpu = group ? group_gpu(group, device) : -1;

        for (struct session *s = gpu >= 0 ? session_first(group) : NULL; s; s = session_next(s)) {
            if ((uint32_t)s->peer.pid == pid && s->slot) {
                *ret_gpu = (uint32_t)gpu;
                return s;
            }
        }
    }
    return NULL;
}

/* Whether a group shares the GPU; slices are nobody else's, and the GPU keeps them apart by itself. With `needs_tenants`, one that has processes. */
static bool has_group(const struct gpud *gpud, uint32_t device, bool needs_tenants)
{
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        const struct group *group = gpud->groups[i];

        if (group && !group->spec.mig[0] && (group->sessions.len > 0 || !needs_tenants) &&
            group_gpu(group, device) >= 0)
            return true;
    }
    return false;
}

static bool is_shared(const struct gpud *gpud, uint32_t device)
{
    return has_group(gpud, device, false);
}

static struct stranger *find_stranger(struct watcher *w, const struct peer *peer, uint32_t device)
{
    struct stranger *other = NULL;

    vec_foreach (&w->strangers, at) {
        if (at->peer.pid != peer->pid || at->peer.started != peer->started)
            continue;
        if (at->device == device)
            return at;
        other = at;
    }
    return other;
}

/* What NVML said is a while old: who has ended since was a tenant perhaps, and who has begun since is another process of
 * the same number. Both are left alone. */
static void judge_stranger(struct watcher *w, uint32_t device, uint32_t pid)
{
    struct gpud *gpud = w->gpud;
    struct peer peer;

    if (!is_shared(gpud, device) || peer_living(pid, w->asked_at, &peer) < 0)
        return;
    struct stranger *known = find_stranger(w, &peer, device);
    bool is_new = !known;
    if (known && known->device == device)
        known->is_seen = true;
    else
        vec_push(&w->strangers, (struct stranger){.peer = peer, .device = device, .is_seen = true});
    if (is_new) {
        gpud->unregistered++;
        log_warn(gpud->log, "a process uses a shared GPU without being a tenant", log_int("pid", pid),
                 log_str("gpu", gpud->devices[device].spec.uuid));
        if (gpud->config->unregistered == ACTION_KILL)
            (void)syscall(SYS_pidfd_send_signal, peer.pidfd, SIGKILL, NULL, 0);
    }
    (void)close(peer.pidfd);
}

static void forget_strangers(struct watcher *w)
{
    for (uint32_t i = 0; i < w->strangers.len;) {
        struct stranger *at = &w->strangers.items[i];
        const struct sample *sample = &w->samples[at->device];

        if (sample->is_wanted && sample->count >= 0 && !at->is_seen) {
            vec_swap_remove(&w->strangers, i);
            continue;
        }
        at->is_seen = false;
        i++;
    }
}

static uint64_t allocated(const struct session *session, uint32_t gpu)
{
    uint64_t granted = session_holding(session, gpu)->plain;
    uint64_t credit = session->page.mem ? atomic_load(&session_line(session, gpu)->credit_bytes) : 0;

    return granted - MIN(credit, granted);
}

/* What the process has beyond what it reserved is its contexts' and whatever else no call shows. NVML looked a while ago, and
 * a reservation comes before the allocation: only of a process that has allocated nothing since the last look is it known
 * that it has less than what is charged. Otherwise a process that fills its memory would be given its context's as well. */
static void true_up(struct session *session, uint32_t gpu, uint64_t seen)
{
    struct group *group = session->group;
    struct gpud *gpud = group->gpud;
    uint32_t device = group->devices[gpu];
    struct ledger_holding *holding = session_holding(session, gpu);
    struct session_gpu *own = &session->gpus[gpu];
    uint64_t plain = allocated(session, gpu);
    bool is_steady = own->is_seen && own->plain_seen == plain;
    uint64_t likely = MAX(plain, MAX(own->plain_seen, own->plain_asked));
    uint64_t hidden = seen > likely ? seen - likely : 0;
    /* It may have had as much as it was granted at any time since the last look, and NVML may have looked at that moment: what
     * goes beyond is certain, and so is what two looks agree on. */
    uint64_t most = MAX(likely, MAX(holding->plain, own->plain_most));
    uint64_t agreed = own->is_seen ? MIN(hidden, own->hidden) : 0;
    uint64_t certain = MAX(seen > most ? seen - most : 0, agreed);

    own->is_seen = true;
    own->plain_seen = plain;
    own->plain_most = holding->plain;
    /* What the next context is taken to need follows what contexts have been seen to take. */
    if (is_steady && agreed > 0 && holding->context > 0)
        gpud->devices[device].context_bytes = gpud->devices[device].context_bytes / 4 * 3 + agreed / 4;
    if (certain > holding->context)
        ledger_force(&gpud->ledger, group->index, holding, device, GPU_KIND_CONTEXT, certain - holding->context);
    else if (is_steady && agreed > 0 && holding->context > MAX(hidden, own->hidden))
        (void)ledger_release(&gpud->ledger, group->index, holding, device, GPU_KIND_CONTEXT,
                             holding->context - MAX(hidden, own->hidden));
    own->hidden = hidden;
}

/* Whose memory that no call shows is most; those that have been told to end are not asked again. NULL when one of them is
 * still there: what it gives back may be enough. */
static struct session *worst_process(const struct group *group, uint32_t gpu)
{
    struct session *worst = NULL;

    for (struct session *s = session_first(group); s; s = session_next(s)) {
        if (s->is_killed)
            return NULL;
        if (s->slot && (!worst || s->gpus[gpu].hidden > worst->gpus[gpu].hidden))
            worst = s;
    }
    return worst;
}

/* Said when it begins, and not with every look; ended is one process at a time. */
static void judge_group(struct group *group, uint32_t gpu)
{
    struct gpud *gpud = group->gpud;
    uint32_t bit = 1u << gpu;
    uint64_t taken = gpud->ledger.groups[group->index].taken[group->devices[gpu]];
    struct session *worst = worst_process(group, gpu);

    if (taken <= group->spec.limit_bytes + gpud->config->tolerance_bytes) {
        group->is_over &= ~bit;
        return;
    }
    if (!worst)
        return;
    if (!(group->is_over & bit)) {
        session_notice(worst, GPU_REASON_OUTSIDE, gpu, "a process uses more memory than its limit");
        log_warn(gpud->log, "a process uses more memory than its limit", log_str("group", group->spec.name),
                 log_int("pid", worst->peer.pid), log_int("bytes", (int64_t)taken),
                 log_int("limit", (int64_t)group->spec.limit_bytes));
    }
    group->is_over |= bit;
    if (gpud->config->overuse == ACTION_KILL)
        session_kill(worst, GPU_REASON_OUTSIDE, gpu, "its group used more memory than its limit");
}

static void judge_groups(struct gpud *gpud, uint32_t device)
{
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        struct group *group = gpud->groups[i];
        int gpu = group ? group_gpu(group, device) : -1;

        if (gpu >= 0)
            judge_group(group, (uint32_t)gpu);
    }
}

static void judge(struct watcher *w, uint32_t device)
{
    const struct sample *sample = &w->samples[device];
    struct gpud *gpud = w->gpud;

    gpud->devices[device].looks++;
    gpud->devices[device].has_nvml = sample->count >= 0;
    gpud->devices[device].nvml_used = sample->used_bytes;
    for (int i = 0; i < sample->count; i++) {
        uint32_t gpu = 0;
        struct session *session = find_tenant(gpud, sample->uses[i].pid, device, &gpu);

        if (!session)
            judge_stranger(w, device, sample->uses[i].pid);
        else if (sample->uses[i].bytes != UINT64_MAX && sample->uses[i].bytes <= GPU_BYTES_MAX)
            true_up(session, gpu, sample->uses[i].bytes);
    }
    judge_groups(gpud, device);
}

static void end_watcher(struct watcher *w)
{
    vec_done(&w->strangers);
    nvml_close(w->nvml);
    free(w);
}

/* However many tenants grow, NVML is not asked more often than this. */
static nsec_t soon(const struct watcher *w)
{
    return MIN(100 * NSEC_PER_MSEC, w->gpud->config->watch_interval);
}

/* When to look at a GPU again: what is watched costs something, and nothing else does. */
static nsec_t next_look(const struct watcher *w, uint32_t device)
{
    nsec_t interval = w->gpud->config->watch_interval;

    if (!is_shared(w->gpud, device))
        return w->is_glanced ? w->looked_at[device] + PACE_WITHOUT_TENANTS : NSEC_MAX;
    if (w->is_hurried)
        return w->looked_at[device] + soon(w);
    if (has_group(w->gpud, device, true))
        return w->looked_at[device] + interval;
    return w->looked_at[device] + MAX(interval, PACE_WITHOUT_TENANTS);
}

/* Sets the timer for the GPU whose turn is next; none when there is nothing to watch. */
static void plan(struct watcher *w)
{
    nsec_t at = NSEC_MAX;

    if (w->is_asking)
        return;
    for (uint32_t i = 0; i < w->device_count; i++)
        at = MIN(at, next_look(w, i));
    if (at == NSEC_MAX)
        loop_timer_stop(&w->timer);
    else
        loop_timer_start(&w->timer, MAX(at - gpud_now(), (nsec_t)0));
}

static void on_answer(void *arg)
{
    struct watcher *w = arg;

    w->is_asking = false;
    if (!w->gpud) {
        end_watcher(w);
        return;
    }
    if (w->is_hanging)
        log_info(w->gpud->log, "NVML answers again");
    w->is_hanging = false;
    for (uint32_t i = 0; i < w->device_count; i++) {
        if (w->samples[i].is_wanted)
            judge(w, i);
    }
    forget_strangers(w);
    memory_retry(w->gpud);
    plan(w);
}

/* What tenants have at this moment, to compare with what NVML says. */
static void note_allocated(const struct gpud *gpud)
{
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        const struct group *group = gpud->groups[i];

        for (struct session *s = group ? session_first(group) : NULL; s; s = session_next(s)) {
            for (uint32_t gpu = 0; s->slot && gpu < group->spec.gpu_count; gpu++)
                s->gpus[gpu].plain_asked = allocated(s, gpu);
        }
    }
}

/* Those whose time has come, and those that would come a moment later: one wake-up serves all. */
static bool choose(struct watcher *w, nsec_t now)
{
    bool is_any = false;

    for (uint32_t i = 0; i < w->device_count; i++) {
        nsec_t at = next_look(w, i);

        w->samples[i].is_wanted = at != NSEC_MAX && at <= now + soon(w) / 2;
        if (w->samples[i].is_wanted)
            w->looked_at[i] = now;
        is_any |= w->samples[i].is_wanted;
    }
    return is_any;
}

static void on_time(void *arg)
{
    struct watcher *w = arg;

    if (w->is_asking) {
        w->is_hanging = true;
        log_warn(w->gpud->log, "NVML does not answer: processes that are not tenants are not detected until it does");
        return;
    }
    w->asked_at = gpud_now();
    w->is_asking = choose(w, w->asked_at);
    w->is_hurried = false;
    w->is_glanced = false;
    if (!w->is_asking) {
        plan(w);
        return;
    }
    note_allocated(w->gpud);
    loop_timer_start(&w->timer, HANGING);
    loop_work(w->gpud->loop, ask_nvml, on_answer, w);
}

/* Which number NVML has for each of our GPUs. */
static bool find_indexes(struct watcher *w)
{
    for (uint32_t i = 0; i < w->device_count; i++) {
        bool is_found = false;

        for (uint32_t j = 0; j < nvml_gpu_count(w->nvml) && !is_found; j++) {
            struct nvml_gpu gpu;

            is_found = nvml_gpu(w->nvml, j, &gpu, NULL) == 0 && strcmp(gpu.uuid, w->gpud->devices[i].spec.uuid) == 0;
            w->nvml_index[i] = j;
        }
        if (!is_found)
            return false;
    }
    return true;
}

void watcher_start(struct gpud *gpud)
{
    if (!gpud->nvml || gpud->config->watch_interval == 0)
        return;
    struct watcher *w = xcalloc(1, sizeof *w);
    w->gpud = gpud;
    w->nvml = TAKE_PTR(gpud->nvml);
    w->device_count = gpud->device_count;
    if (!find_indexes(w)) {
        log_warn(gpud->log,
                 "NVML does not know all GPUs of the configuration: processes that are not tenants are not detected");
        end_watcher(w);
        return;
    }
    loop_timer_init(&w->timer, gpud->loop, on_time, w);
    gpud->watcher = w;
    plan(w);
}

void watcher_wake(struct gpud *gpud)
{
    if (gpud->watcher)
        plan(gpud->watcher);
}

void watcher_hurry(struct gpud *gpud)
{
    if (!gpud->watcher || gpud->watcher->is_hurried)
        return;
    gpud->watcher->is_hurried = true;
    plan(gpud->watcher);
}

void watcher_glance(struct gpud *gpud)
{
    if (!gpud->watcher || gpud->watcher->is_glanced)
        return;
    gpud->watcher->is_glanced = true;
    plan(gpud->watcher);
}

bool watcher_is_watching(const struct gpud *gpud)
{
    return gpud->watcher && !gpud->watcher->is_hanging;
}

bool watcher_knows(const struct gpud *gpud, uint32_t device)
{
    const struct watcher *w = gpud->watcher;

    return w && gpud->devices[device].has_nvml &&
           gpud_now() - w->looked_at[device] < MAX(FRESH, 2 * gpud->config->watch_interval);
}

void watcher_free(struct watcher *w)
{
    if (!w)
        return;
    loop_timer_done(&w->timer);
    w->gpud = NULL;
    if (!w->is_asking)
        end_watcher(w);
}
