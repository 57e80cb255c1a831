/* SPDX-License-Identifier: Apache-2.0 */

/* muster scenario: all output is made before any is written, so that a bad file leaves none. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "cli/commands.h"
#include "sim/scenario/scenario_report.h"
#include "text/file.h"
#include "text/json.h"

enum { OPTION_OUTPUT, OPTION_REPEAT };

static const struct command_option scenario_options[] = {
    [OPTION_OUTPUT] = OUTPUT_OPTION,
    [OPTION_REPEAT] = {0, "repeat", "N", NULL, "run each scenario N times from a fresh state; timings are medians"},
};

static const char *const scenario_examples[] = {
    "muster scenario examples/three-teams.json",
    "muster scenario -o json --repeat 5 cluster.json.gz",
    "generate-cluster | muster scenario -",
    NULL,
};

enum { REPEATS_MAX = 10000, WARNINGS_MAX = 64 * 1024 };
#define FILE_MAX ((size_t)1 << 30)

/* Not getrusage: that counts what the process was before it became this program, too. */
static size_t peak_memory(void)
{
    char line[128];
    size_t kib = 0;
    FILE *file = fopen("/proc/self/status", "re");

    while (file && kib == 0 && fgets(line, sizeof line, file)) {
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtoul(line + 6, NULL, 10);
    }
    if (file)
        (void)fclose(file);
    return kib * 1024;
}

static int sim_run_file(struct scenario_report *report, const char *path, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct json_at root;
    int r = json_read_file(path, FILE_MAX, &doc, err);

    if (r < 0)
        return r;
    root = json_root(doc);
    r = scenario_report_all(report, &root, err);
    return r < 0 ? err_wrap(err, r, "%s", file_name(path)) : 0;
}

static int sim_run_all(struct scenario_report *report, const struct arguments *arguments)
{
    struct err err = {0};
    int r = 0;

    scenario_report_begin(report);
    for (size_t i = 0; r >= 0 && i < arguments->operand_count; i++)
        r = sim_run_file(report, arguments->operands[i], &err);
    scenario_report_end(report);
    command_warn(report->warnings->text);
    return r < 0 ? command_failed(r, &err) : EXIT_FINE;
}

static int run(struct scenario_report report, const struct arguments *arguments)
{
    char *text = NULL;
    size_t len = 0;
    struct strbuf warnings;
    int status;

    report.out = open_memstream(&text, &len);
    if (!report.out) {
        (void)fprintf(stderr, "muster: %s\n", strerror(errno));
        return EXIT_FAILED;
    }
    strbuf_init(&warnings, WARNINGS_MAX);
    report.warnings = &warnings;
    status = sim_run_all(&report, arguments);
    (void)fclose(report.out);
    /* What standard output does not take is seen when the program ends. */
    if (status == EXIT_FINE)
        (void)fwrite(text, 1, len, stdout);
    free(text);
    strbuf_done(&warnings);
    return status;
}

static int run_scenario(const struct command *command, struct arguments *arguments)
{
    struct scenario_report report = {.repeats = 1, .clock = nsec_now_monotonic, .peak_memory = peak_memory};
    int option;

    while ((option = arguments_next(arguments)) >= 0) {
        long repeats;

        if (option == OPTION_OUTPUT) {
            report.as_json = strcmp(arguments->value, "json") == 0;
            continue;
        }
        if (!arguments_number(arguments, "repeat", 1, REPEATS_MAX, &repeats))
            return EXIT_WRONG_CALL;
        report.repeats = (uint32_t)repeats;
    }
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count == 0)
        return command_wrong(command, "a FILE is missing");
    return run(report, arguments);
}

const struct command scenario_command = {
    .name = "scenario",
    .summary = "run the actions of a test case on the cluster that it describes",
    .usage = "[-o table|json] [--repeat N] FILE...",
    .text =
        "Each FILE holds one scenario, or an array of them, as JSON: nodes, queues, jobs, and the actions to run. A\n"
        "file may be compressed with gzip; '-' is standard input. Nothing outside the file is read or changed.\n",
    .group = GROUP_INTERNALS,
    .options = scenario_options,
    .option_count = ARRAY_LEN(scenario_options),
    .examples = scenario_examples,
    .run = run_scenario,
};
