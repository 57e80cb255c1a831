/* SPDX-License-Identifier: Apache-2.0 */

/* Commands that are services: their options are the flags of the service, read by its frame and not here. */
#include <errno.h>

#include "base/err.h"
#include "cli/command.h"
#include "services/frame/service.h"

size_t command_option_count(const struct command *command)
{
    struct flag_set sets[2];

    if (!command->service)
        return command->option_count;
    service_flag_sets(command->service, sets);
    return sets[0].count + sets[1].count;
}

static const struct flag *flag_at(const struct command *command, size_t i)
{
    struct flag_set sets[2];

    service_flag_sets(command->service, sets);
    return i < sets[0].count ? &sets[0].flags[i] : &sets[1].flags[i - sets[0].count];
}

struct command_option command_option_at(const struct command *command, size_t i)
{
    const struct flag *flag;

    if (!command->service)
        return command->options[i];
    flag = flag_at(command, i);
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
    int code = service_main(command->service, arguments->argc, arguments->argv, &err);

    if (code > 0)
        return command_help(command);
    if (code == -EINVAL)
        return command_wrong(command, "%s", err.text);
    return code < 0 ? EXIT_FAILED : EXIT_FINE;
}
