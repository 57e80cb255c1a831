/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The dictionary that compressed headers of SPDY/3 begin with, by the protocol's own definition: names and values, each
 * with its length in four bytes, then numbers and words of HTTP. Both sides must have the same bytes.
 */
#define SPDY_DICTIONARY_WORDS \
    "\0\0\0\007"              \
    "options"                 \
    "\0\0\0\004"              \
    "head"                    \
    "\0\0\0\004"              \
    "post"                    \
    "\0\0\0\003"              \
    "put"                     \
    "\0\0\0\006"              \
    "delete"                  \
    "\0\0\0\005"              \
    "trace"                   \
    "\0\0\0\006"              \
    "accept"                  \
    "\0\0\0\016"              \
    "accept-charset"          \
    "\0\0\0\017"              \
    "accept-encoding"         \
    "\0\0\0\017"              \
    "accept-language"         \
    "\0\0\0\015"              \
    "accept-ranges"           \
    "\0\0\0\003"              \
    "age"                     \
    "\0\0\0\005"              \
    "allow"                   \
    "\0\0\0\015"              \
    "authorization"           \
    "\0\0\0\015"              \
    "cache-control"           \
    "\0\0\0\012"              \
    "connection"              \
    "\0\0\0\014"              \
    "content-base"            \
    "\0\0\0\020"              \
    "content-encoding"        \
    "\0\0\0\020"              \
    "content-language"        \
    "\0\0\0\016"              \
    "content-length"          \
    "\0\0\0\020"              \
    "content-location"        \
    "\0\0\0\013"              \
    "content-md5"             \
    "\0\0\0\015"              \
    "content-range"           \
    "\0\0\0\014"              \
    "content-type"            \
    "\0\0\0\004"              \
    "date"                    \
    "\0\0\0\004"              \
    "etag"                    \
    "\0\0\0\006"              \
    "expect"                  \
    "\0\0\0\007"              \
    "expires"                 \
    "\0\0\0\004"              \
    "from"                    \
    "\0\0\0\004"              \
    "host"                    \
    "\0\0\0\010"              \
    "if-match"                \
    "\0\0\0\021"              \
    "if-modified-since"       \
    "\0\0\0\015"              \
    "if-none-match"           \
    "\0\0\0\010"              \
    "if-range"                \
    "\0\0\0\023"              \
    "if-unmodified-since"     \
    "\0\0\0\015"              \
    "last-modified"           \
    "\0\0\0\010"              \
    "location"                \
    "\0\0\0\014"              \
    "max-forwards"            \
    "\0\0\0\006"              \
    "pragma"                  \
    "\0\0\0\022"              \
    "proxy-authenticate"      \
    "\0\0\0\023"              \
    "proxy-authorization"     \
    "\0\0\0\005"              \
    "range"                   \
    "\0\0\0\007"              \
    "referer"                 \
    "\0\0\0\013"              \
    "retry-after"             \
    "\0\0\0\006"              \
    "server"                  \
    "\0\0\0\002"              \
    "te"                      \
    "\0\0\0\007"              \
    "trailer"                 \
    "\0\0\0\021"              \
    "transfer-encoding"       \
    "\0\0\0\007"              \
    "upgrade"                 \
    "\0\0\0\012"              \
    "user-agent"              \
    "\0\0\0\004"              \
    "vary"                    \
    "\0\0\0\003"              \
    "via"                     \
    "\0\0\0\007"              \
    "warning"                 \
    "\0\0\0\020"              \
    "www-authenticate"        \
    "\0\0\0\006"              \
    "method"                  \
    "\0\0\0\003"              \
    "get"                     \
    "\0\0\0\006"              \
    "status"                  \
    "\0\0\0\006"              \
    "200 OK"                  \
    "\0\0\0\007"              \
    "version"                 \
    "\0\0\0\010"              \
    "HTTP/1.1"                \
    "\0\0\0\003"              \
    "url"                     \
    "\0\0\0\006"              \
    "public"                  \
    "\0\0\0\012"              \
    "set-cookie"              \
    "\0\0\0\012"              \
    "keep-alive"              \
    "\0\0\0\006"              \
    "origin"

#define SPDY_DICTIONARY_TEXT                                                                           \
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 No" \
    "n-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403" \
    " Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service UnavailableJan Fe" \
    "b Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunke" \
    "d,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/" \
    "javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."

/* Without the NUL that ends a text in C. */
#define SPDY_DICTIONARY SPDY_DICTIONARY_WORDS SPDY_DICTIONARY_TEXT
#define SPDY_DICTIONARY_LEN (sizeof(SPDY_DICTIONARY) - 1)
