package dev.isola.testing.program;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
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
import java.util.Objects;
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
    run(folder, megabytes, main, options, List.of());
  }

  /**
   * Runs a class as {@link #run(Path, int, Class, List)} does, in a process that can fill its disk
   * at the n-th call that may need space on it: its second argument is the file that then takes all
   * of it, the third one a file of eight bytes with n, which each such call counts down.
   */
  public static void runFilling(Path folder, int megabytes, Class<?> main, List<String> options)
      throws IOException, InterruptedException {
    Path library = folder.resolve("fill_at.so");
    Path source = folder.resolve("fill_at.c");
    try (InputStream code =
        Objects.requireNonNull(SmallDisk.class.getResourceAsStream("fill_at.c"))) {
      Files.copy(code, source);
    }
    ProgramResult compiled =
        ProgramResult.run(
            folder,
            Map.of(),
            Duration.ofMinutes(1),
            "cc",
            "-shared",
            "-fPIC",
            "-o",
            library.toString(),
            source.toString());
    assertThat(compiled.code()).as(compiled.output()).isZero();
    Path countdown = Files.write(folder.resolve("countdown"), new byte[Long.BYTES]);
    Path disk = folder.resolve("small-disk");
    run(
        folder,
        megabytes,
        main,
        options,
        List.of(
            "LD_PRELOAD=" + library,
            "FILL_FOLDER=" + disk,
            "FILL_FILE=" + disk.resolve("filler"),
            "FILL_COUNTDOWN=" + countdown),
        disk.resolve("filler").toString(),
        countdown.toString());
  }

  private static void run(
      Path folder,
      int megabytes,
      Class<?> main,
      List<String> options,
      List<String> environment,
      String... arguments)
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
    command.add("env");
    command.addAll(environment);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(options);
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), main.getName(), disk.toString()));
    command.addAll(List.of(arguments));
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
