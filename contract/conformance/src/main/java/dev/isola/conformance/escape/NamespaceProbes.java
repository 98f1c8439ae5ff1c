package dev.isola.conformance.escape;

import static dev.isola.conformance.escape.EscapeProbe.Topic.NAMESPACES;

import java.util.List;

/** Probes that a sandbox has its own namespaces and cannot create, enter or change any. */
final class NamespaceProbes {
  private static final String FOLDER = "isola-probe-folder";

  private NamespaceProbes() {}

  static List<EscapeProbe> all() {
    return List.of(
        namespace("pidNamespaceIsItsOwn", "pid", "the host's process ids"),
        namespace("mountNamespaceIsItsOwn", "mnt", "the host's mounts"),
        namespace("networkNamespaceIsItsOwn", "net", "the host's network").onlyOffline(),
        namespace("ipcNamespaceIsItsOwn", "ipc", "the host's shared memory and queues"),
        namespace("utsNamespaceIsItsOwn", "uts", "the host's name"),
        namespace("userNamespaceIsItsOwn", "user", "the host's users")
            .withNeed(EscapeProbe.Need.USERS),
        namespace("cgroupNamespaceIsItsOwn", "cgroup", "the host's control groups")
            .withNeed(EscapeProbe.Need.CONTROL_GROUPS),
        privilege(
            "userNamespaceIsNotMade", "all capabilities, in a nested namespace", "user-namespace"),
        privilege("namespacesAreNotMade", "a nested namespace", "namespaces"),
        EscapeProbe.ofKernel(
                "namespacesAreNotEntered",
                NAMESPACES,
                "the namespaces of another process",
                "enter",
                "all")
            .withControl(context -> List.of("enter", context.one("pid"))),
        privilege("nothingIsMounted", "a mount", "mount", FOLDER),
        privilege("nothingIsMountedByNewerCalls", "a mount, by fsopen or open_tree", "mount-calls"),
        privilege("nothingIsUnmounted", "the files beneath a mount", "unmount", FOLDER),
        privilege("nothingIsRemounted", "write access to a read-only mount", "remount", FOLDER),
        privilege("rootIsNotPivoted", "another root", "pivot-root"),
        privilege("controlGroupsAreNotChanged", "its own limits", "control-groups"),
        privilege(
            "releaseAgentIsNotSet",
            "a program that the host runs when a control group empties",
            "release-agent",
            FOLDER));
  }

  private static EscapeProbe namespace(String name, String kind, String target) {
    return EscapeProbe.of(
        name,
        NAMESPACES,
        target,
        context ->
            List.of("namespace", kind, context.one("namespace-" + kind), context.one("boot")));
  }

  private static EscapeProbe privilege(String name, String target, String... program) {
    return EscapeProbe.ofKernel(name, NAMESPACES, target, program);
  }
}
