/* SPDX-License-Identifier: Apache-2.0 */

/* The client over HTTP/2, against a small server made of nghttp2 and our own TLS streams. */
#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/vec.h"
#include "net/http.h"
#include "net/loop_internal.h"
#include "net/stream_internal.h"
#include "net/test/certs.h"

enum { STREAMS_MAX = 100 };

struct world {
    struct loop *loop;
    uv_tcp_t *listener;
    SSL_CTX *tls_context;
    struct cert cert;
    VEC(struct peer *) peers;
    struct http_client *client;
    struct http_tls *tls;
    struct loop_timer timer;
    char url[64];
    int connections;
    int ended;
    int streamed;
    int expected;
    int expected_streamed;
};

/* One connection of the server. */
struct peer {
    struct world *world;
    struct stream *stream;
    nghttp2_session *session;
    VEC(int32_t) watches;
    bool is_gone;
};

static void pump(struct peer *peer)
{
    const uint8_t *bytes = NULL;

    for (ssize_t len; (len = nghttp2_session_mem_send(peer->session, &bytes)) > 0;)
        stream_write(peer->stream, (const char *)bytes, (size_t)len);
}

/* Streams named watch never end: each read gives one piece and then waits for nghttp2_session_resume_data(). */
static ssize_t give_body(nghttp2_session *session, int32_t id, uint8_t *to, size_t size, uint32_t *flags,
                         nghttp2_data_source *source, void *arg)
{
    bool *is_ready = source->ptr;

    (void)session;
    (void)id;
    (void)arg;
    assert_true(size >= 6);
    if (!is_ready) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        memcpy(to, "hello", 5);
        return 5;
    }
    if (!*is_ready)
        return NGHTTP2_ERR_DEFERRED;
    *is_ready = false;
    memcpy(to, "event\n", 6);
    return 6;
}

static bool watch_ready[STREAMS_MAX * 4];

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_len,
                     const uint8_t *value, size_t value_len, uint8_t flags, void *arg)
{
    (void)flags;
    (void)arg;
    if (name_len == 5 && memcmp(name, ":path", 5) == 0 && value_len == 6 && memcmp(value, "/watch", 6) == 0)
        (void)nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, &watch_ready[0]);
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct peer *peer = arg;
    int32_t id = frame->hd.stream_id;

    if ((frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) ||
        !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        return 0;
    bool *ready = nghttp2_session_get_stream_user_data(session, id);
    nghttp2_nv headers[] = {{(uint8_t *)(uintptr_t)":status", (uint8_t *)(uintptr_t)"200", 7, 3, 0}};

    if (ready) {
        ready = &watch_ready[((size_t)id / 2) % ARRAY_LEN(watch_ready)];
        *ready = true;
        vec_push(&peer->watches, id);
    }
    nghttp2_data_provider body = {.source.ptr = ready, .read_callback = give_body};
    return nghttp2_submit_response(session, id, headers, 1, &body);
}

static void on_peer_bytes(void *arg, const char *bytes, size_t len)
{
    struct peer *peer = arg;

    if (nghttp2_session_mem_recv(peer->session, (const uint8_t *)bytes, len) < 0) {
        peer->is_gone = true;
        stream_free(peer->stream);
        return;
    }
    pump(peer);
}

static void on_peer_end(void *arg, bool is_broken)
{
    struct peer *peer = arg;

    (void)is_broken;
    peer->is_gone = true;
    stream_free(peer->stream);
}

static void on_peer_drained(void *arg)
{
    (void)arg;
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct world *world = listener->data;
    struct peer *peer = xcalloc(1, sizeof *peer);
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS_MAX}};

    assert_int_equal(status, 0);
    peer->world = world;
    world->connections++;
    vec_push(&world->peers, peer);
    assert_int_equal(nghttp2_session_callbacks_new(&callbacks), 0);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    assert_int_equal(nghttp2_session_server_new(&peer->session, callbacks, peer), 0);
    nghttp2_session_callbacks_del(callbacks);
    assert_int_equal(nghttp2_submit_settings(peer->session, 0, settings, 1), 0);
    struct stream_handler handler = {
        .on_read = on_peer_bytes, .on_end = on_peer_end, .on_drain = on_peer_drained, .arg = peer};
    assert_int_equal(stream_accept(listener, world->tls_context, &handler, &peer->stream), 0);
    stream_read_start(peer->stream);
}

static int choose_h2(SSL *ssl, const unsigned char **ret_name, unsigned char *ret_len, const unsigned char *offered,
                     unsigned int len, void *arg)
{
    (void)ssl;
    (void)arg;
    return nghttp2_select_next_protocol((unsigned char **)(uintptr_t)ret_name, ret_len, offered, len) == 1
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_NOACK;
}

static void on_late(void *arg)
{
    struct world *world = arg;

    fail_msg("%d ended, %d streamed", world->ended, world->streamed);
}

static void world_init(struct world *world)
{
    struct sockaddr_in address;
    int len = sizeof address;

    *world = (struct world){.loop = loop_new()};
    memset(watch_ready, 0, sizeof watch_ready);
    cert_init(&world->cert, NULL, "server", "IP:127.0.0.1");
    assert_int_equal(stream_tls_context(world->cert.cert_pem, world->cert.key_pem, NULL, &world->tls_context, NULL), 0);
    SSL_CTX_set_alpn_select_cb(world->tls_context, choose_h2, NULL);
    world->listener = xcalloc(1, sizeof *world->listener);
    assert_int_equal(uv_tcp_init(&world->loop->uv, world->listener), 0);
    world->listener->data = world;
    assert_int_equal(uv_ip4_addr("127.0.0.1", 0, &address), 0);
    assert_int_equal(uv_tcp_bind(world->listener, (const struct sockaddr *)&address, 0), 0);
    assert_int_equal(uv_listen((uv_stream_t *)world->listener, 16, on_connection), 0);
    assert_int_equal(uv_tcp_getsockname(world->listener, (struct sockaddr *)&address, &len), 0);
    (void)snprintf(world->url, sizeof world->url, "https://127.0.0.1:%u", ntohs(address.sin_port));
    world->client = http_client_new(world->loop);
    world->tls = http_tls_new(&(struct http_tls_options){.ca_pem = world->cert.cert_pem});
    loop_timer_init(&world->timer, world->loop, on_late, world);
    loop_timer_start(&world->timer, 60 * NSEC_PER_SEC);
}

static void free_listener(uv_handle_t *handle)
{
    free(handle);
}

static void world_done(struct world *world)
{
    http_client_free(world->client);
    vec_foreach (&world->peers, at) {
        if (!(*at)->is_gone)
            stream_free((*at)->stream);
        nghttp2_session_del((*at)->session);
        vec_done(&(*at)->watches);
        free(*at);
    }
    vec_done(&world->peers);
    uv_close((uv_handle_t *)world->listener, free_listener);
    loop_timer_done(&world->timer);
    http_tls_unref(world->tls);
    loop_free(world->loop);
    SSL_CTX_free(world->tls_context);
    cert_done(&world->cert);
}

static void look(struct world *world)
{
    if (world->ended == world->expected && world->streamed == world->expected_streamed)
        loop_stop(world->loop);
}

static void on_hello(void *arg, const struct http_response *response)
{
    struct world *world = arg;

    assert_int_equal(response->err.code, 0);
    assert_int_equal(response->http_version, 2);
    assert_string_equal(response->body, "hello");
    world->ended++;
    look(world);
}

static int on_event(void *arg, const char *bytes, size_t len)
{
    struct world *world = arg;

    assert_int_equal(len % 6, 0);
    assert_memory_equal(bytes, "event\n", 6);
    world->streamed += (int)len / 6;
    look(world);
    return 0;
}

static void on_watch_end(void *arg, const struct http_response *response)
{
    struct world *world = arg;

    assert_int_equal(response->err.code, -ECONNRESET);
    world->ended++;
    look(world);
}

static struct http_call *start(struct world *world, const char *path, const char *body)
{
    char url[128];
    bool is_watch = strcmp(path, "/watch") == 0;

    (void)snprintf(url, sizeof url, "%s%s", world->url, path);
    return http_start(world->client, &(struct http_request){
                                         .method = body ? "POST" : "GET",
                                         .url = url,
                                         .tls = world->tls,
                                         .body = body,
                                         .body_len = body ? strlen(body) : 0,
                                         .body_max = 100,
                                         .on_data = is_watch ? on_event : NULL,
                                         .on_done = is_watch ? on_watch_end : on_hello,
                                         .arg = world,
                                     });
}

static void many_streams_share_a_connection(void **state)
{
    (void)state;
    struct world world;
    struct http_call *watches[60];

    world_init(&world);
    for (int i = 0; i < 60; i++)
        watches[i] = start(&world, "/watch", NULL);
    world.expected_streamed = 60;
    loop_run(world.loop);
    assert_int_equal(world.connections, 1);

    world.expected = 40;
    for (int i = 0; i < 40; i++)
        (void)start(&world, "/hello", i % 2 ? "{\"some\": \"body\"}" : NULL);
    loop_run(world.loop);
    assert_int_equal(world.connections, 1);

    /* One that is called off takes none of the others with it. */
    http_cancel(watches[7]);
    world.expected = 41;
    (void)start(&world, "/hello", NULL);
    loop_run(world.loop);
    struct peer *peer = world.peers.items[0];
    world.expected_streamed = 60 + 59;
    vec_foreach (&peer->watches, id) {
        watch_ready[((size_t)*id / 2) % ARRAY_LEN(watch_ready)] = true;
        (void)nghttp2_session_resume_data(peer->session, *id);
    }
    pump(peer);
    loop_run(world.loop);
    assert_int_equal(world.connections, 1);
    world_done(&world);
}

static void more_streams_than_the_server_allows_get_further_connections(void **state)
{
    (void)state;
    struct world world;

    world_init(&world);
    world.expected_streamed = STREAMS_MAX + 20;
    for (int i = 0; i < STREAMS_MAX + 20; i++)
        (void)start(&world, "/watch", NULL);
    loop_run(world.loop);
    assert_in_range(world.connections, 2, 1 + 20);
    world_done(&world);
}

static void a_lost_connection_ends_all_its_streams(void **state)
{
    (void)state;
    struct world world;

    world_init(&world);
    world.expected_streamed = 10;
    for (int i = 0; i < 10; i++)
        (void)start(&world, "/watch", NULL);
    loop_run(world.loop);
    world.peers.items[0]->is_gone = true;
    stream_free(world.peers.items[0]->stream);
    world.expected = 10;
    loop_run(world.loop);

    world.expected = 11;
    (void)start(&world, "/hello", NULL);
    loop_run(world.loop);
    assert_int_equal(world.connections, 2);
    world_done(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_streams_share_a_connection),
        cmocka_unit_test(more_streams_than_the_server_allows_get_further_connections),
        cmocka_unit_test(a_lost_connection_ends_all_its_streams),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
