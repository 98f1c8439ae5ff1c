package dev.isola.provider.oci;

import dev.isola.codec.json.Json;
import dev.isola.host.launch.Containment;
import dev.isola.host.launch.Isolator;
import dev.isola.host.launch.Isolator.StagedSandbox;
import dev.isola.host.launch.SandboxKernel;
import dev.isola.host.launch.SandboxUserIds;
import dev.isola.host.launch.SystemCalls;
import dev.isola.spi.spec.NetworkMode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The {@code config.json} of a sandbox's OCI bundle. It has no limits, because the launcher has
 * already joined the sandbox's control groups. Its seccomp filter is that of the agent without the
 * additions for a single sandbox, so that it applies from the first instruction, independently of
 * the agent.
 */
final class OciBundle {
  private static final int TTY = 5;
  private static final int ENOSYS = 38;

  /** As many files as pages: an empty file takes no page, but kernel memory. */
  private static final String SIZE = "size=65536k";

  private static final String FILES = "nr_inodes=16384";

  private OciBundle() {}

  /**
   * @param readOnly whether the runtime makes the root read-only
   * @param mounts mounts in addition to the default ones
   * @param kernel on that of the host, the runtime installs a seccomp filter and joins the user
   *     namespace that the launcher limited
   * @param users whether the runtime enters a user namespace; otherwise it is already in it
   */
  static String of(
      StagedSandbox staged,
      boolean readOnly,
      SandboxKernel kernel,
      boolean users,
      List<Map<String, Object>> mounts) {
    return Json.text(
        ordered(
            "ociVersion",
            "1.0.2",
            "hostname",
            staged.spec().id().value(),
            "root",
            ordered("path", Isolator.STAGED_ROOT, "readonly", readOnly),
            "process",
            process(staged, kernel),
            "mounts",
            mounts(mounts),
            "linux",
            linux(staged, kernel, users)));
  }

  private static Map<String, Object> process(StagedSandbox staged, SandboxKernel kernel) {
    List<String> capabilities = new ArrayList<>(Containment.capabilities(staged.network()));
    if (staged.network() == NetworkMode.FILTERED && kernel == SandboxKernel.USER_SPACE) {
      capabilities.add(
          "CAP_NET_RAW"); // gVisor has iptables on raw sockets only; the agent drops it
    }
    return ordered(
        "terminal",
        false,
        "user",
        ordered("uid", 0, "gid", 0),
        "cwd",
        "/",
        "args",
        staged.agent(),
        "env",
        List.of("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
        "noNewPrivileges",
        true,
        "capabilities",
        ordered("bounding", capabilities, "effective", capabilities, "permitted", capabilities));
  }

  private static List<Object> mounts(List<Map<String, Object>> more) {
    List<Object> all = new ArrayList<>(usual());
    all.addAll(more);
    return all;
  }

  private static List<Object> usual() {
    return List.of(
        mount("/proc", "proc", "nosuid", "noexec", "nodev"),
        mount("/dev", "tmpfs", "nosuid", "noexec", "strictatime", "mode=755", SIZE, FILES),
        mount(
            "/dev/pts",
            "devpts",
            "nosuid",
            "noexec",
            "newinstance",
            "ptmxmode=0666",
            "mode=0620",
            "gid=" + TTY,
            "max=" + Containment.TERMINALS),
        mount("/dev/shm", "tmpfs", "nosuid", "noexec", "nodev", "mode=1777", SIZE, FILES),
        mount("/dev/mqueue", "mqueue", "nosuid", "noexec", "nodev"));
  }

  private static Map<String, Object> mount(String destination, String type, String... options) {
    return ordered(
        "destination", destination, "type", type, "source", type, "options", List.of(options));
  }

  private static Map<String, Object> linux(
      StagedSandbox staged, SandboxKernel kernel, boolean users) {
    List<Object> namespaces = new ArrayList<>();
    for (String type : List.of("pid", "mount", "ipc", "uts", "cgroup")) {
      namespaces.add(Map.of("type", type));
    }
    if (staged.network() != NetworkMode.HOST) {
      namespaces.add(Map.of("type", "network"));
    }
    Map<String, Object> linux =
        ordered(
            "namespaces",
            namespaces,
            "maskedPaths",
            Containment.MASKED,
            "readonlyPaths",
            Containment.READ_ONLY);
    if (kernel == SandboxKernel.HOST) {
      linux.put("seccomp", seccomp());
    }
    if (users) {
      namespaces.add(
          kernel == SandboxKernel.HOST
              ? ordered("type", "user", "path", Isolator.STAGED_USERS)
              : Map.of("type", "user"));
      List<Object> range =
          List.of(
              ordered(
                  "containerID",
                  0,
                  "hostID",
                  staged.users().firstId(),
                  "size",
                  SandboxUserIds.COUNT));
      linux.put("uidMappings", range);
      linux.put("gidMappings", range);
    }
    return linux;
  }

  private static Map<String, Object> seccomp() {
    List<String> names = new ArrayList<>(SystemCalls.allowed());
    names.addAll(List.of("ioctl", "personality", "socket"));
    return ordered(
        "defaultAction",
        "SCMP_ACT_ERRNO",
        "defaultErrnoRet",
        ENOSYS,
        "architectures",
        List.of(SystemCalls.architecture()),
        "syscalls",
        List.of(
            ordered("names", names, "action", "SCMP_ACT_ALLOW"),
            ordered(
                "names",
                List.of("clone", "unshare"),
                "action",
                "SCMP_ACT_ALLOW",
                "args",
                List.of(
                    ordered(
                        "index",
                        0,
                        "value",
                        SystemCalls.NAMESPACES,
                        "valueTwo",
                        0,
                        "op",
                        "SCMP_CMP_MASKED_EQ")))));
  }

  private static Map<String, Object> ordered(Object... namesAndValues) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      map.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    return map;
  }
}
