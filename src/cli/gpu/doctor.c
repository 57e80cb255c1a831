/* SPDX-License-Identifier: Apache-2.0 */

/* muster gpu doctor: whether shares of GPUs are enforced here, by which means, and if not, why. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/gpu/gpu.h"
#include "gpu/daemon/group_spec.h"
#include "gpu/nvml/nvml.h"
#include "gpu/place/place.h"

enum finding { FINE, NOTE, WRONG };

static enum finding worst;

static void say(enum finding finding, const char *what, const char *text)
{
    static const char *const marks[] = {"ok", "--", "NO"};

    if (finding > worst)
        worst = finding;
    (void)printf("%s  %-22s %s\n", marks[finding], what, text);
}

static void look_at_driver(void)
{
    struct nvml *nvml = NULL;
    struct err err = {0};
    char text[512];

    if (nvml_open(NVML_LIBRARY, &nvml, &err) < 0) {
        say(WRONG, "driver", err.text);
        return;
    }
    (void)snprintf(text, sizeof text, "version %s, %u GPU%s", nvml_driver_version(nvml), nvml_gpu_count(nvml),
                   nvml_gpu_count(nvml) == 1 ? "" : "s");
    if (getenv(GPU_SOCKET_VARIABLE))
        say(NOTE, "inside", "this runs under 'muster gpu run': the driver reports the limits of its group");
    say(nvml_gpu_count(nvml) > 0 ? FINE : WRONG, "driver", text);
    for (uint32_t i = 0; i < nvml_gpu_count(nvml); i++) {
        struct nvml_gpu gpu;

        if (nvml_gpu(nvml, i, &gpu, &err) < 0) {
            say(WRONG, "GPU", err.text);
            continue;
        }
        (void)snprintf(text, sizeof text, "%s, %s, %.1f GiB", gpu.uuid, gpu.name,
                       (double)gpu.total_bytes / (double)(1 << 30));
        say(FINE, "GPU", text);
    }
    /* Newer drivers hold limits of a cgroup by themselves. */
    say(NOTE, "limits in the kernel",
        nvml_has(nvml, "nvmlDeviceSetMemoryLimits_v1")
            ? "the driver supports limits for cgroups; Muster does not set them yet"
            : "not supported by the driver: a program with its own libcuda is detected and reported, but not limited");
    nvml_close(nvml);
}

static void look_at_library(void)
{
    char path[4096];

    if (gpu_library(path, sizeof path))
        say(FINE, "tenants' library", path);
    else
        say(WRONG, "tenants' library",
            "libmuster-gpu.so is not installed beside this program: limits cannot be enforced");
}

/* Whether a daemon could be started: the folder, or the nearest one above it that is there, has to be ours to write. */
static void look_at_folder(const char *folder)
{
    char path[4096];
    char text[4096 + 128];
    char *slash;

    (void)snprintf(path, sizeof path, "%s", folder);
    while (access(path, F_OK) < 0 && (slash = strrchr(path, '/')) && slash > path)
        *slash = '\0';
    (void)snprintf(text, sizeof text, "not running, and it cannot be started: this user cannot write to %s", path);
    if (access(path, W_OK | X_OK) < 0)
        say(WRONG, "daemon", text);
    else
        say(NOTE, "daemon", "not running; 'muster gpu run' starts it");
}

static void look_at_daemon(const char *folder)
{
    _cleanup_(freep) char *status = NULL;
    struct err err = {0};
    int r = gpu_ask(folder, "GET", "/v1/status", NULL, &status, &err);

    if (r == -EACCES || r == -ETIMEDOUT || r == -EINVAL) {
        say(WRONG, "daemon", err.text);
        return;
    }
    if (r < 0) {
        look_at_folder(folder);
        return;
    }
    say(FINE, "daemon", folder);
    say(strstr(status, "\"watchesDriver\":true") ? FINE : NOTE, "watching the driver",
        strstr(status, "\"watchesDriver\":true")
            ? "processes that use a GPU without being tenants are detected"
            : "NVML is not available: processes that are not tenants are not detected");
}

static void look_at_system(void)
{
    struct utsname system;
    char text[256];
    char *dot;

    if (uname(&system) < 0)
        return;
    long major = strtol(system.release, &dot, 10);
    if (*dot != '.')
        return;
    long minor = strtol(dot + 1, NULL, 10);
    (void)snprintf(text, sizeof text, "kernel %s%s", system.release,
                   major > 6 || (major == 6 && minor >= 5)
                       ? ", which identifies the process behind a socket"
                       : ": processes are identified by PID, which is less reliable");
    say(FINE, "system", text);
}

static int run(const struct command *command, struct arguments *arguments)
{
    _cleanup_(freep) char *folder = NULL;
    int end;

    (void)command;
    if (!gpu_read_folder(arguments, &folder, &end))
        return end;
    worst = FINE;
    look_at_system();
    look_at_driver();
    look_at_library();
    look_at_daemon(folder);
    (void)puts(
        worst == WRONG
            ? "\nShares of a GPU cannot be enforced here: requests for them are refused."
            : "\nMemory limits are enforced by the tenants' library and the daemon's ledger, compute by leases.");
    return worst == WRONG ? EXIT_FAILED : EXIT_FINE;
}

static const struct command_option options[] = {GPU_FOLDER_OPTION};

static const char *const examples[] = {"muster gpu doctor", NULL};

const struct command gpu_doctor_command = {
    .name = "gpu doctor",
    .summary = "check whether limits and shares of GPUs are enforced on this machine",
    .usage = "[--folder FOLDER]",
    .text = "Checks the kernel, the driver, the library for tenants and the daemon. The exit status is 1 when shares "
            "cannot\n"
            "be enforced; the lines marked NO say why.\n",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run,
};
