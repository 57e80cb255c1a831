/* SPDX-License-Identifier: Apache-2.0 */

/* The options in a script, and the program that runs it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "cli/slurm/slurm.h"
#include "cli/work/submit.h"
#include "objects/fields.h"

enum { LINE_MAX_BYTES = 16384, WRAPPER_MAX = 65536, SHOWN_MAX = 200 };

#define PREFIX "#SBATCH"

int slurm_split(const char *line, size_t len, struct arena *arena, struct slurm_words *ret, struct err *err)
{
    char *text = arena_alloc(arena, len + 1);
    char *to = text;
    const char *word = NULL;
    char quote = '\0';

    for (size_t i = 0; i < len; i++) {
        char c = line[i];

        if (!word && !quote && c == '#')
            break;
        if (quote ? c == quote : c == '"' || c == '\'') {
            if (quote)
                quote = '\0';
            else
                quote = c;
            word = word ? word : to;
        } else if (!quote && (c == ' ' || c == '\t' || c == '\r')) {
            if (word) {
                *to++ = '\0';
                vec_push(ret, word);
            }
            word = NULL;
        } else {
            word = word ? word : to;
            *to++ = c;
        }
    }
    *to = '\0';
    if (quote)
        return err_set(err, -EINVAL, "a quote is not closed in '%.*s'", (int)MIN(len, (size_t)SHOWN_MAX), line);
    if (word)
        vec_push(ret, word);
    return 0;
}

/* One line of options, read by the table that the command line is read by. */
static int read_line(const char *line, size_t len, struct arena *arena, struct slurm_values *values, struct err *err)
{
    struct slurm_words words = {0};
    struct arguments arguments;
    int code = slurm_split(line, len, arena, &words, err);
    int option = ARGUMENT_END;

    if (code == 0) {
        arguments_init(&arguments, &sbatch_command, (int)words.len, words.items);
        while ((option = arguments_next(&arguments)) >= 0) {
            if (option < SLURM_OPTION_COUNT)
                values->of[option] = arguments.value ? arguments.value : "";
        }
        if (option != ARGUMENT_END || arguments.operand_count > 0)
            code = err_set(err, -EINVAL, "the line '" PREFIX " %.*s' is not understood",
                           (int)MIN(len, (size_t)SHOWN_MAX), line);
        arguments_done(&arguments);
    }
    vec_done(&words);
    return code;
}

int slurm_script_read(const char *script, struct arena *arena, struct slurm_values *values, struct err *err)
{
    for (const char *line = script; *line;) {
        size_t len = strcspn(line, "\n");
        size_t blank = strspn(line, " \t\r");
        int code;

        if (strncmp(line, PREFIX, strlen(PREFIX)) == 0 && len > strlen(PREFIX) && len < LINE_MAX_BYTES) {
            size_t skip = strlen(PREFIX);

            if (line[skip] == ' ' || line[skip] == '\t') {
                code = read_line(line + skip + 1, len - skip - 1, arena, values, err);
                if (code < 0)
                    return code;
            }
        } else if (blank < len && line[blank] != '#') {
            break;
        }
        line += len + (line[len] == '\n');
    }
    return 0;
}

/* --- the program around the script --- */

/* What a letter behind '%' stands for, as a shell's double quotes have it; NULL: nothing. */
static const char *letter_means(char letter)
{
    switch (letter) {
    case 'j':
    case 'J':
        return "${SLURM_JOB_ID}";
    case 'A':
        return "${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}";
    case 'a':
        return "${SLURM_ARRAY_TASK_ID:-4294967294}";
    case 'x':
        return "${SLURM_JOB_NAME}";
    case 'u':
        return "${USER}";
    case 'N':
        return "${SLURMD_NODENAME}";
    case 't':
        return "${SLURM_PROCID}";
    case 'n':
    case 's':
        return "0";
    default:
        return NULL;
    }
}

static void add_file_name(struct strbuf *out, const char *name)
{
    strbuf_addch(out, '"');
    for (const char *at = name; *at; at++) {
        size_t digits = *at == '%' ? strspn(at + 1, "0123456789") : 0;
        const char *means = *at == '%' && digits <= 2 ? letter_means(at[1 + digits]) : NULL;

        if (*at == '%' && at[1] == '%') {
            strbuf_addch(out, '%');
            at++;
        } else if (means) {
            if (digits > 0)
                strbuf_addf(out, "$(printf %%0%.*sd \"%s\")", (int)digits, at + 1, means);
            else
                strbuf_addstr(out, means);
            at += 1 + digits;
        } else {
            if (strchr("\\\"$`", *at))
                strbuf_addch(out, '\\');
            strbuf_addch(out, *at);
        }
    }
    strbuf_addch(out, '"');
}

const char *slurm_wrapper(const char *output, const char *error, bool appends, const struct slurm_job *job,
                          struct arena *arena)
{
    const char *sign = appends || job->spec.tasks > 1 ? ">>" : ">";
    struct strbuf text;
    const char *result;

    strbuf_init(&text, WRAPPER_MAX);
    strbuf_addstr(&text, "export SLURM_PROCID=\"${JOB_COMPLETION_INDEX:-0}\" SLURM_JOBID=\"$SLURM_JOB_ID\"\n"
                         "export SLURM_NODEID=\"$SLURM_PROCID\" RANK=\"$SLURM_PROCID\"\n");
    if (output) {
        strbuf_addf(&text, "exec %s", sign);
        add_file_name(&text, output);
        strbuf_addstr(&text, error ? " 2" : " 2>&1");
        if (error) {
            strbuf_addstr(&text, sign);
            add_file_name(&text, error);
        }
        strbuf_addstr(&text, " || exit 1\n");
    }
    /* The script is a child, so that its file can be removed; it gets the signals that the job gets. */
    strbuf_addstr(&text, "f=$(mktemp) && printf %s \"$1\" >\"$f\" && chmod 700 \"$f\" || exit 1\n"
                         "shift\n"
                         "\"$f\" \"$@\" &\n"
                         "p=$!\n"
                         "trap 'kill -TERM \"$p\" 2>/dev/null' TERM\n"
                         "trap 'kill -USR1 \"$p\" 2>/dev/null' USR1\n"
                         "while :; do wait \"$p\"; r=$?; kill -0 \"$p\" 2>/dev/null || break; done\n"
                         "rm -f \"$f\"\n"
                         "exit \"$r\"\n");
    result = arena_strdup(arena, text.text);
    strbuf_done(&text);
    return result;
}

/* --- variables --- */

static void add(struct slurm_job *job, const char *name, const char *value)
{
    vec_push(&job->spec.env, (struct job_variable){.name = name, .value = value});
}

static void add_number(struct slurm_job *job, struct arena *arena, const char *name, int64_t number)
{
    add(job, name, arena_printf(arena, "%lld", (long long)number));
}

static void add_field(struct slurm_job *job, const char *name, const char *field)
{
    vec_push(&job->spec.env, (struct job_variable){.name = name, .field = field});
}

void slurm_add_variables(struct slurm_job *job, const struct slurm_values *values, struct arena *arena)
{
    int64_t tasks = job->spec.tasks;
    int64_t mib = 0;

    add_field(job, "SLURM_JOB_ID", "metadata.labels['muster.scheduler/job-id']");
    add_field(job, "SLURMD_NODENAME", "spec.nodeName");
    add_field(job, "SLURM_JOB_NODELIST", "spec.nodeName");
    add_field(job, "SLURM_NODELIST", "spec.nodeName");
    add(job, "SLURM_JOB_NAME", job->spec.job_name);
    add(job, "SLURM_JOB_PARTITION", job->partition ? job->partition : "default");
    add(job, "SLURM_JOB_ACCOUNT", job->spec.queue);
    if (job->qos)
        add(job, "SLURM_JOB_QOS", job->qos);
    add(job, "SLURM_SUBMIT_DIR", job->spec.workdir);
    add(job, "SLURM_CPUS_PER_TASK", job->spec.cpus);
    add(job, "SLURM_CPUS_ON_NODE", job->spec.cpus);
    add(job, "SLURM_JOB_CPUS_PER_NODE", job->spec.cpus);
    add_number(job, arena, "SLURM_NTASKS", tasks);
    add_number(job, arena, "SLURM_NPROCS", tasks);
    add_number(job, arena, "SLURM_NNODES", job->nodes);
    add_number(job, arena, "SLURM_JOB_NUM_NODES", job->nodes);
    add(job, "SLURM_LOCALID", "0");
    add(job, "LOCAL_RANK", "0");
    add_number(job, arena, "WORLD_SIZE", tasks);
    if (job->gpus_in_all > 0) {
        add_number(job, arena, "SLURM_GPUS", job->gpus_in_all);
        add_number(job, arena, "SLURM_GPUS_ON_NODE", job->spec.gpus);
    }
    if (values->of[SLURM_MEM] && slurm_memory_parse(values->of[SLURM_MEM], &mib, NULL) == 0)
        add_number(job, arena, "SLURM_MEM_PER_NODE", mib);
    if (!job->has_array)
        return;
    add_field(job, "SLURM_ARRAY_JOB_ID", "metadata.labels['muster.scheduler/array-job-id']");
    add_field(job, "SLURM_ARRAY_TASK_ID", "metadata.labels['muster.scheduler/array-index']");
    add_number(job, arena, "SLURM_ARRAY_TASK_COUNT", job->array.indexes.len);
    add_number(job, arena, "SLURM_ARRAY_TASK_MIN", job->array.first);
    add_number(job, arena, "SLURM_ARRAY_TASK_MAX", job->array.last);
    add_number(job, arena, "SLURM_ARRAY_TASK_STEP", job->array.step);
}
