/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/work/find.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "text/suggest.h"

enum { NAME_MAX_BYTES = 600 };

int workload_set_read(struct workload_set *set, struct api *api, const char *namespace, struct err *err)
{
    int code;

    memset(set, 0, sizeof *set);
    arena_init(&set->arena);
    code = api_read_view(api, VIEW_OF_WORKLOADS, namespace, &set->view, err);
    if (code == 0)
        workload_rows_make(&set->view.objects, &set->arena, &set->rows);
    return code;
}

void workload_set_done(struct workload_set *set)
{
    vec_done(&set->rows);
    arena_done(&set->arena);
    api_view_done(&set->view);
}

static bool is_number(const char *word)
{
    return *word && strspn(word, "0123456789_") == strlen(word);
}

/* "12" is a Job or all of an array, "12_3" an element. */
static bool has_number(const struct workload_row *row, const char *word)
{
    const char *gap = strchr(word, '_');

    if (!gap)
        return strcmp(row->job_id, word) == 0 || strcmp(row->array_id, word) == 0;
    return *row->array_id && strncmp(row->array_id, word, (size_t)(gap - word)) == 0 &&
           row->array_id[gap - word] == '\0' && strcmp(row->array_index, gap + 1) == 0;
}

static int unknown(const struct workload_set *set, const char *word, const char *namespace, struct err *err)
{
    struct suggestion suggestion;
    char hint[SUGGESTION_MAX];

    suggestion_init(&suggestion, word);
    vec_foreach (&set->rows, row) {
        if (strcmp(row->namespace, namespace) == 0)
            suggestion_offer(&suggestion, row->name);
    }
    return err_set(err, -EINVAL, "there is no workload '%s' in namespace '%s'%s", word, namespace,
                   suggestion_text(&suggestion, "", hint));
}

int workload_find(const struct workload_set *set, const char *word, const char *namespace, struct found *found,
                  struct err *err)
{
    const char *slash = strchr(word, '/');
    const char *name = slash ? slash + 1 : word;
    const struct workload_row *newest = NULL;
    char within[NAME_MAX_BYTES];
    uint32_t before = found->len;

    (void)snprintf(within, sizeof within, "%.*s", slash ? (int)MIN(slash - word, (ptrdiff_t)NAME_MAX_BYTES - 1) : 0,
                   word);
    if (!slash)
        (void)snprintf(within, sizeof within, "%s", namespace);
    vec_foreach (&set->rows, row) {
        if (!slash && is_number(name) && has_number(row, name)) {
            vec_push(found, row);
        } else if (strcmp(row->namespace, within) == 0) {
            if (strcmp(row->name, name) == 0) {
                vec_push(found, row);
                return 0;
            }
            if (strcmp(row->job_name, name) == 0)
                newest = row;
        }
    }
    if (found->len > before)
        return 0;
    if (!newest)
        return unknown(set, name, within, err);
    vec_push(found, newest);
    return 0;
}

int workload_find_one(const struct workload_set *set, const char *word, const char *namespace,
                      const struct workload_row **ret, struct err *err)
{
    struct found found = {0};
    int code = workload_find(set, word, namespace, &found, err);

    if (code == 0 && found.len > 1)
        code = err_set(err, -EINVAL, "'%s' is an array of %u jobs: name one of them, such as %s_%s", word, found.len,
                       word, found.items[0]->array_index);
    if (code == 0) {
        BUG_ON(!found.items);
        *ret = found.items[0];
    }
    vec_done(&found);
    return code;
}

const char *find_namespace(const char *const *words, size_t count, const char *namespace)
{
    for (size_t i = 0; i < count; i++) {
        const char *slash = strchr(words[i], '/');

        if (slash && (strncmp(words[i], namespace, (size_t)(slash - words[i])) != 0 || namespace[slash - words[i]]))
            return NULL;
    }
    return namespace;
}
