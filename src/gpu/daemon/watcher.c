/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What NVML sees, against what the ledger says. NVML is asked in another thread, since it may take long; the rest happens
 * here. Memory of a tenant that the ledger does not know of (contexts, code, stacks) is added to it, so that the group
 * gets nothing new in its place; a process that is no tenant and more memory than the limit are said, or ended.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "gpu/daemon/gpud_internal.h"
#include "gpu/nvml/nvml.h"

struct sample {
    int count;  // negative: NVML did not say
    uint64_t used_bytes;
    struct nvml_use uses[NVML_PROCESSES_MAX];
};

struct watcher {
    struct gpud *gpud;  // NULL: freed while NVML was asked
    struct nvml *nvml;
    uint32_t device_count;
    uint32_t nvml_index[GPU_MAX];
    struct loop_timer timer;
    bool is_asking;
    bool is_hurried;          // the next look is not a whole interval away
    VEC(uint32_t) strangers;  // that were seen already
    struct sample samples[GPU_MAX];
};

static void ask_nvml(void *arg)
{
    struct watcher *w = arg;

    for (uint32_t i = 0; i < w->device_count; i++) {
        struct nvml_gpu gpu;

        w->samples[i].count = nvml_processes(w->nvml, w->nvml_index[i], w->samples[i].uses);
        w->samples[i].used_bytes = nvml_gpu(w->nvml, w->nvml_index[i], &gpu, NULL) < 0 ? 0 : gpu.used_bytes;
    }
}

static struct session *find_tenant(const struct gpud *gpud, uint32_t pid, uint32_t device, uint32_t *ret_gpu)
{
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        const struct group *group = gpud->groups[i];

        for (struct session *s = group ? group->first : NULL; s; s = s->next) {
            for (uint32_t gpu = 0; (uint32_t)s->peer.pid == pid && s->slot && gpu < group->spec.gpu_count; gpu++) {
                if (group->devices[gpu] == device) {
                    *ret_gpu = gpu;
                    return s;
                }
            }
        }
    }
    return NULL;
}

static bool is_shared(const struct gpud *gpud, uint32_t device)
{
    return gpud->ledger.requested[device] > 0;
}

static bool is_new_stranger(struct watcher *w, uint32_t pid)
{
    enum { STRANGERS_MAX = 4096 };

    vec_foreach (&w->strangers, at) {
        if (*at == pid)
            return false;
    }
    if (w->strangers.len == STRANGERS_MAX)
        vec_clear(&w->strangers);
    vec_push(&w->strangers, pid);
    return true;
}

static void judge_stranger(struct watcher *w, uint32_t device, uint32_t pid)
{
    struct gpud *gpud = w->gpud;

    if (!is_shared(gpud, device) || !is_new_stranger(w, pid))
        return;
    gpud->unregistered++;
    log_warn(gpud->log, "a process uses a shared GPU without being a tenant", log_int("pid", pid),
             log_str("gpu", gpud->devices[device].spec.uuid));
    if (gpud->config->unregistered == ACTION_KILL)
        (void)kill((pid_t)pid, SIGKILL);
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
    uint64_t credit = session->page.mem ? atomic_load(&session_line(session, gpu)->credit_bytes) : 0;
    uint64_t plain = holding->plain - MIN(credit, holding->plain);
    bool is_steady = own->is_seen && own->plain_seen == plain;
    uint64_t most = own->is_seen ? MAX(plain, own->plain_seen) : plain;
    uint64_t hidden = seen > most ? seen - most : 0;

    own->is_seen = true;
    own->plain_seen = plain;
    /* What the next context is taken to need follows what contexts have been seen to take. */
    if (is_steady && hidden > 0 && holding->context > 0)
        gpud->devices[device].context_bytes = gpud->devices[device].context_bytes / 4 * 3 + hidden / 4;
    if (hidden > holding->context)
        ledger_force(&gpud->ledger, group->index, holding, device, GPU_KIND_CONTEXT, hidden - holding->context);
    else if (is_steady && holding->context > 0 && hidden > 0)
        (void)ledger_release(&gpud->ledger, group->index, holding, device, GPU_KIND_CONTEXT, holding->context - hidden);
    uint64_t taken = gpud->ledger.groups[group->index].taken[device];
    if (taken <= group->spec.limit_bytes + gpud->config->tolerance_bytes)
        return;
    session_notice(session, GPU_REASON_OUTSIDE, gpu, "more memory is used than the limit allows");
    log_warn(gpud->log, "more memory is used than the limit allows", log_str("group", group->spec.name),
             log_int("pid", session->peer.pid), log_int("bytes", (int64_t)taken),
             log_int("limit", (int64_t)group->spec.limit_bytes));
    if (gpud->config->overuse == ACTION_KILL)
        session_kill(session, GPU_REASON_OUTSIDE, gpu);
}

static void judge(struct watcher *w, uint32_t device)
{
    const struct sample *sample = &w->samples[device];
    struct gpud *gpud = w->gpud;

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

static void on_answer(void *arg)
{
    struct watcher *w = arg;

    w->is_asking = false;
    if (!w->gpud) {
        end_watcher(w);
        return;
    }
    for (uint32_t i = 0; i < w->device_count; i++)
        judge(w, i);
    memory_retry(w->gpud);
    loop_timer_start(&w->timer, w->is_hurried ? soon(w) : w->gpud->config->watch_interval);
}

static void on_time(void *arg)
{
    struct watcher *w = arg;

    w->is_asking = true;
    w->is_hurried = false;
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
        log_warn(gpud->log, "NVML does not know all GPUs of the configuration: whoever escapes goes unseen");
        end_watcher(w);
        return;
    }
    loop_timer_init(&w->timer, gpud->loop, on_time, w);
    loop_timer_start(&w->timer, 0);
    gpud->watcher = w;
}

void watcher_hurry(struct gpud *gpud)
{
    struct watcher *w = gpud->watcher;

    if (!w || w->is_hurried)
        return;
    w->is_hurried = true;
    if (!w->is_asking)
        loop_timer_start(&w->timer, soon(w));
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
