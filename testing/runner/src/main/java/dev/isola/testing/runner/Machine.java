package dev.isola.testing.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Names what builds and tests find on this machine. */
final class Machine {
  private static final List<String> BUILD_TOOLS = List.of("cc", "ld", "make", "mvn");

  private static final List<String> TEST_TOOLS =
      List.of(
          ("bwrap crun runc runsc dockerd containerd podman conmon skopeo qemu-system-x86_64"
                  + " qemu-system-aarch64 qemu-aarch64 aarch64-linux-gnu-gcc firecracker proot"
                  + " node npm python3 git tmux bash busybox ip nft slirp4netns newuidmap"
                  + " mkfs.erofs lz4 chromium setpriv sudo restic psql openssl curl ssh sshd go"
                  + " mmdebstrap debootstrap")
              .split(" "));

  private Machine() {}

  static String buildTools(Path jdk) throws IOException {
    return Files.readString(jdk.resolve("release"))
        + System.getProperty("os.arch")
        + programs(BUILD_TOOLS);
  }

  /**
   * Returns the text for tests: programs, kernel, user, control groups, and what tests are told.
   */
  static String all(Path jdk) throws IOException {
    Map<String, String> told = new TreeMap<>();
    System.getenv()
        .forEach(
            (name, value) -> {
              if (name.startsWith("ISOLA_")) {
                told.put(name, value);
              }
            });
    return String.join(
        "\n",
        buildTools(jdk),
        programs(TEST_TOOLS),
        Files.readString(Path.of("/proc/version")),
        Files.readString(Path.of("/proc/self/cgroup")).replaceAll("[0-9]{2,}", "N"),
        "cgroup v2: " + Files.exists(Path.of("/sys/fs/cgroup/cgroup.controllers")),
        "kvm: " + Files.isWritable(Path.of("/dev/kvm")),
        System.getProperty("user.name"),
        told.toString());
  }

  /** Returns the program that a command name stands for. */
  static Optional<Path> program(String name) {
    String path = Optional.ofNullable(System.getenv("PATH")).orElse("/usr/bin:/bin");
    return Stream.concat(Stream.of(path.split(":")), Stream.of("/usr/sbin", "/sbin"))
        .map(folder -> Path.of(folder, name))
        .filter(Files::isExecutable)
        .findFirst();
  }

  private static String programs(List<String> names) throws IOException {
    StringBuilder text = new StringBuilder();
    for (String name : names) {
      Optional<Path> program = program(name);
      text.append(name).append(' ');
      if (program.isPresent()) {
        Path real = program.orElseThrow().toRealPath();
        text.append(real)
            .append(' ')
            .append(Files.size(real))
            .append(' ')
            .append(Files.getLastModifiedTime(real).toMillis());
      }
      text.append('\n');
    }
    return text.toString();
  }
}
