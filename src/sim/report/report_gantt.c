/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The Gantt chart's bars as packed numbers in base64: there are hundreds of thousands of them. A bar is five 32-bit words,
 * lowest byte first: node | how it ended << 24, job, start, length, top << 16 | height. Times are in units that make the
 * whole simulation fit into 31 bits.
 */
#include <string.h>

#include "base/strbuf.h"
#include "model/state.h"
#include "sim/report/report.h"
#include "sim/run/run.h"
#include "sim/scenario/scenario_emit.h"

enum { JOB_NONE = 0xffff, NAME_MAX_BYTES = 1024 };

struct packer {
    FILE *out;
    unsigned char bytes[3];
    unsigned len;
};

static void flush(struct packer *p)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t group = (uint32_t)p->bytes[0] << 16 | (uint32_t)p->bytes[1] << 8 | p->bytes[2];

    for (unsigned i = 0; i < 4; i++)
        (void)putc_unlocked(i <= p->len ? digits[group >> (18 - 6 * i) & 63] : '=', p->out);
    p->len = 0;
    memset(p->bytes, 0, sizeof p->bytes);
}

static void pack(struct packer *p, uint32_t word)
{
    for (int i = 0; i < 4; i++) {
        p->bytes[p->len++] = (unsigned char)(word >> 8 * i);
        if (p->len == 3)
            flush(p);
    }
}

static nsec_t unit_of(const struct sim_run *run)
{
    nsec_t unit = NSEC_PER_MSEC;

    while ((run->end - run->start) / unit > INT32_MAX)
        unit *= 10;
    return unit;
}

/* The emitter writes the key and the first quote; base64 needs no escapes. */
static void open_packed(struct emit *e, struct packer *p, const char *key)
{
    emit_open(e, key, '"');
    *p = (struct packer){.out = e->out};
}

static void close_packed(struct emit *e, struct packer *p)
{
    if (p->len > 0)
        flush(p);
    emit_close(e, '"');
}

static void write_bars(struct emit *e, const struct sim_run *run, nsec_t unit)
{
    struct packer p;

    open_packed(e, &p, "bars");
    for (uint32_t i = 0; i < run->gantt.segments.len; i++) {
        const struct gantt_segment *segment = &run->gantt.segments.items[i];

        pack(&p, (segment->node & 0xffffff) | (uint32_t)segment->how << 24);
        pack(&p, segment->job);
        pack(&p, (uint32_t)((segment->start - run->start) / unit));
        pack(&p, (uint32_t)((segment->end - segment->start) / unit));
        pack(&p, MIN(segment->top, 0xffffu) << 16 | MIN(segment->height, 0xffffu));
    }
    close_packed(e, &p);
}

static void write_job_queues(struct emit *e, const struct sim_run *run)
{
    struct packer p;

    open_packed(e, &p, "jobQueues");
    for (uint32_t i = 0; i < run->jobs.len; i += 2) {
        uint32_t low = MIN(run->jobs.items[i].queue, (uint32_t)JOB_NONE);
        uint32_t high = i + 1 < run->jobs.len ? MIN(run->jobs.items[i + 1].queue, (uint32_t)JOB_NONE) : 0;

        pack(&p, low | high << 16);
    }
    close_packed(e, &p);
}

static void write_nodes(struct emit *e, const struct sim_run *run)
{
    emit_open(e, "nodes", '[');
    for (uint32_t rank = 0; rank < run->state->nodes_by_rank.len; rank++) {
        node_id id = run->state->nodes_by_rank.items[rank];
        int64_t lanes = state_books(run->state, id).allocatable[RES_GPU] / GPU_ONE;

        if (id < run->gantt.nodes.len)
            lanes = MAX(lanes, (int64_t)run->gantt.nodes.items[id].lanes.len);
        if (lanes == 0)
            continue;
        emit_open(e, NULL, '[');
        emit_int(e, NULL, id);
        emit_str(e, NULL, state_name(run->state, run->state->nodes.items[id].name));
        emit_int(e, NULL, lanes);
        emit_close(e, ']');
    }
    emit_close(e, ']');
}

void report_write_gantt(struct emit *e, const struct sim_run *run)
{
    nsec_t unit = unit_of(run);
    struct strbuf name;

    emit_open(e, "gantt", '{');
    emit_double(e, "unit", (double)unit / 1e9);
    emit_bool(e, "isCut", run->gantt.is_cut);
    write_nodes(e, run);
    emit_open(e, "jobs", '[');
    strbuf_init(&name, NAME_MAX_BYTES);
    for (uint32_t i = 0; i < run->jobs.len; i++) {
        strbuf_clear(&name);
        sim_run_job_name(run, &run->jobs.items[i], &name);
        emit_str(e, NULL, name.text);
    }
    strbuf_done(&name);
    emit_close(e, ']');
    write_job_queues(e, run);
    write_bars(e, run, unit);
    emit_close(e, '}');
}
