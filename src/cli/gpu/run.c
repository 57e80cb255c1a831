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
#include "cli/gpu/choose.h"
#include "cli/gpu/daemon_status.h"
#include "cli/gpu/gpu.h"
#include "cli/gpu/run_spec.h"
#include "gpu/daemon/group_spec.h"
#include "gpu/place/place.h"
#include "text/json.h"

enum {
    OPTION_MEMORY,
    OPTION_MEMORY_LIMIT,
    OPTION_SHARE,
    OPTION_MODE,
    OPTION_PRIORITY,
    OPTION_MIG,
    OPTION_GPU,
    OPTION_NAME,
    OPTION_PARKABLE,
    OPTION_FOLDER
};

static const char *const modes[] = {"strict", "fair", "time", NULL};

static const char *const priorities[] = {"latency", "normal", NULL};

static const struct command_option options[] = {
    [OPTION_MEMORY] = {0, "memory", "AMOUNT", NULL, "reserved GPU memory, such as 20Gi, or 0.25 of the GPU"},
    [OPTION_MEMORY_LIMIT] = {0, "memory-limit", "AMOUNT", NULL,
                             "GPU memory that may be used while it is free (default: the reserved memory)"},
    [OPTION_SHARE] = {0, "share", "PART", NULL, "share of the GPU's time (default: the part of its memory)"},
    [OPTION_MODE] = {0, "mode", "strict|fair|time", modes,
                     "exactly the share, at least the share (default), or the driver's time slicing"},
    [OPTION_PRIORITY] = {0, "priority", "latency|normal", priorities,
                         "latency: its work starts at once, within its share (default: normal)"},
    [OPTION_MIG] = {0, "mig", "PROFILE", NULL, "a slice of a GPU in MIG mode in place of a share, such as 1g.10gb"},
    [OPTION_GPU] = {0, "gpu", "GPU", NULL, "GPU, by UUID or index (default: the one with the most free memory)"},
    [OPTION_NAME] = {0, "name", "NAME", NULL, "name of the group in 'muster gpu top' and in metrics"},
    [OPTION_PARKABLE] = {0, "parkable", NULL, NULL,
                         "allocate so that 'muster gpu park' can move the memory to the host and back"},
    [OPTION_FOLDER] = GPU_FOLDER_OPTION,
};

static const char *const examples[] = {
    "muster gpu run --memory 20Gi -- python train.py",
    "muster gpu run --memory 20Gi --share 0.25 -- python train.py",
    "muster gpu run --memory 0.5 --mode strict -- ./serve --port 8000",
    "muster gpu run --memory 20Gi --share 0.3 --priority latency -- ./serve --port 8000",
    "muster gpu run --mig 1g.10gb -- python train.py",
    NULL,
};

static volatile sig_atomic_t child_pid;

static void pass_on(int signal)
{
    if (child_pid > 0)
        (void)kill((pid_t)child_pid, signal);
}

/* Our library, and whatever else was to be loaded: under a second one of these commands it is there already. */
static void set_preload(const char *library)
{
    _cleanup_(freep) char *before = xstrdup(getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "");
    struct strbuf text;
    char *rest = NULL;

    strbuf_init(&text, 64 << 10);
    strbuf_addstr(&text, library);
    for (char *item = strtok_r(before, ": ", &rest); item; item = strtok_r(NULL, ": ", &rest)) {
        if (strcmp(item, library) != 0)
            strbuf_addf(&text, ":%s", item);
    }
    (void)setenv("LD_PRELOAD", text.text, 1);
    strbuf_done(&text);
}

/* The GPU enforces what a slice may use: nothing is put in front of the driver. */
static void set_environment(const struct group_spec *spec, const char *folder, const char *library, const char *slice)
{
    struct strbuf text;

    if (spec->mig[0]) {
        (void)setenv("CUDA_VISIBLE_DEVICES", slice, 1);
        return;
    }
    set_preload(library);
    strbuf_init(&text, 64 << 10);
    strbuf_addf(&text, "%s/groups/%s/tenant.sock", folder, spec->name);
    (void)setenv(GPU_SOCKET_VARIABLE, text.text, 1);
    strbuf_done(&text);
    (void)setenv("CUDA_VISIBLE_DEVICES", spec->gpus[0], 1);
}

static const int passed_on[] = {SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

/* What the program is to be started with: before anything was changed for this command. */
struct signals {
    sigset_t mask;
    struct sigaction on_int;
};

/* In the new process: waits until its group is there, which is made for this very process. */
static _Noreturn void become_program(const struct gpu_run_call *call, const struct group_spec *spec,
                                     const char *library, const struct signals *before, int go)
{
    char slice[GROUP_GPU_SIZE] = "";  // by the byte that says go on

    (void)sigaction(SIGINT, &before->on_int, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &before->mask, NULL);
    if (read(go, slice, sizeof slice) < 1)
        _exit(EXIT_FAILED);
    (void)close(go);
    slice[sizeof slice - 1] = '\0';
    set_environment(spec, call->folder, library, slice);
    (void)execvp(call->words[0], (char *const *)(uintptr_t)call->words);
    (void)fprintf(stderr, "muster: %s: %s\n", call->words[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

/* Signals that come from now on are the program's, also those that come before it has begun. */
static pid_t fork_program(const struct gpu_run_call *call, const struct group_spec *spec, const char *library,
                          int go[2])
{
    struct signals before;
    sigset_t held;

    (void)sigemptyset(&held);
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        (void)sigaddset(&held, passed_on[i]);
    (void)sigprocmask(SIG_BLOCK, &held, &before.mask);
    /* The terminal sends this one to both; the program decides what to do with it. */
    (void)sigaction(SIGINT, &(struct sigaction){.sa_handler = SIG_IGN}, &before.on_int);
    child_pid = fork();
    if (child_pid == 0) {
        (void)close(go[1]);
        become_program(call, spec, library, &before, go[0]);
    }
    for (size_t i = 0; child_pid > 0 && i < ARRAY_LEN(passed_on); i++)
        (void)signal(passed_on[i], pass_on);
    (void)sigprocmask(SIG_SETMASK, &before.mask, NULL);
    return (pid_t)child_pid;
}

/* Why the daemon has ended a process of the group, if it did. */
static void say_why(const char *folder, const char *group)
{
    _cleanup_(freep) char *status = NULL;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    yyjson_val *ending;
    size_t i;
    size_t count;

    if (gpu_ask(folder, "GET", "/v1/status", NULL, &status, NULL) < 0 ||
        json_parse(status, strlen(status), "the daemon's answer", &doc, NULL) < 0)
        return;
    yyjson_arr_foreach(yyjson_obj_get(yyjson_doc_get_root(doc), "endings"), i, count, ending)
    {
        if (strcmp(gpu_text_of(ending, "group"), group) != 0)
            continue;
        (void)fprintf(stderr, "muster: the GPU daemon ended process %.0f: %s\n", gpu_number_of(ending, "pid"),
                      gpu_text_of(ending, "text"));
        return;
    }
}

/* The program's status is ours; what a signal ended, as a shell says it. */
static int wait_for_program(const char *folder, const char *group)
{
    int status = 0;

    while (waitpid((pid_t)child_pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        say_why(folder, group);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int make_spec_here(const struct gpu_run_call *call, struct group_spec *spec, struct err *err)
{
    _cleanup_(freep) char *status = NULL;
    struct gpu_choice gpu;
    int r = gpu_ask(call->folder, "GET", "/v1/status", NULL, &status, err);

    if (r < 0 && r != -EACCES && r != -ETIMEDOUT) {
        r = gpu_start_daemon(call->folder, err);
        if (r >= 0)
            r = gpu_ask(call->folder, "GET", "/v1/status", NULL, &status, err);
    }
    if (r >= 0)
        r = gpu_choose(status, call->gpu, call->mig, &gpu, err);
    return r < 0 ? r : gpu_run_spec(call, &gpu, spec, err);
}

static int read_slice(const char *answer, char slice[static GROUP_GPU_SIZE], struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const char *uuid;
    int r = json_parse(answer, strlen(answer), "the daemon's answer", &doc, err);

    if (r < 0)
        return r;
    struct json_at root = json_root(doc);
    r = json_member_str(&root, "slice", JSON_REQUIRED, &uuid, err);
    if (r >= 0)
        (void)snprintf(slice, GROUP_GPU_SIZE, "%s", uuid);
    return r;
}

/* The group ends with the process, whatever becomes of this command. `slice` is set where it gets one. */
static int make_group(const struct gpu_run_call *call, struct group_spec *spec, pid_t owner,
                      char slice[static GROUP_GPU_SIZE], struct err *err)
{
    _cleanup_(freep) char *answer = NULL;
    struct strbuf text;
    char path[128];

    strbuf_init(&text, 64 << 10);
    spec->owner = owner;
    group_spec_encode(spec, &text);
    (void)snprintf(path, sizeof path, "/v1/groups/%s?new=true", spec->name);
    int r = spec->mig[0] ? gpu_ask_patiently(call->folder, "PUT", path, text.text, &answer, err)
                         : gpu_ask(call->folder, "PUT", path, text.text, &answer, err);
    strbuf_done(&text);
    return r >= 0 && spec->mig[0] ? read_slice(answer, slice, err) : r;
}

/* The daemon does so by itself when it sees that the process has ended: now it has done it for certain. */
static void end_group(const struct gpu_run_call *call, const struct group_spec *spec)
{
    _cleanup_(freep) char *answer = NULL;
    char path[128];

    (void)snprintf(path, sizeof path, "/v1/groups/%s?owner=%lld", spec->name, (long long)spec->owner);
    if (gpu_ask(call->folder, "DELETE", path, NULL, &answer, NULL) < 0)
        return;
}

static int run_program(const struct gpu_run_call *call, struct group_spec *spec, const char *library, int *ret_status,
                       struct err *err)
{
    char slice[GROUP_GPU_SIZE] = "";
    int go[2];

    if (pipe2(go, O_CLOEXEC) < 0)
        return err_set(err, -EIO, "creating a pipe: %s", strerror(errno));
    pid_t child = fork_program(call, spec, library, go);
    (void)close(go[0]);
    int r = child > 0 ? make_group(call, spec, child, slice, err)
                      : err_set(err, -EIO, "starting a process: %s", strerror(errno));
    if (r >= 0 && write(go[1], slice, strlen(slice) + 1) < 1)
        *ret_status = EXIT_FAILED;  // it has ended already, as what it is waited for says
    (void)close(go[1]);
    if (child > 0)
        *ret_status = wait_for_program(call->folder, spec->name);
    if (r >= 0)
        end_group(call, spec);
    return r;
}

static int run_call(const struct command *command, const struct gpu_run_call *call)
{
    char library[4096];
    struct group_spec spec;
    struct err err = {0};
    int status = EXIT_FAILED;

    if (!gpu_library(library, sizeof library))
        return command_failed(-EIO,
                              &(struct err){-EIO, "libmuster-gpu.so is not installed beside this program: limits could "
                                                  "not be enforced, so the program is not started"});
    if (call->mig &&
        (call->memory || call->memory_limit || call->share || call->mode || call->priority || call->is_parkable))
        return command_wrong(command, "--mig: a slice has its own memory and compute, and takes no other option but "
                                      "--gpu and --name");
    if (call->mig && strlen(call->mig) >= GROUP_MIG_SIZE)
        return command_wrong(command, "--mig: '%s' is not a MIG profile, such as 1g.10gb", call->mig);
    if (call->name && !group_name_is_good(call->name))
        return command_wrong(command, "--name: expected letters, digits, '-', '_' and '.', found '%s'", call->name);
    int r = make_spec_here(call, &spec, &err);
    if (r >= 0)
        r = run_program(call, &spec, library, &status, &err);
    return r < 0 ? gpu_failed(r, &err) : status;
}

static int run(const struct command *command, struct arguments *arguments)
{
    const char *values[ARRAY_LEN(options)] = {0};
    int option;

    while ((option = arguments_next(arguments)) >= 0)
        values[option] = option == OPTION_PARKABLE ? "" : arguments->value;
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count == 0)
        return command_wrong(command, "a PROGRAM is missing");

    _cleanup_(freep) char *folder = gpu_folder(values[OPTION_FOLDER]);
    const struct gpu_run_call call = {
        .memory = values[OPTION_MEMORY],
        .memory_limit = values[OPTION_MEMORY_LIMIT],
        .share = values[OPTION_SHARE],
        .mode = values[OPTION_MODE],
        .priority = values[OPTION_PRIORITY],
        .mig = values[OPTION_MIG],
        .gpu = values[OPTION_GPU],
        .name = values[OPTION_NAME],
        .is_parkable = values[OPTION_PARKABLE] != NULL,
        .folder = folder,
        .words = arguments->operands,
    };
    return run_call(command, &call);
}

const struct command gpu_run_command = {
    .name = "gpu run",
    .summary = "run a program with a limit of GPU memory and a share of the GPU's time",
    .usage = "[OPTION...] [--] PROGRAM [ARGUMENT...]",
    .text =
        "The program cannot use more GPU memory than its limit, and other programs cannot take its share. If no GPU\n"
        "daemon is running, one is started. The exit status is that of the program.\n",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .examples = examples,
    .operands = OPERANDS_PROGRAM,
    .run = run,
};
