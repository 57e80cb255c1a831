/* SPDX-License-Identifier: Apache-2.0 */

/* IP addresses and networks. Zones and IPv4 addresses in IPv6 clothes are refused, as Kubernetes does. */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cel/library/library.h"

static bool is_mapped(const struct address *address)
{
    static const uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

    return address->len == 16 && memcmp(address->bytes, prefix, sizeof prefix) == 0;
}

static bool read_plain(struct cel_text text, struct address *ret_address)
{
    char copy[64];

    *ret_address = (struct address){0};
    if (text.len == 0 || text.len >= sizeof copy || memchr(text.bytes, '\0', text.len))
        return false;
    memcpy(copy, text.bytes, text.len);
    copy[text.len] = '\0';
    ret_address->len = strchr(copy, ':') ? 16 : 4;
    return inet_pton(ret_address->len == 16 ? AF_INET6 : AF_INET, copy, ret_address->bytes) == 1;
}

bool read_address(struct cel_text text, struct address *ret_address)
{
    return read_plain(text, ret_address) && !is_mapped(ret_address);
}

bool read_network(struct cel_text text, struct address *ret_network)
{
    const char *slash = memrchr(text.bytes, '/', text.len);
    unsigned bits = 0;

    if (!slash || !read_address((struct cel_text){text.bytes, (size_t)(slash - text.bytes)}, ret_network))
        return false;
    size_t digits = text.len - (size_t)(slash + 1 - text.bytes);
    if (digits == 0 || digits > 3 || (digits > 1 && slash[1] == '0'))
        return false;
    for (size_t i = 1; i <= digits; i++) {
        if (!isdigit((unsigned char)slash[i]))
            return false;
        bits = bits * 10 + (unsigned)(slash[i] - '0');
    }
    ret_network->bits = (uint8_t)bits;
    return bits <= ret_network->len * 8U;
}

size_t write_address(const struct address *address, char *out, size_t size)
{
    if (!inet_ntop(address->len == 16 ? AF_INET6 : AF_INET, address->bytes, out, (socklen_t)size))
        out[0] = '\0';
    return strlen(out);
}

static struct cel_value address_value(struct run *run, enum cel_kind kind, struct address address)
{
    struct address *copy = run_alloc(run, sizeof *copy);

    if (!copy)
        return stopped_value(run);
    *copy = address;
    return (struct cel_value){.kind = kind, .other = copy};
}

static struct address address_of(struct cel_value value)
{
    return *(const struct address *)value.other;
}

/* Bits behind the first `bits` become 0. */
static struct address masked_address(struct address address, unsigned bits)
{
    for (unsigned i = 0; i < address.len; i++) {
        unsigned kept = bits > 8 * i ? MIN(bits - 8 * i, 8U) : 0;
        address.bytes[i] &= (uint8_t)(0xff00U >> kept);
    }
    return address;
}

static bool covers(struct address network, struct address address)
{
    return network.len == address.len && memcmp(masked_address(network, network.bits).bytes,
                                                masked_address(address, network.bits).bytes, network.len) == 0;
}

static struct cel_value not_an_address(void)
{
    return error_value(CEL_FAILED, "IP address parse error during conversion from string");
}

static struct cel_value not_a_network(void)
{
    return error_value(CEL_FAILED, "network address parse error during conversion from string");
}

static struct cel_value ip(struct run *run, const struct cel_value *args, int count)
{
    struct address address;

    (void)count;
    return read_address(args[0].text, &address) ? address_value(run, CEL_IP, address) : not_an_address();
}

static struct cel_value is_ip(struct run *run, const struct cel_value *args, int count)
{
    struct address address;

    (void)run;
    (void)count;
    return cel_bool(read_address(args[0].text, &address));
}

static struct cel_value is_canonical(struct run *run, const struct cel_value *args, int count)
{
    struct address address;
    char out[64];

    (void)run;
    (void)count;
    if (!read_address(args[0].text, &address))
        return not_an_address();
    (void)write_address(&address, out, sizeof out);
    return cel_bool(text_equals(args[0].text, out));
}

static struct cel_value family(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return cel_int(address_of(args[0]).len == 4 ? 4 : 6);
}

/* --- Kinds of addresses --- */

static bool has_only(struct address address, uint8_t last)
{
    for (unsigned i = 0; i + 1 < address.len; i++)
        if (address.bytes[i])
            return false;
    return address.bytes[address.len - 1] == last;
}

static bool is_unspecified_address(struct address address)
{
    return has_only(address, 0);
}

static bool is_loopback_address(struct address address)
{
    return address.len == 4 ? address.bytes[0] == 127 : has_only(address, 1);
}

static bool is_multicast(struct address address)
{
    return address.len == 4 ? (address.bytes[0] & 0xf0) == 0xe0 : address.bytes[0] == 0xff;
}

static bool is_link_local_multicast_address(struct address address)
{
    if (address.len == 4)
        return address.bytes[0] == 224 && address.bytes[1] == 0 && address.bytes[2] == 0;
    return address.bytes[0] == 0xff && (address.bytes[1] & 0x0f) == 2;
}

static bool is_link_local_unicast_address(struct address address)
{
    if (address.len == 4)
        return address.bytes[0] == 169 && address.bytes[1] == 254;
    return address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80;
}

static bool is_global_unicast_address(struct address address)
{
    bool is_broadcast = address.len == 4 && memcmp(address.bytes, "\xff\xff\xff\xff", 4) == 0;

    return !is_unspecified_address(address) && !is_broadcast && !is_loopback_address(address) &&
           !is_multicast(address) && !is_link_local_unicast_address(address);
}

#define TEST(name)                                                                         \
    static struct cel_value name(struct run *run, const struct cel_value *args, int count) \
    {                                                                                      \
        (void)run;                                                                         \
        (void)count;                                                                       \
        return cel_bool(name##_address(address_of(args[0])));                              \
    }

TEST(is_unspecified)
TEST(is_loopback)
TEST(is_link_local_multicast)
TEST(is_link_local_unicast)
TEST(is_global_unicast)

/* --- Networks --- */

static struct cel_value cidr(struct run *run, const struct cel_value *args, int count)
{
    struct address network;

    (void)count;
    return read_network(args[0].text, &network) ? address_value(run, CEL_CIDR, network) : not_a_network();
}

static struct cel_value is_cidr(struct run *run, const struct cel_value *args, int count)
{
    struct address network;

    (void)run;
    (void)count;
    return cel_bool(read_network(args[0].text, &network));
}

static struct cel_value contains_ip(struct run *run, const struct cel_value *args, int count)
{
    struct address address;

    (void)run;
    (void)count;
    if (args[1].kind == CEL_IP)
        address = address_of(args[1]);
    else if (!read_address(args[1].text, &address))
        return no_overload();
    return cel_bool(covers(address_of(args[0]), address));
}

static struct cel_value contains_cidr(struct run *run, const struct cel_value *args, int count)
{
    struct address outer = address_of(args[0]);
    struct address inner;

    (void)run;
    (void)count;
    if (args[1].kind == CEL_CIDR)
        inner = address_of(args[1]);
    else if (!read_network(args[1].text, &inner))
        return not_a_network();
    return cel_bool(outer.bits <= inner.bits && covers(outer, inner));
}

static struct cel_value ip_of(struct run *run, const struct cel_value *args, int count)
{
    struct address address = address_of(args[0]);

    (void)count;
    address.bits = 0;
    return address_value(run, CEL_IP, address);
}

static struct cel_value prefix_length(struct run *run, const struct cel_value *args, int count)
{
    (void)run;
    (void)count;
    return cel_int(address_of(args[0]).bits);
}

static struct cel_value masked(struct run *run, const struct cel_value *args, int count)
{
    struct address network = address_of(args[0]);

    (void)count;
    return address_value(run, CEL_CIDR, masked_address(network, network.bits));
}

static const struct overload rows[] = {
    {"ip", "string_to_ip", "(string) net.IP", ip},
    {"ip", "cidr_ip", ".(net.CIDR) net.IP", ip_of},
    {"ip.isCanonical", "ip_is_canonical", "(string) bool", is_canonical},
    {"isIP", "is_ip", "(string) bool", is_ip},
    {"family", "ip_family", ".(net.IP) int", family},
    {"isUnspecified", "ip_is_unspecified", ".(net.IP) bool", is_unspecified},
    {"isLoopback", "ip_is_loopback", ".(net.IP) bool", is_loopback},
    {"isLinkLocalMulticast", "ip_is_link_local_multicast", ".(net.IP) bool", is_link_local_multicast},
    {"isLinkLocalUnicast", "ip_is_link_local_unicast", ".(net.IP) bool", is_link_local_unicast},
    {"isGlobalUnicast", "ip_is_global_unicast", ".(net.IP) bool", is_global_unicast},
    {"cidr", "string_to_cidr", "(string) net.CIDR", cidr},
    {"isCIDR", "is_cidr", "(string) bool", is_cidr},
    {"containsIP", "cidr_contains_ip_string", ".(net.CIDR, string) bool", contains_ip},
    {"containsIP", "cidr_contains_ip_ip", ".(net.CIDR, net.IP) bool", contains_ip},
    {"containsCIDR", "cidr_contains_cidr_string", ".(net.CIDR, string) bool", contains_cidr},
    {"containsCIDR", "cidr_contains_cidr", ".(net.CIDR, net.CIDR) bool", contains_cidr},
    {"prefixLength", "cidr_prefix_length", ".(net.CIDR) int", prefix_length},
    {"masked", "cidr_masked", ".(net.CIDR) net.CIDR", masked},
};

const struct overload_table network_table = {rows, ARRAY_LEN(rows)};
