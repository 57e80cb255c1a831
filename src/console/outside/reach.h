/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"

struct err;
struct sockaddr;

/*
 * Which servers the console calls when a user gives the address. Without this, a user could make the console read a cloud's
 * metadata service or a service of the company's network. Only public addresses are called, and only by https:; networks that
 * the administrator lists with --allow-networks are called as well, also by http:.
 */
enum { REACH_NETWORKS_MAX = 32 };

struct reach {
    struct reach_network {
        unsigned char bytes[16];  // IPv4 as ::ffff:a.b.c.d
        unsigned bits;
    } networks[REACH_NETWORKS_MAX];
    size_t count;
};

/* "10.0.0.0/8,fd00::/8", or addresses; "" for none. Returns 0 or -EINVAL. */
MUST_CHECK int reach_parse(const char *text, struct reach *ret_reach, struct err *err);

bool reach_allows(const struct reach *reach, const struct sockaddr *address, bool is_plain);

/* http_address_fn with a struct reach as their argument: for https:, and for http:. */
bool reach_allows_tls(void *reach, const struct sockaddr *address);
bool reach_allows_plain(void *reach, const struct sockaddr *address);

/* Whether a text is an http: or https: URL without user and password, and its host, where that is an address, is allowed. Names
 * are looked at when they are resolved. Returns 0 or -EINVAL. */
MUST_CHECK int reach_check_url(const struct reach *reach, const char *url, struct err *err);
