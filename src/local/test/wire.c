/* SPDX-License-Identifier: Apache-2.0 */
#include "local/wire/wire.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/strbuf.h"

/* Bodies are written by hand here; tests/wire has those of Kubernetes' own encoders. */
enum { BODY_MAX = 4 << 20 };

static void add_varint(struct strbuf *to, size_t value)
{
    for (; value >= 0x80; value >>= 7)
        strbuf_addch(to, (char)(uint8_t)(value | 0x80));
    strbuf_addch(to, (char)value);
}

static void add_bytes(struct strbuf *to, unsigned number, const char *bytes, size_t len)
{
    add_varint(to, number << 3 | 2);
    add_varint(to, len);
    strbuf_add(to, bytes, len);
}

static void add_text(struct strbuf *to, unsigned number, const char *text)
{
    add_bytes(to, number, text, strlen(text));
}

/* The envelope around `raw`. */
static void make_body(struct strbuf *body, const char *version, const char *kind, const struct strbuf *raw)
{
    struct strbuf type;

    strbuf_init(body, BODY_MAX);
    strbuf_init(&type, 1024);
    add_text(&type, 1, version);
    add_text(&type, 2, kind);
    strbuf_add(body, "k8s\0", 4);
    add_bytes(body, 1, type.text, type.len);
    add_bytes(body, 2, raw->text, raw->len);
    strbuf_done(&type);
}

static int read_body(const struct strbuf *body, char **ret_text, struct err *err)
{
    yyjson_mut_doc *doc = NULL;
    int code = wire_read(body->text, body->len, &doc, err);

    if (code < 0)
        return code;
    *ret_text = yyjson_mut_write(doc, 0, NULL);
    yyjson_mut_doc_free(doc);
    return 0;
}

static void expect_json(const char *version, const char *kind, const struct strbuf *raw, const char *expected)
{
    struct strbuf body;
    struct err err = {0};
    char *text = NULL;

    make_body(&body, version, kind, raw);
    assert_int_equal(read_body(&body, &text, &err), 0);
    assert_string_equal(text, expected);
    free(text);
    strbuf_done(&body);
}

static void expect_failure(const char *version, const char *kind, const struct strbuf *raw, int code, const char *words)
{
    struct strbuf body;
    struct err err = {0};
    char *text = NULL;

    make_body(&body, version, kind, raw);
    assert_int_equal(read_body(&body, &text, &err), code);
    assert_non_null(strstr(err.text, words));
    strbuf_done(&body);
}

static void a_config_map_is_read(void **state)
{
    struct strbuf raw, meta, entry;

    (void)state;
    strbuf_init(&raw, 1024);
    strbuf_init(&meta, 1024);
    strbuf_init(&entry, 1024);
    add_text(&meta, 1, "settings");
    add_text(&meta, 3, "");
    add_bytes(&raw, 1, meta.text, meta.len);
    add_text(&entry, 1, "a");
    add_text(&entry, 2, "b");
    add_bytes(&raw, 2, entry.text, entry.len);
    strbuf_clear(&entry);
    add_text(&entry, 1, "key");
    add_bytes(&entry, 2, "\xff\x00\x01", 3);
    add_bytes(&raw, 3, entry.text, entry.len);
    add_text(&raw, 15, "a field that is not known");
    expect_json("v1", "ConfigMap", &raw,
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"settings\"},"
                "\"data\":{\"a\":\"b\"},\"binaryData\":{\"key\":\"/wAB\"}}");
    strbuf_done(&raw);
    strbuf_done(&meta);
    strbuf_done(&entry);
}

static void options_of_any_group_are_read(void **state)
{
    struct strbuf raw;

    (void)state;
    strbuf_init(&raw, 1024);
    strbuf_add(&raw, "\x08\x00", 2);
    add_text(&raw, 4, "Background");
    expect_json("apps/v1", "DeleteOptions", &raw,
                "{\"apiVersion\":\"apps/v1\",\"kind\":\"DeleteOptions\",\"gracePeriodSeconds\":0,"
                "\"propagationPolicy\":\"Background\"}");
    strbuf_done(&raw);
}

/* A Lease whose acquireTime, field 3 of the spec, is that many seconds after 1970. */
static void make_lease(struct strbuf *lease, int64_t seconds)
{
    struct strbuf time;
    struct strbuf spec;

    strbuf_init(&time, 64);
    strbuf_init(&spec, 64);
    strbuf_init(lease, 128);
    add_varint(&time, 1 << 3);
    add_varint(&time, (size_t)seconds);
    add_bytes(&spec, 3, time.text, time.len);
    add_bytes(lease, 2, spec.text, spec.len);
    strbuf_done(&spec);
    strbuf_done(&time);
}

static void times_are_read_from_the_year_1_to_9999(void **state)
{
    struct strbuf lease;

    (void)state;
    make_lease(&lease, -62135596798);
    expect_json("coordination.k8s.io/v1", "Lease", &lease,
                "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"spec\":{\"acquireTime\":"
                "\"0001-01-01T00:00:02.000000Z\"},\"metadata\":{}}");
    strbuf_done(&lease);
    make_lease(&lease, 253402300800);
    expect_failure("coordination.k8s.io/v1", "Lease", &lease, -EINVAL, "time out of range");
    strbuf_done(&lease);
}

static void other_bodies_are_refused(void **state)
{
    yyjson_mut_doc *doc = NULL;
    struct err err = {0};
    struct strbuf raw;

    (void)state;
    assert_false(wire_is_protobuf("k8s", 3));
    assert_false(wire_is_protobuf("{\"a\":1}", 7));
    assert_int_equal(wire_read("{\"a\":1}", 7, &doc, &err), -EINVAL);
    assert_int_equal(wire_read("k8s\0\x0a\x05", 6, &doc, &err), -EINVAL);
    strbuf_init(&raw, 1024);
    expect_failure("v1", "Nothing", &raw, -ENOENT, "no kind \"Nothing\" is registered for version \"v1\"");
    strbuf_add(&raw, "\x0a\x7f", 2);
    expect_failure("v1", "Pod", &raw, -EINVAL, "malformed");
    strbuf_clear(&raw);
    strbuf_add(&raw, "\x08\x01", 2);
    expect_failure("v1", "Pod", &raw, -EINVAL, "metadata: expected a message");
    strbuf_clear(&raw);
    add_text(&raw, 2, "\x0a\x02\xc3\x28\x12\x00");
    expect_failure("v1", "ConfigMap", &raw, -EINVAL, "not UTF-8");
    strbuf_done(&raw);
}

/* Puts a message into a field of an outer one. */
static void wrap(struct strbuf *message, unsigned number)
{
    struct strbuf outer;

    strbuf_init(&outer, BODY_MAX);
    add_bytes(&outer, number, message->text, message->len);
    strbuf_done(message);
    *message = outer;
}

static void nesting_is_bounded(void **state)
{
    struct strbuf schema;

    (void)state;
    strbuf_init(&schema, BODY_MAX);
    for (int i = 0; i < WIRE_DEPTH_MAX; i++)
        wrap(&schema, 28);  // "not"
    wrap(&schema, 1);       // openAPIV3Schema
    wrap(&schema, 4);       // schema
    wrap(&schema, 7);       // versions
    wrap(&schema, 2);       // spec
    expect_failure("apiextensions.k8s.io/v1", "CustomResourceDefinition", &schema, -EINVAL, "nested too deeply");
    strbuf_done(&schema);
}

/* Two bytes an element would become a hundred in the document. */
static void the_number_of_values_is_bounded(void **state)
{
    struct strbuf spec, raw;

    (void)state;
    strbuf_init(&spec, BODY_MAX);
    strbuf_init(&raw, BODY_MAX);
    for (int i = 0; i < 300000; i++)
        strbuf_add(&spec, "\x12\x00", 2);
    add_bytes(&raw, 2, spec.text, spec.len);
    expect_failure("v1", "Pod", &raw, -EINVAL, "too many values");
    strbuf_done(&spec);
    strbuf_done(&raw);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_config_map_is_read),
        cmocka_unit_test(options_of_any_group_are_read),
        cmocka_unit_test(times_are_read_from_the_year_1_to_9999),
        cmocka_unit_test(other_bodies_are_refused),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(the_number_of_values_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
