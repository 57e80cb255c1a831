/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a next daemon has to know: the groups that came by the API, in groups.json, and through the book the processes
 * that held something. They are charged for it from the first moment on, before any of them has come back.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "gpu/daemon/gpud_parts.h"
#include "text/file_replace.h"
#include "text/json.h"

enum { STATE_FILE_MAX = 4 << 20 };

#define SAVE_AGAIN (5 * NSEC_PER_SEC)

static void state_path(const struct gpud *gpud, const char *end, char *text, size_t size)
{
    (void)snprintf(text, size, "%s/groups.json%s", gpud->config->folder, end);
}

void state_save(void *arg)
{
    struct gpud *gpud = arg;
    struct strbuf text;
    char path[256];
    bool is_first = true;

    strbuf_init(&text, STATE_FILE_MAX);
    strbuf_addstr(&text, "[");
    for (uint32_t i = 0; i < LEDGER_GROUPS_MAX; i++) {
        if (!gpud->groups[i] || gpud->groups[i]->is_static)
            continue;
        strbuf_addstr(&text, is_first ? "\n" : ",\n");
        group_spec_encode(&gpud->groups[i]->spec, &text);
        is_first = false;
    }
    strbuf_addstr(&text, "\n]\n");
    state_path(gpud, "", path, sizeof path);
    int r = text.is_cut ? -EFBIG : file_put(path, text.text, text.len, NULL);
    if (r < 0)
        log_fail(gpud->log, "groups cannot be saved: a restart would lose them", log_str("path", path),
                 log_str("error", strerror(-r)));
    if (r < 0 && !gpud->is_stopping)
        loop_timer_start(&gpud->save_again, SAVE_AGAIN);
    else
        loop_timer_stop(&gpud->save_again);
    strbuf_done(&text);
}

/* One that cannot be read or does not fit is left out, and the others come back. */
static void load_group(struct gpud *gpud, const struct json_at *item)
{
    struct group_spec spec = {0};
    struct err why = {0};
    int r = group_spec_decode(item, &spec, &why);

    if (r >= 0 && !group_find(gpud, spec.name))
        r = group_add(gpud, &spec, NULL, &why);
    if (r < 0)
        log_warn(gpud->log, "a saved group cannot be restored", log_str("group", spec.name), log_error(&why));
}

/* A file that makes no sense must not keep the daemon from starting: tenants that run get no memory while there is none.
 * It is put aside for whoever wants to see it. */
void state_load(struct gpud *gpud)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct err err = {0};
    char path[256];
    char aside[256];

    state_path(gpud, "", path, sizeof path);
    state_path(gpud, ".damaged", aside, sizeof aside);
    if (access(path, F_OK) < 0)
        return;
    int r = json_read_file(path, STATE_FILE_MAX, &doc, &err);
    struct json_at root = r >= 0 ? json_root(doc) : (struct json_at){0};
    if (r >= 0)
        r = json_array(&root, &err);
    if (r < 0) {
        log_fail(gpud->log, "the saved groups cannot be read and are lost", log_str("path", path),
                 log_str("aside", aside), log_error(&err));
        (void)rename(path, aside);
        return;
    }
    for (struct json_at item = {0}; json_next(&root, &item);)
        load_group(gpud, &item);
}

static void adopt(struct gpud *gpud, struct book_slot *slot)
{
    struct group *group = group_find(gpud, slot->group);
    int pidfd = group ? peer_pidfd(slot->pid, slot->started) : -ESRCH;

    if (pidfd < 0) {
        book_give(gpud->book, slot);
        return;
    }
    for (uint32_t i = 0; i < LEDGER_GPUS_MAX; i++) {
        struct ledger_holding held = slot->holdings[i];
        bool has_gpu = gpud->ledger.groups[group->index].limit[i] > 0;

        slot->holdings[i] = (struct ledger_holding){0};
        if (!has_gpu)
            continue;
        ledger_force(&gpud->ledger, group->index, &slot->holdings[i], i, GPU_KIND_PLAIN, held.plain);
        ledger_force(&gpud->ledger, group->index, &slot->holdings[i], i, GPU_KIND_CONTEXT, held.context);
    }
    session_adopt(group, slot, pidfd);
}

void state_adopt(struct gpud *gpud)
{
    struct book_slot *slots = book_slots(gpud->book);

    for (uint32_t i = 0; i < BOOK_SLOTS_MAX; i++) {
        if (slots[i].is_used)
            adopt(gpud, &slots[i]);
    }
}
