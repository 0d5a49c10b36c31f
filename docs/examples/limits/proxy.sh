# nginx with room for 100 connections, and 300 users. Run it with: sudo unshare -n sh proxy.sh
ip link set lo up
cat > nginx.conf <<X
daemon off; user root; worker_processes 1; pid nginx.pid; error_log error.log;
events { worker_connections 100; }
http {
  access_log off; client_body_temp_path body; proxy_temp_path proxy;
  fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {
    listen 127.0.0.1:8081;
    location / { proxy_pass http://127.0.0.1:8080; }
    location /stub_status { stub_status; }
  }
}
X
plimsoll target --listen 127.0.0.1:8080 > /dev/null &
api=$!
nginx -p . -c "$PWD/nginx.conf" -e error.log &
trap "kill $api $!" EXIT
sleep 1
plimsoll run http://127.0.0.1:8081/delay/20ms -c 300 --pace 100ms -d 8s --out out \
  --observe proxy=nginx:http://127.0.0.1:8081/stub_status,log="$PWD/error.log"
plimsoll explain out
