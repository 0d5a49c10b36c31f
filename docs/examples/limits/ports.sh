# A machine with 100 local ports, 90 of which another program holds. Run it with: sudo unshare -n sh ports.sh
ip link set lo up
echo '40000 40099' > /proc/sys/net/ipv4/ip_local_port_range
plimsoll target --listen 127.0.0.1:8080 > /dev/null &
server=$!
sleep 1
plimsoll run -q -c 90 --think 9s -d 9s http://127.0.0.1:8080/healthz --out held > /dev/null &
trap "kill $server $!" EXIT
sleep 2
plimsoll run http://127.0.0.1:8080/delay/20ms -c 30 -d 4s --out out
plimsoll explain out
