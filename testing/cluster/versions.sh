# The versions of a test cluster's parts, as Go modules name them. Sourced by testing/cluster-here.sh and build.sh.
KUBERNETES=v1.36.3
CONTAINERD=v2.4.2
CNI=v1.9.1
RUNC=v1.5.2
AGENT_SANDBOX=v1.0.3
GVISOR=v0.0.0-20260905035102-160fafc42237
CLUSTER_VERSION=kubernetes-$KUBERNETES-containerd-$CONTAINERD-gvisor-${GVISOR##*-}-cni-$CNI-proxy
