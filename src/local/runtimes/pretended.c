/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/macros.h"
#include "base/mem.h"
#include "kube/client/meta.h"
#include "local/runtimes/runtime.h"
#include "net/loop.h"

/* A pod that is told to stop does so by itself. */
enum { EXIT_CODE_MAX = 255, EXIT_TERMINATED = 143, RANGE_TEXT_MAX = 40 };

struct runtime {
    struct loop *loop;
};

struct runtime_pod {
    struct runtime *runtime;
    struct runtime_status status;
    nsec_t run_time;    // 0: until it is stopped
    int32_t exit_code;  // that it ends with
    bool restarts_always, restarts_failures;
    struct loop_timer end;
    struct loop_task tell;
    void (*on_change)(void *arg);
    void *arg;
};

static struct runtime *open_runtime(struct loop *loop)
{
    struct runtime *runtime = xcalloc(1, sizeof *runtime);

    runtime->loop = loop;
    return runtime;
}

static void close_runtime(struct runtime *runtime)
{
    free(runtime);
}

/* "30s" or "10s-5m"; of a range, the time that belongs to the pod, so that it is the same after a restart. */
static nsec_t read_run_time(const char *text, const char *uid)
{
    const char *dash = strchr(text, '-');
    char first[RANGE_TEXT_MAX] = "";
    nsec_t low = 0, high = 0;

    if (!text[0] || strlen(text) >= sizeof first)
        return 0;
    memcpy(first, text, dash ? (size_t)(dash - text) : strlen(text));
    if (duration_parse(first, &low, NULL) < 0 || low < 0)
        return 0;
    if (!dash || duration_parse(dash + 1, &high, NULL) < 0 || high <= low)
        return MAX(low, 1);
    return MAX(low + (nsec_t)(hash_str(uid, 0) % (uint64_t)(high - low)), 1);
}

static void tell(void *arg)
{
    struct runtime_pod *pod = arg;

    pod->on_change(pod->arg);
}

static void end(struct runtime_pod *pod, int32_t exit_code)
{
    pod->status.state = RUNTIME_ENDED;
    pod->status.ended = nsec_now_wall();
    pod->status.exit_code = exit_code;
    pod->status.reason = exit_code == 0 ? "Completed" : "Error";
    if (pod->run_time > 0)
        loop_timer_stop(&pod->end);
    loop_task_queue(&pod->tell);
}

static void on_end(void *arg)
{
    struct runtime_pod *pod = arg;

    if (pod->restarts_always || (pod->restarts_failures && pod->exit_code != 0)) {
        pod->status.restarts++;
        pod->status.started = nsec_now_wall();
        loop_timer_start(&pod->end, pod->run_time);
        loop_task_queue(&pod->tell);
        return;
    }
    end(pod, pod->exit_code);
}

static struct runtime_pod *start(struct runtime *runtime, const struct runtime_request *request)
{
    struct runtime_pod *pod = xcalloc(1, sizeof *pod);
    const char *policy = kube_text(request->pod, "spec", "restartPolicy");
    const char *code = kube_text(request->pod, "metadata", "annotations", PRETENDED_EXIT_CODE);
    nsec_t now = nsec_now_wall();

    pod->runtime = runtime;
    pod->on_change = request->on_change;
    pod->arg = request->arg;
    pod->restarts_always = strcmp(policy, "Always") == 0;
    pod->restarts_failures = strcmp(policy, "OnFailure") == 0;
    pod->exit_code = (int32_t)CLAMP(strtol(code, NULL, 10), 0, EXIT_CODE_MAX);
    pod->run_time = read_run_time(kube_text(request->pod, "metadata", "annotations", PRETENDED_RUN_TIME),
                                  kube_text(request->pod, "metadata", "uid"));
    pod->status = (struct runtime_status){
        .state = RUNTIME_RUNNING,
        .started = request->started > 0 ? request->started : now,
        .restarts = request->restarts,
    };
    loop_task_init(&pod->tell, runtime->loop, tell, pod);
    /* A timer costs memory, and most pods need none. */
    if (pod->run_time > 0) {
        loop_timer_init(&pod->end, runtime->loop, on_end, pod);
        loop_timer_start(&pod->end, MAX(pod->status.started + pod->run_time - now, 0));
    }
    loop_task_queue(&pod->tell);
    return pod;
}

static void status(const struct runtime_pod *pod, struct runtime_status *ret_status)
{
    *ret_status = pod->status;
}

static void stop(struct runtime_pod *pod, nsec_t grace)
{
    (void)grace;
    if (pod->status.state != RUNTIME_ENDED)
        end(pod, EXIT_TERMINATED);
}

static void forget(struct runtime_pod *pod)
{
    loop_timer_done(&pod->end);
    loop_task_cancel(&pod->tell);
    free(pod);
}

const struct runtime_kind pretended_runtime = {
    .name = "pretended",
    .open = open_runtime,
    .close = close_runtime,
    .start = start,
    .status = status,
    .stop = stop,
    .forget = forget,
};
