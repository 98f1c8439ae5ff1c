package dev.isola.testing.program;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;

/** A small file system in memory that a test fills up, in a mount namespace of its own. */
public final class SmallDisk {
  /** The last line of a program that ended as it should. */
  public static final String DONE = "all of it";

  private static final int NOT_MOUNTED = 77;

  private SmallDisk() {}

  /**
   * Runs a class in a process that has such a file system, which ends with the process. The folder
   * is its first argument, and its last line must be {@link #DONE}. NOT RUN where a file system
   * cannot be mounted.
   *
   * @param options options of the process, such as system properties
   */
  public static void run(Path folder, int megabytes, Class<?> main, List<String> options)
      throws IOException, InterruptedException {
    Path disk = Files.createDirectory(folder.resolve("small-disk"));
    List<String> command = new ArrayList<>(List.of("unshare", "-m", "sh", "-c"));
    if (!"root".equals(System.getProperty("user.name"))) {
      command.add(1, "-r");
    }
    command.add(
        "mount -t tmpfs -o size="
            + megabytes
            + "m isola-test \"$0\" || exit "
            + NOT_MOUNTED
            + "; exec \"$@\"");
    command.add(disk.toString());
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(options);
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), main.getName(), disk.toString()));
    ProgramResult result =
        ProgramResult.run(folder, Map.of(), Duration.ofMinutes(9), command.toArray(String[]::new));
    if (result.code() == NOT_MOUNTED || result.output().startsWith("unshare:")) {
      Assumptions.abort("NOT RUN: no file system can be mounted here: " + result.output().strip());
    }
    assertThat(result.code()).as(result.output()).isZero();
    assertThat(result.output().strip()).endsWith(DONE);
  }

  /** Fills the file system of a file with that file, to the last byte. */
  public static void fill(Path filler) {
    try (FileChannel channel =
        FileChannel.open(filler, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      for (int size = 1 << 16; size > 0; size /= 16) {
        try {
          while (channel.write(ByteBuffer.allocate(size)) > 0) {
            // there is space
          }
        } catch (IOException full) {
          // a smaller piece may fit
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
