# Runs the Podman service with private storage and settings: sh podman.sh FOLDER
# Run it as process 1 of new pid, mount and network namespaces. It listens on FOLDER/docker.sock.
work=$1
cd "$work" || exit 1 # conmon leaves a file "oom" where it runs
ip link set lo up
cat >"$work/storage.conf" <<CONF
[storage]
driver = "overlay"
runroot = "$work/run"
graphroot = "$work/graph"
CONF
# Podman fails to start containers if the hard limit of descriptors is below its default.
cat >"$work/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "file"
lock_type = "file"
tmp_dir = "$work/tmp"
static_dir = "$work/static"
volume_path = "$work/volumes"
[network]
network_config_dir = "$work/networks"
CONF
export CONTAINERS_STORAGE_CONF="$work/storage.conf" CONTAINERS_CONF="$work/containers.conf"
podman system service --time=0 "unix://$work/docker.sock" >>"$work/log" 2>&1
