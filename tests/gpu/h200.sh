#!/bin/sh
# Fences on a real GPU: tests/gpu/h200.sh [NAME...]
#
# Builds what it needs into a folder of its own, and prints a table at the end: one row for each measurement, with what was
# found. Without names all of them run, in about half an hour. The GPU's settings are never changed, and no more managed
# memory is asked for than there is.
#
# The library with a daemon of the tests, built with gcc alone:
#   resolve   every hooked name by dlsym and by the driver's lookup, and forks, through both doors (half a minute)
#   limits    every way to take memory, refused at the limit, through both doors (two minutes)
#   torch     PyTorch sees the limit, runs out of memory, goes on; through both doors (one minute)
#
# Everything as it is used, from the folder PACK (build/h200), which tests/gpu/h200/pack makes from a build and which may be
# made elsewhere; where it is missing it is made here. h200/fence.py and h200/compute.py say more:
#   start crowd neighbour kills restart burst metrics overhead  what tenants notice of each other and of the daemon
#   strict fair idle trace                                  shares of compute, SECONDS_EACH (30) seconds a window
set -u
cd "$(dirname "$0")/../.." || exit 1

OUT=${OUT_DIR:-/tmp/muster-h200}
LIMIT_MIB=${LIMIT_MIB:-8192}
CONTEXT_MIB=${CONTEXT_MIB:-512}
PACK=${PACK:-build/h200}
TABLE=$OUT/table.txt
mkdir -p "$OUT/A" "$OUT/socket" /run/muster/gpu
: >"$TABLE"

row() {
    printf '%-34s %s\n' "$1" "$2" | tee -a "$TABLE"
}

build() {
    flags="-std=gnu17 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Isrc -fvisibility=hidden"
    core="src/gpu/protocol/message.c"
    # All folders of the library but its tests.
    for file in src/gpu/tenant/*.c src/gpu/tenant/[!t]*/*.c; do
        case $file in */door_*) ;; *) core="$core $file" ;; esac
    done
    shared="-fPIC -shared -Wl,-Bsymbolic -Wl,--no-as-needed -l:libdl.so.2"
    # shellcheck disable=SC2086
    gcc $flags -o "$OUT/libmuster-gpu.so" $core src/gpu/tenant/door_preload.c $shared \
        -Wl,-soname,libmuster-gpu.so -Wl,--version-script=src/gpu/tenant/preload.map &&
        gcc $flags -o "$OUT/A/libmuster-gpu-core.so" $core $shared \
            -Wl,-soname,libmuster-gpu-core.so -Wl,--version-script=src/gpu/tenant/core.map || return 1
    for pair in "libcuda.so.1 libmuster-driver-cuda.so.1" "libnvidia-ml.so.1 libmuster-driver-nvml.so.1"; do
        ours=${pair% *} theirs=${pair#* }
        real=$(ldconfig -p | awk -v name="$ours" '$1 == name { print $NF; exit }')
        # An empty library of that name to link with, then the driver's own file in its place.
        gcc -fPIC -shared -o "$OUT/A/$theirs" src/gpu/tenant/door_proxy.c -Wl,-soname,"$theirs" &&
            gcc -fPIC -shared -o "$OUT/A/$ours" src/gpu/tenant/door_proxy.c -Wl,-soname,"$ours" \
                -Wl,-rpath,"\$ORIGIN" -Wl,--no-as-needed "$OUT/A/libmuster-gpu-core.so" "$OUT/A/$theirs" &&
            rm "$OUT/A/$theirs" && cp "$(readlink -f "$real")" "$OUT/A/$theirs" || return 1
    done
    # shellcheck disable=SC2086
    gcc $flags -o "$OUT/gpu-ledger" tests/gpu/ledger.c src/gpu/protocol/message.c &&
        gcc $flags -o "$OUT/gpu-tenant" tests/gpu/tenant/*.c -ldl -lpthread
}

# The daemon of the tests, for door A where containers have it.
start_ledger() {
    uuid=$(nvidia-smi -L | sed -n '1s/.*UUID: GPU-\([0-9a-f-]*\).*/\1/p' | tr -d -)
    "$OUT/gpu-ledger" "$1" $((LIMIT_MIB << 20)) $((CONTEXT_MIB << 20)) "$uuid" "${2:-67108864}" >"$OUT/ledger.log" &
    ledger=$!
    while ! grep -q ready "$OUT/ledger.log"; do sleep 0.1; done
}

stop_ledger() {
    kill "$ledger"
    wait "$ledger"
    tail -1 "$OUT/ledger.log"
}

baseline() {
    nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits | head -1
}

# through DOOR COMMAND...: runs it as a tenant.
through() {
    door=$1
    shift
    if [ "$door" = B ]; then
        MUSTER_GPU_SOCKET=$OUT/socket/tenant.sock LD_PRELOAD=$OUT/libmuster-gpu.so "$@"
    else
        LD_LIBRARY_PATH=$OUT/A:${LD_LIBRARY_PATH:-} "$@"
    fi
}

socket_of() {
    if [ "$1" = B ]; then echo "$OUT/socket/tenant.sock"; else echo /run/muster/gpu/tenant.sock; fi
}

# cases NAME CASE...: cases of gpu-tenant through both doors.
cases() {
    name=$1
    shift
    for door in B A; do
        start_ledger "$(socket_of $door)" 0
        for case in "$@"; do
            log=$OUT/$name-$door-$case.log
            TEST_LIMIT=$((LIMIT_MIB << 20)) TEST_BASELINE_MIB=$(baseline) \
                through "$door" timeout 120 "$OUT/gpu-tenant" "$case" >"$log" 2>&1
            status=$?
            grep -E '^not ok|^#' "$log" | sed "s,^,$door $case: ,"
            row "$name $case, door $door" \
                "$(grep -c '^ok' "$log") held, $(grep -c '^not ok' "$log") did not, status $status"
        done
        row "$name ledger, door $door" "$(stop_ledger)"
    done
}

run_torch() {
    for door in B A; do
        start_ledger "$(socket_of $door)"
        TEST_LIMIT=$((LIMIT_MIB << 20)) through "$door" timeout 180 python3 tests/gpu/h200/torch_limit.py \
            >"$OUT/torch-$door.log" 2>&1
        status=$?
        cat "$OUT/torch-$door.log"
        row "torch, door $door" "$(tail -1 "$OUT/torch-$door.log"), status $status"
        through "$door" nvidia-smi --query-gpu=memory.total,memory.used --format=csv,noheader >"$OUT/smi-$door.log" 2>&1
        row "nvidia-smi, door $door" "$(tail -1 "$OUT/smi-$door.log")"
        row "torch ledger, door $door" "$(stop_ledger)"
    done
}

# as_used PROGRAM NAME: a measurement of fence.py or compute.py; what it prints is its rows, and remarks.
as_used() {
    if [ ! -x "$PACK/muster" ]; then
        scripts/build build/release -Db_lto=true -Dtests=false && tests/gpu/h200/pack build/release "$PACK" || exit 1
    fi
    PYTHONUNBUFFERED=1 python3 "tests/gpu/h200/$1" "$PACK" "$2" 2>&1 | tee "$OUT/$2.log"
    grep -v '^#' "$OUT/$2.log" >>"$TABLE"
}

is_built=
[ $# -gt 0 ] || set -- resolve limits torch start crowd neighbour kills restart burst metrics overhead strict fair idle trace
for name in "$@"; do
    case $name in
    resolve | limits | torch)
        [ "$is_built" ] || build || exit 1
        is_built=yes
        ;;
    esac
    case $name in
    resolve) cases resolve names lookups ways_in untouched forks forks_of_threads ;;
    limits) cases limits info limits vmm contexts graphs ;;
    torch) run_torch ;;
    start | crowd | neighbour | kills | restart | burst | metrics | overhead) as_used fence.py "$name" ;;
    strict | fair | idle | trace) as_used compute.py "$name" ;;
    *) echo "no measurement named $name" && exit 1 ;;
    esac
done
echo
cat "$TABLE"
