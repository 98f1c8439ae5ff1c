package dev.isola.app.backup;

import dev.isola.codec.process.ProgramRun;
import dev.isola.codec.process.ProgramTimeoutException;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * GNU tar, which stores what Java cannot: holes in files, owners, hard links and extended
 * attributes.
 */
final class TarProgram {
  private static final int CHANGED_MEANWHILE = 1;
  private static final int MAX_OUTPUT = 4096;
  private static final Duration TIMEOUT = Duration.ofDays(1);

  private TarProgram() {}

  /** The names in a folder to store. */
  record Source(Path folder, List<String> names) {}

  /**
   * Writes an archive.
   *
   * @param file an existing file, which is overwritten
   * @return whether all files were unchanged while they were read
   */
  static boolean create(Path file, List<Source> sources) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                "tar",
                "--create",
                "--file=" + file,
                "--format=posix",
                "--sparse",
                "--numeric-owner",
                "--one-file-system",
                "--xattrs"));
    if (isRoot()) {
      command.add("--xattrs-include=*");
    }
    for (Source source : sources) {
      if (!source.names().isEmpty()) {
        command.add("--directory=" + source.folder());
        command.addAll(source.names());
      }
    }
    return run(command, "the backup cannot be written to " + file) == 0;
  }

  /** Extracts an archive; names that leave the folder are refused by tar. */
  static void extract(Path file, Path folder) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                "tar",
                "--extract",
                "--file=" + file,
                "--directory=" + folder,
                "--same-permissions",
                "--numeric-owner",
                "--xattrs"));
    if (isRoot()) {
      command.add("--xattrs-include=*");
    }
    String failed = "the backup " + file + " cannot be read";
    if (run(command, failed) != 0) {
      throw failure(failed, "tar reported differences");
    }
  }

  private static boolean isRoot() throws IOException {
    return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
  }

  private static int run(List<String> command, String failed) {
    try {
      ProgramRun.Result result =
          ProgramRun.of(command)
              .environment(variables -> variables.put("LC_ALL", "C"))
              .maxOutput(MAX_OUTPUT)
              .run(TIMEOUT);
      if (result.code() > CHANGED_MEANWHILE) {
        throw failure(failed, result.output().strip());
      }
      return result.code();
    } catch (InterruptedIOException | ProgramTimeoutException e) {
      throw failure(failed, String.valueOf(e.getMessage()));
    } catch (IOException e) {
      throw failure(failed, "the program tar cannot be started: " + e.getMessage());
    }
  }

  private static SandboxException failure(String what, String why) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            what + ": " + why.replaceAll("\\s+", " "),
            "check the file, the free space and that GNU tar is installed")
        .exception();
  }
}
