package dev.isola.host.image;

import dev.isola.link.MachineArchitecture;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;

/** CPU architectures in OCI notation. */
final class Architecture {
  static final String UNKNOWN = "unknown";

  /** Programs of which most images have at least one; its ELF header reveals the architecture. */
  private static final List<String> PROGRAMS =
      List.of(
          "usr/bin/dash",
          "usr/bin/bash",
          "bin/dash",
          "bin/bash",
          "bin/busybox",
          "usr/bin/busybox",
          "usr/bin/env",
          "bin/sh",
          "usr/bin/sh");

  private Architecture() {}

  /** Returns the architecture of the host. */
  static String ofHost() {
    return MachineArchitecture.ofHost().image();
  }

  /**
   * Returns the architecture of a tree according to a common program in it; empty if there is none.
   */
  static Optional<String> of(RootfsTree tree) throws IOException {
    for (String program : PROGRAMS) {
      Optional<String> found = ofProgram(tree, program);
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  private static Optional<String> ofProgram(RootfsTree tree, String program) throws IOException {
    int file;
    try {
      if (tree.stat(program).filter(NativeFiles.Stat::isFile).isEmpty()) {
        return Optional.empty();
      }
      file = tree.open(program, NativeFiles.RDONLY | NativeFiles.NONBLOCK);
    } catch (NativeException behindALink) {
      return Optional.empty();
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment header = arena.allocate(20);
      if (NativeFiles.read(file, header) < 20
          || header.get(ValueLayout.JAVA_INT_UNALIGNED, 0) != 0x464c457f) {
        return Optional.empty();
      }
      return Optional.ofNullable(
          switch (header.get(ValueLayout.JAVA_SHORT_UNALIGNED, 18)) {
            case 3 -> "386";
            case 40 -> "arm";
            case 62 -> "amd64";
            case 183 -> "arm64";
            case 243 -> "riscv64";
            default -> null;
          });
    } finally {
      NativeFiles.close(file);
    }
  }
}
