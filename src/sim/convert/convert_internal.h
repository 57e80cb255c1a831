/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/intern.h"
#include "base/map.h"
#include "base/time.h"
#include "sim/convert/convert.h"
#include "sim/trace/trace.h"
#include "text/csv.h"
#include "text/json.h"

/* What the readers of single formats share. */

enum { CONVERT_BYTES_MAX = 0x7fffffff, CONVERT_COLUMNS_MAX = 24, CONVERT_JOBS_MAX = 20000000 };

struct converter;
struct prometheus;

/* Files are read in this order: the tables that others refer to come first. */
enum convert_stage { CONVERT_NODES, CONVERT_OWNERS, CONVERT_WORK, _CONVERT_STAGE_MAX };

/* A format of rows. */
struct convert_form {
    const char *name;    // as people call the file
    const char *source;  // of convert_sources
    char separator;
    enum convert_stage stage;
    bool has_dates;  // of a real cluster, which are kept
    bool is_bare;    // may come without titles: all columns, in this order
    size_t number;   // a column that holds a number or nothing, by which rows without titles are recognized
    size_t needed;   // how many of the titles there must be, the first ones
    size_t count;
    const char *titles[CONVERT_COLUMNS_MAX];
    int (*read)(struct converter *c, struct err *err);
};

/* What the job table of Alibaba's v2020 says of a job. */
struct convert_owner {
    nsec_t submitted;
    trace_name user;
};

/* A file, or a text in memory. */
struct convert_input {
    const char *name;
    char *text;
    size_t len;
    yyjson_doc *doc;  // of a text that is JSON; else the next four
    const struct convert_form *form;
    struct csv csv;
    bool has_titles;                      // else the line that `csv` took for titles is the first row
    size_t columns[CONVERT_COLUMNS_MAX];  // by title of the form: its place in the file
};

struct converter {
    struct trace *trace;
    struct conversion *conversion;
    struct convert_input *input;  // that is being read
    VEC(struct convert_owner) owners;
    struct map64 owner_by_name;     // trace_name -> index in `owners`
    struct map64 names;             // namespace << 32 | name of each workload -> how often
    struct map64 nodes;             // name -> index in conversion->cluster.nodes
    struct prometheus *prometheus;  // NULL: no file of it yet
};

/* convert_forms.c: finds what the rows of the input are, and where each column is. */
MUST_CHECK int convert_find_form(struct convert_input *input, const char *source, struct err *err);

/* convert_fields.c: the fields of a row, by the column's place in the form. */
const char *convert_field(const struct converter *c, size_t column);

/* A number from 0 up; false when it is empty or none, as traces have it for what is not known. */
bool convert_number(const struct converter *c, size_t column, double *ret);
double convert_number_or(const struct converter *c, size_t column, double other);
bool convert_parse_number(const char *text, double *ret);

/* "2017-10-07 01:12:09", with a 'T' or a blank, taken as UTC; or seconds since 1970. False for "None", "Unknown", ... */
bool convert_moment(const char *text, nsec_t *ret);

/* A name as traces can hold it: blanks and whatever is no plain character become '-'. */
trace_name convert_name(struct trace *trace, const char *text);

/* The queue for a user or group: named after it, or one of `conversion->queues` that its name falls to. */
trace_name convert_queue(struct converter *c, const char *owner);

/* "key=value" after what the job's selector says already. */
void convert_select(struct converter *c, struct trace_job *job, const char *key, const char *value);

/* `total` GPUs, cores and bytes spread over `pods` pods as evenly as whole GPUs go, larger ones first. */
void convert_spread(struct trace *trace, struct trace_job *job, uint32_t pods, uint64_t gpus, int64_t cpu_milli,
                    int64_t memory_bytes);

/*
 * A workload that ran: adds it, with a number behind its name when that is taken. Its gang is all of its pods, and it may
 * be preempted.
 */
MUST_CHECK int convert_ran(struct converter *c, nsec_t submitted, nsec_t started, nsec_t run, struct trace_job *job,
                           struct err *err);

/* One that never started, and was taken back at `ended` (0: it still waits): kept if that is asked for, else counted. */
MUST_CHECK int convert_waited(struct converter *c, nsec_t submitted, nsec_t ended, struct trace_job *job,
                              struct err *err);

/* One of unknown times. */
void convert_skip(struct converter *c);

/* A node, once; `labels` may be "". Returns it, to be changed until the next call. */
struct trace_node *convert_node(struct converter *c, const char *name, const char *labels);

/* "key=value" more for a node. */
void convert_label(struct converter *c, struct trace_node *node, const char *key, const char *value);

/* The readers, a file each. */
int convert_pai_job(struct converter *c, struct err *err);
int convert_pai_task(struct converter *c, struct err *err);
int convert_pai_machine(struct converter *c, struct err *err);
int convert_openb_pod(struct converter *c, struct err *err);
int convert_openb_node(struct converter *c, struct err *err);
int convert_philly_log(struct converter *c, yyjson_doc *doc, const char *name, struct err *err);
int convert_philly_job(struct converter *c, struct err *err);
int convert_philly_machine(struct converter *c, struct err *err);
int convert_philly_group(struct converter *c, struct err *err);
int convert_slurm_job(struct converter *c, struct err *err);
int convert_slurm_node(struct converter *c, struct err *err);
int convert_eagle_job(struct converter *c, struct err *err);

/* Prometheus: answers are collected, and become workloads once all are read. */
int convert_prometheus(struct converter *c, yyjson_doc *doc, const char *name, struct err *err);
int convert_prometheus_finish(struct converter *c, struct err *err);
void prometheus_free(struct prometheus *p);

/* The columns of the forms, in their order. */
enum { PAI_JOB_NAME, PAI_JOB_ID, PAI_JOB_USER, PAI_JOB_STATUS, PAI_JOB_START, PAI_JOB_END, PAI_JOB_COLUMNS };
enum {
    PAI_TASK_JOB,
    PAI_TASK_NAME,
    PAI_TASK_INSTANCES,
    PAI_TASK_STATUS,
    PAI_TASK_START,
    PAI_TASK_END,
    PAI_TASK_CPU,
    PAI_TASK_MEMORY,
    PAI_TASK_GPU,
    PAI_TASK_TYPE,
    PAI_TASK_COLUMNS
};
enum { PAI_MACHINE_NAME, PAI_MACHINE_TYPE, PAI_MACHINE_CPU, PAI_MACHINE_MEMORY, PAI_MACHINE_GPUS, PAI_MACHINE_COLUMNS };
enum {
    POD_NAME,
    POD_CPU,
    POD_MEMORY,
    POD_GPUS,
    POD_GPU_MILLI,
    POD_SPEC,
    POD_QOS,
    POD_PHASE,
    POD_CREATED,
    POD_DELETED,
    POD_SCHEDULED,
    POD_COLUMNS
};
enum { NODE_NAME, NODE_CPU, NODE_MEMORY, NODE_GPUS, NODE_MODEL, NODE_COLUMNS };
enum { PHILLY_TIME, PHILLY_DURATION, PHILLY_GPUS, PHILLY_GROUP, PHILLY_GPU_TIME, PHILLY_COLUMNS };
enum { MACHINE_NAME, MACHINE_GPUS, MACHINE_GPU_MEMORY, MACHINE_COLUMNS };
enum { GROUP_NAME, GROUP_NODES, GROUP_COLUMNS };
enum {
    SLURM_ID,
    SLURM_SUBMIT,
    SLURM_START,
    SLURM_END,
    SLURM_STATE,
    SLURM_ACCOUNT,
    SLURM_USER,
    SLURM_PARTITION,
    SLURM_NODES,
    SLURM_CPUS,
    SLURM_REQ_TRES,
    SLURM_ALLOC_TRES,
    SLURM_ELAPSED,
    SLURM_ELAPSED_RAW,
    SLURM_SUSPENDED,
    SLURM_TIMELIMIT,
    SLURM_REQ_MEM,
    SLURM_COLUMNS
};
enum { SINFO_NAME, SINFO_CPUS, SINFO_MEMORY, SINFO_GRES, SINFO_PARTITION, SINFO_COLUMNS };
enum {
    EAGLE_ID,
    EAGLE_SUBMIT,
    EAGLE_START,
    EAGLE_END,
    EAGLE_STATE,
    EAGLE_ACCOUNT,
    EAGLE_USER,
    EAGLE_PARTITION,
    EAGLE_NODES,
    EAGLE_CPUS,
    EAGLE_GPUS,
    EAGLE_MEMORY,
    EAGLE_RUN,
    EAGLE_TIMELIMIT,
    EAGLE_COLUMNS
};
