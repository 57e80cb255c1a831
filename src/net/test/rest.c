/* SPDX-License-Identifier: Apache-2.0 */

/* What a table of routes does for its handlers: parameters, roles, limits, errors. */
#include "net/rest/rest.h"

#include <errno.h>
#include <openssl/ssl.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "net/rest/files.h"
#include "net/test/certs.h"
#include "net/test/talk.h"

struct stage {
    struct talk talk;
    struct http_exchange *held;
};

/* Who may what: the token is the role, and only one host is ours. */
static int allow(void *arg, struct http_exchange *exchange, const struct rest_route *route, struct err *err)
{
    const char *token = http_exchange_header(exchange, "Authorization");
    const char *host = http_exchange_header(exchange, "Host");

    (void)arg;
    if (host && strcmp(host, "evil.test") == 0)
        return err_set(err, -EADDRNOTAVAIL, "this server is not %s", host);
    if (!route->role)
        return 0;
    if (!token)
        return err_set(err, -ENOKEY, "a token is needed");
    /* Parameters of the path are known by now. */
    if (strcmp(token, route->role) != 0)
        return err_set(err, -EACCES, "%s may not change %s", token, rest_param(exchange, "name"));
    return 0;
}

static void show(void *arg, struct http_exchange *exchange)
{
    const char *name;
    const char *value;
    struct strbuf text;

    (void)arg;
    strbuf_init(&text, 4096);
    strbuf_addf(&text, "%s %s", http_exchange_method(exchange), rest_param(exchange, "name"));
    for (size_t at = 0; rest_query_next(exchange, &at, &name, &value);)
        strbuf_addf(&text, " %s=%s", name, value);
    strbuf_addf(&text, " watch=%d", rest_query_is_true(exchange, "watch"));
    http_reply_text(exchange, 200, text.text);
    strbuf_done(&text);
}

static void files(void *arg, struct http_exchange *exchange)
{
    char text[256];

    (void)arg;
    (void)snprintf(text, sizeof text, "[%s]", rest_param(exchange, "path"));
    http_reply_text(exchange, 200, text);
}

static void hold(void *arg, struct http_exchange *exchange)
{
    struct stage *stage = arg;

    stage->held = exchange;
    talk_note(&stage->talk, 'h');
}

static void let_go(void *arg, struct http_exchange *exchange)
{
    struct stage *stage = arg;

    http_reply_text(stage->held, 200, "gone on");
    http_reply_text(exchange, 200, "");
}

static void conflict(void *arg, struct http_exchange *exchange)
{
    static const struct rest_cause causes[] = {
        {.reason = "FieldManagerConflict", .message = "conflict with \"x\"", .field = ".spec.replicas"}};

    (void)arg;
    rest_fail_problem(exchange, &(struct rest_problem){.code = -EBUSY,
                                                       .message = "the object has changed",
                                                       .name = "a",
                                                       .group = "apps",
                                                       .kind = "deployments",
                                                       .uid = "1-2",
                                                       .causes = causes,
                                                       .cause_count = 1});
}

static void who(void *arg, struct http_exchange *exchange)
{
    const struct http_peer *peer = http_exchange_peer(exchange);
    struct strbuf text;

    (void)arg;
    strbuf_init(&text, 4096);
    strbuf_addf(&text, "[%s tls=%d unix=%d", peer->name ? peer->name : "nobody", peer->is_tls, peer->has_credentials);
    for (size_t i = 0; i < peer->group_count; i++)
        strbuf_addf(&text, " %s", peer->groups[i]);
    strbuf_addf(&text, "] %s", peer->address);
    http_reply_text(exchange, 200, text.text);
    strbuf_done(&text);
}

static const char hello[] = "<p>hello</p>";
static const uint64_t hello_len = sizeof hello - 1;

static void embedded(void *arg, struct http_exchange *exchange)
{
    static const struct rest_file parts[] = {REST_FILE("hello.html", REST_HTML, hello)};

    (void)arg;
    rest_serve_file(exchange, parts, ARRAY_LEN(parts), rest_param(exchange, "file"));
}

static const struct rest_route routes[] = {
    REST_ROUTE("GET", "/embedded/{file}", embedded),
    REST_ROUTE("GET", "/things/{name}", show),
    REST_ROUTE("PUT", "/things/{name}", show, .role = "admin", .types = "application/json application/yaml",
               .body_max = 10),
    REST_ROUTE("GET", "/files/{path...}", files),
    REST_ROUTE("GET", "/hold", hold, .requests_max = 1),
    REST_ROUTE("GET", "/go", let_go),
    REST_ROUTE("GET", "/conflict", conflict),
    REST_ROUTE("GET", "/who", who),
};

static void start(struct stage *stage, struct rest_options options)
{
    *stage = (struct stage){0};
    options.allow = allow;
    talk_start(&stage->talk, options, routes, ARRAY_LEN(routes), stage);
}

#define CLOSE "Host: h\r\nConnection: close\r\n"
#define GET(path) "GET " path " HTTP/1.1\r\n" CLOSE "\r\n"
#define PUT(headers, body) "PUT /things/a HTTP/1.1\r\n" CLOSE headers "\r\n" body

static void a_file_of_the_program_is_sent_once(void **state)
{
    struct stage stage;
    char tag[64] = "";
    char request[256];

    (void)state;
    start(&stage, (struct rest_options){0});
    const struct talk *talk = &stage.talk;
    const char *answer = talk_ask(talk, GET("/embedded/hello.html"));
    assert_non_null(strstr(answer, "200 OK"));
    assert_non_null(strstr(answer, "\r\n\r\n<p>hello</p>"));
    assert_int_equal(sscanf(strstr(answer, "ETag: "), "ETag: %63[^\r]", tag), 1);
    (void)snprintf(request, sizeof request, "GET /embedded/hello.html HTTP/1.1\r\n" CLOSE "If-None-Match: W/%s\r\n\r\n",
                   tag);
    answer = talk_ask(talk, request);
    assert_non_null(strstr(answer, "304 Not Modified"));
    assert_null(strstr(answer, "hello</p>"));
    talk_expect(talk_ask(talk, "GET /embedded/hello.html HTTP/1.1\r\n" CLOSE "If-None-Match: \"0\"\r\n\r\n"),
                "<p>hello</p>");
    talk_expect(talk_ask(talk, GET("/embedded/other.html")), "404 Not Found");
    talk_stop(&stage.talk);
}

static void handlers_get_decoded_parameters(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, (struct rest_options){0});
    const struct talk *talk = &stage.talk;
    talk_expect(talk_ask(talk, GET("/things/a%20b?command=sh&command=-c&x=1%2B1&watch")),
                "\r\n\r\nGET a b command=sh command=-c x=1+1 watch= watch=1");
    talk_expect(talk_ask(talk, GET("/things/a?watch=false")), "watch=0");
    talk_expect(talk_ask(talk, GET("/files/a/b%20c/d")), "[a/b c/d]");
    talk_expect(talk_ask(talk, GET("/files")), "[]");
    const char *text = talk_ask(talk, "HEAD /things/a HTTP/1.1\r\n" CLOSE "\r\n");
    talk_expect(text, "200 OK");
    talk_expect(text, "Content-Length: 14\r\n");
    assert_string_equal(strstr(text, "\r\n\r\n"), "\r\n\r\n");
    talk_stop(&stage.talk);
}

static void requests_without_a_row_are_refused(void **state)
{
    struct stage stage;
    char request[10000];

    (void)state;
    start(&stage, (struct rest_options){0});
    const struct talk *talk = &stage.talk;
    talk_expect(talk_ask(talk, GET("/nothing")), "404 Not Found");
    talk_expect(talk_ask(talk, GET("/nothing")), "{\"error\":\"no resource at /nothing\"}");
    const char *text = talk_ask(talk, "POST /things/a HTTP/1.1\r\n" CLOSE "\r\n");
    talk_expect(text, "405 Method Not Allowed");
    talk_expect(text, "\r\nAllow: GET, HEAD, PUT\r\n");
    talk_expect(text, "{\"error\":\"POST is not allowed here; allowed: GET, HEAD, PUT\"}");
    talk_expect(talk_ask(talk, GET("/files/%2e%2e/x")), "400 Bad Request");
    talk_expect(talk_ask(talk, GET("/things/a?x=%ff")), "400 Bad Request");
    (void)snprintf(request, sizeof request, "GET /%09000d HTTP/1.1\r\n" CLOSE "\r\n", 1);
    talk_expect(talk_ask(talk, request), "414 URI Too Long");
    talk_stop(&stage.talk);
}

static void the_owner_decides_who_may(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, (struct rest_options){0});
    const struct talk *talk = &stage.talk;
    const char *text = talk_ask(talk, PUT("", ""));
    talk_expect(text, "401 Unauthorized");
    talk_expect(text, "WWW-Authenticate: Bearer\r\n");
    talk_expect(text, "{\"error\":\"a token is needed\"}");
    talk_expect(talk_ask(talk, PUT("Authorization: viewer\r\n", "")), "403 Forbidden");
    talk_expect(talk_ask(talk, PUT("Authorization: viewer\r\n", "")), "viewer may not change a");
    talk_expect(talk_ask(talk, PUT("Authorization: admin\r\n", "")), "200 OK");
    talk_expect(talk_ask(talk, "GET /who HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n"),
                "421 Misdirected Request");
    talk_stop(&stage.talk);

    /* A row with a role on a server that knows no roles would be open to all. */
    struct rest_set set = {routes, ARRAY_LEN(routes), NULL};
    struct rest_options open = {.http.address = "127.0.0.1", .sets = &set, .set_count = 1};
    struct http_server *server = NULL;
    struct loop *loop = loop_new();
    struct err err = {0};
    assert_int_equal(rest_server_start(loop, &open, &server, &err), -EINVAL);
    assert_string_equal(err.text, "route PUT /things/{name} needs the role admin, and the server checks none");
    loop_free(loop);
}

static void bodies_have_a_type_and_a_size(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, (struct rest_options){0});
    const struct talk *talk = &stage.talk;
#define ADMIN "Authorization: admin\r\nContent-Length: 2\r\n"
    talk_expect(talk_ask(talk, PUT(ADMIN "Content-Type: application/json; charset=utf-8\r\n", "{}")), "200 OK");
    talk_expect(talk_ask(talk, PUT(ADMIN "Content-Type: Application/YAML\r\n", "{}")), "200 OK");
    talk_expect(talk_ask(talk, PUT(ADMIN, "{}")), "200 OK");
    const char *text = talk_ask(talk, PUT(ADMIN "Content-Type: text/plain\r\n", "{}"));
    talk_expect(text, "415 Unsupported Media Type");
    talk_expect(text, "the body is text/plain, which is not supported here; supported: application/json");
    talk_expect(talk_ask(talk, PUT("Authorization: admin\r\nContent-Length: 11\r\n", "0123456789a")), "413 ");
    talk_expect(talk_ask(talk, PUT("Authorization: admin\r\nTransfer-Encoding: chunked\r\n", "b\r\n0123456789a\r\n")),
                "413 ");
    talk_stop(&stage.talk);
}

static void a_refusal_keeps_the_connection_where_it_can(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, (struct rest_options){0});
    /* A small body is read past. */
    const char *text =
        talk_ask(&stage.talk, "PUT /things/a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n01234"
                              "PUT /none HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"
                              "GET /none HTTP/1.1\r\n\r\n" GET("/things/last"));
    const char *second = strstr(text, "401 Unauthorized");
    assert_non_null(second);
    second = strstr(second, "404 Not Found");
    assert_non_null(second);
    second = strstr(second + 1, "404 Not Found");
    assert_non_null(second);
    talk_expect(second, "GET last");
    /* A large one is not. */
    text = talk_ask(&stage.talk, "PUT /things/a HTTP/1.1\r\nHost: h\r\nContent-Length: 500000\r\n\r\n01234");
    talk_expect(text, "401 Unauthorized");
    talk_expect(text, "Connection: close\r\n");
    /* A client that asks first is not told to go on. */
    text = talk_ask(&stage.talk, "PUT /things/a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    assert_true(strncmp(text, "HTTP/1.1 401 ", 13) == 0);
    talk_stop(&stage.talk);
}

static void a_route_has_a_limit_of_its_own(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, (struct rest_options){0});
    int fd = talk_connect(&stage.talk);
    talk_send(fd, GET("/hold"));
    assert_int_equal(talk_noted(&stage.talk), 'h');
    const char *text = talk_ask(&stage.talk, GET("/hold"));
    talk_expect(text, "429 Too Many Requests");
    talk_expect(text, "Retry-After: 1\r\n");
    talk_expect(text, "1 requests of this kind are in progress, which is the limit; try again later");
    talk_expect(talk_ask(&stage.talk, GET("/go")), "200 OK");
    talk_expect(talk_receive(fd, NULL), "gone on");
    assert_int_equal(close(fd), 0);
    /* And there is room again. */
    fd = talk_connect(&stage.talk);
    talk_send(fd, GET("/hold"));
    assert_int_equal(talk_noted(&stage.talk), 'h');
    talk_expect(talk_ask(&stage.talk, GET("/go")), "200 OK");
    talk_expect(talk_receive(fd, NULL), "gone on");
    assert_int_equal(close(fd), 0);
    talk_stop(&stage.talk);
}

static void errors_have_the_form_that_the_owner_chose(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, (struct rest_options){.errors = REST_ERRORS_STATUS});
    const struct talk *talk = &stage.talk;
    talk_expect(talk_ask(talk, GET("/conflict")),
                "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
                "\"message\":\"the object has changed\",\"reason\":\"Conflict\",\"details\":{\"name\":\"a\","
                "\"group\":\"apps\",\"kind\":\"deployments\",\"uid\":\"1-2\",\"causes\":[{\"reason\":"
                "\"FieldManagerConflict\",\"message\":\"conflict with \\\"x\\\"\",\"field\":\".spec.replicas\"}]},"
                "\"code\":409}");
    talk_expect(talk_ask(talk, GET("/nothing")),
                "\"message\":\"no resource at /nothing\",\"reason\":\"NotFound\",\"code\":404}");
    /* Also what never gets as far as the table. */
    talk_expect(talk_ask(talk, "nonsense\r\n\r\n"), "\"reason\":\"BadRequest\",\"code\":400}");
    talk_expect(talk_ask(talk, PUT("Authorization: admin\r\nContent-Length: 11\r\n", "")),
                "\"reason\":\"RequestEntityTooLarge\",\"code\":413}");
    int fd = talk_connect(talk);
    talk_send(fd, GET("/hold"));
    assert_int_equal(talk_noted(talk), 'h');
    talk_expect(talk_ask(talk, GET("/hold")),
                "\"reason\":\"TooManyRequests\",\"details\":{\"retryAfterSeconds\":1},\"code\":429}");
    talk_expect(talk_ask(talk, GET("/go")), "200 OK");
    assert_int_equal(close(fd), 0);
    talk_stop(&stage.talk);
}

static void codes_have_a_status(void **state)
{
    static const struct {
        int code;
        int status;
    } cases[] = {{-EINVAL, 400},      {-ENOKEY, 401},    {-EACCES, 403},    {-ENOENT, 404},
                 {-EEXIST, 409},      {-EBUSY, 409},     {-ESTALE, 410},    {-EFBIG, 413},
                 {-EMEDIUMTYPE, 415}, {-ENOTSUP, 422},   {-EAGAIN, 429},    {-ENOSYS, 501},
                 {-EIO, 500},         {-ESHUTDOWN, 503}, {-ETIMEDOUT, 504}, {-ENOTTY, 405}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(rest_status_of(cases[i].code), cases[i].status);
}

/* One request over TLS, with a client's certificate or without; "" when the handshake or the answer fails. */
static const char *ask_by_tls(const struct talk *talk, const struct cert *cert, const char *request)
{
    static char text[4096];
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    size_t len = 0;

    if (cert) {
        assert_int_equal(SSL_CTX_use_certificate(context, cert->x509), 1);
        assert_int_equal(SSL_CTX_use_PrivateKey(context, cert->key), 1);
    }
    SSL *ssl = SSL_new(context);
    int fd = talk_connect(talk);
    assert_int_equal(SSL_set_fd(ssl, fd), 1);
    if (SSL_connect(ssl) == 1 && SSL_write(ssl, request, (int)strlen(request)) > 0) {
        for (int got; (got = SSL_read(ssl, text + len, (int)(sizeof text - 1 - len))) > 0;)
            len += (size_t)got;
    }
    text[len] = '\0';
    SSL_free(ssl);
    SSL_CTX_free(context);
    assert_int_equal(close(fd), 0);
    return text;
}

static void a_certificate_says_who_asks(void **state)
{
    struct stage stage;
    struct cert ca;
    struct cert other_ca;
    struct cert server;
    struct cert client;
    struct cert stranger;

    (void)state;
    cert_init(&ca, NULL, "ca", NULL);
    cert_init(&other_ca, NULL, "other", NULL);
    cert_init(&server, &ca, "server", NULL);
    cert_init_in(&client, &ca, "ann", (const char *const[]){"system:masters", "team-a", NULL});
    cert_init_in(&stranger, &other_ca, "ann", (const char *const[]){"system:masters", NULL});
    start(&stage, (struct rest_options){
                      .http = {.cert_pem = server.cert_pem, .key_pem = server.key_pem, .client_ca_pem = ca.cert_pem}});
    talk_expect(ask_by_tls(&stage.talk, &client, GET("/who")), "[ann tls=1 unix=0 system:masters team-a] 127.0.0.1:");
    talk_expect(ask_by_tls(&stage.talk, NULL, GET("/who")), "[nobody tls=1 unix=0] 127.0.0.1:");
    /* Someone else's certificate is not as good as none: it is refused. */
    assert_string_equal(ask_by_tls(&stage.talk, &stranger, GET("/who")), "");
    talk_stop(&stage.talk);
    cert_done(&ca);
    cert_done(&other_ca);
    cert_done(&server);
    cert_done(&client);
    cert_done(&stranger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_the_program_is_sent_once),
        cmocka_unit_test(handlers_get_decoded_parameters),
        cmocka_unit_test(requests_without_a_row_are_refused),
        cmocka_unit_test(the_owner_decides_who_may),
        cmocka_unit_test(bodies_have_a_type_and_a_size),
        cmocka_unit_test(a_refusal_keeps_the_connection_where_it_can),
        cmocka_unit_test(a_route_has_a_limit_of_its_own),
        cmocka_unit_test(errors_have_the_form_that_the_owner_chose),
        cmocka_unit_test(codes_have_a_status),
        cmocka_unit_test(a_certificate_says_who_asks),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
