# A server that closes each connection, on a machine that may remember 5,000. Run it with: sudo unshare -n sh overflow.sh
ip link set lo up
echo 5000 > /proc/sys/net/ipv4/tcp_max_tw_buckets
plimsoll target --listen 127.0.0.1:8080 --close > /dev/null &
trap "kill $!" EXIT
sleep 1
plimsoll run http://127.0.0.1:8080/healthz -R 1000 -c 20 -d 12s --out out
plimsoll explain out
