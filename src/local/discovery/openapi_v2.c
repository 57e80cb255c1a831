/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The description of the API in the form of OpenAPI 2, which came before. Kinds are described in OpenAPI 3 alone, and this
 * document has none of them: kubectl reads it, in protobuf, before it sends the objects of a List, and takes a kind that is not
 * in it to be right. The server checks the objects anyway.
 */
#include <string.h>

#include "local/server/routes.h"

#define TITLE "Muster"
#define VERSION "v1.36.0"

void serve_openapi_v2(void *arg, struct http_exchange *exchange)
{
    static const char text[] = "{\"swagger\":\"2.0\",\"info\":{\"title\":\"" TITLE "\",\"version\":\"" VERSION
                               "\"},\"paths\":{},\"definitions\":{}}";
    /* The same as the message Document: swagger is field 1, info is field 2 with the fields title and version. */
    static const char message[] = "\x0a\x03"
                                  "2.0"
                                  "\x12\x11\x0a\x06" TITLE "\x12\x07" VERSION;
    const char *accept = http_exchange_header(exchange, "Accept");

    (void)arg;
    http_reply_header(exchange, "Vary", "Accept");
    if (accept && strstr(accept, "proto-openapi.spec.v2"))
        http_reply(exchange, 200, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf", message,
                   sizeof message - 1);
    else
        http_reply(exchange, 200, "application/json", text, sizeof text - 1);
}
