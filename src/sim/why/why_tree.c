/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/why/why_tree.h"

#include <stdlib.h>

#include "base/mem.h"
#include "text/wrap.h"

enum { LINE_MAX_BYTES = 2048 };

void tree_init(struct tree *tree)
{
    *tree = (struct tree){0};
    strbuf_init(&tree->line, LINE_MAX_BYTES);
}

void tree_end_line(struct tree *tree, uint32_t depth)
{
    vec_push(&tree->lines, (struct tree_line){depth, xstrdup(tree->line.text)});
    strbuf_clear(&tree->line);
}

/* Which strokes stand in front of a line depends on those that follow. */
static bool has_sibling(const struct tree *tree, uint32_t at, uint32_t depth)
{
    for (uint32_t i = at + 1; i < tree->lines.len && tree->lines.items[i].depth >= depth; i++) {
        if (tree->lines.items[i].depth == depth)
            return true;
    }
    return false;
}

void tree_print(struct tree *tree, const struct table_view *view, FILE *out)
{
    struct strbuf lead;
    struct strbuf rest;

    strbuf_init(&lead, LINE_MAX_BYTES);
    strbuf_init(&rest, LINE_MAX_BYTES);
    for (uint32_t i = 0; i < tree->lines.len; i++) {
        const struct tree_line *line = &tree->lines.items[i];

        strbuf_clear(&lead);
        strbuf_clear(&rest);
        for (uint32_t depth = 0; depth < line->depth; depth++)
            strbuf_addstr(&lead, has_sibling(tree, i, depth) ? "│  " : "   ");
        strbuf_addstr(&rest, lead.text);
        strbuf_addstr(&lead, has_sibling(tree, i, line->depth) ? "├─ " : "└─ ");
        strbuf_addstr(&rest, has_sibling(tree, i, line->depth) ? "│  " : "   ");
        wrap_print(out, view, lead.text, rest.text, STYLE_PLAIN, line->text);
        free(line->text);
    }
    vec_done(&tree->lines);
    strbuf_done(&tree->line);
    strbuf_done(&lead);
    strbuf_done(&rest);
}
