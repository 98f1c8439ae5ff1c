#!/bin/sh
# Runs the control plane and the nodes of a test cluster: sh node.sh FOLDER PROGRAMS GROUPS ADDRESS NODES RUNC
# testing/cluster-here.sh runs it as process 1 of new namespaces and gives it the device eth0.
set -eu
work=$1
programs=$2
groups=$3
address=$4
nodes=$5
runc=$6
here=$(dirname "$(readlink -f "$0")")
export PATH="$programs:$PATH" HOME="$work/home"
mkdir -p "$work/home" "$work/pki" "$work/volumes"

mount --make-rshared /
mount -t tmpfs run /run
mount -t tmpfs log /var/log
mount -t tmpfs lib /var/lib
mkdir "$work/etcd"
mount -t tmpfs etcd "$work/etcd"
# The provisioner of the controller manager makes volumes here.
mount --bind "$work/volumes" /tmp/hostpath_pv
hostname node1
ip link set lo up
while ! ip link show eth0 >/dev/null 2>&1; do sleep 0.01; done
ip address add "$address/30" dev eth0
ip link set eth0 up
ip route add default via "${address%.*}.1"

# certificate NAME SUBJECT [EXTENSION]: a key and a certificate of the cluster's authority.
cd "$work/pki"
openssl ecparam -name prime256v1 -genkey -noout -out ca.key
openssl req -x509 -new -key ca.key -subj /CN=isola-test -days 2 -out ca.crt
certificate() {
  openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"
  printf '%s\n' "${3:-extendedKeyUsage=clientAuth}" >"$1.ext"
  openssl req -new -key "$1.key" -subj "$2" |
    openssl x509 -req -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile "$1.ext" -out "$1.crt" 2>/dev/null
}
certificate apiserver /CN=kube-apiserver \
  "subjectAltName=IP:$address,IP:127.0.0.1,IP:10.96.0.1,DNS:kubernetes,DNS:kubernetes.default.svc"
certificate admin /O=system:masters/CN=admin
for number in $(seq "$nodes"); do
  certificate "node$number" "/O=system:nodes/CN=system:node:node$number"
done
openssl ecparam -name prime256v1 -genkey -noout -out accounts.key
openssl ec -in accounts.key -pubout -out accounts.pub 2>/dev/null

# kubeconfig FILE USER: in one file without references.
kubeconfig() {
  cat >"$1" <<END
apiVersion: v1
kind: Config
current-context: test
contexts:
- name: test
  context: {cluster: test, user: test}
clusters:
- name: test
  cluster:
    server: https://$address:6443
    certificate-authority-data: $(base64 -w0 ca.crt)
users:
- name: test
  user:
    client-certificate-data: $(base64 -w0 "$2.crt")
    client-key-data: $(base64 -w0 "$2.key")
END
}
kubeconfig "$work/kubeconfig" admin
for number in $(seq "$nodes"); do
  kubeconfig "$work/node$number.kubeconfig" "node$number"
done

cd "$work"
etcd --data-dir "$work/etcd/data" --unsafe-no-fsync --listen-client-urls http://127.0.0.1:2379 \
  --advertise-client-urls http://127.0.0.1:2379 --listen-peer-urls http://127.0.0.1:2380 >etcd.log 2>&1 &
kube-apiserver --etcd-servers http://127.0.0.1:2379 --advertise-address "$address" --allow-privileged \
  --authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction --service-cluster-ip-range 10.96.0.0/16 \
  --tls-cert-file pki/apiserver.crt --tls-private-key-file pki/apiserver.key --client-ca-file pki/ca.crt \
  --kubelet-client-certificate pki/admin.crt --kubelet-client-key pki/admin.key \
  --kubelet-preferred-address-types InternalIP --service-account-issuer https://kubernetes.default.svc \
  --service-account-key-file pki/accounts.pub --service-account-signing-key-file pki/accounts.key \
  --cert-dir pki >apiserver.log 2>&1 &
sh "$here/worker.sh" "$work" "$programs" "$groups" "$address" node1 1 "$runc" 2>"$work/worker-node1.log" &
for number in $(seq 2 "$nodes"); do
  between=172.31.$((240 + number))
  unshare --mount --net --uts \
    sh "$here/worker.sh" "$work" "$programs" "$groups" "$between.2" "node$number" "$number" "$runc" \
    2>"$work/worker-node$number.log" &
  worker=$!
  # Until the namespace is a new one, the device would move into that of this process.
  while [ "$(readlink /proc/$worker/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
  ip link add "node$number" type veth peer name eth0 netns "$worker"
  ip address add "$between.1/30" dev "node$number"
  ip link set "node$number" up
  # The pods of the other nodes; these nodes reach everything by this one.
  [ -z "${ISOLA_CLUSTER_PROXY:-}" ] || ip route add "10.244.$number.0/24" via "$between.2"
done
while ! kubectl --kubeconfig kubeconfig get --raw /readyz >/dev/null 2>&1; do sleep 0.1; done
kube-controller-manager --kubeconfig kubeconfig --leader-elect=false --cert-dir pki --enable-hostpath-provisioner \
  --node-monitor-grace-period 20s --node-monitor-period 1s \
  --service-account-private-key-file pki/accounts.key --root-ca-file pki/ca.crt >controller-manager.log 2>&1 &
kube-scheduler --kubeconfig kubeconfig --leader-elect=false --cert-dir pki >scheduler.log 2>&1 &
touch api-ready ready
wait
