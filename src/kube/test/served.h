/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A client of a scripted server in the same process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kube/access/config.h"
#include "kube/client/client.h"
#include "net/loop.h"
#include "net/rest/rest.h"

/* Serves `set` on a free port of 127.0.0.1. The server and the client are the caller's to free. */
static inline struct kube_client *served_client(struct loop *loop, const struct rest_set *set,
                                                struct http_server **ret_server)
{
    struct rest_options options = {.http.address = "127.0.0.1", .sets = set, .set_count = 1};
    struct kube_config *config = NULL;
    char text[256];

    assert_int_equal(rest_server_start(loop, &options, ret_server, NULL), 0);
    (void)snprintf(text, sizeof text,
                   "current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\n"
                   "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:%u'}}]\n",
                   http_server_port(*ret_server));
    struct kube_config_text source = {.name = "config", .text = text, .len = strlen(text)};
    assert_int_equal(kube_config_parse(&source, 1, NULL, &config, NULL), 0);
    return kube_client_new(loop, config, &(struct kube_client_options){.seed = 1});
}
