/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/vec.h"
#include "model/ids.h"
#include "words/verdict_text.h"

struct gang;
struct state;
struct verdict;

/* What the verdict_text*.c files share. */

/* Numbers as KAI writes them (verdict_number.c). */
void add_human(struct strbuf *out, double value, double unit);  // "Unlimited", or at most three decimals, cut
void add_decimals(struct strbuf *out, double value);            // the same without "Unlimited"
void add_short(struct strbuf *out, double value);               // three significant digits
void add_exact(struct strbuf *out, double value);               // as many digits as tell it from its neighbours

#define CORES 1000.0
#define GIGABYTES 1e9

/* "ns/name". */
void add_pod_name(struct strbuf *out, const struct state *state, pod_id pod);
void add_gang_name(struct strbuf *out, const struct state *state, const struct gang *gang);

/* Why the pod that found no place found none: always short, whatever the rest of the text is. */
void add_pod_reasons(const struct verdict_text *text, struct strbuf *out);
void add_pod_details(const struct verdict_text *text, struct strbuf *out);

/* Texts that need no look at nodes; false when there is none. */
bool add_without_nodes(const struct verdict_text *text, struct strbuf *out);

/* What the reasons of one node go into, one by one (verdict_text_nodes.c). */
struct reasons {
    const struct verdict_text *text;
    const struct explained_node *node;
    struct strbuf *reason;  // the one being written; empty in between
    void (*add)(void *context, const char *reason);
    void *context;
};

void give_reasons(struct reasons *r);
void give_lack_details(struct reasons *r);  // of a node that lacks room, with numbers
const char *reasons_node(const struct reasons *r);

/* Is the gang tried without evicting anyone? Where not, KAI's words are those of the search for victims. */
bool text_allocate_runs(const struct verdict_text *text);

/* The order in which KAI names resources: GPUs, CPU, memory, then the others. */
uint32_t text_nth_dim(uint32_t i);

/* "queue quota has reached ..." and "Non-preemptible workload ...". */
void add_over(struct strbuf *out, const struct state *state, const struct verdict *over);
const char *over_reason(const struct verdict *over);

/* Lines that are counted, sorted and joined. */
struct line {
    char *text;  // owned
    uint32_t count;
};

struct lines VEC_OF(struct line);
enum { REASON_MAX = 4096 };  // bytes of one reason

void lines_add(struct lines *lines, const char *text);
void lines_done(struct lines *lines);

/* Sorted; `counts_one` puts the number in front of lines that occur once as well. */
void lines_sort(struct lines *lines);
void lines_number(struct lines *lines, bool counts_one);
