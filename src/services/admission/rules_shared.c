/* SPDX-License-Identifier: Apache-2.0 */

/* Which Queues and Topologies are admitted. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "services/admission/rules.h"

void admission_check_queue(const struct admission_rules *rules, const struct admission_request *request,
                           struct admission_verdict *verdict)
{
    yyjson_val *resources = yyjson_obj_get(yyjson_obj_get(request->object, "spec"), "resources");

    (void)rules;
    if (yyjson_is_obj(resources))
        return;
    admission_warn(verdict, "resources must be specified");
    admission_deny(verdict,
                   "resources must be specified: spec.resources is missing. Write spec.resources with cpu, gpu and "
                   "memory, each with quota, limit and overQuotaWeight; -1 means unlimited");
}

struct words VEC_OF(const char *);

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort(struct words *words)
{
    if (words->len > 1)
        qsort(words->items, words->len, sizeof *words->items, by_text);
}

static bool contains(const struct words *sorted, const char *word)
{
    return sorted->len > 0 && bsearch(&word, sorted->items, sorted->len, sizeof *sorted->items, by_text);
}

/* "<text>: [a b]", as much of it as anybody reads. */
static void add_words(struct strbuf *text, const char *what, const struct words *words)
{
    enum { SHOWN_MAX = 5 };
    char shown[ADMISSION_TEXT_MAX];

    if (words->len == 0)
        return;
    strbuf_addf(text, "%s%s: [", text->len ? "; " : "", what);
    for (size_t i = 0; i < words->len && i < SHOWN_MAX; i++)
        strbuf_addf(text, "%s%s", i ? " " : "", admission_text(words->items[i], shown));
    strbuf_addstr(text, words->len > SHOWN_MAX ? " ...]" : "]");
}

void admission_check_topology(const struct admission_rules *rules, const struct admission_request *request,
                              struct admission_verdict *verdict)
{
    yyjson_val *levels = yyjson_obj_get(yyjson_obj_get(request->object, "spec"), "levels");
    struct words labels = {0};
    struct words aliases = {0};
    struct words twice = {0};
    struct words taken = {0};
    struct strbuf text;
    yyjson_val *level;
    size_t i, max;

    (void)rules;
    strbuf_init(&text, 1000);
    yyjson_arr_foreach(levels, i, max, level)
    {
        vec_push(&labels, kube_text(level, "nodeLabel"));
        if (*kube_text(level, "alias"))
            vec_push(&aliases, kube_text(level, "alias"));
    }
    sort(&labels);
    sort(&aliases);
    for (uint32_t j = 0; j < aliases.len; j++) {
        if (j > 0 && strcmp(aliases.items[j - 1], aliases.items[j]) == 0)
            vec_push(&twice, aliases.items[j]);
        if (contains(&labels, aliases.items[j]))
            vec_push(&taken, aliases.items[j]);
    }
    add_words(&text, "aliases must be unique within the topology; duplicated", &twice);
    add_words(&text, "an alias must not equal a nodeLabel; conflicting", &taken);
    if (text.len)
        admission_deny(verdict,
                       "invalid topology aliases: %.900s. Give each entry of spec.levels an alias that no other alias "
                       "and no nodeLabel has, or none",
                       text.text);
    strbuf_done(&text);
    vec_done(&labels);
    vec_done(&aliases);
    vec_done(&twice);
    vec_done(&taken);
}
