/* SPDX-License-Identifier: Apache-2.0 */

/* Commands that are services: their options are the flags of the service, read by its frame and not here. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/command.h"
#include "frame/service.h"

/* Of all services together. */
enum { SETS_MAX = 128 };

static bool has_flag(const struct flag_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->flags[i].name, name) == 0)
            return true;
    }
    return false;
}

/* The tables of all services of a command: their own ones, then those of the frame. */
static size_t sets_of(const struct command *command, struct flag_set sets[static SETS_MAX])
{
    const struct service_kind *const one[] = {command->service, NULL};
    const struct service_kind *const *kinds = command->services ? command->services : one;
    size_t count = 0;

    for (int is_frame = 0; is_frame <= 1; is_frame++) {
        for (size_t k = 0; kinds[k]; k++) {
            struct flag_set own[SERVICE_FLAG_SETS];
            size_t own_count = service_flag_sets(kinds[k], own);

            /* The last one is of the process; those between are about an API server elsewhere. */
            size_t first = is_frame && command->is_local ? own_count - 1 : (size_t)is_frame;

            for (size_t s = first; s < (is_frame ? own_count : 1) && count < SETS_MAX; s++)
                sets[count++] = own[s];
        }
    }
    return count;
}

/* Flags of KAI's programs, which manifests may have. */
static bool is_hidden(const struct command *command, const struct flag *flag)
{
    return command->is_local && (flag->type == FLAG_IGNORED || strncmp(flag->name, "zap-", 4) == 0);
}

/* The services' own flags, then those of the frame that they have none of their own for, each once. NULL past the last. */
static const struct flag *flag_at(const struct command *command, size_t i)
{
    struct flag_set sets[SETS_MAX];
    size_t count = sets_of(command, sets);

    for (size_t s = 0; s < count; s++) {
        for (size_t f = 0; f < sets[s].count; f++) {
            const struct flag *flag = &sets[s].flags[f];
            bool is_known = is_hidden(command, flag);

            for (size_t before = 0; before < s && !is_known; before++)
                is_known = has_flag(&sets[before], flag->name);
            if (!is_known && i-- == 0)
                return flag;
        }
    }
    return NULL;
}

size_t service_option_count(const struct command *command)
{
    size_t count = 0;

    while (flag_at(command, count))
        count++;
    return count;
}

struct command_option service_option_at(const struct command *command, size_t i)
{
    const struct flag *flag = flag_at(command, i);

    return (struct command_option){
        .long_name = flag->name,
        .value = flag_value_name(flag),
        .help = flag->help,
    };
}

const char *command_option_default(const struct command *command, size_t i)
{
    const char *text = command_is_service(command) ? flag_at(command, i)->fallback : NULL;

    return text ? text : "";
}

/* The end of a process as the status of its command. */
static int status_of(const struct command *command, int code, const struct err *err)
{
    if (code == PROCESS_WANTS_HELP)
        return command_help(command);
    if (code == PROCESS_WANTS_VERSION) {
        command_print_version();
        return EXIT_FINE;
    }
    if (code == -EINVAL)
        return command_wrong(command, "%s", err->text);
    return code < 0 ? EXIT_FAILED : EXIT_FINE;
}

int run_services(const struct command *command, const struct service_kind *const *kinds, size_t count, int argc,
                 const char *const *argv)
{
    struct err err = {0};
    int code = process_main(kinds, count, argc, argv, &err);

    return status_of(command, code, &err);
}

int check_services(const struct command *command, const struct service_kind *const *kinds, size_t count, int argc,
                   const char *const *argv)
{
    struct err err = {0};
    int status = 0;
    /* In a process of its own: services keep what they have read until they run. */
    pid_t child = fork();

    if (child == 0) {
        status = status_of(command, process_check(kinds, count, argc, argv, &err), &err);
        (void)fflush(NULL);
        _exit(status);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return command_failed(err_set(&err, -errno, "starting a process: %s", strerror(errno)), &err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

int run_host(const struct command *command, const struct service_kind *host, const struct service_kind *const *hostable,
             const struct arguments *arguments)
{
    struct err err = {0};
    int code = process_main_hosting(host, hostable, arguments->argc, arguments->argv, &err);

    return status_of(command, code, &err);
}

int run_service(const struct command *command, struct arguments *arguments)
{
    return run_services(command, &command->service, 1, arguments->argc, arguments->argv);
}
