package dev.isola.provider.memory.shell;

import dev.isola.provider.memory.fault.PlantedFault;
import dev.isola.provider.memory.process.OpenFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The fault {@link PlantedFault#FALLS_THROUGH_TO_THE_HOST}: runs a program that cannot be simulated
 * as a plain child of this JVM, with its environment and its rights.
 */
final class HostProgram {
  private static final String ELF = "\u007fELF";

  private HostProgram() {}

  static boolean falls(Call call, String content) {
    return content.startsWith(ELF)
        && call.tree().faults().has(PlantedFault.FALLS_THROUGH_TO_THE_HOST);
  }

  static int run(Call call, String content) throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("isola-fallen-");
    try {
      Path program = Files.write(folder.resolve("program"), Raw.bytes(content));
      Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
      List<String> words = new ArrayList<>(List.of(program.toString()));
      call.arguments().forEach(word -> words.add(Raw.text(word)));
      ProcessBuilder builder = new ProcessBuilder(words);
      call.env()
          .forEach((name, value) -> builder.environment().put(Raw.text(name), Raw.text(value)));
      builder.directory(folder.toFile());
      builder.redirectErrorStream(true);
      return talk(call, builder.start());
    } finally {
      remove(folder);
    }
  }

  private static int talk(Call call, Process process) throws IOException, InterruptedException {
    try (InputStream out = process.getInputStream()) {
      Optional<OpenFile> input = call.proc().descriptor(0);
      Thread.startVirtualThread(() -> feed(input, process));
      byte[] buffer = new byte[8192];
      for (int n = out.read(buffer); n >= 0; n = out.read(buffer)) {
        call.proc().write(1, buffer, n);
      }
      return process.waitFor();
    } finally {
      process.destroyForcibly();
    }
  }

  private static void feed(Optional<OpenFile> input, Process process) {
    byte[] buffer = new byte[8192];
    try (OutputStream to = process.getOutputStream()) {
      for (int n = read(input, buffer); n >= 0; n = read(input, buffer)) {
        to.write(buffer, 0, n);
        to.flush();
      }
    } catch (IOException e) {
      // It does not read any more, or there is nothing to read.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static int read(Optional<OpenFile> input, byte[] buffer)
      throws IOException, InterruptedException {
    return input.isEmpty() ? -1 : input.get().read(buffer, 0, buffer.length);
  }

  private static void remove(Path folder) throws IOException {
    try (Stream<Path> entries = Files.walk(folder)) {
      for (Path entry : entries.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(entry);
      }
    }
  }
}
