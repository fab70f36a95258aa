#!/bin/bash
# start.sh: a real S3 server on loopback, from nothing: one Ceph monitor, one OSD, one RADOS gateway.
# Runs as root, without systemd. Prints KEY=VALUE lines on stdout, progress on stderr. End it with
# stop.sh "$RGW_DIR". Installs nothing; needs the packages ceph-mon, ceph-osd, radosgw, ceph-common
# (which has python3-rados) and curl, without their recommends.
#
#   RGW_DIR        folder for all state (default: a new one; its path must be short: unix sockets)
#   RGW_PORT       port (default: a free one)
#   RGW_STORE      memstore (up in 1.5 s, dies with its data) | bluestore (4.5 s, durable; default)
#   RGW_OSD_BYTES  size of the store (default 8 GiB, sparse)
#   RGW_ACCESS, RGW_SECRET   keys of the only user (fixed defaults: nothing here is secret)
#   RGW_BUCKET     a bucket to make (default: test)
#   RGW_THREADS    threads of the gateway (default 64)
#   RGW_OWNER_PID  stop and clean up when this process is gone (default: run until stop.sh)
set -euo pipefail
umask 022
T0=$(date +%s.%N)
say() { printf '[%6.2fs] %s\n' "$(echo "$(date +%s.%N) - $T0" | bc -l 2>/dev/null || python3 -c "import time;print(time.time()-$T0)")" "$*" >&2; }

DIR=${RGW_DIR:-$(mktemp -d /tmp/rgw.XXXXXX)}
mkdir -p "$DIR"
STORE=${RGW_STORE:-bluestore}
OSD_BYTES=${RGW_OSD_BYTES:-$((8 << 30))}
ACCESS=${RGW_ACCESS:-TESTACCESSKEY0000001}
SECRET=${RGW_SECRET:-TestSecretKey000000000000000000000000001}
THREADS=${RGW_THREADS:-64}
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PY=/usr/bin/python3   # python3-rados is built for Debian's python

free_ports() { python3 - "$1" <<'PY'
import socket,sys
s=[socket.socket() for _ in range(int(sys.argv[1]))]
for x in s: x.bind(("127.0.0.1",0))
print(*[x.getsockname()[1] for x in s])
PY
}
read -r P_MON P_RGW < <(free_ports 2)
PORT=${RGW_PORT:-$P_RGW}
FSID=$(cat /proc/sys/kernel/random/uuid)
OSDUUID=$(cat /proc/sys/kernel/random/uuid)

mkdir -p "$DIR/mon" "$DIR/osd" "$DIR/log"
cat > "$DIR/ceph.conf" <<CONF
[global]
fsid = $FSID
mon initial members = a
mon host = [v2:127.0.0.1:$P_MON/0]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv4 = true
ms bind ipv6 = false
ms bind msgr1 = false
ms bind msgr2 = true
# loopback only, throw-away cluster: no cephx, no keyrings
auth cluster required = none
auth service required = none
auth client required = none
auth supported = none
# radosgw defaults this to "secure", which auth "none" cannot do (EACCES for ever)
ms mon client mode = crc
run dir = $DIR
admin socket = $DIR/\$name.\$pid.asok
log file = $DIR/log/\$name.log
pid file = $DIR/\$name.pid
crash dir = $DIR/crash
log to stderr = false
err to stderr = true
log max recent = 100
debug mon = 0/0
debug paxos = 0/0
debug ms = 0/0
debug auth = 0/0
debug monc = 0/0
debug osd = 0/0
debug bluestore = 0/0
debug bluefs = 0/0
debug bdev = 0/0
debug rocksdb = 0/0
debug objecter = 0/0
debug rados = 0/0
debug client = 0/0
debug rgw = 0/0
debug civetweb = 0/0
debug asok = 0/0
debug lockdep = 0/0
debug context = 0/0
debug crush = 0/0
debug filestore = 0/0
debug journal = 0/0
debug objclass = 0/0
debug perfcounter = 0/0
debug throttle = 0/0
debug heartbeatmap = 0/0
debug finisher = 0/0
debug timer = 0/0
debug tp = 0/0
debug leveldb = 0/0
debug memdb = 0/0
keyring = $DIR/keyring
fatal signal handlers = true
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
mon max pg per osd = 2000

[mon]
mon data = $DIR/mon
mon cluster log file = $DIR/log/cluster.log
mon cluster log to syslog = false
mon data avail crit = 1
mon data avail warn = 2
mon osd full ratio = 0.99
mon osd nearfull ratio = 0.98
paxos propose interval = 0.02
paxos min wait = 0.01
mon osd reporter subtree level = osd
mon osd min down reporters = 1

[osd]
osd data = $DIR/osd
osd uuid = $OSDUUID
osd objectstore = $STORE
osd class load list = *
osd class default list = *
bluestore block size = $OSD_BYTES
bluestore block create = true
bluestore block preallocate file = false
bluestore fsck on mount = false
bluestore cache autotune = false
bluestore cache size = 268435456
osd memory target = 939524096
memstore device bytes = $OSD_BYTES
osd max write size = 128
osd scrub during recovery = false
osd scrub begin hour = 0
osd op num shards = 4
osd op num threads per shard = 2
osd mclock profile = high_client_ops
osd crush update on start = true
osd check for log corruption = false
osd heartbeat interval = 6

[client]
rgw frontends = beast endpoint=127.0.0.1:$PORT tcp_nodelay=1
rgw thread pool size = $THREADS
rgw data = $DIR
rgw enable usage log = false
rgw enable ops log = false
rgw enable gc threads = true
rgw gc obj min wait = 30
rgw gc processor period = 60
rgw enable lc threads = true
rgw enable quota threads = false
rgw run sync thread = false
rgw dynamic resharding = false
rgw override bucket index max shards = 1
rgw crypt require ssl = false
rgw relaxed s3 bucket names = false
rgw dns name = localhost
objecter inflight ops = 4096
CONF
: > "$DIR/keyring"
C=(-c "$DIR/ceph.conf" --no-mon-config)
MKFS=
fail() { rc=$?; set +e; [ $rc = 0 ] && return
  [ -n "$MKFS" ] && kill "$MKFS" 2>/dev/null
  echo "start.sh failed (rc $rc); last log lines:" >&2; tail -n 15 "$DIR"/log/* >&2; "$HERE/stop.sh" "$DIR" --keep; exit $rc; }
trap fail EXIT

# --- mon ---
monmaptool --create --fsid "$FSID" --addv a "[v2:127.0.0.1:$P_MON]" "$DIR/monmap" >>"$DIR/log/boot.log" 2>&1
ceph-mon "${C[@]}" -i a --mkfs --monmap "$DIR/monmap" >>"$DIR/log/boot.log" 2>&1
say "mon mkfs"
setsid ceph-mon "${C[@]}" -i a -f </dev/null >>"$DIR/log/mon.out" 2>&1 &
echo $! > "$DIR/mon.sh.pid"
# --- osd mkfs does not need the mon: the id is known to be 0 on a new cluster
ceph-osd "${C[@]}" -i 0 --mkfs --osd-uuid "$OSDUUID" >>"$DIR/log/boot.log" 2>&1 &
MKFS=$!
# --- one python process does all mon commands (each 'ceph' call costs ~0.5 s)
$PY "$HERE/bootstrap.py" "$DIR/ceph.conf" "$OSDUUID" register >>"$DIR/log/boot.log" 2>&1
say "mon up, osd.0 registered"
wait $MKFS
say "osd mkfs"
setsid ceph-osd "${C[@]}" -i 0 -f </dev/null >>"$DIR/log/osd.out" 2>&1 &
echo $! > "$DIR/osd.sh.pid"
$PY "$HERE/bootstrap.py" "$DIR/ceph.conf" "$OSDUUID" pools >>"$DIR/log/boot.log" 2>&1
say "osd up, pools active"
setsid radosgw "${C[@]}" -n client.rgw -f </dev/null >>"$DIR/log/rgw.out" 2>&1 &
echo $! > "$DIR/rgw.sh.pid"
radosgw-admin "${C[@]}" -n client.adm user create --uid=test --display-name=test \
   --access-key="$ACCESS" --secret-key="$SECRET" >>"$DIR/log/boot.log" 2>&1
say "user created"
# ready = a signed request works: it makes the bucket (x-amz-content-sha256 must be given to curl 7.88)
BUCKET=${RGW_BUCKET:-test}; up=0
for i in $(seq 1 400); do
  code=$(curl -s -o /dev/null --max-time 5 -w '%{http_code}' -X PUT --aws-sigv4 aws:amz:us-east-1:s3 --user "$ACCESS:$SECRET" \
    -H 'x-amz-content-sha256: UNSIGNED-PAYLOAD' "http://127.0.0.1:$PORT/$BUCKET" || true)
  [ "$code" = 200 ] && { up=1; break; }
  kill -0 "$(cat "$DIR/rgw.sh.pid")" 2>/dev/null || { echo "radosgw died" >&2; exit 1; }
  sleep 0.05
done
[ $up = 1 ] || { echo "radosgw not ready, last code $code" >&2; exit 1; }
say "first signed S3 request answered"
# Whatever ends the owner, also SIGKILL or a time limit, ends the server.
if [ -n "${RGW_OWNER_PID:-}" ]; then
  setsid bash -c "while kill -0 '$RGW_OWNER_PID' 2>/dev/null && [ -d '$DIR' ]; do sleep 0.5; done
    [ ! -d '$DIR' ] || '$HERE/stop.sh' '$DIR'" </dev/null >/dev/null 2>&1 &
fi
cat <<OUT
RGW_DIR=$DIR
RGW_ENDPOINT=http://127.0.0.1:$PORT
RGW_REGION=us-east-1
RGW_BUCKET=$BUCKET
RGW_ACCESS=$ACCESS
RGW_SECRET=$SECRET
OUT
