# A server that stands still every 7 seconds. Run it with: sudo unshare -n sh dip.sh
ip link set lo up
plimsoll target --listen 127.0.0.1:8080 --stall-every 7s --stall-for 800ms > /dev/null &
trap "kill $!" EXIT
sleep 1
plimsoll run http://127.0.0.1:8080/healthz -R 500 -c 20 -d 30s --out out
plimsoll explain out
