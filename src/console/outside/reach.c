/* SPDX-License-Identifier: Apache-2.0 */
#include "console/outside/reach.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"

enum { ADDRESS_BYTES = 16, V4_BITS = 96, URL_MAX = 2048, HOST_MAX = 256 };

/* Networks that are no public servers: IANA's registries of special-purpose addresses. */
static const char *const special[] = {
    "0.0.0.0/8",      "10.0.0.0/8",   "100.64.0.0/10",  "127.0.0.0/8",    "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24",   "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",  "198.51.100.0/24",
    "203.0.113.0/24", "224.0.0.0/4",  "240.0.0.0/4",    "::/128",         "::1/128",        "64:ff9b:1::/48",
    "100::/64",       "2001::/23",    "2001:db8::/32",  "2002::/16",      "fc00::/7",       "fe80::/10",
    "fec0::/10",      "ff00::/8",     "3fff::/20",      "5f00::/16",
};

/* An address of either family as 16 bytes; those of NAT64 as the IPv4 address that they stand for. */
static bool read_address(const char *text, unsigned char bytes[static ADDRESS_BYTES], bool *ret_is_v4)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

    memcpy(bytes, mapped, sizeof mapped);
    *ret_is_v4 = inet_pton(AF_INET, text, bytes + sizeof mapped) == 1;
    return *ret_is_v4 || inet_pton(AF_INET6, text, bytes) == 1;
}

static void unwrap(unsigned char bytes[static ADDRESS_BYTES])
{
    static const unsigned char nat64[12] = {0x00, 0x64, 0xff, 0x9b};
    static const unsigned char compatible[12] = {0};

    if (memcmp(bytes, nat64, sizeof nat64) == 0 ||
        (memcmp(bytes, compatible, sizeof compatible) == 0 && (bytes[12] || bytes[13] || bytes[14] || bytes[15] > 1))) {
        memset(bytes, 0, 12);
        bytes[10] = bytes[11] = 0xff;
    }
}

static int read_network(const char *text, struct reach_network *ret_network, struct err *err)
{
    char address[64];
    size_t len = strcspn(text, "/");
    bool is_v4 = false;
    char *end = NULL;
    long bits;

    if (len < sizeof address) {
        (void)snprintf(address, sizeof address, "%.*s", (int)len, text);
        if (read_address(address, ret_network->bytes, &is_v4)) {
            bits = text[len] ? strtol(text + len + 1, &end, 10) : is_v4 ? 32 : 128;
            if ((!end || (end != text + len + 1 && !*end)) && bits >= 0 && bits <= (is_v4 ? 32 : 128)) {
                ret_network->bits = (unsigned)bits + (is_v4 ? V4_BITS : 0);
                return 0;
            }
        }
    }
    return err_set(err, -EINVAL,
                   "'%.60s' is not a network: expected an address and bits such as 10.0.0.0/8 or fd00::/8", text);
}

int reach_parse(const char *text, struct reach *ret_reach, struct err *err)
{
    char one[64];

    *ret_reach = (struct reach){0};
    while (*text) {
        size_t len = strcspn(text, ",");

        if (ret_reach->count == REACH_NETWORKS_MAX)
            return err_set(err, -EINVAL, "more than %d networks", REACH_NETWORKS_MAX);
        (void)snprintf(one, sizeof one, "%.*s", (int)(len < sizeof one ? len : sizeof one - 1), text);
        int r = read_network(one, &ret_reach->networks[ret_reach->count], err);
        if (r < 0)
            return r;
        ret_reach->count++;
        text += len + (text[len] == ',');
    }
    return 0;
}

static bool is_in(const unsigned char bytes[static ADDRESS_BYTES], const struct reach_network *network)
{
    unsigned whole = network->bits / 8;
    unsigned char mask = (unsigned char)(0xff00u >> (network->bits % 8));

    return memcmp(bytes, network->bytes, whole) == 0 &&
           (network->bits % 8 == 0 || ((bytes[whole] ^ network->bytes[whole]) & mask) == 0);
}

static bool allows(const struct reach *reach, unsigned char bytes[static ADDRESS_BYTES], bool is_plain)
{
    unwrap(bytes);
    for (size_t i = 0; i < reach->count; i++) {
        if (is_in(bytes, &reach->networks[i]))
            return true;
    }
    if (is_plain)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(special); i++) {
        struct reach_network network;
        struct err err = {0};

        BUG_ON(read_network(special[i], &network, &err) < 0);
        if (is_in(bytes, &network))
            return false;
    }
    return true;
}

bool reach_allows(const struct reach *reach, const struct sockaddr *address, bool is_plain)
{
    unsigned char bytes[ADDRESS_BYTES] = {[10] = 0xff, [11] = 0xff};
    const unsigned char *raw = (const unsigned char *)address;

    if (address->sa_family == AF_INET)
        memcpy(bytes + 12, raw + offsetof(struct sockaddr_in, sin_addr), 4);
    else if (address->sa_family == AF_INET6)
        memcpy(bytes, raw + offsetof(struct sockaddr_in6, sin6_addr), sizeof bytes);
    else
        return false;
    return allows(reach, bytes, is_plain);
}

bool reach_allows_tls(void *reach, const struct sockaddr *address)
{
    return reach_allows(reach, address, false);
}

bool reach_allows_plain(void *reach, const struct sockaddr *address)
{
    return reach_allows(reach, address, true);
}

static bool is_printable(const char *text)
{
    for (; *text; text++) {
        if (*text <= ' ' || *text >= 0x7f)
            return false;
    }
    return true;
}

int reach_check_url(const struct reach *reach, const char *url, struct err *err)
{
    bool is_plain = strncmp(url, "http://", 7) == 0;
    const char *host = url + (is_plain ? 7 : 8);
    unsigned char bytes[ADDRESS_BYTES];
    char text[HOST_MAX];
    bool is_v4;

    if ((!is_plain && strncmp(url, "https://", 8) != 0) || strlen(url) > URL_MAX || !is_printable(url))
        return err_set(err, -EINVAL, "'%.100s' is not a URL that begins with https://", url);
    size_t len = strcspn(host, "/?#");
    if (memchr(host, '@', len) || memchr(host, '\\', len))
        return err_set(err, -EINVAL, "'%.100s': a URL with a user is not allowed", url);
    if (*host == '[') {
        host++;
        len = strcspn(host, "]");
    } else {
        len = strcspn(host, ":/?#");
    }
    if (len == 0 || len >= sizeof text)
        return err_set(err, -EINVAL, "'%.100s' has no host", url);
    (void)snprintf(text, sizeof text, "%.*s", (int)len, host);
    if (read_address(text, bytes, &is_v4) && !allows(reach, bytes, is_plain))
        return err_set(err, -EINVAL,
                       "'%.100s': the address is not allowed: an administrator lists its network with --allow-networks",
                       url);
    return 0;
}
