/* SPDX-License-Identifier: Apache-2.0 */

/* Commands that are services: their options are the flags of the service, read by its frame and not here. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "cli/command.h"
#include "frame/service.h"

static bool has_flag(const struct flag_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->flags[i].name, name) == 0)
            return true;
    }
    return false;
}

/* The service's own flags, then those of the frame that it has none of its own for. NULL past the last one. */
static const struct flag *flag_at(const struct command *command, size_t i)
{
    struct flag_set sets[SERVICE_FLAG_SETS];
    size_t count = service_flag_sets(command->service, sets);

    for (size_t s = 0; s < count; s++) {
        for (size_t f = 0; f < sets[s].count; f++) {
            const struct flag *flag = &sets[s].flags[f];

            if (s > 0 && has_flag(&sets[0], flag->name))
                continue;
            if (i-- == 0)
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
    const char *text = command->service ? flag_at(command, i)->fallback : NULL;

    return text ? text : "";
}

int run_service(const struct command *command, struct arguments *arguments)
{
    struct err err = {0};
    int code = process_main(&command->service, 1, arguments->argc, arguments->argv, &err);

    if (code == PROCESS_WANTS_HELP)
        return command_help(command);
    if (code == PROCESS_WANTS_VERSION) {
        command_print_version();
        return EXIT_FINE;
    }
    if (code == -EINVAL)
        return command_wrong(command, "%s", err.text);
    return code < 0 ? EXIT_FAILED : EXIT_FINE;
}
