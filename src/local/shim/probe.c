/* SPDX-License-Identifier: Apache-2.0 */

/* Probes: startup holds back the others, liveness restarts, readiness makes the container ready or not. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/macros.h"
#include "local/controllers/values.h"
#include "local/shim/shim_internal.h"

static const struct {
    const char *member;
    const char *title;
} kinds[_PROBE_KIND_MAX] = {
    [PROBE_STARTUP] = {"startupProbe", "Startup"},
    [PROBE_LIVENESS] = {"livenessProbe", "Liveness"},
    [PROBE_READINESS] = {"readinessProbe", "Readiness"},
};

static nsec_t seconds(const struct probe *probe, const char *member, int64_t fallback)
{
    return number_at(probe->spec, fallback, member) * NSEC_PER_SEC;
}

static void start_others(struct container *container)
{
    for (enum probe_kind i = PROBE_LIVENESS; i < _PROBE_KIND_MAX; i++) {
        struct probe *probe = &container->probes[i];

        if (probe->spec)
            loop_timer_start(&probe->timer, seconds(probe, "initialDelaySeconds", 0));
    }
}

static void passed(struct probe *probe)
{
    struct container *container = probe->container;

    probe->failures = 0;
    if (++probe->successes < number_at(probe->spec, 1, "successThreshold"))
        return;
    if (probe->kind == PROBE_STARTUP && !container->is_up) {
        loop_timer_stop(&probe->timer);
        container->is_up = true;
        container->is_ready = !container->probes[PROBE_READINESS].spec;
        start_others(container);
    } else if (probe->kind == PROBE_READINESS) {
        container->is_ready = true;
    }
    shim_changed(container->shim);
}

/* It has ended, and we have not been told yet. */
static bool has_ended(const struct container *container)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)container->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid != 0;
}

static void failed(struct probe *probe, const char *message)
{
    struct container *container = probe->container;

    if (has_ended(container))
        return;
    probe->successes = 0;
    status_event(container->shim, "Warning", "Unhealthy", "%s probe failed: %s", kinds[probe->kind].title, message);
    if (++probe->failures < number_at(probe->spec, 3, "failureThreshold"))
        return;
    probe->failures = 0;
    if (probe->kind == PROBE_READINESS) {
        container->is_ready = false;
        shim_changed(container->shim);
        return;
    }
    int64_t grace = number_at(probe->spec, -1, "terminationGracePeriodSeconds");
    container_stop(container, grace >= 0 ? grace * NSEC_PER_SEC : container_grace(container),
                   probe->kind == PROBE_STARTUP ? "it failed its startup probe" : "it failed its liveness probe");
    shim_changed(container->shim);
}

static void on_done(void *arg, bool is_good, const char *message)
{
    struct probe *probe = arg;

    loop_timer_start(&probe->timer, MAX(seconds(probe, "periodSeconds", 10), NSEC_PER_SEC));
    if (is_good)
        passed(probe);
    else
        failed(probe, message);
}

static void on_timer(void *arg)
{
    struct probe *probe = arg;

    action_start(&probe->action, probe->container, probe->spec, MAX(seconds(probe, "timeoutSeconds", 1), NSEC_PER_SEC),
                 on_done, probe);
}

void container_probes_start(struct container *container)
{
    for (enum probe_kind i = 0; i < _PROBE_KIND_MAX; i++) {
        struct probe *probe = &container->probes[i];

        *probe = (struct probe){.container = container, .kind = i, .spec = value_at(container->spec, kinds[i].member)};
        if (probe->spec)
            loop_timer_init(&probe->timer, container->shim->loop, on_timer, probe);
    }
    struct probe *startup = &container->probes[PROBE_STARTUP];
    if (startup->spec)
        loop_timer_start(&startup->timer, seconds(startup, "initialDelaySeconds", 0));
    else
        start_others(container);
}

void container_probes_stop(struct container *container)
{
    for (enum probe_kind i = 0; i < _PROBE_KIND_MAX; i++) {
        action_cancel(&container->probes[i].action);
        loop_timer_done(&container->probes[i].timer);
        container->probes[i].timer = (struct loop_timer){0};
        container->probes[i].spec = NULL;
    }
}
