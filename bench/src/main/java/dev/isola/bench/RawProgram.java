package dev.isola.bench;

import dev.isola.link.MachineArchitecture;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/** The C program that does the work without Isola and the JVM: src/main/c/raw.c. */
record RawProgram(Path path) {

  /** Extracts the program for this architecture; empty if there is none. */
  static Optional<RawProgram> install(Path folder) throws IOException {
    Optional<MachineArchitecture> architecture =
        MachineArchitecture.find(System.getProperty("os.arch", ""));
    if (architecture.isEmpty()) {
      return Optional.empty();
    }
    String resource = "META-INF/isola/bench/linux-" + architecture.get().machine() + "/isola-raw";
    try (InputStream in = RawProgram.class.getClassLoader().getResourceAsStream(resource)) {
      if (in == null) {
        return Optional.empty();
      }
      Path target = folder.resolve("isola-raw");
      Files.copy(in, target);
      Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rwxr-xr-x"));
      return Optional.of(new RawProgram(target));
    }
  }

  /** Runs the program. It measures with its own clock, which excludes its startup. */
  Samples run(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(path.toString()));
    command.addAll(List.of(arguments));
    return parse(LocalProgram.output(command));
  }

  static Samples parse(String text) throws IOException {
    LongStream.Builder nanos = LongStream.builder();
    long wall = -1;
    try {
      for (String line : text.lines().toList()) {
        if (line.startsWith("wall ")) {
          wall = Long.parseLong(line.substring(5));
        } else {
          nanos.add(Long.parseLong(line));
        }
      }
    } catch (NumberFormatException e) {
      throw new IOException("unexpected output of isola-raw: " + e.getMessage(), e);
    }
    if (wall < 0) {
      throw new IOException("isola-raw did not finish");
    }
    return Samples.of(wall, nanos.build().toArray());
  }
}
