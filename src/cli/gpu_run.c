/* SPDX-License-Identifier: Apache-2.0 */

/*
 * muster gpu run: a program with a part of a GPU. A group of its own is made for it, and taken away when it has ended; the
 * program gets the library that stands in front of the driver. What cannot be enforced is refused.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "cli/gpu.h"
#include "gpu/daemon/arbiter.h"
#include "gpu/daemon/group_spec.h"
#include "text/json.h"
#include "text/quantity.h"

/* Starts a daemon that outlives this program, and waits until it answers. */
static int start_daemon(const char *folder, struct err *err)
{
    _cleanup_(freep) char *answer = NULL;
    char log[256];
    pid_t child = fork();

    (void)snprintf(log, sizeof log, "/tmp/muster-gpud-%u.log", (unsigned)getuid());
    if (child < 0)
        return err_set(err, -errno, "starting a daemon: %s", strerror(errno));
    if (child == 0) {
        int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);

        (void)setsid();
        if (fd < 0 || dup2(fd, STDERR_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0)
            _exit(1);
        (void)execl("/proc/self/exe", "muster", "gpud", "--folder", folder, (char *)NULL);
        _exit(1);
    }
    for (int i = 0; i < 200; i++) {
        int status;

        if (gpu_ask(folder, "GET", "/healthz", NULL, &answer, NULL) == 0)
            return 0;
        if (waitpid(child, &status, WNOHANG) == child)
            return err_set(err, -EIO, "no GPU daemon runs and none can be started: see %s, or try 'muster gpu doctor'",
                           log);
        (void)usleep(50000);
    }
    return err_set(err, -EIO, "the GPU daemon does not answer: see %s", log);
}

struct choice {
    char uuid[GROUP_GPU_SIZE];
    uint64_t capacity;
    uint64_t left;
};

/* The GPU that was named, or the one with most memory that is promised to nobody. */
static int choose_gpu(const char *status, const char *wanted, struct choice *ret_choice, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct json_at gpus;
    struct choice best = {0};
    int r = json_parse(status, strlen(status), "the daemon's answer", &doc, err);
    size_t index = 0;

    if (r < 0)
        return r;
    struct json_at root = json_root(doc);
    r = json_member_array(&root, "gpus", JSON_REQUIRED, &gpus, err);
    for (struct json_at item = {0}; r >= 0 && json_next(&gpus, &item); index++) {
        const char *uuid;
        int64_t capacity;
        int64_t requested;
        char number[24];

        r = json_member_str(&item, "uuid", JSON_REQUIRED, &uuid, err);
        if (r >= 0)
            r = json_member_int64(&item, "capacityBytes", JSON_REQUIRED, 0, INT64_MAX, &capacity, err);
        if (r >= 0)
            r = json_member_int64(&item, "requestedBytes", JSON_REQUIRED, 0, INT64_MAX, &requested, err);
        if (r < 0)
            return r;
        (void)snprintf(number, sizeof number, "%zu", index);
        if (wanted && strcmp(wanted, uuid) != 0 && strcmp(wanted, number) != 0)
            continue;
        if (!best.uuid[0] || (uint64_t)(capacity - requested) > best.left) {
            (void)snprintf(best.uuid, sizeof best.uuid, "%s", uuid);
            best.capacity = (uint64_t)capacity;
            best.left = (uint64_t)(capacity - requested);
        }
    }
    if (r < 0)
        return r;
    if (!best.uuid[0])
        return err_set(err, -ENOENT, wanted ? "there is no GPU '%s' here" : "there is no GPU here%s",
                       wanted ? wanted : "");
    *ret_choice = best;
    return 0;
}

/* "20Gi", or a part of what the GPU has: "0.25". */
static int read_memory(const char *text, uint64_t capacity, uint64_t *ret_bytes, struct err *err)
{
    char *end;
    double part = strtod(text, &end);
    int64_t bytes;

    if (*end == '\0' && part > 0 && part <= 1) {
        *ret_bytes = (uint64_t)(part * (double)capacity);
        return 0;
    }
    int r = quantity_parse(text, QUANTITY_ONE, &bytes, err);
    if (r < 0)
        return err_set(err, -EINVAL, "'%s' is no amount of GPU memory: write 20Gi, or 0.25 of the GPU", text);
    *ret_bytes = (uint64_t)bytes;
    return 0;
}

static int read_share(const struct gpu_call *call, const struct choice *gpu, struct group_spec *spec, struct err *err)
{
    char *end;
    double share = (double)spec->request_bytes / (double)gpu->capacity;

    if (call->share) {
        share = strtod(call->share, &end);
        if (*end != '\0' || !(share > 0 && share <= 1))
            return err_set(err, -EINVAL, "'%s' is no share of a GPU: write a number above 0, up to 1", call->share);
    }
    spec->share = CLAMP((uint32_t)(share * ARBITER_WHOLE + 0.5), 1u, (uint32_t)ARBITER_WHOLE);
    spec->cap = spec->mode == GPU_MODE_STRICT ? spec->share : ARBITER_WHOLE;
    return 0;
}

static int make_spec(const struct gpu_call *call, const struct choice *gpu, struct group_spec *spec, struct err *err)
{
    int r = 0;

    *spec = (struct group_spec){.gpu_count = 1, .uid = getuid(), .mode = GPU_MODE_FAIR};
    (void)snprintf(spec->gpus[0], sizeof spec->gpus[0], "%s", gpu->uuid);
    if (call->name)
        (void)snprintf(spec->name, sizeof spec->name, "%s", call->name);
    else
        (void)snprintf(spec->name, sizeof spec->name, "run-%d", (int)getpid());
    if (call->mode)
        r = gpu_mode_parse(call->mode, &spec->mode, err);
    if (r >= 0)
        r = read_memory(call->memory ? call->memory : "1", call->memory ? gpu->capacity : gpu->left,
                        &spec->request_bytes, err);
    spec->limit_bytes = spec->request_bytes;
    if (r >= 0 && call->memory_limit)
        r = read_memory(call->memory_limit, gpu->capacity, &spec->limit_bytes, err);
    return r < 0 ? r : read_share(call, gpu, spec, err);
}

static volatile sig_atomic_t child_pid;

static void pass_on(int signal)
{
    if (child_pid > 0)
        (void)kill((pid_t)child_pid, signal);
}

static void set_environment(const struct group_spec *spec, const char *folder, const char *library)
{
    const char *before = getenv("LD_PRELOAD");
    struct strbuf text;

    strbuf_init(&text, 64 << 10);
    /* First, while what getenv() returned is still good. */
    strbuf_addf(&text, "%s%s%s", library, before && *before ? ":" : "", before ? before : "");
    (void)setenv("LD_PRELOAD", text.text, 1);
    strbuf_clear(&text);
    strbuf_addf(&text, "%s/groups/%s/tenant.sock", folder, spec->name);
    (void)setenv(GPU_SOCKET_VARIABLE, text.text, 1);
    strbuf_done(&text);
    (void)setenv("CUDA_VISIBLE_DEVICES", spec->gpus[0], 1);
}

/* The program's status is ours; what a signal ended, as a shell says it. */
static int run_program(const struct gpu_call *call, const struct group_spec *spec, const char *library)
{
    static const int passed_on[] = {SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    int status = 0;

    /* The terminal sends this one to both; the program decides what to do with it. */
    (void)signal(SIGINT, SIG_IGN);
    child_pid = fork();
    if (child_pid == 0) {
        (void)signal(SIGINT, SIG_DFL);
        (void)signal(SIGPIPE, SIG_DFL);
        set_environment(spec, call->folder, library);
        (void)execvp(call->words[0], (char *const *)(uintptr_t)call->words);
        (void)fprintf(stderr, "muster: %s: %s\n", call->words[0], strerror(errno));
        _exit(errno == ENOENT ? 127 : 126);
    }
    if (child_pid < 0)
        return command_failed(-EIO, &(struct err){-EIO, "no process can be started"});
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        (void)signal(passed_on[i], pass_on);
    while (waitpid((pid_t)child_pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int make_group(const struct gpu_call *call, struct group_spec *spec, struct err *err)
{
    _cleanup_(freep) char *status = NULL;
    _cleanup_(freep) char *answer = NULL;
    struct choice gpu;
    struct strbuf text;
    char path[128];
    int r = gpu_ask(call->folder, "GET", "/v1/status", NULL, &status, err);

    if (r < 0) {
        r = start_daemon(call->folder, err);
        if (r >= 0)
            r = gpu_ask(call->folder, "GET", "/v1/status", NULL, &status, err);
    }
    if (r >= 0)
        r = choose_gpu(status, call->gpu, &gpu, err);
    if (r >= 0)
        r = make_spec(call, &gpu, spec, err);
    if (r < 0)
        return r;
    strbuf_init(&text, 64 << 10);
    group_spec_encode(spec, &text);
    (void)snprintf(path, sizeof path, "/v1/groups/%s", spec->name);
    r = gpu_ask(call->folder, "PUT", path, text.text, &answer, err);
    strbuf_done(&text);
    return r;
}

int gpu_run(const struct command *command, const struct gpu_call *call)
{
    char library[4096];
    char path[128];
    struct group_spec spec;
    struct err err = {0};
    char *answer = NULL;

    if (call->word_count == 0)
        return command_wrong(command, "which program? Write it behind '--'");
    if (!gpu_library(library, sizeof library))
        return command_failed(-EIO,
                              &(struct err){-EIO, "libmuster-gpu.so is not installed beside this program: nothing "
                                                  "would be enforced, so nothing is started"});
    if (call->name && !group_name_is_good(call->name))
        return command_wrong(command, "'%s' is no name: letters, digits, '-', '_' and '.'", call->name);
    int r = make_group(call, &spec, &err);
    if (r < 0)
        return command_failed(r, &err);
    int status = run_program(call, &spec, library);
    (void)snprintf(path, sizeof path, "/v1/groups/%s", spec.name);
    if (gpu_ask(call->folder, "DELETE", path, NULL, &answer, &err) < 0)
        (void)fprintf(stderr, "muster: the group %s stays behind: %s\n", spec.name, err.text);
    free(answer);
    return status;
}
