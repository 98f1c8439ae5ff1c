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
        gate("userNamespaceIsNotMade", "all capabilities, in a nested namespace", "user-namespace"),
        gate("namespacesAreNotMade", "a nested namespace", "namespaces"),
        EscapeProbe.ofKernel(
                "namespacesAreNotEntered",
                NAMESPACES,
                "the namespaces of another process",
                "enter",
                "all")
            .withControl(scene -> List.of("enter", scene.one("pid"))),
        gate("nothingIsMounted", "a mount", "mount", FOLDER),
        gate("nothingIsMountedByNewerCalls", "a mount, by fsopen or open_tree", "mount-calls"),
        gate("nothingIsUnmounted", "the files beneath a mount", "unmount", FOLDER),
        gate("nothingIsRemounted", "write access to a read-only mount", "remount", FOLDER),
        gate("rootIsNotPivoted", "another root", "pivot-root"),
        gate("controlGroupsAreNotChanged", "its own limits", "control-groups"),
        gate(
            "releaseAgentIsNotSet",
            "a program that the host runs when a control group empties",
            "release-agent",
            FOLDER));
  }

  private static EscapeProbe namespace(String name, String kind, String words) {
    return EscapeProbe.of(
        name,
        NAMESPACES,
        words,
        scene -> List.of("namespace", kind, scene.one("namespace-" + kind), scene.one("boot")));
  }

  private static EscapeProbe gate(String name, String words, String... program) {
    return EscapeProbe.ofKernel(name, NAMESPACES, words, program);
  }
}
