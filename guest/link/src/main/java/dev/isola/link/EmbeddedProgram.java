package dev.isola.link;

import dev.isola.codec.digest.Sha256;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A static executable embedded in a jar and installed into a folder.
 *
 * @param title its name in messages
 * @param source the folder in which {@code make} builds it
 * @param resources its location in the jar, with one subfolder for each architecture
 * @param name the file name
 */
public record EmbeddedProgram(String title, String source, String resources, String name) {
  /** The error number ETXTBSY, on every architecture of Linux. */
  private static final int TEXT_FILE_BUSY = 26;

  private static final Duration RETRY_INTERVAL = Duration.ofMillis(10);
  private static final int MAX_ATTEMPTS = 500;

  /**
   * Installs the executable for this machine into {@code folder}, once. Its name contains the hash
   * of its content, so that versions coexist and a running one is never overwritten. Several
   * processes may call this concurrently.
   *
   * @return the executable, mode 0755
   * @throws dev.isola.spi.error.ProviderUnavailable when there is none for this machine, or it
   *     cannot be written
   */
  public Path install(Path folder) {
    byte[] content = content(MachineArchitecture.ofHost().machine());
    String hash = Sha256.hex(content).substring(0, 16);
    Path target = folder.resolve(name + "-" + hash);
    try {
      if (!isIntact(target, content)) {
        write(folder, target, content);
      }
      return target;
    } catch (IOException e) {
      throw unavailable(
          "the " + title + " cannot be written to " + target + ": " + e.getMessage(),
          "make the folder writable, on a file system without noexec",
          e);
    }
  }

  /**
   * Returns the executable for a machine.
   *
   * @param architecture as reported by {@code uname -m}
   * @throws dev.isola.spi.error.ProviderUnavailable when there is none for it
   */
  byte[] content(String architecture) {
    String resource = resources + "/linux-" + architecture + "/" + name;
    try (InputStream in = EmbeddedProgram.class.getClassLoader().getResourceAsStream(resource)) {
      if (in == null) {
        throw unavailable(
            "no " + title + " for linux-" + architecture,
            "build it on a machine of that architecture (make -C "
                + source
                + ") and put it on the class path as "
                + resource,
            null);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw unavailable("the " + title + " cannot be read: " + e.getMessage(), "rebuild it", e);
    }
  }

  private static boolean isIntact(Path target, byte[] content) throws IOException {
    return Files.isRegularFile(target)
        && Files.isExecutable(target)
        && Files.size(target) == content.length
        && Arrays.equals(Files.readAllBytes(target), content);
  }

  private static void write(Path folder, Path target, byte[] content) throws IOException {
    Files.createDirectories(folder);
    Path temporary = Files.createTempFile(folder, "new", ".tmp");
    try {
      Files.write(temporary, content);
      Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rwxr-xr-x"));
      Files.move(
          temporary, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      awaitExecutable(target);
    } finally {
      Files.deleteIfExists(temporary);
    }
  }

  /**
   * Waits until the file can be executed. A process that another thread started while the file was
   * written has it open for writing until it executes its own program, and until then nothing else
   * can execute this one ("Text file busy").
   */
  static void awaitExecutable(Path program) {
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      try {
        new ProcessBuilder(program.toString(), "--version")
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start()
            .waitFor();
        return;
      } catch (IOException e) {
        if (!String.valueOf(e.getMessage()).matches(".*error[:=] ?" + TEXT_FILE_BUSY + "\\b.*")) {
          return; // its first use reports why it cannot be executed
        }
        LockSupport.parkNanos(RETRY_INTERVAL.toNanos());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private static SandboxException unavailable(
      String problem, String remedy, @Nullable Throwable cause) {
    return Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, problem, remedy).exception(cause);
  }
}
