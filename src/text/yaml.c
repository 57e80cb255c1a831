/* SPDX-License-Identifier: Apache-2.0 */

/*
 * libyaml's events build one mutable JSON document a YAML document (yaml_build.c), which is then copied into an
 * immutable one. yyjson lays the values of such a copy out in the order of the text, so that the marks, noted in that
 * same order, need no pointers: value i of the document has mark i.
 */
#include "text/yaml.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "text/yaml_internal.h"

int yaml_fail(struct yaml_builder *b, struct yaml_mark mark, const char *format, ...)
{
    char what[256];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    /* Keys and values may hold anything; a message is one line. */
    for (char *at = what; *at; at++) {
        if (iscntrl((unsigned char)*at))
            *at = '?';
    }
    return err_set(b->err, -EINVAL, "%s:%u:%u: %s", b->name, mark.line, mark.column, what);
}

/* Ends the document: an immutable copy and its marks go to `docs`, unless there is nothing in it. */
static void finish_document(struct yaml_builder *b, struct yaml_docs *docs)
{
    if (b->root && !yyjson_mut_is_null(b->root)) {
        yyjson_mut_doc_set_root(b->doc, b->root);
        yyjson_doc *json = yyjson_mut_doc_imut_copy(b->doc, NULL);
        BUG_ON(!json);
        vec_push(docs, (struct yaml_doc){json, b->marks.items, b->marks.len});
        memset(&b->marks, 0, sizeof b->marks);
    }
    yaml_build_done(b);
}

/*
 * Is the line indented with a tab? libyaml's own words for it ("found character that cannot start any token") help
 * nobody.
 */
static bool is_tab_indented(const struct yaml_builder *b, size_t line, size_t *ret_column)
{
    const char *at = b->text;
    const char *end = b->text + b->len;

    for (; line > 0; line--) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (!at)
            return false;
        at++;
    }
    for (*ret_column = 1; at < end && *at == ' '; at++)
        ++*ret_column;
    return at < end && *at == '\t';
}

static int parser_failed(struct yaml_builder *b)
{
    const yaml_parser_t *parser = &b->parser;
    struct yaml_mark mark = yaml_mark_of(parser->problem_mark);
    const char *problem = parser->problem ? parser->problem : "cannot be read";
    size_t column = 0;

    BUG_ON(parser->error == YAML_MEMORY_ERROR);
    if (parser->error == YAML_READER_ERROR)
        return err_set(b->err, -EINVAL, "%s: byte %zu: %s", b->name, parser->problem_offset, problem);
    if (is_tab_indented(b, parser->problem_mark.line, &column))
        return yaml_fail(b, (struct yaml_mark){mark.line, (uint32_t)column},
                         "a tab in the indentation; YAML allows only spaces");
    if (!parser->context)
        return yaml_fail(b, mark, "%s", problem);
    return yaml_fail(b, mark, "%s (%s)", problem, parser->context);
}

static int parse_events(struct yaml_builder *b, struct yaml_docs *docs)
{
    for (bool is_over = false; !is_over;) {
        yaml_event_t event;

        if (!yaml_parser_parse(&b->parser, &event))
            return parser_failed(b);
        if (event.type == YAML_DOCUMENT_START_EVENT)
            yaml_build_init(b);
        int r = yaml_build(b, &event);
        if (event.type == YAML_DOCUMENT_END_EVENT)
            finish_document(b, docs);
        is_over = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (r < 0)
            return r;
    }
    return 0;
}

static void docs_cut(struct yaml_docs *docs, uint32_t len)
{
    while (docs->len > len) {
        struct yaml_doc doc = vec_pop(docs);
        yyjson_doc_free(doc.json);
        free(doc.marks);
    }
}

int yaml_parse(const char *text, size_t len, const char *name, struct yaml_docs *docs, struct err *err)
{
    return yaml_parse_twice(text, len, name, NULL, NULL, docs, err);
}

int yaml_parse_twice(const char *text, size_t len, const char *name, yaml_twice_fn fn, void *arg,
                     struct yaml_docs *docs, struct err *err)
{
    struct yaml_builder b = {.text = text, .len = len, .name = name, .err = err, .on_twice = fn, .twice_arg = arg};
    uint32_t had = docs->len;

    BUG_ON(!yaml_parser_initialize(&b.parser));
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)text, len);
    int r = parse_events(&b, docs);
    if (r < 0)
        docs_cut(docs, had);
    if (b.doc)
        yaml_build_done(&b);
    yaml_parser_delete(&b.parser);
    return r;
}

void yaml_docs_done(struct yaml_docs *docs)
{
    docs_cut(docs, 0);
    vec_done(docs);
}

struct yaml_mark yaml_where(const struct yaml_doc *doc, const yyjson_val *val)
{
    const yyjson_val *first = yyjson_doc_get_root(doc->json);

    if (!val || val < first || (size_t)(val - first) >= doc->mark_count)
        return (struct yaml_mark){0, 0};
    return doc->marks[val - first];
}
